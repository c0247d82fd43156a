//! Why a mutant that is proved, and fails no scenario, need not be caught.

use crate::operators::Mutant;
use crate::page::{EQUIVALENT, Entry, SURVIVES};

/// What stands in the document where a reason is missing. The test fails then.
pub(crate) const UNEXPLAINED: &str = "nothing says why";

/// A reason, and the mutants it was thought through for.
struct Reason {
    built_in: &'static str,
    operator: &'static str,
    mutants: &'static [&'static str],
    /// How the document counts them.
    counts: &'static str,
    because: &'static str,
}

const REASONS: &[Reason] = &[
    Reason {
        built_in: "change",
        operator: "drop-set",
        mutants: &["implement empty"],
        counts: EQUIVALENT,
        because: "it leads to `plan-open`, and every verb there sets the same variable",
    },
    Reason {
        built_in: "change",
        operator: "drop-produces",
        mutants: &["propose proposal", "specs spec", "tasks tasks", "repropose proposal", "repropose tasks"],
        counts: SURVIVES,
        because: "whoever is given it takes it as `maybe`, and what is missing of a plan the challenger judges",
    },
    Reason {
        built_in: "feature",
        operator: "drop-arm",
        mutants: &["fresh choose arm 1"],
        counts: SURVIVES,
        because: "the run passes by `drop-draft`, which has no row for `implement` and deletes nothing",
    },
    Reason {
        built_in: "feature",
        operator: "drop-arm",
        mutants: &["renew done arm 1"],
        counts: SURVIVES,
        because: "what is begun anew there are findings and rounds, and none of them decides a way; what is recorded of them is shown by runs",
    },
    Reason {
        built_in: "feature",
        operator: "drop-produces",
        mutants: &["brainstorm brainstorm"],
        counts: SURVIVES,
        because: "whoever is given it takes it as `maybe`",
    },
    Reason {
        built_in: "issue",
        operator: "drop-set",
        mutants: &["diagnose-review TEST_DESIGN", "begin-task then"],
        counts: SURVIVES,
        because: "it changes which of two prompts `implement` has, and all that either is given is there",
    },
    Reason {
        built_in: "issue",
        operator: "drop-produces",
        mutants: &["resplit tasks"],
        counts: SURVIVES,
        because: "`split` has produced it, and `changes` still holds the call to it",
    },
    Reason {
        built_in: "team",
        operator: "drop-need",
        mutants: &["done reviewed", "done build", "done confirm-manual"],
        counts: EQUIVALENT,
        because: "what makes this gate stale makes another need of the state stale, and `onward` asks for both",
    },
    Reason {
        built_in: "team",
        operator: "drop-need",
        mutants: &["task.completed qa", "task.completed security"],
        counts: EQUIVALENT,
        because: "what makes this gate stale makes `review` stale, and `owed` asks for both",
    },
    Reason {
        built_in: "team",
        operator: "drop-judged",
        mutants: &["implement (lean) code", "implement (lean) tests"],
        counts: EQUIVALENT,
        because: "`final-pass` judges for the same gate, and names it still",
    },
    Reason {
        built_in: "team",
        operator: "drop-produces",
        mutants: &["research research", "ui-design design-specs", "correct-design design-specs"],
        counts: SURVIVES,
        because: "whoever is given it takes it as `maybe`",
    },
    Reason {
        built_in: "team",
        operator: "drop-produces",
        mutants: &["correct-spec spec", "correct-spec acceptance", "correct-architecture architecture"],
        counts: SURVIVES,
        because: "it was produced before, and is there",
    },
    Reason {
        built_in: "team",
        operator: "drop-produces",
        mutants: &["docs report"],
        counts: SURVIVES,
        because: "nobody is given it; the last message only names its path",
    },
    Reason {
        built_in: "vibe",
        operator: "drop-produces",
        mutants: &["retrospective lessons", "recapture lessons"],
        counts: SURVIVES,
        because: "whoever is given CONTEXT.md takes it as `maybe`; what a call without the heading counts for is shown by runs, in `vibe_rules`",
    },
];

/// What the document says of a mutant that nothing caught.
pub(crate) fn explain(built_in: &str, mutant: &Mutant) -> String {
    let given = (mutant.operator == "drop-maybe").then(|| drop_maybe(&mutant.what)).flatten();
    let (counts, because) = given
        .or_else(|| {
            let reason = REASONS.iter().find(|it| {
                it.built_in == built_in
                    && it.operator == mutant.operator
                    && it.mutants.contains(&mutant.what.as_str())
            });
            reason.map(|it| (it.counts, it.because))
        })
        .unwrap_or((SURVIVES, UNEXPLAINED));
    format!("{counts}{because}")
}

/// `maybe` only speaks of what is absent, and what is never absent is no different with it.
fn drop_maybe(what: &str) -> Option<(&'static str, &'static str)> {
    let (_, name) = what.rsplit_once(": ")?;
    match name.split('.').next()? {
        "docs" | "last" | "inputs" => Some((EQUIVALENT, "`check` proves that it is there on every path")),
        "findings" | "lists" => Some((EQUIVALENT, "always there, if only empty")),
        _ => None,
    }
}

/// Reasons for mutants that are caught by now, or no longer made.
pub(crate) fn superfluous(listed: &[Entry]) -> Vec<String> {
    let mut found = Vec::new();
    for reason in REASONS {
        for what in reason.mutants {
            let is_needed = listed.iter().any(|it| {
                it.built_in == reason.built_in
                    && it.operator == reason.operator
                    && it.what == *what
                    && it.outcome == format!("{}{}", reason.counts, reason.because)
            });
            if !is_needed {
                found.push(format!("{}: {}: {what}", reason.built_in, reason.operator));
            }
        }
    }
    found
}
