//! New checkpoints, made from templates.

use std::collections::HashSet;

use indexmap::IndexMap;
use serde_json::Value;

use super::checks::{Part, PlanCheck};
use super::plan::{Checkpoint, Plan};
use super::text::{self, Ends};
use super::{ids, yaml};

/// What a template says, with placeholders filled in.
struct Filled {
    title: String,
    parts: Vec<(Part, Vec<String>)>,
}

/// A plan with one more checkpoint at the end of a stage, and the id of it. Every other byte of the plan stays.
///
/// A template is YAML with `title`, `objective`, `deliverables`, `acceptance`, `demo_commands` and `evidence`, each a text
/// or a list, in which `{{key}}` stands for a value.
pub fn add_checkpoint(
    plan_text: &str,
    template: &str,
    stage: &str,
    values: &IndexMap<String, String>,
) -> Result<(String, String), String> {
    let plan = Plan::read(plan_text);
    let known = ids::stage(text::trim(stage)).ok_or_else(|| format!("`{stage}` is no id of a stage"))?;
    let place =
        plan.stage_place(&known).ok_or_else(|| format!("the plan has no stage {known}; add it first"))?;
    let id = next_id(&plan, &known)?;
    let filled = fill(template, values)?;

    let ending = text::line_end(plan_text);
    let stage_text = plan_text.get(place.clone()).unwrap_or_default();
    let last = text::places(stage_text, Ends::Plain).filter(|it| !text::trim(it.text).is_empty()).last();
    let (end, ended, ruled) = last.map_or((place.end, true, false), |line| {
        (place.start + line.next, line.end() < line.next, text::trim(line.text) == "---")
    });
    let mut new = String::new();
    if !ended {
        new.push_str(ending);
    }
    new.push_str(ending);
    new.push_str(&render(&id, &filled, ending));
    if ruled {
        // Plans whose checkpoints end with a rule have one behind the last of them too.
        new.extend([ending, "---", ending]);
    }
    let follows = plan_text.get(end..).unwrap_or_default();
    if !follows.is_empty() && !follows.starts_with(['\n', '\r']) {
        new.push_str(ending);
    }
    let mut out = plan_text.get(..end).unwrap_or_default().to_owned();
    out.push_str(&new);
    out.push_str(follows);
    hold(&plan, &out, &id, &known)?;
    Ok((out, id))
}

/// Reads the new plan again: it has this checkpoint, whole, and is otherwise as it was.
fn hold(before: &Plan, text: &str, id: &str, stage: &str) -> Result<(), String> {
    let after = Plan::read(text);
    let names = |plan: &Plan, without: Option<usize>| -> Vec<Checkpoint> {
        let kept = plan.checkpoints.iter().enumerate().filter(|(at, _)| Some(*at) != without);
        kept.map(|(_, it)| it.without_place()).collect()
    };
    let at = after.checkpoints.iter().position(|it| it.id == id);
    let is_there =
        at.and_then(|at| after.checkpoints.get(at)).is_some_and(|it| it.stage.as_deref() == Some(stage));
    let stages = |plan: &Plan| plan.stages.iter().map(|it| it.id.clone()).collect::<Vec<_>>();
    if !is_there || names(&after, at) != names(before, None) || stages(&after) != stages(before) {
        return Err(format!(
            "checkpoint {id} would not be read from the plan as it is written; look for a fence that is not closed in \
             stage {stage}, or for headings in the template"
        ));
    }
    let check = PlanCheck::of(&after, id);
    match Part::ALL.into_iter().find(|part| !check.has(*part)) {
        None => Ok(()),
        Some(part) => Err(format!(
            "checkpoint {id} would be without `{}`; look for another heading that mentions {id}",
            part.name()
        )),
    }
}

/// One more than the highest id of a stage.
fn next_id(plan: &Plan, stage: &str) -> Result<String, String> {
    let mut next = 0;
    for (of, minor) in plan.checkpoints.iter().filter_map(|it| ids::halves(&it.id)) {
        if of == stage {
            let minor: u64 =
                minor.parse().map_err(|_| format!("{of}.{minor} is too large to count on from"))?;
            next = next.max(minor.saturating_add(1));
        }
    }
    Ok(format!("{stage}.{next}"))
}

fn fill(template: &str, values: &IndexMap<String, String>) -> Result<Filled, String> {
    let read = yaml::read(template).map_err(|fault| format!("the template cannot be read: {fault}"))?;
    let Value::Object(template) = read else { return Err("the template is not a map".to_owned()) };
    let mut used = HashSet::new();
    let mut take = |field: &str| -> Result<Vec<String>, String> {
        let raw = match template.get(field) {
            Some(Value::Array(items)) => {
                items.iter().map(|it| scalar(field, it)).collect::<Result<_, _>>()?
            }
            Some(Value::Null) | None => Vec::new(),
            Some(other) => vec![scalar(field, other)?],
        };
        let mut items = Vec::new();
        for item in raw {
            let item = expand(&item, values, &mut used)?;
            let lines = text::lines(&item).map(text::trim).filter(|it| !it.is_empty());
            items.extend(lines.map(|it| text::bullet(it).unwrap_or(it).to_owned()));
        }
        if items.is_empty() { Err(format!("the template does not say its `{field}`")) } else { Ok(items) }
    };
    let title = take("title")?.join(" ");
    let fields = ["objective", "deliverables", "acceptance", "demo_commands", "evidence"];
    let mut parts = Vec::new();
    for (part, field) in Part::ALL.into_iter().zip(fields) {
        parts.push((part, take(field)?));
    }
    if let Some(unknown) = values.keys().find(|it| !used.contains(*it)) {
        return Err(format!("the template has no place for `{unknown}`"));
    }
    Ok(Filled { title, parts })
}

fn scalar(field: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err(format!("`{field}` of the template is neither a text nor a list of texts")),
    }
}

/// A text with its placeholders filled in. What is filled in is not looked at again.
fn expand(
    text: &str,
    values: &IndexMap<String, String>,
    used: &mut HashSet<String>,
) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once("{{") {
        let Some((key, after)) = inside.split_once("}}") else { break };
        let key = text::trim(key);
        let Some(value) = values.get(key) else {
            return Err(format!("the template wants a value for `{key}`"));
        };
        used.insert(key.to_owned());
        out.push_str(before);
        out.push_str(value);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

fn render(id: &str, filled: &Filled, ending: &str) -> String {
    let mut lines = vec![format!("### {id} — {}", filled.title), String::new()];
    for (part, items) in &filled.parts {
        lines.push(format!("* **{}:**", part.name()));
        lines.extend(items.iter().map(|item| match part {
            Part::Objective => format!("  {item}"),
            Part::Demo => format!("  * `{}`", without_ticks(item)),
            _ => format!("  * {item}"),
        }));
    }
    lines.push(String::new());
    lines.join(ending)
}

/// A command without the backticks that may be around it already.
fn without_ticks(command: &str) -> &str {
    command
        .strip_prefix('`')
        .and_then(|it| it.strip_suffix('`'))
        .filter(|it| !it.is_empty())
        .unwrap_or(command)
}
