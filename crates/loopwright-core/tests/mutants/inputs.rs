//! Operators on what calls are given and what they leave behind.

use crate::file::{Machine, rows};
use crate::operators::Maker;
use crate::tree::{Part, Tree, join, key};

/// A call that no longer has to leave a document behind.
pub(crate) fn drop_produces(machine: &Machine<'_>, maker: &mut Maker<'_>) {
    for (name, state) in machine.states() {
        let mut place = machine.place_of("states", name);
        if state.get("each").is_some() {
            place = join(&place, &[key("each"), key("run")]);
        }
        for (place, row, words) in rows(machine.tree, &join(&place, &[key("produces")])) {
            for word in &words {
                let rest: Vec<Tree> =
                    words.iter().filter(|it| *it != word).map(|it| Tree::word(it)).collect();
                maker.make("drop-produces", format!("{}{name}{row} {word}", machine.prefix), |it| {
                    *it.at_mut(&place) = Tree::List(rest);
                });
            }
        }
    }
}

/// Every `maybe X` of the file becomes `X`, one at a time.
pub(crate) fn drop_maybes(tree: &Tree, maker: &mut Maker<'_>) {
    let mut waiting: Vec<(Vec<Part>, &Tree)> = vec![(Vec::new(), tree)];
    while let Some((place, here)) = waiting.pop() {
        match here {
            Tree::Map(entries) => {
                waiting.extend(entries.iter().rev().map(|(it, value)| (join(&place, &[key(it)]), value)));
            }
            Tree::List(items) => {
                let items = items.iter().enumerate().rev();
                waiting.extend(items.map(|(at, it)| (join(&place, &[Part::Item(at)]), it)));
            }
            Tree::Text { text, .. } => {
                let Some(name) = text.strip_prefix("maybe ") else { continue };
                let keys = place.iter().filter_map(|it| match it {
                    Part::Key(key) => Some(key.as_str()),
                    Part::Item(_) => None,
                });
                let keys: Vec<&str> = keys.collect();
                maker.make("drop-maybe", format!("{}: {name}", keys.join(".")), |it| {
                    *it.at_mut(&place) = Tree::word(name);
                });
            }
        }
    }
}
