//! Operators on budgets: who spends them, what fills them, how large they are.

use crate::file::Machine;
use crate::operators::Maker;
use crate::tree::{Tree, join, key};

pub(crate) fn make(machine: &Machine<'_>, maker: &mut Maker<'_>) {
    for arm in machine.cells().iter().flat_map(|it| machine.arms(it)) {
        let mut drop = |operator, keys: &[&str]| {
            if keys.first().is_some_and(|it| machine.arm(&arm).get(it).is_some()) {
                maker.make(operator, arm.name.clone(), |it| {
                    for key in keys {
                        it.at_mut(&arm.place).remove(key);
                    }
                });
            }
        };
        drop("drop-spend", &["spend", "else"]);
        drop("drop-else", &["else"]);
        drop("drop-refill", &["refill"]);
    }
    for (budget, declared) in machine.section("budgets") {
        let place = machine.place_of("budgets", budget);
        let name = format!("{}{budget}", machine.prefix);
        if declared.get("per").is_some() {
            maker.make("drop-per", name.clone(), |it| it.at_mut(&place).remove("per"));
        }
        if machine.tree.get("caps").is_some() {
            raise_limit(machine, budget, declared, maker);
        }
        fill_in_the_loop(machine, budget, declared, maker);
    }
}

fn raise_limit(machine: &Machine<'_>, budget: &str, declared: &Tree, maker: &mut Maker<'_>) {
    let place = machine.place_of("budgets", budget);
    let limit = declared.get("limit");
    let place = if limit.is_some() { join(&place, &[key("limit")]) } else { place };
    let limit = limit.unwrap_or(declared);
    let mut numbers = vec![(place.clone(), String::new(), limit.text())];
    let rows = limit.entries().iter().filter(|(it, _)| it != "by");
    numbers.extend(rows.map(|(row, it)| (join(&place, &[key(row)]), format!(" ({row})"), it.text())));
    for (place, row, number) in numbers {
        let Some(number) = number.and_then(|it| it.parse::<u32>().ok()) else { continue };
        // Nothing times ten is nothing.
        let raised = number.max(1) * 10;
        maker.make("raise-limit", format!("{}{budget}{row}: {raised}", machine.prefix), |it| {
            *it.at_mut(&place) = Tree::word(&raised.to_string());
        });
    }
}

fn fill_in_the_loop(machine: &Machine<'_>, budget: &str, declared: &Tree, maker: &mut Maker<'_>) {
    let per: Vec<&str> = declared.get("per").map(Tree::words).unwrap_or_default();
    if per == ["visit"] {
        return;
    }
    let mut on_the_way: Vec<&str> = Vec::new();
    for (name, _) in machine.states() {
        let arms = machine.cells_of(name).into_iter().flat_map(|it| machine.arms(&it));
        for arm in arms.filter(|it| machine.arm(it).get("spend").and_then(Tree::text) == Some(budget)) {
            on_the_way.extend([name.as_str(), machine.target(&arm)]);
        }
    }
    let place = machine.place_of("budgets", budget);
    for state in on_the_way {
        if per.contains(&state) || machine.state(state).is_none() {
            continue;
        }
        maker.make("fill-in-the-loop", format!("{}{budget} at {state}", machine.prefix), |it| {
            let here = it.at_mut(&place);
            if here.get("limit").is_none() {
                *here = Tree::Map(vec![("limit".to_owned(), here.clone())]);
            }
            here.put("per", Tree::List(per.iter().copied().chain([state]).map(Tree::word).collect()));
        });
    }
}
