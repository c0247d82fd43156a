//! One rim for errors: what happened, what to do, and the exit code.

use std::process::ExitCode;

/// Everything is as it should be.
pub(crate) const OK: u8 = 0;
/// Something was looked at and is not as it should be: not proved, a scenario failed, a run did not end in success.
pub(crate) const NOT_PROVED: u8 = 1;
/// The input could not be read: a file that does not load, a name that does not exist, a wrong option.
pub(crate) const NOT_LOADED: u8 = 2;

/// The run waits for a person.
pub(crate) const WAITS: u8 = 3;
/// The run was left while it was at work, and can be taken up again.
pub(crate) const LEFT: u8 = 4;
/// Something outside went wrong: the disk, the journal, git.
pub(crate) const BROKEN: u8 = 5;
/// Somebody else drives the run.
pub(crate) const HELD: u8 = 6;

/// An error on its way to a person.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct CommandError {
    message: String,
    hints: Vec<String>,
    code: u8,
}

impl CommandError {
    /// The person can mend it.
    pub(crate) fn user(message: impl Into<String>) -> Self {
        Self { message: message.into(), hints: Vec::new(), code: NOT_LOADED }
    }

    /// Something with an exit code of its own.
    pub(crate) fn with_code(message: impl Into<String>, code: u8) -> Self {
        Self { code, ..Self::user(message) }
    }

    /// Says what to do.
    pub(crate) fn hinted(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Says what to do, if there is something to say.
    pub(crate) fn maybe_hinted(mut self, hint: Option<String>) -> Self {
        self.hints.extend(hint);
        self
    }

    /// Tells the person and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        crate::show::error_line(&format!("error: {self}"));
        for hint in &self.hints {
            crate::show::error_line(&format!("hint: {hint}"));
        }
        ExitCode::from(self.code)
    }
}
