//! Rehearsals: what is made up, what is refused, and what is said of it.

use std::fs;

use serde_json::Value;

use crate::{Outcome, data, run, run_in, scratch};

/// Every line of a command's stdout as JSON.
fn lines(line: &str) -> Result<Vec<Value>, Box<dyn std::error::Error>> {
    let ran = run(line)?;
    Ok(ran.stdout.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

/// Where anything fails as often as it works, nothing comes to an end, and a rehearsal shows the first states only.
#[test]
fn random_runs_come_to_an_end_with_faults_and_without() -> Outcome {
    for workflow in ["vibe", "change", "team", "issue", "feature"] {
        for faults in ["", "--faults"] {
            let runs = lines(&format!("rehearse {workflow} --random --runs 200 --json {faults}"))?;
            assert_eq!(runs.len(), 200, "{workflow}");
            let ended = runs.iter().filter(|it| it["stop"].as_str().is_some_and(|it| it.contains("ended")));
            let ended = ended.count();
            // Facts are made up: with many that stop a run, most are stopped.
            assert!(ended * 100 >= runs.len(), "{workflow} {faults}: {ended} of 200 runs ended");
            let steps: Vec<&Value> = runs.iter().filter_map(|it| it["walk"].as_array()).flatten().collect();
            let failed = steps.iter().filter(|it| {
                it["signal"]
                    .as_str()
                    .is_some_and(|it| it != "stale" && loopwright_core::signal::is_failure(it))
            });
            let failed = failed.count();
            assert!(failed * 20 < steps.len(), "{workflow} {faults}: {failed} of {} failed", steps.len());
            assert_eq!(failed > 0, !faults.is_empty(), "{workflow} {faults}: {failed} failed");
        }
    }
    Ok(())
}

#[test]
fn the_same_seed_makes_up_the_same_runs() -> Outcome {
    let line = "rehearse change --random --faults --runs 20 --seed 7 --json";
    assert_eq!(lines(line)?, lines(line)?);
    // The how-manieth of several runs is the first with its own seed.
    let alone = lines("rehearse change --random --faults --runs 1 --seed 12 --json")?;
    assert_eq!(lines(line)?[5], alone[0]);
    Ok(())
}

/// An agent that wrote what it may not write would have been stopped: such a run shows nothing.
#[test]
fn what_may_not_be_written_was_not() -> Outcome {
    let folder = scratch("wrote")?.join("small");
    fs::create_dir_all(&folder)?;
    let small = data().join("small");
    for (step, refused) in [
        ("work: {is: done, wrote: [code]}", None),
        ("work: {is: timeout, wrote: [code]}", None),
        ("work: {is: done, wrote: []}", None),
        ("tests: {is: pass, wrote: [code]}", Some("`tests` may not write `code`")),
        ("work: {is: done, wrote: [notes]}", Some("`work` may not write `notes`")),
        ("work: {is: out-of-bounds, wrote: [all]}", Some("`work` may not write `all`")),
    ] {
        let text = fs::read_to_string(small.join("workflow.yaml"))?
            .replace(
                "  code: {files: [\"**\"]}\n",
                "  code: {files: [\"src/**\"]}\n  notes: {file: NOTES.md}\n  all: {group: [code, notes]}\n",
            )
            .replace("prompts/coder.md", "Do it.");
        fs::write(folder.join("workflow.yaml"), text)?;
        fs::write(folder.join("one.yaml"), format!("scenario: one\nsteps:\n  - {step}\n"))?;
        let ran = run_in(&folder, &["rehearse", ".", "--scenario", "one.yaml"])?;
        match refused {
            None => assert_eq!(ran.code, Some(0), "{step}: {}{}", ran.stdout, ran.stderr),
            Some(said) => {
                assert_eq!(ran.code, Some(2), "{step}: {}", ran.stdout);
                assert!(ran.stderr.contains(said) && ran.stderr.contains("one.yaml:3:"), "{}", ran.stderr);
            }
        }
    }
    Ok(())
}

#[test]
fn a_step_that_never_came_is_shown_with_its_line() -> Outcome {
    let file = scratch("never-came")?.join("late.yaml").display().to_string();
    fs::write(
        &file,
        "scenario: late\n\nsteps:\n  - tests: pass\n  # too late\n  - tests: fail\n  - work: done\n",
    )?;
    let said = format!("{file}:6: the step `tests` never came (2 left)");
    let ran = run_in(&data(), &["rehearse", "small", "--scenario", &file])?;
    assert!(ran.code == Some(1) && ran.stdout.contains(&said), "{}", ran.stdout);
    let ran = run_in(&data(), &["rehearse", "small", "--json", "--scenario", &file])?;
    let report: Value = serde_json::from_str(&ran.stdout)?;
    assert_eq!(report["complaints"][0], said.as_str());
    Ok(())
}

/// The calls of the steps are the calls of the run, in loops and children too.
#[test]
fn every_step_says_how_many_agents_it_called() -> Outcome {
    for workflow in ["change", "team", "issue"] {
        for played in lines(&format!("rehearse {workflow} --random --runs 20 --faults --json"))? {
            let steps = played["walk"].as_array().into_iter().flatten();
            let by_step: u64 = steps.filter_map(|it| it["calls"].as_u64()).sum();
            let roles = played["calls"].as_object().into_iter().flatten();
            let by_role: u64 = roles.filter_map(|(_, it)| it.as_u64()).sum();
            assert_eq!(by_step, by_role, "{workflow}: {played}");
        }
        let played = lines(&format!("rehearse {workflow} --random --runs 20 --json"))?;
        assert!(played.iter().any(|it| it["calls"].as_object().is_some_and(|it| !it.is_empty())));
    }
    Ok(())
}

/// What was never taken is listed for whoever asks; a walk is not buried under it.
#[test]
fn arms_are_listed_when_asked_for() -> Outcome {
    let never = |line: &str| run(line).map(|it| it.stdout.matches("not taken: line").count());
    assert_eq!(never("rehearse small")?, 0);
    assert!(run("rehearse small")?.stdout.ends_with("2 of 5 arms taken (`--arms` lists the others)\n"));
    assert_eq!(never("rehearse small --arms")?, 3);
    assert!(never("rehearse small --exhaustive")? > 0);
    Ok(())
}

/// An option that would change nothing is a misunderstanding.
#[test]
fn options_that_would_be_ignored_are_refused() -> Outcome {
    for line in [
        "rehearse small --seed 3",
        "rehearse small --runs 3",
        "rehearse small --runs 3 --faults",
        "rehearse small --exhaustive --seed 3",
        "rehearse small --exhaustive --runs 3",
        "rehearse small --scenario small/scenarios/at-once.yaml --runs 3",
        "rehearse small --arms --json",
        "graph small --theme dark",
        "graph small --theme auto --format dot",
        "matrix small --json --format markdown",
        "check small --json --verbose",
    ] {
        let ran = run(line)?;
        assert!(ran.code == Some(2) && ran.stdout.is_empty(), "{line}: {}", ran.stdout);
        assert!(ran.stderr.starts_with("error: "), "{line}: {}", ran.stderr);
    }
    for line in ["rehearse small --random --seed 3 --runs 3", "graph small --theme dark --format svg"] {
        assert_eq!(run(line)?.code, Some(0), "{line}");
    }
    Ok(())
}
