//! What an item is: an entry of the list its loop goes through.

use indexmap::IndexMap;

use super::resolve_routes::runs_child;
use super::types::{Types, finding, record};
use crate::definition::{Each, Kind, Machine, State, Workflow};
use crate::fact::Type;
use crate::name::in_expression;

/// What `item` is in a machine: in a child an entry of every list it is run for; elsewhere, where it is known at all,
/// what the state says.
pub(super) fn item_of(workflow: &Workflow, machine: &Machine, types: &Types) -> Type {
    let Some(child) = &machine.name else { return Type::Any };
    let lists = runs_child(&workflow.main, child).into_iter().filter_map(each).map(|it| it.list.as_str());
    alike(lists.map(|it| entry_of(workflow, it, types)))
}

/// What loops call their items, and what these are. Where two say the same of different things, nothing is known.
pub(super) fn named_items(workflow: &Workflow, machine: &Machine, types: &Types) -> IndexMap<String, Type> {
    let mut names: IndexMap<String, Type> = IndexMap::new();
    for each in machine.states.values().filter_map(each) {
        let of = entry_of(workflow, &each.list, types);
        let known = names.entry(each.item.in_expression()).or_insert_with(|| of.clone());
        if *known != of {
            *known = Type::Any;
        }
    }
    names
}

/// What an entry of a list is, if that is known.
pub(super) fn entry_of(workflow: &Workflow, list: &str, types: &Types) -> Type {
    let mut list = in_expression(list);
    // Items that came to an end of a loop are entries of that loop's list, which may be such items again.
    for _ in 0..=workflow.main.states.len() {
        let mut parts = list.split('.');
        match (parts.next(), parts.next()) {
            (Some("items"), Some(state)) => {
                let of_loop = workflow.main.states.values().find(|it| it.name.in_expression() == state);
                let Some(each) = of_loop.and_then(each) else { return Type::Any };
                list = in_expression(&each.list);
            }
            (Some("docs"), Some(document)) => {
                let found = types.documents.iter().find(|(name, _)| in_expression(name) == document);
                let of = found.map_or(Type::Any, |(_, of)| of.clone());
                return identified(parts.fold(of, field));
            }
            (Some("lists"), Some(_)) => return recorded(),
            (Some("findings"), Some("open" | "closed")) => return finding(Type::Text, Type::Text),
            _ => return Type::Any,
        }
    }
    Type::Any
}

/// An entry that `record` makes.
pub(super) fn recorded() -> Type {
    let maybe = || Type::Text.maybe();
    record([
        ("item", maybe()),
        ("state", Type::Text),
        ("signal", Type::Text),
        ("summary", Type::Text),
        ("finding", maybe()),
        ("file", maybe()),
    ])
}

fn each(state: &State) -> Option<&Each> {
    match &state.kind {
        Kind::Each(each) => Some(each),
        _ => None,
    }
}

fn field(of: Type, name: &str) -> Type {
    match of {
        Type::Record(mut fields) => fields.swap_remove(name).unwrap_or(Type::Any),
        Type::Maybe(inner) => field(*inner, name),
        Type::Map(of) => *of,
        _ => Type::Any,
    }
}

/// An entry of a list. Every item goes by an id.
fn identified(list: Type) -> Type {
    match list {
        Type::List(of) => match *of {
            Type::Record(mut fields) => {
                fields.entry("id".into()).or_insert(Type::Text);
                Type::Record(fields)
            }
            _ => Type::Any,
        },
        Type::Maybe(inner) => identified(*inner),
        _ => Type::Any,
    }
}

fn alike(mut types: impl Iterator<Item = Type>) -> Type {
    let first = types.next().unwrap_or(Type::Any);
    if types.all(|it| it == first) { first } else { Type::Any }
}
