//! The proof does not lie: what `check` says of a workflow, held against what the machine does.
#![expect(clippy::panic, clippy::expect_used, clippy::cast_possible_truncation, reason = "these are tests")]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use loopwright_core::check::{Figure, Report, check};
use loopwright_core::definition::{Claim, Workflow};
use loopwright_core::name::Name;
use support::generator::workflow as made;
use support::world::{Begin, People, Seen, Stop, begins, play};
use support::{loaded, read};

/// What the proof claims of a workflow, in a form the world can be held against.
struct Claims {
    unrouted: BTreeSet<Name>,
    cut: bool,
    bounded: bool,
    unsettled: BTreeSet<Name>,
    refuted: BTreeSet<usize>,
    vacuous: BTreeSet<usize>,
    undefined: Vec<String>,
    unreachable: Vec<String>,
    proved: bool,
}

impl Claims {
    fn of(workflow: &Workflow, report: &Report) -> Self {
        let problems = |code: &'static str| report.problems.iter().filter(move |it| it.code == code);
        let state_at = |place: &loopwright_core::problem::Place| {
            workflow
                .machines()
                .flat_map(|machine| machine.states.values().map(move |it| (machine, it)))
                .find(|(_, it)| it.place == *place)
                .map(|(machine, it)| machine.qualified(&it.name))
        };
        let of_property = |code: &'static str| {
            workflow
                .properties
                .iter()
                .enumerate()
                .filter(|(_, it)| problems(code).any(|problem| problem.place == it.place))
                .map(|(at, _)| at)
                .collect()
        };
        Self {
            unrouted: problems("unrouted").filter_map(|it| state_at(&it.place)).collect(),
            cut: problems("too-wide")
                .chain(problems("too-large"))
                .chain(problems("not-shown"))
                .next()
                .is_some(),
            bounded: problems("endless").next().is_none() && report.worst.is_some(),
            unsettled: problems("unsettled")
                .filter_map(|it| it.path.as_ref()?.expect.unsettled.clone())
                .collect(),
            refuted: of_property("property"),
            vacuous: of_property("vacuous"),
            undefined: problems("undefined-input").map(|it| it.message.clone()).collect(),
            unreachable: problems("unreachable").map(|it| it.message.clone()).collect(),
            proved: report.is_proved(),
        }
    }
}

fn within(figure: &Figure, items: u64) -> u64 {
    figure.at_most + figure.per_item.values().sum::<u64>() * items
}

/// Where what was seen is not what was claimed.
fn contradictions(
    workflow: &Workflow,
    report: &Report,
    claims: &Claims,
    seen: &Seen,
    people: People,
) -> Vec<String> {
    let mut found: Vec<String> = seen.wrong.clone();
    if claims.cut {
        return found;
    }
    match seen.stop.as_ref().expect("it stopped") {
        Stop::NoRoute(state, signal) if !claims.unrouted.contains(state) => {
            found.push(format!("no-route: `{state}` has no route for `{signal}`"))
        }
        Stop::Refused(why) => found.push(format!("refused: {why}")),
        Stop::TooLong if claims.bounded => found.push("too-long: it does not end".into()),
        _ => {}
    }
    if claims.bounded
        && let Some(worst) = &report.worst
    {
        let bound = within(&worst.calls, 2);
        if seen.most_calls > bound {
            found.push(format!("calls: {} calls, and {bound} was the bound", seen.most_calls));
        }
        for (role, count) in &seen.most_calls_of {
            let bound = worst.calls_of.get(&**role).map_or(0, |it| within(it, 2));
            if *count > bound {
                found.push(format!("calls-of: {count} calls of `{role}`, and {bound} was the bound"));
            }
        }
    }
    if people == People::Quiet {
        for (child, state, gates) in &seen.stale {
            if gates.iter().any(|it| !claims.unsettled.contains(it)) || gates.is_empty() {
                found.push(format!("unsettled: {child:?} `{state}` found {gates:?} unsettled"));
            }
        }
    }
    for (child, state, gate) in &seen.unjudged {
        if people == People::Quiet && !claims.unsettled.contains(gate) {
            found.push(format!(
                "unjudged: {child:?} `{state}` went on although `{gate}` was not judged as it is"
            ));
        }
    }
    for property in &seen.broken {
        let settles = matches!(&workflow.properties[*property].claim, Claim::Never { before, .. } if before.iter().any(|it| matches!(it, loopwright_core::definition::Happened::Settled { .. })));
        let facts =
            matches!(&workflow.properties[*property].claim, Claim::Never { when, .. } if !when.is_empty());
        if (settles || facts) && people != People::Quiet {
            continue;
        }
        if claims.vacuous.contains(property) {
            found.push(format!("vacuous: property {property} is broken though it was said to say nothing"));
        } else if !claims.refuted.contains(property) {
            found.push(format!("property: property {property} is broken"));
        }
    }
    for (state, given) in &seen.missing {
        if !claims.undefined.iter().any(|it| it.contains(&format!("`{given}`"))) {
            found.push(format!("undefined: `{state}` is not given `{given}`"));
        }
    }
    for name in &seen.entered {
        if claims.unreachable.iter().any(|it| it.ends_with(&format!("`{name}`"))) {
            found.push(format!("unreachable: `{name}` is entered"));
        }
    }
    for (child, place) in &seen.taken {
        let never = report.problems.iter().filter(|it| it.code == "never-taken" && it.place == *place);
        for problem in never {
            let own = problem
                .message
                .contains(&format!("of `{}", child.as_deref().map_or(String::new(), |it| format!("{it}."))));
            if own {
                found.push(format!("never-taken: {}", problem.message));
            }
        }
    }
    found
}

/// Whether states that do no work lead round in a circle. The machine passes them within one event, so a circle that is
/// really gone round has no bottom; `check` calls it endless and nobody plays it.
fn spins(workflow: &Workflow, report: &Report) -> bool {
    use loopwright_core::definition::{Kind, Target};
    if !report.problems.iter().any(|it| it.code == "endless" || it.code == "unsettled") {
        return false;
    }
    workflow.machines().any(|machine| {
        let next = |name: &Name| -> Vec<Name> {
            let Some(state) = machine.states.get(&**name) else { return Vec::new() };
            let instant = match &state.kind {
                Kind::Choose | Kind::Settle { .. } => true,
                Kind::Do { actions, .. } => actions.is_empty(),
                _ => false,
            };
            let cells = state.cells.iter().filter(|(signal, _)| instant || &***signal == "stale");
            let arms = cells.flat_map(|(_, it)| &it.arms);
            arms.flat_map(|it| match &it.to {
                Target::State(name) => vec![name.clone()],
                Target::Again => vec![name.clone()],
                Target::Back => machine.states.keys().cloned().collect(),
            })
            .collect()
        };
        machine.states.keys().any(|start| {
            let mut waiting = next(start);
            let mut seen = BTreeSet::new();
            while let Some(name) = waiting.pop() {
                if name == *start {
                    return true;
                }
                if seen.insert(name.clone()) {
                    waiting.extend(next(&name));
                }
            }
            false
        })
    })
}

/// Plays a workflow many times and says where it went against its proof.
fn held_against(
    workflow: &Workflow,
    report: &Report,
    plays: u64,
    salt: u64,
    people: &[People],
) -> Vec<(String, Begin, u64, People)> {
    let claims = Claims::of(workflow, report);
    let mut found = Vec::new();
    if spins(workflow, report) {
        return found;
    }
    let starts = begins(workflow);
    for at in 0..plays {
        for begin in &starts {
            for people in people {
                let seed = salt.wrapping_mul(1_000_003).wrapping_add(at);
                let seen = play(workflow, begin, seed, *people, false);
                for text in contradictions(workflow, report, &claims, &seen, *people) {
                    found.push((text, begin.clone(), seed, *people));
                }
            }
        }
    }
    let _ = claims.proved;
    found
}

fn show(workflow: &Workflow, begin: &Begin, seed: u64, people: People) -> String {
    let seen = play(workflow, begin, seed, people, true);
    let mut lines = seen.trace;
    if lines.len() > 80 {
        let cut = lines.split_off(lines.len() - 30);
        lines.truncate(30);
        lines.push("...".into());
        lines.extend(cut);
    }
    format!("{begin:?} {people:?} seed {seed}\n{}\nstop {:?}", lines.join("\n"), seen.stop)
}

#[test]
fn explore() {
    let from: u64 = std::env::var("FROM").ok().and_then(|it| it.parse().ok()).unwrap_or(0);
    let count: u64 = std::env::var("COUNT").ok().and_then(|it| it.parse().ok()).unwrap_or(300);
    let verbose = std::env::var("VERBOSE").is_ok();
    let only = std::env::var("ONLY").unwrap_or_default();
    let people: &[People] = match std::env::var("PEOPLE").as_deref() {
        Ok("rest") => &[People::EditAtRest],
        Ok("needs") => &[People::EditAtNeeds],
        Ok("quiet") => &[People::Quiet],
        _ => &[People::Quiet, People::EditAtNeeds],
    };
    if let Ok(file) = std::env::var("FILE") {
        let text = std::fs::read_to_string(&file).expect("a file");
        let workflow = loaded(&text);
        let report = check(&workflow);
        for problem in &report.problems {
            println!(
                "{} {} {}",
                problem.code,
                problem.message,
                problem.path.as_ref().map(|it| it.to_yaml()).unwrap_or_default()
            );
        }
        println!("worst {:?}", report.worst.as_ref().map(|it| &it.calls));
        let found = held_against(&workflow, &report, count, 1, people);
        let mut seen = BTreeSet::new();
        for (what, begin, salt, people) in found {
            if what.contains(&only) && seen.insert(what.clone()) {
                println!("CONTRADICTION {what}\n{}", show(&workflow, &begin, salt, people));
            }
        }
        return;
    }
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    let mut kinds: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut proved = 0;
    for seed in from..from + count {
        let text = made(seed);
        let it = read(&text);
        let wrong: Vec<String> = it
            .problems
            .iter()
            .filter(|it| it.stage == loopwright_core::problem::Stage::Load)
            .map(|it| format!("{}: {}", it.code, it.message))
            .collect();
        if !wrong.is_empty() {
            println!("{seed} does not load {wrong:?}");
            *codes.entry("load".into()).or_insert(0) += 1;
            continue;
        }
        let workflow = it.workflow.expect("it loads");
        let report = check(&workflow);
        if report.is_proved() {
            proved += 1;
        }
        let all: BTreeSet<&str> = report.problems.iter().map(|it| it.code).collect();
        for code in all {
            *codes.entry(code.into()).or_insert(0) += 1;
        }
        let found = held_against(&workflow, &report, 25, seed, people);
        if let Some((what, begin, salt, people)) = found.iter().find(|(it, ..)| it.contains(&only)) {
            let kind = what.split(':').next().unwrap_or_default().to_owned();
            kinds.entry(kind).or_default().push(seed);
            if verbose {
                println!("==== {seed} {what}\n{}\n{text}", show(&workflow, begin, *salt, *people));
                return;
            }
        }
    }
    println!("proved {proved} {codes:?}\n{kinds:?}");
}
