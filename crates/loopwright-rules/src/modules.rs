//! Which files of Rust are test code as a whole, because of who declares them.
//!
//! `#[cfg(test)] mod helpers;` makes `helpers.rs` test code without a word in it. Who declares a file is looked up in the
//! files that could, as they are before and as they are after the change.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::outline::{Counts, Declared, outline};
use crate::rust::Source;
use crate::{Change, Reads, test_paths};

/// Modules that declare modules that declare modules: further up than this nobody looks.
const FAR: usize = 16;
/// How many folders up a file may be declared, by modules written inside one another.
const UP: usize = 3;

/// One of the two states of the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    Before,
    After,
}

/// What files declare, as far as it was asked for.
type Known = HashMap<(Side, String), Rc<Vec<Declared>>>;

/// Looks files up, changed ones and others.
pub(crate) struct Modules<'a> {
    changes: HashMap<&'a str, Change<'a>>,
    reads: Option<&'a Reads<'a>>,
    known: RefCell<Known>,
}

impl<'a> Modules<'a> {
    pub(crate) fn new(changes: &[Change<'a>], reads: Option<&'a Reads<'a>>) -> Self {
        let changes = changes.iter().map(|it| (it.path, *it)).collect();
        Self { changes, reads, known: RefCell::default() }
    }

    /// What a file holds, on one side.
    pub(crate) fn text(&self, side: Side, path: &str) -> Option<Vec<u8>> {
        match self.changes.get(path) {
            Some(change) => match side {
                Side::Before => change.before.map(<[u8]>::to_vec),
                Side::After => change.after.map(<[u8]>::to_vec),
            },
            None => self.reads.and_then(|it| it(path)),
        }
    }

    /// Whether all of a file of Rust is test code, as far as can be told.
    pub(crate) fn is_test(&self, side: Side, path: &str) -> bool {
        test_paths::is_test_target(path)
            || self.is_declared_test(side, path).unwrap_or_else(|| test_paths::is_test_module(path))
    }

    /// Whether those who declare a file say that it is test code; nothing if nobody is known who declares it.
    pub(crate) fn is_declared_test(&self, side: Side, path: &str) -> Option<bool> {
        self.declared_test(side, path, FAR)
    }

    fn declared_test(&self, side: Side, path: &str, left: usize) -> Option<bool> {
        let mut answer = None;
        for parent in parents(path) {
            let declared = self.declared(side, &parent);
            for module in declared.iter().filter(|it| files(&parent, it).iter().any(|file| file == path)) {
                let is_test = module.is_test
                    || test_paths::is_test_target(&parent)
                    || (left > 0 && self.declared_test(side, &parent, left - 1) == Some(true));
                // What one file shares with the product and another with the tests is the product's.
                answer = Some(is_test && answer != Some(false));
            }
        }
        answer
    }

    fn declared(&self, side: Side, path: &str) -> Rc<Vec<Declared>> {
        let key = (side, path.to_owned());
        if let Some(known) = self.known.borrow().get(&key) {
            return Rc::clone(known);
        }
        let text = self.text(side, path).unwrap_or_default();
        let read = Source::read(&text).map(|it| outline(&it, Counts::Conditions).declared);
        let declared = Rc::new(read.unwrap_or_default());
        self.known.borrow_mut().insert(key, Rc::clone(&declared));
        declared
    }
}

/// The files that a declaration can mean.
pub(crate) fn files(parent: &str, module: &Declared) -> Vec<String> {
    let (folder, name) = split(parent);
    let owner = match name {
        "mod.rs" | "lib.rs" | "main.rs" => folder.to_owned(),
        _ => join(folder, name.trim_end_matches(".rs")),
    };
    let base = module.inside.iter().fold(owner, |it, name| join(&it, name));
    match &module.file {
        Some(file) if module.inside.is_empty() => vec![join(folder, file)],
        Some(file) => vec![join(&base, file)],
        None => {
            vec![join(&base, &format!("{}.rs", module.name)), join(&base, &format!("{}/mod.rs", module.name))]
        }
    }
}

/// The files that can declare a file.
fn parents(path: &str) -> Vec<String> {
    let (mut folder, name) = split(path);
    let mut parents = Vec::new();
    // `#[path = "x_tests.rs"] mod tests;` is in `x.rs`.
    for ending in ["_tests.rs", "_test.rs"] {
        if let Some(stem) = name.strip_suffix(ending) {
            parents.push(join(folder, &format!("{stem}.rs")));
        }
    }
    if name == "mod.rs" {
        folder = split(folder).0;
    }
    for _ in 0..UP {
        parents.extend(["mod.rs", "lib.rs", "main.rs"].iter().map(|it| join(folder, it)));
        if folder.is_empty() {
            break;
        }
        parents.push(format!("{folder}.rs"));
        folder = split(folder).0;
    }
    parents.retain(|it| it != path);
    parents
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// A path from a folder, with `.` and `..` taken out.
fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}
