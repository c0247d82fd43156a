//! `tasks.yaml`: the plan, and how far each task is.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use super::words::{checks, each_once, first, line, lines, names, word};
use super::{Check, Problem};
use crate::agentd::graph;

/// How far a task can be.
pub const STATUSES: [&str; 5] = ["not-started", "in-progress", "implemented", "completed", "blocked"];
/// Kinds of tasks.
pub const TYPES: [&str; 6] = ["feat", "fix", "refactor", "chore", "test", "docs"];
/// What the change as a whole goes by.
pub const WHOLE: &str = "meta";

/// A task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Task {
    /// What it is called, `T-001` say.
    pub id: String,
    /// One of [`STATUSES`].
    pub status: &'static str,
    /// One of [`TYPES`].
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// In a few words; the goal where there is none.
    pub title: String,
    /// What has to be done before.
    pub depends: Vec<String>,
    /// What it is for.
    pub goal: String,
    /// What it is not for.
    pub non_goals: Vec<String>,
    /// What has to be read before.
    pub context_files: Vec<String>,
    /// Files it will change.
    pub files_expected: Vec<String>,
    /// `cmd: x` and `manual: x`.
    pub acceptance_checks: Vec<String>,
    /// What may go wrong; never `none`.
    pub risk_flags: Vec<String>,
    /// When it is done.
    pub done_when: Vec<String>,
}

/// A plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tasks {
    /// In the order written, at the place they have in the file.
    pub items: Vec<Task>,
    /// What the project is called.
    pub project: String,
    /// What cannot be understood, so that something would be left out or done too early.
    pub problems: Vec<Problem>,
    /// What a file has to say besides, before it counts as a plan.
    pub lacking: Vec<Problem>,
    commands: Vec<String>,
}

impl Tasks {
    /// Reads the tasks of a file.
    pub fn read(file: &Value) -> Self {
        let mut found = Self { project: line(&file["project"]["name"]), ..Self::default() };
        let list = match &file["tasks"] {
            Value::Array(list) => list,
            Value::Null => {
                found.problems.push(Problem::new("", "there is no list `tasks`"));
                return found;
            }
            _ => {
                found.problems.push(Problem::new("tasks", "this is no list of tasks"));
                return found;
            }
        };
        if list.is_empty() {
            found.lacking.push(Problem::new("tasks", "there is no task"));
        }
        let mut ids = HashSet::new();
        for (at, written) in list.iter().enumerate() {
            found.take(written, &format!("tasks.{at}"), &mut ids);
        }
        found.hold_together(list);
        found
    }

    fn take(&mut self, written: &Value, place: &str, ids: &mut HashSet<String>) {
        if !written.is_object() {
            self.problems.push(Problem::new(place, "this is no task with an `id` and a `goal`"));
            return;
        }
        let text = |name: &str| line(&written[name]);
        let (id, goal) = (text("id"), text("goal"));
        let called = if id.is_empty() { "this task".to_owned() } else { format!("`{id}`") };
        if id.is_empty() {
            self.problems.push(Problem::new(format!("{place}.id"), "this task has no `id`"));
        } else if !ids.insert(id.clone()) {
            self.problems.push(Problem::new(format!("{place}.id"), format!("{called} is there twice")));
        } else if id == WHOLE {
            let message =
                format!("{called} is what the change as a whole goes by: call the task something else");
            self.problems.push(Problem::new(format!("{place}.id"), message));
        }
        let mut one_of = |name: &str, known: &'static [&'static str], start: &'static str| {
            let said = text(name);
            let meant = known.iter().find(|it| **it == word(&said));
            if meant.is_none() && !said.is_empty() {
                let message = format!("`{said}` is no {name}; one of {}", known.join(", "));
                self.problems.push(Problem::new(format!("{place}.{name}"), message));
            }
            meant.copied().unwrap_or(start)
        };
        let status = one_of("status", &STATUSES, "not-started");
        let kind = one_of("type", &TYPES, "feat");
        let checks =
            checks(&written["acceptance_checks"], &format!("{place}.acceptance_checks"), &mut self.problems);
        let done_when = lines(&written["done_when"]);
        let lacks = |it: &str| Problem::new(format!("{place}.{it}"), format!("{called} has no `{it}`"));
        let needed = [
            ("goal", goal.is_empty()),
            ("acceptance_checks", checks.is_empty()),
            ("done_when", done_when.is_empty()),
        ];
        self.lacking.extend(needed.iter().filter(|(_, is_missing)| *is_missing).map(|(it, _)| lacks(it)));
        self.commands.extend(checks.iter().filter_map(|it| it.command().map(str::to_owned)));
        let title = [text("title"), goal.lines().next().unwrap_or_default().to_owned(), id.clone()];
        let flags = names(&written["risk_flags"]).iter().map(|it| word(it)).collect::<Vec<_>>();
        self.items.push(Task {
            status,
            kind,
            title: title.into_iter().find(|it| !it.is_empty()).unwrap_or_default(),
            depends: first(written, &DEPENDS).map(|(_, it)| names(it)).unwrap_or_default(),
            non_goals: lines(&written["non_goals"]),
            context_files: lines(&written["context_files"]),
            files_expected: lines(&written["files_expected"]),
            acceptance_checks: checks.iter().map(spelled).collect(),
            risk_flags: each_once(flags.iter().map(String::as_str).filter(|it| *it != "none")),
            done_when,
            goal,
            id,
        });
    }

    /// What no task says by itself: whether all that is needed is there, and in which order it can be done.
    fn hold_together(&mut self, list: &[Value]) {
        let ids: HashSet<String> = self.items.iter().map(|it| it.id.clone()).collect();
        // What is no task is a problem already, and has no place among them.
        let places = list.iter().enumerate().filter(|(_, it)| it.is_object());
        for ((at, written), task) in places.zip(&mut self.items) {
            task.depends.retain(|it| ids.contains(it) || !it.eq_ignore_ascii_case("none"));
            for missing in task.depends.iter().filter(|it| !ids.contains(*it)) {
                let name = first(written, &DEPENDS).map_or(DEPENDS[0], |(name, _)| name);
                let message = format!("`{}` depends on `{missing}`, which is not there", task.id);
                self.problems.push(Problem::new(format!("tasks.{at}.{name}"), message));
            }
        }
        let names: Vec<&str> = self.items.iter().map(|it| it.id.as_str()).collect();
        let depends: Vec<&[String]> = self.items.iter().map(|it| it.depends.as_slice()).collect();
        for circle in graph::cycles(&names, &depends) {
            let message = format!("these wait for each other: {}", graph::shown(&circle, &names));
            self.lacking.push(Problem::new("tasks", message));
        }
    }

    /// All commands of all tasks, in order, each once.
    pub fn commands(&self) -> Vec<String> {
        each_once(self.commands.iter().map(String::as_str))
    }

    /// All risks.
    pub fn flags(&self) -> Vec<String> {
        each_once(self.items.iter().flat_map(|it| &it.risk_flags).map(String::as_str))
    }

    /// Whether tasks get in each other's way: two expect one file, or two need one task.
    pub fn cross_cutting(&self) -> bool {
        let twice = |of: fn(&Task) -> &Vec<String>| {
            let mut times: HashMap<&str, usize> = HashMap::new();
            for task in &self.items {
                let own: HashSet<&str> = of(task).iter().map(|it| it.trim_start_matches("./")).collect();
                for name in own {
                    *times.entry(name).or_default() += 1;
                }
            }
            times.values().any(|it| *it > 1)
        };
        twice(|it| &it.files_expected) || twice(|it| &it.depends)
    }

    /// The change as a whole, as one task.
    pub fn whole(&self) -> Value {
        let behaves = self.items.is_empty() || self.items.iter().any(|it| it.kind != "docs");
        let title = if self.project.is_empty() { "The change as a whole" } else { &self.project };
        json!({
            "id": WHOLE,
            "type": if behaves { "feat" } else { "docs" },
            "title": title,
            "goal": "All tasks of the plan, together",
            "depends_on": [],
            "risk_flags": self.flags(),
            "covers": self.items.iter().map(|it| &it.id).collect::<Vec<_>>(),
            "text": format!("{title}: all tasks of the plan together ({})", of(self.items.iter().map(|it| &it.id))),
        })
    }
}

impl Task {
    /// All of it as people read it. How far it is, is not part of it.
    pub fn text(&self) -> String {
        let mut text = format!("{}: {} ({})\n\nGoal: {}\n", self.id, self.title, self.kind, self.goal);
        let lists = [
            ("Not part of it", &self.non_goals),
            ("After", &self.depends),
            ("Read before", &self.context_files),
            ("Files expected to change", &self.files_expected),
            ("Risks", &self.risk_flags),
            ("Checks", &self.acceptance_checks),
            ("Done when", &self.done_when),
        ];
        for (name, list) in lists.into_iter().filter(|(_, it)| !it.is_empty()) {
            let _ = match list.as_slice() {
                [one] => writeln!(text, "{name}: {one}"),
                several => writeln!(text, "{name}:\n- {}", several.join("\n- ")),
            };
        }
        text
    }

    /// What readers give of it.
    pub fn seen(&self) -> Value {
        let mut seen = json!(self);
        if let Value::Object(fields) = &mut seen {
            fields.insert("text".to_owned(), self.text().into());
        }
        seen
    }
}

fn of<'t>(ids: impl Iterator<Item = &'t String>) -> String {
    ids.map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// What the two generations call it.
const DEPENDS: [&str; 3] = ["depends_on", "deps", "depends"];

fn spelled(check: &Check) -> String {
    match check {
        Check::Command(text) => format!("cmd: {text}"),
        Check::Manual(text) => format!("manual: {text}"),
    }
}

/// What a status becomes in a file. Nothing stands for one that is taken out.
pub fn status_of(value: &Value) -> Result<Value, String> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::String(text) if text.is_empty() => Ok(Value::Null),
        Value::String(text) if STATUSES.contains(&text.as_str()) => Ok(value.clone()),
        other => Err(format!("`{}` is no status; one of {}", line(other), STATUSES.join(", "))),
    }
}
