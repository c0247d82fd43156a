//! What is left out, because `check` is known to be wrong about it. Every entry is a debt: it goes when the proof is
//! right.

use loopwright_core::definition::{Kind, State, Workflow};

/// Something that is not held against the proof yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gap {
    /// `do: []`, which is passed at once, is given failures.
    EmptyDo,
    /// Somebody edits while a run rests in a state that needs gates. A scenario cannot say that the edit comes after the
    /// state looked at its needs, so such a path does not play. The proof itself is held against it.
    EditWhereNeedsAreLookedAt,
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
            Self::EmptyDo => {
                states(workflow).any(|it| matches!(&it.kind, Kind::Do { actions, .. } if actions.is_empty()))
            }
            Self::EditWhereNeedsAreLookedAt => false,
        })
    }
}

/// Whether paths to transitions may not play although they are true.
pub(crate) fn rests_with_needs(workflow: &Workflow) -> bool {
    Gap::EditWhereNeedsAreLookedAt.is_open()
        && states(workflow).any(|it| {
            let attended = matches!(it.kind, Kind::Rest { .. } | Kind::Ask { .. });
            attended && it.needs.values().any(|it| !it.is_empty())
        })
}

fn states(workflow: &Workflow) -> impl Iterator<Item = &State> {
    workflow.machines().flat_map(|it| it.states.values())
}
