//! What a message of ours is about.

/// How our messages begin, and what they are about.
const OURS: [(&str, &str); 30] = [
    ("`.vibe/STATE.md` is not there", "no state"),
    ("`.vibe/STATE.md` does not say `- Stage", "no stage"),
    ("`.vibe/STATE.md` does not say `- Checkpoint", "no checkpoint"),
    ("`.vibe/STATE.md` does not say `- Status", "no status"),
    ("`.vibe/STATE.md`: the status `* is not one of", "bad status"),
    ("`.vibe/STATE.md`: * entries in the work log", "log"),
    ("`.vibe/STATE.md` does not say where evidence", "no evidence path"),
    ("there is no evidence at", "no evidence"),
    ("`.vibe/PLAN.md` is not there", "no plan"),
    ("`.vibe/PLAN.md` has no heading for checkpoint", "not planned"),
    ("`.vibe/PLAN.md` has no heading for stage", "stage not planned"),
    ("`.vibe/PLAN.md`, line *: `*` is no id", "bad stage id"),
    ("`.vibe/PLAN.md`, line *: stage * is there already", "stage twice"),
    ("`.vibe/PLAN.md`: in stage *, * comes after", "minor order"),
    ("the state is at stage", "drift"),
    ("`.vibe/PLAN.md`: checkpoint * has no `Demo", "no demo"),
    ("`.vibe/PLAN.md`: checkpoint * has no `", "no part"),
    ("`.vibe/PLAN.md`: checkpoint * lists", "budget"),
    ("`.vibe/STATE.md`: the issue * has no id", "issue without id"),
    ("`.vibe/STATE.md`: * does not say its", "issue lacks"),
    ("`.vibe/STATE.md`: * is checked off, but", "checked, not resolved"),
    ("`.vibe/STATE.md`: * is checked off and", "checked, undecided"),
    ("`.vibe/STATE.md`: * is RESOLVED, but", "resolved, not checked"),
    ("`.vibe/STATE.md`: * is settled", "settled"),
    ("there is no catalog", "no catalog"),
    ("the catalog of prompts", "bad catalog"),
    ("the catalog has no", "role without prompt"),
    ("`workflows/* is no workflow", "bad workflow"),
    ("`workflows/* names `*`, which the catalog", "unknown prompt"),
    ("`workflows/* names `*`, which is the prompt of no", "prompt without role"),
];

/// What a message of ours is about.
pub fn of_ours(message: &str) -> &'static str {
    // The status of an issue and that of the project differ only in what follows.
    if message.starts_with("`.vibe/STATE.md`: the status") && message.contains("` of ") {
        return "issue status";
    }
    find(&OURS, message)
}

fn find(table: &[(&str, &'static str)], message: &str) -> &'static str {
    let found = table.iter().find(|(pattern, _)| begins(message, pattern));
    found.unwrap_or_else(|| panic!("nobody knows what this is about: {message}")).1
}

/// Whether a message begins with a pattern, in which a star stands for anything.
fn begins(message: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| message.strip_prefix(first)) else { return false };
    parts.all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}
