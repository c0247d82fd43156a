//! Values as they are written at the top of a file.

/// A value to be written.
pub(super) enum Written {
    Text(String),
    List(Vec<String>),
}

impl Written {
    /// As it is written in the place of something.
    pub fn spelled(&self, old: &str, is_label: bool) -> String {
        match self {
            Self::Text(text) if is_label || text.is_empty() => one_line(text),
            Self::Text(text) => {
                let text = one_line(text);
                let quote = old.chars().next().filter(|it| matches!(it, '"' | '\''));
                match quote {
                    Some(quote) if !text.contains([quote, '\\']) => format!("{quote}{text}{quote}"),
                    _ => spell(&text),
                }
            }
            Self::List(items) if is_label => items.join(", "),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(|it| spell(&one_line(it))).collect();
                format!("[{}]", items.join(", "))
            }
        }
    }
}

/// A name as people write it in a line of its own.
pub(super) fn titled(name: &str) -> String {
    let plain = name.replace('-', " ");
    let mut letters = plain.chars();
    letters.next().map(|it| it.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text as YAML reads it back, also within brackets.
fn spell(text: &str) -> String {
    let first = text.chars().next();
    let is_word = |it: char| it.is_alphanumeric();
    let is_plain = first.is_some_and(is_word)
        && !text.contains([':', '#', ',', '[', ']', '{', '}', '"', '\\', '\t'])
        && !text.chars().any(char::is_control)
        && !says_other(text);
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

/// Whether YAML takes a bare word for something that is no text.
fn says_other(text: &str) -> bool {
    let words = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    words.iter().any(|it| text.eq_ignore_ascii_case(it))
        || text.parse::<f64>().is_ok()
        || text.starts_with(|it: char| it.is_ascii_digit()) && !text.contains(' ')
}
