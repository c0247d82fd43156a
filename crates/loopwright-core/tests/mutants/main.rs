//! Mutants of the built-in workflows: one small change each, made by a program. `check` has to catch it, or there is a
//! reason why it need not.
//!
//! `docs/mutants.md` says what becomes of every one. A plain run plays a sample, always the same one, and holds it
//! against the document; `LOOPWRIGHT_MUTANTS=all` plays all of them, `LOOPWRIGHT_MUTANTS=update` does and writes the
//! document anew. Names of built-ins behind either word (`update vibe`) leave the others as the document has them.
#![expect(clippy::disallowed_methods, reason = "a test reads the workflows and the document")]
#![expect(clippy::expect_used, clippy::panic, reason = "a test")]

mod budgets;
mod examine;
mod file;
#[path = "../shared/folders.rs"]
mod folders;
mod gates;
mod inputs;
mod operators;
mod page;
mod routes;
mod survivors;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::{env, fs};

use examine::{BuiltIn, Outcome, failing_scenario, meaning};
use folders::repository;
use loopwright_core::language::load;
use operators::{Mutant, OPERATORS, mutants};
use page::Entry;

/// The built-ins, in the order of the document.
const BUILT_INS: [&str; 6] = ["change", "feature", "issue", "task", "team", "vibe"];

/// A plain run plays one mutant of each operator and built-in. Those of the largest one take long: it gets so many.
const LARGEST: (&str, usize) = ("team", 4);

fn page_file() -> PathBuf {
    repository().join("docs/mutants.md")
}

fn read_page() -> String {
    fs::read_to_string(page_file()).expect("docs/mutants.md")
}

/// What the document says of a mutant.
fn outcome(built_in: &str, mutant: &Mutant, outcome: &Outcome) -> String {
    let listed =
        |codes: &BTreeSet<&str>| codes.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
    match outcome {
        Outcome::Load(codes) => format!("{}{}", page::LOAD, listed(codes)),
        Outcome::Proof(codes) => format!("{}{}", page::PROOF, listed(codes)),
        Outcome::Scenario(name) => format!("{}`{name}`", page::SCENARIO),
        Outcome::Same => format!("{}the two files mean the same", page::EQUIVALENT),
        Outcome::NeverComes => format!("{}`check` proves that no run brings this signal", page::EQUIVALENT),
        Outcome::Survived => survivors::explain(built_in, mutant),
    }
}

/// Those a plain run plays: the first by a hash of their names, so that they are the same in every run and no
/// neighbours.
fn sample(built_in: &str, all: Vec<Mutant>) -> Vec<Mutant> {
    let hash = |it: &Mutant| *blake3::hash(format!("{built_in} {}", it.what).as_bytes()).as_bytes();
    let mut chosen: BTreeMap<&str, Mutant> = BTreeMap::new();
    for mutant in all {
        let known = chosen.get(mutant.operator);
        if known.is_none_or(|it| hash(&mutant) < hash(it)) {
            chosen.insert(mutant.operator, mutant);
        }
    }
    let mut chosen: Vec<Mutant> = chosen.into_values().collect();
    chosen.sort_by_key(hash);
    chosen.truncate(if built_in == LARGEST.0 { LARGEST.1 } else { usize::MAX });
    chosen
}

/// Plays mutants of a built-in, all of them or the sample, in the order of the document.
fn play(name: &str, all: bool) -> Vec<Entry> {
    let built_in = BuiltIn::read(name);
    let made = mutants(&built_in.tree);
    let chosen = if all { made } else { sample(name, made) };
    let entries = chosen.iter().map(|it| Entry {
        built_in: name.to_owned(),
        operator: it.operator.to_owned(),
        what: it.what.clone(),
        outcome: outcome(name, it, &built_in.examine(&it.tree)),
    });
    in_order(entries.collect())
}

fn in_order(mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.sort_by_key(|entry| OPERATORS.iter().position(|(it, _)| *it == entry.operator));
    entries
}

/// Written out again without a change, a built-in means what it did. What mutants are held against is sound.
#[test]
fn an_unchanged_tree_is_the_workflow() {
    for name in BUILT_INS {
        let built_in = BuiltIn::read(name);
        let folder = built_in.with(&built_in.tree);
        let loaded = load(&folder);
        assert!(loaded.problems.is_empty(), "{name}: {:?}", loaded.problems);
        let workflow = loaded.workflow.expect("it loads");
        assert!(
            meaning(&workflow) == meaning(&built_in.workflow),
            "{name} means something else when it is written again"
        );
        assert_eq!(failing_scenario(&folder, &workflow), None, "{name}");
    }
}

/// No two mutants are called alike, and every operator has work in some built-in.
#[test]
fn mutants_have_names_of_their_own() {
    let mut operators: BTreeSet<&str> = BTreeSet::new();
    for name in BUILT_INS {
        let all = mutants(&BuiltIn::read(name).tree);
        let names: BTreeSet<(&str, &str)> = all.iter().map(|it| (it.operator, it.what.as_str())).collect();
        assert_eq!(names.len(), all.len(), "{name}: two mutants with one name");
        operators.extend(all.iter().map(|it| it.operator));
    }
    assert_eq!(operators, OPERATORS.iter().map(|(it, _)| *it).collect());
}

#[test]
fn the_document_says_what_becomes_of_every_mutant() {
    let wanted = env::var("LOOPWRIGHT_MUTANTS").unwrap_or_default();
    let (word, names) = wanted.split_once(' ').unwrap_or((&wanted, ""));
    assert!(matches!(word, "" | "all" | "update"), "LOOPWRIGHT_MUTANTS is `all` or `update`, not `{word}`");
    let named: Vec<&str> = names.split_whitespace().collect();
    let is_wanted = |name: &str| named.is_empty() || named.contains(&name);
    let chosen = BUILT_INS.into_iter().filter(|it| is_wanted(it));
    let played: Vec<Entry> = chosen.flat_map(|name| play(name, !word.is_empty())).collect();
    if word == "update" {
        let known = if named.is_empty() { Vec::new() } else { page::read(&read_page()) };
        let kept = known.into_iter().filter(|it| !is_wanted(&it.built_in));
        let mut entries: Vec<Entry> = kept.chain(played.iter().cloned()).collect();
        entries.sort_by_key(|entry| BUILT_INS.iter().position(|it| *it == entry.built_in));
        fs::write(page_file(), page::write(&entries)).expect("docs/mutants.md can be written");
    }
    let text = read_page();
    let listed = page::read(&text);
    let mut wrong: Vec<String> = Vec::new();
    for it in &played {
        if !listed.contains(it) {
            wrong.push(format!("{}: {}: {}: {}", it.built_in, it.operator, it.what, it.outcome));
        }
    }
    assert!(wrong.is_empty(), "docs/mutants.md says otherwise; {UPDATE}:\n{}", wrong.join("\n"));
    // The figures are those of the list, and the list is complete.
    assert!(page::write(&listed) == text, "docs/mutants.md is not what its own list comes to; {UPDATE}");
    let name = |it: &Entry| (it.built_in.clone(), it.operator.clone(), it.what.clone());
    let made: Vec<(String, String, String)> = BUILT_INS
        .iter()
        .flat_map(|built_in| {
            let entries = mutants(&BuiltIn::read(built_in).tree).into_iter().map(|it| Entry {
                built_in: (*built_in).to_owned(),
                operator: it.operator.to_owned(),
                what: it.what,
                outcome: String::new(),
            });
            in_order(entries.collect())
        })
        .map(|it| name(&it))
        .collect();
    assert!(listed.iter().map(name).eq(made), "docs/mutants.md lists other mutants than are made; {UPDATE}");
    let unexplained: Vec<&Entry> =
        listed.iter().filter(|it| it.outcome.ends_with(survivors::UNEXPLAINED)).collect();
    assert!(unexplained.is_empty(), "these survive, and nothing says why: {unexplained:#?}");
    let superfluous = survivors::superfluous(&listed);
    assert!(superfluous.is_empty(), "reasons for mutants that do not survive: {superfluous:#?}");
}

const UPDATE: &str = "if that is meant, run with LOOPWRIGHT_MUTANTS=update and read the difference";
