//! What a test runner said: which tests failed, and which files it could not even load.
//!
//! Every common runner names those that failed, whatever else it prints, so that is what counts. Nothing here is sure of a
//! test it did not see fail.

mod go;
mod javascript;
mod python;
mod rust;

use crate::brought::{Language, Test};

/// As many lines of what was said about one failure are kept.
const LINES: usize = 200;

/// A test as a runner names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// The file, where the runner says it.
    pub(crate) file: Option<String>,
    /// What it is in, and its name.
    pub(crate) segments: Vec<String>,
    /// What was said about it.
    pub(crate) text: String,
}

/// A file that a runner could not load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unloaded {
    /// The file; none: everything.
    pub(crate) file: Option<String>,
    pub(crate) text: String,
}

/// What a run of tests came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) failed: Vec<Named>,
    pub(crate) passed: Vec<Named>,
    pub(crate) unloaded: Vec<Unloaded>,
}

/// How sure it is that two names mean one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sure {
    ByName,
    ByPlace,
}

impl Said {
    /// Reads what runners of a language print.
    pub(crate) fn read(language: Language, log: &str) -> Self {
        let plain = anstream::adapter::strip_str(log).to_string();
        let lines: Vec<&str> = plain.lines().collect();
        match language {
            Language::Rust => rust::said(&lines),
            Language::Python => python::said(&lines),
            Language::JavaScript => javascript::said(&lines),
            Language::Go => go::said(&lines),
        }
    }

    /// How a test failed. One that is only called the same is meant if no other can be.
    pub(crate) fn failure_of(&self, test: &Test, is_alone: bool) -> Option<&Named> {
        let sure = self.failed.iter().filter_map(|it| Some((sure_of(test, it)?, it)));
        let (sure, named) = sure.max_by_key(|(sure, it)| (*sure, it.text.len()))?;
        let passed = || self.passed.iter().any(|it| sure_of(test, it) == Some(Sure::ByPlace));
        (sure == Sure::ByPlace || (is_alone && !passed())).then_some(named)
    }

    /// Whether a test was seen to pass.
    pub(crate) fn has_passed(&self, test: &Test) -> bool {
        self.passed.iter().any(|it| sure_of(test, it).is_some())
    }

    /// Why the file of a test could not be loaded, if it could not.
    pub(crate) fn unloaded(&self, path: &str) -> Option<&Unloaded> {
        self.unloaded.iter().find(|it| it.file.as_deref().is_none_or(|file| is_same_file(file, path)))
    }
}

fn sure_of(test: &Test, named: &Named) -> Option<Sure> {
    match test.language {
        Language::Rust => rust::sure_of(test, named),
        Language::Python => python::sure_of(test, named),
        Language::JavaScript => javascript::sure_of(test, named),
        Language::Go => (named.segments.first() == Some(&test.name)).then_some(Sure::ByName),
    }
}

/// Whether two paths name one file. One of them may begin further out.
fn is_same_file(one: &str, other: &str) -> bool {
    let parts = |it: &str| -> Vec<String> {
        it.split(['/', '\\']).filter(|it| !it.is_empty() && *it != ".").rev().map(str::to_owned).collect()
    };
    let (one, other) = (parts(one), parts(other));
    let shorter = one.len().min(other.len());
    shorter > 0 && one.iter().zip(&other).take(shorter).all(|(one, other)| one == other)
}

/// Lines up to one that ends them, as a text.
fn until(lines: &[&str], is_end: impl Fn(&str) -> bool) -> String {
    let own: Vec<&str> = lines.iter().copied().take_while(|it| !is_end(it)).take(LINES).collect();
    own.join("\n")
}
