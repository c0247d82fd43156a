//! What is left out, because `check` is known to be wrong about it. Every entry is a debt: it goes when the proof is
//! right.

use loopwright_core::definition::{Kind, Machine, State, Target, Term, Workflow};

/// Something that is not held against the proof yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gap {
    /// An arm reads how its own state last came out: retries are walked past as if they left no trace.
    LastOfARetry,
    /// `do: []`, which is passed at once, is given failures.
    EmptyDo,
    /// The stretch after an edit or a cancelled call is not in the bound.
    AfterAnEdit,
}

/// Those that are left out at present.
const OPEN: &[Gap] = &[Gap::EmptyDo];

impl Gap {
    /// Whether it is left out.
    pub(crate) fn is_open(self) -> bool {
        OPEN.contains(&self)
    }

    /// A gap that keeps a workflow from being examined at all.
    pub(crate) fn of(workflow: &Workflow) -> Option<Self> {
        OPEN.iter().copied().find(|it| match it {
            Self::LastOfARetry => workflow.machines().any(reads_its_own_last),
            Self::EmptyDo => {
                states(workflow).any(|it| matches!(&it.kind, Kind::Do { actions, .. } if actions.is_empty()))
            }
            Self::AfterAnEdit => false,
        })
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

fn states(workflow: &Workflow) -> impl Iterator<Item = &State> {
    workflow.machines().flat_map(|it| it.states.values())
}
