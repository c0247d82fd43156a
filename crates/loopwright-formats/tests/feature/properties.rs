//! Files nobody would write.

use loopwright_formats::feature::history::{self, Entry, Issue};
use loopwright_formats::feature::{Meta, PHASES, append, changes, way};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::changed;

const KEYS: &[&str] = &[
    "id",
    "name",
    "slug",
    "mode",
    "status",
    "created",
    "completed",
    "worktree",
    "currentPhase",
    "lastCompletedPhase",
    "phases",
    "phases_extra",
    "skippedPhases",
    "milestones",
    "features",
    "brainstorm",
    "specify",
    "spec",
    "design",
    "create-plan",
    "createTasks",
    "implement",
    "verify",
    "started",
    "startedAt",
    "iterations",
    "reviewIterations",
    "reviewerNotes",
    "verified",
    "stages",
    "chainReview",
    "concerns",
    "phase",
    "",
    "a.b",
];
const WORDS: &[&str] = &[
    "",
    " ",
    "007",
    "active",
    "Completed",
    "planning",
    "standard",
    "design",
    "in_progress",
    "2026-01-30T00:00:00Z",
    "2026-13-45",
    "[\"x\"]",
    "[",
    "true",
    "-1",
    "é\u{301}",
    "a\nb",
    "unknown",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|it| json!(it)),
        select(WORDS).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((select(KEYS), inner), 0..7).prop_map(|fields| {
                fields.into_iter().map(|(name, it)| (name.to_owned(), it)).collect::<Map<_, _>>().into()
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 768, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn anything_is_read_and_what_is_set_is_there(file in value(), stage in select(&PHASES[..]), count in 0..9_u64) {
        let meta = Meta::read(&file);
        let order: Vec<String> = PHASES.iter().map(|it| (*it).to_owned()).collect();
        let _ = way(&meta, &order, stage);
        let _ = meta.seen(&order, stage);
        if !file.is_object() {
            return Ok(());
        }
        let wanted = json!(count);
        let made = changes(&file, "phase.iterations", &wanted, (stage, &order)).unwrap();
        // Who would write through what is no map is stopped by whoever edits the text.
        if meta.problems.is_empty() && !matches!(file["phases"], Value::Array(_)) {
            let after = changed(&file, &made);
            prop_assert_eq!(Meta::read(&after).phases[stage].iterations, count);
            prop_assert_eq!(changes(&after, "phase.iterations", &wanted, (stage, &order)).unwrap(), vec![]);
        }
        let _ = append(&file, "skipped", &json!(["design"]));
    }

    #[test]
    fn what_is_written_of_a_round_is_read_again(
        summary in ".{0,40}", found in vec((".{1,20}", ".{0,8}"), 0..3), changes in "(.{0,20}\n){0,3}", before in "(#{0,3} ?.{0,12}\n){0,6}",
    ) {
        let issues = found.into_iter().map(|(text, place)| Issue { severity: "blocker".into(), text, place });
        let entry = Entry {
            phase: "design".into(),
            iteration: 3,
            at: "2026-11-19T05:00:00Z".into(),
            decision: "Needs Revision".into(),
            summary,
            issues: issues.collect(),
            ..Entry::default()
        };
        let text = history::append(&before, "x", &entry);
        let known = history::read(&text);
        let last = known.last().unwrap();
        prop_assert_eq!((last.phase.as_str(), last.iteration, last.issues.len()), ("design", 3, entry.issues.len()));
        prop_assert_eq!(history::append(&text, "x", &entry), text.clone());
        let done = history::with_changes(&text, &changes).unwrap();
        prop_assert_eq!(history::with_changes(&done, &changes).unwrap(), done.clone());
        prop_assert_eq!(history::read(&done).len(), known.len());
    }
}
