//! A change as a whole: what is wrong between its files, and how far it is.

mod overview;
mod references;

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::proposal::Proposal;
use super::spec::Spec;
use super::state::State;
use super::tasks::Tasks;
use super::{Problem, Severity, graph, is_id};
pub use overview::{Decision, Overview, Standing};

/// The texts of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// The name of its folder.
    pub change_id: String,
    /// Each text by its path in the folder, with slashes: `STATE.yaml`, `specs/a.md`.
    pub texts: BTreeMap<String, String>,
    /// What is wrong with files before anybody reads them: they are no texts, or cannot be opened.
    pub unreadable: Vec<Problem>,
}

impl Files {
    /// Whether a file is there and is no text.
    pub fn is_unreadable(&self, path: &str) -> bool {
        self.unreadable.iter().any(|it| it.file == path)
    }

    /// A text, if the change has it.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// Path, name without `.md`, and text of each spec. Templates, whose names begin with an underscore, are none.
    pub fn specs(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let after =
            self.texts.range("specs/".to_owned()..).take_while(|(path, _)| path.starts_with("specs/"));
        after.filter_map(|(path, text)| {
            let stem = path.strip_prefix("specs/")?.strip_suffix(".md")?;
            let is_template = stem.rsplit('/').next().is_none_or(|it| it.starts_with('_'));
            (!is_template).then_some((path.as_str(), stem, text.as_str()))
        })
    }
}

/// What is wrong with a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Whether it may go on.
    pub valid: bool,
    /// Whether every problem counts, and not only those of high severity.
    pub strict: bool,
    /// How many problems there are of high severity.
    pub high: usize,
    /// Of medium severity.
    pub medium: usize,
    /// Of low severity.
    pub low: usize,
    /// The problems, by file and line.
    pub problems: Vec<Problem>,
}

/// Says what is wrong with a change.
pub fn validate(files: &Files, strict: bool) -> Report {
    let mut problems = files.unreadable.clone();
    if !is_id(&files.change_id) {
        let message = format!("`{}` is no id of a change: letters a-z, digits and dashes", files.change_id);
        problems.push(Problem::new(Severity::Low, None, message));
    }
    state(files, &mut problems);
    let proposal = files.text("proposal.md").filter(|it| !it.trim().is_empty()).map(Proposal::read);
    let tasks =
        files.text("tasks.md").filter(|it| !it.trim().is_empty()).map(|it| Tasks::read(it, &files.change_id));
    for (path, is_there) in [("proposal.md", proposal.is_some()), ("tasks.md", tasks.is_some())] {
        if !is_there && !files.is_unreadable(path) {
            let what = if files.text(path).is_some() { "is empty" } else { "is missing" };
            problems.push(Problem::new(Severity::High, None, format!("`{path}` {what}")).of(path));
        }
    }
    let specs: Vec<(&str, Spec)> =
        files.specs().map(|(path, stem, text)| (path, Spec::read(text, stem))).collect();
    if let Some(proposal) = &proposal {
        of_proposal(proposal, files, &specs, &mut problems);
    }
    for (path, spec) in &specs {
        problems.extend(spec.problems.iter().map(|it| it.clone().of(path)));
        references::links(path, files, &mut problems);
    }
    across(&specs, &mut problems);
    if let Some(tasks) = &tasks {
        of_tasks(tasks, files, &specs, &mut problems);
    }
    orphans(files, &specs, proposal.as_ref(), tasks.as_ref(), &mut problems);
    problems.sort_by(|a, b| (&a.file, a.line, a.severity).cmp(&(&b.file, b.line, b.severity)));
    let count = |severity: Severity| problems.iter().filter(|it| it.severity == severity).count();
    let (high, medium, low) = (count(Severity::High), count(Severity::Medium), count(Severity::Low));
    let valid = if strict { problems.is_empty() } else { high == 0 };
    Report { valid, strict, high, medium, low, problems }
}

fn state(files: &Files, problems: &mut Vec<Problem>) {
    const STATE: &str = "STATE.yaml";
    match files.text(STATE).map(State::read) {
        None if files.is_unreadable(STATE) => {}
        None => problems.push(Problem::new(Severity::Low, None, "`STATE.yaml` is missing").of(STATE)),
        Some(Err(found)) => problems.extend(found.into_iter().map(|it| it.of(STATE))),
        Some(Ok(state)) => {
            if let Some(id) =
                state.change_id.filter(|it| *it != files.change_id && !files.change_id.is_empty())
            {
                let message =
                    format!("the state is of change `{id}`, and the folder is `{}`", files.change_id);
                problems.push(Problem::new(Severity::Medium, None, message).of(STATE));
            }
        }
    }
}

fn of_proposal(proposal: &Proposal, files: &Files, specs: &[(&str, Spec)], problems: &mut Vec<Problem>) {
    const PROPOSAL: &str = "proposal.md";
    problems.extend(proposal.problems.iter().map(|it| it.clone().of(PROPOSAL)));
    if !proposal.complete() {
        let message = format!("the proposal is not complete: {}", proposal.missing.join(", "));
        problems.push(Problem::new(Severity::Medium, None, message).of(PROPOSAL));
    }
    if let Some(id) = proposal.id.as_ref().filter(|it| **it != files.change_id && !files.change_id.is_empty())
    {
        let message = format!("the proposal is of change `{id}`, and the folder is `{}`", files.change_id);
        problems.push(Problem::new(Severity::Medium, None, message).of(PROPOSAL));
    }
    for affected in &proposal.affected_specs {
        if !specs.iter().any(|(path, spec)| references::is_named(path, spec, &affected.id)) {
            let message = format!("affected spec `{}` has no file in `specs/`", affected.id);
            problems.push(Problem::new(Severity::Medium, affected.line, message).of(PROPOSAL));
        }
    }
}

/// Specs that wait for each other. That two of them have an `R1` is no fault: each counts from one, and whoever refers to one
/// names its spec.
fn across(specs: &[(&str, Spec)], problems: &mut Vec<Problem>) {
    let names: Vec<&str> = specs.iter().map(|(path, _)| references::stem(path)).collect();
    for (path, spec) in specs {
        for other in spec.depends.iter().filter(|it| !names.contains(&it.as_str())) {
            let message = format!("it depends on spec `{other}`, which the change does not have");
            problems.push(Problem::new(Severity::High, None, message).of(path));
        }
    }
    let depends: Vec<&[String]> = specs.iter().map(|(_, it)| it.depends.as_slice()).collect();
    for circle in graph::cycles(&names, &depends) {
        let path = circle.first().and_then(|it| specs.get(*it)).map_or("", |it| it.0);
        let message = format!("specs depend on each other in a circle: {}", graph::shown(&circle, &names));
        problems.push(Problem::new(Severity::High, None, message).of(path));
    }
}

fn of_tasks(tasks: &Tasks, files: &Files, specs: &[(&str, Spec)], problems: &mut Vec<Problem>) {
    const TASKS: &str = "tasks.md";
    problems.extend(tasks.problems.iter().map(|it| it.clone().of(TASKS)));
    let all: Vec<(usize, &super::tasks::Task)> = tasks
        .layers
        .iter()
        .enumerate()
        .flat_map(|(layer, it)| it.tasks.iter().map(move |it| (layer, it)))
        .collect();
    let places: HashMap<&str, usize> = all.iter().rev().map(|(layer, it)| (it.id.as_str(), *layer)).collect();
    for (layer, task) in &all {
        for other in &task.depends {
            let (severity, what) = match places.get(other.as_str()) {
                None => (Severity::High, "which is not there"),
                Some(it) if it > layer => (Severity::Medium, "which is in a later layer"),
                Some(_) => continue,
            };
            let message = format!("task `{}` depends on `{other}`, {what}", task.id);
            problems.push(Problem::new(severity, task.line, message).of(TASKS));
        }
        for it in &task.refs {
            if let Some(what) = references::fault(&it.text, files, specs) {
                let message = format!("task `{}` refers to `{}`: {what}", task.id, it.text);
                problems.push(Problem::new(Severity::High, it.line, message).of(TASKS));
            }
        }
    }
    let names: Vec<&str> = all.iter().map(|(_, it)| it.id.as_str()).collect();
    let depends: Vec<&[String]> = all.iter().map(|(_, it)| it.depends.as_slice()).collect();
    for circle in graph::cycles(&names, &depends) {
        let line = circle.first().and_then(|it| all.get(*it)).map(|(_, it)| it.line);
        let message = format!("tasks depend on each other in a circle: {}", graph::shown(&circle, &names));
        problems.push(Problem::new(Severity::High, line, message).of(TASKS));
    }
}

/// Specs that nobody works on.
fn orphans(
    files: &Files,
    specs: &[(&str, Spec)],
    proposal: Option<&Proposal>,
    tasks: Option<&Tasks>,
    problems: &mut Vec<Problem>,
) {
    for (path, spec) in specs {
        let is_affected = proposal.is_none_or(|it| {
            it.affected_specs.is_empty()
                || it.affected_specs.iter().any(|it| references::is_named(path, spec, &it.id))
        });
        let is_worked_on = tasks.is_none_or(|it| {
            it.all().flat_map(|it| &it.refs).any(|it| references::file(&it.text, files, specs) == Some(path))
        });
        if !is_affected {
            problems.push(Problem::new(Severity::Low, None, "the proposal does not name this spec").of(path));
        }
        if !is_worked_on {
            problems.push(Problem::new(Severity::Low, None, "no task refers to this spec").of(path));
        }
    }
}
