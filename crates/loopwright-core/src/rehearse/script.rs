//! An actor that follows a scenario.

use std::collections::VecDeque;

use indexmap::IndexMap;

use super::actor::{Actor, Listing, Moment, Play};
use super::scenario::{Scenario, Step};
use crate::definition::{Each, EachRun, Kind, State};
use crate::machine::Stage;
use crate::name::Name;
use crate::signal;

/// Follows a scenario. Between its steps everything comes out at its best.
pub struct Script<'s> {
    steps: VecDeque<&'s Step>,
    facts: IndexMap<Name, Name>,
    items: &'s IndexMap<String, Vec<String>>,
    changed: Vec<Name>,
    edits: Vec<Name>,
    edited: Vec<Name>,
    /// What a state is to come out with instead of what the scenario says, at its how-manieth piece of work.
    inject: Option<(usize, Name)>,
    worked: usize,
    /// Stop when the steps are used up, instead of going on at its best.
    stop_after: bool,
    /// Whether the step of a state that does no work was used for the facts it reads.
    asked: bool,
    /// What the items of a loop write, besides what their states do.
    inside: Option<(Name, Vec<Name>)>,
}

impl<'s> Script<'s> {
    /// Follows a scenario.
    pub fn new(scenario: &'s Scenario) -> Self {
        let shows_problem = scenario.expect.reaches.is_some()
            || scenario.expect.unrouted.is_some()
            || scenario.expect.unsettled.is_some()
            || scenario.expect.endless.is_some();
        Self {
            steps: scenario.steps.iter().collect(),
            facts: scenario.facts.clone(),
            items: &scenario.items,
            changed: Vec::new(),
            edits: Vec::new(),
            edited: Vec::new(),
            inject: None,
            worked: 0,
            stop_after: shows_problem,
            asked: false,
            inside: None,
        }
    }

    /// The same, but the how-manieth piece of work fails.
    #[must_use]
    pub fn failing(mut self, at: usize, failure: Name) -> Self {
        self.inject = Some((at, failure));
        self
    }

    /// How many pieces of work there were.
    pub fn worked(&self) -> usize {
        self.worked
    }

    /// Steps that never came.
    pub fn left(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().copied()
    }

    /// Facts and edits take effect as soon as they are next, but never between a state's work and its routing: what comes
    /// after a step does not change how that went on.
    fn settle_world(&mut self, moment: &Moment<'_>) {
        let routing = matches!(moment.run.at.stage, Stage::Deciding { .. });
        // What a loop comes to is said after its items.
        let worked = routing && !does_no_work(moment) && !matches!(moment.state.kind, Kind::Each(_));
        while let Some(step) = self.steps.front() {
            match step {
                Step::Facts(facts) if !worked => {
                    self.facts.extend(facts.iter().map(|(a, b)| (a.clone(), b.clone())));
                }
                Step::Edit(documents) if !routing => self.edits.extend(documents.iter().cloned()),
                Step::Facts(_) | Step::Edit(_) | Step::State { .. } | Step::Verb(_) => break,
            }
            self.steps.pop_front();
        }
    }

    /// Whether there is nothing more to show.
    fn is_over(&self) -> bool {
        self.stop_after && self.steps.is_empty()
    }

    /// The next step, if it is about this state.
    fn next_for(&mut self, moment: &Moment<'_>) -> Option<&'s Play> {
        self.settle_world(moment);
        let play = self.front_for(moment.run.child.as_ref(), &moment.run.at.state)?;
        self.steps.pop_front();
        Some(play)
    }

    fn front_for(&self, of: Option<&Name>, name: &Name) -> Option<&'s Play> {
        self.steps.front().and_then(|it| it.about(of, name))
    }

    fn take(&mut self, play: &Play) {
        self.facts.extend(play.facts.iter().map(|(a, b)| (a.clone(), b.clone())));
        if let Some(changed) = &play.changed {
            self.changed.clone_from(changed);
        }
        self.edited.extend(play.edited.iter().flatten().cloned());
    }
}

impl Actor for Script<'_> {
    fn come_out(&mut self, moment: &Moment<'_>) -> Option<Play> {
        let index = self.worked;
        self.worked += 1;
        let found = self.next_for(moment).cloned();
        if let Some(play) = &found {
            self.take(play);
        }
        if found.is_none() && self.is_over() {
            return None;
        }
        let mut play = found.unwrap_or_default();
        if let Some((at, failure)) = &self.inject
            && *at == index
            && moment.state.cells.contains_key(&**failure)
        {
            play = Play { signal: Some(failure.clone()), ..Play::default() };
        }
        Some(play)
    }

    fn facts(&mut self, moment: &Moment<'_>, facts: &[Name]) -> IndexMap<Name, Name> {
        if does_no_work(moment)
            && let Some(play) = self.next_for(moment)
        {
            self.take(&Play { edited: None, ..play.clone() });
            self.asked = moment.run.at.visit > 0;
        }
        self.settle_world(moment);
        // What is said of a state that turns out stale holds when its needs are looked at.
        let may_be_stale = match &moment.run.at.stage {
            Stage::Needing => true,
            Stage::Deciding { outcome, .. } => outcome.signal == signal::STALE,
            _ => false,
        };
        if may_be_stale
            && let Some(play) = self.front_for(moment.run.child.as_ref(), &moment.run.at.state)
            && play.signal.as_deref() == Some(signal::STALE)
        {
            self.facts.extend(play.facts.iter().map(|(a, b)| (a.clone(), b.clone())));
        }
        facts.iter().filter_map(|it| Some((it.clone(), self.facts.get(&**it)?.clone()))).collect()
    }

    fn changed(&mut self, moment: &Moment<'_>, documents: &[Name]) -> Vec<Name> {
        // A loop that is over: what has changed since its items were found.
        if matches!(moment.state.kind, Kind::Each(_))
            && let Some(play) = self.front_for(moment.run.child.as_ref(), &moment.run.at.state)
            && play.signal.is_none()
            && play.items.is_none()
        {
            self.steps.pop_front();
            self.take(play);
        }
        documents.iter().filter(|it| self.changed.contains(it)).cloned().collect()
    }

    fn items(&mut self, moment: &Moment<'_>, list: &str) -> Option<Listing> {
        self.settle_world(moment);
        if self.is_over() {
            return None;
        }
        // A step about the loop as a whole; one about a call inside it waits for the call.
        let about_the_loop = self.front_for(moment.run.child.as_ref(), &moment.run.at.state).filter(|play| {
            play.signal.as_deref().is_none_or(|it| {
                signal::NO_ITEMS.contains(&it) || signal::EACH_FAILURES.contains(&it) && !is_call(moment)
            })
        });
        if let Some(play) = about_the_loop {
            self.steps.pop_front();
            self.take(&play.clone());
            match play.signal.as_deref() {
                Some(signal::EMPTY) => return Some(Listing::Ids(Vec::new())),
                Some(signal::UNORDERED) => return Some(Listing::Unordered),
                Some(signal::TOO_MANY) => return Some(Listing::TooMany),
                Some(failure) => return Some(Listing::Failed(failure.into())),
                None => {}
            }
            self.inside = play.wrote.clone().map(|it| (moment.run.at.state.clone(), it));
            if let Some(ids) = &play.items {
                return Some(Listing::Ids(ids.clone()));
            }
        }
        let ids = self.items.get(list).or_else(|| self.items.get(&*moment.run.at.state));
        Some(Listing::Ids(ids.cloned().unwrap_or_else(|| vec!["1".to_owned()])))
    }

    fn verb(&mut self, moment: &Moment<'_>, _: &[Name]) -> Option<Name> {
        self.settle_world(moment);
        if let Some(Step::Verb(verb)) = self.steps.front() {
            self.steps.pop_front();
            return Some(verb.clone());
        }
        // A step about the resting state says what has changed besides.
        let play = self.front_for(moment.run.child.as_ref(), &moment.run.at.state)?;
        let verb = play.signal.as_deref()?.strip_prefix("verb ")?;
        self.steps.pop_front();
        self.take(play);
        Some(verb.into())
    }

    fn wrote_inside(&mut self, moment: &Moment<'_>) -> Vec<Name> {
        let own = self.inside.take_if(|(state, _)| *state == moment.run.at.state);
        own.map(|(_, it)| it).unwrap_or_default()
    }

    fn lost(&mut self, moment: &Moment<'_>) -> Option<Play> {
        let play = self.front_for(moment.run.child.as_ref(), &moment.run.at.state)?;
        if !play.signal.as_deref().is_some_and(signal::fails_a_loop) {
            return None;
        }
        self.steps.pop_front();
        self.take(play);
        Some(play.clone())
    }

    fn edits(&mut self, moment: &Moment<'_>) -> Vec<Name> {
        self.settle_world(moment);
        let mut edits = std::mem::take(&mut self.edits);
        // What is said of a state that only looks was edited before it does.
        if does_no_work(moment)
            && let Some(play) = self.front_for(moment.run.child.as_ref(), &moment.run.at.state)
        {
            edits.extend(play.edited.iter().flatten().cloned());
        }
        // What is said of a state that turns out stale was edited before its needs are looked at.
        if moment.run.at.stage == Stage::Needing
            && let Some(play) = self.front_for(moment.run.child.as_ref(), &moment.run.at.state)
            && play.signal.as_deref() == Some(signal::STALE)
        {
            edits.extend(play.edited.iter().flatten().cloned());
        }
        edits
    }

    fn edited(&mut self) -> Vec<Name> {
        std::mem::take(&mut self.edited)
    }

    /// A step about a state that is passed at once has come when the state is passed.
    fn passed(&mut self, child: Option<&Name>, state: &State, signal: &Name) {
        if std::mem::take(&mut self.asked) {
            return;
        }
        // Facts that come before it have come as well.
        let facts = self.steps.iter().take_while(|it| matches!(it, Step::Facts(_))).count();
        let Some(play) = self.steps.get(facts).and_then(|it| it.about(child, &state.name)) else { return };
        let came = match &play.signal {
            Some(wanted) => wanted == signal,
            None => *signal != signal::STALE && *signal != signal::OVER_BUDGET,
        };
        if came {
            for step in self.steps.drain(..=facts) {
                if let Step::Facts(facts) = step {
                    self.facts.extend(facts.iter().map(|(a, b)| (a.clone(), b.clone())));
                }
            }
            self.take(play);
            // That was edited before.
            if *signal == signal::STALE {
                self.edited.clear();
            }
        }
    }
}

/// Whether a state only looks and sends on.
fn does_no_work(moment: &Moment<'_>) -> bool {
    matches!(moment.state.kind, Kind::Choose | Kind::Settle { .. })
}

/// Whether a loop makes one call per item.
fn is_call(moment: &Moment<'_>) -> bool {
    matches!(&moment.state.kind, Kind::Each(Each { run: EachRun::Call(_), .. }))
}
