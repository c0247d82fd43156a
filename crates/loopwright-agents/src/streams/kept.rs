//! What readers keep of a stream. All of it is bounded: a stream may be as long as it likes.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde_json::Value;

/// How many things that were not allowed are kept.
const DENIALS: usize = 20;

/// How much of an explanation is kept, in bytes.
const WORDS: usize = 600;

/// How much of an answer is kept, in bytes: its end, as much as the longest line that is read.
const ANSWER: usize = 16 << 20;

/// How many calls of tools are remembered by name.
const CALLS: usize = 64;

/// The beginning of a text, cut between characters.
pub(crate) fn beginning(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The end of a text, cut between characters.
fn ending(text: &str, bytes: usize) -> &str {
    let mut from = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.get(from..).unwrap_or_default()
}

/// A name, to be told from others: nobody's are longer.
pub(crate) fn name(text: &str) -> &str {
    beginning(text, 200)
}

/// Words to be shown to people: without colours, trimmed and not too long.
pub(crate) fn words(text: &str) -> String {
    let text = colourless(beginning(text.trim(), WORDS * 4));
    let text = text.trim();
    let short = beginning(text, WORDS);
    if short.len() < text.len() { format!("{short}…") } else { short.to_owned() }
}

/// A text without the sequences that colour it.
pub(crate) fn colourless(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            plain.push(character);
        } else if characters.next() == Some('[') {
            // Parameters, up to the letter that says what they are for.
            for parameter in characters.by_ref() {
                if parameter.is_ascii_alphabetic() {
                    break;
                }
            }
        }
    }
    Cow::Owned(plain)
}

/// The field of an event, if it is a text.
pub(crate) fn text<'v>(event: &'v Value, pointer: &str) -> &'v str {
    event.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The field of an event, if it is a count.
pub(crate) fn count(event: &Value, pointer: &str) -> Option<u64> {
    event.pointer(pointer).and_then(Value::as_u64)
}

/// Dollars, in millionths of one.
pub(crate) fn millionths(dollars: f64) -> Option<u64> {
    let millionths = dollars * 1e6;
    if !millionths.is_finite() || millionths < 0.0 {
        return None;
    }
    // Written and read: there is no conversion that says when it fails. Nothing may have a sign.
    format!("{:.0}", millionths.abs()).parse().ok()
}

/// The answer, as far as it has come.
#[derive(Debug, Default)]
pub(crate) struct Answer(String);

impl Answer {
    /// These are the words now, instead of what was before.
    pub(crate) fn set(&mut self, text: &str) {
        self.0.clear();
        self.add(text);
    }

    /// It goes on.
    pub(crate) fn add(&mut self, text: &str) {
        self.0.push_str(ending(text, ANSWER));
        // Cut seldom, as cutting moves all that is kept.
        if self.0.len() > ANSWER + ANSWER / 4 {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let from = self.0.len() - self.as_str().len();
        self.0.drain(..from);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn as_str(&self) -> &str {
        ending(&self.0, ANSWER)
    }

    pub(crate) fn take(mut self) -> String {
        self.cut();
        self.0
    }
}

/// What was not allowed. Each call is listed once, whoever speaks of it.
#[derive(Debug, Default)]
pub(crate) struct Denials {
    list: Vec<String>,
    calls: Vec<String>,
}

impl Denials {
    /// A call was not allowed. `call` is its id, or nothing if it has none.
    pub(crate) fn add(&mut self, call: &str, tool: &str, why: &str) {
        let call = name(call);
        let is_known = !call.is_empty() && self.calls.iter().any(|it| it == call);
        if is_known || self.list.len() >= DENIALS {
            return;
        }
        if !call.is_empty() {
            self.calls.push(call.to_owned());
        }
        self.list.push(match (tool, why.trim()) {
            ("", why) => words(why),
            (tool, "") => words(tool),
            (tool, why) => words(&format!("{tool}: {why}")),
        });
    }

    pub(crate) fn last(&self) -> Option<&String> {
        self.list.last()
    }

    pub(crate) fn list(&self) -> &[String] {
        &self.list
    }

    pub(crate) fn take(self) -> Vec<String> {
        self.list
    }
}

/// The names of the tools that were called last, by the ids of the calls.
#[derive(Debug, Default)]
pub(crate) struct Calls(VecDeque<(String, String)>);

impl Calls {
    pub(crate) fn add(&mut self, call: &str, tool: &str) {
        let call = name(call);
        if call.is_empty() || tool.is_empty() {
            return;
        }
        self.0.retain(|(id, _)| id != call);
        if self.0.len() >= CALLS {
            self.0.pop_front();
        }
        self.0.push_back((call.to_owned(), words(tool)));
    }

    pub(crate) fn tool(&self, call: &str) -> &str {
        self.0.iter().find(|(id, _)| id == name(call)).map_or("", |(_, tool)| tool)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "these are tests")]

    use super::*;

    #[test]
    fn what_is_kept_stays_small_however_much_is_said() {
        let mut denials = Denials::default();
        let mut calls = Calls::default();
        for number in 0..1000 {
            denials.add(&number.to_string(), "tool", &"é".repeat(10_000));
            denials.add(&number.to_string(), "tool", "said twice");
            calls.add(&number.to_string(), "tool");
        }
        assert_eq!(calls.0.len(), CALLS);
        let list = denials.take();
        assert_eq!(list.len(), DENIALS);
        assert!(list.iter().all(|it| it.len() <= WORDS + '…'.len_utf8()));

        let mut answer = Answer::default();
        let piece = "é".repeat(1 << 20);
        for _ in 0..20 {
            answer.add(&piece);
            assert!(answer.0.len() <= ANSWER + ANSWER / 4 + ANSWER && answer.0.capacity() <= 3 * ANSWER);
        }
        answer.add("the end");
        assert!(answer.as_str().len() <= ANSWER && answer.as_str().len() > ANSWER - 2);
        assert!(answer.as_str().ends_with("éthe end"));
        assert!(answer.take().len() <= ANSWER);
    }

    #[test]
    fn a_call_that_is_spoken_of_twice_is_denied_once() {
        let mut denials = Denials::default();
        denials.add("1", "write", "no");
        denials.add("1", "write", "not allowed");
        denials.add("", "write", "no");
        denials.add("", "write", "no");
        assert_eq!(denials.take(), ["write: no", "write: no", "write: no"]);
    }

    #[test]
    fn colours_are_no_words() {
        assert_eq!(
            words("\u{1b}[91m\u{1b}[1mError: \u{1b}[0mSession not found\n"),
            "Error: Session not found"
        );
        assert_eq!(words("cut \u{1b}[9"), "cut");
    }

    #[test]
    fn money_is_counted_in_millionths() {
        assert_eq!(millionths(0.000_904), Some(904));
        assert_eq!(millionths(-0.0), Some(0));
        assert_eq!(millionths(0.002_270_000_000_000_000_3), Some(2270));
        assert_eq!([f64::NAN, f64::INFINITY, -1.0, 1e300].map(millionths), [None; 4]);
        assert_eq!(millionths(serde_json::json!(1).as_f64().unwrap()), Some(1_000_000));
    }
}
