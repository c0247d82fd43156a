//! `task-<n>.md`: what one task of an issue is, for somebody who sees nothing else.

use serde::Serialize;

use super::body::{About, Body};
use super::fields::{Fields, Names};
use super::{Problem, words};
use crate::agentd::page::Page;

/// What a task says at its top.
const FIELDS: Names = &[
    &["id", "task"],
    &["title", "name", "summary"],
    &["finding"],
    &["files", "files-to-modify", "file"],
    &["depends-on", "depends", "dependson", "dependencies", "requires"],
    &["new-symbols", "new-symbol", "adds-symbols"],
];

/// A task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Task {
    /// The name of its file.
    pub id: String,
    /// In a few words.
    pub title: String,
    /// The finding it mends, if it does.
    pub finding: String,
    /// The files it may change or add.
    pub files: Vec<String>,
    /// The tasks that have to be done before.
    pub depends_on: Vec<String>,
    /// Whether it adds what tests will name.
    pub new_symbols: bool,
    /// What it is about.
    pub description: String,
    /// The code it builds on.
    pub context: String,
    /// What it takes from others and offers to them.
    pub contracts: String,
    /// The part of the plan it needs.
    pub plan: String,
    /// How it is tested.
    pub test_design: String,
    /// When it is done.
    pub criteria: Vec<String>,
    /// What of it cannot be understood.
    #[serde(skip)]
    pub problems: Vec<Problem>,
    /// What it has to say besides, before it counts as a task.
    #[serde(skip)]
    pub lacking: Vec<Problem>,
}

impl Task {
    /// Reads one. `stem` is the name of its file without `.md`.
    pub fn read(stem: &str, text: &str) -> Self {
        let page = Page::read(text);
        let mut fields = Fields::read(&page, FIELDS);
        let mut task = Self { id: stem.to_owned(), ..Self::default() };
        let title =
            page.lines.iter().find_map(|it| it.heading().filter(|(level, _)| *level == 1)).map(|(_, it)| it);
        task.title = fields.text_of("title").or(title.map(str::to_owned)).unwrap_or_default();
        task.finding = fields.text_of("finding").unwrap_or_default();
        task.files = fields.list_of("files").iter().map(|it| path(it)).filter(|it| !it.is_empty()).collect();
        task.depends_on = fields.list_of("depends-on").iter().flat_map(|it| tasks(it)).collect();
        let line = |fields: &Fields<'_>, name: &str| fields.get(name).map_or(1, |it| it.line);
        if let Some(id) = fields.text_of("id").filter(|it| it != stem && tasks(it) != [stem]) {
            let message = format!("this calls itself `{id}`, and its file is `{stem}.md`");
            task.problems.push(Problem::new(line(&fields, "id"), message));
        }
        match fields.text_of("new-symbols").map(|it| it.to_lowercase()) {
            Some(it) if matches!(it.as_str(), "true" | "yes") => task.new_symbols = true,
            Some(it) if matches!(it.as_str(), "false" | "no" | "none") => {}
            Some(it) => {
                let message = format!("`new-symbols` is `true` or `false`, and not `{it}`");
                task.problems.push(Problem::new(line(&fields, "new-symbols"), message));
            }
            None => task.lacking.push(Problem::new(
                1,
                "it does not say whether it adds what tests will name: `new-symbols: true` or `false`",
            )),
        }
        if task.depends_on.iter().any(|it| it == stem) {
            task.problems
                .push(Problem::new(line(&fields, "depends-on"), format!("`{stem}` depends on itself")));
        }
        task.read_sections(&page);
        let lacks = [
            (task.title.is_empty(), "it has no `title`"),
            (task.files.is_empty(), "it lists no `files` that it may change"),
            (task.description.is_empty(), "it has no section `Description`"),
            (task.criteria.is_empty(), "it has no box below `Acceptance criteria`"),
        ];
        task.lacking.extend(lacks.iter().filter(|(lacks, _)| *lacks).map(|(_, why)| Problem::new(1, *why)));
        task.problems.append(&mut fields.problems);
        task.problems.sort();
        task
    }

    fn read_sections(&mut self, page: &Page<'_>) {
        let body = Body::read(page);
        self.criteria = body.criteria().map(|it| it.text.clone()).collect();
        let top = body.sections.iter().map(|it| it.level).filter(|it| *it > 1).min().unwrap_or(2);
        for section in body.sections.iter().filter(|it| it.level == top && it.about != About::Criteria) {
            let Some((_, title)) =
                section.lines.start.checked_sub(1).and_then(|it| page.lines.get(it)?.heading())
            else {
                continue;
            };
            let text = crate::agentd::page::unify(page.slice(section.lines.start, section.lines.end))
                .trim()
                .to_owned();
            let part = match title.to_lowercase().trim() {
                "description" | "task" | "goal" | "what" => &mut self.description,
                "code context" | "context" | "existing code" => &mut self.context,
                "contracts" | "integration contracts" | "contract" | "interfaces" => &mut self.contracts,
                "plan" | "plan slice" | "from the plan" => &mut self.plan,
                "test design" | "tests" | "test plan" | "testing" => &mut self.test_design,
                _ => continue,
            };
            // Two sections of one name are one.
            [part.as_str(), &text].join("\n\n").trim().clone_into(part);
        }
        if self.description.is_empty() {
            let first = body
                .sections
                .iter()
                .find(|it| it.level > 1)
                .map_or(page.lines.len(), |it| it.lines.start - 1);
            let title =
                body.sections.iter().find(|it| it.level == 1).map_or(page.body_start(), |it| it.lines.start);
            let own = page.slice(title.min(first), first);
            crate::agentd::page::unify(own).trim().clone_into(&mut self.description);
        }
    }

    /// The place of a task among others: by the number of its file.
    pub fn place(&self) -> (u64, &str) {
        let digits = self.id.len() - self.id.trim_end_matches(|it: char| it.is_ascii_digit()).len();
        let number = self.id.get(self.id.len() - digits..).and_then(|it| it.parse().ok());
        (number.unwrap_or(u64::MAX), &self.id)
    }
}

/// Tasks that depend on one that is not among them, each as a problem of its file.
pub fn unknown(tasks: &[Task]) -> Vec<Problem> {
    let is_there = |id: &String| tasks.iter().any(|it| it.id == *id);
    let of = |task: &Task, id: &String| {
        Problem::new(1, format!("`{}` depends on `{id}`, and there is no such task", task.id))
            .of(&format!("{}.md", task.id))
    };
    tasks
        .iter()
        .flat_map(|task| task.depends_on.iter().filter(|it| !is_there(it)).map(move |it| of(task, it)))
        .collect()
}

/// A path as a list of files names it: without marks, and without what is said about it.
fn path(entry: &str) -> String {
    let entry = entry.trim();
    let marked = entry.strip_prefix('`').and_then(|it| it.split_once('`')).map(|(it, _)| it);
    let bare = marked.unwrap_or_else(|| {
        let ends = [" (", " - ", " – ", " — ", " #", ": "];
        let end = ends.iter().filter_map(|it| entry.find(it)).min().unwrap_or(entry.len());
        entry.get(..end).unwrap_or(entry)
    });
    let bare = bare.trim().trim_matches(['"', '\'', '*']);
    bare.strip_prefix("./").unwrap_or(bare).to_owned()
}

/// The tasks an entry names: `task-1`, `task-1.md`, or `1`.
fn tasks(entry: &str) -> Vec<String> {
    let pieces = entry.split([',', ';']).flat_map(str::split_whitespace);
    let bare = pieces.map(|it| it.trim_matches(['`', '"', '\'', '[', ']', '(', ')', '.']));
    let bare = bare
        .map(|it| it.strip_suffix(".md").unwrap_or(it))
        .filter(|it| !words::says_nothing(it) && *it != "and");
    bare.map(|it| if it.bytes().all(|it| it.is_ascii_digit()) { format!("task-{it}") } else { it.to_owned() })
        .collect()
}
