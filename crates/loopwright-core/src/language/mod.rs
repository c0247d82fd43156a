//! The workflow language: text to a [`Workflow`], with every problem of a folder reported at once.
//!
//! Reading goes in three steps that each keep going after a mistake: the text becomes a tree (`yaml`), the
//! tree is held against the grammar (`conform`, `shape`, `grammar`), and what fits is resolved into a definition
//! (the `resolve_*` modules). A part that does not fit is reported once and left out; its name stays known, so one
//! mistake does not become ten.

mod conform;
mod grammar;
mod item_types;
mod json_schema;
mod loader;
mod resolve_actions;
mod resolve_ahead;
mod resolve_arms;
mod resolve_conditions;
mod resolve_facts;
mod resolve_machines;
mod resolve_nouns;
mod resolve_phases;
mod resolve_properties;
mod resolve_roles;
mod resolve_routes;
mod resolve_signals;
mod resolve_states;
mod scope;
mod shape;
mod templates;
mod text_names;
mod texts;
mod types;
pub mod units;
mod yaml;

use std::collections::BTreeMap;

pub use self::json_schema::json_schema;
pub(crate) use self::shape::is_name;
pub(crate) use self::types::type_of;
pub(crate) use self::yaml::{Node, Value, parse};
use crate::definition::Workflow;
use crate::problem::{Place, Problem, Stage};

/// The file every workflow's folder has.
pub const WORKFLOW_FILE: &str = "workflow.yaml";

/// A workflow's folder: every file in it, by path relative to the folder.
#[derive(Clone, Debug, Default)]
pub struct Folder {
    /// The folder's name.
    pub name: String,
    /// Path to content.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Folder {
    /// A file's text, if it is there and is text.
    pub fn text(&self, file: &str) -> Option<&str> {
        self.files.get(file).and_then(|it| std::str::from_utf8(it).ok())
    }

    /// A hash of everything in the folder that can change what a run does. Scenarios and the README cannot.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (path, content) in &self.files {
            if path.starts_with("scenarios/") || path == "README.md" {
                continue;
            }
            hasher.update(&(path.len() as u64).to_le_bytes());
            hasher.update(path.as_bytes());
            hasher.update(&(content.len() as u64).to_le_bytes());
            hasher.update(content);
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// What reading a folder gave.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The workflow. Absent when the file is too broken to make one.
    pub workflow: Option<Workflow>,
    /// Everything that keeps it from loading, and what was noticed on the way.
    pub problems: Vec<Problem>,
}

/// Reads a workflow's folder.
pub fn load(folder: &Folder) -> Loaded {
    let mut problems = Vec::new();
    let workflow = read(folder, &mut problems);
    // A misspelt name makes the thing it meant look unused. That can wait until everything is spelt right.
    if problems.iter().any(|it| it.stage == Stage::Load) {
        problems.retain(|it| it.stage == Stage::Load);
    }
    problems.sort_by(|a, b| (&a.place, a.code, &a.message).cmp(&(&b.place, b.code, &b.message)));
    problems.dedup();
    Loaded { workflow, problems }
}

fn read(folder: &Folder, problems: &mut Vec<Problem>) -> Option<Workflow> {
    let nowhere = || Place { file: WORKFLOW_FILE.to_owned(), bytes: 0..0 };
    let Some(bytes) = folder.files.get(WORKFLOW_FILE) else {
        let message = format!("the folder `{}` has no `{WORKFLOW_FILE}`", folder.name);
        problems.push(
            Problem::load("no-file", nowhere(), message)
                .help("a workflow is a folder with a `workflow.yaml` in it"),
        );
        return None;
    };
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let message =
                format!("`{WORKFLOW_FILE}` is not UTF-8 text: byte {} is not valid", error.valid_up_to());
            problems.push(Problem::load("not-text", nowhere(), message).help("save it as UTF-8"));
            return None;
        }
    };
    let mut root = parse(WORKFLOW_FILE, text, problems)?;
    conform::check(WORKFLOW_FILE, &mut root, &grammar::workflow(), grammar::definitions(), problems);
    if !matches!(root.value, Value::Map(_)) {
        return None;
    }
    let loader = loader::Loader::new(folder, &root, conform::Broken::of(problems));
    let workflow = loader.workflow();
    let found = loader.problems.into_inner();
    // A name that is none is reported where it is given, and not wherever it is used.
    let misnamed =
        |it: &Problem| it.code == "bad-name" && found.iter().any(|also| also.message == it.message);
    problems.retain(|it| !misnamed(it));
    problems.extend(found);
    Some(workflow)
}
