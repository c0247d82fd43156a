//! What becomes of a changed workflow: does it load, is it proved, do its own scenarios still hold?

use std::collections::BTreeSet;

use loopwright_core::check::check;
use loopwright_core::definition::Workflow;
use loopwright_core::language::{Folder, WORKFLOW_FILE, load};
use loopwright_core::problem::Stage;
use loopwright_core::rehearse::{Coverage, parse_scenario, perform};
use regex_lite::Regex;

use crate::folders::{files_below, repository};
use crate::tree::{Tree, read_tree};

/// A workflow of this repository.
pub(crate) struct BuiltIn {
    pub(crate) folder: Folder,
    pub(crate) tree: Tree,
    pub(crate) workflow: Workflow,
}

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It does not load: the codes.
    Load(BTreeSet<&'static str>),
    /// It is not proved: the codes.
    Proof(BTreeSet<&'static str>),
    /// It is proved, and one of its own scenarios fails.
    Scenario(String),
    /// Nothing objects, and it means what the original means.
    Same,
    /// It is proved that nothing ever comes of the difference: some signals have no route any more, and no run brings
    /// them.
    NeverComes,
    /// Nothing objects, and it means something else.
    Survived,
}

impl BuiltIn {
    pub(crate) fn read(name: &str) -> Self {
        let mut folder = Folder { name: name.to_owned(), ..Folder::default() };
        files_below(&repository().join("workflows").join(name), "", &mut folder);
        let tree = read_tree(folder.text(WORKFLOW_FILE).expect("a workflow"));
        let workflow = load(&folder).workflow.expect("a built-in loads");
        Self { folder, tree, workflow }
    }

    /// The same folder with another `workflow.yaml`.
    pub(crate) fn with(&self, tree: &Tree) -> Folder {
        let mut folder = self.folder.clone();
        folder.files.insert(WORKFLOW_FILE.to_owned(), tree.to_yaml().into_bytes());
        folder
    }

    pub(crate) fn examine(&self, tree: &Tree) -> Outcome {
        let folder = self.with(tree);
        let loaded = load(&folder);
        let codes: BTreeSet<&'static str> = loaded.problems.iter().map(|it| it.code).collect();
        let Some(workflow) = loaded.workflow else { return Outcome::Load(codes) };
        if loaded.problems.iter().any(|it| it.stage == Stage::Load) {
            return Outcome::Load(codes);
        }
        // What is declared and not used is known without walking; the rest of what is wrong is not.
        let mut found = codes;
        found.extend(check(&workflow).problems.iter().map(|it| it.code));
        if !found.is_empty() {
            return Outcome::Proof(found);
        }
        let meant = meaning(&workflow);
        if meant == meaning(&self.workflow) {
            return Outcome::Same;
        }
        if meant == meaning(&self.without_what(&workflow)) {
            return Outcome::NeverComes;
        }
        failing_scenario(&folder, &workflow).map_or(Outcome::Survived, Outcome::Scenario)
    }

    /// The workflow without the routes that a mutant has not. Had a run brought such a signal, it would be `unrouted`.
    fn without_what(&self, mutant: &Workflow) -> Workflow {
        let mut workflow = self.workflow.clone();
        for machine in std::iter::once(&mut workflow.main).chain(workflow.children.values_mut()) {
            let changed = mutant.machine(machine.name.as_deref());
            for (name, state) in &mut machine.states {
                let changed = changed.and_then(|it| it.states.get(name));
                for (signal, cell) in &mut state.cells {
                    if changed.and_then(|it| it.cells.get(signal)).is_some_and(|it| it.arms.is_empty()) {
                        cell.arms.clear();
                    }
                }
            }
        }
        workflow
    }
}

/// The first of a folder's own scenarios that does not go as it says.
pub(crate) fn failing_scenario(folder: &Folder, workflow: &Workflow) -> Option<String> {
    folder.files.keys().filter(|it| it.starts_with("scenarios/")).find_map(|file| {
        let (scenario, problems) = parse_scenario(workflow, file, folder.text(file).expect("a text"));
        let fine = problems.is_empty()
            && scenario.is_some_and(|it| {
                perform(workflow, &it, &mut Coverage::of(workflow)).is_ok_and(|it| it.complaints.is_empty())
            });
        let name = file.trim_start_matches("scenarios/").trim_end_matches(".yaml");
        (!fine).then(|| name.to_owned())
    })
}

/// All that a loaded workflow says, but for where in the file it says so and whether a route was written at the state
/// or stands in the defaults: every name is resolved and every route written out in it.
pub(crate) fn meaning(workflow: &Workflow) -> String {
    let places =
        r#"Place \{ file: "[^"]*", bytes: \d+\.\.\d+ \}|origin: (Own|Default|Implied)|digest: "[^"]*""#;
    Regex::new(places).expect("an expression").replace_all(&format!("{workflow:?}"), "").into_owned()
}
