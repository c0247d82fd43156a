//! The proof: what `loopwright check` knows about a workflow before it runs.

pub mod graph;

mod answers;
mod components;
mod dearest;
mod ending;
mod firsts;
mod gains;
#[doc(hidden)]
pub mod generate;
mod holes;
mod ids;
mod lexicographic;
mod limits;
mod monitors;
mod packed;
mod prices;
mod program;
mod prover;
mod quest;
mod reach;
mod replay;
mod search;
#[doc(hidden)]
pub mod sketch;
mod space;
mod termination;
mod worst;

pub use answers::PerAnswer;
pub use ending::Ending;
pub use holes::{Hole, holes};
pub use limits::Limits;
pub use monitors::Verdict;
pub use prover::Prover;
pub use quest::Found;
pub use reach::{Certainty, Reach};
pub use replay::replay;
pub use termination::{Argument, Termination};
pub use worst::{Dearest, Witness, Worst};
