//! The files of a team's session as documents. What their values mean is `loopwright_formats::team`; here they get lines,
//! and are changed without touching anything else.

use loopwright_formats::team::acceptance::{Acceptance, Criterion};
use loopwright_formats::team::tasks::{Task, Tasks, status_of};
use loopwright_formats::team::{Change, Problem, status};
use serde_json::{Value, json};

use super::reader::{About, Page};
use super::{Document, Fault, Format};

/// Which file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Team {
    /// `status.json`.
    Status,
    /// `tasks.yaml`.
    Tasks,
    /// `acceptance.json`.
    Acceptance,
}

impl Team {
    pub(super) fn named(reader: &str) -> Option<Self> {
        match reader {
            "team-status" => Some(Self::Status),
            "team-tasks" => Some(Self::Tasks),
            "team-acceptance" => Some(Self::Acceptance),
            _ => None,
        }
    }

    fn format(self) -> Format {
        if self == Self::Tasks { Format::Yaml } else { Format::Json }
    }

    /// A status that is begun. What was emptied is begun again.
    pub(super) fn blank(self) -> &'static str {
        if self == Self::Status { "{}\n" } else { "" }
    }

    fn begun(self, text: &str) -> &str {
        let is_blank = text.trim_start_matches('\u{feff}').trim().is_empty();
        if self == Self::Status && is_blank { self.blank() } else { text }
    }

    pub(super) fn value(self, text: &str) -> Result<Value, Vec<Fault>> {
        let document = self.format().read(self.begun(text))?;
        let file = document.value();
        let (value, problems) = match self {
            Self::Status => status::read(&file),
            Self::Tasks => {
                let tasks = Tasks::read(&file);
                let value = json!({
                    "items": tasks.items.iter().map(Task::seen).collect::<Vec<_>>(),
                    "meta": [tasks.whole()],
                    "count": tasks.items.len(),
                    "commands": tasks.commands(),
                    "flags": tasks.flags(),
                    "cross_cutting": tasks.cross_cutting(),
                    "text": text,
                });
                (value, tasks.problems)
            }
            Self::Acceptance => {
                let acceptance = Acceptance::read(&file);
                let criterion = |it: &Criterion| json!({"id": it.id, "description": it.description, "verify": it.verified_by()});
                let value = json!({
                    "criteria": acceptance.criteria.iter().map(criterion).collect::<Vec<_>>(),
                    "commands": acceptance.commands(),
                    "manual": acceptance.manual(),
                    "text": text,
                });
                (value, acceptance.problems)
            }
        };
        if problems.is_empty() { Ok(value) } else { Err(faults(&document, &problems)) }
    }

    /// What a field holds, as it is written.
    pub(super) fn get(self, text: &str, field: &str) -> Result<Option<Value>, Vec<Fault>> {
        let document = self.format().read(self.begun(text))?;
        Ok(self.written(field).and_then(|it| document.get(&it)).filter(|it| !it.is_null()))
    }

    pub(super) fn line(self, text: &str, field: &str) -> Option<usize> {
        self.format().read(text).ok()?.line(&self.written(field)?)
    }

    /// Where a field stands in the file. What stands nowhere, such as the change as a whole, has no place.
    fn written(self, field: &str) -> Option<String> {
        match (self, field.strip_prefix("items")) {
            (Self::Status, _) => Some(field.to_owned()),
            (Self::Tasks, Some("")) => Some("tasks".to_owned()),
            (Self::Tasks, Some(rest)) if rest.starts_with(['.', '[']) => Some(format!("tasks{rest}")),
            _ => None,
        }
    }

    /// A list that others add to shows what it has to when nothing of that is missing.
    pub(super) fn shows(self, text: &str, field: &str, value: &Value) -> Option<bool> {
        const MERGED: &[&str] = &["user_decisions", "retry_counts", "known_issues", "assumptions"];
        if self != Self::Status || !MERGED.contains(&field) {
            return None;
        }
        // What cannot be read is said by whoever reads it.
        let file = Format::Json.read(self.begun(text)).ok()?.value();
        Some(status::changes(&file, field, value, None).is_ok_and(|it| it.is_empty()))
    }

    pub(super) fn set(self, text: &str, field: &str, value: &Value, about: &About) -> Result<String, Fault> {
        let begun = self.begun(text);
        let document = self.format().read(begun).map_err(first)?;
        let place = self.written(field).unwrap_or_else(|| field.to_owned());
        let refused = |why: String| fault(&document, &Problem { field: place.clone(), message: why });
        let changes = match self {
            Self::Status => {
                let now = about.with["now"].as_str();
                status::changes(&document.value(), field, value, now).map_err(refused)?
            }
            Self::Tasks => {
                let places = statuses(&document, field).map_err(refused)?;
                let value = status_of(value).map_err(refused)?;
                let set = |field: String| Change { field, value: value.clone(), adds: false };
                places.into_iter().map(set).collect()
            }
            Self::Acceptance => return Err(refused("nothing can be set in this".to_owned())),
        };
        let mut changed = if changes.is_empty() { text } else { begun }.to_owned();
        for Change { field, value, adds } in &changes {
            let change = if *adds { Format::append } else { Format::set };
            changed = change(self.format(), &changed, field, value)?;
        }
        Ok(changed)
    }

    /// What a file lacks that somebody just wrote.
    pub(super) fn lacks(self, page: &Page) -> Option<String> {
        let document = match self.format().read(self.begun(&page.text)) {
            Ok(document) => document,
            Err(faults) => return Some(first(faults).to_string()),
        };
        let file = document.value();
        let (problems, lacking) = match self {
            Self::Status => (status::read(&file).1, status::lacking(&file).into_iter().collect()),
            Self::Tasks => {
                let Tasks { problems, lacking, .. } = Tasks::read(&file);
                (problems, lacking)
            }
            Self::Acceptance => {
                let Acceptance { problems, lacking, .. } = Acceptance::read(&file);
                (problems, lacking)
            }
        };
        let all: Vec<String> = problems
            .iter()
            .chain(&lacking)
            .take(MOST_TOLD)
            .map(|it| fault(&document, it).to_string())
            .collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// Where the statuses stand that a field means: that of one task, or of all. None is made where there is no task.
fn statuses(document: &Document<'_>, field: &str) -> Result<Vec<String>, String> {
    let parts: Vec<&str> = field.split(['.', '[']).map(|it| it.trim_end_matches(']')).collect();
    let Some(Value::Array(tasks)) = document.get("tasks") else {
        return Err("there is no list `tasks`".to_owned());
    };
    let meant = match parts.as_slice() {
        ["items", "status"] => 0..tasks.len(),
        ["items", place, "status"] => match place.parse::<usize>() {
            Ok(place) => place..place + 1,
            Err(_) => return Err(format!("`{place}` is not the number of a task")),
        },
        _ => return Err("of tasks only the status can be set".to_owned()),
    };
    let one = |place: usize| match tasks.get(place) {
        Some(Value::Object(_)) => Ok(format!("tasks.{place}.status")),
        Some(_) => Err(format!("entry {place} is no task")),
        None => Err(format!("there is no task {place}; there are {}, counted from 0", tasks.len())),
    };
    meant.map(one).collect()
}

/// Whoever wrote a file is told this much of what it lacks.
const MOST_TOLD: usize = 10;

pub(super) fn first(faults: Vec<Fault>) -> Fault {
    faults.into_iter().next().unwrap_or_else(|| Fault::at("", 0, "this cannot be read"))
}

pub(super) fn faults(document: &Document<'_>, problems: &[Problem]) -> Vec<Fault> {
    problems.iter().map(|it| fault(document, it)).collect()
}

/// A problem with the line of its field; one that is missing stands where it should be.
fn fault(document: &Document<'_>, problem: &Problem) -> Fault {
    let mut field = problem.field.as_str();
    let line = loop {
        match (document.line(field), field.rsplit_once('.')) {
            (Some(line), _) => break line,
            (None, Some((outer, _))) => field = outer,
            (None, None) => break document.begins(),
        }
    };
    let fault =
        Fault { file: None, line, column: None, field: None, message: problem.message.clone(), help: None };
    if problem.field.is_empty() { fault } else { fault.of(&problem.field) }
}
