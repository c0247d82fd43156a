//! Whole runs: a real repository, a real journal, and programs as agents.
#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "these are tests")]

mod bench;
mod bounds;
mod crash;
mod items;
mod task;
