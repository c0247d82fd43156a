//! Good workflows with a few edits: checked or refused.

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;

use loopwright_core::language::{Folder, WORKFLOW_FILE, load};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::folders::{files_below, repository};
use crate::{GOOD, examine_bytes, examine_folder};

fn built_ins() -> Vec<Folder> {
    let mut paths: Vec<PathBuf> = fs::read_dir(repository().join("workflows"))
        .expect("workflows")
        .map(|it| it.expect("an entry").path())
        .collect();
    paths.sort();
    paths
        .iter()
        .filter(|it| it.is_dir())
        .map(|path| {
            let mut folder = Folder {
                name: path.file_name().expect("a name").to_string_lossy().into_owned(),
                ..Folder::default()
            };
            files_below(path, "", &mut folder);
            folder
        })
        .collect()
}

/// How many edits of the large workflows are tried, and a fifth of how many of the small ones.
const CASES: u32 = 120;

/// One thing done to a text.
#[derive(Clone, Debug)]
enum Edit {
    DeleteBytes { at: usize, most: usize },
    RepeatBytes { at: usize, most: usize },
    Put { at: usize, what: Vec<u8> },
    Overwrite { at: usize, what: Vec<u8> },
    DeleteLine { line: usize },
    RepeatLine { line: usize },
    SwapLines { one: usize, other: usize },
    SwapWords { one: usize, other: usize },
    Cut { at: usize },
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<&'static [u8]> = vec![
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b": ",
        b"-",
        b"- ",
        b"\n",
        b"\n  ",
        b" ",
        b"\t",
        b"\"",
        b"'",
        b"#",
        b"|",
        b">",
        b"&a ",
        b"*a",
        b"!x ",
        b"? ",
        b"{{",
        b"}}",
        b"{%",
        b"%}",
        b"~",
        b"null",
        b"true",
        b"0",
        b"-1",
        b"99999999999999999999",
        b"again",
        b"back",
        b"failures: again",
        b"maybe ",
        b"others",
        b"by",
        b"{by: mode}",
        b"visit",
        b"\xff",
        b"\0",
        b"\xf0\x9f\x9a\x80",
        b"docs.",
        b"last.",
        b"when: {}",
        b"else: stuck",
    ];
    prop_oneof![
        prop::sample::select(words).prop_map(<[u8]>::to_vec),
        prop::collection::vec(any::<u8>(), 1..6)
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = any::<usize>;
    prop_oneof![
        1 => (at(), 1..40_usize).prop_map(|(at, most)| Edit::DeleteBytes { at, most }),
        1 => (at(), 1..40_usize).prop_map(|(at, most)| Edit::RepeatBytes { at, most }),
        1 => (at(), pieces()).prop_map(|(at, what)| Edit::Put { at, what }),
        1 => (at(), pieces()).prop_map(|(at, what)| Edit::Overwrite { at, what }),
        3 => at().prop_map(|line| Edit::DeleteLine { line }),
        1 => at().prop_map(|line| Edit::RepeatLine { line }),
        3 => (at(), at()).prop_map(|(one, other)| Edit::SwapLines { one, other }),
        5 => (at(), at()).prop_map(|(one, other)| Edit::SwapWords { one, other }),
        1 => at().prop_map(|at| Edit::Cut { at }),
    ]
}

/// Where the words of a text stand.
fn words(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, byte) in text.iter().enumerate() {
        let inside = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    found
}

fn apply(text: &mut Vec<u8>, edit: &Edit) {
    if text.is_empty() {
        return;
    }
    let place = |at: usize| at % text.len();
    let end = |at: usize, most: usize| (at + most).min(text.len());
    match edit {
        Edit::DeleteBytes { at, most } => {
            let at = place(*at);
            let _ = text.drain(at..end(at, *most));
        }
        Edit::RepeatBytes { at, most } => {
            let at = place(*at);
            let piece = text[at..end(at, *most)].to_vec();
            let _ = text.splice(at..at, piece);
        }
        Edit::Put { at, what } => {
            let at = place(*at);
            let _ = text.splice(at..at, what.iter().copied());
        }
        Edit::Overwrite { at, what } => {
            let at = place(*at);
            let to = end(at, what.len());
            let _ = text.splice(at..to, what.iter().copied());
        }
        Edit::Cut { at } => {
            let at = place(*at);
            text.truncate(at);
        }
        Edit::SwapWords { one, other } => {
            let all = words(text);
            if all.is_empty() {
                return;
            }
            let from = text[all[*other % all.len()].clone()].to_vec();
            let _ = text.splice(all[*one % all.len()].clone(), from);
        }
        Edit::DeleteLine { line } | Edit::RepeatLine { line } | Edit::SwapLines { one: line, .. } => {
            let mut lines: Vec<Vec<u8>> =
                text.split_inclusive(|it| *it == b'\n').map(<[u8]>::to_vec).collect();
            let at = *line % lines.len();
            match edit {
                Edit::DeleteLine { .. } => {
                    lines.remove(at);
                }
                Edit::RepeatLine { .. } => lines.insert(at, lines[at].clone()),
                Edit::SwapLines { other, .. } => {
                    let other = *other % lines.len();
                    lines.swap(at, other);
                }
                _ => {}
            }
            *text = lines.concat();
        }
    }
}

/// The same edits in every run, so that what fails here fails everywhere.
fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// The built-ins with one to three edits: never a panic, always something said, always the same.
#[test]
fn edited_built_ins_are_checked_or_refused() {
    let folders = built_ins();
    assert!(folders.len() >= 5, "only {} built-ins", folders.len());
    let strategy = (0..folders.len(), prop::collection::vec(edit(), 1..=3));
    let checked = Cell::new(0_u32);
    let ran = runner(CASES).run(&strategy, |(which, edits)| {
        let mut folder = folders[which].clone();
        let text = folder.files.get_mut(WORKFLOW_FILE).expect("a workflow");
        for it in &edits {
            apply(text, it);
        }
        let said = examine_folder(&folder);
        checked.set(checked.get() + u32::from(said.report.is_some()));
        let again = load(&folder).problems;
        prop_assert_eq!(&said.problems[..again.len()], &again[..]);
        Ok(())
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
    let checked = checked.get();
    assert!(checked >= CASES / 20, "only {checked} of {CASES} came as far as the proof");
}

/// Small workflows with edits, checked as well.
#[test]
fn edited_workflows_are_checked_or_refused() {
    let mut texts = vec![GOOD.as_bytes().to_vec()];
    for class in fs::read_dir(repository().join("tests/faults"))
        .expect("the corpus")
        .map(|it| it.expect("an entry").path())
        .filter(|it| it.is_dir())
    {
        let mut cases: Vec<PathBuf> =
            fs::read_dir(&class).expect("a class").map(|it| it.expect("an entry").path()).collect();
        cases.sort();
        texts.extend(cases.iter().take(3).map(|it| fs::read(it.join("repaired.yaml")).expect("a case")));
    }
    texts.sort();
    let strategy = (0..texts.len(), prop::collection::vec(edit(), 1..=2));
    let checked = Cell::new(0_u32);
    let ran = runner(5 * CASES).run(&strategy, |(which, edits)| {
        let mut text = texts[which].clone();
        for it in &edits {
            apply(&mut text, it);
        }
        let said = examine_bytes(&text);
        checked.set(checked.get() + u32::from(said.report.is_some()));
        Ok(())
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
    let checked = checked.get();
    assert!(checked >= CASES / 2, "only {checked} of {} came as far as the proof", 5 * CASES);
}
