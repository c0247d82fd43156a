//! A path through the graph, as a scenario that the machine plays.

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::unfold::{Came, Setting, Unfolded, goes_before};
use super::writes::Shelf;
use crate::definition::{Each, EachRun, Kind, State, Term};
use crate::name::Name;
use crate::proof::graph::{Move, Path};
use crate::rehearse::{Expect, Play, Scenario, Start, Step};
use crate::signal;

/// For every loop, setting and end: what happens in a child that comes to that end.
pub(super) type ChildSteps = FxHashMap<(Name, Setting, Name), Vec<Step>>;

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
        let brought = self.moves(&path.moves, &mut scenario.steps, scenario.start.phase.is_some());
        for (state, end) in brought {
            scenario.start.done.entry(state).or_default().insert(before_the_start(&end), end);
        }
        scenario
    }

    /// The same, with one more outcome at the end that has no route.
    pub(super) fn unrouted(&self, name: &str, path: &Path, last: Move, signal: &Name) -> Scenario {
        let expect = Expect { unrouted: Some(signal.clone()), ..Expect::default() };
        let mut path = path.clone();
        path.moves.push(Move { step: 0, ..last });
        self.scenario(name, &path, expect)
    }

    /// The steps of a path. A loop has another item every time it is entered, unless one that is done is what counts.
    /// What an import has to bring along for that is returned: loops, and the ends of their items.
    pub(super) fn moves(&self, moves: &[Move], steps: &mut Vec<Step>, imported: bool) -> Vec<(Name, Name)> {
        let from = steps.len();
        let mut found: FxHashMap<(Name, Name), usize> = FxHashMap::default();
        let mut again: Vec<Again> = Vec::new();
        let mut passed: Vec<&Name> = Vec::new();
        for step in moves {
            let at = steps.len();
            let Some((state, came)) = self.state_and_came(*step) else { continue };
            let key = (state.name.clone(), came.signal.clone());
            let first = found.get(&key).copied();
            let known = first.is_some() || imported;
            let alone = came.edited == 0 && came.wrote.is_none_or(|it| it == 0);
            // An item of this visit shows it as well, if it can end like that.
            let counts = alone || self.inside(*step, state, &came.signal).is_none();
            let done = known && counts && self.is_done(*step, state, &came.signal, &passed);
            passed.extend(state.gate.iter().filter(|it| it.passes.contains(&came.signal)).map(|it| &it.name));
            if done {
                again.push(Again { at, first, key, alone });
                if alone {
                    let items = Some(vec![String::new()]);
                    let play = Play { signal: None, wrote: None, items, ..self.as_play(came) };
                    steps.push(self.step(state, play));
                } else {
                    self.play(*step, steps);
                }
                continue;
            }
            self.play(*step, steps);
            if steps.len() > at {
                found.insert(key, at);
            }
        }
        number_items(steps, |at| at >= from);
        let mut brought: Vec<(Name, Name)> = Vec::new();
        for Again { at, first, key, alone } in again {
            let before = first.and_then(|it| items_of(&steps[it])?.last().cloned());
            let id = before.unwrap_or_else(|| before_the_start(&key.1));
            if first.is_none() && !brought.contains(&key) {
                brought.push(key);
            }
            if let Step::State { play, .. } = &mut steps[at] {
                let others = play.items.take().filter(|_| !alone).unwrap_or_default();
                play.items = Some(std::iter::once(id).chain(others).collect());
            }
        }
        brought
    }

    /// Whether a loop may come out like this by items that are done, which nothing has undone since.
    fn is_done(&self, step: Move, state: &State, signal: &Name, passed: &[&Name]) -> bool {
        let Some(values) = self.unfolded.values(step.node) else { return false };
        // What has changed since its gate passed undoes them.
        let stands = state.gate.as_ref().is_none_or(|it| {
            let status = self.unfolded.term(values, &Term::Gate(it.name.clone()));
            !passed.contains(&&it.name) || status.is_some_and(|it| matches!(&*it, "fresh" | "forced"))
        });
        stands && self.unfolded.done_before(state, values, signal)
    }

    /// What happens in a child of a loop that comes out with a signal.
    fn inside(&self, step: Move, state: &State, signal: &Name) -> Option<&Vec<Step>> {
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
    fn state_and_came(&self, step: Move) -> Option<(&State, &Came)> {
        let came: &Came = self.unfolded.outcomes.get(step.node as usize)?.get(step.cell as usize)?;
        Some((self.unfolded.state(step.node)?, came)).filter(|_| !came.decides)
    }

    /// The steps of one move.
    fn play(&self, step: Move, steps: &mut Vec<Step>) {
        let Some((state, came)) = self.state_and_came(step) else { return };
        // Where a person answers, the step itself says what was edited meanwhile; in a loop, what follows its items.
        let says_so = matches!(state.kind, Kind::Rest { .. } | Kind::Ask { .. } | Kind::Each(_));
        if came.edited != 0 && !says_so {
            steps.push(Step::Edit(self.shelf.names(came.edited)));
        }
        if came.signal == signal::STALE {
            if let Some(edited) = came.wrote {
                steps.push(Step::Edit(self.shelf.names(edited)));
            }
            // Said of the state, so that they do not hold while the one before it is routed.
            if !came.facts.is_empty() {
                let play = Play {
                    signal: Some(came.signal.clone()),
                    facts: came.facts.iter().cloned().collect(),
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
        // A path past a retry takes it as often as it can first.
        let before = came.arms.get(step.step as usize).copied().unwrap_or(usize::MAX);
        let past: u64 = came.retries.iter().filter(|(at, _)| *at < before).map(|(_, times)| *times).sum();
        for _ in 0..past {
            self.play_once(state, step, came, steps);
        }
        self.play_once(state, step, came, steps);
    }

    fn play_once(&self, state: &State, step: Move, came: &Came, steps: &mut Vec<Step>) {
        let play = self.as_play(came);
        match &state.kind {
            Kind::End { .. } => {}
            Kind::Choose | Kind::Settle { .. } => {
                if !play.facts.is_empty() || play.changed.is_some() {
                    steps.push(self.step(state, Play { signal: None, wrote: None, ..play }));
                }
            }
            Kind::Each(each) => self.play_loop(state, each, step, came, play, steps),
            Kind::Do { actions, .. } => {
                // All actions but the last go well.
                for _ in 1..actions.len() {
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
        step: Move,
        came: &Came,
        play: Play,
        steps: &mut Vec<Step>,
    ) {
        let whole = signal::NO_ITEMS.contains(&&*came.signal);
        let edited = play.edited.clone();
        let play = Play { edited: None, ..play };
        let one_item =
            || Play { items: Some(vec!["1".into()]), changed: play.changed.clone(), ..Play::default() };
        match &each.run {
            _ if whole => steps.push(self.step(state, Play { wrote: None, ..play })),
            EachRun::Call(_) => {
                steps.push(self.step(state, one_item()));
                steps.push(self.step(state, play));
            }
            EachRun::Child(_) if signal::EACH_FAILURES.contains(&&*came.signal) => {
                // What was written or edited, an item came to before it failed; else the list itself cannot be had.
                if came.wrote.is_some_and(|it| it != 0) || edited.is_some() {
                    steps.push(self.step(state, one_item()));
                    steps.extend(edited.map(Step::Edit));
                    steps.push(self.step(state, play));
                } else {
                    steps.push(self.step(state, Play { wrote: None, ..play }));
                }
            }
            EachRun::Child(child) => {
                let wrote = came.wrote.filter(|it| *it != 0).map(|it| self.shelf.names(it));
                steps.push(self.step(state, Play { wrote, changed: None, ..one_item() }));
                steps.extend(edited.map(Step::Edit));
                if let Some(machine) = self.unfolded.workflow.children.get(&**child) {
                    // Beside an item that is done, one of this visit ends otherwise, and no worse.
                    let ends = machine.ends().map(|(it, _)| it);
                    let ends = ends.filter(|it| goes_before(state, machine, it, &came.signal));
                    let mut ends = std::iter::once(&came.signal).chain(ends);
                    let inside =
                        ends.find_map(|it| self.inside(step, state, it)).into_iter().flatten().cloned();
                    let wrote = came.wrote.map(|it| self.shelf.names(it));
                    steps.extend(inside.map(|it| writing_only(it, wrote.as_deref())));
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

/// A step of a child that writes no more than the child is taken to write in all.
fn writing_only(mut step: Step, documents: Option<&[Name]>) -> Step {
    if let (Step::State { play, .. }, Some(documents)) = (&mut step, documents)
        && let Some(wrote) = &mut play.wrote
    {
        wrote.retain(|it| documents.contains(it));
    }
    step
}

/// A visit of a loop that an item which is done decides: where it stands, where the item was run, the loop and the end,
/// and whether no other item is run.
struct Again {
    at: usize,
    first: Option<usize>,
    key: (Name, Name),
    alone: bool,
}

/// An item that ended like this before the run was imported.
fn before_the_start(end: &str) -> String {
    format!("{end}-before")
}

/// The items a step says a loop finds.
fn items_of(step: &Step) -> Option<&Vec<String>> {
    match step {
        Step::State { play, .. } => play.items.as_ref(),
        _ => None,
    }
}

/// Every time a loop is entered it has another item: one that ended well is not done again. Steps that are not `new` have
/// theirs.
pub(super) fn number_items(steps: &mut [Step], new: impl Fn(usize) -> bool) {
    let mut entered: IndexMap<(Option<Name>, Name), u32> = IndexMap::new();
    for (at, step) in steps.iter_mut().enumerate() {
        if let Step::State { child, state, play } = step
            && let Some(items) = play.items.as_mut().filter(|it| !it.is_empty())
        {
            let number = entered.entry((child.clone(), state.clone())).or_insert(0);
            *number += 1;
            if new(at) {
                *items = vec![number.to_string()];
            }
        }
    }
}
