//! Templates: what they name is held against the names there are, and found where it stands.

use std::ops::Range;

use indexmap::IndexSet;

use super::WORKFLOW_FILE;
use super::loader::Loader;
use super::shape::head;
use super::text_names::{Names, instead};
use super::texts::Texts;
use super::types::follow;
use super::yaml::{Node, Value, shorten};
use crate::problem::{Place, Problem, did_you_mean};
use crate::template;

/// Filters that a text is likely to mean.
const FILTERS: &[&str] = &[
    "default",
    "first",
    "indent",
    "items",
    "join",
    "last",
    "length",
    "list",
    "lower",
    "map",
    "reject",
    "rejectattr",
    "replace",
    "select",
    "selectattr",
    "sort",
    "tojson",
    "trim",
    "unique",
    "upper",
];

impl Texts<'_, '_> {
    pub(super) fn texts_in(&self, value: &serde_json::Value, node: &Node, names: &Names) {
        match value {
            serde_json::Value::String(text) => self.text(text, node, names),
            serde_json::Value::Array(items) => items.iter().for_each(|it| self.texts_in(it, node, names)),
            serde_json::Value::Object(fields) => {
                fields.values().for_each(|it| self.texts_in(it, node, names));
            }
            _ => {}
        }
    }

    /// A text somewhere in this part of the file.
    pub(super) fn text(&self, text: &str, node: &Node, names: &Names) {
        if text.contains("{{") || text.contains("{%") {
            self.template(text, &Loader::place(&spot(node, text)), names);
        }
    }

    /// Holds a template against the names there are. Gives those it uses that exist.
    pub(super) fn template(&self, text: &str, place: &Place, names: &Names) -> Vec<String> {
        let environment = template::environment();
        let template = match environment.template_from_str(text) {
            Ok(template) => template,
            Err(error) => {
                let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
                let mut place = place.clone();
                if place.file != WORKFLOW_FILE {
                    place.bytes = error.range().unwrap_or_else(|| first_line(text));
                }
                let message = format!("the text is not a template: {}", shorten(&detail));
                let help = "`{{ name }}` for a value, `{% if name %}...{% endif %}` for a condition";
                self.loader.report(Problem::load("bad-template", place, message).help(help));
                return Vec::new();
            }
        };
        if let Some(name) = template::unknown_filter(text) {
            let message = format!("there is no filter `{}`", shorten(&name));
            let help = did_you_mean(&name, FILTERS.iter().copied());
            let place = self.locate(&name, place);
            self.loader.report(Problem::load("bad-template", place, message).maybe_help(help));
        }
        let mut used: Vec<String> = template.undeclared_variables(true).into_iter().collect();
        used.sort();
        // What is not there is not there once, however much of it a text would like to have.
        let mut unknown: IndexSet<String> = IndexSet::new();
        used.retain(|path| {
            self.loader.using_path(path);
            let Err((part, known)) = follow(names, path) else { return true };
            let end = path.find(&part).map_or(path.len(), |at| at + part.len());
            if !unknown.insert(path[..end].to_owned()) {
                return false;
            }
            let message = format!("`{{{{ {} }}}}`: there is no `{}`", shorten(path), shorten(&part));
            let problem = Problem::load("unknown-input", self.locate(path, place), message);
            self.loader.report(problem.maybe_help(instead(path, &part, &known, names)));
            false
        });
        used
    }

    /// Where in a text a name stands: inside `{{ }}` or `{% %}`.
    pub(super) fn locate(&self, path: &str, place: &Place) -> Place {
        let Some(text) = self.loader.folder.text(&place.file) else { return place.clone() };
        let Some(written) = text.get(place.bytes.clone()) else { return place.clone() };
        let is_part = |it: char| it.is_alphanumeric() || it == '_' || it == '.';
        let found = written.match_indices(path).find(|(at, _)| {
            let (before, after) = (&written[..*at], &written[at + path.len()..]);
            let inside = before.rfind(['{', '}']).is_some_and(|it| before[it..].starts_with('{'))
                || before.rfind("{%") > before.rfind("%}");
            inside
                && !before.chars().next_back().is_some_and(is_part)
                && !after.chars().next().is_some_and(|it| is_part(it) && it != '.')
        });
        let bytes = match found {
            Some((at, _)) => place.bytes.start + at..place.bytes.start + at + path.len(),
            None if place.file == WORKFLOW_FILE => place.bytes.clone(),
            None => first_line(text),
        };
        Place { file: place.file.clone(), bytes }
    }
}

/// Where a text stands in a part of the file.
pub(super) fn spot(node: &Node, text: &str) -> Range<usize> {
    fn find(node: &Node, wanted: &str) -> Option<Range<usize>> {
        match &node.value {
            Value::Text { text, .. } => (text == wanted).then(|| node.bytes.clone()),
            Value::List(items) => items.iter().find_map(|it| find(it, wanted)),
            Value::Map(entries) => entries.iter().find_map(|it| find(&it.node, wanted)),
            Value::Empty => None,
        }
    }
    find(node, text).unwrap_or_else(|| head(node))
}

/// All of a file.
pub(super) fn whole(file: &str, text: &str) -> Place {
    Place { file: file.to_owned(), bytes: 0..text.len() }
}

fn first_line(text: &str) -> Range<usize> {
    0..text.find('\n').unwrap_or(text.len())
}
