//! The scene: everything a fact, a text or a prompt may look at, at one moment of a run.
//!
//! Only what is asked for is looked at: reading a document or asking git takes time.

mod documents;
mod git;
mod kept;
mod remembered;
mod said;
mod text;

use loopwright_core::definition::{Kind, Machine, State, Table, Workflow};
use loopwright_core::language::Folder;
use loopwright_core::machine::Run;
use loopwright_core::name::{Name, in_expression};
use serde_json::{Map, Value, json};

pub(crate) use self::kept::Kept;
pub(crate) use self::said::{Heard, Shell};
pub use self::text::time;
pub(crate) use self::text::{meant, uses};
use crate::files::{Files, FilesError, Look};
use crate::journal::Millis;
use crate::project::Project;

/// Everything there is to look at.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) workflow: &'a Workflow,
    /// Its files: prompts, templates, schemas.
    pub(crate) folder: &'a Folder,
    pub(crate) run: &'a Run,
    /// What the run is called.
    pub(crate) name: &'a str,
    pub(crate) files: &'a Files,
    /// All files as they are.
    pub(crate) look: &'a Look,
    pub(crate) project: &'a Project,
    pub(crate) now: Millis,
    /// Asks commands, for documents that are what one says.
    pub(crate) shell: Shell<'a>,
    /// The item at hand, in a loop of calls.
    pub(crate) item: Option<&'a str>,
    /// The finding that is asked about.
    pub(crate) finding: Option<&'a str>,
    /// Whether what differs only because time passes or other files change is left out: the moment, and lists of changes.
    pub(crate) is_for_key: bool,
}

/// Why something could not be looked at.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unseen {
    #[error(transparent)]
    Files(#[from] FilesError),
    /// Of a fact or a text: where, and what about it.
    #[error("{0}")]
    Wrong(String),
}

impl<'a> Scene<'a> {
    pub(crate) fn machine(&self) -> Option<&'a Machine> {
        self.run.machine(self.workflow)
    }

    pub(crate) fn state(&self) -> Option<&'a State> {
        self.run.state(self.workflow)
    }

    /// The values of facts.
    pub(crate) fn facts(&self, names: &[Name]) -> Result<indexmap::IndexMap<Name, Name>, Unseen> {
        names.iter().map(|it| Ok((it.clone(), self.fact(it)?))).collect()
    }

    /// The value of a fact: what was kept, or what its expression gives now.
    pub(crate) fn fact(&self, name: &Name) -> Result<Name, Unseen> {
        if let Some(kept) = self.run.once.get(&**name) {
            return Ok(kept.clone());
        }
        let wrong = |what: String| Unseen::Wrong(format!("the fact `{name}` {what}"));
        let mut machines = [self.machine(), Some(&self.workflow.main)].into_iter().flatten();
        let fact = machines.find_map(|it| it.facts.get(&**name));
        let fact = fact.ok_or_else(|| wrong("is not there".into()))?;
        let expression = fact.expression.as_ref().ok_or_else(|| wrong("cannot be read".into()))?;
        let names = self.names(&fact.reads)?;
        let value = expression
            .evaluate(&names)
            .map_err(|it| wrong(format!("has no value here: {it}{}", self.unsaid(&fact.reads))))?;
        let value: Option<Name> = value.as_str().map(Name::from);
        match value.filter(|it| fact.values.contains(it)) {
            Some(value) => Ok(value),
            None => Err(wrong("came out as none of its values".into())),
        }
    }

    /// An entry of a table, which may depend on a fact as well as on a variable.
    pub(crate) fn pick<'t, T>(&self, table: &'t Table<T>) -> Result<Option<&'t T>, Unseen> {
        let Table::By { name, .. } = table else { return Ok(self.run.pick(table)) };
        let value = match self.run.value_of(name) {
            Some(value) => value,
            None => self.fact(name)?,
        };
        Ok(table.get(|_| Some(value)))
    }

    /// An object with the values of dotted names, as they are written in expressions.
    pub(crate) fn names<S: AsRef<str>>(&self, paths: &[S]) -> Result<Value, Unseen> {
        let mut names = Map::new();
        for path in paths {
            let mut parts = path.as_ref().split('.');
            let (Some(head), second) = (parts.next(), parts.next()) else { continue };
            let family = ["docs", "last", "changed", "inputs", "lists", "items", "gate", "facts"];
            match second.filter(|_| family.contains(&head)) {
                Some(member) => {
                    let known = names.get(head).is_some_and(|it| it.get(member).is_some());
                    if !known && let Some(value) = self.member(head, member)? {
                        names.entry(head).or_insert_with(|| json!({}))[member] = value;
                    }
                }
                None if names.contains_key(head) => {}
                None => {
                    if let Some(value) = self.name(head)? {
                        names.insert(head.to_owned(), value);
                    }
                }
            }
        }
        Ok(Value::Object(names))
    }

    /// One of a family: `docs.plan`, `last.review`.
    fn member(&self, family: &str, name: &str) -> Result<Option<Value>, Unseen> {
        let is = |it: &Name| it.in_expression() == name;
        Ok(match family {
            "docs" => match self.workflow.documents.keys().find(|it| is(it)) {
                Some(document) => Some(self.document(document)?),
                None => None,
            },
            "changed" if self.is_for_key => Some(json!({"count": 0, "files": []})),
            "changed" => match self.workflow.documents.keys().find(|it| is(it)) {
                Some(document) => {
                    let files = self.changed_files(document)?;
                    Some(json!({"count": files.len(), "files": files}))
                }
                None => None,
            },
            "last" => self.last(name),
            "inputs" => self.run.inputs.iter().find(|(it, _)| is(it)).map(|(_, it)| json!(it)),
            "lists" => {
                let outer = self.run.outer.as_ref().map(|it| &it.lists);
                let both = [outer, Some(&self.run.lists)].into_iter().flatten().flatten();
                let entries: Vec<_> = both.filter(|(it, _)| is(it)).flat_map(|(_, it)| it).collect();
                self.workflow.lists.keys().any(is).then(|| json!(entries))
            }
            "items" => self.items_by_end(name)?,
            "gate" => self.gate(name)?,
            "facts" => {
                let machines = [self.machine(), Some(&self.workflow.main)].into_iter().flatten();
                let fact = machines.flat_map(|it| it.facts.keys()).find(|it| is(it));
                fact.map(|it| self.fact(it)).transpose()?.map(|it| json!(it))
            }
            _ => None,
        })
    }

    /// A name by itself.
    fn name(&self, name: &str) -> Result<Option<Value>, Unseen> {
        let run = self.run;
        if let Some(left_out) = left_out(name).filter(|_| self.is_for_key) {
            return Ok(Some(left_out));
        }
        Ok(match name {
            "docs" | "last" | "changed" | "inputs" | "lists" | "items" | "gate" | "facts" => {
                Some(self.whole(name)?)
            }
            "git" => Some(self.git()?),
            "project" => Some(self.project.value()),
            "findings" => Some(self.findings()),
            "subject" => Some(json!(run.subject)),
            "run" => Some(json!(self.name)),
            "state" => Some(json!(run.at.state)),
            "round" => Some(json!(run.at.visit.to_string())),
            "phase" => Some(json!(run.phase)),
            "today" => Some(json!(text::date(self.now))),
            "now" => Some(json!(text::time(self.now))),
            "folder" => self.own_folder()?.map(|it| json!(it)),
            "from" => run.cause.as_ref().map(|it| json!(it.state)),
            "signal" => run.cause.as_ref().map(|it| json!(it.signal)),
            "cause" => run.cause.as_ref().map(|it| json!(it)),
            "spent" => Some(json!(run.spent)),
            "diff" => Some(json!(self.diff()?)),
            "uncommitted" => Some(json!(self.uncommitted()?)),
            "changed_files" => Some(json!(self.changed_paths()?)),
            "note" => self.note(),
            "finding" => self.finding(),
            "question" => self.question(),
            "answer" => self.answer(),
            "decisions" => Some(self.decisions()),
            "spent_by_item" => Some(self.spent_by_item()),
            "history" => Some(json!(self.history())),
            "item" => self.item()?,
            _ => self.other(name)?,
        })
    }

    /// A variable, a fact, or what a loop calls its item.
    fn other(&self, name: &str) -> Result<Option<Value>, Unseen> {
        let machines = || [self.machine(), Some(&self.workflow.main)].into_iter().flatten();
        if let Some(variable) = machines().flat_map(|it| it.vars.keys()).find(|it| it.in_expression() == name)
        {
            return Ok(self.run.value_of(variable).map(|it| json!(it)));
        }
        if let Some(fact) = machines().flat_map(|it| it.facts.keys()).find(|it| it.in_expression() == name) {
            return self.fact(fact).map(|it| Some(json!(it)));
        }
        let calls =
            |state: &State| matches!(&state.kind, Kind::Each(each) if each.item.in_expression() == name);
        if machines().flat_map(|it| it.states.values()).any(calls) { self.item() } else { Ok(None) }
    }

    /// A whole family, where a text goes through all of it.
    fn whole(&self, family: &str) -> Result<Value, Unseen> {
        let members: Vec<String> = match family {
            "docs" | "changed" => self.workflow.documents.keys().map(Name::in_expression).collect(),
            "inputs" => self.run.inputs.keys().map(Name::in_expression).collect(),
            "lists" => self.workflow.lists.keys().map(Name::in_expression).collect(),
            "last" | "items" => {
                self.machine().into_iter().flat_map(|it| it.states.keys()).map(Name::in_expression).collect()
            }
            "gate" => {
                self.machine().into_iter().flat_map(|it| it.gates.keys()).map(Name::in_expression).collect()
            }
            "facts" => {
                self.machine().into_iter().flat_map(|it| it.facts.keys()).map(Name::in_expression).collect()
            }
            _ => Vec::new(),
        };
        let mut whole = Map::new();
        for member in members {
            if let Some(value) = self.member(family, &member)? {
                whole.insert(in_expression(&member), value);
            }
        }
        Ok(Value::Object(whole))
    }
}

/// What a name stands for where it is left out: of files, what is judged counts and nothing else.
fn left_out(name: &str) -> Option<Value> {
    match name {
        "now" | "today" | "diff" | "uncommitted" => Some(json!("")),
        "changed_files" => Some(json!([])),
        "git" => Some(json!({"branch": "", "base": "", "changed_files": []})),
        _ => None,
    }
}
