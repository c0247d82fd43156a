//! What nobody uses: budgets nobody spends, gates nobody needs, values nobody sets. Each is a sentence of the author's
//! that is not true.

use rustc_hash::FxHashSet;

use super::writes::Shelf;
use crate::definition::{Claim, Condition, EachRun, Happened, Kind, Machine, Term, Workflow};
use crate::language::units::Unit;
use crate::name::Name;
use crate::problem::Problem;

/// Everything in a machine that nobody uses.
pub(super) fn check(workflow: &Workflow, shelf: &Shelf, machine: &Machine) -> Vec<Problem> {
    let mut found = budgets(workflow, machine);
    found.extend(gates(workflow, shelf, machine));
    found.extend(values(workflow, machine));
    found
}

/// A budget nobody spends is a limit that does not hold; one that only one loop draws on is not shared.
fn budgets(workflow: &Workflow, machine: &Machine) -> Vec<Problem> {
    let mut found = Vec::new();
    for (name, budget) in &machine.budgets {
        if budget.unit() != Unit::Uses {
            let calls = workflow.machines().flat_map(|it| it.states.values()).any(|it| it.call().is_some());
            if !calls {
                let message = format!("nothing spends the budget `{name}`");
                found.push(Problem::proof("unused", budget.place.clone(), message).help("remove it"));
            }
            continue;
        }
        let spenders: FxHashSet<&Name> = machine
            .states
            .values()
            .filter(|it| it.cells.values().flat_map(|it| &it.arms).any(|it| it.spend.as_ref() == Some(name)))
            .map(|it| &it.name)
            .collect();
        let inherited = machine.name.is_some()
            && workflow.main.budgets.get(&**name).is_some_and(|it| it.place == budget.place);
        if spenders.is_empty() && !inherited {
            let message = format!("nothing spends the budget `{name}`, so it limits nothing");
            let help = "spend it on an arm, or remove it";
            found.push(Problem::proof("unused", budget.place.clone(), message).help(help));
        } else if spenders.len() < 2 && budget.shared {
            let message = format!("`{name}` is `shared`, and only one state spends it");
            found.push(Problem::proof("unused", budget.place.clone(), message).help("remove `shared`"));
        }
    }
    found
}

/// A gate that nothing needs holds nothing back: what it judged may change after it passed, and nobody notices.
fn gates(workflow: &Workflow, shelf: &Shelf, machine: &Machine) -> Vec<Problem> {
    let reads = |condition: &Condition, gate: &Name| match &condition.term {
        Term::Gate(name) | Term::Owed(name) => name == gate,
        Term::Outer(inner) => matches!(&**inner, Term::Gate(name) | Term::Owed(name) if name == gate),
        _ => false,
    };
    let mut found = Vec::new();
    for (gate, judges) in &machine.gates {
        let needed = machine.states.values().any(|state| {
            let settles = matches!(&state.kind, Kind::Settle { gates, .. } if gates.contains(gate));
            settles || state.needs.values().flatten().any(|it| it == gate)
        });
        let machines = workflow.machines();
        let arms = machines.flat_map(|it| it.states.values()).flat_map(|it| it.cells.values());
        let routed = arms.flat_map(|it| &it.arms).flat_map(|it| &it.when).any(|it| reads(it, gate));
        let gated = machine.states.values().filter_map(|it| it.gate.as_ref());
        let asked = gated.flat_map(|it| &it.only_when).any(|it| reads(it, gate));
        // A property may also speak of how a judge came out.
        let settled = |it: &Happened| match it {
            Happened::Settled { gate: name } => machine.name.is_none() && name == gate,
            Happened::Signal { child, state, .. } => *child == machine.name && judges.contains(state),
        };
        let stated = workflow.properties.iter().any(|it| match &it.claim {
            Claim::Never { before, when, .. } => {
                before.iter().any(settled) || when.iter().any(|it| reads(it, gate))
            }
            Claim::Always { comes, .. } => settled(comes),
            Claim::AtMost { .. } => false,
        });
        // That a commit does not need it is said of the commit.
        let judged = judges.iter().filter_map(|it| machine.states.get(&**it)?.gate.as_ref());
        let judged = judged.flat_map(|it| it.judges.values().flatten());
        let judged = judged.fold(0, |set, it| set | shelf.set(workflow, [it]));
        let committed = machine.states.values().any(|it| match &it.kind {
            Kind::Do { actions, .. } => actions
                .iter()
                .filter_map(|it| it.commits.as_ref())
                .any(|it| shelf.touched(shelf.set(workflow, it)) & judged != 0),
            _ => false,
        });
        if needed || routed || asked || stated || committed {
            continue;
        }
        let Some(judge) = judges.first().and_then(|it| machine.states.get(&**it)) else { continue };
        let message =
            format!("nothing needs the gate `{}`, so it holds nothing back", machine.qualified(gate));
        let help = format!(
            "add `needs: [{gate}]` to what must not be entered without it (an end can have `needs`), or remove `judges`"
        );
        found.push(Problem::proof("unused", judge.place.clone(), message).help(help));
    }
    found
}

/// A value that a variable never has is a route, a row or a limit for nothing.
fn values(workflow: &Workflow, machine: &Machine) -> Vec<Problem> {
    let mut found = Vec::new();
    for (name, variable) in machine.vars.iter().filter(|(_, it)| !it.input) {
        let arms = workflow.machines().flat_map(|it| it.states.values()).flat_map(|it| it.cells.values());
        let arms = arms
            .flat_map(|it| &it.arms)
            .chain(workflow.machines().flat_map(|it| &it.start).map(|it| &it.arm));
        let mut set: FxHashSet<&Name> = arms.filter_map(|it| it.set.get(&**name)).collect();
        set.insert(&variable.start);
        for state in workflow.main.states.values() {
            if let Kind::Each(each) = &state.kind
                && matches!(&each.run, EachRun::Child(child) if machine.name.as_ref() == Some(child))
            {
                set.extend(each.with.get(&**name));
            }
        }
        let never: Vec<String> =
            variable.values.iter().filter(|it| !set.contains(it)).map(|it| format!("`{it}`")).collect();
        if !never.is_empty() {
            let message = format!("nothing sets `{name}` to {}", never.join(" or "));
            let help = "set it on an arm, let it be an `input`, or remove the value";
            found.push(Problem::proof("unused", variable.place.clone(), message).help(help));
        }
    }
    found
}
