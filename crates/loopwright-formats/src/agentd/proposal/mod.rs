//! `proposal.md`: why a change is wanted, what it consists of, which specs it needs, and the reviews of the plan.

mod affected;
mod blocks;
mod reviews;

use serde::Serialize;

use super::page::{Page, Part};
use super::yaml::Node;
use super::{Problem, Severity, markdown};
pub use affected::AffectedSpec;
pub(crate) use affected::{names as spec_names, spec_id};
pub use reviews::{Block, Filed, file_reviews, holds_reviews, restore_reviews, without_reviews};

/// A heading of the second level, reviews left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Its title.
    pub title: String,
    /// Its line, counted from 1.
    pub line: usize,
    /// Whether something stands under it that is not a template's.
    pub is_filled: bool,
}

/// A proposal as it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proposal {
    /// The change, if the front matter says so.
    pub id: Option<String>,
    /// Whether there is front matter.
    pub front_matter: bool,
    /// The keys of the front matter, sorted.
    pub keys: Vec<String>,
    /// The summary in a line: that of the front matter, or how the section begins.
    pub summary: Option<String>,
    /// The specs that the change needs, in the order they are named.
    pub affected_specs: Vec<AffectedSpec>,
    /// Its sections.
    pub sections: Vec<Section>,
    /// What keeps it from being complete.
    pub missing: Vec<String>,
    /// Its review blocks, in the order of the text.
    pub reviews: Vec<Block>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

impl Proposal {
    /// Reads a proposal. Nothing makes it fail: what is wrong is among the problems.
    pub fn read(text: &str) -> Self {
        let found = blocks::find(text);
        let mut page = Page::bare(text);
        let ranges = hide(&mut page, &found);
        for (from, to) in ranges {
            page.mark_parts(from, to);
        }
        let mut problems = Vec::new();
        let (front, fault) = page.front_values();
        if let Some(fault) = fault {
            let message =
                format!("the front matter is not right, each key was read by itself: {}", fault.message);
            problems.push(Problem::new(Severity::Low, fault.line, message));
        }
        for line in &found.unclosed {
            problems.push(Problem::new(
                Severity::Medium,
                *line,
                "a review block is never closed, so it is none",
            ));
        }
        for line in &found.odd {
            problems.push(Problem::new(Severity::Low, *line, "a review tag cannot be understood"));
        }
        let sections = sections(&page);
        let front_text = |key: &str| front.get(key).and_then(Node::text).map(|it| it.trim().to_owned());
        let stated = front_text("summary").filter(|it| !markdown::is_placeholder(it));
        let affected_specs = affected::read(&page, &front, &mut problems);
        let missing = missing(
            &page,
            &sections,
            stated.is_some(),
            front.get("affected_specs").is_some() || !affected_specs.is_empty(),
        );
        let mut keys: Vec<String> = front.entries().iter().map(|(it, _)| it.clone()).collect();
        keys.sort();
        Self {
            id: front_text("id").filter(|it| !it.is_empty()),
            front_matter: page.has_front_matter(),
            keys,
            summary: stated.or_else(|| first_line(&page, &sections)),
            affected_specs,
            sections,
            missing,
            reviews: found.spans.iter().map(|it| reviews::block(text, it)).collect(),
            problems,
        }
    }

    /// Whether it is written to its end: whoever goes on planning need not write it first.
    pub fn complete(&self) -> bool {
        self.missing.is_empty()
    }

    /// The last review: that of the highest round, and of several the last one in the text.
    pub fn latest(&self) -> Option<&Block> {
        self.reviews.iter().max_by_key(|it| it.iteration)
    }
}

/// Takes the lines of review blocks out of the body. Gives the stretches between them.
fn hide(page: &mut Page<'_>, found: &blocks::Blocks) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut from = page.body_start();
    for span in &found.spans {
        let first = page.lines.partition_point(|it| it.next <= span.start);
        let last = page.lines.partition_point(|it| it.start < span.end).max(first);
        for line in page.lines.get_mut(first..last).unwrap_or_default() {
            line.part = Part::Comment;
        }
        if from < first {
            ranges.push((from, first));
        }
        from = from.max(last);
    }
    ranges.push((from, page.lines.len()));
    ranges
}

fn sections(page: &Page<'_>) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for line in page.lines.iter().skip(page.body_start()) {
        match line.heading() {
            Some((2, title)) => {
                sections.push(Section { title: title.to_owned(), line: line.number, is_filled: false });
            }
            Some((1, _)) | None if sections.is_empty() => {}
            Some((_, title)) => {
                if let Some(section) = sections.last_mut() {
                    section.is_filled |= !markdown::is_placeholder(title);
                }
            }
            None => {
                if let Some(section) = sections.last_mut() {
                    section.is_filled |= is_text(line.text, line.part);
                }
            }
        }
    }
    sections
}

/// Whether a line says something that a person or a model wrote.
fn is_text(line: &str, part: Part) -> bool {
    match part {
        Part::Fence => !line.trim().is_empty() && markdown::fence_end(line).is_none(),
        Part::Body => {
            let text = markdown::bullet(line).unwrap_or(line).trim();
            let text = markdown::label(line).map_or(text, |(_, value)| value);
            let is_tag = text.starts_with('<') && text.ends_with('>') && !text.contains(' ');
            let is_left_open = text.contains("{{") || (text.starts_with('<') && text.ends_with('>'));
            !is_tag
                && !is_left_open
                && !markdown::is_placeholder(text)
                && text.chars().any(char::is_alphanumeric)
        }
        _ => false,
    }
}

/// The section that a heading begins, in plain words.
fn name(title: &str) -> String {
    let start = title.trim_start_matches(|it: char| !it.is_alphabetic());
    start.trim_end_matches(|it: char| !it.is_alphanumeric()).to_lowercase()
}

/// What a careful reader misses. A file that is being written when it is read has its end missing.
fn missing(page: &Page<'_>, sections: &[Section], has_summary: bool, names_specs: bool) -> Vec<String> {
    let has =
        |names: &[&str]| sections.iter().any(|it| it.is_filled && names.contains(&name(&it.title).as_str()));
    let exists = |names: &[&str]| sections.iter().any(|it| names.contains(&name(&it.title).as_str()));
    let mut missing = Vec::new();
    if !(has(&["summary", "overview"]) || (has_summary && !exists(&["summary"]))) {
        missing.push("Summary".to_owned());
    }
    if !has(&["why", "motivation", "rationale", "background", "problem"]) {
        missing.push("Why".to_owned());
    }
    if !has(&["what changes", "what will change", "changes", "proposed changes"]) {
        missing.push("What Changes".to_owned());
    }
    if !(names_specs || has(&["impact"])) {
        missing.push("Impact".to_owned());
    }
    let tag = |tag: &str| page.lines.iter().any(|it| it.is_body() && it.text.trim() == tag);
    if tag("<proposal>") && !tag("</proposal>") {
        missing.push("</proposal>".to_owned());
    }
    missing
}

/// How the summary begins.
fn first_line(page: &Page<'_>, sections: &[Section]) -> Option<String> {
    let section = sections.iter().find(|it| it.is_filled && name(&it.title) == "summary")?;
    let mut lines = page.lines.iter().skip(section.line).take_while(|it| it.heading().is_none());
    lines.find(|it| is_text(it.text, it.part)).map(|it| it.text.trim().to_owned())
}
