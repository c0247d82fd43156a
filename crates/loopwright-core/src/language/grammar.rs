//! The grammar of `workflow.yaml`, as data. See [`super::shape`] for what reads it.

use super::shape::{Definitions, Field, Record, Shape, Tagged};

/// The whole file.
pub fn workflow() -> Shape {
    let text = Shape::Text;
    Shape::Record(
        Record::new("a workflow")
            .also("workflow", &["name", "id"])
            .also("about", &["description"])
            .also("states", &["steps", "nodes", "stages"])
            .also("roles", &["agents"])
            .also("vars", &["variables"])
            .also("start", &["initial", "entry"])
            .must("workflow", Shape::Name, "The workflow's name, equal to its folder's.")
            .may("about", text.clone(), "One sentence for people.")
            .must(
                "subject",
                subject(),
                "What a run is about: `issue-id`, or `{name: issue-id, matches: REGEX}`.",
            )
            .may("folder", text.clone(), "Where `./x` in documents lies; `{{subject}}` may be part of it.")
            .may("inputs", Shape::MapOf("inputs", Box::new(input())), "Values given at the start.")
            .may("given", names(), "What every role is given besides its own.")
            .may("vars", variables(), "Finite variables.")
            .may("verbs", Shape::MapOf("verbs", Box::new(verb())), "Words a person can say to a resting run.")
            .may(
                "start",
                start(),
                "The first state, or a map from verbs to arms. Default: the first state written.",
            )
            .may("budgets", budgets(), "How often things may happen.")
            .may("caps", caps(), "What the worst unattended stretch may cost.")
            .may(
                "documents",
                Shape::MapOf("documents", Box::new(document())),
                "Files the workflow reads or writes.",
            )
            .may(
                "phases",
                Shape::MapOf("phases", Box::new(phase())),
                "What each state shows in documents, and where an import lands.",
            )
            .may("lists", lists(), "Lists that arms record to.")
            .may("roles", Shape::MapOf("roles", Box::new(role())), "Who does agent work.")
            .may("questions", Shape::MapOf("questions", Box::new(question())), "What people are asked.")
            .may("facts", facts(), "Observations with a finite domain, computed with CEL.")
            .may("defaults", routes(), "Routes for signals that many states share.")
            .must(
                "states",
                states(),
                "What is done, and where each outcome leads. A run starts at the first.",
            )
            .may("children", Shape::MapOf("children", Box::new(child())), "Machines run once per item.")
            .may("properties", property().list(), "What must be proved besides."),
    )
}

/// Shapes that refer to themselves.
pub fn definitions() -> &'static Definitions {
    static DEFINITIONS: std::sync::OnceLock<Vec<(&'static str, Shape)>> = std::sync::OnceLock::new();
    DEFINITIONS.get_or_init(|| vec![("arm", arm()), ("type", value_type())])
}

fn names() -> Shape {
    Shape::Text.list()
}

fn subject() -> Shape {
    Shape::Either(vec![
        Shape::Name,
        Shape::Record(Record::new("a subject").must("name", Shape::Name, "What a run is about.").may(
            "matches",
            Shape::Text,
            "A regular expression the whole subject must match.",
        )),
    ])
}

fn input() -> Shape {
    Shape::Either(vec![
        Shape::OneOf(&["text"]),
        Shape::Record(
            Record::new("an input")
                .may("about", Shape::Text, "What it is, for people.")
                .may("matches", Shape::Text, "A regular expression the whole value must match.")
                .may("optional", Shape::Truth, "Whether a run can start without it."),
        ),
    ])
}

fn variables() -> Shape {
    Shape::MapOf(
        "variables",
        Box::new(Shape::Record(
            Record::new("a variable")
                .must("in", Shape::Name.list(), "Its values.")
                .must("start", Shape::Name, "Its first value.")
                .may("input", Shape::Truth, "Whether a person may choose it at the start.")
                .may("about", Shape::Text, "What it is, for people."),
        )),
    )
}

fn verb() -> Shape {
    Shape::Record(
        Record::new("a verb")
            .may("about", Shape::Text, "What it does, for people.")
            .may("takes", names(), "Inputs that may be given with it.")
            .may(
                "else",
                Shape::Either(vec![
                    Shape::Text,
                    Shape::Record(
                        Record::new("an answer to a verb")
                            .may("say", Shape::Text, "Told to the person; the command succeeds.")
                            .may("error", Shape::Text, "Told to the person; the command fails."),
                    ),
                ]),
                "What a person hears where the verb is not listed.",
            ),
    )
}

fn start() -> Shape {
    Shape::Either(vec![Shape::Name, Shape::MapOf("verbs to arms", Box::new(Shape::Ref("arm")))])
}

fn budgets() -> Shape {
    Shape::MapOf(
        "budgets",
        Box::new(Shape::Either(vec![
            Shape::Amount,
            Shape::Record(
                Record::new("a budget")
                    .also("limit", &["max", "times"])
                    .must(
                        "limit",
                        Shape::Amount.table(),
                        "How often it can be spent, or how much with a unit.",
                    )
                    .may("per", names(), "States that fill it when they are entered, or `visit`.")
                    .may("shared", Shape::Truth, "Whether several loops are meant to draw on it.")
                    .may("keep", Shape::Amount, "Left for what comes after `over-budget`.")
                    .may("about", Shape::Text, "What it is, for people."),
            ),
        ])),
    )
}

fn caps() -> Shape {
    Shape::Record(
        Record::new("the caps")
            .may("calls", Shape::Number, "Agent calls in all.")
            .may("calls-of", Shape::MapOf("roles", Box::new(Shape::Number)), "Agent calls of one role.")
            .may("time", Shape::Time, "Time of agent calls and checks.")
            .may("usd", Shape::Dollars, "Money; every role must say what a call `costs` at most.")
            .may("tokens", Shape::Tokens, "Tokens; every role must say its `tokens`."),
    )
}

fn document() -> Shape {
    let common = [
        may("as", Shape::Name, "Which reader understands it."),
        may("with", Shape::MapOf("parameters", Box::new(Shape::Anything)), "Parameters of the reader."),
        may(
            "shape",
            Shape::MapOf("fields", Box::new(Shape::Ref("type"))),
            "What a general reader finds in it.",
        ),
        may("has", names(), "Headings it must have."),
        may("owner", Shape::OneOf(&["engine", "agent"]), "Who writes it. Default: agents."),
        may("shows", Shape::MapOf("fields", Box::new(Shape::Text)), "Fields kept equal to run values."),
        may("optional", Shape::Truth, "Whether it may be absent at the start."),
        may("about", Shape::Text, "What it is, for people."),
    ];
    Shape::Tagged(Tagged {
        what: "a document",
        variants: vec![
            Record::new("a document")
                .also("file", &["path"])
                .must("file", Shape::Text, "One file.")
                .with(&common),
            Record::new("a document").must("files", names(), "Files by glob; `!x` leaves out.").with(&common),
            Record::new("a group").must("group", names(), "Other documents under one name.").may(
                "about",
                Shape::Text,
                "What it is, for people.",
            ),
            Record::new("a listing")
                .must("from", Shape::Text, "A command whose output is read.")
                .with(&common),
        ],
    })
}

fn value_type() -> Shape {
    Shape::Either(vec![
        Shape::OneOf(&["text", "int", "bool", "any"]),
        Shape::Ref("type").list(),
        Shape::MapOf("fields", Box::new(Shape::Ref("type"))),
    ])
}

fn phase() -> Shape {
    Shape::Either(vec![
        Shape::Text.list(),
        Shape::Record(
            Record::new("a phase")
                .may("at", Shape::Name, "Where an imported or hand-edited value lands.")
                .must("show", names(), "The states that show it; `others` for all the rest.")
                .may("settles", names(), "Gates such a landing vouches for.")
                .may("back", Shape::Name, "Where `back` leads from such a landing."),
        ),
    ])
}

fn lists() -> Shape {
    Shape::Either(vec![
        names(),
        Shape::MapOf(
            "lists",
            Box::new(Shape::Record(Record::new("a list").may(
                "per",
                names(),
                "States that empty it when they are entered.",
            ))),
        ),
    ])
}

fn fields_of_outcome(what: &'static str) -> Shape {
    Shape::Either(vec![
        Shape::Name.list(),
        Shape::MapOf(
            what,
            Box::new(Shape::MapOf("fields", Box::new(Shape::Either(vec![Shape::Name.list(), Shape::Name])))),
        ),
    ])
}

fn findings() -> Shape {
    Shape::Record(
        Record::new("the findings of a role")
            .must("severity", Shape::Name.list(), "How bad a finding can be, worst last.")
            .may(
                "topic",
                Shape::Name.list(),
                "What a finding can be about; the first in this order decides the route.",
            )
            .may(
                "at-least",
                Shape::MapOf("severities", Box::new(Shape::Name)),
                "A finding this bad makes the verdict at least this bad.",
            ),
    )
}

fn role() -> Shape {
    Shape::Record(
        Record::new("a role")
            .also("agent", &["model"])
            .also("prompt", &["instructions", "system"])
            .also("may-write", &["writes", "write", "may-edit"])
            .also("given", &["reads", "inputs", "context"])
            .also("verdicts", &["outcomes", "outputs"])
            .must("agent", Shape::Name, "Which agent does it, a name the configuration knows.")
            .may("about", Shape::Text, "What it is, for people.")
            .may("prompt", Shape::Text.table(), "`prompts/x.md`, or the text itself.")
            .may("given", names().table(), "What the prompt may use.")
            .may("may-write", names().table(), "Documents it may change. Default: none.")
            .may("verdicts", fields_of_outcome("verdicts"), "How it can come out, best first.")
            .may("findings", findings(), "What it reports besides the verdict.")
            .may("returns", Shape::Text, "A JSON Schema for what comes with the verdict.")
            .may("asks", Shape::Truth, "Whether it may end with a question.")
            .may("rules", names(), "Named rules its changes must obey.")
            .may("deny", Shape::OneOf(&["git", "network", "shell"]).list(), "What it may not use.")
            .may("timeout", Shape::Time, "The longest one call may take. Default: 30m.")
            .may("idle", Shape::Time, "The longest it may be silent. Default: 10m.")
            .may("costs", Shape::Money, "The most one call may cost.")
            .may("tokens", Shape::Tokens, "The most tokens one call may take."),
    )
}

fn question() -> Shape {
    Shape::Record(
        Record::new("a question")
            .must("asks", Shape::Text, "The question.")
            .must("answers", fields_of_outcome("answers"), "The answers, best first.")
            .may("id", Shape::Name, "A stable id for its record.")
            .may("shows", names(), "What the person is shown.")
            .may("re-ask", Shape::Number, "How often an invalid or missing answer is asked for again.")
            .may(
                "unattended",
                Shape::Name,
                "What happens when nobody is there: `wait`, `deferred` or an answer.",
            )
            .may("per", Shape::OneOf(&["finding"]), "Ask once per open finding."),
    )
}

fn facts() -> Shape {
    Shape::MapOf(
        "facts",
        Box::new(Shape::Record(
            Record::new("a fact")
                .must("in", Shape::Name.list(), "Its values.")
                .must("is", Shape::Text, "A CEL expression that gives one of them.")
                .may("once", Shape::Truth, "Whether it is read at the start and kept.")
                .may("about", Shape::Text, "What it is, for people."),
        )),
    )
}

fn conditions() -> Shape {
    Shape::MapOf("names to values", Box::new(Shape::Text.list()))
}

fn arm() -> Shape {
    Shape::Either(vec![
        Shape::Name,
        Shape::ListOf(Box::new(Shape::Ref("arm"))),
        Shape::Record(
            Record::new("an arm")
                .also("to", &["then", "next", "goto", "target"])
                .also("when", &["if", "only-when"])
                .also("spend", &["budget"])
                .must("to", Shape::Name, "A state, `again` or `back`.")
                .may("when", conditions(), "Must hold, else the next arm.")
                .may("spend", Shape::Name, "Takes one of a budget; nothing left means the next arm.")
                .may("else", Shape::Ref("arm"), "The arm when nothing is left to spend.")
                .may("refill", names(), "Fills budgets; only where a person decides.")
                .may("set", Shape::MapOf("variables", Box::new(Shape::Name)), "Assigns variables.")
                .may("record", names(), "Appends to lists.")
                .may("forced", names(), "Gates that count as settled although they did not pass."),
        ),
    ])
}

fn routes() -> Shape {
    Shape::MapOf("signals", Box::new(Shape::Ref("arm")))
}

fn may(key: &'static str, shape: Shape, about: &'static str) -> Field {
    Field { key, shape, required: false, about }
}

fn states() -> Shape {
    Shape::MapOf("states", Box::new(state()))
}

/// Why states that do nothing need nothing.
const NO_NEEDS: &str =
    "it could not say where to go while the gate is not settled; put `needs` on the state it leads to";

fn state() -> Shape {
    let common = [
        may("about", Shape::Text, "What it is for, shown to people."),
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
            .must("ask", Shape::Name, "The question.")
            .with(&gate)
            .with(&then)
            .with(&common),
        Record::new("a do state")
            .also("do", &["actions"])
            .must("do", action().list(), "What the engine does, in order.")
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
                    .must(
                        "project",
                        Shape::OneOf(&["build", "test", "lint", "format", "checks"]),
                        "What the project declares.",
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
            .may("at-once", Shape::Number, "How many items side by side.")
            .may("at-most", Shape::Number, "How many items at most.")
            .may(
                "anew",
                Shape::Truth,
                "Whether items that ended well run again when the state is entered again.",
            ),
    )
}

fn action() -> Shape {
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
    Shape::Tagged(Tagged {
        what: "an action",
        variants: vec![
            record("`set`").must("set", Shape::MapOf("fields", Box::new(value)), "Fields to change."),
            record("`append`")
                .must("append", Shape::Text, "A line.")
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
            record("`push`").must("push", Shape::Text, "The branch."),
            record("`drop`").must("drop", Shape::Text, "The branch.").may(
                "if",
                Shape::OneOf(&["merged", "always"]),
                "When. Default: merged.",
            ),
            record("`restore`").must("restore", names(), "Documents.").may(
                "to",
                Shape::OneOf(&["start", "commit"]),
                "As they were when. Default: commit.",
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

fn child() -> Shape {
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

fn property() -> Shape {
    Shape::Tagged(Tagged {
        what: "a property",
        variants: vec![
            Record::new("`never`").must(
                "never",
                Shape::Record(
                    Record::new("`never`")
                        .must("reach", Shape::Text, "The state.")
                        .must("before", names(), "What must have happened first.")
                        .may("when", conditions(), "Only for these values."),
                ),
                "A state is never reached before something happened.",
            ),
            Record::new("`at-most`").must(
                "at-most",
                Shape::Record(Record::new("`at-most`").must("visits", Shape::Text, "The state.").must(
                    "times",
                    Shape::Number,
                    "How often at most.",
                )),
                "A state is entered at most so often.",
            ),
            Record::new("`always`").must(
                "always",
                Shape::Record(Record::new("`always`").must("after", Shape::Text, "The state.").must(
                    "comes",
                    Shape::Text,
                    "What must follow before success.",
                )),
                "Something always follows a state before the run ends in success.",
            ),
        ],
    })
}
