//! An issue that is begun.

use std::fmt::Write as _;

use serde_json::json;

use super::Status;
use super::change::set;

/// What a new issue says.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// What it is called.
    pub id: String,
    /// In a few words.
    pub title: String,
    /// How far it is.
    pub status: Status,
    /// What kind of issue it is.
    pub labels: Vec<String>,
    /// The issue it is part of.
    pub parent: Option<String>,
    /// The issues that have to be done before.
    pub depends_on: Vec<String>,
    /// What it is about.
    pub text: String,
    /// When it is done.
    pub criteria: Vec<String>,
}

impl Draft {
    /// The text of its file, or why there can be none.
    pub fn render(&self) -> Result<String, String> {
        let mut body = String::new();
        if !self.text.trim().is_empty() {
            body.push_str(self.text.trim());
            body.push_str("\n\n");
        }
        if !self.criteria.is_empty() {
            body.push_str("## Acceptance criteria\n\n");
            for criterion in &self.criteria {
                let words: Vec<&str> = criterion.split_whitespace().collect();
                let _ = writeln!(body, "- [ ] {}", words.join(" "));
            }
        }
        let body = body.trim_end();
        let mut text = if body.is_empty() { String::new() } else { format!("{body}\n") };
        let fields = [
            ("id", json!(self.id)),
            ("title", json!(self.title)),
            ("status", json!(self.status)),
            ("labels", json!(self.labels)),
            ("parent", json!(self.parent)),
            ("depends_on", json!(self.depends_on)),
        ];
        for (field, value) in fields {
            let is_nothing = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
            if !is_nothing {
                text = set(&self.id, &text, field, &value).map_err(|it| it.message)?;
            }
        }
        Ok(text)
    }
}
