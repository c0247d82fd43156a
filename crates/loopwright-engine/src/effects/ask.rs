//! What a person is asked, in words.

use loopwright_core::definition::Question;
use loopwright_core::name::{Name, in_expression};

use super::as_text;
use crate::error::EngineError;
use crate::people::{Asked, Found};
use crate::scene::Scene;

/// A question with everything it shows, as it is now.
pub(crate) fn asked(
    scene: &Scene<'_>,
    (name, question): (&Name, &Question),
    finding: Option<&str>,
) -> Result<Asked, EngineError> {
    let scene = Scene { finding, ..*scene };
    let mut shows = Vec::new();
    for given in &question.shows {
        let value = scene.value(&format!("{{{{{}}}}}", in_expression(&given.name)))?;
        shows.push((given.name.clone(), as_text(&value)));
    }
    let found = |id: &str| {
        let it = scene.run.ledger.findings.get(id)?;
        let (severity, file, text) = (it.severity.clone(), it.file.clone(), it.text.clone());
        Some(Found { id: id.to_owned(), severity, file, text })
    };
    Ok(Asked {
        run: scene.name.to_owned(),
        name: name.clone(),
        id: question.id.as_ref().unwrap_or(name).to_string(),
        visit: format!("{}.{}", scene.run.at.state, scene.run.at.visit),
        finding: finding.and_then(found),
        text: scene.text(&question.asks)?,
        shows,
        answers: question.answers.clone(),
    })
}
