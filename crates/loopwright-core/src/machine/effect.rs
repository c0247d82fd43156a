//! Effects: everything a run ever wants done. Performing them is the engine's.

use std::fmt;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::event::Outer;
use crate::name::Name;

/// Names one piece of work; the same in every replay and in every retry of the same visit, so work is never asked
/// for twice and what is keyed by it happens once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct EffectId {
    /// The state.
    pub state: Name,
    /// Its how-manieth visit, from one.
    pub visit: u32,
    /// Which part of the visit.
    pub part: Part,
}

/// Which part of a visit an effect is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Looking whether the gates it needs are settled.
    Needs,
    /// The state's own work.
    Work,
    /// One of its actions, from zero.
    Action(u32),
    /// Finding the items of its loop.
    Items,
    /// One item of its loop.
    Item(String),
    /// Looking at what its routing reads.
    Routing,
    /// Another judge, called beside the one whose turn it is: the state in which it judges.
    Ahead(Name),
}

impl fmt::Display for EffectId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.state, self.visit)?;
        match &self.part {
            Part::Work => Ok(()),
            Part::Needs => formatter.write_str("/needs"),
            Part::Action(index) => write!(formatter, "/action-{index}"),
            Part::Items => formatter.write_str("/items"),
            Part::Item(id) => write!(formatter, "/{id}"),
            Part::Routing => formatter.write_str("/routing"),
            Part::Ahead(judge) => write!(formatter, "/ahead-{judge}"),
        }
    }
}

/// Something that should be happening now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Effect {
    /// Its name.
    pub id: EffectId,
    /// The how-manieth try, from one.
    pub attempt: u32,
    /// What it is.
    pub want: Want,
}

/// What an effect is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Want {
    /// Call a role.
    Call {
        /// The role.
        role: Name,
        /// Roles to be heard as well.
        advice: Vec<Name>,
        /// The item, in a loop of calls.
        item: Option<String>,
    },
    /// Call the judge of another gate before its turn, if the gate is owed. Nothing waits for it.
    Ahead {
        /// The state in which it judges.
        judge: Name,
        /// How many judges may be at work at once, the one whose turn it is among them.
        at_once: u32,
    },
    /// Run the state's check.
    Check,
    /// Ask the state's question.
    Ask {
        /// The question.
        question: Name,
        /// The finding it is about, where it is asked once per finding.
        finding: Option<String>,
    },
    /// Perform one of the state's actions.
    Act {
        /// Which, from zero.
        index: usize,
    },
    /// Find the items of the state's loop.
    List,
    /// Run a child machine on an item.
    Child {
        /// The machine.
        child: Name,
        /// The item.
        item: String,
        /// Start values of its variables.
        vars: IndexMap<Name, Name>,
        /// What it may read of this run.
        outer: Box<Outer>,
    },
    /// Look at facts and digests.
    Observe {
        /// Facts.
        facts: Vec<Name>,
        /// Gates whose judged documents are to be hashed.
        gates: Vec<Name>,
        /// Documents to be compared with the start of the run.
        changed: Vec<Name>,
    },
    /// Wait for one of these verbs.
    Await {
        /// The verbs.
        verbs: Vec<Name>,
    },
}
