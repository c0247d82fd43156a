//! Calling a role.

use std::time::Duration;

use loopwright_core::definition::{Call as Called, Kind, Role};
use loopwright_core::machine::{Cost, Effect, Outcome, Report, raised};
use loopwright_core::name::Name;
use loopwright_core::schema::Schema;
use loopwright_core::signal;
use serde_json::{Value, json};

use super::bounds::{Bounds, Undone, keep_within, listed};
use super::calling::{self, Beside, Heard};
use super::settings::{self, Settings};
use super::{Done, Prepared, engine_fields, heads, rules, told, told_besides};
use crate::agents::{Returns, Wanted};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::process::Cancel;
use crate::scene::{Scene, meant};

/// What a role is told, and how it may answer.
pub(super) fn prompt(
    scene: &Scene<'_>,
    (name, role, call): (&Name, &Role, Option<&Called>),
    by_tool: bool,
) -> Result<String, EngineError> {
    let own = call.and_then(|it| it.prompt.as_ref());
    let text = own.or(role.prompt.as_ref()).map(|it| scene.pick(it)).transpose()?.flatten();
    let text = text.ok_or_else(|| EngineError::Wrong(format!("the role `{name}` has no prompt here")))?;
    let mut prompt = scene.text(meant(scene.folder, text))?;
    prompt.push_str(&told::before(scene));
    prompt.push_str(&told::bounds(scene, (name, role, call))?);
    prompt.push_str(&wanted(scene, role, call)?.told(by_tool));
    Ok(prompt)
}

pub(super) fn wanted<'a>(
    scene: &Scene<'a>,
    role: &'a Role,
    call: Option<&'a Called>,
) -> Result<Wanted<'a>, EngineError> {
    let verdicts = call.and_then(|it| it.verdicts.as_ref()).unwrap_or(&role.verdicts);
    let returns = call.and_then(|it| it.returns.as_ref()).or(role.returns.as_ref());
    let returns = returns.map(|file| {
        let text = scene.folder.text(file);
        let schema = text.and_then(|text| Some((text, Schema::read(text).ok()?)));
        let (text, schema) =
            schema.ok_or_else(|| EngineError::Wrong(format!("the schema `{file}` cannot be read")))?;
        Ok::<_, EngineError>(Returns { file, text, schema })
    });
    Ok(Wanted { verdicts, findings: role.findings.as_ref(), asks: role.asks, returns: returns.transpose()? })
}

pub(super) fn role_of<'s>(scene: &Scene<'s>, name: &Name) -> Result<&'s Role, EngineError> {
    scene.workflow.roles.get(&**name).ok_or_else(|| EngineError::Wrong(format!("there is no role `{name}`")))
}

pub(super) fn prepare(
    engine: &Engine,
    scene: &Scene<'_>,
    role: &Name,
    advice: &[Name],
) -> Result<Prepared, EngineError> {
    if let Some(found) = unasked(scene)? {
        let head = heads::now(scene.files.git())?;
        let values = json!({"role": role, "tree": scene.look.tree, "head": head, "found": found});
        return Ok(Prepared { values, kept: Vec::new(), settings: settings::now(scene.files.git())? });
    }
    let call = scene.state().and_then(|it| it.call());
    let (mut kept, mut agent) = (Vec::new(), None);
    for (name, call) in [(role, call)].into_iter().chain(advice.iter().map(|it| (it, None))) {
        // Whoever is not there is missed before anything is on record as begun.
        let who = calling::who(engine, scene, name)?;
        let by_tool = who.iter().any(|it| it.agent.takes_tools());
        if name == role {
            agent = who.first().map(|it| it.name.clone());
        }
        let text = prompt(scene, (name, role_of(scene, name)?, call), by_tool)?;
        let adviser = advice.contains(name) && name != role;
        kept.push((if adviser { format!("prompt-{name}") } else { "prompt".to_owned() }, text));
    }
    let head = heads::now(scene.files.git())?;
    let values = json!({"role": role, "agent": agent, "tree": scene.look.tree, "head": head});
    Ok(Prepared { values, kept, settings: settings::now(scene.files.git())? })
}

pub(super) fn perform(
    engine: &Engine,
    scene: &Scene<'_>,
    effect: &Effect,
    (role, advice): (&Name, &[Name]),
    (values, settings): (&Value, &Settings),
    cancel: &Cancel,
) -> Result<Done, EngineError> {
    if let Some(found) = values["found"].as_str() {
        return told_unasked(scene, (role, found));
    }
    let call = scene.state().and_then(|it| it.call());
    let Said { mut outcome, mut kept, advice, limited } =
        said(engine, scene, (effect, None), (role, advice), cancel)?;
    let said = heads::put_back(scene, &values["head"], settings)?;
    let bounds = Bounds::of_call(scene, role, call)?;
    let (look, mut changes, undone) = keep_within(scene, scene.look, &bounds)?;
    if let Some(since) = values["since"].as_str().filter(|it| *it != scene.look.tree) {
        changes = look.since(&scene.files.look_back(since)?);
    }
    let of_role = role_of(scene, role)?;
    let ruled = match &undone {
        None => rules::keep(scene, (scene.look, &look), &changes, (of_role, call))?,
        Some(_) => None,
    };
    let (look, undone, why) = match ruled {
        None => (look, undone, None),
        Some((look, undone, why)) => (look, Some(undone), Some(why)),
    };
    let (look, put_back) = match engine_fields::put_back(scene, scene.look, &changes, None)? {
        Some((look, said)) => (look, Some(said)),
        None => (look, None),
    };
    let after = Scene { look: &look, ..*scene };
    if let Some(undone) = undone {
        if *outcome.signal != *signal::CANCELLED {
            outcome = Outcome { cost: outcome.cost, ..out_of_bounds(role, &undone) };
            if let Some(why) = why {
                told_besides(&mut outcome, &why);
            }
        }
        kept.push(("undone".to_owned(), undone.patch));
    } else if limited.is_none()
        && !signal::is_failure(&outcome.signal)
        && let Some(why) = missing(&after, call, &changes)?
    {
        let said = std::mem::take(&mut outcome.summary);
        outcome = Outcome { summary: why, cost: outcome.cost, ..Outcome::of("malformed") };
        if !said.is_empty() {
            told_besides(&mut outcome, &format!("it says: {said}"));
        }
    }
    with_advice(&mut outcome, advice);
    if let Some(gate) = scene.state().and_then(|it| it.gate.as_ref()) {
        outcome.judged = Some(after.judged(&gate.name)?);
    }
    for said in said.into_iter().chain(put_back) {
        told_besides(&mut outcome, &format!("while `{role}` was at work, {said}"));
    }
    Ok(Done { kept, look: Some(look), limited, ..Done::of(outcome) })
}

/// What is found without asking the judge, where there is something.
fn unasked(scene: &Scene<'_>) -> Result<Option<String>, EngineError> {
    let Some(Kind::Review { unasked: Some(unasked), .. }) = scene.state().map(|it| &it.kind) else {
        return Ok(None);
    };
    let found = scene.text(&unasked.finds)?;
    Ok(Some(found.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|it| !it.is_empty()))
}

/// The outcome of a review that needed no call: the verdict that its finding asks for.
fn told_unasked(scene: &Scene<'_>, (role, found): (&Name, &str)) -> Result<Done, EngineError> {
    let state = scene.state();
    let Some(Kind::Review { call, unasked: Some(unasked), .. }) = state.map(|it| &it.kind) else {
        return Err(EngineError::Wrong(format!("`{}` finds nothing by itself", scene.run.at.state)));
    };
    let of_role = role_of(scene, role)?;
    let verdicts = call.verdicts.as_ref().unwrap_or(&of_role.verdicts);
    let finding = Report {
        severity: unasked.severity.clone(),
        topic: unasked.topic.clone(),
        text: found.to_owned(),
        ..Report::default()
    };
    let best = verdicts.keys().next().cloned().unwrap_or_default();
    let declared = of_role.findings.clone().unwrap_or_default();
    let findings = vec![finding];
    let signal = raised(&best, verdicts, &declared, &findings).map_or(best.clone(), |(name, _)| name.clone());
    let mut outcome = Outcome { findings, summary: found.to_owned(), ..Outcome::of(signal) };
    if let Some(gate) = state.and_then(|it| it.gate.as_ref()) {
        outcome.judged = Some(scene.judged(&gate.name)?);
    }
    Ok(Done::of(outcome))
}

/// What a role and those who advise it said.
pub(super) struct Said {
    pub(super) outcome: Outcome,
    /// Texts that are kept about it, by name.
    pub(super) kept: Vec<(String, String)>,
    pub(super) advice: serde_json::Map<String, Value>,
    pub(super) limited: Option<Duration>,
}

/// Calls a role, after those who advise it.
pub(super) fn said(
    engine: &Engine,
    scene: &Scene<'_>,
    (effect, beside): (&Effect, Beside<'_>),
    (role, advice): (&Name, &[Name]),
    cancel: &Cancel,
) -> Result<Said, EngineError> {
    let call = scene.state().and_then(|it| it.call());
    let mut kept = Vec::new();
    let mut heard = serde_json::Map::new();
    let mut spent = Cost::default();
    for adviser in advice {
        // One that has no more to give for now is one that fails: the judge does not wait for it.
        let Heard { mut outcome, transcript, .. } =
            calling::role(engine, scene, (effect, beside), (adviser, None), cancel)?;
        kept.push((format!("transcript-{adviser}"), transcript));
        spent = spent.and(outcome.cost);
        // What one writes is not to be taken for the judge's. Where several are at work, nobody can tell whose it is.
        let undone = match beside {
            None => keep_within(scene, scene.look, &Bounds::of_call(scene, adviser, None)?)?.2,
            Some(_) => None,
        };
        if let Some(undone) = undone {
            outcome = out_of_bounds(adviser, &undone);
            kept.push((format!("undone-{adviser}"), undone.patch));
        }
        heard.insert(adviser.to_string(), json!({"signal": outcome.signal, "summary": outcome.summary}));
    }
    let Heard { mut outcome, transcript, limited } =
        calling::role(engine, scene, (effect, beside), (role, call), cancel)?;
    kept.push(("transcript".to_owned(), transcript));
    outcome.cost = outcome.cost.and(spent);
    Ok(Said { outcome, kept, advice: heard, limited })
}

/// Puts what advisers said to what an outcome brings along.
pub(super) fn with_advice(outcome: &mut Outcome, advice: serde_json::Map<String, Value>) {
    if advice.is_empty() {
        return;
    }
    let mut returns = match std::mem::take(&mut outcome.returns) {
        Value::Object(returns) => returns,
        _ => serde_json::Map::new(),
    };
    returns.insert("advice".to_owned(), advice.into());
    outcome.returns = returns.into();
}

fn out_of_bounds(role: &Name, undone: &Undone) -> Outcome {
    let files = listed(&undone.paths);
    let summary = format!(
        "while `{role}` was at work, files changed that it may not write, and that was undone: {files}"
    );
    let summary = match &undone.aside {
        Some(aside) => format!(
            "{summary}; a repository within this one is nothing that can be committed, and is now in {}",
            aside.display()
        ),
        None => summary,
    };
    Outcome { summary, ..Outcome::of("out-of-bounds") }
}

/// How long something may take: no longer than is left of the time there is.
pub(super) fn within_budget(scene: &Scene<'_>, wall: Duration) -> Duration {
    let left = scene.machine().and_then(|it| scene.run.time_left(it));
    left.map_or(wall, |it| wall.min(Duration::from_millis(it)))
}

/// What a call should have left behind and did not.
pub(super) fn missing(
    scene: &Scene<'_>,
    call: Option<&Called>,
    changes: &[crate::files::Change],
) -> Result<Option<String>, EngineError> {
    let Some(call) = call else { return Ok(None) };
    for document in scene.run.pick(&call.produces).into_iter().flatten() {
        for leaf in scene.workflow.leaves(document) {
            if let Some(why) = scene.incomplete(&leaf, changes)? {
                return Ok(Some(why));
            }
        }
    }
    for document in &call.changes {
        let sets = scene.set(document)?;
        if !changes.iter().any(|change| sets.iter().any(|it| it.matches(change.path()))) {
            return Ok(Some(format!("the document `{document}` should have changed, and has not")));
        }
    }
    Ok(None)
}
