//! What a stream comes to, once nothing more is said: how the process ended, held against what it had said.

use super::cause::of_errors;
use super::kept::words;
use super::{End, Failed};

/// What a reader heard that bears on the outcome.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// It had begun to work: it is not the start that was refused.
    pub(crate) begun: bool,
    /// It said itself that it was at its end.
    pub(crate) ended: bool,
    /// It said itself that it failed.
    pub(crate) failed: Option<Failed>,
    /// What it was asked and did not answer, where that can be told.
    pub(crate) unanswered: Option<String>,
    /// What it comes to if nothing more is said: trouble it spoke of without saying that it failed for it.
    pub(crate) trouble: Option<Failed>,
}

/// Why there is no answer, if there is none.
pub(crate) fn outcome(end: End, heard: Heard, errors: &str) -> Option<Failed> {
    let code = match end {
        End::Timeout => return Some(Failed::Timeout),
        End::Stalled => return Some(Failed::Stalled),
        End::Cancelled => return Some(Failed::Cancelled),
        End::Exit(code) => code,
    };
    if heard.failed.is_some() {
        return heard.failed;
    }
    if heard.ended && code == 0 {
        return None;
    }
    let stopped = match &heard.unanswered {
        Some(request) => format!("before it answered `{request}`"),
        None => "before it came to an end".to_owned(),
    };
    let signal = code.checked_sub(128).filter(|it| (1..=31).contains(it));
    if let Some(signal) = signal {
        let why = format!("ended by signal {signal}");
        return Some(Failed::Crashed(match &heard.unanswered {
            Some(_) => format!("{why} {stopped}"),
            None => why,
        }));
    }
    if !heard.ended && heard.trouble.is_some() {
        return heard.trouble;
    }
    let said = of_errors(errors);
    // What a program says of its start is why it did not start. Later the same words are about something it met on its
    // way, and only those about the service still explain the end.
    let explains = match &said {
        Some(Failed::Limited { .. } | Failed::Denied(_)) => !heard.begun || code != 0,
        Some(_) => !heard.begun,
        None => false,
    };
    if explains {
        return said;
    }
    let mut why = if heard.ended {
        format!("exit code {code} after it had come to its end")
    } else if code == 0 {
        format!("{} {stopped}", if heard.unanswered.is_some() { "the agent left" } else { "it stopped" })
    } else {
        format!("exit code {code} {stopped}")
    };
    if let Some(Failed::Crashed(said) | Failed::Refused(said)) = said {
        why = format!("{why}: {said}");
    }
    Some(Failed::Crashed(words(&why)))
}
