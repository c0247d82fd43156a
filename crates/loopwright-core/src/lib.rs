//! What a workflow is, what comes next in a run, and the proof that it ends.
//!
//! This crate is pure: no files, no clock, no environment, no randomness, no async. Everything a run learns arrives
//! as a [`machine::Event`]; everything it wants leaves as a [`machine::Effect`].
//!
//! - [`language`] reads a workflow's folder into a [`definition::Workflow`] and reports every problem at once.
//! - [`machine`] holds the two functions that decide: `advance` and `due`.
//! - [`check`] says before the first run that every signal has a route, every run ends, and nothing passes a gate unjudged;
//!   [`proof`] holds the analyses it rests on.
//! - [`rehearse`] plays a workflow with scripted agents.
//! - [`schema`] holds what agents hand in against what they should.
//! - [`template`] is what prompts and texts are written in.
//! - [`draw`] turns a workflow into pictures.

pub mod check;
pub mod definition;
pub mod draw;
pub mod fact;
pub mod language;
pub mod library;
pub mod machine;
pub mod name;
pub mod paths;
pub mod problem;
pub mod proof;
pub mod rehearse;
pub mod schema;
pub mod signal;
pub mod template;
