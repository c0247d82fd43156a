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
