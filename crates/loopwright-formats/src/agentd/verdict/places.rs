//! The places of a review where a verdict may stand.

use super::super::markdown;
use super::super::page::{Line, Page};
use super::said::{self, Said};
use super::section::{Section, shown};
use super::{Form, Found, NoVerdict, Why};

/// A place that says something.
#[derive(Debug)]
pub(super) enum Place {
    /// A verdict.
    Says { rank: u8, found: Found },
    /// Something that is none.
    Unclear { rank: u8, reason: NoVerdict },
}

impl Place {
    /// How much it has to say: a verdict before a status before a recommendation.
    pub fn rank(&self) -> u8 {
        match self {
            Self::Says { rank, .. } | Self::Unclear { rank, .. } => *rank,
        }
    }

    /// Whether it only says where the verdict is.
    pub fn is_mention(&self) -> bool {
        self.rank() == MENTION
    }

    pub fn found(&self) -> Option<&Found> {
        if let Self::Says { found, .. } = self { Some(found) } else { None }
    }
}

pub(super) const VERDICT: u8 = 0;
const STATUS: u8 = 1;
pub(super) const REPETITION: u8 = 2;
const MENTION: u8 = 3;

/// Words that may stand before the name of a place.
const QUALIFIERS: [&str; 16] = [
    "final",
    "overall",
    "review",
    "reviewer",
    "code",
    "challenge",
    "archive",
    "the",
    "my",
    "current",
    "quality",
    "approval",
    "plan",
    "spec",
    "tasks",
    "proposal",
];

/// Rank of the place that a name is, and what follows the name.
pub(super) fn place(title: &str) -> Option<(u8, &str)> {
    let mut rest = title.trim_start_matches(|it: char| !it.is_alphabetic());
    for _ in 0..3 {
        let end = rest.find(|it: char| !it.is_alphanumeric()).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let word = word.to_ascii_lowercase();
        let rank = match word.as_str() {
            "verdict" => VERDICT,
            "status" => STATUS,
            "recommendation" | "decision" => REPETITION,
            it if QUALIFIERS.contains(&it) => {
                rest = behind.trim_start_matches([' ', '\t']);
                continue;
            }
            _ => return None,
        };
        return Some((rank, behind.trim_start_matches(['*', '_', '`'])));
    }
    None
}

/// What a heading says behind the name of the place. Nothing if the name goes on and the heading is another.
fn heading_value(rest: &str) -> Option<&str> {
    let text = rest.trim_start();
    let text = match (text.starts_with('('), text.find(')')) {
        (true, Some(end)) => text.get(end + 1..).unwrap_or_default().trim_start(),
        _ => text,
    };
    let value = text.trim_start_matches([':', '-', '–', '—', '=', ' ', '*', '_', '`']);
    let is_parted = value.len() < text.len() || value.is_empty() || value.starts_with('[');
    (is_parted || !matches!(said::value(value), Said::Nothing)).then_some(value)
}

/// Whether what stands under a heading is about faults, so that boxes and words in it decide nothing.
fn is_about_issues(title: &str) -> bool {
    let lower = title.to_ascii_lowercase();
    lower.split(|it: char| !it.is_alphanumeric()).any(|it| {
        matches!(
            it,
            "issue" | "issues" | "finding" | "findings" | "high" | "medium" | "low" | "critical" | "severity"
        )
    })
}

/// Every place of a text, in order.
pub(super) fn all(page: &Page<'_>) -> Vec<Place> {
    let mut places = Vec::new();
    front_matter(page, &mut places);
    // The level of the heading of faults that the line is under, and whether no section has begun.
    let mut issues: Option<usize> = None;
    let mut is_start = true;
    let mut at = page.body_start();
    while let Some(line) = page.lines.get(at) {
        at += 1;
        let Some((level, title)) = line.heading() else {
            if issues.is_none() && line.is_body() {
                label(line, page.lines.get(at..).unwrap_or_default(), is_start, &mut places);
            }
            continue;
        };
        if issues.is_some_and(|it| level <= it) {
            issues = None;
        }
        is_start &= level == 1;
        let Some((rank, value)) = place(title).and_then(|(rank, rest)| Some((rank, heading_value(rest)?)))
        else {
            if issues.is_none() && level > 1 && is_about_issues(title) {
                issues = Some(level);
            }
            continue;
        };
        if rank != VERDICT && issues.is_some() {
            continue;
        }
        let end = page
            .lines
            .iter()
            .skip(at)
            .position(|it| it.heading().is_some())
            .map_or(page.lines.len(), |it| at + it);
        let mut section = Section::new(rank);
        section.take_heading(line, value);
        for line in page.lines.get(at..end).unwrap_or_default() {
            if !section.take(line) {
                break;
            }
        }
        places.extend(section.place(line.number));
        at = end;
    }
    if places.is_empty() {
        lonely_word(page, &mut places);
    }
    places
}

fn front_matter(page: &Page<'_>, places: &mut Vec<Place>) {
    let Some(Ok(root)) = page.front_matter() else { return };
    let Some(node) = root.get("verdict") else { return };
    let mut section = Section::new(VERDICT);
    section.take_value(node.line(), node.text().unwrap_or_default(), Form::Label);
    places.extend(section.place(node.line()));
}

/// Whether a label is one that a verdict may stand behind, wherever it is. `The verdict: it cannot be approved` is a
/// sentence.
pub(super) fn is_label(name: &str) -> bool {
    let is_place = place(name).is_some_and(|(rank, rest)| rank == VERDICT && rest.trim().is_empty());
    is_place && !name.starts_with("the ") && !name.starts_with("my ")
}

/// A label: `**Verdict**: APPROVED`. Before the first section, a status is one, too.
fn label(line: &Line<'_>, below: &[Line<'_>], is_start: bool, places: &mut Vec<Place>) {
    let Some((name, value)) = markdown::label(line.text) else { return };
    let is_status =
        || is_start && place(&name).is_some_and(|(rank, rest)| rank == STATUS && rest.trim().is_empty());
    let rank = match is_label(&name) {
        true => VERDICT,
        false if is_status() => STATUS,
        false => return,
    };
    let mut section = Section::new(rank);
    section.take_value(line.number, value, Form::Label);
    // `Verdict: see below` is one only if there is nothing below.
    if section.is_silent() && rank == VERDICT {
        let reason = format!("`{}` is no verdict", shown(value));
        places.push(Place::Unclear {
            rank: MENTION,
            reason: NoVerdict::new(Why::Unclear, line.number, reason),
        });
        return;
    }
    section.take_tail(below);
    places.extend(section.place(line.number));
}

/// A text that is a verdict and nothing else.
fn lonely_word(page: &Page<'_>, places: &mut Vec<Place>) {
    let lines =
        page.lines.iter().skip(page.body_start()).filter(|it| it.is_body() && !it.text.trim().is_empty());
    let is_word = |it: &&Line<'_>| matches!(said::value(it.text), Said::Word { .. });
    if !lines.clone().all(|it| is_word(&it)) {
        return;
    }
    let mut section = Section::new(VERDICT);
    let mut first = None;
    for line in lines {
        section.take_value(line.number, line.text, Form::Plain);
        first.get_or_insert(line.number);
    }
    if let Some(first) = first {
        places.extend(section.place(first));
    }
}

/// What looks like a verdict, wherever it stands: behind its label, or alone on a line.
pub(super) fn strays(page: &Page<'_>) -> Vec<Found> {
    let lines = page.lines.iter().skip(page.body_start()).filter(|it| it.is_body());
    let stray = |line: &Line<'_>| {
        let labelled = markdown::label(line.text).filter(|(name, _)| is_label(name)).map(|it| it.1);
        let text = labelled.unwrap_or_else(|| markdown::bullet(line.text).unwrap_or(line.text));
        let Said::Word { verdict, written, form, is_alone } = said::value(text) else { return None };
        let is_one = labelled.is_some() || (is_alone && written == written.to_uppercase());
        is_one.then(|| Found { verdict, written: written.to_owned(), line: line.number, form })
    };
    lines.filter_map(stray).collect()
}
