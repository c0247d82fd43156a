//! The record of a feature and its history of reviews as documents. What they mean is `loopwright_formats::feature`; here
//! they get lines, and are changed without touching anything else.

use loopwright_formats::feature::history::{self, Entry, Issue};
use loopwright_formats::feature::{self, Change, Meta};
use serde_json::{Map, Value, json};

use super::reader::{About, Page};
use super::team::{faults, first};
use super::{Document, Fault, Format};

/// Which file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// `.meta.json`.
    Meta,
    /// `.review-history.md`.
    History,
}

/// What is found about more than a feature needs.
const OUT_OF_SCOPE: &str = "out-of-scope";

impl Feature {
    pub(super) fn named(reader: &str) -> Option<Self> {
        match reader {
            "feature-meta" => Some(Self::Meta),
            "feature-history" => Some(Self::History),
            _ => None,
        }
    }

    /// A record that is begun. What was emptied is begun again.
    pub(super) fn blank(self) -> &'static str {
        if self == Self::Meta { "{}\n" } else { "" }
    }

    fn begun(self, text: &str) -> &str {
        let is_blank = text.trim_start_matches('\u{feff}').trim().is_empty();
        if is_blank { self.blank() } else { text }
    }

    pub(super) fn value(self, text: &str, about: &About) -> Result<Value, Vec<Fault>> {
        match self {
            Self::Meta => {
                let document = Format::Json.read(self.begun(text))?;
                let meta = understood(&document)?;
                let (stage, order) = told(about);
                Ok(meta.seen(&order, stage))
            }
            Self::History => Ok(json!({"rounds": rounds(text), "text": text})),
        }
    }

    /// What a field holds. What stands for nothing is nothing.
    pub(super) fn get(self, text: &str, field: &str, about: &About) -> Result<Option<Value>, Vec<Fault>> {
        let seen = self.value(text, about)?;
        let found = match (self, field) {
            (Self::History, "changes") => {
                seen["rounds"].as_array().and_then(|it| it.last()).map(|it| &it["changes"])
            }
            (Self::Meta, "status") => {
                // One that says nothing counts as active, and shows nothing.
                let says = Format::Json.read(self.begun(text))?.get("status").is_some_and(|it| !it.is_null());
                says.then_some(&seen["status"])
            }
            _ => field.split('.').try_fold(&seen, |at, part| at.get(part)),
        };
        Ok(found.filter(|it| !it.is_null() && **it != json!("")).cloned())
    }

    pub(super) fn line(self, text: &str, field: &str) -> Option<usize> {
        match self {
            Self::Meta => Format::Json.read(text).ok()?.line(field),
            Self::History => None,
        }
    }

    pub(super) fn set(self, text: &str, field: &str, value: &Value, about: &About) -> Result<String, Fault> {
        let begun = self.begun(text);
        match self {
            Self::Meta => {
                let document = Format::Json.read(begun).map_err(first)?;
                understood(&document).map_err(first)?;
                let (stage, order) = told(about);
                let changes = feature::changes(&document.value(), field, value, (stage, &order));
                let changes = changes.map_err(|it| Fault::at(begun, 0, it).of(field))?;
                changed(text, begun, &changes)
            }
            Self::History => {
                let said = value.as_str().unwrap_or_default();
                let with = match field {
                    "changes" => history::with_changes(text, said),
                    _ => Err("rounds are only added to"),
                };
                with.map_err(|it| Fault::at(text, text.len(), it).of(field))
            }
        }
    }

    pub(super) fn append(self, text: &str, field: &str, value: &Value) -> Result<String, Fault> {
        let begun = self.begun(text);
        match self {
            Self::Meta => {
                let document = Format::Json.read(begun).map_err(first)?;
                understood(&document).map_err(first)?;
                let changes = feature::append(&document.value(), field, &skipped(value));
                let changes = changes.map_err(|it| Fault::at(begun, 0, it).of(field))?;
                changed(text, begun, &changes)
            }
            Self::History => {
                let entry = entry(value).map_err(|it| Fault::at(text, text.len(), it).of(field))?;
                Ok(history::append(text, "", &entry))
            }
        }
    }

    /// An entry as it stands in a field once it was added.
    pub(super) fn entry(self, value: &Value) -> Value {
        match (self, entry(value)) {
            (Self::History, Ok(entry)) => rounds(&history::append("", "", &entry)).pop().unwrap_or_default(),
            _ => value.clone(),
        }
    }

    /// What a file lacks that somebody just wrote.
    pub(super) fn lacks(self, page: &Page) -> Option<String> {
        let faults = self.value(&page.text, &About::default()).err()?;
        let all: Vec<String> = faults.iter().map(ToString::to_string).collect();
        Some(all.join("; "))
    }
}

/// What a record says, if all of it can be understood.
fn understood(document: &Document<'_>) -> Result<Meta, Vec<Fault>> {
    let meta = Meta::read(&document.value());
    if meta.problems.is_empty() {
        return Ok(meta);
    }
    Err(faults(document, &meta.problems))
}

/// The phase at hand, and the order of phases.
fn told(about: &About) -> (&str, Vec<String>) {
    let order = about.with["order"].as_array().into_iter().flatten();
    let order = order.filter_map(Value::as_str).map(str::to_owned).collect();
    (about.with["stage"].as_str().unwrap_or_default(), order)
}

fn changed(text: &str, begun: &str, changes: &[Change]) -> Result<String, Fault> {
    if changes.is_empty() {
        return Ok(text.to_owned());
    }
    changes.iter().try_fold(begun.to_owned(), |text, Change { field, value, adds }| {
        let change = if *adds { Format::append } else { Format::set };
        change(Format::Json, &text, field, value)
    })
}

/// Phases that were skipped, each with what is said of all of them.
fn skipped(value: &Value) -> Value {
    let Some(said) = value.as_object() else { return value.clone() };
    let phases = said.get("phases").and_then(Value::as_array).cloned().unwrap_or_default();
    let one = |phase: Value| {
        let mut entry = Map::from_iter([("phase".to_owned(), phase)]);
        entry.extend(
            said.iter().filter(|(name, _)| *name != "phases").map(|(name, it)| (name.clone(), it.clone())),
        );
        Value::Object(entry)
    };
    phases.into_iter().map(one).collect()
}

/// The rounds of a history, as workflows see them.
fn rounds(text: &str) -> Vec<Value> {
    let seen = |it: &Entry| {
        json!({
            "phase": it.phase, "iteration": it.iteration, "at": it.at, "decision": it.decision,
            "summary": it.summary, "issues": it.issues, "changes": it.changes,
        })
    };
    history::read(text).iter().map(seen).collect()
}

/// A round, as a workflow says it.
fn entry(value: &Value) -> Result<Entry, String> {
    let Some(said) = value.as_object() else { return Err("a round is told by its fields".to_owned()) };
    let known = ["phase", "iteration", "at", "decision", "summary", "issues", "changes"];
    if let Some(other) = said.keys().find(|it| !known.contains(&it.as_str())) {
        return Err(format!("a round has no `{other}`: it has {}", known.join(", ")));
    }
    let text = |name: &str| match said.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let iteration = text("iteration").trim().parse();
    let iteration = iteration.map_err(|_| "`iteration` is the number of the round".to_owned())?;
    Ok(Entry {
        phase: text("phase"),
        iteration,
        at: text("at"),
        decision: text("decision"),
        summary: text("summary"),
        issues: said.get("issues").and_then(Value::as_array).into_iter().flatten().map(issue).collect(),
        changes: text("changes"),
        ..Entry::default()
    })
}

/// A finding, as a history has it.
fn issue(found: &Value) -> Issue {
    let text = |name: &str| found[name].as_str().unwrap_or_default().trim().to_owned();
    let line = found["line"].as_u64().map(|it| it.to_string()).unwrap_or_default();
    let place: Vec<String> = [text("place"), text("file"), line, text("subject")]
        .into_iter()
        .filter(|it| !it.is_empty())
        .collect();
    let told = match text("topic").as_str() {
        OUT_OF_SCOPE => format!("out of scope: {}", text("text")),
        _ => text("text"),
    };
    Issue { severity: text("severity"), text: told, place: place.join(", ") }
}
