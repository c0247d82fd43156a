//! What is left out, because `check` is known to be wrong about it. Every entry is a debt: it goes when the proof is
//! right.

use loopwright_core::definition::{Cell, Claim, Kind, Machine, State, Target, Term, Workflow};

/// Something that is not held against the proof yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gap {
    /// An arm reads how its own state last came out: retries are walked past as if they left no trace.
    LastOfARetry,
    /// `back` where there is nowhere to go back to: a visit for `at-most`, none for the machine.
    BackToNowhere,
    /// A property about visits of a state in which some run begins: the first visit is counted for every beginning.
    VisitsFromAnywhere,
    /// A loop: paths that enter it twice find their item done already, and a child's end called like a failure is taken
    /// for one. Paths only; what is proved is held against the world all the same.
    PathsThroughLoops,
    /// A gate that is reported as unsettled: every other path that needs it is played as if it were settled.
    PathsPastGates,
    /// `do: []`, which is passed at once, is given failures.
    EmptyDo,
    /// Routing reads a gate: what people edit while the run rests or asks is not seen coming.
    EditsSeenByRouting,
    /// The stretch after an edit or a cancelled call is not in the bound.
    AfterAnEdit,
    /// Facts and changed documents that come with a verb, and findings of a judge that asks or has topics: their paths
    /// do not play. Paths only.
    PathsOfVerbsAndFindings,
    /// A hole is looked for in one position a state and signal; others are missed.
    HolesElsewhere,
}

/// Those that are left out at present.
const OPEN: &[Gap] = &[];

impl Gap {
    /// Whether it is left out.
    pub(crate) fn is_open(self) -> bool {
        OPEN.contains(&self)
    }

    /// Whether a workflow falls into it, and it is open.
    pub(crate) fn has(self, workflow: &Workflow) -> bool {
        self.is_open()
            && match self {
                Self::LastOfARetry => workflow.machines().any(reads_its_own_last),
                Self::BackToNowhere => {
                    workflow.machines().any(|it| it.states.values().any(|state| {
                        state.returns() && begins_in(workflow, it, &state.name)
                    }))
                }
                Self::VisitsFromAnywhere => workflow.properties.iter().any(|it| {
                    matches!(&it.claim, Claim::AtMost { visits, .. } if begins_in(workflow, &workflow.main, visits))
                }),
                Self::PathsPastGates | Self::AfterAnEdit | Self::HolesElsewhere => true,
                Self::EmptyDo => states(workflow).any(|it| matches!(&it.kind, Kind::Do { actions, .. } if actions.is_empty())),
                Self::EditsSeenByRouting => states(workflow).any(|state| {
                    let terms = state.cells.values().flat_map(|it| &it.arms).flat_map(|it| &it.when);
                    terms.into_iter().any(|it| {
                        let inner = match &it.term {
                            Term::Outer(inner) => inner,
                            term => term,
                        };
                        matches!(inner, Term::Gate(_) | Term::Owed(_))
                    })
                }),
                Self::PathsOfVerbsAndFindings => states(workflow).any(|state| {
                    let arms = |it: &&Cell| it.arms.iter().flat_map(|it| &it.when).count() > 0;
                    let asked = state.cells.iter().any(|(signal, cell)| signal.starts_with("verb ") && arms(&cell));
                    let reads = state.cells.values().flat_map(|it| &it.arms).flat_map(|it| &it.when);
                    let mut terms = reads.map(|it| &it.term);
                    asked || terms.any(|it| matches!(it, Term::SameAgain | Term::Topic))
                }),
                Self::PathsThroughLoops => states(workflow).any(|it| matches!(it.kind, Kind::Each(_))),
            }
    }

    /// A gap that keeps a workflow from being examined at all.
    pub(crate) fn of(workflow: &Workflow) -> Option<Self> {
        [Self::LastOfARetry, Self::BackToNowhere, Self::VisitsFromAnywhere, Self::EmptyDo]
            .into_iter()
            .find(|it| it.has(workflow))
    }
}

fn reads_its_own_last(machine: &Machine) -> bool {
    machine.states.values().any(|state| {
        let arms = || state.cells.values().flat_map(|it| &it.arms);
        let own = |term: &Term| {
            matches!(term, Term::Last(of) | Term::LastField(of, _) if *of == state.name)
                || matches!(term, Term::Gate(of) if state.gate.as_ref().is_some_and(|it| it.name == *of))
        };
        arms().any(|it| it.to == Target::Again) && arms().flat_map(|it| &it.when).any(|it| own(&it.term))
    })
}

fn begins_in(workflow: &Workflow, machine: &Machine, state: &str) -> bool {
    let starts = machine.start.iter().any(|it| matches!(&it.arm.to, Target::State(name) if **name == *state));
    let lands = workflow.phases.values().any(|it| *it.at == *state && it.back.is_none());
    starts || machine.name.is_none() && lands
}

fn states(workflow: &Workflow) -> impl Iterator<Item = &State> {
    workflow.machines().flat_map(|it| it.states.values())
}
