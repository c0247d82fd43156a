//! Texts and prompts: whatever they name must exist.
//!
//! A prompt may use what its role or state is `given` and a few names that are always there; other texts may use
//! anything the run knows. A misspelt name is found here, not by an agent that gets an empty prompt.

use std::borrow::Cow;

use indexmap::{IndexMap, IndexSet};

use super::item_types::entry_of;
use super::loader::Loader;
use super::resolve_nouns::all;
use super::scope::Scope;
use super::templates::{spot, whole};
use super::text_names::{Names, allowed, in_loop, instead, root, text_names, within};
use super::types::{Types, follow};
use super::yaml::{Node, shorten};
use crate::definition::{Call, CheckWhat, Files, Given, Kind, Machine, State, VerbElse, Workflow};
use crate::fact::Type;
use crate::name::{Name, in_expression};
use crate::problem::{Place, Problem, nearest};

/// Endings by which a prompt is taken for the name of a file.
const ENDINGS: &[&str] = &[".md", ".txt", ".j2", ".jinja", ".prompt"];

/// Where a prompt stands, and what of it is not given where.
#[derive(Default)]
struct Prompt {
    /// The states that use it.
    states: IndexSet<Name>,
    /// What is not given, where it stands, and the states that do not give it.
    missing: IndexMap<String, (Place, IndexSet<Name>)>,
}

/// Reads every text of a workflow.
pub(super) struct Texts<'l, 'a> {
    pub(super) loader: &'l Loader<'a>,
    workflow: &'l Workflow,
    types: &'l Types,
    prompts: IndexMap<(String, usize), Prompt>,
    /// Roles without a prompt that were reported.
    promptless: IndexSet<Name>,
    /// What was said to be given surely and is not, so that it is said once.
    unsure: IndexSet<Place>,
}

/// A call that is being looked at: by which state, as which role.
struct Caller<'c> {
    machine: &'c Machine,
    state: &'c State,
    role: &'c Name,
    /// Absent for advice, which has no keys of its own.
    call: Option<&'c Call>,
}

impl<'l, 'a> Texts<'l, 'a> {
    pub(super) fn check(loader: &'l Loader<'a>, workflow: &'l Workflow, types: &'l Types) {
        let mut texts = Self {
            loader,
            workflow,
            types,
            prompts: IndexMap::new(),
            promptless: IndexSet::new(),
            unsure: IndexSet::new(),
        };
        let main = Scope { node: loader.root, child: None };
        let names = text_names(loader, workflow, &workflow.main, &main, types);
        texts.check_top(&names);
        for machine in workflow.machines() {
            let scope = match &machine.name {
                None => main,
                Some(child) => match loader.root.get("children").and_then(|it| it.get(child)) {
                    Some(node) => Scope { node, child: Some(child) },
                    None => continue,
                },
            };
            let names = text_names(loader, workflow, machine, &scope, types);
            for state in machine.states.values() {
                if let Some(node) = loader.state_node(machine, &state.name) {
                    texts.check_state(machine, state, node, &names);
                }
            }
        }
        texts.not_given();
    }

    /// What the file says about something in a section.
    fn node(&self, section: &str, name: &str) -> Option<&'l Node> {
        self.loader.root.get(section)?.get(name)
    }

    fn check_top(&mut self, names: &Names) {
        if let (Some(made), Some(node)) = (&self.workflow.subject.made, self.loader.root.get("subject")) {
            let mut names = names.clone();
            let folder = self.workflow.folder.as_deref().and_then(|it| it.split_once("{{"));
            if folder.is_some_and(|(before, _)| before.contains('/')) {
                names.insert("number".into(), Type::Text);
            }
            self.text(made, node, &names);
        }
        for (name, document) in &self.workflow.documents {
            let Some(node) = self.node("documents", name) else { continue };
            for text in document.shows.values() {
                self.text(text, node, names);
            }
            match &document.files {
                Files::One(path) | Files::Command(path) => self.text(path, node, names),
                Files::Many(globs) => globs.iter().for_each(|it| self.text(it, node, names)),
                Files::Group(_) => {}
            }
            if document.engine_owned {
                self.loader.using("documents", name);
            }
            let written = serde_json::to_string(&document.with).unwrap_or_default();
            for word in written.split(|it: char| !it.is_alphanumeric() && !"._-".contains(it)) {
                self.loader.using_path(&in_expression(word));
            }
        }
        for (name, question) in &self.workflow.questions {
            let Some(node) = self.node("questions", name) else { continue };
            self.text(&question.asks, node, names);
            for shown in &question.shows {
                self.check_given(shown, names);
            }
        }
        for (name, verb) in &self.workflow.verbs {
            if let (Some(VerbElse::Say(text) | VerbElse::Error(text)), Some(node)) =
                (&verb.otherwise, self.node("verbs", name))
            {
                self.text(text, node, names);
            }
        }
        for (name, role) in &self.workflow.roles {
            let Some(node) = self.node("roles", name) else { continue };
            for text in role.model.iter().chain(&role.effort) {
                self.text(text, node, names);
            }
        }
        if let Some(node) = self.loader.root.get("folder") {
            self.text(node.text().unwrap_or_default(), node, names);
        }
    }

    fn check_state(&mut self, machine: &Machine, state: &State, node: &Node, names: &Names) {
        match &state.kind {
            Kind::Rest { text } | Kind::End { says: Some(text), .. } => self.text(text, node, names),
            Kind::Do { actions, .. } => {
                for action in node.get("do").map(Node::items).unwrap_or_default() {
                    if let Some(node) = action.get("create").and_then(|_| action.get("for")) {
                        self.list(node, names);
                    }
                }
                for action in actions {
                    let list = action.parameters.get("for").and_then(|it| it.as_str());
                    let names = &self.with_item(names, list);
                    self.texts_in(&action.parameters, node, names);
                    if let Some(file) = action.parameters.get("template").and_then(|it| it.as_str())
                        && let Some(text) = self.loader.folder.text(file)
                    {
                        self.template(text, &whole(file, text), names);
                    }
                }
            }
            Kind::Check(check) => {
                if let CheckWhat::Run(commands) = &check.what {
                    for command in commands {
                        self.text(command, node, names);
                    }
                }
            }
            Kind::Review { unasked: Some(unasked), .. } => self.text(&unasked.finds, node, names),
            Kind::Each(_) => {
                let each = node.get("each");
                if let Some(list) = each.and_then(|it| it.get("in")) {
                    self.list(list, names);
                    if let Some(order) = each.and_then(|it| it.get("order")) {
                        self.order(order, list, names);
                    }
                }
            }
            _ => {}
        }
        let Some(call) = state.call() else { return };
        let list = match &state.kind {
            Kind::Each(each) => Some(each.list.as_str()),
            _ => None,
        };
        let names = &self.with_item(names, list);
        for role in call.role.values() {
            self.check_call(&Caller { machine, state, role, call: Some(call) }, node, names);
        }
        if let Kind::Review { advice, .. } = &state.kind {
            for role in advice {
                self.check_call(&Caller { machine, state, role, call: None }, node, names);
            }
        }
    }

    /// The names there are where something is done for each entry of a list.
    fn with_item<'n>(&self, names: &'n Names, list: Option<&str>) -> Cow<'n, Names> {
        let Some(list) = list else { return Cow::Borrowed(names) };
        let mut names = names.clone();
        names.insert("item".to_owned(), entry_of(self.workflow, list, self.types));
        Cow::Owned(names)
    }

    fn check_call(&mut self, caller: &Caller<'_>, node: &Node, names: &Names) {
        let Some(declared) = self.workflow.roles.get(&**caller.role) else { return };
        let mut given: Vec<Given> = all(&declared.given);
        given.extend(self.workflow.given.iter().cloned());
        given.extend(caller.call.map(|it| all(&it.given)).unwrap_or_default());
        // Given under a wrong name: the prompt is not wrong as well.
        let mut misspelt: Vec<String> = Vec::new();
        for item in &given {
            if !self.check_given(item, names) {
                misspelt.push(in_expression(&item.name));
            } else if !item.maybe {
                self.surely_given(caller, item);
            }
        }
        let own = caller.call.and_then(|it| it.prompt.as_ref());
        let Some(prompt) = own.or(declared.prompt.as_ref()) else {
            self.no_prompt(caller, node);
            return;
        };
        let role = self.node("roles", caller.role);
        let Some(around) = own.map(|_| node).or(role) else { return };
        let allowed = allowed(self.workflow, caller.machine, caller.state, &given);
        for text in prompt.values() {
            let (text, place) = if text.starts_with("prompts/") {
                let Some(content) = self.loader.folder.text(text) else {
                    self.no_file(text, around);
                    continue;
                };
                (content, whole(text, content))
            } else {
                self.no_name_of_a_file(text, around);
                (text.as_str(), Loader::place(&spot(around, text)))
            };
            let prompt = self.prompts.entry((place.file.clone(), place.bytes.start)).or_default();
            let state = caller.machine.qualified(&caller.state.name);
            prompt.states.insert(state.clone());
            for path in self.template(text, &place, names) {
                if allowed.iter().any(|it| within(it, &path) || within(&path, it)) {
                    continue;
                }
                let root = root(&path);
                if nearest(root, misspelt.iter().map(String::as_str)).is_some() {
                    continue;
                }
                let at = self.locate(&path, &place);
                let prompt = self.prompts.entry((place.file.clone(), place.bytes.start)).or_default();
                let missing = prompt.missing.entry(root.to_owned()).or_insert((at, IndexSet::new()));
                missing.1.insert(state.clone());
            }
        }
    }

    /// Some things are there only in some places, and everywhere else they have to be given as `maybe`.
    fn surely_given(&mut self, caller: &Caller<'_>, given: &Given) {
        let state = caller.machine.qualified(&caller.state.name);
        let (message, help) = match root(&in_expression(&given.name)) {
            "item" if !in_loop(caller.machine, caller.state) => (
                format!("`{state}` is given `{}`, and is in no loop over items", given.name),
                format!("write `maybe {}`, or give it only where there is an item", given.name),
            ),
            "note" => (
                "there is a `note` only after an answer that brought one".to_owned(),
                "write `maybe note`".to_owned(),
            ),
            _ => return,
        };
        if self.unsure.insert(given.place.clone()) {
            self.loader.report(Problem::load("undefined-input", given.place.clone(), message).help(help));
        }
    }

    /// Reports what prompts use and are not given: once for each thing, however often a prompt says it.
    fn not_given(&self) {
        for prompt in self.prompts.values() {
            for (root, (place, states)) in &prompt.missing {
                let (who, where_to) = match states.iter().next() {
                    Some(state) if states.len() < prompt.states.len() => {
                        (format!("`{state}` does not give it"), format!("`given` of `{state}`"))
                    }
                    _ => ("it is not given".to_owned(), "`given`".to_owned()),
                };
                let message = format!("the prompt uses `{root}`, which {who}");
                let problem = Problem::load("not-given", place.clone(), message);
                self.loader.report(problem.help(format!("add `{root}` to {where_to}")));
            }
        }
    }

    fn no_prompt(&mut self, caller: &Caller<'_>, node: &Node) {
        let role = self.node("roles", caller.role);
        let broken = self.loader.is_broken(role) || self.loader.is_broken(Some(node));
        let Some(declared) = self.workflow.roles.get(&**caller.role) else { return };
        if self.promptless.insert(caller.role.clone()) && !broken {
            let message = format!(
                "the role `{}` has no prompt, and neither has the state `{}`",
                caller.role, caller.state.name
            );
            let problem = Problem::load("no-prompt", declared.place.clone(), message);
            self.loader.report(problem.help("add `prompt: prompts/NAME.md`, or the text itself"));
        }
    }

    fn no_file(&self, file: &str, around: &Node) {
        let prompts = self.loader.folder.files.keys().map(String::as_str);
        let near = nearest(file, prompts).map(|it| format!("did you mean `{it}`?"));
        let help = near.unwrap_or_else(|| "write that file, or put the prompt's text here".to_owned());
        let message = format!("the folder has no file `{}`", shorten(file));
        let place = Loader::place(&spot(around, file));
        self.loader.report(Problem::load("no-file", place, message).help(help));
    }

    /// The name of a file that is not below `prompts/` would be sent to an agent as it is.
    fn no_name_of_a_file(&self, text: &str, around: &Node) {
        let file = !text.contains(char::is_whitespace) && ENDINGS.iter().any(|it| text.ends_with(it));
        if file || self.loader.folder.files.contains_key(text) {
            let message =
                format!("`{}` would be sent as it is: it names no file in `prompts/`", shorten(text));
            let name = text.rsplit('/').next().unwrap_or_default();
            let place = Loader::place(&spot(around, text));
            let problem = Problem::load("bad-value", place, message);
            self.loader
                .report(problem.help(format!("put the file there, and write `prompts/{}`", shorten(name))));
        }
    }

    /// Holds the name of a list against the names there are.
    fn list(&self, node: &Node, names: &Names) {
        let Some(text) = node.text() else { return };
        let path = in_expression(text);
        self.loader.using_path(&path);
        let (message, help) = match follow(names, &path) {
            Err((part, known)) => (
                format!("`{}` names no list: `{}` is unknown", shorten(text), shorten(&part)),
                instead(&path, &part, &known, names),
            ),
            Ok(of) if is_list(&of) => return,
            Ok(Type::Record(fields)) => {
                let lists: Vec<String> = fields
                    .iter()
                    .filter(|(_, of)| is_list(of))
                    .map(|(it, _)| format!("`{text}.{it}`"))
                    .collect();
                let help = (!lists.is_empty()).then(|| format!("did you mean {}?", lists.join(" or ")));
                (format!("`{}` is no list", shorten(text)), help)
            }
            Ok(of) => (format!("`{}` is no list, but {of}", shorten(text)), None),
        };
        let help =
            help.or_else(|| Some("a list is `docs.X.field`, `lists.X` or `items.STATE.END`".to_owned()));
        let problem = Problem::load("unknown-name", Loader::place(&node.bytes), message);
        self.loader.report(problem.maybe_help(help));
    }

    /// Items can be put in order if each has an `id`, and says in `depends` which come before it.
    fn order(&self, order: &Node, list: &Node, names: &Names) {
        let Some(text) = list.text() else { return };
        let Ok(of) = follow(names, &in_expression(text)) else { return };
        let Some(missing) = without_order(&of) else { return };
        let missing = missing.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(" and ");
        let message = format!("items of `{}` have no {missing}, so they have no order", shorten(text));
        let document = text.strip_prefix("docs.").and_then(|it| it.split('.').next()).unwrap_or_default();
        let shaped = self.node("documents", document).is_some_and(|it| it.get("shape").is_some());
        let help = if shaped {
            format!(
                "add it to the `shape` of `{document}`: `[{{id: text, depends: [text]}}]`; or leave `order` out"
            )
        } else {
            "leave `order` out, or take a list whose items have `id` and `depends`".to_owned()
        };
        let problem = Problem::load("unknown-name", Loader::place(&order.bytes), message);
        self.loader.report(problem.help(help));
    }

    /// Whether what is given exists.
    fn check_given(&self, given: &Given, names: &Names) -> bool {
        let path = in_expression(&given.name);
        self.loader.using_path(&path);
        let Err((part, known)) = follow(names, &path) else { return true };
        let message = format!("`{}`: there is no `{}`", shorten(&given.name), shorten(&part));
        let problem = Problem::load("unknown-input", given.place.clone(), message);
        self.loader.report(problem.maybe_help(instead(&path, &part, &known, names)));
        false
    }
}

/// What the items of a list lack to be put in order. Nothing, if it is not known what they have.
fn without_order(of: &Type) -> Option<Vec<&'static str>> {
    let item = match of {
        Type::Maybe(inner) => return without_order(inner),
        Type::List(item) => &**item,
        _ => return None,
    };
    let item = if let Type::Maybe(inner) = item { &**inner } else { item };
    let missing: Vec<&str> = match item {
        Type::Any | Type::Map(_) => Vec::new(),
        Type::Record(fields) => {
            let id = fields.contains_key("id").then_some("id");
            let depends = fields.get("depends").filter(|it| is_list(it)).map(|_| "depends");
            ["id", "depends"].into_iter().filter(|it| id != Some(it) && depends != Some(it)).collect()
        }
        _ => vec!["id", "depends"],
    };
    (!missing.is_empty()).then_some(missing)
}

fn is_list(of: &Type) -> bool {
    match of {
        Type::Any | Type::List(_) => true,
        Type::Maybe(inner) => is_list(inner),
        _ => false,
    }
}
