//! The verdict of a review: from its one place, or none.
//!
//! agentd looks for words anywhere in the text, so that "cannot be approved" approves. Here a verdict is a word in the place
//! for verdicts: under a heading that says so, behind a label, or next to a ticked box. Whatever is not plain is no verdict,
//! with a reason; above all it never lets anything pass.

mod places;
mod said;
mod section;

use serde::Serialize;

use super::page::Page;
use places::Place;

/// What a reviewer decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// It may go on.
    Approved,
    /// The plan has to be revised.
    NeedsRevision,
    /// The code has to be mended. Also written `NEEDS_CHANGES`.
    NeedsFix,
    /// Another round would not help.
    MajorIssues,
    /// It is not to be done.
    Rejected,
}

impl Verdict {
    /// The word for it. There is one for each, whatever was written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "APPROVED",
            Self::NeedsRevision => "NEEDS_REVISION",
            Self::NeedsFix => "NEEDS_FIX",
            Self::MajorIssues => "MAJOR_ISSUES",
            Self::Rejected => "REJECTED",
        }
    }

    /// What a word means, whatever its case and whether it has blanks, dashes or underscores.
    pub fn of(word: &str) -> Option<Self> {
        said::exact(word)
    }
}

/// How a verdict is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Next to a ticked box.
    Checkbox,
    /// As a bare word.
    Plain,
    /// As a word in bold.
    Bold,
    /// In the heading itself.
    Heading,
    /// Behind a label, as `Verdict: APPROVED`, or in the front matter.
    Label,
    /// In the `status` of a review block.
    Attribute,
}

/// A verdict and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// What was decided.
    pub verdict: Verdict,
    /// The word that was written for it.
    pub written: String,
    /// Its line, counted from 1.
    pub line: usize,
    /// How it is written.
    pub form: Form,
}

/// The ways for a text to have no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// There is no place for one.
    Absent,
    /// Boxes, and none is ticked: nobody has filled it in.
    Unticked,
    /// More than one box is ticked, or more than one word is there to choose from.
    Several,
    /// Two places say different things.
    Contradiction,
    /// What stands in the place for verdicts is none.
    Unclear,
}

/// Why a text has no verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NoVerdict {
    /// The kind of reason.
    pub why: Why,
    /// The reason: a fragment in lower case, values in backticks.
    pub reason: String,
    /// The line it is about.
    pub line: Option<usize>,
}

impl NoVerdict {
    pub(crate) fn new(why: Why, line: impl Into<Option<usize>>, reason: impl Into<String>) -> Self {
        Self { why, reason: reason.into(), line: line.into() }
    }
}

/// Reads the verdict of a review: `REVIEW.md`, `ARCHIVE_REVIEW.md`, `CHALLENGE.md`, or the text of a review block.
pub fn read(text: &str) -> Result<Found, NoVerdict> {
    of_page(&Page::read(text))
}

/// The first thing in a text that looks like another verdict than this one, wherever it stands.
pub(crate) fn other_than(text: &str, verdict: Verdict) -> Option<Found> {
    places::strays(&Page::read(text)).into_iter().find(|it| it.verdict != verdict)
}

/// Whether a label is one that a verdict may stand behind.
pub(crate) fn is_label(name: &str) -> bool {
    places::is_label(name)
}

/// The verdict of a text that is cut into lines.
pub(crate) fn of_page(page: &Page<'_>) -> Result<Found, NoVerdict> {
    let places = places::all(page);
    let mut decided: Option<Found> = None;
    for place in &places {
        match place {
            Place::Unclear { rank, reason } => {
                // A repetition that nobody filled in takes nothing back, nor does a mention that says nothing.
                let is_repetition = places.iter().any(|it| it.rank() < *rank && it.found().is_some());
                if !(is_repetition && (reason.why == Why::Unticked || place.is_mention())) {
                    return Err(reason.clone());
                }
            }
            Place::Says { found, .. } => match &decided {
                Some(before) if before.verdict != found.verdict => {
                    let reason = format!(
                        "line {} says `{}`, this one `{}`",
                        before.line, before.written, found.written
                    );
                    return Err(NoVerdict::new(Why::Contradiction, found.line, reason));
                }
                Some(_) => {}
                None => decided = Some(found.clone()),
            },
        }
    }
    // The word is that of the first place of the highest rank.
    let best = places.iter().filter(|it| it.found().is_some()).min_by_key(|it| it.rank());
    if let Some(found) = best.and_then(Place::found) {
        return Ok(found.clone());
    }
    let reason = "it has no place for a verdict";
    Err(match places::strays(page).first() {
        None => NoVerdict::new(Why::Absent, None, reason),
        Some(it) => {
            NoVerdict::new(Why::Absent, it.line, format!("{reason}, and `{}` stands elsewhere", it.written))
        }
    })
}
