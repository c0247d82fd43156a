//! Loops: every unattended stretch ends, and from everywhere an end can be reached.

use super::trace::Tracer;
use crate::definition::Per;
use crate::name::Name;
use crate::problem::Problem;
use crate::proof::graph::{Cell, Move, Path, Step};
use crate::proof::{Argument, Ending, Prover, Termination, replay};
use crate::rehearse::{Expect, Scenario};

/// A loop that does not end, and a run that goes round it again and again.
type Endless = (Problem, Option<Scenario>);

/// Why every unattended stretch ends, or the loop that does not.
pub(super) fn terminates(tracer: &Tracer<'_, '_>, prover: &Prover<'_>) -> (Option<String>, Option<Endless>) {
    let because = |text: &str| (Some(text.to_owned()), None);
    match prover.termination() {
        Termination::Proved(Argument::Lexicographic) => {
            because("every loop spends a budget that it does not fill again")
        }
        Termination::Proved(Argument::Prices) => {
            because("the budgets have prices under which every step loses")
        }
        Termination::Proved(Argument::Walk) => {
            because("every position was walked, and none leads back to itself")
        }
        Termination::Endless { stem, turn } => {
            let title = format!("{} goes round for ever", names(tracer, turn).join(", "));
            let round = |times: usize| {
                let turns = turn.iter().copied().cycle().take(times * turn.len());
                let moves = stem.moves.iter().copied().chain(turns).collect();
                let expect = Expect { endless: Some(turn.len()), ..Expect::default() };
                tracer.scenario(&title, &Path { root: stem.root, moves }, expect)
            };
            let problem = endless(tracer, turn, "this loop never ends");
            // What a turn spoils shows in the next one, and where that ends shows when it goes on.
            (None, Some((problem.path(round(1)), Some(round(3)))))
        }
        Termination::Unknown { cycle } => {
            let problem = endless(tracer, cycle, "it was not proved that this loop ends");
            (None, Some((problem, None)))
        }
    }
}

fn endless(tracer: &Tracer<'_, '_>, turn: &[Move], what: &str) -> Problem {
    let unfolded = tracer.unfolded;
    let states = names(tracer, turn);
    let place = turn.first().and_then(|it| unfolded.state(it.node)).map(|it| it.place.clone());
    let place = place.or_else(|| unfolded.machine.states.values().next().map(|it| it.place.clone()));
    let message = format!("{what} and waits for nobody: {}", states.join(" > "));
    let mut help = "spend a budget on one of its arms, with an `else` that leaves the loop".to_owned();
    // A budget that the loop spends and fills again is the commonest mistake; name it.
    let steps: Vec<&Step> = turn.iter().filter_map(|it| unfolded.graph.step(it)).collect();
    for step in &steps {
        for spent in step.spend.iter() {
            if let Some(filler) = steps.iter().find(|it| it.refill.contains(spent))
                && let Some(counter) = unfolded.graph.counters.get(usize::from(spent))
            {
                let budget = counter.name.split('@').next().unwrap_or_default();
                let entered = unfolded.state(filler.to).map(|it| it.name.clone()).unwrap_or_default();
                let visit = unfolded.machine.budgets.get(budget).is_some_and(|it| it.per == Per::Visit);
                help = if visit {
                    format!(
                        "`{budget}` is `per: visit` and is filled again on the way round; spend one that is not"
                    )
                } else {
                    format!(
                        "the loop spends `{budget}` and fills it again by entering `{entered}`; leave `{entered}` out of `per`"
                    )
                };
            }
        }
    }
    match place {
        Some(place) => Problem::proof("endless", place, message).help(help),
        None => {
            Problem::proof("endless", crate::problem::Place { file: String::new(), bytes: 0..0 }, message)
        }
    }
}

fn names(tracer: &Tracer<'_, '_>, moves: &[Move]) -> Vec<String> {
    let states = moves.iter().filter_map(|it| tracer.unfolded.state(it.node));
    states.map(|it| tracer.unfolded.machine.qualified(&it.name).to_string()).collect()
}

/// A path that stops where a person only decided something in a child, with the way on. Other items may still come to
/// something else; what is trapped for certain is where that leads.
fn past_decisions(tracer: &Tracer<'_, '_>, mut path: Path) -> Path {
    let graph = &tracer.unfolded.graph;
    while let Some(node) = graph.end_of(&path).filter(|it| tracer.unfolded.is_decided(*it)) {
        let on = (0..).zip(graph.nodes.get(node as usize).into_iter().flat_map(|it| &it.cells));
        let moves =
            on.flat_map(|(cell, it)| (0..).zip(&it.steps).map(move |(step, _)| Move { node, cell, step }));
        let mut longer = moves.map(|it| Path { root: path.root, moves: [&*path.moves, &[it]].concat() });
        let Some(found) = longer.find(|it| replay(graph, it).is_ok()) else { return path };
        path = found;
    }
    path
}

/// From everywhere an end can be reached.
pub(super) fn ends(tracer: &Tracer<'_, '_>, prover: &Prover<'_>) -> Vec<Problem> {
    let unfolded = tracer.unfolded;
    let Ending::Trapped(path) = prover.ending() else { return Vec::new() };
    let path = past_decisions(tracer, path);
    // A hole is reported as such; here are only runs that go on and can never come to an end.
    let Some(last) = unfolded.graph.end_of(&path) else { return Vec::new() };
    let is_hole = |it: &Cell| it.steps.last().is_none_or(|it| !it.spend.is_empty());
    if unfolded.graph.nodes.get(last as usize).is_none_or(|it| it.cells.iter().any(is_hole)) {
        return Vec::new();
    }
    let Some(state) = unfolded.state(last) else { return Vec::new() };
    let shown: Name = unfolded.machine.qualified(&state.name);
    let message = format!("from `{shown}` no end can be reached any more");
    let expect = Expect { reaches: Some(shown.clone()), ..Expect::default() };
    let scenario = tracer.scenario(&message, &path, expect);
    let problem = Problem::proof("trapped", state.place.clone(), message);
    vec![problem.help("lead a way out of it to an `end`").path(scenario)]
}
