//! One file with many mistakes: all of them are reported in one go, each on its own line, with what to do.
#![expect(clippy::expect_used, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use loopwright_core::language::{Folder, WORKFLOW_FILE, load};
use loopwright_core::problem::{Problem, Stage};

const TEXT: &str = include_str!("data/mistakes.yaml");
/// How many mistakes have to be found in one go at least.
const FEWEST: usize = 20;
/// What marks a line with a mistake.
const MARK: &str = "# wrong: ";

fn problems() -> Vec<Problem> {
    let files = [(WORKFLOW_FILE.to_owned(), TEXT.as_bytes().to_vec())].into();
    load(&Folder { name: "mistakes".into(), files }).problems
}

/// The line a problem lies on, from one.
fn line(problem: &Problem) -> usize {
    assert_eq!(problem.place.file, WORKFLOW_FILE, "{problem}");
    TEXT.get(..problem.place.bytes.start).expect("a place in the text").matches('\n').count() + 1
}

/// Lines with a mistake, and which.
fn planted() -> BTreeMap<usize, &'static str> {
    let lines = TEXT.lines().enumerate();
    lines.filter_map(|(at, it)| Some((at + 1, it.split_once(MARK)?.1))).collect()
}

#[test]
fn every_mistake_is_found_on_its_line() {
    let planted = planted();
    assert!(planted.len() >= FEWEST, "only {} planted", planted.len());
    let found: BTreeSet<usize> = problems().iter().map(line).collect();
    let missed: Vec<String> = planted
        .iter()
        .filter(|(line, _)| !found.contains(line))
        .map(|(line, what)| format!("line {line}: {what}"))
        .collect();
    assert!(missed.is_empty(), "not found:\n{}", missed.join("\n"));
}

/// A mistake is not reported somewhere else as well, nor twice in its place.
#[test]
fn nothing_else_is_reported() {
    let planted = planted();
    let mut seen = BTreeSet::new();
    let too_much: Vec<String> = problems()
        .iter()
        .filter(|it| !planted.contains_key(&line(it)) || !seen.insert(line(it)))
        .map(|it| format!("line {}: {}: {it}", line(it), it.code))
        .collect();
    assert!(too_much.is_empty(), "{}", too_much.join("\n"));
}

/// A part that does not fit is reported once and left out, and its name stays known: what uses it is not wrong as well.
#[test]
fn a_part_that_does_not_fit_keeps_its_name() {
    let good = "workflow: w\nsubject: s\nvars: {m: {in: [a, b], start: a}}\nbudgets: {fixes: 2}\nlists: [notes]\n\
        documents: {code: {files: [\"**\"]}}\nroles: {r: {agent: a, prompt: p, may-write: [code], verdicts: [A, B]}}\n\
        questions: {q: {asks: x, answers: [yes, no]}}\nfacts: {f: {in: [a, b], is: \"git.dirty ? 'a' : 'b'\"}}\n\
        defaults: {failures: e}\nstates:\n  w: {agent: r, on: {A: c, B: {to: t, spend: fixes, else: q}}}\n\
        \x20 t: {check: {run: x}, judges: code, on: {fail: {to: w, set: {m: b}}, pass: d}}\n\
        \x20 q: {ask: q, on: {yes: {to: w, record: notes}, no | deferred: e}}\n\
        \x20 c: {choose: [{when: {f: a, m: a}, to: t}, {to: d}]}\n\
        \x20 d: {needs: [t], end: success}\n  e: {end: failure}\n";
    let found = |text: &str| -> Vec<Problem> {
        let files = [(WORKFLOW_FILE.to_owned(), text.as_bytes().to_vec())].into();
        let loaded = load(&Folder { name: "w".into(), files });
        loaded.problems.into_iter().filter(|it| it.stage == Stage::Load).collect()
    };
    assert_eq!(found(good), [], "the file to be spoiled");
    let mut wrong = Vec::new();
    for (part, spoiled) in [
        ("fixes: 2", "fixes: lots"),
        ("fixes: 2", "fixes: {limit: 2, many: true}"),
        ("code: {files: [\"**\"]}", "code: {file: [\"**\"]}"),
        ("code: {files: [\"**\"]}", "code: {files: [\"/\"]}"),
        ("r: {agent: a, ", "r: {"),
        ("verdicts: [A, B]", "verdicts: [A, B], timeout: soon"),
        ("q: {asks: x, ", "q: {"),
        ("in: [a, b], start: a", "in: [a, b]"),
        ("is: \"git.dirty", "is: \"git.dirt"),
        ("t: {check: {run: x}", "t: {chek: {run: x}"),
        ("c: {choose:", "c: {chose:"),
        ("workflow: w\n", ""),
        ("workflow: w\n", "workflw: w\n"),
        ("roles:", "agents:"),
        ("roles:", "roels:"),
        ("vars:", "variables:"),
        ("states:\n", "state:\n"),
        ("budgets: {fixes: 2}", "budgets: [fixes]"),
        ("lists: [notes]", "lists: {notes: {pre: w}}"),
        ("r: {agent: a, prompt: p", "r: {agent: a"),
        ("r: {agent: a, prompt: p", "r: {agent: {a: b}, prompt: p"),
        ("r: {agent: a, prompt: p", "r: {agent: {{a}}, prompt: p"),
        ("r: {agent: a, prompt: p", "r: {agent: &a a, prompt: p"),
        ("verdicts: [A, B]", "verdicts: [A, {B: C}]"),
        ("verdicts: [A, B]", "verdicts: []"),
        ("answers: [yes, no]", "answers: []"),
        ("answers: [yes, no]", "answer: 1"),
        ("in: [a, b], start: a", "in: [], start: a"),
        ("in: [a, b], start: a", "in: {a: b}, start: a"),
        ("f: {in: [a, b]", "f: {in: [a, {b: c}]"),
        ("judges: code", "judgse: code"),
        ("judges: code, ", ""),
        ("{needs: [t], end: success}", "{needs: [t], ned: success}"),
        ("{needs: [t], end: success}", "{needs: [t], end: sucess}"),
        ("w: {agent: r,", "w: {agent: R,"),
        ("w: {agent: r,", "w: {agent: [r],"),
        ("w: {agent: r,", "w: {agent: r, check: project.test,"),
        ("w: {agent: r,", "w: {"),
        ("q: {ask: q,", "q: {ask: {q: q},"),
        ("spend: fixes", "spnd: fixes"),
        ("{fail: {to: w", "{fail: {too: w"),
        ("when: {f: a", "wehn: {f: a"),
        ("facts:", "<<: {}\nfacts:"),
        ("facts:", "roles: {r: {agent: b, prompt: x}}\nfacts:"),
    ] {
        let text = good.replace(part, spoiled);
        assert_ne!(text, good, "{part}");
        let said = found(&text);
        if said.len() != 1 {
            let said: Vec<String> = said.iter().map(|it| format!("{}: {it}", it.code)).collect();
            wrong.push(format!("`{spoiled}`: {}", said.join("; ")));
        }
    }
    assert!(wrong.is_empty(), "one mistake, not one finding:\n{}", wrong.join("\n"));
}

#[test]
fn each_says_what_is_wrong_and_what_to_do() {
    let mut said = String::new();
    let mut sorted = problems();
    sorted.sort_by_key(|it| (line(it), it.code));
    for problem in &sorted {
        let help = problem.help.as_deref().unwrap_or_default();
        assert!(!help.is_empty(), "line {}: {problem}: does not say what to do", line(problem));
        writeln!(said, "{}: {}: {problem} / {help}", line(problem), problem.code)
            .expect("a string takes everything");
    }
    insta::with_settings!({snapshot_path => "data", prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("mistakes", said);
    });
}
