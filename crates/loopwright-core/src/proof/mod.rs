//! The proof: what `loopwright check` knows about a workflow before it runs.

pub mod graph;
