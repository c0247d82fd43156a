//! A shortest run to every transition: what `rehearse --exhaustive` plays.

use std::cell::OnceCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::child_steps::Prefix;
use super::monitors::{Watch, What};
use super::trace::{ChildSteps, Tracer};
use super::unfold::{Memory, Unfolded};
use super::writes::Shelf;
use crate::definition::{Term, Workflow};
use crate::name::Name;
use crate::proof::graph::{Move, Path};
use crate::proof::{Found, Limits, Prover, Verdict};
use crate::rehearse::{Coverage, Expect, Scenario, Shares, perform_within};
use crate::signal;

/// Runs beyond this are left out.
const MOST: usize = 100_000;

/// A shortest run to every transition of every position.
#[derive(Clone, Debug, Default)]
pub struct Transitions {
    /// The runs.
    pub scenarios: Vec<Scenario>,
    /// Transitions of which it is not known whether a run takes them: state, signal, target.
    pub unknown: Vec<String>,
    /// The same, because a gate stops the run that was found: one that is reported as unsettled, or one that nobody
    /// routes on and that somebody's edit has spoilt.
    pub stopped: Vec<String>,
    /// The same, because the machine does not play the run that was found.
    pub unplayed: Vec<String>,
    /// Whether there are more than these, because there are too many.
    pub cut: bool,
}

/// A shortest run to every transition of every position. Each is played, and `coverage` says what that took.
pub fn transitions(workflow: &Workflow, failures: bool, coverage: &mut Coverage) -> Transitions {
    let (all, exactly) = list(workflow, failures, Memory::Together, coverage);
    if exactly { list(workflow, failures, Memory::Exactly, coverage).0 } else { all }
}

/// The transitions, and whether more would be known if items were remembered exactly.
fn list(workflow: &Workflow, failures: bool, memory: Memory, coverage: &mut Coverage) -> (Transitions, bool) {
    let shelf = Shelf::of(workflow);
    let family = super::children::unfold(workflow, &shelf, memory);
    let mut child_steps = ChildSteps::default();
    let mut open: FxHashSet<Name> = FxHashSet::default();
    for instance in &family.instances {
        let prover = Prover::new(&instance.unfolded.graph, Limits::default());
        let (watches, nothing) = (family.watches_of(instance), ChildSteps::default());
        let tracer = instance.tracer(&shelf, &nothing);
        child_steps.extend(super::child_steps::steps_to_ends(instance, watches, &prover, &tracer));
        open.extend(open_gates(watches, &prover));
    }
    let mut all = Transitions { cut: family.main.cut, ..Transitions::default() };
    let main_prover = Prover::new(&family.main.graph, Limits::default());
    let main = Tracer { unfolded: &family.main, shelf: &shelf, children: &child_steps, prefix: None };
    open.extend(open_gates(&family.watches, &main_prover));
    let mut trial = Trial { workflow, main: &family.main, open, shares: Shares::new(), coverage };
    // Children are small; a large parent must not leave them out.
    for instance in &family.instances {
        let prefix = match super::child_steps::prefix(&main, &main_prover, instance) {
            Prefix::Never => continue,
            Prefix::Unknown => None,
            Prefix::Shown(prefix) => Some(*prefix),
        };
        let prover = Prover::new(&instance.unfolded.graph, Limits::default());
        let tracer = Tracer {
            unfolded: &instance.unfolded,
            shelf: &shelf,
            children: &ChildSteps::default(),
            prefix: prefix.as_ref(),
        };
        all.cut |= instance.unfolded.cut;
        let before = all.scenarios.len();
        collect(&tracer, &prover, failures, &mut trial, &mut all);
        if prefix.is_none() {
            // Nobody knows of a run to the loop.
            let unknown = all.scenarios.split_off(before).into_iter().map(|it| it.name);
            all.unknown.extend(unknown);
        }
    }
    collect(&main, &main_prover, failures, &mut trial, &mut all);
    let all_play = all.unplayed.is_empty();
    (all, family.main.needs_items_exactly(all_play))
}

fn collect(
    tracer: &Tracer<'_, '_>,
    prover: &Prover<'_>,
    failures: bool,
    trial: &mut Trial<'_>,
    all: &mut Transitions,
) {
    let unfolded: &Unfolded<'_> = tracer.unfolded;
    let name = |node: u32| unfolded.state(node).map(|it| unfolded.machine.qualified(&it.name));
    let calm = OnceCell::new();
    for (last, found) in prover.firsts() {
        let node = last.node as usize;
        let cell = last.cell as usize;
        let Some(came) = unfolded.outcomes.get(node).and_then(|it| it.get(cell)) else { continue };
        // That a person decides in a child is no transition of its own.
        if came.decides || signal::is_failure(&came.signal) && !failures {
            continue;
        }
        let to = unfolded.graph.nodes[node].cells[cell].steps.get(last.step as usize);
        let reaches = to.and_then(|it| name(it.to));
        let title = format!(
            "{} {} -> {}",
            name(last.node).unwrap_or_default(),
            came.signal,
            reaches.as_deref().unwrap_or_default()
        );
        match found {
            Found::Nowhere => {}
            Found::Path(_) if all.scenarios.len() >= MOST => all.cut = true,
            Found::Path(path) if tracer.lacks_item(&path) => all.unknown.push(title),
            Found::Path(path) => {
                let expect = Expect { reaches, ..Expect::default() };
                let scenario = tracer.scenario(&title, &path, expect.clone());
                let first = trial.plays(unfolded, &scenario, path.moves.len());
                if first == Plays::AsFound {
                    all.scenarios.push(scenario);
                    continue;
                }
                let calm: &FxHashMap<Move, Path> = calm.get_or_init(|| without_spoiling_edits(unfolded));
                let other = calm.get(&last).map(|it| (tracer.scenario(&title, it, expect), it.moves.len()));
                match other.filter(|(it, moves)| trial.plays(unfolded, it, *moves) == Plays::AsFound) {
                    Some((other, _)) => all.scenarios.push(other),
                    None if first == Plays::Stopped => all.stopped.push(title),
                    None => all.unplayed.push(title),
                }
            }
            Found::Unknown => all.unknown.push(title),
        }
    }
}

/// How a run goes that was found on the graph.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Plays {
    AsFound,
    /// A gate stops it which the graph does not follow: past one that `check` reports as unsettled the machine does not go
    /// on as the graph does; and one that nobody routes on is spoilt by an edit without the graph's noticing, because that
    /// would double what it walks.
    Stopped,
    Otherwise,
}

/// Plays runs that were found.
struct Trial<'w> {
    workflow: &'w Workflow,
    main: &'w Unfolded<'w>,
    /// Gates that were not shown to be settled wherever they are needed.
    open: FxHashSet<Name>,
    shares: Shares,
    coverage: &'w mut Coverage,
}

impl Trial<'_> {
    /// How a run of so many moves goes.
    fn plays(&mut self, unfolded: &Unfolded<'_>, scenario: &Scenario, moves: usize) -> Plays {
        // A run that is stopped may go on for ever without its script.
        let most = u32::try_from(moves + scenario.steps.len()).unwrap_or(u32::MAX);
        let most = most.saturating_mul(10).saturating_add(100);
        let verdict = perform_within(self.workflow, scenario, self.coverage, &mut self.shares, most);
        let Ok(verdict) = verdict else { return Plays::Otherwise };
        if verdict.complaints.is_empty() {
            return Plays::AsFound;
        }
        let followed = |gate: &Name| {
            let term = Term::Gate(gate.clone());
            let of =
                |it: &Unfolded<'_>| !it.machine.gates.contains_key(gate) || it.slots.term(&term).is_some();
            of(unfolded) && of(self.main)
        };
        let mut gates = verdict.played.unsettled.iter().flat_map(|(_, gates)| gates);
        let stopped = gates.any(|it| self.open.contains(it) || !followed(it));
        if stopped { Plays::Stopped } else { Plays::Otherwise }
    }
}

/// Gates of a machine that were not shown to be settled wherever they are needed.
fn open_gates(watches: &[Watch], prover: &Prover<'_>) -> Vec<Name> {
    let gates = watches.iter().enumerate().filter_map(|(at, watch)| match &watch.what {
        What::Gate(gate) => Some((at, gate)),
        _ => None,
    });
    let open = gates.filter(|(at, _)| *prover.monitor(*at) != Verdict::Holds);
    open.map(|(_, gate)| gate.clone()).collect()
}

/// A shortest run to every transition in which nobody edits what a gate judges that the graph does not follow.
fn without_spoiling_edits(unfolded: &Unfolded<'_>) -> FxHashMap<Move, Path> {
    let gates = unfolded.machine.gates.keys();
    let unseen: Vec<&Name> =
        gates.filter(|it| unfolded.slots.term(&Term::Gate((*it).clone())).is_none()).collect();
    let spoils = |node: usize, cell: usize| {
        let edited = unfolded.outcomes.get(node).and_then(|it| it.get(cell)).map_or(0, |it| it.edited);
        let values = u32::try_from(node).ok().and_then(|it| unfolded.values(it));
        let touched = unfolded.shelf.touched(edited);
        edited != 0
            && values.is_some_and(|values| unseen.iter().any(|it| unfolded.judged(it, values) & touched != 0))
    };
    let prover = Prover::without(&unfolded.graph, Limits::default(), &spoils);
    let paths = prover.firsts().into_iter().filter_map(|(last, found)| match found {
        Found::Path(path) => Some((last, path)),
        _ => None,
    });
    paths.collect()
}
