//! The proof does not lie: what `check` says of generated workflows, held against what the machine does with them.
//!
//! Every claim is held for itself, in workflows that are proved and in those that are not: what has a route, what ends
//! within the bound, which gates are settled where they are needed, which properties hold, what can be reached. And
//! every run that is shown plays on the machine, and shows what it is said to show.
//!
//! `LOOPWRIGHT_SEED` and `LOOPWRIGHT_CASES` look elsewhere, or further; `LOOPWRIGHT_KIND` at one kind of lie only.
#![expect(clippy::expect_used, reason = "these are tests")]
#![expect(clippy::cast_possible_truncation, reason = "what is made up is small")]
#![expect(clippy::disallowed_methods, reason = "a test may be told where to look")]

mod author;
mod back;
mod books;
mod claims;
mod dice;
mod generator;
mod kinds;
mod mend;
mod paths;
mod routes;
mod seen;
mod shrink;
mod states;
mod texts;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use loopwright_core::check::check;

use crate::author::loaded;
use crate::claims::{Claims, Lie};
use crate::paths::Listed;
use crate::world::People;

/// How often each workflow is played, from each of its beginnings and with each kind of people.
const PLAYS: u64 = 12;

/// What was found out about one workflow.
struct Examined {
    proved: bool,
    /// What there is in it, and what happened in its plays.
    kinds: BTreeSet<&'static str>,
    listed: Listed,
    codes: BTreeSet<&'static str>,
    lies: Vec<Lie>,
}

/// Checks a workflow and holds the proof against the world.
fn examined(text: &str, salt: u64, plays: u64) -> Result<Examined, String> {
    let workflow = loaded(text).map_err(|it| format!("load: {}", it.join("; ")))?;
    let report = check(&workflow);
    let claims = Claims::of(&workflow, &report);
    let people = [People::Quiet, People::EditAtNeeds, People::EditAtRest];
    let (mut lies, mut kinds) = claims.held_against_the_world(plays, salt, &people);
    kinds.extend(kinds::of_workflow(&workflow));
    lies.extend(paths::that_do_not_replay(&workflow, &report));
    let (untaken, listed) = paths::transitions_that_do_not_play(&workflow, 25);
    lies.extend(untaken);
    let codes = report.problems.iter().map(|it| it.code).collect();
    // Whatever is rejected has a run that shows it.
    let not_shown = report.problems.iter().filter(|it| it.message.starts_with("it was not shown that"));
    lies.extend(not_shown.map(|it| Lie { text: format!("not-shown: {}", it.message), shown_by: None }));
    Ok(Examined { proved: report.is_proved(), kinds, listed, codes, lies })
}

/// What was found out about many.
#[derive(Default)]
struct Tally {
    examined: usize,
    proved: usize,
    /// What there is in those that are proved.
    kinds: BTreeMap<&'static str, usize>,
    /// Transitions of those that are proved, and of the others.
    listed: [Listed; 2],
    codes: BTreeMap<String, usize>,
    left_out: BTreeMap<String, usize>,
    lies: BTreeMap<String, Vec<u64>>,
    /// Workflows of which a run to some transition was found that does not play.
    unplayed: Vec<u64>,
}

/// Kinds of problems that have to come up, or nothing is held against their paths. In so many workflows, a few of each.
const COME_UP: &[&str] = &[
    "commit-unjudged",
    "endless",
    "never-taken",
    "over-cap",
    "property",
    "starved",
    "trapped",
    "undefined-input",
    "unreachable",
    "unread",
    "unrouted",
    "unsettled",
    "unused",
    "vacuous",
];

impl Tally {
    /// A test that looks at nothing finds nothing.
    fn is_not_empty(&self, count: u64) {
        // Of a few, nothing can be said.
        if count < 1_000 {
            return;
        }
        let count = count as usize;
        assert!(self.examined >= count * 9 / 10, "only {} of {count} were examined", self.examined);
        assert!(self.proved >= count / 4, "only {} of {count} were proved", self.proved);
        for (kind, of_hundred) in kinds::AMONG_THE_PROVED {
            let found = self.kinds.get(kind).copied().unwrap_or(0);
            let enough = found * 100 >= self.proved * of_hundred;
            assert!(enough, "only {found} of {} that were proved have {kind}", self.proved);
        }
        let [proved, _] = self.listed;
        let stopped = proved.stopped;
        assert!(stopped * 100 <= proved.known, "{stopped} of {} transitions are stopped", proved.known);
        // Where a run to a transition was found and does not play, the graph is not the machine. `rehearse` says so, and it
        // is rare.
        let unplayed = self.unplayed.len();
        assert!(
            unplayed * 1_000 <= count * 2,
            "{unplayed} of {count} were found something that does not play"
        );
        for code in COME_UP {
            let found = self.codes.get(*code).copied().unwrap_or(0);
            assert!(found >= count / 150, "`{code}` came up only {found} times in {count}");
        }
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(otherwise)
}

fn tallied(from: u64, count: u64) -> Tally {
    let tally = Mutex::new(Tally::default());
    let next = AtomicU64::new(from);
    let workers = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= from + count {
                        return;
                    }
                    let found = examined(&generator::workflow(seed), seed, PLAYS);
                    let mut tally = tally.lock().expect("no other worker fell");
                    match found {
                        Err(why) => *tally.left_out.entry(why).or_insert(0) += 1,
                        Ok(found) => {
                            tally.examined += 1;
                            tally.proved += usize::from(found.proved);
                            let listed = &mut tally.listed[usize::from(!found.proved)];
                            listed.known += found.listed.known;
                            listed.unknown += found.listed.unknown;
                            listed.stopped += found.listed.stopped;
                            listed.unplayed += found.listed.unplayed;
                            if found.listed.unplayed > 0 {
                                tally.unplayed.push(seed);
                            }
                            for kind in found.kinds.into_iter().filter(|_| found.proved) {
                                *tally.kinds.entry(kind).or_insert(0) += 1;
                            }
                            for code in found.codes {
                                *tally.codes.entry(code.to_owned()).or_insert(0) += 1;
                            }
                            let kinds: BTreeSet<&str> = found.lies.iter().map(Lie::kind).collect();
                            for kind in kinds {
                                tally.lies.entry(kind.to_owned()).or_default().push(seed);
                            }
                        }
                    }
                }
            });
        }
    });
    tally.into_inner().expect("no worker fell")
}

/// One lie of a kind, as small as it gets, with everything one needs to see it.
fn told(kind: &str, seeds: &[u64]) -> String {
    let seed = *seeds.iter().min().expect("a seed");
    let lies = |text: &str| examined(text, seed, PLAYS).map(|it| it.lies).unwrap_or_default();
    let text = shrink::shrunk(&generator::workflow(seed), kind, &lies);
    let mut out = format!("==== {kind}: seeds {seeds:?}, here {seed}\n{text}");
    if let Some(lie) = lies(&text).iter().find(|it| it.kind() == kind) {
        let _ = writeln!(out, "---- {}", lie.text);
        if let (Some(shown_by), Ok(workflow)) = (&lie.shown_by, loaded(&text)) {
            let report = check(&workflow);
            let claims = Claims::of(&workflow, &report);
            for problem in &report.problems {
                let _ = writeln!(out, "  {} {}", problem.code, problem.message);
            }
            let _ = writeln!(out, "{}", claims.show(shown_by));
        }
    }
    out
}

/// Small workflows that were lied about once.
#[test]
fn it_does_not_lie_again() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/honest");
    let files = std::fs::read_dir(folder).expect("the cases").map(|it| it.expect("a case").path());
    let mut told: Vec<String> = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        match examined(&text, 0, 25 * PLAYS) {
            Err(why) => told.push(format!("{}: {why}", file.display())),
            Ok(found) => {
                let lie = found.lies.first();
                told.extend(lie.map(|it| format!("{}: {}", file.display(), it.text)));
            }
        }
    }
    assert!(told.is_empty(), "{}", told.join("\n"));
}

/// Where the walk finds a run to a transition that the machine does not play, it is not listed as one that does.
#[test]
fn what_does_not_play_is_not_listed() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/honest");
    let text = std::fs::read_to_string(folder.join("fact-over-findings.yaml")).expect("a text");
    let found = examined(&text, 0, 1).expect("it loads");
    assert!(found.listed.unplayed > 0);
}

#[test]
fn the_proof_does_not_lie() {
    let (from, count) = (number("LOOPWRIGHT_SEED", 0), number("LOOPWRIGHT_CASES", 3_000));
    let tally = tallied(from, count);
    println!(
        "{} workflows examined, {} proved\nwith: {:?}\ntransitions: {:?}\nproblems: {:?}\nleft out: {:?}\nunplayed: {:?}\nlies: {:?}",
        tally.examined,
        tally.proved,
        tally.kinds,
        tally.listed,
        tally.codes,
        tally.left_out,
        tally.unplayed,
        tally.lies
    );
    tally.is_not_empty(count);
    let wanted = std::env::var("LOOPWRIGHT_KIND").ok();
    let lies = tally.lies.iter().filter(|(kind, _)| wanted.as_ref().is_none_or(|it| it == *kind));
    let told: Vec<String> = lies.map(|(kind, seeds)| told(kind, seeds)).collect();
    assert!(told.is_empty(), "{:#?}\n{}", tally.lies, told.join("\n"));
}
