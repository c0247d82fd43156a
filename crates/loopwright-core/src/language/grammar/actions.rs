//! Actions: what the engine can be told to do.

use super::{may, names};
use crate::language::shape::{Record, Shape, Tagged};

pub(super) fn action() -> Shape {
    let record = |what| Record::new(what);
    let to = |about| may("to", Shape::Text, about);
    let value = Shape::Either(vec![
        Shape::Text,
        Shape::Record(Record::new("a conditional value").must("to", Shape::Text, "The value.").may(
            "if",
            Shape::OneOf(&["present", "absent"]),
            "Only if the field is there, or is not.",
        )),
    ]);
    let entry = Shape::Either(vec![Shape::Text, Shape::MapOf("fields", Box::new(Shape::Text))]);
    Shape::Tagged(Tagged {
        what: "an action",
        variants: vec![
            record("`set`").must("set", Shape::MapOf("fields", Box::new(value)), "Fields to change."),
            record("`append`")
                .must("append", entry, "A line, or an entry by its fields.")
                .with(&[to("The field it is added to.")]),
            record("`write`")
                .must("write", Shape::Text, "The document.")
                .may("from", Shape::Text, "Its content.")
                .may("template", Shape::Text, "A template for its content."),
            record("`create`")
                .must("create", Shape::Text, "The kind of document.")
                .must("for", Shape::Text, "The list: one document per entry.")
                .must("key", Shape::Text, "What tells entries apart: one document per key, ever.")
                .may("set", Shape::MapOf("fields", Box::new(Shape::Text)), "Its fields.")
                .may("template", Shape::Text, "A template for its content.")
                .may("prune", Shape::Truth, "Take back this run's that are no longer in the list."),
            record("`copy`").must("copy", Shape::Text, "What.").with(&[to("Where.")]).may(
                "exact",
                Shape::Truth,
                "Remove what the source has not.",
            ),
            record("`move`").must("move", Shape::Text, "What.").with(&[to("Where.")]),
            record("`delete`").must("delete", Shape::Text.table(), "What."),
            record("`commit`").must("commit", Shape::Text, "The message.").may(
                "what",
                names(),
                "Documents. Default: all that changed.",
            ),
            record("`branch`")
                .must("branch", Shape::Text, "Its name.")
                .may("from", Shape::Text, "Where it starts.")
                .may("worktree", Shape::Truth, "Give it a worktree of its own."),
            record("`switch`").must("switch", Shape::Text, "The branch."),
            record("`merge`").must("merge", Shape::Text, "The branch.").may(
                "into",
                Shape::Text,
                "The branch it goes into.",
            ),
            record("`join`").must(
                "join",
                Shape::Text,
                "The message of the commit that brings both together.",
            ),
            record("`push`").must("push", Shape::Text, "The branch."),
            record("`drop`")
                .must("drop", Shape::Text, "The branch.")
                .may("if", Shape::OneOf(&["merged", "always"]), "When. Default: merged.")
                .may("only", Shape::OneOf(&["worktree"]), "Its worktree, and the branch stays."),
            record("`restore`").must("restore", names(), "Documents.").may(
                "to",
                Shape::OneOf(&["start", "commit", "before"]),
                "As they were when. Default: commit; `before` is the commit before that.",
            ),
            record("`run`").must("run", Shape::Text, "The command.").may(
                "writes",
                names(),
                "Documents it may change. Default: everything.",
            ),
            record("`say`").must("say", Shape::Text, "Told to the person."),
            record("`refuse`").must(
                "refuse",
                Shape::Text,
                "Told to the person; the verb's command exits as refused.",
            ),
        ],
    })
}
