//! Sets of files, written as globs: may two of them overlap, is one inside the other?
//!
//! A workflow gives each document its files and each role the documents it may write. Whether a judge's document can be
//! touched by a repair, or two items by each other, has to be known before any file exists, so the patterns themselves
//! are compared. Each becomes a small automaton over the letters of a path; two sets overlap when the automata of an
//! include on each side reach their ends on a common path that no exclude takes away. The search runs over pairs of
//! states, each visited once, so many stars cost no more than the product of the lengths; what excludes add is bounded,
//! and past the bound the answer is the careful one.
//!
//! `{{...}}` is a text nobody knows yet, not empty and without `/`. The same template at the same place (same segment
//! from the start, same text before it, no `**` before it) is the same text on both sides. A path carries marks where
//! such a text begins and ends; patterns that have the template must read it between the marks, others ignore them.

mod machine;
mod pattern;

use self::machine::{Machine, Outcome, Reading, Role};
use self::pattern::{Pattern, Piece};

/// How much comparing with excludes may take, in states visited.
const EFFORT: usize = 20_000;
/// The most letters and wildcards of a set. It bounds what comparing without excludes takes.
const MOST_PIECES: usize = 2048;

/// Where a repository says who does the work and how it is checked. Files in it belong to a set only if one of its patterns
/// begins with this.
pub const OWN: &str = ".loopwright/";

/// Whether a pattern names [`OWN`]; `None` if it does not, and may take files below it all the same.
fn names_own(pattern: &Pattern) -> Option<bool> {
    let differs = OWN.chars().zip(pattern).find(|(letter, piece)| **piece != Piece::Char(*letter));
    match differs {
        None => Some(pattern.len() > OWN.len()),
        Some((_, Piece::Char(_))) => Some(false),
        Some(_) => None,
    }
}

/// Files that match one of the includes and none of the excludes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSet {
    includes: Vec<Pattern>,
    excludes: Vec<Pattern>,
}

/// Whether one of several patterns names [`OWN`].
fn any_names_own(includes: &[Pattern]) -> bool {
    includes.iter().any(|it| names_own(it) == Some(true))
}

/// A pattern that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}`: {message}")]
pub struct PathFault {
    /// Which of the patterns, counted from zero.
    pub index: usize,
    /// The pattern as it was given.
    pub pattern: String,
    /// What is wrong with it.
    pub message: String,
}

/// Whether part of a pattern is only known when a run starts.
fn has_template(pattern: &[Piece]) -> bool {
    pattern.iter().any(|it| matches!(it, Piece::Template(_)))
}

/// Whether excludes take away a pattern: in the same words, or a folder that all of it is in.
fn leaves_out(excludes: &[Pattern], pattern: &Pattern) -> bool {
    let everything = [Piece::Deep, Piece::One, Piece::Many];
    excludes.iter().any(|exclude| {
        let folder = exclude.strip_suffix(&everything).filter(|it| it.last() == Some(&Piece::Char('/')));
        let plain = |it: &[Piece]| it.iter().all(|it| matches!(it, Piece::Char(_)));
        folder.is_some_and(|it| plain(it) && pattern.len() > it.len() && pattern.starts_with(it))
            || !has_template(pattern) && exclude == pattern
    })
}

/// Whether two patterns have another letter at the same place, with nothing but letters before it.
fn differ<'p>(mut pairs: impl Iterator<Item = (&'p Piece, &'p Piece)>) -> bool {
    let first = pairs.find(|pair| pair.0 != pair.1 || !matches!(pair.0, Piece::Char(_)));
    matches!(first, Some((Piece::Char(_), Piece::Char(_))))
}

impl FileSet {
    /// Reads patterns; those with a `!` in front are excludes, wherever they stand. No patterns are no files.
    pub fn parse(patterns: &[&str]) -> Result<Self, PathFault> {
        let (mut includes, mut excludes, mut size) = (Vec::new(), Vec::new(), 0);
        for (index, written) in patterns.iter().enumerate() {
            let fault = |message: String| PathFault { index, pattern: (*written).to_owned(), message };
            let (kept, list) = match written.strip_prefix('!') {
                Some(rest) => (rest, &mut excludes),
                None => (*written, &mut includes),
            };
            let read = pattern::read(kept).map_err(fault)?;
            size += read.iter().map(Vec::len).sum::<usize>();
            if size > MOST_PIECES {
                return Err(fault("the patterns of this set are too long together".to_owned()));
            }
            list.extend(read);
        }
        if includes.iter().any(|it| names_own(it).is_none()) && !any_names_own(&includes) {
            excludes.extend(pattern::read(&format!("{OWN}**")).unwrap_or_default());
        }
        match (includes.is_empty(), patterns.first()) {
            (true, Some(first)) => {
                let message = "only excludes: start with what is included, such as `**`".to_owned();
                Err(PathFault { index: 0, pattern: (*first).to_owned(), message })
            }
            _ => Ok(Self { includes, excludes }),
        }
    }

    /// Whether it names [`OWN`], or something in it.
    pub fn names_own(&self) -> bool {
        any_names_own(&self.includes)
    }

    /// Whether some path is in both; true unless it is certain that none is.
    pub fn may_overlap(&self, other: &Self) -> bool {
        let mut effort = EFFORT;
        self.includes.iter().any(|one| {
            other.includes.iter().any(|two| {
                // What one side includes and the other plainly leaves out needs no search.
                if leaves_out(&other.excludes, one) || leaves_out(&self.excludes, two) {
                    return false;
                }
                if differ(one.iter().zip(two)) || differ(one.iter().rev().zip(two.iter().rev())) {
                    return false;
                }
                // Without excludes first: that is cheap and mostly the end of it.
                let Some(left_over) = effort.checked_sub(one.len() + two.len()) else { return true };
                effort = left_over;
                let mut machine = Machine::default();
                let pair = [one, two].map(|pattern| machine.add(pattern, Reading::Possible));
                if machine.search(pair[0], Some(pair[1]), &[], &mut effort) == Outcome::None {
                    return false;
                }
                let excludes = self.excludes.iter().chain(&other.excludes);
                let beside: Vec<_> =
                    excludes.map(|it| (machine.add(it, Reading::Certain), Role::Exclude)).collect();
                beside.is_empty()
                    || machine.search(pair[0], Some(pair[1]), &beside, &mut effort) != Outcome::None
            })
        })
    }

    /// Whether every path of this set is in the other; true only when that is certain.
    pub fn surely_within(&self, other: &Self) -> bool {
        let mut effort = EFFORT;
        self.includes.iter().all(|include| {
            let mut machine = Machine::default();
            let start = machine.add(include, Reading::Possible);
            let beside: Vec<_> = [
                (&self.excludes, Reading::Certain, Role::Exclude),
                (&other.includes, Reading::Certain, Role::Within),
                (&other.excludes, Reading::Possible, Role::Outside),
            ]
            .into_iter()
            .flat_map(|(patterns, reading, role)| patterns.iter().map(move |it| (it, reading, role)))
            .map(|(pattern, reading, role)| (machine.add(pattern, reading), role))
            .collect();
            machine.search(start, None, &beside, &mut effort) == Outcome::None
        })
    }

    /// Whether a path, relative to the root and written with `/`, is in the set. A template takes any text here; put its
    /// value into the pattern first where it is known.
    pub fn matches(&self, path: &str) -> bool {
        let path = path.strip_prefix("./").unwrap_or(path);
        if path.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
            return false;
        }
        let takes = |patterns: &[Pattern]| patterns.iter().any(|pattern| machine::takes(pattern, path));
        takes(&self.includes) && !takes(&self.excludes)
    }

    /// The templates in its patterns, written without braces.
    pub fn templates(&self) -> impl Iterator<Item = &str> {
        self.includes.iter().chain(&self.excludes).flatten().filter_map(|it| match it {
            Piece::Template(found) => Some(&*found.name),
            _ => None,
        })
    }

    /// Whether every include contains this template, written without braces: `item.id`.
    pub fn mentions(&self, template: &str) -> bool {
        let mentioned = |it: &Piece| matches!(it, Piece::Template(found) if found.name == template);
        self.includes.iter().all(|pattern| pattern.iter().any(mentioned))
    }
}
