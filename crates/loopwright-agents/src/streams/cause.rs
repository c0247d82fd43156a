//! Why something failed, from what is said about it: a status of HTTP, a kind, and words.
//!
//! Statuses say most, so they are asked first; words only decide where there is none, or where a status is known to be
//! used for several things (a key that is not valid is a 400 with some, a quota a 403 with others). Words that are in no
//! list mean a crash: that is tried again, and nothing is lost by it.

use loopwright_engine::process::UNREAD;

use super::Failed;
use super::kept::{beginning, colourless, words};
use super::when::told;

/// How much of an explanation is looked at, in bytes.
const LOOKED_AT: usize = 8 << 10;

/// The request is too large for the model. Before everything else, as these speak of limits too.
const TOO_LONG: &[&str] = &[
    "prompt is too long",
    "input is too long",
    "context window",
    "context length",
    "context limit",
    "contextoverflow",
    "context overflow",
    "maximum context",
    "exceeds the maximum number of tokens",
    "model token limit",
];

const LIMITED: &[&str] = &[
    "rate limit",
    "ratelimit",
    "rate-limit",
    "usage limit",
    "quota",
    "too many requests",
    "resource exhausted",
    "resource has been exhausted",
    "exhausted your capacity",
    "overloaded",
    "at capacity",
    "hit your limit",
    "limit reached",
    "session limit",
    "weekly limit",
    "hour limit",
    "credit balance is too low",
    "out of credits",
    "out of extra usage",
    "premium request allowance",
    "copilot token usage",
    "spending limit",
    "spend limit",
];

/// It is the service that has no room: some say so with a 5xx.
const OVERLOADED: &[&str] = &["overloaded", "at capacity"];

/// It broke on the way. Before the lists below, as `connection refused` is no refusal.
const BROKEN: &[&str] = &[
    "server error",
    "connection refused",
    "econnrefused",
    "econnreset",
    "enotfound",
    "connection failed",
    "could not connect",
    "fetch failed",
    "socket hang up",
    "stream disconnected",
    "timed out",
    "timeout",
    "network error",
    "malformed response",
];

const DENIED: &[&str] = &[
    "unauthorized",
    "unauthenticated",
    "authenticat",
    "auth required",
    "auth method",
    "not logged in",
    "not signed in",
    "/login",
    "please log in",
    "log in again",
    "log in to",
    "please sign in",
    "sign in again",
    "sign in to",
    "access token",
    "api key",
    "api-key",
    "apikey",
    "invalid token",
    "expired token",
    "token expired",
    "token has expired",
    "token has been revoked",
    "oauth",
    "credentials",
    "permission denied",
    "permission error",
    "forbidden",
    "access denied",
    "missing environment variable",
    "billing error",
];

const REFUSED: &[&str] = &[
    "bad request",
    "invalid request",
    "invalid argument",
    "invalid params",
    "invalid model",
    "unknown model",
    "not supported",
    "does not exist",
    "session not found",
    "thread not found",
    "conversation not found",
    "model not found",
    "resource not found",
    "no conversation found",
    "no rollout found",
    "no session, task, or name matched",
    "invalid session identifier",
    "not inside a trusted directory",
    "not trusted",
    "untrusted",
    "root/sudo privileges",
    "usage policy",
    "content filter",
    "content policy",
    "contentfilter",
    "safety reasons",
    "safety filter",
    "safety setting",
    "blocked by safety",
    "prohibited content",
    "was flagged",
    "refusal",
    "unknown option",
    "unknown argument",
    "unexpected argument",
    "invalid option",
];

/// What is known of a failure.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fault<'a> {
    /// The status of HTTP, if it is told apart from the words.
    pub(crate) status: Option<u64>,
    /// What kind of failure it is, in the agent's own names.
    pub(crate) kind: &'a str,
    /// What is said of it.
    pub(crate) words: &'a str,
    /// What else came with it and may say until when: headers, a body.
    pub(crate) besides: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Crashed,
    Limited,
    Denied,
    Refused,
}

impl<'a> Fault<'a> {
    /// Nothing is known but words.
    pub(crate) fn said(words: &'a str) -> Self {
        Self { words, ..Self::default() }
    }

    pub(crate) fn failed(self) -> Failed {
        let why = match (words(self.words), words(self.kind), self.status) {
            (said, _, _) if !said.is_empty() => said,
            (_, kind, _) if !kind.is_empty() => kind,
            (_, _, Some(status)) => format!("status {status}"),
            _ => "it does not say why".to_owned(),
        };
        match self.cause() {
            Cause::Crashed => Failed::Crashed(why),
            Cause::Denied => Failed::Denied(why),
            Cause::Refused => Failed::Refused(why),
            Cause::Limited => {
                let (until, lasts) = match told(self.words) {
                    (None, None) => told(self.besides),
                    said => said,
                };
                Failed::Limited { why, until, lasts }
            }
        }
    }

    fn cause(&self) -> Cause {
        let said = plain(&format!("{}\n{}", beginning(self.kind, 100), beginning(self.words, LOOKED_AT)));
        let says = |list: &[&str]| list.iter().any(|it| said.contains(it));
        if says(TOO_LONG) {
            return Cause::Refused;
        }
        match self.status.or_else(|| status_in(self.words)) {
            Some(402 | 429 | 529) => Cause::Limited,
            Some(401 | 403 | 407) if says(LIMITED) => Cause::Limited,
            Some(401 | 403 | 407) => Cause::Denied,
            Some(500..600) if says(OVERLOADED) => Cause::Limited,
            Some(408 | 409 | 425 | 499 | 500..600) => Cause::Crashed,
            Some(400..500) if says(LIMITED) => Cause::Limited,
            Some(400..500) if says(DENIED) => Cause::Denied,
            Some(400..500) => Cause::Refused,
            _ if says(LIMITED) => Cause::Limited,
            _ if says(BROKEN) => Cause::Crashed,
            _ if says(DENIED) => Cause::Denied,
            _ if says(REFUSED) => Cause::Refused,
            _ => Cause::Crashed,
        }
    }
}

/// What the standard error says of a failure: its first line that names a cause, or the one that looks most like one.
pub(crate) fn of_errors(errors: &str) -> Option<Failed> {
    let errors = colourless(errors);
    let lines = || errors.lines().map(str::trim).filter(|it| !it.is_empty() && !is_noise(it));
    let causes = || lines().map(|it| Fault::said(it).failed());
    causes().find(|it| !matches!(it, Failed::Crashed(_))).or_else(|| {
        let own = || lines().filter(|it| !it.starts_with(UNREAD));
        let line = own().find(|it| it.to_lowercase().contains("error")).or_else(|| own().next_back());
        // That its pipe broke explains it only where it says nothing itself.
        Some(Failed::Crashed(words(line.or_else(|| lines().next_back())?)))
    })
}

/// How lines begin that programs write whatever happens: frames of a stack, warnings, what agents tell of their start and
/// of their tools.
const NOISE: &[&str] = &[
    "at ",
    "warning",
    "ripgrep",
    "[startup]",
    "reading additional input",
    "yolo mode",
    "stack backtrace",
    "error executing tool",
];

/// Lines that programs write whatever happens.
fn is_noise(line: &str) -> bool {
    let line = line.to_lowercase();
    NOISE.iter().any(|it| line.starts_with(it)) || line.contains(": <unknown>")
}

/// Lowercase, with the joints of names taken apart and quotes made straight. A full disk is nobody's limit but its own.
fn plain(text: &str) -> String {
    text.to_lowercase().replace('_', " ").replace('’', "'").replace("disk quota", "disk")
}

/// A status of HTTP that is said to be one: after `error`, `status` or `code`, in brackets, or first of all.
fn status_in(text: &str) -> Option<u64> {
    let text = beginning(text, LOOKED_AT);
    let mut from = 0;
    while let Some(found) = text.get(from..)?.find(|it: char| it.is_ascii_digit()) {
        let start = from + found;
        let rest = text.get(start..)?;
        let digits = rest.len() - rest.trim_start_matches(|it: char| it.is_ascii_digit()).len();
        let (number, after) = rest.split_at_checked(digits)?;
        from = start + digits;
        let before = text.get(..start)?;
        let status = number.parse().ok().filter(|it| (400..600).contains(it));
        if status.is_some() && is_called_status(before, after) {
            return status;
        }
    }
    None
}

fn is_called_status(before: &str, after: &str) -> bool {
    let fraction = after.strip_prefix('.').unwrap_or_default();
    let goes_on = after.starts_with(|it: char| it.is_alphanumeric() || it == '%')
        || fraction.starts_with(|it: char| it.is_ascii_digit());
    if goes_on {
        return false;
    }
    let named = before.trim_end_matches([' ', '"', '\'', ':', '(', '[', '=', '\\', ',']);
    let word = named.rsplit(|it: char| !it.is_alphabetic()).next().unwrap_or_default().to_lowercase();
    named.is_empty()
        || (before.ends_with('(') && after.starts_with(')'))
        || (named.len() < before.len()
            && ["error", "status", "code", "statuscode", "http"].contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_counts_only_where_it_is_called_one() {
        for (text, status) in [
            ("API Error: 500 boom", Some(500)),
            ("API Error: Request rejected (429) · slow down", Some(429)),
            ("exceeded retry limit, last status: 429 Too Many Requests", Some(429)),
            (r#"[API Error: {"error":{"code":401,"message":"bad key"}}]"#, Some(401)),
            ("400 bad request", Some(400)),
            ("Last error: 429 slow down", Some(429)),
            (r#"{"status_code":429}"#, Some(429)),
            ("unexpected status 404 Not Found: no such model", Some(404)),
            ("malformed response (HTTP 200)", None),
            ("Could not connect at http://127.0.0.1:443/v1", None),
            ("wrote 500 lines", None),
            ("error after 429.5 seconds", None),
            ("error 4291", None),
            ("status 500%", None),
            ("", None),
        ] {
            assert_eq!(status_in(text), status, "{text}");
        }
    }

    #[test]
    fn words_and_statuses_come_to_causes() {
        use Cause::{Crashed, Denied, Limited, Refused};
        for (status, said, cause) in [
            (Some(429), "slow down", Limited),
            (Some(529), "Overloaded", Limited),
            (Some(503), "The model is overloaded. Please try again later.", Limited),
            (Some(503), "service unavailable", Crashed),
            (Some(500), "our rate limit service failed", Crashed),
            (Some(402), "You have no quota", Limited),
            (Some(403), "You have exceeded a secondary rate limit", Limited),
            (Some(403), "no", Denied),
            (Some(400), "API key not valid. Please pass a valid API key.", Denied),
            (Some(400), "Your credit balance is too low to access the Anthropic API", Limited),
            (Some(400), "prompt is too long: 210000 tokens > 200000 maximum", Refused),
            (Some(404), "The model `x` does not exist or you do not have access to it.", Refused),
            (Some(408), "no", Crashed),
            (None, "Connection refused (ECONNREFUSED)", Crashed),
            (None, "Failed to refresh token: Permission denied", Denied),
            (None, "Missing environment variable: `KEY`.", Denied),
            (None, "Please run /login", Denied),
            (None, "No conversation found with session ID: 1", Refused),
            (None, "cannot be used with root/sudo privileges for security reasons", Refused),
            (None, "This content was flagged for possible policy violation", Refused),
            (None, "Selected model is at capacity. Please try a different model.", Limited),
            (None, "Your input exceeds the context window of this model", Refused),
            (None, "write failed: Disk quota exceeded", Crashed),
            (None, "see the log in /tmp; design in place; thread safety; file not found", Crashed),
            (None, "Please sign in again.", Denied),
            (None, "refreshing the OAuth token: fetch failed", Crashed),
            (None, "model_not_found", Refused),
            (None, "We’re currently experiencing high demand", Crashed),
            (None, "", Crashed),
        ] {
            assert_eq!(Fault { status, ..Fault::said(said) }.cause(), cause, "{status:?} {said}");
        }
    }

    #[test]
    fn the_standard_error_explains_with_the_line_that_names_a_cause() {
        let errors = "WARNING: proceeding, even though: Refusing to create helper binaries\n\
                      Reading additional input from stdin...\n\
                      Not inside a trusted directory and --skip-git-repo-check was not specified.\n";
        let said = "Not inside a trusted directory and --skip-git-repo-check was not specified.";
        assert_eq!(of_errors(errors), Some(Failed::Refused(said.to_owned())));
        assert_eq!(of_errors("a\nsome Error: b\nc\n"), Some(Failed::Crashed("some Error: b".to_owned())));
        assert_eq!(of_errors("Warning: 256-color support not detected.\n\n"), None);
    }
}
