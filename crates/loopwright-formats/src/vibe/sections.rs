//! The `## ` sections of a file, by title.

use indexmap::IndexMap;

use super::text::{self, Ends, Line};

/// A section: its heading, and the lines below it up to the next heading of its kind.
pub(crate) struct Section<'a> {
    /// The line of its first heading.
    pub heading: Line<'a>,
    /// The lines below its first heading.
    pub own: usize,
    /// All of its lines. Sections of the very same title are one.
    pub lines: Vec<Line<'a>>,
}

/// The title, if a line is the heading of a section: exactly two hashes, a blank and a title.
pub(crate) fn title(line: &str) -> Option<&str> {
    let rest = text::trim_start(line).strip_prefix("##")?;
    text::after_blanks(rest).map(text::trim_end).filter(|title| !title.is_empty())
}

/// All sections, in the order of their first headings.
pub(crate) struct Sections<'a>(IndexMap<&'a str, Section<'a>>);

impl<'a> Sections<'a> {
    /// Reads the sections of a file.
    pub fn read(text: &'a str) -> Self {
        let mut sections: IndexMap<&str, Section> = IndexMap::new();
        let mut open: Option<(usize, bool)> = None;
        for line in text::places(text, Ends::All) {
            if let Some(title) = title(line.text) {
                let entry = sections.entry(title);
                let at = entry.index();
                let mut first = false;
                entry.or_insert_with(|| {
                    first = true;
                    Section { heading: line, own: 0, lines: Vec::new() }
                });
                open = Some((at, first));
            } else if let Some((at, first)) = open
                && let Some((_, section)) = sections.get_index_mut(at)
            {
                section.own += usize::from(first);
                section.lines.push(line);
            }
        }
        Self(sections)
    }

    /// The section of a title, whatever the case it is written in. Of several spellings the first is taken.
    pub fn get(&self, wanted: &str) -> Option<&Section<'a>> {
        let wanted = wanted.to_lowercase();
        self.0.iter().find(|(title, _)| title.to_lowercase() == wanted).map(|(_, section)| section)
    }

    /// All sections with their titles.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &Section<'a>)> {
        self.0.iter().map(|(title, section)| (*title, section))
    }

    /// The lines of a section, none if it is not there.
    pub fn lines(&self, wanted: &str) -> &[Line<'a>] {
        self.get(wanted).map_or(&[], |section| section.lines.as_slice())
    }
}

/// Words that stand for nothing, where people wrote that there is nothing.
pub(crate) fn is_nothing(text: &str) -> bool {
    matches!(text::trim(text).to_lowercase().as_str(), "none" | "none." | "(none)" | "(none yet)")
}
