//! A workflow as a drawing: which box a state is, which arrow an arm.

use super::{DrawEdge, DrawGroup, DrawKind, DrawNode, Drawing, EdgeKind};
use crate::definition::{Arm, EachRun, Kind, Machine, Origin, Outcome, State, Target, Workflow};
use crate::signal;

/// Draws a workflow. Without `failures`, routes for failures are left out.
pub fn of_workflow(workflow: &Workflow, failures: bool) -> Drawing {
    let mut drawing = Drawing { title: title(workflow), ..Drawing::default() };
    let mut first_node = Vec::new();
    for (at, machine) in workflow.machines().enumerate() {
        let group = at.checked_sub(1);
        if let Some(name) = &machine.name {
            drawing.groups.push(DrawGroup { title: format!("{name}, once per item") });
        }
        first_node.push(drawing.nodes.len());
        for state in machine.states.values() {
            let start = machine.start.iter().any(|it| it.arm.to == Target::State(state.name.clone()));
            drawing.nodes.push(DrawNode {
                id: machine.qualified(&state.name).to_string(),
                label: state.name.to_string(),
                detail: detail(state),
                kind: kind(state),
                start,
                group,
            });
        }
    }
    for (at, machine) in workflow.machines().enumerate() {
        let base = first_node.get(at).copied().unwrap_or(0);
        for (index, state) in machine.states.values().enumerate() {
            edges(workflow, machine, state, base, base + index, failures, &mut drawing);
            if let Kind::Each(each) = &state.kind
                && let EachRun::Child(child) = &each.run
                && let Some(child_at) = workflow.children.get_index_of(&**child)
                && let Some(to) = first_node.get(child_at + 1)
            {
                let label = format!("each {}", each.item);
                drawing.edges.push(DrawEdge { from: base + index, to: *to, label, kind: EdgeKind::Runs });
            }
        }
    }
    landings(workflow, &mut drawing);
    drawing
}

/// Marks where runs land that are taken over. An end needs none: nothing comes after it.
fn landings(workflow: &Workflow, drawing: &mut Drawing) {
    for (phase, row) in &workflow.phases {
        let landing = workflow.main.states.get_full(&*row.at);
        let Some((at, _, _)) = landing.filter(|it| !matches!(it.2.kind, Kind::End { .. })) else { continue };
        let from = mark(drawing, at, &format!("phase {phase}"), DrawKind::Landing);
        drawing.edges.push(DrawEdge { from, to: at, label: String::new(), kind: EdgeKind::Plain });
    }
}

/// The mark of a kind beside a state that says this. It stands after all states, so that their places stay what they are.
fn mark(drawing: &mut Drawing, beside: usize, label: &str, kind: DrawKind) -> usize {
    let (id, group) = (format!("{} {label}", drawing.nodes[beside].id), drawing.nodes[beside].group);
    let known = drawing.nodes.iter().position(|it| it.kind == kind && it.id == id);
    known.unwrap_or_else(|| {
        let label = label.to_owned();
        drawing.nodes.push(DrawNode { id, label, detail: None, kind, start: false, group });
        drawing.nodes.len() - 1
    })
}

fn title(workflow: &Workflow) -> String {
    if workflow.about.is_empty() {
        workflow.name.to_string()
    } else {
        format!("{}: {}", workflow.name, workflow.about)
    }
}

fn edges(
    workflow: &Workflow,
    machine: &Machine,
    state: &State,
    base: usize,
    from: usize,
    failures: bool,
    drawing: &mut Drawing,
) {
    let mut found: Vec<(DrawEdge, Vec<&str>)> = Vec::new();
    for (signal, cell) in &state.cells {
        let failure = signal::is_failure(signal) || cell.origin == Origin::Default;
        if cell.origin == Origin::Implied || failure && !failures {
            continue;
        }
        for (at, arm) in cell.arms.iter().enumerate() {
            let to = match &arm.to {
                Target::State(name) => machine.states.get_index_of(&**name).map(|it| base + it),
                Target::Again => Some(from),
                Target::Back => Some(mark(drawing, from, "back", DrawKind::Back)),
            };
            let Some(to) = to else { continue };
            let kind = if failure {
                EdgeKind::Failure
            } else if !arm.forced.is_empty() {
                EdgeKind::Forced
            } else if arm.spend.is_some() {
                EdgeKind::Spends
            } else if signal::waits_for_person(workflow, state, signal) {
                EdgeKind::Person
            } else {
                EdgeKind::Plain
            };
            let label = qualities(arm, &used_up(arm, &cell.arms[..at]));
            let edge = DrawEdge { from, to, label, kind };
            // Signals that are led on in the same way share a label.
            match found.iter_mut().find(|(it, _)| *it == edge && !edge.label.is_empty()) {
                Some((_, signals)) => signals.push(signal),
                None => found.push((edge, vec![signal])),
            }
        }
    }
    let only = state.cells.values().filter(|it| it.origin == Origin::Own).count() == 1;
    for (mut edge, signals) in found {
        let plain = |it: &&str| *it == signal::ALWAYS || only && matches!(*it, "done" | "pass");
        if !signals.iter().all(plain) {
            let between = match (signals.len(), edge.label.is_empty()) {
                (_, true) => "",
                (1, _) => ", ",
                _ => ": ",
            };
            edge.label = format!("{}{between}{}", signals.join(", "), edge.label);
        }
        drawing.edges.push(edge);
    }
}

/// The budgets that must be used up for an arm to be taken: those of arms before it that hold whenever it does.
fn used_up<'a>(arm: &Arm, before: &'a [Arm]) -> Vec<&'a str> {
    let holds_too = |it: &&Arm| it.when.iter().all(|condition| arm.when.contains(condition));
    let mut budgets: Vec<&str> = Vec::new();
    for budget in before.iter().filter(holds_too).filter_map(|it| it.spend.as_deref()) {
        if !budgets.contains(&budget) {
            budgets.push(budget);
        }
    }
    budgets
}

/// What an arm asks for and costs, as a label says it.
fn qualities(arm: &Arm, used_up: &[&str]) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(used_up.iter().map(|it| format!("{it} used up")));
    for condition in &arm.when {
        let values: Vec<&str> = condition.values.iter().map(|it| &**it).collect();
        parts.push(format!("{} = {}", condition.term, values.join("/")));
    }
    parts.extend(arm.spend.iter().map(|it| format!("spend {it}")));
    parts.extend(arm.forced.iter().map(|it| format!("forced: {it}")));
    parts.join(", ")
}

fn detail(state: &State) -> Option<String> {
    match &state.kind {
        Kind::Agent(call) | Kind::Review { call, .. } => {
            let roles: Vec<&str> = call.role.values().map(|it| &**it).collect();
            Some(roles.join(" / ")).filter(|it| !it.is_empty() && **it != *state.name)
        }
        Kind::Ask { question } => Some(question.to_string()).filter(|it| **it != *state.name),
        Kind::Do { actions, .. } => {
            let mut verbs: Vec<&str> = actions.iter().map(|it| &*it.verb).collect();
            verbs.dedup();
            Some(verbs.join(", "))
        }
        Kind::Each(each) => Some(each.list.clone()),
        _ => None,
    }
}

fn kind(state: &State) -> DrawKind {
    match &state.kind {
        Kind::Agent(_) => DrawKind::Agent,
        Kind::Review { .. } => DrawKind::Review,
        Kind::Check(_) => DrawKind::Check,
        Kind::Ask { .. } => DrawKind::Ask,
        Kind::Do { .. } => DrawKind::Do,
        Kind::Choose => DrawKind::Choose,
        Kind::Settle { .. } => DrawKind::Settle,
        Kind::Each(_) => DrawKind::Each,
        Kind::Rest { .. } => DrawKind::Rest,
        Kind::End { outcome, .. } => match outcome {
            Outcome::Success => DrawKind::EndSuccess,
            Outcome::Failure => DrawKind::EndFailure,
            Outcome::Stopped | Outcome::Refused => DrawKind::EndStopped,
        },
    }
}
