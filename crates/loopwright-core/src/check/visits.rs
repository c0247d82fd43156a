//! Which items the loops of a path find: new ones, or such as an earlier visit or an import left done.

use std::ops::Range;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::trace::{Tracer, forcing};
use super::unfold::goes_before;
use crate::definition::{Each, EachRun, Kind, State};
use crate::name::Name;
use crate::proof::graph::{Move, Path};
use crate::rehearse::Step;
use crate::signal;

/// One move of a path, as a visit of a loop.
#[derive(Default)]
pub(super) struct Visit {
    /// An item that is done decides it, with its end.
    again: Option<(Item, Name)>,
    /// No other item is run.
    pub(super) alone: bool,
    /// Only an item that is done could decide it, and no visit before can have left one.
    pub(super) lacks_item: bool,
    /// Ends of items that are run before the one it comes out by, because a later visit needs them done.
    pub(super) besides: Vec<Name>,
}

impl Visit {
    /// Whether an item that is done decides it, and no other is run.
    pub(super) fn runs_nothing(&self) -> bool {
        self.again.is_some() && self.alone
    }
}

/// Where an item was done.
#[derive(Clone, Copy)]
enum Item {
    /// Before the run was imported.
    Before,
    /// It decided the visit of this number.
    Decided(usize),
    /// It was run besides in the visit of this number.
    Besides(usize),
}

impl Item {
    fn is_since(self, visit: usize) -> bool {
        match self {
            Self::Before => visit == 0,
            Self::Decided(at) | Self::Besides(at) => at >= visit,
        }
    }
}

impl Tracer<'_, '_> {
    /// What is found in each move of a path. A loop has another item every time it is entered, unless one that is done is
    /// what counts.
    pub(super) fn visits(&self, moves: &[Move], imported: bool) -> Vec<Visit> {
        let mut visits: Vec<Visit> = moves.iter().map(|_| Visit::default()).collect();
        let mut found: FxHashMap<(Name, Name), Item> = FxHashMap::default();
        for (at, step) in moves.iter().enumerate() {
            let Some((state, came)) = self.state_and_came(*step) else { continue };
            let key = (state.name.clone(), came.signal.clone());
            let alone = came.edited == 0 && came.wrote.is_none_or(|it| it == 0);
            // An item of this visit shows it as well, if it can end like that.
            let counts = alone || self.inside(*step, state, &came.signal).is_none();
            let values = self.unfolded.values(step.node);
            let done = counts && values.is_some_and(|it| self.unfolded.done_before(state, it, &came.signal));
            // Where everything is run anew, only a try of the same visit leaves something done.
            let anew = self.unfolded.runs_anew(&state.name);
            let since = if anew { self.visit_begins(moves, at) } else { 0 };
            let brought = (imported && !anew).then_some(Item::Before);
            let known = || found.get(&key).copied().filter(|it| it.is_since(since)).or(brought);
            let item = known().or_else(|| self.run_besides((moves, &visits), since..at, state, &came.signal));
            let Some(item) = item.filter(|_| done) else {
                visits[at].lacks_item = done && self.inside(*step, state, &came.signal).is_none();
                found.insert(key, Item::Decided(at));
                continue;
            };
            if let Item::Besides(earlier) = item
                && !visits[earlier].besides.contains(&came.signal)
            {
                visits[earlier].besides.push(came.signal.clone());
                found.insert(key, item);
            }
            visits[at] = Visit { again: Some((item, came.signal.clone())), alone, ..Visit::default() };
        }
        for (visit, step) in visits.iter_mut().zip(moves).filter(|(it, _)| !it.runs_nothing()) {
            visit.besides.extend(self.forced_besides(*step));
        }
        visits
    }

    /// Whether a path needs an item done that no visit before can have left.
    pub(super) fn lacks_item(&self, path: &Path) -> bool {
        let imported = self.unfolded.begins.get(path.root).is_some_and(|it| it.phase.is_some());
        let lacks_item = self.visits(&path.moves, imported).iter().any(|it| it.lacks_item);
        self.unfolded.lacks_item.set(self.unfolded.lacks_item.get() || lacks_item);
        lacks_item
    }

    /// The first move of a visit that may have been tried more than once.
    fn visit_begins(&self, moves: &[Move], at: usize) -> usize {
        let is_again =
            |it: &Move| self.unfolded.is_again(it.node as usize, it.cell as usize, it.step as usize);
        moves[..at].iter().rposition(|it| !is_again(it)).map_or(0, |it| it + 1)
    }

    /// Where a gate was passed over in an item, and not in one that decides: in which.
    fn forced_besides(&self, step: Move) -> Option<Name> {
        let (state, came) = self.state_and_came(step).filter(|(_, came)| came.forced)?;
        let Kind::Each(Each { run: EachRun::Child(child), .. }) = &state.kind else { return None };
        let machine = self.unfolded.workflow.children.get(&**child)?;
        let mut before =
            machine.ends().map(|(it, _)| it).filter(|it| goes_before(state, machine, it, &came.signal));
        let decides = self.inside(step, state, &forcing(&came.signal)).is_some();
        before
            .find_map(|it| Some(forcing(it)).filter(|it| !decides && self.inside(step, state, it).is_some()))
    }

    /// A visit before in which an item may have come to an end, and the loop came out otherwise by another.
    fn run_besides(
        &self,
        (moves, visits): (&[Move], &[Visit]),
        within: Range<usize>,
        state: &State,
        end: &Name,
    ) -> Option<Item> {
        let Kind::Each(Each { run: EachRun::Child(child), .. }) = &state.kind else { return None };
        let machine = self.unfolded.workflow.children.get(&**child)?;
        let may_have = |(step, visit): (&Move, &Visit)| {
            self.state_and_came(*step).is_some_and(|(other, came)| {
                let ran = came.signal != signal::STALE && !signal::NO_ITEMS.contains(&&*came.signal);
                other.name == state.name
                    && ran
                    && !visit.runs_nothing()
                    && goes_before(state, machine, end, &came.signal)
                    && self.inside(*step, state, end).is_some()
            })
        };
        within.rev().find(|at| may_have((&moves[*at], &visits[*at]))).map(Item::Besides)
    }
}

/// Writes down which items the loops of a path find. `begun` says where the steps of each visit begin. What an import has
/// to bring along is returned: loops, and the ends of their items.
pub(super) fn name_items(visits: &[Visit], begun: &[usize], steps: &mut [Step]) -> Vec<(Name, Name)> {
    let own = |steps: &[Step], visit: usize| items_of(&steps[begun[visit]]).and_then(|it| it.last().cloned());
    let besides = |own: &str, end: &Name| format!("{own}-{end}").replace(' ', "-");
    for (at, visit) in visits.iter().enumerate().filter(|(_, it)| !it.besides.is_empty()) {
        let id = own(steps, at).unwrap_or_default();
        let others = visit.besides.iter().map(|end| besides(&id, end));
        give(&mut steps[begun[at]], others.chain([id.clone()]).collect());
    }
    let mut brought: Vec<(Name, Name)> = Vec::new();
    for (at, visit) in visits.iter().enumerate() {
        let Some((item, end)) = &visit.again else { continue };
        let id = match item {
            Item::Before => None,
            Item::Decided(earlier) => own(steps, *earlier),
            Item::Besides(earlier) => own(steps, *earlier).map(|it| besides(&it, end)),
        };
        if let (Item::Before, Step::State { state, .. }) = (item, &steps[begun[at]]) {
            let key = (state.clone(), end.clone());
            if !brought.contains(&key) {
                brought.push(key);
            }
        }
        let id = id.unwrap_or_else(|| before_the_start(end));
        let others = items_of(&steps[begun[at]]).filter(|_| !visit.alone).cloned().unwrap_or_default();
        give(&mut steps[begun[at]], std::iter::once(id).chain(others).collect());
    }
    brought
}

/// An item that ended like this before the run was imported.
pub(super) fn before_the_start(end: &str) -> String {
    format!("{end}-before")
}

/// The items a step says a loop finds.
fn items_of(step: &Step) -> Option<&Vec<String>> {
    match step {
        Step::State { play, .. } => play.items.as_ref(),
        _ => None,
    }
}

fn give(step: &mut Step, items: Vec<String>) {
    if let Step::State { play, .. } = step {
        play.items = Some(items);
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
