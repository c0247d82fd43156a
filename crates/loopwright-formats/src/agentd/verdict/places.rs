//! The places of a review where a verdict may stand.

use super::super::markdown;
use super::super::page::{Line, Page};
use super::said::{self, Said};
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

const VERDICT: u8 = 0;
const STATUS: u8 = 1;
const REPETITION: u8 = 2;
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
fn place(title: &str) -> Option<(u8, &str)> {
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
                label(line, is_start, &mut places);
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
fn label(line: &Line<'_>, is_start: bool, places: &mut Vec<Place>) {
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
    if section.boxes.is_empty() && section.words.is_empty() && section.odd.is_none() && rank == VERDICT {
        let reason = format!("`{}` is no verdict", shown(value));
        places.push(Place::Unclear {
            rank: MENTION,
            reason: NoVerdict::new(Why::Unclear, line.number, reason),
        });
        return;
    }
    places.extend(section.place(line.number));
}

/// A text that is a single line, and that one a verdict.
fn lonely_word(page: &Page<'_>, places: &mut Vec<Place>) {
    let mut lines =
        page.lines.iter().skip(page.body_start()).filter(|it| it.is_body() && !it.text.trim().is_empty());
    let (Some(line), None) = (lines.next(), lines.next()) else { return };
    if let Said::Word { .. } = said::value(line.text) {
        let mut section = Section::new(VERDICT);
        section.take_value(line.number, line.text, Form::Plain);
        places.extend(section.place(line.number));
    }
}

/// A place while it is read.
struct Section {
    rank: u8,
    /// Verdicts next to boxes: indent, line, mark, what they say.
    boxes: Vec<(usize, usize, char, Result<Found, NoVerdict>)>,
    words: Vec<Found>,
    odd: Option<NoVerdict>,
    /// The first line that says something.
    first: Option<(usize, String)>,
    /// Whether a paragraph may begin with the next line.
    is_fresh: bool,
}

impl Section {
    fn new(rank: u8) -> Self {
        Self { rank, boxes: Vec::new(), words: Vec::new(), odd: None, first: None, is_fresh: true }
    }

    fn take_heading(&mut self, line: &Line<'_>, value: &str) {
        if !value.trim().is_empty() {
            self.take_value(line.number, value, Form::Heading);
        }
    }

    /// Takes what stands in the first line of the place, or right behind its name.
    fn take_value(&mut self, line: usize, value: &str, form: Form) {
        self.first.get_or_insert_with(|| (line, value.trim().to_owned()));
        if self.take_boxes(0, line, value) {
            return;
        }
        match said::value(value) {
            Said::Word { verdict, written, form: own, .. } => {
                let form = if form == Form::Plain { own } else { form };
                self.words.push(Found { verdict, written: written.to_owned(), line, form });
            }
            Said::Odd { why, is_choice } => self.take_odd(line, value, why, is_choice),
            Said::Nothing => {}
        }
    }

    fn take_odd(&mut self, line: usize, value: &str, why: &str, is_choice: bool) {
        let kind = if is_choice { Why::Several } else { Why::Unclear };
        self.odd.get_or_insert_with(|| NoVerdict::new(kind, line, format!("`{}`: {why}", shown(value))));
    }

    fn take_boxes(&mut self, indent: usize, line: usize, text: &str) -> bool {
        let boxes = said::boxes(text);
        for it in &boxes {
            let said = match &it.said {
                Said::Word { verdict, written, .. } => Ok(Found {
                    verdict: *verdict,
                    written: (*written).to_owned(),
                    line,
                    form: Form::Checkbox,
                }),
                Said::Odd { why, .. } => {
                    Err(NoVerdict::new(Why::Unclear, line, format!("`{}`: {why}", shown(text))))
                }
                Said::Nothing => continue,
            };
            self.boxes.push((indent, line, it.mark, said));
        }
        !boxes.is_empty()
    }

    /// Takes a line. False if the place ends before it.
    fn take(&mut self, line: &Line<'_>) -> bool {
        if !line.is_body() || line.text.trim().is_empty() {
            self.is_fresh = true;
            return true;
        }
        let item = markdown::bullet(line.text);
        let text = item.unwrap_or_else(|| line.text.trim_start());
        let is_fresh = self.is_fresh || item.is_some();
        self.is_fresh = false;
        if let Some((name, value)) = markdown::label(line.text) {
            if matches!(name.as_str(), "next steps" | "next step" | "next") {
                return false;
            }
            if place(&name).is_some_and(|(_, rest)| rest.trim().is_empty()) {
                self.take_value(line.number, value, Form::Label);
                return true;
            }
        }
        if self.take_boxes(markdown::indent(line.text), line.number, text) || !is_fresh {
            return true;
        }
        if self.first.is_none() && markdown::indent(line.text) < 4 {
            self.take_value(line.number, text, Form::Plain);
            return true;
        }
        // Further down, only a word that stands alone counts.
        if let Said::Word { verdict, written, form, is_alone: true } = said::value(text) {
            self.words.push(Found { verdict, written: written.to_owned(), line: line.number, form });
        }
        true
    }

    /// What the place says. Nothing if it has nothing to do with verdicts.
    fn place(mut self, heading: usize) -> Option<Place> {
        let rank = self.rank;
        let unclear = |reason: NoVerdict| Some(Place::Unclear { rank, reason });
        let outer = self.boxes.iter().map(|it| it.0).min().unwrap_or(0);
        self.boxes.retain(|it| it.0 <= outer + 1);
        let Some((_, first_box, ..)) = self.boxes.first() else { return self.place_of_words(heading) };
        let first_box = *first_box;
        if let Some((_, line, mark, _)) = self.boxes.iter().find(|it| !is_known(it.2)) {
            return unclear(NoVerdict::new(
                Why::Unclear,
                *line,
                format!("the mark `{mark}` in a box is neither a tick nor empty"),
            ));
        }
        let mut ticked: Option<Found> = None;
        for (_, line, _, said) in self.boxes.iter().filter(|it| markdown::is_tick(it.2)) {
            match (said, &ticked) {
                (Err(reason), _) => return unclear(reason.clone()),
                (Ok(found), Some(before)) if before.verdict != found.verdict => {
                    let reason = format!("`{}` and `{}` are both ticked", before.written, found.written);
                    return unclear(NoVerdict::new(Why::Several, *line, reason));
                }
                (Ok(found), _) => ticked = Some(found.clone()),
            }
        }
        let Some(ticked) = ticked else {
            return unclear(NoVerdict::new(Why::Unticked, first_box, "no box is ticked"));
        };
        if let Some(other) = self.words.iter().find(|it| it.verdict != ticked.verdict) {
            let reason = format!("`{}` is ticked, and `{}` is written", ticked.written, other.written);
            return unclear(NoVerdict::new(Why::Contradiction, other.line, reason));
        }
        if let Some(odd) = self.odd {
            return unclear(odd);
        }
        Some(Place::Says { rank, found: ticked })
    }

    fn place_of_words(self, heading: usize) -> Option<Place> {
        let rank = self.rank;
        // Recommendations are words of all kinds; only boxes make them one of these.
        if rank == REPETITION {
            return None;
        }
        if let Some(reason) = self.odd {
            return Some(Place::Unclear { rank, reason });
        }
        let mut words = self.words.into_iter();
        let Some(found) = words.next() else {
            if rank != VERDICT {
                return None;
            }
            let (line, reason) = match self.first {
                Some((line, text)) => (line, format!("`{}` is no verdict", shown(&text))),
                None => (heading, "the place for the verdict is empty".to_owned()),
            };
            return Some(Place::Unclear { rank, reason: NoVerdict::new(Why::Unclear, line, reason) });
        };
        if let Some(other) = words.find(|it| it.verdict != found.verdict) {
            let reason = format!("both `{}` and `{}` are written", found.written, other.written);
            return Some(Place::Unclear { rank, reason: NoVerdict::new(Why::Several, other.line, reason) });
        }
        // What comes first may be about something else, and what follows a quotation of it.
        if let Some((line, text)) =
            self.first.filter(|(line, _)| *line < found.line && found.form != Form::Label)
        {
            let reason = format!("it does not begin with the verdict, but with `{}`", shown(&text));
            return Some(Place::Unclear { rank, reason: NoVerdict::new(Why::Unclear, line, reason) });
        }
        Some(Place::Says { rank, found })
    }
}

fn is_known(mark: char) -> bool {
    mark == ' ' || markdown::is_tick(mark)
}

/// As much of a text as a message can hold.
fn shown(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]).replace('`', "'"),
        None => text.replace('`', "'"),
    }
}
