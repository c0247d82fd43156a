//! `.vibe/STATE.md`: where a project stands.

use indexmap::IndexMap;

use super::issues::{self, Issue};
use super::record::state_sha256;
use super::sections::{self, Sections};
use super::{flags, focus, ids, text};

/// What a status can be.
pub const STATUSES: [&str; 5] = ["BLOCKED", "DONE", "IN_PROGRESS", "IN_REVIEW", "NOT_STARTED"];

/// More entries than this in the work log, and it wants pruning.
pub const MOST_LOG_ENTRIES: usize = 10;

/// Title of the section with the flags.
pub(crate) const FLAGS: &str = "Workflow state";

/// Where a project stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The stage, as written.
    pub stage: Option<String>,
    /// The checkpoint, as written.
    pub checkpoint: Option<String>,
    /// The status: the first word of it, in capitals. It may be none that there is.
    pub status: Option<String>,
    /// Where the evidence is, from the root of the project.
    pub evidence_path: Option<String>,
    /// Flags by their names in normal form: whether they are set.
    pub flags: IndexMap<String, bool>,
    /// Issues, also those that are settled.
    pub issues: Vec<Issue>,
    /// The entries of the work log.
    pub work_log: Vec<String>,
    /// How many lines there are of evidence.
    pub evidence_signals: usize,
    /// The hash of the text it was read from, as records have it.
    pub sha256: String,
}

impl State {
    /// Reads a file that was decoded. Nothing is too odd to be read; what is missing is missing.
    pub fn read(text: &str) -> Self {
        Self { sha256: state_sha256(text), ..Self::read_unhashed(text) }
    }

    /// All of it but the hash.
    pub(crate) fn read_unhashed(text: &str) -> Self {
        let bullets = focus::read(text);
        let value = |key: &str| {
            bullets.get(key).map(|bullet| bullet.value.clone().and_then(|it| text.get(it)).map(str::to_owned))
        };
        let sections = Sections::read(text);
        let flags = flags::read(sections.get(FLAGS));
        Self {
            stage: value("stage").flatten(),
            checkpoint: value("checkpoint").flatten(),
            status: value("status")
                .or_else(|| value("state"))
                .flatten()
                .and_then(|it| issues::upper_word(&it)),
            evidence_path: value("path").flatten(),
            flags: flags.into_iter().map(|flag| (flag.name, flag.set)).collect(),
            issues: issues::read(text, &sections),
            work_log: sections
                .lines("Work log (current session)")
                .iter()
                .filter_map(|line| log_entry(line.text))
                .map(str::to_owned)
                .collect(),
            evidence_signals: sections.lines("Evidence").iter().filter(|line| is_signal(line.text)).count(),
            sha256: String::new(),
        }
    }

    /// The number the stage begins with.
    pub fn stage_number(&self) -> Option<i64> {
        self.stage.as_deref().and_then(ids::leading_number)
    }

    /// The number of the stage that the checkpoint's id names.
    pub fn checkpoint_stage_number(&self) -> Option<i64> {
        let id = ids::checkpoint_word(self.checkpoint.as_deref()?)?.0;
        ids::leading_number(&id)
    }
}

/// An entry of the work log: a dash, a blank, and something.
fn log_entry(line: &str) -> Option<&str> {
    text::after_blanks(text::trim(line).strip_prefix('-')?)
}

/// Whether a line is evidence of anything.
fn is_signal(line: &str) -> bool {
    let line = text::trim(line);
    let inside = text::bullet(line).unwrap_or(line);
    !line.is_empty() && !line.starts_with("<!--") && !sections::is_nothing(inside)
}
