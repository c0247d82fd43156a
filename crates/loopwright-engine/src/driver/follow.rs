//! Hand edits: what documents show of a run, a person may change, and the run follows.
//!
//! What the engine is about to show is on record before it is written, and again when it is: so whatever differs from
//! that was somebody else. Only people are followed. What a command or an agent made of such a field while it was at
//! work is put right again.

use std::sync::Arc;

use loopwright_core::machine::{Event, Shown};
use serde_json::Value;

use super::Driver;
use crate::effects::{self, Edit};
use crate::error::EngineError;
use crate::landing::{self, Wanted};

impl Driver<'_> {
    /// Follows what a person edited. Whether the run has to leave that to the one around it is returned: an item cannot
    /// put its parent elsewhere.
    pub(super) fn follow(&mut self) -> Result<bool, EngineError> {
        self.adopt_children()?;
        if std::mem::take(&mut self.at_work) {
            self.show_anyway = true;
            return Ok(false);
        }
        if !self.run.shown.done {
            return Ok(false);
        }
        let look = self.look()?;
        let edits = effects::edited(&self.scene(&look, None), &self.run.shown.values)?;
        if edits.iter().all(|it| it.value.is_null()) {
            // Where something is gone there is nothing to follow: it is shown again.
            self.show_anyway |= !edits.is_empty();
            return Ok(false);
        }
        if self.run.of.is_some() {
            return Ok(true);
        }
        self.land(&edits)?;
        Ok(false)
    }

    /// Documents show where the run stands, before anything else happens.
    pub(super) fn show(&mut self) -> Result<(), EngineError> {
        self.show_once(true)
    }

    fn show_once(&mut self, again: bool) -> Result<(), EngineError> {
        let anyway = std::mem::take(&mut self.show_anyway);
        if !std::mem::take(&mut self.unshown) && !anyway {
            return Ok(());
        }
        // While items run, they say where it stands; and while its folder is on its way, nothing is begun where it was.
        let moving = self.run.at.begun.values().any(|it| it.values["folder"].is_string());
        if moving || self.shows_nothing() || !self.children()?.is_empty() {
            return Ok(());
        }
        let look = self.look()?;
        let Some(mut due) = effects::shows_due(&self.scene(&look, None))? else { return Ok(()) };
        if anyway {
            self.unshowable.clear();
        }
        without(&mut due, &self.unshowable);
        let known = self.run.shown.done && self.run.shown.values == due;
        if known && !anyway {
            return Ok(());
        }
        if !known {
            self.learn(Event::Shown(Shown { values: due.clone(), done: false }))?;
            self.write_down()?;
        }
        let (written, wrong) = effects::show(&self.scene(&look, None), &due)?;
        if written {
            self.look = None;
        }
        for (document, why) in wrong {
            self.engine.watch.said(&self.name, &why);
            self.unshowable.push(document);
        }
        without(&mut due, &self.unshowable);
        if self.run.shown != (Shown { values: due.clone(), done: true }) {
            self.learn(Event::Shown(Shown { values: due.clone(), done: true }))?;
        }
        // What one document shows may follow from another that was just written.
        if written && again {
            let look = self.look()?;
            let mut next = effects::shows_due(&self.scene(&look, None))?.unwrap_or_default();
            without(&mut next, &self.unshowable);
            if next != due {
                self.unshown = true;
                return self.show_once(false);
            }
        }
        Ok(())
    }

    /// What an item's run showed last is what documents show of the run around it.
    pub(super) fn adopt(&mut self, shown: &Shown) -> Result<(), EngineError> {
        if shown.is_nothing() || *shown == self.run.shown {
            return Ok(());
        }
        self.learn(Event::Shown(shown.clone()))
    }

    /// The same, where whoever drove the items was gone before it was taken over.
    fn adopt_children(&mut self) -> Result<(), EngineError> {
        if self.shows_nothing() {
            return Ok(());
        }
        for child in self.children()? {
            let (run, ..) = super::fold(self.engine, &child, &self.definition)?;
            self.adopt(&run.shown)?;
        }
        Ok(())
    }

    /// Ends the runs of items that nobody waits for any more. What people were asked in them stays on record here.
    pub(super) fn end_children(&mut self, reason: &str) -> Result<(), EngineError> {
        self.children()?.iter().try_for_each(|child| self.end_child(child, reason))
    }

    /// Ends the run of an item, unless it is over.
    pub(super) fn end_child(&mut self, child: &str, reason: &str) -> Result<(), EngineError> {
        let shared = (Arc::clone(&self.definition), Arc::clone(&self.files));
        let mut driver = Driver::resume(self.engine, child, Some(shared), &self.cancel)?;
        if driver.run.is_over() {
            return driver.leave();
        }
        driver.end_children(reason)?;
        driver.learn(Event::Stopped { reason: reason.to_owned() })?;
        let item = driver.run.item.clone().unwrap_or_default();
        let (decisions, spent) = (driver.run.decisions.clone(), driver.run.spent.clone());
        driver.leave()?;
        let ended = std::mem::replace(&mut driver.run, self.run.clone());
        drop(driver);
        self.leave_apart(child, &ended)?;
        if decisions.is_empty() && spent.is_empty() {
            return Ok(());
        }
        self.learn(Event::Dropped { item, decisions, spent })
    }

    fn shows_nothing(&self) -> bool {
        // What is shown is in the files of the run, and an item that works apart has others.
        self.is_apart() || self.definition.workflow.documents.values().all(|it| it.shows.is_empty())
    }

    /// Puts the run where a person's edits say.
    fn land(&mut self, edits: &[Edit]) -> Result<(), EngineError> {
        let Wanted { phase, vars } = landing::wanted(&self.definition.workflow, edits)?;
        let Some(phase) = phase.or_else(|| self.run.phase.clone()) else {
            let why = "the run shows no phase yet, so there is nowhere it could go on from";
            return Err(landing::refused(&edits[0], why));
        };
        // What cannot be followed ends nobody.
        self.end_children("somebody put the run around it elsewhere")?;
        let look = self.look()?;
        let digests = landing::vouched(&self.scene(&look, None), &phase)?;
        self.engine
            .watch
            .said(&self.name, &format!("somebody put it to `{phase}`, and it goes on from there"));
        self.learn(Event::Landed { phase, digests, vars })?;
        // What stands there now is what is shown.
        let mut values = self.run.shown.values.clone();
        for edit in edits {
            values[&*edit.document][&edit.field] = edit.value.clone();
        }
        self.learn(Event::Shown(Shown { values, done: true }))
    }
}

/// Leaves out documents that cannot show anything.
fn without(due: &mut Value, documents: &[String]) {
    if let Value::Object(all) = due {
        all.retain(|name, _| !documents.contains(name));
    }
}
