//! A path through the graph, as a scenario that the machine plays.

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::unfold::{Came, Setting, Unfolded, goes_before};
use super::visits::{before_the_start, name_items, number_items};
use super::writes::{self, Documents, Shelf};
use crate::definition::{Each, EachRun, Kind, State, Term};
use crate::name::Name;
use crate::proof::graph::{Move, Path};
use crate::rehearse::{Expect, Play, Scenario, Start, Step};
use crate::signal;

/// For every loop, setting and end: what happens in a child that comes to that end.
pub(super) type ChildSteps = FxHashMap<(Name, Setting, Name), Vec<Step>>;

/// Under what the steps to an end are kept in which a gate is passed over. No end is called like that.
pub(super) fn forcing(end: &Name) -> Name {
    format!("{end} forced").into()
}

/// Under what the steps to an end are kept in which a document is written, which the shortest way does not write.
pub(super) fn writing(end: &Name, document: Documents) -> Name {
    format!("{end} writes {document}").into()
}

/// Writes paths down.
pub(super) struct Tracer<'t, 'w> {
    pub(super) unfolded: &'t Unfolded<'w>,
    pub(super) shelf: &'t Shelf,
    pub(super) children: &'t ChildSteps,
    /// For a child: how its parent comes to run it.
    pub(super) prefix: Option<&'t Scenario>,
}

impl Tracer<'_, '_> {
    /// The scenario of a path that shows something.
    pub(super) fn scenario(&self, name: &str, path: &Path, expect: Expect) -> Scenario {
        let mut scenario = self.begin(name, path);
        // An imported run stands still until somebody says `resume`.
        let edited = self.unfolded.begins.get(path.root).map_or(0, |it| it.edited);
        let goes_on = !path.moves.is_empty() || expect.unsettled.is_some() || expect.unrouted.is_some();
        if (goes_on || edited != 0) && self.paused(path) {
            if edited != 0 {
                scenario.steps.push(Step::Edit(self.shelf.names(edited)));
            }
            scenario.steps.push(Step::Verb("resume".into()));
        }
        scenario.expect = expect;
        let (begun, brought) = self.moves(&path.moves, &mut scenario.steps, scenario.start.phase.is_some());
        for (state, end) in brought {
            scenario.start.done.entry(state).or_default().insert(before_the_start(&end), end);
        }
        let turn = scenario.expect.endless.and_then(|it| begun.get(begun.len().checked_sub(it)?).copied());
        self.say_facts_once(&mut scenario, turn);
        scenario
    }

    /// Facts stay as they are until something else is said of them. Those that change in a turn are said in it, so that it
    /// can be taken again.
    fn say_facts_once(&self, scenario: &mut Scenario, turn: Option<usize>) {
        let mut known = scenario.facts.clone();
        let is_new = |known: &mut IndexMap<Name, Name>, name: &Name, value: &Name| {
            known.insert(name.clone(), value.clone()).as_ref() != Some(value)
        };
        let changing = turn.map(|from| changing(&scenario.steps[from..])).unwrap_or_default();
        let mut at = 0;
        let only_looks = |child: &Option<Name>, state: &Name| {
            let machine = self.unfolded.workflow.machine(child.as_deref());
            let kind = machine.and_then(|it| it.states.get(&**state)).map(|it| &it.kind);
            matches!(kind, Some(Kind::Choose | Kind::Settle { .. }))
        };
        scenario.steps.retain_mut(|step| {
            if Some(at) == turn {
                known.retain(|name, _| !changing.contains(name));
            }
            at += 1;
            match step {
                Step::Facts(facts) => {
                    facts.retain(|name, value| is_new(&mut known, name, value));
                    !facts.is_empty()
                }
                Step::State { child, state, play } => {
                    play.facts.retain(|name, value| is_new(&mut known, name, value));
                    **play != Play::default() || !only_looks(child, state)
                }
                _ => true,
            }
        });
    }

    /// The same, with one more outcome at the end that has no route.
    pub(super) fn unrouted(&self, name: &str, path: &Path, last: Move, signal: &Name) -> Scenario {
        let expect = Expect { unrouted: Some(signal.clone()), ..Expect::default() };
        let mut path = path.clone();
        path.moves.push(Move { step: 0, ..last });
        self.scenario(name, &path, expect)
    }

    /// The steps of a path. Where those of each move begin is returned, and what an import has to bring along: loops, and
    /// the ends of their items.
    pub(super) fn moves(
        &self,
        moves: &[Move],
        steps: &mut Vec<Step>,
        imported: bool,
    ) -> (Vec<usize>, Vec<(Name, Name)>) {
        let from = steps.len();
        let visits = self.visits(moves, imported);
        if visits.iter().any(|it| it.lacks_item) {
            self.unfolded.lacks_item.set(true);
        }
        let mut begun: Vec<usize> = Vec::with_capacity(moves.len());
        let is_again =
            |it: &Move| self.unfolded.is_again(it.node as usize, it.cell as usize, it.step as usize);
        for (at, (step, visit)) in moves.iter().zip(&visits).enumerate() {
            let again = at.checked_sub(1).is_some_and(|it| is_again(&moves[it]));
            begun.push(steps.len());
            match self.state_and_came(*step) {
                Some((state, came)) if visit.runs_nothing() => {
                    let items = Some(vec![String::new()]);
                    let play = Play { signal: None, wrote: None, items, ..self.as_play(came) };
                    steps.push(self.step(state, play));
                }
                _ => self.play((*step, again), &visit.besides, steps),
            }
        }
        number_items(steps, |at| at >= from);
        let brought = name_items(&visits, &begun, steps);
        (begun, brought)
    }

    /// What happens in a child of a loop that comes out with a signal.
    pub(super) fn inside(&self, step: Move, state: &State, signal: &Name) -> Option<&Vec<Step>> {
        let Kind::Each(Each { run: EachRun::Child(child), with, .. }) = &state.kind else { return None };
        let machine = self.unfolded.workflow.children.get(&**child)?;
        let setting = self.unfolded.setting(self.unfolded.values(step.node)?, machine, with);
        self.children.get(&(state.name.clone(), setting, signal.clone()))
    }

    fn begin(&self, name: &str, path: &Path) -> Scenario {
        let begin = self.unfolded.begins.get(path.root).cloned().unwrap_or_default();
        if let Some(prefix) = self.prefix {
            let mut scenario = Scenario { name: name.to_owned(), ..prefix.clone() };
            if !begin.facts.is_empty() {
                scenario.steps.push(Step::Facts(begin.facts));
            }
            return scenario;
        }
        Scenario {
            name: name.to_owned(),
            start: Start { verb: begin.verb, phase: begin.phase, vars: begin.vars, ..Start::default() },
            facts: begin.facts,
            items: IndexMap::new(),
            steps: Vec::new(),
            expect: Expect::default(),
        }
    }

    /// Whether a path begins with an import that waits for `resume`.
    pub(super) fn paused(&self, path: &Path) -> bool {
        let imported = self.unfolded.begins.get(path.root).is_some_and(|it| it.phase.is_some());
        let first = self.unfolded.graph.roots.get(path.root).and_then(|it| self.unfolded.state(it.node));
        imported && first.is_some_and(crate::machine::pauses_at_landing)
    }

    /// The state a move leaves, and how it came out. `None` where nothing comes out yet.
    pub(super) fn state_and_came(&self, step: Move) -> Option<(&State, &Came)> {
        let came: &Came = self.unfolded.outcomes.get(step.node as usize)?.get(step.cell as usize)?;
        Some((self.unfolded.state(step.node)?, came)).filter(|_| !came.decides)
    }

    /// The steps of one move; `again` says that it is another try of the same visit. In a loop, items that come to these ends are run besides.
    fn play(&self, (step, again): (Move, bool), besides: &[Name], steps: &mut Vec<Step>) {
        let Some((state, came)) = self.state_and_came(step) else { return };
        if came.edited != 0 && !self.says_edits_itself(step, state, came) {
            steps.push(Step::Edit(self.shelf.names(came.edited)));
        }
        if came.signal == signal::STALE {
            let mut edited = came.wrote.filter(|it| *it != 0).map(|it| self.shelf.names(it));
            // An item that ended just before would take it for something edited while that looked at its own needs.
            let last = steps.iter().rev().find_map(|it| match it {
                Step::State { child, .. } => Some(child),
                _ => None,
            });
            let after_item = last.is_some_and(|it| *it != self.unfolded.machine.name);
            if !after_item {
                steps.extend(edited.take().map(Step::Edit));
            }
            // Said of the state, so that they do not hold while the one before it is routed.
            if !came.facts.is_empty() || edited.is_some() {
                let play = Play {
                    signal: Some(came.signal.clone()),
                    facts: came.facts.iter().cloned().collect(),
                    edited,
                    ..Play::default()
                };
                steps.push(self.step(state, play));
            }
            return;
        }
        let plain = came.facts.is_empty() && came.changed.is_empty() && came.edited == 0;
        if let Some(verb) = came.signal.strip_prefix("verb ").filter(|_| plain)
            && matches!(state.kind, Kind::Rest { .. })
        {
            steps.push(Step::Verb(verb.into()));
            return;
        }
        steps.extend(self.not_asked_for(step, state).map(Step::Facts));
        // A path past a retry takes it as often as it can first.
        let before = came.arms.get(step.step as usize).copied().unwrap_or(usize::MAX);
        let past: u64 = came.retries.iter().filter(|(at, _)| *at < before).map(|(_, times)| *times).sum();
        // What is edited before the last try: before another, it would show when that looks at its needs.
        let calm = Came { edited: 0, ..came.clone() };
        for turn in 0..=past {
            let besides = if turn == 0 { besides } else { &[] };
            let came = if turn == past { came } else { &calm };
            self.play_once(state, (step, besides, again || turn > 0), came, steps);
        }
    }

    /// What the step before may have made of facts, so that a gate which is needed and not settled is not asked for.
    fn not_asked_for(&self, step: Move, state: &State) -> Option<IndexMap<Name, Name>> {
        let unfolded = self.unfolded;
        let values = unfolded.values(step.node)?;
        let settled = |gate: &Name| {
            let status = unfolded.term(values, &Term::Gate(gate.clone()));
            status.is_none_or(|it| matches!(&*it, "fresh" | "forced"))
        };
        let mut facts = IndexMap::new();
        let needs = super::writes::picked(&state.needs, &|name| unfolded.lookup(values, name));
        for gate in needs.into_iter().flatten().filter(|it| !settled(it)) {
            let mut asking = crate::machine::Run::owed_when(unfolded.machine, gate).iter();
            let other = asking.find_map(|it| {
                let kept = &unfolded.slots.kept[unfolded.slots.term(&it.term)?];
                let Term::Fact(name) = &it.term else { return None };
                let other = kept.values.iter().find(|value| !it.values.contains(value))?;
                kept.reads.by_routing.then(|| (name.clone(), other.clone()))
            });
            facts.extend(other);
        }
        (!facts.is_empty()).then_some(facts)
    }

    /// Whether the step of a state says what was edited meanwhile: where a person answers, the state only looks, or it
    /// works after it looked at its needs. In a loop, that follows its items.
    fn says_edits_itself(&self, step: Move, state: &State, came: &Came) -> bool {
        let values = self.unfolded.values(step.node);
        let needs = values.is_some_and(|values| {
            let needs = super::writes::picked(&state.needs, &|name| self.unfolded.lookup(values, name));
            needs.into_iter().any(|it| !it.is_empty())
        });
        match &state.kind {
            Kind::Each(each) => {
                let failed = signal::fails_a_loop(&came.signal);
                let runs_child = matches!(each.run, EachRun::Child(_));
                !signal::NO_ITEMS.contains(&&*came.signal) && (runs_child || !failed || needs)
            }
            Kind::Rest { .. } | Kind::Ask { .. } | Kind::Choose | Kind::Settle { .. } => true,
            _ => needs,
        }
    }

    fn play_once(&self, state: &State, visit: (Move, &[Name], bool), came: &Came, steps: &mut Vec<Step>) {
        let (step, besides, again) = visit;
        let play = self.as_play(came);
        match &state.kind {
            Kind::End { .. } => {}
            Kind::Choose | Kind::Settle { .. } => {
                if !play.facts.is_empty() || play.changed.is_some() || play.edited.is_some() {
                    steps.push(self.step(state, Play { signal: None, wrote: None, ..play }));
                }
            }
            Kind::Each(each) => self.play_loop(state, each, (step, besides), came, play, steps),
            Kind::Do { actions, .. } => {
                // All actions but the last go well, and are not done again.
                for _ in 1..if again { 1 } else { actions.len() } {
                    let wrote = came.wrote.map(|it| self.shelf.names(it));
                    steps.push(self.step(state, Play { wrote, ..Play::default() }));
                }
                steps.push(self.step(state, play));
            }
            _ => steps.push(self.step(state, play)),
        }
    }

    fn play_loop(
        &self,
        state: &State,
        each: &Each,
        (step, besides): (Move, &[Name]),
        came: &Came,
        play: Play,
        steps: &mut Vec<Step>,
    ) {
        let whole = signal::NO_ITEMS.contains(&&*came.signal);
        let edited = play.edited.clone();
        let play = Play { edited: None, ..play };
        let one_item =
            || Play { items: Some(vec!["1".into()]), changed: play.changed.clone(), ..Play::default() };
        // What the graph takes to have been written, and no more.
        let written = came.wrote.map(|it| self.shelf.names(it)).unwrap_or_default();
        let of_item = |end: &Name| {
            let inside = self.inside(step, state, end)?;
            let wrote = writes::each(came.wrote.unwrap_or(0));
            let missing = wrote.filter(|it| !writes(inside, &self.shelf.names(*it)));
            let mut fuller = missing.filter_map(|it| self.inside(step, state, &writing(end, it)));
            let inside = fuller.next().unwrap_or(inside);
            Some(inside.iter().cloned().map(|it| writing_only(it, &written)).collect::<Vec<_>>())
        };
        let forced = came.forced;
        let of_last = |end: &Name| forced.then(|| of_item(&forcing(end))).flatten().or_else(|| of_item(end));
        let of_others = besides.iter().filter_map(of_item).flatten();
        match &each.run {
            _ if whole => steps.push(self.step(state, Play { wrote: None, ..play })),
            EachRun::Call(_) => {
                steps.push(self.step(state, one_item()));
                steps.push(self.step(state, Play { edited, ..play }));
            }
            EachRun::Child(_) if signal::fails_a_loop(&came.signal) => {
                // What was written or edited, an item came to before it failed; else the list itself cannot be had.
                if *came.signal == *signal::CONFLICT
                    || came.wrote.is_some_and(|it| it != 0)
                    || edited.is_some()
                    || !besides.is_empty()
                {
                    steps.push(self.step(state, one_item()));
                    steps.extend(edited.map(Step::Edit));
                    steps.extend(of_others);
                    steps.push(self.step(state, play));
                } else {
                    steps.push(self.step(state, Play { wrote: None, ..play }));
                }
            }
            EachRun::Child(child) => {
                let wrote = came.wrote.filter(|it| *it != 0).map(|it| self.shelf.names(it));
                steps.push(self.step(state, Play { wrote, changed: None, ..one_item() }));
                steps.extend(edited.map(Step::Edit));
                steps.extend(of_others);
                if let Some(machine) = self.unfolded.workflow.children.get(&**child) {
                    // Beside an item that is done, one of this visit ends otherwise, and no worse.
                    let ends = machine.ends().map(|(it, _)| it);
                    let ends = ends.filter(|it| goes_before(state, machine, it, &came.signal));
                    let mut ends = std::iter::once(&came.signal).chain(ends);
                    steps.extend(ends.find_map(of_last).into_iter().flatten());
                }
                if !play.facts.is_empty() {
                    steps.push(Step::Facts(play.facts));
                }
                // The child may have looked when it was otherwise.
                if let Some(changed) = play.changed {
                    steps.push(self.step(state, Play { changed: Some(changed), ..Play::default() }));
                }
            }
        }
    }

    fn step(&self, state: &State, play: Play) -> Step {
        Step::State {
            child: self.unfolded.machine.name.clone(),
            state: state.name.clone(),
            play: Box::new(play),
        }
    }

    fn as_play(&self, came: &Came) -> Play {
        let changed: Vec<Name> =
            came.changed.iter().filter(|(_, yes)| *yes).map(|(name, _)| name.clone()).collect();
        Play {
            signal: Some(came.signal.clone()).filter(|it| *it != signal::ALWAYS),
            fields: came.fields.iter().cloned().collect(),
            same_again: came.same_again,
            topic: came.topic.clone(),
            facts: came.facts.iter().cloned().collect(),
            changed: (!came.changed.is_empty()).then_some(changed),
            edited: (came.edited != 0).then(|| self.shelf.names(came.edited)),
            wrote: came.wrote.map(|it| self.shelf.names(it)),
            items: None,
        }
    }
}

/// Facts of which steps say more than one value.
fn changing(steps: &[Step]) -> Vec<Name> {
    let said = |step: &Step| match step {
        Step::Facts(facts) => facts.clone(),
        Step::State { play, .. } => play.facts.clone(),
        _ => IndexMap::new(),
    };
    let all: Vec<(Name, Name)> = steps.iter().flat_map(said).collect();
    let other = |name: &Name, value: &Name| all.iter().any(|(it, said)| it == name && said != value);
    all.iter().filter(|(name, value)| other(name, value)).map(|(name, _)| name.clone()).collect()
}

/// Whether some step writes one of these.
fn writes(steps: &[Step], documents: &[Name]) -> bool {
    steps.iter().any(|it| {
        let wrote = if let Step::State { play, .. } = it { play.wrote.as_ref() } else { None };
        wrote.is_some_and(|it| it.iter().any(|it| documents.contains(it)))
    })
}

/// A step of a child that writes no more than the child is taken to write in all.
fn writing_only(mut step: Step, documents: &[Name]) -> Step {
    if let Step::State { play, .. } = &mut step
        && let Some(wrote) = &mut play.wrote
    {
        wrote.retain(|it| documents.contains(it));
    }
    step
}
