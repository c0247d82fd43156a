//! Runs as somebody sees them who does not drive them.

use loopwright_core::definition::Kind;
use loopwright_core::machine::Run;

use crate::driver::files_at;
use crate::engine::{Definition, Engine};
use crate::error::EngineError;
use crate::files::Files;
use crate::scene::Scene;

impl Engine {
    /// A text of a run's workflow with the values of now. Nothing is written down, and whoever drives the run is not
    /// disturbed.
    pub fn filled(
        &self,
        name: &str,
        (definition, run): (&Definition, &Run),
        text: &str,
    ) -> Result<String, EngineError> {
        if !text.contains("{{") && !text.contains("{%") {
            return Ok(text.to_owned());
        }
        // An index of our own: the run's may be in use.
        let own = format!("reader-{}", std::process::id());
        let files = match &run.site {
            Some(site) => files_at(self, site, &own)?,
            None => Files::of(self.home.git.clone(), &own)?,
        };
        let filled = files.look().map_err(EngineError::from).and_then(|look| {
            let Definition { workflow, folder } = definition;
            let (project, now, files, look) = (&self.project, (self.clock)(), &files, &look);
            let scene = Scene { workflow, folder, run, name, files, look, project, now, item: None };
            Ok(scene.text(text)?)
        });
        let _ = std::fs::remove_file(files.git().folder().join("loopwright").join(format!("index-{own}")));
        filled
    }

    /// What the end of a run says, if it came to one that says something.
    pub fn says(&self, name: &str, (definition, run): (&Definition, &Run)) -> Option<String> {
        let state = run.state(&definition.workflow).filter(|_| run.is_over())?;
        let Kind::End { says: Some(text), .. } = &state.kind else { return None };
        // Where something it names is gone by now, what the author wrote still says more than nothing.
        let filled = self.filled(name, (definition, run), text).unwrap_or_else(|_| text.clone());
        Some(filled.trim().to_owned()).filter(|it| !it.is_empty())
    }
}
