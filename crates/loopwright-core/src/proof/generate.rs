//! Graphs to measure and to test with, made from a seed.
//!
//! **Invariant:** the same seed gives the same graph for ever, so that figures can be compared.

use super::graph::{Cell, Counter, Graph, Ids, Monitor, MonitorId, Node, NodeId, Root, Step};
use super::limits::small;

/// Which kind of workflow a large graph resembles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// Phases with a budget each, filled up on entering the phase, and one budget for rework in the whole run.
    Local,
    /// The same, but phases can be entered past the node that fills up their budget.
    Leaky,
    /// Any step back may spend any budget and nothing is ever filled up: the worst for walks.
    Global,
}

/// How large a graph to make.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// How many nodes, two of them ends; at least five.
    pub nodes: usize,
    /// How many counters; at least two.
    pub counters: usize,
    /// The limit of each counter.
    pub limit: u32,
    /// How many monitors.
    pub monitors: usize,
}

/// A graph, and what its nodes cost.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The graph.
    pub graph: Graph,
    /// The total first, then one lane for each of three roles.
    pub lanes: Vec<Vec<u64>>,
}

/// Splitmix64: small, and the same everywhere.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// A number below `bound`; zero when there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        super::limits::index(self.draw() % (bound.max(1) as u64))
    }

    /// True so many times in a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn node(&mut self, bound: usize) -> NodeId {
        small(self.below(bound))
    }

    fn short(&mut self, bound: usize) -> u16 {
        u16::try_from(self.below(bound)).unwrap_or(0)
    }
}

/// A step to a node, which may spend one counter.
fn step(to: usize, spend: Option<usize>) -> Step {
    let spend = spend.into_iter().filter_map(|it| u16::try_from(it).ok()).collect();
    Step { to: small(to), spend, ..Step::default() }
}

fn cell(steps: Vec<Step>) -> Cell {
    Cell { waits: false, steps }
}

/// A large graph without people. It is total, and its unattended runs end.
pub fn large(seed: u64, size: Size, flavour: Flavour) -> Generated {
    let mut random = Random(seed);
    let nodes = size.nodes.max(5);
    let plan = Plan::new(nodes, size.counters.max(2));
    let mut made = Generated { graph: Graph::default(), lanes: vec![vec![0; nodes]; 4] };
    made.graph.counters =
        (0..plan.counters).map(|id| Counter { name: format!("b{id}"), limit: size.limit }).collect();
    for at in 0..plan.body {
        let cells = match flavour {
            Flavour::Global => plan.global(at, &mut random),
            Flavour::Local | Flavour::Leaky => plan.phased(at, flavour, &mut random),
        };
        made.graph.nodes.push(Node { cells, ..Node::default() });
        let (role, cost) = (random.below(3), 1 + random.below(2) as u64);
        made.lanes[0][at] = cost;
        made.lanes[1 + role][at] = cost;
    }
    made.graph.nodes.extend((0..2).map(|_| Node { end: true, ..Node::default() }));
    made.graph.roots.push(Root { node: 0, holds: Ids::default() });
    plan.only_the_last_wins(&mut made.graph);
    if flavour != Flavour::Global {
        plan.fill_up_on_entry(&mut made.graph);
    }
    for gate in 0..size.monitors {
        plan.gate(gate, &mut made.graph, &mut random);
    }
    made
}

struct Plan {
    counters: usize,
    /// How many nodes are no ends; the first end is the good one.
    body: usize,
    /// How many nodes a phase has.
    phase: usize,
}

impl Plan {
    fn new(nodes: usize, counters: usize) -> Self {
        Plan { counters, body: nodes - 2, phase: (nodes - 2).div_ceil(counters - 1) }
    }

    fn win(&self) -> usize {
        self.body
    }

    fn lose(&self) -> usize {
        self.body + 1
    }

    fn own_counter(&self, phase: usize) -> usize {
        1 + phase % (self.counters - 1)
    }

    fn phased(&self, at: usize, flavour: Flavour, random: &mut Random) -> Vec<Cell> {
        let phase = at / self.phase;
        let (first, own, forward) = (phase * self.phase, Some(self.own_counter(phase)), at + 1);
        let back = if at > first + 1 { first + 1 + random.below(at - first) } else { at };
        let mut again = vec![step(forward, None)];
        if at > first {
            again = vec![step(back, own), step(if random.chance(60) { forward } else { self.lose() }, None)];
        }
        let mut replan = vec![step(forward, None)];
        if at > self.phase && random.chance(40) {
            replan = vec![step(random.below(phase.max(1)) * self.phase, Some(0)), step(self.lose(), None)];
        }
        random.below(3);
        let mut jump = (at + 1 + random.below(self.phase)).min(self.win());
        if flavour == Flavour::Local {
            jump = jump.min((phase + 1) * self.phase);
        }
        let failed = vec![step(if at > first { at } else { forward }, own), step(self.lose(), None)];
        let routes = [vec![step(forward, None)], again, replan, vec![step(jump, None)]];
        let routes = routes.into_iter().chain([vec![step(forward, None)], failed.clone(), failed]);
        routes.map(cell).collect()
    }

    fn global(&self, at: usize, random: &mut Random) -> Vec<Cell> {
        let forward = at + 1;
        let mut cells = vec![cell(vec![step(forward, None)])];
        for _ in 0..2 {
            let mut steps = Vec::new();
            for _ in 0..2 {
                let spend = random.below(self.counters);
                steps.push(step(random.below(at + 1), Some(spend)));
            }
            steps.push(step(if random.chance(70) { forward } else { self.lose() }, None));
            cells.push(cell(steps));
        }
        cells.push(cell(vec![step((at + 1 + random.below(8)).min(self.win()), None)]));
        cells.push(cell(vec![step(forward, None)]));
        let failed = vec![step(at, Some(random.below(self.counters))), step(self.lose(), None)];
        cells.extend([cell(failed.clone()), cell(failed)]);
        cells
    }

    /// Only the first outcome of the last node reaches the good end, and nothing jumps over that node.
    fn only_the_last_wins(&self, graph: &mut Graph) {
        let (win, lose, last) = (small(self.win()), small(self.lose()), self.body - 1);
        for (at, node) in graph.nodes.iter_mut().enumerate() {
            for (place, cell) in node.cells.iter_mut().enumerate() {
                for step in cell.steps.iter_mut().filter(|step| step.to == win) {
                    if at < last {
                        step.to = small(last);
                    } else if place > 0 {
                        step.to = lose;
                    }
                }
            }
        }
    }

    fn fill_up_on_entry(&self, graph: &mut Graph) {
        for step in graph.nodes.iter_mut().flat_map(|node| &mut node.cells).flat_map(|cell| &mut cell.steps) {
            let to = step.to as usize;
            if to < self.body && to.is_multiple_of(self.phase) {
                step.refill.extend(u16::try_from(self.own_counter(to / self.phase)).ok());
            }
        }
    }

    /// Every other gate holds: the last node judges, and nothing goes round it.
    fn gate(&self, gate: usize, graph: &mut Graph, random: &mut Random) {
        let id = u16::try_from(gate).unwrap_or(MonitorId::MAX);
        graph.monitors.push(Monitor { name: format!("g{gate}") });
        let judge = if gate.is_multiple_of(2) { self.body - 1 } else { random.below(self.body) };
        graph.nodes[self.win()].requires.insert(id);
        for _ in 0..2 + self.body / 10 {
            let writer = random.below(self.body - 1);
            if writer != judge {
                let steps = graph.nodes[writer].cells.iter_mut().flat_map(|cell| &mut cell.steps);
                steps.for_each(|step| step.breaks.insert(id));
            }
        }
        graph.nodes[judge].cells[0].steps.iter_mut().for_each(|step| step.holds.insert(id));
    }
}

/// A small graph in which anything goes: people, several roots, refills, holes, dead cells, unreachable parts
/// and sometimes more than 64 monitors.
pub fn wild(seed: u64) -> Generated {
    let mut random = Random(seed ^ 0x77);
    let (nodes, counters) = (2 + random.below(9), random.below(4));
    let monitors = if random.chance(4) { 60 + random.below(12) } else { random.below(4) };
    // Some graphs mostly go forward, so that many end, and some mostly do not.
    let (forward, asked) = ([96, 90, 50][random.below(3)], [0, 10, 40][random.below(3)]);
    let total = if random.chance(80) { 100 } else { 85 };
    let mut graph = Graph::default();
    for id in 0..counters {
        let limit = if random.chance(5) { 0 } else { 1 + random.node(3) };
        graph.counters.push(Counter { name: format!("c{id}"), limit });
    }
    graph.monitors = (0..monitors).map(|id| Monitor { name: format!("m{id}") }).collect();
    for at in 0..nodes {
        let mut node = Node { end: at + 1 == nodes || random.chance(8), ..Node::default() };
        for _ in 0..if node.end { 0 } else { random.below(4).max(usize::from(random.chance(95))) } {
            let mut cell = Cell { waits: random.chance(asked), steps: Vec::new() };
            for _ in 0..random.below(3) {
                cell.steps.push(wild_step(&mut random, nodes, counters, monitors));
            }
            if random.chance(total) {
                let mut last = wild_step(&mut random, nodes, 0, monitors);
                if random.chance(forward) {
                    last.to = small(at + 1 + random.below(nodes - at - 1));
                }
                if counters > 0 && random.chance(6) {
                    last.refill.insert(random.short(counters));
                }
                cell.steps.push(last);
            }
            let copy = random.chance(10).then(|| cell.clone());
            node.cells.push(cell);
            node.cells.extend(copy);
        }
        for _ in 0..usize::from(monitors > 0 && random.chance(30)) * (1 + monitors / 20) {
            node.requires.insert(random.short(monitors));
        }
        graph.nodes.push(node);
    }
    for _ in 0..if random.chance(95) { 1 + usize::from(random.chance(25)) } else { 0 } {
        let holds =
            (0..monitors).filter(|_| random.chance(60)).filter_map(|id| u16::try_from(id).ok()).collect();
        let anywhere = if random.chance(80) { 1 } else { nodes };
        graph.roots.push(Root { node: random.node(anywhere), holds });
    }
    let roles = (0..nodes).map(|_| random.below(4) as u64).collect();
    let rare = (0..nodes).map(|_| u64::from(random.chance(25)) * (random.draw() % 1000)).collect();
    let lanes = vec![vec![1; nodes], roles, rare];
    Generated { graph, lanes }
}

fn wild_step(random: &mut Random, nodes: usize, counters: usize, monitors: usize) -> Step {
    let mut step = Step { to: random.node(nodes), ..Step::default() };
    if counters > 0 {
        step.spend.insert(random.short(counters));
        if random.chance(15) {
            step.spend.insert(random.short(counters));
        }
        if random.chance(12) {
            step.refill.insert(random.short(counters));
        }
    }
    for _ in 0..usize::from(monitors > 0) * (1 + monitors / 20) {
        if random.chance(35) {
            step.breaks.insert(random.short(monitors));
        }
        if random.chance(35) {
            step.holds.insert(random.short(monitors));
        }
    }
    step
}
