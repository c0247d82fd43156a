//! What `status` tells of issues.

use serde::Serialize;

use super::issues::Impact;
use super::state::State;

/// Issues in short. Settled ones are counted too, as the original does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Overview {
    /// How many there are.
    pub issues_count: usize,
    /// The worst of them.
    pub issues_top_impact: Option<Impact>,
    /// Titles of blockers.
    pub blockers: Vec<String>,
    /// Titles of major ones.
    pub majors: Vec<String>,
    /// Titles of questions.
    pub questions: Vec<String>,
}

impl Overview {
    /// The issues of a state in short.
    pub fn of(state: &State) -> Self {
        let titles = |impact: Impact| {
            state.issues.iter().filter(|it| it.impact == impact).map(|it| it.title.clone()).collect()
        };
        Self {
            issues_count: state.issues.len(),
            issues_top_impact: state.issues.iter().map(|it| it.impact).min(),
            blockers: titles(Impact::Blocker),
            majors: titles(Impact::Major),
            questions: titles(Impact::Question),
        }
    }
}
