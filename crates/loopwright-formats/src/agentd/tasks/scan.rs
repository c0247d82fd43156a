//! Goes through the lines of `tasks.md` and finds the tasks in them.

use super::super::markdown;
use super::super::page::{Line, Page, Part};
use super::super::{Problem, Severity};
use super::fields::{self, Facts, Field};
use super::layers;
use super::starts::{self, Form, Start};

/// A task while it is read.
#[derive(Debug)]
pub(super) struct Draft {
    pub form: Form,
    pub id: String,
    pub title: String,
    pub mark: Option<char>,
    pub facts: Facts,
    /// Its first and last line, counted from 0.
    pub first: usize,
    pub last: usize,
    /// The line of the heading of its layer, counted from 0.
    pub layer: Option<usize>,
    pub indent: usize,
    /// How far its fields are indented.
    fields_at: Option<usize>,
    /// A field whose values stand below it in a list, and the indent of the field.
    list: Option<(Field, usize)>,
    pub has_block: bool,
    /// Whether tasks were found below it.
    has_tasks: bool,
}

/// What was found.
pub(super) struct Scanned {
    pub drafts: Vec<Draft>,
    /// The lines of headings that may be layers, counted from 0.
    pub headings: Vec<usize>,
}

pub(super) struct Scan<'a, 'b> {
    pub(super) page: &'a Page<'a>,
    problems: &'b mut Vec<Problem>,
    pub(super) drafts: Vec<Draft>,
    /// Headings that the line is under: level, line.
    above: Vec<(usize, usize)>,
    headings: Vec<usize>,
    /// The line of the heading that is the layer of what comes next.
    layer: Option<usize>,
    /// The task whose heading the line is under, and the level of that heading.
    pub(super) under: Option<(usize, usize)>,
    /// Tasks of lists that the line may belong to, the outer ones first.
    pub(super) open: Vec<usize>,
    /// A box without an id that may group others: its indent, and its line.
    group: Option<(usize, usize)>,
    /// Boxes without an id, by line, and the heading they are under.
    nameless: Vec<(usize, String, Option<usize>)>,
    /// Ids in tables.
    rows: Vec<(usize, String)>,
    pub(super) was_blank: bool,
}

/// Finds the tasks of a text. What looks like one and is none is a problem.
pub(super) fn scan(page: &Page<'_>, problems: &mut Vec<Problem>) -> Scanned {
    let mut scan = Scan {
        page,
        problems,
        drafts: Vec::new(),
        above: Vec::new(),
        headings: Vec::new(),
        layer: None,
        under: None,
        open: Vec::new(),
        group: None,
        nameless: Vec::new(),
        rows: Vec::new(),
        was_blank: true,
    };
    let mut at = page.body_start();
    while let Some(line) = page.lines.get(at) {
        at = match line.part {
            Part::FenceOpen => scan.take_fence(at, line),
            Part::Body => {
                scan.take_line(at, line);
                at + 1
            }
            _ => at + 1,
        };
    }
    scan.finish()
}

impl Scan<'_, '_> {
    pub fn problem(&mut self, severity: Severity, at: usize, message: String) {
        self.problems.push(Problem::new(severity, at + 1, message));
    }

    fn take_line(&mut self, at: usize, line: &Line<'_>) {
        if line.text.trim().is_empty() {
            self.was_blank = true;
            return;
        }
        if let Some((level, title)) = line.heading() {
            self.take_heading(at, level, title);
        } else {
            let indent = markdown::indent(line.text);
            if self.group.is_some_and(|(it, _)| indent <= it) {
                self.group = None;
            }
            match starts::of_line(line.text) {
                Some(start) => self.take_start(at, indent, line.text, start),
                None => self.take_text(at, indent, line.text),
            }
        }
        self.was_blank = false;
    }

    fn take_heading(&mut self, at: usize, level: usize, title: &str) {
        self.open.clear();
        self.group = None;
        let start = starts::of_heading(title, level);
        if start.is_none() && self.under.is_some_and(|(_, it)| level > it) {
            // A heading within a task.
            self.belong(at);
            return;
        }
        self.under = None;
        let is_numbered = matches!(start, Some(Start::Task { form: Form::Numbered, .. }));
        let is_task = start.is_some() && !is_numbered;
        // Tasks may have headings as large as those of their layers.
        let before = self.above.len();
        self.above.retain(|(it, _)| if is_task { *it <= level } else { *it < level });
        if self.above.len() < before {
            self.choose_layer();
        }
        match start {
            Some(Start::Task { form, id, title, mark }) => {
                let (title, is_ticked) = match title.strip_suffix('✅') {
                    Some(title) => (title.trim_end().to_owned(), true),
                    None => (title, false),
                };
                let draft = self.begin(at, form, id, title, mark.or(is_ticked.then_some('x')), 0);
                self.under = draft.map(|it| (it, level));
                if is_numbered {
                    self.above.push((level, at));
                    self.choose_layer();
                }
            }
            Some(Start::Unclear { text } | Start::NoId { text }) => {
                self.problem(
                    Severity::High,
                    at,
                    format!("`{}` is no task that can be understood: it has no id", shown(&text)),
                );
            }
            None => {
                self.above.push((level, at));
                self.headings.push(at);
                self.choose_layer();
            }
        }
    }

    /// Chooses the layer among the headings that the next line is under.
    fn choose_layer(&mut self) {
        let titles: Vec<(usize, usize, &str)> = self
            .above
            .iter()
            .filter_map(|(level, at)| Some((*level, *at, self.page.lines.get(*at)?.heading()?.1)))
            .collect();
        self.layer = layers::choose(&titles);
    }

    pub fn begin(
        &mut self,
        at: usize,
        form: Form,
        id: String,
        title: String,
        mark: Option<char>,
        indent: usize,
    ) -> Option<usize> {
        if markdown::is_placeholder(&title) && !title.is_empty() {
            self.problem(Severity::High, at, format!("task `{id}` is not filled in: `{}`", shown(&title)));
            return None;
        }
        self.drafts.push(Draft {
            form,
            id,
            title,
            mark,
            facts: Facts::default(),
            first: at,
            last: at,
            layer: self.layer,
            indent,
            fields_at: None,
            list: None,
            has_block: false,
            has_tasks: false,
        });
        Some(self.drafts.len() - 1)
    }

    fn take_start(&mut self, at: usize, indent: usize, line: &str, start: Start) {
        match start {
            Start::Task { form: Form::Bullet, .. } if self.is_within(indent) => {
                self.take_text(at, indent, line);
            }
            Start::Task { form, id, title, mark } => {
                self.open.retain(|it| self.drafts[*it].indent < indent);
                if let Some((_, line)) = self.group.take() {
                    self.nameless.pop();
                    self.problem(
                        Severity::Low,
                        line,
                        "a box without an id groups others, and is no task itself".to_owned(),
                    );
                }
                // Its line is of the task around it, too.
                for it in self.under.map(|it| it.0).into_iter().chain(self.open.iter().copied()) {
                    self.drafts[it].last = at;
                    self.drafts[it].has_tasks |= form == Form::Box;
                }
                if let Some(new) = self.begin(at, form, id, title, mark, indent) {
                    self.open.push(new);
                } else {
                    self.open.clear();
                }
            }
            Start::Unclear { text } => {
                self.open.retain(|it| self.drafts[*it].indent < indent);
                self.problem(
                    Severity::High,
                    at,
                    format!("`{}` is no task that can be understood: it has no id", shown(&text)),
                );
            }
            Start::NoId { text } => {
                if self.is_within(indent) {
                    self.take_text(at, indent, line);
                    return;
                }
                self.open.clear();
                self.group = Some((indent, at));
                self.nameless.push((at, text, self.layer));
            }
        }
    }

    /// Whether a line with this indent is part of a task.
    fn is_within(&self, indent: usize) -> bool {
        self.under.is_some() || self.open.iter().any(|it| self.drafts[*it].indent < indent)
    }

    /// Notes that a line is part of the tasks that are open.
    pub fn belong(&mut self, at: usize) {
        for it in self.under.map(|it| it.0).into_iter().chain(self.open.iter().copied()) {
            self.drafts[it].last = at;
        }
    }

    fn take_text(&mut self, at: usize, indent: usize, text: &str) {
        let label = markdown::label(text).and_then(|(name, value)| Some((fields::field(&name)?, value)));
        let is_item = markdown::bullet(text).is_some();
        // Without a blank line between, a paragraph goes on at the edge. Labels are often not indented either.
        let is_lazy = label.is_some() || !(self.was_blank || is_item);
        while let Some(last) = self.open.last() {
            let own = self.drafts[*last].indent;
            if indent > own || (indent == own && is_lazy) || (is_lazy && self.open.len() == 1) {
                break;
            }
            self.open.pop();
        }
        self.take_row(at, text);
        self.belong(at);
        let Some(draft) = self.open.last().copied().or(self.under.map(|it| it.0)) else { return };
        let draft = &mut self.drafts[draft];
        if let Some((field, value)) = label
            && draft.fields_at.is_none_or(|it| indent <= it + 1)
        {
            draft.fields_at = Some(draft.fields_at.unwrap_or(indent));
            draft.list = value.trim().is_empty().then_some((field, indent));
            draft.facts.take(field, value, at + 1);
            return;
        }
        match draft.list {
            Some((field, above)) if indent > above && is_item => {
                draft.facts.take(field, markdown::bullet(text).unwrap_or_default(), at + 1);
            }
            _ => draft.list = None,
        }
    }

    fn take_row(&mut self, at: usize, text: &str) {
        let Some(row) = text.trim_start().strip_prefix('|') else { return };
        let first = row.split('|').next().unwrap_or_default().trim().trim_matches(['*', '`']);
        if markdown::is_task_id(first) {
            self.rows.push((at, first.to_owned()));
        }
    }

    fn finish(mut self) -> Scanned {
        let mut drafts = std::mem::take(&mut self.drafts);
        drafts.retain(|it| match it.form {
            // A numbered heading above tasks only groups them.
            Form::Numbered => it.facts.is_any || !it.has_tasks,
            Form::Bullet if !it.facts.is_any => {
                let is_in_layer = it.layer.is_some_and(|it| self.is_layer(it));
                let severity = if is_in_layer { Severity::Medium } else { Severity::Low };
                let message = format!(
                    "`{} {}` has no box and says nothing about itself, so it is no task",
                    it.id,
                    shown(&it.title)
                );
                self.problems.push(Problem::new(severity, it.first + 1, message));
                false
            }
            _ => true,
        });
        for (at, text, heading) in std::mem::take(&mut self.nameless) {
            let is_open = heading.is_none_or(|it| self.is_layer(it));
            let severity = if is_open { Severity::High } else { Severity::Medium };
            self.problem(
                severity,
                at,
                format!("`{}` has a box like a task, and no id such as 1.1", shown(&text)),
            );
        }
        let known: std::collections::HashSet<&str> = drafts.iter().map(|it| it.id.as_str()).collect();
        for (at, id) in std::mem::take(&mut self.rows) {
            if !known.contains(id.as_str()) {
                self.problem(Severity::Medium, at, format!("task `{id}` stands in a table only"));
            }
        }
        for draft in &drafts {
            for (line, message) in &draft.facts.odd {
                self.problems.push(Problem::new(
                    Severity::Low,
                    *line,
                    format!("task `{}`: {message}", draft.id),
                ));
            }
        }
        Scanned { drafts, headings: self.headings }
    }

    fn is_layer(&self, at: usize) -> bool {
        self.page.lines.get(at).and_then(Line::heading).is_some_and(|(_, title)| layers::is_layer(title))
    }
}

/// As much of a text as a message can hold.
pub(super) fn shown(text: &str) -> String {
    let text = text.trim().replace('`', "'");
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
