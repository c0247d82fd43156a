//! The type check of operators, calls and macros.

use std::borrow::Cow;

use super::Fault;
use super::check::{Checker, suggestion};
use super::narrow::{present_when, refined};
use super::tree::{Each, Function, Kind, Name, Node, Operator, Quantifier, Style};
use super::types::{Type, Typed};

impl<'t> Checker<'t> {
    pub(super) fn binary(&mut self, operator: Operator, left: &Node, right: &Node, node: &Node) -> Typed<'t> {
        if let Some(meant) = self.dashed(operator, node) {
            return meant;
        }
        let (one, two) = (self.typed(left), self.typed(right));
        match operator {
            Operator::Equal | Operator::Unequal => {
                self.comparable(left, &one, right, &two, node);
                Cow::Owned(Type::Bool)
            }
            Operator::In => self.membership(left, one, right, two),
            Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
                let (one, two) = (self.present(left, one), self.present(right, two));
                if !orderable(&one, &two) {
                    let message = format!("{one} and {two} cannot be compared with `{}`", operator.sign());
                    self.fault(Fault::new(node.range.clone(), message));
                }
                Cow::Owned(Type::Bool)
            }
            _ => {
                let (one, two) = (self.present(left, one), self.present(right, two));
                let Some(result) = arithmetic(operator, &one, &two) else {
                    let message = format!("`{}` does not work on {one} and {two}", operator.sign());
                    let fault = Fault::new(node.range.clone(), message);
                    let mixed = matches!((&*one, &*two), (Type::Int, Type::Float) | (Type::Float, Type::Int));
                    self.fault(if mixed {
                        fault.helped("turn the whole number into one with `double(...)`")
                    } else {
                        fault
                    });
                    return Cow::Owned(Type::Any);
                };
                Cow::Owned(result)
            }
        }
    }

    pub(super) fn negate(&mut self, inner: &Node) -> Typed<'t> {
        let found = self.typed(inner);
        let found = self.present(inner, found);
        if matches!(*found, Type::Int | Type::Float | Type::Any) {
            return found;
        }
        self.fault(Fault::new(inner.range.clone(), format!("`-` works on numbers, this is {found}")));
        Cow::Owned(Type::Any)
    }

    /// Says when two things can never be equal.
    fn comparable(&mut self, left: &Node, one: &Type, right: &Node, two: &Type, node: &Node) {
        if one.may_equal(two) {
            return;
        }
        let fault = match (&left.kind, one, &right.kind, two) {
            (Kind::Null, _, _, other) => self.never_null(right, other),
            (_, other, Kind::Null, _) => self.never_null(left, other),
            (Kind::Text(text), _, _, set) if is_set(set) => self.outside(right, set, text, left),
            (_, set, Kind::Text(text), _) if is_set(set) => self.outside(left, set, text, right),
            _ => {
                let (left, right) = (self.snippet(left), self.snippet(right));
                let message = format!("`{left}` is {one} and `{right}` is {two}: they are never equal");
                Fault::new(node.range.clone(), message)
            }
        };
        self.fault(fault);
    }

    fn never_null(&self, node: &Node, found: &Type) -> Fault {
        Fault::new(node.range.clone(), format!("`{}` is {found}, never null", self.snippet(node)))
    }

    fn outside(&self, place: &Node, set: &Type, text: &str, literal: &Node) -> Fault {
        let fault = Fault::new(literal.range.clone(), format!("`{}` is never '{text}'", self.snippet(place)));
        fault.helped(suggestion(text, &texts(set)))
    }

    fn membership(&mut self, left: &Node, one: Typed<'t>, right: &Node, two: Typed<'t>) -> Typed<'t> {
        let two = self.present(right, two);
        match (&*two, &right.kind) {
            (Type::Any, _) => {}
            (Type::List(_), Kind::List(items)) => {
                // Each element for itself: one wrong word in the list is a mistake though the others are right.
                for item in items {
                    let element = item_type(item).unwrap_or(Type::Any);
                    self.comparable(left, &one, item, &element, item);
                }
            }
            (Type::List(element), _) => {
                if !one.may_equal(element) {
                    let fault = match (&left.kind, &**element) {
                        (Kind::Text(text), set) if is_set(set) => {
                            let fault = Fault::new(
                                left.range.clone(),
                                format!("'{text}' is never in `{}`", self.snippet(right)),
                            );
                            fault.helped(suggestion(text, &texts(set)))
                        }
                        _ => {
                            let message = format!("{one} is never in `{}`, a {two}", self.snippet(right));
                            Fault::new(left.range.clone(), message)
                        }
                    };
                    self.fault(fault);
                }
            }
            (Type::Map(_) | Type::Record(_), _) => {
                let key = self.present(left, one);
                match (&*two, &left.kind) {
                    (Type::Record(_), Kind::Text(text)) => {
                        let field = Name { text: text.clone(), range: left.range.clone() };
                        drop(self.field(right, two, &field));
                    }
                    _ if is_text(&key) => {}
                    _ => self.fault(Fault::new(
                        left.range.clone(),
                        format!("the keys of {two} are texts, this is {key}"),
                    )),
                }
            }
            _ => {
                let message =
                    format!("`{}` is {two}, and `in` looks into a list or map", self.snippet(right));
                let fault = Fault::new(right.range.clone(), message);
                self.fault(if is_text(&two) { fault.helped(Function::Contains.usage()) } else { fault });
            }
        }
        Cow::Owned(Type::Bool)
    }

    pub(super) fn call(
        &mut self,
        function: &Name,
        style: Style,
        arguments: &[Node],
        node: &Node,
    ) -> Typed<'t> {
        let known = Function::named(&function.text);
        // A macro that is misspelt is taken for a function; the names it brings in are then not known here.
        let checked = if known.is_some() { arguments.len() } else { arguments.len().min(1) };
        let mut given = Vec::with_capacity(arguments.len());
        for argument in &arguments[..checked] {
            let found = self.typed(argument);
            given.push(self.present(argument, found));
        }
        let Some(known) = known else {
            let help = match function.text.as_str() {
                "matches" => {
                    "facts have no regular expressions: use `startsWith`, `endsWith` or `contains`".to_owned()
                }
                wrong => suggestion(wrong, &Function::all_names()),
            };
            let message = format!("there is no function `{}`", function.text);
            self.fault(Fault::new(function.range.clone(), message).helped(help));
            return Cow::Owned(Type::Any);
        };
        if !known.takes(style, arguments.len()) {
            let message = format!("`{}` cannot be called like this", function.text);
            self.fault(Fault::new(node.range.clone(), message).helped(known.usage()));
            return Cow::Owned(returned(known, None));
        }
        for (position, (argument, found)) in arguments.iter().zip(&given).enumerate() {
            if let Err(wanted) = accepts(known, found) {
                let message =
                    format!("`{}` is {found}, `{}` takes {wanted}", self.snippet(argument), function.text);
                let fault = Fault::new(argument.range.clone(), message);
                let listed = position == 0 && known == Function::Contains && matches!(**found, Type::List(_));
                self.fault(if listed { fault.helped(known.usage()) } else { fault });
            }
        }
        Cow::Owned(returned(known, given.first().map(|it| &**it)))
    }

    pub(super) fn each(&mut self, each: &Each) -> Typed<'t> {
        let found = self.typed(&each.list);
        let found = self.present(&each.list, found);
        let element = match found {
            Cow::Borrowed(Type::List(element)) => Cow::Borrowed(&**element),
            Cow::Owned(Type::List(element)) => Cow::Owned(*element),
            other => Cow::Owned(match &*other {
                Type::Any => Type::Any,
                // Over the keys, as CEL has it.
                Type::Map(_) => Type::Text,
                Type::Record(fields) => Type::one_of(fields.keys()),
                other => {
                    let message = format!(
                        "`{}` is {other}, `{}` goes over a list",
                        self.snippet(&each.list),
                        each.quantifier.word()
                    );
                    self.fault(Fault::new(each.list.range.clone(), message));
                    Type::Any
                }
            }),
        };
        let variable = &each.variable.text;
        self.binding(variable, element.clone(), |checker| match each.quantifier {
            Quantifier::All | Quantifier::Exists | Quantifier::ExistsOne => {
                checker.condition(&each.body);
                Cow::Owned(Type::Bool)
            }
            Quantifier::Filter => {
                checker.condition(&each.body);
                Cow::Owned(Type::list(refined(&element, variable, &present_when(&each.body, true))))
            }
            Quantifier::Map => {
                let mapped = match &each.only {
                    None => checker.typed(&each.body),
                    Some(only) => {
                        checker.condition(only);
                        checker.knowing(present_when(only, true), |checker| checker.typed(&each.body))
                    }
                };
                Cow::Owned(Type::list(mapped.into_owned()))
            }
        })
    }
}

fn is_text(found: &Type) -> bool {
    matches!(found, Type::Text | Type::OneOf(_) | Type::Any)
}

fn is_number(found: &Type) -> bool {
    matches!(found, Type::Int | Type::Float)
}

fn is_set(found: &Type) -> bool {
    matches!(found.present().0, Type::OneOf(_))
}

fn texts(set: &Type) -> Vec<&str> {
    match set.present().0 {
        Type::OneOf(values) => values.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The type of a literal, for elements that were typed before as part of their list.
fn item_type(item: &Node) -> Option<Type> {
    match &item.kind {
        Kind::Null => Some(Type::Null),
        Kind::Bool(_) => Some(Type::Bool),
        Kind::Int(_) => Some(Type::Int),
        Kind::Float(_) => Some(Type::Float),
        Kind::Text(text) => Some(Type::one_of([text])),
        _ => None,
    }
}

fn orderable(one: &Type, two: &Type) -> bool {
    match (one, two) {
        (Type::Null | Type::List(_) | Type::Map(_) | Type::Record(_), _)
        | (_, Type::Null | Type::List(_) | Type::Map(_) | Type::Record(_)) => false,
        (Type::Any, _) | (_, Type::Any) | (Type::Bool, Type::Bool) => true,
        (one, two) => (is_number(one) && is_number(two)) || (is_text(one) && is_text(two)),
    }
}

fn arithmetic(operator: Operator, one: &Type, two: &Type) -> Option<Type> {
    match (operator, one, two) {
        (_, Type::Null | Type::Bool, _) | (_, _, Type::Null | Type::Bool) => None,
        (_, Type::Any, _) | (_, _, Type::Any) => Some(Type::Any),
        (_, Type::Int, Type::Int) => Some(Type::Int),
        (Operator::Modulo, _, _) => None,
        (_, Type::Float, Type::Float) => Some(Type::Float),
        (Operator::Add, Type::List(one), Type::List(two)) => one.join(two).map(Type::list),
        (Operator::Add, one, two) if is_text(one) && is_text(two) => Some(Type::Text),
        _ => None,
    }
}

/// Whether a function takes this as an argument, or what it takes.
fn accepts(function: Function, found: &Type) -> Result<(), &'static str> {
    let (fits, wanted) = match function {
        Function::Size => (
            is_text(found) || matches!(found, Type::List(_) | Type::Map(_) | Type::Record(_)),
            "a text, list or map",
        ),
        Function::Contains | Function::StartsWith | Function::EndsWith => (is_text(found), "texts"),
        Function::Int | Function::Double => (is_text(found) || is_number(found), "a number or text"),
        Function::Text => {
            (is_text(found) || is_number(found) || *found == Type::Bool, "a number, text or bool")
        }
    };
    if fits { Ok(()) } else { Err(wanted) }
}

fn returned(function: Function, argument: Option<&Type>) -> Type {
    match (function, argument) {
        (Function::Size | Function::Int, _) => Type::Int,
        (Function::Contains | Function::StartsWith | Function::EndsWith, _) => Type::Bool,
        (Function::Double, _) => Type::Float,
        (Function::Text, Some(Type::OneOf(values))) => Type::OneOf(values.clone()),
        (Function::Text, _) => Type::Text,
    }
}
