//! What a run is about, where nobody says it.

use loopwright_core::machine::{Started, before};

use crate::engine::{Begin, Definition, Engine};
use crate::error::EngineError;
use crate::files::Files;

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
                scene.text(made)?.trim().clone_into(&mut first);
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
}
