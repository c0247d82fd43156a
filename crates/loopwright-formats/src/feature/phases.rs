//! The phases of a record: a map, a list, or what is left of one.

use serde_json::Value;

use super::words::{line, moment, notes, phase, word};
use super::{Meta, Phase, Problem, UNKNOWN};

/// What a field of a phase was called, the one that is written first.
pub(super) const STARTED: [&str; 4] = ["started", "startedAt", "started_at", "start"];
pub(super) const COMPLETED: [&str; 5] = ["completed", "completedAt", "completed_at", "finished", "end"];
pub(super) const ITERATIONS: [&str; 2] = ["iterations", "reviewIterations"];
pub(super) const NOTES: [&str; 3] = ["reviewerNotes", "reviewer_notes", "notes"];
pub(super) const VERIFIED: [&str; 1] = ["verified"];
/// Further rounds that were counted in the phase itself.
const COUNTED: [&str; 3] = ["phaseReviewIterations", "planReviewIterations", "taskReviewIterations"];
/// Reviews within a phase, the one with the last word first.
const REVIEWS: [&str; 8] = [
    "chainReview",
    "phaseReview",
    "handoffReview",
    "taskReview",
    "planReview",
    "designReview",
    "specReview",
    "review",
];
/// Where phases may stand besides.
const ELSEWHERE: &str = "phases_extra";

pub(super) fn read(file: &Value, meta: &mut Meta) {
    match &file["phases"] {
        Value::Null => {}
        Value::Object(all) => all.iter().for_each(|(name, it)| take(meta, name, it, "phases")),
        Value::Array(all) => {
            meta.remarks.push(Problem::new("phases", "this is a list, and not a map of phases"));
            for (at, it) in all.iter().enumerate() {
                listed(meta, at, it);
            }
        }
        other => {
            let message = format!("`{}` is no map of phases", line(other));
            meta.problems.push(Problem::new("phases", message));
        }
    }
    if let Value::Object(all) = &file[ELSEWHERE] {
        meta.remarks.push(Problem::new(ELSEWHERE, "these phases stand beside the others"));
        all.iter().for_each(|(name, it)| take(meta, name, it, ELSEWHERE));
    }
    // A bracket too many closes the map early, and what follows is at the top.
    for (name, it) in file.as_object().into_iter().flatten() {
        if phase(name).is_some() && it.is_object() {
            meta.remarks.push(Problem::new(name.clone(), "this phase stands outside of `phases`"));
            take(meta, name, it, "");
        }
    }
}

/// An entry of a list of phases.
fn listed(meta: &mut Meta, at: usize, it: &Value) {
    let place = format!("phases.{at}");
    let name = match it {
        Value::String(name) => name.clone(),
        it => ["phase", "name", "id"]
            .iter()
            .map(|key| line(&it[*key]))
            .find(|it| !it.is_empty())
            .unwrap_or_default(),
    };
    if name.is_empty() {
        meta.problems.push(Problem::new(place, "this phase has no name"));
        return;
    }
    // A name alone says no more than that there is such a phase.
    let nothing = Value::Null;
    put(meta, &name, if it.is_string() { &nothing } else { it }, place);
}

fn take(meta: &mut Meta, name: &str, it: &Value, within: &str) {
    let place = if within.is_empty() { name.to_owned() } else { format!("{within}.{name}") };
    put(meta, name, it, place);
}

fn put(meta: &mut Meta, name: &str, it: &Value, place: String) {
    let known = phase(name);
    match known {
        None => meta.remarks.push(Problem::new(place.clone(), format!("`{name}` is no phase"))),
        Some(known) if known != name => {
            meta.remarks.push(Problem::new(place.clone(), format!("`{name}` is written `{known}`")));
        }
        Some(_) => {}
    }
    let name = known.unwrap_or(name).to_owned();
    let mut record = Reading { place: &place, meta }.record(it);
    record.place.clone_from(&place);
    match meta.phases.get(&name) {
        None => drop(meta.phases.insert(name, record)),
        // Of two, one counts: the first that says how far it is.
        Some(there) => {
            meta.remarks.push(Problem::new(place, format!("`{name}` stands in `{}` too", there.place)));
            let says = |it: &Phase| it.started.is_some() || it.completed.is_some();
            if !says(there) && says(&record) {
                meta.phases.insert(name, record);
            }
        }
    }
}

struct Reading<'m> {
    place: &'m str,
    meta: &'m mut Meta,
}

impl Reading<'_> {
    fn remark(&mut self, field: &str, message: impl Into<String>) {
        self.meta.remarks.push(Problem::new(format!("{}.{field}", self.place), message));
    }

    fn record(&mut self, it: &Value) -> Phase {
        match it {
            Value::Null => Phase::default(),
            Value::Object(_) => self.fields(it),
            // A word for how far it is, or the time it was completed.
            Value::Bool(_) | Value::String(_) => {
                let place = self.place.to_owned();
                self.meta.remarks.push(Problem::new(place, "this is no map of fields"));
                let mut record = Phase::default();
                match it {
                    Value::Bool(done) => record.completed = done.then(|| UNKNOWN.to_owned()),
                    it => {
                        let text = line(it);
                        if moment(&text).is_some() {
                            record.completed = Some(text);
                        } else {
                            self.progress(&mut record, &text, "");
                        }
                    }
                }
                record
            }
            other => {
                let message = format!("`{}` is no phase", line(other));
                self.meta.problems.push(Problem::new(self.place, message));
                Phase::default()
            }
        }
    }

    fn fields(&mut self, it: &Value) -> Phase {
        let mut record = Phase {
            started: self.time(it, &STARTED),
            completed: self.time(it, &COMPLETED),
            verified: self.truth(it, VERIFIED[0]),
            iterations: self.iterations(it),
            notes: of_phase(it),
            ..Phase::default()
        };
        let said = line(&it["status"]);
        if !said.is_empty() {
            self.progress(&mut record, &said, "status");
        }
        record
    }

    /// How far a phase is by a word, where no time says it.
    fn progress(&mut self, record: &mut Phase, said: &str, field: &str) {
        let unknown = || Some(UNKNOWN.to_owned());
        match word(said).as_str() {
            "completed" | "complete" | "done" | "finished" | "approved" | "passed" => {
                record.completed = record.completed.take().or_else(unknown);
            }
            "in-progress" | "started" | "active" | "wip" | "ongoing" => {
                record.started = record.started.take().or_else(unknown);
            }
            "pending" | "planned" | "not-started" | "todo" | "skipped" | "none" | "" => {}
            _ if field.is_empty() => {
                let message = format!("`{said}` does not say how far it is");
                self.meta.remarks.push(Problem::new(self.place, message));
            }
            _ => self.remark(field, format!("`{said}` does not say how far it is")),
        }
    }

    fn time(&mut self, it: &Value, names: &[&'static str]) -> Option<String> {
        let (name, value) = first(it, names)?;
        if name != names[0] {
            self.remark(name, format!("`{name}` is written `{}`", names[0]));
        }
        match value {
            Value::Bool(true) => Some(UNKNOWN.to_owned()),
            Value::Bool(false) => None,
            value => {
                let text = line(value);
                if moment(&text).is_none() && !text.is_empty() && text != UNKNOWN {
                    self.remark(name, format!("`{text}` is no time"));
                }
                Some(text).filter(|it| !it.is_empty())
            }
        }
    }

    fn truth(&mut self, it: &Value, name: &str) -> bool {
        match &it[name] {
            Value::Null | Value::Bool(false) => false,
            Value::Bool(true) => true,
            other => {
                let said = line(other);
                self.remark(name, format!("`{said}` is neither true nor false"));
                matches!(word(&said).as_str(), "true" | "yes" | "1")
            }
        }
    }

    fn iterations(&mut self, it: &Value) -> u64 {
        let Some((name, value)) = first(it, &ITERATIONS).or_else(|| first(it, &COUNTED)) else {
            return of_reviews(it);
        };
        if name != ITERATIONS[0] {
            self.remark(name, format!("`{name}` is written `{}`", ITERATIONS[0]));
        }
        let whole = value.as_u64().or_else(|| line(value).parse().ok());
        whole.unwrap_or_else(|| {
            self.remark(name, format!("`{}` is no number of rounds", line(value)));
            0
        })
    }
}

/// The first of these fields that says something, with its name.
pub(super) fn first<'v>(of: &'v Value, names: &[&'static str]) -> Option<(&'static str, &'v Value)> {
    names.iter().find_map(|name| of.get(name).filter(|it| !it.is_null()).map(|it| (*name, it)))
}

/// Reviews that are recorded within a phase.
fn reviews(it: &Value) -> impl Iterator<Item = &Value> {
    REVIEWS.iter().filter_map(move |name| {
        let here = it.get(name).filter(|it| it.is_object());
        here.or_else(|| it.get("stages")?.get(name).filter(|it| it.is_object()))
    })
}

fn of_reviews(it: &Value) -> u64 {
    reviews(it).find_map(|it| it["iterations"].as_u64()).unwrap_or(0)
}

/// What reviewers noted: of the phase, or of the reviews within it.
fn of_phase(it: &Value) -> Vec<String> {
    if let Some((_, own)) = first(it, &NOTES) {
        return notes(own);
    }
    let of = |it: &Value| first(it, &["reviewerNotes", "concerns", "notes"]).map(|(_, it)| notes(it));
    reviews(it).filter_map(of).flatten().collect()
}
