//! Where documents say that a run stands: what a person edited, or all there is of a run that no journal knows.

use indexmap::IndexMap;
use loopwright_core::definition::{Document, Workflow};
use loopwright_core::name::Name;
use serde_json::{Map, Value};

use crate::effects::{self, Edit};
use crate::error::EngineError;
use crate::scene::Scene;

/// Where a run is to stand.
#[derive(Default)]
pub(crate) struct Wanted {
    /// The phase, if documents say one.
    pub(crate) phase: Option<Name>,
    /// Variables.
    pub(crate) vars: IndexMap<Name, Name>,
}

/// What a field shows.
enum Shows<'w> {
    Phase,
    Variable(&'w Name, &'w [Name]),
    /// Something that nothing follows from.
    Other,
}

fn shows<'w>(workflow: &'w Workflow, document: &str, field: &str) -> Shows<'w> {
    let text = workflow.documents.get(document).and_then(|it: &Document| it.shows.get(field));
    let name = text.and_then(|it| it.trim().strip_prefix("{{")?.strip_suffix("}}")).map(str::trim);
    let variable = |it: &str| workflow.main.vars.iter().find(|(name, _)| name.in_expression() == it);
    match name {
        Some("phase") => Shows::Phase,
        Some(name) => variable(name).map_or(Shows::Other, |(name, it)| Shows::Variable(name, &it.values)),
        None => Shows::Other,
    }
}

/// Whether any document says where a run stands.
pub(crate) fn is_said(workflow: &Workflow) -> bool {
    let is_phase = |(name, field): (&Name, &String)| matches!(shows(workflow, name, field), Shows::Phase);
    workflow
        .documents
        .iter()
        .flat_map(|(name, it)| it.shows.keys().map(move |field| (name, field)))
        .any(is_phase)
}

/// What documents ask for by what stands in them now, or why it cannot be followed.
pub(crate) fn wanted(workflow: &Workflow, edits: &[Edit]) -> Result<Wanted, EngineError> {
    let mut wanted = Wanted::default();
    let mut places: IndexMap<Name, String> = IndexMap::new();
    for edit in edits.iter().filter(|it| !it.value.is_null()) {
        let value: Name = effects::as_text(&edit.value).into();
        let (name, known): (Name, Vec<&Name>) = match shows(workflow, &edit.document, &edit.field) {
            Shows::Phase => ("phase".into(), workflow.phases.keys().collect()),
            Shows::Variable(name, values) => (name.clone(), values.iter().collect()),
            Shows::Other => {
                return Err(refused(edit, "this only shows what the run is at, and nothing follows from it"));
            }
        };
        if !known.contains(&&value) {
            let known: Vec<String> = known.iter().map(|it| format!("`{it}`")).collect();
            let known = known.join(", ");
            let what = if *name == *"phase" { "is no phase" } else { "cannot be" };
            return Err(refused(edit, &format!("`{value}` {what}: it is one of {known}")));
        }
        let there = if *name == *"phase" { wanted.phase.as_ref() } else { wanted.vars.get(&*name) };
        if let Some(other) = there.filter(|it| **it != value) {
            let place = places.get(&*name).cloned().unwrap_or_default();
            return Err(refused(edit, &format!("`{value}` stands here, and `{other}` in {place}")));
        }
        places.insert(name.clone(), edit.place.clone());
        if *name == *"phase" {
            wanted.phase = Some(value);
        } else {
            wanted.vars.insert(name, value);
        }
    }
    Ok(wanted)
}

/// Where documents say that a run stands which nobody knows of. Nothing, if none of them says a phase.
pub(crate) fn found(scene: &Scene<'_>) -> Result<Option<Wanted>, EngineError> {
    let workflow = scene.workflow;
    let mut fields = Map::new();
    for (name, document) in &workflow.documents {
        let told = document.shows.keys().filter(|it| !matches!(shows(workflow, name, it), Shows::Other));
        let told: Map<String, Value> = told.map(|it| (it.clone(), Value::Null)).collect();
        if !told.is_empty() {
            fields.insert(name.to_string(), told.into());
        }
    }
    let found = wanted(workflow, &effects::edited(scene, &fields.into())?)?;
    Ok(Some(found).filter(|it| it.phase.is_some()))
}

/// Digests of what the gates judge that a landing vouches for, as it is now.
pub(crate) fn vouched(scene: &Scene<'_>, phase: &Name) -> Result<IndexMap<Name, String>, EngineError> {
    let mut digests = IndexMap::new();
    for gate in scene.workflow.phases.get(&**phase).into_iter().flat_map(|it| &it.settles) {
        digests.insert(gate.clone(), scene.judged(gate)?);
    }
    Ok(digests)
}

/// Why what stands in a document cannot be followed, and what to do.
pub(crate) fn refused(edit: &Edit, why: &str) -> EngineError {
    let Edit { place, field, before, .. } = edit;
    let (edited, back) = match before {
        Value::Null => ("says where it stands", String::new()),
        Value::Array(_) | Value::Object(_) => ("was edited", ", or put back what was there".to_owned()),
        before => ("was edited", format!(", or put `{}` back", effects::as_text(before))),
    };
    EngineError::Wrong(format!(
        "{place}: `{field}` {edited}, and {why}. The file was left as it is; put it right{back}"
    ))
}
