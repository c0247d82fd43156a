//! Every configuration that a run can reach, in the order of their distance from a root.
//!
//! The exact answers all stand on this one walk: shortest paths come from its order, endless runs and traps
//! from its strongly connected components. Successors are kept while they are few; past that they are computed again
//! when they are needed, because keeping them would cost several times the memory of everything else.

use rustc_hash::FxHashMap;

use super::graph::{Move, NodeId, Path};
use super::limits::{Limits, index, small};
use super::packed::{Key, Packing};
use super::program::{Program, Scope};
use super::quest::Found;

const NONE: u32 = u32::MAX;
/// Instead of the configuration in which a person answered: a root.
const ROOT: u32 = u32::MAX - 1;

/// So many steps between configurations are kept.
const MOST_STEPS: usize = 1 << 21;
/// Set in a kept step that a person chooses. Numbers of configurations do not come near it.
const CHOSEN: u32 = 1 << 31;

/// The steps between configurations.
#[derive(Debug, Default)]
struct Steps {
    to: Vec<u32>,
    /// Where those of each configuration end.
    ends: Vec<u32>,
}

impl Steps {
    /// Where the steps of a configuration lead; `None` where they were not kept.
    fn of(&self, id: u32) -> Option<&[u32]> {
        let end = *self.ends.get(id as usize)? as usize;
        let begin = id.checked_sub(1).map_or(0, |before| self.ends[before as usize] as usize);
        Some(&self.to[begin..end])
    }

    fn push(&mut self, to: u32, chosen: bool) {
        let to = if chosen { to | CHOSEN } else { to };
        let begin = self.ends.last().map_or(0, |it| *it as usize);
        if !self.to[begin..].contains(&to) {
            self.to.push(to);
        }
    }
}

/// Numbers configurations: by an array when there can only be few, else by a hash.
#[derive(Debug)]
enum Table {
    /// The number plus one, or zero.
    Dense(Vec<u32>),
    Hashed(FxHashMap<Key, u32>),
}

impl Table {
    fn get(&self, key: Key) -> Option<u32> {
        match self {
            Table::Dense(ids) => ids[index(key)].checked_sub(1),
            Table::Hashed(ids) => ids.get(&key).copied(),
        }
    }

    /// The number of a key; `id` if it had none.
    fn get_or_set(&mut self, key: Key, id: u32) -> u32 {
        match self {
            Table::Dense(ids) => {
                let slot = &mut ids[index(key)];
                if *slot == 0 {
                    *slot = id + 1;
                }
                *slot - 1
            }
            Table::Hashed(ids) => *ids.entry(key).or_insert(id),
        }
    }
}

/// The reachable configurations, or as many of them as the limits allow.
#[derive(Debug)]
pub(crate) struct Space {
    pub(crate) keys: Vec<Key>,
    parents: Vec<u32>,
    /// The arm that first led to each configuration.
    by: Vec<u32>,
    /// Per arm: the configuration in which it was first taken.
    taken: Vec<u32>,
    /// Per node: the configuration in which it was first entered.
    entered: Vec<u32>,
    table: Table,
    /// Which root each of the first configurations is.
    roots: Vec<usize>,
    /// Where the answer was given that begins an unattended stretch here, if one does.
    answered_at: Vec<u32>,
    steps: Steps,
    /// Nothing was left out.
    pub(crate) complete: bool,
}

impl Space {
    pub(crate) fn explore(program: &Program<'_>, packing: &Packing, limits: &Limits) -> Self {
        let dense = packing.keys <= limits.dense_keys;
        let table = if dense {
            Table::Dense(vec![0; index(packing.keys)])
        } else {
            Table::Hashed(FxHashMap::default())
        };
        let most = if dense { limits.dense_configurations } else { limits.hashed_configurations };
        let mut space = Space {
            keys: Vec::new(),
            parents: Vec::new(),
            by: Vec::new(),
            taken: vec![NONE; program.arms.len()],
            entered: vec![NONE; program.nodes()],
            table,
            roots: Vec::new(),
            answered_at: Vec::new(),
            steps: Steps::default(),
            complete: true,
        };
        for (root, key) in packing.roots.iter().enumerate() {
            let next = space.keys.len();
            if space.add(*key, (NONE, NONE), ROOT) as usize == next {
                space.enter(packing.node(*key), next);
                space.roots.push(root);
            }
        }
        let mut at = 0;
        while at < space.keys.len() {
            if space.keys.len() > most {
                space.complete = false;
                break;
            }
            let key = space.keys[at];
            let keep = space.steps.ends.len() == at && space.steps.to.len() < MOST_STEPS;
            for chain in program.chains_of(packing.node(key)) {
                if let Some((arm, to)) = packing.next(key, chain.arms.clone()) {
                    if space.taken[arm] == NONE {
                        space.taken[arm] = small(at);
                    }
                    let next = space.keys.len();
                    let answered_at = if chain.waits { small(at) } else { NONE };
                    let id = space.add(to, (small(at), small(arm)), answered_at);
                    if id as usize == next {
                        space.enter(packing.node(to), next);
                    }
                    if keep {
                        space.steps.push(id, chain.waits);
                    }
                }
            }
            if keep {
                let end = small(space.steps.to.len());
                space.steps.ends.push(end);
            }
            at += 1;
        }
        space
    }

    /// The number of a configuration, which may be new.
    fn add(&mut self, key: Key, (parent, by): (u32, u32), answered_at: u32) -> u32 {
        let new = small(self.keys.len());
        let id = self.table.get_or_set(key, new);
        if id == new {
            self.keys.push(key);
            self.parents.push(parent);
            self.by.push(by);
            self.answered_at.push(answered_at);
        } else if self.answered_at[id as usize] == NONE {
            self.answered_at[id as usize] = answered_at;
        }
        id
    }

    fn enter(&mut self, node: NodeId, id: usize) {
        let entered = &mut self.entered[node as usize];
        if *entered == NONE {
            *entered = small(id);
        }
    }

    /// Whether a run takes an arm.
    pub(crate) fn takes(&self, arm: usize) -> bool {
        self.taken[arm] != NONE
    }

    /// A shortest path that enters a node.
    pub(crate) fn path_to_node(&self, program: &Program<'_>, node: NodeId) -> Found {
        match self.entered.get(node as usize).copied().unwrap_or(NONE) {
            NONE if self.complete => Found::Nowhere,
            NONE => Found::Unknown,
            id => Found::Path(self.path_to(program, id)),
        }
    }

    /// A shortest path whose last move is one that an arm stands for.
    pub(crate) fn path_to_step(&self, program: &Program<'_>, arm: usize, last: Move) -> Found {
        match self.taken[arm] {
            NONE if self.complete => Found::Nowhere,
            NONE => Found::Unknown,
            id => {
                let mut path = self.path_to(program, id);
                path.moves.push(last);
                Found::Path(path)
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The configurations that runs begin at.
    pub(crate) fn roots(&self) -> std::ops::Range<u32> {
        0..small(self.roots.len())
    }

    /// The configurations that stretches or runs begin at, the nearest first.
    pub(crate) fn beginnings(&self, scope: Scope) -> impl Iterator<Item = u32> + '_ {
        let roots = self.roots();
        let begins = move |id: &u32| match scope {
            Scope::Whole => roots.contains(id),
            Scope::Stretch => self.answered_at[*id as usize] != NONE,
        };
        (0..small(self.len())).filter(begins)
    }

    pub(crate) fn id(&self, key: Key) -> Option<u32> {
        self.table.get(key)
    }

    /// A shortest path from a root to a configuration.
    pub(crate) fn path_to(&self, program: &Program<'_>, id: u32) -> Path {
        let (mut at, mut moves) = (id as usize, Vec::new());
        while self.parents[at] != NONE {
            moves.push(program.movement(self.by[at] as usize));
            at = self.parents[at] as usize;
        }
        moves.reverse();
        Path { root: self.roots[at], moves }
    }

    /// A path to a configuration whose last move, unless it is a root, is a person's.
    pub(crate) fn path_to_beginning(&self, program: &Program<'_>, packing: &Packing, id: u32) -> Path {
        match self.answered_at[id as usize] {
            ROOT | NONE => self.path_to(program, id),
            from => {
                let mut path = self.path_to(program, from);
                let (from, to) = (self.keys[from as usize], self.keys[id as usize]);
                path.moves.extend(move_between(program, packing, from, to, |waits| waits));
                path
            }
        }
    }

    /// A shortest path inside the explored part from a configuration back to itself.
    pub(crate) fn turn(&self, at: &View<'_>, id: u32) -> Vec<Move> {
        let mut parents: FxHashMap<u32, u32> = FxHashMap::default();
        let mut queue = std::collections::VecDeque::from([id]);
        while let Some(from) = queue.pop_front() {
            for to in at.successors(from) {
                if to == id {
                    let mut ids = vec![id, from];
                    while let Some(parent) = ids.last().filter(|it| **it != id).and_then(|it| parents.get(it))
                    {
                        ids.push(*parent);
                    }
                    ids.reverse();
                    let pairs =
                        ids.windows(2).map(|pair| (self.keys[pair[0] as usize], self.keys[pair[1] as usize]));
                    return pairs
                        .filter_map(|(a, b)| {
                            move_between(at.program, at.packing, a, b, |waits| at.scope.includes(waits))
                        })
                        .collect();
                }
                parents.entry(to).or_insert_with(|| {
                    queue.push_back(to);
                    from
                });
            }
        }
        Vec::new()
    }
}

/// The first move that leads from one configuration to another, among those allowed to wait or not.
pub(crate) fn move_between(
    program: &Program<'_>,
    packing: &Packing,
    from: Key,
    to: Key,
    allowed: impl Fn(bool) -> bool,
) -> Option<Move> {
    let chains = program.chains_of(packing.node(from)).iter().filter(|chain| allowed(chain.waits));
    let mut taken = chains.filter_map(|chain| packing.next(from, chain.arms.clone()));
    taken.find(|(_, key)| *key == to).map(|(arm, _)| program.movement(arm))
}

/// A space seen as a graph: numbered configurations and the steps of one scope.
#[derive(Clone, Copy)]
pub(crate) struct View<'space> {
    pub(crate) program: &'space Program<'space>,
    pub(crate) packing: &'space Packing,
    pub(crate) space: &'space Space,
    pub(crate) scope: Scope,
}

impl View<'_> {
    pub(crate) fn successors(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        self.answered(id).map(|(to, _)| to)
    }

    /// The successors, and whether a person chose them.
    pub(crate) fn answered(&self, id: u32) -> impl Iterator<Item = (u32, bool)> + '_ {
        let kept = self.space.steps.of(id);
        let key = self.space.keys[id as usize];
        let chains = if kept.is_some() { &[] } else { self.program.chains_of(self.packing.node(key)) };
        let computed = chains.iter().filter_map(move |chain| {
            let (_, to) = self.packing.next(key, chain.arms.clone())?;
            Some((self.space.id(to)?, chain.waits))
        });
        let kept = kept.unwrap_or_default().iter().map(|it| (it & !CHOSEN, it & CHOSEN != 0));
        kept.chain(computed).filter(|(_, chosen)| self.scope.includes(*chosen))
    }

    /// The next successor from the chain `cursor` on, which is moved past it.
    fn advance(&self, id: u32, cursor: &mut u32) -> Option<u32> {
        if let Some(kept) = self.space.steps.of(id) {
            while let Some(to) = kept.get(*cursor as usize) {
                *cursor += 1;
                if self.scope.includes(to & CHOSEN != 0) {
                    return Some(to & !CHOSEN);
                }
            }
            return None;
        }
        let key = self.space.keys[id as usize];
        let chains = self.program.chains_of(self.packing.node(key));
        while let Some(chain) = chains.get(*cursor as usize) {
            *cursor += 1;
            if self.scope.includes(chain.waits)
                && let Some((_, to)) = self.packing.next(key, chain.arms.clone())
                && let Some(to) = self.space.id(to)
            {
                return Some(to);
            }
        }
        None
    }

    /// Visits the strongly connected components, each after those it leads to, and says whether it has a
    /// cycle. It is Tarjan's algorithm without recursion.
    pub(crate) fn components(&self, mut visit: impl FnMut(&[u32], bool)) {
        let count = self.space.len();
        // Zero is unseen; a closed configuration gets the largest number, so that it never counts as open.
        let (mut low, mut seen) = (vec![0u32; count], 0);
        let (mut open, mut calls) = (Vec::new(), Vec::<(u32, u32, u32, bool)>::new());
        for start in 0..small(count) {
            if low[start as usize] != 0 {
                continue;
            }
            seen += 1;
            low[start as usize] = seen;
            open.push(start);
            calls.push((start, 0, seen, false));
            while let Some((id, cursor, number, looped)) = calls.last_mut() {
                let (id, number) = (*id, *number);
                if let Some(to) = self.advance(id, cursor) {
                    *looped |= to == id;
                    match low[to as usize] {
                        0 => {
                            seen += 1;
                            low[to as usize] = seen;
                            open.push(to);
                            calls.push((to, 0, seen, false));
                        }
                        other => low[id as usize] = low[id as usize].min(other),
                    }
                    continue;
                }
                let looped = *looped;
                calls.pop();
                let mine = low[id as usize];
                if let Some((caller, ..)) = calls.last() {
                    let theirs = &mut low[*caller as usize];
                    *theirs = (*theirs).min(mine);
                }
                if mine == number {
                    let first = open.iter().rposition(|member| *member == id).unwrap_or(0);
                    for member in &open[first..] {
                        low[*member as usize] = u32::MAX;
                    }
                    visit(&open[first..], looped || open.len() > first + 1);
                    open.truncate(first);
                }
            }
        }
    }
}

/// The strongly connected components, one after another, each after those it leads to.
pub(crate) struct Components {
    members: Vec<u32>,
    /// Where each component ends, and whether it has a cycle.
    ends: Vec<(u32, bool)>,
}

impl Components {
    pub(crate) fn new(view: &View<'_>) -> Self {
        let mut kept = Components { members: Vec::new(), ends: Vec::new() };
        view.components(|members, cyclic| {
            kept.members.extend(members);
            kept.ends.push((small(kept.members.len()), cyclic));
        });
        kept
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u32], bool)> {
        let mut from = 0;
        self.ends.iter().map(move |(end, cyclic)| {
            let members = &self.members[from..*end as usize];
            from = *end as usize;
            (members, *cyclic)
        })
    }
}
