//! Several files that say something, put together, with where each value is from.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::wrong;
use crate::documents::{Format, text_of};
use crate::error::EngineError;

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Somebody's own, for everything they do.
    User,
    /// A repository's.
    Repository,
}

/// Where each value is from: by its path, such as `agents.claude.model`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    files: BTreeMap<Source, PathBuf>,
    values: BTreeMap<String, Source>,
}

impl Sources {
    /// The file a value is from, if one says it.
    pub fn of(&self, path: &str) -> Option<&PathBuf> {
        self.values.get(path).and_then(|it| self.files.get(it))
    }

    /// Whether a value is from somebody's file.
    pub fn is_of(&self, path: &str, source: Source) -> bool {
        self.values.get(path) == Some(&source)
    }

    /// All values with the files they are from, by path.
    pub fn all(&self) -> impl Iterator<Item = (&str, &PathBuf)> {
        self.values.iter().filter_map(|(path, it)| Some((path.as_str(), self.files.get(it)?)))
    }

    /// The file that is meant where nothing more is known.
    pub(super) fn file(&self) -> PathBuf {
        self.files.values().next_back().cloned().unwrap_or_else(|| super::CONFIG.into())
    }
}

/// Reads files that may be there, each over those before it.
pub(super) fn read(files: &[(Source, Option<PathBuf>)]) -> Result<(Value, Sources), EngineError> {
    let (mut all, mut sources) = (Value::Object(Map::new()), Sources::default());
    for (source, file) in files {
        let Some(file) = file else { continue };
        let Some(value) = one(file)? else { continue };
        sources.files.insert(*source, file.clone());
        over(&mut all, value, String::new(), *source, &mut sources);
    }
    Ok((all, sources))
}

fn one(file: &PathBuf) -> Result<Option<Value>, EngineError> {
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong(file, &format!("it cannot be read: {error}"))),
    };
    let text = text_of(&bytes).map_err(|it| wrong(file, &it.to_string()))?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    let format = Format::named("yaml").ok_or_else(|| wrong(file, "there is no reader for it"))?;
    let document = format.read(text).map_err(|faults| {
        let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
        wrong(file, &lines.join("\n"))
    })?;
    let mut value = document.value();
    // A part with nothing in it yet says nothing.
    if let Value::Object(parts) = &mut value {
        parts.retain(|_, it| !it.is_null());
    }
    Ok(Some(value))
}

/// Puts a value over another: what both have is the upper one's.
fn over(below: &mut Value, above: Value, path: String, source: Source, sources: &mut Sources) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (name, value) in above {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                over(below.entry(name).or_insert(Value::Null), value, path, source, sources);
            }
        }
        (below, Value::Object(above)) => {
            *below = Value::Object(Map::new());
            over(below, Value::Object(above), path, source, sources);
        }
        // What is kept from agents, and what they are let reach, is all that anybody says.
        (Value::Array(below), Value::Array(above)) if path.starts_with("fence.") => {
            below.extend(above);
            sources.values.insert(path, source);
        }
        (below, above) => {
            *below = above;
            sources.values.retain(|it, _| !it.starts_with(&format!("{path}.")));
            sources.values.insert(path, source);
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "these are tests")]
mod tests {
    use super::*;

    #[test]
    fn the_later_file_goes_first_and_it_is_known_whose_a_value_is() {
        let folder = tempfile::tempdir().unwrap();
        let [user, repository] = ["user.yaml", "repository.yaml"].map(|it| folder.path().join(it));
        std::fs::write(&user, "agents:\n  claude: {model: small, effort: low}\nproject: {test: one}\n")
            .unwrap();
        std::fs::write(&repository, "agents:\n  claude: {model: large}\nroles:\n").unwrap();
        let files = [(Source::User, Some(user.clone())), (Source::Repository, Some(repository.clone()))];
        let (value, sources) = read(&files).unwrap();
        assert_eq!(value["agents"]["claude"], serde_json::json!({"model": "large", "effort": "low"}));
        assert_eq!(sources.of("agents.claude.model"), Some(&repository));
        assert_eq!(sources.of("agents.claude.effort"), Some(&user));
        assert_eq!(sources.of("project.test"), Some(&user));
        assert_eq!(sources.of("agents.codex.model"), None);
    }

    #[test]
    fn what_is_kept_from_agents_adds_up() {
        let folder = tempfile::tempdir().unwrap();
        let [user, repository] = ["user.yaml", "repository.yaml"].map(|it| folder.path().join(it));
        std::fs::write(&user, "fence: {hide: [~/notes]}\nworktrees: {copy: [a]}\n").unwrap();
        std::fs::write(&repository, "fence: {hide: [/srv]}\nworktrees: {copy: [b]}\n").unwrap();
        let (value, _) = read(&[(Source::User, Some(user)), (Source::Repository, Some(repository))]).unwrap();
        assert_eq!(value["fence"]["hide"], serde_json::json!(["~/notes", "/srv"]));
        assert_eq!(value["worktrees"]["copy"], serde_json::json!(["b"]));
    }
}
