//! Reading scenario files.

use indexmap::IndexMap;

use super::actor::Play;
use super::scenario::{Expect, Scenario, Start, Step};
use crate::definition::{Kind, Outcomes, State, Workflow};
use crate::language::{Node, Value, parse};
use crate::name::Name;
use crate::problem::{Place, Problem, did_you_mean, nearest};
use crate::signal;

/// What a step can say of a state besides facts and what comes with a verdict or an answer.
const STEP_KEYS: [&str; 7] = ["is", "same-again", "topic", "wrote", "changed", "edited", "items"];

/// Reads a scenario. Names it uses must exist in the workflow.
pub fn parse_scenario(workflow: &Workflow, file: &str, text: &str) -> (Option<Scenario>, Vec<Problem>) {
    let mut problems = Vec::new();
    let Some(root) = parse(file, text, &mut problems) else {
        for empty in problems.iter_mut().filter(|it| it.code == "empty") {
            *empty = empty.clone().help("start with `scenario: WHAT IT SHOWS`; see docs/guide");
        }
        return (None, problems);
    };
    let mut reader = Reader { workflow, file, problems };
    let scenario = reader.scenario(&root);
    reader.names(&root);
    reader.problems.sort_by_key(|it| it.place.bytes.start);
    (Some(scenario), reader.problems)
}

/// Where in the text of a scenario its how-manieth step begins.
pub fn step_at(text: &str, step: usize) -> Option<usize> {
    let root = parse("", text, &mut Vec::new())?;
    root.get("steps")?.items().get(step).map(|it| it.bytes.start)
}

pub(super) struct Reader<'w> {
    pub(super) workflow: &'w Workflow,
    file: &'w str,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    pub(super) fn wrong(&mut self, bytes: &std::ops::Range<usize>, message: String, help: Option<String>) {
        let place = Place { file: self.file.to_owned(), bytes: bytes.clone() };
        self.problems.push(Problem::load("bad-scenario", place, message).maybe_help(help));
    }

    fn keys(&mut self, node: &Node, what: &str, known: &[&str]) {
        for entry in node.entries() {
            if !known.contains(&entry.key.as_str()) {
                let message = format!("unknown key `{}` in {what}", entry.key);
                self.wrong(&entry.key_bytes, message, did_you_mean(&entry.key, known.iter().copied()));
            }
        }
        if !matches!(node.value, Value::Map(_)) {
            self.wrong(&node.bytes, format!("{what} is a map"), None);
        }
    }

    fn scenario(&mut self, root: &Node) -> Scenario {
        self.keys(root, "a scenario", &["scenario", "about", "start", "facts", "items", "steps", "expect"]);
        let start = root.get("start");
        if let Some(start) = start {
            self.keys(start, "`start`", &["verb", "phase", "vars", "done", "inputs"]);
        }
        let facts = self.facts(root.get("facts"));
        let steps = root.get("steps").map(Node::items).unwrap_or_default();
        Scenario {
            name: root.get("scenario").and_then(Node::text).unwrap_or(self.file).to_owned(),
            start: Start {
                verb: start.and_then(|it| it.get("verb")).and_then(Node::text).map(Name::from),
                phase: start.and_then(|it| it.get("phase")).and_then(Node::text).map(Name::from),
                vars: names_to_names(start.and_then(|it| it.get("vars"))),
                done: self.done(start.and_then(|it| it.get("done"))),
            },
            facts,
            items: root
                .get("items")
                .map(Node::entries)
                .unwrap_or_default()
                .iter()
                .map(|it| {
                    (
                        it.key.clone(),
                        it.node.items().into_iter().filter_map(Node::text).map(str::to_owned).collect(),
                    )
                })
                .collect(),
            steps: steps.into_iter().filter_map(|it| self.step(it)).collect(),
            expect: root.get("expect").map(|it| self.expect(it)).unwrap_or_default(),
        }
    }

    /// Items that are done, by loop: each with an end of what the loop runs.
    fn done(&mut self, node: Option<&Node>) -> IndexMap<Name, IndexMap<String, Name>> {
        let mut done = IndexMap::new();
        for entry in node.map(Node::entries).unwrap_or_default() {
            let state = self.workflow.main.states.get(entry.key.as_str());
            let Some(state) = state.filter(|it| matches!(it.kind, Kind::Each(_))) else {
                self.wrong(&entry.key_bytes, format!("there is no loop `{}`", entry.key), None);
                continue;
            };
            let mut items = IndexMap::new();
            for item in entry.node.entries() {
                let end = item.node.text().unwrap_or_default();
                if !state.cells.contains_key(end) {
                    let help = did_you_mean(end, state.cells.keys().map(|it| &**it));
                    self.wrong(&item.node.bytes, format!("`{}` never signals `{end}`", state.name), help);
                }
                items.insert(item.key.clone(), end.into());
            }
            done.insert(state.name.clone(), items);
        }
        done
    }

    fn facts(&mut self, node: Option<&Node>) -> IndexMap<Name, Name> {
        let mut facts = IndexMap::new();
        for entry in node.map(Node::entries).unwrap_or_default() {
            let value = entry.node.text().unwrap_or_default();
            self.fact(&entry.key, value, &entry.key_bytes);
            facts.insert(entry.key.as_str().into(), value.into());
        }
        facts
    }

    fn fact(&mut self, name: &str, value: &str, bytes: &std::ops::Range<usize>) {
        let workflow = self.workflow;
        match workflow.machines().find_map(|it| it.facts.get(name)) {
            Some(fact) if fact.values.iter().any(|it| **it == *value) => {}
            Some(fact) => {
                let help = did_you_mean(value, fact.values.iter().map(|it| &**it));
                self.wrong(bytes, format!("the fact `{name}` is never `{value}`"), help);
            }
            None => {
                let known: Vec<&str> =
                    workflow.machines().flat_map(|it| it.facts.keys().map(|it| &**it)).collect();
                self.wrong(bytes, format!("there is no fact `{name}`"), did_you_mean(name, known));
            }
        }
    }

    fn step(&mut self, node: &Node) -> Option<Step> {
        let [entry] = node.entries() else {
            self.wrong(
                &node.bytes,
                "a step is one key: `STATE: SIGNAL`, `facts`, `verb` or `edit`".into(),
                None,
            );
            return None;
        };
        match entry.key.as_str() {
            "facts" => return Some(Step::Facts(self.facts(Some(&entry.node)))),
            "verb" => {
                let verb = entry.node.text()?;
                if verb != "resume" && !self.workflow.verbs.contains_key(verb) {
                    let known = self.workflow.verbs.keys().map(|it| &**it).chain(["resume"]);
                    let help = did_you_mean(verb, known);
                    self.wrong(&entry.node.bytes, format!("there is no verb `{verb}`"), help);
                }
                return Some(Step::Verb(verb.into()));
            }
            "edit" => {
                return Some(Step::Edit(
                    entry.node.items().into_iter().filter_map(Node::text).map(Name::from).collect(),
                ));
            }
            _ => {}
        }
        let (child, name) =
            entry.key.split_once('.').map_or((None, entry.key.as_str()), |(a, b)| (Some(a), b));
        let workflow = self.workflow;
        let machine = workflow.machine(child);
        let Some(state) = machine.and_then(|it| it.states.get(name)) else {
            let known: Vec<Name> =
                workflow.machines().flat_map(|it| it.states.keys().map(|name| it.qualified(name))).collect();
            let help = did_you_mean(&entry.key, known.iter().map(|it| &**it));
            self.wrong(&entry.key_bytes, format!("there is no state `{}`", entry.key), help);
            return None;
        };
        let play = self.play(state, &entry.node);
        Some(Step::State { child: child.map(Name::from), state: name.into(), play: Box::new(play) })
    }

    fn play(&mut self, state: &State, node: &Node) -> Play {
        let mut play = Play::default();
        if let Some(signal) = node.text() {
            play.signal = Some(signal.into());
            self.signal(state, signal, node);
            return play;
        }
        let outcomes = signal::outcomes_of(self.workflow, state);
        for entry in node.entries() {
            let text = entry.node.text().unwrap_or_default();
            let names =
                || entry.node.items().into_iter().filter_map(Node::text).map(Name::from).collect::<Vec<_>>();
            match entry.key.as_str() {
                "is" => {
                    play.signal = Some(text.into());
                    self.signal(state, text, &entry.node);
                }
                "same-again" => {
                    play.same_again = Some(text == "yes");
                    self.of_findings(state, &entry.key, &entry.node);
                }
                "topic" => {
                    play.topic = Some(text.into());
                    self.of_findings(state, &entry.key, &entry.node);
                }
                "wrote" => {
                    play.wrote = Some(names());
                    self.wrote(state, &entry.node);
                }
                "changed" => play.changed = Some(names()),
                "edited" => play.edited = Some(names()),
                "items" => {
                    play.items = Some(
                        entry.node.items().into_iter().filter_map(Node::text).map(str::to_owned).collect(),
                    );
                }
                name if outcomes.values().any(|it| it.fields.contains_key(name)) => {
                    let values: Vec<&Name> =
                        outcomes.values().filter_map(|it| it.fields.get(name)).flatten().collect();
                    if !values.iter().any(|it| ***it == *text) {
                        let help = did_you_mean(text, values.iter().map(|it| &***it));
                        self.wrong(&entry.node.bytes, format!("`{name}` is never `{text}`"), help);
                    }
                    play.fields.insert(name.into(), text.into());
                }
                name => {
                    self.key_or_fact(&outcomes, name, text, &entry.key_bytes);
                    play.facts.insert(name.into(), text.into());
                }
            }
        }
        play
    }

    /// What is no key of a step is a fact, unless it was meant to be a key.
    fn key_or_fact(&mut self, outcomes: &Outcomes, name: &str, value: &str, bytes: &std::ops::Range<usize>) {
        let workflow = self.workflow;
        let facts = || workflow.machines().flat_map(|it| it.facts.keys());
        let fields = outcomes.values().flat_map(|it| it.fields.keys());
        let known = facts().chain(fields).map(|it| &**it).chain(STEP_KEYS);
        match nearest(name, known).filter(|near| !facts().any(|it| **it == **near)) {
            Some(key) => {
                let message = format!("there is no key of a step and no fact `{name}`");
                self.wrong(bytes, message, Some(format!("did you mean `{key}`?")));
            }
            None => self.fact(name, value, bytes),
        }
    }

    fn signal(&mut self, state: &State, signal: &str, node: &Node) {
        if !state.cells.contains_key(signal) && !matches!(state.kind, Kind::Each(_)) {
            let help = did_you_mean(signal, state.cells.keys().map(|it| &**it));
            self.wrong(&node.bytes, format!("`{}` never signals `{signal}`", state.name), help);
        }
    }

    fn expect(&mut self, node: &Node) -> Expect {
        self.keys(
            node,
            "`expect`",
            &[
                "end",
                "rest",
                "walk",
                "forced",
                "spent",
                "calls",
                "reaches",
                "unrouted",
                "unsettled",
                "refused",
                "endless",
            ],
        );
        let name = |key: &str| node.get(key).and_then(Node::text).map(Name::from);
        let list = |key: &str| {
            node.get(key)
                .map(|it| it.items().into_iter().filter_map(Node::text).map(Name::from).collect::<Vec<_>>())
        };
        let spent = node.get("spent").map(Node::entries).unwrap_or_default();
        let walk = match node.get("walk") {
            // A walk may also be one text: "propose specs tasks".
            Some(it) if it.text().is_some() => Some(
                it.text()
                    .unwrap_or_default()
                    .split([' ', '>', '\n'])
                    .filter(|it| !it.is_empty())
                    .map(Name::from)
                    .collect(),
            ),
            _ => list("walk"),
        };
        Expect {
            end: name("end"),
            rest: name("rest"),
            walk,
            forced: list("forced"),
            spent: spent.iter().filter_map(|it| Some((it.key.as_str().into(), it.node.number()?))).collect(),
            calls: node.get("calls").and_then(Node::number),
            reaches: name("reaches"),
            unrouted: name("unrouted"),
            unsettled: name("unsettled"),
            refused: name("refused"),
            endless: node.get("endless").and_then(Node::number).map(|it| it as usize),
        }
    }
}

fn names_to_names(node: Option<&Node>) -> IndexMap<Name, Name> {
    let entries = node.map(Node::entries).unwrap_or_default();
    entries.iter().map(|it| (it.key.as_str().into(), it.node.text().unwrap_or_default().into())).collect()
}
