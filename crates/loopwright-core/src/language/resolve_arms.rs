//! Arms: where they lead, and what they spend, set, record and pass over.

use indexmap::IndexMap;

use super::loader::{Loader, names_in};
use super::scope::Scope;
use super::yaml::{Entry, Node, shorten};
use crate::definition::{Arm, Kind, Machine, Per, State, Target, Unattended, Workflow};
use crate::name::Name;
use crate::problem::did_you_mean;

/// What an arm is read in: the state, and the outcome being routed.
pub(super) struct Cellar<'w> {
    pub(super) workflow: &'w Workflow,
    pub(super) machine: &'w Machine,
    pub(super) state: Option<&'w State>,
    pub(super) signals: Vec<Name>,
}

/// What to do about an `else` without `spend`.
const ELSE_HELP: &str = "`else` is where it leads when the budget is used up: add `spend: BUDGET`; where it leads when a \
                         condition does not hold is a second arm: `[{when: {...}, to: ONE}, {to: OTHER}]`";

impl Loader<'_> {
    pub(super) fn arms(&self, node: &Node, cellar: &Cellar<'_>, scope: Scope<'_>) -> Vec<Arm> {
        let mut arms = Vec::new();
        for item in node.items() {
            if let Some(to) = item.text() {
                arms.extend(self.target(to, item, cellar).map(|to| Arm {
                    to,
                    when: Vec::new(),
                    spend: None,
                    refill: Vec::new(),
                    set: IndexMap::new(),
                    record: Vec::new(),
                    forced: Vec::new(),
                    anew: Vec::new(),
                    place: Self::place(&item.bytes),
                }));
                continue;
            }
            let Some(to) = item.get("to") else { continue };
            let Some(target) = to.text().and_then(|text| self.target(text, to, cellar)) else { continue };
            let arm = self.arm(item, target, cellar, scope);
            let when = arm.when.clone();
            if let (None, Some(entry)) = (item.get("spend"), item.entry("else")) {
                let message = "`else` goes with `spend`".to_owned();
                self.wrong("else-without-spend", &entry.key_bytes, message, Some(ELSE_HELP.into()));
            }
            arms.push(arm);
            for mut other in item.get("else").map(|it| self.arms(it, cellar, scope)).unwrap_or_default() {
                other.when.splice(0..0, when.iter().cloned());
                arms.push(other);
            }
        }
        arms
    }

    fn arm(&self, node: &Node, to: Target, cellar: &Cellar<'_>, scope: Scope<'_>) -> Arm {
        let machine = cellar.machine;
        let budget = |it: &Node| {
            let text = it.text()?;
            match machine.budgets.get(text) {
                Some(budget) if budget.unit() == super::units::Unit::Uses => Some(Name::from(text)),
                Some(_) => {
                    let message = format!("`{text}` has a unit: every call spends it, arms do not");
                    let help = "spend a budget without a unit, such as `fixes: 2`".to_owned();
                    self.wrong("metered-budget", &it.bytes, message, Some(help));
                    None
                }
                // It does not fit, which has been reported.
                None if names_in(scope.node, "budgets").contains(&text) => None,
                None => {
                    let message = format!("there is no budget `{}`", shorten(text));
                    let help = if names_in(self.root, "budgets").contains(&text) {
                        Some("it is the parent's; a child has budgets of its own".to_owned())
                    } else {
                        did_you_mean(text, names_in(scope.node, "budgets"))
                            .or_else(|| Some(format!("declare it: `budgets: {{{}: 2}}`", shorten(text))))
                    };
                    self.wrong("unknown-name", &it.bytes, message, help);
                    None
                }
            }
        };
        let spend = node.get("spend").and_then(budget);
        if let (Some(spend), Target::State(target)) = (&spend, &to)
            && let Some(Per::States(states)) = machine.budgets.get(&**spend).map(|it| &it.per)
            && states.contains(target)
        {
            let message = format!("spends `{spend}` and at once fills it again by entering `{target}`");
            let bytes = node.get("spend").map_or(0..0, |it| it.bytes.clone());
            self.wrong(
                "spend-and-refill",
                &bytes,
                message,
                Some(format!("leave `{target}` out of `per`, or lead elsewhere")),
            );
        }
        if let Some(spend) = &spend
            && machine.budgets.get(&**spend).is_some_and(|it| it.per == Per::Visit)
            && to != Target::Again
        {
            let message = format!(
                "`{spend}` is `per: visit`: leaving the state fills it again, so only `again` can spend it"
            );
            let bytes = node.get("spend").map_or(0..0, |it| it.bytes.clone());
            let help = "drop `per: visit`; or spend it on `again`, and lead on in `else`".to_owned();
            self.wrong("visit-budget", &bytes, message, Some(help));
        }
        let refill: Vec<Name> =
            node.get("refill").map(Node::items).unwrap_or_default().into_iter().filter_map(budget).collect();
        if let (Some(entry), Some(state)) = (node.entry("refill"), cellar.state) {
            self.only_a_person_refills(entry, state, cellar);
        }
        let mut set = IndexMap::new();
        for entry in node.get("set").map(Node::entries).unwrap_or_default() {
            let value = entry.node.text().unwrap_or_default();
            if self.value_of_variable(&scope, &entry.key, &entry.key_bytes, value, &entry.node.bytes) {
                set.insert(entry.key.as_str().into(), value.into());
            }
        }
        let gates = |key: &str| -> Vec<Name> {
            let named = node.get(key).map(Node::items).unwrap_or_default();
            named.into_iter().filter_map(|it| self.gate_name(it, scope)).collect()
        };
        Arm {
            to,
            when: node.get("when").map(|it| self.conditions(it, cellar, scope)).unwrap_or_default(),
            spend,
            refill,
            set,
            record: self.known_list("lists", "list", node.get("record")),
            forced: gates("forced"),
            anew: gates("anew"),
            place: Self::place(&node.bytes),
        }
    }

    fn only_a_person_refills(&self, entry: &Entry, state: &State, cellar: &Cellar<'_>) {
        let person = matches!(state.kind, Kind::Ask { .. } | Kind::Rest { .. });
        let nobody = match &state.kind {
            Kind::Ask { question } => {
                cellar.workflow.questions.get(&**question).is_some_and(|it| match &it.unattended {
                    Unattended::Wait => false,
                    Unattended::As(answer) => cellar.signals.contains(answer),
                })
            }
            _ => false,
        };
        if !person {
            let message = "only a person refills a budget".to_owned();
            let help = "refill on an arm out of `ask` or `rest`, or use `per: STATE`".to_owned();
            self.wrong("refill", &entry.key_bytes, message, Some(help));
        } else if nobody {
            let message = "this arm is taken when nobody is there, so nobody decides to refill".to_owned();
            self.wrong("refill", &entry.key_bytes, message, Some("choose another `unattended`".into()));
        }
    }

    fn target(&self, text: &str, node: &Node, cellar: &Cellar<'_>) -> Option<Target> {
        match text {
            "again" | "back"
                if cellar.state.is_some_and(|it| !matches!(it.kind, Kind::Choose | Kind::Settle { .. })) =>
            {
                Some(if text == "again" { Target::Again } else { Target::Back })
            }
            "back" if cellar.state.is_some() => Some(Target::Back),
            _ if cellar.machine.states.contains_key(text) => Some(Target::State(text.into())),
            // That there are none has been reported.
            _ if cellar.machine.states.is_empty() => None,
            _ => {
                let message = format!("there is no state `{}`", shorten(text));
                let help = if cellar.workflow.main.states.contains_key(text) {
                    Some(
                        "it is a state of the parent; a child ends, and the parent routes its end".to_owned(),
                    )
                } else {
                    did_you_mean(text, cellar.machine.states.keys().map(|it| &**it))
                };
                self.wrong("unknown-name", &node.bytes, message, help);
                None
            }
        }
    }
}
