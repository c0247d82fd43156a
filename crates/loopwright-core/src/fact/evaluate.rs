//! Working an expression out, over JSON and within a bound: a fact is read between two steps of a run, and no list an
//! agent wrote may make that take long. Every node costs a step, and so does every value copied or compared.
//!
//! A failure on one side of `&&`, `||`, `exists` or `all` does not count when the other decides, as in CEL.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map, Value};

use super::tree::{Each, Function, Kind, Name, Node, Operator, Quantifier};
use super::value::{self, Failure};

/// The steps an evaluation may take; some tens of milliseconds.
const STEPS: u64 = 1_000_000;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvaluationError {
    /// Which part, in bytes of the source.
    pub range: Range<usize>,
    /// What happened.
    pub message: String,
    /// What kind of thing happened.
    pub reason: Reason,
}

/// Kinds of [`EvaluationError`]. An expression that passed its check fails only for the reasons its types cannot rule
/// out: anything but `UnknownName` and `WrongKind`, as long as the values are of the types it was checked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A name that was not given.
    UnknownName,
    /// A field, key or element that is not there, or null where a value was needed.
    Missing,
    /// An operation on values it does not work on.
    WrongKind,
    /// Division by zero, or a number that does not fit.
    Arithmetic,
    /// A text that `int` or `double` could not read.
    Unreadable,
    /// It would take too long.
    TooMuch,
}

pub(super) fn evaluate(root: &Node, names: &Value) -> Result<Value, EvaluationError> {
    Evaluation { steps: STEPS }.value(root, &Scope::Names(names)).map(Cow::into_owned)
}

enum Scope<'v> {
    Names(&'v Value),
    Local { name: &'v str, value: &'v Value, outer: &'v Scope<'v> },
}

impl<'v> Scope<'v> {
    fn find(&'v self, wanted: &str) -> Option<&'v Value> {
        let mut scope = self;
        loop {
            match scope {
                Self::Names(names) => return names.get(wanted),
                Self::Local { name, value, .. } if *name == wanted => return Some(value),
                Self::Local { outer, .. } => scope = outer,
            }
        }
    }
}

type Evaluated<'v> = Result<Cow<'v, Value>, EvaluationError>;

struct Evaluation {
    steps: u64,
}

impl Evaluation {
    fn value<'v>(&mut self, node: &'v Node, scope: &'v Scope<'v>) -> Evaluated<'v> {
        self.pay(1, node)?;
        match &node.kind {
            Kind::Null => Ok(Cow::Owned(Value::Null)),
            Kind::Bool(it) => Ok(Cow::Owned(Value::Bool(*it))),
            Kind::Int(it) => Ok(Cow::Owned(Value::from(*it))),
            Kind::Float(it) => Ok(Cow::Owned(Value::from(*it))),
            Kind::Text(text) => {
                self.pay(value::text_weight(text), node)?;
                Ok(Cow::Owned(Value::String(text.clone())))
            }
            Kind::Name(name) => scope
                .find(name)
                .map(Cow::Borrowed)
                .ok_or_else(|| error(node, Reason::UnknownName, format!("`{name}` is not known"))),
            Kind::Select { operand, field } => {
                let record = self.value(operand, scope)?;
                at_key(record, &field.text).map_err(|failure| failed(operand, failure))
            }
            Kind::Has { operand, field } => self.has(operand, field, scope),
            Kind::Index { target, index } => {
                let target = self.value(target, scope)?;
                let position = self.value(index, scope)?;
                at_index(target, &position).map_err(|failure| failed(index, failure))
            }
            Kind::List(items) => {
                let items: Result<Vec<_>, _> = items.iter().map(|item| self.owned(item, scope)).collect();
                items.map(|items| Cow::Owned(Value::Array(items)))
            }
            Kind::Record(fields) => {
                let mut record = Map::new();
                for (name, field) in fields {
                    record.insert(name.clone(), self.owned(field, scope)?);
                }
                Ok(Cow::Owned(Value::Object(record)))
            }
            Kind::Not(inner) => self.truth(inner, scope).map(|it| boolean(!it)),
            Kind::Negate(inner) => {
                let number = self.value(inner, scope)?;
                value::negate(&number).map(Cow::Owned).map_err(|failure| failed(node, failure))
            }
            Kind::And(left, right) => self.either(left, right, scope, false),
            Kind::Or(left, right) => self.either(left, right, scope, true),
            Kind::Conditional { condition, yes, no } => {
                let chosen = if self.truth(condition, scope)? { yes } else { no };
                self.value(chosen, scope)
            }
            Kind::Binary { operator, left, right } => self.binary(*operator, left, right, node, scope),
            Kind::Call { function, arguments, .. } => self.call(function, arguments, node, scope),
            Kind::Each(each) => self.each(each, scope),
        }
    }

    fn pay(&mut self, steps: u64, node: &Node) -> Result<(), EvaluationError> {
        let left = self.steps.checked_sub(steps);
        self.steps = left.unwrap_or(0);
        match left {
            Some(_) => Ok(()),
            None => Err(error(node, Reason::TooMuch, "the expression takes too long".to_owned())),
        }
    }

    /// A value of its own; copying what is borrowed is paid for.
    fn owned<'v>(&mut self, node: &'v Node, scope: &'v Scope<'v>) -> Result<Value, EvaluationError> {
        let found = self.value(node, scope)?;
        if let Cow::Borrowed(borrowed) = &found {
            self.pay(value::weight(borrowed), node)?;
        }
        Ok(found.into_owned())
    }

    fn truth<'v>(&mut self, node: &'v Node, scope: &'v Scope<'v>) -> Result<bool, EvaluationError> {
        let found = self.value(node, scope)?;
        found.as_bool().ok_or_else(|| failed(node, value::unfit(&found, "true or false")))
    }

    /// `&&` and `||`, decided by `decisive` on either side.
    fn either<'v>(
        &mut self,
        left: &'v Node,
        right: &'v Node,
        scope: &'v Scope<'v>,
        decisive: bool,
    ) -> Evaluated<'v> {
        let one = self.truth(left, scope);
        if one == Ok(decisive) {
            return Ok(boolean(decisive));
        }
        let two = self.truth(right, scope);
        if two == Ok(decisive) {
            return Ok(boolean(decisive));
        }
        one.and(two).map(boolean)
    }

    fn has<'v>(&mut self, operand: &'v Node, field: &Name, scope: &'v Scope<'v>) -> Evaluated<'v> {
        let record = self.value(operand, scope)?;
        match &*record {
            Value::Null => Ok(boolean(false)),
            Value::Object(fields) => Ok(boolean(fields.get(&field.text).is_some_and(|it| !it.is_null()))),
            other => Err(failed(operand, value::unfit(other, "a record"))),
        }
    }

    fn binary<'v>(
        &mut self,
        operator: Operator,
        left: &'v Node,
        right: &'v Node,
        node: &'v Node,
        scope: &'v Scope<'v>,
    ) -> Evaluated<'v> {
        let one = self.value(left, scope)?;
        let two = self.value(right, scope)?;
        // Texts and lists cost what they are long; numbers nothing more.
        self.pay(value::weight(&one) + value::weight(&two), node)?;
        value::operate(operator, &one, &two).map(Cow::Owned).map_err(|failure| failed(node, failure))
    }

    fn call<'v>(
        &mut self,
        function: &Name,
        arguments: &'v [Node],
        node: &'v Node,
        scope: &'v Scope<'v>,
    ) -> Evaluated<'v> {
        let mut given = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let found = self.value(argument, scope)?;
            if let Value::String(text) = &*found {
                self.pay(value::text_weight(text), argument)?;
            }
            given.push(found);
        }
        let known = Function::named(&function.text);
        let result = known.and_then(|known| value::call(known, &given)).unwrap_or_else(|| {
            Err(Failure {
                reason: Reason::WrongKind,
                message: format!("`{}` cannot be called like this", function.text),
            })
        });
        result.map(Cow::Owned).map_err(|failure| failed(node, failure))
    }

    fn each<'v>(&mut self, each: &'v Each, scope: &'v Scope<'v>) -> Evaluated<'v> {
        let list = self.value(&each.list, scope)?;
        let keys: Vec<Value>;
        let items = match &*list {
            Value::Array(items) => items,
            Value::Object(fields) => {
                self.pay(value::weight(&list), &each.list)?;
                keys = fields.keys().cloned().map(Value::String).collect();
                &keys
            }
            other => return Err(failed(&each.list, value::unfit(other, "a list"))),
        };
        let mut kept: Vec<Value> = Vec::new();
        let mut hits = 0_usize;
        let mut failure = None;
        for item in items {
            let inner = Scope::Local { name: &each.variable.text, value: item, outer: scope };
            match each.quantifier {
                Quantifier::Exists | Quantifier::All => {
                    let decisive = each.quantifier == Quantifier::Exists;
                    match self.truth(&each.body, &inner) {
                        Ok(outcome) if outcome == decisive => return Ok(boolean(decisive)),
                        Ok(_) => {}
                        Err(error) => failure = failure.or(Some(error)),
                    }
                }
                Quantifier::ExistsOne => hits += usize::from(self.truth(&each.body, &inner)?),
                Quantifier::Filter => {
                    if self.truth(&each.body, &inner)? {
                        self.pay(value::weight(item), &each.body)?;
                        kept.push(item.clone());
                    }
                }
                Quantifier::Map => {
                    let wanted = each.only.as_ref().map_or(Ok(true), |only| self.truth(only, &inner))?;
                    if wanted {
                        kept.push(self.owned(&each.body, &inner)?);
                    }
                }
            }
        }
        match (failure, each.quantifier) {
            (Some(failure), _) => Err(failure),
            (None, Quantifier::Exists) => Ok(boolean(false)),
            (None, Quantifier::All) => Ok(boolean(true)),
            (None, Quantifier::ExistsOne) => Ok(boolean(hits == 1)),
            (None, Quantifier::Filter | Quantifier::Map) => Ok(Cow::Owned(Value::Array(kept))),
        }
    }
}

fn boolean<'v>(it: bool) -> Cow<'v, Value> {
    Cow::Owned(Value::Bool(it))
}

fn error(node: &Node, reason: Reason, message: String) -> EvaluationError {
    EvaluationError { range: node.range.clone(), message, reason }
}

fn failed(node: &Node, failure: Failure) -> EvaluationError {
    error(node, failure.reason, failure.message)
}

fn missing(what: &str) -> Failure {
    Failure { reason: Reason::Missing, message: what.to_owned() }
}

fn at_key<'v>(record: Cow<'v, Value>, key: &str) -> Result<Cow<'v, Value>, Failure> {
    let found = match record {
        Cow::Borrowed(Value::Object(fields)) => fields.get(key).map(Cow::Borrowed),
        Cow::Owned(Value::Object(mut fields)) => fields.swap_remove(key).map(Cow::Owned),
        other => return Err(value::unfit(&other, "a record")),
    };
    found.ok_or_else(|| missing(&format!("there is no `{key}`")))
}

fn at_index<'v>(target: Cow<'v, Value>, position: &Value) -> Result<Cow<'v, Value>, Failure> {
    let index = match (&*target, position) {
        (Value::Object(_), Value::String(key)) => return at_key(target, key),
        (Value::Array(_), Value::Number(number)) => {
            let Some(index) = number.as_i64() else { return Err(value::unfit(position, "a whole number")) };
            usize::try_from(index).ok()
        }
        (Value::Array(_), other) => return Err(value::unfit(other, "a whole number")),
        (Value::Object(_), other) => return Err(value::unfit(other, "a text")),
        (other, _) => return Err(value::unfit(other, "a list or map")),
    };
    let found = match target {
        Cow::Borrowed(Value::Array(items)) => index.and_then(|it| items.get(it)).map(Cow::Borrowed),
        Cow::Owned(Value::Array(mut items)) => {
            index.filter(|it| *it < items.len()).map(|it| Cow::Owned(items.swap_remove(it)))
        }
        _ => None,
    };
    found.ok_or_else(|| missing(&format!("there is no element {position}")))
}
