//! The formats of vibe, held against cases whose answers are known, and against text nobody would write.
#![expect(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod cases;
mod corpus;
mod editing;
mod kinds;
mod planning;
mod properties;
mod reading;
mod records;
mod templates;
mod validating;
