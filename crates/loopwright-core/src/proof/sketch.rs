//! Graphs written down as text, so that a test shows the graph it is about.
//!
//! One statement a line: `counter x 3`, `monitor m`, `root A +m`, `end Z`, `requires A m`, and the cells of a
//! node, `A: B ~x !y -m +n / C | ? D`. Cells are parted by `|`, their steps by `/`; a step names its target,
//! then what it spends (`~`), fills up (`!`), breaks (`-`) and makes true (`+`); `?` marks a cell that waits.

use super::graph::{Cell, Counter, Graph, Ids, Monitor, Node, NodeId, Root, Step};
use super::limits::small;

/// A graph and the names of its nodes.
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    /// The graph.
    pub graph: Graph,
    names: Vec<String>,
}

impl Sketch {
    /// Reads a sketch; the message says which line makes no sense.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut sketch = Sketch::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            sketch.statement(line).ok_or_else(|| format!("no sense in `{line}`"))?;
        }
        Ok(sketch)
    }

    /// The node of this name, made if need be.
    pub fn node(&mut self, name: &str) -> NodeId {
        let known = self.names.iter().position(|other| other == name);
        small(known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.graph.nodes.push(Node::default());
            self.names.len() - 1
        }))
    }

    fn statement(&mut self, line: &str) -> Option<()> {
        if let Some((name, cells)) = line.split_once(':') {
            let node = self.node(name.trim());
            for cell in cells.split('|').map(str::trim) {
                let (waits, steps) = cell.strip_prefix('?').map_or((false, cell), |rest| (true, rest));
                let steps = steps.split('/').map(|step| self.step(step)).collect::<Option<Vec<Step>>>()?;
                self.graph.nodes[node as usize].cells.push(Cell { waits, steps });
            }
            return Some(());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["counter", name, limit] => {
                let counter = Counter { name: (*name).to_owned(), limit: limit.parse().ok()? };
                self.graph.counters.push(counter);
            }
            ["monitor", name] => self.graph.monitors.push(Monitor { name: (*name).to_owned() }),
            ["root", name, holds @ ..] => {
                let node = self.node(name);
                let holds = holds.iter().map(|word| self.monitor(word.strip_prefix('+')?));
                let holds = holds.collect::<Option<Ids>>()?;
                self.graph.roots.push(Root { node, holds });
            }
            ["end", name] => {
                let node = self.node(name);
                self.graph.nodes[node as usize].end = true;
            }
            ["requires", name, monitor] => {
                let (node, monitor) = (self.node(name), self.monitor(monitor)?);
                self.graph.nodes[node as usize].requires.insert(monitor);
            }
            _ => return None,
        }
        Some(())
    }

    fn step(&mut self, text: &str) -> Option<Step> {
        let mut words = text.split_whitespace();
        let mut step = Step { to: self.node(words.next()?), ..Step::default() };
        for word in words {
            let (sign, name) = word.split_at_checked(1)?;
            match sign {
                "~" => step.spend.insert(self.counter(name)?),
                "!" => step.refill.insert(self.counter(name)?),
                "-" => step.breaks.insert(self.monitor(name)?),
                "+" => step.holds.insert(self.monitor(name)?),
                _ => return None,
            }
        }
        Some(step)
    }

    fn counter(&self, name: &str) -> Option<u16> {
        let place = self.graph.counters.iter().position(|counter| counter.name == name)?;
        u16::try_from(place).ok()
    }

    fn monitor(&self, name: &str) -> Option<u16> {
        let place = self.graph.monitors.iter().position(|monitor| monitor.name == name)?;
        u16::try_from(place).ok()
    }
}
