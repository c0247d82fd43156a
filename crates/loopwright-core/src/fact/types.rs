//! What a fact may be made of. The types are those of JSON, and one more: a text out of a known set, because the
//! arms of a workflow can only be shown to cover every case when the cases are known.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use indexmap::IndexMap;
use serde_json::Value;

/// The type of a value an expression reads or gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Nothing is known: everything is allowed.
    Any,
    /// Always null.
    Null,
    /// True or false.
    Bool,
    /// A whole number.
    Int,
    /// A number. Arithmetic tells `1` and `1.0` apart, so values of this type are best given with a fraction.
    Float,
    /// Any text.
    Text,
    /// A text from this set. The empty set stands for "no value at all", the element of an empty list.
    OneOf(Vec<String>),
    /// A list of values of one type.
    List(Box<Type>),
    /// Exactly these fields.
    Record(IndexMap<String, Type>),
    /// Any text as key.
    Map(Box<Type>),
    /// This, or null.
    Maybe(Box<Type>),
}

impl Type {
    /// A text out of these.
    pub fn one_of<S: Into<String>>(values: impl IntoIterator<Item = S>) -> Self {
        Self::OneOf(values.into_iter().map(Into::into).collect())
    }

    /// A list of these.
    pub fn list(element: Self) -> Self {
        Self::List(Box::new(element))
    }

    /// Any text as key, these as values.
    pub fn map(value: Self) -> Self {
        Self::Map(Box::new(value))
    }

    /// This or null; never a `Maybe` of a `Maybe`.
    #[must_use]
    pub fn maybe(self) -> Self {
        match self {
            Self::Any | Self::Null | Self::Maybe(_) => self,
            other => Self::Maybe(Box::new(other)),
        }
    }

    /// A record of exactly these fields.
    pub fn record<S: Into<String>>(fields: impl IntoIterator<Item = (S, Self)>) -> Self {
        Self::Record(fields.into_iter().map(|(name, field)| (name.into(), field)).collect())
    }

    /// Whether a value is of this type.
    pub fn accepts(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Any, _)
            | (Self::Null | Self::Maybe(_), Value::Null)
            | (Self::Bool, Value::Bool(_))
            | (Self::Float, Value::Number(_))
            | (Self::Text, Value::String(_)) => true,
            (Self::Int, Value::Number(number)) => number.as_i64().is_some(),
            (Self::OneOf(values), Value::String(text)) => values.contains(text),
            (Self::List(element), Value::Array(items)) => items.iter().all(|item| element.accepts(item)),
            (Self::Record(fields), Value::Object(object)) => {
                fields.len() == object.len()
                    && fields.iter().all(|(name, field)| object.get(name).is_some_and(|it| field.accepts(it)))
            }
            (Self::Map(element), Value::Object(object)) => object.values().all(|item| element.accepts(item)),
            (Self::Maybe(inner), other) => inner.accepts(other),
            _ => false,
        }
    }

    /// Whether the type has more than so many parts. Looks at no more than that.
    pub(super) fn is_larger_than(&self, parts: usize) -> bool {
        let (mut open, mut seen) = (vec![self], 0);
        while let Some(next) = open.pop() {
            seen += 1;
            if seen > parts {
                return true;
            }
            match next {
                Self::List(inner) | Self::Map(inner) | Self::Maybe(inner) => open.push(inner),
                Self::Record(fields) => open.extend(fields.values()),
                _ => {}
            }
        }
        false
    }

    /// The element of an empty list: no value is of this type.
    pub(super) fn nothing() -> Self {
        Self::OneOf(Vec::new())
    }

    pub(super) fn is_nothing(&self) -> bool {
        matches!(self, Self::OneOf(values) if values.is_empty())
    }

    /// The type without the possibility of null, and whether there was one.
    pub(super) fn present(&self) -> (&Self, bool) {
        match self {
            Self::Maybe(inner) => (inner, true),
            other => (other, false),
        }
    }

    /// The smallest type both are of; `None` when that says nothing, because they are of different kinds.
    pub(super) fn join(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (one, two) if one == two => Some(one.clone()),
            (Self::Any, _) | (_, Self::Any) => Some(Self::Any),
            (nothing, it) | (it, nothing) if nothing.is_nothing() => Some(it.clone()),
            (Self::Null, it) | (it, Self::Null) => Some(it.clone().maybe()),
            (Self::Maybe(inner), it) | (it, Self::Maybe(inner)) => {
                inner.join(it.present().0).map(Self::maybe)
            }
            (Self::Int, Self::Float) | (Self::Float, Self::Int) => Some(Self::Float),
            (Self::OneOf(one), Self::OneOf(two)) => {
                let mut seen: BTreeSet<&String> = one.iter().collect();
                let added = two.iter().filter(|it| seen.insert(it)).cloned();
                Some(Self::OneOf(one.iter().cloned().chain(added.collect::<Vec<_>>()).collect()))
            }
            (Self::Text, Self::OneOf(_)) | (Self::OneOf(_), Self::Text) => Some(Self::Text),
            (Self::List(one), Self::List(two)) => one.join(two).map(Self::list),
            (Self::Map(one), Self::Map(two)) => one.join(two).map(Self::map),
            (Self::Map(value), Self::Record(fields)) | (Self::Record(fields), Self::Map(value)) => {
                fields.values().try_fold((**value).clone(), |all, field| all.join(field)).map(Self::map)
            }
            (Self::Record(one), Self::Record(two)) => Self::join_records(one, two),
            _ => None,
        }
    }

    fn join_records(one: &IndexMap<String, Self>, two: &IndexMap<String, Self>) -> Option<Self> {
        if one.len() == two.len() && one.keys().all(|name| two.contains_key(name)) {
            let fields = one.iter().map(|(name, field)| Some((name.clone(), field.join(two.get(name)?)?)));
            return fields.collect::<Option<_>>().map(Self::Record);
        }
        let mut all = one.values().chain(two.values());
        all.try_fold(Self::nothing(), |joined, field| joined.join(field)).map(Self::map)
    }

    /// Whether a value of one can equal a value of the other. Two empty lists are equal whatever they would hold;
    /// comparing them is a mistake all the same, so lists are judged by their elements.
    pub(super) fn may_equal(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _)
            | (_, Self::Any)
            | (Self::Null | Self::Maybe(_), Self::Null | Self::Maybe(_))
            | (Self::Int | Self::Float, Self::Int | Self::Float)
            | (Self::Bool, Self::Bool)
            | (Self::Text, Self::Text) => true,
            (nothing, _) | (_, nothing) if nothing.is_nothing() => true,
            (Self::Maybe(inner), it) | (it, Self::Maybe(inner)) => inner.may_equal(it),
            (Self::Text, Self::OneOf(_)) | (Self::OneOf(_), Self::Text) => true,
            (Self::OneOf(one), Self::OneOf(two)) => one.iter().any(|it| two.contains(it)),
            (Self::List(one), Self::List(two)) | (Self::Map(one), Self::Map(two)) => one.may_equal(two),
            (Self::Map(value), Self::Record(fields)) | (Self::Record(fields), Self::Map(value)) => {
                fields.values().all(|field| field.may_equal(value))
            }
            (Self::Record(one), Self::Record(two)) => {
                one.len() == two.len()
                    && one.iter().all(|(name, field)| two.get(name).is_some_and(|it| field.may_equal(it)))
            }
            _ => false,
        }
    }
}

/// Either part of a declared type or one worked out on the way; most lookups borrow.
pub(super) type Typed<'t> = Cow<'t, Type>;

/// More of a set than this is counted, not listed.
const LISTED: usize = 12;

/// Joins names for a message, and counts those beyond what a reader would read.
pub(super) fn listed<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let total = names.len();
    let text = names.take(LISTED).collect::<Vec<_>>().join(", ");
    if total > LISTED { format!("{text} and {} more", total - LISTED) } else { text }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, Records::Fields)
    }
}

/// Whether the fields of a record are shown; those of a record in a record are not, or a message would be a page.
#[derive(Clone, Copy)]
enum Records {
    Fields,
    Closed,
}

impl Type {
    fn write(&self, f: &mut fmt::Formatter<'_>, records: Records) -> fmt::Result {
        match self {
            Self::Any => f.write_str("anything"),
            Self::Null => f.write_str("null"),
            Self::Bool => f.write_str("bool"),
            Self::Int => f.write_str("int"),
            Self::Float => f.write_str("float"),
            Self::Text => f.write_str("text"),
            Self::OneOf(values) if values.is_empty() => f.write_str("nothing"),
            Self::OneOf(values) => write!(f, "one of {}", listed(values.iter().map(String::as_str))),
            Self::List(element) => {
                f.write_str("list of ")?;
                element.write(f, records)
            }
            Self::Map(value) => {
                f.write_str("map of ")?;
                value.write(f, records)
            }
            Self::Maybe(inner) => {
                inner.write(f, records)?;
                f.write_str(" or null")
            }
            Self::Record(fields) if fields.is_empty() => f.write_str("{}"),
            Self::Record(_) if matches!(records, Records::Closed) => f.write_str("{...}"),
            Self::Record(fields) => {
                let mut opening = "{";
                for (name, field) in fields.iter().take(LISTED) {
                    write!(f, "{opening}{name}: ")?;
                    field.write(f, Records::Closed)?;
                    opening = ", ";
                }
                f.write_str(if fields.len() > LISTED { ", ...}" } else { "}" })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_read_like_words() {
        let finding = Type::record([("id", Type::Text), ("severity", Type::one_of(["low", "high"]))]);
        for (given, expected) in [
            (Type::Text, "text"),
            (Type::list(finding), "list of {id: text, severity: one of low, high}"),
            (Type::one_of(["a", "b"]), "one of a, b"),
            (Type::map(Type::Int.maybe()), "map of int or null"),
            (
                Type::record([("a", Type::record([("b", Type::Int)])), ("c", Type::Bool)]),
                "{a: {...}, c: bool}",
            ),
            (
                Type::one_of((0..14).map(|it| it.to_string())),
                "one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more",
            ),
        ] {
            assert_eq!(given.to_string(), expected);
        }
    }

    #[test]
    fn joining_keeps_sets_and_nulls() {
        for (one, two, expected) in [
            (Type::one_of(["a"]), Type::one_of(["b", "a"]), Some(Type::one_of(["a", "b"]))),
            (Type::Null, Type::one_of(["a"]), Some(Type::one_of(["a"]).maybe())),
            (Type::nothing(), Type::Int, Some(Type::Int)),
            (Type::Int, Type::Float.maybe(), Some(Type::Float.maybe())),
            (Type::Int, Type::Text, None),
            (Type::list(Type::Int), Type::list(Type::nothing()), Some(Type::list(Type::Int))),
        ] {
            assert_eq!(one.join(&two), expected, "{one} with {two}");
        }
    }
}
