//! Rehearsal: a workflow played with scripted agents, token-free.
//!
//! What is played is the real machine. Only what effects come back with is made up: by a scenario, by a seeded
//! generator, or by the proof when it shows what is wrong.

mod chance;
mod coverage;
mod exhaustive;
mod made_up;
mod names;
mod parse;
mod player;
mod scenario;
mod script;

pub use self::chance::Chance;
pub use self::coverage::{Coverage, WrittenArm};
pub use self::exhaustive::{Exhausted, exhaustive};
pub use self::parse::parse_scenario;
pub(crate) use self::player::Shares;
pub use self::player::{Actor, Listing, Moment, Play, Played, Player, Stop, WalkStep, play};
pub use self::scenario::{Expect, Scenario, Start, Step};
pub(crate) use self::script::perform_within;
pub use self::script::{Script, Verdict, perform};
