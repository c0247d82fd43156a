//! The engine: durable runs that can be left and come back to.
//!
//! The core decides (`loopwright_core::machine`); what can fail for reasons outside us is done here.

pub mod documents;
pub mod journal;
pub mod process;
