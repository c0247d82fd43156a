//! Judges of `team` beside each other: whoever comes back first, a session goes the same way.

use loopwright_core::machine::Event;
use loopwright_engine::process::Cancel;
use loopwright_engine::{Answered, Standing};

use crate::ahead::InOrder;
use crate::bench::Bench;
use crate::team::{answer, asked, planned, project, status, walk};
use crate::team_files::CREW;
use crate::watched::{Watched, When};

/// Security objects to the first version, and QA adds a test to the second.
fn crew() -> String {
    let judges = r#"qa)
    mkdir -p tests; echo 'grep -qx hello src/greeting' > tests/greeting.sh
    say '{"verdict": "OK", "summary": "tested", "findings": []}' ;;
  security)
    echo "security of $(cat src/greeting)" >> ../called
    if grep -qx helo src/greeting; then
      say '{"verdict": "BLOCKED", "summary": "unsafe", "findings": [{"severity": "high", "text": "it greets anybody", "file": "src/greeting"}]}'
    else say '{"verdict": "OK", "summary": "safe", "findings": []}'; fi ;;
  nobody) say"#;
    let waits = r#"if [ -p "../go.$LOOPWRIGHT_STATE" ]; then read -r _ < "../go.$LOOPWRIGHT_STATE"; fi
if [ "$LOOPWRIGHT_STATE" = review ]; then echo "review of $(cat src/greeting)" >> ../called; fi"#;
    format!("{waits}\n{}", CREW.replace("qa|security) say", judges))
}

const WALK: [&str; 8] = [
    "review.1 BLOCKED",
    "fix-review.1 OK",
    "review.2 OK",
    "qa.1 OK",
    "review.3 OK",
    "security.1 OK",
    "promote-all.1 done",
    "final-pass.1/meta completed",
];

/// Who was called about what, in a fixed order.
fn called(bench: &Bench) -> Vec<String> {
    let text = std::fs::read_to_string(bench.around().join("called")).unwrap_or_default();
    let mut called: Vec<String> = text.lines().map(str::to_owned).collect();
    called.sort();
    called
}

const CALLS: [&str; 5] =
    ["review of hello", "review of hello", "review of helo", "security of hello", "security of helo"];

fn judged(bench: &Bench) -> Vec<String> {
    walk(bench).into_iter().skip_while(|it| !it.starts_with("review.")).take(WALK.len()).collect()
}

#[test]
fn reviewer_and_security_work_at_once_and_come_out_in_order() {
    for order in [["review", "security"], ["security", "review"]] {
        let bench = project();
        let (mut engine, name) = planned(&bench, &crew());
        engine.watch = InOrder::of(&bench, &order);
        let standing = answer(&engine, &name, "single-final", "", &[]);
        assert_eq!(asked(&standing), "manual", "{order:?}: {:?}", walk(&bench));
        assert_eq!(judged(&bench), WALK, "{order:?}");
        assert_eq!(called(&bench), CALLS, "{order:?}");
        let prompt = std::fs::read_to_string(bench.around().join("prompt.fix-reviewmeta")).expect("a prompt");
        assert!(
            prompt.contains("it is spelt hello") && prompt.contains("it greets anybody"),
            "both are repaired at once: {prompt}"
        );
        assert_eq!(status(&bench)["retry_counts"], serde_json::json!({"meta": {"FIX_REVIEW": 1}}));
        let events = engine
            .journal
            .runs()
            .expect("runs")
            .into_iter()
            .flat_map(|it| engine.journal.events(&it.run.name, 0).expect("events"));
        let heard = events.filter(|it| matches!(it.event, Event::Heard { .. })).count();
        assert_eq!(heard, 4, "both, twice");
    }
}

#[test]
fn whoever_takes_a_session_up_asks_no_judge_again_who_was_heard() {
    for first in ["review", "security"] {
        let bench = project();
        let (mut engine, name) = planned(&bench, &crew());
        let other = if first == "review" { "security" } else { "review" };
        // The other one never comes back by itself.
        let pipe = bench.around().join(format!("go.{other}"));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
        let cancel = Cancel::default();
        let heard = |it: &Event| matches!(it, Event::Heard { .. });
        engine.journal = Watched::leaving(&engine.journal, &cancel, When::After, heard);
        let answered = Answered { answer: "single-final".into(), ..Answered::default() };
        bench.answers.left.lock().expect("answers").push(answered);
        let standing = engine.take_up(&name, &cancel).expect("a driver").drive().expect("it can be left");
        assert!(matches!(standing, Standing::CalledOff { .. }), "{standing:?}");
        std::fs::remove_file(pipe).expect("a pipe");
        let standing =
            engine.take_up(&name, &Cancel::default()).expect("a driver").drive().expect("it drives");
        assert_eq!(asked(&standing), "manual", "{first}: {:?}", walk(&bench));
        assert_eq!(judged(&bench), WALK, "{first}");
        let first_round =
            |judge: &str| called(&bench).iter().filter(|it| **it == format!("{judge} of helo")).count();
        assert_eq!(first_round(first), 1, "{first}: {:?}", called(&bench));
    }
}
