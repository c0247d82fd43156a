//! One rim for errors: what happened, what to do, and the exit code.

use std::process::ExitCode;

/// Everything is as it should be.
pub(crate) const OK: u8 = 0;
/// Something was looked at and is not as it should be: not proved, a scenario failed.
pub(crate) const NOT_PROVED: u8 = 1;
/// The input could not be read: a file that does not load, a name that does not exist, a wrong option.
pub(crate) const NOT_LOADED: u8 = 2;

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
