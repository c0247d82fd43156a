//! How a document is read and changed: as a general format, or as one of a system that people come from.

use loopwright_core::fact::Type;
use serde_json::Value;

use super::vibe::Vibe;
use super::{Fault, Format, text_of};

/// A reader of the library that there is code for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A general one.
    General(Format),
    /// One file of a `.vibe` folder.
    Vibe(Vibe),
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
        Format::named(name).map(Self::General).or_else(|| Vibe::named(name).map(Self::Vibe))
    }

    /// The text of a file's bytes. Formats of others say themselves what becomes of bytes that are none.
    pub fn text(self, bytes: &[u8]) -> Result<String, Fault> {
        match self {
            Self::General(_) => text_of(bytes).map(str::to_owned),
            Self::Vibe(_) => Ok(loopwright_formats::vibe::text::decode(bytes)),
        }
    }

    /// What it gives of a text, seen through a shape.
    pub fn value(self, text: &str, shape: &Type, about: &About) -> Result<Value, Vec<Fault>> {
        match self {
            Self::General(format) => format.read(text)?.shaped(shape),
            Self::Vibe(file) => Ok(file.value(text, about)),
        }
    }

    /// What a field holds. `None`: it is not there.
    pub fn get(self, text: &str, field: &str) -> Result<Option<Value>, Vec<Fault>> {
        match self {
            Self::General(format) => Ok(format.read(text)?.get(field)),
            Self::Vibe(file) => Ok(file.get(text, field)),
        }
    }

    /// The line a field stands in, from 1, where that is known.
    pub fn line(self, text: &str, field: &str) -> Option<usize> {
        match self {
            Self::General(format) => format.read(text).ok()?.line(field),
            Self::Vibe(_) => None,
        }
    }

    /// The text with another value in one field, and all else as it was.
    pub fn set(self, text: &str, field: &str, value: &Value, about: &About) -> Result<String, Fault> {
        match self {
            Self::General(format) => format.set(text, field, value),
            Self::Vibe(file) => {
                file.set(text, field, value, about).map_err(|why| Fault::at(text, 0, why).of(field))
            }
        }
    }

    /// The text with one more entry in a field.
    pub fn append(self, text: &str, field: &str, value: &Value) -> Result<String, Fault> {
        match self {
            Self::General(format) => format.append(text, field, value),
            Self::Vibe(_) => Err(Fault::at(text, 0, "nothing can be added to this").of(field)),
        }
    }

    /// A document of which nothing is known yet.
    pub fn blank(self) -> &'static str {
        match self {
            Self::General(Format::Json) | Self::Vibe(Vibe::LoopResult) => "{}\n",
            _ => "",
        }
    }
}
