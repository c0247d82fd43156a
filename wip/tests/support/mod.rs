//! What the tests of the whole pipeline share.
#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "not every test uses everything, and nobody else does"
)]

pub mod generator;
pub mod world;

use loopwright_core::definition::Workflow;
use loopwright_core::language::{Folder, Loaded, load};

/// A seeded source of choices (splitmix64).
#[derive(Clone, Debug)]
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { (self.next() % limit as u64) as usize }
    }

    /// Yes, so many times in a hundred.
    pub fn yes(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    pub fn some<T: Clone>(&mut self, of: &[T], percent: usize) -> Vec<T> {
        of.iter().filter(|_| self.below(100) < percent).cloned().collect()
    }
}

/// Reads a workflow from the text of its one file.
pub fn read(text: &str) -> Loaded {
    let mut folder = Folder { name: String::new(), ..Folder::default() };
    folder.files.insert("workflow.yaml".into(), text.as_bytes().to_vec());
    load(&folder)
}

/// A workflow that must load.
pub fn loaded(text: &str) -> Workflow {
    let loaded = read(text);
    let wrong: Vec<String> = loaded
        .problems
        .iter()
        .filter(|it| it.stage == loopwright_core::problem::Stage::Load)
        .map(|it| format!("{}: {}", it.code, it.message))
        .collect();
    assert!(wrong.is_empty(), "does not load: {wrong:?}\n{text}");
    loaded.workflow.expect("a workflow")
}

/// What a patient author makes of a workflow: does what `check` says about parts nobody needs, round after round.
pub fn listened(mut text: String, dice: &mut Dice) -> String {
    for _ in 0..6 {
        let read = read(&text);
        let Some(workflow) = read.workflow.filter(|_| !read.problems.iter().any(|it| it.stage == loopwright_core::problem::Stage::Load)) else { return text };
        let report = loopwright_core::check::check(&workflow);
        let mut cuts: Vec<std::ops::Range<usize>> = Vec::new();
        for problem in &report.problems {
            let at = problem.place.bytes.clone();
            match problem.code {
                "never-taken" => cuts.push(arm_cut(&text, &at)),
                "unreachable" => cuts.push(block_cut(&text, at.start)),
                "vacuous" | "unused" => cuts.push(line_cut(&text, at.start)),
                "property" if dice.yes(70) => cuts.push(line_cut(&text, at.start)),
                "unsettled" | "commit-unjudged" if dice.yes(60) => {
                    let block = block_cut(&text, at.start);
                    let needs = text[block.clone()].find("needs:").map(|it| line_cut(&text, block.start + it));
                    cuts.push(needs.unwrap_or(block));
                }
                _ => {}
            }
        }
        cuts.retain(|it| !it.is_empty());
        cuts.sort_by_key(|it| std::cmp::Reverse(it.start));
        let mut last = usize::MAX;
        let before = text.clone();
        for cut in cuts {
            if cut.end <= last {
                let mut shorter = text.clone();
                shorter.replace_range(cut.clone(), "");
                // What does not load any more is left as it was.
                let fits = self::read(&shorter);
                if fits.workflow.is_some() && !fits.problems.iter().any(|it| it.stage == loopwright_core::problem::Stage::Load) {
                    text = shorter;
                    last = cut.start;
                }
            }
        }
        if text == before {
            break;
        }
    }
    text
}

fn line_cut(text: &str, at: usize) -> std::ops::Range<usize> {
    let from = text[..at].rfind('\n').map_or(0, |it| it + 1);
    let until = text[at..].find('\n').map_or(text.len(), |it| at + it + 1);
    from..until
}

/// A line and everything below it that is indented further.
fn block_cut(text: &str, at: usize) -> std::ops::Range<usize> {
    let first = line_cut(text, at);
    let indent = |line: &str| line.len() - line.trim_start().len();
    let depth = indent(&text[first.clone()]);
    let mut until = first.end;
    while until < text.len() {
        let line = line_cut(text, until);
        if indent(&text[line.clone()]) <= depth {
            break;
        }
        until = line.end;
    }
    first.start..until
}

/// An arm in a list with its comma, or the line of an arm that stands alone.
fn arm_cut(text: &str, at: &std::ops::Range<usize>) -> std::ops::Range<usize> {
    let rest = &text[at.end..];
    if let Some(gap) = rest.strip_prefix(',') {
        let space = gap.len() - gap.trim_start_matches(' ').len();
        return at.start..at.end + 1 + space;
    }
    let before = text[..at.start].trim_end_matches(' ');
    if before.ends_with(',') && rest.starts_with(']') {
        return before.len() - 1..at.end;
    }
    if before.ends_with(['-', ':']) { line_cut(text, at.start) } else { 0..0 }
}
