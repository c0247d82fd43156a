//! The view: plain data, all that anything that shows a run ever sees.

use indexmap::IndexMap;
use serde::Serialize;

use super::run::{Run, Stage};
use crate::definition::{Kind, Machine, Outcome, Workflow};
use crate::name::Name;

/// Where a run stands, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct RunView {
    /// The workflow.
    pub workflow: Name,
    /// What it is about.
    pub subject: String,
    /// The state, `child.state` in a child.
    pub state: Name,
    /// What kind of work that is.
    pub kind: &'static str,
    /// The how-manieth visit.
    pub visit: u32,
    /// The phase it shows.
    pub phase: Option<Name>,
    /// The role at work.
    pub role: Option<Name>,
    /// What is left of each budget.
    pub left: IndexMap<Name, u64>,
    /// Calls made so far, by role.
    pub calls: IndexMap<Name, u32>,
    /// Verbs it takes.
    pub verbs: Vec<Name>,
    /// How it came out, when it is over.
    pub outcome: Option<Outcome>,
    /// Gates that were passed over.
    pub forced: Vec<Name>,
    /// Findings the run went on in spite of.
    pub left_open: Vec<String>,
    /// What is due was put off until then, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
}

impl RunView {
    /// The view of a run.
    pub fn of(workflow: &Workflow, run: &Run) -> Self {
        let machine = run.machine(workflow);
        let state = run.state(workflow);
        let role = state.and_then(|it| it.call()).and_then(|it| run.pick(&it.role).cloned());
        let verbs = super::due(workflow, run)
            .into_iter()
            .flat_map(|it| match it.want {
                super::Want::Await { verbs } => verbs,
                _ => Vec::new(),
            })
            .collect();
        Self {
            workflow: workflow.name.clone(),
            subject: run.subject.clone(),
            state: machine.map_or_else(|| run.at.state.clone(), |it| it.qualified(&run.at.state)),
            kind: state.map_or("", |it| it.kind.word()),
            visit: run.at.visit,
            phase: run.phase.clone(),
            role,
            left: left(machine, run),
            calls: run.calls.clone(),
            verbs,
            outcome: state.and_then(|it| match it.kind {
                Kind::End { outcome, .. } if run.at.stage == Stage::Ended => Some(outcome),
                _ => None,
            }),
            forced: run.forced.clone(),
            left_open: run.ledger.left().map(|(id, _)| id.clone()).collect(),
            until: run.at.until,
        }
    }
}

/// What is left of each budget. Of one with a table, what counts at present.
fn left(machine: Option<&Machine>, run: &Run) -> IndexMap<Name, u64> {
    let budgets = machine.into_iter().flat_map(|it| &it.budgets);
    let lines =
        budgets.filter_map(|(name, it)| Some((name.clone(), *run.left.get(&*run.line(name, it)?.0)?)));
    lines.collect()
}
