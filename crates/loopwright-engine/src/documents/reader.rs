//! How a document is read and changed: as a general format, or as one of a system that people come from.

use loopwright_core::fact::Type;
use serde_json::Value;

use super::agentd::Agentd;
use super::feature::Feature;
use super::team::Team;
use super::todo::Todo;
use super::vibe::Vibe;
use super::{Fault, Format, text_of};

/// A reader of the library that there is code for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A general one.
    General(Format),
    /// One file of a `.vibe` folder.
    Vibe(Vibe),
    /// Files of a change below `agentd/`.
    Agentd(Agentd),
    /// Files of a team's session.
    Team(Team),
    /// Issues of a `TODO` folder, and the tasks they are split into.
    Todo(Todo),
    /// The record of a feature, and its history of reviews.
    Feature(Feature),
}

/// What a new document of several files is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// By its key.
    ByKey,
    /// By a number that no other has that the run made.
    OfRun,
    /// By a number that nobody takes in any worktree or branch of the repository.
    Shared,
}

/// A file of a document.
#[derive(Clone, Debug)]
pub struct Page {
    /// Where it is, from the root.
    pub path: String,
    /// What it says.
    pub text: String,
    /// Whether somebody just wrote it.
    pub is_new: bool,
}

/// What a reader is told besides the text.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The parameters of the document. A document among them is all it gives, with `modified` besides.
    pub with: Value,
    /// When the file was last written, in seconds since 1970.
    pub modified: Option<f64>,
}

impl Reader {
    /// The reader of that name.
    pub fn named(name: &str) -> Option<Self> {
        let general = Format::named(name).map(Self::General);
        let special = || Vibe::named(name).map(Self::Vibe).or_else(|| Agentd::named(name).map(Self::Agentd));
        let later = || Team::named(name).map(Self::Team).or_else(|| Todo::named(name).map(Self::Todo));
        let last = || Feature::named(name).map(Self::Feature);
        general.or_else(special).or_else(later).or_else(last)
    }

    /// The text of a file's bytes. Formats of others say themselves what becomes of bytes that are none.
    pub fn text(self, bytes: &[u8]) -> Result<String, Fault> {
        match self {
            Self::Vibe(_) => Ok(loopwright_formats::vibe::text::decode(bytes)),
            _ => text_of(bytes).map(str::to_owned),
        }
    }

    /// What it gives of the files of a document, seen through a shape. Most documents are one file.
    pub fn value(self, pages: &[Page], shape: &Type, about: &About) -> Result<Value, Vec<Fault>> {
        let text = pages.first().map(|it| it.text.as_str()).unwrap_or_default();
        match self {
            Self::General(format) => format.read(text)?.shaped(shape),
            Self::Vibe(file) => Ok(file.value(text, about)),
            Self::Agentd(file) => file.value(pages, about).map_err(|it| vec![it]),
            Self::Team(file) => file.value(text),
            Self::Todo(file) => file.value(pages),
            Self::Feature(file) => file.value(text, about),
        }
    }

    /// What keeps a file that a call was to bring from being one of this kind, in words. Others are read as they are.
    pub fn lacks(self, page: &Page, about: &About) -> Option<String> {
        match self {
            Self::General(_) | Self::Vibe(_) => None,
            Self::Agentd(file) => file.lacks(page, about),
            Self::Team(file) => file.lacks(page),
            Self::Todo(file) => file.lacks(page),
            Self::Feature(file) => file.lacks(page),
        }
    }

    /// What keeps the files of a document that a call was to bring from being one together, in words.
    pub fn lack_together(self, pages: &[Page]) -> Option<String> {
        match self {
            Self::Todo(file) => file.lack_together(pages),
            _ => None,
        }
    }

    /// What of an entry makes it what it is: the same work for as long as this is the same.
    pub fn means(self, entry: &Value) -> Value {
        match self {
            // A box that is ticked is the same.
            Self::General(Format::Checklist) => match entry.clone() {
                Value::Object(mut fields) => {
                    fields.remove("checked");
                    fields.into()
                }
                other => other,
            },
            Self::Agentd(file) => file.means(entry),
            _ => entry.clone(),
        }
    }

    /// What a field holds. `None`: it is not there.
    pub fn get(self, text: &str, field: &str) -> Result<Option<Value>, Vec<Fault>> {
        self.get_with(text, field, &About::default())
    }

    /// The same, where it depends on what the reader is told besides.
    pub fn get_with(self, text: &str, field: &str, about: &About) -> Result<Option<Value>, Vec<Fault>> {
        match self {
            Self::General(format) => Ok(format.read(text)?.get(field)),
            Self::Vibe(file) => Ok(file.get(text, field)),
            Self::Agentd(file) => file.get(text, field).map_err(|it| vec![it]),
            Self::Team(file) => file.get(text, field),
            Self::Todo(file) => file.get(text, field),
            Self::Feature(file) => file.get(text, field, about),
        }
    }

    /// Whether a field shows a value, where that is another question than what it holds.
    pub fn shows(self, text: &str, field: &str, value: &Value) -> Option<bool> {
        match self {
            Self::Agentd(file) => file.shows(text, field, value),
            Self::Team(file) => file.shows(text, field, value),
            _ => None,
        }
    }

    /// The line a field stands in, from 1, where that is known.
    pub fn line(self, text: &str, field: &str) -> Option<usize> {
        match self {
            Self::General(format) => format.read(text).ok()?.line(field),
            Self::Vibe(_) => None,
            Self::Agentd(file) => file.line(text, field),
            Self::Team(file) => file.line(text, field),
            Self::Todo(file) => file.line(text, field),
            Self::Feature(file) => file.line(text, field),
        }
    }

    /// The text with another value in one field, and all else as it was.
    pub fn set(self, text: &str, field: &str, value: &Value, about: &About) -> Result<String, Fault> {
        match self {
            Self::General(format) => format.set(text, field, value),
            Self::Vibe(file) => {
                file.set(text, field, value, about).map_err(|why| Fault::at(text, 0, why).of(field))
            }
            Self::Agentd(file) => file.set(text, field, value, about),
            Self::Team(file) => file.set(text, field, value, about),
            Self::Todo(file) => file.set(text, field, value),
            Self::Feature(file) => file.set(text, field, value, about),
        }
    }

    /// The text with one more entry in a field.
    pub fn append(self, text: &str, field: &str, value: &Value) -> Result<String, Fault> {
        match self {
            Self::General(format) => format.append(text, field, value),
            Self::Todo(file) => file.append(text, field, value),
            Self::Feature(file) => file.append(text, field, value),
            Self::Vibe(_) | Self::Agentd(_) | Self::Team(_) => {
                Err(Fault::at(text, 0, "nothing can be added to this").of(field))
            }
        }
    }

    /// An entry as it stands in a field once it was added.
    pub fn entry(self, field: &str, value: &Value) -> Value {
        match (self, value) {
            // A line of `json-lines` is what the line says.
            (Self::General(Format::JsonLines), Value::String(line)) => {
                serde_json::from_str(line).unwrap_or_else(|_| value.clone())
            }
            (Self::Todo(file), _) => file.entry(field, value),
            (Self::Feature(file), _) => file.entry(value),
            _ => value.clone(),
        }
    }

    /// What new documents are called.
    pub fn numbering(self) -> Numbering {
        if let Self::Todo(file) = self { file.numbering() } else { Numbering::ByKey }
    }

    /// A new document that knows its own name.
    pub fn called(self, text: &str, name: &str) -> Result<String, Fault> {
        if let Self::Todo(file) = self { file.called(text, name) } else { Ok(text.to_owned()) }
    }

    /// Whether a field names other documents of the same kind.
    pub fn refers(self, field: &str) -> bool {
        matches!(self, Self::Todo(file) if file.refers(field))
    }

    /// Whether a document of this kind may be called so.
    pub fn is_name(self, name: &str) -> bool {
        matches!(self, Self::Todo(file) if file.is_name(name))
    }

    /// Other files that speak of one of this kind, as they have to be once it is what it is `now`; nothing for `before` is a
    /// file that is new, and nothing for `now` one that is gone.
    pub fn beside<E>(
        self,
        path: &str,
        change: (Option<&str>, Option<&str>),
        read: impl FnMut(&str) -> Result<Option<String>, E>,
    ) -> Result<Vec<(String, String)>, E> {
        if let Self::Todo(file) = self { file.beside(path, change, read) } else { Ok(Vec::new()) }
    }

    /// A document of which nothing is known yet.
    pub fn blank(self) -> &'static str {
        match self {
            Self::General(Format::Json) | Self::Vibe(Vibe::LoopResult) => "{}\n",
            Self::Team(file) => file.blank(),
            Self::Feature(file) => file.blank(),
            _ => "",
        }
    }
}
