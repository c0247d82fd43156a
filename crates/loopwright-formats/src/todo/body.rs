//! What stands below the top of an issue: criteria, sub-issues, comments.

use std::ops::Range;

use serde::Serialize;

use super::entries::{self, Placed};
use super::{Problem, comments};
use crate::agentd::markdown;
use crate::agentd::page::{Line, Page};

/// When an issue is done: one of the boxes it has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Criterion {
    /// What it calls itself (`AC-1: ...`), or its place among the others, from 1.
    pub id: String,
    /// What it says.
    pub text: String,
    /// Whether it is ticked.
    pub checked: bool,
    /// Its line.
    pub line: usize,
}

/// A criterion, and where its box is.
pub(super) struct CheckBox {
    pub criterion: Criterion,
    pub mark: Range<usize>,
    is_criterion: bool,
}

/// What a section is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    Criteria,
    SubIssues,
    Comments,
    Other,
}

/// A heading with all below it, up to the next one that is no lower.
pub(super) struct Section {
    pub about: About,
    pub level: usize,
    /// The lines below the heading, counted from 0.
    pub lines: Range<usize>,
}

/// An issue below its top.
pub(super) struct Body {
    pub boxes: Vec<CheckBox>,
    pub sub_issues: Vec<Placed>,
    pub comments: Vec<String>,
    pub sections: Vec<Section>,
    pub doubts: Vec<Problem>,
}

impl Body {
    pub fn read(page: &Page<'_>) -> Self {
        let sections = sections(page);
        let mut body = Self {
            boxes: Vec::new(),
            sub_issues: Vec::new(),
            comments: Vec::new(),
            sections,
            doubts: Vec::new(),
        };
        for (at, line) in page.lines.iter().enumerate().filter(|(_, it)| it.is_body()) {
            match body.about(at) {
                About::SubIssues => body.take_entry(at, line),
                About::Comments => {}
                about => body.take_box(page, at, about == About::Criteria),
            }
        }
        let has_criteria = body.sections.iter().any(|it| it.about == About::Criteria);
        if has_criteria {
            body.boxes.retain(|it| it.is_criterion);
        }
        body.name();
        for section in body.sections.iter().filter(|it| it.about == About::Comments) {
            body.comments.extend(comments::read(page, section.lines.clone()));
        }
        body
    }

    pub fn criteria(&self) -> impl Iterator<Item = &Criterion> {
        self.boxes.iter().map(|it| &it.criterion)
    }

    pub fn section(&self, about: About) -> Option<&Section> {
        self.sections.iter().find(|it| it.about == about)
    }

    /// What the section is about that a line is in.
    fn about(&self, at: usize) -> About {
        let around = self.sections.iter().rfind(|it| it.lines.contains(&at) && it.about != About::Other);
        around.map_or(About::Other, |it| it.about)
    }

    fn take_entry(&mut self, at: usize, line: &Line<'_>) {
        match entries::placed(line, at) {
            Some(found) => self.sub_issues.push(found),
            None if markdown::bullet(line.text).is_some_and(|it| !it.is_empty()) => {
                self.doubts.push(Problem::new(line.number, "this entry of the sub-issues names no issue"));
            }
            None => {}
        }
    }

    fn take_box(&mut self, page: &Page<'_>, at: usize, is_criterion: bool) {
        let Some(line) = page.lines.get(at) else { return };
        let Some((mark, text)) = check_box(line) else { return };
        let checked = markdown::is_tick(page.text.get(mark.clone()).map_or(' ', tick_in));
        let mut text = text.trim().to_owned();
        // What goes on on the next lines stands further in than its box.
        let depth = markdown::indent(line.text);
        for more in page.lines.iter().skip(at + 1) {
            let bare = more.text.trim();
            let goes_on = more.is_body() && !bare.is_empty() && markdown::indent(more.text) > depth;
            if !goes_on || markdown::bullet(more.text).is_some() || more.heading().is_some() {
                break;
            }
            text = format!("{text} {bare}");
        }
        let criterion =
            Criterion { id: String::new(), text: text.trim().to_owned(), checked, line: line.number };
        self.boxes.push(CheckBox { criterion, mark, is_criterion });
    }

    /// Gives criteria their ids.
    fn name(&mut self) {
        let own: Vec<Option<String>> = self.boxes.iter().map(|it| own_id(&it.criterion.text)).collect();
        let mut seen = std::collections::HashSet::new();
        let is_unique = own.iter().flatten().all(|it| seen.insert(it.clone()));
        for (at, (it, own)) in self.boxes.iter_mut().zip(own).enumerate() {
            it.criterion.id = own.filter(|_| is_unique).unwrap_or_else(|| (at + 1).to_string());
        }
    }
}

/// Where the box of a line is, with its brackets, and the text behind it.
pub(super) fn check_box<'a>(line: &Line<'a>) -> Option<(Range<usize>, &'a str)> {
    let rest = markdown::bullet(line.text)?;
    box_at(rest, line.start + line.text.len() - rest.len())
}

/// The same of a text that begins with it.
pub(super) fn box_at(rest: &str, start: usize) -> Option<(Range<usize>, &str)> {
    let (_, behind) = markdown::checkbox(rest)?;
    let length = match rest.strip_prefix('[') {
        Some(_) => rest.find(']')? + 1,
        None => rest.chars().next()?.len_utf8(),
    };
    Some((start..start + length, behind))
}

/// The letter of a box that says whether it is ticked.
pub(super) fn tick_in(mark: &str) -> char {
    markdown::checkbox(mark).map_or(' ', |(it, _)| it)
}

/// A box as it was, ticked or not.
pub(super) fn ticked(mark: &str, tick: bool) -> String {
    if markdown::is_tick(tick_in(mark)) == tick {
        return mark.to_owned();
    }
    let sign = match (mark.starts_with('['), tick) {
        (true, true) => "[x]",
        (true, false) => "[ ]",
        (false, true) => "☑",
        (false, false) => "☐",
    };
    sign.to_owned()
}

/// What a criterion calls itself at its beginning: `AC-1: ...`, `**AC2** ...`.
fn own_id(text: &str) -> Option<String> {
    let bare = text.trim_start_matches(['*', '_', '`', '(', '[']);
    let letters = bare.bytes().take_while(u8::is_ascii_alphabetic).count();
    let rest = bare.get(letters..)?;
    let dash = usize::from(rest.starts_with(['-', '_']));
    let digits = rest.get(dash..)?.bytes().take_while(u8::is_ascii_digit).count();
    let length = letters + dash + digits;
    let behind = bare.get(length..)?;
    let set_off = bare.len() < text.len()
        || behind.starts_with([':', '.', ')'])
        || behind.trim_start().starts_with(['-', '–', '—']);
    let is_id = (1..=4).contains(&letters)
        && (1..=4).contains(&digits)
        && bare.starts_with(|it: char| it.is_ascii_uppercase());
    (is_id && set_off && behind.starts_with([':', '.', ')', ' ', '*', '_', '`', ']']))
        .then(|| bare.get(..length).map(str::to_owned))
        .flatten()
}

/// The sections of a page.
pub(super) fn sections(page: &Page<'_>) -> Vec<Section> {
    let mut found: Vec<Section> = Vec::new();
    for (at, line) in page.lines.iter().enumerate() {
        let Some((level, title)) = line.heading() else { continue };
        for open in found.iter_mut().filter(|it| it.lines.end == page.lines.len() && it.level >= level) {
            open.lines.end = at;
        }
        // What somebody said has no sections that mean anything.
        let is_said =
            found.iter().any(|it| it.about == About::Comments && it.level < level && it.lines.contains(&at));
        let about = if is_said { About::Other } else { about(title) };
        found.push(Section { about, level, lines: at + 1..page.lines.len() });
    }
    found
}

fn about(title: &str) -> About {
    let letters: String =
        title.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    match letters.as_str() {
        "acceptancecriteria"
        | "acceptancecriterion"
        | "acceptance"
        | "criteria"
        | "ac"
        | "acs"
        | "definitionofdone"
        | "donewhen" => About::Criteria,
        "subissues" | "subissue" | "subtasks" | "childissues" | "children" => About::SubIssues,
        "comments" | "comment" | "discussion" => About::Comments,
        _ => About::Other,
    }
}
