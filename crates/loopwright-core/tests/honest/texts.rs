//! The parts of a generated workflow, and how they are written down.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::dice::Dice;

/// An arm.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArmText {
    pub(crate) to: String,
    pub(crate) when: Vec<(String, Vec<String>)>,
    pub(crate) spend: Option<String>,
    pub(crate) refill: Option<String>,
    pub(crate) set: Option<(String, String)>,
    pub(crate) record: bool,
    pub(crate) forced: Option<String>,
}

/// An arm that only leads somewhere.
pub(crate) fn to(target: impl Into<String>) -> ArmText {
    ArmText { to: target.into(), ..ArmText::default() }
}

/// The kinds of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Agent,
    Review,
    Check,
    Ask,
    Do,
    Choose,
    Settle,
    EachCall,
    EachChild,
    Rest,
    End,
}

/// A state.
#[derive(Clone, Debug)]
pub(crate) struct StateText {
    pub(crate) name: String,
    pub(crate) what: What,
    /// What comes first: `agent: coder`.
    pub(crate) head: Vec<String>,
    pub(crate) gate: Option<String>,
    pub(crate) needs: Option<String>,
    /// Fields of its verdicts and answers.
    pub(crate) fields: BTreeMap<String, Vec<(String, Vec<String>)>>,
    pub(crate) signals: Vec<String>,
    pub(crate) topics: Vec<String>,
    /// Whether it reports findings.
    pub(crate) finds: bool,
    pub(crate) routes: Vec<(String, Vec<ArmText>)>,
    /// What its question is answered with when nobody is there.
    pub(crate) asks_nobody: Option<String>,
}

impl StateText {
    pub(crate) fn new(name: String, what: What) -> Self {
        Self {
            name,
            what,
            head: Vec::new(),
            gate: None,
            needs: None,
            fields: BTreeMap::new(),
            signals: Vec::new(),
            topics: Vec::new(),
            finds: false,
            routes: Vec::new(),
            asks_nobody: None,
        }
    }

    pub(crate) fn route(&mut self, signal: &str, arms: Vec<ArmText>) {
        self.routes.retain(|(it, _)| it != signal);
        self.routes.push((signal.to_owned(), arms));
    }

    fn arms(&self) -> impl Iterator<Item = &ArmText> {
        self.routes.iter().flat_map(|(_, it)| it)
    }

    fn arms_mut(&mut self) -> impl Iterator<Item = &mut ArmText> {
        self.routes.iter_mut().flat_map(|(_, it)| it)
    }

    fn write(&self, out: &mut String, indent: &str) {
        let _ = writeln!(out, "{indent}  {}:", self.name);
        for line in &self.head {
            let _ = writeln!(out, "{indent}    {line}");
        }
        if let Some(needs) = &self.needs {
            let _ = writeln!(out, "{indent}    needs: {needs}");
        }
        match self.what {
            What::Choose => {
                let _ = writeln!(out, "{indent}    choose:");
                for arm in self.arms() {
                    let text = arm_text(arm);
                    let text = if text.starts_with('{') { text } else { format!("{{to: {text}}}") };
                    let _ = writeln!(out, "{indent}      - {text}");
                }
            }
            What::Settle => {
                for (_, arms) in &self.routes {
                    let _ = writeln!(out, "{indent}    then: {}", arms_text(arms));
                }
            }
            What::End => {}
            _ if self.routes.is_empty() => {}
            _ => {
                let _ = writeln!(out, "{indent}    on:");
                for (signal, arms) in &self.routes {
                    let _ = writeln!(out, "{indent}      {signal}: {}", arms_text(arms));
                }
            }
        }
    }
}

/// A machine: the workflow's own, or a child's.
#[derive(Clone, Debug, Default)]
pub(crate) struct MachineText {
    pub(crate) child: bool,
    /// The end that failures lead to. To a parent `failed` would be a failure of its own.
    pub(crate) bad: &'static str,
    pub(crate) states: Vec<StateText>,
    pub(crate) budgets: Vec<(String, String)>,
    /// Budgets that entering states fills.
    pub(crate) per: BTreeMap<String, Vec<String>>,
    pub(crate) vars: Vec<(String, Vec<String>)>,
    pub(crate) var_lines: Vec<String>,
    pub(crate) facts: Vec<(String, Vec<String>)>,
    pub(crate) fact_lines: Vec<String>,
    pub(crate) defaults: Vec<(String, Vec<ArmText>)>,
    /// A start value that a loop over it may give.
    pub(crate) with: Option<(String, String)>,
}

impl MachineText {
    pub(crate) fn names(&self) -> Vec<String> {
        self.states.iter().map(|it| it.name.clone()).collect()
    }

    pub(crate) fn gates(&self) -> Vec<String> {
        let mut gates: Vec<String> = self.states.iter().filter_map(|it| it.gate.clone()).collect();
        gates.sort();
        gates.dedup();
        gates
    }

    /// Budgets that arms out of a visit spend.
    pub(crate) fn counters(&self) -> Vec<String> {
        let all = self.budgets.iter().map(|(name, _)| name.clone());
        all.filter(|it| it != "retries" && it != "money").collect()
    }

    /// A budget an arm to this target can spend.
    pub(crate) fn budget_for(&self, dice: &mut Dice, target: &str) -> Option<String> {
        let fits: Vec<String> = self
            .counters()
            .into_iter()
            .filter(|it| self.per.get(it).is_none_or(|states| !states.iter().any(|it| it == target)))
            .collect();
        (!fits.is_empty()).then(|| dice.one(&fits).clone())
    }

    pub(crate) fn write(&self, out: &mut String, indent: &str) {
        let mut lines = |head: &str, lines: &[String]| {
            if !lines.is_empty() {
                let _ = writeln!(out, "{indent}{head}:");
            }
            for line in lines {
                let _ = writeln!(out, "{indent}  {line}");
            }
        };
        let budgets: Vec<String> =
            self.budgets.iter().map(|(name, text)| format!("{name}: {text}")).collect();
        let defaults: Vec<String> =
            self.defaults.iter().map(|(signal, arms)| format!("{signal}: {}", arms_text(arms))).collect();
        lines("vars", &self.var_lines);
        lines("facts", &self.fact_lines);
        lines("budgets", &budgets);
        lines("defaults", &defaults);
        let _ = writeln!(out, "{indent}states:");
        for state in &self.states {
            state.write(out, indent);
        }
    }

    /// Leaves out what nothing leads to and nothing spends.
    pub(crate) fn sweep(&mut self, roots: &[String]) {
        let mut reached: Vec<String> = roots.to_vec();
        reached.push(self.states[0].name.clone());
        let mut at = 0;
        while at < reached.len() {
            for name in self.next(&reached[at].clone()) {
                if !reached.contains(&name) {
                    reached.push(name);
                }
            }
            at += 1;
        }
        self.states.retain(|it| reached.contains(&it.name) || self.child && it.what == What::End);
        let names = self.names();
        for states in self.per.values_mut() {
            states.retain(|it| names.contains(it));
        }
        self.sweep_budgets();
    }

    /// The states a state leads to or speaks of.
    fn next(&self, name: &str) -> Vec<String> {
        let Some(state) = self.states.iter().find(|it| it.name == name) else { return Vec::new() };
        let mut next: Vec<String> = state.arms().map(|it| it.to.clone()).collect();
        if !matches!(state.what, What::Ask | What::Choose | What::Settle | What::Rest | What::End) {
            next.push(self.bad.to_owned());
        }
        let mut spoken: Vec<&str> = self.fact_lines.iter().map(String::as_str).collect();
        spoken.extend(state.needs.as_deref());
        spoken.extend(state.head.iter().map(String::as_str));
        for arm in state.arms() {
            spoken.extend(arm.when.iter().map(|(name, _)| name.as_str()));
            spoken.extend(arm.forced.as_deref());
        }
        let mentioned = |name: &str| {
            spoken.iter().any(|it| it.split(|it: char| !it.is_alphanumeric()).any(|it| it == name))
        };
        let others = self.states.iter().filter(|it| it.what != What::End);
        let others = others.filter(|it| mentioned(&it.name) || it.gate.as_deref().is_some_and(mentioned));
        next.extend(others.map(|it| it.name.clone()));
        next.retain(|it| self.states.iter().any(|state| state.name == *it));
        next
    }

    fn sweep_budgets(&mut self) {
        let states = &self.states;
        let spenders = |name: &str| {
            states.iter().filter(|it| it.arms().any(|it| it.spend.as_deref() == Some(name))).count()
        };
        let mut gone: Vec<String> = Vec::new();
        let per = &self.per;
        self.budgets.retain_mut(|(name, text)| {
            let count = spenders(name);
            if name == "retries" || name == "money" {
                return true;
            }
            if count == 0 {
                gone.push(name.clone());
                return false;
            }
            if let Some(states) = per.get(name) {
                let from = text.find("per: [").unwrap_or(0);
                let until = text[from..].find(']').map_or(from, |it| from + it + 1);
                text.replace_range(from..until, &format!("per: [{}]", states.join(", ")));
            }
            *text = text.replace(", shared: true", "");
            if count > 1 {
                text.insert_str(text.len() - 1, ", shared: true");
            }
            true
        });
        for arm in self.states.iter_mut().flat_map(StateText::arms_mut) {
            if arm.refill.as_ref().is_some_and(|it| gone.contains(it)) {
                arm.refill = None;
            }
        }
    }
}

fn arm_text(arm: &ArmText) -> String {
    let mut parts = vec![format!("to: {}", arm.to)];
    if !arm.when.is_empty() {
        let quoted = |it: &[String]| it.iter().map(|it| format!("\"{it}\"")).collect::<Vec<_>>().join(", ");
        let when: Vec<String> =
            arm.when.iter().map(|(name, values)| format!("{name}: [{}]", quoted(values))).collect();
        parts.push(format!("when: {{{}}}", when.join(", ")));
    }
    parts.extend(arm.spend.as_ref().map(|it| format!("spend: {it}")));
    parts.extend(arm.refill.as_ref().map(|it| format!("refill: {it}")));
    parts.extend(arm.set.as_ref().map(|(name, value)| format!("set: {{{name}: {value}}}")));
    if arm.record {
        parts.push("record: log".into());
    }
    parts.extend(arm.forced.as_ref().map(|it| format!("forced: {it}")));
    if parts.len() == 1 { arm.to.clone() } else { format!("{{{}}}", parts.join(", ")) }
}

fn arms_text(arms: &[ArmText]) -> String {
    match arms {
        [one] => arm_text(one),
        many => format!("[{}]", many.iter().map(arm_text).collect::<Vec<_>>().join(", ")),
    }
}
