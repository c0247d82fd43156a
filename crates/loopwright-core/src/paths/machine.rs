//! Comparing patterns: the automata and the search over them.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use super::pattern::{Class, Piece, Template};

/// What a template counts as.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Any text, without marks: for a path that is given.
    Any,
    /// The marked text where its place is known, else any text: for what must not be missed.
    Possible,
    /// The marked text, else nothing: for what must not be assumed.
    Certain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Exclude,
    Within,
    Outside,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Found,
    None,
    GaveUp,
}

/// A letter of a path, or a mark around a template's text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Symbol {
    Char(char),
    Open(usize),
    Close(usize),
}

#[derive(Clone)]
enum Label {
    Char(char),
    /// Any letter but `/`.
    Name,
    Class(Class),
    Mark(Symbol),
}

impl Label {
    fn takes(&self, symbol: Symbol) -> bool {
        match (self, symbol) {
            (Self::Char(wanted), Symbol::Char(letter)) => *wanted == letter,
            (Self::Name, Symbol::Char(letter)) => letter != '/',
            (Self::Class(class), Symbol::Char(letter)) => {
                letter != '/' && class.ranges.iter().any(|range| range.contains(&letter)) != class.negated
            }
            (Self::Mark(mark), symbol) => *mark == symbol,
            _ => false,
        }
    }
}

/// The automata of several patterns, in one row of states.
#[derive(Default)]
pub(super) struct Machine {
    states: Vec<State>,
    templates: Vec<Template>,
    /// Per pattern: the templates whose marks it reads.
    marks: Vec<Vec<usize>>,
}

#[derive(Default)]
struct State {
    steps: Vec<(Label, usize)>,
    /// States that are reached without reading.
    skips: Vec<usize>,
    pattern: usize,
    accepts: bool,
}

/// The state a pattern starts in.
pub(super) type Start = usize;

impl Machine {
    pub(super) fn add(&mut self, pattern: &[Piece], reading: Reading) -> Start {
        self.marks.push(Vec::new());
        let start = self.state();
        let mut at = start;
        for piece in pattern {
            at = self.piece(at, piece, reading);
        }
        self.states[at].accepts = true;
        start
    }

    fn state(&mut self) -> usize {
        self.states.push(State { pattern: self.marks.len() - 1, ..State::default() });
        self.states.len() - 1
    }

    fn step(&mut self, from: usize, label: Label) -> usize {
        let to = self.state();
        self.states[from].steps.push((label, to));
        to
    }

    /// At least one letter of a name.
    fn name(&mut self, from: usize) -> usize {
        let to = self.step(from, Label::Name);
        self.states[to].steps.push((Label::Name, to));
        to
    }

    fn piece(&mut self, at: usize, piece: &Piece, reading: Reading) -> usize {
        match piece {
            Piece::Char(letter) => self.step(at, Label::Char(*letter)),
            Piece::One => self.step(at, Label::Name),
            Piece::Class(class) => self.step(at, Label::Class(class.clone())),
            Piece::Many => {
                let to = self.state();
                self.states[to].steps.push((Label::Name, to));
                self.states[at].skips.push(to);
                to
            }
            Piece::Deep => {
                let between = self.state();
                self.states[at].skips.push(between);
                let within = self.name(between);
                self.states[within].steps.push((Label::Char('/'), between));
                between
            }
            Piece::Template(template) => match (reading, &template.place) {
                (Reading::Any, _) | (Reading::Possible, None) => self.name(at),
                (Reading::Certain, None) => self.state(),
                (_, Some(_)) => {
                    let known = self.templates.iter().position(|it| it == template);
                    let number = known.unwrap_or(self.templates.len());
                    if known.is_none() {
                        self.templates.push(template.clone());
                    }
                    if let Some(marks) = self.marks.last_mut() {
                        marks.push(number);
                    }
                    let opened = self.step(at, Label::Mark(Symbol::Open(number)));
                    let named = self.name(opened);
                    self.step(named, Label::Mark(Symbol::Close(number)))
                }
            },
        }
    }

    /// One symbol for every difference the patterns can make.
    fn symbols(&self) -> Vec<Symbol> {
        let after = |letter: char| (letter..).nth(1);
        let mut firsts = BTreeSet::from(['\0', '/', '0']);
        for (label, _) in self.states.iter().flat_map(|state| &state.steps) {
            match label {
                Label::Char(letter) => firsts.extend([Some(*letter), after(*letter)].into_iter().flatten()),
                Label::Class(class) => {
                    for range in &class.ranges {
                        firsts.extend([Some(*range.start()), after(*range.end())].into_iter().flatten());
                    }
                }
                Label::Name | Label::Mark(_) => {}
            }
        }
        let marks = (0..self.templates.len()).flat_map(|it| [Symbol::Open(it), Symbol::Close(it)]);
        firsts.into_iter().map(Symbol::Char).chain(marks).collect()
    }

    /// The states after a symbol, those reached without reading included.
    fn after(&self, state: usize, symbol: Symbol, into: &mut Vec<usize>) {
        if let Symbol::Open(mark) | Symbol::Close(mark) = symbol
            && !self.marks[self.states[state].pattern].contains(&mark)
        {
            into.push(state);
            return;
        }
        for (label, to) in &self.states[state].steps {
            if label.takes(symbol) {
                self.settle(*to, into);
            }
        }
    }

    fn settle(&self, state: usize, into: &mut Vec<usize>) {
        let mut open = vec![state];
        while let Some(next) = open.pop() {
            into.push(next);
            open.extend(&self.states[next].skips);
        }
    }

    /// Looks for a path that both patterns take (or the one) and that those beside it leave as asked for.
    pub(super) fn search(
        &self,
        one: Start,
        two: Option<Start>,
        beside: &[(Start, Role)],
        effort: &mut usize,
    ) -> Outcome {
        let roles: FxHashMap<usize, Role> =
            beside.iter().map(|(start, role)| (self.states[*start].pattern, *role)).collect();
        let mut sets = Sets {
            machine: self,
            roles,
            known: FxHashMap::default(),
            all: Vec::new(),
            steps: FxHashMap::default(),
        };
        let mut first = Vec::new();
        for (start, _) in beside {
            self.settle(*start, &mut first);
        }
        let set = sets.number(first);
        let symbols = self.symbols();
        let (mut open, mut seen) = (VecDeque::new(), FxHashSet::default());
        let (mut left, mut right) = (Vec::new(), Vec::new());
        self.settle(one, &mut left);
        if let Some(two) = two {
            self.settle(two, &mut right);
        }
        let mut arrive = |left: &[usize], right: &[usize], set: usize, open: &mut VecDeque<_>| {
            for &left in left {
                if right.is_empty() && seen.insert((left, None, set)) {
                    open.push_back((left, None, set));
                }
                for &right in right {
                    if seen.insert((left, Some(right), set)) {
                        open.push_back((left, Some(right), set));
                    }
                }
            }
        };
        arrive(&left, &right, set, &mut open);
        while let Some((one, two, set)) = open.pop_front() {
            let ended = self.states[one].accepts && two.is_none_or(|two| self.states[two].accepts);
            if ended && sets.leaves(set) {
                return Outcome::Found;
            }
            let Some(left_over) = effort.checked_sub(1) else { return Outcome::GaveUp };
            *effort = left_over;
            for (index, &symbol) in symbols.iter().enumerate() {
                left.clear();
                right.clear();
                self.after(one, symbol, &mut left);
                if let Some(two) = two {
                    self.after(two, symbol, &mut right);
                }
                if left.is_empty() || (two.is_some() && right.is_empty()) {
                    continue;
                }
                let next = sets.after(set, index, symbol, effort);
                arrive(&left, &right, next, &mut open);
            }
        }
        Outcome::None
    }
}

/// Sets of states of the patterns beside a search, each known by a number.
struct Sets<'m> {
    machine: &'m Machine,
    roles: FxHashMap<usize, Role>,
    known: FxHashMap<Vec<usize>, usize>,
    all: Vec<Vec<usize>>,
    steps: FxHashMap<(usize, usize), usize>,
}

impl Sets<'_> {
    fn number(&mut self, mut states: Vec<usize>) -> usize {
        states.sort_unstable();
        states.dedup();
        let next = self.all.len();
        *self.known.entry(states).or_insert_with_key(|states| {
            self.all.push(states.clone());
            next
        })
    }

    fn after(&mut self, set: usize, index: usize, symbol: Symbol, effort: &mut usize) -> usize {
        if let Some(known) = self.steps.get(&(set, index)) {
            return *known;
        }
        let mut states = Vec::new();
        for state in &self.all[set] {
            self.machine.after(*state, symbol, &mut states);
        }
        *effort = effort.saturating_sub(states.len() / 8);
        let next = self.number(states);
        self.steps.insert((set, index), next);
        next
    }

    /// Whether a path that ends here is not excluded, and not within what it is compared with.
    fn leaves(&self, set: usize) -> bool {
        let ended = |role: Role| {
            let states = self.all[set].iter().map(|state| &self.machine.states[*state]);
            states.into_iter().any(|state| state.accepts && self.roles.get(&state.pattern) == Some(&role))
        };
        !ended(Role::Exclude) && (!ended(Role::Within) || ended(Role::Outside))
    }
}

/// Whether a pattern takes a path, its templates being any text.
pub(super) fn takes(pattern: &[Piece], path: &str) -> bool {
    let mut machine = Machine::default();
    let start = machine.add(pattern, Reading::Any);
    let mut states = Vec::new();
    machine.settle(start, &mut states);
    for letter in path.chars() {
        let mut next = Vec::new();
        for state in &states {
            machine.after(*state, Symbol::Char(letter), &mut next);
        }
        next.sort_unstable();
        next.dedup();
        states = next;
    }
    states.into_iter().any(|state| machine.states[state].accepts)
}
