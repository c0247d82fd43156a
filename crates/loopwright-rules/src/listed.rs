//! Lists of files as people write them: a file, a folder with all below it, or a pattern.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// A list of files, folders and patterns. One that begins with `!` takes files out again.
pub(crate) struct Patterns {
    inside: Side,
    outside: Side,
}

impl Patterns {
    pub(crate) fn new(list: &[String]) -> Self {
        let (outside, inside): (Vec<&str>, Vec<&str>) =
            list.iter().map(|it| it.trim()).partition(|it| it.starts_with('!'));
        let outside: Vec<&str> = outside.iter().map(|it| it.trim_start_matches('!')).collect();
        Self { inside: Side::new(&inside), outside: Side::new(&outside) }
    }

    pub(crate) fn covers(&self, path: &str) -> bool {
        self.inside.covers(path) && !self.outside.covers(path)
    }
}

struct Side {
    plain: Vec<String>,
    globs: GlobSet,
}

impl Side {
    fn new(list: &[&str]) -> Self {
        let mut plain = Vec::new();
        let mut globs = GlobSetBuilder::new();
        for entry in list {
            let Some(entry) = tidy(entry) else { continue };
            if entry.contains(['*', '?', '[', '{']) {
                // A pattern that is none is still a name; so is `app/[id]/page.tsx`, which is both.
                for it in [glob(&entry), glob(&format!("{entry}/**"))].into_iter().flatten() {
                    globs.add(it);
                }
            }
            plain.push(entry);
        }
        Self { plain, globs: globs.build().unwrap_or_default() }
    }

    fn covers(&self, path: &str) -> bool {
        let below = |folder: &str| {
            folder == "." || path.strip_prefix(folder).is_some_and(|it| it.is_empty() || it.starts_with('/'))
        };
        self.plain.iter().any(|it| below(it)) || self.globs.is_match(path)
    }
}

fn glob(text: &str) -> Option<Glob> {
    GlobBuilder::new(text).literal_separator(true).build().ok()
}

/// An entry as the paths of a change are written, or nothing if it says nothing.
fn tidy(entry: &str) -> Option<String> {
    let mut entry = entry.trim();
    if entry.is_empty() {
        return None;
    }
    while let Some(rest) = entry.strip_prefix("./") {
        entry = rest;
    }
    let entry = entry.trim_end_matches('/');
    Some(if entry.is_empty() { ".".to_owned() } else { entry.to_owned() })
}
