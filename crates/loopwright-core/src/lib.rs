//! What a workflow is, what comes next in a run, and the proof that it ends.

pub mod draw;
pub mod proof;
