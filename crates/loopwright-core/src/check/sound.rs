//! Sound parts: what can be said without walking. Judges that could write what they judge, commits that pass gates by,
//! states that widen their roles.

use indexmap::IndexSet;
use rustc_hash::FxHashSet;

use super::unfold::Unfolded;
use super::writes::{self, Shelf};
use super::{apart, passed, unread};
use crate::definition::{
    Action, Arm, CheckWhat, Each, EachRun, Kind, Machine, Role, State, Table, Target, Term, Workflow,
};
use crate::name::Name;
use crate::problem::Problem;
use crate::signal;

/// A problem, and the state whose shortest path shows it.
pub(super) type Located = (Problem, Option<Name>);

/// Everything wrong with the parts of one machine.
pub(super) fn check(unfolded: &Unfolded<'_>) -> Vec<Located> {
    let (workflow, shelf, machine) = (unfolded.workflow, unfolded.shelf, unfolded.machine);
    let mut found = Vec::new();
    for state in machine.states.values() {
        found.extend(judge_writes(workflow, shelf, machine, state));
        found.extend(worker_writes_check(workflow, shelf, machine, state));
        found.extend(commit_needs(unfolded, state));
        found.extend(written_while_committing(unfolded, state));
        found.extend(unread::check(workflow, machine, state));
        found.extend(items_side_by_side(workflow, state));
        found.extend(apart::not_brought_back(workflow, shelf, state));
        found.extend(narrows(workflow, shelf, machine, state));
    }
    found.extend(passed::check(workflow, machine));
    found
}

/// No judge may write what it judges.
fn judge_writes(workflow: &Workflow, shelf: &Shelf, machine: &Machine, state: &State) -> Option<Located> {
    let gate = state.gate.as_ref().filter(|_| matches!(state.kind, Kind::Review { .. }))?;
    let values = variable_values(workflow, machine, state);
    for value in values {
        let lookup = |name: &Name| value.as_ref().filter(|(by, _)| by == name).map(|(_, it)| it.clone());
        let written = shelf.touched(writes::of_state(workflow, shelf, state, &lookup));
        let judged = writes::picked(&gate.judges, &lookup)
            .into_iter()
            .fold(0, |set, it| set | shelf.set(workflow, it));
        if written & judged != 0 {
            let documents = listed(&shelf.names(written & judged));
            let message = format!("the judge `{}` may write what it judges: {documents}", state.name);
            let problem = Problem::proof("judge-writes", state.place.clone(), message);
            return Some((
                problem.help("give it `may-write: []`, or let another role judge"),
                Some(state.name.clone()),
            ));
        }
    }
    None
}

/// The values of the variable a state's tables are by, or nothing to choose.
fn variable_values(workflow: &Workflow, machine: &Machine, state: &State) -> Vec<Option<(Name, Name)>> {
    let by = state
        .gate
        .as_ref()
        .and_then(|it| it.judges.by())
        .or_else(|| state.call().and_then(|it| it.role.by()));
    let variable =
        by.and_then(|it| Some((it, machine.vars.get(&**it).or_else(|| workflow.main.vars.get(&**it))?)));
    match variable {
        Some((name, variable)) => variable.values.iter().map(|it| Some((name.clone(), it.clone()))).collect(),
        None => vec![None],
    }
}

/// The worker a failing check leads to may not write the check.
fn worker_writes_check(
    workflow: &Workflow,
    shelf: &Shelf,
    machine: &Machine,
    state: &State,
) -> Option<Located> {
    let Kind::Check(check) = &state.kind else { return None };
    let own = shelf.set(workflow, &check.uses);
    if own == 0 {
        return None;
    }
    let mut waiting: Vec<&Name> = Vec::new();
    let mut seen: FxHashSet<&Name> = FxHashSet::default();
    let targets = |arms: &'_ [Arm]| -> Vec<Name> {
        arms.iter()
            .filter_map(|it| match &it.to {
                Target::State(name) => Some(name.clone()),
                _ => None,
            })
            .collect()
    };
    let failing: Vec<Name> = state
        .cells
        .iter()
        .filter(|(signal, _)| **signal == *"fail")
        .flat_map(|(_, it)| targets(&it.arms))
        .collect();
    waiting.extend(failing.iter());
    while let Some(name) = waiting.pop() {
        if !seen.insert(name) {
            continue;
        }
        let Some((name, worker)) = machine.states.get_key_value(&**name) else { continue };
        match &worker.kind {
            _ if passes_on(workflow, shelf, machine, worker) => {
                for cell in worker.cells.values() {
                    for arm in &cell.arms {
                        if let Target::State(next) = &arm.to
                            && let Some((next, _)) = machine.states.get_key_value(&**next)
                        {
                            waiting.push(next);
                        }
                    }
                }
            }
            Kind::Agent(_) | Kind::Each(_) => {
                let written = shelf.touched(writes::of_state(workflow, shelf, worker, &|_| None));
                if written & own != 0 {
                    let documents = listed(&shelf.names(written & own));
                    let message = format!(
                        "`{name}` repairs what `{}` finds, and may write the check itself: {documents}",
                        state.name
                    );
                    let problem = Problem::proof("worker-writes-check", worker.place.clone(), message);
                    let help = format!("narrow it: `may-write` without {documents}");
                    return Some((problem.help(help), Some(name.clone())));
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether a state only leads on to the one that repairs: it writes nothing itself, and it has no two ways on to tell
/// a wrong check from wrong work.
fn passes_on(workflow: &Workflow, shelf: &Shelf, machine: &Machine, state: &State) -> bool {
    let ends = |it: &Name| machine.states.get(&**it).is_some_and(|it| matches!(it.kind, Kind::End { .. }));
    let ways: FxHashSet<&Name> = state
        .cells
        .iter()
        .filter(|(signal, _)| !signal::is_failure(signal) && **signal != signal::STALE)
        .flat_map(|(_, it)| &it.arms)
        .filter_map(|it| match &it.to {
            Target::State(to) if !ends(to) => Some(to),
            _ => None,
        })
        .collect();
    match &state.kind {
        Kind::Choose | Kind::Settle { .. } | Kind::Do { .. } => true,
        Kind::Ask { .. } => ways.len() < 2,
        Kind::Agent(_) => ways.len() < 2 && writes::of_state(workflow, shelf, state, &|_| None) == 0,
        _ => false,
    }
}

/// A commit says which gates over what it commits it needs, or does without.
fn commit_needs(unfolded: &Unfolded<'_>, state: &State) -> Vec<Located> {
    let (workflow, shelf, machine) = (unfolded.workflow, unfolded.shelf, unfolded.machine);
    let Kind::Do { actions, without } = &state.kind else { return Vec::new() };
    let committed =
        actions.iter().filter_map(|it| it.commits.as_ref()).fold(0, |set, it| set | shelf.set(workflow, it));
    let mut found = Vec::new();
    let by = state.needs.by().and_then(|it| Some((it, unfolded.slots.term(&Term::Var(it.clone()))?)));
    // With a table, each row that the state is entered with.
    let rows: IndexSet<Option<Name>> = match by {
        None => IndexSet::from([None]),
        Some((_, at)) => {
            let index = machine.states.get_index_of(&*state.name);
            let here = unfolded.nodes.iter().filter(|it| Some(usize::from(it.state)) == index);
            here.map(|it| unfolded.value(&it.values, at)).collect()
        }
    };
    let needed = |gate: &Name, row: &Option<Name>| {
        let lookup = |name: &Name| row.clone().filter(|_| by.is_some_and(|(it, _)| it == name));
        writes::picked(&state.needs, &lookup).into_iter().flatten().any(|it| it == gate)
    };
    let concerned = |judges: &[Name], row: &Option<Name>| {
        let lookup = |name: &Name| row.clone().filter(|_| by.is_some_and(|(it, _)| it == name));
        let gates = judges.iter().filter_map(|it| machine.states.get(&**it)?.gate.as_ref());
        let judged = gates.flat_map(|it| writes::picked(&it.judges, &lookup).into_iter().flatten());
        shelf.touched(committed) & judged.fold(0, |set, it| set | shelf.set(workflow, [it])) != 0
    };
    // A row may need other gates than the next, but not none where there are some.
    let bare = |row: &Option<Name>| {
        let mut gates =
            machine.gates.iter().filter(|(gate, judges)| !without.contains(*gate) && concerned(judges, row));
        !gates.any(|(gate, _)| needed(gate, row))
    };
    for (gate, judges) in &machine.gates {
        let concerns = rows.iter().any(|row| concerned(judges, row));
        let never = !rows.iter().any(|row| needed(gate, row));
        let unjudged = rows.iter().find(|row| concerned(judges, row) && (never || bare(row)));
        if let Some(row) = unjudged.filter(|_| !without.contains(gate)) {
            let when = match (by, row) {
                (Some((name, _)), Some(value)) if !never => format!(" when `{name}` is `{value}`"),
                _ => String::new(),
            };
            let message = format!(
                "`{}` commits what `{gate}` judges, and does not say that it needs it{when}",
                state.name
            );
            let help = format!("add `{gate}` to `needs`; or to `without`, if it is meant to go unjudged");
            found.push((
                Problem::proof("commit-unjudged", state.place.clone(), message).help(help),
                Some(state.name.clone()),
            ));
        }
        if without.contains(gate) && !concerns {
            let message = format!("`{}` does without `{gate}`, which judges nothing it commits", state.name);
            found.push((
                Problem::proof("unused", state.place.clone(), message).help("remove it from `without`"),
                None,
            ));
        }
    }
    found
}

/// What a commit needs is judged when the state is entered: nothing it commits may be written after that.
fn written_while_committing(unfolded: &Unfolded<'_>, state: &State) -> Option<Located> {
    let (workflow, shelf, machine) = (unfolded.workflow, unfolded.shelf, unfolded.machine);
    let Kind::Do { actions, .. } = &state.kind else { return None };
    let needed: IndexSet<&Name> = state.needs.values().flatten().collect();
    for (at, action) in actions.iter().enumerate() {
        let taken = match &action.commits {
            Some(documents) => shelf.set(workflow, documents),
            None if ["merge", "join"].contains(&&*action.verb) => shelf.all(),
            None => continue,
        };
        for earlier in &actions[..at] {
            let written = match &earlier.writes {
                Some(documents) => shelf.touched(shelf.set(workflow, documents)),
                None => shelf.all(),
            };
            let spoilt = needed.iter().find_map(|gate| {
                let judges = machine.gates.get(&***gate).into_iter().flatten();
                let judges = judges.filter_map(|it| machine.states.get(&**it)?.gate.as_ref());
                let judged = judges.flat_map(|it| it.judges.values().flatten());
                let judged = judged.fold(0, |set, it| set | shelf.set(workflow, [it]));
                let both = written & judged & shelf.touched(taken);
                (both != 0).then_some((*gate, both))
            });
            let Some((gate, documents)) = spoilt else { continue };
            let documents = listed(&shelf.names(documents));
            let message = format!(
                "`{}` needs `{gate}`, and then writes what it judges before it takes it along: {documents}",
                state.name
            );
            let help = format!(
                "split the state: let `{}` be done by one before `{gate}`, so that it is judged as it is taken along",
                earlier.verb
            );
            let problem = Problem::proof("commit-unjudged", earlier.place.clone(), message);
            return Some((problem.help(help), Some(state.name.clone())));
        }
    }
    None
}

/// Items side by side write files of their own.
fn items_side_by_side(workflow: &Workflow, state: &State) -> Option<Located> {
    let Kind::Each(each) = &state.kind else { return None };
    if each.at_once < 2 || each.apart {
        return None;
    }
    let documents = written_documents(workflow, each);
    let own = [format!("{}.id", each.item), "item.id".to_owned(), "item".to_owned(), each.item.to_string()];
    let shared = documents.iter().find(|name| {
        workflow.leaves(name).iter().any(|leaf| {
            let set = workflow.documents.get(&**leaf).and_then(|it| it.set.as_ref());
            set.is_some_and(|set| !own.iter().any(|it| set.mentions(it)))
        })
    })?;
    let message =
        format!("`{}` runs {} items at once, and each may write `{shared}`", state.name, each.at_once);
    let help =
        "let every item write files of its own (`{{item.id}}` in the path), or drop `at-once`".to_owned();
    Some((Problem::proof("same-files", state.place.clone(), message).help(help), Some(state.name.clone())))
}

fn written_documents(workflow: &Workflow, each: &Each) -> Vec<Name> {
    let actions: Vec<&Action> = match &each.run {
        EachRun::Call(_) => Vec::new(),
        EachRun::Child(child) => {
            let states = workflow.children.get(&**child).into_iter().flat_map(|it| it.states.values());
            states
                .filter_map(|it| match &it.kind {
                    Kind::Do { actions, .. } => Some(actions),
                    _ => None,
                })
                .flatten()
                // What the engine writes itself, it writes one after the other.
                .filter(|it| *it.verb == *"run")
                .collect()
        }
    };
    let calls: Vec<&crate::definition::Call> = match &each.run {
        EachRun::Call(call) => vec![call],
        EachRun::Child(child) => workflow
            .children
            .get(&**child)
            .map(|it| it.states.values().filter_map(State::call).collect())
            .unwrap_or_default(),
    };
    let by_actions = actions.into_iter().flat_map(|action| match &action.writes {
        Some(documents) => documents.clone(),
        None => workflow.documents.keys().cloned().collect(),
    });
    let by_calls = calls.into_iter().flat_map(|call| {
        let roles = call.role.values().filter_map(|it| workflow.roles.get(&**it));
        roles
            .flat_map(|role| call.may_write.as_ref().unwrap_or(&role.may_write).values().flatten().cloned())
            .collect::<Vec<_>>()
    });
    by_calls.chain(by_actions).collect()
}

/// A state may narrow what its role writes, never widen it, whichever rows count.
fn narrows(workflow: &Workflow, shelf: &Shelf, machine: &Machine, state: &State) -> Option<Located> {
    let call = state.call()?;
    let own: &Table<Vec<Name>> = call.may_write.as_ref()?;
    let set = |it: &[Name]| shelf.set(workflow, it);
    let beyond = |role: &Role, values: &[(Name, Name)]| {
        let lookup = |name: &Name| values.iter().find(|(by, _)| by == name).map(|(_, it)| it.clone());
        let wide = writes::picked(own, &lookup).into_iter().fold(0, |all, it| all | set(it));
        let allowed = writes::picked(&role.may_write, &lookup).into_iter().fold(0, |all, it| all | set(it));
        wide & !allowed
    };
    let beyond = call.role.rows().into_iter().find_map(|(row, role)| {
        let role = workflow.roles.get(&**role)?;
        let tables = [own.by(), role.may_write.by()];
        let settings = settings(workflow, machine, row.into_iter().collect(), &tables);
        settings.iter().map(|it| beyond(role, it)).find(|it| *it != 0)
    })?;
    let message = format!(
        "`{}` lets its role write more than the role may: {}",
        state.name,
        listed(&shelf.names(beyond))
    );
    Some((
        Problem::proof("widens", state.place.clone(), message).help("add it to the role, or remove it here"),
        Some(state.name.clone()),
    ))
}

/// Every way the variables that tables are by can stand, besides those that are known.
fn settings(
    workflow: &Workflow,
    machine: &Machine,
    known: Vec<(Name, Name)>,
    tables: &[Option<&Name>],
) -> Vec<Vec<(Name, Name)>> {
    let mut settings = vec![known];
    for name in tables.iter().flatten() {
        let variable = machine.vars.get(&***name).or_else(|| workflow.main.vars.get(&***name));
        let values = variable.map(|it| it.values.as_slice()).unwrap_or_default();
        settings = settings
            .into_iter()
            .flat_map(|known| {
                if values.is_empty() || known.iter().any(|(it, _)| it == *name) {
                    return vec![known];
                }
                let with = |it: &Name| [known.as_slice(), &[((*name).clone(), it.clone())]].concat();
                values.iter().map(with).collect()
            })
            .collect();
    }
    settings
}

/// The longest a check may take.
pub(super) fn check_time(what: &crate::definition::Check) -> u64 {
    match &what.what {
        CheckWhat::Run(commands) if !commands.iter().any(|it| it.contains("{{")) => {
            what.timeout.min(what.each.saturating_mul(commands.len() as u64))
        }
        _ => what.timeout,
    }
}

pub(super) fn listed(names: &[Name]) -> String {
    names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
}
