//! What an agent hands in at the end of a loop, held against the state and against itself.

use serde_json::{Map, Value, json};

use super::issues::Impact;
use super::record::{PROTOCOL, fields};
use super::state::{STATUSES, State};
use super::{ids, text};

/// The loops that hand something in.
pub const LOOPS: [&str; 9] = [
    "advance",
    "consolidation",
    "context_capture",
    "design",
    "implement",
    "improvements",
    "issues_triage",
    "retrospective",
    "review",
];

/// What every result says, in words.
const FIELDS: [&str; 6] = ["loop", "result", "stage", "checkpoint", "status", "next_role_hint"];
const REPORT: [&str; 4] = ["acceptance_matrix", "top_findings", "state_transition", "loop_result"];
const MATRIX: [&str; 6] = ["item", "status", "evidence", "critical", "confidence", "evidence_strength"];
const FINDING: [&str; 4] = ["impact", "title", "evidence", "action"];
const MOST_FINDINGS: usize = 5;
/// Whoever is less sure than this of something critical is not done.
const SURE: f64 = 0.75;

/// What stands behind `LOOP_RESULT:`, or in a text without it.
pub fn payload(text: &str) -> Result<Value, String> {
    let text = text::trim(text);
    let body = text::trim(text.strip_prefix("LOOP_RESULT:").unwrap_or(text));
    match serde_json::from_str(body) {
        Ok(Value::Object(fields)) => Ok(Value::Object(fields)),
        Ok(_) => Err("the result is JSON, but not an object".to_owned()),
        Err(error) => Err(format!("the result is not JSON: {error}")),
    }
}

/// Holds a result against the state. Gives the record of it, which lacks only its time, or everything that is wrong.
pub fn check(payload: &Value, state: &State) -> Result<Value, Vec<String>> {
    let empty = Map::new();
    let top = payload.as_object().unwrap_or(&empty);
    let mut wrong = Wrong(Vec::new());
    for field in FIELDS {
        wrong.unless(is_text(top.get(field)), || format!("`{field}` is missing, or no text"));
    }
    let name = plain(top.get("loop")).unwrap_or_default();
    let status = plain(top.get("status")).unwrap_or_default().to_uppercase();
    wrong.unless(name.is_empty() || LOOPS.contains(&name.as_str()), || {
        format!("`{name}` is not a loop that hands in results; those are {}", LOOPS.join(", "))
    });
    wrong.unless(status.is_empty() || STATUSES.contains(&status.as_str()), || {
        format!("`{status}` is not a status; it is one of {}", STATUSES.join(", "))
    });
    held_against_state(&mut wrong, top, &status, state);
    match fields(top.get("report")) {
        Some(report) => check_report(&mut wrong, report, top, &name, &status),
        None => wrong.add("`report` is missing, or no object".to_owned()),
    }
    if !wrong.0.is_empty() {
        return Err(wrong.0);
    }
    let mut record = Map::new();
    for field in FIELDS {
        record.insert(field.to_owned(), json!(plain(top.get(field))));
    }
    record.insert("status".to_owned(), status.into());
    record.insert("report".to_owned(), top.get("report").cloned().unwrap_or_default());
    record.insert("protocol_version".to_owned(), PROTOCOL.into());
    record.insert("state_sha256".to_owned(), state.sha256.clone().into());
    Ok(Value::Object(record))
}

/// Everything that is wrong, in order.
struct Wrong(Vec<String>);

impl Wrong {
    fn add(&mut self, message: String) {
        self.0.push(message);
    }

    fn unless(&mut self, good: bool, message: impl FnOnce() -> String) {
        if !good {
            self.add(message());
        }
    }
}

fn is_text(value: Option<&Value>) -> bool {
    value.and_then(Value::as_str).is_some_and(|it| !text::trim(it).is_empty())
}

/// A word or number as text, without blanks around it.
fn plain(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Null => None,
        Value::String(it) => Some(text::trim(it).to_owned()),
        other => Some(other.to_string()),
    }
}

/// A field in the form in which it is compared.
fn normal(field: &str, value: Option<&Value>) -> Option<String> {
    plain(value).map(|it| match field {
        "stage" => ids::stage_or_raw(&it),
        "checkpoint" => ids::checkpoint_or_raw(&it),
        "status" => it.to_uppercase(),
        _ => it,
    })
}

fn held_against_state(wrong: &mut Wrong, top: &Map<String, Value>, status: &str, state: &State) {
    for (field, is) in [("stage", &state.stage), ("checkpoint", &state.checkpoint)] {
        let is = is.as_deref();
        let told = top.get(field);
        wrong.unless(normal(field, told) == normal(field, is.map(Value::from).as_ref()), || {
            let told = plain(told);
            format!(
                "`{field}` is `{}` in the result and `{}` in the state",
                told.as_deref().unwrap_or("nothing"),
                is.unwrap_or("nothing")
            )
        });
    }
    let is = state.status.as_deref();
    wrong.unless(status.is_empty() || is == Some(status), || {
        format!("`status` is `{status}` in the result and `{}` in the state", is.unwrap_or("nothing"))
    });
}

fn check_report(
    wrong: &mut Wrong,
    report: &Map<String, Value>,
    top: &Map<String, Value>,
    name: &str,
    status: &str,
) {
    for field in REPORT {
        wrong.unless(report.contains_key(field), || format!("the report has no `{field}`"));
    }
    let mut doubts = false;
    if let Some(Value::Array(items)) = report.get("acceptance_matrix") {
        let must_have = matches!(name, "implement" | "review" | "issues_triage");
        wrong.unless(!items.is_empty() || !must_have, || {
            format!("`acceptance_matrix` is empty, and `{name}` has something to accept")
        });
        doubts = check_matrix(wrong, items);
    } else {
        wrong.add("`acceptance_matrix` of the report is not a list".to_owned());
    }
    match report.get("top_findings") {
        Some(Value::Array(items)) => check_findings(wrong, items),
        _ => wrong.add("`top_findings` of the report is not a list".to_owned()),
    }
    check_transition(wrong, report.get("state_transition"), top);
    match fields(report.get("loop_result")) {
        Some(mirror) => {
            for field in FIELDS {
                wrong.unless(normal(field, mirror.get(field)) == normal(field, top.get(field)), || {
                    format!("`report.loop_result.{field}` is not the `{field}` of the result")
                });
            }
        }
        None => wrong.add("`loop_result` of the report is not an object".to_owned()),
    }
    if doubts && matches!(name, "review" | "issues_triage") {
        wrong.unless(matches!(status, "IN_PROGRESS" | "BLOCKED"), || {
            "something critical is in doubt: the status has to be IN_PROGRESS or BLOCKED".to_owned()
        });
        let hints = plain(top.get("next_role_hint")).unwrap_or_default();
        wrong.unless(hints.split('|').any(|it| text::trim(it) == "issues_triage"), || {
            "something critical is in doubt: `issues_triage` has to be among `next_role_hint`".to_owned()
        });
    }
}

/// Checks what was accepted, and says whether something critical is in doubt.
fn check_matrix(wrong: &mut Wrong, items: &[Value]) -> bool {
    let mut doubts = false;
    for (at, item) in items.iter().enumerate() {
        let place = format!("acceptance_matrix[{at}]");
        let Some(item) = item.as_object() else {
            wrong.add(format!("`{place}` is not an object"));
            continue;
        };
        all_there(wrong, &place, item, &MATRIX);
        texts(wrong, &place, item, &["item"]);
        one_of(wrong, &place, item, "status", &["PASS", "FAIL", "N/A"]);
        texts(wrong, &place, item, &["evidence"]);
        let critical = item.get("critical").and_then(Value::as_bool);
        wrong.unless(critical.is_some(), || format!("`{place}.critical` is neither true nor false"));
        let confidence = number(item.get("confidence")).filter(|it| (0.0..=1.0).contains(it));
        wrong.unless(confidence.is_some(), || format!("`{place}.confidence` is not a number from 0 to 1"));
        let strength = one_of(wrong, &place, item, "evidence_strength", &["LOW", "MEDIUM", "HIGH"]);
        doubts |= critical == Some(true)
            && (confidence.is_some_and(|it| it < SURE) || strength.as_deref() == Some("LOW"));
    }
    doubts
}

fn check_findings(wrong: &mut Wrong, items: &[Value]) {
    wrong.unless(items.len() <= MOST_FINDINGS, || {
        format!("`top_findings` has {} findings, and {MOST_FINDINGS} are the most", items.len())
    });
    let mut impacts = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let place = format!("top_findings[{at}]");
        let Some(item) = item.as_object() else {
            wrong.add(format!("`{place}` is not an object"));
            continue;
        };
        all_there(wrong, &place, item, &FINDING);
        let impact = one_of(wrong, &place, item, "impact", &Impact::ALL.map(Impact::as_str));
        impacts.extend(impact.as_deref().and_then(Impact::of));
        texts(wrong, &place, item, &["title", "evidence", "action"]);
    }
    wrong.unless(impacts.is_sorted(), || "`top_findings` does not have the worst first".to_owned());
}

fn check_transition(wrong: &mut Wrong, transition: Option<&Value>, top: &Map<String, Value>) {
    let Some(transition) = fields(transition) else {
        wrong.add("`state_transition` of the report is not an object".to_owned());
        return;
    };
    wrong.unless(fields(transition.get("before")).is_some(), || {
        "`state_transition.before` is not an object".to_owned()
    });
    let Some(after) = fields(transition.get("after")) else {
        wrong.add("`state_transition.after` is not an object".to_owned());
        return;
    };
    for field in ["stage", "checkpoint", "status"] {
        wrong.unless(normal(field, after.get(field)) == normal(field, top.get(field)), || {
            format!("`state_transition.after.{field}` is not the `{field}` of the result")
        });
    }
}

fn all_there(wrong: &mut Wrong, place: &str, item: &Map<String, Value>, wanted: &[&str]) {
    for field in wanted {
        wrong.unless(item.contains_key(*field), || format!("`{place}` has no `{field}`"));
    }
}

fn texts(wrong: &mut Wrong, place: &str, item: &Map<String, Value>, wanted: &[&str]) {
    for field in wanted {
        wrong.unless(is_text(item.get(*field)), || format!("`{place}.{field}` is empty, or no text"));
    }
}

/// The word of a field, in capitals, if it is one of these.
fn one_of(
    wrong: &mut Wrong,
    place: &str,
    item: &Map<String, Value>,
    field: &str,
    words: &[&str],
) -> Option<String> {
    let word = plain(item.get(field)).unwrap_or_default().to_uppercase();
    let known = words.contains(&word.as_str());
    wrong.unless(known, || format!("`{place}.{field}` is not one of {}", words.join(", ")));
    known.then_some(word)
}

/// A number, also one that is written as text.
fn number(value: Option<&Value>) -> Option<f64> {
    match value? {
        Value::Number(it) => it.as_f64(),
        Value::String(it) => text::trim(it).parse().ok(),
        Value::Bool(it) => Some(f64::from(u8::from(*it))),
        _ => None,
    }
}
