//! Signals: how every state can come out, if that can be known.

use super::loader::Loader;
use super::resolve_roles::outcome_place;
use super::yaml::{Entry, Node};
use crate::definition::{EachRun, Kind, Machine, Outcomes, State, Workflow};
use crate::name::Name;
use crate::signal;

impl Loader<'_> {
    /// Whether what a state does is wrong in a way that leaves open how it can come out.
    fn leaves_open(&self, workflow: &Workflow, node: &Node) -> bool {
        let mut kinds = KINDS.iter().filter_map(|it| node.entry(it));
        let (Some(kind), None) = (kinds.next(), kinds.next()) else { return true };
        match kind.key.as_str() {
            "agent" | "review" | "ask" | "each" if self.is_broken(Some(&kind.node)) => true,
            "agent" | "review" if node.get("verdicts").is_some() => self.is_broken(node.get("verdicts")),
            "agent" | "review" => {
                let rows: Vec<&Node> = match kind.node.entries() {
                    [] => vec![&kind.node],
                    rows => rows.iter().filter(|it| it.key != "by").map(|it| &it.node).collect(),
                };
                rows.iter().filter_map(|it| it.text()).any(|role| {
                    let declared = self.root.get("roles").and_then(|it| it.get(role));
                    let keys = ["verdicts", "asks", "findings"];
                    let open = keys.iter().any(|key| self.is_broken(declared.and_then(|it| it.get(key))));
                    open || workflow.roles.get(role).is_none_or(|it| it.verdicts.is_empty())
                })
            }
            "ask" => {
                let question = kind.node.text().unwrap_or_default();
                let declared = self.root.get("questions").and_then(|it| it.get(question));
                let known = workflow.questions.get(question).is_some_and(|it| !it.answers.is_empty());
                !known || self.is_broken(declared)
            }
            "each" => match kind.node.get("run").and_then(Node::text) {
                None => false,
                Some(child) => {
                    let states = self.root.get("children").and_then(|it| it.get(child)?.get("states"));
                    let kinds = |it: &Entry| KINDS.iter().filter(|key| it.node.get(key).is_some()).count();
                    states.is_none_or(|it| it.entries().iter().any(|it| kinds(it) != 1))
                }
            },
            _ => false,
        }
    }

    pub(super) fn signals(&self, workflow: &Workflow, machine: &Machine, state: &State) -> Vec<Name> {
        if self.state_node(machine, &state.name).is_none_or(|it| self.leaves_open(workflow, it)) {
            self.set_vague(machine, &state.name);
        }
        let mut signals: Vec<Name> = match &state.kind {
            Kind::Agent(call) | Kind::Review { call, .. } => {
                let mut signals: Vec<Name> = signal::outcomes_of(workflow, state).into_keys().collect();
                let asks = call.role.values().any(|it| workflow.roles.get(&**it).is_some_and(|it| it.asks));
                signals.extend(asks.then(|| signal::ASK.into()));
                signals
            }
            Kind::Check(_) => vec!["pass".into(), "fail".into()],
            Kind::Ask { question } => {
                let mut signals: Vec<Name> = signal::outcomes_of(workflow, state).into_keys().collect();
                signals.push(signal::DEFERRED.into());
                let re_asks = workflow.questions.get(&**question).is_some_and(|it| it.re_ask.is_some());
                signals.extend(re_asks.then(|| signal::UNANSWERED.into()));
                signals.extend(self.listed_verbs(machine, state));
                signals
            }
            Kind::Do { .. } => vec!["done".into()],
            Kind::Choose | Kind::Settle { .. } => vec![signal::ALWAYS.into()],
            Kind::Each(each) => {
                let mut signals: Vec<Name> = match &each.run {
                    EachRun::Call(_) => vec!["done".into()],
                    EachRun::Child(child) => workflow
                        .children
                        .get(&**child)
                        .map(|it| it.ends().map(|(name, _)| name.clone()).collect())
                        .unwrap_or_default(),
                };
                signals.push(signal::EMPTY.into());
                signals.extend(each.by_dependency.then(|| signal::UNORDERED.into()));
                signals.extend(each.at_most.map(|_| signal::TOO_MANY.into()));
                signals
            }
            Kind::Rest { .. } => self.listed_verbs(machine, state),
            Kind::End { .. } => Vec::new(),
        };
        signals.extend(signal::failures_of(workflow, &state.kind));
        let needs = !state.needs.values().all(Vec::is_empty);
        signals.extend(needs.then(|| signal::STALE.into()));
        signals
    }

    fn listed_verbs(&self, machine: &Machine, state: &State) -> Vec<Name> {
        let on = self.state_node(machine, &state.name).and_then(|it| it.get("on"));
        let mut verbs = Vec::new();
        for entry in on.map(Node::entries).unwrap_or_default() {
            for word in entry.key.split('|').map(str::trim).filter(|it| it.starts_with("verb ")) {
                verbs.push(Name::from(word));
            }
        }
        verbs
    }

    /// Verdicts and answers may not be words that mean something else.
    pub(super) fn no_reserved_signals(&self, node: Option<&Node>, outcomes: &Outcomes) {
        let Some(node) = node else { return };
        for name in outcomes.keys().filter(|it| signal::is_reserved(it)) {
            let bytes = outcome_place(node, name);
            let message = format!("`{name}` already means something and cannot be a verdict or an answer");
            self.wrong("reserved", &bytes, message, Some("choose another word".into()));
        }
        if outcomes.is_empty() {
            let help = "name at least one, best first".to_owned();
            self.wrong("bad-value", &node.bytes, "the list is empty".into(), Some(help));
        }
    }
}

/// What a state can do, by the key that says so.
const KINDS: &[&str] = &["agent", "review", "check", "ask", "do", "choose", "settle", "each", "rest", "end"];
