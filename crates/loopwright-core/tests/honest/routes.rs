//! Generated routes: budgets, conditions, arms, and what an author did not mean.

use crate::dice::Dice;
use crate::generator::{Maker, strings};
use crate::texts::{ArmText, MachineText, StateText, What, to};

/// What a condition may name, with its values.
type Named = (String, Vec<String>);

/// Where a state stands in the machine it is routed in.
struct Place<'m> {
    machine: &'m MachineText,
    at: usize,
    /// How many states are no ends.
    working: usize,
    /// The state after it.
    next: String,
    /// Where what went wrong goes.
    bad: &'m str,
}

impl Maker {
    pub(crate) fn budgets(&mut self, machine: &mut MachineText) {
        let works = machine.states.iter().filter(|it| it.what != What::End);
        let working: Vec<String> = works.map(|it| it.name.clone()).collect();
        for at in 0..=self.dice.below(3) {
            let name = format!("b{at}");
            let shared = if self.dice.yes(50) { ", shared: true" } else { "" };
            let limit = 1 + self.dice.below(3);
            let text = match self.dice.below(10) {
                0 => {
                    let (by, values) = machine.vars[0].clone();
                    let rows: Vec<String> =
                        values.iter().map(|it| format!("{it}: {}", self.dice.below(3))).collect();
                    format!("{{limit: {{by: {by}, {}}}{shared}}}", rows.join(", "))
                }
                1 | 2 => {
                    let states = self.dice.some(&working, 25);
                    let per = format!(", per: [{}]", states.join(", "));
                    if !states.is_empty() {
                        machine.per.insert(name.clone(), states.clone());
                    }
                    format!("{{limit: {limit}{}{shared}}}", if states.is_empty() { "" } else { &per })
                }
                _ => format!("{{limit: {limit}{shared}}}"),
            };
            machine.budgets.push((name, text));
        }
        machine.budgets.push(("retries".into(), "{limit: 2, per: visit}".into()));
        if self.dice.yes(6) {
            machine.budgets.push(("money".into(), "5 usd".into()));
        }
    }

    /// A condition an arm of a state could have.
    fn condition(
        &mut self,
        machine: &MachineText,
        outer: Option<&MachineText>,
        state: &StateText,
        signal: &str,
    ) -> Named {
        let gate = |it: &String| (format!("gate.{it}"), strings(&["open", "fresh", "stale", "forced"]));
        let or_none = |it: &[String]| it.iter().cloned().chain(["none".to_owned()]).collect::<Vec<_>>();
        let last = |it: &StateText| (format!("last.{}", it.name), or_none(&it.signals));
        let mut pool: Vec<Named> =
            [machine.vars.clone(), machine.vars.clone(), machine.facts.clone()].concat();
        if let Some(outer) = outer {
            pool.extend(outer.vars.clone());
            pool.extend(outer.facts.clone().into_iter().take(2));
            pool.extend(outer.states.iter().filter(|it| !it.signals.is_empty()).take(2).map(last));
            pool.extend(outer.gates().first().map(gate));
        }
        for other in machine.states.iter().filter(|it| !it.signals.is_empty()) {
            pool.push(last(other));
            if self.dice.yes(30) {
                pool.push((format!("ever.{}", other.name), strings(&["yes", "no"])));
            }
            for (field, values) in other.fields.values().flatten() {
                pool.push((format!("last.{}.{field}", other.name), or_none(values)));
            }
        }
        pool.extend(machine.gates().iter().map(gate));
        pool.push(("changed.code".into(), strings(&["yes", "no"])));
        let mut own: Vec<Named> = state.fields.get(signal).cloned().unwrap_or_default();
        if state.finds {
            own.push(("same-again".into(), strings(&["yes", "no"])));
        }
        if !state.topics.is_empty() {
            own.push(("topic".into(), state.topics.clone()));
        }
        if !own.is_empty() && self.dice.yes(60) {
            pool = own;
        }
        let (name, values) = self.dice.one(&pool).clone();
        let mut some = self.dice.some(&values, 40);
        if some.is_empty() {
            some.push(self.dice.one(&values).clone());
        }
        if some.len() == values.len() {
            some.truncate(1);
        }
        (name, some)
    }

    pub(crate) fn routes(&mut self, machine: &mut MachineText) {
        let names = machine.names();
        let working = machine.states.iter().filter(|it| it.what != What::End).count();
        let failed = machine.bad;
        let bad = self.pick(&[failed, failed, failed, "done"]);
        let whole = machine.clone();
        for at in 0..working {
            let next = if at + 1 < working { names[at + 1].clone() } else { "done".to_owned() };
            let place = Place { machine: &whole, at, working, next, bad: &bad };
            let mut state = machine.states[at].clone();
            for (rank, signal) in state.signals.clone().iter().enumerate() {
                let arms = self.arms(&place, &state, signal, rank);
                if !arms.is_empty() {
                    state.route(signal, arms);
                }
            }
            if state.what == What::Settle {
                self.settle(&mut state, &place);
            }
            if self.dice.yes(10) && matches!(state.what, What::Agent | What::Review | What::EachCall) {
                let target = self.dice.one(&names).clone();
                let spend = whole.budget_for(&mut self.dice, &target);
                state.route("timeout", vec![ArmText { spend, ..to(target) }, to(failed)]);
            }
            if state.needs.is_some() && self.dice.yes(25) {
                let target = self.dice.one(&names).clone();
                state.route("stale", vec![to(target)]);
            }
            machine.states[at] = state;
        }
        let retry = ArmText { spend: Some("retries".into()), ..to("again") };
        machine.defaults.push(("transient".into(), vec![retry, to(failed)]));
        machine.defaults.push(("failures".into(), vec![to(failed)]));
        if self.dice.yes(6) {
            machine.defaults.remove(self.dice.below(2));
        }
    }

    fn settle(&mut self, state: &mut StateText, place: &Place<'_>) {
        let judged_once = |gate: &String| {
            place.machine.states.iter().filter(|it| it.gate.as_ref() == Some(gate)).count() == 1
        };
        let single: Vec<String> = place.machine.gates().into_iter().filter(judged_once).collect();
        let mut gates = self.dice.some(&single, 70);
        gates.truncate(3);
        if gates.is_empty() {
            state.what = What::Choose;
            return;
        }
        state.head.push(format!("settle: [{}]", gates.join(", ")));
        state.routes = vec![("*".into(), vec![to(place.next.clone())])];
    }

    fn arms(&mut self, place: &Place<'_>, state: &StateText, signal: &str, rank: usize) -> Vec<ArmText> {
        let names = place.machine.names();
        let (at, working) = (place.at, place.working);
        let mut arms: Vec<ArmText> = Vec::new();
        if state.what == What::Choose || self.dice.yes(if self.tidy { 12 } else { 30 }) {
            for _ in 0..=self.dice.below(2) {
                let when = vec![self.condition(place.machine, None, state, signal)];
                let target = if self.dice.yes(70) && at + 1 < working {
                    names[at + 1 + self.dice.below(working - at - 1)].clone()
                } else {
                    place.bad.to_owned()
                };
                arms.push(ArmText { when, ..to(target) });
            }
        }
        let backward = rank > 0 && self.dice.yes(55)
            || self.dice.yes(if self.tidy { 4 } else { 15 })
            || state.what == What::Rest && self.dice.yes(50);
        if backward && state.what != What::Choose {
            arms.push(self.backward(place, state, signal));
            if arms.last().is_some_and(|it| it.spend.is_none()) {
                return arms;
            }
        }
        if !self.dice.yes(2) || arms.is_empty() {
            arms.push(self.last_arm(place, state, rank));
        }
        arms
    }

    /// Sent back: usually to whoever worked before, and paid for.
    fn backward(&mut self, place: &Place<'_>, state: &StateText, signal: &str) -> ArmText {
        let machine = place.machine;
        let person = state.what == What::Rest
            || state.what == What::Ask && state.asks_nobody.as_deref() != Some(signal);
        let target = machine.names()[self.dice.below(place.at + 1)].clone();
        let careless = if self.tidy { 4 } else { 15 };
        let free = person && self.dice.yes(60) || self.dice.yes(careless);
        let spend = if free { None } else { machine.budget_for(&mut self.dice, &target) };
        let mut arm = ArmText { spend, ..to(target) };
        if self.dice.yes(8) {
            arm.set = Some(one_value(&mut self.dice, machine));
        }
        if person && self.dice.yes(25) {
            arm.refill = Some(self.dice.one(&machine.counters()).clone());
        }
        arm
    }

    fn last_arm(&mut self, place: &Place<'_>, state: &StateText, rank: usize) -> ArmText {
        let names = place.machine.names();
        let target = match self.dice.below(100) {
            _ if rank == 0 && self.dice.yes(85) => place.next.clone(),
            0..55 if rank > 0 => place.bad.to_owned(),
            0..75 => place.next.clone(),
            75..80 if state.what != What::Choose => "back".to_owned(),
            _ => "stopped".to_owned(),
        };
        let known = names.contains(&target) || target == "back";
        let mut last = to(if known { target } else { place.bad.to_owned() });
        if self.dice.yes(6) {
            last.set = Some(one_value(&mut self.dice, place.machine));
        }
        last.record = self.dice.yes(5);
        if let Some(gate) = state.gate.as_ref().filter(|_| rank > 0 && self.dice.yes(15)) {
            last.forced = Some(gate.clone());
            if self.dice.yes(50) {
                last.to.clone_from(&place.next);
            }
        }
        last
    }

    /// Does something to a machine that its author did not mean.
    pub(crate) fn mischief(&mut self, machine: &mut MachineText, outer: Option<&MachineText>) {
        let names = machine.names();
        let whole = machine.clone();
        let routed: Vec<usize> =
            (0..machine.states.len()).filter(|it| !machine.states[*it].routes.is_empty()).collect();
        if routed.is_empty() {
            return;
        }
        let state = &mut machine.states[*self.dice.one(&routed)];
        let route = self.dice.below(state.routes.len());
        let signal = state.routes[route].0.clone();
        let settles = state.what == What::Settle;
        let instant = settles || state.what == What::Choose;
        let at = self.dice.below(state.routes[route].1.len());
        match self.dice.below(9) {
            0 | 1 => {
                let target = self.dice.one(&names).clone();
                let fits = |budget: &String| {
                    whole.per.get(budget).is_none_or(|it| !it.contains(&target)) && budget != "retries"
                };
                let arm = &mut state.routes[route].1[at];
                if arm.spend.as_ref().is_none_or(fits) {
                    arm.to = target;
                }
            }
            2 => {
                let arm = &mut state.routes[route].1[at];
                if arm.to != "again" {
                    arm.spend = None;
                }
            }
            3 if state.routes[route].1.len() > 1 => {
                state.routes[route].1.remove(at);
            }
            3 if !instant && !signal.starts_with("verb") => {
                state.routes.remove(route);
            }
            4 | 5 if !settles => {
                let when = vec![self.condition(&whole, outer, &state.clone(), &signal)];
                let target = self.dice.one(&names).clone();
                let spend = if self.dice.yes(50) { whole.budget_for(&mut self.dice, &target) } else { None };
                state.routes[route].1.insert(0, ArmText { when, spend, ..to(target) });
            }
            6 if !instant && !whole.gates().is_empty() => state.needs = Some(self.needs(&whole.gates())),
            7 => state.routes[route].1[at].set = Some(one_value(&mut self.dice, &whole)),
            8 if !whole.gates().is_empty() => {
                state.routes[route].1[at].forced = Some(self.dice.one(&whole.gates()).clone());
            }
            _ => {}
        }
    }
}

/// A variable and one of its values.
fn one_value(dice: &mut Dice, machine: &MachineText) -> (String, String) {
    let (name, values) = dice.one(&machine.vars).clone();
    let value = dice.one(&values).clone();
    (name, value)
}
