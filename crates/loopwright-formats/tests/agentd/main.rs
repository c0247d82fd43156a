//! The formats of agentd, held against cases whose answers are known, and against text nobody would write.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod cases;
mod changes;
mod properties;
mod reviews;
