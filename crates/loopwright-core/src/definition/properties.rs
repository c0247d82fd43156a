//! What the author wants proved.

use super::Condition;
use crate::name::Name;
use crate::problem::Place;

/// What the author wants proved.
#[derive(Clone, Debug)]
pub struct Property {
    /// What.
    pub claim: Claim,
    /// Where it is stated.
    pub place: Place,
}

/// A claim about every run.
#[derive(Clone, Debug)]
pub enum Claim {
    /// A state is never reached before something happened.
    Never {
        /// The state.
        reach: Name,
        /// What must have happened.
        before: Vec<Happened>,
        /// Only for these values at that moment.
        when: Vec<Condition>,
    },
    /// A state is entered at most so often.
    AtMost {
        /// The state.
        visits: Name,
        /// How often.
        times: u32,
    },
    /// Something always follows a state before success.
    Always {
        /// The state.
        after: Name,
        /// What follows.
        comes: Happened,
    },
}

/// Something that can have happened in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// A state (of a child, if named) came out with one of these signals.
    Signal {
        /// The child, if it is a child's state.
        child: Option<Name>,
        /// The state.
        state: Name,
        /// The signals.
        signals: Vec<Name>,
    },
    /// A gate is settled.
    Settled {
        /// The gate.
        gate: Name,
    },
}
