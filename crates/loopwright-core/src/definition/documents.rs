//! Documents: the files a workflow knows by name, and what it shows in them.

use indexmap::IndexMap;
use serde::Serialize;

use crate::name::Name;
use crate::paths::FileSet;
use crate::problem::Place;

/// A file, or files, the workflow knows by name.
#[derive(Clone, Debug)]
pub struct Document {
    /// Which files.
    pub files: Files,
    /// The same, ready to be compared; absent for groups and listings.
    pub set: Option<FileSet>,
    /// Which reader understands it.
    pub reader: Option<Name>,
    /// What its reader gives.
    pub gives: crate::fact::Type,
    /// Headings it must have.
    pub has: Vec<String>,
    /// Whether each of these has to have something below it.
    pub filled: bool,
    /// Whether only the engine writes it.
    pub engine_owned: bool,
    /// Fields kept equal to run values.
    pub shows: IndexMap<String, String>,
    /// Whether it may be absent at the start.
    pub optional: bool,
    /// Parameters of the reader, as JSON.
    pub with: serde_json::Value,
    /// Where it is declared.
    pub place: Place,
}

impl Document {
    /// Whether both may have the same file.
    pub fn overlaps(&self, other: &Self) -> bool {
        let (Some(one), Some(two)) = (&self.set, &other.set) else { return false };
        if self.is_plain() && other.is_plain() && self.in_folder() == other.in_folder() {
            return self.path() == other.path();
        }
        one.may_overlap(two)
    }

    /// Whether it is one file whose path is known but for the workflow's own folder.
    fn is_plain(&self) -> bool {
        matches!(&self.files, Files::One(path) if !path.contains(['*', '?', '[', '{']))
    }

    /// Whether it lies in the workflow's own folder.
    fn in_folder(&self) -> bool {
        self.path().is_some_and(|it| it.starts_with("./"))
    }

    fn path(&self) -> Option<&str> {
        match &self.files {
            Files::One(path) => Some(path),
            _ => None,
        }
    }
}

/// Which files a document is.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Files {
    /// One file.
    One(String),
    /// Files by glob.
    Many(Vec<String>),
    /// Other documents under one name.
    Group(Vec<Name>),
    /// The output of a command.
    Command(String),
}

/// What some states show in documents.
#[derive(Clone, Debug)]
pub struct Phase {
    /// Where an imported or hand-edited value lands.
    pub at: Name,
    /// The states that show it, children's as `child.state`.
    pub show: Vec<Name>,
    /// Gates such a landing vouches for.
    pub settles: Vec<Name>,
    /// Where `back` leads from such a landing.
    pub back: Option<Name>,
    /// Where it is declared.
    pub place: Place,
}
