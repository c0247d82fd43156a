//! What the five workflows could plausibly read, as types.

use indexmap::IndexMap;
use loopwright_core::fact::Type;

fn names(fields: impl IntoIterator<Item = (&'static str, Type)>) -> IndexMap<String, Type> {
    fields.into_iter().map(|(name, it)| (name.to_owned(), it)).collect()
}

fn record(fields: impl IntoIterator<Item = (&'static str, Type)>) -> Type {
    Type::record(fields)
}

fn flag() -> Type {
    Type::one_of(["absent", "clear", "set"])
}

/// What the five workflows could plausibly read.
pub(crate) fn world() -> IndexMap<String, Type> {
    let blocker = record([("id", Type::Text), ("owner", Type::one_of(["human", "agent"]))]);
    let issue =
        record([("id", Type::Text), ("status", Type::one_of(["OPEN", "DECISION_REQUIRED", "RESOLVED"]))]);
    let state = record([
        ("status", Type::one_of(["NOT_STARTED", "IN_PROGRESS", "IN_REVIEW", "BLOCKED", "DONE", "unknown"])),
        ("blockers", Type::list(blocker)),
        ("issues", Type::list(issue)),
        ("top_impact", Type::one_of(["MINOR", "MODERATE", "MAJOR", "QUESTION"]).maybe()),
        ("work_log", Type::list(Type::Text)),
        ("stage_number", Type::Int.maybe()),
        (
            "flags",
            record([
                ("RETROSPECTIVE_DONE", flag()),
                ("STAGE_DESIGNED", flag()),
                ("MAINTENANCE_CYCLE_DONE", flag()),
                ("RUN_CONTEXT_CAPTURE", flag()),
                ("RUN_PROCESS_IMPROVEMENTS", flag()),
            ]),
        ),
    ]);
    let todo = Type::one_of(["Todo", "Doing", "Done"]);
    let touches = Type::one_of(["auth-input-network", "nothing", "none"]);
    let finding = record([
        ("id", Type::Text),
        ("severity", Type::one_of(["low", "medium", "high"])),
        ("topic", Type::Text.maybe()),
        ("file", record([("path", Type::Text), ("line", Type::Int)]).maybe()),
    ]);
    let docs = record([
        ("state", state),
        ("context", record([("exists", Type::Bool), ("stale", Type::Bool), ("age", Type::Int.maybe())])),
        (
            "plan",
            record([("exists", Type::Bool), ("next_is", Type::one_of(["none", "same-stage", "new-stage"]))]),
        ),
        ("spec", record([("exists", Type::Bool)])),
        (
            "meta",
            record([
                ("step", Type::one_of(["next", "skips", "again"])),
                ("started", Type::Bool),
                ("completed", Type::Bool),
            ]),
        ),
        (
            "tasks",
            record([
                ("open", Type::Int),
                ("count", Type::Int),
                ("first", record([("new_symbols", Type::Bool)])),
                ("cross_cutting", Type::Bool),
                ("flags", Type::list(Type::one_of(["none", "security", "schema"]))),
            ]),
        ),
        (
            "issue",
            record([
                ("exists", Type::Bool),
                ("depends_on", Type::list(Type::Text)),
                ("subs", Type::list(Type::Text)),
                ("criteria", Type::list(record([("text", Type::Text), ("checked", Type::Bool)]))),
            ]),
        ),
        ("issues", Type::map(record([("status", todo)]))),
        ("acceptance", record([("manual", Type::list(Type::Text))])),
    ]);
    names([
        ("docs", docs),
        (
            "git",
            record([
                ("bare", Type::Bool),
                ("detached", Type::Bool),
                ("branch", Type::Text.maybe()),
                ("base", Type::Text),
                ("dirty", Type::Bool),
                ("changed_files", Type::list(Type::Text)),
            ]),
        ),
        ("project", record([("language", Type::Text)])),
        ("findings", record([("open", Type::list(finding))])),
        ("mode", Type::one_of(["hotfix", "quick", "standard", "full"])),
        (
            "stage",
            Type::one_of(["brainstorm", "specify", "design", "create-plan", "create-tasks", "implement"]),
        ),
        ("kind", Type::one_of(["task", "meta"])),
        (
            "item",
            record([
                ("id", Type::Text),
                ("type", Type::one_of(["feat", "fix", "refactor", "docs", "chore"])),
                ("risk_flags", Type::list(Type::one_of(["security", "performance"]))),
            ]),
        ),
        (
            "last",
            record([
                ("review_strategy", Type::one_of(["per-batch", "single-final", "none"])),
                ("code", record([("touches", touches.clone())])),
                ("fix_review", record([("touches", touches.clone())])),
                ("fix_tests", record([("touches", touches)])),
            ]),
        ),
        ("ratio", Type::Float),
        ("free", Type::Any),
    ])
}
