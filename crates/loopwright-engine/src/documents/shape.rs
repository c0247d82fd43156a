//! Which field of a value does not fit a type. [`Type::accepts`] says whether; this says where, for messages.

use loopwright_core::fact::Type;
use serde_json::{Map, Value};

use super::path::Step;
use super::tree::kind;

/// So many are told at once.
const MOST: usize = 20;
/// More words of a set than this are not listed.
const LISTED: usize = 12;

/// A field that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The field, as a dotted path; empty for the whole value.
    pub field: String,
    /// What is needed there; nothing if the type knows no such field.
    pub wanted: Option<String>,
    /// What is there; nothing if the field is missing.
    pub found: Option<String>,
    pub(super) steps: Vec<Step>,
}

impl Misfit {
    /// What is wrong, as a plain sentence.
    pub fn message(&self) -> String {
        match (&self.wanted, &self.found) {
            (Some(wanted), Some(found)) => format!("{wanted} is needed, this is {found}"),
            (Some(wanted), None) => format!("it is missing, and {wanted} is needed"),
            (None, _) => "there is no such field in the shape".to_owned(),
        }
    }

    /// What to do about it, where that is not plain from the message.
    pub fn help(&self) -> Option<&'static str> {
        let (wanted, found) = (self.wanted.as_deref()?, self.found.as_deref()?);
        let text = wanted == "a text" || wanted.starts_with("one of ");
        (text && (found.contains("number") || found == "true or false")).then_some("put it in quotes")
    }
}

/// The fields of a value that keep it from being of a type, the first 20 of them. There are none exactly when
/// [`Type::accepts`] accepts it.
pub fn misfits(wanted: &Type, found: &Value) -> Vec<Misfit> {
    let mut all = Vec::new();
    collect(wanted, Some(found), &mut Vec::new(), &mut all);
    all
}

fn collect(wanted: &Type, found: Option<&Value>, steps: &mut Vec<Step>, all: &mut Vec<Misfit>) {
    if all.len() >= MOST || found.is_some_and(|it| wanted.accepts(it)) {
        return;
    }
    match (wanted, found) {
        (Type::Maybe(inner), Some(_)) => collect(inner, found, steps, all),
        (Type::List(element), Some(Value::Array(items))) => {
            for (place, item) in items.iter().enumerate() {
                below(Step::Index(place), element, Some(item), steps, all);
            }
        }
        (Type::Map(element), Some(Value::Object(fields))) => {
            for (name, item) in fields {
                below(Step::Key(name.clone()), element, Some(item), steps, all);
            }
        }
        (Type::Record(known), Some(Value::Object(fields))) => {
            for (name, field) in known {
                below(Step::Key(name.clone()), field, fields.get(name), steps, all);
            }
            for name in fields.keys().filter(|it| !known.contains_key(*it)) {
                steps.push(Step::Key(name.clone()));
                all.push(misfit(None, fields.get(name), steps));
                steps.pop();
            }
        }
        _ => all.push(misfit(Some(words(wanted)), found, steps)),
    }
}

fn below(step: Step, wanted: &Type, found: Option<&Value>, steps: &mut Vec<Step>, all: &mut Vec<Misfit>) {
    steps.push(step);
    collect(wanted, found, steps, all);
    steps.pop();
}

fn misfit(wanted: Option<String>, found: Option<&Value>, steps: &[Step]) -> Misfit {
    let found = found.map(|it| match it {
        Value::String(text) if wanted.as_deref().is_some_and(|it| it.starts_with("one of ")) => {
            format!("`{}`", text.chars().take(40).collect::<String>())
        }
        it => kind(it).to_owned(),
    });
    let name = |it: &Step| match it {
        Step::Key(name) => name.clone(),
        Step::Index(place) => place.to_string(),
    };
    let field = steps.iter().map(name).collect::<Vec<_>>().join(".");
    Misfit { field, wanted, found, steps: steps.to_vec() }
}

fn words(wanted: &Type) -> String {
    match wanted {
        Type::Any => "a value".to_owned(),
        Type::Null => "nothing".to_owned(),
        Type::Bool => "true or false".to_owned(),
        Type::Int => "a whole number".to_owned(),
        Type::Float => "a number".to_owned(),
        Type::Text => "a text".to_owned(),
        Type::OneOf(values) if values.len() > LISTED => "another word".to_owned(),
        Type::OneOf(values) => format!("one of {}", values.join(", ")),
        Type::List(_) => "a list".to_owned(),
        Type::Record(_) | Type::Map(_) => "a map".to_owned(),
        Type::Maybe(inner) => words(inner),
    }
}

/// A value as a shape sees it: fields the shape does not name are left out, those that may be null are null when they
/// are not there. Files may hold more than a workflow asks about.
pub(super) fn shaped(shape: &Type, value: Value) -> Value {
    match (shape, value) {
        (Type::Maybe(inner), value) if !value.is_null() => shaped(inner, value),
        (Type::List(element), Value::Array(items)) => {
            items.into_iter().map(|it| shaped(element, it)).collect()
        }
        (Type::Map(element), Value::Object(fields)) => {
            fields.into_iter().map(|(name, it)| (name, shaped(element, it))).collect()
        }
        (Type::Record(known), Value::Object(mut fields)) => {
            let mut kept = Map::new();
            for (name, field) in known {
                match fields.swap_remove(name) {
                    Some(it) => kept.insert(name.clone(), shaped(field, it)),
                    None if field.accepts(&Value::Null) => kept.insert(name.clone(), Value::Null),
                    None => None,
                };
            }
            Value::Object(kept)
        }
        (_, value) => value,
    }
}
