//! The expression as this module works on it: smaller than CEL's own tree, with the macros kept as they were written
//! and a place in the source for every node.

use std::ops::Range;

/// A part of an expression and where it was written.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// The whole part, in bytes of the source.
    pub(super) range: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Name(String),
    Select { operand: Box<Node>, field: Name },
    Has { operand: Box<Node>, field: Name },
    Index { target: Box<Node>, index: Box<Node> },
    List(Vec<Node>),
    Record(Vec<(String, Node)>),
    Not(Box<Node>),
    Negate(Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Conditional { condition: Box<Node>, yes: Box<Node>, no: Box<Node> },
    Binary { operator: Operator, left: Box<Node>, right: Box<Node> },
    Call { function: Name, style: Style, arguments: Vec<Node> },
    Each(Box<Each>),
}

/// A word of the source that is no node of its own: a field, a function, a variable.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) range: Range<usize>,
}

/// How a call was written; of a member call, the target is the first argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Global,
    Member,
}

/// A macro over a list: `list.exists(variable, body)`.
#[derive(Clone, Debug)]
pub(super) struct Each {
    pub(super) quantifier: Quantifier,
    pub(super) list: Node,
    pub(super) variable: Name,
    /// The condition of the three-argument `map`.
    pub(super) only: Option<Node>,
    pub(super) body: Node,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantifier {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
}

impl Quantifier {
    pub(super) const NAMES: [(&'static str, Self); 6] = [
        ("all", Self::All),
        ("exists", Self::Exists),
        ("exists_one", Self::ExistsOne),
        ("existsOne", Self::ExistsOne),
        ("filter", Self::Filter),
        ("map", Self::Map),
    ];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Exists => "exists",
            Self::ExistsOne => "exists_one",
            Self::Filter => "filter",
            Self::Map => "map",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

impl Operator {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::In => "in",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
        }
    }
}

/// The functions a fact may call. Both the checker and the evaluator go by this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Size,
    Contains,
    StartsWith,
    EndsWith,
    Int,
    Double,
    Text,
}

impl Function {
    const NAMES: [(&'static str, Self); 7] = [
        ("size", Self::Size),
        ("contains", Self::Contains),
        ("startsWith", Self::StartsWith),
        ("endsWith", Self::EndsWith),
        ("int", Self::Int),
        ("double", Self::Double),
        ("string", Self::Text),
    ];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(word, _)| *word == name).map(|(_, function)| *function)
    }

    /// Every name that can be called, macros included.
    pub(super) fn all_names() -> Vec<&'static str> {
        let macros = Quantifier::NAMES.iter().map(|(word, _)| *word).filter(|word| *word != "existsOne");
        Self::NAMES.iter().map(|(word, _)| *word).chain(macros).chain(["has"]).collect()
    }

    /// How it is called, for a help line.
    pub(super) fn usage(self) -> &'static str {
        match self {
            Self::Size => "write `size(x)` or `x.size()`",
            Self::Contains => "write `text.contains(part)`; for a list write `element in list`",
            Self::StartsWith => "write `text.startsWith(part)`",
            Self::EndsWith => "write `text.endsWith(part)`",
            Self::Int => "write `int(x)`",
            Self::Double => "write `double(x)`",
            Self::Text => "write `string(x)`",
        }
    }

    /// Whether it may be called in this way with so many arguments, the target counted.
    pub(super) fn takes(self, style: Style, count: usize) -> bool {
        match self {
            Self::Size => count == 1,
            Self::Contains | Self::StartsWith | Self::EndsWith => style == Style::Member && count == 2,
            Self::Int | Self::Double | Self::Text => style == Style::Global && count == 1,
        }
    }
}

impl Node {
    /// The dotted path this reads, when it is a name and fields of it: `docs.state.status`. A text in quotes as index
    /// is a field too, as long as it looks like one.
    pub(super) fn path(&self) -> Option<String> {
        match &self.kind {
            Kind::Name(name) => Some(name.clone()),
            Kind::Select { operand, field } => Some(format!("{}.{}", operand.path()?, field.text)),
            Kind::Index { target, index } => match &index.kind {
                Kind::Text(field) if field.chars().all(|it| it.is_alphanumeric() || it == '_') => {
                    Some(format!("{}.{field}", target.path()?))
                }
                _ => None,
            },
            _ => None,
        }
    }
}
