//! What every name gives: the types that facts, texts and prompts are held against.

use indexmap::IndexMap;

use super::item_types::{entry_of, item_of, recorded};
use super::loader::Loader;
use super::resolve_nouns::declared_shape;
use super::scope::Scope;
use super::yaml::{Node, Value};
use crate::definition::{Findings, Kind, Machine, Workflow};
use crate::fact::Type;
use crate::library;
use crate::name::{Name, in_expression};
use crate::problem::did_you_mean;

/// What the documents of a workflow give.
pub(super) struct Types {
    pub(super) documents: IndexMap<String, Type>,
}

impl Types {
    pub(super) fn collect(loader: &Loader<'_>) -> Self {
        let mut documents = IndexMap::new();
        for entry in loader.root.get("documents").map(Node::entries).unwrap_or_default() {
            documents.insert(entry.key.clone(), loader.document_type(&entry.node));
        }
        Self { documents }
    }
}

impl Loader<'_> {
    fn document_type(&self, node: &Node) -> Type {
        let declared = declared_shape(node);
        let Some(reader) = node.get("as") else { return with_existence(declared) };
        let Some(name) = reader.text() else { return Type::Any };
        let Some(known) = library::readers().get(name) else {
            let message = format!("there is no reader `{name}`");
            self.wrong(
                "unknown-name",
                &reader.bytes,
                message,
                did_you_mean(name, library::readers().keys().map(String::as_str)),
            );
            return Type::Any;
        };
        for entry in node.get("with").map(Node::entries).unwrap_or_default() {
            if !known.with.contains(&entry.key) {
                let message = format!("the reader `{name}` takes no `{}`", entry.key);
                self.wrong(
                    "unknown-key",
                    &entry.key_bytes,
                    message,
                    did_you_mean(&entry.key, known.with.iter().map(String::as_str)),
                );
            }
        }
        if let (Some(shape), Some(_)) = (node.entry("shape"), &known.gives) {
            let message = format!("the reader `{name}` knows its own shape");
            self.wrong("bad-type", &shape.key_bytes, message, Some("remove `shape`".into()));
        }
        with_existence(known.gives.clone().or(declared))
    }
}

/// Every document says whether it exists; the rest is its reader's.
fn with_existence(gives: Option<Type>) -> Type {
    match gives {
        Some(Type::Record(mut fields)) => {
            fields.entry("exists".into()).or_insert(Type::Bool);
            Type::Record(fields)
        }
        Some(other) => other,
        None => record([("exists", Type::Bool), ("text", Type::Text)]),
    }
}

/// Reads a type as the library and `shape:` write it.
pub(crate) fn type_of(node: &Node) -> Type {
    match &node.value {
        Value::Empty => Type::Any,
        Value::Text { text, .. } => type_word(text),
        Value::List(items) => Type::List(Box::new(items.first().map_or(Type::Any, type_of))),
        Value::Map(entries) => match entries.as_slice() {
            [only] if only.key == "*" => Type::Map(Box::new(type_of(&only.node))),
            _ => Type::Record(entries.iter().map(|it| (it.key.clone(), type_of(&it.node))).collect()),
        },
    }
}

fn type_word(text: &str) -> Type {
    if let Some(inner) = text.strip_suffix('?') {
        return Type::Maybe(Box::new(type_word(inner)));
    }
    match text {
        "text" => Type::Text,
        "int" => Type::Int,
        "bool" => Type::Bool,
        words if words.contains('|') => {
            Type::OneOf(words.split('|').map(|it| it.trim().to_owned()).collect())
        }
        _ => Type::Any,
    }
}

pub(super) fn record<const N: usize>(fields: [(&str, Type); N]) -> Type {
    Type::Record(fields.into_iter().map(|(name, it)| (name.to_owned(), it)).collect())
}

fn list(of: Type) -> Type {
    Type::List(Box::new(of))
}

fn one_of<'a>(values: impl IntoIterator<Item = &'a Name>) -> Type {
    Type::OneOf(values.into_iter().map(ToString::to_string).collect())
}

/// Everything a fact, text or prompt of a machine can name.
pub(super) fn environment(
    loader: &Loader<'_>,
    workflow: &Workflow,
    machine: &Machine,
    scope: &Scope<'_>,
    types: &Types,
) -> IndexMap<String, Type> {
    let mut names: IndexMap<String, Type> = IndexMap::new();
    let mut put = |name: &str, of: Type| {
        names.insert(name.to_owned(), of);
    };
    put(
        "docs",
        Type::Record(types.documents.iter().map(|(name, it)| (in_expression(name), it.clone())).collect()),
    );
    put(
        "git",
        record([
            ("bare", Type::Bool),
            ("detached", Type::Bool),
            ("branch", Type::Text),
            ("base", Type::Text),
            ("worktree", Type::Text),
            ("dirty", Type::Bool),
            ("changed_files", list(Type::Text)),
        ]),
    );
    let commands = library::PROJECT_COMMANDS.iter().map(|it| ((*it).to_owned(), Type::Text));
    put("project", Type::Record(commands.chain([("language".to_owned(), Type::Text)]).collect()));
    let findings: Vec<_> = workflow.roles.values().filter_map(|it| it.findings.as_ref()).collect();
    let words = |of: fn(&Findings) -> &Vec<Name>| {
        let all: Vec<&Name> = findings.iter().flat_map(|it| of(it)).collect();
        if all.is_empty() || loader.has_problems() { Type::Text } else { one_of(all) }
    };
    let finding = finding(words(|it| &it.severity), words(|it| &it.topic));
    put(
        "findings",
        record([("open", list(finding.clone())), ("closed", list(finding)), ("rounds", list(Type::Any))]),
    );
    let changed = record([("count", Type::Int), ("files", list(Type::Text))]);
    put(
        "changed",
        Type::Record(workflow.documents.keys().map(|it| (it.in_expression(), changed.clone())).collect()),
    );
    put("inputs", Type::Record(workflow.inputs.keys().map(|it| (it.in_expression(), Type::Text)).collect()));
    put(
        "lists",
        Type::Record(workflow.lists.keys().map(|it| (it.in_expression(), list(recorded()))).collect()),
    );
    put("last", Type::Record(remembered(loader, workflow, machine)));
    put("items", items(loader, workflow, machine, types));
    put("item", item_of(workflow, machine, types));
    for machine in [Some(machine), scope.child.map(|_| &workflow.main)].into_iter().flatten() {
        for (name, variable) in &machine.vars {
            let known = !variable.values.is_empty() && !loader.is_broken(scope.values_node(loader, name));
            put(&name.in_expression(), if known { one_of(&variable.values) } else { Type::Any });
        }
    }
    names
}

/// A finding, as facts and texts see it.
pub(super) fn finding(severity: Type, topic: Type) -> Type {
    record([
        ("id", Type::Text),
        ("severity", severity),
        ("topic", topic),
        ("text", Type::Text),
        ("file", Type::Text),
        ("line", Type::Int.maybe()),
        ("subject", Type::Text),
        ("recommendation", Type::Text),
        ("gate", Type::Text),
        ("round", Type::Int),
    ])
}

fn remembered(loader: &Loader<'_>, workflow: &Workflow, machine: &Machine) -> IndexMap<String, Type> {
    let mut states = IndexMap::new();
    for machine in [&workflow.main, machine] {
        for (name, state) in &machine.states {
            let returns = state.call().is_some_and(|call| {
                call.returns.is_some()
                    || call
                        .role
                        .values()
                        .any(|it| workflow.roles.get(&**it).is_some_and(|it| it.returns.is_some()))
            });
            if returns || loader.is_vague(machine, name) {
                states.insert(name.in_expression(), Type::Any);
                continue;
            }
            let mut signals: Vec<String> = state.cells.keys().map(ToString::to_string).collect();
            signals.push("none".into());
            let mut fields: IndexMap<String, Type> = IndexMap::from([
                ("signal".to_owned(), Type::OneOf(signals)),
                ("summary".to_owned(), Type::Text),
                ("note".to_owned(), Type::Text),
                ("output".to_owned(), Type::Text),
                ("question".to_owned(), Type::Text),
            ]);
            for outcome in crate::signal::outcomes_of(workflow, state).values() {
                for (field, values) in &outcome.fields {
                    let mut values: Vec<String> = values.iter().map(ToString::to_string).collect();
                    values.push("none".into());
                    fields.insert(field.in_expression(), Type::OneOf(values));
                }
            }
            states.insert(name.in_expression(), Type::Record(fields));
        }
    }
    states
}

fn items(loader: &Loader<'_>, workflow: &Workflow, machine: &Machine, types: &Types) -> Type {
    let mut states = IndexMap::new();
    let all =
        [machine, &workflow.main].into_iter().flat_map(|it| it.states.iter().map(move |state| (it, state)));
    for (machine, (name, state)) in all {
        if loader.is_vague(machine, name) {
            states.insert(name.in_expression(), Type::Any);
        } else if let Kind::Each(each) = &state.kind {
            let of = entry_of(workflow, &each.list, types);
            let ends = state.cells.keys().map(|it| (it.in_expression(), list(of.clone()))).collect();
            states.insert(name.in_expression(), Type::Record(ends));
        }
    }
    Type::Record(states)
}

/// Follows a dotted path through types. `Err` says which part is unknown and what there is instead.
pub(super) fn follow(names: &IndexMap<String, Type>, path: &str) -> Result<Type, (String, Vec<String>)> {
    let mut parts = path.split('.');
    let head = parts.next().unwrap_or_default();
    let Some(mut at) = names.get(head).cloned() else {
        return Err((head.to_owned(), names.keys().cloned().collect()));
    };
    for part in parts {
        at = match at {
            Type::Record(fields) => match fields.get(part) {
                Some(next) => next.clone(),
                None => return Err((part.to_owned(), fields.keys().cloned().collect())),
            },
            Type::Map(of) => *of,
            Type::Maybe(of) => match *of {
                Type::Record(fields) => match fields.get(part) {
                    Some(next) => next.clone(),
                    None => return Err((part.to_owned(), fields.keys().cloned().collect())),
                },
                _ => Type::Any,
            },
            Type::Any => Type::Any,
            _ => return Err((part.to_owned(), Vec::new())),
        };
    }
    Ok(at)
}
