//! The grammar of `workflow.yaml`, as data. See `super::shape` for what reads it.

mod actions;
mod states;

use self::states::{child, states};
use super::shape::{Definitions, Field, Record, Shape, Tagged};
use crate::library;

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
            .may(
                "tools",
                Shape::OneOf(library::TOOLS),
                "The tools for the files of another system, as further words after the workflow's name.",
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
        Shape::Record(
            Record::new("a subject")
                .must("name", Shape::Name, "What a run is about.")
                .may("matches", Shape::Text, "A regular expression the whole subject must match.")
                .may("optional", Shape::Truth, "Nobody has to say it: the run is about the project then.")
                .may("made", Shape::Text, "What a new run is about, where nobody says it."),
        ),
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
                .may(
                    "from",
                    Shape::Text,
                    "The field of a document that says what it is at the start, if no person does.",
                )
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
        may("filled", Shape::Truth, "Whether each of these headings needs something below it."),
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
                "A finding this bad, or on this topic, makes the verdict at least this bad.",
            )
            .may(
                "at-most",
                Shape::MapOf("topics", Box::new(Shape::Name)),
                "A finding on this topic is at most this bad.",
            )
            .may(
                "exact",
                Shape::Truth,
                "Whether a verdict that is not the best needs a finding that asks for one as bad.",
            ),
    )
}

fn role() -> Shape {
    Shape::Record(
        Record::new("a role")
            .also("prompt", &["instructions", "system"])
            .also("may-write", &["writes", "write", "may-edit"])
            .also("given", &["reads", "inputs", "context"])
            .also("verdicts", &["outcomes", "outputs"])
            .must(
                "agent",
                Shape::Name.list(),
                "Which agent does it, a name the configuration knows; several: the first there is.",
            )
            .may("about", Shape::Text, "What it is, for people.")
            .may(
                "model",
                Shape::Text,
                "The model the first agent is asked for, if nobody configured another; a text.",
            )
            .may("effort", Shape::Text, "How hard the first agent is to think, in its own words; a text.")
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
                .may("forced", names(), "Gates that count as settled although they did not pass.")
                .may("anew", names(), "Gates whose judges begin anew: what they left open is closed."),
        ),
    ])
}

fn routes() -> Shape {
    Shape::MapOf("signals", Box::new(Shape::Ref("arm")))
}

fn may(key: &'static str, shape: Shape, about: &'static str) -> Field {
    Field { key, shape, required: false, about }
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
