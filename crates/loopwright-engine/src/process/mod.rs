//! Processes: commands that run within bounds, and of which nothing is left when they are over.
//!
//! Every command runs below a supervisor, a small process of its own: whatever the command starts, and whatever that
//! lets go of, ends up below the supervisor and is ended with it. The supervisor lives no longer than whoever started
//! it, so that nothing goes on when a driver is killed.

mod cancel;
mod command;
mod fence;
mod leftover;
mod output;
mod supervise;
mod tree;

pub use self::cancel::Cancel;
pub(crate) use self::command::MARK;
pub use self::command::{Command, Ended, Ran, Supervisor, exit_in_words};
pub use self::fence::Fence;
pub(crate) use self::leftover::{beside, end_leftover};
pub use self::output::Output;
pub use self::supervise::{UNREAD, supervise};
