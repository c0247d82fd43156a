//! Types, values of them and expressions over them, made up.

use indexmap::IndexMap;
use loopwright_core::fact::Type;
use serde_json::{Value, json};

/// A small generator of its own, so that types, values and expressions come from one seed and fit together.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % bound as u64).expect("small")
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    pub(crate) fn a_type(&mut self, depth: usize) -> Type {
        match self.below(if depth == 0 { 6 } else { 13 }) {
            0 => Type::Bool,
            1 => Type::Int,
            2 => Type::Float,
            3 => Type::Text,
            4 | 5 => Type::one_of(["a", "b", "c", "d"][self.below(3)..].iter().copied()),
            6..=8 => Type::list(self.a_type(depth - 1)),
            9 => Type::map(self.a_type(depth - 1)),
            10 => self.a_type(depth - 1).maybe(),
            _ => Type::record(["p", "q", "r"].map(|name| (name, self.a_type(depth - 1)))),
        }
    }

    pub(crate) fn a_value(&mut self, of: &Type) -> Value {
        match of {
            Type::Any | Type::Null => Value::Null,
            Type::Bool => json!(self.below(2) == 0),
            Type::Int => json!(i64::try_from(self.below(5)).expect("small") - 1),
            Type::Float => json!([0.0, 0.5, -1.5, 2.0][self.below(4)]),
            Type::Text => json!(["", "a", "b", "xyz", "12"][self.below(5)]),
            Type::OneOf(values) => json!(self.pick(values)),
            Type::List(element) => (0..self.below(4)).map(|_| self.a_value(element)).collect(),
            Type::Map(value) => {
                let keys: Vec<&str> =
                    ["a", "b", "p", "q"].into_iter().filter(|_| self.below(2) == 0).collect();
                Value::Object(keys.into_iter().map(|key| (key.to_owned(), self.a_value(value))).collect())
            }
            Type::Record(fields) => Value::Object(
                fields.iter().map(|(name, field)| (name.clone(), self.a_value(field))).collect(),
            ),
            Type::Maybe(_) if self.below(3) == 0 => Value::Null,
            Type::Maybe(inner) => self.a_value(inner),
        }
    }

    /// Every path of the given names with its type; through a null too, which is for the checker to notice.
    pub(crate) fn paths(names: &IndexMap<String, Type>) -> Vec<(String, Type)> {
        let mut all: Vec<(String, Type)> =
            names.iter().map(|(name, it)| (name.clone(), it.clone())).collect();
        let mut next = 0;
        while let Some((path, it)) = all.get(next).cloned() {
            next += 1;
            let it = if let Type::Maybe(inner) = it { *inner } else { it };
            match it {
                Type::Record(fields) => {
                    all.extend(fields.into_iter().map(|(name, field)| (format!("{path}.{name}"), field)));
                }
                Type::Map(value) => all.push((format!("{path}.a"), *value)),
                _ => {}
            }
        }
        all
    }

    /// An expression that is meant to be of this type, mostly is, and sometimes is not.
    pub(crate) fn an_expression(
        &mut self,
        of: &Type,
        names: &IndexMap<String, Type>,
        depth: usize,
    ) -> String {
        if depth == 0 || self.below(4) == 0 {
            return self.a_leaf(of, names);
        }
        let inner = depth - 1;
        match self.below(9) {
            0 => {
                let condition = self.an_expression(&Type::Bool, names, inner);
                let (yes, no) = (self.an_expression(of, names, inner), self.an_expression(of, names, inner));
                return format!("({condition} ? {yes} : {no})");
            }
            1 => {
                let list = self.an_expression(&Type::list(of.clone()), names, inner);
                return format!("{list}[{}]", self.an_expression(&Type::Int, names, 0));
            }
            2 => {
                // A guarded use of something that may be null.
                let paths = Self::paths(names);
                let nullable: Vec<_> = paths.iter().filter(|(_, it)| matches!(it, Type::Maybe(_))).collect();
                if !nullable.is_empty() {
                    let (path, _) = *self.pick(&nullable);
                    let used = self.an_expression(of, names, inner);
                    let other = self.an_expression(of, names, inner);
                    return match self.below(3) {
                        0 => format!("({path} != null ? {used} : {other})"),
                        1 => format!("({path} == null ? {other} : {used})"),
                        _ => format!("(!has({path}) ? {other} : {used})"),
                    };
                }
            }
            _ => {}
        }
        match of {
            Type::Bool => self.a_condition(names, inner),
            Type::Int => match self.below(4) {
                0 => format!("size({})", self.an_expression(&Type::list(Type::Int), names, inner)),
                1 => format!("size({})", self.an_expression(&Type::Text, names, inner)),
                2 => format!("int({})", self.an_expression(&Type::Int, names, inner)),
                _ => {
                    let (one, two) =
                        (self.an_expression(of, names, inner), self.an_expression(of, names, inner));
                    format!("({one} {} {two})", self.pick(&["+", "-", "*", "/", "%"]))
                }
            },
            Type::Float => {
                let (one, two) = (self.an_expression(of, names, inner), self.an_expression(of, names, inner));
                format!("({one} {} {two})", self.pick(&["+", "-", "*"]))
            }
            Type::Text => {
                let (one, two) = (self.an_expression(of, names, inner), self.an_expression(of, names, inner));
                format!("({one} + {two})")
            }
            Type::List(element) => match self.below(4) {
                0 => {
                    let (one, two) =
                        (self.an_expression(of, names, inner), self.an_expression(of, names, inner));
                    format!("({one} + {two})")
                }
                1 => {
                    let list = self.an_expression(of, names, inner);
                    let body =
                        self.within(names, element, |it, names| it.an_expression(&Type::Bool, names, inner));
                    format!("{list}.filter(v, {body})")
                }
                _ => {
                    let over = self.a_type(1);
                    let list = self.an_expression(&Type::list(over.clone()), names, inner);
                    let body = self.within(names, &over, |it, names| it.an_expression(element, names, inner));
                    format!("{list}.map(v, {body})")
                }
            },
            _ => self.a_leaf(of, names),
        }
    }

    pub(crate) fn within(
        &mut self,
        names: &IndexMap<String, Type>,
        element: &Type,
        body: impl FnOnce(&mut Self, &IndexMap<String, Type>) -> String,
    ) -> String {
        let mut names = names.clone();
        names.insert("v".to_owned(), element.clone());
        body(self, &names)
    }

    pub(crate) fn a_condition(&mut self, names: &IndexMap<String, Type>, depth: usize) -> String {
        let of = self.a_type(1);
        match self.below(8) {
            0 => format!("!{}", self.an_expression(&Type::Bool, names, depth)),
            1 | 2 => {
                let one = self.an_expression(&Type::Bool, names, depth);
                let two = self.an_expression(&Type::Bool, names, depth);
                format!("({one} {} {two})", self.pick(&["&&", "||"]))
            }
            3 | 4 => {
                let (one, two) =
                    (self.an_expression(&of, names, depth), self.an_expression(&of, names, depth));
                format!("({one} {} {two})", self.pick(&["==", "!="]))
            }
            5 => {
                let of = self.pick(&[Type::Int, Type::Float, Type::Text]).clone();
                let (one, two) =
                    (self.an_expression(&of, names, depth), self.an_expression(&of, names, depth));
                format!("({one} {} {two})", self.pick(&["<", "<=", ">", ">="]))
            }
            6 => {
                let list = self.an_expression(&Type::list(of.clone()), names, depth);
                format!("({} in {list})", self.an_expression(&of, names, depth))
            }
            _ => {
                let list = self.an_expression(&Type::list(of.clone()), names, depth);
                let body = self.within(names, &of, |it, names| it.an_expression(&Type::Bool, names, depth));
                format!("{list}.{}(v, {body})", self.pick(&["all", "exists", "exists_one"]))
            }
        }
    }

    pub(crate) fn a_leaf(&mut self, of: &Type, names: &IndexMap<String, Type>) -> String {
        let paths = Self::paths(names);
        let bare = |it: &Type| if let Type::Maybe(inner) = it { (**inner).clone() } else { it.clone() };
        let fitting: Vec<_> = paths.iter().filter(|(_, it)| bare(it) == bare(of)).collect();
        if !fitting.is_empty() && self.below(5) != 0 {
            return self.pick(&fitting).0.clone();
        }
        if self.below(40) == 0 {
            return self.pick(&paths).0.clone();
        }
        match of {
            Type::Any | Type::Null => "null".to_owned(),
            Type::Maybe(_) if self.below(2) == 0 => "null".to_owned(),
            Type::Maybe(inner) => self.a_leaf(inner, names),
            Type::List(element) => {
                let items: Vec<_> = (0..self.below(3)).map(|_| self.a_leaf(element, names)).collect();
                format!("[{}]", items.join(", "))
            }
            Type::Record(fields) => {
                let fields =
                    fields.iter().map(|(name, field)| format!("'{name}': {}", self.a_leaf(field, names)));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
            Type::Map(value) => format!("{{'a': {}}}", self.a_leaf(value, names)),
            scalar => self.a_value(scalar).to_string().replace('"', "'"),
        }
    }
}
