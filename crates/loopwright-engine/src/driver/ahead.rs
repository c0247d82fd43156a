//! Judges beside each other: while one is at work whose turn it is, others are called whose turn may come.
//!
//! What each says is on record as soon as it is there, so that nobody is asked about the same twice, whatever happens. The
//! run goes on when all of them are back, and then as if they had been called one by one: at its turn a judge that was heard
//! is not called again, if it would be asked about the same.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::channel;

use loopwright_core::machine::{
    Begun, Cost, Effect, Event, Evidence, Outcome, Run, Want, due, in_turn, is_owed, looks_for,
};
use loopwright_core::name::Name;
use loopwright_core::signal;
use serde_json::{Value, json};

use super::Driver;
use super::steps::settled;
use crate::effects::beside::{self, Unread};
use crate::effects::{self, Done, Settings};
use crate::error::EngineError;
use crate::files::Look;
use crate::scene::{Scene, Shell};

/// One of several that are called at once.
struct Called {
    /// What stands on record: its own turn, or a call ahead of it.
    effect: Effect,
    /// The run as it stands at its turn, and the call that is made then.
    then: Run,
    call: Effect,
    /// What it judges and is told.
    key: String,
}

impl Called {
    fn judge(&self) -> &Name {
        &self.call.id.state
    }

    fn is_ahead(&self) -> bool {
        matches!(self.effect.want, Want::Ahead { .. })
    }
}

/// How it went with all of them.
#[derive(Default)]
struct Went {
    /// What the one said whose turn it is.
    own: Option<Done>,
    /// Whether that is on record already.
    heard: bool,
    /// Files that changed while several were at work.
    spoilt: Option<Vec<String>>,
}

impl Driver<'_> {
    /// Calls whoever is due, and others beside it that may be called now.
    pub(super) fn call(&mut self, effects: &[Effect]) -> Result<(), EngineError> {
        let Some((own, offered)) = effects.split_first() else { return Ok(()) };
        let counts = self.counts(own)?;
        // What was begun beside one that was heard, and never came back, is asked again before that leads on.
        let open = |it: &&Effect| self.run.at.begun.get(&it.id.to_string()).is_some_and(|it| it.open);
        let offered: Vec<Effect> = match counts {
            Some(_) => offered.iter().filter(open).cloned().collect(),
            None => offered.to_vec(),
        };
        let others = self.owed_beside(&offered)?;
        match (counts, others.is_empty()) {
            (None, true) => self.perform(own),
            (Some(outcome), true) => self.learn(settled(own, Evidence::Out(Box::new(outcome)))),
            (None, false) => {
                let look = self.look()?;
                let key = beside::key(&self.scene(&look, None), own)?;
                let then = self.run.clone();
                let own = Called { effect: own.clone(), then, call: own.clone(), key };
                self.beside(std::iter::once(own).chain(others).collect())
            }
            (Some(outcome), false) => {
                self.beside(others)?;
                self.learn(settled(own, Evidence::Out(Box::new(outcome))))
            }
        }
    }

    /// What the judge whose turn it is said ahead of it, if it would be asked about the same now.
    fn counts(&mut self, own: &Effect) -> Result<Option<Outcome>, EngineError> {
        let Some(early) = self.run.heard.get(&*own.id.state).cloned() else { return Ok(None) };
        // Whose doing that was nobody knows until each is called alone.
        if *early.outcome.signal == *"out-of-bounds" {
            return Ok(None);
        }
        let look = self.look()?;
        if beside::key(&self.scene(&look, None), own)? != early.key {
            let text = format!(
                "what `{}` said ahead of its turn was about something else by now: it is called again",
                own.id.state
            );
            self.engine.watch.said(&self.name, &text);
            return Ok(None);
        }
        // What it cost is taken already.
        Ok(Some(Outcome { cost: Cost::default(), ..early.outcome }))
    }

    /// Those of the offered calls whose gates are owed, and that nobody knows the answer to.
    fn owed_beside(&mut self, offered: &[Effect]) -> Result<Vec<Called>, EngineError> {
        let mut found: Vec<Called> = Vec::new();
        for effect in offered {
            let Want::Ahead { judge, at_once } = &effect.want else { continue };
            if found.len() + 1 >= *at_once as usize {
                break;
            }
            let look = self.look()?;
            let definition = Arc::clone(&self.definition);
            let workflow = &definition.workflow;
            let Some((gate, Want::Observe { facts, gates, changed })) = looks_for(workflow, &self.run, judge)
            else {
                continue;
            };
            // What cannot be told now is told at its turn.
            let Ok(seen) = self.seen(&look, &facts, &gates, &changed) else { continue };
            if !is_owed(workflow, &self.run, &gate, &seen) {
                continue;
            }
            let then = in_turn(workflow, &self.run, judge)?;
            let Some(call) = due(workflow, &then).into_iter().next() else { continue };
            let Ok(key) = beside::key(&Scene { run: &then, ..self.scene(&look, None) }, &call) else {
                continue;
            };
            if self.run.heard.get(judge).is_some_and(|it| it.key == key) {
                continue;
            }
            found.push(Called { effect: effect.clone(), then, call, key });
        }
        Ok(found)
    }

    /// Calls all of them at once, and goes on when all are back.
    fn beside(&mut self, mut all: Vec<Called>) -> Result<(), EngineError> {
        let look = self.look()?;
        let mut prepared: Option<(Value, Settings)> = None;
        let mut begun = Vec::new();
        for called in all.drain(..) {
            let used = if called.is_ahead() {
                self.issue_ahead(&called, &look)?
            } else {
                Some(self.issue(&called.effect, &look, None)?)
            };
            // Whoever is not there is missed at its turn.
            if let Some(used) = used {
                prepared.get_or_insert(used);
                begun.push(called);
            }
        }
        self.write_down()?;
        let (engine, name) = (self.engine, self.name.clone());
        let (definition, files) = (Arc::clone(&self.definition), Arc::clone(&self.files));
        let cancel = self.cancel.clone();
        let scene_of = |called: &Called, work: &mut dyn FnMut(&Scene<'_>)| {
            let scene = engine.scene(&definition, (&name, &called.then), (&files, &look));
            let shell = Shell { cancel: Some(&cancel), ..scene.shell };
            work(&Scene { shell, ..scene });
        };
        let (tell, hear) = channel();
        let went = std::thread::scope(|scope| {
            for (at, called) in begun.iter().enumerate() {
                let (tell, scene_of, cancel) = (tell.clone(), &scene_of, &cancel);
                scope.spawn(move || {
                    let mut made = None;
                    let call = || {
                        scene_of(called, &mut |scene| {
                            made = Some(beside::call(engine, scene, &called.call, cancel));
                        });
                    };
                    let fell = || EngineError::Wrong(format!("calling {} fell over", called.effect.id));
                    let went = catch_unwind(AssertUnwindSafe(call));
                    let made = made.filter(|_| went.is_ok()).unwrap_or_else(|| Err(fell()));
                    // Whoever waits for it is there until all came back.
                    drop(tell.send((at, made)));
                });
            }
            drop(tell);
            let mut went = Went::default();
            let mut done = Ok(());
            while let Ok((at, said)) = hear.recv() {
                let came = said.and_then(|it| self.came_back(&begun, at, (it, &look), &mut went));
                // What the others say is heard all the same.
                done = done.and(came);
            }
            done.map(|()| went)
        });
        effects::tidy(&engine.home, &name);
        let went = went?;
        let put_back = match &prepared {
            Some((values, settings)) => {
                beside::put_back(&self.scene(&look, None), &values["head"], settings)?
            }
            None => None,
        };
        self.at_work = true;
        let own = begun.iter().find(|it| !it.is_ahead());
        self.look = None;
        let Some((own, done)) = own.zip(went.own) else { return Ok(()) };
        self.own_came_back(own, done, (&went.spoilt, went.heard), put_back)
    }

    /// Settles what a call ahead of its turn will use. `None`: nobody is there to be called.
    fn issue_ahead(
        &mut self,
        called: &Called,
        look: &Look,
    ) -> Result<Option<(Value, Settings)>, EngineError> {
        let prepared = {
            let scene = Scene { run: &called.then, ..self.scene(look, None) };
            effects::prepare(self.engine, &scene, &called.call, None)
        };
        let Ok(prepared) = prepared else { return Ok(None) };
        let mut values = prepared.values;
        values["tree"] = json!(look.tree);
        for (name, text) in prepared.kept {
            values[name] = json!(self.keep(text));
        }
        let effect = called.effect.id.clone();
        let attempt = called.effect.attempt;
        self.learn(Event::Issued { effect, attempt, values: values.clone() })?;
        Ok(Some((values, prepared.settings)))
    }

    /// One of them is back. What it said is on record before anything else happens.
    fn came_back(
        &mut self,
        all: &[Called],
        at: usize,
        (said, look): (Unread, &Look),
        went: &mut Went,
    ) -> Result<(), EngineError> {
        let Some(called) = all.get(at) else { return Ok(()) };
        let (done, undone) = {
            let scene = Scene { run: &called.then, ..self.scene(look, None) };
            let (after, undone) = beside::kept_as_it_was(&scene)?;
            (beside::came_of(&scene, after, said)?, undone)
        };
        let mut done = done;
        if let Some(undone) = undone {
            done.kept.push(("undone".to_owned(), undone.patch));
            went.spoilt.get_or_insert_default().extend(undone.paths);
        }
        let is_left = self.cancel.is_called_off() && *done.outcome.signal == *signal::CANCELLED;
        let is_spoilt = went.spoilt.is_some();
        if !called.is_ahead() {
            let counts = done.limited.is_none() && !is_left && !is_spoilt;
            if counts {
                let outcome = self.with_kept(done.outcome.clone(), done.kept.clone());
                self.heard(called, outcome)?;
                went.heard = true;
            }
            went.own = Some(done);
            return Ok(());
        }
        let Done { mut outcome, kept, limited, .. } = done;
        if is_left || limited.is_some() {
            let outcome = self.with_kept(outcome, kept);
            let (effect, cost, kept) = (called.effect.id.clone(), outcome.cost, outcome.kept);
            let why = if is_left { "the run was left".to_owned() } else { outcome.summary };
            let until = limited.map(|it| self.after(it));
            self.learn(Event::PutOff { effect, why, until, cost, kept })?;
            return self.write_down();
        }
        if let Some(paths) = &went.spoilt {
            let who: Vec<Name> = all.iter().map(|it| it.judge().clone()).collect();
            outcome = beside::nobody_knows(&outcome, paths, &who);
        }
        let outcome = self.with_kept(outcome, kept);
        self.heard(called, outcome)
    }

    fn heard(&mut self, called: &Called, outcome: Outcome) -> Result<(), EngineError> {
        let (effect, key) = (called.effect.id.clone(), called.key.clone());
        self.learn(Event::Heard { effect, key, outcome: Box::new(outcome) })?;
        self.write_down()
    }

    /// An outcome that names what is kept about it.
    fn with_kept(&mut self, mut outcome: Outcome, kept: Vec<(String, String)>) -> Outcome {
        for (name, text) in kept {
            let text = self.keep(text);
            outcome.kept.insert(name, text);
        }
        outcome
    }

    /// All are back, and the one goes on whose turn it is.
    fn own_came_back(
        &mut self,
        own: &Called,
        mut done: Done,
        (spoilt, heard): (&Option<Vec<String>>, bool),
        put_back: Option<String>,
    ) -> Result<(), EngineError> {
        // What was heard was paid then.
        if heard {
            done.outcome.cost = Cost::default();
        }
        if let Some(became) = put_back {
            let told = format!("while judges were at work, {became}");
            effects::told_besides(&mut done.outcome, &told);
            done.look = None;
        }
        if let (Some(paths), false) = (spoilt, heard) {
            // It is begun anew, alone.
            let judge = [own.judge().clone()];
            let outcome = beside::nobody_knows(&done.outcome, paths, &judge);
            let outcome = self.with_kept(outcome, done.kept);
            let (effect, cost, kept) = (own.effect.id.clone(), outcome.cost, outcome.kept);
            self.look = None;
            return self.learn(Event::PutOff { effect, why: outcome.summary, until: None, cost, kept });
        }
        self.finish(&own.effect, done)
    }

    /// Undoes what somebody who is gone changed while a judge was called ahead: it was to change nothing.
    pub(super) fn undo_of_ahead(&mut self, judge: &Name, begun: &Begun) -> Result<(), EngineError> {
        let look = self.look()?;
        let definition = Arc::clone(&self.definition);
        let then = in_turn(&definition.workflow, &self.run, judge)?;
        let Some(call) = due(&definition.workflow, &then).into_iter().next() else { return Ok(()) };
        let scene = Scene { run: &then, ..self.scene(&look, None) };
        let (undone, after) = effects::undo_out_of_bounds(&scene, &call, &begun.values, self.gone)?;
        if let Some(undone) = undone {
            let files = effects::listed(&undone.paths);
            let text = format!("what had changed while `{judge}` was at work was undone: {files}");
            self.engine.watch.said(&self.name, &text);
        }
        self.look = after;
        self.at_work = true;
        Ok(())
    }
}
