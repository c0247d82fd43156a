//! `STATE.yaml`: where a change stands.

use serde::Serialize;

use super::yaml::{self, Node};
use super::{Problem, Severity};

/// The phases of a change.
pub const PHASES: [&str; 6] = ["proposed", "challenged", "rejected", "implementing", "complete", "archived"];

/// The phase that a word means: one of [`PHASES`], or one of the twelve that came later.
pub fn phase(word: &str) -> Option<&'static str> {
    Some(match word {
        "proposed" | "clarifying" | "drafting" | "specs_generated" | "tasks_generated" => "proposed",
        "challenged" | "planned" => "challenged",
        "rejected" => "rejected",
        "implementing" | "testing" | "code_reviewing" => "implementing",
        "complete" | "implemented" | "merging" => "complete",
        "archived" => "archived",
        _ => return None,
    })
}

/// Where a change stands. Keys that are not known here are nobody's fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct State {
    /// The change.
    pub change_id: Option<String>,
    /// As it is written, usually `2.0`.
    pub schema_version: Option<String>,
    /// As it is written.
    pub created_at: Option<String>,
    /// As it is written.
    pub updated_at: Option<String>,
    /// The phase as it is written. [`phase`] says what it means.
    pub phase: Option<String>,
    /// The round of planning.
    pub iteration: u64,
    /// What was done last, in free words.
    pub last_action: Option<String>,
    /// The session of the agent that planned.
    pub session_id: Option<String>,
    /// Every key of the file, sorted.
    pub keys: Vec<String>,
    /// How many files have a checksum.
    pub checksums: usize,
    /// How many validations are recorded.
    pub validations: usize,
    /// The steps that were validated, sorted, each once.
    pub steps: Vec<String>,
    /// The verdict that the last validation with one recorded.
    pub last_verdict: Option<String>,
    /// Whether telemetry is recorded.
    pub has_telemetry: bool,
    /// The line of the phase.
    pub phase_line: Option<usize>,
}

impl State {
    /// Reads a state, or says everything that is wrong with it.
    pub fn read(text: &str) -> Result<Self, Vec<Problem>> {
        let high = |line: usize, message: String| Problem::new(Severity::High, line, message);
        let root = yaml::read(text, 0).map_err(|it| vec![high(it.line, it.message)])?;
        if !matches!(root, Node::Map { .. }) {
            let what = if root.is_null() { "the state is empty" } else { "the state is no map of keys" };
            return Err(vec![high(root.line(), what.to_owned())]);
        }
        let mut problems = Vec::new();
        for key in ["change_id", "phase", "iteration"] {
            if let Some(line) = root.doubled(key) {
                problems.push(high(line, format!("`{key}` is there twice: leave one")));
            }
        }
        let mut text_of = |key: &str, must: bool| match root.get(key) {
            Some(node @ Node::Scalar { .. }) => node.text().map(str::to_owned),
            Some(node) if must => {
                problems.push(high(node.line(), format!("`{key}` is no text")));
                None
            }
            _ => None,
        };
        let change_id = text_of("change_id", true);
        let written = text_of("phase", true);
        let [schema_version, created_at, updated_at, last_action, session_id] =
            ["schema_version", "created_at", "updated_at", "last_action", "session_id"]
                .map(|it| text_of(it, false));
        match (&written, root.get("phase")) {
            (Some(word), Some(node)) if phase(word).is_none() => {
                problems
                    .push(high(node.line(), format!("`{word}` is no phase; one of {}", PHASES.join(", "))));
            }
            (None, Some(node)) if matches!(node, Node::Scalar { .. }) => {
                problems.push(high(node.line(), "`phase` is empty".to_owned()));
            }
            (None, None) => problems.push(high(1, "`phase` is missing".to_owned())),
            _ => {}
        }
        let mut iteration = 1;
        if let Some(node) = root.get("iteration").filter(|it| !it.is_null()) {
            match node {
                Node::Scalar { text, plain: true, .. } if text.parse::<u64>().is_ok() => {
                    iteration = text.parse().unwrap_or(1);
                }
                _ => problems.push(high(node.line(), "`iteration` is no whole number".to_owned())),
            }
        }
        if !problems.is_empty() {
            problems.sort_by_key(|it| it.line);
            return Err(problems);
        }
        let mut keys: Vec<String> = root.entries().iter().map(|(it, _)| it.clone()).collect();
        keys.sort();
        let validations = root.get("validations").map_or(&[][..], Node::items);
        let mut steps: Vec<String> =
            validations.iter().filter_map(|it| it.get("step")?.text().map(str::to_owned)).collect();
        steps.sort();
        steps.dedup();
        let verdict = |it: &Node| it.get("result")?.get("verdict")?.text().map(str::to_owned);
        Ok(Self {
            change_id,
            schema_version,
            created_at,
            updated_at,
            phase: written,
            iteration,
            last_action,
            session_id,
            keys,
            checksums: root.get("checksums").map_or(0, |it| it.entries().len()),
            validations: validations.len(),
            steps,
            last_verdict: validations.iter().rev().find_map(verdict),
            has_telemetry: root.get("telemetry").is_some_and(|it| !it.is_null()),
            phase_line: root.get("phase").map(Node::line),
        })
    }

    /// The phase as one of [`PHASES`].
    pub fn known_phase(&self) -> Option<&'static str> {
        phase(self.phase.as_deref()?)
    }
}
