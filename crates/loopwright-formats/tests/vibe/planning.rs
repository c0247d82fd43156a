//! Plans: what is in them, and what comes next.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use loopwright_formats::vibe::plan::demo_commands;
use loopwright_formats::vibe::{Mark, Next, Plan, ids};

fn ids_of(plan: &Plan) -> Vec<&str> {
    plan.checkpoints.iter().map(|it| it.id.as_str()).collect()
}

fn advance(id: &str, stage: Option<&str>) -> Next {
    Next::Advance { id: id.to_owned(), stage: stage.map(str::to_owned) }
}

#[test]
fn ids_have_one_form() {
    assert_eq!(ids::stage("021a").as_deref(), Some("21A"));
    assert_eq!(ids::stage("000").as_deref(), Some("0"));
    assert_eq!(ids::stage("１２").as_deref(), Some("12"));
    assert_eq!(ids::checkpoint("01.00").as_deref(), Some("1.0"));
    for wrong in ["", "A", "21AB", "2:", "1.0", "²"] {
        assert_eq!(ids::stage(wrong), None, "{wrong}");
    }
    for wrong in ["1", "1.", ".1", "1.1.2", "1.1a", "1.0 x"] {
        assert_eq!(ids::checkpoint(wrong), None, "{wrong}");
    }
}

#[test]
fn headings_make_a_plan() {
    let plan = Plan::read(
        "# PLAN\n## Stage 01 — One\n### 1.0 — first: it\n### (DONE) 1.1\n#### ( SKIPPED ) 1.2 - x\n###### (SKIP) 1.3\n\
         ####### 1.4\n## 1.5\n### (done) 1.6\n### (WIP) 1.7\n### Checkpoint 1.8\n### 1.1.2 odd\n### 1.9a\n\
         ## (SKIP) Stage 21a\n### 021A.00\n## (DONE) Stage 4\n### 4.0\n",
    );
    let stages: Vec<_> =
        plan.stages.iter().map(|it| (it.id.as_str(), it.line, it.skip, it.title.as_str())).collect();
    assert_eq!(stages, [("1", 2, false, "One"), ("21A", 14, true, "")]);
    let marks: Vec<_> = plan.checkpoints.iter().map(|it| (it.id.as_str(), it.mark)).collect();
    assert_eq!(
        marks,
        [
            ("1.0", Mark::Open),
            ("1.1", Mark::Done),
            ("1.2", Mark::Skipped),
            ("1.3", Mark::Deferred),
            ("1.1", Mark::Open),
            ("21A.0", Mark::Open),
            ("4.0", Mark::Open)
        ]
    );
    assert_eq!(plan.title("01.0"), Some("first: it"));
    assert_eq!(plan.checkpoints[6].stage.as_deref(), Some("21A"));
    assert_eq!((plan.previous_stage("21a"), plan.previous_stage("1")), (Some("1"), None));
}

#[test]
fn fenced_headings_are_not_headings() {
    let fenced = |open: &str, close: &str| format!("### 1.0\n{open}\n### 1.1\n{close}\n### 1.2\n");
    for (open, close) in [("```", "```"), ("  ~~~~ x", "~~~~~ y"), ("```md", "```python")] {
        assert_eq!(ids_of(&Plan::read(&fenced(open, close))), ["1.0", "1.2"], "{open}");
    }
    for (open, close) in [("````", "```"), ("```", "~~~"), ("```", "")] {
        assert_eq!(ids_of(&Plan::read(&fenced(open, close))), ["1.0"], "{open}");
    }
    assert_eq!(ids_of(&Plan::read(&fenced("``", "``"))).len(), 3);
}

#[test]
fn the_text_of_a_checkpoint_ends_at_a_heading_that_is_not_below_it() {
    let plan = Plan::read("### about 1.0\n### 1.0 — a\ntext\n#### below\n```\n### 9.9\n```\n### 1.1 b\n");
    assert_eq!(plan.section("1.00"), Some("### 1.0 — a\ntext\n#### below\n```\n### 9.9\n```\n"));
    assert_eq!(plan.section("9.9"), None);
}

#[test]
fn what_comes_next_goes_by_the_order_of_the_plan() {
    let plan = Plan::read(
        "## Stage 1\n### 1.2\n### (DONE) 1.1\n### (SKIP) 1.3\n## Stage 2\n### 2.0\n### (SKIPPED) 2.1\n",
    );
    assert_eq!(plan.after(None, None), advance("1.2", Some("1")));
    let to_two = Next::NewStage { id: "2.0".to_owned(), from: Some("1".to_owned()), to: "2".to_owned() };
    assert_eq!(plan.after(Some("01.2"), Some("1")), to_two);
    assert_eq!(plan.after(Some("1.2"), None), to_two);
    assert_eq!(plan.after(Some("1.2"), Some("02")), advance("2.0", Some("2")));
    assert_eq!(plan.after(Some("2.0"), Some("2")), Next::NoneLeft);
    assert_eq!(plan.after(Some("2.1"), Some("2")), Next::Last);
    assert_eq!(plan.after(Some("7.7"), Some("7")), Next::Unknown);
    assert_eq!(plan.after(Some("1.2 <!-- x -->"), Some("1")), Next::Unknown);
    assert_eq!(Plan::read("# none").after(Some("1.0"), None), Next::NoCheckpoints);
    assert_eq!(Plan::read("### (DONE) 1.0").after(None, None), Next::NoneLeft);
    assert_eq!(
        Plan::read("### 1.0\n## Stage 2\n### 2.0").after(Some("1.0"), Some("1")),
        advance("2.0", Some("2"))
    );
}

#[test]
fn an_id_that_comes_twice_is_of_the_stage_it_was_in_first() {
    let plan = Plan::read("## Stage 1\n### 1.0\n### 1.1\n## Stage 2\n### 1.0\n### 2.0\n");
    let next = Next::Advance { id: "1.0".to_owned(), stage: Some("1".to_owned()) };
    assert_eq!(plan.after(Some("1.1"), Some("1")), next);
}

#[test]
fn finished_ids_that_come_twice_do_not_hang() {
    let plan = Plan::read("### 1.0\n### (DONE) 1.1\n### (DONE) 1.1\n### (DONE) 1.0\n");
    assert_eq!(plan.after(Some("1.0"), None), Next::NoneLeft);
    let plan = Plan::read("### (DONE) 1.0\n### (DONE) 1.1\n### (DONE) 1.0\n### 1.1\n");
    assert_eq!(plan.after(Some("1.0"), None), advance("1.1", None));
}

#[test]
fn demo_commands_are_what_is_run_and_nothing_else() {
    let plan = "### 1.0\n- **Demo commands:** `inline`\n  * `one`\n\nprose\n  - `two` and `three`\n  * `four` no\n  * ``\n```\n`five`\n```\n\
                * **Demo commands:**\n  * `six`\n## Stage 2\n  * `seven`\n---\n  * `eight`\n### 1.1\n* **Demo commands**\n  * `nine`\n";
    assert_eq!(demo_commands(plan, "1.0"), ["one", "two` and `three", "six", "seven"]);
    assert_eq!(demo_commands(plan, "01.0"), demo_commands(plan, "1.0"));
    assert!(demo_commands(plan, "1.1").is_empty());
    assert!(demo_commands(plan, "1.10").is_empty() && demo_commands(plan, "").is_empty());
    assert!(demo_commands("### 1.0\n* **Demo commands:**\n* **Evidence:**\n  * `no`\n", "1.0").is_empty());
}

#[test]
fn a_large_plan_is_read_at_once() {
    let mut text = String::from("# PLAN\n");
    for stage in 0..50 {
        let _ = writeln!(text, "## Stage {stage} — s\n");
        for minor in 0..10 {
            let _ = writeln!(
                text,
                "### (DONE) {stage}.{minor} — c\n\n* **Objective:**\n{}",
                "  words\n".repeat(40)
            );
        }
    }
    let fastest = (0..5).map(|_| {
        let start = Instant::now();
        let plan = Plan::read(&text);
        assert_eq!(plan.after(Some("0.0"), Some("0")), Next::NoneLeft);
        assert_eq!(plan.checkpoints.len(), 500);
        start.elapsed()
    });
    // Hardly optimised, on a machine that has other things to do.
    assert!(fastest.min().unwrap() < Duration::from_millis(40));
}

#[test]
fn megabytes_of_one_thing_are_read_in_time() {
    for piece in [
        "#",
        "`",
        "- ",
        " ",
        "### 1.0 ",
        "- [",
        "[",
        "{a: ",
        "a: ",
        "- - ",
        "? ",
        "\"",
        "\u{2028}",
        "{{",
        "- a:\n",
        "## Stage 1\n",
        "### 1.0\n",
    ] {
        let text = piece.repeat(2_000_000 / piece.len());
        let start = Instant::now();
        let plan = Plan::read(&text);
        let _ = (plan.after(Some("1.0"), Some("1")), plan.section("1.0"), demo_commands(&text, "1.0"));
        let _ = loopwright_formats::vibe::State::read(&text);
        let _ = loopwright_formats::vibe::edit::set(&text, "status", "DONE");
        let _ = loopwright_formats::vibe::catalog::Catalog::read(&text, true);
        for name in ["w.yaml", "w.json"] {
            let _ = loopwright_formats::vibe::catalog::workflow_prompts(
                name,
                text.get(..1 << 20).unwrap_or(&text),
            );
        }
        assert!(start.elapsed() < Duration::from_secs(5), "{piece:?} took {:?}", start.elapsed());
    }
}
