//! Null tests. A value that may be null has to be tested before it is used, and the test stands elsewhere in the
//! expression: this file says which paths are not null where a condition came out one way or the other.
//!
//! `a && b` is true for both sides of each other: CEL takes `false` from either side even when the other one fails,
//! so `x.f == 1 && x != null` is as safe as the other way round.

use std::collections::BTreeSet;

use super::tree::{Kind, Node, Operator};
use super::types::Type;

/// Paths that are not null; `docs.plan.*` stands for everything below `docs.plan`.
pub(super) type Present = BTreeSet<String>;

/// What is not null when a condition came out this way.
pub(super) fn present_when(condition: &Node, outcome: bool) -> Present {
    match &condition.kind {
        Kind::Not(inner) => present_when(inner, !outcome),
        Kind::And(left, right) => combine(left, right, outcome, outcome),
        Kind::Or(left, right) => combine(left, right, outcome, !outcome),
        Kind::Binary { operator: Operator::Equal, left, right } => compared(left, right, outcome),
        Kind::Binary { operator: Operator::Unequal, left, right } => compared(left, right, !outcome),
        Kind::Has { operand, field } if outcome => operand.path().map_or_else(Present::new, |path| {
            let field = format!("{path}.{}", field.text);
            Present::from([path, field])
        }),
        // A document that exists has its fields; that is what its `exists` is for.
        Kind::Select { operand, field } if outcome && field.text == "exists" => {
            operand.path().map(|path| format!("{path}.*")).into_iter().collect()
        }
        _ => Present::new(),
    }
}

/// Both sides came out this way, or at least one of them did.
fn combine(left: &Node, right: &Node, outcome: bool, both: bool) -> Present {
    let (left, right) = (present_when(left, outcome), present_when(right, outcome));
    if both { &left | &right } else { &left & &right }
}

/// Unequal to null, or equal to a literal that is not null.
fn compared(left: &Node, right: &Node, equal: bool) -> Present {
    let (path, literal) = match (left.path(), right.path()) {
        (Some(path), None) => (path, right),
        (None, Some(path)) => (path, left),
        _ => return Present::new(),
    };
    let told = match literal.kind {
        Kind::Null => !equal,
        Kind::Bool(_) | Kind::Int(_) | Kind::Float(_) | Kind::Text(_) => equal,
        _ => false,
    };
    if told { Present::from([path]) } else { Present::new() }
}

/// Whether a path is among those.
pub(super) fn covers(present: &Present, path: &str) -> bool {
    present.contains(path)
        || path.match_indices('.').any(|(dot, _)| present.contains(&format!("{}.*", &path[..dot])))
}

/// A type with these fields of it no longer null: what is left after a `filter`. Paths start with the variable.
pub(super) fn refined(element: &Type, variable: &str, present: &Present) -> Type {
    let inside = |path: &String| {
        path.strip_prefix(variable).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    present.iter().filter(|path| inside(path)).fold(element.clone(), |refined, path| {
        let fields: Vec<&str> = path[variable.len()..].split('.').skip(1).filter(|it| *it != "*").collect();
        without_null(refined, &fields)
    })
}

fn without_null(it: Type, fields: &[&str]) -> Type {
    match (it, fields) {
        (Type::Maybe(inner), []) => *inner,
        (Type::Record(mut record), [first, rest @ ..]) => {
            if let Some(field) = record.get_mut(*first) {
                *field = without_null(std::mem::replace(field, Type::Any), rest);
            }
            Type::Record(record)
        }
        (other, _) => other,
    }
}
