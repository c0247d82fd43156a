//! The answer, out of all that is said in a turn: the agent's last words.

use serde_json::Value;

use super::cause::Ending;

/// So much of the answer is kept: its end.
const LONGEST: usize = 1024 * 1024;

/// A piece that is longer is no mere remark.
const PIECE: usize = 4096;

#[derive(Default)]
pub(super) struct Answer {
    text: Text,
    /// What is said beside the answer, after it.
    aside: Text,
    /// The message that is being said, where messages have names.
    message: Option<String>,
    /// Whether what is said next is something new.
    fresh: bool,
    /// What was said last, at once. Nothing, if it is long: then it is not needed.
    piece: String,
    /// Whether anything was done.
    acted: bool,
}

impl Answer {
    /// Something is done, or asked for. What is said after it is something new.
    pub fn act(&mut self) {
        self.fresh = true;
        self.acted = true;
    }

    /// Something that was done went on.
    pub fn acted(&mut self, update: &Value) {
        // Where messages have no names, the end of a call is the only sign that something new begins.
        let over = matches!(update["status"].as_str(), Some("completed" | "failed"));
        self.fresh |= over && self.message.is_none();
        self.acted = true;
    }

    /// A piece of a message.
    pub fn chunk(&mut self, update: &Value) {
        let text = update["content"]["text"].as_str().unwrap_or_default();
        if text.is_empty() {
            return;
        }
        self.piece = if text.len() > PIECE { String::new() } else { text.to_owned() };
        match update["messageId"].as_str().map(super::shortened) {
            // Where messages have names, what has none was not said by the model.
            None if self.message.is_some() => return self.aside.push(text),
            None => {}
            name => {
                self.fresh |= self.message != name;
                self.message = name;
                self.aside = Text::default();
            }
        }
        if std::mem::take(&mut self.fresh) {
            self.text = Text::default();
        }
        self.text.push(text);
    }

    pub fn text(&self) -> &str {
        self.text.end()
    }

    /// What was said last, by whomever, in a turn that ended.
    pub fn ending(&self, counted: bool) -> Ending<'_> {
        let last = if self.aside.kept.is_empty() { &self.text } else { &self.aside };
        Ending { text: last.end(), piece: &self.piece, acted: self.acted, counted }
    }
}

/// The end of a text that may be long.
#[derive(Default)]
struct Text {
    kept: String,
}

impl Text {
    fn push(&mut self, piece: &str) {
        self.kept.push_str(end_of(piece, LONGEST));
        // Cut seldom, as cutting moves all that is kept.
        if self.kept.len() > 2 * LONGEST {
            let cut = self.kept.len() - self.end().len();
            self.kept.drain(..cut);
        }
    }

    fn end(&self) -> &str {
        end_of(&self.kept, LONGEST)
    }
}

fn end_of(text: &str, longest: usize) -> &str {
    let mut from = text.len().saturating_sub(longest);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Answer, LONGEST, PIECE};

    #[test]
    fn however_much_is_said_little_is_kept() {
        for (name, pieces, length) in
            [(None, 100_000, 1_000), (Some("m"), 3_000, 33_333), (Some("m"), 3, 50 << 20)]
        {
            let mut answer = Answer::default();
            let piece = "ä".repeat(length / 2);
            answer.chunk(&json!({ "content": { "text": "the beginning" }, "messageId": name }));
            let (said, beside) = (json!({ "text": piece }), json!({ "text": piece }));
            for _ in 0..pieces {
                answer.chunk(&json!({ "content": said, "messageId": name }));
                let kept = answer.text.kept.len() + answer.aside.kept.len();
                assert!(kept <= 6 * LONGEST && answer.piece.len() <= PIECE, "{kept}");
                assert!(answer.text.kept.capacity() <= 8 * LONGEST, "{}", answer.text.kept.capacity());
            }
            // What is said beside it, where messages have names, is bounded as well.
            answer.chunk(&json!({ "content": beside }));
            assert!(answer.aside.kept.len() <= LONGEST);
            assert!(answer.text().len() <= LONGEST && answer.text().len() > LONGEST - 2);
        }
    }
}
