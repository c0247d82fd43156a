//! Runs of children, for paths of their parents: how one comes to each of its ends, and how its parent comes to run it.

use std::cell::LazyCell;

use rustc_hash::FxHashMap;

use super::children::{Instance, end_nodes};
use super::monitors::{Seen, Watch, What};
use super::trace::{ChildSteps, Tracer, forcing, writing};
use crate::definition::{Happened, Kind};
use crate::name::Name;
use crate::proof::graph::Path;
use crate::proof::{Found, Limits, Prover, Verdict};
use crate::rehearse::{Expect, Play, Scenario, Step};

/// For every end of a child: the steps of a shortest run to it; and of others in which a gate is passed over or something
/// is written, where the parent can tell.
pub(super) fn steps_to_ends(
    instance: &Instance<'_>,
    watches: &[Watch],
    prover: &Prover<'_>,
    tracer: &Tracer<'_, '_>,
) -> ChildSteps {
    let mut found = ChildSteps::default();
    let graph = &instance.unfolded.graph;
    let waits = |node: usize, cell: usize| graph.nodes[node].cells[cell].waits;
    let alone = LazyCell::new(|| Prover::without(graph, Limits::default(), &waits));
    // Where it can end like that without a person, the parent counts on it.
    let attended = |path: &Path| path.moves.iter().any(|it| waits(it.node as usize, it.cell as usize));
    let key = |way: Name| (instance.state.clone(), instance.setting.clone(), way);
    let mut by_itself: Vec<Name> = Vec::new();
    for (name, nodes) in end_nodes(&instance.unfolded) {
        let path_by = |prover: &Prover<'_>| {
            nodes.iter().find_map(|it| match prover.path_to_node(*it) {
                Found::Path(path) => Some(path),
                Found::Nowhere | Found::Unknown => None,
            })
        };
        let Some(path) = path_by(prover) else { continue };
        let path = attended(&path).then(|| path_by(&alone)).flatten().unwrap_or(path);
        found.insert(key(name.clone()), steps_of(instance, &path, tracer));
        if !attended(&path) {
            by_itself.push(name);
        }
    }
    // By the way: the run, and whether it is of use without a person only.
    let ways = |prover: &Prover<'_>| {
        let way = |it: &Watch| match &it.what {
            What::OnTheWay { seen: Seen::NothingForced, end } => Some((forcing(end), false)),
            What::OnTheWay { seen: Seen::NotWritten(documents), end } => {
                Some((writing(end, *documents), by_itself.contains(end)))
            }
            _ => None,
        };
        let told = watches.iter().enumerate().filter_map(|(at, it)| Some((at, way(it)?)));
        let told = told.filter_map(|(at, (way, alone))| match prover.monitor(at) {
            Verdict::Broken(path) => Some((way, (path.clone(), alone))),
            _ => None,
        });
        told.collect::<FxHashMap<Name, (Path, bool)>>()
    };
    if watches.iter().any(|it| matches!(it.what, What::OnTheWay { .. })) {
        let mut all = ways(prover);
        if all.values().any(|(path, _)| attended(path)) {
            all.extend(ways(&alone));
        }
        // What only a person's way writes is not what the parent counts on, where there is a way without.
        all.retain(|_, (path, alone)| !*alone || !attended(path));
        found.extend(all.into_iter().map(|(way, (path, _))| (key(way), steps_of(instance, &path, tracer))));
    }
    found
}

/// What the parent's properties say happens in a child, with runs of it to each end in which it does not.
pub(super) fn steps_without(
    instance: &Instance<'_>,
    watches: &[Watch],
    prover: &Prover<'_>,
    tracer: &Tracer<'_, '_>,
) -> Vec<(Happened, ChildSteps)> {
    let mut found: Vec<(Happened, ChildSteps)> = Vec::new();
    for (at, watch) in watches.iter().enumerate() {
        let What::Inside { happened, end } = &watch.what else { continue };
        let Verdict::Broken(path) = prover.monitor(at) else { continue };
        let key = (instance.state.clone(), instance.setting.clone(), end.clone());
        let steps = ChildSteps::from_iter([(key, steps_of(instance, path, tracer))]);
        match found.iter_mut().find(|(it, _)| it == happened) {
            Some((_, known)) => known.extend(steps),
            None => found.push((happened.clone(), steps)),
        }
    }
    found
}

/// What happens in a child on a path.
fn steps_of(instance: &Instance<'_>, path: &Path, tracer: &Tracer<'_, '_>) -> Vec<Step> {
    let begin = instance.unfolded.begins.get(path.root).map(|it| it.facts.clone()).unwrap_or_default();
    let mut steps: Vec<Step> = (!begin.is_empty()).then_some(Step::Facts(begin)).into_iter().collect();
    tracer.moves(&path.moves, &mut steps, false);
    steps
}

/// How a parent comes to run a child.
pub(super) enum Prefix {
    /// A shortest run to the loop, and one item.
    Shown(Box<Scenario>),
    /// It never does: what leads there can never be paid.
    Never,
    /// The space is too large to tell.
    Unknown,
}

/// How the parent comes to run a child.
pub(super) fn prefix(parent: &Tracer<'_, '_>, prover: &Prover<'_>, instance: &Instance<'_>) -> Prefix {
    let unfolded = parent.unfolded;
    let mut prefix = Prefix::Never;
    for id in (0..unfolded.nodes.len()).map(|it| u32::try_from(it).unwrap_or(u32::MAX)) {
        let Some(state) = unfolded.state(id).filter(|it| it.name == instance.state) else { continue };
        let (Kind::Each(each), Some(values)) = (&state.kind, unfolded.values(id)) else { continue };
        if unfolded.setting(values, instance.unfolded.machine, &each.with) != instance.setting {
            continue;
        }
        match prover.path_to_node(id) {
            Found::Nowhere => {}
            Found::Unknown => prefix = Prefix::Unknown,
            Found::Path(path) => {
                let mut scenario = parent.scenario("", &path, Expect::default());
                if path.moves.is_empty() && parent.paused(&path) {
                    scenario.steps.push(Step::Verb("resume".into()));
                }
                let play = Play { items: Some(vec!["1".into()]), ..Play::default() };
                let play = Box::new(play);
                scenario.steps.push(Step::State { child: None, state: state.name.clone(), play });
                let last = scenario.steps.len() - 1;
                super::visits::number_items(&mut scenario.steps, |at| at == last);
                return Prefix::Shown(Box::new(scenario));
            }
        }
    }
    prefix
}
