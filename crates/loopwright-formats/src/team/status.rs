//! `status.json`: where a session stands, for people and other tools.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::words::{each_once, first, items, line, word};
use super::{Change, Problem, decisions};

/// What the run's own counts go by.
const WHOLE: &str = "meta";
const MODES: &[&str] = &["full", "lean"];
const RESULTS: &[&str] = &["unknown", "green", "red"];
const CORRECTIONS: &[&str] = &["none", "queued", "dispatched", "completed"];

/// Where a session stands, and what of it cannot be understood. What a file does not say is nothing in particular.
pub fn read(file: &Value) -> (Value, Vec<Problem>) {
    let mut problems = Vec::new();
    if !file.is_object() && !file.is_null() {
        problems.push(Problem::new("", "this is no map of fields"));
    }
    let text = |name: &str| line(&file[name]);
    let state = text("current_state");
    let gate = &file["gate_tracking"]["APPROVE_DESIGN"];
    let sent = &gate["last_correction_dispatch"];
    let maybe = |it: &Value| Some(line(it)).filter(|it| !it.is_empty());
    let mut one_of = |place: &str, said: &Value, known: &[&str], start: &str| {
        let said = line(said);
        let meant = known.iter().find(|it| **it == word(&said));
        if meant.is_none() && !said.is_empty() {
            problems.push(Problem::new(place, format!("`{said}` is none of {}", known.join(", "))));
        }
        (*meant.unwrap_or(&start)).to_owned()
    };
    let begun = if state == "INTAKE_LEAN" { "lean" } else { "full" };
    let mode = one_of("mode", &file["mode"], MODES, begun);
    let correction = "gate_tracking.APPROVE_DESIGN.correction_status";
    let correction = one_of(correction, &gate["correction_status"], CORRECTIONS, "none");
    let result = one_of("last_ci_result", &file["last_ci_result"], RESULTS, "unknown");
    let value = json!({
        "session": text("session"),
        "mode": mode,
        "current_state": state,
        "user_decisions": decisions::read(&file["user_decisions"], &mut problems),
        "retry_counts": counts(&file["retry_counts"], &mut problems),
        "known_issues": notes(file, "known_issues"),
        "assumptions": notes(file, "assumptions"),
        "gate_tracking": {"APPROVE_DESIGN": {
            "correction_status": correction,
            "last_correction_dispatch": {
                "agent": maybe(&sent["agent"]), "task_id": maybe(&sent["task_id"]), "at": maybe(&sent["at"]),
            },
        }},
        "runtime_flags": {
            "copilot_instructions_exists": file["runtime_flags"]["copilot_instructions_exists"] == true,
            "copilot_checked_at": line(&file["runtime_flags"]["copilot_checked_at"]),
        },
        "last_ci_result": result,
        "last_update": text("last_update"),
        "blocker": maybe(&file["blocker"]),
        "completed_tasks": ids(file, "completed_tasks"),
        "blocked_tasks": ids(file, "blocked_tasks"),
    });
    (value, problems)
}

/// What keeps a file from being one others can go on from.
pub fn lacking(file: &Value) -> Option<Problem> {
    let invalid = |(place, it)| decisions::invalid(it).map(|why| Problem::new(place, why));
    items(&file["user_decisions"], "user_decisions").into_iter().find_map(invalid)
}

/// Sentences that any agent may add to.
fn notes(file: &Value, name: &str) -> Vec<String> {
    items(&file[name], name).into_iter().map(|(_, it)| note(it)).filter(|it| !it.is_empty()).collect()
}

fn note(written: &Value) -> String {
    first(written, &["summary", "description", "text"]).map_or_else(|| line(written), |(_, it)| line(it))
}

/// Tasks that the first generation lists here.
fn ids(file: &Value, name: &str) -> Vec<String> {
    let id = |it: &Value| first(it, &["id", "task_id", "task"]).map_or_else(|| line(it), |(_, it)| line(it));
    items(&file[name], name).into_iter().map(|(_, it)| id(it)).filter(|it| !it.is_empty()).collect()
}

/// Repairs by task and kind. Counts by kind alone are those of the session.
fn counts(there: &Value, problems: &mut Vec<Problem>) -> Value {
    let mut all = Map::new();
    let fields = match there {
        Value::Null => return Value::Object(all),
        Value::Object(fields) => fields,
        _ => {
            problems.push(Problem::new("retry_counts", "this is no map of counts by task"));
            return Value::Object(all);
        }
    };
    for (task, counted) in fields {
        let (task, alone) = if counted.is_number() && task.starts_with("FIX_") {
            (WHOLE, json!({task: counted}))
        } else {
            (task.as_str(), counted.clone())
        };
        let place = format!("retry_counts.{task}");
        let own = all.entry(task).or_insert_with(|| json!({}));
        match &alone {
            Value::Null => {}
            Value::Object(kinds) => {
                for (kind, count) in kinds.iter().filter(|(_, it)| !it.is_null()) {
                    match count.as_u64() {
                        Some(_) => own[kind.as_str()] = count.clone(),
                        None if kind.starts_with("FIX_") => {
                            problems.push(Problem::new(format!("{place}.{kind}"), "this is no count"));
                        }
                        // What others keep there is theirs.
                        None => {}
                    }
                }
            }
            _ => problems.push(Problem::new(place, "this is no map of counts by kind")),
        }
    }
    Value::Object(all)
}

/// What has to change in a file so that a field shows a value of a run; nothing, if it does. `now` is when that is.
pub fn changes(file: &Value, field: &str, value: &Value, now: Option<&str>) -> Result<Vec<Change>, String> {
    let stamp = now.map_or_else(|| line(&file["last_update"]), str::to_owned);
    let mut changes = match field {
        "user_decisions" => decisions::changes(&file[field], value, &stamp)?,
        "retry_counts" => spent(&file[field], value)?,
        "known_issues" | "assumptions" => noted(field, &file[field], value)?,
        _ => plain(file, field, value)?,
    };
    if let (false, Some(now)) = (changes.is_empty(), now) {
        if field == "runtime_flags.copilot_instructions_exists" {
            changes.push(Change::set("runtime_flags.copilot_checked_at", now));
        }
        if field != "last_update" && file["last_update"] != *now {
            changes.push(Change::set("last_update", now));
        }
    }
    Ok(changes)
}

/// A field that holds one word.
fn plain(file: &Value, field: &str, value: &Value) -> Result<Vec<Change>, String> {
    if value.is_object() || value.is_array() {
        return Err("this field holds one word".to_owned());
    }
    let parts: Vec<&str> = field.split('.').collect();
    let known: Option<&[&str]> = match parts.as_slice() {
        ["mode"] => Some(MODES),
        ["last_ci_result"] => Some(RESULTS),
        ["gate_tracking", _, "correction_status"] => Some(CORRECTIONS),
        ["session" | "current_state" | "last_update" | "blocker"]
        | ["runtime_flags", _]
        | ["gate_tracking", _, "last_correction_dispatch", _] => None,
        _ => return Err(format!("nobody can set `{field}`")),
    };
    if let Some(known) = known
        && !value.is_null()
        && !known.iter().any(|it| value == it)
    {
        return Err(format!("`{}` is none of {}", line(value), known.join(", ")));
    }
    let value = match (parts.as_slice(), value.as_str()) {
        (["blocker"] | [.., "last_correction_dispatch", _], Some("")) => Value::Null,
        ([.., "last_correction_dispatch", "agent"], Some(agent)) => agent_of(agent).into(),
        _ => value.clone(),
    };
    let there = parts.iter().try_fold(file, |it, part| it.get(part)).unwrap_or(&Value::Null);
    let is_nothing = |it: &Value| it.is_null() || it == "";
    if *there == value || is_nothing(there) && is_nothing(&value) {
        return Ok(Vec::new());
    }
    Ok(vec![Change::set(field, value)])
}

/// An agent as other tools call it; here it is also called by its role, or by what it writes.
fn agent_of(agent: &str) -> &str {
    match agent.to_lowercase().as_str() {
        "spec" | "spec-agent" => "SpecAgent",
        "architecture" | "architect" => "Architect",
        "design" | "designer" => "Designer",
        _ => agent,
    }
}

/// Repairs that a run counted, by item and budget. What others counted stays.
fn spent(there: &Value, value: &Value) -> Result<Vec<Change>, String> {
    const FIELD: &str = "retry_counts";
    let wanted = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Object(wanted) => wanted,
        _ => return Err("counts are a map by item".to_owned()),
    };
    let mut by_task: IndexMap<&str, IndexMap<String, u64>> = IndexMap::new();
    for (item, budgets) in wanted {
        let Value::Object(budgets) = budgets else { return Err(format!("`{item}` has no map of budgets")) };
        let task = if item.is_empty() { WHOLE } else { item.as_str() };
        // The others are not repairs.
        for (budget, count) in budgets.iter().filter(|(name, _)| name.starts_with("fix-")) {
            let Some(count) = count.as_u64() else {
                return Err(format!("`{budget}` of `{item}` is no count"));
            };
            let kind = budget.to_uppercase().replace('-', "_");
            let sum = by_task.entry(task).or_default().entry(kind).or_default();
            *sum = sum.saturating_add(count);
        }
    }
    if !there.is_null() && !there.is_object() {
        return Err("what is there is no map of counts".to_owned());
    }
    let (mut changes, mut all, mut by_path) = (Vec::new(), there.clone(), true);
    if there.is_null() {
        changes.push(Change::set(FIELD, json!({})));
        all = json!({});
    }
    for (task, kinds) in by_task {
        let own = &there[task];
        if !own.is_null() && !own.is_object() {
            return Err(format!("what is there of `{task}` is no map of counts"));
        }
        for (kind, count) in kinds {
            let is_shown = own[&kind].as_u64() == Some(count) || own[&kind].is_null() && count == 0;
            if !is_shown {
                by_path &= !task.contains(['.', '[', ']']) && !kind.contains(['.', '[', ']']);
                changes.push(Change::set(format!("{FIELD}.{task}.{kind}"), count));
                all[task][kind.as_str()] = count.into();
            }
        }
    }
    // A name with a dot in it would be taken for two.
    Ok(if by_path { changes } else { vec![Change::set(FIELD, all)] })
}

/// Sentences that a run noted, behind those of others.
fn noted(field: &str, there: &Value, value: &Value) -> Result<Vec<Change>, String> {
    let entries = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Array(entries) => entries,
        _ => return Err("this is a list".to_owned()),
    };
    let texts: Vec<String> = entries.iter().map(sentence).filter(|it| !it.is_empty()).collect();
    let known: Vec<String> = match there {
        Value::Null => Vec::new(),
        Value::Array(known) => known.iter().map(note).collect(),
        _ => return Err("what is there is no list".to_owned()),
    };
    let begun = there.is_null().then(|| Change::set(field, json!([])));
    let new = each_once(texts.iter().map(String::as_str)).into_iter().filter(|it| !known.contains(it));
    Ok(begun.into_iter().chain(new.map(|it| Change::add(field, it))).collect())
}

/// What was recorded, as one sentence with its item in front.
fn sentence(entry: &Value) -> String {
    let Value::Object(_) = entry else { return line(entry) };
    let said = ["summary", "finding", "file"].iter().map(|it| line(&entry[*it])).find(|it| !it.is_empty());
    let came_out = || match (line(&entry["state"]), line(&entry["signal"])) {
        (state, signal) if state.is_empty() || signal.is_empty() => format!("{state}{signal}"),
        (state, signal) => format!("{state} came out {signal}"),
    };
    let said = said.unwrap_or_else(came_out);
    let item = line(&entry["item"]);
    if item.is_empty() || said.is_empty() || said.starts_with(&format!("{item}:")) {
        return said;
    }
    format!("{item}: {said}")
}
