//! States: what each kind may say.

use super::actions::action;
use super::{budgets, conditions, facts, fields_of_outcome, may, names, routes, variables};
use crate::language::shape::{Record, Shape, Tagged};
use crate::library;

pub(super) fn states() -> Shape {
    Shape::MapOf("states", Box::new(state()))
}

/// Why states that do nothing need nothing.
const NO_NEEDS: &str =
    "it could not say where to go while the gate is not settled; put `needs` on the state it leads to";

fn state() -> Shape {
    let common = [
        may("about", Shape::Text, "What it is for, shown to people."),
        may("label", Shape::Name, "What programs outside call it."),
        may(
            "needs",
            names().table(),
            "Gates that are settled when this state is entered, or signal `stale`.",
        ),
        may("on", routes(), "Routes by signal; `A | B` names several."),
    ];
    let then = [may("then", Shape::Ref("arm"), "Where the best signal leads.")];
    let gate = [
        may("judges", names().table(), "Makes the state a gate over these documents."),
        may("gate", Shape::Name, "The gate's name when it is not the state's."),
        may("passes", names(), "Signals that pass the gate. Default: the best."),
        may("only-when", conditions(), "The gate is owed only while this holds."),
    ];
    let call = [
        may("prompt", Shape::Text.table(), "This call's own prompt."),
        may("given", names().table(), "What this call is given besides."),
        may("may-write", names().table(), "Narrows what the role may write."),
        may("produces", names().table(), "Documents that exist and are valid afterwards."),
        may("changes", names(), "Documents whose bytes differ afterwards."),
        may("verdicts", fields_of_outcome("verdicts"), "How this call can come out, best first."),
        may("returns", Shape::Text, "A JSON Schema for what comes with the verdict."),
        may("rules", names(), "Further rules for this call."),
        may("timeout", Shape::Time, "The longest this call may take."),
    ];
    let role = || Shape::Name.table();
    let variants = vec![
        Record::new("an agent state")
            .also("agent", &["role", "call"])
            .must("agent", role(), "The role that works.")
            .with(&call)
            .with(&then)
            .with(&common),
        Record::new("a review state")
            .must("review", role(), "The judge.")
            .may("advice", names(), "Roles that are heard and recorded, never routed on.")
            .may("unasked", unasked(), "What is found without asking the judge.")
            .with(&call)
            .with(&gate)
            .with(&then)
            .with(&common),
        Record::new("a check state")
            .also("check", &["test", "command"])
            .must("check", check(), "What is run.")
            .with(&gate)
            .with(&then)
            .with(&common),
        Record::new("an ask state")
            .also("ask", &["question"])
            .must("ask", Shape::Name, "The name of a question in `questions`.")
            .with(&gate)
            .with(&then)
            .with(&common),
        Record::new("a do state")
            .also("do", &["actions"])
            .must("do", action().some(), "What the engine does, in order.")
            .may("without", names(), "Gates over what is committed that are deliberately not needed.")
            .with(&then)
            .with(&common),
        Record::new("a choose state")
            .also("choose", &["switch", "branch"])
            .must("choose", Shape::Ref("arm").list(), "Arms; the first that holds.")
            .not("needs", NO_NEEDS)
            .with(&common[..1]),
        Record::new("a settle state")
            .must("settle", names(), "Gates, in the order they are owed.")
            .may("ahead", Shape::Number, "How many of their judges may work at once. Default: one.")
            .not("needs", NO_NEEDS)
            .with(&then)
            .with(&common[..1]),
        Record::new("an each state")
            .also("each", &["for", "foreach", "for-each"])
            .must("each", each(), "What is done once per item.")
            .with(&gate)
            .with(&then)
            .with(&common),
        Record::new("a rest state").must("rest", Shape::Text, "What the person is told.").with(&common),
        Record::new("an end")
            .must("end", Shape::OneOf(&["success", "failure", "stopped", "refused"]), "How the run came out.")
            .may("says", Shape::Text, "What the person is told.")
            .with(&common),
    ];
    // What a state leads to is called `then`; what an arm leads to, `to`.
    let variants = variants.into_iter().map(|it: Record| it.also("then", &["to", "next", "goto"])).collect();
    Shape::Tagged(Tagged { what: "a state", variants })
}

fn unasked() -> Shape {
    Shape::Record(
        Record::new("what is found unasked")
            .must("severity", Shape::Name, "How bad it is.")
            .may("topic", Shape::Name, "What it is about.")
            .must("finds", Shape::Text, "What is found. Empty: nothing, and the judge is asked."),
    )
}

fn check() -> Shape {
    Shape::Either(vec![
        Shape::Text,
        Shape::Tagged(Tagged {
            what: "a check",
            variants: vec![
                Record::new("a check")
                    .also("run", &["cmd", "command", "commands", "script", "shell"])
                    .must("run", names(), "Commands.")
                    .may("each", Shape::Time, "The longest one command may take. Default: 30s.")
                    .may("timeout", Shape::Time, "The longest all of them may take. Default: 10m.")
                    .may(
                        "none",
                        Shape::OneOf(&["pass", "fail"]),
                        "What no command at all means. Default: fail.",
                    )
                    .may(
                        "expect",
                        Shape::OneOf(&["pass", "fail"]),
                        "What counts as `pass`. Default: that commands succeed.",
                    )
                    .may("uses", names(), "Documents that hold the check's own code."),
                Record::new("a project's check")
                    .must("project", Shape::OneOf(library::PROJECT_COMMANDS), "What the project declares.")
                    .may(
                        "none",
                        Shape::OneOf(&["pass", "fail"]),
                        "What it means that the project has no such command. Default: no run is begun.",
                    )
                    .may("each", Shape::Time, "The longest one command may take. Default: 20m.")
                    .may("timeout", Shape::Time, "The longest all of them may take. Default: 30m.")
                    .may("uses", names(), "Documents that hold the check's own code."),
                Record::new("a named check")
                    .must("named", Shape::Name, "A check from the library.")
                    .may("timeout", Shape::Time, "The longest it may take.")
                    .may("uses", names(), "Documents that hold the check's own code."),
            ],
        }),
    ])
}

fn each() -> Shape {
    Shape::Record(
        Record::new("an each")
            .must("item", Shape::Name, "The item's name in prompts.")
            .must("in", Shape::Text, "Where the list is.")
            .may("order", Shape::OneOf(&["depends"]), "Items after those they depend on.")
            .must(
                "run",
                Shape::Either(vec![
                    Shape::Name,
                    Shape::Record(
                        Record::new("a call per item")
                            .must("agent", Shape::Name, "The role that works.")
                            .may("prompt", Shape::Text, "This call's own prompt.")
                            .may("given", names(), "What this call is given besides.")
                            .may("may-write", names(), "Narrows what the role may write.")
                            .may("produces", names(), "Documents that exist and are valid afterwards."),
                    ),
                ]),
                "A child's name, or one call.",
            )
            .may(
                "with",
                Shape::MapOf("variables", Box::new(Shape::Name)),
                "Start values for the child's variables.",
            )
            .may("at-once", at_once(), "How many items side by side.")
            .may(
                "apart",
                Shape::Truth,
                "Whether each item works in a worktree of its own, on a branch of its own.",
            )
            .may("at-most", Shape::Number, "How many items at most.")
            .may(
                "anew",
                Shape::Truth,
                "Whether items that ended well run again when the state is entered again.",
            )
            .may(
                "if-missing",
                Shape::Truth,
                "Whether items are passed over whose call would bring what is there already.",
            ),
    )
}

/// A number, or the most there may be with what it is where nobody says.
fn at_once() -> Shape {
    let record = Record::new("how many items side by side")
        .must("most", Shape::Number, "How many at most, whatever `--jobs` says.")
        .may("usually", Shape::Number, "How many where `--jobs` says nothing. Default: one.");
    Shape::Either(vec![Shape::Number, Shape::Record(record)])
}

pub(super) fn child() -> Shape {
    Shape::Record(
        Record::new("a child")
            .may("about", Shape::Text, "What it is for.")
            .may("vars", variables(), "Finite variables.")
            .may("start", Shape::Name, "The first state. Default: the first written.")
            .may("budgets", budgets(), "Per item.")
            .may("facts", facts(), "Observations about the item.")
            .may("defaults", routes(), "Routes many states share. Default: the file's.")
            .must("states", states(), "What is done for an item, and where each outcome leads."),
    )
}
