//! Named rules on a change: what it may touch, told by syntax where text does not do.
//!
//! After a call the engine holds what changed against the rules of the role. What breaks one is undone and reported,
//! so a rule says where and why, in words that the agent and a person can act on. Where a rule cannot tell (a file that
//! does not parse, that is no text, that is too large), it says so as a break: an unread change is not a harmless one.
//!
//! **Invariant:** nothing here reads a file, the clock or the environment, and no input makes it panic. What a rule wants
//! to know beyond the change comes in [`Given`]. Trees are walked with a cursor, so nesting costs no stack.

mod attribute;
mod brought;
mod checks;
mod issues;
mod listed;
mod manifest;
mod modules;
mod outline;
mod production;
mod runner;
mod rust;
mod same;
mod test_code;
mod test_paths;
mod ticks;
mod todo;
mod tree;

use std::fmt;

pub use crate::checks::{CHECKS, ENVIRONMENT, UnknownCheck, Verdict, judge, thorough};

use crate::listed::Patterns;
use crate::modules::Modules;

/// What happened to one file. A rename is two changes.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// From the root of the repository, with `/`.
    pub path: &'a str,
    /// What it held; `None`: it was not there.
    pub before: Option<&'a [u8]>,
    /// What it holds; `None`: it is not there.
    pub after: Option<&'a [u8]>,
}

/// Gives what a file holds, if it is there.
pub type Reads<'a> = dyn Fn(&str) -> Option<Vec<u8>> + 'a;

/// What a rule has to know beside the change.
#[derive(Clone, Copy, Default)]
pub struct Given<'a> {
    /// What the task lists: files, folders, or patterns such as `src/**/*.rs`.
    pub listed: &'a [String],
    /// Patterns of the files a gate is about.
    pub gate: &'a [String],
    /// Patterns of the checklists in which boxes may be ticked and nothing else may change.
    pub ticks: &'a [String],
    /// Patterns of the state files whose issues people own; `.vibe/STATE.md` if there are none.
    pub states: &'a [String],
    /// Gives a file that did not change. With it a file of its own is known to be test code by `#[cfg(test)] mod x;`
    /// in another; without it, by its name alone.
    pub reads: Option<&'a Reads<'a>>,
}

impl fmt::Debug for Given<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Given")
            .field("listed", &self.listed)
            .field("gate", &self.gate)
            .field("ticks", &self.ticks)
            .field("states", &self.states)
            .field("reads", &self.reads.is_some())
            .finish()
    }
}

/// A place where a change breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The rule.
    pub rule: &'static str,
    /// The file.
    pub path: String,
    /// The line after the change, from one, if it is about a line. The first such place of a file is reported.
    pub line: Option<usize>,
    /// What is wrong, for the agent and for people.
    pub why: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.why),
            None => write!(f, "{}: {}", self.path, self.why),
        }
    }
}

/// There is no rule of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRule(pub String);

impl fmt::Display for UnknownRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no rule `{}`", self.0)
    }
}

impl std::error::Error for UnknownRule {}

/// All rules, each with one sentence.
pub const RULES: &[(&str, &str)] = &[
    ("read-only", "Nothing may change."),
    (
        "tests-only",
        "Only test code may change: test files, in Rust also `#[cfg(test)]` and `#[test]` items, and dev-dependencies.",
    ),
    ("no-test-edits", "No test code may change, vanish, move, be switched off or be added."),
    ("inside-cfg-test", "Only what is inside `#[cfg(test)]` of Rust files may change."),
    ("files-listed-in-task", "Only files that the task lists may change."),
    (
        "todo-bodies-only",
        "Only declarations may be added to Rust files, and the bodies of new functions are exactly `todo!()`.",
    ),
    ("same-syntax-tree", "Only comments, formatting and prose may change: the code stays the same."),
    ("ticks-only", "Of a checklist only the boxes may change."),
    ("human-issues-untouched", "Issues that a human owns, or that wait for a decision, stay as they are."),
    ("gate-files", "No file that a gate is about may change."),
];

/// Where the changes break the rule; nothing if they keep it.
pub fn broken(rule: &str, changes: &[Change<'_>], given: &Given<'_>) -> Result<Vec<Broken>, UnknownRule> {
    let Some(&(rule, _)) = RULES.iter().find(|(name, _)| *name == rule) else {
        return Err(UnknownRule(rule.to_owned()));
    };
    // A file written anew with the same text did not change.
    let changes: Vec<Change<'_>> = changes.iter().filter(|it| it.before != it.after).copied().collect();
    let mut report = Report { rule, found: Vec::new() };
    let modules = Modules::new(&changes, given.reads);
    match rule {
        "read-only" => {
            for change in &changes {
                report.add(change.path, None, format!("{}, and nothing may change here", change.verb()));
            }
        }
        "tests-only" => test_code::tests_only(&changes, &modules, &mut report),
        "no-test-edits" => test_code::no_test_edits(&changes, &modules, &mut report),
        "inside-cfg-test" => test_code::inside_cfg_test(&changes, &modules, &mut report),
        "files-listed-in-task" => {
            let listed = Patterns::new(given.listed);
            for change in changes.iter().filter(|it| !listed.covers(it.path)) {
                report.add(change.path, None, format!("{}, but the task does not list it", change.verb()));
            }
        }
        "todo-bodies-only" => todo::todo_bodies_only(&changes, &mut report),
        "same-syntax-tree" => same::same_syntax_tree(&changes, &mut report),
        "ticks-only" => ticks::ticks_only(&changes, &Patterns::new(given.ticks), &mut report),
        "human-issues-untouched" => issues::human_issues_untouched(&changes, given.states, &mut report),
        "gate-files" => {
            let gate = Patterns::new(given.gate);
            for change in changes.iter().filter(|it| gate.covers(it.path)) {
                report.add(change.path, None, format!("{}, but a gate is about this file", change.verb()));
            }
        }
        _ => return Err(UnknownRule(rule.to_owned())),
    }
    Ok(report.found)
}

/// What a rule found so far.
struct Report {
    rule: &'static str,
    found: Vec<Broken>,
}

impl Report {
    fn add(&mut self, path: &str, line: Option<usize>, why: impl Into<String>) {
        self.found.push(Broken { rule: self.rule, path: path.to_owned(), line, why: why.into() });
    }
}

impl Change<'_> {
    fn verb(&self) -> &'static str {
        match (self.before, self.after) {
            (None, _) => "the file was added",
            (_, None) => "the file was deleted",
            _ => "the file was changed",
        }
    }

    fn is_rust(&self) -> bool {
        is_rust(self.path)
    }
}

fn is_rust(path: &str) -> bool {
    name_of(path).rsplit_once('.').is_some_and(|(_, extension)| extension == "rs")
}

fn quoted(name: &str) -> String {
    format!("`{name}`")
}

/// The last part of a path.
fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The line a byte is in, from one.
fn line_of(text: &[u8], offset: usize) -> usize {
    let upto = text.get(..offset.min(text.len())).unwrap_or_default();
    upto.split(|it| *it == b'\n').count()
}
