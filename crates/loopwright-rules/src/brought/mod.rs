//! The tests that a change brings: those that were not there before, or say something else now.

mod go;
mod javascript;
mod python;
mod rust;

use std::collections::HashMap;

use crate::tree::LARGEST;
use crate::{Change, name_of, test_paths};

/// A language whose tests are known one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    Python,
    JavaScript,
    Go,
}

impl Language {
    pub(crate) fn of(path: &str) -> Option<Self> {
        let (_, extension) = name_of(path).rsplit_once('.')?;
        match extension {
            "rs" => Some(Self::Rust),
            "py" => Some(Self::Python),
            "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => Some(Self::JavaScript),
            "go" => Some(Self::Go),
            _ => None,
        }
    }
}

/// A test as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Test {
    pub(crate) path: String,
    pub(crate) language: Language,
    /// What it is in: modules, classes, or descriptions.
    pub(crate) inside: Vec<String>,
    pub(crate) name: String,
    pub(crate) line: usize,
    /// Whether it is switched off where it is written.
    pub(crate) is_off: bool,
    /// All of it but space.
    text: String,
}

impl Test {
    fn new(
        path: &str,
        language: Language,
        inside: Vec<String>,
        name: &str,
        (line, text): (usize, &str),
    ) -> Self {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Self { path: path.to_owned(), language, inside, name: name.to_owned(), line, is_off: false, text }
    }

    fn key(&self) -> (&[String], &str) {
        (&self.inside, &self.name)
    }
}

/// What a change brings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Brought {
    pub(crate) tests: Vec<Test>,
    /// Changed tests of languages in which one test is not told from another.
    pub(crate) untold: Vec<String>,
    /// Files that cannot be read, and why.
    pub(crate) unread: Vec<(String, &'static str)>,
}

/// Looks for tests in what changed. Those that are only moved to another place in their file are none.
pub(crate) fn brought(changes: &[Change<'_>]) -> Brought {
    let mut brought = Brought::default();
    for change in changes.iter().filter(|it| it.before != it.after) {
        let Some(after) = change.after else { continue };
        let Some(language) = Language::of(change.path) else {
            if test_paths::is_test(change.path) {
                brought.untold.push(change.path.to_owned());
            }
            continue;
        };
        let tests = match tests(change.path, language, after) {
            Ok(tests) => tests,
            Err(why) => {
                brought.unread.push((change.path.to_owned(), why));
                continue;
            }
        };
        // What could not be read before may all be new.
        let before =
            change.before.and_then(|it| self::tests(change.path, language, it).ok()).unwrap_or_default();
        let mut known: HashMap<_, Vec<&str>> = HashMap::new();
        for test in &before {
            known.entry(test.key()).or_default().push(&test.text);
        }
        let is_new = |it: &Test| !known.get(&it.key()).is_some_and(|all| all.contains(&it.text.as_str()));
        brought.tests.extend(tests.iter().filter(|it| is_new(it)).cloned());
    }
    brought
}

fn tests(path: &str, language: Language, text: &[u8]) -> Result<Vec<Test>, &'static str> {
    if text.len() > LARGEST {
        return Err("it is too large to be read (over 4 MiB)");
    }
    let text = std::str::from_utf8(text).map_err(|_| "it is not UTF-8 text")?;
    match language {
        Language::Rust => rust::tests(path, text),
        Language::Python => python::tests(path, text),
        Language::JavaScript => javascript::tests(path, text),
        Language::Go => Some(go::tests(path, text)),
    }
    .ok_or("it could not be read in reasonable time")
}
