//! Verdicts on watches: gates that are not settled where they are needed, inputs that are not there, the author's
//! properties.

use indexmap::IndexMap;

use super::children::Family;
use super::monitors::{Watch, What};
use super::trace::{ChildSteps, Tracer};
use super::writes::Documents;
use crate::definition::{Claim, Happened, Kind, Machine, Outcome, Property, State, Term};
use crate::name::{Name, in_expression};
use crate::problem::Problem;
use crate::proof::graph::{NodeId, Path};
use crate::proof::{Certainty, Prover, Reach, Verdict};
use crate::rehearse::{Expect, Play, Step as ScenarioStep};
use crate::signal;

/// What the watches of a machine say.
pub(super) fn watches(
    tracer: &Tracer<'_, '_>,
    prover: &Prover<'_>,
    reach: &Reach,
    (family, without): (&Family<'_>, &dyn Fn() -> Vec<(Happened, ChildSteps)>),
    proved: &mut Vec<String>,
) -> Vec<Problem> {
    let unfolded = tracer.unfolded;
    let watches: &[Watch] = match &unfolded.machine.name {
        None => &family.watches,
        Some(child) => family.child_watches.get(child).map(Vec::as_slice).unwrap_or_default(),
    };
    let mut problems = Vec::new();
    let mut held: Vec<usize> = Vec::new();
    let mut failed: Vec<usize> = Vec::new();
    let mut missing: Vec<&String> = Vec::new();
    for (at, watch) in watches.iter().enumerate() {
        if matches!(watch.what, What::Inside { .. } | What::OnTheWay { .. }) {
            continue;
        }
        let monitor = u16::try_from(at).unwrap_or(u16::MAX);
        let asked = unfolded
            .graph
            .nodes
            .iter()
            .zip(&reach.nodes)
            .any(|(node, reached)| *reached != Certainty::No && node.requires.contains(monitor));
        let property = match &watch.what {
            What::Before { property, .. } | What::After { property, .. } => Some(*property),
            _ => None,
        };
        match prover.monitor(at) {
            Verdict::Holds => {
                let vacuous = property.and_then(|it| holds(tracer, watch, asked, reach, it));
                if vacuous.is_some() { &mut failed } else { &mut held }.extend(property);
                problems.extend(vacuous);
            }
            Verdict::Broken(path) => {
                failed.extend(property);
                // Of a group, the first member that need not be there says enough.
                if let What::Defined { given, .. } = &watch.what {
                    if missing.contains(&given) {
                        continue;
                    }
                    missing.push(given);
                }
                // What did not happen in a child must not happen in the run that shows it.
                let mut children = tracer.children.clone();
                if let What::Before { happened, .. } | What::After { comes: happened, .. } = &watch.what {
                    let runs = without().into_iter().filter(|(it, _)| it == happened);
                    children.extend(runs.flat_map(|(_, it)| it));
                }
                problems.extend(broken(&Tracer { children: &children, ..*tracer }, watch, path));
            }
            Verdict::Unknown => {
                failed.extend(property);
                problems.extend(unknown(tracer, watch));
            }
        }
    }
    // One with several parts holds when all of them do.
    for property in held.iter().filter(|it| !failed.contains(it)) {
        let declared = tracer.unfolded.workflow.properties.get(*property);
        let text = declared.map(|it| format!("{}{}", said(it), aside(tracer.unfolded.machine, it)));
        proved.extend(text.filter(|it| !proved.contains(it)));
    }
    problems
}

/// What a property over a gate does not speak of: whether a gate that passed is still settled after people edited what it
/// judged shows only where somebody looks.
fn aside(machine: &Machine, property: &Property) -> &'static str {
    let Claim::Never { reach, before, when } = &property.claim else { return "" };
    let Some(state) = machine.states.get(&**reach) else { return "" };
    // Rows of a table for other values than the property speaks of do not matter.
    let spoken_of = |name: &Name, value: &Name| {
        let named = |it: &Term| matches!(it, Term::Var(term) | Term::Fact(term) if term == name);
        when.iter().all(|it| !named(&it.term) || it.values.contains(value))
    };
    let looked_at = |gate: &Name| {
        let rows = state.needs.rows().into_iter();
        let mut rows =
            rows.filter(|(row, _)| row.as_ref().is_none_or(|(name, value)| spoken_of(name, value)));
        rows.all(|(_, it)| it.contains(gate))
    };
    let judges = |gate: &Name| {
        let judges = machine.gates.get(&**gate).into_iter().flatten();
        let mut gates = judges.filter_map(|it| machine.states.get(&**it)?.gate.as_ref());
        gates.any(|it| it.judges.values().any(|it| !it.is_empty()))
    };
    let unseen =
        |it: &Happened| matches!(it, Happened::Settled { gate, .. } if judges(gate) && !looked_at(gate));
    if before.iter().any(unseen) { ", but for what people edit in between" } else { "" }
}

fn holds(
    tracer: &Tracer<'_, '_>,
    watch: &Watch,
    asked: bool,
    reach: &Reach,
    property: usize,
) -> Option<Problem> {
    let declared = tracer.unfolded.workflow.properties.get(property)?;
    let vacuous = match &watch.what {
        What::After { after, .. } => !succeeds_after(tracer, reach, after),
        _ => !asked,
    };
    if vacuous {
        let problem = Problem::proof(
            "vacuous",
            declared.place.clone(),
            format!("{} says nothing: it speaks of what never happens", said(declared)),
        );
        return Some(problem.help("name a state that can be reached (and values it can be reached with)"));
    }
    None
}

/// Whether a run may come to a state and from there to a success, as far as routes alone tell.
fn succeeds_after(tracer: &Tracer<'_, '_>, reach: &Reach, after: &Name) -> bool {
    let unfolded = tracer.unfolded;
    let nodes = &unfolded.graph.nodes;
    let mut seen = vec![false; nodes.len()];
    let mut work: Vec<NodeId> = (0..nodes.len())
        .filter(|it| reach.nodes.get(*it) != Some(&Certainty::No))
        .map(|it| NodeId::try_from(it).unwrap_or(NodeId::MAX))
        .filter(|it| unfolded.state(*it).is_some_and(|it| it.name == *after))
        .collect();
    while let Some(node) = work.pop() {
        let succeeds = matches!(
            unfolded.state(node).map(|it| &it.kind),
            Some(Kind::End { outcome: Outcome::Success, .. })
        );
        if succeeds {
            return true;
        }
        if !std::mem::replace(&mut seen[node as usize], true) {
            let steps = nodes[node as usize].cells.iter().flat_map(|it| &it.steps);
            work.extend(steps.map(|it| it.to));
        }
    }
    false
}

fn broken(tracer: &Tracer<'_, '_>, watch: &Watch, path: &Path) -> Option<Problem> {
    let unfolded = tracer.unfolded;
    let state = unfolded.state(unfolded.graph.end_of(path)?)?;
    let shown: Name = unfolded.machine.qualified(&state.name);
    match &watch.what {
        What::Gate(gate) => {
            let message =
                format!("`{shown}` needs `{gate}`, and can be entered while `{gate}` is not settled");
            let problem = Problem::proof("unsettled", state.place.clone(), message.clone());
            let help = settle_it(tracer, gate, path, state);
            let expect = Expect { unsettled: Some(gate.clone()), ..Expect::default() };
            let mut scenario = tracer.scenario(&message, path, expect);
            scenario.steps.extend(asking(tracer, state, gate));
            Some(problem.help(help).path(scenario))
        }
        What::Defined { given, document, by } => {
            let place = by
                .iter()
                .find(|(it, _)| *it == state.name)
                .map_or_else(|| state.place.clone(), |(_, it)| it.clone());
            let whole = document.as_ref().is_none_or(|it| {
                given.strip_prefix("docs.").is_some_and(|given| in_expression(given) == it.in_expression())
            });
            let message = match document.as_ref().filter(|_| !whole) {
                None => format!("`{shown}` is given `{given}`, which need not be there"),
                Some(member) => {
                    format!("`{shown}` is given `{given}`, and `{member}` of it need not be there")
                }
            };
            let expect = Expect { reaches: Some(shown), ..Expect::default() };
            let problem = Problem::proof("undefined-input", place, message.clone());
            Some(
                problem
                    .help(format!("write `maybe {given}`, or make it on every way here"))
                    .path(tracer.scenario(&message, path, expect)),
            )
        }
        What::Before { property, .. } | What::After { property, .. } => {
            let declared = unfolded.workflow.properties.get(*property)?;
            let message = format!("{} does not hold", said(declared));
            let expect = Expect { reaches: Some(shown), ..Expect::default() };
            let problem = Problem::proof("property", declared.place.clone(), message.clone());
            Some(problem.path(tracer.scenario(&message, path, expect)))
        }
        What::Inside { .. } | What::OnTheWay { .. } => None,
    }
}

/// What the last step of a path may have changed, so that a gate is asked for.
fn asking(tracer: &Tracer<'_, '_>, state: &State, gate: &Name) -> Option<ScenarioStep> {
    let slots = &tracer.unfolded.slots;
    let mut facts = IndexMap::new();
    for condition in crate::machine::Run::owed_when(tracer.unfolded.machine, gate) {
        let by_routing = slots.term(&condition.term).is_some_and(|at| slots.kept[at].reads.by_routing);
        if let (Term::Fact(name), Some(value), true) = (&condition.term, condition.values.first(), by_routing)
        {
            facts.insert(name.clone(), value.clone());
        }
    }
    let play = Play { signal: Some(signal::STALE.into()), facts, ..Play::default() };
    (!play.facts.is_empty()).then(|| ScenarioStep::State {
        child: tracer.unfolded.machine.name.clone(),
        state: state.name.clone(),
        play: Box::new(play),
    })
}

/// What to do about a gate that is not settled at the end of a path: by what it was spoilt last, if it ever was settled.
fn settle_it(tracer: &Tracer<'_, '_>, gate: &Name, path: &Path, needing: &State) -> String {
    let unfolded = tracer.unfolded;
    let (shown, own) = (unfolded.machine.qualified(&needing.name), unfolded.machine.qualified(gate));
    let mut settled = unfolded.begins.get(path.root).is_some_and(|it| it.phase.is_some());
    let mut spoilt = None;
    for step in &path.moves {
        let (Some(values), Some((state, came))) = (unfolded.values(step.node), tracer.state_and_came(*step))
        else {
            continue;
        };
        let judged = unfolded.judged(gate, values);
        let spoils = |documents: Documents| tracer.shelf.touched(documents) & judged != 0;
        let stale = came.signal == signal::STALE;
        let wrote = came.wrote.unwrap_or_default();
        let by_edit = spoils(came.edited) || stale && spoils(wrote);
        if settled && (by_edit || spoils(wrote)) {
            settled = false;
            spoilt = Some((state, by_edit));
        }
        let arm = came.arms.get(step.step as usize);
        let arm = arm.and_then(|it| state.cells.get(&*came.signal)?.arms.get(*it));
        let judge = state.gate.as_ref().filter(|it| it.name == *gate && !stale);
        if judge.is_some_and(|it| it.passes.contains(&came.signal))
            || arm.is_some_and(|it| it.forced.contains(gate))
        {
            (settled, spoilt) = (true, None);
        } else if judge.is_some() {
            (settled, spoilt) = (false, None);
        }
    }
    match spoilt {
        Some((state, true)) => edited(tracer, gate, needing, state),
        Some((state, false)) if state.name == needing.name => {
            format!("`{shown}` writes what `{own}` judges and comes back to itself; lead it to `{own}` first")
        }
        Some((state, false)) => {
            let it = unfolded.machine.qualified(&state.name);
            format!(
                "`{it}` may write what `{own}` judges and nothing judges it again; lead it back to `{own}`"
            )
        }
        None => format!("lead every way to `{shown}` through `{own}`"),
    }
}

/// Somebody edited what a gate judges. Where that shows, the run goes to a judge, and from there back past this one.
fn edited(tracer: &Tracer<'_, '_>, gate: &Name, needing: &State, seen_at: &State) -> String {
    let machine = tracer.unfolded.machine;
    let (shown, own) = (machine.qualified(&needing.name), machine.qualified(gate));
    let comes_first = seen_at.needs.values().find_map(|needs| {
        let at = needs.iter().position(|it| it == gate)?;
        needs[..at].last().map(|it| machine.qualified(it))
    });
    match comes_first {
        Some(first) => format!(
            "when somebody edits what they judge, a run goes back to the first of `needs` that is not settled, which is `{first}` here, and from there it does not come by `{own}`: write `needs` in the order in which they are judged"
        ),
        None => format!(
            "when somebody edits what `{own}` judges, lead every way from there to `{shown}` through `{own}`"
        ),
    }
}

fn unknown(tracer: &Tracer<'_, '_>, watch: &Watch) -> Option<Problem> {
    let unfolded = tracer.unfolded;
    let place = unfolded.machine.states.values().next()?.place.clone();
    let what = match &watch.what {
        What::Gate(gate) => format!("that `{gate}` is settled wherever it is needed"),
        What::Defined { given, .. } => format!("that `{given}` is there wherever it is given"),
        What::Before { property, .. } | What::After { property, .. } => {
            unfolded.workflow.properties.get(*property).map(said).unwrap_or_default()
        }
        What::Inside { .. } | What::OnTheWay { .. } => return None,
    };
    Some(Problem::proof(
        "not-shown",
        place,
        format!("it was not proved {what}: the space is too large to walk"),
    ))
}

/// A property in words.
pub(super) fn said(property: &Property) -> String {
    let happened = |it: &Happened| match it {
        Happened::Settled { gate } => format!("`{gate}` is settled"),
        Happened::Signal { child, state, signals } => {
            let name = child.as_ref().map_or_else(|| state.to_string(), |it| format!("{it}.{state}"));
            let signals: Vec<&str> = signals.iter().map(|it| &**it).collect();
            if signals.is_empty() {
                format!("`{name}` is reached")
            } else {
                format!("`{name}` came out as {}", signals.join(" or "))
            }
        }
    };
    match &property.claim {
        Claim::Never { reach, before, when } => {
            let before: Vec<String> = before.iter().map(happened).collect();
            let when: Vec<String> = when
                .iter()
                .map(|it| {
                    format!(
                        "{} is {}",
                        it.term,
                        it.values.iter().map(|it| &**it).collect::<Vec<_>>().join(" or ")
                    )
                })
                .collect();
            let when = if when.is_empty() { String::new() } else { format!(" when {}", when.join(" and ")) };
            format!("never `{reach}` before {}{when}", before.join(" and "))
        }
        Claim::AtMost { visits, times } => match times {
            1 => format!("`{visits}` is entered at most once"),
            _ => format!("`{visits}` is entered at most {times} times"),
        },
        Claim::Always { after, comes } => {
            format!("after `{after}` always {} before success", happened(comes))
        }
    }
}
