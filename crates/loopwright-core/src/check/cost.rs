//! Cost: what the worst unattended stretch takes, and whether declared caps hold.

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::report::{Cap, Figure, PerItem, Worst};
use super::sound::check_time;
use super::unfold::{Setting, Unfolded, Values};
use super::writes;
use crate::definition::{Call, Each, EachRun, Kind, Machine, State, Target, Workflow};
use crate::language::units::{Amount, Unit, show, show_time};
use crate::machine;
use crate::name::Name;
use crate::problem::{Place, Problem};
use crate::proof::{Dearest, Limits, PerAnswer, Prover};

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Lane {
    Calls,
    CallsOf(Name),
    Time,
    Money,
    Tokens,
}

/// What one item of a loop costs at most, lane by lane.
pub(super) struct ChildCost {
    /// In a stretch that nobody attends.
    stretch: Option<Vec<Terms>>,
    /// Calls in all, people answering as they like.
    whole: Option<Vec<Terms>>,
}

/// A cost, and what comes on top for each item of the loops inside.
#[derive(Clone, Debug, Default)]
struct Terms {
    base: u64,
    inner: IndexMap<Name, u64>,
}

/// What items cost, by loop and setting.
pub(super) type ChildCosts = FxHashMap<(Name, Setting), ChildCost>;

/// Which runs are meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// A stretch that nobody attends.
    Stretch,
    /// From beginning to end.
    Whole,
}

fn lanes(workflow: &Workflow) -> Vec<Lane> {
    let mut lanes = vec![Lane::Calls, Lane::Time, Lane::Money, Lane::Tokens];
    lanes.extend(workflow.roles.keys().map(|it| Lane::CallsOf(it.clone())));
    lanes
}

/// What entering a node costs in a lane, apart from items of loops.
fn weight(unfolded: &Unfolded<'_>, (state, values): (&State, &Values), lane: &Lane, ahead: Ahead) -> u64 {
    let early = if ahead == Ahead::Called { early_weight(unfolded, state, values, lane) } else { 0 };
    let once = match &state.kind {
        Kind::Agent(call) => call_weight(unfolded, call, &[], values, lane),
        Kind::Review { call, advice, .. } => call_weight(unfolded, call, advice, values, lane),
        Kind::Check(check) if *lane == Lane::Time => check_time(check),
        _ => 0,
    };
    once.saturating_mul(tries(unfolded, state, values)).saturating_add(early)
}

/// Whether judges whose turn has not come are counted where they may be called, or only at their turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ahead {
    Called,
    NotCalled,
}

/// What judges cost at most that are called while another one is at work: what they say may not count at their turn.
fn early_weight(unfolded: &Unfolded<'_>, state: &State, values: &Values, lane: &Lane) -> u64 {
    let works_alone = |it: &State| it.call().is_none_or(|it| always_writes(unfolded, it, values));
    let (others, at_once) = machine::beside(unfolded.machine, state);
    if works_alone(state) {
        return 0;
    }
    let others = others.into_iter().filter(|it| !works_alone(it));
    let mut each: Vec<u64> = others
        .map(|it| match &it.kind {
            Kind::Review { call, advice, .. } => call_weight(unfolded, call, advice, values, lane),
            _ => 0,
        })
        .collect();
    each.sort_unstable_by(|one, other| other.cmp(one));
    each.iter().take((at_once as usize).saturating_sub(1)).fold(0, |sum, it| sum.saturating_add(*it))
}

/// Whether a call may write something, whatever is not known.
fn always_writes(unfolded: &Unfolded<'_>, call: &Call, values: &Values) -> bool {
    let known = |name: &Name| unfolded.lookup(values, name);
    let of_role = |it: &&Name| unfolded.workflow.roles.get(&***it).map(|it| &it.may_write);
    let roles = writes::picked(&call.role, &known);
    let tables: Vec<_> = match &call.may_write {
        Some(own) => vec![own],
        None => roles.iter().filter_map(of_role).collect(),
    };
    tables.into_iter().all(|it| {
        let rows = writes::picked(it, &known);
        !rows.is_empty() && rows.iter().all(|it| !it.is_empty())
    })
}

/// How often a state can do its work in one visit: once, and once more for every retry.
fn tries(unfolded: &Unfolded<'_>, state: &State, values: &Values) -> u64 {
    let mut budgets: IndexMap<&Name, u64> = IndexMap::new();
    for (signal, cell) in &state.cells {
        for arm in &cell.arms {
            if let (Some(times), Some(budget)) = (unfolded.retries(state, values, signal, arm), &arm.spend) {
                budgets.insert(budget, times);
            }
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

/// What one item costs at most, by lane.
pub(super) fn of_child(unfolded: &Unfolded<'_>, prover: &Prover<'_>, limits: &Limits) -> ChildCost {
    let loops = loops_of(unfolded.machine);
    let lanes = lanes(unfolded.workflow);
    let mut lists: Vec<Vec<u64>> = Vec::new();
    for lane in &lanes {
        lists.push(unfolded.by_class(|state, values| weight(unfolded, (state, values), lane, Ahead::Called)));
        for each in &loops {
            lists.push(unfolded.by_class(|state, values| call_per_item(unfolded, state, values, each, lane)));
        }
    }
    let terms = |found: &[Dearest]| {
        let mut of_lane = found.chunks(loops.len() + 1);
        let of_lane = of_lane.by_ref().map(|it| {
            let (base, inner) = it.split_first()?;
            let inner = loops
                .iter()
                .zip(inner)
                .map(|(each, it)| Some((unfolded.machine.qualified(each), at_most(it)?)))
                .collect::<Option<_>>()?;
            Some(Terms { base: at_most(base)?, inner })
        });
        of_lane.collect::<Option<Vec<Terms>>>()
    };
    // Of whole runs only the calls are told, which come first.
    let whole = unfolded.undisturbed(limits.clone()).whole(&lists[..=loops.len()]);
    ChildCost { stretch: terms(&prover.stretch(&lists)), whole: terms(&whole) }
}

/// The loops of a machine.
fn loops_of(machine: &Machine) -> Vec<Name> {
    machine.states.values().filter(|it| matches!(it.kind, Kind::Each(_))).map(|it| it.name.clone()).collect()
}

/// Loops of a machine, and loops inside what they run: what a figure may count per item.
fn chains_of(workflow: &Workflow, machine: &Machine) -> Vec<Vec<Name>> {
    let mut chains = Vec::new();
    for (name, state) in &machine.states {
        let Kind::Each(each) = &state.kind else { continue };
        chains.push(vec![name.clone()]);
        if let EachRun::Child(child) = &each.run
            && let Some(child) = workflow.children.get(&**child)
        {
            let inner = loops_of(child);
            chains.extend(inner.iter().map(|it| vec![name.clone(), child.qualified(it)]));
        }
    }
    chains
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
pub(super) fn worst(
    unfolded: &Unfolded<'_>,
    prover: &Prover<'_>,
    limits: &Limits,
    children: &ChildCosts,
) -> Option<Worst> {
    let workflow = unfolded.workflow;
    if children.values().any(|it| it.stretch.is_none()) {
        return None;
    }
    let lanes = lanes(workflow);
    let chains = chains_of(workflow, unfolded.machine);
    let own_of = |lane: &Lane, ahead: Ahead| {
        unfolded.by_class(|state, values| weight(unfolded, (state, values), lane, ahead))
    };
    // Where judges are called ahead, a run that does without is one that surely exists.
    let any_ahead = unfolded.machine.states.values().any(|it| machine::beside(unfolded.machine, it).1 > 1);
    let lists_of = |at: usize, lane: &Lane, extent: Extent| {
        let own = own_of(lane, Ahead::Called);
        let per_item = chains.iter().map(|chain| {
            unfolded.by_class(|state, values| {
                per_item(unfolded, (state, values), (at, lane), chain, (children, extent))
            })
        });
        std::iter::once(own).chain(per_item).collect::<Vec<_>>()
    };
    let figure = |found: &[Dearest], plain: Option<&Dearest>| -> Option<Figure> {
        let (base, items) = found.split_first()?;
        let mut per_item = Vec::new();
        for (loops, dearest) in chains.iter().zip(items) {
            let at_most = at_most(dearest)?;
            if at_most > 0 {
                per_item.push(PerItem { loops: loops.clone(), at_most });
            }
        }
        Some(Figure { at_most: at_most(base)?, at_least: at_least(plain.unwrap_or(base)), per_item })
    };
    let lists: Vec<Vec<u64>> =
        lanes.iter().enumerate().flat_map(|(at, lane)| lists_of(at, lane, Extent::Stretch)).collect();
    let stretch = prover.stretch(&lists);
    let without = |it: &Lane| own_of(it, Ahead::NotCalled);
    let plain =
        if any_ahead { prover.stretch(&lanes.iter().map(without).collect::<Vec<_>>()) } else { Vec::new() };
    let by_lane = |wanted: &Lane| {
        let at = lanes.iter().position(|it| it == wanted)?;
        figure(stretch.chunks(chains.len() + 1).nth(at)?, plain.get(at))
    };
    let roles: Vec<&crate::definition::Role> = workflow.roles.values().collect();
    let (whole_run, per_answer) = if children.values().all(|it| it.whole.is_some()) {
        let mut lists = lists_of(0, &Lane::Calls, Extent::Whole);
        let counted = lists.len();
        lists.extend(any_ahead.then(|| own_of(&Lane::Calls, Ahead::NotCalled)));
        // People who edit and cancel without end could keep any run going; the whole run is one they leave alone.
        let prover = unfolded.undisturbed(limits.clone());
        let found = prover.worst(&lists);
        let line = || match prover.per_answer(&lists[..1], &found).first() {
            Some(PerAnswer::Line { each, .. }) if chains.is_empty() => Some(*each),
            _ => None,
        };
        let (whole, plain) = found.whole.split_at(counted.min(found.whole.len()));
        let whole = figure(whole, plain.first());
        let line = if whole.is_none() { line() } else { None };
        (whole, line)
    } else {
        (None, None)
    };
    Some(Worst {
        calls: by_lane(&Lane::Calls)?,
        calls_of: workflow
            .roles
            .keys()
            .filter_map(|it| Some((it.clone(), by_lane(&Lane::CallsOf(it.clone()))?)))
            .collect(),
        time: by_lane(&Lane::Time)?,
        money: if roles.iter().all(|it| it.costs.is_some()) { by_lane(&Lane::Money) } else { None },
        tokens: if roles.iter().all(|it| it.tokens.is_some()) { by_lane(&Lane::Tokens) } else { None },
        whole_run,
        per_answer,
    })
}

/// What a loop that makes one call per item costs for each.
fn call_per_item(unfolded: &Unfolded<'_>, state: &State, values: &Values, each: &Name, lane: &Lane) -> u64 {
    match &state.kind {
        Kind::Each(Each { run: EachRun::Call(call), .. }) if state.name == *each => {
            call_weight(unfolded, call, &[], values, lane).saturating_mul(tries(unfolded, state, values))
        }
        _ => 0,
    }
}

/// What a node costs for each item of a loop, or of a loop inside what that runs.
fn per_item(
    unfolded: &Unfolded<'_>,
    (state, values): (&State, &Values),
    (at, lane): (usize, &Lane),
    chain: &[Name],
    (children, extent): (&ChildCosts, Extent),
) -> u64 {
    let Some((each, inner)) = chain.split_first().filter(|(each, _)| **each == state.name) else { return 0 };
    let Kind::Each(Each { run, with, .. }) = &state.kind else { return 0 };
    let EachRun::Child(child) = run else { return call_per_item(unfolded, state, values, each, lane) };
    let Some(machine) = unfolded.workflow.children.get(&**child) else { return 0 };
    let setting = unfolded.setting(values, machine, with);
    let cost = children.get(&(state.name.clone(), setting)).and_then(|it| match extent {
        Extent::Stretch => it.stretch.as_ref(),
        Extent::Whole => it.whole.as_ref(),
    });
    let Some(terms) = cost.and_then(|it| it.get(at)) else { return 0 };
    let once = match inner.first() {
        None => terms.base,
        Some(inner) => terms.inner.get(&**inner).copied().unwrap_or(0),
    };
    once.saturating_mul(tries(unfolded, state, values))
}

/// How many items a loop has at most, where it says so.
fn most_items(workflow: &Workflow, qualified: &Name) -> Option<u64> {
    workflow.machines().find_map(|machine| {
        let (_, state) = machine.states.iter().find(|(name, _)| machine.qualified(name) == *qualified)?;
        match &state.kind {
            Kind::Each(each) => each.at_most.map(u64::from),
            _ => None,
        }
    })
}

/// What to do about a figure over its cap.
fn lower_it(workflow: &Workflow, figure: &Figure) -> String {
    let mut loops: Vec<&Name> = figure.per_item.iter().flat_map(|it| &it.loops).collect();
    loops.sort();
    loops.dedup();
    if loops.is_empty() {
        return "raise the cap, or lower a budget's limit".to_owned();
    }
    let named = loops.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(" or ");
    let mut help = format!("raise the cap, or lower a budget's limit or `at-most` of {named}");
    for name in loops {
        let state = workflow
            .machines()
            .find_map(|machine| machine.states.values().find(|it| machine.qualified(&it.name) == *name));
        let tried_again = state.into_iter().flat_map(|it| &it.cells);
        let tried_again = tried_again.filter(|(_, it)| it.arms.iter().any(|it| it.to == Target::Again));
        if let Some((signal, _)) = tried_again.into_iter().next() {
            let more =
                format!("; `{name}` is tried again on `{signal}`, and every try counts its items once more");
            help.push_str(&more);
        }
    }
    help
}

/// Caps that do not hold; those that do are added to `held`.
pub(super) fn caps(workflow: &Workflow, worst: Option<&Worst>, held: &mut Vec<Cap>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let caps = &workflow.caps;
    let unpriced = unknown_prices(workflow);
    problems.extend(unpriced.iter().cloned());
    let mut hold = |what: &str, cap: &(u64, Place), figure: Option<&Figure>, show: &dyn Fn(u64) -> String| {
        let Some(figure) = figure else {
            let message = format!("nothing bounds the {what}, so the cap cannot be held");
            problems.push(Problem::proof("over-cap", cap.1.clone(), message));
            return;
        };
        let mut total = figure.at_most;
        for items in &figure.per_item {
            let mut cost = items.at_most;
            for each in &items.loops {
                let Some(most) = most_items(workflow, each) else {
                    let message = format!(
                        "the cap on {what} cannot be held: `{each}` may loop over any number of items"
                    );
                    let help = "say `at-most` in its `each`".to_owned();
                    problems.push(Problem::proof("over-cap", cap.1.clone(), message).help(help));
                    return;
                };
                cost = cost.saturating_mul(most);
            }
            total = total.saturating_add(cost);
        }
        if total > cap.0 {
            let message = format!("the worst stretch takes {}, and the cap is {}", show(total), show(cap.0));
            problems
                .push(Problem::proof("over-cap", cap.1.clone(), message).help(lower_it(workflow, figure)));
        } else {
            let said = format!("{} at most, of {}", show(total), show(cap.0));
            held.push(Cap { of: what.to_owned(), at_most: total, cap: cap.0, said });
        }
    };
    let calls = |it: u64| if it == 1 { "1 agent call".to_owned() } else { format!("{it} agent calls") };
    if let Some(cap) = &caps.calls {
        hold("agent calls", cap, worst.map(|it| &it.calls), &calls);
    }
    for (role, cap) in &caps.calls_of {
        let calls = |it: u64| format!("{it} {} of `{role}`", if it == 1 { "call" } else { "calls" });
        hold(&format!("calls of `{role}`"), cap, worst.and_then(|it| it.calls_of.get(&**role)), &calls);
    }
    if let Some(cap) = &caps.time {
        hold("time", cap, worst.map(|it| &it.time), &show_time);
    }
    let codes = |what: &str| unpriced.iter().any(|it| it.message.contains(what));
    if let Some(cap) = caps.money.as_ref().filter(|_| !codes("money")) {
        hold("money", cap, worst.and_then(|it| it.money.as_ref()), &|it| {
            show(Amount { value: it, unit: Unit::Money })
        });
    }
    if let Some(cap) = caps.tokens.as_ref().filter(|_| !codes("tokens")) {
        hold("tokens", cap, worst.and_then(|it| it.tokens.as_ref()), &|it| {
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
