//! Flags of the workflow: a box each, below `## Workflow state`.

use std::ops::Range;

use super::sections::{self, Section};
use super::text::{self, Line};

/// How a flag is written.
#[derive(Clone, Debug)]
pub(crate) enum Written {
    /// A box, and what is between its brackets.
    Marked(Range<usize>),
    /// A bullet without a box, or with one that means nothing, and where its text begins.
    Plain(usize),
}

/// A line that is a flag.
#[derive(Clone, Debug)]
pub(crate) struct Flag {
    /// Its name in normal form.
    pub name: String,
    /// Whether it is set.
    pub set: bool,
    /// How it is written.
    pub written: Written,
}

/// The flags of a section, in the order they are written. Of several with one name, the last counts.
pub(crate) fn read(section: Option<&Section<'_>>) -> Vec<Flag> {
    section.map_or_else(Vec::new, |it| it.lines.iter().filter_map(flag).collect())
}

/// A name in capitals, with underscores for whatever is no letter or digit.
pub(crate) fn normal_name(written: &str) -> String {
    let words: Vec<&str> =
        written.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty()).collect();
    words.join("_").to_ascii_uppercase()
}

fn flag(line: &Line<'_>) -> Option<Flag> {
    let behind = text::trim_start(line.text).strip_prefix('-')?;
    let inside = text::trim(behind);
    if let Some((mark, rest)) = inside.strip_prefix('[').and_then(|it| it.split_once(']')) {
        let set = match text::trim(mark) {
            // In the original an empty box makes it a plain bullet, and that a set flag. Nobody means that.
            "" => Some(false),
            "x" | "X" => Some(true),
            _ => None,
        };
        let name = normal_name(rest);
        if let Some(set) = set {
            return (!name.is_empty()).then(|| Flag {
                name,
                set,
                written: Written::Marked(line.place(mark)),
            });
        }
    }
    let name = normal_name(inside);
    let is_item = behind.starts_with(text::is_blank) && !name.is_empty() && !sections::is_nothing(inside);
    is_item.then(|| Flag { name, set: true, written: Written::Plain(line.place(inside).start) })
}
