//! For tests only: a scripted model server that real agent command lines talk to.
//!
//! An agent is given the address of a [`ModelServer`] instead of a model's. What the model would say is data
//! ([`Scripts`]): a prompt that holds `[[script:NAME]]` picks the script, and how many results of tools came after that
//! prompt says which step of it is next. Nothing is remembered between requests (but for [`Step::times`]), so that agents
//! may run at once, be started again and come back to a session, and are told the same every time.
//!
//! Four interfaces are spoken, each whole and streamed: Anthropic Messages, `OpenAI` Responses, `OpenAI` Chat Completions and
//! Gemini. A script says what is to be done (`shell`, `write`, `mcp`); which tool does it is looked up among those that
//! the agent offers, because every agent names them differently.
//!
//! Absent: judging what an agent did. A test does, with [`ModelServer::requests`] and with what it finds on disk.

mod api;
mod body;
mod conversation;
mod failure;
mod reply;
mod script;
mod server;
mod tools;
mod watch;

pub use self::api::Api;
pub use self::script::{Act, Call, Failure, Http, Scripts, Step, Usage, Wrong};
pub use self::server::{ModelServer, Options};
pub use self::watch::{Answer, Called, Request};
