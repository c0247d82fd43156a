//! Which arms an author wrote, and which were taken.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::definition::{Origin, Workflow};
use crate::name::Name;
use crate::problem::Place;

/// An arm as an author wrote it. One in `defaults` counts once, however many states it serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct WrittenArm {
    /// A state it serves, `child.state` in a child.
    pub state: Name,
    /// A signal it serves.
    pub signal: Name,
    /// Where it leads.
    pub to: String,
    /// Whether it stands in `defaults`.
    pub default: bool,
    /// How often it was taken.
    pub taken: u32,
}

/// Which arms were taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    arms: BTreeMap<(Place, String), WrittenArm>,
}

impl Coverage {
    /// Every arm of a workflow, none taken yet.
    pub fn of(workflow: &Workflow) -> Self {
        let mut arms = BTreeMap::new();
        for machine in workflow.machines() {
            for (name, state) in &machine.states {
                for (signal, cell) in state.cells.iter().filter(|(_, it)| it.origin != Origin::Implied) {
                    for arm in &cell.arms {
                        // A child that takes the file's defaults has arms of its own there: they lead into the child.
                        let owner = machine.name.as_deref().unwrap_or_default().to_owned();
                        arms.entry((arm.place.clone(), owner)).or_insert_with(|| WrittenArm {
                            state: machine.qualified(name),
                            signal: signal.clone(),
                            to: arm.to.to_string(),
                            default: cell.origin == Origin::Default,
                            taken: 0,
                        });
                    }
                }
            }
        }
        Self { arms }
    }

    /// An arm was taken.
    pub fn take(&mut self, child: Option<&str>, arm: &Place) {
        let key = (arm.clone(), child.unwrap_or_default().to_owned());
        if let Some(arm) = self.arms.get_mut(&key) {
            arm.taken = arm.taken.saturating_add(1);
        }
    }

    /// Adds what another rehearsal took.
    pub fn add(&mut self, other: &Self) {
        for (key, arm) in &other.arms {
            if let Some(own) = self.arms.get_mut(key) {
                own.taken = own.taken.saturating_add(arm.taken);
            }
        }
    }

    /// All arms, in the order of the file.
    pub fn arms(&self) -> impl Iterator<Item = (&Place, &WrittenArm)> {
        self.arms.iter().map(|((place, _), arm)| (place, arm))
    }

    /// How many arms there are, and how many were taken.
    pub fn count(&self) -> (usize, usize) {
        (self.arms.len(), self.arms.values().filter(|it| it.taken > 0).count())
    }
}
