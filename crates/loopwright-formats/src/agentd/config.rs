//! `config.toml`: how often things are tried again, and which models do them.

use toml_edit::{Document, Item, TableLike};

use super::{Problem, Severity};

/// The settings that mean something here. What a file does not say is not there; unknown keys are nobody's fault.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Config {
    /// How often a plan may be revised.
    pub planning_iterations: Option<u64>,
    /// How often the code may be mended.
    pub implementation_iterations: Option<u64>,
    /// How often a merge may be mended.
    pub archive_iterations: Option<u64>,
    /// The model to ask Gemini for.
    pub gemini_model: Option<String>,
    /// The model to ask Codex for.
    pub codex_model: Option<String>,
    /// How hard that model is to think: `low`, `medium`, `high`, `extra high`.
    pub codex_reasoning: Option<String>,
    /// The model to ask Claude for.
    pub claude_model: Option<String>,
}

impl Config {
    /// Reads the settings, or says what is broken and where.
    pub fn read(text: &str) -> Result<Self, Problem> {
        let document = Document::parse(text).map_err(|error| {
            let line = error.span().map(|it| line_at(text, it.start));
            Problem::new(
                Severity::High,
                line,
                format!("it is not TOML: {}", error.message().replace('\n', ", ")),
            )
        })?;
        let root: &dyn TableLike = document.as_table();
        let reader = Reader { text, root };
        let workflow = reader.table("workflow")?;
        let count = |key: &str| workflow.map_or(Ok(None), |it| reader.count(it, key));
        let (gemini_model, _) = reader.model("gemini")?;
        let (codex_model, codex_reasoning) = reader.model("codex")?;
        let (claude_model, _) = reader.model("claude")?;
        Ok(Self {
            planning_iterations: count("planning_iterations")?,
            implementation_iterations: count("implementation_iterations")?,
            archive_iterations: count("archive_iterations")?,
            gemini_model,
            codex_model,
            codex_reasoning,
            claude_model,
        })
    }
}

struct Reader<'a> {
    text: &'a str,
    root: &'a dyn TableLike,
}

impl<'a> Reader<'a> {
    fn broken(&self, item: &Item, message: String) -> Problem {
        let line = item.span().map(|it| line_at(self.text, it.start));
        Problem::new(Severity::High, line, message)
    }

    fn table(&self, key: &str) -> Result<Option<&'a dyn TableLike>, Problem> {
        let Some(item) = self.root.get(key) else { return Ok(None) };
        match item.as_table_like() {
            Some(table) => Ok(Some(table)),
            None => Err(self.broken(item, format!("`{key}` is no table"))),
        }
    }

    fn count(&self, table: &dyn TableLike, key: &str) -> Result<Option<u64>, Problem> {
        let Some(item) = table.get(key) else { return Ok(None) };
        let number = item.as_integer().and_then(|it| u64::try_from(it).ok());
        number.map(Some).ok_or_else(|| self.broken(item, format!("`{key}` is no whole number")))
    }

    fn word(&self, table: &dyn TableLike, key: &str) -> Result<Option<String>, Problem> {
        let Some(item) = table.get(key) else { return Ok(None) };
        let text = item.as_str().ok_or_else(|| self.broken(item, format!("`{key}` is no text")))?;
        Ok(Some(text.trim().to_owned()).filter(|it| !it.is_empty()))
    }

    /// The model that an agent uses unless told otherwise, and how hard it is to think. The name of one that is listed stands
    /// for it; any other is the model itself.
    fn model(&self, agent: &str) -> Result<(Option<String>, Option<String>), Problem> {
        let Some(table) = self.table(agent)? else { return Ok((None, None)) };
        let own_reasoning = self.word(table, "reasoning")?;
        let Some(name) = self.word(table, "default")? else { return Ok((None, own_reasoning)) };
        for model in models(table) {
            if self.word(model, "id")?.as_deref() == Some(name.as_str()) {
                let reasoning = self.word(model, "reasoning")?.or(own_reasoning);
                return Ok((Some(self.word(model, "model")?.unwrap_or(name)), reasoning));
            }
        }
        let listed = models(table)
            .into_iter()
            .find(|it| it.get("model").and_then(Item::as_str) == Some(name.as_str()));
        let reasoning = listed.map_or(Ok(None), |it| self.word(it, "reasoning"))?.or(own_reasoning);
        Ok((Some(name), reasoning))
    }
}

fn models(table: &dyn TableLike) -> Vec<&dyn TableLike> {
    match table.get("models") {
        Some(Item::ArrayOfTables(tables)) => tables.iter().map(|it| it as &dyn TableLike).collect(),
        Some(Item::Value(value)) => {
            let items = value.as_array().into_iter().flatten();
            items.filter_map(|it| it.as_inline_table()).map(|it| it as &dyn TableLike).collect()
        }
        _ => Vec::new(),
    }
}

fn line_at(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|it| **it == b'\n').count() + 1
}
