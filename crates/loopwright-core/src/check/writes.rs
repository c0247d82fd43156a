//! Who may write what, as sets of documents.
//!
//! Documents overlap when their globs may name a common file, so writing one may change another. Everything about
//! gates, facts and bounds is asked of these sets.

use rustc_hash::FxHashMap;

use crate::definition::{Call, EachRun, Kind, Machine, State, Table, Workflow};
use crate::name::Name;

/// A set of documents. A workflow with more than there are places does not load.
pub(super) type Documents = u128;

/// The documents of a workflow and which of them share files.
pub(super) struct Shelf {
    index: FxHashMap<Name, u32>,
    names: Vec<Name>,
    touched: Vec<Documents>,
}

/// The documents of a set, one by one.
pub(super) fn each(mut documents: Documents) -> impl Iterator<Item = Documents> {
    std::iter::from_fn(move || {
        let first = documents & documents.wrapping_neg();
        documents ^= first;
        (first != 0).then_some(first)
    })
}

impl Shelf {
    pub(super) fn of(workflow: &Workflow) -> Self {
        let names: Vec<Name> = workflow
            .documents
            .keys()
            .filter(|it| workflow.leaves(it).len() == 1 && workflow.leaves(it)[0] == **it)
            .cloned()
            .collect();
        let place = |index: usize| u32::try_from(index.min(127)).unwrap_or(127);
        let index: FxHashMap<Name, u32> =
            names.iter().enumerate().map(|(at, it)| (it.clone(), place(at))).collect();
        let mut touched = vec![0; names.len().min(128)];
        for (at, name) in names.iter().enumerate() {
            for (other_at, other) in names.iter().enumerate() {
                if workflow.documents_overlap(name, other) {
                    touched[at.min(127)] |= 1 << place(other_at);
                }
            }
        }
        Self { index, names, touched }
    }

    /// The documents names stand for.
    pub(super) fn set<'n>(
        &self,
        workflow: &Workflow,
        names: impl IntoIterator<Item = &'n Name>,
    ) -> Documents {
        let mut set = 0;
        for name in names {
            for leaf in workflow.leaves(name) {
                set |= self.index.get(&leaf).map_or(0, |it| 1 << it);
            }
        }
        set
    }

    /// Everything that may change when these are written.
    pub(super) fn touched(&self, written: Documents) -> Documents {
        let touched = |it: Documents| self.touched.get(it.trailing_zeros() as usize).copied().unwrap_or(0);
        each(written).fold(0, |set, it| set | touched(it))
    }

    /// All documents.
    pub(super) fn all(&self) -> Documents {
        self.index.values().fold(0, |set, it| set | 1 << it)
    }

    /// The names of a set.
    pub(super) fn names(&self, set: Documents) -> Vec<Name> {
        self.names
            .iter()
            .enumerate()
            .filter(|(at, _)| set & (1 << (*at).min(127)) != 0)
            .map(|(_, it)| it.clone())
            .collect()
    }
}

/// Looks values of variables up.
pub(super) type Lookup<'l> = &'l dyn Fn(&Name) -> Option<Name>;

/// The documents a state may write, for the present values of variables.
pub(super) fn of_state(workflow: &Workflow, shelf: &Shelf, state: &State, lookup: Lookup<'_>) -> Documents {
    match &state.kind {
        Kind::Agent(call) => of_call(workflow, shelf, call, lookup),
        Kind::Review { call, advice, .. } => {
            let advisers = advice.iter().filter_map(|it| workflow.roles.get(&**it));
            let by_advisers = advisers.flat_map(|it| picked(&it.may_write, lookup));
            by_advisers.fold(of_call(workflow, shelf, call, lookup), |set, it| set | shelf.set(workflow, it))
        }
        Kind::Do { actions, .. } => actions.iter().fold(0, |set, action| match &action.writes {
            Some(documents) => set | shelf.set(workflow, documents),
            None => shelf.all(),
        }),
        Kind::Each(each) => match &each.run {
            EachRun::Call(call) => of_call(workflow, shelf, call, lookup),
            EachRun::Child(child) => {
                workflow.children.get(&**child).map_or(0, |it| of_machine(workflow, shelf, it, lookup))
            }
        },
        _ => 0,
    }
}

/// The documents a child may write in all.
pub(super) fn of_machine(
    workflow: &Workflow,
    shelf: &Shelf,
    machine: &Machine,
    lookup: Lookup<'_>,
) -> Documents {
    // What it calls by the same name as its parent is its own.
    let own = |name: &Name| machine.vars.contains_key(&**name) || machine.facts.contains_key(&**name);
    let lookup: Lookup<'_> = &|name| if own(name) { None } else { lookup(name) };
    machine.states.values().fold(0, |set, state| {
        if matches!(&state.kind, Kind::Each(each) if matches!(each.run, EachRun::Child(_))) {
            return set | shelf.all();
        }
        set | of_state(workflow, shelf, state, lookup)
    })
}

fn of_call(workflow: &Workflow, shelf: &Shelf, call: &Call, lookup: Lookup<'_>) -> Documents {
    let mut set = 0;
    for role in picked(&call.role, lookup) {
        let Some(role) = workflow.roles.get(&**role) else { continue };
        let table = call.may_write.as_ref().unwrap_or(&role.may_write);
        for documents in picked(table, lookup) {
            set |= shelf.set(workflow, documents);
        }
    }
    set
}

/// The entry of a table for the present values; all entries where they are not known.
pub(super) fn picked<'t, T>(table: &'t Table<T>, lookup: Lookup<'_>) -> Vec<&'t T> {
    match table {
        Table::One(it) => vec![it],
        Table::By { name, rows } => match lookup(name) {
            Some(value) => rows.get(&*value).into_iter().collect(),
            None => rows.values().collect(),
        },
    }
}
