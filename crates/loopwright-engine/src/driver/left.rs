//! What a run leaves behind when it is left: by it, whoever takes it up tells what others did meanwhile.

use std::fs;
use std::path::PathBuf;

use loopwright_core::definition::{Kind, Target};
use loopwright_core::machine::{Evidence, Outcome, Want, due};
use loopwright_core::name::Name;

use super::Driver;
use super::steps::settled;
use crate::effects;
use crate::error::EngineError;
use crate::files::Change;

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

    /// Whether the workflow goes on elsewhere after a call that is lost. Where it would try it again, or give up, a call that
    /// a person put off is begun anew.
    fn goes_on_when_lost(&self) -> bool {
        let machine = self.run.machine(&self.definition.workflow);
        let state = |name: &Name| machine.and_then(|it| it.states.get(&**name));
        let cell = state(&self.run.at.state).and_then(|it| it.cells.get("lost"));
        cell.and_then(|it| it.arms.first()).is_some_and(|it| match &it.to {
            Target::State(name) => {
                state(name).is_some_and(|it| !matches!(it.kind, Kind::End { .. } | Kind::Rest { .. }))
            }
            Target::Again | Target::Back => false,
        })
    }

    /// Says what was changed since the run was left. A call that was put off then was for files that are others now: where
    /// the workflow decides anew after a lost call, it does.
    pub(super) fn hear_of_changes(&mut self) -> Result<(), EngineError> {
        let note = self.note();
        let Ok(tree) = fs::read_to_string(&note) else { return Ok(()) };
        // Whoever is gone without a word leaves none, and an old one says nothing.
        drop(fs::remove_file(&note));
        // Nothing else may ever come to lie there.
        drop(note.parent().map(fs::remove_dir));
        // What was known of files then may be cleared away.
        let Ok(before) = self.files.look_back(tree.trim()) else { return Ok(()) };
        let look = self.look()?;
        let changed: Vec<String> = look.since(&before).iter().map(Change::path).map(str::to_owned).collect();
        if changed.is_empty() {
            return Ok(());
        }
        let listed = effects::listed(&changed);
        let scene = self.scene(&look, None);
        let committed = self.engine.committed_of(&scene, &changed)?;
        let part = if committed { ", and so part of what will be judged and committed" } else { "" };
        self.engine.watch.said(&self.name, &format!("changed since the run was left{part}: {listed}"));
        let effects = due(&self.definition.workflow, &self.run);
        let put_off = effects.into_iter().find(|it| {
            let begun = self.run.at.begun.get(&it.id.to_string());
            matches!(it.want, Want::Call { .. }) && begun.is_some_and(|it| !it.open)
        });
        if let Some(effect) = put_off.filter(|_| self.run.at.until.is_none() && self.goes_on_when_lost()) {
            let mut outcome = Outcome::of("lost");
            outcome.summary =
                format!("the run was left while it was at work, and files were changed since: {listed}");
            self.learn(settled(&effect, Evidence::Out(Box::new(outcome))))?;
        }
        Ok(())
    }
}
