//! Runs as somebody sees them who does not drive them.

use loopwright_core::definition::{EachRun, Kind};
use loopwright_core::machine::{Cost, Event, Evidence, Run, Want, advance, begin, due};
use loopwright_core::name::Name;

use crate::driver::{files_at, is_alive, is_gone};
use crate::effects;
use crate::engine::{Definition, Engine};
use crate::error::EngineError;
use crate::files::{Files, Look};
use crate::journal::{Journal, JournalError, Millis, RunLine, Stored};
use crate::people::Asked;

/// Whether an event says what came of the run of an item: what that cost, the item's own events say.
fn is_of_item(definition: &Definition, run: &Run, event: &Event) -> bool {
    let Event::Settled { effect, .. } = event else { return false };
    let machine = definition.workflow.machine(run.child.as_deref());
    let state = machine.and_then(|it| it.states.get(&*effect.state));
    matches!(state.map(|it| &it.kind), Some(Kind::Each(each)) if matches!(each.run, EachRun::Child(_)))
}

/// What a run took so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    /// Since when it stands where it does.
    pub since: Millis,
    /// What it cost, with its items, as far as agents say.
    pub cost: Cost,
}

/// The folders a run worked in, in order.
pub fn folders_of(journal: &dyn Journal, name: &str) -> Result<Vec<String>, EngineError> {
    let placed = |event| if let Event::Placed(site) = event { Some(site.folder) } else { None };
    Ok(journal.events(name, 0)?.into_iter().filter_map(|it| placed(it.event)).collect())
}

impl Engine {
    /// Who drives a run, if somebody does.
    pub fn driven_by(&self, name: &str) -> Result<Option<String>, EngineError> {
        Ok(self.driver_of(&self.journal.run(name)?).map(str::to_owned))
    }

    /// Whether a run was begun in this worktree, or works in it now.
    pub fn is_here(&self, name: &str) -> Result<bool, EngineError> {
        let here = self.home.root().to_string_lossy();
        let folders = folders_of(&*self.journal, name)?;
        // A run that never got so far is nobody's.
        Ok(folders.is_empty() || folders.iter().any(|it| *it == here))
    }

    /// Who drives the run of a line, if somebody does.
    pub fn driver_of<'l>(&self, line: &'l RunLine) -> Option<&'l str> {
        let (holder, until) = line.held.as_ref()?;
        let drives = !is_gone(holder) && (is_alive(holder) || *until > (self.clock)());
        drives.then_some(holder.as_str())
    }

    /// Every event of a run with the run as it was after it.
    pub fn history(&self, name: &str, definition: &Definition) -> Result<Vec<(Stored, Run)>, EngineError> {
        let mut history: Vec<(Stored, Run)> = Vec::new();
        for stored in self.journal.events(name, 0)? {
            let run = match (history.last(), &stored.event) {
                (None, Event::Started(started)) => begin(&definition.workflow, started)?,
                (Some((_, run)), event) => advance(&definition.workflow, run, event)?,
                (None, _) => {
                    let what = format!("the first event of run `{name}` is not its beginning");
                    return Err(JournalError::Damaged { what }.into());
                }
            };
            history.push((stored, run));
        }
        Ok(history)
    }

    /// What a run took so far.
    pub fn account(&self, name: &str, definition: &Definition) -> Result<Account, EngineError> {
        let mut account = Account::default();
        let mut stands = None;
        for (stored, run) in self.history(name, definition)? {
            let now = Some((run.at.state.clone(), run.at.visit));
            if now != stands {
                (stands, account.since) = (now, stored.at);
            }
            if !is_of_item(definition, &run, &stored.event) {
                add(&mut account.cost, &stored.event);
            }
        }
        let below = format!("{name}/");
        for line in self.journal.runs()?.iter().filter(|it| it.run.name.starts_with(&below)) {
            for stored in self.journal.events(&line.run.name, 0)? {
                add(&mut account.cost, &stored.event);
            }
        }
        Ok(account)
    }

    /// A text of a run's workflow with the values of now. Nothing is written down, and whoever drives the run is not
    /// disturbed.
    pub fn filled(
        &self,
        name: &str,
        (definition, run): (&Definition, &Run),
        text: &str,
    ) -> Result<String, EngineError> {
        if !text.contains("{{") && !text.contains("{%") {
            return Ok(text.to_owned());
        }
        self.seen((definition, run), |files, look| {
            Ok(self.scene(definition, (name, run), (files, look)).text(text)?)
        })
    }

    /// A document of a run that is one file: its path, and what it says if it is there.
    pub fn paper(
        &self,
        name: &str,
        (definition, run): (&Definition, &Run),
        document: &Name,
    ) -> Result<(String, Option<String>), EngineError> {
        self.seen((definition, run), |files, look| {
            let scene = self.scene(definition, (name, run), (files, look));
            let path = scene.path(document)?.unwrap_or_default();
            let bytes = files.read(&path)?;
            Ok((path, bytes.map(|it| String::from_utf8_lossy(&it).into_owned())))
        })
    }

    /// The phase that a run is in for whoever says a verb: what its documents say, if somebody edited them since it showed it.
    pub fn phase_now(
        &self,
        name: &str,
        (definition, run): (&Definition, &Run),
    ) -> Result<Option<Name>, EngineError> {
        if !run.shown.done {
            return Ok(run.phase.clone());
        }
        self.seen((definition, run), |files, look| {
            let scene = self.scene(definition, (name, run), (files, look));
            let edits = crate::effects::edited(&scene, &run.shown.values)?;
            let wanted = crate::landing::wanted(&definition.workflow, &edits)?;
            Ok(wanted.phase.or_else(|| run.phase.clone()))
        })
    }

    /// All that a run asks now, in the order it is asked.
    pub fn asked(
        &self,
        name: &str,
        (definition, run): (&Definition, &Run),
    ) -> Result<Vec<Asked>, EngineError> {
        let questions: Vec<_> = due(&definition.workflow, run)
            .into_iter()
            .filter_map(|it| match it.want {
                Want::Ask { question, finding } => Some((question, finding)),
                _ => None,
            })
            .collect();
        if questions.is_empty() {
            return Ok(Vec::new());
        }
        self.seen((definition, run), |files, look| {
            let scene = self.scene(definition, (name, run), (files, look));
            let declared = |name: &Name| definition.workflow.questions.get(&**name);
            let questions = questions.iter().filter_map(|(name, it)| Some((name, declared(name)?, it)));
            questions
                .map(|(name, declared, it)| effects::asked(&scene, (name, declared), it.as_deref()))
                .collect()
        })
    }

    /// Looks at the files of a run as they are now.
    pub(crate) fn seen<T>(
        &self,
        (definition, run): (&Definition, &Run),
        with: impl FnOnce(&Files, &Look) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        // An index of our own: the run's may be in use.
        let own = format!("reader-{}", std::process::id());
        let files = match &run.site {
            Some(site) => files_at(self, site, &own)?,
            None => Files::of(self.home.git.clone(), &own)?,
        };
        files.see_also(self.scene(definition, (&own, run), (&files, &Look::default())).own()?);
        let done = files.look().map_err(EngineError::from).and_then(|look| with(&files, &look));
        let _ = std::fs::remove_file(files.git().folder().join("loopwright").join(format!("index-{own}")));
        done
    }

    /// What the end of a run says, if it came to one that says something.
    pub fn says(&self, name: &str, (definition, run): (&Definition, &Run)) -> Option<String> {
        let state = run.state(&definition.workflow).filter(|_| run.is_over())?;
        let Kind::End { says: Some(text), .. } = &state.kind else { return None };
        // Where something it names is gone by now, what the author wrote still says more than nothing.
        let filled = self.filled(name, (definition, run), text).unwrap_or_else(|_| text.clone());
        Some(filled.trim().to_owned()).filter(|it| !it.is_empty())
    }
}

fn add(cost: &mut Cost, event: &Event) {
    match event {
        // What was heard costs nothing any more where it counts.
        Event::Settled { evidence: Evidence::Out(outcome), .. } | Event::Heard { outcome, .. } => {
            *cost = cost.and(outcome.cost);
        }
        Event::PutOff { cost: until_then, .. } => *cost = cost.and(*until_then),
        _ => {}
    }
}
