//! Items: runs of their own, as many at once as the loop allows.

use std::sync::Arc;

use loopwright_core::machine::{Effect, Evidence, Outcome, Shown, Started, Want, due};

use super::steps::{Asking, settled};
use super::{Driver, Standing};
use crate::error::EngineError;
use crate::journal::{JournalError, NewRun};

impl Driver<'_> {
    /// Runs the items that are due. `Some`: none of them can go on without a person.
    pub(super) fn run_children(&mut self, effects: &[Effect]) -> Result<Option<Asking>, EngineError> {
        // What led here is on record before a child is.
        self.write_down()?;
        let look = self.look()?;
        let mut begun = Vec::new();
        for effect in effects {
            let Want::Child { child, item, vars, outer } = &effect.want else { continue };
            let started = Started {
                definition: self.run.definition.clone(),
                child: Some(child.clone()),
                subject: self.run.subject.clone(),
                inputs: self.run.inputs.clone(),
                vars: vars.clone(),
                item: Some(item.clone()),
                of: Some(self.run.at.state.clone()),
                outer: Some(outer.clone()),
                ..Started::default()
            };
            begun.push((effect, self.child_name(effect, item), started));
        }
        let this = &*self;
        let standings: Vec<_> = std::thread::scope(|scope| {
            let running: Vec<_> = begun
                .iter()
                .map(|(_, name, started)| {
                    let look = Arc::clone(&look);
                    scope.spawn(move || this.run_child(name, started.clone(), look))
                })
                .collect();
            running.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
        });
        self.look = None;
        let mut waits = None;
        let mut moved = false;
        let mut left = Vec::new();
        for ((effect, name, _), standing) in begun.iter().zip(standings) {
            let fell = |_| EngineError::Wrong(format!("driving {} fell over", effect.id));
            let (standing, shown) = standing.map_err(fell)??;
            self.adopt(&shown)?;
            let Some(standing) = standing else {
                moved = true;
                continue;
            };
            match standing {
                Standing::Over { run, .. } => {
                    let judged = self.judged_now()?;
                    // What it cost is taken from the budgets around it as well.
                    let cost = self.engine.account(name, &self.definition)?.cost;
                    let outcome = Outcome {
                        cost,
                        judged,
                        forced: run.forced.clone(),
                        recorded: run.lists.clone(),
                        decisions: run.decisions.clone(),
                        spent: run.spent.clone(),
                        ..Outcome::of(run.at.state.clone())
                    };
                    // An item that stopped the loop has others with it that nobody waits for any more.
                    if self.run.at.state == effect.id.state && self.run.at.visit == effect.id.visit {
                        self.learn(settled(effect, Evidence::Out(Box::new(outcome))))?;
                    }
                    moved = true;
                }
                Standing::Waits { asking, .. } => {
                    left.push((effect, name));
                    waits = waits.or(Some(*asking));
                }
                Standing::CalledOff { .. } | Standing::Rounded { .. } => moved = true,
            }
        }
        for (effect, name) in left {
            // An item beside it led on, and nobody waits for this one any more.
            if self.run.at.state != effect.id.state || self.run.at.visit != effect.id.visit {
                self.end_child(name, "the run around it went on without it")?;
            }
        }
        Ok(waits.filter(|_| !moved))
    }

    /// What the run of an item is called.
    fn child_name(&self, effect: &Effect, item: &str) -> String {
        let again = if effect.attempt > 1 { format!("~{}", effect.attempt) } else { String::new() };
        format!("{}/{}.{}{again}/{item}", self.name, effect.id.state, effect.id.visit)
    }

    /// Begins the run of an item, or takes it up where it was left.
    fn run_child(
        &self,
        name: &str,
        mut started: Started,
        look: Arc<crate::files::Look>,
    ) -> Result<(Option<Standing>, Shown), EngineError> {
        let engine = self.engine;
        let new = NewRun {
            name: name.to_owned(),
            workflow: self.definition.workflow.name.to_string(),
            subject: started.subject.clone(),
            definition: String::new(),
            parent: Some(self.name.clone()),
            at: (engine.clock)(),
        };
        let shared = || (Arc::clone(&self.definition), Arc::clone(&self.files));
        let is_new = match engine.journal.create(&new) {
            Ok(()) => true,
            // Made room for by somebody who was gone before it began.
            Err(JournalError::Taken(_)) => engine.journal.run(name)?.last == 0,
            Err(error) => return Err(error.into()),
        };
        let mut driver = if is_new {
            started.facts = engine.once(&self.definition, &started, name, (&self.files, &look))?;
            let around = self.run.site.as_ref();
            let mut driver = Driver::begin(engine, name, shared(), (started, look, around), &self.cancel)?;
            driver.adopt(&self.run.shown)?;
            driver
        } else {
            Driver::resume(engine, name, Some(shared()), &self.cancel)?
        };
        let standing = driver.drive_item()?;
        Ok((standing, std::mem::take(&mut driver.run.shown)))
    }

    /// Runs of the items at hand that have begun.
    pub(super) fn children(&self) -> Result<Vec<String>, EngineError> {
        let mut found = Vec::new();
        for effect in due(&self.definition.workflow, &self.run) {
            let Want::Child { item, .. } = &effect.want else { continue };
            let name = self.child_name(&effect, item);
            match self.engine.journal.run(&name) {
                Ok(line) if line.last > 0 => found.push(name),
                Ok(_) | Err(JournalError::NoRun(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(found)
    }
}
