//! One place for a verdict, while it is read.

use super::super::markdown;
use super::super::page::Line;
use super::places::{Place, REPETITION, VERDICT, place};
use super::said::{self, Said};
use super::{Form, Found, NoVerdict, Why};

/// A place while it is read.
pub(super) struct Section {
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
    pub fn new(rank: u8) -> Self {
        Self { rank, boxes: Vec::new(), words: Vec::new(), odd: None, first: None, is_fresh: true }
    }

    /// Whether nothing in it looks like a verdict.
    pub fn is_silent(&self) -> bool {
        self.boxes.is_empty() && self.words.is_empty() && self.odd.is_none()
    }

    pub fn take_heading(&mut self, line: &Line<'_>, value: &str) {
        if !value.trim().is_empty() {
            self.take_value(line.number, value, Form::Heading);
        }
    }

    /// Takes what stands in the first line of the place, or right behind its name.
    pub fn take_value(&mut self, line: usize, value: &str, form: Form) {
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
    pub fn take(&mut self, line: &Line<'_>) -> bool {
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
        if self.take_boxes(markdown::indent(line.text), line.number, text) {
            return true;
        }
        if is_fresh && self.first.is_none() && markdown::indent(line.text) < 4 {
            self.take_value(line.number, text, Form::Plain);
            return true;
        }
        self.take_further(line.number, text);
        true
    }

    /// Takes the lines that go on a label: a second verdict there would leave open which one counts.
    pub fn take_tail(&mut self, lines: &[Line<'_>]) {
        let is_other = |it: &Line<'_>| {
            !it.is_body()
                || it.text.trim().is_empty()
                || it.heading().is_some()
                || markdown::label(it.text).is_some()
        };
        for line in lines.iter().take_while(|it| !is_other(it)) {
            self.take_further(line.number, markdown::bullet(line.text).unwrap_or(line.text));
        }
    }

    /// Further down, only a word counts that stands alone, or that is written as only verdicts are.
    fn take_further(&mut self, line: usize, text: &str) {
        let text = text.trim_start_matches([' ', '\t', '|', '/', '&']);
        let text = ["or", "and"].iter().find_map(|it| markdown::strip_word(text, it)).unwrap_or(text);
        let Said::Word { verdict, written, form, is_alone } = said::value(text) else { return };
        let behind = text.split_once(written).map_or("", |it| it.1);
        let rest = behind.trim_start_matches(|it: char| !it.is_alphanumeric()).to_lowercase();
        // `REJECTED: none` counts something.
        let is_count = rest.split(|it: char| !it.is_alphanumeric()).next().is_some_and(|it| {
            matches!(it, "none" | "no" | "n") || it.starts_with(|it: char| it.is_ascii_digit())
        });
        if is_alone || (written == written.to_uppercase() && !is_count) {
            self.words.push(Found { verdict, written: written.to_owned(), line, form });
        }
    }

    /// What the place says. Nothing if it has nothing to do with verdicts.
    pub fn place(mut self, heading: usize) -> Option<Place> {
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
pub(super) fn shown(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]).replace('`', "'"),
        None => text.replace('`', "'"),
    }
}
