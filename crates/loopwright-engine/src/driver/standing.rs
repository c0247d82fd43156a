//! Where a run stands when it is left, and how often it went round until then.

use loopwright_core::definition::{Kind, Outcome as Ending, Target};
use loopwright_core::machine::Run;
use loopwright_core::name::Name;

use super::Driver;
use super::steps::Asking;

/// Where a run stands when nobody drives it any more.
#[derive(Clone, Debug)]
pub enum Standing {
    /// It is over.
    Over {
        /// How it came out; `None` if a person ended it.
        ending: Option<Ending>,
        /// The run.
        run: Box<Run>,
    },
    /// It waits for a person.
    Waits {
        /// What for.
        asking: Box<Asking>,
        /// The run.
        run: Box<Run>,
    },
    /// Driving it was called off.
    CalledOff {
        /// The run.
        run: Box<Run>,
    },
    /// It came back to its start as often as was wanted.
    Rounded {
        /// The run.
        run: Box<Run>,
    },
}

impl Standing {
    /// The run.
    pub fn run(&self) -> &Run {
        match self {
            Self::Over { run, .. }
            | Self::Waits { run, .. }
            | Self::CalledOff { run }
            | Self::Rounded { run } => run,
        }
    }
}

impl Driver<'_> {
    /// How often it came to where runs of its workflow begin.
    pub(super) fn rounds(&self) -> u32 {
        let start = self.run.machine(&self.definition.workflow).and_then(|it| it.start.first());
        match start.map(|it| &it.arm.to) {
            Some(Target::State(first)) => self.run.visits.get(&**first).copied().unwrap_or(0),
            _ => 0,
        }
    }

    /// Whether it has to come back to its start before anything is done: it rests, or was led from where it stood to
    /// something that the engine does.
    pub(super) fn is_between(&self, stood: &Name) -> bool {
        let state = self.run.state(&self.definition.workflow);
        state.is_some_and(|it| match it.kind {
            Kind::Rest { .. } => true,
            Kind::Do { .. } => self.run.at.state != *stood,
            _ => false,
        })
    }
}
