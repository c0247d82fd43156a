//! Whole runs of `vibe`: real files, real commands, agents that are shell scripts.

use loopwright_core::definition::Outcome as Ending;
use loopwright_core::language::Folder;
use loopwright_engine::process::Cancel;
use loopwright_engine::{Begin, Engine, Message, Standing};

use crate::bench::{Bench, in_folder, run};
use crate::vibe_files::{JUDGE, PLAN, STATE, WORKER};

fn vibe() -> Folder {
    in_folder("../../workflows", "vibe")
}

fn files() -> Vec<(&'static str, &'static str)> {
    vec![(".vibe/STATE.md", STATE), (".vibe/PLAN.md", PLAN), (".vibe/CONTEXT.md", "# CONTEXT\n")]
}

fn engine(bench: &Bench) -> Engine {
    let worker = format!("cat > ../prompt.$LOOPWRIGHT_STATE; {WORKER}");
    let judge = format!("cat > ../prompt.review; {JUDGE}");
    bench.engine(&[("claude", &worker), ("codex", &judge)])
}

/// An engine that leaves a run when it comes back to its start.
fn one_round(mut engine: Engine) -> Engine {
    engine.most_rounds = Some(1);
    engine
}

/// The states that did something, in order, each with how it came out.
fn walk(bench: &Bench) -> Vec<String> {
    let lines = bench.lines().into_iter().filter(|it| !it.starts_with("said: "));
    lines
        .map(|it| {
            it.replace("/action-0 done", "").replace("/action-1 done", "+").replace("/action-2 done", "+")
        })
        .collect()
}

#[test]
fn a_whole_stage_is_driven_unattended() {
    let bench = Bench::with(&files());
    let (_, standing) = run(&engine(&bench), &vibe(), &Begin::default()).expect("a run");
    assert!(
        matches!(standing, Standing::Over { ending: Some(Ending::Success), .. }),
        "{standing:?}\n{}",
        bench.lines().join("\n")
    );
    let walked = "
        implement.1 ready_for_review, to-review.1, to-review.1+, smoke.1 fail, smoke-triage.1 resolved, triaged.1,
        smoke.2 pass, review.1 fail, rework.1, rework.1+,
        implement.2 ready_for_review, to-review.2, to-review.2+, smoke.3 pass, review.2 pass, checkpoint-done.1, checkpoint-done.1+, checkpoint-done.1+,
        advance.1, advance.1+,
        implement.3 ready_for_review, to-review.3, to-review.3+, smoke.4 pass, review.3 pass, checkpoint-done.2, checkpoint-done.2+, checkpoint-done.2+,
        open-stage.1, close-stage.1 aligned, consolidated.1,
        retrospective.1 completed, mark-retro.1, mark-retro.1+,
        design.1 updated, mark-designed.1, mark-designed.1+,
        maintain.1 ready_for_review, maintained.1, maintained.1+,
        recapture.1 updated, captured.1, captured.1+,
        implement.4 ready_for_review, to-review.4, to-review.4+, smoke.5 pass, review.4 pass, checkpoint-done.3, checkpoint-done.3+, checkpoint-done.3+,
        all-done.1";
    let walked: Vec<&str> = walked.split(',').map(str::trim).collect();
    assert_eq!(walk(&bench), walked);
    let state = bench.read(".vibe/STATE.md");
    let after = STATE
        .replace("Stage: 1", "Stage: 2")
        .replace("Checkpoint: 1.0", "Checkpoint: 2.0")
        .replace("NOT_STARTED", "DONE")
        .replace(
            "- begun",
            "- implement of 1.0\n- smoke-triage of 1.0\n- implement of 1.1\n- design of 2.0\n- implement of 2.0\n- begun",
        );
    assert_eq!(state, after, "everything else in it stays as it was");
    let log = bench.git(&["log", "--format=%s"]);
    assert_eq!(log, "2.0: thanks\n1.1: goodbye\n1.0: hello\nstart");
    let record: serde_json::Value =
        serde_json::from_str(&bench.read(".vibe/LOOP_RESULT.json")).expect("JSON");
    assert_eq!(
        (&record["loop"], &record["result"], &record["status"]),
        (&"stop".into(), &"stop".into(), &"DONE".into())
    );
    assert_eq!(record["reason"], "PLAN.md has no checkpoint left after 2.0");
    assert_eq!(
        record["state_sha256"],
        loopwright_formats::vibe::record::state_sha256(&state),
        "whoever asks next is not told to record something first"
    );
    let upkeep = std::fs::read_to_string(bench.around().join("prompt.maintain")).expect("a prompt");
    assert!(upkeep.starts_with("# Maintenance: documentation"), "stage 2 is for documentation: {upkeep}");
    let back = std::fs::read_to_string(bench.around().join("prompt.retrospective")).expect("a prompt");
    assert!(back.contains("The stage to look back on: 1."), "{back}");
    assert!(upkeep.contains("\n  - short\n"), "what reviews noted is there: {upkeep}");
    let review = std::fs::read_to_string(bench.around().join("prompt.review")).expect("a prompt");
    assert!(review.contains("+thanks") && !review.contains("+goodbye"), "of this checkpoint alone: {review}");
}

#[test]
fn what_only_the_engine_sets_is_put_back() {
    let bench = Bench::with(&files());
    let eager = r#"cat > /dev/null
        sed -e 's/Status: NOT_STARTED/Status: DONE/' -e 's/\[x\] STAGE_DESIGNED/[ ] STAGE_DESIGNED/' -e 's/- begun/- begun\n- claimed/' .vibe/STATE.md > .vibe/new
        mv .vibe/new .vibe/STATE.md
        printf '```json\n{"verdict": "ready_for_review"}\n```\n'"#;
    let engine = bench.engine(&[("claude", eager), ("codex", JUDGE)]);
    let engine = one_round(engine);
    let (name, standing) = run(&engine, &vibe(), &Begin::default()).expect("a run");
    assert!(matches!(standing, Standing::Rounded { .. }), "{standing:?}");
    let state = bench.read(".vibe/STATE.md");
    assert_eq!(state, STATE.replace("NOT_STARTED", "IN_REVIEW").replace("- begun", "- begun\n- claimed"));
    let told = engine.read(&name).expect("a run").1.last["implement"].summary.clone();
    assert!(told.contains("only the engine sets") && told.contains("`status`"), "{told}");
}

#[test]
fn an_agent_lifts_no_blocker_of_a_person() {
    let issue = "- [ ] ISSUE-7: pay for it\n  - Impact: MAJOR\n  - Owner: human\n  - Status: OPEN\n";
    let bench = Bench::with(&[
        (".vibe/STATE.md", &STATE.replace("- None.\n", issue).replace("NOT_STARTED", "IN_REVIEW")),
        (".vibe/PLAN.md", &PLAN.replace("grep -q hello hello.txt", "false")),
        (".vibe/CONTEXT.md", "# CONTEXT\n"),
    ]);
    let sly = r#"cat > /dev/null
        sed -e 's/- \[ \] ISSUE-7/- [x] ISSUE-7/' -e 's/Status: OPEN/Status: RESOLVED/' .vibe/STATE.md > .vibe/new && mv .vibe/new .vibe/STATE.md
        printf '```json\n{"verdict": "resolved"}\n```\n'"#;
    let engine = bench.engine(&[("claude", sly), ("codex", JUDGE)]);
    let (_, standing) = run(&engine, &vibe(), &Begin::default()).expect("a run");
    assert!(matches!(standing, Standing::Waits { .. }), "{standing:?}");
    assert!(bench.lines().contains(&"smoke-triage.1 out-of-bounds".to_owned()), "{:?}", bench.lines());
    assert!(bench.read(".vibe/STATE.md").contains(issue), "it is as it was");
}

/// Says a verb to a run that rests, and drives it on.
fn resumed(engine: &Engine, name: &str) -> Standing {
    let resume = Message::Say { verb: "resume".into(), inputs: indexmap::IndexMap::new() };
    let letter = serde_json::to_string(&resume).expect("a letter");
    engine.journal.post(name, 0, &letter).expect("a letter");
    engine.take_up(name, &Cancel::default()).expect("a driver").drive().expect("it drives")
}

#[test]
fn a_state_nobody_recorded_waits_for_a_person() {
    let bench = Bench::with(&files());
    bench.write(".vibe/LOOP_RESULT.json", "{\"state_sha256\": \"of another\"}\n");
    let engine = one_round(engine(&bench));
    let (name, standing) = run(&engine, &vibe(), &Begin::default()).expect("a run");
    assert!(matches!(standing, Standing::Waits { .. }), "{standing:?}");
    assert_eq!(walk(&bench), Vec::<String>::new(), "nobody was called");
    assert_eq!(
        bench.read(".vibe/LOOP_RESULT.json"),
        "{\"state_sha256\": \"of another\"}\n",
        "it stays as it is"
    );
    let standing = resumed(&engine, &name);
    assert!(matches!(standing, Standing::Rounded { .. }), "{standing:?}");
    assert_eq!(walk(&bench)[..2], ["acknowledge.1", "implement.1 ready_for_review"]);
}

#[test]
fn blockers_of_people_are_listed_and_nobody_is_called() {
    let issues = "- [ ] ISSUE-1: money\n  - Impact: BLOCKER\n  - Owner: Human \n- [ ] ISSUE-2: key\n  - Impact: BLOCKER\n  - Owner: human\n";
    let state = STATE.replace("- None.\n", issues).replace("NOT_STARTED", "BLOCKED");
    let bench = Bench::with(&[(".vibe/STATE.md", &state), (".vibe/PLAN.md", PLAN)]);
    let (_, standing) = run(&engine(&bench), &vibe(), &Begin::default()).expect("a run");
    assert!(matches!(standing, Standing::Waits { .. }), "{standing:?}");
    assert_eq!(walk(&bench), ["waiting.1"]);
    let record: serde_json::Value =
        serde_json::from_str(&bench.read(".vibe/LOOP_RESULT.json")).expect("JSON");
    assert_eq!(record["reason"], "blocked by people: ISSUE-1; ISSUE-2");
    assert_eq!(bench.read(".vibe/STATE.md"), state);
}

#[test]
fn a_repository_without_flags_gets_none() {
    let plain = STATE.replace("## Workflow state", "## Notes");
    let state = plain.replace("Checkpoint: 1.0", "Checkpoint: 1.1").replace("NOT_STARTED", "DONE");
    let bench =
        Bench::with(&[(".vibe/STATE.md", &state), (".vibe/PLAN.md", PLAN), (".vibe/CONTEXT.md", "# C\n")]);
    let engine = one_round(engine(&bench));
    let (_, standing) = run(&engine, &vibe(), &Begin::default()).expect("a run");
    assert!(matches!(standing, Standing::Rounded { .. }), "{standing:?}");
    let after = plain.replace("Stage: 1", "Stage: 2").replace("Checkpoint: 1.0", "Checkpoint: 2.0");
    assert_eq!(bench.read(".vibe/STATE.md"), after);
}

#[test]
fn a_command_that_hangs_is_a_command_that_failed() {
    let plan = PLAN.replace(
        "  * `grep -q hello hello.txt`\n",
        "  * `touch one`\n  * `sh -c 'sleep 1000 & sleep 1000'`\n  * `touch three`\n",
    );
    let bench = Bench::with(&[
        (".vibe/STATE.md", &STATE.replace("NOT_STARTED", "IN_REVIEW")),
        (".vibe/PLAN.md", &plan),
        (".gitignore", "one\nthree\n"),
    ]);
    let gives_up = r#"cat > ../prompt; printf '```json\n{"verdict": "blocked"}\n```\n'"#;
    let mut folder = vibe();
    // What matters is not how long that is.
    let text = String::from_utf8(folder.files["workflow.yaml"].clone()).expect("text");
    assert!(text.contains("each: 30s"), "so long a command may take");
    folder.files.insert("workflow.yaml".to_owned(), text.replace("each: 30s", "each: 1s").into_bytes());
    let (_, standing) =
        run(&bench.engine(&[("claude", gives_up), ("codex", JUDGE)]), &folder, &Begin::default())
            .expect("a run");
    assert!(matches!(standing, Standing::Waits { .. }), "{standing:?}");
    assert_eq!(walk(&bench), ["smoke.1 fail", "smoke-triage.1 blocked", "stuck.1"]);
    assert!(bench.path().join("one").exists() && !bench.path().join("three").exists());
    let prompt = std::fs::read_to_string(bench.around().join("prompt")).expect("a prompt");
    assert!(prompt.contains("timed out: it took longer than 1 s"), "{prompt}");
}

#[test]
fn whoever_mends_a_demo_command_leaves_it_as_it_is() {
    let plan = PLAN.replace("grep -q hello hello.txt", "false");
    let bench = Bench::with(&[
        (".vibe/STATE.md", &STATE.replace("NOT_STARTED", "IN_REVIEW")),
        (".vibe/PLAN.md", &plan),
        (".vibe/CONTEXT.md", "# CONTEXT\n"),
    ]);
    let sly = r#"cat > /dev/null; grep -v '`false`' .vibe/PLAN.md > .vibe/new; mv .vibe/new .vibe/PLAN.md
        printf '```json\n{"verdict": "resolved"}\n```\n'"#;
    let engine = bench.engine(&[("claude", sly), ("codex", JUDGE)]);
    let (_, standing) = run(&engine, &vibe(), &Begin::default()).expect("a run");
    assert!(matches!(standing, Standing::Waits { .. }), "{standing:?}");
    assert_eq!(walk(&bench), ["smoke.1 fail", "smoke-triage.1 out-of-bounds", "failed.1"]);
    assert_eq!(bench.read(".vibe/PLAN.md"), plan);
}

#[test]
fn a_chore_that_records_nothing_is_not_done() {
    let nothing =
        |word: &str| format!("cat > /dev/null; printf '```json\\n{{\"verdict\": \"{word}\"}}\\n```\\n'");
    for (flag, chore, word) in
        [("STAGE_DESIGNED", "design", "updated"), ("RETROSPECTIVE_DONE", "retrospective", "completed")]
    {
        let state = STATE.replace(&format!("[x] {flag}"), &format!("[ ] {flag}"));
        let bench = Bench::with(&[
            (".vibe/STATE.md", &state),
            (".vibe/PLAN.md", PLAN),
            (".vibe/CONTEXT.md", "# C\n"),
        ]);
        let engine = bench.engine(&[("claude", &nothing(word)), ("codex", JUDGE)]);
        let (_, standing) = run(&engine, &vibe(), &Begin::default()).expect("a run");
        assert!(matches!(standing, Standing::Waits { .. }), "{standing:?}");
        let malformed = format!("{chore}.1 malformed");
        assert_eq!(
            walk(&bench),
            [malformed.as_str(), &malformed, "failed.1"],
            "tried once more, then left to a person"
        );
        assert!(bench.read(".vibe/STATE.md").contains(&format!("[ ] {flag}")), "it is not marked as done");
    }
}

#[test]
fn evidence_beside_the_papers_is_the_implementers_to_write() {
    let bench = Bench::with(&files());
    let shows = r#"cat > /dev/null; echo 'it says hello' > .vibe/EVIDENCE.md; echo hello, world > hello.txt
        printf '```json\n{"verdict": "ready_for_review"}\n```\n'"#;
    let engine = one_round(bench.engine(&[("claude", shows), ("codex", JUDGE)]));
    let (_, standing) = run(&engine, &vibe(), &Begin::default()).expect("a run");
    assert!(matches!(standing, Standing::Rounded { .. }), "{standing:?}");
    assert_eq!(walk(&bench)[0], "implement.1 ready_for_review");
    assert_eq!(bench.read(".vibe/EVIDENCE.md"), "it says hello\n");
}

/// What a run of `vibe` refuses before anybody is called.
fn refused(bench: &Bench) -> String {
    match run(&engine(bench), &vibe(), &Begin::default()) {
        Ok((_, standing)) => panic!("{standing:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn files_that_nobody_would_see_change_are_not_worked_with() {
    let bench = Bench::with(&files());
    bench.git(&["rm", "-r", "-q", "--cached", ".vibe"]);
    bench.write(".gitignore", ".vibe\n");
    let why = refused(&bench);
    assert!(why.contains("git ignores `.vibe/STATE.md`"), "{why}");
    assert!(engine(&bench).journal.runs().expect("runs").is_empty(), "nothing was begun");
    // One that the engine alone writes may be.
    bench.write(".gitignore", ".vibe/LOOP_RESULT.json\n");
    let (_, standing) = run(&one_round(engine(&bench)), &vibe(), &Begin::default()).expect("a run");
    assert!(matches!(standing, Standing::Rounded { .. }), "{standing:?}");
}

#[test]
fn without_its_papers_no_run_is_begun() {
    for (missing, files) in [
        (".vibe/STATE.md", vec![(".vibe/PLAN.md", PLAN)]),
        (".vibe/PLAN.md", vec![(".vibe/STATE.md", STATE)]),
    ] {
        let bench = Bench::with(&files);
        let why = refused(&bench);
        assert!(why.contains(&format!("there is no `{missing}`")), "{why}");
        assert!(engine(&bench).journal.runs().expect("runs").is_empty(), "nothing was begun");
    }
}

#[test]
fn a_checkpoint_that_nobody_planned_is_not_built() {
    let plan = PLAN.replace("### ", "### Checkpoint ");
    for (state, plan, reason) in [
        (
            STATE.replace("Checkpoint: 1.0", "Checkpoint: 9.9"),
            PLAN,
            "checkpoint 9.9 is to be built, and PLAN.md does not have it",
        ),
        (STATE.to_owned(), plan.as_str(), "checkpoint 1.0 is to be built, and PLAN.md does not have it"),
        (
            STATE.replace("NOT_STARTED", "IN_REVIEW"),
            plan.as_str(),
            "checkpoint 1.0 is to be judged, and PLAN.md does not have it",
        ),
        (STATE.replace("NOT_STARTED", "DONE"), "# PLAN\n", "PLAN.md has no checkpoints"),
    ] {
        let bench = Bench::with(&[
            (".vibe/STATE.md", &state),
            (".vibe/PLAN.md", plan),
            (".vibe/CONTEXT.md", "# C\n"),
        ]);
        let (_, standing) = run(&engine(&bench), &vibe(), &Begin::default()).expect("a run");
        assert!(matches!(standing, Standing::Waits { .. }), "{standing:?}");
        let record: serde_json::Value =
            serde_json::from_str(&bench.read(".vibe/LOOP_RESULT.json")).expect("JSON");
        assert_eq!(record["reason"], reason);
        assert_eq!(walk(&bench).len(), 1, "nobody was called: {:?}", walk(&bench));
    }
}

#[test]
fn whoever_leaves_and_edits_is_heard_before_anybody_is_called() {
    let bench = Bench::with(&files());
    let made = std::process::Command::new("mkfifo").arg(bench.around().join("at-work")).status();
    assert!(made.expect("mkfifo").success());
    let engine =
        bench.engine(&[("claude", "cat > /dev/null; echo > ../at-work; exec sleep 1000"), ("codex", JUDGE)]);
    let cancel = Cancel::default();
    let driver = engine.begin(&vibe(), &Begin::default(), &cancel).expect("it begins");
    let name = driver.name().to_owned();
    let standing = std::thread::scope(|scope| {
        let drives = scope.spawn(move || driver.drive());
        std::fs::read(bench.around().join("at-work")).expect("it is at work");
        cancel.call_off();
        drives.join().expect("a driver").expect("it can be driven")
    });
    assert!(matches!(standing, Standing::CalledOff { .. }), "{standing:?}");
    let issue = "- [ ] ISSUE-9: ask first\n  - Impact: BLOCKER\n  - Owner: human\n  - Status: OPEN\n";
    let state = bench.read(".vibe/STATE.md").replace("- None.\n", issue);
    bench.write(".vibe/STATE.md", &state);
    let standing = engine.drive(&name, &Cancel::default()).expect("it goes on");
    assert!(matches!(standing, Standing::Waits { .. }), "{standing:?}");
    let record: serde_json::Value =
        serde_json::from_str(&bench.read(".vibe/LOOP_RESULT.json")).expect("JSON");
    assert_eq!(record["reason"], "blocked by people: ISSUE-9");
    let left = walk(&bench).into_iter().find(|it| it.starts_with("implement"));
    assert_eq!(left.as_deref(), Some("implement.1 cancelled"), "{:?}", walk(&bench));
}

#[test]
fn an_id_that_is_there_twice_is_not_built_for_ever() {
    let twice = PLAN.replace("### 1.1", "### 1.0");
    let around = PLAN.replace("### 2.0", "### 1.0").replace("## Stage 2", "## Stage 1");
    for plan in [twice, around] {
        let bench = Bench::with(&[
            (".vibe/STATE.md", &STATE.replace("NOT_STARTED", "DONE")),
            (".vibe/PLAN.md", &plan),
            (".vibe/CONTEXT.md", "# C\n"),
        ]);
        let (_, standing) = run(&engine(&bench), &vibe(), &Begin::default()).expect("a run");
        assert!(matches!(standing, Standing::Waits { .. }), "{standing:?}");
        let record: serde_json::Value =
            serde_json::from_str(&bench.read(".vibe/LOOP_RESULT.json")).expect("JSON");
        assert!(record["reason"].as_str().is_some_and(|it| it.contains("is in PLAN.md twice")), "{record}");
    }
}

#[test]
fn what_only_people_may_settle_is_theirs() {
    let issue = "- [ ] ISSUE-3: choose a colour\n  - Impact: MAJOR\n  - Owner: human\n  - Status: OPEN\n";
    let bench = Bench::with(&[
        (".vibe/STATE.md", &STATE.replace("- None.\n", issue)),
        (".vibe/PLAN.md", PLAN),
        (".vibe/CONTEXT.md", "# C\n"),
    ]);
    let (_, standing) = run(&engine(&bench), &vibe(), &Begin::default()).expect("a run");
    assert!(matches!(standing, Standing::Waits { .. }), "{standing:?}");
    assert_eq!(walk(&bench), ["for-people.1"], "nobody was called");
}

#[test]
fn a_state_file_that_an_agent_removes_is_back() {
    for removes in ["rm .vibe/STATE.md", "rm .vibe/STATE.md; mkdir .vibe/STATE.md; echo x > .vibe/STATE.md/x"]
    {
        let bench = Bench::with(&files());
        let worker = format!(
            "cat > /dev/null; {removes}; printf '```json\\n{{\"verdict\": \"ready_for_review\"}}\\n```\\n'"
        );
        let engine = one_round(bench.engine(&[("claude", &worker), ("codex", JUDGE)]));
        let (name, standing) = run(&engine, &vibe(), &Begin::default()).expect("a run");
        assert!(matches!(standing, Standing::Rounded { .. }), "{standing:?}");
        assert_eq!(bench.read(".vibe/STATE.md"), STATE.replace("NOT_STARTED", "IN_REVIEW"), "{removes}");
        let told = engine.read(&name).expect("a run").1.last["implement"].summary.clone();
        assert!(told.contains("without `.vibe/STATE.md` nobody could go on"), "{told}");
    }
}
