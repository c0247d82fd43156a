//! What a person is asked, in words.

use loopwright_core::definition::Question;
use loopwright_core::name::{Name, in_expression};
use serde_json::Value;

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
        shows.push((given.name.clone(), as_read(&value)));
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

/// A value as a person reads it: findings are lines, and a list without entries is nothing.
fn as_read(value: &Value) -> String {
    let Value::Array(entries) = value else { return as_text(value) };
    let remarks: Option<Vec<String>> = entries.iter().map(remark).collect();
    remarks.map_or_else(|| as_text(value), |it| it.join("\n"))
}

/// A finding in a line, if it is one.
fn remark(value: &Value) -> Option<String> {
    let word = |name: &str| value.get(name)?.as_str();
    let [id, severity, text] = ["id", "severity", "text"].map(word);
    let file = word("file").unwrap_or_default().to_owned();
    let found = Found { id: id?.to_owned(), severity: Name::from(severity?), file, text: text?.to_owned() };
    Some(found.to_string())
}
