//! What a run leaves behind when it is left: by it, whoever takes it up tells what others did meanwhile.

use std::fs;
use std::path::PathBuf;

use loopwright_core::definition::{Cell, Kind, Origin, Target};
use loopwright_core::machine::{Begun, Evidence, Outcome, Want, due};
use loopwright_core::name::Name;
use loopwright_core::signal::CANCELLED;

use super::Driver;
use super::steps::settled;
use crate::effects;
use crate::error::EngineError;
use crate::files::{Change, Look};

impl Driver<'_> {
    fn note(&self) -> PathBuf {
        self.engine.home.of_run(&self.name).join("left")
    }

    /// Notes what all files are, for whoever takes the run up again. It is no part of what happened, and nothing depends on it.
    pub(super) fn note_left(&mut self) {
        if self.run.of.is_some() || self.run.is_over() || self.place.is_none() {
            return;
        }
        let Ok(look) = self.files.look() else { return };
        let note = self.note();
        let made = note.parent().map_or(Ok(()), fs::create_dir_all);
        drop(made.and_then(|()| fs::write(note, look.tree)));
    }

    /// As what the workflow hears of a call that a person put off: `cancelled`, where the state itself says how it goes on
    /// then, or else `lost`. Where it would try it again, or give up, the call is begun anew.
    fn goes_on_as(&self) -> Option<&'static str> {
        let machine = self.run.machine(&self.definition.workflow);
        let state = |name: &Name| machine.and_then(|it| it.states.get(&**name));
        let cell = |signal: &str| state(&self.run.at.state).and_then(|it| it.cells.get(signal));
        let goes_on = |cell: &Cell| match cell.arms.first().map(|it| &it.to) {
            Some(Target::State(name)) => {
                state(name).is_some_and(|it| !matches!(it.kind, Kind::End { .. } | Kind::Rest { .. }))
            }
            Some(Target::Again | Target::Back) | None => false,
        };
        if cell(CANCELLED).is_some_and(|it| it.origin == Origin::Own && goes_on(it)) {
            return Some(CANCELLED);
        }
        cell("lost").is_some_and(goes_on).then_some("lost")
    }

    /// Files that are not what they were, in words, and what will become of them.
    fn changed_since(&mut self, before: &Look) -> Result<Option<(String, &'static str)>, EngineError> {
        let look = self.look()?;
        let changed: Vec<String> = look.since(before).iter().map(Change::path).map(str::to_owned).collect();
        if changed.is_empty() {
            return Ok(None);
        }
        let committed = self.engine.committed_of(&self.scene(&look, None), &changed)?;
        let part = if committed { ", and so part of what will be judged and committed" } else { "" };
        Ok(Some((effects::listed(&changed), part)))
    }

    /// What was changed since something was begun by somebody who is gone: theirs, or what a person wrote since.
    pub(super) fn left_standing(&mut self, begun: &Begun) -> Result<Option<String>, EngineError> {
        let Some(tree) = begun.values["tree"].as_str() else { return Ok(None) };
        // What was known of files then may be cleared away.
        let Ok(before) = self.files.look_back(tree) else { return Ok(None) };
        let changed = self.changed_since(&before)?;
        Ok(changed.map(|(listed, part)| {
            format!("changed since, by whoever was at work or by a person{part}: {listed}")
        }))
    }

    /// There is nothing to tell any more of what others did.
    pub(super) fn forget_left(&self) {
        let note = self.note();
        drop(fs::remove_file(&note));
        // Nothing else may ever come to lie there.
        drop(note.parent().map(fs::remove_dir));
    }

    /// Says what was changed since the run was left. A call that was put off then was for files that are others now: where
    /// the workflow decides anew after such a call, it does.
    pub(super) fn hear_of_changes(&mut self) -> Result<(), EngineError> {
        let Ok(tree) = fs::read_to_string(self.note()) else { return Ok(()) };
        // Whoever is gone without a word while something is at work leaves none, and an old one says nothing.
        self.forget_left();
        // What was known of files then may be cleared away.
        let Ok(before) = self.files.look_back(tree.trim()) else { return Ok(()) };
        let Some((listed, part)) = self.changed_since(&before)? else { return Ok(()) };
        self.engine.watch.said(&self.name, &format!("changed since the run was left{part}: {listed}"));
        let effects = due(&self.definition.workflow, &self.run);
        let put_off = effects.into_iter().find(|it| {
            let begun = self.run.at.begun.get(&it.id.to_string());
            let heard = self.run.heard.contains_key(&*it.id.state);
            matches!(it.want, Want::Call { .. }) && begun.is_some_and(|it| !it.open) && !heard
        });
        if let Some(effect) = put_off.filter(|_| self.run.at.until.is_none())
            && let Some(signal) = self.goes_on_as()
        {
            let mut outcome = Outcome::of(signal);
            outcome.summary =
                format!("the run was left while it was at work, and files were changed since: {listed}");
            self.learn(settled(&effect, Evidence::Out(Box::new(outcome))))?;
        }
        Ok(())
    }
}
