//! Operators and functions on JSON values, as CEL has them.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::evaluate::Reason;
use super::tree::{Function, Operator};

/// Why an operation has no result; the caller knows where.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) reason: Reason,
    pub(super) message: String,
}

/// A value that is not what is needed. Null counts as missing: types that allow it cannot always rule it out.
pub(super) fn unfit(found: &Value, wanted: &str) -> Failure {
    let reason = if found.is_null() { Reason::Missing } else { Reason::WrongKind };
    Failure { reason, message: format!("{wanted} is needed, this is {}", kind(found)) }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a bool",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

/// What a text costs beyond a step.
pub(super) fn text_weight(text: &str) -> u64 {
    u64::try_from(text.len() / 32).unwrap_or(u64::MAX)
}

/// What copying or comparing a value costs beyond a step.
pub(super) fn weight(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text_weight(text),
        Value::Array(items) => items.iter().map(|item| 1 + weight(item)).sum(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| 1 + text_weight(name) + weight(field)).sum()
        }
    }
}

#[derive(Clone, Copy)]
enum Numeric {
    Whole(i64),
    Real(f64),
}

impl Numeric {
    fn of(value: &Value) -> Option<Self> {
        let Value::Number(number) = value else { return None };
        number.as_i64().map(Self::Whole).or_else(|| number.as_f64().map(Self::Real))
    }

    #[expect(clippy::cast_precision_loss, reason = "CEL compares and converts whole numbers as doubles")]
    fn real(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Real(real) => real,
        }
    }

    fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Whole(one), Self::Whole(two)) => Some(one.cmp(&two)),
            (one, two) => one.real().partial_cmp(&two.real()),
        }
    }
}

fn whole(result: Option<i64>) -> Result<Value, Failure> {
    result.map(Value::from).ok_or_else(too_large)
}

fn real(result: f64) -> Result<Value, Failure> {
    Number::from_f64(result).map(Value::Number).ok_or_else(too_large)
}

fn too_large() -> Failure {
    Failure { reason: Reason::Arithmetic, message: "the number does not fit".to_owned() }
}

pub(super) fn negate(value: &Value) -> Result<Value, Failure> {
    match Numeric::of(value) {
        Some(Numeric::Whole(number)) => whole(number.checked_neg()),
        Some(Numeric::Real(number)) => real(-number),
        None => Err(unfit(value, "a number")),
    }
}

pub(super) fn operate(operator: Operator, one: &Value, two: &Value) -> Result<Value, Failure> {
    let ordered = |test: fn(Ordering) -> bool| order(one, two).map(|it| Value::Bool(it.is_some_and(test)));
    match operator {
        Operator::Equal => Ok(Value::Bool(equal(one, two))),
        Operator::Unequal => Ok(Value::Bool(!equal(one, two))),
        Operator::Less => ordered(Ordering::is_lt),
        Operator::LessOrEqual => ordered(Ordering::is_le),
        Operator::Greater => ordered(Ordering::is_gt),
        Operator::GreaterOrEqual => ordered(Ordering::is_ge),
        Operator::In => contained(one, two),
        Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide | Operator::Modulo => {
            arithmetic(operator, one, two)
        }
    }
}

fn equal(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Number(_), Value::Number(_)) => match (Numeric::of(one), Numeric::of(two)) {
            (Some(one), Some(two)) => one.compare(two) == Some(Ordering::Equal),
            _ => false,
        },
        (Value::Array(one), Value::Array(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| equal(one, two))
        }
        (Value::Object(one), Value::Object(two)) => {
            let same = |(name, field): (&String, &Value)| two.get(name).is_some_and(|it| equal(field, it));
            one.len() == two.len() && one.iter().all(same)
        }
        _ => one == two,
    }
}

fn order(one: &Value, two: &Value) -> Result<Option<Ordering>, Failure> {
    match (one, two) {
        (Value::String(one), Value::String(two)) => Ok(Some(one.cmp(two))),
        (Value::Bool(one), Value::Bool(two)) => Ok(Some(one.cmp(two))),
        _ => match (Numeric::of(one), Numeric::of(two)) {
            (Some(one), Some(two)) => Ok(one.compare(two)),
            _ => Err(mismatch("compared", one, two)),
        },
    }
}

fn mismatch(what: &str, one: &Value, two: &Value) -> Failure {
    let reason = if one.is_null() || two.is_null() { Reason::Missing } else { Reason::WrongKind };
    Failure { reason, message: format!("{} and {} cannot be {what}", kind(one), kind(two)) }
}

fn contained(one: &Value, two: &Value) -> Result<Value, Failure> {
    match (one, two) {
        (_, Value::Array(items)) => Ok(Value::Bool(items.iter().any(|item| equal(item, one)))),
        (Value::String(key), Value::Object(fields)) => Ok(Value::Bool(fields.contains_key(key))),
        (other, Value::Object(_)) => Err(unfit(other, "a text")),
        (_, other) => Err(unfit(other, "a list or map")),
    }
}

fn arithmetic(operator: Operator, one: &Value, two: &Value) -> Result<Value, Failure> {
    match (operator, one, two) {
        (Operator::Add, Value::String(one), Value::String(two)) => {
            return Ok(Value::String(format!("{one}{two}")));
        }
        (Operator::Add, Value::Array(one), Value::Array(two)) => {
            return Ok(Value::Array(one.iter().chain(two).cloned().collect()));
        }
        _ => {}
    }
    let (Some(left), Some(right)) = (Numeric::of(one), Numeric::of(two)) else {
        return Err(mismatch("combined", one, two));
    };
    match (left, right, operator) {
        (_, Numeric::Whole(0), Operator::Divide | Operator::Modulo) => {
            Err(Failure { reason: Reason::Arithmetic, message: "division by zero".to_owned() })
        }
        (Numeric::Whole(left), Numeric::Whole(right), _) => whole(match operator {
            Operator::Add => left.checked_add(right),
            Operator::Subtract => left.checked_sub(right),
            Operator::Multiply => left.checked_mul(right),
            Operator::Divide => left.checked_div(right),
            _ => left.checked_rem(right),
        }),
        // The checker asks for `double(...)`; a whole number given where a real one was declared comes here.
        (left, right, Operator::Add) => real(left.real() + right.real()),
        (left, right, Operator::Subtract) => real(left.real() - right.real()),
        (left, right, Operator::Multiply) => real(left.real() * right.real()),
        (left, right, Operator::Divide) => real(left.real() / right.real()),
        _ => Err(mismatch("divided with a remainder", one, two)),
    }
}

/// The result of a call; `None` when it takes other arguments.
pub(super) fn call(function: Function, given: &[Cow<'_, Value>]) -> Option<Result<Value, Failure>> {
    let parts = match given {
        [one] => (&**one, None),
        [one, two] => (&**one, Some(&**two)),
        _ => return None,
    };
    Some(match (function, parts) {
        (Function::Size, (it, None)) => size(it),
        (Function::Int, (it, None)) => to_whole(it),
        (Function::Double, (it, None)) => to_real(it),
        (Function::Text, (it, None)) => to_text(it),
        (Function::Contains, (one, Some(two))) => text_test(one, two, |text, part| text.contains(part)),
        (Function::StartsWith, (one, Some(two))) => text_test(one, two, |text, part| text.starts_with(part)),
        (Function::EndsWith, (one, Some(two))) => text_test(one, two, |text, part| text.ends_with(part)),
        _ => return None,
    })
}

fn size(value: &Value) -> Result<Value, Failure> {
    let count = match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        other => return Err(unfit(other, "a text, list or map")),
    };
    whole(i64::try_from(count).ok())
}

fn text_test(one: &Value, two: &Value, test: fn(&str, &str) -> bool) -> Result<Value, Failure> {
    match (one, two) {
        (Value::String(one), Value::String(two)) => Ok(Value::Bool(test(one, two))),
        (Value::String(_), other) | (other, _) => Err(unfit(other, "a text")),
    }
}

fn unreadable(text: &str) -> Failure {
    let shown: String = text.chars().take(40).collect();
    Failure { reason: Reason::Unreadable, message: format!("`{shown}` is not a number") }
}

fn to_whole(value: &Value) -> Result<Value, Failure> {
    match (value, Numeric::of(value)) {
        (_, Some(Numeric::Whole(number))) => Ok(Value::from(number)),
        (_, Some(Numeric::Real(number))) => whole(truncated(number)),
        (Value::String(text), _) => text.parse::<i64>().map(Value::from).map_err(|_| unreadable(text)),
        (other, _) => Err(unfit(other, "a number or text")),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the range is tested first")]
fn truncated(number: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    (number > -LIMIT && number < LIMIT).then_some(number as i64)
}

fn to_real(value: &Value) -> Result<Value, Failure> {
    match (value, Numeric::of(value)) {
        (_, Some(number)) => real(number.real()),
        (Value::String(text), _) => {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            real(number.ok_or_else(|| unreadable(text))?)
        }
        (other, _) => Err(unfit(other, "a number or text")),
    }
}

fn to_text(value: &Value) -> Result<Value, Failure> {
    match (value, Numeric::of(value)) {
        (_, Some(Numeric::Whole(number))) => Ok(Value::String(number.to_string())),
        (_, Some(Numeric::Real(number))) => Ok(Value::String(number.to_string())),
        (Value::Bool(it), _) => Ok(Value::String(it.to_string())),
        (Value::String(_), _) => Ok(value.clone()),
        (other, _) => Err(unfit(other, "a number, text or bool")),
    }
}
