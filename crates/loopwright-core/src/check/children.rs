//! Children: each is unfolded once for every setting a parent runs it with, and what it can come to decides what the
//! parent can see.

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::monitors::{Seen, Watch, What};
use super::slots::term_values;
use super::terms::outer_terms;
use super::trace::{ChildSteps, Tracer};
use super::unfold::{Ends, Forced, Memory, Reached, Setting, Unfolded};
use super::watched::watches;
use super::writes::{Documents, Shelf, each};
use crate::definition::{Claim, EachRun, Happened, Kind, Machine, Term, Workflow};
use crate::name::Name;
use crate::proof::{Certainty, Limits, Prover, Verdict};
use crate::signal;

/// A child as one parent's state runs it.
pub(super) struct Instance<'w> {
    /// The loop.
    pub(super) state: Name,
    /// What it runs the child with.
    pub(super) setting: Setting,
    pub(super) unfolded: Unfolded<'w>,
    /// What the parent's properties say happens in it, and before which ends it surely does.
    surely: Vec<(Happened, Name)>,
}

impl<'w> Instance<'w> {
    /// Writes runs of the child alone down.
    pub(super) fn tracer<'a>(&'a self, shelf: &'a Shelf, children: &'a ChildSteps) -> Tracer<'a, 'w> {
        Tracer { unfolded: &self.unfolded, shelf, children, prefix: None }
    }
}

/// A workflow unfolded: its own machine, and every child as it is run.
pub(super) struct Family<'w> {
    pub(super) main: Unfolded<'w>,
    pub(super) instances: Vec<Instance<'w>>,
    /// The watches of the main machine, in the order of its graph's monitors.
    pub(super) watches: Vec<Watch>,
    /// The watches of each child.
    pub(super) child_watches: FxHashMap<Name, Vec<Watch>>,
}

impl Family<'_> {
    /// The watches of a child, in the order of its graph's monitors.
    pub(super) fn watches_of(&self, instance: &Instance<'_>) -> &[Watch] {
        let name = instance.unfolded.machine.name.as_ref();
        name.and_then(|it| self.child_watches.get(it)).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Unfolds a workflow: first the children, for everything a parent may run them with, then the parent, knowing what they
/// can come to. Where there is too much it may run them with, the parent is unfolded before as well, to learn what it does.
pub(super) fn unfold<'w>(workflow: &'w Workflow, shelf: &'w Shelf, memory: Memory) -> Family<'w> {
    if workflow.children.is_empty() {
        let watches = main_watches(workflow, &[]);
        let main = Unfolded::new(workflow, shelf, &workflow.main, &[], &Ends::default(), &watches, memory);
        return Family { main, instances: Vec::new(), watches, child_watches: FxHashMap::default() };
    }
    let settings = possible_settings(workflow).unwrap_or_else(|| {
        let first = Unfolded::new(workflow, shelf, &workflow.main, &[], &Ends::default(), &[], memory);
        settings(&first)
    });
    let mut instances = Vec::new();
    let mut ends = Ends::default();
    let mut child_watches: FxHashMap<Name, Vec<Watch>> = FxHashMap::default();
    for (state, child, setting) in settings {
        let mut all = watches(workflow, child);
        all.extend(inside(workflow, child));
        all.extend(unforced(workflow, child));
        all.extend(written(workflow, shelf, child));
        let unfolded = Unfolded::new(
            workflow,
            shelf,
            child,
            std::slice::from_ref(&setting),
            &Ends::default(),
            &all,
            memory,
        );
        let (reached, surely) = comes_to(&unfolded, &all);
        child_watches.insert(child.name.clone().unwrap_or_default(), all);
        ends.insert((state.clone(), setting.clone()), reached);
        instances.push(Instance { state, setting, unfolded, surely });
    }
    let watches = main_watches(workflow, &instances);
    let main = Unfolded::new(workflow, shelf, &workflow.main, &[], &ends, &watches, memory);
    let used = self::settings(&main);
    instances
        .retain(|it| used.iter().any(|(state, _, setting)| *state == it.state && *setting == it.setting));
    Family { main, instances, watches, child_watches }
}

/// Everything the parent could run children with, whether it comes to that or not; `None` when it is much.
fn possible_settings(workflow: &Workflow) -> Option<Vec<(Name, &Machine, Setting)>> {
    const MUCH: usize = 32;
    let mut found: Vec<(Name, &Machine, Setting)> = Vec::new();
    for state in workflow.main.states.values() {
        let Kind::Each(each) = &state.kind else { continue };
        let EachRun::Child(child) = &each.run else { continue };
        let Some(machine) = workflow.children.get(&**child) else { continue };
        let with: Vec<(Name, Name)> = each.with.iter().map(|(a, b)| (a.clone(), b.clone())).collect();
        let mut outer: Vec<Vec<(Term, Name)>> = vec![Vec::new()];
        for term in outer_terms(workflow, machine) {
            let values = term_values(workflow, &workflow.main, &term)?;
            let longer = |it: &Vec<(Term, Name)>| {
                let values =
                    values.iter().map(|value| [it.clone(), vec![(term.clone(), value.clone())]].concat());
                values.collect::<Vec<_>>()
            };
            outer = outer.iter().flat_map(longer).collect();
            if outer.len() > MUCH {
                return None;
            }
        }
        let settings = outer.into_iter().map(|outer| Setting { with: with.clone(), outer });
        found.extend(settings.map(|it| (state.name.clone(), machine, it)));
    }
    Some(found)
}

/// Everything the parent runs children with.
fn settings<'w>(parent: &Unfolded<'w>) -> Vec<(Name, &'w Machine, Setting)> {
    let mut found: Vec<(Name, &Machine, Setting)> = Vec::new();
    for (node, spot) in parent.nodes.iter().enumerate() {
        let values = &spot.values;
        let Some(state) = parent.state(u32::try_from(node).unwrap_or(u32::MAX)) else { continue };
        let Kind::Each(each) = &state.kind else { continue };
        let EachRun::Child(child) = &each.run else { continue };
        let Some(machine) = parent.workflow.children.get(&**child) else { continue };
        let setting = parent.setting(values, machine, &each.with);
        if !found.iter().any(|(name, _, it)| *name == state.name && *it == setting) {
            found.push((state.name.clone(), machine, setting));
        }
    }
    found
}

/// What a child comes to: its ends, whether only by what a person decides; and what surely happens before them.
fn comes_to(unfolded: &Unfolded<'_>, watches: &[Watch]) -> (IndexMap<Name, Reached>, Vec<(Happened, Name)>) {
    let prover = Prover::new(&unfolded.graph, Limits::default());
    let waits = |node: usize, cell: usize| unfolded.graph.nodes[node].cells[cell].waits;
    let alone = Prover::without(&unfolded.graph, Limits::default(), &waits);
    let unattended = ends_of(unfolded, &alone);
    let ends = ends_of(unfolded, &prover);
    let holds = |at: usize| *prover.monitor(at) == Verdict::Holds;
    let always = |end: &Name, what: Seen| {
        watches.iter().enumerate().any(|(at, it)| {
            let asked = matches!(&it.what, What::OnTheWay { seen, end: of } if of == end && *seen == what);
            asked && holds(at)
        })
    };
    let surely = watches.iter().enumerate().filter_map(|(at, it)| match &it.what {
        What::Inside { happened, end } if holds(at) => Some((happened.clone(), end.clone())),
        _ => None,
    });
    let surely = surely.collect();
    let forces = unfolded.machine.arms().any(|it| !it.forced.is_empty());
    let reached = |end: Name| {
        let by_person = !unattended.contains(&end);
        let edited = if by_person { edited_before(unfolded, &end) } else { 0 };
        let forced = match forces {
            true if always(&end, Seen::SomethingForced) => Forced::Always,
            true if !always(&end, Seen::NothingForced) => Forced::Maybe,
            _ => Forced::Never,
        };
        let reached = Reached { by_person, edited, forced };
        (end, reached)
    };
    (ends.into_iter().map(reached).collect(), surely)
}

/// What somebody edits on every way to an end of a child.
fn edited_before(unfolded: &Unfolded<'_>, end: &Name) -> Documents {
    let edited = |node: usize, cell: usize| {
        let came = unfolded.outcomes.get(node).and_then(|it| it.get(cell));
        let before = came.filter(|it| it.signal == signal::STALE).and_then(|it| it.wrote);
        unfolded.shelf.touched(came.map_or(0, |it| it.edited) | before.unwrap_or(0))
    };
    let needs = |documents: Documents| {
        let without = |node: usize, cell: usize| edited(node, cell) & documents != 0;
        !ends_of(unfolded, &Prover::without(&unfolded.graph, Limits::default(), &without)).contains(end)
    };
    if !needs(Documents::MAX) {
        return 0;
    }
    let cells = unfolded.outcomes.iter().enumerate();
    let all = cells.flat_map(|(node, cells)| (0..cells.len()).map(move |cell| (node, cell)));
    let all = all.fold(0, |set, (node, cell)| set | edited(node, cell));
    each(all).filter(|it| needs(*it)).fold(0, |set, it| set | it)
}

fn ends_of(unfolded: &Unfolded<'_>, prover: &Prover<'_>) -> Vec<Name> {
    let reach = prover.reach(usize::MAX);
    let is_reached = |node: &u32| reach.nodes.get(*node as usize).is_some_and(|it| *it != Certainty::No);
    let ends = end_nodes(unfolded).into_iter();
    ends.filter(|(_, nodes)| nodes.iter().any(is_reached)).map(|(name, _)| name).collect()
}

/// The ends of a machine, each with its nodes.
pub(super) fn end_nodes(unfolded: &Unfolded<'_>) -> IndexMap<Name, Vec<u32>> {
    let mut found: IndexMap<Name, Vec<u32>> = IndexMap::new();
    for (at, _) in unfolded.graph.nodes.iter().enumerate().filter(|(_, it)| it.end) {
        let node = u32::try_from(at).unwrap_or(u32::MAX);
        if let Some(state) = unfolded.state(node) {
            found.entry(state.name.clone()).or_default().push(node);
        }
    }
    found
}

/// In a child: what the parent's properties say happened there, for each of its ends.
fn inside(workflow: &Workflow, child: &Machine) -> Vec<Watch> {
    let mut found = Vec::new();
    for happened in properties_of(workflow) {
        let Happened::Signal { child: Some(named), .. } = &happened else { continue };
        if child.name.as_ref() != Some(named) {
            continue;
        }
        for (end, _) in child.ends() {
            found.push(Watch {
                name: format!("{named} before {end}"),
                what: What::Inside { happened: happened.clone(), end: end.clone() },
            });
        }
    }
    found
}

/// In a child: whether a gate is passed over before each of its ends, where the parent routes on whether the loop's own
/// gate was.
fn unforced(workflow: &Workflow, child: &Machine) -> Vec<Watch> {
    let main = &workflow.main;
    let routed = |gate: &Name| {
        let mut terms = main.arms().flat_map(|it| &it.when).map(|it| &it.term);
        terms.any(|it| matches!(it, Term::Gate(name) if name == gate))
    };
    let runs = |kind: &Kind| matches!(kind, Kind::Each(each) if matches!(&each.run, EachRun::Child(it) if Some(it) == child.name.as_ref()));
    let mut loops = main.states.values().filter(|it| runs(&it.kind));
    let told = loops.any(|it| it.gate.as_ref().is_some_and(|it| routed(&it.name)));
    if !told || child.arms().all(|it| it.forced.is_empty()) {
        return Vec::new();
    }
    let all = [Seen::NothingForced, Seen::SomethingForced];
    child.ends().flat_map(|(end, _)| all.map(|it| on_the_way(it, end))).collect()
}

fn on_the_way(seen: Seen, end: &Name) -> Watch {
    Watch { name: format!("{seen:?} before {end}"), what: What::OnTheWay { seen, end: end.clone() } }
}

/// In a child: whether documents are written before each of its ends which a gate of its own judges, and one of its
/// parent's. A shortest way to an end is one on which the child's own need not be passed again.
fn written(workflow: &Workflow, shelf: &Shelf, child: &Machine) -> Vec<Watch> {
    let judged = |machine: &Machine| {
        let gates = machine.states.values().filter_map(|it| it.gate.as_ref());
        gates.fold(0, |set, it| set | shelf.set(workflow, it.judges.values().flatten()))
    };
    let both = shelf.touched(judged(child)) & shelf.touched(judged(&workflow.main));
    let may = both & super::writes::of_machine(workflow, shelf, child, &|_| None);
    each(may).flat_map(|it| child.ends().map(move |(end, _)| on_the_way(Seen::NotWritten(it), end))).collect()
}

fn properties_of(workflow: &Workflow) -> Vec<Happened> {
    workflow
        .properties
        .iter()
        .flat_map(|it| match &it.claim {
            Claim::Never { before, .. } => before.clone(),
            Claim::Always { comes, .. } => vec![comes.clone()],
            Claim::AtMost { .. } => Vec::new(),
        })
        .collect()
}

/// The parent's watches: its own, and the author's properties.
fn main_watches(workflow: &Workflow, instances: &[Instance<'_>]) -> Vec<Watch> {
    let mut found = watches(workflow, &workflow.main);
    for (property, declared) in workflow.properties.iter().enumerate() {
        match &declared.claim {
            Claim::Never { reach, before, when } => {
                for happened in before {
                    found.push(Watch {
                        name: format!("property {property}"),
                        what: What::Before {
                            property,
                            reach: reach.clone(),
                            happened: happened.clone(),
                            when: when.clone(),
                            inside: surely_inside(instances, happened),
                        },
                    });
                }
            }
            Claim::Always { after, comes } => found.push(Watch {
                name: format!("property {property}"),
                what: What::After {
                    property,
                    after: after.clone(),
                    comes: comes.clone(),
                    inside: surely_inside(instances, comes),
                },
            }),
            Claim::AtMost { .. } => {}
        }
    }
    found
}

/// Where something surely happens in a child, by loop, setting and end.
fn surely_inside(instances: &[Instance<'_>], wanted: &Happened) -> Vec<(Name, Setting, Vec<Name>)> {
    let Happened::Signal { child: Some(child), .. } = wanted else { return Vec::new() };
    let mut found = Vec::new();
    for instance in instances.iter().filter(|it| it.unfolded.machine.name.as_ref() == Some(child)) {
        let surely = instance.surely.iter().filter(|(happened, _)| happened == wanted);
        let ends = surely.map(|(_, end)| end.clone()).collect();
        found.push((instance.state.clone(), instance.setting.clone(), ends));
    }
    found
}
