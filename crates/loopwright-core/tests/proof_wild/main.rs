//! Every answer of the prover, held against a walk that knows nothing but the raw graph.
//!
//! The oracle is deliberately naive: a map over nodes and whole counter vectors, no liveness, no packing, no
//! merging of cells. Whatever the prover says exactly must be what the oracle says; whatever it bounds must
//! lie within its bounds; every run it shows must replay and show what it claims.
#![expect(clippy::cast_possible_truncation, reason = "the graphs are small")]
#![expect(clippy::panic, clippy::expect_used, reason = "these are tests")]

mod oracle;

use std::collections::HashMap;

use loopwright_core::proof::generate::{Generated, wild};
use loopwright_core::proof::graph::Move;
use loopwright_core::proof::{
    Certainty, Dearest, Ending, Found, Limits, PerAnswer, Prover, Termination, Verdict, Witness,
};

use crate::oracle::{Oracle, UNBOUNDED};

const GRAPHS: u64 = 4_000;

/// How far the prover may look.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rung {
    /// Everything.
    Dense,
    /// Everything, by hashing, two lanes at a time.
    Hashed,
    /// Everything, but searches give up at once, so that the walk has to decide.
    Walks,
    /// No walk over all configurations, but searches as long as they like.
    Searches,
    /// Next to nothing.
    Blind,
}

impl Rung {
    fn limits(self) -> Limits {
        let all = Limits::default();
        match self {
            Rung::Dense => all,
            Rung::Hashed => Limits { dense_keys: 0, values: 2, ..all },
            Rung::Walks => Limits { quest: 1, ..all },
            Rung::Searches => {
                Limits { small_keys: 0, dense_keys: 0, hashed_configurations: 3, kept: 2_000, ..all }
            }
            Rung::Blind => Limits {
                small_keys: 0,
                dense_keys: 0,
                hashed_configurations: 4,
                quest: 3,
                opened: 6,
                beam: 2,
                kept: 8,
                relaxations: 12,
                ..all
            },
        }
    }

    fn walks(self) -> bool {
        matches!(self, Rung::Dense | Rung::Hashed | Rung::Walks)
    }
}

fn each_graph(salt: u64, check: impl Fn(&Generated, &Oracle<'_>, &Prover<'_>, Rung, u64)) {
    for seed in 0..GRAPHS {
        let made = wild(seed.wrapping_mul(0x9E37_79B9) ^ salt);
        let oracle = Oracle::new(&made.graph);
        for rung in [Rung::Dense, Rung::Hashed, Rung::Walks, Rung::Searches, Rung::Blind] {
            check(&made, &oracle, &Prover::new(&made.graph, rung.limits()), rung, seed);
        }
    }
}

fn check_path(oracle: &Oracle<'_>, found: &Found, expected: Option<usize>, rung: Rung, what: &str) -> bool {
    match (found, expected) {
        (Found::Path(path), Some(expected)) => {
            oracle.stops(path);
            assert_eq!(path.moves.len(), expected, "{what}: not the shortest");
            true
        }
        (Found::Nowhere, None) => true,
        (Found::Unknown, _) => {
            assert_eq!(rung, Rung::Blind, "{what}");
            false
        }
        _ => panic!("{what}: {found:?} but {expected:?}"),
    }
}

#[test]
fn reach_is_what_the_walk_reaches() {
    each_graph(1, |made, oracle, prover, rung, seed| {
        let reach = prover.reach(usize::MAX);
        let firsts = prover.firsts();
        assert!(reach.exact || !rung.walks(), "seed {seed}");
        let judge = |said: Certainty, really: bool, what: &str| match said {
            Certainty::Yes => assert!(really, "seed {seed}: {what}"),
            Certainty::No => assert!(!really, "seed {seed}: {what}"),
            Certainty::Unknown => assert!(!reach.exact, "seed {seed}: {what}"),
        };
        for (node, here) in made.graph.nodes.iter().enumerate() {
            let nearest = (0..oracle.distance.len())
                .filter(|id| oracle.node(*id) == node)
                .map(|id| oracle.distance[id]);
            let nearest = nearest.min();
            judge(reach.nodes[node], nearest.is_some(), &format!("node {node}"));
            let found = prover.path_to_node(node as u32);
            if check_path(oracle, &found, nearest, rung, &format!("seed {seed} node {node}"))
                && let Found::Path(path) = found
            {
                assert_eq!(oracle.stops(&path).last().expect("a root").0 as usize, node);
            }
            for (cell, outcome) in here.cells.iter().enumerate() {
                for step in 0..outcome.steps.len() {
                    let last = Move { node: node as u32, cell: cell as u32, step: step as u32 };
                    let first = firsts.iter().find(|(it, _)| *it == last).map(|(_, it)| it);
                    let taken = oracle.edges.iter().filter(|edge| edge.taken == last);
                    let nearest = taken.map(|edge| oracle.distance[edge.from] + 1).min();
                    judge(reach.steps(node, cell)[step], nearest.is_some(), &format!("{last:?}"));
                    let what = format!("seed {seed} {last:?}, by one walk");
                    assert!(first.is_some() || nearest.is_none(), "{what}");
                    if let Some(first) = first {
                        check_path(oracle, first, nearest, rung, &what);
                    }
                    let found = prover.path_to_step(last);
                    if check_path(oracle, &found, nearest, rung, &format!("seed {seed} {last:?}"))
                        && let Found::Path(path) = found
                    {
                        assert_eq!(path.moves.last(), Some(&last));
                    }
                }
            }
        }
    });
}

#[test]
fn termination_is_right_and_endless_runs_go_on() {
    each_graph(2, |_, oracle, prover, rung, seed| {
        let (_, cyclic) = oracle.components(false);
        match prover.termination() {
            Termination::Proved(_) => assert!(!cyclic.contains(&true), "seed {seed} {rung:?}"),
            Termination::Endless { stem, turn } => {
                assert!(!turn.is_empty());
                assert!(turn.iter().all(|taken| !oracle.waits(taken)), "seed {seed}: somebody is asked");
                if rung.walks() {
                    let nearest =
                        (0..cyclic.len()).filter(|id| cyclic[*id]).map(|id| oracle.distance[id]).min();
                    let longest = nearest.map(|nearest| nearest + turn.len());
                    assert!(Some(stem.moves.len()) <= longest, "seed {seed}: a shorter stem exists");
                }
                let mut path = stem.clone();
                path.moves.extend(turn);
                let stops = oracle.stops(&path);
                assert_eq!(stops.last(), stops.get(stem.moves.len()), "seed {seed}: it does not come back");
            }
            Termination::Unknown { cycle } => {
                assert!(!rung.walks(), "seed {seed}");
                assert!(!cycle.is_empty());
                let to = |taken: &Move| {
                    oracle.graph.nodes[taken.node as usize].cells[taken.cell as usize].steps
                        [taken.step as usize]
                        .to
                };
                for (place, taken) in cycle.iter().enumerate() {
                    assert_eq!(to(taken), cycle[(place + 1) % cycle.len()].node);
                    assert!(!oracle.waits(taken));
                }
            }
        }
    });
}

#[test]
fn endings_are_proved_or_traps_are_real() {
    each_graph(3, |_, oracle, prover, rung, seed| {
        let can = oracle.can_end();
        match prover.ending() {
            Ending::Proved => assert!(!can.contains(&false), "seed {seed} {rung:?}"),
            Ending::Trapped(path) => {
                let stops = oracle.stops(&path);
                let place = oracle.place(stops.last().expect("a root"));
                assert!(!can[place], "seed {seed} {rung:?}: an end is still in reach");
                if rung.walks() {
                    let nearest = (0..can.len()).filter(|id| !can[*id]).map(|id| oracle.distance[id]).min();
                    assert_eq!(Some(path.moves.len()), nearest, "seed {seed}");
                }
            }
            Ending::Unknown => assert!(!rung.walks(), "seed {seed}"),
        }
    });
}

fn cost_of(oracle: &Oracle<'_>, lane: &[u64], witness: &Witness) -> u64 {
    let stops = oracle.stops(&witness.path);
    stops[witness.from..].iter().map(|(node, _)| lane[*node as usize]).sum()
}

fn check_dearest(oracle: &Oracle<'_>, lane: &[u64], told: &Dearest, really: u64, rung: Rung, what: &str) {
    match told {
        Dearest::Exact { value, witness } => {
            assert_eq!(*value, really, "{what}");
            if !oracle.roots.is_empty() {
                assert_eq!(
                    cost_of(oracle, lane, witness),
                    really,
                    "{what}: the witness costs something else"
                );
            }
        }
        Dearest::Between { at_least, witness, at_most } => {
            assert!(!rung.walks(), "{what}: not exact");
            assert!(*at_least <= really, "{what}: {at_least} > {really}");
            assert!(at_most.is_none_or(|most| most >= really), "{what}: {at_most:?} < {really}");
            assert_eq!(cost_of(oracle, lane, witness), *at_least, "{what}");
        }
        Dearest::Unbounded => assert_eq!(really, UNBOUNDED, "{what}"),
    }
}

#[test]
fn worst_cases_are_exact_or_enclosed() {
    each_graph(4, |made, oracle, prover, rung, seed| {
        let worst = prover.worst(&made.lanes);
        for (place, lane) in made.lanes.iter().enumerate() {
            let what = format!("seed {seed} {rung:?} lane {place}");
            let (stretch, whole) = (oracle.dearest_stretch(lane), oracle.dearest_run(lane));
            check_dearest(oracle, lane, &worst.stretch[place], stretch, rung, &format!("{what} stretch"));
            check_dearest(oracle, lane, &worst.whole[place], whole, rung, &format!("{what} whole"));
            if let Dearest::Exact { witness, .. } | Dearest::Between { witness, .. } = &worst.stretch[place] {
                let (before, during) = witness.path.moves.split_at(witness.from);
                assert!(
                    before.last().is_none_or(|last| oracle.waits(last)),
                    "{what}: no stretch begins there"
                );
                assert!(during.iter().all(|taken| !oracle.waits(taken)), "{what}: somebody is asked");
            }
            if let Dearest::Exact { witness, .. } | Dearest::Between { witness, .. } = &worst.whole[place] {
                assert_eq!(witness.from, 0);
            }
        }
    });
}

#[test]
fn no_run_exceeds_its_line() {
    each_graph(5, |made, oracle, prover, rung, seed| {
        if oracle.configurations.len() > 150 {
            return;
        }
        let worst = prover.worst(&made.lanes);
        let lines = prover.per_answer(&made.lanes, &worst);
        for ((place, lane), line) in made.lanes.iter().enumerate().zip(lines) {
            let what = format!("seed {seed} {rung:?} lane {place}");
            let unbounded = oracle.dearest_stretch(lane) == UNBOUNDED;
            match line {
                PerAnswer::Unbounded => assert!(unbounded, "{what}"),
                PerAnswer::Unknown => assert!(!rung.walks(), "{what}"),
                PerAnswer::Line { first, each, exact } => {
                    assert!(!unbounded, "{what}");
                    let costs = oracle.dearest_with(lane, 24);
                    let line = |answers: usize| first + each * answers as u64;
                    for (answers, cost) in costs.iter().enumerate() {
                        assert!(*cost <= line(answers), "{what}: {cost} with {answers} answers");
                    }
                    if exact && oracle.configurations.len() <= 12 {
                        assert!(
                            (0..costs.len()).any(|it| costs[it] == line(it)),
                            "{what}: the line is never met"
                        );
                        let costs = oracle.dearest_with(lane, 60);
                        let rises = |by: usize| costs[48 + by] - costs[48] == each * by as u64;
                        assert!((1..=12).any(rises), "{what}: too steep");
                    }
                }
            }
        }
    });
}

#[test]
fn monitors_hold_or_break_soonest() {
    each_graph(6, |made, oracle, prover, rung, seed| {
        let verdicts = prover.monitors();
        assert_eq!(verdicts.len(), made.graph.monitors.len());
        for (monitor, verdict) in verdicts.iter().enumerate() {
            let monitor = monitor as u16;
            let what = format!("seed {seed} {rung:?} monitor {monitor}");
            let soonest = oracle.broken(monitor);
            match verdict {
                Verdict::Holds => assert_eq!(soonest, None, "{what}"),
                Verdict::Unknown => assert_eq!(rung, Rung::Blind, "{what}"),
                Verdict::Broken(path) => {
                    assert_eq!(Some(path.moves.len()), soonest, "{what}: not the shortest");
                    let stops = oracle.stops(path);
                    let mut holds = made.graph.roots[path.root].holds.contains(monitor);
                    path.moves.iter().for_each(|taken| holds = oracle.effect(*taken, monitor, holds));
                    let last = stops.last().expect("a root").0 as usize;
                    assert!(!holds && made.graph.nodes[last].requires.contains(monitor), "{what}");
                }
            }
        }
    });
}

/// The properties above say nothing if every graph is alike.
#[test]
fn the_wild_is_wild() {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut note = |what| *seen.entry(what).or_default() += 1;
    for seed in 0..GRAPHS {
        let made = wild(seed);
        let prover = Prover::new(&made.graph, Limits::default());
        match prover.termination() {
            Termination::Proved(argument) => match argument {
                loopwright_core::proof::Argument::Lexicographic => note("lexicographic"),
                loopwright_core::proof::Argument::Prices => note("prices"),
                loopwright_core::proof::Argument::Walk => note("walk"),
            },
            _ => note("endless"),
        }
        match prover.ending() {
            Ending::Proved => note("ends"),
            _ => note("trapped"),
        }
        let worst = prover.worst(&made.lanes);
        for (stretch, whole) in worst.stretch.iter().zip(&worst.whole) {
            match (stretch, whole) {
                (Dearest::Exact { witness, .. }, Dearest::Unbounded) if witness.from > 0 => {
                    note("answer, then dearest");
                }
                (Dearest::Exact { .. }, Dearest::Unbounded) => note("unbounded through people"),
                (Dearest::Exact { value, .. }, Dearest::Exact { value: more, .. }) if more > value => {
                    note("people add");
                }
                _ => {}
            }
        }
        for line in prover.per_answer(&made.lanes, &worst) {
            match line {
                PerAnswer::Line { each: 1.., exact: true, .. } => note("exact line with a slope"),
                PerAnswer::Line { each: 1.., .. } => note("rounded line with a slope"),
                _ => {}
            }
        }
        for verdict in prover.monitors() {
            note(if verdict == Verdict::Holds { "holds" } else { "broken" });
        }
        if !prover.reach(usize::MAX).all_steps().iter().all(|it| *it == Certainty::Yes) {
            note("dead steps");
        }
        note(if made.graph.monitors.len() > 64 { "many monitors" } else { "few monitors" });
    }
    println!("{seen:?}");
    let expected = [
        ("lexicographic", 500),
        ("prices", 3),
        ("walk", 10),
        ("endless", 500),
        ("ends", 500),
        ("trapped", 300),
        ("answer, then dearest", 20),
        ("unbounded through people", 50),
        ("people add", 50),
        ("exact line with a slope", 50),
        ("rounded line with a slope", 5),
        ("holds", 1000),
        ("broken", 1000),
        ("dead steps", 500),
        ("many monitors", 50),
    ];
    for (what, least) in expected {
        assert!(seen.get(what).copied().unwrap_or(0) >= least, "too few: {what} {seen:?}");
    }
}
