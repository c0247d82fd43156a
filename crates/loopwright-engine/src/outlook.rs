//! What a workflow would do next with documents as they are, without a run and without doing it.

use std::path::Path;
use std::time::Duration;

use indexmap::IndexMap;
use loopwright_core::definition::{Condition, Kind, Term, Workflow};
use loopwright_core::language::Folder;
use loopwright_core::machine::{Event, Evidence, Observed, Outcome, Run, Started, Want, advance, begin, due};
use loopwright_core::name::Name;

use crate::effects;
use crate::error::EngineError;
use crate::files::{Files, Look};
use crate::journal::Millis;
use crate::process::{Cancel, Supervisor};
use crate::project::Project;
use crate::scene::{Scene, Shell};

/// So many steps are looked ahead at most: looking changes nothing, so whoever comes by twice comes by for ever.
const MOST_STEPS: usize = 64;

/// What would be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// The state that does something.
    pub state: Name,
    /// What programs outside call it.
    pub label: Option<Name>,
    /// What it is for.
    pub about: Option<String>,
    /// The prompt it would use, as the workflow names it.
    pub prompt: Option<String>,
    /// Why: what held where it was last chosen, or what a check said.
    pub because: String,
    /// What a person would be told: by a state that rests, or by the field that says why.
    pub says: Option<String>,
}

/// Somebody who looks ahead.
pub struct Lookout<'l> {
    /// The workflow.
    pub workflow: &'l Workflow,
    /// Its files.
    pub folder: &'l Folder,
    /// Where the documents are. It need not be a repository.
    pub root: &'l Path,
    /// What checks run below.
    pub supervisor: &'l Supervisor,
    /// What time it is.
    pub now: Millis,
    /// Facts that are taken for granted.
    pub facts: IndexMap<Name, Name>,
    /// Why no command is run, if none is to be: then checks are taken to pass.
    pub unasked: Option<String>,
    /// The field whose new value tells a person why: `document.field`.
    pub telling: &'l str,
}

impl Lookout<'_> {
    /// Looks ahead from the start of the workflow until something would be done that is more than looking: facts are
    /// looked at and checks are run, as in a run.
    pub fn next(&self, cancel: &Cancel) -> Result<Outlook, EngineError> {
        let (files, look, project) = (Files::by_name(self.root), Look::default(), Project::default());
        let started = Started {
            definition: self.workflow.digest.clone(),
            facts: self.facts.clone(),
            ..Started::default()
        };
        let mut run = begin(self.workflow, &started)?;
        let mut because = String::new();
        for _ in 0..MOST_STEPS {
            let scene = self.scene(&run, (&files, &look, &project));
            let Some(effect) = due(self.workflow, &run).into_iter().next() else { break };
            let evidence = match &effect.want {
                Want::Observe { facts, .. } => {
                    let facts = scene.facts(facts)?;
                    Evidence::Observed(Box::new(Observed { facts, ..Observed::default() }))
                }
                Want::Check => Evidence::Out(Box::new(self.checked(&scene, cancel)?)),
                _ => break,
            };
            let said = match &evidence {
                Evidence::Out(outcome) => Some(outcome.summary.clone()).filter(|it| !it.is_empty()),
                _ => None,
            };
            run = advance(self.workflow, &run, &Event::Settled { effect: effect.id, evidence })?;
            because = said.or_else(|| self.held(&run)).unwrap_or(because);
        }
        self.told(&self.scene(&run, (&files, &look, &project)), because)
    }

    fn scene<'s>(
        &'s self,
        run: &'s Run,
        (files, look, project): (&'s Files, &'s Look, &'s Project),
    ) -> Scene<'s> {
        let (workflow, folder, name, now) = (self.workflow, self.folder, "next", self.now);
        let shell = Shell { supervisor: self.supervisor, cancel: None };
        Scene {
            workflow,
            folder,
            run,
            name,
            files,
            look,
            project,
            now,
            shell,
            item: None,
            finding: None,
            is_for_key: false,
        }
    }

    /// Runs a check that only says something.
    fn checked(&self, scene: &Scene<'_>, cancel: &Cancel) -> Result<Outcome, EngineError> {
        let Some(Kind::Check(check)) = scene.state().map(|it| &it.kind) else {
            return Err(EngineError::Wrong(format!("`{}` is no check", scene.run.at.state)));
        };
        if let Some(why) = &self.unasked {
            return Ok(Outcome { summary: why.clone(), ..Outcome::of("pass") });
        }
        let commands = effects::commands_of(scene, check)?;
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        let wall = Duration::from_millis(check.timeout);
        let judged =
            effects::judge(scene, check, &commands, (self.root, &[], wall), self.supervisor, cancel)?;
        let judged = judged.map_err(EngineError::Wrong)?;
        let signal = if judged.passed == check.expect_failure { "fail" } else { "pass" };
        Ok(Outcome { summary: judged.summary, output: judged.log, ..Outcome::of(signal) })
    }

    /// What held where the way was chosen, in words. Nothing, if nothing had to.
    fn held(&self, run: &Run) -> Option<String> {
        let machine = run.machine(self.workflow)?;
        let last = run.taken.iter().rev().find_map(|taken| {
            let state = machine.states.get(&*taken.state)?;
            let arm = state.cells.get(&*taken.signal)?.arms.iter().find(|it| it.place == taken.arm)?;
            Some(&arm.when)
        })?;
        let said: Vec<String> = last.iter().filter_map(in_words).collect();
        Some(if said.is_empty() { "nothing comes before it".to_owned() } else { said.join(" and ") })
    }

    fn told(&self, scene: &Scene<'_>, because: String) -> Result<Outlook, EngineError> {
        let Some(state) = scene.state() else {
            return Err(EngineError::Wrong(format!("there is no state `{}`", scene.run.at.state)));
        };
        let (mut prompt, mut says) = (None, None);
        match &state.kind {
            Kind::Agent(call) | Kind::Review { call, .. } => {
                let role = scene.run.pick(&call.role).and_then(|it| self.workflow.roles.get(&**it));
                let table = call.prompt.as_ref().or_else(|| role.and_then(|it| it.prompt.as_ref()));
                prompt = table.map(|it| scene.pick(it)).transpose()?.flatten().cloned();
            }
            Kind::Do { actions, .. } => {
                let set = actions.iter().find_map(|it| it.parameters["set"][self.telling].as_str());
                says = set.map(|it| scene.text(it)).transpose()?;
            }
            Kind::Rest { text } => says = Some(scene.text(text)?),
            Kind::End { says: text, .. } => says = text.as_ref().map(|it| scene.text(it)).transpose()?,
            _ => {}
        }
        let (label, about) = (state.label.clone(), state.about.clone());
        Ok(Outlook { state: state.name.clone(), label, about, prompt, because, says })
    }
}

/// A condition in words.
fn in_words(condition: &Condition) -> Option<String> {
    let values: Vec<&str> = condition.values.iter().map(|it| &**it).collect();
    let values = values.join(" or ");
    match &condition.term {
        Term::Fact(name) | Term::Var(name) => Some(format!("{name} is {values}")),
        _ => None,
    }
}
