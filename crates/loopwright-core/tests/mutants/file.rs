//! Where things stand in a `workflow.yaml`: its machines, their states, cells and arms.

use loopwright_core::signal;

use crate::tree::{Part, Tree, join, key};

/// Something in a file, and what it is called in the name of a mutant.
pub(crate) struct Spot {
    pub(crate) place: Vec<Part>,
    pub(crate) name: String,
}

/// One machine of a file.
pub(crate) struct Machine<'t> {
    pub(crate) tree: &'t Tree,
    /// Where it stands.
    pub(crate) place: Vec<Part>,
    /// A child's name and a dot.
    pub(crate) prefix: String,
}

/// The workflow's own machine, then its children.
pub(crate) fn machines(tree: &Tree) -> Vec<Machine<'_>> {
    let mut found = vec![Machine { tree, place: Vec::new(), prefix: String::new() }];
    for (child, _) in tree.get("children").map(Tree::entries).unwrap_or_default() {
        let place = vec![key("children"), key(child)];
        found.push(Machine { tree, place, prefix: format!("{child}.") });
    }
    found
}

impl<'t> Machine<'t> {
    /// What stands under one of its keys, entry by entry.
    pub(crate) fn section(&self, name: &str) -> &'t [(String, Tree)] {
        self.tree.at(&self.place).and_then(|it| it.get(name)).map(Tree::entries).unwrap_or_default()
    }

    pub(crate) fn states(&self) -> &'t [(String, Tree)] {
        self.section("states")
    }

    pub(crate) fn state(&self, name: &str) -> Option<&'t Tree> {
        self.states().iter().find(|(it, _)| it == name).map(|(_, it)| it)
    }

    pub(crate) fn place_of(&self, section: &str, name: &str) -> Vec<Part> {
        join(&self.place, &[key(section), key(name)])
    }

    /// The cells of one state, as written.
    pub(crate) fn cells_of(&self, name: &str) -> Vec<Spot> {
        let Some(state) = self.state(name) else { return Vec::new() };
        let place = self.place_of("states", name);
        let prefix = &self.prefix;
        let mut found = Vec::new();
        for (signals, _) in state.get("on").map(Tree::entries).unwrap_or_default() {
            let place = join(&place, &[key("on"), key(signals)]);
            found.push(Spot { place, name: format!("{prefix}{name} {signals}") });
        }
        for word in ["then", "choose"] {
            if state.get(word).is_some() {
                found
                    .push(Spot { place: join(&place, &[key(word)]), name: format!("{prefix}{name} {word}") });
            }
        }
        found
    }

    /// The cells of all states, and the defaults.
    pub(crate) fn cells(&self) -> Vec<Spot> {
        let prefix = &self.prefix;
        let defaults = self.section("defaults").iter().map(|(signals, _)| Spot {
            place: self.place_of("defaults", signals),
            name: format!("{prefix}defaults {signals}"),
        });
        defaults.chain(self.states().iter().flat_map(|(name, _)| self.cells_of(name))).collect()
    }

    /// The arms in a cell, those of `else` included.
    pub(crate) fn arms(&self, cell: &Spot) -> Vec<Spot> {
        let mut found = Vec::new();
        let count = self.tree.at(&cell.place).map_or(0, |it| it.items().len());
        for at in 0..count {
            let place = join(&cell.place, &[Part::Item(at)]);
            let name = if count > 1 { format!("{} arm {}", cell.name, at + 1) } else { cell.name.clone() };
            if self.tree.at(&place).is_some_and(|it| it.get("else").is_some()) {
                let otherwise = Spot { place: join(&place, &[key("else")]), name: format!("{name} else") };
                found.extend(self.arms(&otherwise));
            }
            found.push(Spot { place, name });
        }
        found
    }

    pub(crate) fn arm(&self, spot: &Spot) -> &'t Tree {
        self.tree.at(&spot.place).expect("an arm")
    }

    /// Where an arm leads.
    pub(crate) fn target(&self, arm: &Spot) -> &'t str {
        let arm = self.arm(arm);
        arm.text().or_else(|| arm.get("to").and_then(Tree::text)).unwrap_or_default()
    }

    /// The arms of the best way a state can come out: its `then`, its `choose`, or the first line of its `on`.
    pub(crate) fn best_arms(&self, name: &str) -> Vec<Spot> {
        let mut cells = self.cells_of(name);
        let is_written =
            self.state(name).is_some_and(|it| it.get("then").or_else(|| it.get("choose")).is_some());
        let best = if is_written { cells.pop() } else { cells.into_iter().next() };
        best.map(|it| self.arms(&it)).unwrap_or_default()
    }

    /// The states that judge something.
    pub(crate) fn judges(&self) -> impl Iterator<Item = (&'t str, &'t Tree)> {
        self.states()
            .iter()
            .filter(|(_, it)| it.get("judges").is_some())
            .map(|(name, it)| (name.as_str(), it))
    }

    /// The signals that do not pass a judge, one line of its `on` each.
    pub(crate) fn bad_cells(&self, judge: &str) -> Vec<Spot> {
        let Some(state) = self.state(judge) else { return Vec::new() };
        let on = state.get("on").map(Tree::entries).unwrap_or_default();
        let passes: Vec<&str> = match state.get("passes") {
            Some(passes) => passes.words(),
            None if state.get("then").is_some() => Vec::new(),
            None => on.first().map(|(it, _)| words(it)).unwrap_or_default(),
        };
        let cells = self.cells_of(judge).into_iter().zip(on);
        let bad = cells.filter(|(_, (signals, _))| words(signals).iter().all(|it| !passes.contains(it)));
        bad.map(|(cell, _)| cell).collect()
    }

    /// Where the pass of a judge leads. What only sends on (`choose`, `settle`) and may send the run back to the judge is
    /// not beyond it; where that leads when nothing is left to do is.
    pub(crate) fn beyond(&self, judge: &str) -> Vec<&'t str> {
        let mut found: Vec<&str> = Vec::new();
        for arm in self.best_arms(judge) {
            let target = self.target(&arm);
            let onward = self.best_arms(target);
            let next = self.state(target);
            let settles = next.and_then(|it| it.get("settle")).is_some_and(|it| it.words().contains(&judge));
            let chooses = next.is_some_and(|it| it.get("choose").is_some());
            if settles {
                found.extend(onward.iter().map(|it| self.target(it)));
            } else if chooses && onward.iter().any(|it| self.target(it) == judge) {
                found.extend(onward.last().map(|it| self.target(it)));
            } else {
                found.push(target);
            }
        }
        let mut seen = Vec::new();
        found.retain(|it| {
            let fresh = *it != judge && self.state(it).is_some() && !seen.contains(it);
            seen.push(*it);
            fresh
        });
        found
    }

    /// Whether what stands beyond a judge is a judge of the same gate, or chooses to go to one.
    pub(crate) fn comes_back(&self, beyond: &str, judge: &str) -> bool {
        let gate = |name: &str| {
            let state = self.state(name).filter(|it| it.get("judges").is_some())?;
            Some(state.get("gate").and_then(Tree::text).unwrap_or(name).to_owned())
        };
        let same = |name: &str| gate(name).is_some_and(|it| Some(it) == gate(judge));
        let chooses = self.state(beyond).is_some_and(|it| it.get("choose").is_some());
        same(beyond) || chooses && self.best_arms(beyond).iter().any(|it| same(self.target(it)))
    }

    /// Whether something takes a signal that a state does not route: a default of the machine, or of the workflow where
    /// it has none, or what goes without saying for a loop without items and for a gate gone stale.
    pub(crate) fn has_default(&self, word: &str) -> bool {
        let own = self.section("defaults");
        let defaults = if own.is_empty() {
            self.tree.get("defaults").map(Tree::entries).unwrap_or_default()
        } else {
            own
        };
        let named = defaults.iter().flat_map(|(signals, _)| words(signals));
        let failure = signal::is_failure(word) || word == signal::GROUP_TRANSIENT;
        let takes = |it: &str| it == word || it == signal::GROUP_FAILURES && failure;
        [signal::EMPTY, signal::STALE].contains(&word) || named.into_iter().any(takes)
    }

    /// Whether a state does something about what a judge found.
    pub(crate) fn repairs(&self, name: &str) -> bool {
        let kinds = ["agent", "do", "each", "choose"];
        self.state(name).is_some_and(|it| kinds.iter().any(|kind| it.get(kind).is_some()))
    }
}

/// The signals a line of `on` names.
pub(crate) fn words(signals: &str) -> Vec<&str> {
    signals.split('|').map(str::trim).collect()
}

/// What is listed somewhere, or in the rows of a table there: each list with its row's name.
pub(crate) fn rows<'t>(tree: &'t Tree, place: &[Part]) -> Vec<(Vec<Part>, String, Vec<&'t str>)> {
    let Some(here) = tree.at(place) else { return Vec::new() };
    if here.get("by").is_none() {
        return vec![(place.to_vec(), String::new(), here.words())];
    }
    let entries = here.entries().iter().filter(|(it, _)| it != "by");
    entries.map(|(row, list)| (join(place, &[key(row)]), format!(" ({row})"), list.words())).collect()
}
