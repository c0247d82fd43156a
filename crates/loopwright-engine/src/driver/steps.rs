//! Single steps: looking, listing, asking, and what reaches outside.

use std::sync::Arc;
use std::time::Duration;

use loopwright_core::definition::{Kind, Unattended};
use loopwright_core::machine::{Effect, Event, Evidence, Observed, Outcome, Site, Want, outdated};
use loopwright_core::name::Name;
use loopwright_core::signal;
use serde_json::{Value, json};

use super::Driver;
use crate::effects::{self, Done, Settings};
use crate::error::EngineError;
use crate::files::Look;
use crate::people::{Answered, Asked, Policy};

/// How long nobody looks at the clock, at most.
const LOOK_AT_THE_CLOCK: Duration = Duration::from_secs(1);
/// The last moment that has a name, in milliseconds.
const LATEST: u64 = 253_402_300_799_000;

/// What a run waits for.
#[derive(Clone, Debug)]
pub enum Asking {
    /// For one of these verbs.
    Verbs {
        /// What the person is told.
        text: String,
        /// The verbs.
        verbs: Vec<Name>,
        /// The run that waits: this one, or one of its items.
        run: String,
    },
    /// For an answer.
    Question(Box<Asked>),
}

impl Driver<'_> {
    /// Looks at facts and digests.
    pub(super) fn observe(
        &mut self,
        effect: &Effect,
        facts: &[Name],
        gates: &[Name],
        changed: &[Name],
    ) -> Result<(), EngineError> {
        let look = self.look()?;
        let seen = self.seen(&look, facts, gates, changed)?;
        for gate in outdated(&self.run, &seen) {
            let text = format!("what `{gate}` passed has changed since, so it does not count any more");
            self.engine.watch.said(&self.name, &text);
        }
        self.learn(settled(effect, Evidence::Observed(Box::new(seen))))
    }

    /// What facts and digests are.
    pub(super) fn seen(
        &self,
        look: &Look,
        facts: &[Name],
        gates: &[Name],
        changed: &[Name],
    ) -> Result<Observed, EngineError> {
        let scene = self.scene(look, None);
        let mut seen = Observed { facts: scene.facts(facts)?, ..Observed::default() };
        for gate in gates {
            seen.digests.insert(gate.clone(), scene.judged(gate)?);
        }
        for document in changed {
            if scene.is_changed(document)? {
                seen.changed.push(document.clone());
            }
        }
        Ok(seen)
    }

    /// Finds the items of a loop.
    pub(super) fn list(&mut self, effect: &Effect) -> Result<(), EngineError> {
        let look = self.look()?;
        let evidence = {
            let scene = self.scene(&look, None);
            effects::items(&scene)?
        };
        self.learn(settled(effect, evidence))
    }

    /// A run that rests tells why.
    pub(super) fn rests(&mut self, verbs: &[Name]) -> Result<Asking, EngineError> {
        self.write_down()?;
        let look = self.look()?;
        let text = match self.run.state(&self.definition.workflow).map(|it| &it.kind) {
            Some(Kind::Rest { text }) => self.scene(&look, None).text(text)?,
            _ => format!("it stands in `{}` and goes on when somebody says so", self.run.at.state),
        };
        Ok(Asking::Verbs { text, verbs: verbs.to_vec(), run: self.name.clone() })
    }

    /// Asks a person. What is asked is on record before anybody is. `Some`: nobody answered yet.
    pub(super) fn ask(
        &mut self,
        effect: &Effect,
        (name, finding): (&Name, Option<&str>),
    ) -> Result<Option<Asking>, EngineError> {
        let Some(question) = self.definition.workflow.questions.get(&**name).cloned() else {
            return Err(EngineError::Wrong(format!("there is no question `{name}`")));
        };
        let judged = self.judged_now()?;
        let look = self.look()?;
        let asked = effects::asked(&self.scene(&look, None), (name, &question), finding)?;
        let key = effect.id.to_string();
        if !self.run.at.begun.get(&key).is_some_and(|it| it.open && it.values["judged"] == json!(judged)) {
            let at = (self.engine.clock)();
            let values = json!({"question": asked.text, "judged": judged, "tree": look.tree, "at": at});
            self.learn(Event::Issued { effect: effect.id.clone(), attempt: effect.attempt, values })?;
        }
        self.write_down()?;
        // Documents say that it waits for an answer before anybody can give one.
        self.show()?;
        self.write_down()?;
        let most = question.re_ask.unwrap_or(0);
        let mut wrong = 0;
        for _ in 0..=most {
            let Some(answered) = self.engine.people.ask(&asked) else { break };
            let answered = Answered { finding: finding.map(str::to_owned), ..answered };
            match self.take_answer(&answered)? {
                None => return Ok(None),
                Some(why) => self.engine.watch.said(&self.name, &why),
            }
            if question.re_ask.is_none() {
                return Ok(Some(Asking::Question(Box::new(asked))));
            }
            wrong += 1;
        }
        // Somebody was there, and gave no answer that is one as often as they were asked.
        if wrong > most {
            let at = Some((self.engine.clock)());
            let outcome =
                Outcome { judged, question: asked.text.clone(), at, ..Outcome::of(signal::UNANSWERED) };
            let outcome = Outcome { summary: format!("no valid answer in {wrong} tries"), ..outcome };
            self.learn(settled(effect, Evidence::Out(Box::new(outcome))))?;
            return Ok(None);
        }
        match &question.unattended {
            Unattended::As(answer) if self.engine.people.policy() == Policy::Declared => {
                let at = Some((self.engine.clock)());
                let outcome = Outcome { judged, question: asked.text, at, ..Outcome::of(answer.clone()) };
                let summary = "answered by policy: nobody was there, and the workflow declares it".into();
                let outcome = Outcome { summary, ..outcome };
                self.learn(settled(effect, Evidence::Out(Box::new(outcome))))?;
                Ok(None)
            }
            _ => Ok(Some(Asking::Question(Box::new(asked)))),
        }
    }

    /// Does something that reaches outside: written down before, and after.
    pub(super) fn perform(&mut self, effect: &Effect) -> Result<(), EngineError> {
        let look = self.look()?;
        if effects::looks_back(&self.scene(&look, None), effect) {
            self.write_down()?;
        }
        let item = effects::item_of(effect);
        let (values, settings) = self.issue(effect, &look, None)?;
        self.write_down()?;
        let done = {
            let scene = self.scene(&look, item.as_deref());
            effects::perform(self.engine, &scene, effect, (&values, &settings), &self.cancel)?
        };
        self.finish(effect, done)
    }

    /// Settles what something will use that is about to reach outside. It is on record once that is written down.
    /// Where others are at work, what is checked out is what it was before them.
    pub(super) fn issue(
        &mut self,
        effect: &Effect,
        look: &Look,
        before: Option<&Value>,
    ) -> Result<(Value, Settings), EngineError> {
        let item = effects::item_of(effect);
        let known = self.run.at.begun.get(&effect.id.to_string()).map(|it| it.values.clone());
        let prepared = {
            let scene = self.scene(look, item.as_deref());
            effects::prepare(self.engine, &scene, effect, known.as_ref())?
        };
        let mut values = prepared.values;
        if let Some(values) = values.as_object_mut() {
            // So that somebody can come back to this moment.
            values.insert("tree".to_owned(), json!(look.tree));
            // What an earlier try left counts as this one's.
            let first = known.as_ref().map(|it| &it["since"]).filter(|it| it.is_string()).cloned();
            let first = match first {
                None => self.lost_since(effect)?,
                known => known,
            };
            values.insert("since".to_owned(), first.unwrap_or_else(|| json!(look.tree)));
            values.extend(before.map(|it| ("head".to_owned(), it.clone())));
        }
        for (name, text) in prepared.kept {
            values[name] = json!(self.keep(text));
        }
        let issued =
            Event::Issued { effect: effect.id.clone(), attempt: effect.attempt, values: values.clone() };
        self.learn(issued)?;
        Ok((values, prepared.settings))
    }

    /// What all files were when the visit before this one began, if that was lost. Whoever was at work then may have done it
    /// all, and a workflow that decides anew comes back in another visit.
    fn lost_since(&self, effect: &Effect) -> Result<Option<Value>, EngineError> {
        let lost = self.run.last.get(&*effect.id.state).filter(|it| *it.signal == *"lost");
        let Some(lost) = lost.filter(|it| it.visit + 1 == effect.id.visit) else { return Ok(None) };
        let events = self.engine.journal.events(&self.name, 0)?;
        Ok(events.into_iter().rev().find_map(|it| match it.event {
            Event::Issued { effect: of, values, .. }
                if of.state == effect.id.state && of.visit == lost.visit =>
            {
                values.get("since").cloned()
            }
            _ => None,
        }))
    }

    /// Waits until what is due may be begun, or the run is left.
    pub(super) fn wait(&mut self, until: u64) -> Result<(), EngineError> {
        self.write_down()?;
        let text = format!("nothing is begun before {}", crate::scene::time(until));
        // It may take long, and whoever waits may be killed meanwhile.
        self.note_left();
        self.engine.watch.said(&self.name, &text);
        loop {
            let left = until.saturating_sub((self.engine.clock)());
            // A clock may be put forward or back, and a machine may sleep: what counts is what it says then.
            let called_off = self.cancel.waited(Duration::from_millis(left).min(LOOK_AT_THE_CLOCK));
            if left == 0 || called_off || !self.engine.journal.inbox(&self.name)?.is_empty() {
                // A person may have edited something meanwhile.
                self.look = None;
                self.forget_left();
                return Ok(());
            }
        }
    }

    /// Works elsewhere from now on, or has its folder elsewhere.
    fn go_to(&mut self, site: Site) -> Result<(), EngineError> {
        let here = self.run.site.as_ref().map(|it| &it.folder);
        if here != Some(&site.folder) || !self.files.root().is_dir() {
            self.files = Arc::new(super::files_at(self.engine, &site, &self.name)?);
            self.take_place()?;
        }
        self.learn(Event::Placed(site))?;
        self.see_own()
    }

    /// The moment after so long. One that nobody lives to see is as good as any.
    pub(super) fn after(&self, long: Duration) -> u64 {
        let long = u64::try_from(long.as_millis()).unwrap_or(u64::MAX);
        (self.engine.clock)().saturating_add(long).min(LATEST)
    }

    /// Takes in what came of something that reached outside, or that the run was left before anything did.
    pub(super) fn finish(&mut self, effect: &Effect, done: Done) -> Result<(), EngineError> {
        let Done { mut outcome, kept, look, said, placed, limited } = done;
        self.look = look;
        self.at_work = true;
        if let Some(site) = placed {
            self.go_to(site)?;
        }
        for (name, text) in kept {
            let name = (name, self.keep(text));
            outcome.kept.insert(name.0, name.1);
        }
        let left = self.cancel.is_called_off() && *outcome.signal == *signal::CANCELLED;
        let why = match limited {
            Some(_) => std::mem::take(&mut outcome.summary),
            None => "the run was left".to_owned(),
        };
        let until = limited.map(|it| self.after(it));
        self.learn(match effect.want {
            // It came to nothing, and is begun anew.
            Want::Call { .. } | Want::Check if left || limited.is_some() => {
                let (effect, cost, kept) = (effect.id.clone(), outcome.cost, outcome.kept);
                Event::PutOff { effect, why, until, cost, kept }
            }
            _ => {
                if left {
                    // Of something that is not for looking and writing alone, doing it again has to be the workflow's choice.
                    outcome.signal = "lost".into();
                    outcome.summary = "the run was left while it was at work".into();
                }
                settled(effect, Evidence::Out(Box::new(outcome)))
            }
        })?;
        for text in said {
            self.engine.watch.said(&self.name, &text);
        }
        Ok(())
    }
}

pub(super) fn settled(effect: &Effect, evidence: Evidence) -> Event {
    Event::Settled { effect: effect.id.clone(), evidence }
}
