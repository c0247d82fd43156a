//! What one file of a change says about a place in another.

use super::super::page::Page;
use super::super::proposal::spec_id;
use super::super::spec::Spec;
use super::super::{Problem, Severity};
use super::Files;

/// The name of a spec's file, below `specs/` and without `.md`.
pub(super) fn stem(path: &str) -> &str {
    let path = path.strip_prefix("specs/").unwrap_or(path);
    path.strip_suffix(".md").unwrap_or(path)
}

/// Whether a spec goes by a name: that of its file, or the id it gives itself.
pub(super) fn is_named(path: &str, spec: &Spec, name: &str) -> bool {
    stem(path) == name || spec.id == name
}

/// The file and the anchor that a reference names.
fn split(text: &str) -> (&str, Option<&str>) {
    let text = text.trim();
    if let Some((file, anchor)) = text.split_once('#') {
        return (file.trim(), Some(anchor.trim()));
    }
    match text.split_once(':') {
        Some((file, anchor)) if !anchor.starts_with("//") => (file.trim(), Some(anchor.trim())),
        _ => (text, None),
    }
}

/// The spec that the file of a reference means.
fn find<'a>(file: &str, specs: &'a [(&'a str, Spec)]) -> Option<&'a (&'a str, Spec)> {
    let id = spec_id(file)?;
    specs.iter().find(|(path, _)| stem(path) == id).or_else(|| specs.iter().find(|(_, spec)| spec.id == id))
}

/// The path of the spec that a reference names.
pub(super) fn file<'a>(text: &str, files: &Files, specs: &'a [(&'a str, Spec)]) -> Option<&'a &'a str> {
    let (file, _) = split(text);
    if file.is_empty() {
        // A requirement alone is one of the only spec.
        return specs.first().filter(|_| specs.len() == 1).map(|it| &it.0);
    }
    let found = find(file, specs).map(|it| &it.0);
    found.or_else(|| bare_requirement(text, files, specs).map(|it| &it.0))
}

/// The spec that has a requirement which is named alone.
fn bare_requirement<'a>(text: &str, _: &Files, specs: &'a [(&'a str, Spec)]) -> Option<&'a (&'a str, Spec)> {
    let id = text.trim();
    specs.iter().find(|(_, spec)| spec.requirements.iter().any(|it| it.id.eq_ignore_ascii_case(id)))
}

/// What is wrong with a reference, if anything can be said about it.
pub(super) fn fault(text: &str, files: &Files, specs: &[(&str, Spec)]) -> Option<String> {
    let (file, anchor) = split(text);
    // What is outside of the change is not to be seen from here.
    if file.contains("://") || file.starts_with("agentd/specs/") || file.starts_with("../") {
        return None;
    }
    let own = file.trim_start_matches("./");
    if !own.starts_with("specs/") && files.text(own).is_some() && !own.is_empty() {
        return None;
    }
    let found = match file {
        "" => specs.first().filter(|_| specs.len() == 1),
        _ => find(file, specs).or_else(|| bare_requirement(text, files, specs).filter(|_| anchor.is_none())),
    };
    let Some((path, spec)) = found else {
        return Some("the change has no such spec".to_owned());
    };
    let missing: Vec<&str> = anchor
        .into_iter()
        .flat_map(|it| it.split(','))
        .map(|it| it.trim().trim_start_matches(['#', ':']))
        .filter(|it| !it.is_empty() && !spec.has_anchor(it))
        .collect();
    // An anchor may have a comma of its own.
    if missing.is_empty() || anchor.is_some_and(|it| spec.has_anchor(it)) {
        return None;
    }
    Some(format!("`{path}` has no `{}`", missing.join("`, `")))
}

/// Links of a spec that lead nowhere within the change.
pub(super) fn links(path: &str, files: &Files, problems: &mut Vec<Problem>) {
    let Some(text) = files.text(path).filter(|it| it.contains("](")) else { return };
    let folder = path.rsplit_once('/').map_or("", |it| it.0);
    for line in Page::read(text).lines.iter().filter(|it| it.is_body()) {
        let (mut is_code, mut from) = (false, 0);
        for (at, _) in line.text.match_indices("](") {
            is_code ^= line.text.get(from..at).is_some_and(|it| it.matches('`').count() % 2 == 1);
            from = at;
            let target =
                line.text.get(at + 2..).and_then(|it| it.split([')', ' ', '#']).next()).unwrap_or_default();
            let is_elsewhere = target.is_empty()
                || target.contains("://")
                || target.starts_with(['/', '<'])
                || target.contains(':');
            if is_code
                || is_elsewhere
                || !std::path::Path::new(target).extension().is_some_and(|it| it.eq_ignore_ascii_case("md"))
            {
                continue;
            }
            // Nothing is known of what lies outside of the change.
            let Some(target) = joined(folder, target) else { continue };
            if files.text(&target).is_none() {
                let message = format!("the link to `{target}` leads nowhere");
                problems.push(Problem::new(Severity::Medium, line.number, message).of(path));
            }
        }
    }
}

/// A path from a folder, unless it leaves the change.
fn joined(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|it| !it.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop()?;
            }
            it => parts.push(it),
        }
    }
    Some(parts.join("/"))
}
