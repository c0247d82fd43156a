//! Agent command lines: what each of them is given, and what it says, in one shape for all.
//!
//! An adapter translates. It never routes, retries or judges: that is the engine's. A command line with a way of its own
//! is one file in [`dialects`] and one in [`streams`]; one that speaks the Agent Client Protocol is a line of
//! configuration.

pub mod acp;
mod cli;
mod crew;
pub mod dialects;
mod fenced;
mod found;
mod lines;
pub mod mcp;
mod own;
mod reach;
mod secrets;
pub mod streams;

pub use self::cli::{Cli, Settings};
pub use self::crew::{crew, known};
pub use self::found::{Found, all as found};
pub use self::own::Surroundings;
