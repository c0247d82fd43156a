//! Properties: what the author wants proved.

use super::loader::Loader;
use super::yaml::{Node, shorten};
use crate::definition::{Claim, Happened, Machine, Property, Workflow};
use crate::name::Name;
use crate::problem::did_you_mean;
use crate::signal;

impl Loader<'_> {
    pub(super) fn properties(&self, workflow: &Workflow) -> Vec<Property> {
        let items = self.root.get("properties").map(Node::items).unwrap_or_default();
        items
            .into_iter()
            .filter_map(|node| {
                let claim = self.claim(workflow, node)?;
                Some(Property { claim, place: Self::place(&super::shape::head(node)) })
            })
            .collect()
    }

    fn claim(&self, workflow: &Workflow, node: &Node) -> Option<Claim> {
        if let Some(never) = node.get("never") {
            let reach = self.main_state(workflow, "reach", never.get("reach")?)?;
            let before = never.get("before").map(Node::items).unwrap_or_default();
            let before: Vec<Happened> =
                before.into_iter().filter_map(|it| self.happened(workflow, it)).collect();
            if before.is_empty() {
                return None;
            }
            return Some(Claim::Never {
                reach,
                before,
                when: self.property_conditions(workflow, never.get("when")),
            });
        }
        if let Some(at_most) = node.get("at-most") {
            let visits = self.main_state(workflow, "visits", at_most.get("visits")?)?;
            return Some(Claim::AtMost { visits, times: at_most.get("times")?.number()? });
        }
        let always = node.get("always")?;
        Some(Claim::Always {
            after: self.main_state(workflow, "after", always.get("after")?)?,
            comes: self.happened(workflow, always.get("comes")?)?,
        })
    }

    fn main_state(&self, workflow: &Workflow, key: &str, node: &Node) -> Option<Name> {
        let text = node.text()?;
        if let Some((child, state)) = text.split_once('.')
            && workflow.machine(Some(child)).is_some_and(|it| it.states.contains_key(state))
        {
            let message =
                format!("`{text}` is a state of a child, and `{key}` names one of the workflow's own");
            let help =
                "children's states may stand in `before` and `comes`; to bound a child, use its budgets";
            self.wrong("bad-value", &node.bytes, message, Some(help.to_owned()));
            return None;
        }
        self.state_of(&workflow.main, text, node).then(|| text.into())
    }

    fn state_of(&self, machine: &Machine, text: &str, node: &Node) -> bool {
        let known = machine.states.contains_key(text);
        if !known {
            let message = format!("the property names `{}`, and there is no such state", shorten(text));
            let help = match text.split_once(' ') {
                Some((state, signal)) if machine.states.contains_key(state) => {
                    Some(format!("write `{state} = {}`", signal.trim()))
                }
                _ => did_you_mean(text, machine.states.keys().map(|it| &**it)),
            };
            self.wrong("unknown-name", &node.bytes, message, help);
        }
        known
    }

    fn happened(&self, workflow: &Workflow, node: &Node) -> Option<Happened> {
        let text = node.text()?;
        let (name, wanted) =
            text.split_once('=').map_or((text.trim(), None), |(a, b)| (a.trim(), Some(b.trim())));
        if let Some(wanted) = wanted.and_then(|it| it.strip_prefix('=')) {
            let message = "a property compares with one `=`".to_owned();
            let help = format!("write `{name} = {}`", wanted.trim());
            self.wrong("bad-value", &node.bytes, message, Some(help));
            return None;
        }
        if wanted == Some("settled") {
            if workflow.main.gates.contains_key(name) {
                return Some(Happened::Settled { gate: name.into() });
            }
            let message = format!("there is no gate `{name}`");
            self.wrong(
                "unknown-name",
                &node.bytes,
                message,
                did_you_mean(name, workflow.main.gates.keys().map(|it| &**it)),
            );
            return None;
        }
        let (child, state) = name.split_once('.').map_or((None, name), |(a, b)| (Some(a), b));
        if let Some(child) = child
            && !self.known("children", "child", child, &node.bytes)
        {
            return None;
        }
        let machine = workflow.machine(child)?;
        if !self.state_of(machine, state, node) {
            return None;
        }
        let known = &machine.states.get(state)?.cells;
        let signals: Vec<Name> = match wanted {
            None => {
                known.keys().filter(|it| !signal::is_failure(it) && **it != signal::STALE).cloned().collect()
            }
            Some(wanted) => wanted.split('|').map(|it| it.trim().into()).collect(),
        };
        if self.is_vague(machine, &state.into()) {
            return None;
        }
        if signals.iter().any(|it| **it == *"settled") && !known.contains_key("settled") {
            let message = "`settled` says how a gate stands; it does not go together with signals".to_owned();
            let help = format!("write `{name} = settled` alone, or name only signals");
            self.wrong("bad-value", &node.bytes, message, Some(help));
            return None;
        }
        for wanted in signals.iter().filter(|it| !known.contains_key(&***it)) {
            let message = format!("`{state}` never signals `{wanted}`");
            let settled = machine.gates.contains_key(state).then_some("settled");
            let help = did_you_mean(wanted, known.keys().map(|it| &**it).chain(settled));
            self.wrong("unknown-signal", &node.bytes, message, help);
        }
        if signals.is_empty() && wanted.is_none() {
            // A state without signals, such as an end, has happened when it is reached.
            return Some(Happened::Signal { child: child.map(Name::from), state: state.into(), signals });
        }
        let signals: Vec<Name> = signals.into_iter().filter(|it| known.contains_key(&**it)).collect();
        (!signals.is_empty()).then(|| Happened::Signal {
            child: child.map(Name::from),
            state: state.into(),
            signals,
        })
    }
}
