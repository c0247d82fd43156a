//! The engine: durable runs that can be left and come back to.
//!
//! The core decides (`loopwright_core::machine`); what can fail for reasons outside us is done here.

mod about;
pub mod agents;
mod config;
mod discard;
pub mod documents;
mod driver;
mod effects;
mod engine;
mod error;
pub mod files;
mod fork;
pub mod gc;
pub mod git;
mod home;
pub mod journal;
mod landing;
mod moments;
mod numbers;
mod outlook;
mod people;
pub mod process;
mod project;
mod reading;
mod scene;
mod suits;
mod unkept;

pub use self::config::{
    AgentConfig, CONFIG, Config, FenceConfig, OneOrMany, RoleConfig, Source, Sources, Worktrees, user_file,
};
pub use self::discard::Discard;
pub use self::driver::{
    AT_WORK, Asking, Driver, Standing, WAITS_UNTIL, at_work_in, fits, holder_in_words, is_open, this_process,
};
pub use self::effects::worktrees::{Worktree, all as worktrees};
pub use self::engine::{Begin, Definition, Engine};
pub use self::error::EngineError;
pub use self::fork::Forked;
pub use self::home::Home;
pub use self::moments::Moments;
pub use self::numbers::{Numbers, unmerged};
pub use self::outlook::{Lookout, Outlook};
pub use self::people::{Answered, Asked, Found, Message, Nobody, People, Policy, Unwatched, Watch};
pub use self::project::Project;
pub use self::reading::{Account, folders_of};
pub use self::scene::time;
