//! Histories of reviews.

use loopwright_formats::feature::history::{Entry, Issue, append, read, with_changes};

use super::cases;

#[test]
fn every_history_is_read() {
    // Rounds, those of them that are counted, what was found in all, rounds that say what was changed.
    let wanted = [(4, 4, 10, 3), (21, 18, 93, 8), (14, 9, 52, 6), (15, 12, 97, 14), (19, 14, 90, 13)];
    let found: Vec<_> = cases("history")
        .iter()
        .map(|case| {
            let all = read(case.text());
            assert!(all.iter().all(|it| !it.at.is_empty()), "{}: {all:#?}", case.id);
            let issues = all.iter().map(|it| it.issues.len()).sum::<usize>();
            let counted = all.iter().filter(|it| it.iteration > 0).count();
            (all.len(), counted, issues, all.iter().filter(|it| !it.changes.is_empty()).count())
        })
        .collect();
    assert_eq!(found, wanted);
    let first = &read(cases("history")[0].text())[0];
    assert_eq!((first.phase.as_str(), first.iteration, first.line), ("design", 1, 5));
    assert_eq!((first.decision.as_str(), first.issues[0].severity.as_str()), ("Needs Revision", "warning"));
    assert_eq!(first.issues[0].place, "Bokagokim Fabotasik, Decision 4");
}

fn round(phase: &str, iteration: u64, at: &str) -> Entry {
    let issue = |severity: &str, text: &str, place: &str| Issue {
        severity: severity.into(),
        text: text.into(),
        place: place.into(),
    };
    Entry {
        phase: phase.into(),
        iteration,
        at: at.into(),
        decision: "Needs Revision".into(),
        summary: "Two gaps.\n\n# not a heading\n---\n**Issues:** none".into(),
        issues: vec![issue("blocker", "no bounds\nfor size", "R2"), issue("note", "a typo", "")],
        ..Entry::default()
    }
}

const WRITTEN: &str = "# Review History: 007-export

## Phase: specify

### Iteration 1 - 2026-11-19T05:00:00Z

**Decision:** Needs Revision

**Reviewer Feedback:**
Two gaps.

\\# not a heading
\\---
\\**Issues:** none

**Issues:**
- [blocker] no bounds for size (at: R2)
- [note] a typo

**Changes Made:**
R2 says how large.

---
";

#[test]
fn a_round_is_written_once_and_what_came_of_it_below_it() {
    let first = round("specify", 1, "2026-11-19T05:00:00Z");
    let text = append("", "007-export", &first);
    assert_eq!(append(&text, "007-export", &first), text, "once");
    let text = with_changes(&text, "R2 says how large.\n").unwrap();
    assert_eq!(text, WRITTEN);
    assert_eq!(with_changes(&text, "R2 says how large."), Ok(text.clone()), "once");
    let known = &read(&text)[0];
    assert_eq!((&known.summary, &known.changes), (&first.summary, &"R2 says how large.".to_owned()));
    assert_eq!(known.issues[0].text, "no bounds for size");

    let text = append(&text, "", &round("specify", 2, "2026-11-19T06:00:00Z"));
    let text = append(&text, "", &round("design", 1, "2026-11-19T07:00:00Z"));
    assert!(text.starts_with(WRITTEN), "{text}");
    assert_eq!(text.matches("## Phase: ").count(), 2, "{text}");
    let rounds: Vec<(String, u64)> = read(&text).into_iter().map(|it| (it.phase, it.iteration)).collect();
    assert_eq!(rounds, [("specify".into(), 1), ("specify".into(), 2), ("design".into(), 1)]);
    let text = with_changes(&text, "another way").unwrap();
    assert_eq!(read(&text).last().unwrap().changes, "another way");
    let again = with_changes(&text, "one more way").unwrap();
    assert_eq!(again, text.replace("another way", "one more way"));
    assert_eq!(with_changes("# Review History\n", "x"), Err("there is no round yet"));
}

#[test]
fn histories_of_others_are_added_to_and_stay() {
    for case in cases("history") {
        let (before, text) = (read(case.text()), case.text());
        let after = append(text, "", &round("verify", 1, "2026-11-19T05:00:00Z"));
        assert!(after.starts_with(text.trim_end()), "{}", case.id);
        let all = read(&with_changes(&after, "all of it").unwrap());
        assert_eq!(all[..before.len()], before[..], "{}", case.id);
        assert_eq!(
            (all.len(), all.last().unwrap().changes.as_str()),
            (before.len() + 1, "all of it"),
            "{}",
            case.id
        );
    }
}
