//! Whole runs of `change`: real files, real checks, agents that are shell scripts.

use indexmap::IndexMap;
use loopwright_core::definition::Outcome as Ending;
use loopwright_core::language::Folder;
use loopwright_core::name::Name;
use loopwright_engine::process::Cancel;
use loopwright_engine::{Answered, Asking, Begin, Engine, EngineError, Message, Standing};

use crate::bench::{Bench, in_folder, run};
use crate::change_files::{APPROVES, BUILDER, JUDGE, PLANNER, TEST};

pub(crate) const OF: &str = "agentd/changes/greet";

pub(crate) fn change() -> Folder {
    in_folder("../../workflows", "change")
}

/// A project that has agentd's folder and nothing in it.
pub(crate) fn project() -> Bench {
    Bench::with(&[
        ("test.sh", TEST),
        ("agentd/project.md", "# A project\n"),
        ("agentd/specs/greeting.md", "# greeting\n\nNobody is greeted.\n"),
        (
            "agentd/specs/CHANGELOG.md",
            "# Changelog\n\n## 2026-01-01: It begins (begin)\nThere is a project.\n",
        ),
    ])
}

pub(crate) fn engine(bench: &Bench) -> Engine {
    with(bench, PLANNER, BUILDER, JUDGE)
}

/// Everybody keeps what they were told.
pub(crate) fn with(bench: &Bench, planner: &str, builder: &str, judge: &str) -> Engine {
    let told = |script: &str| format!("cat > \"../prompt.$LOOPWRIGHT_STATE$LOOPWRIGHT_ITEM\"; {script}");
    bench.engine(&[("gemini", &told(planner)), ("claude", &told(builder)), ("codex", &told(judge))])
}

pub(crate) fn begin(verb: &str) -> Begin {
    let inputs = IndexMap::from([(Name::from("description"), "Greet people.".to_owned())]);
    Begin { subject: "greet".into(), verb: Some(verb.into()), inputs, ..Begin::default() }
}

/// Says a verb to a run that rests, and drives it on.
pub(crate) fn say(engine: &Engine, run: &str, verb: &str) -> Standing {
    let said = Message::Say { verb: verb.into(), inputs: IndexMap::new() };
    engine.journal.post(run, 0, &serde_json::to_string(&said).expect("a letter")).expect("it is left");
    engine.take_up(run, &Cancel::default()).expect("a driver").drive().expect("it drives")
}

/// What it waits for, in words.
pub(crate) fn rests(standing: &Standing) -> String {
    match standing {
        Standing::Waits { asking, .. } => match &**asking {
            Asking::Verbs { text, .. } => text.clone(),
            Asking::Question(asked) => format!("? {}", asked.text),
        },
        other => panic!("{other:?}"),
    }
}

/// The states that did something, in order, each with how it came out.
pub(crate) fn walk(bench: &Bench) -> Vec<String> {
    bench.lines().into_iter().filter(|it| !it.starts_with("said: ")).collect()
}

/// Takes a change over from its files, as a verb does.
pub(crate) fn taken_over(engine: &Engine) -> Result<String, EngineError> {
    let folder = change();
    let begin = Begin { subject: "greet".into(), ..Begin::default() };
    let begin = engine.found(&folder, &begin)?.expect("documents that say where it stands");
    let driver = engine.begin(&folder, &begin, &Cancel::default())?;
    let name = driver.name().to_owned();
    driver.put_down()?;
    Ok(name)
}

pub(crate) fn prompt(bench: &Bench, of: &str) -> String {
    std::fs::read_to_string(bench.around().join(format!("prompt.{of}"))).expect("a prompt")
}

#[test]
fn a_wish_becomes_a_plan_then_code_then_the_main_specs() {
    let bench = project();
    let engine = engine(&bench);
    let (name, standing) = run(&engine, &change(), &begin("plan")).expect("a run");
    // Nobody was there to ask, so the question is put off.
    assert!(rests(&standing).starts_with("Planning is complete"), "{}", rests(&standing));
    let walked = "
        propose.1 done, specs.1/greeting done, specs.1/farewell done, tasks.1 done, challenge.1 NEEDS_REVISION,
        repropose.1 done, challenge.2 APPROVED, ask-implement.1 deferred";
    let walked: Vec<&str> = walked.split(',').map(str::trim).collect();
    assert_eq!(walk(&bench), walked, "specs in the order of what they depend on, not of the list");
    assert!(prompt(&bench, "propose").contains("> Greet people."));
    let proposal = bench.read(&format!("{OF}/proposal.md"));
    let tag = |iteration: u32, status: &str| {
        format!(
            "<review iteration=\"{iteration}\" reviewer=\"challenger\" round=\"{name}.{iteration}\" status=\"{status}\">"
        )
    };
    assert_eq!(proposal.matches("<review ").count(), 2, "{proposal}");
    assert!(proposal.contains(&tag(1, "needs_revision")), "what its author threw away is there: {proposal}");
    assert!(proposal.contains(&tag(2, "approved")), "{proposal}");
    let state = bench.read(&format!("{OF}/STATE.yaml"));
    assert!(state.starts_with("change_id: greet\nschema_version: \"2.0\"\ncreated_at: 2026-"), "{state}");
    assert!(state.contains("\nphase: challenged\n") && state.contains("\niteration: 2\n"), "{state}");

    let walked_so_far = walked.len();
    let standing = say(&engine, &name, "impl");
    assert!(rests(&standing).contains("Implemented and reviewed"), "{}", rests(&standing));
    let walked = "
        implement.1/data done, implement.1/logic done, tests.1 fail, lint.1 pass, audit.1 pass, review.1 NEEDS_FIX,
        fix.1 done, tests.2 pass, lint.2 pass, audit.2 pass, review.2 APPROVED";
    let walked: Vec<&str> = walked.split(',').map(str::trim).collect();
    let built: Vec<String> = walk(&bench).into_iter().skip(walked_so_far).collect();
    assert_eq!(built, walked);
    assert!(
        prompt(&bench, "implementlogic")
            .contains("- 2.10 Write the farewell: CREATE `src/farewell`, for farewell:R1")
    );
    assert!(prompt(&bench, "fix").contains("Tests: fail"), "evidence reaches whoever fixes");
    let review = bench.read(&format!("{OF}/REVIEW.md"));
    assert!(review.starts_with("# Code Review (Iteration 2)\n"), "{review}");
    assert!(
        review.contains("- Total: 2, Passed: 2, Failed: 0, Skipped: 0")
            && review.contains("**Status**: CLEAN")
    );
    assert!(review.contains("## Verdict\n\nAPPROVED\n"), "{review}");
    assert!(bench.read(&format!("{OF}/STATE.yaml")).contains("\nphase: complete\n"));

    let standing = say(&engine, &name, "archive");
    assert!(matches!(standing, Standing::Over { ending: Some(Ending::Success), .. }), "{standing:?}");
    assert!(!bench.path().join("agentd/changes/greet").exists(), "it moved");
    assert!(!bench.path().join(".agentd-backup/greet").exists(), "nothing is left of the copy");
    let archive: Vec<_> =
        std::fs::read_dir(bench.path().join("agentd/archive")).expect("an archive").collect();
    let folder = archive[0].as_ref().expect("an entry").path();
    let date = folder
        .file_name()
        .and_then(|it| it.to_str())
        .and_then(|it| it.strip_suffix("-greet"))
        .expect("its id");
    assert!(date.len() == 8 && date.bytes().all(|it| it.is_ascii_digit()), "{date}");
    let state = std::fs::read_to_string(folder.join("STATE.yaml")).expect("a state");
    assert!(state.contains("\nphase: archived\n"), "{state}");
    for file in [
        "proposal.md",
        "tasks.md",
        "specs/greeting.md",
        "REVIEW.md",
        "ARCHIVE_REVIEW.md",
        "IMPLEMENTATION.md",
    ] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    assert!(bench.read("agentd/specs/farewell.md").contains("### R1 - It is there"));
    let log = bench.read("agentd/specs/CHANGELOG.md");
    assert!(log.contains("(greet)") && log.contains("(begin)"), "{log}");
}

#[test]
fn what_was_filed_and_written_by_others_stays() {
    let old = "<review iteration='4' reviewer='codex' status='needs_revision'>\n## Verdict\nNEEDS_REVISION\n</review>\n";
    let bench = taken(
        "# mine\nchange_id: greet\ncreated_at: 2025-12-24T01:02:03Z\nphase: drafting # by hand\niteration: 7\nsession_id: null\nkept: {by: me}\n",
        old,
    );
    let engine = engine(&bench);
    let name = taken_over(&engine).expect("it is taken over");
    say(&engine, &name, "plan");
    let proposal = bench.read(&format!("{OF}/proposal.md"));
    assert!(proposal.contains(old), "the old block is there to the letter: {proposal}");
    assert!(proposal.contains("<review iteration=\"5\""), "and later ones count on from it: {proposal}");
    let state = bench.read(&format!("{OF}/STATE.yaml"));
    assert!(
        state.starts_with(
            "# mine\nchange_id: greet\ncreated_at: 2025-12-24T01:02:03Z\nphase: challenged # by hand\n"
        ),
        "{state}"
    );
    assert!(state.contains("\niteration: 7\n"), "rounds that nobody filed are counted on from: {state}");
    assert!(state.contains("session_id: null\nkept: {by: me}\n"), "{state}");
}

/// A plan that is there in the old, free form, with the state and blocks given.
pub(crate) fn taken(state: &str, blocks: &str) -> Bench {
    let bench = project();
    bench.write(&format!("{OF}/STATE.yaml"), state);
    let proposal = "# Change: greet\n\n## Summary\nIt greets people and says goodbye.\n\n## Why\nNobody does.\n\n## What Changes\n- a greeting\n\n## Impact\n- Affected specs: `greeting`, `farewell`\n";
    bench.write(&format!("{OF}/proposal.md"), &format!("{proposal}{blocks}"));
    for spec in ["greeting", "farewell"] {
        let text = format!(
            "# Specification: {spec}\n\n## Overview\nAbout it.\n\n## Requirements\n\n### R1: It is there\n\n## Acceptance Criteria\n\n### Scenario: Somebody comes\n- **WHEN** somebody comes\n- **THEN** it is there\n"
        );
        bench.write(&format!("{OF}/specs/{spec}.md"), &text);
    }
    bench.write(&format!("{OF}/tasks.md"), TASKS);
    bench
}

/// Layers that only the headings know.
pub(crate) const TASKS: &str = "\
# Tasks

## 1. Data Layer
- [ ] 1.1 Write the greeting
  - File: `src/greeting` (CREATE)
  - Spec: `specs/greeting.md#R1`

## 2. Testing Layer
- [ ] 2.3b Try it
  - File: `src/tried` (CREATE)

## 5. Docs
- [ ] 5.10 Write about it
  - File: `README` (CREATE)
";

#[test]
fn layers_come_from_headings_and_no_task_is_left_out() {
    let bench = taken("phase: challenged\n", "");
    let engine = engine(&bench);
    let name = taken_over(&engine).expect("it is taken over");
    say(&engine, &name, "impl");
    let layers: Vec<String> =
        walk(&bench).into_iter().filter_map(|it| Some(it.strip_prefix("implement.1/")?.to_owned())).collect();
    assert_eq!(layers, ["data done", "testing done", "docs done"]);
    assert!(prompt(&bench, "implementtesting").contains("- 2.3b Try it: CREATE `src/tried`"));
    assert!(prompt(&bench, "implementdocs").contains("- 5.10 Write about it"));
}

#[test]
fn a_task_nobody_can_read_stops_the_building() {
    let bench = taken("phase: challenged\n", "");
    let tasks = format!("{OF}/tasks.md");
    bench.write(&tasks, &TASKS.replace("2.3b Try it", "Try it"));
    let engine = with(&bench, PLANNER, BUILDER, APPROVES);
    let name = taken_over(&engine).expect("it is taken over");
    let told = rests(&say(&engine, &name, "impl"));
    assert!(told.contains("tasks.md cannot be worked off as it stands") && told.contains("line 9"), "{told}");
    assert_eq!(walk(&bench), [""; 0], "nobody was called");
    bench.write(&tasks, TASKS);
    say(&engine, &name, "impl");
    // What was put right is another plan than the one that was approved.
    let walked = walk(&bench);
    let built: Vec<&str> = walked.iter().take(4).map(String::as_str).collect();
    let expected = [
        "challenge.1 APPROVED",
        "implement.2/data done",
        "implement.2/testing done",
        "implement.2/docs done",
    ];
    assert_eq!(built, expected, "{walked:?}");
}

#[test]
fn a_proposal_whose_specs_nobody_can_read_stops_the_planning() {
    for (way, specs, told) in [
        (
            "a circle",
            "  - id: one\n    depends: [two]\n  - id: two\n    depends: [one]\n",
            "in a circle: `one` -> `two`",
        ),
        ("an unknown one", "  - id: one\n    depends: [three]\n", "spec `one` depends on `three`"),
        ("a path", "  - id: ../../one\n", "`../../one` is no name of a spec"),
    ] {
        let bench = taken("phase: proposed\n", "");
        let proposal = format!("{OF}/proposal.md");
        let right = bench.read(&proposal);
        bench.write(&proposal, &format!("---\nid: greet\naffected_specs:\n{specs}---\n{right}"));
        let engine = engine(&bench);
        let name = taken_over(&engine).expect("it is taken over");
        let said = rests(&say(&engine, &name, "plan"));
        assert!(said.contains("proposal.md cannot be worked off") && said.contains(told), "{way}: {said}");
        assert_eq!(walk(&bench), [""; 0], "{way}: nobody was called");
        bench.write(&proposal, &right);
        say(&engine, &name, "plan");
        assert!(walk(&bench).iter().any(|it| it.starts_with("challenge.1")), "{way}: {:?}", walk(&bench));
    }
}

#[test]
fn a_plan_in_the_wrong_form_goes_back_to_its_author() {
    let bench = project();
    let planner = format!(
        "{PLANNER}
        case $LOOPWRIGHT_STATE.$LOOPWRIGHT_ATTEMPT in
          propose.1) echo '# Change' > \"$of/proposal.md\" ;;
          specs.1) sed -i '/Scenario/,$d' \"$of/specs/$LOOPWRIGHT_ITEM.md\" ;;
          tasks.1) sed -i /change_id/d \"$of/tasks.md\" ;;
          tasks.2) sed -i '/^## /,$d' \"$of/tasks.md\" ;;
        esac"
    );
    let engine = with(&bench, &planner, BUILDER, JUDGE);
    let (name, _) = run(&engine, &change(), &begin("plan")).expect("a run");
    let walked = walk(&bench);
    let begun: Vec<&str> = walked.iter().take(7).map(String::as_str).collect();
    assert_eq!(
        begun,
        [
            "propose.1 malformed",
            "propose.1 done",
            "specs.1/greeting malformed",
            "specs.1/greeting done",
            "specs.1/farewell done",
            "tasks.1 malformed",
            "tasks.1 malformed"
        ]
    );
    let why: Vec<String> = engine
        .journal
        .events(&name, 0)
        .expect("events")
        .into_iter()
        .filter_map(|it| match it.event {
            loopwright_core::machine::Event::Settled {
                evidence: loopwright_core::machine::Evidence::Out(outcome),
                ..
            } if *outcome.signal == *"malformed" => Some(outcome.summary),
            _ => None,
        })
        .collect();
    assert!(why[0].contains("proposal.md` is no `proposal` yet"), "{why:?}");
    assert!(why[1].contains("no scenario"), "{why:?}");
    assert!(why[2].contains("does not say `change_id: greet`"), "{why:?}");
    assert!(why[3].contains("no layer with a task"), "{why:?}");
}

#[test]
fn nothing_but_a_verdict_is_one() {
    let bench = project();
    let judge = "echo 'APPROVED. Everything is approved: [x] APPROVED. ## Verdict: APPROVED'";
    let engine = with(&bench, PLANNER, BUILDER, judge);
    let (_, standing) = run(&engine, &change(), &begin("plan")).expect("a run");
    assert!(rests(&standing).contains("The plan is open. challenge: malformed,"), "{}", rests(&standing));
    assert!(!bench.read(&format!("{OF}/proposal.md")).contains("<review "), "nothing was filed");
    assert!(bench.read(&format!("{OF}/STATE.yaml")).contains("phase: proposed"));
}

#[test]
fn an_agent_whose_pipe_breaks_is_tried_again_and_then_told_of() {
    let bench = project();
    let broken = "exec 0<&-; echo 'write error: Broken pipe' >&2; exit 141";
    let planner = format!("if [ $LOOPWRIGHT_ATTEMPT -le 3 ]; then {broken}; fi; {PLANNER}");
    let engine = with(&bench, &planner, BUILDER, JUDGE);
    run(&engine, &change(), &begin("plan")).expect("a run");
    let tries = walk(&bench).iter().filter(|it| it.starts_with("propose.1")).count();
    assert_eq!(tries, 4, "{:?}", walk(&bench));
    assert!(
        walk(&bench).contains(&"challenge.2 APPROVED".to_owned()),
        "and no round was spent: {:?}",
        walk(&bench)
    );

    let bench = project();
    // It says nothing itself: what became of it is known all the same.
    let engine = bench.engine(&[("gemini", "kill -PIPE $$"), ("claude", BUILDER), ("codex", JUDGE)]);
    let (name, standing) = run(&engine, &change(), &begin("plan")).expect("a run");
    let told = rests(&standing);
    assert!(told.contains("propose: crashed") && told.contains("its pipe broke (SIGPIPE)"), "{told}");
    assert!(bench.read(&format!("{OF}/STATE.yaml")).contains("phase: proposed"));
    // Somebody puts it right, and the same run goes on.
    let mended = crate::change::engine(&bench);
    let told = rests(&say(&mended, &name, "plan"));
    assert!(told.starts_with("Planning is complete"), "{told}");
}

#[test]
fn the_configuration_of_agentd_is_kept_to() {
    let bench = project();
    bench.write("agentd/config.toml", "[workflow]\nplanning_iterations = 0\nimplementation_iterations = 1\n");
    let engine = engine(&bench);
    let (_, standing) = run(&engine, &change(), &begin("plan")).expect("a run");
    assert!(rests(&standing).starts_with("The plan is open."), "no revision is left: {}", rests(&standing));
    let calls = walk(&bench);
    assert!(!calls.iter().any(|it| it.starts_with("repropose")), "{calls:?}");

    bench.write("agentd/config.toml", "[workflow]\nplanning_iterations = 12\n");
    let other = Begin { subject: "other".into(), ..begin("plan") };
    let error = run(&engine, &change(), &other).expect_err("it is too many").to_string();
    assert!(
        error.contains("`planning_iterations` is `12` in agentd/config.toml")
            && error.contains("0, 1, 2, 3, 4, 5"),
        "{error}"
    );
    bench.write("agentd/config.toml", "[workflow\n");
    let error = run(&engine, &change(), &other).expect_err("it is broken").to_string();
    assert!(error.contains("agentd/config.toml") && error.contains("line 1"), "{error}");
}

#[test]
fn a_phase_that_somebody_writes_is_followed_and_one_that_is_none_is_refused() {
    let bench = taken("phase: proposed\n", "");
    let rejects = r#"printf '```json\n{"verdict": "REJECTED", "summary": "no", "findings": [{"severity": "high", "text": "not wanted"}]}\n```\n'"#;
    let engine = with(&bench, PLANNER, BUILDER, rejects);
    let name = taken_over(&engine).expect("it is taken over");
    let told = rests(&say(&engine, &name, "plan"));
    assert!(told.starts_with("The plan was rejected."), "{told}");
    let state = format!("{OF}/STATE.yaml");
    assert!(bench.read(&state).contains("phase: rejected"));
    bench.write(&state, &bench.read(&state).replace("phase: rejected", "phase: proposed"));
    let approving = crate::change::engine(&bench);
    let told = rests(&say(&approving, &name, "plan"));
    assert!(told.starts_with("Planning is complete"), "the edit was followed: {told}");
    bench.write(&state, &bench.read(&state).replace("phase: challenged", "phase: done"));
    let driver = approving.take_up(&name, &Cancel::default()).expect("a driver");
    let error = driver.drive().expect_err("it is no phase").to_string();
    assert!(error.contains("STATE.yaml, line 1") && error.contains("`done` is no phase"), "{error}");
}

#[test]
fn at_the_limit_it_is_the_rest_that_decides() {
    let rounds = |severities: &str| {
        let bench = taken("phase: proposed\n", "");
        let judge = format!(
            r#"n="$LOOPWRIGHT_VISIT"; printf '```json\n{{"verdict": "NEEDS_REVISION", "summary": "round '"$n"'", "findings": [{severities}]}}\n```\n'"#
        );
        let engine = with(&bench, PLANNER, BUILDER, &judge);
        let name = taken_over(&engine).expect("it is taken over");
        let standing = say(&engine, &name, "plan");
        let revised = walk(&bench).iter().filter(|it| it.starts_with("repropose")).count();
        assert_eq!(revised, 3, "{:?}", walk(&bench));
        let proposal = bench.read(&format!("{OF}/proposal.md"));
        assert_eq!(proposal.matches("<review ").count(), 4, "{proposal}");
        (rests(&standing), bench.read(&format!("{OF}/STATE.yaml")))
    };
    let minor = r#"{"severity": "medium", "subject": "a'"$n"'", "text": "one"}, {"severity": "low", "subject": "b'"$n"'", "text": "two"}"#;
    let (told, state) = rounds(minor);
    assert!(
        told.starts_with("Planning is complete") && state.contains("phase: challenged"),
        "{told}\n{state}"
    );
    let major = r#"{"severity": "medium", "subject": "a'"$n"'", "text": "one"}, {"severity": "medium", "subject": "b'"$n"'", "text": "two"}"#;
    let (told, state) = rounds(major);
    assert!(told.starts_with("The plan is open.") && state.contains("phase: proposed"), "{told}\n{state}");
}

#[test]
fn what_is_left_at_the_limit_is_shown_and_told_to_whoever_goes_on_revising() {
    let bench = taken("phase: proposed\n", "");
    bench.write("agentd/config.toml", "[workflow]\nplanning_iterations = 0\n");
    let judge = r#"if [ $LOOPWRIGHT_VISIT = 1 ]; then
        printf '```json\n{"verdict": "NEEDS_REVISION", "findings": [{"severity": "medium", "text": "whom does it greet?"}]}\n```\n'
      else printf '```json\n{"verdict": "APPROVED", "findings": []}\n```\n'; fi"#;
    let engine = with(&bench, PLANNER, BUILDER, judge);
    let name = taken_over(&engine).expect("it is taken over");
    let answers = ["continue", "view"].map(|it| Answered { answer: it.into(), ..Answered::default() });
    bench.answers.left.lock().expect("answers").extend(answers);
    let standing = say(&engine, &name, "plan");
    let shown = bench.answers.shown.lock().expect("what was shown").concat();
    assert!(shown.contains("whom does it greet?"), "{shown}");
    // No revision is left: the person has one made all the same, by somebody who knows what for.
    assert_eq!(
        walk(&bench)[..2],
        ["challenge.1 NEEDS_REVISION", "ask-minor.1 continue"],
        "{:?}",
        walk(&bench)
    );
    let told = prompt(&bench, "repropose");
    assert!(told.contains("[medium]: whom does it greet?"), "{told}");
    assert!(matches!(standing, Standing::Waits { .. }), "{standing:?}");
}
