//! The type check: names, fields, conditions and null. Operators and calls are in [`super::operate`].
//!
//! Every node is looked at once and always gets a type, so one fault does not hide the next; where nothing sensible
//! can be said the type is [`Type::Any`], which allows everything after it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::narrow::{Present, covers, present_when};
use super::tree::{Kind, Name, Node, Operator};
use super::types::{Type, Typed, listed};
use super::{Checked, Fault};

pub(super) fn check(source: &str, root: &Node, names: &IndexMap<String, Type>) -> Checked {
    let mut checker =
        Checker { source, names, frames: Vec::new(), faults: Vec::new(), reads: BTreeSet::new() };
    let result = checker.typed(root).into_owned();
    checker.faults.sort_by_key(|fault| (fault.range.start, fault.range.end));
    let leaves = match &result {
        Type::OneOf(values) => Some(values.iter().cloned().collect()),
        _ => None,
    };
    Checked { faults: checker.faults, result, leaves, reads: checker.reads }
}

/// The parts of a type that a record literal may take over.
const LARGEST: usize = 4096;

pub(super) struct Checker<'t> {
    source: &'t str,
    names: &'t IndexMap<String, Type>,
    /// What holds at this place of the expression, innermost last.
    frames: Vec<Frame<'t>>,
    faults: Vec<Fault>,
    reads: BTreeSet<String>,
}

enum Frame<'t> {
    /// A variable of a macro; it hides what is known of outer ones of the same name.
    Local(String, Typed<'t>),
    Known(Present),
}

impl<'t> Checker<'t> {
    pub(super) fn fault(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    /// The type of a node; what it reads is noted.
    pub(super) fn typed(&mut self, node: &Node) -> Typed<'t> {
        if let Some(path) = node.path() {
            let root = path.split('.').next().unwrap_or_default();
            if self.local(root).is_none() && self.names.contains_key(root) {
                self.reads.insert(path);
            }
        }
        self.place(node)
    }

    /// The type of a node that a longer path may go on from, so that only the whole path counts as read.
    fn place(&mut self, node: &Node) -> Typed<'t> {
        let found = match &node.kind {
            Kind::Null => Cow::Owned(Type::Null),
            Kind::Bool(_) => Cow::Owned(Type::Bool),
            Kind::Int(_) => Cow::Owned(Type::Int),
            Kind::Float(_) => Cow::Owned(Type::Float),
            Kind::Text(text) => Cow::Owned(Type::one_of([text])),
            Kind::Name(name) => self.name(name, node),
            Kind::Select { operand, field } => {
                let record = self.operand(operand);
                let record = self.present(operand, record);
                self.field(operand, record, field)
            }
            Kind::Has { operand, field } => self.has(operand, field, node),
            Kind::Index { target, index } => self.index(target, index, node),
            Kind::List(items) => self.list(items),
            Kind::Record(fields) => self.record(fields),
            Kind::Not(inner) => {
                self.condition(inner);
                Cow::Owned(Type::Bool)
            }
            Kind::And(left, right) => self.both(left, right, true),
            Kind::Or(left, right) => self.both(left, right, false),
            Kind::Conditional { condition, yes, no } => self.conditional(condition, yes, no, node),
            Kind::Negate(inner) => self.negate(inner),
            Kind::Binary { operator, left, right } => self.binary(*operator, left, right, node),
            Kind::Call { function, style, arguments } => self.call(function, *style, arguments, node),
            Kind::Each(each) => self.each(each),
        };
        self.narrowed(node, found)
    }

    fn operand(&mut self, node: &Node) -> Typed<'t> {
        if node.path().is_some() { self.place(node) } else { self.typed(node) }
    }

    fn name(&mut self, name: &str, node: &Node) -> Typed<'t> {
        if let Some(local) = self.local(name) {
            return local.clone();
        }
        if let Some(known) = self.names.get(name) {
            return Cow::Borrowed(known);
        }
        let names: Vec<&str> = self.names.keys().map(String::as_str).collect();
        self.fault(
            Fault::new(node.range.clone(), format!("`{name}` is not known")).helped(suggestion(name, &names)),
        );
        Cow::Owned(Type::Any)
    }

    pub(super) fn field(&mut self, operand: &Node, record: Typed<'t>, field: &Name) -> Typed<'t> {
        let known = match &*record {
            Type::Any => return record,
            Type::Map(_) => match record {
                Cow::Borrowed(Type::Map(value)) => return Cow::Borrowed(value),
                other => return value_of(other.into_owned()),
            },
            Type::Record(fields) => fields,
            other => {
                let message =
                    format!("`{}` is {other} and has no field `{}`", self.snippet(operand), field.text);
                self.fault(Fault::new(field.range.clone(), message));
                return Cow::Owned(Type::Any);
            }
        };
        if known.contains_key(&field.text) {
            return match record {
                Cow::Borrowed(Type::Record(fields)) => fields.get(&field.text).map_or(any(), Cow::Borrowed),
                other => other_field(other.into_owned(), &field.text),
            };
        }
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        let help = suggestion(&field.text, &names);
        let message = format!("`{}` has no field `{}`", self.snippet(operand), field.text);
        self.fault(Fault::new(field.range.clone(), message).helped(help));
        Cow::Owned(Type::Any)
    }

    fn has(&mut self, operand: &Node, field: &Name, node: &Node) -> Typed<'t> {
        if let Some(path) = operand.path() {
            let root = path.split('.').next().unwrap_or_default();
            if self.local(root).is_none() && self.names.contains_key(root) {
                self.reads.insert(format!("{path}.{}", field.text));
            }
        }
        let record = self.operand(operand);
        let record = present_part(record);
        match &*record {
            Type::Any | Type::Map(_) | Type::Record(_) => drop(self.field(operand, record, field)),
            other => {
                let message = format!("`{}` is {other} and has no fields", self.snippet(operand));
                self.fault(Fault::new(node.range.clone(), message));
            }
        }
        Cow::Owned(Type::Bool)
    }

    fn index(&mut self, target: &Node, index: &Node, node: &Node) -> Typed<'t> {
        let found = if node.path().is_some() { self.place(target) } else { self.typed(target) };
        let found = self.present(target, found);
        let position = self.typed(index);
        let position = self.present(index, position);
        let wanted = match &*found {
            Type::Any => return Cow::Owned(Type::Any),
            Type::Record(_) => {
                if let Kind::Text(field) = &index.kind {
                    let field = Name { text: field.clone(), range: index.range.clone() };
                    return self.field(target, found, &field);
                }
                "a text as index"
            }
            Type::List(_) => "a whole number as index",
            Type::Map(_) => "a text as index",
            other => {
                let message = format!("`{}` is {other} and cannot be indexed", self.snippet(target));
                self.fault(Fault::new(target.range.clone(), message));
                return Cow::Owned(Type::Any);
            }
        };
        let fits = matches!(
            (&*found, &*position),
            (_, Type::Any)
                | (Type::List(_), Type::Int)
                | (Type::Map(_) | Type::Record(_), Type::Text | Type::OneOf(_))
        );
        if !fits {
            let message = format!("`{}` takes {wanted}, this is {position}", self.snippet(target));
            self.fault(Fault::new(index.range.clone(), message));
        }
        match found {
            Cow::Borrowed(Type::List(inner) | Type::Map(inner)) => Cow::Borrowed(inner),
            other => value_of(other.into_owned()),
        }
    }

    fn list(&mut self, items: &[Node]) -> Typed<'t> {
        let mut all = Type::nothing();
        for item in items {
            let element = self.typed(item);
            all = all.join(&element).unwrap_or_else(|| {
                let message = format!("this element is {element}, the ones before it are {all}");
                self.fault(Fault::new(item.range.clone(), message));
                Type::Any
            });
        }
        Cow::Owned(Type::list(all))
    }

    /// A record literal can hold a value twice and be held twice by the next, so its type is given up when it gets large.
    fn record(&mut self, fields: &[(String, Node)]) -> Typed<'t> {
        let mut record = IndexMap::new();
        for (name, value) in fields {
            let found = self.typed(value);
            let found = if found.is_larger_than(LARGEST) { Type::Any } else { found.into_owned() };
            record.insert(name.clone(), found);
        }
        Cow::Owned(Type::Record(record))
    }

    /// `&&` and `||`: each side counts only where the other one left it open.
    fn both(&mut self, left: &Node, right: &Node, open: bool) -> Typed<'t> {
        for (side, other) in [(left, right), (right, left)] {
            self.knowing(present_when(other, open), |checker| checker.condition(side));
        }
        Cow::Owned(Type::Bool)
    }

    fn conditional(&mut self, condition: &Node, yes: &Node, no: &Node, node: &Node) -> Typed<'t> {
        self.condition(condition);
        let one = self.knowing(present_when(condition, true), |checker| checker.typed(yes));
        let other = self.knowing(present_when(condition, false), |checker| checker.typed(no));
        if let Some(joined) = one.join(&other) {
            return Cow::Owned(joined);
        }
        let message = format!("one side of `?:` is {one}, the other is {other}");
        self.fault(Fault::new(node.range.clone(), message));
        Cow::Owned(Type::Any)
    }

    /// A part that has to be true or false.
    pub(super) fn condition(&mut self, node: &Node) {
        let found = self.typed(node);
        let found = self.present(node, found);
        if matches!(*found, Type::Bool | Type::Any) {
            return;
        }
        let snippet = self.snippet(node);
        let fault = Fault::new(node.range.clone(), format!("`{snippet}` is {found}, not true or false"));
        self.fault(match &*found {
            Type::OneOf(_) | Type::Text if node.path().is_some() => {
                fault.helped(format!("compare it: `{snippet} == '...'`"))
            }
            Type::Int | Type::Float => fault.helped(format!("compare it: `{snippet} > 0`")),
            Type::List(_) | Type::Map(_) => fault.helped(format!("compare its size: `size({snippet}) > 0`")),
            _ => fault,
        });
    }

    /// The type without null; a fault when it may be null here.
    pub(super) fn present(&mut self, node: &Node, found: Typed<'t>) -> Typed<'t> {
        if matches!(&*found, Type::Maybe(_)) {
            let snippet = self.snippet(node);
            let fault = Fault::new(node.range.clone(), format!("`{snippet}` may be null here"));
            self.fault(fault.helped(format!("test it first: `{snippet} != null && ...`")));
        }
        present_part(found)
    }

    /// The type where a null test was passed on the way.
    fn narrowed(&self, node: &Node, found: Typed<'t>) -> Typed<'t> {
        if !matches!(&*found, Type::Maybe(_)) {
            return found;
        }
        match node.path() {
            Some(path) if self.is_present(&path) => present_part(found),
            _ => found,
        }
    }

    fn is_present(&self, path: &str) -> bool {
        let root = path.split('.').next().unwrap_or_default();
        let own =
            self.frames.iter().rev().take_while(|it| !matches!(it, Frame::Local(name, _) if name == root));
        own.into_iter().any(|frame| matches!(frame, Frame::Known(present) if covers(present, path)))
    }

    pub(super) fn knowing<R>(&mut self, present: Present, within: impl FnOnce(&mut Self) -> R) -> R {
        self.frames.push(Frame::Known(present));
        let result = within(self);
        self.frames.pop();
        result
    }

    pub(super) fn binding<R>(
        &mut self,
        name: &str,
        element: Typed<'t>,
        within: impl FnOnce(&mut Self) -> R,
    ) -> R {
        self.frames.push(Frame::Local(name.to_owned(), element));
        let result = within(self);
        self.frames.pop();
        result
    }

    fn local(&self, name: &str) -> Option<&Typed<'t>> {
        self.frames.iter().rev().find_map(|frame| match frame {
            Frame::Local(local, element) if local == name => Some(element),
            _ => None,
        })
    }

    /// `last.review-strategy` is a subtraction to CEL. When the name with `_` is one we know, that was meant.
    pub(super) fn dashed(&mut self, operator: Operator, node: &Node) -> Option<Typed<'t>> {
        let written = self.source.get(node.range.clone())?;
        let plain = |it: char| it.is_alphanumeric() || matches!(it, '_' | '.' | '-');
        if operator != Operator::Subtract || !written.chars().all(plain) {
            return None;
        }
        let meant = written.replace('-', "_");
        let mut fields = meant.split('.');
        let root = fields.next()?;
        let mut found = match self.local(root) {
            Some(local) => local,
            None => self.names.get(root)?,
        };
        for field in fields {
            found = match found.present().0 {
                Type::Record(known) => known.get(field)?,
                Type::Map(value) => value,
                _ => return None,
            };
        }
        let found = found.clone();
        let fault = Fault::new(node.range.clone(), format!("`{written}` is read as a subtraction"));
        self.fault(fault.helped(format!("inside an expression a `-` in a name is written `_`: `{meant}`")));
        Some(Cow::Owned(found))
    }

    /// A node as it was written, cut where it gets long.
    pub(super) fn snippet(&self, node: &Node) -> String {
        let text = self.source.get(node.range.clone()).unwrap_or_default();
        match text.char_indices().nth(48) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text.to_owned(),
        }
    }
}

fn any<'t>() -> Typed<'t> {
    Cow::Owned(Type::Any)
}

fn value_of<'t>(container: Type) -> Typed<'t> {
    match container {
        Type::List(inner) | Type::Map(inner) => Cow::Owned(*inner),
        _ => any(),
    }
}

fn other_field<'t>(record: Type, name: &str) -> Typed<'t> {
    match record {
        Type::Record(mut fields) => fields.swap_remove(name).map_or(any(), Cow::Owned),
        _ => any(),
    }
}

pub(super) fn present_part(found: Typed<'_>) -> Typed<'_> {
    match found {
        Cow::Borrowed(Type::Maybe(inner)) => Cow::Borrowed(inner),
        Cow::Owned(Type::Maybe(inner)) => Cow::Owned(*inner),
        other => other,
    }
}

/// What was probably meant, and what there is.
pub(super) fn suggestion(wrong: &str, known: &[&str]) -> String {
    let plain = |it: &str| it.to_lowercase().replace('-', "_");
    let far = |it: &str| strsim::damerau_levenshtein(&plain(wrong), &plain(it));
    let near = known
        .iter()
        .map(|it| (far(it), *it))
        .min()
        .filter(|(far, _)| *far <= wrong.chars().count().div_ceil(3));
    let all = listed(known.iter().copied());
    match near {
        _ if known.is_empty() => "there is nothing to name here".to_owned(),
        Some((_, near)) => format!("did you mean `{near}`? there is: {all}"),
        None => format!("there is: {all}"),
    }
}
