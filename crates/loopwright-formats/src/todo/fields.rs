//! What a file says of itself at its top: front matter or, where there is none, lines such as `**Status:** Todo`.

use std::ops::Range;

use super::Problem;
use super::spelled::{Written, titled};
use crate::agentd::markdown;
use crate::agentd::page::{Line, Page, Part, line_end};
use crate::agentd::yaml::{self, Node};

/// Names of fields, in the order they are written in; what else each is called follows the first.
pub(super) type Names = &'static [&'static [&'static str]];

/// A field, and where it stands.
pub(super) struct Field {
    /// What it is called here.
    pub name: &'static str,
    /// The line of its name.
    pub line: usize,
    /// What it says.
    pub node: Node,
    /// Where its value is written.
    value: Range<usize>,
    /// Where the line behind it begins.
    next: usize,
    /// The line it stands in, and where its name is in it, if it is no front matter.
    label: Option<(Range<usize>, Range<usize>)>,
}

/// The fields of a text.
pub(super) struct Fields<'t> {
    text: &'t str,
    names: Names,
    found: Vec<Field>,
    /// Where the first line between the rulers begins, if there are rulers.
    front: Option<usize>,
    pub problems: Vec<Problem>,
}

impl<'t> Fields<'t> {
    /// Reads them.
    pub fn read(page: &Page<'t>, names: Names) -> Self {
        let mut fields =
            Self { text: page.text, names, found: Vec::new(), front: None, problems: Vec::new() };
        if page.has_front_matter() {
            fields.read_front(page);
        } else {
            if let Some(first) = page.lines.iter().find(|it| !it.text.trim().is_empty())
                && first.text.trim_end() == "---"
            {
                let message = "the front matter is never closed: put `---` on a line of its own behind it";
                fields.problems.push(Problem::new(first.number, message));
            }
            fields.read_labels(page);
        }
        fields
    }

    pub fn get(&self, name: &str) -> Option<&Field> {
        self.found.iter().find(|it| it.name == name)
    }

    /// A field of one value as text. Nothing, where it says nothing; a problem, where it is several.
    pub fn text_of(&mut self, name: &str) -> Option<String> {
        let field = self.found.iter().find(|it| it.name == name)?;
        match &field.node {
            Node::Scalar { .. } => {
                field.node.text().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty())
            }
            node => {
                let message = format!("`{name}` is one value, and this is {}", what(node));
                self.problems.push(Problem::new(field.line, message));
                None
            }
        }
    }

    /// A field of several values, each as text: a list, or what stands between commas.
    pub fn list_of(&mut self, name: &str) -> Vec<String> {
        let Some(field) = self.found.iter().find(|it| it.name == name) else { return Vec::new() };
        let mut found = Vec::new();
        let mut odd = Vec::new();
        match &field.node {
            node @ Node::Scalar { .. } => {
                let text = node.text().unwrap_or_default();
                // Without YAML, a list may be written like one.
                let text = text.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(text);
                found.extend(text.split(',').map(|it| it.trim().trim_matches(['"', '\'']).to_owned()));
            }
            Node::List { items, .. } => {
                for item in items {
                    match item {
                        Node::Scalar { .. } => found.push(item.text().unwrap_or_default().trim().to_owned()),
                        // `[[GAL-1]]`, as some write links.
                        Node::List { items, .. }
                            if items.len() == 1 && items.iter().all(|it| it.text().is_some()) =>
                        {
                            found.extend(items.iter().filter_map(|it| it.text().map(str::to_owned)));
                        }
                        other => odd.push(Problem::new(
                            other.line(),
                            format!("an entry of `{name}` is {}", what(other)),
                        )),
                    }
                }
            }
            node => {
                odd.push(Problem::new(field.line, format!("`{name}` is a list, and this is {}", what(node))));
            }
        }
        self.problems.append(&mut odd);
        found.retain(|it| !it.is_empty());
        found
    }

    fn known(&self, written: &str) -> Option<&'static str> {
        let plain = written.trim().to_lowercase().replace(['_', ' '], "-");
        let all = self.names.iter().find(|all| all.contains(&plain.as_str()))?;
        all.first().copied()
    }

    fn is_label(&self, line: &str) -> bool {
        markdown::label(line).is_some_and(|(it, _)| self.known(&it).is_some())
    }

    fn take(&mut self, field: Field) {
        if self.get(field.name).is_some() {
            let message = format!("`{}` is there twice: leave one", field.name);
            self.problems.push(Problem::new(field.line, message));
        } else {
            self.found.push(field);
        }
    }

    fn read_front(&mut self, page: &Page<'t>) {
        let inner: Vec<&Line<'t>> = page.lines.iter().filter(|it| it.part == Part::FrontMatter).collect();
        let opens = inner.iter().position(|it| it.text.trim_end() == "---").unwrap_or(0);
        let inner = inner.get(opens + 1..inner.len().saturating_sub(1)).unwrap_or_default();
        self.front = page.lines.iter().find(|it| it.text.trim_end() == "---").map(|it| it.next);
        let entries = match page.front_matter() {
            Some(Ok(Node::Map { entries, .. })) => entries,
            Some(Ok(node)) => {
                if !node.is_null() {
                    let message = format!("the front matter is {}, and no map of `key: value`", what(&node));
                    self.problems.push(Problem::new(node.line(), message));
                }
                Vec::new()
            }
            Some(Err(fault)) => self.loosely(inner, &fault),
            None => Vec::new(),
        };
        for (at, line) in inner.iter().enumerate() {
            let Some((key, behind)) = key_of(line.text) else { continue };
            let node = entries.iter().find(|(it, node)| it == key && node.line() >= line.number);
            let (Some((_, node)), Some(name)) = (node, self.known(key)) else { continue };
            let more = inner.iter().skip(at + 1).take_while(|it| key_of(it.text).is_none());
            let last = more.filter(|it| !is_gap(it.text)).last();
            let start = line.start + behind;
            let on_line = value_in(line.text.get(behind..).unwrap_or_default());
            let value = match last {
                Some(last) => start + on_line.start..last.start + last.text.trim_end().len(),
                None => start + on_line.start..start + on_line.end,
            };
            let next = last.map_or(line.next, |it| it.next);
            self.take(Field { name, line: line.number, node: node.clone(), value, next, label: None });
        }
        for (key, node) in &entries {
            if let Some(name) = self.known(key).filter(|it| self.get(it).is_none()) {
                let message = format!(
                    "`{name}` is not where it is looked for: write `{name}: ...` on a line of its own"
                );
                self.problems.push(Problem::new(node.line(), message));
            }
        }
    }

    /// Front matter that is no YAML, key by key. `title: Fix: it` and a list of `code` are none, and everybody knows what they
    /// say.
    fn loosely(&mut self, inner: &[&Line<'t>], fault: &yaml::Fault) -> Vec<(String, Node)> {
        let mut entries = Vec::new();
        let said =
            |line: usize| Problem::new(line, format!("the front matter cannot be read: {}", fault.message));
        let first = inner.iter().position(|it| key_of(it.text).is_some()).unwrap_or(inner.len());
        let before = inner.iter().take(first).find(|it| !is_gap(it.text));
        self.problems.extend(before.map(|it| said(it.number)));
        for (at, line) in inner.iter().enumerate() {
            let Some((key, behind)) = key_of(line.text) else { continue };
            let more = inner.iter().skip(at + 1).take_while(|it| key_of(it.text).is_none());
            let more: Vec<&&Line<'t>> = more.filter(|it| !is_gap(it.text)).collect();
            let own: Vec<&str> = std::iter::once(line.text).chain(more.iter().map(|it| it.text)).collect();
            let value = line.text.get(behind..).unwrap_or_default();
            let value = value.get(value_in(value)).unwrap_or_default();
            let scalar = |text: &str, line| Node::Scalar {
                text: text.trim().trim_matches(['"', '\'']).to_owned(),
                plain: false,
                line,
            };
            let items =
                || more.iter().map(|it| Some(scalar(it.text.trim_start().strip_prefix("- ")?, it.number)));
            let node = match yaml::read(&own.join("\n"), line.number - 1) {
                Ok(Node::Map { entries, .. }) if entries.len() == 1 => {
                    entries.into_iter().next().map(|it| it.1)
                }
                _ if more.is_empty() => Some(scalar(value, line.number)),
                _ => items()
                    .collect::<Option<Vec<_>>>()
                    .filter(|_| value.is_empty())
                    .map(|items| Node::List { items, line: line.number }),
            };
            match node {
                Some(node) => entries.push((key.to_owned(), node)),
                None => self.problems.push(said(line.number)),
            }
        }
        entries
    }

    fn read_labels(&mut self, page: &Page<'t>) {
        let head = page.lines.iter().take_while(|it| it.heading().is_none_or(|(level, _)| level == 1));
        let head: Vec<&Line<'t>> = head.filter(|it| it.is_body()).collect();
        for (at, line) in head.iter().enumerate() {
            let Some((label, value)) = markdown::label(line.text) else { continue };
            let Some(name) = self.known(&label) else { continue };
            // A list may stand below its name.
            let items = head.iter().skip(at + 1).map_while(|it| Some((*it, markdown::bullet(it.text)?)));
            let items: Vec<_> =
                items.filter(|_| value.is_empty()).take_while(|(it, _)| !self.is_label(it.text)).collect();
            let written = line.text.trim_end();
            let end = line.start + written.len();
            let value_at = end - value.len();
            // The name stands before the first colon.
            let colon = line.text.find(':').unwrap_or(0);
            let bare = line.text.get(..colon).unwrap_or_default();
            let from = bare.find(|it: char| it.is_alphanumeric()).unwrap_or(0);
            let to = bare.trim_end_matches(['*', '_', ' ', '`']).len().max(from);
            let value_text = value.trim_matches('`');
            let value_at = value_at + value.find(value_text).unwrap_or(0);
            let scalar = |text: &str, line| Node::Scalar { text: text.trim().to_owned(), plain: true, line };
            let node = match items.as_slice() {
                [] => scalar(value_text, line.number),
                some => Node::List {
                    items: some.iter().map(|(it, text)| scalar(text, it.number)).collect(),
                    line: line.number,
                },
            };
            let last = items.last().map(|(it, _)| *it);
            self.take(Field {
                name,
                line: line.number,
                node,
                value: value_at
                    ..last.map_or(value_at + value_text.len(), |it| it.start + it.text.trim_end().len()),
                next: last.unwrap_or(line).next,
                label: Some((line.start..end, line.start + from..line.start + to)),
            });
        }
    }

    /// The text with another value in a field: `value` as it is written in a text, `list` as one in brackets. One that is
    /// not there goes to where its place is among the others.
    pub fn set(&self, name: &'static str, value: &Written) -> String {
        match self.get(name) {
            Some(field) => {
                let old = self.text.get(field.value.clone()).unwrap_or_default();
                let new = value.spelled(old, field.label.is_some());
                let before = self.text.get(..field.value.start).unwrap_or_default();
                let apart =
                    if before.ends_with([' ', '\t', '*', '`', '_']) || new.is_empty() { "" } else { " " };
                replaced(self.text, field.value.clone(), &format!("{apart}{new}"))
            }
            None => self.add(name, value),
        }
    }

    fn add(&self, name: &'static str, value: &Written) -> String {
        let end = line_end(self.text);
        let place = |it: &str| self.names.iter().position(|all| all.first() == Some(&it));
        let before = self.found.iter().filter(|it| place(it.name) < place(name)).max_by_key(|it| it.next);
        match (self.front, self.found.iter().max_by_key(|it| it.next)) {
            (Some(front), _) => {
                let at = before.map_or(front, |it| it.next);
                replaced(self.text, at..at, &format!("{name}: {}{end}", value.spelled("", false)))
            }
            (None, Some(last)) => {
                let like = before.unwrap_or(last);
                let Some((line, written)) = &like.label else { return self.text.to_owned() };
                let part = |range: Range<usize>| self.text.get(range).unwrap_or_default();
                let between = part(written.end..like.value.start);
                let apart = if between.ends_with([' ', '\t', '`']) { "" } else { " " };
                let mut line = format!(
                    "{}{}{between}{apart}{}",
                    part(line.start..written.start),
                    titled(name),
                    value.spelled("", true)
                );
                // What stands before the line ends with one, unless it is the last.
                let is_open = self.text.get(..like.next).is_some_and(|it| !it.ends_with(['\n', '\r']));
                line = if is_open { format!("{end}{line}") } else { format!("{line}{end}") };
                replaced(self.text, like.next..like.next, &line)
            }
            (None, None) => {
                let start = if self.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
                let apart = if self.text.len() == start { "" } else { end };
                let front = format!("---{end}{name}: {}{end}---{end}{apart}", value.spelled("", false));
                replaced(self.text, start..start, &front)
            }
        }
    }

    /// Where the values of some fields are written.
    pub fn places<'s>(&'s self, names: &'s [&str]) -> impl Iterator<Item = Range<usize>> + 's {
        self.found.iter().filter(|it| names.contains(&it.name)).map(|it| it.value.clone())
    }
}

/// A text with a part of it replaced.
pub(super) fn replaced(text: &str, range: Range<usize>, with: &str) -> String {
    let (before, behind) =
        (text.get(..range.start).unwrap_or_default(), text.get(range.end..).unwrap_or_default());
    format!("{before}{with}{behind}")
}

/// Whether a line says nothing.
fn is_gap(line: &str) -> bool {
    let bare = line.trim_start();
    bare.is_empty() || bare.starts_with('#')
}

/// The key of a line that is not indented, and where what it says begins.
fn key_of(line: &str) -> Option<(&str, usize)> {
    let (key, behind) = line.split_once(':')?;
    let bare = key.trim_end();
    let is_key = bare.starts_with(|it: char| it.is_ascii_alphabetic())
        && bare.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b' '));
    (is_key && (behind.is_empty() || behind.starts_with([' ', '\t']))).then_some((bare, key.len() + 1))
}

/// Where the value is in what stands behind a key: without spaces around it and a comment behind it.
fn value_in(behind: &str) -> Range<usize> {
    let start = behind.len() - behind.trim_start().len();
    let rest = behind.get(start..).unwrap_or_default();
    let quote = rest.chars().next().filter(|it| matches!(it, '"' | '\''));
    let closed = quote.and_then(|it| closing(rest, it));
    let length = closed.unwrap_or_else(|| {
        let cut = if rest.starts_with('#') {
            0
        } else {
            rest.find(" #").or_else(|| rest.find("\t#")).unwrap_or(rest.len())
        };
        rest.get(..cut).unwrap_or_default().trim_end().len()
    });
    // An empty value stands right behind the colon, so that what is behind it stays where it is.
    if length == 0 { 0..0 } else { start..start + length }
}

/// Where a quoted text ends, its quotes included.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, it)) = letters.next() {
        if it == '\\' && quote == '"' {
            letters.next();
        } else if it == quote {
            if quote == '\'' && letters.peek().is_some_and(|(_, it)| *it == '\'') {
                letters.next();
            } else {
                return Some(at + 1);
            }
        }
    }
    None
}

/// What something is, in words.
fn what(node: &Node) -> &'static str {
    match node {
        Node::Scalar { .. } => "one value",
        Node::List { .. } => "a list",
        Node::Map { .. } => "a map",
        Node::Alias { .. } => "a reference",
    }
}
