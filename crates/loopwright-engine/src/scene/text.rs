//! Texts: what an author wrote, with the values of now.

use loopwright_core::language::Folder;
use loopwright_core::template::environment;
use serde_json::Value;

use super::{Scene, Unseen};
use crate::journal::Millis;

impl Scene<'_> {
    /// A text with its values.
    pub(crate) fn text(&self, text: &str) -> Result<String, Unseen> {
        self.text_with(text, &Value::Null)
    }

    /// The same, with names that are only known here.
    pub(crate) fn text_with(&self, text: &str, besides: &Value) -> Result<String, Unseen> {
        if !text.contains("{{") && !text.contains("{%") {
            return Ok(text.to_owned());
        }
        let environment = environment();
        let template = environment.template_from_str(text).map_err(|it| wrong(&it))?;
        let used: Vec<String> = template.undeclared_variables(true).into_iter().collect();
        let names = self.names_with(&used, besides)?;
        let rendered = template.render(minijinja::value::Serde(&names));
        let mut filled = rendered.map_err(|it| wrong_with(&it, &self.unsaid(&used)))?;
        // Templates lose the end of their last line.
        if text.ends_with('\n') && !filled.ends_with('\n') {
            filled.push('\n');
        }
        Ok(filled)
    }

    /// A value: `{{ }}` by itself is what stands in it, anything else is text.
    pub(crate) fn value(&self, text: &str) -> Result<Value, Unseen> {
        self.value_with(text, &Value::Null)
    }

    /// The same, with names that are only known here.
    pub(crate) fn value_with(&self, text: &str, besides: &Value) -> Result<Value, Unseen> {
        let inner = text.trim().strip_prefix("{{").and_then(|it| it.strip_suffix("}}")).map(str::trim);
        let is_path = |it: &&str| {
            it.split('.')
                .all(|part| !part.is_empty() && part.chars().all(|it| it.is_alphanumeric() || it == '_'))
        };
        if let Some(path) = inner.filter(is_path) {
            let names = self.names_with(&[path.to_owned()], besides)?;
            return Ok(path
                .split('.')
                .try_fold(&names, |at, part| at.get(part))
                .cloned()
                .unwrap_or(Value::Null));
        }
        let environment = environment();
        // What is more than one expression is text.
        let Some(expression) = inner.and_then(|it| environment.compile_expression(it).ok()) else {
            return Ok(Value::String(self.text_with(text, besides)?));
        };
        let used: Vec<String> = expression.undeclared_variables(true).into_iter().collect();
        let names = self.names_with(&used, besides)?;
        let value = expression.eval(minijinja::value::Serde(&names));
        let value = value.map_err(|it| wrong_with(&it, &self.unsaid(&used)))?;
        if value.is_undefined() {
            return Ok(Value::Null);
        }
        serde_json::to_value(&value).map_err(|it| Unseen::Wrong(format!("a value cannot be used: {it}")))
    }

    /// Names that are used, with those that are only known here.
    fn names_with(&self, used: &[String], besides: &Value) -> Result<Value, Unseen> {
        let mut names = self.names(used)?;
        if let (Value::Object(names), Value::Object(besides)) = (&mut names, besides) {
            names.extend(besides.clone());
        }
        Ok(names)
    }
}

/// Whether a text uses a name.
pub(crate) fn uses(text: &str, name: &str) -> bool {
    environment().template_from_str(text).is_ok_and(|it| it.undeclared_variables(false).contains(name))
}

fn wrong(error: &minijinja::Error) -> Unseen {
    wrong_with(error, "")
}

fn wrong_with(error: &minijinja::Error, besides: &str) -> Unseen {
    Unseen::Wrong(format!("a text cannot be filled in: {error:#}{besides}"))
}

/// The text a workflow means: a file of its folder, or the text itself.
pub(crate) fn meant<'f>(folder: &'f Folder, text: &'f str) -> &'f str {
    let is_file = !text.contains('\n') && text.len() < 200;
    is_file.then(|| folder.text(text)).flatten().unwrap_or(text)
}

/// A day, as `2026-11-16`.
pub(super) fn date(at: Millis) -> String {
    time(at).split('T').next().unwrap_or_default().to_owned()
}

/// A moment, as `2026-11-16T09:30:00Z`.
pub fn time(at: Millis) -> String {
    let at = i64::try_from(at).ok().and_then(|it| jiff::Timestamp::from_millisecond(it).ok());
    at.map(|it| it.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()).unwrap_or_default()
}
