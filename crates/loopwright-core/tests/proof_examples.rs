//! The graphs that taught us something: what each argument can and cannot see, and the pitfalls of budgets.
#![expect(clippy::panic, clippy::expect_used, reason = "these are tests")]

use loopwright_core::proof::generate::{Flavour, Size, large};
use loopwright_core::proof::graph::{Cell, Counter, Graph, Monitor, Move, Node, Root, Step};
use loopwright_core::proof::sketch::Sketch;
use loopwright_core::proof::{
    Argument, Certainty, Dearest, Ending, Found, Limits, PerAnswer, Prover, Termination, Verdict, Worst,
    replay,
};

fn graph(text: &str) -> Graph {
    Sketch::read(text).expect("a sketch").graph
}

fn value(told: &Dearest) -> Option<u64> {
    match told {
        Dearest::Exact { value, .. } => Some(*value),
        _ => None,
    }
}

fn worst(graph: &Graph, lane: &[u64]) -> Worst {
    Prover::new(graph, Limits::default()).worst(&[lane.to_vec()])
}

/// Checks why a graph is said to end.
fn check_ends(text: &str, argument: Argument) {
    let graph = graph(text);
    assert_eq!(
        *Prover::new(&graph, Limits::default()).termination(),
        Termination::Proved(argument),
        "{text}"
    );
}

/// Checks that a graph does not end, and how long the shortest stem and turn are.
fn check_endless(text: &str, stem_length: usize, turn_length: usize) {
    let graph = graph(text);
    let prover = Prover::new(&graph, Limits::default());
    let Termination::Endless { stem, turn } = prover.termination() else { panic!("it ends: {text}") };
    assert_eq!((stem.moves.len(), turn.len()), (stem_length, turn_length), "{text}");
    let mut path = stem.clone();
    path.moves.extend(turn);
    let stops = replay(&graph, &path).expect("it replays");
    assert_eq!(stops.last(), stops.get(stem.moves.len()), "{text}");
}

/// `A` is entered twice at most, so `x` never runs out and the free loop of `C` is out of reach.
const BEHIND_A_FALLBACK: &str = "counter x 3\n counter y 1\n root A
    A: B ~x / C
    B: A ~y / Z
    C: C | Z
    end Z";

#[test]
fn a_loop_behind_a_fallback_that_never_comes_needs_the_walk() {
    check_ends(BEHIND_A_FALLBACK, Argument::Walk);
    check_endless(&BEHIND_A_FALLBACK.replace("counter x 3", "counter x 1"), 3, 1);
    let graph = graph(BEHIND_A_FALLBACK);
    assert_eq!(value(&worst(&graph, &[1, 1, 1, 0]).stretch[0]), Some(4));
    let reach = Prover::new(&graph, Limits::default()).reach(usize::MAX);
    assert!(reach.exact);
    assert_eq!(reach.nodes[2], Certainty::No, "C cannot be reached");
    assert_eq!(reach.steps(0, 0), [Certainty::Yes, Certainty::No], "the fallback is dead");
}

/// `P` orders `a` before `b`, `Q` the other way round: one price list cannot do both.
const TWO_ORDERS: &str = "counter a 2\n counter b 2\n root P
    P: P ~a !b / Q !a !b | P ~b / Q !a !b
    Q: Q ~b !a / Z | Q ~a / Z
    end Z";

#[test]
fn two_orders_are_seen_by_the_lexicographic_argument() {
    check_ends(TWO_ORDERS, Argument::Lexicographic);
    let graph = graph(TWO_ORDERS);
    let exact = value(&worst(&graph, &[1, 1, 0]).stretch[0]).expect("exact");
    let blind = Limits { small_keys: 0, dense_keys: 0, hashed_configurations: 0, ..Limits::default() };
    match &Prover::new(&graph, blind).worst(&[vec![1, 1, 0]]).stretch[0] {
        Dearest::Exact { value, .. } => assert_eq!(*value, exact, "the bound is met"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn counters_filled_up_at_the_price_of_two_others_need_prices() {
    check_ends(
        "counter a 1\n counter b 1\n counter c 1\n root A
         A: A ~a ~b !c / Z | A ~b ~c !a / Z | A ~a ~c !b / Z
         end Z",
        Argument::Prices,
    );
}

#[test]
fn a_counter_filled_up_by_its_own_exhaustion_is_endless() {
    check_endless(
        "counter r 2\n root plan
         plan: review !r
         review: Z | fix ~r / plan
         fix: review
         end Z",
        1,
        6,
    );
}

#[test]
fn a_refill_on_the_way_back_is_endless() {
    check_endless("counter r 2\n root A\n A: B !r\n B: A ~r / Z\n end Z", 1, 2);
}

#[test]
fn spending_and_filling_up_at_once_is_endless() {
    check_endless("counter r 2\n root A\n A: A ~r !r / Z\n end Z", 0, 1);
}

#[test]
fn waiting_is_not_going_round() {
    check_ends("root A\n A: ? A | Z\n end Z", Argument::Lexicographic);
    check_ends("root A\n A: B\n B: ? A | Z\n end Z", Argument::Lexicographic);
    check_endless("root A\n A: A | Z\n end Z", 0, 1);
    // The loop is only reached by an answer, and then nobody is asked any more.
    check_endless("root A\n A: ? B | Z\n B: C\n C: B\n end Z", 1, 2);
}

/// Having a budget forces the first arm; lacking it opens the dear fallback.
#[test]
fn more_budget_can_cost_less() {
    let cost = |limit: u32| {
        let graph = graph(&format!("counter x {limit}\n root A\n A: Z ~x / B\n B: Z\n end Z"));
        value(&worst(&graph, &[0, 0, 9]).stretch[0])
    };
    assert_eq!((cost(0), cost(1)), (Some(9), Some(0)));
}

/// A test that fails is a read: `x` decides the route at `B` although the arm taken there spends nothing.
#[test]
fn a_failed_test_keeps_a_counter_alive() {
    let graph = graph(
        "counter x 1\n root A
         A: B ~x / B | B
         B: C ~x / D
         C: Z\n D: Z\n end Z",
    );
    let reach = Prover::new(&graph, Limits::default()).reach(usize::MAX);
    assert!(reach.exact && reach.nodes.iter().all(|it| *it == Certainty::Yes));
}

#[test]
fn a_stretch_begins_at_the_counters_an_answer_left() {
    // The answer fills `x` up, so the second stretch goes round twice more, and no stretch four times.
    let graph = graph("counter x 2\n root A\n A: A ~x / B\n B: ? C !x | Z\n C: C ~x / Z\n end Z");
    let told = worst(&graph, &[1, 1, 1, 0]);
    let Dearest::Exact { value, witness } = &told.stretch[0] else { panic!("{told:?}") };
    assert_eq!((*value, witness.from), (4, 0));
    let told = worst(&graph, &[1, 0, 2, 0]);
    let Dearest::Exact { value, witness } = &told.stretch[0] else { panic!("{told:?}") };
    assert_eq!((*value, witness.from, witness.path.moves.len()), (6, 4, 6));
    assert_eq!(self::value(&told.whole[0]), Some(9));
}

#[test]
fn whole_runs_cost_so_much_an_answer() {
    // Two calls between answers, five before the first.
    let graph = graph("counter x 3\n root A\n A: A ~x / B\n B: C | Z\n C: ? B | Z\n end Z");
    let lane = vec![1, 1, 1, 0];
    let prover = Prover::new(&graph, Limits::default());
    let told = prover.worst(std::slice::from_ref(&lane));
    assert_eq!(told.whole[0], Dearest::Unbounded);
    let lines = prover.per_answer(&[lane], &told);
    assert_eq!(lines, [PerAnswer::Line { first: 6, each: 2, exact: true }]);
}

#[test]
fn a_loop_through_people_that_costs_nothing_here_is_bounded_here() {
    let graph = graph("root A\n A: B\n B: ? A | C\n C: Z\n end Z");
    let lanes = [vec![0, 0, 0, 7], vec![1, 0, 0, 0]];
    let told = Prover::new(&graph, Limits::default()).worst(&lanes);
    assert_eq!(value(&told.whole[0]), Some(7), "{told:?}");
    assert_eq!(told.whole[1], Dearest::Unbounded);
}

#[test]
fn people_without_a_way_out_are_a_trap() {
    let trapped = |text: &str| {
        let graph = graph(text);
        match Prover::new(&graph, Limits::default()).ending() {
            Ending::Trapped(path) => Some(path.moves.len()),
            Ending::Proved => None,
            Ending::Unknown => panic!("{text}"),
        }
    };
    assert_eq!(trapped("root A\n A: B | Z\n B: ? B\n end Z"), Some(1));
    assert_eq!(trapped("root A\n A: B | Z\n B: ? B | ? Z\n end Z"), None);
    // Only while there is budget can B be left.
    assert_eq!(trapped("counter x 1\n root A\n A: ? A ~x / B | ? B\n B: ? Z ~x / B\n end Z"), Some(1));
    // Nothing is affordable, so nothing ever happens.
    assert_eq!(trapped("counter x 1\n root A\n A: B ~x | Z ~x\n B: A | Z ~x\n end Z"), Some(1));
    // An end without anything to do before it.
    assert_eq!(trapped("root Z\n end Z"), None);
    // No end at all.
    assert_eq!(trapped("root A\n A: ? A"), Some(0));
}

/// A gate: the review is stale as soon as `make` was left, and required at the good end.
const GATE: &str = "counter repair 1\n monitor review\n root make
    make: check -review
    check: ship +review | make ~repair / lose
    ship: win | make ~repair / lose | win -review
    requires win review
    end win\n end lose";

#[test]
fn a_gate_breaks_where_something_goes_round_it() {
    let sketched = graph(GATE);
    let Verdict::Broken(path) = &Prover::new(&sketched, Limits::default()).monitors()[0] else {
        panic!("it holds")
    };
    let told: Vec<(u32, u32)> = path.moves.iter().map(|it| (it.node, it.cell)).collect();
    assert_eq!(told, [(0, 0), (1, 0), (2, 2)]);
    let repaired = graph(&GATE.replace(" | win -review", ""));
    assert_eq!(Prover::new(&repaired, Limits::default()).monitors(), [Verdict::Holds]);
}

#[test]
fn a_root_that_requires_what_is_false_breaks_at_once() {
    let text = "monitor m\n root Z\n requires Z m\n end Z";
    let sketched = graph(text);
    let Verdict::Broken(path) = &Prover::new(&sketched, Limits::default()).monitors()[0] else {
        panic!("it holds")
    };
    assert_eq!((path.root, path.moves.len()), (0, 0));
    let held = graph(&text.replace("root Z", "root Z +m"));
    assert_eq!(Prover::new(&held, Limits::default()).monitors(), [Verdict::Holds]);
}

#[test]
fn an_alarm_that_budgets_rule_out_is_none() {
    // The abstract graph can go A to Z without B; the counters cannot.
    let graph = graph(
        "counter x 1\n monitor m\n root A
         A: B ~x / Z
         B: A +m
         requires Z m\n end Z",
    );
    assert_eq!(Prover::new(&graph, Limits::default()).monitors(), [Verdict::Holds]);
}

#[test]
fn cells_that_do_the_same_are_told_apart_in_paths() {
    let graph = graph("counter x 1\n root A\n A: B ~x / Z | B ~x / Z\n B: A | A\n end Z");
    let prover = Prover::new(&graph, Limits::default());
    for cell in 0..2 {
        let last = Move { node: 0, cell, step: 1 };
        let Found::Path(path) = prover.path_to_step(last) else { panic!("cell {cell}") };
        assert_eq!((path.moves.len(), path.moves.last()), (3, Some(&last)));
        replay(&graph, &path).expect("it replays");
    }
}

/// Asks everything, so that nothing can panic or go on for ever, and checks that nothing is claimed exactly
/// without a witness that replays.
fn ask_everything(graph: &Graph) {
    let blind =
        Limits { small_keys: 0, dense_keys: 0, hashed_configurations: 2, quest: 2, ..Limits::default() };
    for limits in [Limits::default(), blind] {
        let prover = Prover::new(graph, limits);
        prover.reach(usize::MAX);
        prover.termination();
        prover.ending();
        prover.monitors();
        prover.path_to_node(0);
        prover.path_to_step(Move { node: 7, cell: 7, step: 7 });
        let lanes = [vec![1; graph.nodes.len()], vec![u64::MAX; graph.nodes.len()], vec![]];
        let worst = prover.worst(&lanes);
        prover.per_answer(&lanes, &worst);
        for told in worst.stretch.iter().chain(&worst.whole) {
            if let Dearest::Exact { witness, .. } = told
                && !graph.roots.is_empty()
            {
                replay(graph, &witness.path).expect("it replays");
            }
        }
    }
}

#[test]
fn odd_graphs_are_answered_too() {
    ask_everything(&Graph::default());
    ask_everything(&Graph { nodes: vec![Node::default()], ..Graph::default() });
    ask_everything(&Graph {
        nodes: vec![Node::default()],
        roots: vec![Root { node: 0, holds: [].into() }; 3],
        ..Graph::default()
    });
    ask_everything(&graph("counter x 0\n root A\n A: A ~x / Z | A ~x\n end Z"));
    ask_everything(&graph("root A\n A: Z\n B: A\n end Z\n Z: A"));
    for limit in [u32::MAX, 1 << 20, 7] {
        let huge = "counter x 1\n counter y 1\n root A\n A: A ~x / B !x\n B: B ~y / Z | A ~y ~x / Z\n end Z";
        let mut huge = graph(huge);
        huge.counters.iter_mut().for_each(|counter| counter.limit = limit);
        ask_everything(&huge);
        assert_eq!(
            *Prover::new(&huge, Limits::default()).termination(),
            Termination::Proved(Argument::Lexicographic)
        );
    }
}

/// One node that spends any of so many counters to stay where it is.
fn many_counters(count: u16, limit: u32) -> Graph {
    let stay = |counter| Cell {
        waits: false,
        steps: vec![
            Step { to: 0, spend: [counter].into(), ..Step::default() },
            Step { to: 1, ..Step::default() },
        ],
    };
    Graph {
        nodes: vec![
            Node { cells: (0..count).map(stay).collect(), ..Node::default() },
            Node { end: true, requires: [0].into(), ..Node::default() },
        ],
        counters: (0..count).map(|id| Counter { name: format!("c{id}"), limit }).collect(),
        monitors: vec![Monitor { name: "never".to_owned() }],
        roots: vec![Root { node: 0, holds: [].into() }],
    }
}

#[test]
fn what_does_not_fit_is_bounded_and_not_claimed() {
    let graph = many_counters(70, 1);
    let prover = Prover::new(&graph, Limits::default());
    assert!(!prover.fits());
    ask_everything(&graph);
    assert_eq!(*prover.termination(), Termination::Proved(Argument::Lexicographic));
    assert_eq!(prover.ending(), Ending::Proved);
    assert_eq!(prover.monitors(), [Verdict::Unknown]);
    assert_eq!(prover.path_to_node(1), Found::Unknown);
    let told = prover.worst(&[vec![1, 0]]);
    assert!(matches!(told.stretch[0], Dearest::Between { at_least: 1, at_most: Some(71), .. }), "{told:?}");
    // Many small counters of which only a few are live at once do fit.
    let mut chain = String::from("root n0\n");
    chain.extend((0..70).map(|id| format!("counter c{id} 3\n")));
    chain.extend((0..70).map(|id| format!("n{id}: n{id} ~c{id} / n{}\n", id + 1)));
    chain += "end n70\n";
    let chain = self::graph(&chain);
    let live_to_the_end = Prover::new(&chain, Limits::default());
    assert!(!live_to_the_end.fits(), "each is live from the beginning until its own node");
}

#[test]
fn counters_filled_up_on_entry_share_their_bits() {
    let mut text = String::from("root n0\n");
    text.extend((0..70).map(|id| format!("counter c{id} 3\n")));
    text.extend((0..69).map(|id| format!("n{id}: n{id} ~c{id} / n{} !c{}\n", id + 1, id + 1)));
    text += "n69: n69 ~c69 / n70\n end n70\n";
    let graph = graph(&text);
    let prover = Prover::new(&graph, Limits::default());
    assert!(prover.fits());
    assert_eq!(value(&prover.worst(&[vec![1; 70]]).stretch[0]), Some(280));
}

/// The figures of the design notes, so that a change of the generator or of the answers is noticed.
#[test]
fn large_graphs_cost_what_the_notes_say() {
    let totals = |flavour, nodes, counters| {
        let made = large(7, Size { nodes, counters, limit: 3, monitors: 4 }, flavour);
        let prover = Prover::new(&made.graph, Limits::default());
        let verdicts = prover.monitors();
        assert!(verdicts[0] == Verdict::Holds && verdicts[2] == Verdict::Holds);
        let told = prover.worst(&made.lanes);
        if let Dearest::Exact { witness, value } = &told.stretch[0] {
            let stops = replay(&made.graph, &witness.path).expect("it replays");
            assert_eq!(stops.iter().map(|(node, _)| made.lanes[0][*node as usize]).sum::<u64>(), *value);
        }
        value(&told.stretch[0])
    };
    assert_eq!(totals(Flavour::Local, 20, 8), Some(156));
    assert_eq!(totals(Flavour::Local, 50, 6), Some(848));
    assert_eq!(totals(Flavour::Local, 200, 8), Some(3748));
    assert_eq!(totals(Flavour::Leaky, 50, 6), Some(848));
    assert_eq!(totals(Flavour::Global, 50, 4), Some(851));
    assert_eq!(totals(Flavour::Global, 50, 6), Some(1211));
}
