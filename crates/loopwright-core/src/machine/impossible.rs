//! What cannot follow.

use super::effect::EffectId;
use super::run::Run;
use crate::name::Name;

/// An event that cannot follow. A journal that holds one is damaged; a workflow that leads to one was not proved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Impossible {
    /// The run is pinned to another definition.
    #[error("the run is pinned to definition `{pinned}`, and this is `{given}`")]
    OtherDefinition {
        /// What it is pinned to.
        pinned: String,
        /// What it was given.
        given: String,
    },
    /// The definition has no such name.
    #[error("the workflow has no {what} `{name}`")]
    Unknown {
        /// What kind of thing.
        what: &'static str,
        /// Its name.
        name: Name,
    },
    /// Nothing is waiting for this.
    #[error("nothing is waiting for `{effect}`")]
    NotWaiting {
        /// The effect.
        effect: EffectId,
    },
    /// The state cannot come out like that.
    #[error("`{state}` cannot signal `{signal}`")]
    NoSuchSignal {
        /// The state.
        state: Name,
        /// The signal.
        signal: Name,
    },
    /// No arm holds and can be paid.
    #[error("`{state}` has no route for `{signal}`")]
    NoRoute {
        /// The state.
        state: Name,
        /// The signal.
        signal: Name,
        /// The run as it stands there.
        run: Box<Run>,
    },
    /// The verb is not taken here.
    #[error("`{verb}` is not taken in `{state}`")]
    VerbRefused {
        /// The verb.
        verb: Name,
        /// Where the run stands.
        state: Name,
    },
    /// States that do no work lead round in a circle.
    #[error("`{state}` leads round in a circle in which no work is done")]
    Circle {
        /// One of them.
        state: Name,
        /// The run when that was noticed.
        run: Box<Run>,
    },
    /// The run is over.
    #[error("the run is over")]
    Over,
}
