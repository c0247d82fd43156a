//! Texts and prompts: whatever they name must exist.
//!
//! A prompt may use what its role or state is `given` and a few names that are always there; other texts may use
//! anything the run knows. A misspelt name is found here, not by an agent that gets an empty prompt.

use indexmap::IndexMap;

use super::loader::{Loader, Scope};
use super::resolve_nouns::all;
use super::types::{Types, environment, follow};
use crate::definition::{Call, Files, Given, Kind, Machine, State, VerbElse, Workflow};
use crate::fact::Type;
use crate::name::{Name, in_expression};
use crate::problem::{Place, Problem, did_you_mean};

/// Names a prompt can always use.
const ALWAYS: &[&str] = &["subject", "run", "state", "round", "phase", "item", "facts"];

type Names = IndexMap<String, Type>;

impl Loader<'_> {
    pub(super) fn check_texts(&self, workflow: &Workflow, types: &Types) {
        let main = Scope { node: self.root, child: None };
        let names = text_names(workflow, &workflow.main, &main, types);
        self.check_top_texts(workflow, &names);
        for machine in workflow.machines() {
            let scope = match &machine.name {
                None => main,
                Some(child) => match self.root.get("children").and_then(|it| it.get(child)) {
                    Some(node) => Scope { node, child: Some(child) },
                    None => continue,
                },
            };
            let names = text_names(workflow, machine, &scope, types);
            for state in machine.states.values() {
                self.check_state_texts(workflow, machine, state, &names);
            }
        }
    }

    fn check_top_texts(&self, workflow: &Workflow, names: &Names) {
        for (name, document) in &workflow.documents {
            for text in document.shows.values() {
                self.text(text, &document.place, names);
            }
            let paths: Vec<&String> = match &document.files {
                Files::One(path) | Files::Command(path) => vec![path],
                Files::Many(globs) => globs.iter().collect(),
                Files::Group(_) => Vec::new(),
            };
            for path in paths {
                self.text(path, &document.place, names);
            }
            if document.engine_owned {
                self.using("documents", name);
            }
            let written = serde_json::to_string(&document.with).unwrap_or_default();
            for word in written.split(|it: char| !it.is_alphanumeric() && !"._-".contains(it)) {
                self.using_path(&in_expression(word));
            }
        }
        for question in workflow.questions.values() {
            self.text(&question.asks, &question.place, names);
            for shown in &question.shows {
                self.check_given(shown, names);
            }
        }
        for (name, verb) in &workflow.verbs {
            if let Some(VerbElse::Say(text) | VerbElse::Error(text)) = &verb.otherwise {
                let bytes = self
                    .root
                    .get("verbs")
                    .and_then(|it| it.entry(name))
                    .map_or(0..0, |it| it.key_bytes.clone());
                self.text(text, &Self::place(&bytes), names);
            }
        }
        if let Some(node) = self.root.get("folder") {
            self.text(node.text().unwrap_or_default(), &Self::place(&node.bytes), names);
        }
    }

    fn check_state_texts(&self, workflow: &Workflow, machine: &Machine, state: &State, names: &Names) {
        match &state.kind {
            Kind::Rest { text } | Kind::End { says: Some(text), .. } => self.text(text, &state.place, names),
            Kind::Do { actions, .. } => {
                for action in actions {
                    self.texts_in(&action.parameters, &action.place, names);
                    if let Some(file) = action.parameters.get("template").and_then(|it| it.as_str())
                        && let Some(text) = self.folder.text(file)
                    {
                        self.template(text, &Place { file: file.to_owned(), bytes: 0..0 }, names, None);
                    }
                }
            }
            Kind::Check(check) => {
                if let crate::definition::CheckWhat::Run(commands) = &check.what {
                    for command in commands {
                        self.text(command, &state.place, names);
                    }
                }
            }
            Kind::Each(each) => {
                let path = in_expression(&each.list);
                if let Err((part, known)) = follow(names, &path) {
                    let message = format!("`{}` names no list: `{part}` is unknown", each.list);
                    let problem = Problem::load("unknown-name", state.place.clone(), message);
                    self.report(problem.maybe_help(did_you_mean(&part, known.iter().map(String::as_str))));
                }
            }
            _ => {}
        }
        let Some(call) = state.call() else { return };
        let mut roles: Vec<&Name> = call.role.values().collect();
        if let Kind::Review { advice, .. } = &state.kind {
            roles.extend(advice);
        }
        for role in roles {
            let own = if call.role.values().any(|it| it == role) { Some(call) } else { None };
            self.check_call(workflow, machine, state, role, own, names);
        }
    }

    fn check_call(
        &self,
        workflow: &Workflow,
        machine: &Machine,
        state: &State,
        role: &Name,
        call: Option<&Call>,
        names: &Names,
    ) {
        let Some(declared) = workflow.roles.get(&**role) else { return };
        let mut given: Vec<Given> = all(&declared.given);
        given.extend(workflow.given.iter().cloned());
        given.extend(call.map(|it| all(&it.given)).unwrap_or_default());
        for item in &given {
            self.check_given(item, names);
        }
        let prompt = call.and_then(|it| it.prompt.as_ref()).or(declared.prompt.as_ref());
        let Some(prompt) = prompt else {
            let message =
                format!("the role `{role}` has no prompt, and neither has the state `{}`", state.name);
            let problem = Problem::load("no-prompt", declared.place.clone(), message);
            self.report(problem.help("add `prompt: prompts/NAME.md`, or the text itself"));
            return;
        };
        let place = if call.is_some_and(|it| it.prompt.is_some()) { &state.place } else { &declared.place };
        let item_name = match &state.kind {
            Kind::Each(each) => Some(each.item.clone()),
            _ => None,
        };
        let mut allowed: Vec<String> = ALWAYS.iter().map(|it| (*it).to_owned()).collect();
        allowed.extend(
            item_name.into_iter().chain(items_around(workflow, machine)).map(|it| it.in_expression()),
        );
        for machine in [machine, &workflow.main] {
            allowed.extend(machine.vars.keys().chain(machine.facts.keys()).map(Name::in_expression));
        }
        allowed.extend(given.iter().map(|it| in_expression(&it.name)));
        for text in prompt.values() {
            if !text.starts_with("prompts/") {
                self.template(text, place, names, Some(&allowed));
                continue;
            }
            if let Some(content) = self.folder.text(text) {
                let place =
                    Place { file: text.clone(), bytes: 0..content.find('\n').unwrap_or(content.len()) };
                self.template(content, &place, names, Some(&allowed));
            } else {
                let prompts =
                    self.folder.files.keys().filter(|it| it.starts_with("prompts/")).map(String::as_str);
                let problem =
                    Problem::load("no-file", place.clone(), format!("the folder has no file `{text}`"));
                self.report(problem.maybe_help(did_you_mean(text, prompts)));
            }
        }
    }

    fn check_given(&self, given: &Given, names: &Names) {
        let path = in_expression(&given.name);
        self.using_path(&path);
        if let Err((part, known)) = follow(names, &path) {
            let message = format!("`{}`: there is no `{part}`", given.name);
            let problem = Problem::load("unknown-input", given.place.clone(), message);
            self.report(problem.maybe_help(did_you_mean(&part, known.iter().map(String::as_str))));
        }
    }

    fn texts_in(&self, value: &serde_json::Value, place: &Place, names: &Names) {
        match value {
            serde_json::Value::String(text) => self.text(text, place, names),
            serde_json::Value::Array(items) => items.iter().for_each(|it| self.texts_in(it, place, names)),
            serde_json::Value::Object(fields) => {
                fields.values().for_each(|it| self.texts_in(it, place, names));
            }
            _ => {}
        }
    }

    fn text(&self, text: &str, place: &Place, names: &Names) {
        if text.contains("{{") || text.contains("{%") {
            self.template(text, place, names, None);
        }
    }

    /// Holds a template against the names there are, and against those it was given when there is a list.
    fn template(&self, text: &str, place: &Place, names: &Names, allowed: Option<&[String]>) {
        let environment = minijinja::Environment::new();
        let template = match environment.template_from_str(text) {
            Ok(template) => template,
            Err(error) => {
                let line = error.line().map_or(String::new(), |it| format!(" (line {it})"));
                let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
                let problem = Problem::load(
                    "bad-template",
                    place.clone(),
                    format!("the text is not a template: {detail}{line}"),
                );
                self.report(problem.help("`{{ name }}` for a value, `{% if name %}` for a condition"));
                return;
            }
        };
        let mut used: Vec<String> = template.undeclared_variables(true).into_iter().collect();
        used.sort();
        for path in used {
            self.using_path(&path);
            let located = locate(text, &path, place);
            if let Err((part, known)) = follow(names, &path) {
                let problem = Problem::load(
                    "unknown-input",
                    located,
                    format!("`{{{{ {path} }}}}`: there is no `{part}`"),
                );
                self.report(problem.maybe_help(did_you_mean(&part, known.iter().map(String::as_str))));
            } else if let Some(allowed) = allowed
                && !allowed.iter().any(|it| {
                    path == *it || path.starts_with(&format!("{it}.")) || it.starts_with(&format!("{path}."))
                })
            {
                let problem = Problem::load(
                    "not-given",
                    located,
                    format!("the prompt uses `{path}`, which it is not given"),
                );
                self.report(problem.help(format!("add `{path}` to `given`")));
            }
        }
    }
}

/// Where in a prompt's file a name stands.
fn locate(text: &str, path: &str, place: &Place) -> Place {
    if !place.file.contains("prompts/") && !place.file.contains("templates/") {
        return place.clone();
    }
    match text.find(path) {
        Some(at) => Place { file: place.file.clone(), bytes: at..at + path.len() },
        None => place.clone(),
    }
}

/// What items are called in a child: by whoever runs it.
fn items_around(workflow: &Workflow, machine: &Machine) -> Vec<Name> {
    let Some(child) = &machine.name else { return Vec::new() };
    super::resolve_arms::runs_child(&workflow.main, child)
        .into_iter()
        .filter_map(|it| match &it.kind {
            Kind::Each(each) => Some(each.item.clone()),
            _ => None,
        })
        .collect()
}

/// Everything a text can name.
fn text_names(workflow: &Workflow, machine: &Machine, scope: &Scope<'_>, types: &Types) -> Names {
    let mut names = environment(workflow, machine, scope, types);
    for name in [
        "subject", "run", "state", "round", "phase", "diff", "note", "today", "now", "from", "signal",
        "history",
    ] {
        names.insert(name.into(), Type::Text);
    }
    for name in ["question", "finding", "answer", "changed_files", "folder", "decisions", "spent", "gate"] {
        names.insert(name.into(), Type::Any);
    }
    let cause = ["state", "signal", "summary", "exhausted"].map(|it| (it.to_owned(), Type::Text));
    names.insert("cause".into(), Type::Record(cause.into_iter().collect()));
    let mut facts = IndexMap::new();
    for machine in [&workflow.main, machine] {
        for (name, fact) in &machine.facts {
            let values = Type::OneOf(fact.values.iter().map(ToString::to_string).collect());
            facts.insert(name.in_expression(), values.clone());
            names.entry(name.in_expression()).or_insert(values);
        }
        for state in machine.states.values() {
            if let Kind::Each(each) = &state.kind {
                names.entry(each.item.in_expression()).or_insert(Type::Any);
            }
        }
    }
    names.insert("facts".into(), Type::Record(facts));
    names
}
