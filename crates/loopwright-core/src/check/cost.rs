//! Cost: what the worst unattended stretch takes, and whether declared caps hold.

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::report::{Figure, Worst};
use super::sound::check_time;
use super::unfold::{Setting, Unfolded, Values};
use super::writes;
use crate::definition::{Call, Each, EachRun, Kind, State, Workflow};
use crate::language::units::{Amount, Unit, show, show_time};
use crate::name::Name;
use crate::problem::{Place, Problem};
use crate::proof::{Dearest, PerAnswer, Prover};

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Lane {
    Calls,
    CallsOf(Name),
    Time,
    Money,
    Tokens,
}

/// What one item of a loop costs at most.
pub(super) type ChildCost = IndexMap<usize, u64>;

/// What items cost, by loop and setting.
pub(super) type ChildCosts = FxHashMap<(Name, Setting), Option<ChildCost>>;

fn lanes(workflow: &Workflow) -> Vec<Lane> {
    let mut lanes = vec![Lane::Calls, Lane::Time, Lane::Money, Lane::Tokens];
    lanes.extend(workflow.roles.keys().map(|it| Lane::CallsOf(it.clone())));
    lanes
}

/// What entering a node costs in a lane, apart from items of loops.
fn weight(unfolded: &Unfolded<'_>, state: &State, values: &Values, lane: &Lane) -> u64 {
    let once = match &state.kind {
        Kind::Agent(call) => call_weight(unfolded, call, &[], values, lane),
        Kind::Review { call, advice } => call_weight(unfolded, call, advice, values, lane),
        Kind::Check(check) if *lane == Lane::Time => check_time(check),
        _ => 0,
    };
    once.saturating_mul(tries(unfolded, state, values))
}

/// How often a state can do its work in one visit: once, and once more for every retry.
fn tries(unfolded: &Unfolded<'_>, state: &State, values: &Values) -> u64 {
    let mut budgets: IndexMap<&Name, u64> = IndexMap::new();
    for arm in state.cells.values().flat_map(|it| &it.arms) {
        if let (Some(times), Some(budget)) = (unfolded.retries(values, arm), &arm.spend) {
            budgets.insert(budget, times);
        }
    }
    budgets.values().fold(1, |sum, it| sum.saturating_add(*it))
}

fn call_weight(unfolded: &Unfolded<'_>, call: &Call, advice: &[Name], values: &Values, lane: &Lane) -> u64 {
    let roles = writes::picked(&call.role, &|name| unfolded.lookup(values, name));
    roles
        .into_iter()
        .chain(advice)
        .map(|name| {
            let Some(role) = unfolded.workflow.roles.get(&**name) else { return 0 };
            match lane {
                Lane::Calls => 1,
                Lane::CallsOf(wanted) => u64::from(wanted == name),
                Lane::Time => call.timeout.unwrap_or(role.timeout),
                Lane::Money => role.costs.unwrap_or(0),
                Lane::Tokens => role.tokens.unwrap_or(0),
            }
        })
        .fold(0, u64::saturating_add)
}

fn weights(unfolded: &Unfolded<'_>, weigh: impl Fn(&State, &Values) -> u64) -> Vec<u64> {
    (0..unfolded.nodes.len())
        .map(|node| {
            let id = u32::try_from(node).unwrap_or(u32::MAX);
            let values = unfolded.values(id);
            let state = unfolded.state(id);
            let over = unfolded.graph.nodes.get(node).is_some_and(|it| it.end);
            match (state, values) {
                (Some(state), Some(values)) if !over => weigh(state, values),
                _ => 0,
            }
        })
        .collect()
}

/// What one item costs at most, by lane.
pub(super) fn of_child(unfolded: &Unfolded<'_>, prover: &Prover<'_>) -> Option<ChildCost> {
    let lanes = lanes(unfolded.workflow);
    let lists: Vec<Vec<u64>> = lanes
        .iter()
        .map(|lane| weights(unfolded, |state, values| weight(unfolded, state, values, lane)))
        .collect();
    prover.stretch(&lists).iter().enumerate().map(|(at, it)| Some((at, at_most(it)?))).collect()
}

fn at_most(dearest: &Dearest) -> Option<u64> {
    match dearest {
        Dearest::Exact { value, .. } => Some(*value),
        Dearest::Between { at_most, .. } => *at_most,
        Dearest::Unbounded => None,
    }
}

fn at_least(dearest: &Dearest) -> u64 {
    match dearest {
        Dearest::Exact { value, .. } => *value,
        Dearest::Between { at_least, .. } => *at_least,
        Dearest::Unbounded => 0,
    }
}

/// What the worst unattended stretch costs. `None` when nothing bounds it.
pub(super) fn worst(unfolded: &Unfolded<'_>, prover: &Prover<'_>, children: &ChildCosts) -> Option<Worst> {
    let workflow = unfolded.workflow;
    let lanes = lanes(workflow);
    let loops: Vec<&State> =
        unfolded.machine.states.values().filter(|it| matches!(it.kind, Kind::Each(_))).collect();
    let mut lists: Vec<Vec<u64>> = Vec::new();
    for (at, lane) in lanes.iter().enumerate() {
        lists.push(weights(unfolded, |state, values| weight(unfolded, state, values, lane)));
        for each in &loops {
            lists.push(weights(unfolded, |state, values| {
                if state.name == each.name {
                    per_item(unfolded, state, values, at, lane, children)
                } else {
                    0
                }
            }));
        }
    }
    let stretch = prover.stretch(&lists);
    let calls = prover.worst(&lists[..1.min(lists.len())]);
    let stride = loops.len() + 1;
    let figure = |at: usize| -> Option<Figure> {
        let here = stretch.get(at * stride)?;
        let mut per_item = IndexMap::new();
        for (offset, each) in loops.iter().enumerate() {
            let most = at_most(stretch.get(at * stride + 1 + offset)?)?;
            if most > 0 {
                per_item.insert(each.name.clone(), most);
            }
        }
        Some(Figure { at_most: at_most(here)?, at_least: at_least(here), per_item })
    };
    let by_lane = |wanted: &Lane| lanes.iter().position(|it| it == wanted).and_then(&figure);
    let used: Vec<&crate::definition::Role> = workflow.roles.values().collect();
    let whole = calls.whole.first().and_then(|it| {
        Some(Figure {
            at_most: at_most(it)?,
            at_least: at_least(it),
            per_item: by_lane(&Lane::Calls)?.per_item,
        })
    });
    let per_answer = if whole.is_none() {
        let lines = prover.per_answer(&lists[..1.min(lists.len())], &calls);
        lines.first().and_then(|it| match it {
            PerAnswer::Line { each, .. } => Some(*each),
            _ => None,
        })
    } else {
        None
    };
    Some(Worst {
        calls: by_lane(&Lane::Calls)?,
        calls_of: workflow
            .roles
            .keys()
            .filter_map(|it| Some((it.clone(), by_lane(&Lane::CallsOf(it.clone()))?)))
            .collect(),
        time: by_lane(&Lane::Time)?,
        money: if used.iter().all(|it| it.costs.is_some()) { by_lane(&Lane::Money) } else { None },
        tokens: if used.iter().all(|it| it.tokens.is_some()) { by_lane(&Lane::Tokens) } else { None },
        whole_run: whole,
        per_answer,
    })
}

fn per_item(
    unfolded: &Unfolded<'_>,
    state: &State,
    values: &Values,
    at: usize,
    lane: &Lane,
    children: &ChildCosts,
) -> u64 {
    let Kind::Each(Each { run, with, .. }) = &state.kind else { return 0 };
    match run {
        EachRun::Call(call) => {
            call_weight(unfolded, call, &[], values, lane).saturating_mul(tries(unfolded, state, values))
        }
        EachRun::Child(child) => {
            let Some(machine) = unfolded.workflow.children.get(&**child) else { return 0 };
            let setting = unfolded.setting(values, machine, with);
            children
                .get(&(state.name.clone(), setting))
                .and_then(|it| it.as_ref())
                .and_then(|it| it.get(&at))
                .copied()
                .unwrap_or(0)
        }
    }
}

/// Caps that do not hold.
pub(super) fn caps(workflow: &Workflow, worst: Option<&Worst>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let caps = &workflow.caps;
    let unpriced = unknown_prices(workflow);
    problems.extend(unpriced.iter().cloned());
    let mut hold = |what: &str, cap: &(u64, Place), figure: Option<&Figure>, show: &dyn Fn(u64) -> String| {
        let Some(figure) = figure else {
            let message = format!("nothing bounds {what}, so the cap cannot be held");
            problems.push(Problem::proof("over-cap", cap.1.clone(), message));
            return;
        };
        let mut total = figure.at_most;
        for (each, per_item) in &figure.per_item {
            let most = match workflow.main.states.get(&**each).map(|it| &it.kind) {
                Some(Kind::Each(it)) => it.at_most,
                _ => None,
            };
            let Some(most) = most else {
                let message =
                    format!("the cap on {what} cannot be held: `{each}` may loop over any number of items");
                let help = "say `at-most` in its `each`".to_owned();
                problems.push(Problem::proof("over-cap", cap.1.clone(), message).help(help));
                return;
            };
            total = total.saturating_add(per_item.saturating_mul(u64::from(most)));
        }
        if total > cap.0 {
            let message =
                format!("the worst stretch takes {} {what}, and the cap is {}", show(total), show(cap.0));
            problems.push(
                Problem::proof("over-cap", cap.1.clone(), message)
                    .help("raise the cap, or lower a budget's limit"),
            );
        }
    };
    let plain = |it: u64| it.to_string();
    if let Some(cap) = &caps.calls {
        hold("agent calls", cap, worst.map(|it| &it.calls), &plain);
    }
    for (role, cap) in &caps.calls_of {
        hold(&format!("calls of `{role}`"), cap, worst.and_then(|it| it.calls_of.get(&**role)), &plain);
    }
    if let Some(cap) = &caps.time {
        hold("of time", cap, worst.map(|it| &it.time), &show_time);
    }
    let codes = |what: &str| unpriced.iter().any(|it| it.message.contains(what));
    if let Some(cap) = caps.money.as_ref().filter(|_| !codes("money")) {
        hold("", cap, worst.and_then(|it| it.money.as_ref()), &|it| {
            show(Amount { value: it, unit: Unit::Money })
        });
    }
    if let Some(cap) = caps.tokens.as_ref().filter(|_| !codes("tokens")) {
        hold("", cap, worst.and_then(|it| it.tokens.as_ref()), &|it| {
            show(Amount { value: it, unit: Unit::Tokens })
        });
    }
    problems
}

/// A price nobody named is not zero: the cap cannot be held.
fn unknown_prices(workflow: &Workflow) -> Vec<Problem> {
    let mut problems = Vec::new();
    let without = |known: &dyn Fn(&crate::definition::Role) -> bool| {
        workflow.roles.iter().find(|(_, it)| !known(it)).map(|(name, _)| name.clone())
    };
    if let (Some(cap), Some(role)) = (&workflow.caps.money, without(&|it| it.costs.is_some())) {
        let message = format!("the cap on money cannot be held: nobody says what a call of `{role}` costs");
        problems.push(
            Problem::proof("unknown-price", cap.1.clone(), message)
                .help(format!("say `costs` in the role `{role}`")),
        );
    }
    if let (Some(cap), Some(role)) = (&workflow.caps.tokens, without(&|it| it.tokens.is_some())) {
        let message =
            format!("the cap on tokens cannot be held: nobody says how many a call of `{role}` takes");
        problems.push(
            Problem::proof("unknown-price", cap.1.clone(), message)
                .help(format!("say `tokens` in the role `{role}`")),
        );
    }
    problems
}
