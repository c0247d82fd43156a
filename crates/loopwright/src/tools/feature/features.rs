//! Where features are, and what their records say.

use std::fs;
use std::path::{Path, PathBuf};

use loopwright_core::definition::Workflow;
use loopwright_engine::{Home, worktrees};
use loopwright_formats::feature::{Meta, PHASES, Problem, way};
use serde_json::Value;

use crate::error::CommandError;
use crate::session;

/// The features of a project, in all of its worktrees.
pub(super) struct Features<'w> {
    workflow: &'w Workflow,
    here: PathBuf,
    roots: Vec<Root>,
}

struct Root {
    path: PathBuf,
    branch: Option<String>,
}

/// A feature.
#[derive(Clone)]
pub(super) struct Feature {
    /// Its number and name: `007-export`.
    pub(super) name: String,
    /// The worktree it was found in.
    pub(super) root: PathBuf,
    pub(super) folder: PathBuf,
    /// What its record says, or why nobody can tell.
    pub(super) meta: Result<Meta, Problem>,
}

impl<'w> Features<'w> {
    pub(super) fn of(workflow: &'w Workflow) -> Result<Self, CommandError> {
        let folder = session::here()?;
        let home = Home::find(&folder).ok();
        let here = home.as_ref().map_or(folder, |it| it.root().to_owned());
        let listed = home.filter(|it| it.is_repository).and_then(|it| worktrees(&it.git).ok());
        let root = |it: loopwright_engine::Worktree| Root { path: it.path, branch: it.branch };
        let mut roots: Vec<Root> = listed.into_iter().flatten().map(root).collect();
        if roots.is_empty() {
            roots.push(Root { path: here.clone(), branch: None });
        }
        Ok(Self { workflow, here, roots })
    }

    /// All of them, by number. One that is in several worktrees is what its own branch says, or what is here.
    pub(super) fn all(&self) -> Vec<Feature> {
        // Beside one another: below what the workflow's folder begins with.
        let own = self.workflow.folder.as_deref().unwrap_or_default();
        let beside = own.split("{{").next().and_then(|it| it.rsplit_once('/')).map_or("", |it| it.0);
        let mut found: Vec<(u8, Feature)> = Vec::new();
        for root in &self.roots {
            for folder in folders(&root.path.join(beside)) {
                let Some(name) = folder.file_name().map(|it| it.to_string_lossy().into_owned()) else {
                    continue;
                };
                if !folder.join(".meta.json").exists() {
                    continue;
                }
                let own = root.branch.as_deref() == Some(&*format!("feature/{name}"));
                let rank = if own { 0 } else { 1 + u8::from(!is_same(&root.path, &self.here)) };
                let meta = read(&folder.join(".meta.json"));
                let feature = Feature { name: name.clone(), root: root.path.clone(), folder, meta };
                match found.iter_mut().find(|it| it.1.name == name) {
                    Some(there) if there.0 <= rank => {}
                    Some(there) => *there = (rank, feature),
                    None => found.push((rank, feature)),
                }
            }
        }
        found.sort_by(|one, other| place(&one.1.name).cmp(&place(&other.1.name)));
        found.into_iter().map(|it| it.1).collect()
    }

    /// The feature that is called so, or has that number.
    pub(super) fn find(&self, said: &str) -> Result<Feature, CommandError> {
        let all = self.all();
        let number = |it: &&Feature| place(&it.name).0 == said.parse().ok() && said.parse::<u64>().is_ok();
        let named = all.iter().find(|it| it.name == said);
        let found: Vec<&Feature> = named.map_or_else(|| all.iter().filter(number).collect(), |it| vec![it]);
        match found.as_slice() {
            [one] => Ok((*one).clone()),
            [] => Err(CommandError::user(format!("there is no feature `{said}`"))
                .hinted("`loopwright feature list` says which there are")),
            several => {
                let names: Vec<&str> = several.iter().map(|it| it.name.as_str()).collect();
                Err(CommandError::user(format!(
                    "several features have the number {said}: {}",
                    names.join(", ")
                ))
                .hinted("say its whole name"))
            }
        }
    }

    /// The only feature that is active.
    pub(super) fn only_active(&self) -> Option<Feature> {
        let active =
            |it: &Feature| it.meta.as_ref().is_ok_and(|it| it.status.word() == "active" && !it.is_project);
        let mut active = self.all().into_iter().filter(active);
        let first = active.next()?;
        active.next().is_none().then_some(first)
    }

    /// The worktree of a feature, if it is not where somebody stands.
    pub(super) fn elsewhere(&self, feature: &Feature) -> Option<String> {
        let active = feature.meta.as_ref().is_ok_and(|it| it.status.word() == "active");
        (active && !is_same(&feature.root, &self.here)).then(|| feature.root.display().to_string())
    }

    /// The phase that is due, in the order that the workflow has for its mode. Nothing, if it is over.
    pub(super) fn next(&self, meta: &Meta) -> String {
        let mut documents = self.workflow.documents.values();
        let record = documents.find(|it| it.reader.as_deref() == Some("feature-meta"));
        let order = record.map_or(&Value::Null, |it| &it.with["order"]);
        let order = if order.is_object() { &order[meta.mode.as_str()] } else { order };
        let order: Option<Vec<String>> =
            order.as_array().map(|it| it.iter().filter_map(Value::as_str).map(str::to_owned).collect());
        let all = || PHASES.map(str::to_owned).to_vec();
        way(meta, &order.unwrap_or_else(all), "").next
    }

    /// A path as people see it.
    pub(super) fn within(&self, path: &Path) -> String {
        path.strip_prefix(&self.here).unwrap_or(path).display().to_string()
    }
}

/// A problem, with its field.
pub(super) fn told(problem: &Problem) -> String {
    match problem.field.as_str() {
        "" => problem.message.clone(),
        field => format!("{field}: {}", problem.message),
    }
}

fn read(path: &Path) -> Result<Meta, Problem> {
    let problem = |message: String| Problem { field: String::new(), message };
    let text = fs::read_to_string(path).map_err(|it| problem(format!("it cannot be read: {it}")))?;
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|it| problem(format!("it is no JSON: {it}")))?;
    let meta = Meta::read(&value);
    meta.problems.first().map_or(Ok(meta.clone()), |it| Err(it.clone()))
}

/// The number of a feature, and its name.
fn place(name: &str) -> (Option<u64>, &str) {
    let digits = name.split('-').next().unwrap_or_default();
    (digits.parse().ok(), name)
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.map(|it| it.path()).filter(|it| it.is_dir()).collect()
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}
