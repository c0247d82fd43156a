//! What looks like a task and was not read as one. Nothing of it is dropped without a word.

use std::collections::HashSet;

use super::super::page::{Line, Part};
use super::super::task_id;
use super::super::{Severity, markdown};
use super::fields::{self, Field};
use super::layers;
use super::scan::{Draft, Scan, shown};
use super::starts::{self, Start};

/// Where an id was met that begins no task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// First in a row of a table.
    Row,
    /// In a quotation.
    Quote,
    /// Behind a tag, or in one.
    Tag,
    /// At the start of a line.
    Line,
    /// In a heading.
    Heading,
    /// Among values that are not read.
    Code,
    /// Behind a box, in fenced code.
    Example,
}

/// An id that begins no task.
#[derive(Debug)]
pub(super) struct Mention {
    at: usize,
    id: String,
    text: String,
    met: Met,
    /// The heading it is under, and whether it is within a task.
    layer: Option<usize>,
    is_within: bool,
}

/// What might turn out to be a task that has no id, by what stands below it.
#[derive(Debug)]
pub(super) struct Owner {
    at: usize,
    text: String,
    /// How far its fields have to be indented.
    least: usize,
    /// How much below it only a task says.
    said: usize,
    /// How much has to be said.
    needed: usize,
}

/// Everything that is in doubt until all is read.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    pub mentions: Vec<Mention>,
    /// Boxes without an id, by line, and the heading they are under.
    pub nameless: Vec<(usize, String, Option<usize>)>,
    owner: Option<Owner>,
}

impl Doubts {
    /// Begins anew: what follows belongs to something else.
    pub fn forget_owner(&mut self) {
        self.owner = None;
    }
}

impl Scan<'_, '_> {
    pub fn mention(&mut self, at: usize, id: String, text: &str, met: Met) {
        let is_within = self.under.is_some() || !self.open.is_empty();
        let mention = Mention { at, id, text: shown(text), met, layer: self.layer, is_within };
        self.doubts.mentions.push(mention);
    }

    /// Notes every id in a line that begins no task.
    pub fn take_mentions(&mut self, at: usize, line: &str) {
        self.take_row(at, line);
        self.take_quote(at, line);
        let item = markdown::bullet(line);
        let label = markdown::label(line).filter(|(name, _)| is_id_key(name));
        let id = label.and_then(|(_, value)| task_id::alone(value.trim_matches(['"', '\''])));
        // A step of a task that calls itself a task.
        let step = || item.filter(|it| starts::of_paragraph(it).is_some()).and_then(task_id::called_task);
        if let Some(id) = id.or_else(|| Some(step()?.id)) {
            self.mention(at, id, line, Met::Line);
        }
    }

    /// Takes a row of a table, whose first cell may be an id.
    fn take_row(&mut self, at: usize, text: &str) {
        let Some(row) = text.trim_start().strip_prefix('|') else { return };
        let cells = row.split('|').map(str::trim).filter(|it| !it.is_empty());
        // A box or a sign may stand before it.
        let mut cells =
            cells.skip_while(|it| !it.contains(char::is_alphanumeric) || markdown::checkbox(it).is_some());
        if let Some(named) = cells.next().and_then(task_id::named) {
            self.mention(at, named.id, row, Met::Row);
        }
    }

    /// Looks for a task behind the mark of a quotation, or behind tags.
    fn take_quote(&mut self, at: usize, line: &str) {
        let mut text = line.trim_start();
        if !text.starts_with(['>', '<']) {
            return;
        }
        if let Some(id) = id_of_tag(text) {
            self.mention(at, id, line, Met::Tag);
        }
        let is_tagged = text.starts_with('<');
        loop {
            let rest = match text.chars().next() {
                Some('>') => text.get(1..),
                Some('<') => text.split_once('>').map(|it| it.1),
                _ => None,
            };
            let Some(rest) = rest else { break };
            text = rest.trim_start();
        }
        let end = text.find("</").unwrap_or(text.len());
        let text = text.get(..end).unwrap_or_default();
        let title = text.trim_start_matches('#');
        let start = if title.len() < text.len() {
            starts::of_heading(title.trim(), 3, false)
        } else {
            let line = starts::of_line(text)
                .filter(|it| !matches!(it, Start::Task { form: starts::Form::Bullet, .. }));
            // A quotation tells of tasks; within tags stands what a heading or a list says elsewhere.
            let is_plain = starts::is_bold_line(text) || task_id::called_task(text).is_some();
            line.or_else(|| starts::of_paragraph(text).filter(|_| is_tagged || is_plain))
        };
        match start {
            Some(Start::Task { id, .. }) => {
                self.mention(at, id, text, if is_tagged { Met::Tag } else { Met::Quote });
            }
            Some(Start::NoId { text } | Start::Unclear { text }) if !self.is_in_task() => {
                self.doubts.nameless.push((at, text, self.layer));
            }
            _ => {}
        }
    }

    fn is_in_task(&self) -> bool {
        self.under.is_some() || !self.open.is_empty()
    }

    /// Notes a heading that is none of a task, as what says something about itself may be one.
    pub fn doubt_heading(&mut self, at: usize, title: &str) {
        self.doubts.forget_owner();
        if self.layer == Some(at) || layers::is_general(title) {
            return;
        }
        if let Some(id) = starts::behind_a_word(title) {
            self.mention(at, id, title, Met::Heading);
        }
        self.own(at, title, 0);
    }

    /// Takes a line that no task has.
    pub fn take_stray(&mut self, at: usize, indent: usize, text: &str, label: Option<(Field, &str)>) {
        if let Some((field, value)) = label {
            let weight = fields::weight(field, value);
            if let Some(owner) = self.doubts.owner.as_mut().filter(|it| indent >= it.least) {
                owner.said += weight;
                if owner.said >= owner.needed {
                    let message =
                        format!("`{}` says what a task says, and has no id such as 1.1", owner.text);
                    let at = owner.at;
                    self.doubts.owner = None;
                    self.problem(Severity::High, at, message);
                }
                return;
            }
        }
        let is_deeper = self.doubts.owner.as_ref().is_some_and(|it| it.least > 0 && indent >= it.least);
        if let Some(item) = markdown::bullet(text).filter(|_| !is_deeper && label.is_none()) {
            self.own(at, item, indent + 1);
        } else if starts::is_bold_line(text) && label.is_none() {
            self.own(at, text, indent);
        }
    }

    fn own(&mut self, at: usize, text: &str, least: usize) {
        let needed = if self.layer.is_some_and(|it| self.is_layer(it)) { 1 } else { 2 };
        let inner = self.above.last().and_then(|(_, it)| self.titles.get(it)).map(|it| it.1);
        // How things are at large is told where no task is.
        let is_told = inner.is_some_and(layers::is_told);
        self.doubts.owner = (!is_told).then(|| Owner {
            at,
            text: shown(text.trim_matches(['*', '_'])),
            least,
            said: 0,
            needed,
        });
    }

    /// Looks into fenced code for tasks that it hides.
    pub fn take_hidden(&mut self, at: usize, inner: (usize, usize), fence: &markdown::Fence<'_>) {
        let lines = self.page.lines.get(inner.0..inner.1).unwrap_or_default();
        let opens_again = |text: &str| {
            markdown::Fence::opened_by(text)
                .is_some_and(|it| it.kind() == fence.kind() && it.length >= fence.length && !it.is_bare())
        };
        let is_loose = self
            .page
            .unclosed
            .and_then(|it| self.page.lines.get(it))
            .is_some_and(|it| it.part == Part::Body && markdown::Fence::opened_by(it.text).is_some());
        // Code that is closed where something else was to begin hides what stands between.
        if !(fence.is_yaml() || is_loose || lines.iter().any(|it| opens_again(it.text))) {
            if !fence.is_markdown() {
                self.take_examples(at + 1, lines);
            }
            return;
        }
        let hidden = lines.iter().find_map(|line| {
            let is_task = task_id::is_task_heading(line.text)
                || matches!(starts::of_line(line.text), Some(Start::Task { form: starts::Form::Box, .. }));
            is_task.then_some((line.number, line.text))
        });
        if let Some((number, text)) = hidden {
            let message = format!("code begins here and takes in `{}` in line {number}", shown(text));
            self.problem(Severity::High, at, message);
        }
    }

    /// Notes boxes within code that says nothing of being an example of them.
    fn take_examples(&mut self, from: usize, lines: &[Line<'_>]) {
        for (at, line) in lines.iter().enumerate() {
            if let Some(Start::Task { form: starts::Form::Box, id, .. }) = starts::of_line(line.text) {
                self.mention(from + at, id, line.text, Met::Example);
            }
        }
    }

    /// Says what is in doubt, now that all tasks are known.
    pub fn judge(&mut self, drafts: &[Draft], silent: &[Draft]) {
        let known: HashSet<&str> = drafts.iter().map(|it| it.id.as_str()).collect();
        let numbers: HashSet<&str> = known.iter().map(|it| number(it)).collect();
        for it in silent {
            self.judge_silent(it, &known, &numbers);
        }
        for (at, text, heading) in std::mem::take(&mut self.doubts.nameless) {
            let title = heading.and_then(|it| self.titles.get(&it)).map(|it| it.1);
            let is_list_of_checks = title.is_some_and(layers::is_list_of_checks);
            let severity = if is_list_of_checks { Severity::Medium } else { Severity::High };
            self.problem(
                severity,
                at,
                format!("`{}` has a box like a task, and no id such as 1.1", shown(&text)),
            );
        }
        for it in std::mem::take(&mut self.doubts.mentions) {
            if known.contains(it.id.as_str()) {
                continue;
            }
            let fits = self.fits(&it.id, it.layer, &numbers);
            let severity = match it.met {
                Met::Heading if !fits || self.has_tasks_below(it.at, drafts) => continue,
                Met::Row if it.is_within => Severity::Medium,
                // What is shown as code may be an example.
                Met::Example => Severity::Medium,
                Met::Code => Severity::High,
                _ if fits => Severity::High,
                _ => Severity::Medium,
            };
            let message = match it.met {
                Met::Row => format!("task `{}` stands in a table only", it.id),
                Met::Quote => format!("task `{}` stands in a quotation only: `{}`", it.id, it.text),
                Met::Tag => format!("task `{}` stands in HTML only: `{}`", it.id, it.text),
                Met::Example => format!("task `{}` stands in code only: `{}`", it.id, it.text),
                Met::Code => {
                    let keys = "write them as yaml, with keys such as `id` and `file`";
                    format!("the values of task `{}` are not read here; {keys}", it.id)
                }
                Met::Line | Met::Heading => {
                    format!("`{}` looks like a task, and cannot be read as one", it.text)
                }
            };
            self.problem(severity, it.at, message);
        }
    }

    /// Whether an id would be one of the tasks there are, and is no number of something else.
    fn fits(&self, id: &str, layer: Option<usize>, numbers: &HashSet<&str>) -> bool {
        let of_layer = layer.and_then(|it| self.titles.get(&it)).and_then(|it| layers::number_of_title(it.1));
        numbers.contains(number(id)) || of_layer.is_some_and(|it| it.to_string() == number(id))
    }

    fn has_tasks_below(&self, at: usize, drafts: &[Draft]) -> bool {
        let next = self.titles.range(at + 1..).next().map_or(usize::MAX, |it| *it.0);
        let first = drafts.partition_point(|it| it.first <= at);
        drafts.get(first).is_some_and(|it| it.first < next)
    }

    /// What is said of bullets that name a task and say nothing about it.
    fn judge_silent(&mut self, draft: &Draft, known: &HashSet<&str>, numbers: &HashSet<&str>) {
        let is_in_layer = draft.layer.is_some_and(|it| self.is_layer(it));
        let severity = match known.contains(draft.id.as_str()) {
            false if self.fits(&draft.id, draft.layer, numbers) => Severity::High,
            _ if is_in_layer => Severity::Medium,
            _ => Severity::Low,
        };
        let message = format!(
            "`{} {}` has no box and says nothing about itself, so it is no task",
            draft.id,
            shown(&draft.title)
        );
        self.problem(severity, draft.first, message);
    }
}

/// The number before the first dot of an id.
pub(super) fn number(id: &str) -> &str {
    id.split('.').next().unwrap_or(id)
}

/// The id of a task whose values a text holds, in whatever language they are written. An id that says nothing more counts if
/// it is alone.
pub(super) fn id_of_values(text: &str) -> Option<String> {
    let mut id = None;
    let mut says_what = false;
    let mut keys = 0;
    for piece in text.split(['\n', '\r', ',', '{', '}']) {
        let Some((key, value)) = piece.split_once([':', '=']) else { continue };
        let bare = |it: char| it.is_whitespace() || matches!(it, '"' | '\'' | '-');
        let key = key.trim_matches(bare).to_lowercase();
        keys += 1;
        match key.as_str() {
            "action" | "file" | "files" | "spec_ref" | "depends_on" => says_what = true,
            it if is_id_key(it) => id = id.or_else(|| task_id::alone(value.trim_matches(bare))),
            it if value.trim().is_empty() => id = id.or_else(|| task_id::alone(it)),
            _ => {}
        }
    }
    id.filter(|_| says_what || keys == 1)
}

/// Whether what stands behind a name is the id of a task.
fn is_id_key(name: &str) -> bool {
    matches!(name, "id" | "task_id" | "task-id" | "task id" | "taskid")
}

/// The id of a task that is an element of its own: `<task id="1.5">`.
fn id_of_tag(text: &str) -> Option<String> {
    let tag = markdown::strip_word(text.strip_prefix('<')?, "task")?.split('>').next()?;
    let mut words = tag.split_whitespace().filter_map(|it| it.split_once('='));
    let value = words.find(|(name, _)| is_id_key(&name.to_lowercase()))?.1;
    task_id::alone(value.trim_matches(['"', '\'', '/']))
}
