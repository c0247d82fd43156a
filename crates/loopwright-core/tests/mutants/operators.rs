//! What is done to a workflow: one small change a mutant, made wherever it can be made.

use crate::file::machines;
use crate::tree::Tree;
use crate::{budgets, gates, inputs, routes};

/// What an operator does, in the order of the document.
pub(crate) const OPERATORS: &[(&str, &str)] = &[
    ("drop-route", "a signal of a state loses its only route: a word of its `on`, or its `then`"),
    (
        "drop-own-route",
        "a signal of a state loses its route where something else takes it: a default, or what goes without saying for an empty loop and a stale gate",
    ),
    ("drop-default", "a word of `defaults` loses its route"),
    ("drop-answer", "an answer of a question loses its route"),
    ("drop-verb", "a verb is no longer listed at a state, or at the start"),
    ("drop-arm", "one arm of several is gone"),
    ("drop-set", "an arm no longer sets its variables"),
    ("drop-spend", "an arm no longer spends; its `else` goes with it"),
    ("drop-else", "nothing is said for when the budget is used up"),
    ("drop-per", "a budget is filled once, at the start, instead of wherever it was filled"),
    ("drop-refill", "a person's answer or verb no longer fills a budget"),
    ("fill-in-the-loop", "a budget is filled again by a state that spends it, or that its spending leads to"),
    ("raise-limit", "where a cap is declared: a budget's limit is ten times as high"),
    (
        "past-the-gate",
        "an arm that led to a judge leads to where the judge's pass leads, past every `choose` and `settle` that would send it back",
    ),
    ("fix-past-the-gate", "the repair that a bad verdict leads to goes on to where the judge's pass leads"),
    ("fail-as-pass", "a bad verdict leads to where the judge's pass leads"),
    (
        "skip-the-repair",
        "after a bad verdict the repair is left out: the run comes to a judge of the same gate at once, or to a `choose` that sends it there",
    ),
    ("drop-need", "one gate of a `needs` is gone"),
    ("drop-gate", "a judge is no gate any more: `judges` and what belongs to it are gone"),
    ("drop-judged", "one of the documents a gate judges is left out"),
    ("drop-forced", "a gate is passed over without saying so"),
    ("drop-without", "a gate that a commit goes without is no longer named"),
    ("judge-may-write", "a judge may write a document it judges"),
    ("drop-produces", "a call no longer has to produce a document"),
    ("drop-maybe", "something that may be absent is given as if it never were"),
];

/// A changed workflow.
pub(crate) struct Mutant {
    pub(crate) operator: &'static str,
    /// Where, and what: unique among those of its operator and workflow.
    pub(crate) what: String,
    pub(crate) tree: Tree,
}

/// Takes down what operators make.
pub(crate) struct Maker<'t> {
    tree: &'t Tree,
    made: Vec<Mutant>,
}

impl Maker<'_> {
    /// One more mutant, if the change changes something and nobody made it before.
    pub(crate) fn make(&mut self, operator: &'static str, what: String, change: impl FnOnce(&mut Tree)) {
        let mut tree = self.tree.clone();
        change(&mut tree);
        if tree != *self.tree && self.made.iter().all(|it| it.tree != tree) {
            self.made.push(Mutant { operator, what, tree });
        }
    }
}

/// Every mutant of a workflow.
pub(crate) fn mutants(tree: &Tree) -> Vec<Mutant> {
    let mut maker = Maker { tree, made: Vec::new() };
    routes::drop_starts(tree, &mut maker);
    for machine in machines(tree) {
        routes::make(&machine, &mut maker);
        budgets::make(&machine, &mut maker);
        gates::make(&machine, &mut maker);
        inputs::drop_produces(&machine, &mut maker);
    }
    inputs::drop_maybes(tree, &mut maker);
    maker.made
}
