//! What somebody is told who wants to know what is missing: with no agent, with one, with some that are odd.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;
use crate::runs::git;

/// A repository, and a path with git, a shell and these agents on it.
fn machine(name: &str, agents: &[(&str, &str)]) -> Result<(PathBuf, PathBuf), Box<dyn Error>> {
    let folder = scratch(name)?;
    let (bin, repository) = (folder.join("bin"), folder.join("repository"));
    fs::create_dir_all(&bin)?;
    fs::create_dir_all(&repository)?;
    for program in ["git", "sh"] {
        let found = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .map(|it| it.join(program))
            .find(|it| it.is_file())
            .ok_or("a program is missing")?;
        symlink(found, bin.join(program))?;
    }
    for (agent, version) in agents {
        fs::write(bin.join(agent), format!("#!/bin/sh\necho '{version}'\n"))?;
        fs::set_permissions(bin.join(agent), fs::Permissions::from_mode(0o755))?;
    }
    git(&repository, &["init", "--quiet"])?;
    git(&repository, &["config", "user.name", "somebody"])?;
    git(&repository, &["config", "user.email", "somebody@example.invalid"])?;
    fs::write(repository.join("Makefile"), "test:\n\ttrue\n")?;
    Ok((bin, repository))
}

fn doctor(bin: &Path, repository: &Path, environment: &[(&str, &str)]) -> Result<Ran, Box<dyn Error>> {
    let mut command = loopwright(repository);
    command.arg("doctor").env_clear().env("PATH", bin).env("HOME", bin).envs(environment.iter().copied());
    Ok(command.output()?.into())
}

/// What was said, as one line.
fn line(ran: &Ran) -> String {
    ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn with_nobody_there_it_says_how_to_get_somebody() -> Outcome {
    let (bin, repository) = machine("doctor-none", &[])?;
    let ran = doctor(&bin, &repository, &[])?;
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    let said = line(&ran);
    for words in [
        "MISS agents nobody is here to do the work. One is enough for every workflow",
        "npm install -g @anthropic-ai/claude-code",
        "- agent codex not there; to get it: npm install -g @openai/codex",
        "- who task coder nobody, reviewer nobody",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
    Ok(())
}

#[test]
fn one_is_enough_for_every_workflow() -> Outcome {
    let (bin, repository) = machine("doctor-one", &[("codex", "codex-cli 0.166.0")])?;
    let ran = doctor(&bin, &repository, &[("OPENAI_API_KEY", "key-0123456789")])?;
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let said = line(&ran);
    for words in [
        "ok agent codex 0.166.0,",
        "logged in by OPENAI_API_KEY",
        "- agent claude not there",
        "ok who task coder codex (stands in), reviewer codex",
        "ok who vibe triager codex (stands in)",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
    assert!(!said.contains("key-0123456789"), "a secret is shown: {said}");
    Ok(())
}

#[test]
fn what_is_odd_about_one_is_said_and_stops_nobody() -> Outcome {
    let (bin, repository) =
        machine("doctor-odd", &[("claude", "9.9.9 (Claude Code)"), ("gemini", "0.61.0")])?;
    fs::create_dir_all(bin.join(".config/loopwright"))?;
    fs::write(bin.join(".config/loopwright/config.yaml"), "agents: {claude: {model: large}}\n")?;
    let ran = doctor(&bin, &repository, &[("ANTHROPIC_API_KEY", "key-0123456789")])?;
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let said = line(&ran);
    for words in [
        "note agent claude 9.9.9,",
        "it was tried with 2.1.197 to 2.1.325",
        "note agent gemini 0.61.0,",
        "nothing was found that logs it in: run `gemini` once and log in, or set GEMINI_API_KEY",
        "agents.claude.model is from ",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
    Ok(())
}

#[test]
fn what_is_configured_and_not_there_is_missing() -> Outcome {
    let (bin, repository) = machine("doctor-configured", &[("claude", "2.1.325 (Claude Code)")])?;
    fs::create_dir_all(repository.join(".loopwright"))?;
    for (config, words) in [
        ("agents: {codex: {model: large}}", "MISS agent codex not there"),
        ("agents: {mine: {acp: [no-such-program]}}", "MISS agent mine not there"),
        ("agents: {mine: {command: no-such-program}}", "MISS agent mine `no-such-program` is not there"),
        ("agents: {mine: {kind: clod}}", "the agent `mine` has the kind `clod`"),
        ("agents: {mine: {model: large}}", "the agent `mine` is nobody who is known"),
        ("agents: {mine: {kind: acp}}", "no program is named"),
        ("fence: {hide: [secrets]}", "`secrets` has to begin with `/` or `~/`"),
        ("roles: {coder: {agent: clod}}", "MISS who task coder nobody"),
        (
            "roles: {coder: {agent: clod}}",
            "the configuration wants `clod`, and there is no agent of that name",
        ),
        (
            "roles: {task.reviwer: {agent: claude}}",
            "who `reviwer` of `task` is, and it has no such role: did you mean `reviewer`?",
        ),
        ("roles: {codr: {agent: claude}}", "MISS role codr no workflow here has it"),
    ] {
        fs::write(repository.join(".loopwright/config.yaml"), format!("{config}\n"))?;
        let said = line(&doctor(&bin, &repository, &[])?);
        assert!(said.contains(words), "{config}: {words}\n{said}");
    }
    Ok(())
}

#[test]
fn a_program_that_a_repository_names_is_not_run_by_looking() -> Outcome {
    let (bin, repository) = machine("doctor-theirs", &[("trap", "2.1.325")])?;
    let sprung = repository.join("sprung");
    fs::write(bin.join("trap"), format!("#!/bin/sh\n: > {}\necho 2.1.325\n", sprung.display()))?;
    fs::create_dir_all(repository.join(".loopwright"))?;
    let config = format!("agents: {{claude: {{program: '{}'}}}}\n", bin.join("trap").display());
    fs::write(repository.join(".loopwright/config.yaml"), config)?;
    doctor(&bin, &repository, &[])?;
    assert!(!sprung.exists(), "it was run");
    Ok(())
}
