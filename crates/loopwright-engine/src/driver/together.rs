//! Calls for items, side by side: as many at work as the loop allows, and where one comes back the next is begun.
//!
//! Each is a thread that knows the run as it was when its call was begun. Only the driver learns: a call is on record as
//! begun before its thread is, and what came back is taken in one after the other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

use loopwright_core::machine::{Effect, Part, Run, Want, due};
use serde_json::Value;

use super::{Definition, Driver};
use crate::effects::{self, Done, Settings};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::files::{Files, Look};
use crate::process::Cancel;
use crate::scene::{Scene, Shell};

/// What came back of a call.
type Came = (Effect, Result<Done, EngineError>);

/// A call that is on record as begun, with all that whoever makes it has to know.
struct Begun {
    effect: Effect,
    run: Run,
    look: Arc<Look>,
    values: Value,
    settings: Arc<Settings>,
}

/// Calls at work.
struct Together<'s, 'v> {
    scope: &'s Scope<'s, 'v>,
    tell: Sender<Came>,
    told: Receiver<Came>,
    at_work: Vec<String>,
    /// What is checked out and what git is told, as it was before anybody was at work: whoever begins later would take what
    /// another one does meanwhile for what was there.
    before: Option<(Value, Arc<Settings>)>,
}

impl<'e> Driver<'e> {
    /// Makes the calls that are due, until none is at work any more. What is due then is for the run to say.
    pub(super) fn perform_together(&mut self) -> Result<(), EngineError> {
        let done = std::thread::scope(|scope| {
            let (tell, told) = channel();
            let mut calls = Together { scope, tell, told, at_work: Vec::new(), before: None };
            let mut done = Ok(());
            loop {
                if done.is_ok() {
                    done = self.begin_more(&mut calls);
                }
                if calls.at_work.is_empty() {
                    return done;
                }
                let Ok((effect, came)) = calls.told.recv() else { return done };
                calls.at_work.retain(|it| *it != effect.id.to_string());
                let taken = came.and_then(|it| self.take_in_one(&effect, it));
                // Whoever else is at work is waited for: what they did is not to be lost.
                done = done.and(taken);
            }
        });
        effects::tidy(&self.engine.home, &self.name);
        done
    }

    /// Begins what is due and not at work yet.
    fn begin_more<'v>(&mut self, calls: &mut Together<'_, 'v>) -> Result<(), EngineError>
    where
        'e: 'v,
    {
        let mut begun = Vec::new();
        if !calls.at_work.is_empty() {
            self.look = None;
        }
        for effect in due(&self.definition.workflow, &self.run) {
            let is_item = matches!((&effect.id.part, &effect.want), (Part::Item(_), Want::Call { .. }));
            // Where the loop came out, something else is due.
            if !is_item || calls.at_work.contains(&effect.id.to_string()) {
                continue;
            }
            let later = self.run.at.until.is_some_and(|it| it > (self.engine.clock)());
            if later || self.cancel.is_called_off() {
                break;
            }
            let look = self.look()?;
            let before = calls.before.as_ref().map(|it| it.0.clone());
            let (values, settings) = self.issue(&effect, &look, before.as_ref())?;
            let begins = || (values["head"].clone(), Arc::new(settings));
            let (_, settings) = calls.before.get_or_insert_with(begins);
            let (run, settings) = (self.run.clone(), Arc::clone(settings));
            begun.push(Begun { effect, run, look, values, settings });
        }
        self.write_down()?;
        for call in begun {
            calls.at_work.push(call.effect.id.to_string());
            let (engine, name, cancel) = (self.engine, self.name.clone(), self.cancel.clone());
            let shared = (Arc::clone(&self.definition), Arc::clone(&self.files));
            let tell = calls.tell.clone();
            calls.scope.spawn(move || {
                let made = catch_unwind(AssertUnwindSafe(|| made(engine, &name, &shared, &call, &cancel)));
                let fell = Err(EngineError::Wrong(format!("calling {} fell over", call.effect.id)));
                // Whoever waits for it is there until all came back.
                drop(tell.send((call.effect, made.unwrap_or(fell))));
            });
        }
        Ok(())
    }

    /// Takes in what came of one call.
    fn take_in_one(&mut self, effect: &Effect, mut done: Done) -> Result<(), EngineError> {
        // Others are at work, so that nothing that was seen is how it is now.
        done.look = None;
        self.look = None;
        if done.outcome.judged.is_some() {
            done.outcome.judged = self.judged_now()?;
        }
        self.finish(effect, done)?;
        self.write_down()
    }
}

/// Makes a call.
fn made(
    engine: &Engine,
    name: &str,
    (definition, files): &(Arc<Definition>, Arc<Files>),
    call: &Begun,
    cancel: &Cancel,
) -> Result<Done, EngineError> {
    let item = effects::item_of(&call.effect);
    let scene = engine.scene(definition, (name, &call.run), (files, &call.look));
    let shell = Shell { cancel: Some(cancel), ..scene.shell };
    let scene = Scene { shell, item: item.as_deref(), ..scene };
    effects::perform(engine, &scene, &call.effect, (&call.values, &call.settings), cancel)
}
