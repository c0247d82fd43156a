//! What a check of a project says, in the fields the original has.

use serde::Serialize;

use super::checks::PlanCheck;
use super::issues::{Impact, Issue};
use super::state::State;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Whether there are no errors.
    pub ok: bool,
    /// What must not be.
    pub errors: Vec<String>,
    /// What should not be.
    pub warnings: Vec<String>,
    /// Where the project stands, if it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<StateReport>,
    /// What the current checkpoint has, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_check: Option<PlanCheck>,
}

/// Where a project stands, in short.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StateReport {
    /// The stage, as written.
    pub stage: Option<String>,
    /// The checkpoint, as written.
    pub checkpoint: Option<String>,
    /// The status.
    pub status: Option<String>,
    /// Where the evidence is.
    pub evidence_path: Option<String>,
    /// The issues.
    pub issues: Vec<IssueReport>,
}

/// An issue, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IssueReport {
    /// Its id.
    pub id: Option<String>,
    /// How bad it is.
    pub impact: Impact,
    /// How it stands.
    pub status: Option<String>,
    /// Who has to see to it.
    pub owner: Option<String>,
    /// What it is called.
    pub title: String,
}

impl Report {
    /// The exit code of the original.
    pub fn exit_code(&self) -> i32 {
        if self.ok { 0 } else { 2 }
    }
}

impl StateReport {
    /// The short form of a state.
    pub fn of(state: &State) -> Self {
        let issue = |it: &Issue| IssueReport {
            id: it.id.clone(),
            impact: it.impact,
            status: it.status.clone(),
            owner: it.owner.clone(),
            title: it.title.clone(),
        };
        Self {
            stage: state.stage.clone(),
            checkpoint: state.checkpoint.clone(),
            status: state.status.clone(),
            evidence_path: state.evidence_path.clone(),
            issues: state.issues.iter().map(issue).collect(),
        }
    }
}
