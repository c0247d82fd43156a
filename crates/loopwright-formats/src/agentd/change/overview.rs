//! How far a change is, as far as its files say so.

use serde::Serialize;

use super::super::Problem;
use super::super::proposal::Proposal;
use super::super::review::Review;
use super::super::state::State;
use super::super::tasks::{Layer, Tasks};
use super::super::verdict::{Form, Found, NoVerdict, Verdict};
use super::Files;

/// A review and what it decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// Its file, relative to the folder of the change.
    pub file: String,
    /// The line of the verdict, or of what stands in its place.
    pub line: Option<usize>,
    /// The round it says it is of.
    pub iteration: Option<u64>,
    /// Who wrote it, if it says so.
    pub reviewer: Option<String>,
    /// What was decided.
    pub verdict: Option<Verdict>,
    /// The word that was written for it.
    pub written: Option<String>,
    /// How it is written.
    pub form: Option<Form>,
    /// Why nothing was decided.
    pub why_not: Option<String>,
    /// How many issues of high, medium and low severity it has. Nothing for review blocks.
    pub issues: Option<[usize; 3]>,
}

/// What is known of the state of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// The phase as one of the six.
    pub phase: Option<&'static str>,
    /// The phase as it is written.
    pub phase_written: Option<String>,
    /// The round of planning.
    pub iteration: u64,
    /// What was done last.
    pub last_action: Option<String>,
    /// When the state was last written, as it says.
    pub updated_at: Option<String>,
}

/// How far a change is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Overview {
    /// The name of its folder.
    pub change_id: String,
    /// Its state, if it has one that can be read.
    pub state: Option<Standing>,
    /// Its summary in a line.
    pub summary: Option<String>,
    /// Whether its proposal is complete.
    pub proposal_complete: bool,
    /// The specs it has.
    pub specs: Vec<String>,
    /// Its reviews: those of the plan in the order of the text, then that of the code, then that of the archive.
    pub verdicts: Vec<Decision>,
    /// Its layers with their tasks.
    pub layers: Vec<Layer>,
    /// How many tasks it has.
    pub tasks: usize,
    /// How many say that they are done.
    pub done: usize,
    /// Why its state, its proposal or its tasks cannot be worked with.
    pub problems: Vec<Problem>,
}

impl Overview {
    /// Reads how far a change is.
    pub fn read(files: &Files) -> Self {
        let (state, mut problems) = match files.text("STATE.yaml").map(State::read) {
            None => (None, Vec::new()),
            Some(Ok(state)) => (Some(standing(state)), Vec::new()),
            Some(Err(found)) => (None, found.into_iter().map(|it| it.of("STATE.yaml")).collect()),
        };
        let proposal = files.text("proposal.md").map(Proposal::read);
        let tasks = files.text("tasks.md").map(|it| Tasks::read(it, &files.change_id));
        let of_proposal = proposal.iter().flat_map(|it| &it.problems).map(|it| (it, "proposal.md"));
        let of_tasks = tasks.iter().flat_map(|it| &it.problems).map(|it| (it, "tasks.md"));
        let grave = of_proposal.chain(of_tasks).filter(|(it, _)| it.severity == super::Severity::High);
        problems.extend(grave.map(|(it, file)| it.clone().of(file)));
        problems.extend(files.unreadable.iter().cloned());
        let layers = tasks.map(|it| it.layers).unwrap_or_default();
        let mut verdicts = Vec::new();
        for block in proposal.iter().flat_map(|it| &it.reviews) {
            let blank = decision("proposal.md", Some(block.iteration), &block.verdict);
            verdicts.push(Decision { reviewer: block.reviewer.clone(), ..blank });
        }
        for file in ["CHALLENGE.md", "REVIEW.md", "ARCHIVE_REVIEW.md"] {
            let Some(review) = files.text(file).map(Review::read) else { continue };
            let severities = [super::Severity::High, super::Severity::Medium, super::Severity::Low];
            let issues = Some(severities.map(|it| review.count(it)));
            verdicts.push(Decision { issues, ..decision(file, review.iteration, &review.verdict) });
        }
        let all = || layers.iter().flat_map(|it| &it.tasks);
        Self {
            change_id: files.change_id.clone(),
            state,
            summary: proposal.as_ref().and_then(|it| it.summary.clone()),
            proposal_complete: proposal.as_ref().is_some_and(Proposal::complete),
            specs: files.specs().map(|it| it.1.to_owned()).collect(),
            verdicts,
            tasks: all().count(),
            done: all().filter(|it| it.done).count(),
            layers,
            problems,
        }
    }
}

fn standing(state: State) -> Standing {
    Standing {
        phase: state.known_phase(),
        phase_written: state.phase,
        iteration: state.iteration,
        last_action: state.last_action,
        updated_at: state.updated_at,
    }
}

fn decision(file: &str, iteration: Option<u64>, verdict: &Result<Found, NoVerdict>) -> Decision {
    let found = verdict.as_ref().ok();
    let reason = verdict.as_ref().err();
    Decision {
        file: file.to_owned(),
        line: found.map(|it| it.line).or(reason.and_then(|it| it.line)),
        iteration,
        reviewer: None,
        verdict: found.map(|it| it.verdict),
        written: found.map(|it| it.written.clone()),
        form: found.map(|it| it.form),
        why_not: reason.map(|it| it.reason.clone()),
        issues: None,
    }
}
