//! What the readers of documents give and change, as cases in `tests/data/documents`, and what they promise of every
//! text.
#![expect(clippy::expect_used, clippy::panic, reason = "these are tests")]

mod cases;
mod feature;
mod garbage;
mod hostile;
mod shapes;
mod team;
mod team_wild;
mod todo;
mod wild;
