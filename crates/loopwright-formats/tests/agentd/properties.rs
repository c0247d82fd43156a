//! Text nobody would write.

use std::collections::BTreeMap;

use loopwright_formats::agentd::change::{Files, Overview, validate};
use loopwright_formats::agentd::config::Config;
use loopwright_formats::agentd::proposal::{self, Filed, Proposal};
use loopwright_formats::agentd::review::{self, Issue, Review, TestResults, Written};
use loopwright_formats::agentd::spec::Spec;
use loopwright_formats::agentd::state::State;
use loopwright_formats::agentd::tasks::Tasks;
use loopwright_formats::agentd::{Severity, verdict};
use proptest::prelude::*;

/// Pieces that mean something somewhere.
const PIECES: [&str; 95] = [
    "---\n",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "  ",
    "   ",
    "    ",
    "\t",
    "# ",
    "## ",
    "### ",
    "## Verdict\n",
    "## Verdict: ",
    "## Status: ",
    "Verdict: ",
    "**Verdict**: ",
    "[x] approved",
    "[x] APPROVED | [ ] NEEDS_FIX",
    "- [x] ",
    "- [ ] ",
    "* [X] ",
    "APPROVED",
    "NEEDS_CHANGES",
    "NEEDS_REVISION",
    "REJECTED",
    "MAJOR_ISSUES",
    "not ",
    "_WITH_NITS",
    "**",
    "~~",
    "`",
    "```",
    "```yaml\n",
    "````",
    "~~~",
    "<!--",
    "-->",
    "<review>",
    "<review iteration=\"1\" status=\"approved\">",
    "<review round='k' iteration='2'>",
    "<review",
    "</review>",
    "<proposal>\n",
    "</proposal>\n",
    "1.1 ",
    "2.10 ",
    "2.3b: ",
    "Task 1.1: ",
    "Task ",
    "## 1. Data Layer\n",
    "## 2. Testing\n",
    "  - File: `a.rs` (CREATE)\n",
    "  - Spec: `specs/a.md#r1`\n",
    "  - Depends: 1.1, 1.2-1.4\n",
    "Verify: `a:R1`",
    "id: 1.1\n",
    "action: CREATE\n",
    "file: x\n",
    "depends_on: [1.1]\n",
    "status: done\n",
    "affected_specs:\n",
    "  - id: a\n    depends: [b]\n",
    "- Affected specs: `a`, b (new)\n",
    "## Summary\n",
    "## What Changes\n",
    "## Issues\n",
    "### HIGH\n",
    "1. **",
    "Location: `a:1`",
    "Recommendation: ",
    "**Next Steps**: ",
    "- **Severity**: High | Low\n",
    "### Issue: ",
    "### R1 - a\n",
    "### Scenario: s\n",
    "- **WHEN** a **THEN** b\n",
    "## Overview\n",
    "## Acceptance Criteria\n",
    "\\",
    "| 1.1 | x |\n",
    "\u{feff}",
    "**Task 1.2: x**\n",
    "**2. Testing Layer**\n",
    "> - [ ] 1.9 ",
    "=====\n",
    "-----\n",
    "✅ ",
    "T1.2: ",
    "###Task 1.4: ",
    "##",
    "```json\n{\"id\": \"1.3\", \"file\": \"a\"}\n",
    "APPROVED\nNEEDS_FIX\n",
    "2. x\n",
    "**Task ",
];

/// Ways to write a task, right or wrong.
const LOOKS: [&str; 36] = [
    "- [ ] 9.27 Second",
    "- [x] **Task 9.27**: Second",
    "- [ ] `Task 9.27` Second",
    "- [ ] __9.27:__ Second",
    "- [ ] T9.27 Second",
    "- [ ] Second",
    "- [ ] 9-27 Second",
    "- [ ] v9.27 Second",
    "- 9.27 Second",
    "- **Task 9.27:** Second",
    "- ✅ 9.27 Second",
    "- Second",
    "1. Second",
    "27) Second",
    "1. [ ] 9.27 Second",
    "### 9.27 Second",
    "### ✅ Task 9.27: Second",
    "### T9.27: Second",
    "### Task T9.27: Second",
    "### TASK-9.27: Second",
    "### Step 9.27: Second",
    "### Feature 9.27: Second",
    "### Task 27.x: Second",
    "### Task two: Second",
    "### T27: Second",
    "### Second",
    "###Task 9.27: Second",
    "###9.27 Second",
    "**Task 9.27: Second**",
    "**Task 9.27**: Second",
    "**9.27 Second**",
    "**Second**",
    "Task 9.27: Second",
    "9.27 Second",
    "> - [ ] 9.27 Second",
    "| 9.27 | Second |",
];

fn odd_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(PIECES.to_vec()).prop_map(str::to_owned),
        2 => "[a-z #*`>|.:-]{1,8}",
        1 => "\\PC{0,5}",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Lines that each mean something, so that more than their beginning is reached.
fn lines() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        3 => prop::sample::select(PIECES.to_vec()).prop_map(|it| format!("{}\n", it.trim_end_matches('\n'))),
        1 => "[a-z ]{0,12}\n",
        1 => Just("\n".to_owned()),
        1 => Just("## Verdict\n\nAPPROVED\n".to_owned()),
        1 => Just("```yaml\n### Task 1.1: a\n".to_owned()),
        1 => Just("<review iteration=\"3\" status=\"rejected\">\n```\n".to_owned()),
    ];
    prop::collection::vec(line, 0..30).prop_map(|lines| lines.concat())
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![odd_text(), lines(), lines().prop_map(|it| it.replace('\n', "\r\n"))]
}

fn severity() -> impl Strategy<Value = Option<Severity>> {
    prop::sample::select(vec![Some(Severity::High), Some(Severity::Medium), Some(Severity::Low), None])
}

fn issue() -> impl Strategy<Value = Issue> {
    (
        severity(),
        texts(),
        texts(),
        prop::option::of(odd_text()),
        prop::option::of(0_u64..9),
        prop::option::of(texts()),
    )
        .prop_map(|(severity, title, description, file, line, recommendation)| Issue {
            severity,
            title,
            description,
            file,
            line,
            recommendation,
            at: None,
        })
}

fn written() -> impl Strategy<Value = Written> {
    let words = vec!["APPROVED", "NEEDS_CHANGES", "NEEDS_FIX", "MAJOR_ISSUES", "REJECTED", "NEEDS_REVISION"];
    (
        prop::sample::select(words),
        prop::collection::vec(issue(), 0..4),
        prop::option::of(texts()),
        texts(),
        0_u64..9,
    )
        .prop_map(|(verdict, issues, next_steps, odd, iteration)| Written {
            title: "Code Review".to_owned(),
            iteration,
            verdict: verdict.to_owned(),
            tests: Some(TestResults { status: odd.clone(), total: iteration, ..TestResults::default() }),
            security: Some(odd.clone()),
            summary: Some(odd),
            issues,
            next_steps,
        })
}

fn filed() -> impl Strategy<Value = Filed> {
    let key = prop_oneof!["[a-c]", odd_text()];
    let status = prop::sample::select(vec!["approved", "needs_revision", "rejected"]);
    (key, odd_text(), status, texts()).prop_map(|(key, reviewer, status, body)| Filed {
        key,
        reviewer,
        status: status.to_owned(),
        body,
    })
}

fn without_places(issue: &Issue) -> Issue {
    Issue { at: None, ..issue.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, ..ProptestConfig::default() })]

    #[test]
    fn nothing_makes_a_reader_panic(text in texts()) {
        let _ = (verdict::read(&text), Review::read(&text), Proposal::read(&text), Spec::read(&text, "a"));
        let _ = (Tasks::read(&text, "a"), Config::read(&text), State::read(&text));
        let names = ["STATE.yaml", "proposal.md", "tasks.md", "specs/a.md", "specs/b.md", "REVIEW.md", "CHALLENGE.md"];
        let texts: BTreeMap<String, String> = names.iter().map(|it| ((*it).to_owned(), text.clone())).collect();
        let files = Files { change_id: "a".to_owned(), texts, ..Files::default() };
        let report = validate(&files, false);
        prop_assert_eq!(report.valid, report.high == 0);
        let _ = Overview::read(&files);
    }

    #[test]
    fn lines_end_as_they_like(text in lines()) {
        let text = text.replace('\r', "");
        let other = text.replace('\n', "\r\n");
        prop_assert_eq!(verdict::read(&text), verdict::read(&other));
        let (one, two) = (Tasks::read(&text, "a"), Tasks::read(&other, "a"));
        let short = |it: &Tasks| it.all().map(|it| (it.id.clone(), it.line, it.files.clone())).collect::<Vec<_>>();
        prop_assert_eq!(short(&one), short(&two));
        prop_assert_eq!(one.problems, two.problems);
    }

    #[test]
    fn tasks_have_places_and_their_layers_names_of_their_own(text in texts()) {
        let tasks = Tasks::read(&text, "a");
        let mut ids: Vec<&str> = tasks.layers.iter().map(|it| it.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), tasks.layers.len());
        for layer in &tasks.layers {
            prop_assert!(!layer.tasks.is_empty() && !layer.id.is_empty());
        }
    }

    #[test]
    fn a_task_is_read_or_is_a_problem(before in lines(), id in "[1-9]\\.[0-9]{1,2}[a-c]?") {
        // Whatever stands before it, unless it is in code or a comment.
        let before = before.replace(['`', '~'], "").replace("<!--", "").replace("---", "");
        let text = format!("{before}\n\n## 9. Last Layer\n\n- [ ] {id} The last one\n");
        let tasks = Tasks::read(&text, "a");
        prop_assert!(tasks.all().any(|it| it.id == id && it.title == "The last one"), "{:?}", tasks);
    }

    #[test]
    fn what_looks_like_a_task_is_one_or_stops_the_building(
        before in lines(),
        form in prop::sample::select(LOOKS.to_vec()),
        after in lines(),
    ) {
        let plain = |it: String| it.replace(['`', '~', '<'], "").replace("---", "");
        let (before, after) = (plain(before), plain(after));
        let start = format!("{before}\n\n## 9. Last Layer\n\n- [ ] 9.1 First\n\n");
        let text = format!("{start}{form}\n   - File: `a.rs` (CREATE)\n   - Spec: `a:R1`\n\n## Z\n\n{after}");
        let tasks = Tasks::read(&text, "a");
        let line = start.replace("\r\n", "\n").replace('\r', "\n").matches('\n').count() + 1;
        let is_task = tasks.all().any(|it| it.id == "9.27" && it.title == "Second" && it.line == line);
        let is_said = tasks.problems.iter().any(|it| it.severity == Severity::High && it.line == Some(line));
        prop_assert!(is_task || is_said, "{:?} in\n{}", tasks.problems, text);
    }

    #[test]
    fn a_review_that_is_written_is_read_again(review in written()) {
        let text = review::render(&review);
        let read = Review::read(&text);
        let found = read.verdict.clone();
        prop_assert!(found.is_ok(), "{:?} in\n{}", found, text);
        prop_assert_eq!(&found.unwrap().written, &review.verdict);
        prop_assert_eq!(read.iteration, Some(review.iteration));
        let mut wanted: Vec<Issue> = review.issues.iter().map(Issue::tidy).collect();
        wanted.sort_by_key(|it| it.severity.map_or(3, |it| it as u8));
        let got: Vec<Issue> = read.issues.iter().map(without_places).collect();
        prop_assert_eq!(got, wanted, "in\n{}", text);
        // Lines that end otherwise change nothing.
        let other = Review::read(&text.replace('\n', "\r\n"));
        prop_assert_eq!(other.verdict, read.verdict);
        prop_assert_eq!(other.issues, read.issues);
    }

    #[test]
    fn filing_a_review_touches_nothing_else(text in texts(), reviews in prop::collection::vec(filed(), 0..4)) {
        let before = Proposal::read(&text).reviews;
        let filed = proposal::file_reviews(&text, &reviews);
        prop_assert!(filed.starts_with(&text));
        let keys: Vec<String> = reviews.iter().map(|it| it.key.clone()).collect();
        prop_assert!(proposal::holds_reviews(&filed, &keys), "{}", filed);
        prop_assert_eq!(proposal::without_reviews(&filed), proposal::without_reviews(&text), "{:?}", filed);
        prop_assert_eq!(proposal::file_reviews(&filed, &reviews), filed.clone());
        let after = Proposal::read(&filed).reviews;
        prop_assert_eq!(&after[..before.len()], &before[..]);
        let mut new = keys.clone();
        new.sort();
        new.dedup();
        new.retain(|key| !before.iter().any(|it| it.round.as_ref() == Some(key)));
        prop_assert_eq!(after.len(), before.len() + new.len(), "{}", filed);
    }

    #[test]
    fn what_is_filed_says_what_was_decided(text in texts(), mut review in filed(), body in written()) {
        review.body = review::render(&Written { verdict: review.status.to_uppercase(), ..body });
        let filed = proposal::file_reviews(&text, &[review.clone()]);
        let read = Proposal::read(&filed);
        let block = read.reviews.iter().find(|it| it.round.as_deref() == Some(&review.key)).unwrap();
        prop_assume!(!Proposal::read(&text).reviews.iter().any(|it| it.round == block.round));
        prop_assert!(block.verdict.is_ok(), "{:?} in {}", block.verdict, filed);
        let verdict = block.verdict.clone().unwrap().verdict;
        prop_assert_eq!(verdict.as_str().to_lowercase(), review.status);
    }

    #[test]
    fn reviews_are_put_back_word_for_word(text in texts(), reviews in prop::collection::vec(filed(), 0..4)) {
        let filed = proposal::file_reviews("# A\n", &reviews);
        let raw: Vec<String> = Proposal::read(&filed).reviews.into_iter().map(|it| it.raw).collect();
        prop_assert_eq!(proposal::restore_reviews(&filed, &raw), filed.clone());
        // What is left open in a text may end in a block that is put behind it word for word.
        let text = text.replace(['`', '~'], "").replace("<!--", "");
        let restored = proposal::restore_reviews(&text, &raw);
        let got: Vec<String> = Proposal::read(&restored).reviews.into_iter().map(|it| it.raw).collect();
        prop_assert_eq!(got, raw);
        prop_assert_eq!(proposal::without_reviews(&restored), proposal::without_reviews(&text));
    }
}
