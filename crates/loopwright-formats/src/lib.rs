//! Readers and writers of the file formats of systems that people come from.
//!
//! Pure: text or bytes in, values or text out. No file is opened, no clock read, nothing asked of the environment; what a
//! check needs to see of a project it asks of whoever calls it.
//!
//! What a file says is read the way the system it comes from reads it, oddities included, for a project must mean the same
//! here as there. Where we differ on purpose, the place says so and why.

pub mod agentd;
pub mod feature;
pub mod team;
pub mod todo;
pub mod vibe;
