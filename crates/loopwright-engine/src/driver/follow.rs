//! Hand edits: what documents show of a run, a person may change, and the run follows.
//!
//! What the engine is about to show is on record before it is written, and again when it is: so whatever differs from
//! that was somebody else. Only people are followed. What a command or an agent made of such a field while it was at
//! work is put right again.

use std::sync::Arc;

use indexmap::IndexMap;
use loopwright_core::definition::Document;
use loopwright_core::machine::{Event, Shown};
use loopwright_core::name::Name;
use serde_json::Value;

use super::Driver;
use crate::effects::{self, Edit};
use crate::error::EngineError;

/// What somebody made of what documents show.
#[derive(Default)]
struct Wanted {
    phase: Option<(Name, String)>,
    vars: IndexMap<Name, (Name, String)>,
}

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
        self.end_children("somebody put the run around it elsewhere")?;
        self.land(&edits)?;
        Ok(false)
    }

    /// Documents show where the run stands, before anything else happens.
    pub(super) fn show(&mut self) -> Result<(), EngineError> {
        let anyway = std::mem::take(&mut self.show_anyway);
        if !std::mem::take(&mut self.unshown) && !anyway {
            return Ok(());
        }
        // While items run, they say where it stands.
        if self.shows_nothing() || !self.children()?.is_empty() {
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
            self.learn(Event::Shown(Shown { values: due, done: true }))?;
        }
        Ok(())
    }

    /// What an item's run showed last is what documents show of the run around it.
    pub(super) fn adopt(&mut self, shown: &Shown) -> Result<(), EngineError> {
        if *shown == Shown::default() || *shown == self.run.shown {
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

    /// Ends the runs of items that nobody waits for any more.
    fn end_children(&mut self, reason: &str) -> Result<(), EngineError> {
        for child in self.children()? {
            let shared = (Arc::clone(&self.definition), Arc::clone(&self.files));
            let mut driver = Driver::resume(self.engine, &child, Some(shared), &self.cancel)?;
            if !driver.run.is_over() {
                driver.end_children(reason)?;
                driver.learn(Event::Stopped { reason: reason.to_owned() })?;
            }
            driver.leave()?;
        }
        Ok(())
    }

    fn shows_nothing(&self) -> bool {
        self.definition.workflow.documents.values().all(|it| it.shows.is_empty())
    }

    /// Puts the run where a person's edits say.
    fn land(&mut self, edits: &[Edit]) -> Result<(), EngineError> {
        let mut wanted = Wanted::default();
        for edit in edits.iter().filter(|it| !it.value.is_null()) {
            self.read_edit(edit, &mut wanted)?;
        }
        let Wanted { phase, vars } = wanted;
        let phase = phase.map(|(it, _)| it).or_else(|| self.run.phase.clone());
        let Some(phase) = phase else {
            let edit = &edits[0];
            return Err(refused(edit, "the run shows no phase yet, so there is nowhere it could go on from"));
        };
        let settles = self.definition.workflow.phases.get(&*phase).map(|it| it.settles.clone());
        let look = self.look()?;
        let mut digests = IndexMap::new();
        for gate in settles.into_iter().flatten() {
            let digest = self.scene(&look, None).judged(&gate)?;
            digests.insert(gate, digest);
        }
        let vars = vars.into_iter().map(|(name, (value, _))| (name, value)).collect();
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

    /// What an edit asks for, or why it cannot be followed.
    fn read_edit(&self, edit: &Edit, wanted: &mut Wanted) -> Result<(), EngineError> {
        let workflow = &self.definition.workflow;
        let text = effects::as_text(&edit.value);
        let shows =
            workflow.documents.get(&*edit.document).and_then(|it: &Document| it.shows.get(&edit.field));
        let shown = shows.and_then(|it| it.trim().strip_prefix("{{")?.strip_suffix("}}")).map(str::trim);
        let one_of = |names: &mut dyn Iterator<Item = &Name>| {
            let names: Vec<String> = names.map(|it| format!("`{it}`")).collect();
            names.join(", ")
        };
        let variable =
            shown.and_then(|it| workflow.main.vars.iter().find(|(name, _)| name.in_expression() == it));
        if shown == Some("phase") {
            if !workflow.phases.contains_key(&*text) {
                let known = one_of(&mut workflow.phases.keys());
                return Err(refused(edit, &format!("`{text}` is no phase: it is one of {known}")));
            }
            agree(&mut wanted.phase, text.as_str().into(), edit)
        } else if let Some((name, declared)) = variable {
            if !declared.values.iter().any(|it| **it == *text) {
                let known = one_of(&mut declared.values.iter());
                return Err(refused(edit, &format!("`{text}` cannot be: it is one of {known}")));
            }
            let mut known = wanted.vars.shift_remove(name);
            agree(&mut known, text.as_str().into(), edit)?;
            wanted.vars.extend(known.map(|it| (name.clone(), it)));
            Ok(())
        } else {
            Err(refused(edit, "this only shows what the run is at, and nothing follows from it"))
        }
    }
}

/// Two documents that show the same have to be edited alike, or only one of them.
fn agree(known: &mut Option<(Name, String)>, value: Name, edit: &Edit) -> Result<(), EngineError> {
    match known {
        Some((other, place)) if *other != value => {
            Err(refused(edit, &format!("`{value}` stands here, and `{other}` in {place}")))
        }
        _ => {
            *known = Some((value, edit.place.clone()));
            Ok(())
        }
    }
}

/// Leaves out documents that cannot show anything.
fn without(due: &mut Value, documents: &[String]) {
    if let Value::Object(all) = due {
        all.retain(|name, _| !documents.contains(name));
    }
}

fn refused(edit: &Edit, why: &str) -> EngineError {
    let Edit { place, field, before, .. } = edit;
    EngineError::Wrong(format!(
        "{place}: `{field}` was edited, and {why}. The file was left as it is; put it right, or put `{}` back",
        effects::as_text(before)
    ))
}
