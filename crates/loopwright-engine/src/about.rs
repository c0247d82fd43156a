//! What a run is about, where nobody says it.

use std::sync::atomic::{AtomicU64, Ordering};

use loopwright_core::definition::Workflow;
use loopwright_core::machine::{Started, before};
use serde_json::json;

use crate::engine::{Begin, Definition, Engine};
use crate::error::EngineError;
use crate::files::Files;
use crate::numbers::Numbers;
use crate::scene::uses;

/// So many names are tried before somebody has to choose one.
const MOST_NAMES: u32 = 1_000;

impl Engine {
    /// What a run is about: what somebody said, what the workflow makes of its inputs, or the project.
    pub(crate) fn about(&self, definition: &Definition, begin: &Begin) -> Result<Begin, EngineError> {
        let declared = &definition.workflow.subject;
        let subject = if !begin.subject.trim().is_empty() {
            begin.subject.clone()
        } else if let Some(made) = &declared.made {
            self.made(definition, begin, made)?
        } else if declared.optional {
            let project = self.home.root().file_name();
            project.map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
        } else {
            String::new()
        };
        Ok(Begin { subject, ..begin.clone() })
    }

    /// What a workflow makes of its inputs. What is taken, by a run or by files in its folder, gets a number behind it.
    fn made(&self, definition: &Definition, begin: &Begin, made: &str) -> Result<String, EngineError> {
        let workflow = &definition.workflow;
        let files = Files::of(self.home.git.clone(), "begin")?;
        let look = files.look()?;
        let runs = self.journal.runs()?;
        let besides =
            if uses(made, "number") { json!({"number": self.number(workflow)?}) } else { json!({}) };
        let mut first = String::new();
        for number in 1..=MOST_NAMES {
            let started = Started {
                definition: workflow.digest.clone(),
                subject: first.clone(),
                inputs: begin.inputs.clone(),
                vars: begin.vars.clone(),
                ..Started::default()
            };
            let mut run = before(workflow, &started)?;
            if first.is_empty() {
                let scene = self.scene(definition, ("begin", &run), (&files, &look));
                scene.text_with(made, &besides)?.trim().clone_into(&mut first);
            }
            let name = if number == 1 { first.clone() } else { format!("{first}-{number}") };
            run.subject.clone_from(&name);
            let scene = self.scene(definition, ("begin", &run), (&files, &look));
            let begun = |it: &crate::journal::RunLine| {
                it.last > 0 && it.run.workflow == *workflow.name && it.run.subject == name
            };
            let own = scene.own_folder()?;
            let is_there = own.is_some_and(|it| files.root().join(it).exists());
            if !runs.iter().any(begun) && !is_there {
                return Ok(name);
            }
        }
        let what = &workflow.subject.name;
        Err(EngineError::Wrong(format!("every {what} like `{first}` is taken; say one yourself")))
    }

    /// A number for a new subject: one that no folder beside its own has, in any worktree or branch.
    fn number(&self, workflow: &Workflow) -> Result<String, EngineError> {
        // Whoever begins again begins something else.
        static BEGUN: AtomicU64 = AtomicU64::new(0);
        let before = workflow.folder.as_deref().and_then(|it| it.split_once("{{"));
        let beside = before.and_then(|(it, _)| it.rsplit_once('/'));
        let Some((folder, prefix)) = beside else {
            return Err(EngineError::Wrong("there are no folders that could be numbered".to_owned()));
        };
        let begun = BEGUN.fetch_add(1, Ordering::Relaxed);
        let holder = format!("{} at {}, {begun}", self.holder, (self.clock)());
        let numbers = Numbers { git: &self.home.git, journal: &*self.journal };
        Ok(format!("{:03}", numbers.take(folder, prefix, &holder)?))
    }
}
