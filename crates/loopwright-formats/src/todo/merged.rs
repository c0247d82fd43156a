//! The list of all issues, where a merge left it undecided.

use std::collections::HashSet;

use super::conflict::{resolved, sides};
use super::readme::{Readme, with_entry};
use super::{Status, words};
use crate::agentd::markdown;

/// What is known of an issue: its title, and how far it is.
pub type Known<'k> = dyn Fn(&str) -> Option<(&'k str, Status)> + 'k;

/// A list that has what either side of a merge lists, each below its heading. Nothing, where a side says anything else, or
/// lists what nobody knows.
pub fn merged_readme(text: &str, known: &Known<'_>) -> Option<String> {
    if let Some(whole) = resolved(text) {
        return Some(whole);
    }
    if !undecided(text).all(is_of_list) {
        return None;
    }
    let (mut whole, theirs) = sides(text)?;
    let ours = Readme::read(&whole);
    let listed: HashSet<String> = ours.entries().map(|it| it.id.clone()).collect();
    let has = |name: &str| ours.categories.iter().any(|it| it.name.to_lowercase() == name.to_lowercase());
    for category in Readme::read(&theirs).categories {
        let name = Some(category.name.as_str()).filter(|it| !it.is_empty());
        let more: Vec<_> = category.entries.iter().filter(|it| !listed.contains(&it.id)).collect();
        // A heading is somebody's, also while nothing stands below it.
        if more.is_empty() && name.is_some_and(|it| !has(it)) {
            return None;
        }
        for entry in more {
            let (title, status) = known(&entry.id)?;
            whole = with_entry(&whole, name, (&entry.id, title), status);
        }
    }
    Some(whole)
}

/// The lines of either side that a merge could not make one of.
fn undecided(text: &str) -> impl Iterator<Item = &str> {
    let mut within = false;
    text.lines().filter(move |line| {
        let starts =
            |sign: &str| line.strip_prefix(sign).is_some_and(|it| it.is_empty() || it.starts_with(' '));
        let is_sign = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"].iter().any(|it| starts(it));
        within = (within || starts("<<<<<<<")) && !starts(">>>>>>>");
        within && !is_sign
    })
}

/// Whether a line is what a list of issues is made of: an entry, a heading, or nothing.
fn is_of_list(line: &str) -> bool {
    let names_one = || markdown::bullet(line).is_some_and(|it| !words::ids_in(it).is_empty());
    line.trim().is_empty() || markdown::heading(line).is_some() || names_one()
}
