//! What comes next, and what a step would leave out.

use serde_json::{Value, json};

use super::words::{PHASES, Status};
use super::{Meta, Phase};

/// How a phase stands to what was done before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// The phase that is due. Nothing, if it is over.
    pub next: String,
    /// Phases of the order that would be left out.
    pub skips: Vec<String>,
    /// Whether it goes back behind what was completed, other than to go on with what was begun.
    pub back: bool,
}

fn rank(phase: &str) -> Option<usize> {
    PHASES.iter().position(|it| *it == phase)
}

/// How a phase stands to what was done, where phases come in an order that need not have all of them. One that is in no
/// order leaves nothing out.
pub fn way(meta: &Meta, order: &[String], stage: &str) -> Way {
    let done = meta.last.as_deref().and_then(rank);
    let is_after = |name: &str| rank(name).is_some_and(|it| done.is_none_or(|done| it > done));
    let known = order.iter().any(|it| it == stage);
    let between = |name: &&String| is_after(name) && rank(name) < rank(stage);
    let skips = order.iter().filter(between).filter(|_| known).cloned().collect();
    let is_partial = meta.phases.get(stage).is_some_and(Phase::is_partial);
    let back = rank(stage).is_some() && done.is_some() && rank(stage) <= done && !is_partial;
    Way { next: next(meta, order, is_after), skips, back }
}

/// One that was begun and not completed, or the first that comes after what was.
fn next(meta: &Meta, order: &[String], is_after: impl Fn(&str) -> bool) -> String {
    if meta.status != Status::Active {
        return String::new();
    }
    let partial = |name: &&String| meta.phases.get(*name).is_some_and(Phase::is_partial);
    let open = order.iter().find(partial);
    let found = open.or_else(|| order.iter().find(|it| is_after(it))).or(order.last());
    found.cloned().unwrap_or_default()
}

impl Meta {
    /// What readers give of it, for a phase at hand and an order.
    pub fn seen(&self, order: &[String], stage: &str) -> Value {
        let way = way(self, order, stage);
        let seen = |it: &Phase, way: &Way| {
            let mut seen = json!(it);
            seen["skips"] = json!(way.skips);
            seen["back"] = json!(way.back);
            seen
        };
        let phases: serde_json::Map<String, Value> =
            self.phases.iter().map(|(name, it)| (name.clone(), seen(it, &Way::default()))).collect();
        let at_hand = self.phases.get(stage).cloned().unwrap_or_default();
        json!({
            "id": self.id, "name": self.name, "mode": self.mode, "status": self.status.word(),
            "created": self.created, "completed": self.completed, "worktree": self.worktree, "branch": self.branch,
            "currentPhase": self.last, "next": way.next, "phases": phases, "phase": seen(&at_hand, &way),
            "skipped": self.skipped,
        })
    }
}
