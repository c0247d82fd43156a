//! `acceptance.json`: what has to be true in the end, and how it is verified.

use std::collections::HashSet;

use serde_json::Value;

use super::words::{checks, each_once, first, items, line, lines};
use super::{Check, Problem};

/// One thing that has to be true.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Criterion {
    /// What it is called, `AC-001` say.
    pub id: String,
    /// What has to be true.
    pub description: String,
    /// How that is verified: never by nothing.
    pub verify: Vec<Check>,
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acceptance {
    /// In the order written.
    pub criteria: Vec<Criterion>,
    /// What cannot be understood, so that something would pass unseen.
    pub problems: Vec<Problem>,
    /// What a file has to say besides, before it counts as one.
    pub lacking: Vec<Problem>,
}

impl Acceptance {
    /// Reads the criteria of a file.
    pub fn read(file: &Value) -> Self {
        let mut found = Self::default();
        let (field, list) = match (file, first(file, &["acceptance_criteria", "criteria"])) {
            (Value::Array(list), _) => ("", list),
            (_, Some((field, Value::Array(list)))) => (field, list),
            (_, Some((field, _))) => {
                found.problems.push(Problem::new(field, "this is no list of criteria"));
                return found;
            }
            (_, None) => {
                found.problems.push(Problem::new("", "there is no list `acceptance_criteria`"));
                return found;
            }
        };
        if field == "acceptance_criteria" && !file["criteria"].is_null() {
            let message = "there is a list `acceptance_criteria` too: leave one of them";
            found.problems.push(Problem::new("criteria", message));
        }
        if list.is_empty() {
            found.lacking.push(Problem::new(field, "there is no criterion"));
        }
        let mut ids = HashSet::new();
        for (at, criterion) in list.iter().enumerate() {
            let place = if field.is_empty() { at.to_string() } else { format!("{field}.{at}") };
            found.take(criterion, &place, &mut ids);
        }
        found
    }

    fn take(&mut self, written: &Value, place: &str, ids: &mut HashSet<String>) {
        if !written.is_object() {
            let message = "this is no criterion with `id`, `description` and `verify`";
            self.problems.push(Problem::new(place, message));
            return;
        }
        let text = |names: &[&'static str]| first(written, names).map(|(_, it)| line(it)).unwrap_or_default();
        let (id, description) = (text(&["id"]), text(&["description", "title", "text"]));
        let called = if id.is_empty() { "this criterion".to_owned() } else { format!("`{id}`") };
        if id.is_empty() {
            self.lacking.push(Problem::new(format!("{place}.id"), "this criterion has no `id`"));
        } else if !ids.insert(id.clone()) {
            self.lacking.push(Problem::new(format!("{place}.id"), format!("{called} is there twice")));
        }
        if description.is_empty() {
            let message = format!("{called} has no `description`");
            self.lacking.push(Problem::new(format!("{place}.description"), message));
        }
        let known = self.problems.len();
        let mut verify = checks(&written["verify"], &format!("{place}.verify"), &mut self.problems);
        earlier(written, place, &mut verify, &mut self.problems);
        if verify.is_empty() && self.problems.len() == known {
            let message = format!("nothing says how {called} is verified (`verify`)");
            self.lacking.push(Problem::new(format!("{place}.verify"), message));
            // Nobody said how, so somebody has to look.
            let look = if description.is_empty() { &id } else { &description };
            if look.is_empty() {
                self.problems.push(Problem::new(place, "this criterion says nothing"));
            } else {
                verify.push(Check::Manual(look.clone()));
            }
        }
        self.criteria.push(Criterion { id, description, verify });
    }

    /// All commands, in order, each once.
    pub fn commands(&self) -> Vec<String> {
        each_once(self.criteria.iter().flat_map(|it| &it.verify).filter_map(Check::command))
    }

    /// What a person has to look at, with the criterion it is for.
    pub fn manual(&self) -> Vec<String> {
        let of = |it: &Criterion| {
            let called = if it.id.is_empty() { String::new() } else { format!("{}: ", it.id) };
            let texts = it.verify.iter().filter_map(Check::manual).map(|text| format!("{called}{text}"));
            texts.collect::<Vec<_>>()
        };
        self.criteria.iter().flat_map(of).collect()
    }
}

impl Criterion {
    /// How it is verified, as the file has it: a command by itself, anything else behind `manual:`.
    pub fn verified_by(&self) -> Vec<String> {
        let text = |it: &Check| match it {
            Check::Command(text) => text.clone(),
            Check::Manual(text) => format!("manual: {text}"),
        };
        self.verify.iter().map(text).collect()
    }
}

/// The first generation: commands of their own, and in `verification` one word for the kind or a sentence for people.
/// What a command has to print, nobody can check; what a person has to see is said with what they look at.
fn earlier(written: &Value, place: &str, verify: &mut Vec<Check>, problems: &mut Vec<Problem>) {
    let said = &written["verification"];
    let at = format!("{place}.verification");
    let mut found = checks(&written["commands"], &format!("{place}.commands"), problems);
    let mut expected = lines(&written["expected_result"]);
    if said.is_object() {
        found.extend(checks(&said["commands"], &format!("{at}.commands"), problems));
        expected.extend(lines(&said["expected_result"]));
    }
    let mut sentences = Vec::new();
    for (at, item) in items(said, &at) {
        match (Check::read(item), item) {
            (Ok(check), Value::Object(_)) => found.push(check),
            (Ok(check), Value::String(text)) if is_marked(text) => found.push(check),
            (Err(_), Value::Object(fields)) => {
                let is_taken = |it: &str| said.is_object() && matches!(it, "commands" | "expected_result");
                let others = fields.iter().filter(|(key, _)| !is_taken(key));
                sentences.extend(others.map(|(_, it)| line(it)));
            }
            (Err(why), _) => problems.push(Problem::new(at, why)),
            (Ok(_), text) => sentences.push(line(text)),
        }
    }
    // What a person is to run, nobody else runs.
    if sentences.iter().any(|it| it.eq_ignore_ascii_case("manual")) {
        found = found.into_iter().map(|it| Check::Manual(it.text().to_owned())).collect();
    }
    found.extend(sentences.into_iter().filter(|it| it.contains(char::is_whitespace)).map(Check::Manual));
    let expected = expected.join(", ");
    if !expected.is_empty() && found.is_empty() && verify.is_empty() {
        found.push(Check::Manual(expected));
    } else if !expected.is_empty() {
        for check in &mut found {
            if let Check::Manual(text) = check {
                *text = format!("{text} (expected: {expected})");
            }
        }
    }
    verify.extend(found);
}

/// Whether a text says itself whether it is a command.
fn is_marked(text: &str) -> bool {
    let key = text.split_once(':').map(|(key, _)| key.trim().to_lowercase());
    matches!(key.as_deref(), Some("cmd" | "command" | "manual"))
}
