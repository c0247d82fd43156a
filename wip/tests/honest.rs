//! The proof does not lie: what `check` says of a workflow, held against what the machine does.
#![expect(clippy::panic, clippy::expect_used, clippy::cast_possible_truncation, reason = "these are tests")]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use loopwright_core::check::{Figure, Report, check, transitions};
use loopwright_core::definition::{Claim, Happened, Workflow};
use loopwright_core::name::Name;
use loopwright_core::rehearse::{
    Actor, Chance, Coverage, Listing, Moment, Play, Played, Scenario, Script, parse_scenario, perform, play as rehearse,
};
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
            workflow.machines().flat_map(|machine| machine.states.values().map(move |it| (machine, it))).find(|(_, it)| it.place == *place).map(|(machine, it)| machine.qualified(&it.name))
        };
        let of_property = |code: &'static str| {
            workflow.properties.iter().enumerate().filter(|(_, it)| problems(code).any(|problem| problem.place == it.place)).map(|(at, _)| at).collect()
        };
        Self {
            unrouted: problems("unrouted").filter_map(|it| state_at(&it.place)).collect(),
            cut: problems("too-wide").chain(problems("too-large")).chain(problems("not-shown")).next().is_some(),
            bounded: problems("endless").next().is_none() && report.worst.is_some(),
            unsettled: problems("unsettled").filter_map(|it| it.path.as_ref()?.expect.unsettled.clone()).collect(),
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
fn contradictions(workflow: &Workflow, report: &Report, claims: &Claims, seen: &Seen, people: People) -> Vec<String> {
    let mut found: Vec<String> = seen.wrong.clone();
    if claims.cut {
        return found;
    }
    match seen.stop.as_ref().expect("it stopped") {
        Stop::NoRoute(state, signal) if !claims.unrouted.contains(state) => found.push(format!("no-route: `{state}` has no route for `{signal}`")),
        Stop::Refused(why) => found.push(format!("refused: {why}")),
        Stop::TooLong if claims.bounded => found.push("too-long: it does not end".into()),
        _ => {}
    }
    if claims.bounded && let Some(worst) = &report.worst {
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
    if people == People::Quiet && seen.stale.iter().any(|(_, _, gates)| gates.iter().any(|it| claims.unsettled.contains(it))) {
        // What comes after a gate was found unsettled that was said to be, nothing was said about.
        return found;
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
            found.push(format!("unjudged: {child:?} `{state}` went on although `{gate}` was not judged as it is"));
        }
    }
    for property in &seen.broken {
        let settles = matches!(&workflow.properties[*property].claim, Claim::Never { before, .. } if before.iter().any(|it| matches!(it, loopwright_core::definition::Happened::Settled { .. })));
        let facts = matches!(&workflow.properties[*property].claim, Claim::Never { when, .. } if !when.is_empty());
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
            let own = problem.message.contains(&format!("of `{}", child.as_deref().map_or(String::new(), |it| format!("{it}."))));
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
fn held_against(workflow: &Workflow, report: &Report, plays: u64, salt: u64, people: &[People]) -> Vec<(String, Begin, u64, People)> {
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

/// Every path the report shows, played: complaints in words.
fn paths_that_do_not_replay(workflow: &Workflow, report: &Report) -> Vec<String> {
    let mut found = Vec::new();
    let shown = report.problems.iter().filter_map(|it| Some((it.code, it.path.as_ref()?)));
    let forced = report.forced.iter().filter_map(|it| Some(("forced", it.path.as_ref()?)));
    if spins(workflow, report) {
        return found;
    }
    for (code, path) in shown.chain(forced) {
        let mut coverage = Coverage::of(workflow);
        match perform(workflow, path, &mut coverage) {
            Err(error) => found.push(format!("{code}-path: {error}\n{}", path.to_yaml())),
            Ok(verdict) => {
                for complaint in &verdict.complaints {
                    found.push(format!("{code}-path: {complaint}\n{}", path.to_yaml()));
                }
                if verdict.complaints.is_empty() {
                    found.extend(shows_nothing(workflow, report, code, path, &verdict.played).map(|it| format!("{code}-shows: {it}\n{}", path.to_yaml())));
                }
            }
        }
        // What is printed is what is played.
        let (again, problems) = parse_scenario(workflow, "path.yaml", &path.to_yaml());
        if !problems.is_empty() {
            found.push(format!("{code}-text: {}\n{}", problems[0].message, path.to_yaml()));
        } else if let Some(again) = again {
            let mut coverage = Coverage::of(workflow);
            match perform(workflow, &again, &mut coverage) {
                Ok(verdict) if verdict.complaints.is_empty() => {}
                Ok(verdict) => found.push(format!("{code}-reread: {}\n{}", verdict.complaints[0], path.to_yaml())),
                Err(error) => found.push(format!("{code}-reread: {error}\n{}", path.to_yaml())),
            }
        }
    }
    found
}

/// Where a path plays well and still does not show what it is said to show.
fn shows_nothing(workflow: &Workflow, report: &Report, code: &str, path: &Scenario, played: &Played) -> Option<String> {
    match code {
        "unsettled" => {
            let found = played.walk.iter().any(|it| it.signal.as_deref() == Some("stale")) || matches!(played.stop, loopwright_core::rehearse::Stop::Refused(_));
            (!found).then(|| format!("nothing was found unsettled: {:?}", played.stop))
        }
        "property" => {
            let problem = report.problems.iter().find(|it| it.path.as_ref() == Some(path))?;
            let property = workflow.properties.iter().find(|it| it.place == problem.place)?;
            let imported = path.start.phase.is_some();
            let came = |happened: &Happened| match happened {
                Happened::Signal { child, state, signals } => {
                    let name = child.as_ref().map_or_else(|| state.clone(), |it| format!("{it}.{state}").into());
                    Some(imported || played.walk.iter().any(|it| it.state == name && it.signal.as_ref().is_some_and(|it| signals.contains(it))))
                }
                Happened::Settled { .. } => None,
            };
            match &property.claim {
                Claim::AtMost { visits, times } => {
                    let visited = played.run.visits.get(&**visits).copied().unwrap_or(0);
                    (visited <= *times).then(|| format!("`{visits}` was entered only {visited} times"))
                }
                Claim::Never { before, .. } => {
                    let all = before.iter().all(|it| came(it) == Some(true));
                    all.then(|| "all of it happened before".to_owned())
                }
                Claim::Always { after, comes: Happened::Signal { child: None, state, signals } } => {
                    let last = played.walk.iter().rposition(|it| it.state == *after)?;
                    let came = played.walk[last..].iter().any(|it| it.state == *state && it.signal.as_ref().is_some_and(|it| signals.contains(it)));
                    came.then(|| "it came".to_owned())
                }
                Claim::Always { after, comes: Happened::Settled { gate } } => {
                    let last = played.walk.iter().rposition(|it| it.state == *after)?;
                    let passes = |it: &loopwright_core::rehearse::WalkStep| {
                        let state = workflow.main.states.get(&*it.state).and_then(|it| it.gate.as_ref());
                        state.is_some_and(|gate_of| gate_of.name == *gate && it.signal.as_ref().is_some_and(|it| gate_of.passes.contains(it)))
                    };
                    played.walk[last..].iter().any(passes).then(|| "it was settled".to_owned())
                }
                Claim::Always { .. } => None,
            }
        }
        "endless" => goes_round(workflow, path),
        "trapped" => (0..12).find_map(|seed| {
            let mut actor = Onward { script: Script::new(path), chance: Chance::new(seed, true) };
            actor.chance.patience = 40;
            let mut coverage = Coverage::of(workflow);
            let played = rehearse(workflow, &path.start, &mut actor, &mut coverage, 3_000).ok()?;
            matches!(played.stop, loopwright_core::rehearse::Stop::Ended(_)).then(|| "it comes to an end after all".to_owned())
        }),
        _ => None,
    }
}

/// The last steps of an endless path, played five more times.
fn goes_round(workflow: &Workflow, path: &Scenario) -> Option<String> {
    let turn = path.expect.endless?;
    let whole = perform(workflow, path, &mut Coverage::of(workflow)).ok()?.played.walk.len();
    let begun = (0..=path.steps.len()).find(|count| {
        let mut shorter = path.clone();
        shorter.steps.truncate(*count);
        perform(workflow, &shorter, &mut Coverage::of(workflow)).is_ok_and(|it| it.played.walk.len() == whole - turn)
    });
    let Some(begun) = begun else { return Some("its turn has no beginning".into()) };
    let mut longer = path.clone();
    for _ in 0..5 {
        longer.steps.extend(path.steps[begun..].iter().cloned());
    }
    let verdict = perform(workflow, &longer, &mut Coverage::of(workflow)).ok()?;
    let length = verdict.played.walk.len();
    if !verdict.complaints.is_empty() {
        return Some(format!("played on: {}", verdict.complaints[0]));
    }
    (length != whole + 5 * turn).then(|| format!("five more turns of {turn} made {} steps", length - whole))
}

/// Follows a script, then chance.
struct Onward<'s> {
    script: Script<'s>,
    chance: Chance,
}

impl Onward<'_> {
    fn over(&self) -> bool {
        self.script.left().next().is_none()
    }
}

impl Actor for Onward<'_> {
    fn come_out(&mut self, moment: &Moment<'_>) -> Option<Play> {
        if self.over() { self.chance.come_out(moment) } else { self.script.come_out(moment) }
    }

    fn facts(&mut self, moment: &Moment<'_>, facts: &[Name]) -> IndexMap<Name, Name> {
        if self.over() { self.chance.facts(moment, facts) } else { self.script.facts(moment, facts) }
    }

    fn changed(&mut self, moment: &Moment<'_>, documents: &[Name]) -> Vec<Name> {
        if self.over() { self.chance.changed(moment, documents) } else { self.script.changed(moment, documents) }
    }

    fn items(&mut self, moment: &Moment<'_>, list: &str) -> Listing {
        if self.over() { self.chance.items(moment, list) } else { self.script.items(moment, list) }
    }

    fn verb(&mut self, moment: &Moment<'_>, verbs: &[Name]) -> Option<Name> {
        if self.over() { self.chance.verb(moment, verbs) } else { self.script.verb(moment, verbs) }
    }

    fn edits(&mut self, moment: &Moment<'_>) -> Vec<Name> {
        self.script.edits(moment)
    }
}

/// Transitions that do not play, of a sample.
fn transitions_that_do_not_play(workflow: &Workflow, most: usize) -> Vec<String> {
    let (scenarios, _) = transitions(workflow, true);
    let stride = (scenarios.len() / most.max(1)).max(1);
    let mut found = Vec::new();
    for scenario in scenarios.iter().step_by(stride) {
        match perform(workflow, scenario, &mut Coverage::of(workflow)) {
            Ok(verdict) if verdict.complaints.is_empty() => {}
            Ok(verdict) => found.push(format!("transition: {}\n{}", verdict.complaints[0], scenario.to_yaml())),
            Err(error) => found.push(format!("transition: {error}\n{}", scenario.to_yaml())),
        }
    }
    found
}

/// What is wrong with a workflow's proof, by kind. The kind is what stands before the colon.
fn lies(text: &str, plays: u64, salt: u64, people: &[People]) -> Vec<String> {
    let read = read(text);
    if read.problems.iter().any(|it| it.stage == loopwright_core::problem::Stage::Load) {
        return Vec::new();
    }
    let Some(workflow) = read.workflow else { return Vec::new() };
    let report = check(&workflow);
    let mut found: Vec<String> = held_against(&workflow, &report, plays, salt, people).into_iter().map(|(it, ..)| it).collect();
    found.extend(paths_that_do_not_replay(&workflow, &report));
    if !spins(&workflow, &report) {
        found.extend(transitions_that_do_not_play(&workflow, 60));
    }
    found
}

/// The smallest text found that still tells a lie of this kind.
fn minimised(text: &str, kind: &str, plays: u64, salt: u64, people: &[People]) -> String {
    let lying = |text: &str| lies(text, plays, salt, people).iter().any(|it| it.starts_with(kind));
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    loop {
        let before = lines.clone();
        let mut size = (lines.len() / 4).max(1);
        loop {
            let mut at = 0;
            while at < lines.len() {
                let until = (at + size).min(lines.len());
                let mut shorter = lines.clone();
                shorter.drain(at..until);
                if lying(&shorter.join("\n")) {
                    lines = shorter;
                } else {
                    at += size;
                }
            }
            if size == 1 {
                break;
            }
            size /= 2;
        }
        // Simpler arms: a list becomes one of its members, an arm loses a key.
        for at in 0..lines.len() {
            let line = lines[at].clone();
            let mut tries: Vec<String> = Vec::new();
            if let Some((head, rest)) = line.split_once(": [") {
                if let Some(inner) = rest.strip_suffix(']') {
                    let parts = split_flow(inner);
                    for skip in 0..parts.len() {
                        let kept: Vec<&str> = parts.iter().enumerate().filter(|(at, _)| *at != skip).map(|(_, it)| it.as_str()).collect();
                        tries.push(if kept.len() == 1 { format!("{head}: {}", kept[0]) } else { format!("{head}: [{}]", kept.join(", ")) });
                    }
                }
            }
            for key in [", record: log", ", shared: true", ", anew: true", ", at-once: 2", ", order: depends", ", optional: true", ", input: true"] {
                tries.push(line.replace(key, ""));
            }
            for key in ["when: {", "set: {", "spend: ", "forced: ", "refill: ", "at-least: {", "with: {", "settles: [", "back: ", "topic: ["] {
                if let Some(from) = line.find(&format!(", {key}")) {
                    let rest = &line[from + 2..];
                    let mut depth = 0_i32;
                    let end = rest
                        .char_indices()
                        .find(|(_, it)| {
                            match it {
                                '{' | '[' => depth += 1,
                                '}' | ']' => depth -= 1,
                                _ => {}
                            }
                            depth < 0 || depth == 0 && *it == ','
                        })
                        .map_or(rest.len(), |(at, _)| at);
                    tries.push(format!("{}{}", &line[..from], &rest[end..]));
                }
            }
            for simpler in tries.into_iter().filter(|it| *it != line) {
                let mut other = lines.clone();
                other[at].clone_from(&simpler);
                if lying(&other.join("\n")) {
                    lines = other;
                    break;
                }
            }
        }
        if lines == before {
            return lines.join("\n") + "\n";
        }
    }
}

fn split_flow(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0_i32;
    for it in text.chars() {
        match it {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => {}
        }
        if it == ',' && depth == 0 {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(it);
        }
    }
    parts.into_iter().map(|it| it.trim().to_owned()).collect()
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
        Ok("all") => &[People::Quiet, People::EditAtNeeds, People::EditAtRest],
        _ => &[People::Quiet, People::EditAtNeeds],
    };
    if let Ok(file) = std::env::var("FILE") {
        let text = std::fs::read_to_string(&file).expect("a file");
        let workflow = loaded(&text);
        let report = check(&workflow);
        for problem in &report.problems {
            println!("{} {} {}", problem.code, problem.message, problem.path.as_ref().map(|it| it.to_yaml()).unwrap_or_default());
        }
        println!("worst {:?}", report.worst.as_ref().map(|it| &it.calls));
        let mut told = paths_that_do_not_replay(&workflow, &report);
        told.extend(transitions_that_do_not_play(&workflow, 60));
        for lie in told {
            println!("LIE {lie}");
        }
        let found = held_against(&workflow, &report, count, 1, people);
        let mut seen = BTreeSet::new();
        for (what, begin, salt, people) in found {
            if what.contains(&only) && seen.insert(what.clone()) {
                println!("CONTRADICTION {what}\n{}", show(&workflow, &begin, salt, people));
            }
        }
        return;
    }
    if let Ok(seed) = std::env::var("MINIMISE") {
        let seed: u64 = seed.parse().expect("a seed");
        let text = made(seed);
        let plays: u64 = std::env::var("PLAYS").ok().and_then(|it| it.parse().ok()).unwrap_or(25);
        let small = minimised(&text, &only, plays, seed, people);
        println!("==== {seed} {only}\n{small}");
        for lie in lies(&small, plays, seed, people).iter().filter(|it| it.starts_with(&only)).take(1) {
            println!("{lie}");
        }
        let workflow = loaded(&small);
        let report = check(&workflow);
        for problem in &report.problems {
            println!("  {} {}", problem.code, problem.message);
        }
        let found = held_against(&workflow, &report, plays, seed, people);
        if let Some((_, begin, salt, people)) = found.iter().find(|(it, ..)| it.starts_with(&only)) {
            println!("{}", show(&workflow, begin, *salt, *people));
        }
        return;
    }
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    let mut kinds: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut proved = 0;
    for seed in from..from + count {
        let text = made(seed);
        let it = read(&text);
        let wrong: Vec<String> = it.problems.iter().filter(|it| it.stage == loopwright_core::problem::Stage::Load).map(|it| format!("{}: {}", it.code, it.message)).collect();
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
        let mut others = paths_that_do_not_replay(&workflow, &report);
        if seed % 4 == 0 && !spins(&workflow, &report) {
            others.extend(transitions_that_do_not_play(&workflow, 60));
        }
        let other: BTreeSet<&str> = others.iter().filter_map(|it| it.split(':').next()).collect();
        for kind in other {
            kinds.entry(kind.to_owned()).or_default().push(seed);
        }
        let all: BTreeSet<&str> = found.iter().filter_map(|(it, ..)| it.split(':').next()).collect();
        for kind in all {
            kinds.entry(kind.to_owned()).or_default().push(seed);
        }
        if let Some((what, begin, salt, people)) = found.iter().find(|(it, ..)| it.contains(&only)).filter(|_| verbose) {
            let kind = what.split(':').next().unwrap_or_default().to_owned();
            println!("==== {seed} {kind} {what}\n{}\n{text}", show(&workflow, begin, *salt, *people));
            return;
        }
    }
    println!("proved {proved} {codes:?}\n{kinds:?}");
}
