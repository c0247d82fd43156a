//! The loader: what every part of resolving shares. Names that exist, names that were used, and how to report.

use std::cell::RefCell;
use std::ops::Range;

use indexmap::IndexMap;
use rustc_hash::FxHashSet;

use super::conform::Broken;
use super::scope::Scope;
use super::texts::Texts;
use super::types::Types;
use super::yaml::{Entry, Node, shorten};
use super::{Folder, WORKFLOW_FILE, units};
use crate::definition::{Caps, Machine, Workflow};
use crate::name::Name;
use crate::problem::{Place, Problem, Stage, did_you_mean};

/// Reads one workflow.
pub(super) struct Loader<'a> {
    pub(super) folder: &'a Folder,
    pub(super) root: &'a Node,
    pub(super) problems: RefCell<Vec<Problem>>,
    /// What does not fit the grammar.
    broken: Broken,
    /// States whose signals cannot be known, by machine and name.
    vague: RefCell<FxHashSet<(Option<Name>, Name)>>,
    /// Gates that were needed and that a state of that name does not make.
    no_gates: RefCell<FxHashSet<(Option<Name>, Name)>>,
    /// Values that conditions compare with and that are not in the domain of what they compare.
    doubts: RefCell<Vec<(Name, Name, Problem)>>,
    /// Values that facts come out as and that are not in their domain.
    leaks: RefCell<FxHashSet<(Name, Name)>>,
    used: RefCell<FxHashSet<(&'static str, String)>>,
}

impl<'a> Loader<'a> {
    pub(super) fn new(folder: &'a Folder, root: &'a Node, broken: Broken) -> Self {
        Self {
            folder,
            root,
            broken,
            problems: RefCell::default(),
            vague: RefCell::default(),
            no_gates: RefCell::default(),
            doubts: RefCell::default(),
            leaks: RefCell::default(),
            used: RefCell::default(),
        }
    }

    /// Reports a problem, unless what it is about is already known not to fit the grammar.
    pub(super) fn report(&self, problem: Problem) {
        if problem.place.file != WORKFLOW_FILE || !self.broken.touches(&problem.place.bytes) {
            self.problems.borrow_mut().push(problem);
        }
    }

    /// Remembers that a fact comes out as something it should not, which is reported there.
    pub(super) fn leaks(&self, fact: &str, value: &str) {
        self.leaks.borrow_mut().insert((fact.into(), value.into()));
    }

    /// Reports a value that something never has, unless it turns out that it has it and its domain is what is wrong.
    pub(super) fn report_later(&self, name: &str, value: &Name, problem: Problem) {
        self.doubts.borrow_mut().push((name.into(), value.clone(), problem));
    }

    fn report_doubts(&self) {
        let leaks = self.leaks.borrow();
        for (name, value, problem) in self.doubts.take() {
            if !leaks.contains(&(name, value)) {
                self.report(problem);
            }
        }
    }

    /// Whether anything was reported so far.
    pub(super) fn has_problems(&self) -> bool {
        !self.broken.is_empty() || self.problems.borrow().iter().any(|it| it.stage == Stage::Load)
    }

    /// Whether something in here does not fit the grammar, so that nothing follows from it.
    pub(super) fn is_broken(&self, node: Option<&Node>) -> bool {
        node.is_some_and(|it| self.broken.touches(&it.bytes))
    }

    /// Remembers that nobody can know how a state comes out.
    pub(super) fn set_vague(&self, machine: &Machine, state: &Name) {
        self.vague.borrow_mut().insert((machine.name.clone(), state.clone()));
    }

    /// Whether nobody can know how a state comes out, because what it does was reported as wrong.
    pub(super) fn is_vague(&self, machine: &Machine, state: &Name) -> bool {
        self.vague.borrow().contains(&(machine.name.clone(), state.clone()))
    }

    /// Whether a gate is missed for the first time. That a state judges nothing is one mistake, however many need it.
    pub(super) fn misses_gate(&self, scope: Scope<'_>, gate: &str) -> bool {
        self.no_gates.borrow_mut().insert((scope.child.map(Name::from), gate.into()))
    }

    pub(super) fn place(bytes: &Range<usize>) -> Place {
        Place { file: WORKFLOW_FILE.to_owned(), bytes: bytes.clone() }
    }

    pub(super) fn wrong(
        &self,
        code: &'static str,
        bytes: &Range<usize>,
        message: String,
        help: Option<String>,
    ) {
        self.report(Problem::load(code, Self::place(bytes), message).maybe_help(help));
    }

    /// The names an author gave in a section of the file.
    pub(super) fn names(&self, section: &str) -> Vec<&'a str> {
        names_in(self.root, section)
    }

    /// Remembers that something was used, for the report of what was not.
    pub(super) fn using(&self, section: &'static str, name: &str) {
        self.used.borrow_mut().insert((section, name.to_owned()));
    }

    /// Whether a name exists in a section; reports it when it does not.
    pub(super) fn known(
        &self,
        section: &'static str,
        singular: &str,
        name: &str,
        bytes: &Range<usize>,
    ) -> bool {
        let names = self.names(section);
        if names.contains(&name) {
            self.using(section, name);
            return true;
        }
        if !self.misplaced(name) {
            let message = format!("there is no {singular} `{}`", shorten(name));
            let help = did_you_mean(name, names).or_else(|| Some(format!("declare it in `{section}`")));
            self.wrong("unknown-name", bytes, message, help);
        }
        false
    }

    /// Whether a name is declared in a section whose own name is wrong, and has been reported.
    pub(super) fn misplaced(&self, name: &str) -> bool {
        let mut sections = self.root.entries().iter().filter(|it| self.broken.touches(&it.key_bytes));
        sections.any(|it| it.node.get(name).is_some())
    }

    /// Names in a list that exist in a section.
    pub(super) fn known_list(&self, section: &'static str, singular: &str, node: Option<&Node>) -> Vec<Name> {
        let items = node.map(Node::items).unwrap_or_default();
        items
            .into_iter()
            .filter_map(|it| it.text().map(|text| (text, it)))
            .filter(|(text, it)| self.known(section, singular, text, &it.bytes))
            .map(|(text, _)| text.into())
            .collect()
    }

    /// A list of documents, flattened out of groups.
    pub(super) fn document(&self, node: &Node) -> Option<Name> {
        let text = node.text()?;
        self.known("documents", "document", text, &node.bytes).then(|| text.into())
    }

    pub(super) fn time(node: Option<&Node>, otherwise: u64) -> u64 {
        node.and_then(Node::text).and_then(units::time).unwrap_or(otherwise)
    }

    pub(super) fn workflow(&self) -> Workflow {
        let name: Name = self.root.get("workflow").and_then(Node::text).unwrap_or_default().into();
        if let Some(entry) = self.root.entry("workflow")
            && !self.folder.name.is_empty()
            && *name != *self.folder.name
        {
            let message = format!("the workflow is called `{name}` and its folder `{}`", self.folder.name);
            self.wrong("name-differs", &entry.node.bytes, message, Some("give both the same name".into()));
        }
        let types = Types::collect(self);
        let documents = self.documents(&types);
        let roles = self.roles();
        let questions = self.questions();
        let mut workflow = Workflow {
            name,
            about: self.root.get("about").and_then(Node::text).unwrap_or_default().to_owned(),
            digest: self.folder.digest(),
            subject: self.subject(),
            folder: self.root.get("folder").and_then(Node::text).map(str::to_owned),
            tools: self.root.get("tools").and_then(Node::text).map(Name::from),
            inputs: self.inputs(),
            given: self
                .root
                .get("given")
                .map(Node::items)
                .unwrap_or_default()
                .into_iter()
                .filter_map(|it| self.given(it))
                .collect(),
            verbs: self.verbs(),
            caps: Caps::default(),
            documents,
            phases: IndexMap::new(),
            lists: self.lists(),
            roles,
            questions,
            properties: Vec::new(),
            main: Machine::default(),
            children: IndexMap::new(),
        };
        workflow.caps = self.caps();
        self.machines(&mut workflow, &types);
        workflow.phases = self.phases(&workflow);
        workflow.properties = self.properties(&workflow);
        Texts::check(self, &workflow, &types);
        self.report_doubts();
        self.unused(&workflow);
        workflow
    }

    /// What was declared and never used: a limit nobody spends is a limit that does not hold.
    fn unused(&self, workflow: &Workflow) {
        let used = self.used.borrow();
        for (section, singular) in [
            ("inputs", "input"),
            ("vars", "variable"),
            ("verbs", "verb"),
            ("documents", "document"),
            ("roles", "role"),
            ("questions", "question"),
            ("facts", "fact"),
            ("children", "child"),
        ] {
            for entry in self.root.get(section).map(Node::entries).unwrap_or_default() {
                self.unused_entry(&used, section, singular, entry);
            }
        }
        for child in self.root.get("children").map(Node::entries).unwrap_or_default() {
            for (section, singular) in [("vars", "variable"), ("facts", "fact")] {
                for entry in child.node.get(section).map(Node::entries).unwrap_or_default() {
                    self.unused_entry(&used, section, singular, entry);
                }
            }
        }
        let states = workflow.machines().flat_map(|it| it.states.values());
        let arms = states.flat_map(|it| it.cells.values()).flat_map(|it| &it.arms);
        let begun = workflow.machines().flat_map(|it| &it.start).map(|it| &it.arm);
        let recorded: FxHashSet<&Name> = arms.chain(begun).flat_map(|it| &it.record).collect();
        for name in workflow.lists.keys().filter(|it| !recorded.contains(it)) {
            let bytes = self.root.entry("lists").map_or(0..0, |it| it.key_bytes.clone());
            let message = if used.contains(&("lists", name.to_string())) {
                format!("nothing records to the list `{name}`, so it is always empty")
            } else {
                format!("nothing records to or reads the list `{name}`")
            };
            self.report(
                Problem::proof("unused", Self::place(&bytes), message)
                    .help(format!("write `record: {name}` on an arm, or remove the list")),
            );
        }
    }

    fn unused_entry(
        &self,
        used: &FxHashSet<(&'static str, String)>,
        section: &'static str,
        singular: &str,
        entry: &Entry,
    ) {
        if !entry.key.is_empty() && !used.contains(&(section, entry.key.clone())) {
            let message = format!("nothing uses the {singular} `{}`", entry.key);
            self.report(
                Problem::proof("unused", Self::place(&entry.key_bytes), message).help("remove it, or use it"),
            );
        }
    }
}

/// The names an author gave in a section of a map.
pub(super) fn names_in<'n>(node: &'n Node, section: &str) -> Vec<&'n str> {
    let Some(node) = node.get(section) else { return Vec::new() };
    if node.entries().is_empty() {
        return node.items().into_iter().filter_map(Node::text).collect();
    }
    node.entries().iter().map(|it| it.key.as_str()).filter(|it| !it.is_empty()).collect()
}
