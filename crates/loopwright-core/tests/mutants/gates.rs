//! Operators on gates: who judges what, who needs it, and who goes round it.

use crate::file::{Machine, Spot, rows};
use crate::operators::Maker;
use crate::tree::{Part, Tree, join, key};

pub(crate) fn make(machine: &Machine<'_>, maker: &mut Maker<'_>) {
    for cell in machine.cells() {
        for arm in machine.arms(&cell) {
            let target = machine.target(&arm);
            if machine.state(target).is_some_and(|it| it.get("judges").is_some()) {
                for beyond in machine.beyond(target) {
                    redirect("past-the-gate", machine, &arm, beyond, maker);
                }
            }
            if machine.arm(&arm).get("forced").is_some() {
                maker.make("drop-forced", arm.name.clone(), |it| it.at_mut(&arm.place).remove("forced"));
            }
        }
    }
    for (judge, state) in machine.judges() {
        for cell in machine.bad_cells(judge) {
            for arm in machine.arms(&cell) {
                for beyond in machine.beyond(judge) {
                    let back = machine.comes_back(beyond, judge);
                    let operator = |it: &'static str| if back { "skip-the-repair" } else { it };
                    redirect(operator("fail-as-pass"), machine, &arm, beyond, maker);
                    let repair = machine.target(&arm);
                    for onward in machine.best_arms(repair).iter().filter(|_| machine.repairs(repair)) {
                        redirect(operator("fix-past-the-gate"), machine, onward, beyond, maker);
                    }
                }
            }
        }
        let place = machine.place_of("states", judge);
        maker.make("drop-gate", format!("{}{judge}", machine.prefix), |it| {
            for key in ["judges", "gate", "passes", "only-when"] {
                it.at_mut(&place).remove(key);
            }
        });
        may_write(machine, judge, state, maker);
    }
    for (name, _) in machine.states() {
        drop_listed("drop-need", "needs", machine, name, maker);
        drop_listed("drop-judged", "judges", machine, name, maker);
        drop_listed("drop-without", "without", machine, name, maker);
    }
}

/// Leads an arm elsewhere; what it sets, spends and forces it keeps.
fn redirect(operator: &'static str, machine: &Machine<'_>, arm: &Spot, beyond: &str, maker: &mut Maker<'_>) {
    let target = machine.target(arm);
    maker.make(operator, format!("{}: {target} -> {beyond}", arm.name), |it| match it.at_mut(&arm.place) {
        Tree::Map(entries) => {
            let to = entries.iter_mut().find(|(it, _)| it == "to").map(|(_, it)| it);
            *to.expect("a target") = Tree::word(beyond);
        }
        other => *other = Tree::word(beyond),
    });
}

/// Takes one word at a time out of a list of a state, or out of the rows of a table there.
fn drop_listed(
    operator: &'static str,
    list: &str,
    machine: &Machine<'_>,
    state: &str,
    maker: &mut Maker<'_>,
) {
    let place: Vec<Part> = join(&machine.place_of("states", state), &[key(list)]);
    for (place, row, words) in rows(machine.tree, &place) {
        for word in &words {
            // What judges nothing is no gate, and that is another operator.
            if operator == "drop-judged" && words.len() == 1 {
                continue;
            }
            let rest: Vec<Tree> = words.iter().filter(|it| *it != word).map(|it| Tree::word(it)).collect();
            maker.make(operator, format!("{}{state}{row} {word}", machine.prefix), |it| {
                *it.at_mut(&place) = Tree::List(rest);
            });
        }
    }
}

fn may_write(machine: &Machine<'_>, judge: &str, state: &Tree, maker: &mut Maker<'_>) {
    let Some(role) = state.get("review").and_then(Tree::text) else { return };
    let place = machine.place_of("states", judge);
    let judged = rows(machine.tree, &join(&place, &[key("judges")]));
    for document in judged.into_iter().flat_map(|(_, _, documents)| documents) {
        let what = format!("{}{judge} ({role}) {document}", machine.prefix);
        maker.make("judge-may-write", what, |it| {
            add_word(it.at_mut(&[key("roles"), key(role)]), "may-write", document);
            // A state that narrows its role has to be widened as well.
            let here = it.at_mut(&place);
            if here.get("may-write").is_some() {
                add_word(here, "may-write", document);
            }
        });
    }
}

fn add_word(tree: &mut Tree, list: &str, word: &str) {
    let known = tree.get(list).map(|it| it.items().into_iter().cloned().collect());
    let mut words: Vec<Tree> = known.unwrap_or_default();
    words.push(Tree::word(word));
    tree.put(list, Tree::List(words));
}
