//! `.vibe/PLAN.md`: stages and their checkpoints, in the order they are written.

use std::ops::Range;

use super::text::{self, Ends, Line};
use super::{demo, ids};

/// What the heading of a checkpoint says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// Nothing: it is to be done.
    Open,
    /// `(DONE)`.
    Done,
    /// `(SKIPPED)`: it will not be done.
    Skipped,
    /// `(SKIP)`: it is put off.
    Deferred,
}

/// A stage of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Its id in normal form.
    pub id: String,
    /// The line of its heading, counted from 1.
    pub line: usize,
    /// Whether it is marked `(SKIP)`. Its checkpoints are not skipped by that.
    pub skip: bool,
    /// What it is called.
    pub title: String,
}

/// A checkpoint of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its id in normal form.
    pub id: String,
    /// The stage it stands under, in normal form.
    pub stage: Option<String>,
    /// What its heading says of it.
    pub mark: Mark,
    /// What it is called.
    pub title: String,
    /// The line of its heading, counted from 1.
    pub line: usize,
    /// Which of the headings it is.
    heading: usize,
}

impl Checkpoint {
    /// The same wherever in the plan it stands.
    pub(crate) fn without_place(&self) -> Self {
        Self { line: 0, heading: 0, ..self.clone() }
    }
}

/// A `## Stage` heading as it is written, whatever its id is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StageHeading {
    /// The line, counted from 1.
    pub line: usize,
    /// The word where the id should be.
    pub word: String,
    /// All that follows `Stage`.
    pub behind: String,
    /// Whether it is marked `(SKIP)`.
    skip: bool,
}

/// A heading that is not in fenced code.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Heading {
    level: usize,
    /// Its line, without the line break.
    text: Range<usize>,
}

/// What comes after a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The plan has no checkpoints.
    NoCheckpoints,
    /// It is the last one.
    Last,
    /// Whatever follows is done, skipped or put off.
    NoneLeft,
    /// The plan does not have the current checkpoint. The original goes back to the first one of the plan.
    Unknown,
    /// This one, and nothing has to be done in between.
    Advance {
        /// Its id.
        id: String,
        /// Its stage.
        stage: Option<String>,
    },
    /// This one, which begins another stage.
    NewStage {
        /// Its id.
        id: String,
        /// The stage that ends.
        from: Option<String>,
        /// The stage that begins.
        to: String,
    },
}

/// A plan. Code in fences is not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Stages with an id that is one, in the order they are written.
    pub stages: Vec<Stage>,
    /// Checkpoints, in the order they are written. An id may come more than once.
    pub checkpoints: Vec<Checkpoint>,
    pub(crate) stage_headings: Vec<StageHeading>,
    headings: Vec<Heading>,
    text: String,
}

impl Plan {
    /// Reads a plan. Nothing is too odd to be read.
    pub fn read(text: &str) -> Self {
        let mut plan = Self { text: text.to_owned(), ..Self::default() };
        let mut fence = Fence::default();
        let mut stage: Option<String> = None;
        for (index, line) in text::places(text, Ends::All).enumerate() {
            if fence.hides(line.text) {
                continue;
            }
            let shown = text::trim_start(line.text);
            if shown.starts_with('#') {
                plan.take_heading(shown, line, index + 1, &mut stage);
            }
        }
        plan
    }

    fn take_heading(&mut self, shown: &str, line: Line<'_>, number: usize, stage: &mut Option<String>) {
        let Some((level, behind)) = text::heading(shown).filter(|(level, _)| *level <= 6) else { return };
        let text = line.place(shown);
        if level == 2
            && let Some(heading) = stage_heading(behind, number)
        {
            // A checkpoint's stage may be indented, a stage of the plan may not.
            if let Some((id, rest)) = ids::stage_word(&heading.behind) {
                *stage = Some(id.clone());
                if shown.len() == line.text.len() && ids::stage(&heading.word).is_some() {
                    let (skip, title) = (heading.skip, title(rest));
                    self.stages.push(Stage { id, line: number, skip, title });
                }
            }
            if shown.len() == line.text.len() {
                self.stage_headings.push(heading);
            }
        } else if let Some((id, mark, rest)) = checkpoint_heading(shown) {
            let (stage, title) = (stage.clone(), title(rest));
            let heading = self.headings.len();
            self.checkpoints.push(Checkpoint { id, stage, mark, title, line: number, heading });
        }
        self.headings.push(Heading { level, text });
    }

    /// The first checkpoint of an id, which may be written in any form.
    pub fn find(&self, id: &str) -> Option<&Checkpoint> {
        self.position(id).and_then(|at| self.checkpoints.get(at))
    }

    fn position(&self, id: &str) -> Option<usize> {
        let id = ids::checkpoint(text::trim(id))?;
        self.checkpoints.iter().position(|it| it.id == id)
    }

    /// What comes after the current checkpoint, or what is first if there is none. `stage` is the one the state names.
    pub fn after(&self, current: Option<&str>, stage: Option<&str>) -> Next {
        if self.checkpoints.is_empty() {
            return Next::NoCheckpoints;
        }
        let Some(current) = current else {
            return self
                .open_from(0)
                .map_or(Next::NoneLeft, |it| Next::Advance { id: it.id.clone(), stage: it.stage.clone() });
        };
        let Some(at) = self.position(current) else { return Next::Unknown };
        if at + 1 == self.checkpoints.len() {
            return Next::Last;
        }
        // Places are counted, not ids: an id that comes twice can then not lead in a circle.
        let Some(next) = self.open_from(at + 1) else { return Next::NoneLeft };
        let from = self.checkpoints.get(at).and_then(|it| it.stage.clone());
        // Where an id comes twice, its stage is that of the first.
        let to = self.find(&next.id).unwrap_or(next).stage.clone();
        match (&from, &to) {
            (Some(ends), Some(begins))
                if ends != begins && stage.map(ids::stage_or_raw).as_ref() != Some(begins) =>
            {
                Next::NewStage { id: next.id.clone(), to: begins.clone(), from }
            }
            _ => Next::Advance { id: next.id.clone(), stage: to },
        }
    }

    fn open_from(&self, at: usize) -> Option<&Checkpoint> {
        self.checkpoints.iter().skip(at).find(|it| it.mark == Mark::Open)
    }

    /// The text of a checkpoint, its heading included, up to the next heading that is not below it.
    pub fn section(&self, id: &str) -> Option<&str> {
        let named = self.find(id).map(|it| it.heading);
        self.section_at(named.or_else(|| self.mention(id))?)
    }

    /// The same for checks, which take the first heading that has the id in it anywhere, as it is written.
    pub(crate) fn mentioning(&self, id: &str) -> Option<&str> {
        self.section_at(self.mention(id)?)
    }

    fn mention(&self, id: &str) -> Option<usize> {
        self.headings.iter().position(|it| {
            (3..=6).contains(&it.level)
                && self.text.get(it.text.clone()).is_some_and(|line| text::has_word(line, id))
        })
    }

    fn section_at(&self, at: usize) -> Option<&str> {
        let heading = self.headings.get(at)?;
        let next = self.headings.iter().skip(at + 1).find(|it| it.level <= heading.level);
        self.text.get(heading.text.start..next.map_or(self.text.len(), |it| it.text.start))
    }

    /// What a checkpoint is called.
    pub fn title(&self, id: &str) -> Option<&str> {
        self.find(id).map(|it| it.title.as_str())
    }

    /// The stage that is written before a stage.
    pub fn previous_stage(&self, stage: &str) -> Option<&str> {
        let id = ids::stage_or_raw(text::trim(stage));
        let at = self.stages.iter().position(|it| it.id == id)?;
        self.stages.get(at.checked_sub(1)?).map(|it| it.id.as_str())
    }

    /// The part of the text that belongs to a stage, its heading included: up to the next heading of its level.
    pub(crate) fn stage_place(&self, stage: &str) -> Option<Range<usize>> {
        let id = ids::stage(stage)?;
        let line = self.stages.iter().find(|it| it.id == id)?.line;
        let start = text::places(&self.text, Ends::All).nth(line - 1)?.start;
        let end = self.headings.iter().find(|it| it.level <= 2 && it.text.start > start);
        Some(start..end.map_or(self.text.len(), |it| it.text.start))
    }
}

/// The commands that show a checkpoint at work.
pub fn demo_commands(plan_text: &str, checkpoint: &str) -> Vec<String> {
    demo::commands(plan_text, checkpoint)
}

/// A heading of a stage, from what follows its hashes.
fn stage_heading(behind: &str, line: usize) -> Option<StageHeading> {
    let (skip, rest) = match marker(behind) {
        Some((Mark::Deferred, rest)) => (true, rest),
        _ => (false, behind),
    };
    let behind = text::after_blanks(rest.strip_prefix("Stage")?)?;
    let word = text::first_word(behind)?.to_owned();
    Some(StageHeading { line, word, behind: behind.to_owned(), skip })
}

/// A mark in parentheses and what follows it.
fn marker(text: &str) -> Option<(Mark, &str)> {
    let (word, rest) = text.strip_prefix('(')?.split_once(')')?;
    let mark = match text::trim(word) {
        "DONE" => Mark::Done,
        "SKIPPED" => Mark::Skipped,
        "SKIP" => Mark::Deferred,
        _ => return None,
    };
    Some((mark, text::trim_start(rest)))
}

/// What follows the hashes and the mark of a heading that could be a checkpoint's.
pub(crate) fn checkpoint_place(line: &str) -> Option<(Mark, &str)> {
    let (_, behind) = text::heading(line).filter(|(level, _)| (3..=6).contains(level))?;
    Some(marker(behind).unwrap_or((Mark::Open, behind)))
}

/// The id of a checkpoint's heading, its mark, and what follows.
pub(crate) fn checkpoint_heading(line: &str) -> Option<(String, Mark, &str)> {
    let (mark, behind) = checkpoint_place(line)?;
    ids::checkpoint_word(behind).map(|(id, rest)| (id, mark, rest))
}

/// What follows an id, without the dash between them.
fn title(rest: &str) -> String {
    let is_between = |it: char| text::is_blank(it) || matches!(it, '—' | '–' | '-' | ':');
    text::trim_end(rest.trim_start_matches(is_between)).to_owned()
}

/// Whether lines are in fenced code.
#[derive(Default)]
struct Fence {
    open: Option<(char, usize)>,
}

impl Fence {
    /// Takes the next line: whether it is in a fence, or one.
    fn hides(&mut self, line: &str) -> bool {
        let line = text::trim_start(line);
        let mark = line.chars().next().filter(|it| matches!(it, '`' | '~'));
        let length = mark.map_or(0, |mark| line.len() - line.trim_start_matches(mark).len());
        match self.open {
            None if length >= 3 => {
                self.open = mark.map(|mark| (mark, length));
                true
            }
            None => false,
            Some((open, least)) => {
                if mark == Some(open) && length >= least {
                    self.open = None;
                }
                true
            }
        }
    }
}
