//! Phases: what states show, and where an import lands.

use indexmap::IndexMap;

use super::loader::Loader;
use super::yaml::{Node, Value};
use crate::definition::{Phase, Workflow};
use crate::name::Name;
use crate::problem::did_you_mean;

impl Loader<'_> {
    pub(super) fn phases(&self, workflow: &Workflow) -> IndexMap<Name, Phase> {
        let mut shown: IndexMap<Name, Name> = IndexMap::new();
        let mut others = None;
        let mut phases: IndexMap<Name, Phase> = IndexMap::new();
        for entry in self.section("phases") {
            let node = &entry.node;
            let listed = if matches!(node.value, Value::Map(_)) { node.get("show") } else { Some(node) };
            let mut show: Vec<Name> = Vec::new();
            let mut unknown = self.is_broken(Some(node));
            for item in listed.map(Node::items).unwrap_or_default() {
                let Some(text) = item.text() else { continue };
                if text == "others" {
                    others = Some(entry.key.clone());
                } else if self.state_named(workflow, text, &item.bytes) {
                    if let Some(before) = shown.insert(text.into(), entry.key.as_str().into()) {
                        let message = format!("`{text}` already shows `{before}`");
                        self.wrong(
                            "shown-twice",
                            &item.bytes,
                            message,
                            Some("a state shows one phase".into()),
                        );
                    }
                    show.push(text.into());
                } else {
                    unknown = true;
                }
            }
            let main_state = |key: &str| {
                let it = node.get(key)?;
                let text = it.text()?;
                let known = workflow.main.states.contains_key(text);
                if !known {
                    let message = format!("there is no state `{text}`");
                    self.wrong(
                        "unknown-name",
                        &it.bytes,
                        message,
                        did_you_mean(text, workflow.main.states.keys().map(|it| &**it)),
                    );
                }
                known.then(|| Name::from(text))
            };
            let at = main_state("at");
            let at = at.or_else(|| show.iter().find(|it| workflow.main.states.contains_key(&***it)).cloned());
            let Some(at) = at else {
                if node.get("at").is_none() && !unknown {
                    let message = format!("the phase `{}` does not say where an import lands", entry.key);
                    self.wrong("no-landing", &entry.key_bytes, message, Some("add `at: STATE`".into()));
                }
                continue;
            };
            let mut settles = Vec::new();
            for item in node.get("settles").map(Node::items).unwrap_or_default() {
                let Some(text) = item.text() else { continue };
                if workflow.main.gates.contains_key(text) {
                    settles.push(text.into());
                } else {
                    let message = format!("there is no gate `{text}`");
                    self.wrong(
                        "unknown-name",
                        &item.bytes,
                        message,
                        did_you_mean(text, workflow.main.gates.keys().map(|it| &**it)),
                    );
                }
            }
            phases.insert(
                entry.key.as_str().into(),
                Phase { at, show, settles, back: main_state("back"), place: Self::place(&entry.key_bytes) },
            );
        }
        if let Some(phase) = others.and_then(|it| phases.get_mut(it.as_str())) {
            for machine in workflow.machines() {
                for state in machine.states.keys() {
                    let name = machine.qualified(state);
                    if !shown.contains_key(&*name) {
                        phase.show.push(name);
                    }
                }
            }
        }
        phases
    }

    fn state_named(&self, workflow: &Workflow, text: &str, bytes: &std::ops::Range<usize>) -> bool {
        let known = match text.split_once('.') {
            Some((child, state)) => {
                workflow.children.get(child).is_some_and(|it| it.states.contains_key(state))
            }
            None => workflow.main.states.contains_key(text),
        };
        if !known {
            let names: Vec<Name> = workflow
                .machines()
                .flat_map(|machine| machine.states.keys().map(|it| machine.qualified(it)))
                .collect();
            self.wrong(
                "unknown-name",
                bytes,
                format!("there is no state `{text}`"),
                did_you_mean(text, names.iter().map(|it| &**it)),
            );
        }
        known
    }
}
