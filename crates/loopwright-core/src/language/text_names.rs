//! What texts and prompts can name.

use indexmap::IndexMap;

use super::item_types::named_items;
use super::loader::Loader;
use super::scope::Scope;
use super::types::{Types, environment, finding};
use crate::definition::{Given, Kind, Machine, State, Workflow};
use crate::fact::Type;
use crate::name::{Name, in_expression};
use crate::problem::did_you_mean;

/// Names a prompt can always use.
const ALWAYS: &[&str] = &["subject", "run", "state", "round", "phase", "facts"];

/// Names and what they give.
pub(super) type Names = IndexMap<String, Type>;

/// What could be written instead of a name that is not there: perhaps only the family is missing.
pub(super) fn instead(path: &str, part: &str, known: &[String], names: &Names) -> Option<String> {
    let first = path.split('.').next().unwrap_or_default();
    if part == first {
        let holds =
            |of: &&str| matches!(names.get(*of), Some(Type::Record(fields)) if fields.contains_key(first));
        if let Some(family) = ["inputs", "docs", "lists", "last", "items"].into_iter().find(holds) {
            return Some(format!("did you mean `{family}.{path}`?"));
        }
    }
    did_you_mean(part, known.iter().map(String::as_str))
}

/// What a prompt may use: what is always there, and what it is given.
pub(super) fn allowed(workflow: &Workflow, machine: &Machine, state: &State, given: &[Given]) -> Vec<String> {
    let mut allowed: Vec<String> = ALWAYS.iter().map(|it| (*it).to_owned()).collect();
    if in_loop(machine, state) {
        allowed.push("item".to_owned());
    }
    if let Kind::Each(each) = &state.kind {
        allowed.push(each.item.in_expression());
    }
    allowed.extend(items_around(workflow, machine).iter().map(Name::in_expression));
    for machine in [machine, &workflow.main] {
        allowed.extend(machine.vars.keys().chain(machine.facts.keys()).map(Name::in_expression));
    }
    allowed.extend(given.iter().map(|it| in_expression(&it.name)));
    allowed
}

/// Whether what a state does is done for an item.
pub(super) fn in_loop(machine: &Machine, state: &State) -> bool {
    machine.name.is_some() || matches!(state.kind, Kind::Each(_))
}

/// Whether a dotted name is another or a part of it.
pub(super) fn within(outer: &str, path: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|it| it.is_empty() || it.starts_with('.'))
}

/// The thing a dotted name is about: `docs.plan` of `docs.plan.sections`.
pub(super) fn root(path: &str) -> &str {
    let parts = match path.split('.').next() {
        Some("items") => 3,
        Some("docs" | "last" | "inputs" | "lists" | "findings" | "changed") => 2,
        _ => 1,
    };
    let end = path.match_indices('.').nth(parts - 1).map_or(path.len(), |(at, _)| at);
    &path[..end]
}

/// What items are called in a child: by whoever runs it.
fn items_around(workflow: &Workflow, machine: &Machine) -> Vec<Name> {
    let Some(child) = &machine.name else { return Vec::new() };
    let by = super::resolve_routes::runs_child(&workflow.main, child);
    let item = |it: &State| match &it.kind {
        Kind::Each(each) => Some(each.item.clone()),
        _ => None,
    };
    if by.is_empty() {
        // Nobody runs it, perhaps by mistake: any of them could.
        return workflow.main.states.values().filter_map(item).collect();
    }
    by.into_iter().filter_map(item).collect()
}

/// Everything a text can name.
pub(super) fn text_names(
    loader: &Loader<'_>,
    workflow: &Workflow,
    machine: &Machine,
    scope: &Scope<'_>,
    types: &Types,
) -> Names {
    let mut names = environment(loader, workflow, machine, scope, types);
    for name in ["subject", "run", "state", "round", "phase", "diff", "uncommitted", "note"]
        .into_iter()
        .chain(["today", "now", "from", "signal", "history"])
    {
        names.insert(name.into(), Type::Text);
    }
    for name in
        ["question", "answer", "changed_files", "folder", "decisions", "spent", "spent_by_item", "gate"]
    {
        names.insert(name.into(), Type::Any);
    }
    names.insert("finding".into(), finding(Type::Text, Type::Text));
    let cause = ["state", "signal", "summary", "exhausted"].map(|it| (it.to_owned(), Type::Text));
    names.insert("cause".into(), Type::Record(cause.into_iter().collect()));
    let mut facts = IndexMap::new();
    for machine in [&workflow.main, machine] {
        for (name, fact) in &machine.facts {
            let values = Type::OneOf(fact.values.iter().map(ToString::to_string).collect());
            facts.insert(name.in_expression(), values.clone());
            names.entry(name.in_expression()).or_insert(values);
        }
        for (name, of) in named_items(workflow, machine, types) {
            names.entry(name).or_insert(of);
        }
    }
    names.insert("facts".into(), Type::Record(facts));
    names
}
