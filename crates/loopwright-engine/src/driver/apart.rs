//! Items apart: where each works, and how what it did comes back to the run.

use loopwright_core::definition::{EachRun, Kind};
use loopwright_core::machine::{Effect, EffectId, Run, Site, Want};
use loopwright_core::name::Name;

use super::Driver;
use crate::effects::apart;
use crate::error::EngineError;
use crate::files::{Files, Look};

impl Driver<'_> {
    /// Whether it is the run of an item that works apart.
    pub(super) fn is_apart(&self) -> bool {
        self.run.site.as_ref().is_some_and(|it| it.joins.is_some())
    }

    /// Whether what is due may be done now: an item that joins waits for its turn. `false`: it is not to go on.
    pub(super) fn has_turn(&mut self, effect: &Effect) -> Result<bool, EngineError> {
        let (Some(turn), Want::Act { index }) = (&self.turn, &effect.want) else { return Ok(true) };
        let state = self.run.state(&self.definition.workflow);
        let joins = matches!(state.map(|it| &it.kind), Some(Kind::Do { actions, .. }) if actions.get(*index).is_some_and(|it| *it.verb == *"join"));
        if !joins || turn.line.is_turn(&turn.item) {
            return Ok(true);
        }
        self.write_down()?;
        Ok(self.turn.as_ref().is_none_or(|it| it.comes(&self.cancel)))
    }

    /// Makes the worktree of an item, as the run stands.
    pub(super) fn set_apart(
        &self,
        look: &Look,
        (child, item): (&Name, &str),
        name: &str,
    ) -> Result<(Files, Site), EngineError> {
        let git = self.files.git();
        let (branch, commit) = apart::joined(self.engine, git)?;
        let place = apart::place(self.engine, git, name)?;
        let files = apart::make(self.engine, git, &place, &commit, name)?;
        let scene = self.scene(look, None);
        apart::show_around(&scene, (child, item), &commit, &files)?;
        files.see_also(scene.own()?);
        let site = self.run.site.clone().unwrap_or_default();
        Ok((files, Site { joins: Some(branch), ..site }))
    }

    /// Brings back what an item did, and clears away where it was. `Some`: why it cannot be brought back.
    pub(super) fn bring_back(
        &mut self,
        (effect, name, run): (&Effect, &str, &Run),
        well: bool,
    ) -> Result<Option<String>, EngineError> {
        let item = run.item.clone().unwrap_or_default();
        let place = apart::place(self.engine, self.files.git(), name)?;
        let why = if well {
            self.look = None;
            apart::bring_back(self.files.git(), &place, &item, self.joins_itself())?
        } else {
            None
        };
        if well && why.is_none() {
            apart::remove(self.files.git(), &place)?;
            // What was kept of earlier tries is of no use to anybody any more.
            for visit in 1..effect.id.visit {
                let id = EffectId { visit, ..effect.id.clone() };
                let earlier = Effect { id, attempt: 1, ..effect.clone() };
                let place = apart::place(self.engine, self.files.git(), &self.child_name(&earlier, &item))?;
                apart::remove(self.files.git(), &place)?;
            }
            return Ok(None);
        }
        let kept = self.clear_apart(name, run)?;
        Ok(why.map(|why| match kept {
            Some(kept) => format!("{why}; {kept}"),
            None => why,
        }))
    }

    /// Removes where an item was, if nothing would be lost. `Some`: what is kept, in words; people are told.
    pub(super) fn clear_apart(&self, name: &str, run: &Run) -> Result<Option<String>, EngineError> {
        let git = self.files.git();
        let place = apart::place(self.engine, git, name)?;
        let own = self.scene(&Look::default(), None).own()?;
        if apart::is_empty(git, &place, run, own)? {
            apart::remove(git, &place)?;
            return Ok(None);
        }
        let item = run.item.clone().unwrap_or_default();
        let kept = format!(
            "what `{item}` did is kept in {}, on the branch `{}`",
            place.folder.display(),
            place.branch
        );
        self.engine.watch.said(&self.name, &kept);
        Ok(Some(kept))
    }

    /// Whether items of the loop at hand join before they end: then what comes back is what they saw, and nothing else.
    fn joins_itself(&self) -> bool {
        let workflow = &self.definition.workflow;
        let Some(Kind::Each(each)) = self.run.state(workflow).map(|it| &it.kind) else { return false };
        let EachRun::Child(child) = &each.run else { return false };
        let states = workflow.children.get(&**child).into_iter().flat_map(|it| it.states.values());
        let mut actions = states.filter_map(|it| match &it.kind {
            Kind::Do { actions, .. } => Some(actions),
            _ => None,
        });
        actions.any(|it| it.iter().any(|it| *it.verb == *"join"))
    }

    /// A run of an item was ended by somebody else: what it did apart is kept, if it did anything.
    pub(super) fn leave_apart(&self, name: &str, run: &Run) -> Result<(), EngineError> {
        if run.site.as_ref().is_some_and(|it| it.joins.is_some()) {
            self.clear_apart(name, run)?;
        }
        Ok(())
    }
}
