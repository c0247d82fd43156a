//! Conversations with agents: those that were had with real ones, played again, and those that are made up.
#![expect(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod captures;
mod failures;
mod flood;
mod made;
mod permissions;
mod player;
mod shown;
