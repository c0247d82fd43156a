//! Documents: what the general readers of the library understand of a file, and changes to one field of it.
//!
//! A file belongs to the people and agents who write it; the engine sets a word in it and leaves the rest alone. So a
//! change is made by span: every byte outside of the value that is changed stays, be it a comment, the order of keys,
//! a line end or a byte order mark. Setting a field to what it is changes nothing. Whatever came out is read again, and
//! refused if anything else reads differently. A place that cannot be changed safely is refused with a reason.
//!
//! **Invariant:** text in, value or text out. Nothing here knows a file; whoever does replaces it as a whole.
//!
//! Each format is read into one kind of tree (`tree`), which knows where everything stands; `path` follows dotted fields
//! in it, the formats say by which splices (`splice`) a value is replaced or added, and `guard` has the last word.

mod agentd;
mod change;
mod fault;
mod feature;
mod guard;
mod json;
mod lines;
pub(crate) mod markdown;
mod markdown_edit;
mod path;
mod reader;
mod shape;
mod splice;
mod team;
mod todo;
mod toml;
mod tree;
mod vibe;
mod yaml;

use loopwright_core::fact::Type;
use serde_json::Value;

pub use self::agentd::Agentd;
pub use self::fault::Fault;
pub use self::feature::Feature;
pub use self::reader::{About, Numbering, Page, Reader};
pub use self::shape::{Misfit, misfits};
pub use self::team::Team;
pub use self::todo::Todo;
pub use self::vibe::Vibe;

use self::path::Step;
use self::tree::{Held, Node};

/// A text larger than this is not read.
pub const MOST_BYTES: usize = 16 << 20;

/// A general reader of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `text`: the whole file.
    Text,
    /// `lines`: one entry a line.
    Lines,
    /// `json`.
    Json,
    /// `json-lines`: one JSON value a line.
    JsonLines,
    /// `yaml`.
    Yaml,
    /// `toml`.
    Toml,
    /// `markdown`: front matter, headings, sections.
    Markdown,
    /// `checklist`: check boxes in Markdown.
    Checklist,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Text,
        Self::Lines,
        Self::Json,
        Self::JsonLines,
        Self::Yaml,
        Self::Toml,
        Self::Markdown,
        Self::Checklist,
    ];

    /// The name of its reader in the library.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Lines => "lines",
            Self::Json => "json",
            Self::JsonLines => "json-lines",
            Self::Yaml => "yaml",
            Self::Toml => "toml",
            Self::Markdown => "markdown",
            Self::Checklist => "checklist",
        }
    }

    /// The format a reader of the library understands, if it is a general one.
    pub fn named(reader: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == reader)
    }

    /// Reads a text, or says everything that is wrong with it.
    pub fn read(self, text: &str) -> Result<Document<'_>, Vec<Fault>> {
        self.tree(text).map(|root| Document { text, root })
    }

    /// The text with another value in one field, and all else as it was. A field that is not there is added at the end
    /// of its map, with the maps it needs; in Markdown, a section at the end of the text.
    ///
    /// `field` is a dotted path of what the reader gives: `flags.done`, `items.2.checked`, `front.status`,
    /// `sections.Goals and non-goals`.
    pub fn set(self, text: &str, field: &str, value: &Value) -> Result<String, Fault> {
        change::set(self, text, field, value)
    }

    /// The text with one more entry at the end of a list, line at the end of a section, or item of a checklist. A list
    /// that is not there is made.
    pub fn append(self, text: &str, field: &str, value: &Value) -> Result<String, Fault> {
        change::append(self, text, field, value)
    }

    fn tree(self, text: &str) -> Result<Node, Vec<Fault>> {
        if text.len() > MOST_BYTES {
            let message = format!("this is larger than {} MiB, and no document is", MOST_BYTES >> 20);
            return Err(vec![Fault::at(text, 0, message).helped("is it the right file?")]);
        }
        // A byte order mark is no part of the text, but of the file that places are counted in.
        let plain = text.strip_prefix('\u{feff}').unwrap_or(text);
        let base = text.len() - plain.len();
        match self {
            Self::Text => Ok(lines::fields(text.len(), [("text", lines::whole(text))])),
            Self::Lines => Ok(lines::parse_lines(text)),
            Self::Json => json::parse(text, plain, base),
            Self::JsonLines => lines::parse_json_lines(text),
            Self::Yaml => yaml::parse(text, plain, base),
            Self::Toml => toml::parse(text),
            Self::Markdown => markdown::parse_markdown(text),
            Self::Checklist => Ok(markdown::parse_checklist(text)),
        }
    }
}

/// The text of a file's bytes, or where they are none.
pub fn text_of(bytes: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(bytes).map_err(|error| {
        let good = bytes.get(..error.valid_up_to()).map(String::from_utf8_lossy).unwrap_or_default();
        Fault::at(&good, good.len(), "this is not text: it is not UTF-8").helped("save the file as UTF-8")
    })
}

/// Where a line of a text begins; lines are counted from 1.
fn text_at(text: &str, line: usize) -> usize {
    text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum()
}

/// A text that has been read.
#[derive(Clone, Debug)]
pub struct Document<'t> {
    text: &'t str,
    root: Node,
}

impl Document<'_> {
    /// What the reader gives.
    pub fn value(&self) -> Value {
        self.root.value()
    }

    /// What a field holds. `None`: it is not there.
    pub fn get(&self, field: &str) -> Option<Value> {
        let found = path::locate(&self.root, field).ok().filter(|it| it.missing.is_empty())?;
        found.last().map(Node::value)
    }

    /// The line a field stands in, from 1.
    pub fn line(&self, field: &str) -> Option<usize> {
        let found = path::locate(&self.root, field).ok().filter(|it| it.missing.is_empty())?;
        found.last().map(|it| Fault::at(self.text, it.bytes.start, "").line)
    }

    /// The line in which all of it begins.
    fn begins(&self) -> usize {
        Fault::at(self.text, self.root.bytes.start, "").line
    }

    /// What the reader gives, seen through a shape: fields the shape does not name are left out, fields that may be
    /// null are null when they are not there. Every field that does not fit is a fault.
    pub fn shaped(&self, shape: &Type) -> Result<Value, Vec<Fault>> {
        let value = shape::shaped(shape, self.value());
        let faults: Vec<Fault> = misfits(shape, &value).iter().map(|it| self.fault(it)).collect();
        if faults.is_empty() { Ok(value) } else { Err(faults) }
    }

    /// The headings of a `markdown` text that should be there and are not, each as a fault.
    pub fn lacking<'h>(&self, has: impl IntoIterator<Item = &'h str>) -> Vec<Fault> {
        let headings = self.root.get("headings").map(Node::items).unwrap_or_default();
        let there = |title: &str| headings.iter().any(|it| it.value().as_str() == Some(title));
        let fault = |title: &str| {
            let fault = Fault::at(self.text, self.text.len(), format!("there is no heading `{title}`"));
            fault.of("headings").helped(format!("add a line `## {title}` with what belongs there"))
        };
        has.into_iter().filter(|it| !there(it)).map(fault).collect()
    }

    /// A misfit where it stands; what is missing stands where the map begins that lacks it.
    fn fault(&self, misfit: &Misfit) -> Fault {
        let mut at = self.root.bytes.start;
        let mut node = &self.root;
        for step in &misfit.steps {
            let next = match (step, &node.held) {
                (Step::Key(key), Held::Map(_)) => node.get(key),
                (Step::Index(place), Held::List(items)) => items.get(*place),
                _ => None,
            };
            let Some(next) = next else { break };
            (node, at) = (next, next.bytes.start);
        }
        let fault = Fault::at(self.text, at, misfit.message());
        let fault = if misfit.field.is_empty() { fault } else { fault.of(&misfit.field) };
        match misfit.help() {
            Some(help) => fault.helped(help),
            None => fault,
        }
    }
}
