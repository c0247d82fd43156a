//! What is kept of how runs begin, how states come out, and what children come to.

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::super::writes::Documents;
use crate::definition::Term;
use crate::name::Name;

/// One way the work of a node comes out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(in super::super) struct Came {
    pub(in super::super) signal: Name,
    pub(in super::super) fields: Vec<(Name, Name)>,
    pub(in super::super) same_again: Option<bool>,
    pub(in super::super) topic: Option<Name>,
    pub(in super::super) facts: Vec<(Name, Name)>,
    pub(in super::super) changed: Vec<(Name, bool)>,
    pub(in super::super) wrote: Option<Documents>,
    /// What somebody edited before it came out like this.
    pub(in super::super) edited: Documents,
    /// Arms that only try the same visit again, which were walked past: their place in the cell, and how often each can
    /// be taken first.
    pub(in super::super) retries: Vec<(usize, u64)>,
    /// A gate was passed over in an item, so that the loop's own counts as passed over as well.
    pub(in super::super) forced: bool,
    /// Only that a person decided something in a child; what follows is the next move.
    pub(in super::super) decides: bool,
    /// Per step of the cell: the arm's place in the state's cell.
    pub(in super::super) arms: Vec<usize>,
}

/// How a run begins.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Begin {
    pub(in super::super) verb: Option<Name>,
    pub(in super::super) phase: Option<Name>,
    pub(in super::super) vars: IndexMap<Name, Name>,
    pub(in super::super) facts: IndexMap<Name, Name>,
    /// What somebody edits before the run goes on.
    pub(in super::super) edited: Documents,
}

/// What the parent knows when it runs a child: the child's start values and the parent's terms it reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(in super::super) struct Setting {
    pub(in super::super) with: Vec<(Name, Name)>,
    pub(in super::super) outer: Vec<(Term, Name)>,
}

/// Which ends a loop's children can come to, by state and setting. Absent means all.
pub(in super::super) type Ends = FxHashMap<(Name, Setting), IndexMap<Name, Reached>>;

/// How children come to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Reached {
    /// Only by what a person decides.
    pub(in super::super) by_person: bool,
    /// Never without somebody editing what these are.
    pub(in super::super) edited: Documents,
    /// Whether past a gate, so that what the loop passes counts as forced.
    pub(in super::super) forced: Forced,
}

/// Whether a gate is passed over on the way to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Forced {
    Never,
    Maybe,
    Always,
}
