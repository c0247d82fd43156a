//! Goes through the lines of `tasks.md` and finds the tasks in them.

use std::collections::BTreeMap;

use super::super::markdown;
use super::super::page::{Line, Page, Part};
use super::super::{Problem, Severity};
use super::doubts::{Doubts, Met};
use super::fields::{self, Facts, Field};
use super::headings;
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
pub(super) struct Scanned<'a> {
    pub drafts: Vec<Draft>,
    /// Level and title of every heading, by its line, counted from 0.
    pub titles: BTreeMap<usize, (usize, &'a str)>,
    /// The lines of headings that may be layers, counted from 0.
    pub headings: Vec<usize>,
}

pub(super) struct Scan<'a, 'b> {
    pub(super) page: &'a Page<'a>,
    problems: &'b mut Vec<Problem>,
    pub(super) drafts: Vec<Draft>,
    /// Headings that the line is under: level, line.
    pub(super) above: Vec<(usize, usize)>,
    headings: Vec<usize>,
    pub(super) titles: BTreeMap<usize, (usize, &'a str)>,
    /// Those of the titles that no heading is.
    loose: Vec<usize>,
    /// The line of the heading that is the layer of what comes next.
    pub(super) layer: Option<usize>,
    /// The task whose heading the line is under, and the level of that heading.
    pub(super) under: Option<(usize, usize)>,
    /// Tasks of lists that the line may belong to, the outer ones first.
    pub(super) open: Vec<usize>,
    /// A box without an id that may group others: its indent, and its line.
    group: Option<(usize, usize)>,
    pub(super) doubts: Doubts,
    pub(super) was_blank: bool,
}

/// Finds the tasks of a text. What looks like one and is none is a problem.
pub(super) fn scan<'a>(page: &'a Page<'a>, problems: &mut Vec<Problem>) -> Scanned<'a> {
    let mut scan = Scan {
        page,
        problems,
        drafts: Vec::new(),
        above: Vec::new(),
        headings: Vec::new(),
        titles: BTreeMap::new(),
        loose: Vec::new(),
        layer: None,
        under: None,
        open: Vec::new(),
        group: None,
        doubts: Doubts::default(),
        was_blank: true,
    };
    let mut at = page.body_start();
    while let Some(line) = page.lines.get(at) {
        at = match line.part {
            Part::FenceOpen => scan.take_fence(at, line),
            Part::Body => scan.take_line(at, line),
            _ => at + 1,
        };
    }
    scan.finish()
}

impl<'a> Scan<'a, '_> {
    pub fn problem(&mut self, severity: Severity, at: usize, message: String) {
        self.problems.push(Problem::new(severity, at + 1, message));
    }

    /// Takes a line. Gives the one behind it.
    fn take_line(&mut self, at: usize, line: &Line<'_>) -> usize {
        if line.text.trim().is_empty() {
            self.was_blank = true;
            return at + 1;
        }
        let mut next = at + 1;
        if let Some((level, title, behind)) = headings::at(self.page, at) {
            self.take_heading(at, level, title);
            next = behind;
        } else {
            let indent = markdown::indent(line.text);
            if self.group.is_some_and(|(it, _)| indent <= it) {
                self.group = None;
            }
            if !self.take_layer_line(at, indent) && !self.take_paragraph(at, indent, line.text) {
                match starts::of_line(line.text) {
                    Some(start) => self.take_start(at, indent, line.text, start),
                    None => self.take_text(at, indent, line.text),
                }
            }
        }
        self.was_blank = false;
        next
    }

    /// Takes a line that is no heading and reads like the title of a layer, with tasks below it.
    fn take_layer_line(&mut self, at: usize, indent: usize) -> bool {
        let page = self.page;
        let Some(text) = page.lines.get(at).map(|it| it.text) else { return false };
        let Some((title, is_plain)) = layers::line_title(text) else { return false };
        let is_inner = self.open.iter().any(|it| self.drafts[*it].indent < indent);
        if indent > 3 || is_inner || !headings::tasks_follow(page, at) {
            return false;
        }
        if self.layer.is_some_and(|it| self.is_layer(it) && self.loose.binary_search(&it).is_err()) {
            // What is no heading is under the heading before it, whatever it says.
            let number = layers::number_of_title(title);
            let own = self.layer.and_then(|it| layers::number_of_title(self.titles.get(&it)?.1));
            if is_plain && number.is_some() && number != own {
                let message = format!("`{}` reads like a layer, and only a heading is one here", shown(text));
                self.problem(Severity::High, at, message);
            }
            return false;
        }
        if self.under.is_some() && !is_plain {
            return false;
        }
        self.loose.push(at);
        self.take_heading(at, 2, title);
        true
    }

    /// Takes a line that begins a task by itself: `**Task 1.1: Title**`.
    fn take_paragraph(&mut self, at: usize, indent: usize, line: &str) -> bool {
        let is_inner = self.open.iter().any(|it| self.drafts[*it].indent < indent);
        let Some(Start::Task { form, id, title, mark }) = starts::of_paragraph(line).filter(|_| !is_inner)
        else {
            return false;
        };
        let below = self.page.lines.get(at + 1..).unwrap_or_default();
        if !starts::facts_follow(below, indent) {
            let is_in_task = self.under.is_some() || !(self.was_blank || self.open.is_empty());
            let is_prose = is_in_task && line.trim_start().starts_with(char::is_numeric);
            if starts::is_named_line(line) && !is_prose {
                self.mention(at, id, line, Met::Line);
            }
            return false;
        }
        self.open.clear();
        self.under = self.begin(at, form, id, title, mark, indent).map(|it| (it, 6));
        true
    }

    fn take_heading(&mut self, at: usize, level: usize, title: &'a str) {
        self.open.clear();
        self.group = None;
        self.doubts.forget_owner();
        self.titles.insert(at, (level, title));
        let is_within = self.under.is_some_and(|(_, it)| level > it);
        let start = starts::of_heading(title, level, is_within);
        if start.is_none() && is_within {
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
                self.doubt_heading(at, title);
            }
        }
    }

    /// Chooses the layer among the headings that the next line is under.
    fn choose_layer(&mut self) {
        let titles: Vec<(usize, usize, &str)> =
            self.above.iter().filter_map(|(level, at)| Some((*level, *at, self.titles.get(at)?.1))).collect();
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
        self.doubts.forget_owner();
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
            Start::Task { form: Form::Bullet, .. } if self.is_within(indent) && !self.is_own(at, indent) => {
                self.take_text(at, indent, line);
            }
            Start::Task { form, id, title, mark } => {
                self.open.retain(|it| self.drafts[*it].indent < indent);
                if let Some((_, line)) = self.group.take() {
                    self.doubts.nameless.pop();
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
                self.doubts.nameless.push((at, text, self.layer));
            }
        }
    }

    /// Whether a line with this indent is part of a task.
    fn is_within(&self, indent: usize) -> bool {
        self.under.is_some() || self.open.iter().any(|it| self.drafts[*it].indent < indent)
    }

    /// Whether a bullet under the heading of a task is a task of its own: what it says stands below it.
    fn is_own(&self, at: usize, indent: usize) -> bool {
        let is_inner = self.open.iter().any(|it| self.drafts[*it].indent < indent);
        let below = self.page.lines.get(at + 1..).unwrap_or_default();
        !is_inner && starts::facts_follow(below, indent + 1)
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
        self.take_mentions(at, text);
        self.belong(at);
        let Some(draft) = self.open.last().copied().or(self.under.map(|it| it.0)) else {
            self.take_stray(at, indent, text, label);
            return;
        };
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

    fn finish(mut self) -> Scanned<'a> {
        let mut drafts = std::mem::take(&mut self.drafts);
        // A numbered heading above tasks only groups them.
        drafts.retain(|it| it.form != Form::Numbered || it.facts.is_any || !it.has_tasks);
        let is_silent = |it: &Draft| matches!(it.form, Form::Bullet | Form::Line) && !it.facts.is_any;
        let (silent, drafts): (Vec<Draft>, Vec<Draft>) = drafts.into_iter().partition(is_silent);
        self.judge(&drafts, &silent);
        for draft in &drafts {
            for (line, message) in &draft.facts.odd {
                self.problems.push(Problem::new(
                    Severity::Low,
                    *line,
                    format!("task `{}`: {message}", draft.id),
                ));
            }
        }
        Scanned { drafts, titles: self.titles, headings: self.headings }
    }

    pub fn is_layer(&self, at: usize) -> bool {
        self.titles.get(&at).is_some_and(|(_, title)| layers::is_layer(title))
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
