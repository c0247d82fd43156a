//! Decisions of people in `status.json`: `pending`, `answered`, `cancelled` or `skipped`.

use serde_json::{Value, json};

use super::words::{items, line, word};
use super::{Change, Problem};

/// How far a decision can be.
pub const STATUSES: [&str; 4] = ["pending", "answered", "cancelled", "skipped"];
/// Where decisions stand.
const FIELD: &str = "user_decisions";
/// A decision whose answer is one word and nothing else: others compare it.
const EXACT: &str = "UD-REVIEW-STRATEGY";
/// A time that nobody noted.
const UNKNOWN: &str = "1970-01-01T00:00:00Z";

/// The decisions of a file, each with all of its fields. `word` is what an answer begins with, for whoever compares.
pub(super) fn read(there: &Value, problems: &mut Vec<Problem>) -> Vec<Value> {
    if !there.is_null() && !there.is_array() {
        problems.push(Problem::new(FIELD, "this is no list of decisions"));
        return Vec::new();
    }
    items(there, FIELD).into_iter().map(|(place, it)| record(it, &place, problems)).collect()
}

fn record(written: &Value, place: &str, problems: &mut Vec<Problem>) -> Value {
    let said = |name: &str| match written {
        // The first generation notes what was decided as a sentence.
        Value::String(text) if name == "answer" => text.trim().to_owned(),
        other => line(&other[name]),
    };
    if !written.is_object() && !written.is_string() {
        problems.push(Problem::new(place, "this is no decision"));
    }
    let maybe = |name: &str| Some(said(name)).filter(|it| !it.is_empty());
    let answer = maybe("answer");
    let status = match word(&said("status")).as_str() {
        "" if answer.is_some() => "answered",
        "" => "pending",
        other => STATUSES.into_iter().find(|it| *it == other).unwrap_or_else(|| {
            let message = format!("`{}` is no status; one of {}", said("status"), STATUSES.join(", "));
            problems.push(Problem::new(format!("{place}.status"), message));
            "pending"
        }),
    };
    let id = said("decision_id");
    let said_so = answer.as_deref().filter(|_| status == "answered");
    let begins = said_so.map(|it| begins_with(it, id == EXACT)).unwrap_or_default();
    json!({
        "decision_id": id, "question": said("question"), "status": status, "answer": answer,
        "word": begins, "asked_at": said("asked_at"), "resolved_at": maybe("resolved_at"),
        "state_context": said("state_context"), "resolution_reason": maybe("resolution_reason"),
    })
}

/// The word an answer begins with. Approval is said in sentences too; what has to be one word is nothing else.
fn begins_with(answer: &str, is_exact: bool) -> String {
    let lower = answer.to_lowercase();
    if is_exact {
        return if lower.contains([':', ' ']) { String::new() } else { lower };
    }
    if let Some(known) = ["approved", "changes-requested"].into_iter().find(|it| lower.starts_with(it)) {
        return known.to_owned();
    }
    let first = lower.split_once(':').map_or(lower.as_str(), |(it, _)| it).trim();
    let is_word = first.chars().all(|it| it.is_ascii_alphanumeric() || it == '-');
    if is_word { first.to_owned() } else { String::new() }
}

/// What keeps a record from being valid.
pub fn invalid(record: &Value) -> Option<&'static str> {
    let is_empty = |name: &str| line(&record[name]).is_empty();
    let status = STATUSES.into_iter().find(|it| record["status"] == **it);
    let is_said = !(is_empty("answer") && is_empty("resolved_at") && is_empty("resolution_reason"));
    match status {
        None => Some("a decision is pending, answered, cancelled or skipped"),
        Some("pending") => is_said
            .then_some("a pending decision has no answer, no `resolved_at` and no `resolution_reason` yet"),
        Some("answered") if is_empty("answer") => Some("an answered decision needs its `answer`"),
        Some("cancelled" | "skipped") if is_empty("resolution_reason") => {
            Some("a decision without an answer needs its `resolution_reason`")
        }
        Some(_) => {
            is_empty("resolved_at").then_some("a decision that is not pending needs its `resolved_at`")
        }
    }
}

/// What has to change so that a list of records holds what a run decided. Records of others stay as they are.
pub(super) fn changes(there: &Value, wanted: &Value, now: &str) -> Result<Vec<Change>, String> {
    let wanted = match wanted {
        Value::Null => return Ok(Vec::new()),
        Value::Array(wanted) => wanted,
        _ => return Err("decisions are a list".to_owned()),
    };
    let records: &[Value] = match there {
        Value::Null => &[],
        Value::Array(records) => records,
        _ => return Err("what is there is no list of decisions".to_owned()),
    };
    let decisions = wanted.iter().map(Decision::read).collect::<Result<Vec<_>, _>>()?;
    let mut changes = Vec::new();
    if there.is_null() {
        changes.push(Change::set(FIELD, json!([])));
    }
    let mut taken = vec![false; records.len()];
    let known = records.iter().map(|it| line(&it["decision_id"]));
    let mut next = Numbers::after(known.chain(decisions.iter().map(|it| it.id.clone())));
    for (at, decision) in decisions.iter().enumerate() {
        // A question that is asked again keeps its one record, and the last time counts.
        let again = |it: &Decision| !decision.id.is_empty() && it.id == decision.id;
        if decisions.iter().skip(at + 1).any(again) {
            continue;
        }
        let place = decision.place(records, &taken, &decisions);
        let old = place.and_then(|it| records.get(it)).unwrap_or(&Value::Null);
        let id = match &old["decision_id"] {
            Value::Null if decision.id.is_empty() => next.take().into(),
            Value::Null => decision.id.clone().into(),
            known => known.clone(),
        };
        if let Some(taken) = place.and_then(|it| taken.get_mut(it)) {
            *taken = true;
        }
        let record = decision.record(&id, old, now);
        match place {
            None => changes.push(Change::add(FIELD, record)),
            Some(place) => {
                let fields = record.as_object().into_iter().flatten();
                // What is not there says nothing, as null does.
                let differing = fields.filter(|(name, it)| old[name.as_str()] != **it);
                changes.extend(
                    differing.map(|(name, it)| Change::set(format!("{FIELD}.{place}.{name}"), it.clone())),
                );
            }
        }
    }
    Ok(changes)
}

/// A decision of a run.
struct Decision {
    id: String,
    question: String,
    status: &'static str,
    answer: String,
    note: String,
    reason: String,
    asked: String,
    resolved: String,
    phase: String,
    before: String,
}

impl Decision {
    fn read(given: &Value) -> Result<Self, String> {
        let text = |name: &str| given[name].as_str().unwrap_or_default().trim().to_owned();
        let Some(status) = STATUSES.into_iter().find(|it| given["status"] == **it) else {
            return Err(format!(
                "a decision is {}, and not `{}`",
                STATUSES.join(", "),
                line(&given["status"])
            ));
        };
        let question = [text("question"), text("state")].into_iter().find(|it| !it.is_empty());
        Ok(Self {
            id: text("id"),
            question: question.unwrap_or_default(),
            status,
            answer: text("answer"),
            note: text("note"),
            reason: text("reason"),
            asked: text("asked_at"),
            resolved: text("resolved_at"),
            phase: text("phase"),
            before: text("before"),
        })
    }

    /// Its record among those that are there.
    fn place(&self, records: &[Value], taken: &[bool], all: &[Self]) -> Option<usize> {
        let named = |it: &Value| line(&it["decision_id"]);
        if !self.id.is_empty() {
            return records.iter().rposition(|it| named(it) == self.id);
        }
        let is_declared = |id: &str| all.iter().any(|it| !it.id.is_empty() && it.id == id);
        records.iter().zip(taken).position(|(it, taken)| {
            !taken
                && it.is_object()
                && it["question"] == *self.question
                && it["asked_at"] == *self.asked
                && !is_declared(&named(it))
        })
    }

    /// As it stands in a file. What is valid there is more than a run has to know of itself.
    fn record(&self, id: &Value, old: &Value, now: &str) -> Value {
        let or = |texts: &[&str]| {
            texts.iter().find(|it| !it.is_empty()).map(|it| (*it).to_owned()).unwrap_or_default()
        };
        let some = |text: String| Some(text).filter(|it| !it.is_empty());
        let is_pending = self.status == "pending";
        let (mut answer, mut reason) = (self.said(), self.reason.clone());
        match self.status {
            "answered" => {
                if self.id == EXACT && !self.answer.is_empty() {
                    answer.clone_from(&self.answer);
                    reason = or(&[&reason, &self.note]);
                }
                answer = or(&[&answer, &self.reason, "answered"]);
            }
            "cancelled" => reason = or(&[&reason, &self.note, "no response provided"]),
            "skipped" => reason = or(&[&reason, &self.note, "no longer needed"]),
            _ => {}
        }
        let kept = line(&old["resolved_at"]);
        let resolved = or(&[&self.resolved, &kept, now, &self.asked, UNKNOWN]);
        let context = if self.id.is_empty() {
            or(&[&self.before, &self.phase])
        } else {
            or(&[&self.phase, &self.before])
        };
        json!({
            "decision_id": id,
            "question": self.question,
            "status": self.status,
            "answer": some(answer).filter(|_| !is_pending),
            "asked_at": self.asked,
            "resolved_at": some(resolved).filter(|_| !is_pending),
            "state_context": context,
            "resolution_reason": some(reason).filter(|_| !is_pending),
        })
    }

    /// The answer with what was said to it. An answer that is only that it was answered is what was said.
    fn said(&self) -> String {
        match (self.answer.as_str(), self.note.as_str()) {
            ("answered", note) if !note.is_empty() => note.to_owned(),
            ("", _) if self.status != "answered" => String::new(),
            ("", note) => note.to_owned(),
            (word, "") => word.to_owned(),
            (word, note) => format!("{word}: {note}"),
        }
    }
}

/// Numbers for decisions that have no name of their own.
struct Numbers {
    last: u64,
}

impl Numbers {
    fn after(ids: impl Iterator<Item = String>) -> Self {
        let number = |it: String| it.strip_prefix("UD-")?.parse::<u32>().ok();
        Self { last: ids.filter_map(number).max().unwrap_or(0).into() }
    }

    fn take(&mut self) -> String {
        self.last += 1;
        format!("UD-{}", self.last)
    }
}
