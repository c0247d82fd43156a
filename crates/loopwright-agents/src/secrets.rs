//! Secrets: what is taken out of everything that is kept.

use serde_json::Value;

/// What stands where a secret stood.
const INSTEAD: &str = "[secret]";
/// Anything shorter is found in ordinary words.
const LEAST: usize = 8;

/// Texts that nobody is to read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    /// A value of an environment, if its name says that it is one.
    pub(crate) fn variable(&mut self, name: &str, value: &str) {
        let name = name.to_ascii_uppercase();
        let telling = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];
        if telling.iter().any(|it| name.contains(it)) {
            self.add(value);
        }
    }

    /// Everything in a file of credentials that could be one.
    pub(crate) fn credentials(&mut self, bytes: &[u8]) {
        if let Ok(value) = serde_json::from_slice(bytes) {
            self.within(&value);
            return;
        }
        let text = String::from_utf8_lossy(bytes);
        let words = text.split(['"', '\'', '=', ' ', '\n', '\r']);
        // Words of a language are shorter, or have no digits in them.
        let telling = |it: &&str| it.len() >= 16 && it.bytes().any(|it| it.is_ascii_digit());
        words.filter(telling).for_each(|it| self.add(it));
    }

    fn within(&mut self, value: &Value) {
        match value {
            Value::String(text) if text.len() >= 16 && !text.contains(char::is_whitespace) => self.add(text),
            Value::Array(all) => all.iter().for_each(|it| self.within(it)),
            Value::Object(all) => all.values().for_each(|it| self.within(it)),
            _ => {}
        }
    }

    fn add(&mut self, text: &str) {
        if text.len() >= LEAST && !self.0.iter().any(|it| it == text) {
            self.0.push(text.to_owned());
            // One that is part of another must not leave its rest behind.
            self.0.sort_by_key(|it| std::cmp::Reverse(it.len()));
        }
    }

    /// A text without them.
    pub(crate) fn without(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| {
            if text.contains(secret.as_str()) { text.replace(secret.as_str(), INSTEAD) } else { text }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_secret_is_taken_out_and_nothing_else() {
        let mut secrets = Secrets::default();
        secrets.variable("ANTHROPIC_API_KEY", "sk-abc-123456");
        secrets.variable("PATH", "/usr/bin:/bin");
        secrets.variable("SHORT_KEY", "abc");
        secrets.credentials(
            br#"{"oauth": {"accessToken": "aaaabbbbccccdddd1", "scopes": ["one two three four five"]}}"#,
        );
        secrets.credentials(b"machine example login me password longpassword12345");
        let said =
            "sk-abc-123456 /usr/bin:/bin abc aaaabbbbccccdddd1 one two three four five longpassword12345";
        assert_eq!(
            secrets.without(said),
            "[secret] /usr/bin:/bin abc [secret] one two three four five [secret]"
        );
    }
}
