//! Operators on routes: what a signal, an answer or a verb leads to.

use crate::file::{Machine, words};
use crate::operators::Maker;
use crate::tree::{Part, Tree, join, key};

pub(crate) fn make(machine: &Machine<'_>, maker: &mut Maker<'_>) {
    let prefix = &machine.prefix;
    let defaults = join(&machine.place, &[key("defaults")]);
    drop_words(machine.tree, &defaults, &format!("{prefix}defaults"), |_| "drop-default", maker);
    for (name, state) in machine.states() {
        let place = machine.place_of("states", name);
        if state.get("then").is_some() {
            let what = format!("{prefix}{name} then");
            maker.make("drop-route", what, |it| it.at_mut(&place).remove("then"));
        }
        let asks = state.get("ask").is_some();
        let operator = |word: &str| {
            if word.starts_with("verb ") {
                "drop-verb"
            } else if asks {
                "drop-answer"
            } else if machine.has_default(word) {
                "drop-own-route"
            } else {
                "drop-route"
            }
        };
        let on = join(&place, &[key("on")]);
        drop_words(machine.tree, &on, &format!("{prefix}{name}"), operator, maker);
    }
    drop_arms(machine, maker);
}

/// Verbs a run can begin with.
pub(crate) fn drop_starts(tree: &Tree, maker: &mut Maker<'_>) {
    drop_words(tree, &[key("start")], "start", |_| "drop-verb", maker);
}

/// Takes one word at a time out of a table of routes.
fn drop_words(
    tree: &Tree,
    table: &[Part],
    name: &str,
    operator: impl Fn(&str) -> &'static str,
    maker: &mut Maker<'_>,
) {
    for (signals, _) in tree.at(table).map(Tree::entries).unwrap_or_default() {
        for word in words(signals) {
            let rest: Vec<&str> = words(signals).into_iter().filter(|it| *it != word).collect();
            maker.make(operator(word), format!("{name} {word}"), |it| {
                let entries = it.at_mut(table).entries_mut();
                if rest.is_empty() {
                    entries.retain(|(it, _)| it != signals);
                } else if let Some((it, _)) = entries.iter_mut().find(|(it, _)| it == signals) {
                    *it = rest.join(" | ");
                }
            });
        }
    }
}

fn drop_arms(machine: &Machine<'_>, maker: &mut Maker<'_>) {
    for cell in machine.cells() {
        let count = machine.arm(&cell).items().len();
        for at in (0..count).filter(|_| count > 1) {
            maker.make("drop-arm", format!("{} arm {}", cell.name, at + 1), |it| {
                if let Tree::List(items) = it.at_mut(&cell.place) {
                    items.remove(at);
                }
            });
        }
        for arm in machine.arms(&cell) {
            if machine.arm(&arm).get("set").is_some() {
                maker.make("drop-set", arm.name.clone(), |it| it.at_mut(&arm.place).remove("set"));
            }
        }
    }
}
