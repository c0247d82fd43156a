//! Facts: what a workflow reads off its documents, as CEL expressions with a type check.
//!
//! CEL is untyped until it runs, and a fact that fails in the middle of a run is a run that stops for a misspelt
//! field. So an [`Expression`] is checked when the workflow is, against the types of everything it may name: every
//! fault at once, and with them the texts it can come out as ([`Checked::leaves`]) and what it reads
//! ([`Checked::reads`]).
//!
//! The text is read by the `cel` crate. The rest is ours, and smaller than CEL: values are JSON's, there are no
//! unsigned numbers, bytes, timestamps or optionals. Evaluation is ours because it has to be bounded, whatever list an
//! agent writes into a document, and has to agree with the checker; where both say something, it says what `cel` says.
//! One thing differs on purpose: `has(x.y)` is false when `y` is null, so that it is a null test too.

mod check;
mod evaluate;
mod narrow;
mod operate;
mod parse;
mod scan;
mod tree;
mod types;
mod value;

use std::collections::BTreeSet;
use std::ops::Range;

use indexmap::IndexMap;
use serde_json::Value;

pub use self::evaluate::{EvaluationError, Reason};
pub use self::types::Type;

/// A parsed expression.
#[derive(Clone, Debug)]
pub struct Expression {
    source: String,
    root: tree::Node,
}

/// Two expressions are the same when they were written the same.
impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Expression {}

impl Expression {
    /// Reads an expression, or says where it cannot be read.
    pub fn parse(source: &str) -> Result<Self, Fault> {
        Ok(Self { source: source.to_owned(), root: parse::parse(source)? })
    }

    /// The text it was read from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Holds the expression against the types of the names it may use. Returns every fault at once, in the order of
    /// the source.
    pub fn check(&self, names: &IndexMap<String, Type>) -> Checked {
        check::check(&self.source, &self.root, names)
    }

    /// Works the expression out. `names` is an object with the values of the names.
    pub fn evaluate(&self, names: &Value) -> Result<Value, EvaluationError> {
        evaluate::evaluate(&self.root, names)
    }
}

/// Something wrong in an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// Where, in bytes of the source.
    pub range: Range<usize>,
    /// What.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl Fault {
    fn new(range: Range<usize>, message: impl Into<String>) -> Self {
        Self { range, message: message.into(), help: None }
    }

    fn helped(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// What the check of an expression found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// All that is wrong.
    pub faults: Vec<Fault>,
    /// What it gives.
    pub result: Type,
    /// The texts it can come out as, when these are known.
    pub leaves: Option<BTreeSet<String>>,
    /// The dotted paths it reads, from the given names down.
    pub reads: BTreeSet<String>,
}
