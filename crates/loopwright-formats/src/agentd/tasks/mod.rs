//! `tasks.md`: what is to be done, in layers.
//!
//! agentd drops tasks without a file, tasks of a fifth layer and ids such as `2.3b`, reads no headings, and does not accept the
//! front matter it writes itself. Here no task is lost: what looks like one and cannot be understood is a problem.

mod blocks;
mod doubts;
mod fields;
mod headings;
mod layers;
mod scan;
mod starts;

use std::collections::HashMap;

use serde::Serialize;

use super::page::Page;
use super::yaml::Node;
use super::{Problem, Severity, markdown};

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Action {
    /// It is made.
    Create,
    /// It is changed.
    Modify,
    /// It is taken away.
    Delete,
    /// It gets another name.
    Rename,
}

impl Action {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Modify => "MODIFY",
            Self::Delete => "DELETE",
            Self::Rename => "RENAME",
        }
    }
}

/// A file of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskFile {
    /// Its path as it is written.
    pub path: String,
    /// What is done to it, if it or its task says so.
    pub action: Option<Action>,
}

/// What a reference is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum From {
    /// The task makes it true: `Spec:`, `spec_ref:`.
    Spec,
    /// The task shows that it is true: `Verify:`.
    Verify,
}

/// A place in a spec that a task is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SpecRef {
    /// As it is written: `a:R1`, `specs/a.md#anchor`.
    pub text: String,
    /// Its line, counted from 1.
    pub line: usize,
    /// What it is for.
    pub from: From,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Task {
    /// Its id as it is written: `2.10` is not `2.1`.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What is done to its file, or to the first of several that says so.
    pub action: Option<Action>,
    /// Its file, or the first of several.
    pub file: Option<String>,
    /// All of its files.
    pub files: Vec<TaskFile>,
    /// The first place in a spec that it names; one it verifies, if it names no other.
    pub spec_ref: Option<String>,
    /// Every place in a spec that it names.
    pub refs: Vec<SpecRef>,
    /// The ids of the tasks that come before it.
    pub depends: Vec<String>,
    /// Whether it says that it is done.
    pub done: bool,
    /// `pending`, `in_progress`, `completed`, `blocked`, or what else was written.
    pub status: String,
    /// Its line, counted from 1.
    pub line: usize,
    /// All of it, as it is written.
    pub text: String,
}

/// Tasks that are done together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// What it is called in facts: its kind or its title as a word. No two are the same.
    pub id: String,
    /// `data`, `logic`, `integration`, `testing` or `other`, if it is one of these.
    pub kind: Option<&'static str>,
    /// Its title, without its number.
    pub title: String,
    /// The number before its title.
    pub number: Option<u64>,
    /// The line of its heading. Nothing if it has none.
    pub line: Option<usize>,
    /// Its tasks, in the order of the text. There is at least one.
    pub tasks: Vec<Task>,
}

impl Layer {
    /// Whether all of its tasks say that they are done.
    pub fn done(&self) -> bool {
        self.tasks.iter().all(|it| it.done)
    }
}

/// The tasks of a change as they are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tasks {
    /// The change: what the front matter says, or the folder.
    pub change_id: String,
    /// Whether the front matter has a `change_id`. What is newly written must.
    pub change_id_stated: bool,
    /// Whether there is front matter.
    pub front_matter: bool,
    /// The layers in the order of the text.
    pub layers: Vec<Layer>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

impl Tasks {
    /// Reads the tasks of a change whose folder has this name. Nothing makes it fail: what is wrong is among the problems.
    pub fn read(text: &str, change_from_folder: &str) -> Self {
        let page = Page::read(text);
        let mut problems = Vec::new();
        let (front, fault) = page.front_values();
        if let Some(fault) = fault {
            let message =
                format!("the front matter is not right, each key was read by itself: {}", fault.message);
            problems.push(Problem::new(Severity::Low, fault.line, message));
        }
        let (change_id, change_id_stated) = change(&front, change_from_folder, &mut problems);
        let scanned = scan::scan(&page, &mut problems);
        let layers = layers::group(&page, &front, scanned, &mut problems);
        let mut tasks =
            Self { change_id, change_id_stated, front_matter: page.has_front_matter(), layers, problems };
        tasks.resolve();
        tasks.check(&front);
        tasks.problems.sort_by_key(|it| it.line);
        tasks
    }

    /// Every task, in the order of the layers.
    pub fn all(&self) -> impl Iterator<Item = &Task> {
        self.layers.iter().flat_map(|it| &it.tasks)
    }

    /// Replaces ranges such as `1.1-1.3` and `1.*` by the tasks they mean.
    fn resolve(&mut self) {
        let has_range = |it: &Task| it.depends.iter().any(|it| fields::is_range(it));
        if !self.all().any(has_range) {
            return;
        }
        let ids: Vec<String> = self.all().map(|it| it.id.clone()).collect();
        let places: HashMap<&str, usize> =
            ids.iter().enumerate().rev().map(|(at, it)| (it.as_str(), at)).collect();
        for task in self.layers.iter_mut().flat_map(|it| &mut it.tasks) {
            let mut depends: Vec<String> = Vec::new();
            for word in &task.depends {
                for id in fields::expand(word, &ids, &places) {
                    if id != task.id && !depends.contains(&id) {
                        depends.push(id);
                    }
                }
            }
            task.depends = depends;
        }
    }

    fn check(&mut self, front: &Node) {
        let mut problems = Vec::new();
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for task in self.all() {
            if let Some(before) = seen.insert(&task.id, task.line) {
                let message = format!("task `{}` comes twice, first in line {before}", task.id);
                problems.push(Problem::new(Severity::High, task.line, message));
            }
            if task.title.is_empty() {
                let message = format!("task `{}` has no title", task.id);
                problems.push(Problem::new(Severity::Low, task.line, message));
            }
        }
        let count = self.all().count();
        if count == 0 && !self.problems.iter().any(|it| it.severity == Severity::High) {
            problems.push(Problem::new(Severity::High, None, "there is no task in it"));
        }
        // Whoever counted may have seen one that we do not.
        let total = front.get("summary").and_then(|it| it.get("total"));
        if let Some(number) =
            total.and_then(Node::text).and_then(|it| it.parse::<usize>().ok()).filter(|it| *it != count)
        {
            let message = format!("the front matter counts {number} tasks, and there are {count}");
            problems.push(Problem::new(Severity::Low, total.map(Node::line), message));
        }
        self.problems.extend(problems);
    }
}

/// The change that the tasks are of, and whether it is stated as `change_id`.
fn change(front: &Node, folder: &str, problems: &mut Vec<Problem>) -> (String, bool) {
    let stated = |key: &str| {
        let node = front.get(key)?;
        let text = node.text()?.trim();
        let is_real = !text.is_empty() && !markdown::is_placeholder(text) && !text.contains("{{");
        is_real.then(|| (text.to_owned(), node.line()))
    };
    let (change_id, id) = (stated("change_id"), stated("id"));
    let is_stated = change_id.is_some();
    if let (Some((change, _)), Some((id, line))) = (&change_id, &id)
        && change != id
    {
        let message = format!("`id` says `{id}`, and `change_id` says `{change}`");
        problems.push(Problem::new(Severity::Low, *line, message));
    }
    match change_id.or(id) {
        Some((change, line)) => {
            if change != folder && !folder.is_empty() {
                let message = format!("the tasks are of change `{change}`, and the folder is `{folder}`");
                problems.push(Problem::new(Severity::Medium, line, message));
            }
            (change, is_stated)
        }
        None => (folder.to_owned(), false),
    }
}
