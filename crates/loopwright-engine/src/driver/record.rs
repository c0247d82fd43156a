//! Writing down what was learnt.

use std::fmt::Write as _;
use std::sync::Arc;

use loopwright_core::definition::{Outcome as Ending, Workflow};
use loopwright_core::machine::{Cost, Event, Evidence, Outcome, Run, RunView, Want, advance, due};
use serde_json::json;

use super::Driver;
use crate::effects;
use crate::error::EngineError;
use crate::journal::{Batch, RunLine, Stands, digest};
use crate::people::Message;
use crate::process::{MARK, end_leftover};

/// So many events after the last snapshot, another is taken: what has to be folded again stays short.
const SNAPSHOT_AFTER: u64 = 64;

impl Driver<'_> {
    /// Folds a fact into the run. It is written down with the next thing that reaches outside.
    pub(super) fn learn(&mut self, event: Event) -> Result<(), EngineError> {
        self.run = advance(&self.definition.workflow, &self.run, &event)?;
        self.unshown |= !matches!(event, Event::Shown(_));
        self.learnt.push(event);
        Ok(())
    }

    /// Keeps a text, and says what it is called.
    pub(super) fn keep(&mut self, text: String) -> String {
        let name = digest(text.as_bytes());
        self.blobs.push(text.into_bytes());
        name
    }

    /// Writes down what was learnt. Only then is anybody told.
    pub(super) fn write_down(&mut self) -> Result<(), EngineError> {
        if self.learnt.is_empty() && self.taken.is_empty() {
            return Ok(());
        }
        self.since_snapshot += self.learnt.len() as u64;
        let snapshot = (self.since_snapshot >= SNAPSHOT_AFTER).then(|| serde_json::to_string(&self.run));
        let snapshot = snapshot.transpose().map_err(|it| EngineError::Wrong(it.to_string()))?;
        if snapshot.is_some() {
            self.since_snapshot = 0;
        }
        let batch = Batch {
            lease: self.lease.clone(),
            after: self.last,
            at: (self.engine.clock)(),
            events: std::mem::take(&mut self.learnt),
            snapshot,
            taken: std::mem::take(&mut self.taken),
            blobs: std::mem::take(&mut self.blobs),
            stands: Some(self.stands()),
        };
        self.last = self.engine.journal.append(&batch)?;
        let view = self.view();
        for event in &batch.events {
            self.engine.watch.happened(&self.name, event, &view);
        }
        Ok(())
    }

    /// Where the run stands, for lists.
    fn stands(&self) -> Stands {
        stands(&self.definition.workflow, &self.run)
    }

    /// Whether somebody wants the run ended.
    fn is_to_stop(&self) -> Result<bool, EngineError> {
        let letters = self.engine.journal.inbox(&self.name)?;
        let stops = |body: &str| matches!(serde_json::from_str(body), Ok(Message::Stop { .. }));
        Ok(letters.iter().any(|it| stops(&it.body)))
    }

    /// Ends what may be left of what somebody began who is gone, together with the one who should have ended it.
    fn end_leftover(&mut self) -> Result<(), EngineError> {
        let look = self.look()?;
        let mark = effects::mark(&self.scene(&look, None));
        let left = end_leftover(MARK, &mark);
        if left > 0 {
            self.engine.watch.said(&self.name, &format!("{left} processes were left of it, and were ended"));
            // They may have written something since.
            self.look = None;
        }
        Ok(())
    }

    /// What was begun and never came back is lost: whoever began it is gone, and nobody knows how far it got.
    pub(super) fn settle_lost(&mut self) -> Result<(), EngineError> {
        let open: Vec<_> = self.run.at.begun.values().filter(|it| it.open).cloned().collect();
        for begun in open {
            let effects = due(&self.definition.workflow, &self.run);
            let Some(effect) = effects.into_iter().find(|it| it.id == begun.effect) else { continue };
            // A question is still open, and an item is a run of its own.
            if matches!(effect.want, Want::Ask { .. } | Want::Child { .. }) {
                continue;
            }
            self.end_leftover()?;
            let look = self.look()?;
            let item = effects::item_of(&effect);
            let (then, now) = (begun.values["head"]["commit"].clone(), self.files.git().head()?);
            let moved_on = now.filter(|it| !begun.values["head"].is_null() && then != json!(it));
            if let Want::Ahead { judge, .. } = &effect.want {
                // Where it is still owed, it is called again. Nobody waited for it.
                if moved_on.is_none() && !self.is_to_stop()? {
                    self.undo_of_ahead(judge, &begun)?;
                }
                continue;
            }
            // Whoever ends a run, or has committed since, has worked here: what they left is not for it to undo.
            let (kept, after) = if moved_on.is_some() || self.is_to_stop()? {
                (None, Some(Arc::clone(&look)))
            } else {
                let scene = self.scene(&look, item.as_deref());
                effects::undo_out_of_bounds(&scene, &effect, &begun.values, self.gone)?
            };
            let mut outcome = Outcome::of("lost");
            // What it had cost by then, nobody said.
            let called = matches!(effect.want, Want::Call { .. });
            outcome.cost = Cost { unpriced: called, uncounted: called, ..Cost::default() };
            outcome.summary = "whoever began it was gone before it came back".into();
            if let Some(undone) = kept {
                let files = effects::listed(&undone.paths);
                let _ = write!(
                    outcome.summary,
                    "; what had changed since and is not for it to write was undone: {files}"
                );
                outcome.kept.insert("undone".into(), self.keep(undone.patch));
            }
            if let Some(now) = moved_on {
                let now = &now[..now.len().min(10)];
                let _ = write!(
                    outcome.summary,
                    "; since then `{now}` was checked out or committed, and what changed is left as it is"
                );
            }
            self.look = after;
            if let Some(stands) = self.left_standing(&begun)? {
                let _ = write!(outcome.summary, "; {stands}");
            }
            self.at_work = true;
            self.learn(Event::Settled { effect: begun.effect, evidence: Evidence::Out(Box::new(outcome)) })?;
        }
        Ok(())
    }
}

/// The status of a run that waits for nobody.
pub const AT_WORK: &str = "at work";
/// What the status of one begins with that waits for a time.
pub const WAITS_UNTIL: &str = "waits until ";

/// The status of a run that a person ended.
const ENDED: &str = "ended by a person";

/// Whether a run on a list has begun and is not over.
pub fn is_open(line: &RunLine) -> bool {
    let endings = [Ending::Success, Ending::Failure, Ending::Stopped, Ending::Refused];
    let status = line.stands.status.as_str();
    line.last > 0 && status != ENDED && endings.iter().all(|it| it.word() != status)
}

/// Where a run stands, for lists.
pub(crate) fn stands(workflow: &Workflow, run: &Run) -> Stands {
    let view = RunView::of(workflow, run);
    let status = match (run.is_over(), view.outcome) {
        (true, Some(outcome)) => outcome.word().to_owned(),
        (true, None) => ENDED.to_owned(),
        (false, _) => match due(workflow, run).first().map(|it| &it.want) {
            Some(Want::Await { verbs }) => {
                let verbs: Vec<&str> = verbs.iter().map(|it| &**it).collect();
                format!("waits for {}", verbs.join(" or "))
            }
            Some(Want::Ask { question, finding: None }) => format!("asks {question}"),
            Some(Want::Ask { question, .. }) => match due(workflow, run).len() {
                1 => format!("asks {question} about a finding"),
                several => format!("asks {question} about {several} findings"),
            },
            _ => match run.at.until {
                Some(until) => format!("{WAITS_UNTIL}{}", crate::scene::time(until)),
                None => AT_WORK.to_owned(),
            },
        },
    };
    Stands { state: view.state.to_string(), status }
}
