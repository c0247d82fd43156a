//! Rehearsal: a workflow played with scripted agents, token-free.
//!
//! What is played is the real machine. Only what effects come back with is made up: by a scenario, by a seeded
//! generator, or by the proof when it shows what is wrong.

mod actor;
mod bounds;
mod chance;
mod claims;
mod coverage;
mod exhaustive;
mod made_up;
mod names;
mod parse;
mod played;
mod player;
mod scenario;
mod script;
mod verdict;

pub use self::actor::{Actor, Listing, Moment, Play};
pub use self::chance::Chance;
pub use self::coverage::{Coverage, WrittenArm};
pub use self::exhaustive::{Exhausted, exhaustive};
pub use self::parse::{parse_scenario, step_at};
pub use self::played::{Played, Stop, WalkStep};
pub(crate) use self::player::Shares;
pub use self::player::{Player, play};
pub use self::scenario::{Expect, Scenario, Start, Step};
pub use self::script::Script;
pub(crate) use self::verdict::perform_within;
pub use self::verdict::{Verdict, perform};
