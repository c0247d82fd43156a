//! Which specs a proposal says it needs.

use serde::Serialize;

use super::super::markdown;
use super::super::page::Page;
use super::super::yaml::Node;
use super::super::{Problem, Severity, graph};

/// A spec that a change needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AffectedSpec {
    /// Its id, which is its file below `specs/` without `.md`.
    pub id: String,
    /// Its file as it is written, if it is.
    pub path: Option<String>,
    /// The specs that come before it.
    pub depends: Vec<String>,
    /// The line it is named in.
    pub line: usize,
}

/// Reads the specs: from the front matter if it names any, or says that there are none; else from the text. agentd looks at
/// the text only if there is no front matter at all.
pub(super) fn read(page: &Page<'_>, front: &Node, problems: &mut Vec<Problem>) -> Vec<AffectedSpec> {
    let node =
        ["affected_specs", "affected-specs", "affectedSpecs", "specs"].iter().find_map(|it| front.get(it));
    let mut specs = Vec::new();
    match node.filter(|it| !it.is_null()) {
        Some(node) => of_node(node, &mut specs, problems),
        None if node.is_some() => {}
        None => of_text(page, &mut specs, problems),
    }
    let mut known: Vec<AffectedSpec> = Vec::new();
    for spec in specs {
        match known.iter_mut().find(|it| it.id == spec.id) {
            // Whoever names a spec twice means it once.
            Some(before) => {
                let new: Vec<String> =
                    spec.depends.into_iter().filter(|it| !before.depends.contains(it)).collect();
                before.depends.extend(new);
            }
            None => known.push(spec),
        }
    }
    check(&known, problems);
    known
}

/// What is wrong with the order of the specs.
fn check(specs: &[AffectedSpec], problems: &mut Vec<Problem>) {
    for spec in specs {
        for other in spec.depends.iter().filter(|it| !specs.iter().any(|spec| spec.id == **it)) {
            let message =
                format!("spec `{}` depends on `{other}`, which is not among the affected specs", spec.id);
            problems.push(Problem::new(Severity::High, spec.line, message));
        }
    }
    let names: Vec<&str> = specs.iter().map(|it| it.id.as_str()).collect();
    let depends: Vec<&[String]> = specs.iter().map(|it| it.depends.as_slice()).collect();
    for circle in graph::cycles(&names, &depends) {
        let line = circle.first().and_then(|it| specs.get(*it)).map(|it| it.line);
        let message = format!("specs depend on each other in a circle: {}", graph::shown(&circle, &names));
        problems.push(Problem::new(Severity::High, line, message));
    }
}

fn of_node(node: &Node, specs: &mut Vec<AffectedSpec>, problems: &mut Vec<Problem>) {
    match node {
        Node::Scalar { text, line, .. } => of_words(text, *line, specs, problems),
        Node::List { items, .. } => {
            for item in items {
                match item {
                    Node::Map { entries, line } => of_map(None, item, entries, *line, specs, problems),
                    Node::Scalar { text, line, .. } => of_words(text, *line, specs, problems),
                    other => odd(other.line(), problems),
                }
            }
        }
        // A map whose keys are the specs.
        Node::Map { entries, .. } => {
            for (id, value) in entries {
                of_map(Some(id), value, value.entries(), value.line(), specs, problems);
            }
        }
        Node::Alias { line } => odd(*line, problems),
    }
}

fn odd(line: usize, problems: &mut Vec<Problem>) {
    problems.push(Problem::new(Severity::High, line, "an affected spec cannot be understood"));
}

fn of_map(
    key: Option<&str>,
    node: &Node,
    entries: &[(String, Node)],
    line: usize,
    specs: &mut Vec<AffectedSpec>,
    problems: &mut Vec<Problem>,
) {
    let text = |names: &[&str]| names.iter().find_map(|it| node.get(it)).and_then(Node::text);
    let path = text(&["path", "file"]);
    // `- auth: specs/auth.md` is a map of one.
    let single = || entries.first().filter(|_| entries.len() == 1).map(|(key, _)| key.as_str());
    let Some(written) = key.or_else(|| text(&["id", "spec", "name"])).or(path).or_else(single) else {
        return odd(line, problems);
    };
    let id = match affected_id(written) {
        Ok(id) => id,
        Err((_, message)) => {
            problems.push(Problem::new(Severity::High, line, message));
            return;
        }
    };
    let depends = ["depends", "depends_on", "depends-on", "dependencies"].iter().find_map(|it| node.get(it));
    let mut before = Vec::new();
    for word in depends.into_iter().flat_map(scalars) {
        for name in names(word) {
            match affected_id(&name) {
                Ok(it) => before.push(it),
                Err((_, message)) => problems.push(Problem::new(Severity::High, line, message)),
            }
        }
    }
    before.dedup();
    specs.push(AffectedSpec { id, path: path.map(str::to_owned), depends: before, line });
}

/// The texts of a value or of a list of them.
fn scalars(node: &Node) -> Vec<&str> {
    let own = node.text().into_iter();
    let inner = node.items().iter().filter_map(|it| it.text().or_else(|| it.get("id").and_then(Node::text)));
    own.chain(inner).collect()
}

fn of_words(text: &str, line: usize, specs: &mut Vec<AffectedSpec>, problems: &mut Vec<Problem>) {
    for name in names(text) {
        match affected_id(&name) {
            Ok(id) => {
                let path = name.contains('/').then(|| name.clone());
                specs.push(AffectedSpec { id, path, depends: Vec::new(), line });
            }
            Err((severity, message)) => problems.push(Problem::new(severity, line, message)),
        }
    }
}

/// The line `- Affected specs: …`, with what stands below it in the list.
fn of_text(page: &Page<'_>, specs: &mut Vec<AffectedSpec>, problems: &mut Vec<Problem>) {
    let body = |at: usize| page.lines.get(at).filter(|it| it.is_body());
    for at in page.body_start()..page.lines.len() {
        let Some(line) = body(at) else { continue };
        let Some((name, value)) = markdown::label(line.text) else { continue };
        if !matches!(name.as_str(), "affected specs" | "affected_specs" | "specs affected" | "affected spec")
        {
            continue;
        }
        of_words(value, line.number, specs, problems);
        let outer = markdown::indent(line.text);
        for at in at + 1..page.lines.len() {
            let Some(line) = body(at) else { break };
            if line.text.trim().is_empty() {
                continue;
            }
            let Some(item) = markdown::bullet(line.text).filter(|_| markdown::indent(line.text) > outer)
            else {
                break;
            };
            // In a list, each item is one spec and perhaps a remark.
            match first_name(item).as_deref().map(|it| (it, affected_id(it))) {
                Some((name, Ok(id))) => {
                    let path = name.contains('/').then(|| name.to_owned());
                    specs.push(AffectedSpec { id, path, depends: Vec::new(), line: line.number });
                }
                Some((_, Err((severity, message)))) => {
                    problems.push(Problem::new(severity, line.number, message));
                }
                None => {}
            }
        }
        return;
    }
}

/// The name that an item begins with, without its remark.
fn first_name(item: &str) -> Option<String> {
    if let Some((code, _)) = markdown::code_spans(item).first() {
        return Some((*code).to_owned());
    }
    let plain = markdown::without_parentheses(item);
    let plain = plain.split([':', '–', '—']).next().unwrap_or_default();
    let plain = plain.split(" - ").next().unwrap_or_default();
    names(plain).into_iter().next()
}

/// The names in a text: code, an array, or words with commas between them. None for `none`, `n/a` and the like.
pub(crate) fn names(text: &str) -> Vec<String> {
    // What is code in a remark is no name.
    let plain = markdown::without_parentheses(text.trim());
    let spans = markdown::code_spans(&plain);
    let spans: Vec<&str> = spans.iter().map(|it| it.0).filter(|it| !is_nothing(it)).collect();
    if !spans.is_empty() {
        return spans.iter().flat_map(|it| it.split(',')).map(clean).filter(|it| !it.is_empty()).collect();
    }
    if is_nothing(&plain) {
        return Vec::new();
    }
    let pieces = plain.split([',', ';']).flat_map(|it| it.split(" and ")).flat_map(|it| it.split(" & "));
    pieces.map(clean).filter(|it| !it.is_empty() && !is_nothing(it)).collect()
}

fn clean(word: &str) -> String {
    let marks = |it: char| it.is_whitespace() || matches!(it, '[' | ']' | '"' | '\'' | '*' | '`' | '“' | '”');
    word.trim_matches(marks).trim_end_matches('.').trim_matches(marks).to_owned()
}

/// Whether a text says that there is nothing.
fn is_nothing(text: &str) -> bool {
    let lower = text.trim().trim_matches(['*', '_', '`', '.', '[', ']', ' ']).to_lowercase();
    let first = lower.split([' ', '.', ',', ';', ':', '–', '—']).next().unwrap_or_default();
    matches!(lower.as_str(), "" | "-" | "–" | "—" | "no" | "nothing" | "null" | "n.a")
        || matches!(first, "none" | "n/a" | "na")
}

/// The id of a spec that a change can have: whoever works specs off looks in `specs/` and in no folder below it. Otherwise
/// what is wrong; a path is meant to be one, and words may be a remark.
fn affected_id(name: &str) -> Result<String, (Severity, String)> {
    match spec_id(name) {
        Some(id) if !id.contains('/') => Ok(id),
        Some(_) => Err((Severity::High, format!("`{name}` is no name of a spec: `specs/` has no folders"))),
        None => {
            let severity = if name.contains('/') { Severity::High } else { Severity::Medium };
            Err((severity, format!("`{name}` is no name of a spec")))
        }
    }
}

/// The id that a name of a spec means: its path below `specs/`, without `.md`. Nothing for what could be no file there.
pub(crate) fn spec_id(name: &str) -> Option<String> {
    let name = name.trim().trim_start_matches("./");
    let below = match name.rfind("specs/") {
        Some(at) if at == 0 || name[..at].ends_with('/') => &name[at + "specs/".len()..],
        _ => name,
    };
    let id = below.strip_suffix(".md").unwrap_or(below);
    let is_part = |part: &str| {
        !part.is_empty()
            && part.starts_with(|it: char| it.is_ascii_alphanumeric())
            && part.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.'))
    };
    (id.split('/').all(is_part) && id.len() < 200).then(|| id.to_owned())
}
