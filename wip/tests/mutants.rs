//! Mutants of the built-in workflows: one small change each, made mechanically. `check` has to catch it, or there is a
//! reason why it need not.
//!
//! `docs/mutants.md` holds the outcome of all of them. The test plays a sample, the same one in every run, and holds it
//! against the document. `LOOPWRIGHT_MUTANTS=all` plays every mutant; `LOOPWRIGHT_MUTANTS=update` does and writes the
//! document anew.
#![expect(clippy::disallowed_methods, reason = "a test reads the workflows and the document")]
#![expect(clippy::expect_used, clippy::panic, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use loopwright_core::check::check;
use loopwright_core::definition::Workflow;
use loopwright_core::language::{Folder, WORKFLOW_FILE, load};
use loopwright_core::problem::Stage;
use loopwright_core::rehearse::{Coverage, parse_scenario, perform};
use saphyr_parser::{Event, Parser, ScalarStyle};

/// How many mutants of each built-in a plain run plays. Those of the large ones take longer.
const SAMPLE: &[(&str, usize)] = &[("change", 24), ("feature", 10), ("issue", 6), ("team", 4), ("vibe", 12)];

// A tree of YAML ---------------------------------------------------------------------------------------------------

/// A piece of YAML.
#[derive(Clone, Debug, PartialEq)]
enum Tree {
    Text { text: String, plain: bool },
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

impl Tree {
    fn word(text: &str) -> Self {
        Self::Text { text: text.to_owned(), plain: true }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    fn entries(&self) -> &[(String, Tree)] {
        match self {
            Self::Map(entries) => entries,
            _ => &[],
        }
    }

    fn entries_mut(&mut self) -> &mut Vec<(String, Tree)> {
        match self {
            Self::Map(entries) => entries,
            _ => panic!("not a map"),
        }
    }

    fn get(&self, key: &str) -> Option<&Tree> {
        self.entries().iter().find(|(it, _)| it == key).map(|(_, it)| it)
    }

    /// The items of a list, or the one thing that stands for it.
    fn items(&self) -> Vec<&Tree> {
        match self {
            Self::List(items) => items.iter().collect(),
            other => vec![other],
        }
    }

    fn words(&self) -> Vec<&str> {
        self.items().into_iter().filter_map(Tree::text).collect()
    }

    /// The piece at a place.
    fn at<'t>(&'t self, place: &[Part]) -> Option<&'t Tree> {
        let Some((first, rest)) = place.split_first() else { return Some(self) };
        match (first, self) {
            (Part::Key(key), Self::Map(_)) => self.get(key)?.at(rest),
            (Part::Item(at), Self::List(items)) => items.get(*at)?.at(rest),
            // A list of one may be written without brackets.
            (Part::Item(0), other) => other.at(rest),
            _ => None,
        }
    }

    fn at_mut<'t>(&'t mut self, place: &[Part]) -> &'t mut Tree {
        let Some((first, rest)) = place.split_first() else { return self };
        match (first, self) {
            (Part::Key(key), Self::Map(entries)) => {
                entries.iter_mut().find(|(it, _)| it == key).map(|(_, it)| it).expect("a key").at_mut(rest)
            }
            (Part::Item(at), Self::List(items)) => items.get_mut(*at).expect("an item").at_mut(rest),
            (Part::Item(0), other) => other.at_mut(rest),
            _ => panic!("no such place"),
        }
    }

    fn remove(&mut self, key: &str) {
        self.entries_mut().retain(|(it, _)| it != key);
    }

    fn put(&mut self, key: &str, value: Tree) {
        match self.entries_mut().iter_mut().find(|(it, _)| it == key) {
            Some((_, it)) => *it = value,
            None => self.entries_mut().push((key.to_owned(), value)),
        }
    }

    /// YAML again, all in one line: what a file means does not depend on how it is laid out.
    fn write(&self, into: &mut String) {
        let quoted = |text: &str| serde_json::to_string(text).expect("a text");
        match self {
            Self::Text { text, plain } => {
                let simple = !text.is_empty() && text.chars().all(|it| it.is_alphanumeric() || "._-".contains(it));
                // Only a plain `2` is a number, and only a plain `true` a truth.
                if *plain && (simple || text.is_empty()) {
                    into.push_str(if text.is_empty() { "~" } else { text });
                } else {
                    into.push_str(&quoted(text));
                }
            }
            Self::List(items) => {
                into.push('[');
                for item in items {
                    item.write(into);
                    into.push_str(", ");
                }
                into.push(']');
            }
            Self::Map(entries) => {
                into.push('{');
                for (key, value) in entries {
                    into.push_str(&quoted(key));
                    into.push_str(": ");
                    value.write(into);
                    into.push_str(", ");
                }
                into.push('}');
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Key(String),
    Item(usize),
}

fn join(place: &[Part], rest: &[Part]) -> Vec<Part> {
    place.iter().chain(rest).cloned().collect()
}

fn key(name: &str) -> Part {
    Part::Key(name.to_owned())
}

fn read_tree(text: &str) -> Tree {
    enum Open {
        List(Vec<Tree>),
        Map(Vec<(String, Tree)>, Option<String>),
    }
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, _) = event.expect("YAML");
        let done = match event {
            Event::Scalar(text, style, ..) => {
                Tree::Text { text: text.into_owned(), plain: style == ScalarStyle::Plain }
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Vec::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop().expect("something open") {
                Open::List(items) => Tree::List(items),
                Open::Map(entries, _) => Tree::Map(entries),
            },
            _ => continue,
        };
        match open.last_mut() {
            None => return done,
            Some(Open::List(items)) => items.push(done),
            Some(Open::Map(entries, waiting)) => match waiting.take() {
                Some(key) => entries.push((key, done)),
                None => *waiting = Some(done.text().expect("a key").to_owned()),
            },
        }
    }
    panic!("no document")
}

// The built-ins ----------------------------------------------------------------------------------------------------

struct BuiltIn {
    folder: Folder,
    tree: Tree,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files_below(folder: &Path, prefix: &str, into: &mut Folder) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = format!("{prefix}{}", path.file_name().expect("a name").to_string_lossy());
        if path.is_dir() {
            files_below(&path, &format!("{name}/"), into);
        } else {
            into.files.insert(name, fs::read(&path).expect("a file"));
        }
    }
}

fn built_in(name: &str) -> BuiltIn {
    let mut folder = Folder { name: name.to_owned(), ..Folder::default() };
    files_below(&repository().join("workflows").join(name), "", &mut folder);
    let tree = read_tree(folder.text(WORKFLOW_FILE).expect("a workflow"));
    BuiltIn { folder, tree }
}

/// What became of a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    /// It does not load: the codes.
    Load(BTreeSet<&'static str>),
    /// It is not proved: the codes.
    Proof(BTreeSet<&'static str>),
    /// It is proved, and one of its own scenarios fails.
    Scenario(String),
    /// Nothing objects.
    Survived,
}

fn examine(built_in: &BuiltIn, tree: &Tree) -> Outcome {
    let mut text = String::new();
    tree.write(&mut text);
    let mut folder = built_in.folder.clone();
    folder.files.insert(WORKFLOW_FILE.to_owned(), text.into_bytes());
    let loaded = load(&folder);
    let codes: BTreeSet<&'static str> = loaded.problems.iter().map(|it| it.code).collect();
    if loaded.workflow.is_none() || loaded.problems.iter().any(|it| it.stage == Stage::Load) {
        return Outcome::Load(codes);
    }
    // What is declared and not used is known without walking.
    if !codes.is_empty() {
        return Outcome::Proof(codes);
    }
    let workflow = loaded.workflow.expect("it loads");
    let found: BTreeSet<&'static str> = check(&workflow).problems.iter().map(|it| it.code).collect();
    if !found.is_empty() {
        return Outcome::Proof(found);
    }
    failing_scenario(&folder, &workflow).map_or(Outcome::Survived, Outcome::Scenario)
}

/// The first of a folder's own scenarios that does not go as it says.
fn failing_scenario(folder: &Folder, workflow: &Workflow) -> Option<String> {
    folder.files.keys().filter(|it| it.starts_with("scenarios/")).find_map(|file| {
        let (scenario, problems) = parse_scenario(workflow, file, folder.text(file).expect("a text"));
        let fine = problems.is_empty()
            && scenario.is_some_and(|it| {
                perform(workflow, &it, &mut Coverage::of(workflow)).is_ok_and(|it| it.complaints.is_empty())
            });
        let name = file.trim_start_matches("scenarios/").trim_end_matches(".yaml");
        (!fine).then(|| name.to_owned())
    })
}

// Mutants ----------------------------------------------------------------------------------------------------------

/// What was done, in the order of the document.
const OPERATORS: &[(&str, &str)] = &[
    ("drop-route", "one signal of an `on` or of `defaults`, or a `then`, loses its route"),
    ("drop-answer", "one answer of a question loses its route"),
    ("drop-arm", "one arm of several is gone"),
    ("drop-spend", "an arm no longer spends; its `else` goes with it"),
    ("drop-else", "nothing is said for when the budget is used up"),
    ("past-the-gate", "an arm that led to a judge leads to where the judge's pass leads"),
    ("drop-need", "one gate of a `needs` is gone"),
    ("drop-forced", "a gate is passed without saying so"),
    ("judge-may-write", "a judge may write a document it judges"),
    ("per-in-the-loop", "a budget is filled by a state that spends it"),
    ("drop-maybe", "something that may be absent is given as if it never were"),
];

struct Mutant {
    operator: &'static str,
    /// Where, and what: unique in its workflow.
    what: String,
    tree: Tree,
}

/// A machine of the file: where it stands, and its child's name and a dot.
fn machines(tree: &Tree) -> Vec<(Vec<Part>, String)> {
    let mut found = vec![(Vec::new(), String::new())];
    for (child, _) in tree.get("children").map(Tree::entries).unwrap_or_default() {
        found.push((vec![key("children"), key(child)], format!("{child}.")));
    }
    found
}

fn states<'t>(tree: &'t Tree, machine: &[Part]) -> &'t [(String, Tree)] {
    tree.at(machine).and_then(|it| it.get("states")).map(Tree::entries).unwrap_or_default()
}

/// The places of all cells of a machine: where the arms stand, and what they are called.
fn cells(tree: &Tree, machine: &[Part], prefix: &str) -> Vec<(Vec<Part>, String)> {
    let mut found = Vec::new();
    let defaults = tree.at(machine).and_then(|it| it.get("defaults")).map(Tree::entries).unwrap_or_default();
    for (signals, _) in defaults {
        found.push((join(machine, &[key("defaults"), key(signals)]), format!("{prefix}defaults {signals}")));
    }
    for (name, state) in states(tree, machine) {
        let place = join(machine, &[key("states"), key(name)]);
        for (signals, _) in state.get("on").map(Tree::entries).unwrap_or_default() {
            found.push((join(&place, &[key("on"), key(signals)]), format!("{prefix}{name} {signals}")));
        }
        for word in ["then", "choose"] {
            if state.get(word).is_some() {
                found.push((join(&place, &[key(word)]), format!("{prefix}{name} {word}")));
            }
        }
    }
    found
}

/// The places of all arms in a cell, those of `else` included.
fn arms(tree: &Tree, cell: &[Part], name: &str) -> Vec<(Vec<Part>, String)> {
    let mut found = Vec::new();
    let count = tree.at(cell).map_or(0, |it| it.items().len());
    for at in 0..count {
        let place = join(cell, &[Part::Item(at)]);
        let name = if count > 1 { format!("{name} arm {}", at + 1) } else { name.to_owned() };
        if tree.at(&place).is_some_and(|it| it.get("else").is_some()) {
            found.extend(arms(tree, &join(&place, &[key("else")]), &format!("{name} else")));
        }
        found.push((place, name));
    }
    found
}

fn mutants(tree: &Tree) -> Vec<Mutant> {
    let mut found: Vec<Mutant> = Vec::new();
    let mut add = |operator: &'static str, what: String, change: &dyn Fn(&mut Tree)| {
        let mut changed = tree.clone();
        change(&mut changed);
        if changed != *tree {
            found.push(Mutant { operator, what, tree: changed });
        }
    };
    for (machine, prefix) in machines(tree) {
        drop_routes(tree, &machine, &prefix, &mut add);
        for (cell, name) in cells(tree, &machine, &prefix) {
            change_arms(tree, &machine, &cell, &name, &mut add);
        }
        drop_needs(tree, &machine, &prefix, &mut add);
        judges_may_write(tree, &machine, &prefix, &mut add);
        fill_in_the_loop(tree, &machine, &prefix, &mut add);
    }
    drop_maybes(tree, &mut add);
    found
}

type Add<'a> = &'a mut dyn FnMut(&'static str, String, &dyn Fn(&mut Tree));

fn drop_routes(tree: &Tree, machine: &[Part], prefix: &str, add: Add<'_>) {
    let mut tables = vec![(join(machine, &[key("defaults")]), format!("{prefix}defaults"), "drop-route")];
    for (name, state) in states(tree, machine) {
        let place = join(machine, &[key("states"), key(name)]);
        if state.get("then").is_some() {
            add("drop-route", format!("{prefix}{name} then"), &|it| it.at_mut(&place).remove("then"));
        }
        let operator = if state.get("ask").is_some() { "drop-answer" } else { "drop-route" };
        tables.push((join(&place, &[key("on")]), format!("{prefix}{name}"), operator));
    }
    for (place, name, operator) in tables {
        for (signals, _) in tree.at(&place).map(Tree::entries).unwrap_or_default() {
            let words: Vec<&str> = signals.split('|').map(str::trim).collect();
            for word in &words {
                let rest: Vec<&str> = words.iter().filter(|it| *it != word).copied().collect();
                add(operator, format!("{name} {word}"), &|it| {
                    let entries = it.at_mut(&place).entries_mut();
                    if rest.is_empty() {
                        entries.retain(|(it, _)| it != signals);
                    } else if let Some((it, _)) = entries.iter_mut().find(|(it, _)| it == signals) {
                        *it = rest.join(" | ");
                    }
                });
            }
        }
    }
}

fn change_arms(tree: &Tree, machine: &[Part], cell: &[Part], name: &str, add: Add<'_>) {
    if let Some(Tree::List(items)) = tree.at(cell)
        && items.len() > 1
    {
        for at in 0..items.len() {
            add("drop-arm", format!("{name} arm {}", at + 1), &|it| {
                if let Tree::List(items) = it.at_mut(cell) {
                    items.remove(at);
                }
            });
        }
    }
    for (place, name) in arms(tree, cell, name) {
        let arm = tree.at(&place).expect("an arm");
        let drop = |keys: &'static [&'static str]| {
            let place = place.clone();
            move |it: &mut Tree| keys.iter().for_each(|key| it.at_mut(&place).remove(key))
        };
        if arm.get("spend").is_some() {
            add("drop-spend", name.clone(), &drop(&["spend", "else"]));
        }
        if arm.get("else").is_some() {
            add("drop-else", name.clone(), &drop(&["else"]));
        }
        if arm.get("forced").is_some() {
            add("drop-forced", name.clone(), &drop(&["forced"]));
        }
        let target = arm.text().or_else(|| arm.get("to").and_then(Tree::text)).unwrap_or_default();
        if let Some(beyond) = beyond(tree, machine, target) {
            add("past-the-gate", format!("{name}: {target} -> {beyond}"), &|it| match it.at_mut(&place) {
                Tree::Map(entries) => {
                    let to = entries.iter_mut().find(|(it, _)| it == "to").map(|(_, it)| it);
                    *to.expect("a target") = Tree::word(&beyond);
                }
                other => *other = Tree::word(&beyond),
            });
        }
    }
}

/// Where the pass of a judge leads; nowhere if the state is no judge.
fn beyond(tree: &Tree, machine: &[Part], state: &str) -> Option<String> {
    let judge = tree.at(&join(machine, &[key("states"), key(state)]))?;
    judge.get("judges")?;
    let best = judge.get("then").or_else(|| judge.get("on")?.entries().first().map(|(_, it)| it))?;
    let first = best.items().first().copied()?;
    let to = first.text().or_else(|| first.get("to").and_then(Tree::text))?;
    (to != state && to != "again" && to != "back").then(|| to.to_owned())
}

fn drop_needs(tree: &Tree, machine: &[Part], prefix: &str, add: Add<'_>) {
    for (name, state) in states(tree, machine) {
        let place = join(machine, &[key("states"), key(name), key("needs")]);
        let Some(needs) = state.get("needs") else { continue };
        let rows: Vec<Option<&str>> = if needs.get("by").is_some() {
            needs.entries().iter().map(|(it, _)| it.as_str()).filter(|it| *it != "by").map(Some).collect()
        } else {
            vec![None]
        };
        for row in rows {
            let place = row.map_or_else(|| place.clone(), |it| join(&place, &[key(it)]));
            let label = row.map_or_else(String::new, |it| format!(" ({it})"));
            for gate in tree.at(&place).map(Tree::words).unwrap_or_default() {
                add("drop-need", format!("{prefix}{name}{label} {gate}"), &|it| {
                    let here = it.at_mut(&place);
                    *here = Tree::List(here.words().into_iter().filter(|it| *it != gate).map(Tree::word).collect());
                });
            }
        }
    }
}

fn judges_may_write(tree: &Tree, machine: &[Part], prefix: &str, add: Add<'_>) {
    for (name, state) in states(tree, machine) {
        let (Some(role), Some(judges)) = (state.get("review").and_then(Tree::text), state.get("judges")) else { continue };
        let mut judged: Vec<&str> = judges.words();
        judged.extend(judges.entries().iter().filter(|(it, _)| it != "by").flat_map(|(_, it)| it.words()));
        for document in judged {
            let places = [join(machine, &[key("states"), key(name)]), vec![key("roles"), key(role)]];
            add("judge-may-write", format!("{prefix}{name} ({role}) {document}"), &|it| {
                for (at, place) in places.iter().enumerate() {
                    // A state that narrows its role has to be widened as well.
                    let here = it.at_mut(place);
                    if at == 0 && here.get("may-write").is_none() {
                        continue;
                    }
                    let mut list: Vec<Tree> =
                        here.get("may-write").map(|it| it.items().into_iter().cloned().collect()).unwrap_or_default();
                    list.push(Tree::word(document));
                    here.put("may-write", Tree::List(list));
                }
            });
        }
    }
}

fn fill_in_the_loop(tree: &Tree, machine: &[Part], prefix: &str, add: Add<'_>) {
    let budgets = tree.at(machine).and_then(|it| it.get("budgets")).map(Tree::entries).unwrap_or_default();
    for (budget, declared) in budgets {
        let per: Vec<&str> = declared.get("per").map(Tree::words).unwrap_or_default();
        if per == ["visit"] {
            continue;
        }
        for (name, _) in states(tree, machine) {
            let own = cells(tree, machine, "").into_iter().filter(|(place, _)| place.contains(&key(name)));
            let spends = own
                .flat_map(|(place, name)| arms(tree, &place, &name))
                .any(|(place, _)| tree.at(&place).and_then(|it| it.get("spend")).and_then(Tree::text) == Some(budget));
            if !spends || per.contains(&name.as_str()) {
                continue;
            }
            let place = join(machine, &[key("budgets"), key(budget)]);
            add("per-in-the-loop", format!("{prefix}{budget} {name}"), &|it| {
                let here = it.at_mut(&place);
                let states = per.iter().copied().chain([name.as_str()]).map(Tree::word).collect();
                if here.get("limit").is_none() {
                    *here = Tree::Map(vec![("limit".to_owned(), here.clone())]);
                }
                here.put("per", Tree::List(states));
            });
        }
    }
}

fn drop_maybes(tree: &Tree, add: Add<'_>) {
    let mut waiting: Vec<(Vec<Part>, &Tree)> = vec![(Vec::new(), tree)];
    while let Some((place, here)) = waiting.pop() {
        match here {
            Tree::Map(entries) => {
                waiting.extend(entries.iter().rev().map(|(it, value)| (join(&place, &[key(it)]), value)));
            }
            Tree::List(items) => {
                waiting.extend(items.iter().enumerate().rev().map(|(at, it)| (join(&place, &[Part::Item(at)]), it)));
            }
            Tree::Text { text, .. } => {
                let Some(name) = text.strip_prefix("maybe ") else { continue };
                let keys: Vec<&str> = place
                    .iter()
                    .filter_map(|it| match it {
                        Part::Key(key) => Some(key.as_str()),
                        Part::Item(_) => None,
                    })
                    .collect();
                add("drop-maybe", format!("{}: {name}", keys.join(".")), &|it| {
                    *it.at_mut(&place) = Tree::Text { text: name.to_owned(), plain: false };
                });
            }
        }
    }
}

// Reasons ----------------------------------------------------------------------------------------------------------

/// Why a mutant that `check` proves need not be caught. Each holds because it *is* proved: the change leaves a workflow
/// that still has everything `check` promises.
fn reason(mutant: &Mutant, original: &Tree) -> Option<&'static str> {
    let what = mutant.what.as_str();
    Some(match mutant.operator {
        "drop-route" if what.starts_with("defaults") || what.contains(".defaults") => {
            "another default, or the states' own routes, cover these signals"
        }
        "drop-route" | "drop-answer" => {
            let word = what.rsplit(' ').next().unwrap_or_default();
            if what.contains("verb ") {
                "a verb that is not listed is refused, and others lead on"
            } else if is_implied(word) {
                "the language has a route of its own for it"
            } else {
                let defaults = original.get("defaults").map(Tree::entries).unwrap_or_default();
                let covered = defaults.iter().any(|(it, _)| it.split('|').any(|it| it.trim() == word || it.trim() == "failures"));
                covered.then_some("the defaults have a route for it, which leads on soundly")?
            }
        }
        "drop-arm" | "drop-else" => "the arms after it cover its cases, and lead on soundly",
        "drop-spend" => "every loop through it still spends another budget, or waits for a person",
        "past-the-gate" => "nothing that follows needs this gate as it stands there: it is judged again before it counts",
        "drop-need" => "proved to be settled there anyway; the need only guards against edits by hand",
        "drop-forced" => "nothing that follows needs the gate",
        "per-in-the-loop" => "every loop through it still spends another budget, or waits for a person",
        "drop-maybe" => {
            let name = what.rsplit(": ").next().unwrap_or_default();
            if ["docs.", "last.", "inputs."].iter().any(|it| name.starts_with(it)) {
                "proved to be there on every path, so `maybe` was only caution"
            } else {
                "always there, if only empty"
            }
        }
        _ => return None,
    })
}

fn is_implied(word: &str) -> bool {
    word == "empty" || word == "stale"
}

// The document -----------------------------------------------------------------------------------------------------

struct Played {
    workflow: String,
    mutant: Mutant,
    outcome: Outcome,
    reason: Option<&'static str>,
}

fn id(workflow: &str, mutant: &Mutant) -> String {
    format!("{workflow}: {}: {}", mutant.operator, mutant.what)
}

fn line(played: &Played) -> String {
    let how = match &played.outcome {
        Outcome::Scenario(name) => format!("changes what is done: scenario `{name}` fails"),
        _ => played.reason.unwrap_or("UNEXPLAINED").to_owned(),
    };
    format!("- `{}`: {how}", id(&played.workflow, &played.mutant))
}

fn percent(part: usize, whole: usize) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{}.{} %", part * 100 / whole, part * 1000 / whole % 10) }
}

const HEAD: &str = "# Mutants

Every built-in workflow, changed in one small place at a time, mechanically. What `loopwright check` makes of the change
is counted here; what it lets pass is listed, each with the reason why that is no hole.

This page is written by a test. A plain `cargo test` plays a sample of the mutants and holds it against this page; all of
them are played, and the page is written anew, by

    LOOPWRIGHT_MUTANTS=update cargo test --release -p loopwright-core --test mutants

A mutant is *caught* when it does not load or is not proved. One that is proved all the same is played against the
workflow's own scenarios, as `loopwright test` would: a scenario that fails says that the change is sound and does
something else. What is left *survives*.

";

fn document(all: &[Played]) -> String {
    let mut text = HEAD.to_owned();
    let caught = |it: &&Played| matches!(it.outcome, Outcome::Load(_) | Outcome::Proof(_));
    let mut row = |label: &str, of: &[&Played]| {
        let count = |wanted: &dyn Fn(&Outcome) -> bool| of.iter().filter(|it| wanted(&it.outcome)).count();
        let found = of.iter().copied().filter(|it| caught(it)).count();
        writeln!(
            text,
            "| {label} | {} | {} | {} | {} | {} | {} |",
            of.len(),
            count(&|it| matches!(it, Outcome::Load(_))),
            count(&|it| matches!(it, Outcome::Proof(_))),
            percent(found, of.len()),
            count(&|it| matches!(it, Outcome::Scenario(_))),
            count(&|it| *it == Outcome::Survived),
        )
        .expect("a string takes everything");
    };
    let head = "mutants | do not load | are not proved | caught | fail a scenario | survive |\n|---|---|---|---|---|---|---|";
    let mut table = |title: &str, rows: Vec<(String, Vec<&Played>)>| {
        row(&format!("{title}\u{0}"), &[]);
        for (label, of) in rows {
            row(&label, &of);
        }
    };
    let operators: Vec<(String, Vec<&Played>)> = OPERATORS
        .iter()
        .map(|(name, what)| (format!("`{name}`: {what}"), all.iter().filter(|it| it.mutant.operator == *name).collect()))
        .chain([("**in all**".to_owned(), all.iter().collect())])
        .collect();
    table("operator", operators);
    let names: BTreeSet<&String> = all.iter().map(|it| &it.workflow).collect();
    let workflows = names.iter().map(|name| (format!("`{name}`"), all.iter().filter(|it| it.workflow == **name).collect()));
    table("workflow", workflows.collect());
    // The heads of the tables were marked, because a row needs its columns first.
    let mut text = text
        .lines()
        .map(|line| match line.split_once('\u{0}') {
            Some((title, _)) => format!("\n{title} | {head}"),
            None => line.to_owned(),
        })
        .collect::<Vec<_>>()
        .join("\n");
    text.push_str("\n\n## What catches them\n\n| code | mutants |\n|---|---|\n");
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for played in all {
        if let Outcome::Load(found) | Outcome::Proof(found) = &played.outcome {
            found.iter().for_each(|it| *codes.entry(it).or_insert(0) += 1);
        }
    }
    for (code, count) in codes {
        writeln!(text, "| `{code}` | {count} |").expect("a string takes everything");
    }
    text.push_str("\n## What is proved all the same\n");
    for (operator, _) in OPERATORS {
        let left: Vec<&Played> = all.iter().filter(|it| it.mutant.operator == *operator && !caught(it)).collect();
        if !left.is_empty() {
            write!(text, "\n### {operator}\n\n").expect("a string takes everything");
            for played in left {
                writeln!(text, "{}", line(played)).expect("a string takes everything");
            }
        }
    }
    text
}

// Tests ------------------------------------------------------------------------------------------------------------

fn document_file() -> PathBuf {
    repository().join("docs/mutants.md")
}

/// The first so many by a hash of their names: the same in every run, and no neighbours.
fn sample(workflow: &str, mut all: Vec<Mutant>, most: usize) -> Vec<Mutant> {
    all.sort_by_key(|it| *blake3::hash(id(workflow, it).as_bytes()).as_bytes());
    all.truncate(most);
    all
}

fn play(name: &str, most: Option<usize>) -> Vec<Played> {
    let built_in = built_in(name);
    let all = mutants(&built_in.tree);
    let chosen = match most {
        Some(most) => sample(name, all, most),
        None => all,
    };
    chosen
        .into_iter()
        .map(|mutant| {
            let outcome = examine(&built_in, &mutant.tree);
            let reason = reason(&mutant, &built_in.tree);
            Played { workflow: name.to_owned(), mutant, outcome, reason }
        })
        .collect()
}

/// Read, written and read again, every built-in is what it was.
#[test]
fn trees_keep_their_meaning() {
    for (name, _) in SAMPLE {
        let built_in = built_in(name);
        let mut text = String::new();
        built_in.tree.write(&mut text);
        assert_eq!(read_tree(&text).entries().len(), built_in.tree.entries().len(), "{name}");
        let mut folder = built_in.folder.clone();
        folder.files.insert(WORKFLOW_FILE.to_owned(), text.into_bytes());
        let loaded = load(&folder);
        assert!(loaded.problems.is_empty(), "{name}: {:?}", loaded.problems);
        let workflow = loaded.workflow.expect("it loads");
        assert_eq!(failing_scenario(&folder, &workflow), None, "{name}");
    }
}

/// No two mutants are called alike, and every operator has work in some built-in.
#[test]
fn mutants_have_names_of_their_own() {
    let mut operators: BTreeSet<&str> = BTreeSet::new();
    for (name, _) in SAMPLE {
        let all = mutants(&built_in(name).tree);
        let names: BTreeSet<String> = all.iter().map(|it| id(name, it)).collect();
        assert_eq!(names.len(), all.len(), "{name}: two mutants with one name");
        operators.extend(all.iter().map(|it| it.operator));
    }
    assert_eq!(operators, OPERATORS.iter().map(|(it, _)| *it).collect());
}

#[test]
fn every_mutant_is_caught_or_explained() {
    let wanted = env::var("LOOPWRIGHT_MUTANTS").unwrap_or_default();
    let whole = matches!(wanted.as_str(), "all" | "update");
    let played: Vec<Played> =
        SAMPLE.iter().flat_map(|(name, most)| play(name, (!whole).then_some(*most))).collect();
    let unexplained: Vec<String> = played
        .iter()
        .filter(|it| it.outcome == Outcome::Survived && it.reason.is_none())
        .map(|it| id(&it.workflow, &it.mutant))
        .collect();
    if whole {
        let text = document(&played);
        if wanted == "update" {
            fs::write(document_file(), &text).expect("docs/mutants.md can be written");
        }
        let known = fs::read_to_string(document_file()).expect("docs/mutants.md");
        assert!(known == text, "docs/mutants.md is not what the mutants say: run with LOOPWRIGHT_MUTANTS=update");
    }
    assert!(unexplained.is_empty(), "survived, and no reason says why:\n{}", unexplained.join("\n"));
    let known = fs::read_to_string(document_file()).expect("docs/mutants.md");
    let listed: BTreeSet<&str> = known.lines().filter(|it| it.starts_with("- `")).collect();
    let mut wrong = Vec::new();
    for it in &played {
        let caught = matches!(it.outcome, Outcome::Load(_) | Outcome::Proof(_));
        let name = format!("- `{}`", id(&it.workflow, &it.mutant));
        let is_listed = listed.iter().any(|line| line.starts_with(&name));
        if caught && is_listed {
            wrong.push(format!("{name}: listed as proved, and caught: {:?}", it.outcome));
        } else if !caught && !listed.contains(line(it).as_str()) {
            wrong.push(format!("proved, and docs/mutants.md does not say so: {}", line(it)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the document counts is what there is to play.
#[test]
fn the_document_counts_every_mutant() {
    let known = fs::read_to_string(document_file()).expect("docs/mutants.md");
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (name, _) in SAMPLE {
        for mutant in mutants(&built_in(name).tree) {
            *counts.entry(format!("`{}`", mutant.operator)).or_insert(0) += 1;
            *counts.entry(format!("`{name}`")).or_insert(0) += 1;
            *counts.entry("**in all**".to_owned()).or_insert(0) += 1;
        }
    }
    for (label, count) in counts {
        let row = known.lines().find(|it| it.starts_with(&format!("| {label}")));
        let said = row.and_then(|it| it.split(" | ").nth(1));
        if said != Some(count.to_string().as_str()) {
            wrong.push(format!("{label}: {count} mutants, the document says {said:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
