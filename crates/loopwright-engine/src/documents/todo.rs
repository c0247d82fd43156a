//! Issues of a `TODO` folder and task specifications as documents. What their texts mean is `loopwright_formats::todo`; here
//! they get the names that workflows know, and what lists an issue is kept in step with it.

use loopwright_formats::todo::{self, Issue, Problem, README, Task};
use serde_json::{Value, json};

use super::reader::{Numbering, Page};
use super::{Fault, text_at};

/// Which file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Todo {
    /// `TODO/<ID>.md`.
    Issue,
    /// `task-<n>.md`.
    Task,
}

/// Whoever wrote a file is told this much of what it lacks.
const MOST_TOLD: usize = 10;

impl Todo {
    pub(super) fn named(reader: &str) -> Option<Self> {
        match reader {
            "todo-issue" => Some(Self::Issue),
            "task-spec" => Some(Self::Task),
            _ => None,
        }
    }

    pub(super) fn value(self, pages: &[Page]) -> Result<Value, Vec<Fault>> {
        match self {
            Self::Issue => issues(pages),
            Self::Task => tasks(pages),
        }
    }

    pub(super) fn get(self, text: &str, field: &str) -> Result<Option<Value>, Vec<Fault>> {
        match self {
            Self::Issue => {
                let issue = Issue::read("", text);
                let faults: Vec<Fault> = issue.problems.iter().map(|it| fault(text, it)).collect();
                if faults.is_empty() { Ok(todo::get(&issue, field)) } else { Err(faults) }
            }
            Self::Task => Ok(None),
        }
    }

    pub(super) fn line(self, text: &str, field: &str) -> Option<usize> {
        let lines = Issue::read("", text).lines;
        match (self, field) {
            (Self::Issue, "status") => Some(lines.status),
            (Self::Issue, "parent") => Some(lines.parent),
            (Self::Issue, "depends_on") => Some(lines.depends_on),
            _ => None,
        }
    }

    pub(super) fn set(self, text: &str, field: &str, value: &Value) -> Result<String, Fault> {
        match self {
            Self::Issue => todo::set("", text, field, value).map_err(|it| fault(text, &it).of(field)),
            Self::Task => Err(Fault::at(text, 0, "nothing can be set in this").of(field)),
        }
    }

    pub(super) fn append(self, text: &str, field: &str, value: &Value) -> Result<String, Fault> {
        let refused = |why: String| Fault::at(text, text.len(), why).of(field);
        match (self, field, value) {
            (Self::Issue, "comments", Value::String(said)) => todo::with_comment(text, said).map_err(refused),
            (Self::Issue, "comments", _) => Err(refused("a comment is a text".to_owned())),
            _ => Err(refused("nothing can be added to this".to_owned())),
        }
    }

    /// An entry as it stands in a field once it was added.
    pub(super) fn entry(self, field: &str, value: &Value) -> Value {
        match (self, field, value) {
            (Self::Issue, "comments", Value::String(said)) => json!(todo::comment(said)),
            _ => value.clone(),
        }
    }

    /// What a file lacks that somebody just wrote.
    pub(super) fn lacks(self, page: &Page) -> Option<String> {
        let (problems, lacking) = match self {
            Self::Issue => (Issue::read(stem(&page.path), &page.text).problems, Vec::new()),
            Self::Task => {
                let Task { problems, lacking, .. } = Task::read(stem(&page.path), &page.text);
                (problems, lacking)
            }
        };
        told(problems.iter().chain(&lacking))
    }

    /// What files lack together that somebody just wrote.
    pub(super) fn lack_together(self, pages: &[Page]) -> Option<String> {
        match self {
            Self::Issue => None,
            Self::Task => told(&todo::unknown(&read_tasks(pages))),
        }
    }

    pub(super) fn numbering(self) -> Numbering {
        match self {
            Self::Issue => Numbering::Shared,
            Self::Task => Numbering::OfRun,
        }
    }

    /// A new file that knows its own name.
    pub(super) fn called(self, text: &str, name: &str) -> Result<String, Fault> {
        match self {
            Self::Issue => self.set(text, "id", &json!(name)),
            Self::Task => Ok(text.to_owned()),
        }
    }

    /// Whether a field names other documents of its kind.
    pub(super) fn refers(self, field: &str) -> bool {
        self == Self::Issue && matches!(field, "parent" | "depends_on")
    }

    /// Whether a document may be called so.
    pub(super) fn is_name(self, name: &str) -> bool {
        self == Self::Task || todo::is_id(name)
    }

    /// Files that list an issue, as they have to be once it is what it is `now`: the issue it is part of, and the list of
    /// all. One that is new is listed, and one that is gone is not.
    pub(super) fn beside<E>(
        self,
        path: &str,
        (before, now): (Option<&str>, Option<&str>),
        mut read: impl FnMut(&str) -> Result<Option<String>, E>,
    ) -> Result<Vec<(String, String)>, E> {
        let Some(text) = now.or(before).filter(|_| self == Self::Issue) else { return Ok(Vec::new()) };
        let folder = path.rsplit_once('/').map(|(it, _)| format!("{it}/")).unwrap_or_default();
        let issue = Issue::read(stem(path), text);
        let (id, status) = (issue.id.as_str(), issue.status);
        let mut changed = Vec::new();
        let parent = issue.parent.as_ref().filter(|it| **it != issue.id);
        if let Some(parent) = parent.map(|it| format!("{folder}{it}.md"))
            && let Some(text) = read(&parent)?
        {
            let then = match (before, now) {
                (_, None) => todo::without_sub_issue(&text, id),
                (None, _) => todo::with_sub_issue(&text, (id, &issue.title), status, &issue.depends_on),
                _ => todo::shown_in_parent(&text, id, status),
            };
            changed.extend((then != text).then_some((parent, then)));
        }
        let list = format!("{folder}{README}");
        if let Some(text) = read(&list)? {
            let then = match (before, now) {
                (_, None) => todo::without_entry(&text, id),
                (None, _) if issue.parent.is_none() => {
                    todo::with_entry(&text, None, (id, &issue.title), status)
                }
                _ => todo::shown_in_readme(&text, id, status),
            };
            changed.extend((then != text).then_some((list, then)));
        }
        Ok(changed)
    }
}

fn issues(pages: &[Page]) -> Result<Value, Vec<Fault>> {
    let (mut faults, mut items) = (Vec::new(), Vec::new());
    for page in pages {
        let stem = stem(&page.path);
        if todo::has_conflict(&page.text) {
            let message = "a merge left this undecided: choose between the two sides";
            faults.push(Fault::at(&page.text, 0, message).in_file(&page.path));
            continue;
        }
        let issue = Issue::read(stem, &page.text);
        // Papers may lie among issues. `loopwright todo check` names them.
        if !todo::is_id(stem) && !todo::is_id(&issue.id) {
            continue;
        }
        faults.extend(issue.problems.iter().map(|it| fault(&page.text, it).in_file(&page.path)));
        items.push((issue, page));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    items.sort_by(|(one, _), (other, _)| todo::place(&one.id).cmp(&todo::place(&other.id)));
    let item = |(issue, page): &(Issue, &Page)| {
        json!({
            "id": issue.id, "title": issue.title, "status": issue.status, "parent": issue.parent,
            "label": issue.labels.first(), "labels": issue.labels, "depends_on": issue.depends_on, "text": page.text,
        })
    };
    let all: Vec<&str> = pages.iter().map(|it| it.text.as_str()).collect();
    let mut value = match items.first() {
        Some(first) => item(first),
        None => {
            json!({"id": "", "title": "", "status": "Todo", "parent": null, "label": null, "labels": [], "depends_on": []})
        }
    };
    let first = items.first().map(|it| &it.0);
    let criterion = |it: &todo::Criterion| json!({"id": it.id, "text": it.text, "checked": it.checked});
    let criteria = first.into_iter().flat_map(|it| &it.criteria).map(criterion);
    value["criteria"] = criteria.collect();
    value["checked"] = json!(first.map(Issue::checked).unwrap_or_default());
    value["comments"] = json!(first.map(|it| it.comments.as_slice()).unwrap_or_default());
    value["text"] = json!(all.join("\n"));
    value["items"] = items.iter().map(item).collect();
    Ok(value)
}

fn read_tasks(pages: &[Page]) -> Vec<Task> {
    let mut tasks: Vec<Task> = pages.iter().map(|it| Task::read(stem(&it.path), &it.text)).collect();
    tasks.sort_by(|one, other| one.place().cmp(&other.place()));
    tasks
}

fn tasks(pages: &[Page]) -> Result<Value, Vec<Fault>> {
    let text = |id: &str| pages.iter().find(|it| stem(&it.path) == id).map_or("", |it| it.text.as_str());
    let tasks = read_tasks(pages);
    let faults = tasks.iter().flat_map(|task| {
        let page = pages.iter().find(|it| stem(&it.path) == task.id);
        task.problems.iter().filter_map(move |it| page.map(|page| fault(&page.text, it).in_file(&page.path)))
    });
    let faults: Vec<Fault> = faults.collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    let seen = |task: &Task| {
        let mut seen = json!(task);
        seen["text"] = json!(text(&task.id));
        seen
    };
    let items: Vec<Value> = tasks.iter().map(seen).collect();
    let mut files: Vec<&str> = Vec::new();
    for file in tasks.iter().flat_map(|it| &it.files) {
        if !files.contains(&file.as_str()) {
            files.push(file);
        }
    }
    let all: Vec<&str> = tasks.iter().map(|it| text(&it.id)).collect();
    Ok(json!({
        "first": items.first().cloned().unwrap_or_else(|| seen(&Task::default())),
        "rest": items.get(1..).unwrap_or_default(),
        "items": items,
        "files": files,
        "text": all.join("\n"),
    }))
}

/// The name of a file without what it ends with.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".md").unwrap_or(name)
}

fn fault(text: &str, problem: &Problem) -> Fault {
    Fault::at(text, text_at(text, problem.line), problem.message.clone())
}

fn told<'p>(problems: impl IntoIterator<Item = &'p Problem>) -> Option<String> {
    let all: Vec<String> = problems.into_iter().take(MOST_TOLD).map(ToString::to_string).collect();
    (!all.is_empty()).then(|| all.join("; "))
}
