//! The two functions that decide. [`advance`] folds a fact into a run; [`due`] says what should be happening now.
//!
//! **Invariant:** nothing here reads a clock, a file, the environment or a random number. Time arrives inside events;
//! everything else leaves as an [`Effect`]. `due` is level-triggered: starting, resuming and recovering from a crash
//! are the same call.

mod advance;
mod ahead;
mod decide;
mod decisions;
mod due;
mod effect;
mod event;
mod impossible;
mod items;
mod ledger;
mod questions;
mod route;
mod run;
mod settle;
mod view;

pub use self::advance::{advance, before, begin, pauses_at_landing};
pub use self::ahead::{Early, beside, early_findings, in_turn, is_owed, looks_for};
pub(crate) use self::decide::draws_on;
pub use self::decide::{gate_name, outdated, raised};
pub use self::decisions::{Asked, Decision};
pub use self::due::due;
pub use self::effect::{Effect, EffectId, Part, Want};
pub use self::event::{
    Cost, Event, Evidence, Listed, Observed, Outcome, Outer, Report, Shown, Site, Started, VERSION,
};
pub use self::impossible::Impossible;
pub use self::items::{left_over, most_at_once};
pub use self::ledger::{Closed, Finding, Judge, Ledger, Round, Said};
pub use self::questions::asked_about;
pub(crate) use self::route::MOST_PASSED;
pub use self::run::{
    At, Begun, Cause, GateRecord, GateStatus, Last, Record, Run, Stage, Taken, lines, row_line,
};
pub use self::view::RunView;
