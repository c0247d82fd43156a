//! What a task says about itself: files, references, dependencies, how it stands.

use std::collections::HashMap;

use super::super::markdown;
use super::super::proposal::spec_names;
use super::super::task_id::is_task_id;
use super::super::yaml::Node;
use super::{Action, From, SpecRef, TaskFile};

/// What a label or a key is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    File,
    Spec,
    Verify,
    Depends,
    Action,
    Status,
    /// Text that is not taken apart.
    Text,
}

/// The field that a label names, in lower case.
pub(super) fn field(name: &str) -> Option<Field> {
    Some(match name {
        "file" | "files" | "path" | "paths" | "file(s)" => Field::File,
        "spec" | "specs" | "spec_ref" | "spec ref" | "spec-ref" | "spec reference" | "spec_refs"
        | "spec refs" | "reference" | "references" | "ref" | "refs" => Field::Spec,
        "verify" | "verifies" | "verification" | "validates" => Field::Verify,
        "depends" | "depends on" | "depends_on" | "depends-on" | "dependencies" | "dependency"
        | "blocked by" | "after" => Field::Depends,
        "action" => Field::Action,
        "status" => Field::Status,
        "do" | "description" | "what" | "details" | "notes" | "note" | "why" | "acceptance" => Field::Text,
        _ => return None,
    })
}

/// What a task says about itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub files: Vec<TaskFile>,
    pub refs: Vec<SpecRef>,
    pub depends: Vec<String>,
    pub action: Option<Action>,
    pub status: Option<String>,
    /// Values that say something and cannot be understood, with their lines.
    pub odd: Vec<(usize, String)>,
    /// Whether there was anything at all.
    pub is_any: bool,
}

impl Facts {
    /// Takes the value of a field.
    pub fn take(&mut self, field: Field, value: &str, line: usize) {
        self.is_any = true;
        match field {
            Field::File => self.files.extend(files(value)),
            Field::Spec => self.take_refs(value, line, From::Spec),
            Field::Verify => self.take_refs(value, line, From::Verify),
            Field::Depends => self.take_depends(value, line),
            Field::Action => {
                let found = action_in(value);
                if found.is_none() && !markdown::is_placeholder(value) {
                    self.odd.push((line, format!("`{}` is no action", value.trim())));
                }
                self.action = self.action.or(found);
            }
            Field::Status => {
                let word =
                    value.trim().trim_matches(['*', '_', '`', '"']).to_lowercase().replace([' ', '-'], "_");
                self.status = Some(word).filter(|it| !it.is_empty());
            }
            Field::Text => {}
        }
    }

    /// Takes what a block of values says.
    pub fn take_map(&mut self, node: &Node) {
        for (key, value) in node.entries() {
            let Some(field) = field(&key.to_lowercase()) else { continue };
            self.take_node(field, value);
        }
    }

    fn take_node(&mut self, field: Field, value: &Node) {
        match value {
            Node::List { items, .. } => {
                for item in items {
                    self.take_node(field, item);
                }
            }
            Node::Map { entries, line } if field == Field::File => {
                let path = value.get("path").or_else(|| value.get("file")).and_then(Node::text);
                let action = value.get("action").and_then(Node::text).unwrap_or_default();
                match path {
                    Some(path) => self.take(field, &format!("`{path}` ({action})"), *line),
                    None => self.odd.push((*line, format!("{} keys and no path are no file", entries.len()))),
                }
            }
            _ => match value.text() {
                // A path in a value is one path, whatever signs are in it.
                Some(text) if field == Field::File && !text.contains(['`', '(', ',']) => {
                    self.is_any = true;
                    if !is_nothing(text) {
                        self.files.push(TaskFile { path: text.trim().to_owned(), action: None });
                    }
                }
                Some(text) => self.take(field, text, value.line()),
                None => self.is_any = true,
            },
        }
    }

    fn take_refs(&mut self, value: &str, line: usize, from: From) {
        for text in spec_names(value) {
            let is_kept = !markdown::is_placeholder(&text) && (from == From::Spec || is_reference(&text));
            if is_kept && !self.refs.iter().any(|it| it.text == text && it.from == from) {
                self.refs.push(SpecRef { text, line, from });
            }
        }
    }

    fn take_depends(&mut self, value: &str, line: usize) {
        let (found, is_odd) = depends(value);
        if is_odd {
            self.odd.push((
                line,
                format!("the dependencies `{}` cannot all be understood", value.trim().replace('`', "'")),
            ));
        }
        for it in found {
            if !self.depends.contains(&it) {
                self.depends.push(it);
            }
        }
    }

    /// The action of the task: its own, or that of its first file that has one.
    pub fn action(&self) -> Option<Action> {
        self.action.or_else(|| self.files.iter().find_map(|it| it.action))
    }

    /// The place of a spec that the task is about.
    pub fn spec_ref(&self) -> Option<&str> {
        let of = |from: From| self.refs.iter().find(|it| it.from == from);
        of(From::Spec).or_else(|| of(From::Verify)).map(|it| it.text.as_str())
    }
}

/// How much a field says that only a task says about itself.
pub(super) fn weight(field: Field, value: &str) -> usize {
    match field {
        Field::File => {
            let files = files(value);
            let is_path = files.iter().any(|it| it.path.contains(['/', '.']));
            usize::from(is_path) + usize::from(files.iter().any(|it| it.action.is_some()))
        }
        Field::Spec | Field::Verify => usize::from(spec_names(value).iter().any(|it| is_reference(it))),
        Field::Depends => usize::from(depends(value).0.iter().any(|it| is_task_id(it))),
        Field::Action => usize::from(action_in(value).is_some()),
        Field::Status | Field::Text => 0,
    }
}

/// Whether a status says that a task is done.
pub(super) fn is_done(status: &str) -> bool {
    matches!(status, "completed" | "complete" | "done" | "finished")
}

/// Whether a text could name a place in a spec and is no command.
fn is_reference(text: &str) -> bool {
    let names_requirement = || {
        let (_, behind) = text.rsplit_once(':').unwrap_or_default();
        behind
            .trim()
            .strip_prefix(['R', 'r'])
            .is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()))
    };
    text.starts_with("specs/")
        || text.contains(".md")
        || (text.contains('#') && !text.contains(' '))
        || names_requirement()
}

fn is_nothing(text: &str) -> bool {
    let lower = text.trim().trim_matches(['*', '_', '`', '.']).to_lowercase();
    let word = lower.split([' ', '(', ',', ';']).next().unwrap_or_default();
    matches!(word, "" | "none" | "n/a" | "na" | "-" | "–" | "—" | "null" | "nothing" | "[]")
}

/// The action that a word means.
fn action(word: &str) -> Option<Action> {
    Some(match word.to_ascii_uppercase().as_str() {
        "CREATE" | "NEW" | "ADD" | "CREATED" => Action::Create,
        "MODIFY" | "UPDATE" | "EDIT" | "CHANGE" | "MODIFIED" | "EXTEND" | "REFACTOR" => Action::Modify,
        "DELETE" | "REMOVE" | "DELETED" => Action::Delete,
        "RENAME" | "MOVE" | "RENAMED" => Action::Rename,
        _ => return None,
    })
}

/// The first word of a text that is an action.
fn action_in(text: &str) -> Option<Action> {
    text.split(|it: char| !it.is_alphabetic()).find_map(action)
}

/// The files of a value: each a path, perhaps as code, perhaps with what is done to it.
fn files(value: &str) -> Vec<TaskFile> {
    if is_nothing(value) {
        return Vec::new();
    }
    let mut files = Vec::new();
    let spans = markdown::code_spans(value);
    for (path, behind) in spans {
        let path = path.trim();
        if !markdown::is_placeholder(path) {
            files.push(TaskFile { path: path.to_owned(), action: action_in(behind) });
        }
        // What is not joined on is code in a remark.
        let is_open = behind.matches('(').count() > behind.matches(')').count();
        let joint = markdown::without_parentheses(behind);
        let joint = joint.trim();
        let is_joint = matches!(
            joint.trim_matches(','),
            "" | "and" | " and" | "&" | "+" | "->" | "→" | "=>" | "to" | ";" | "/" | "or"
        );
        if is_open || !(is_joint || action(joint.trim_matches([',', ' ', '-', ':', '–', '—'])).is_some())
        {
            break;
        }
    }
    if !files.is_empty() || value.contains('`') {
        return files;
    }
    for piece in outside_parentheses(value) {
        let piece = piece.trim();
        let end = piece.find(['(', '[', ' ']).filter(|it| *it > 0).unwrap_or(piece.len());
        let (path, remark) = piece.split_at(end);
        let path = path.trim().trim_matches(['"', '\'', '*']);
        if !path.is_empty() && !markdown::is_placeholder(piece) && !is_nothing(path) && action(path).is_none()
        {
            files.push(TaskFile { path: path.to_owned(), action: action_in(remark) });
        }
    }
    files
}

/// The pieces of a text between commas that are not in parentheses.
fn outside_parentheses(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut depth, mut from) = (0_usize, 0);
    for (at, it) in text.char_indices() {
        match it {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                pieces.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&text[from..]);
    pieces
}

/// The ids and ranges that a value names, and whether it says more than that.
fn depends(value: &str) -> (Vec<String>, bool) {
    let mut found: Vec<String> = Vec::new();
    if is_nothing(value) || is_nothing(value.trim_matches(['[', ']'])) {
        return (found, false);
    }
    let bare = value.replace('`', "").replace("**", "");
    let plain = markdown::without_parentheses(&bare);
    let mut is_odd = false;
    let mut is_range = false;
    for word in plain.split([' ', '\t', ',', ';', '&', '+', '[', ']', '"', '\'', '|']) {
        let word = word.trim_end_matches(['.', ')', ':']).trim_start_matches(['#', '(']);
        if word.is_empty() {
            continue;
        }
        // `T1.1` is what some call task 1.1.
        let lettered = word.strip_prefix(['T', 't']).map(|it| it.strip_prefix('-').unwrap_or(it));
        let word = lettered.filter(|it| is_task_id(it)).unwrap_or(word);
        let is_id = is_task_id(word) || word.bytes().all(|it| it.is_ascii_digit());
        if is_id && is_range {
            if let Some(from) = found.pop() {
                found.push(format!("{from}-{word}"));
            }
            is_range = false;
        } else if is_id {
            found.push(word.to_owned());
        } else if range(word).is_some()
            || word.strip_suffix(".x").or_else(|| word.strip_suffix(".*")).is_some_and(is_number)
        {
            let joined = range(word).map_or_else(|| word.to_owned(), |(from, to)| format!("{from}-{to}"));
            found.push(joined);
        } else {
            let lower = word.to_lowercase();
            let is_joint = matches!(lower.as_str(), "-" | "–" | "—" | "to" | "through" | "until" | "..");
            is_range = is_joint && !found.is_empty();
            is_odd |= matches!(
                lower.as_str(),
                "all" | "above" | "previous" | "every" | "layer" | "layers" | "phase" | "section" | "earlier"
            );
        }
    }
    is_odd |= found.is_empty();
    (found, is_odd)
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|it| it.is_ascii_digit())
}

/// First and last id of `1.1-1.3`.
fn range(word: &str) -> Option<(&str, &str)> {
    let (from, to) = word.split_once(['-', '–', '—', '→']).or_else(|| word.split_once(".."))?;
    (is_task_id(from) && is_task_id(to)).then_some((from, to))
}

/// Whether a dependency means several tasks.
pub(super) fn is_range(word: &str) -> bool {
    word.contains('-') || word.ends_with(['x', '*'])
}

/// The tasks that a dependency means, by the order of all. What means none stays as it is.
pub(super) fn expand(word: &str, ids: &[String], places: &HashMap<&str, usize>) -> Vec<String> {
    let place = |id: &str| places.get(id).copied();
    let found: Vec<String> = if let Some((from, to)) = range(word) {
        match (place(from), place(to)) {
            (Some(from), Some(to)) if from <= to => ids.get(from..=to).unwrap_or_default().to_vec(),
            _ => vec![from.to_owned(), to.to_owned()],
        }
    } else if let Some(number) = word.strip_suffix(".x").or_else(|| word.strip_suffix(".*")) {
        let start = format!("{number}.");
        ids.iter().filter(|it| it.starts_with(&start)).cloned().collect()
    } else {
        Vec::new()
    };
    if found.is_empty() { vec![word.to_owned()] } else { found }
}
