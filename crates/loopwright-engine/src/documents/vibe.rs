//! The files of a `.vibe` folder as documents. What their texts mean is `loopwright_formats::vibe`; here it gets the
//! names that workflows know.

use loopwright_formats::vibe::record::Acknowledged;
use loopwright_formats::vibe::{Impact, Issue, Next, Plan, State, context, edit, plan, record};
use serde_json::{Map, Value, json};

use super::reader::About;

/// Which file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vibe {
    /// `STATE.md`.
    State,
    /// `PLAN.md`.
    Plan,
    /// `CONTEXT.md`.
    Context,
    /// `HISTORY.md`.
    History,
    /// `LOOP_RESULT.json`.
    LoopResult,
}

/// What a status can be; anything else is none.
const STATUS: &[&str] = &["NOT_STARTED", "IN_PROGRESS", "IN_REVIEW", "BLOCKED", "DONE"];
/// Flags that something depends on.
const FLAGS: &[&str] = &[
    "RUN_CONTEXT_CAPTURE",
    "RUN_PROCESS_IMPROVEMENTS",
    "STAGE_DESIGNED",
    "RETROSPECTIVE_DONE",
    "MAINTENANCE_CYCLE_DONE",
];

impl Vibe {
    pub(super) fn named(reader: &str) -> Option<Self> {
        match reader {
            "vibe-state" => Some(Self::State),
            "vibe-plan" => Some(Self::Plan),
            "vibe-context" => Some(Self::Context),
            "vibe-history" => Some(Self::History),
            "vibe-loop-result" => Some(Self::LoopResult),
            _ => None,
        }
    }

    pub(super) fn value(self, text: &str, about: &About) -> Value {
        let with = &about.with;
        match self {
            Self::State => state(text),
            Self::Plan => planned(text, (word(&with["current"]), word(&with["stage"]))),
            Self::Context => {
                let work = with["work"].as_array().into_iter().flatten();
                let work: Vec<f64> = work.filter_map(|it| it["modified"].as_f64()).collect();
                let stale = about.modified.is_some_and(|it| context::is_stale(it, &work));
                json!({"stale": stale, "headings": context::headings(text), "text": text})
            }
            Self::History => json!({"headings": context::headings(text), "text": text}),
            Self::LoopResult => {
                let state = with["state"]["text"].as_str().unwrap_or_default();
                recorded(text, state)
            }
        }
    }

    pub(super) fn get(self, text: &str, field: &str) -> Option<Value> {
        match self {
            Self::State => edit::get(text, field).map(Value::from),
            Self::LoopResult => {
                let record: Value = serde_json::from_str(text).ok()?;
                record.get(if field == "stop" { "reason" } else { field }).cloned()
            }
            Self::Plan | Self::Context | Self::History => None,
        }
    }

    pub(super) fn set(self, text: &str, field: &str, value: &Value, about: &About) -> Result<String, String> {
        let Some(value) = value.as_str() else { return Err("this can only be set to a text".to_owned()) };
        match self {
            Self::State => edit::set(text, field, value),
            Self::LoopResult => record_with(text, field, value, &about.with),
            Self::Plan | Self::Context | Self::History => Err("nothing can be set in this".to_owned()),
        }
    }
}

fn word(value: &Value) -> Option<&str> {
    value.as_str().filter(|it| !it.is_empty())
}

fn state(text: &str) -> Value {
    let state = State::read(text);
    let status = state.status.as_deref().filter(|it| STATUS.contains(it)).unwrap_or("unknown");
    let number = |it: Option<i64>| it.unwrap_or(-1);
    let flags: Map<String, Value> = FLAGS
        .iter()
        .map(|name| {
            let word = match state.flags.get(*name) {
                None => "absent",
                Some(false) => "clear",
                Some(true) => "set",
            };
            ((*name).to_owned(), json!(word))
        })
        .collect();
    let names = |of: &dyn Fn(&Issue) -> bool| -> Vec<String> {
        state.issues.iter().filter(|it| of(it)).map(|it| it.name().to_owned()).collect()
    };
    let issues: Vec<Value> = state.issues.iter().map(issue).collect();
    json!({
        "status": status,
        "stage": state.stage.as_deref().unwrap_or_default(),
        "stage_number": number(state.stage_number()),
        "checkpoint": state.checkpoint.as_deref().unwrap_or_default(),
        "checkpoint_stage_number": number(state.checkpoint_stage_number()),
        "flags": flags,
        "issues": issues,
        "human_blockers": names(&|it| it.impact == Impact::Blocker && it.is_human() && !it.is_settled()),
        "pending_decisions": names(&|it| it.status.as_deref() == Some("DECISION_REQUIRED")),
        "open_issues": names(&|it| !it.is_settled()),
        "for_people": names(&|it| it.is_human() && !it.is_settled()),
        "work_log": state.work_log,
        "evidence_lines": state.evidence_signals,
        "text": text,
    })
}

fn issue(issue: &Issue) -> Value {
    json!({
        "id": issue.id.as_deref().unwrap_or_default(),
        "title": issue.title,
        "impact": issue.impact.as_str(),
        "owner": issue.owner.as_deref().unwrap_or_default(),
        "status": issue.status.as_deref().unwrap_or_default(),
        "checked": issue.checked,
        "human": issue.is_human(),
        "settled": issue.is_settled(),
    })
}

fn planned(text: &str, (current, stage): (Option<&str>, Option<&str>)) -> Value {
    let plan = Plan::read(text);
    let (is, next, next_stage) = match plan.after(current, stage) {
        Next::NoCheckpoints => ("empty", String::new(), String::new()),
        Next::Last | Next::NoneLeft => ("none", String::new(), String::new()),
        Next::Unknown => ("unknown", String::new(), String::new()),
        Next::Advance { id, stage } => ("same-stage", id, stage.unwrap_or_default()),
        Next::NewStage { id, to, .. } => ("new-stage", id, to),
    };
    // Whoever goes on from an id that is there twice comes by it for ever.
    let twice = |id: &str| plan.checkpoints.iter().filter(|it| it.id == id).count() > 1;
    let current_id = current.and_then(|it| plan.find(it)).map(|it| it.id.as_str());
    let is = match is {
        "same-stage" if twice(&next) || current_id.is_some_and(twice) => "twice",
        "new-stage" if twice(&next) || current_id.is_some_and(twice) => "twice-in-stages",
        other => other,
    };
    let of_current = |it: Option<String>| it.unwrap_or_default();
    json!({
        "section": of_current(current.and_then(|it| plan.section(it)).map(Into::into)),
        "title": of_current(current.and_then(|it| plan.title(it)).map(Into::into)),
        "demo_commands": current.map(|it| plan::demo_commands(text, it)).unwrap_or_default(),
        "next": next,
        "next_stage": next_stage,
        "next_is": is,
        "planned": current.is_some_and(|it| plan.find(it).is_some()),
        "previous_stage": of_current(stage.and_then(|it| plan.previous_stage(it)).map(Into::into)),
        "text": text,
    })
}

fn recorded(text: &str, state: &str) -> Value {
    let record: Value = serde_json::from_str(text).unwrap_or_default();
    let (acknowledged, problem) = match record::acknowledgement(Some(text.as_bytes()), state) {
        Acknowledged::Missing | Acknowledged::Current => ("current", String::new()),
        Acknowledged::Unreadable(why) => ("pending", format!("LOOP_RESULT.json cannot be read ({why})")),
        Acknowledged::NoHash => ("pending", "LOOP_RESULT.json has no `state_sha256`".to_owned()),
        Acknowledged::Differs => ("pending", "it was changed since".to_owned()),
    };
    let field = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default();
    json!({
        "acknowledged": acknowledged,
        "problem": problem,
        "loop": field("loop"),
        "result": field("result"),
        "reason": field("reason"),
    })
}

/// A record that says what a turn came to, of STATE.md as it is. One that says so already stays as it is.
fn record_with(text: &str, field: &str, value: &str, with: &Value) -> Result<String, String> {
    let Some(state) = with["state"]["text"].as_str() else {
        return Err("there is no STATE.md that it could be recorded for".to_owned());
    };
    let mut record = match serde_json::from_str(text) {
        Ok(Value::Object(record)) => record,
        _ => Map::new(),
    };
    let current = record::acknowledgement(Some(text.as_bytes()), state) == Acknowledged::Current;
    let is = |name: &str, value: &str| record.get(name).and_then(Value::as_str) == Some(value);
    let said = match field {
        "loop" => is("loop", value) && !record.contains_key("report") && !record.contains_key("reason"),
        "result" => is("result", value),
        "stop" => is("loop", "stop") && is("reason", value),
        "acknowledged" if value == "current" => true,
        _ => return Err(format!("nobody can set `{field}` to `{value}`")),
    };
    if current && said {
        return Ok(text.to_owned());
    }
    match field {
        // What was said of an earlier turn says nothing of this one.
        "loop" => {
            for earlier in ["report", "reason", "result", "next_role_hint", "triage_acknowledged_for_state"] {
                record.shift_remove(earlier);
            }
            record.insert("loop".to_owned(), json!(value));
        }
        "result" => drop(record.insert("result".to_owned(), json!(value))),
        "stop" => {
            record = Map::new();
            for name in ["loop", "result", "next_role_hint"] {
                record.insert(name.to_owned(), json!("stop"));
            }
            record.insert("reason".to_owned(), json!(value));
        }
        _ => {}
    }
    let known = State::read(state);
    record.insert("protocol_version".to_owned(), json!(1));
    record.insert("stage".to_owned(), json!(known.stage));
    record.insert("checkpoint".to_owned(), json!(known.checkpoint));
    record.insert("status".to_owned(), json!(known.status));
    record.insert("state_sha256".to_owned(), json!(record::state_sha256(state)));
    record.insert("recorded_at".to_owned(), with["now"].clone());
    Ok(record::render(&Value::Object(record)))
}
