//! Agents and checks that commit, or check something else out.

use loopwright_core::definition::Outcome as Ending;
use loopwright_core::machine::{Event, Evidence};
use loopwright_engine::process::Cancel;
use loopwright_engine::{Begin, Engine, EngineError, Message, Standing};

use crate::bench::{Bench, in_folder, run, workflow};

const APPROVES: (&str, &str) =
    ("codex", r#"cat > ../reviewed; printf '```json\n{"verdict": "APPROVED"}\n```\n'"#);

/// Runs `task` with an agent, and a test of the project's.
fn task(bench: &Bench, coder: &str) {
    let engine = bench.engine(&[("claude", coder), APPROVES]);
    let begin = Begin { subject: "greet".into(), ..Begin::default() };
    let (_, standing) = run(&engine, &in_folder("../../workflows", "task"), &begin).expect("it runs");
    let success = matches!(standing, Standing::Over { ending: Some(Ending::Success), .. });
    assert!(success, "{:#?}", bench.lines());
}

/// What people were told, and what is on record about it.
fn said(bench: &Bench) -> String {
    let mut said: Vec<String> = bench.lines().into_iter().filter(|it| it.starts_with("said:")).collect();
    let journal = bench.engine(&[]).journal;
    for line in journal.runs().expect("runs") {
        for stored in journal.events(&line.run.name, 0).expect("events") {
            if let Event::Settled { evidence: Evidence::Out(outcome), .. } = stored.event {
                said.extend([outcome.summary].into_iter().filter(|it| it.contains("while ")));
            }
        }
    }
    said.join("\n")
}

#[test]
fn what_an_agent_commits_is_not_committed() {
    for (way, coder, told) in [
        ("on the branch", "git add --all; git commit --quiet -m mine", "was committed, which is for"),
        (
            "on another",
            "git checkout --quiet -b mine; git add --all; git commit --quiet -m mine",
            "was committed and the branch `mine` was checked out",
        ),
        ("on none", "git checkout --quiet --detach", "no branch was checked out any more"),
        ("nowhere", "true", ""),
    ] {
        let bench = Bench::with(&[("test.sh", "exit 0\n")]);
        let start = bench.git(&["rev-parse", "HEAD"]);
        task(&bench, &format!("cat > /dev/null; echo hello > greeting; {coder}"));
        assert!(said(&bench).contains(told), "{way}: {}", said(&bench));
        assert_eq!(said(&bench).is_empty(), told.is_empty(), "{way}: {}", said(&bench));
        assert_eq!(bench.git(&["branch", "--show-current"]), "main", "{way}");
        assert_eq!(bench.git(&["log", "--format=%s"]), "greet\nstart", "{way}");
        assert_eq!(bench.git(&["rev-parse", "HEAD^"]), start, "{way}");
        assert_eq!(bench.git(&["status", "--porcelain"]), "", "{way}");
        assert!(bench.read("../reviewed").contains("+hello"), "{way}: the reviewer saw nothing of it");
    }
}

#[test]
fn what_an_agent_makes_of_commits_of_earlier_runs_is_put_back() {
    for (way, coder) in [
        ("amended", "git add --all; git commit --quiet --amend --no-edit"),
        ("gone to where others committed", "git checkout --quiet trunk"),
        ("taken back", "git reset --quiet --soft HEAD^"),
        ("merged by half", "git merge --quiet --no-commit --no-ff side"),
    ] {
        let bench = Bench::with(&[("test.sh", "exit 0\n")]);
        bench.git(&["checkout", "--quiet", "-b", "side"]);
        bench.git(&["commit", "--quiet", "--allow-empty", "-m", "beside"]);
        bench.git(&["checkout", "--quiet", "-b", "trunk", "main"]);
        bench.git(&["commit", "--quiet", "--allow-empty", "-m", "there\n\nLoopwright-Effect: abc commit.1"]);
        bench.git(&["checkout", "--quiet", "main"]);
        bench.git(&["commit", "--quiet", "--allow-empty", "-m", "before\n\nLoopwright-Effect: xyz commit.1"]);
        // A tag of the same name must not be taken for the branch.
        bench.git(&["tag", "main"]);
        let before = bench.git(&["rev-parse", "refs/heads/main"]);
        task(&bench, &format!("cat > /dev/null; echo hello > greeting; {coder}"));
        assert_eq!(bench.git(&["symbolic-ref", "HEAD"]), "refs/heads/main", "{way}");
        assert_eq!(bench.git(&["log", "--format=%s", "HEAD"]), "greet\nbefore\nstart", "{way}");
        assert_eq!(bench.git(&["show", "--no-patch", "--format=%P", "HEAD"]), before, "{way}");
        assert!(said(&bench).contains("which is for the workflow to do"), "{way}: {}", said(&bench));
    }
}

#[test]
fn a_repository_that_an_agent_begins_within_this_one_is_moved_aside() {
    for commit in ["", "git -C nest -c user.name=a -c user.email=a@b commit --quiet --allow-empty -m x;"] {
        let bench = Bench::with(&[("test.sh", "exit 0\n")]);
        let coder = format!(
            "cat > /dev/null; echo hello > greeting; git init --quiet nest; git init --quiet 'other nest'; {commit} echo x > nest/x"
        );
        let engine = bench.engine(&[("claude", &coder), ("codex", "false")]);
        let begin = Begin { subject: "greet".into(), ..Begin::default() };
        run(&engine, &in_folder("../../workflows", "task"), &begin).expect("a run");
        assert_eq!(bench.lines()[0], "implement.1 out-of-bounds", "{commit}");
        for path in ["nest", "other nest"] {
            assert!(!bench.path().join(path).exists(), "{commit}: {path}");
            let aside = bench.path().join(format!(".git/loopwright/aside/{path}-0"));
            assert!(aside.is_dir(), "{commit}: {path}");
        }
        assert_eq!(bench.read(".git/loopwright/aside/nest-0/x"), "x\n");
        assert_eq!(bench.read("greeting"), "hello\n", "what it may write stays");
    }
}

#[test]
fn what_a_check_commits_is_not_committed() {
    let bench = Bench::with(&[("test.sh", "git add --all; git commit --quiet -m mine\n")]);
    task(&bench, "cat > /dev/null; echo hello > greeting");
    assert!(said(&bench).contains("while the check ran,"), "{}", said(&bench));
    assert_eq!(bench.git(&["log", "--format=%s"]), "greet\nstart");
}

#[test]
fn where_nothing_was_committed_yet_nothing_is_after_an_agent_did() {
    let bench = Bench::with(&[("test.sh", "exit 0\n")]);
    bench.git(&["update-ref", "-d", "HEAD"]);
    task(&bench, "cat > /dev/null; echo hello > greeting; git add --all; git commit --quiet -m mine");
    assert_eq!(bench.git(&["log", "--format=%s"]), "greet");
    // What was there before it began is part of what is committed, so it was shown.
    assert!(bench.read("../reviewed").contains("test.sh"));
}

#[test]
fn nothing_is_committed_that_the_reviewer_was_not_shown() {
    let bench = Bench::with(&[("test.sh", "exit 0\n"), ("a", "a\n")]);
    bench.write("a", "begun by a person\n");
    bench.write(".loopwright/config.yaml", "agents: {}\n");
    task(&bench, "cat > /dev/null; echo hello > greeting");
    let shown = bench.read("../reviewed");
    assert!(shown.contains("+begun by a person") && shown.contains("+hello"), "{shown}");
    assert!(said(&bench).contains("not committed yet"), "{}", said(&bench));
    assert!(said(&bench).contains("`a`"), "{}", said(&bench));
    // Who does the work is nothing that an agent changed.
    assert!(!shown.contains("agents: {}"), "{shown}");
    assert_eq!(bench.git(&["show", "--format=", "--name-only", "HEAD"]), "a\ngreeting");
    assert_eq!(bench.git(&["status", "--porcelain"]), "?? .loopwright/");
}

#[test]
fn who_does_the_work_is_not_for_agents_to_change() {
    let bench = Bench::with(&[("test.sh", "exit 0\n"), (".loopwright/config.yaml", "agents: {}\n")]);
    let engine = bench.engine(&[
        ("claude", "cat > /dev/null; echo hello > greeting; echo x > .loopwright/config.yaml; git add --all"),
        APPROVES,
    ]);
    let begin = Begin { subject: "greet".into(), ..Begin::default() };
    let (_, standing) = run(&engine, &in_folder("../../workflows", "task"), &begin).expect("it runs");
    assert!(matches!(standing, Standing::Over { ending: Some(Ending::Failure), .. }), "{standing:?}");
    assert_eq!(bench.lines(), ["implement.1 out-of-bounds"]);
    assert_eq!(bench.read(".loopwright/config.yaml"), "agents: {}\n");
    // It would come back with a person's next commit.
    assert_eq!(bench.git(&["diff", "--cached", "--name-only"]), "");
}

#[test]
fn what_an_agent_tells_git_is_not_kept_to() {
    let hook =
        "printf '#!/bin/sh\\ntouch ../hooked\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit";
    for (way, coder, told) in [
        ("a hook", hook, "`.git/hooks/pre-commit` was changed"),
        (
            "a hook elsewhere",
            "mkdir .git/mine; git config core.hooksPath .git/mine",
            "`.git/config` was changed",
        ),
        ("a filter", "git config filter.x.clean 'touch ../hooked'", "`.git/config` was changed"),
        ("nothing that matters", "git config user.nickname x", ""),
    ] {
        let bench = Bench::with(&[("test.sh", "exit 0\n")]);
        bench.write(".git/hooks/post-commit", "#!/bin/sh\ntouch ../mine\n");
        std::process::Command::new("chmod")
            .arg("+x")
            .arg(bench.path().join(".git/hooks/post-commit"))
            .status()
            .expect("chmod");
        task(&bench, &format!("cat > /dev/null; echo hello > greeting; {coder}"));
        assert!(said(&bench).contains(told), "{way}: {}", said(&bench));
        assert_eq!(said(&bench).is_empty(), told.is_empty(), "{way}: {}", said(&bench));
        assert!(!bench.around().join("hooked").exists(), "{way}: what the agent left was run");
        assert!(bench.around().join("mine").exists(), "{way}: one's own hook was not run");
    }
}

#[test]
fn what_git_is_told_comes_back_to_the_last_byte_and_is_on_no_record() {
    let bench = Bench::with(&[("test.sh", "exit 0\n"), (".gitignore", ".loopwright\n")]);
    bench.git(&["config", "http.extraheader", "Authorization: s3cret"]);
    bench.write(".loopwright/config.yaml", "# s3cret\nagents: {}\n");
    let hook = bench.path().join(".git/hooks/post-commit");
    let bytes = [&b"#!/bin/sh\nexit 0 # s3cret \xff\n"[..], &b"#".repeat(100_000)].concat();
    std::fs::write(&hook, &bytes).expect("a hook");
    let spoils =
        "echo >> .git/hooks/post-commit; echo >> .loopwright/config.yaml; git config http.proxy evil";
    task(&bench, &format!("cat > /dev/null; echo hello > greeting; {spoils}"));
    assert_eq!(said(&bench).matches("and put back").count(), 3, "{}", said(&bench));
    assert_eq!(std::fs::read(&hook).expect("a hook"), bytes);
    assert_eq!(bench.read(".loopwright/config.yaml"), "# s3cret\nagents: {}\n");
    assert!(!bench.read(".git/config").contains("evil"));
    let journal = ["journal.db", "journal.db-wal"].map(|it| bench.path().join(".git/loopwright").join(it));
    let record = journal.map(|it| std::fs::read(it).unwrap_or_default()).concat();
    let says = |what: &[u8]| record.windows(what.len()).any(|it| it == what);
    assert!(says(b"implement") && !says(b"s3cret"));
}

#[test]
fn branches_and_tags_an_agent_removes_come_back() {
    let bench = Bench::with(&[("test.sh", "exit 0\n")]);
    for arguments in [&["branch", "precious"][..], &["branch", "other"], &["tag", "v1"]] {
        bench.git(arguments);
    }
    let coder = "git branch -q -D precious; git tag -d v1; git commit -q --allow-empty -m x; git branch -q -f other HEAD; git branch mine";
    task(&bench, &format!("cat > /dev/null; echo hello > greeting; {coder}"));
    let there = bench.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags"]);
    assert_eq!(there, "main\nmine\nother\nprecious\nv1");
    let said = said(&bench);
    for words in [
        "removed, and brought back: `precious`, `tags/v1`",
        "moved, and left so: `other`",
        "made, and left there: `mine`",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn what_git_ignores_hides_nothing_from_whoever_looks() {
    let config = "agents: {coder: {command: \"true\"}}\n";
    for (way, coder, told) in [
        ("a file", "echo 'new*' >> .git/info/exclude; echo bad > new.py", "`new.py`"),
        (
            "elsewhere",
            "echo 'new*' > .git/mine; git config core.excludesFile .git/mine; echo bad > new.py",
            "`new.py`",
        ),
        (
            "who works here",
            "echo .loopwright >> .git/info/exclude; mkdir -p .loopwright; echo x > .loopwright/config.yaml",
            ".loopwright/config.yaml",
        ),
        (
            "a repository",
            "git init -q vendor; git -C vendor -c user.name=x -c user.email=x commit -q --allow-empty -m x",
            "`vendor",
        ),
    ] {
        let bench = Bench::with(&[("src/a", "a\n"), (".loopwright/config.yaml", config)]);
        let engine = bench.engine(&[("coder", &format!("cat > /dev/null; {coder}"))]);
        let begin = Begin { subject: "it".into(), ..Begin::default() };
        let (name, standing) = run(&engine, &crate::bench::workflow(NARROW), &begin).expect("it runs");
        let events = format!("{:?}", engine.journal.events(&name, 0).expect("events"));
        assert_eq!(&*standing.run().at.state, "outside", "{way}: {events}");
        assert!(events.contains(told), "{way}: {events}");
        assert_eq!(bench.git(&["status", "--porcelain", "--ignored"]), "", "{way}");
        assert_eq!(bench.read(".loopwright/config.yaml"), config, "{way}");
    }
}

const NARROW: &str = r#"
workflow: narrow
subject: thing
documents: {code: {files: ["src/**"]}}
roles: {coder: {agent: coder, prompt: "Write.", may-write: [code]}}
states:
  write: {agent: coder, then: done, on: {out-of-bounds: outside, failures: failed}}
  done: {end: success}
  outside: {end: refused}
  failed: {end: failure}
"#;

#[test]
fn what_a_file_says_about_how_it_is_shown_is_not_heard_by_the_judge() {
    let bench = Bench::with(&[("test.sh", "exit 0\n")]);
    task(&bench, "cat > /dev/null; echo 'hidden.py -diff' > .gitattributes; echo 'import evil' > hidden.py");
    assert!(bench.read("../reviewed").contains("+import evil"), "{}", bench.read("../reviewed"));
}

#[test]
fn what_an_agent_stages_is_not_left_for_the_next_commit() {
    let bench = Bench::with(&[("test.sh", "exit 0\n"), ("kept", "one\n")]);
    bench.write("kept", "two\n");
    bench.git(&["add", "kept"]);
    let sly = "echo evil > evil; echo evil > kept; git add evil kept; rm evil; echo two > kept";
    task(&bench, &format!("cat > /dev/null; {sly}; echo hello > greeting"));
    assert!(said(&bench).contains("something was staged, and is not any more"), "{}", said(&bench));
    assert_eq!(bench.git(&["show", "HEAD:kept"]), "two");
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
}

const COMMITS: &str = r#"
workflow: commits
subject: thing
documents: {code: {files: ["**"]}}
verbs: {go: {}, merge: {}}
states:
  rest: {rest: "Say go.", on: {verb go: commit, verb merge: merge}}
  merge: {do: [{run: "git merge --quiet side || true"}], then: commit, on: {failures: failed}}
  commit: {do: [{commit: "it", what: [code]}], then: done, on: {failures: failed}}
  done: {end: success}
  failed: {end: failure}
"#;

/// Says a verb to a run, and drives it on.
fn told(engine: &Engine, name: &str, message: &Message) -> Result<Standing, EngineError> {
    let letter = serde_json::to_string(message).expect("a letter");
    engine.journal.post(name, 0, &letter).expect("a letter");
    engine.drive(name, &Cancel::default())
}

/// A repository in which two branches do not go together.
fn torn() -> Bench {
    let bench = Bench::with(&[("a", "a\n")]);
    bench.git(&["checkout", "--quiet", "-b", "side"]);
    bench.write("a", "theirs\n");
    bench.git(&["commit", "--quiet", "-am", "theirs"]);
    bench.git(&["checkout", "--quiet", "main"]);
    bench.write("a", "ours\n");
    bench.git(&["commit", "--quiet", "-am", "ours"]);
    bench
}

#[test]
fn in_the_middle_of_a_merge_nothing_is_begun_or_gone_on_with() {
    let go = Message::Say { verb: "go".into(), inputs: indexmap::IndexMap::new() };
    for (way, told_of) in [
        ("git merge --quiet side", "a merge is not finished here: finish it (`git merge --continue`)"),
        ("git cherry-pick side", "a cherry-pick is not finished here"),
        ("git revert --no-edit HEAD^", "a revert is not finished here"),
        ("git rebase --quiet side", "a rebase is not finished here"),
        (
            "echo b > a; git stash --quiet; echo c > a; git commit --quiet -am c; git stash pop --quiet",
            "there are conflicts in `a`",
        ),
    ] {
        let bench = torn();
        let engine = bench.engine(&[]);
        let begin = Begin { subject: "it".into(), ..Begin::default() };
        let (name, standing) = run(&engine, &workflow(COMMITS), &begin).expect("a run");
        assert!(matches!(standing, Standing::Waits { .. }), "{way}: {standing:?}");
        let done = std::process::Command::new("sh").args(["-c", way]).current_dir(bench.path()).output();
        let done = done.expect("a shell");
        assert!(!done.status.success(), "{way}: {}", String::from_utf8_lossy(&done.stdout));
        let before = bench.git(&["status", "--porcelain"]);
        let other = Begin { subject: "other".into(), ..Begin::default() };
        let why = engine.begin(&workflow(COMMITS), &other, &Cancel::default()).err().expect("it is refused");
        assert!(why.to_string().contains(told_of), "{way}: {why}");
        assert_eq!(engine.journal.runs().expect("runs").len(), 1, "{way}: nothing was begun");
        let why = told(&engine, &name, &go).expect_err("it is refused");
        assert!(why.to_string().contains(told_of), "{way}: {why}");
        assert_eq!(bench.git(&["status", "--porcelain"]), before, "{way}");
        // To end, nothing has to be settled.
        let ended = told(&engine, &name, &Message::Stop { reason: "enough".into() }).expect("it is heard");
        assert!(matches!(ended, Standing::Over { ending: None, .. }), "{way}: {ended:?}");
    }
}

#[test]
fn a_merge_that_is_begun_meanwhile_is_not_ended_by_a_commit() {
    let bench = torn();
    let engine = bench.engine(&[]);
    let begin = Begin { subject: "it".into(), ..Begin::default() };
    let (name, _) = run(&engine, &workflow(COMMITS), &begin).expect("a run");
    let merge = Message::Say { verb: "merge".into(), inputs: indexmap::IndexMap::new() };
    let standing = told(&engine, &name, &merge).expect("it goes on");
    assert_eq!(standing.run().at.state.to_string(), "failed", "{standing:?}");
    assert_eq!(bench.git(&["log", "--format=%s"]), "ours\nstart");
    let why = engine.read(&name).expect("a run").1.last["commit"].summary.clone();
    assert!(why.contains("nothing was committed, as a merge is not finished here"), "{why}");
}
