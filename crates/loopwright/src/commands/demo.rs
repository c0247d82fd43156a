//! `loopwright demo`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::{fs, io};

use loopwright_core::language::Folder;
use loopwright_core::machine::{Event, Evidence, RunView};
use loopwright_engine::process::Cancel;
use loopwright_engine::{Answered, Asked, Begin, People, Standing, Watch};

use crate::error::{self, CommandError};
use crate::{session, show};

/// Play the whole thing in a scratch repository: no agent and no key needed
#[derive(clap::Args, Debug)]
pub(crate) struct DemoArgs {
    /// Where the scratch repository goes; a new folder for temporary files unless said
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

/// The workflow, as it lies beside this crate.
const WORKFLOW: &[(&str, &str)] = &[
    ("workflow.yaml", include_str!("../../demo/workflow.yaml")),
    ("prompts/planner.md", include_str!("../../demo/prompts/planner.md")),
    ("prompts/challenger.md", include_str!("../../demo/prompts/challenger.md")),
    ("prompts/coder.md", include_str!("../../demo/prompts/coder.md")),
    ("prompts/reviewer.md", include_str!("../../demo/prompts/reviewer.md")),
];

/// A small program with a fault, and the agent that mends it.
const PROJECT: &[(&str, &str)] = &[
    ("slug.sh", include_str!("../../demo/slug.sh")),
    ("test.sh", include_str!("../../demo/test.sh")),
    (".loopwright/agent.sh", include_str!("../../demo/agent.sh")),
    (".loopwright/config.yaml", "agents:\n  scripted: {command: [sh, .loopwright/agent.sh]}\n"),
];

const SUBJECT: &str = "marks in titles end up in file names";

pub(crate) fn cmd_demo(arguments: &DemoArgs) -> Result<ExitCode, CommandError> {
    let folder = scratch(arguments.folder.as_deref())
        .map_err(|it| CommandError::user(format!("the scratch repository cannot be made: {it}")))?;
    show::out(&format!(
        "A scratch repository: {}\n  slug.sh makes file names out of titles, and one of its tests fails.\n  The workflow `demo` is proved first: nothing is committed that was not planned, approved, checked and\n  reviewed as it stands. Its agents are a script that plays a part by heart and really edits the files.\n\n",
        folder.display()
    ));
    let engine = session::engine_at(&folder, Arc::new(Somebody), Arc::new(Narrator))?;
    let files: BTreeMap<String, Vec<u8>> =
        WORKFLOW.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    let workflow = Folder { name: "demo".to_owned(), files };
    let begin = Begin { subject: SUBJECT.to_owned(), ..Begin::default() };
    let driver = engine.begin(&workflow, &begin, &Cancel::default()).map_err(session::told)?;
    let name = driver.name().to_owned();
    let standing = driver.drive().map_err(session::told)?;
    let Standing::Over { ending: Some(loopwright_core::definition::Outcome::Success), .. } = standing else {
        return Err(CommandError::with_code("the demo did not come to its end", error::BROKEN)
            .hinted(format!("`cd {} && loopwright show {name}` says where it stands", folder.display())));
    };
    show::out(&after(&folder, &name));
    show::out(&on_the_path().unwrap_or_default());
    Ok(ExitCode::SUCCESS)
}

/// How to be able to type `loopwright`, for somebody who just built it.
fn on_the_path() -> Option<String> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|it| it.join("loopwright").is_file());
    (!found).then(|| {
        format!("\n`loopwright` is not on your path yet:\n\n  export PATH=\"{}:$PATH\"\n", folder.display())
    })
}

/// What to look at now, and what to try next.
fn after(folder: &Path, name: &str) -> String {
    format!(
        "\nDone: one commit, and a record of how it came about.\n\n  cd {}\n  git show --stat            what was committed\n  loopwright log {name}      everything that happened, in order\n  loopwright show {name}     where the run stands, what it spent\n\nOn your own repository:\n\n  loopwright check task      what is known about the smallest workflow before it runs\n  loopwright doctor          which agents are here (Claude Code, Codex, Gemini CLI, opencode,\n                             Copilot: one is enough), and what is still missing\n  loopwright init            writes .loopwright/config.yaml, for other agents, models and roles\n  loopwright run task \"what you want done\"\n\nA workflow of your own: docs/guide, in one sitting.\n",
        folder.display()
    )
}

/// A repository with the program in it.
fn scratch(wanted: Option<&Path>) -> io::Result<PathBuf> {
    let folder = match wanted {
        Some(folder) if folder.exists() && fs::read_dir(folder)?.next().is_some() => {
            return Err(io::Error::other(format!("{} is not empty", folder.display())));
        }
        Some(folder) => folder.to_owned(),
        None => std::env::temp_dir().join(format!("loopwright-demo-{}", session::now())),
    };
    for (path, text) in PROJECT {
        let place = folder.join(path);
        fs::create_dir_all(place.parent().unwrap_or(&folder))?;
        fs::write(place, text)?;
    }
    for arguments in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["config", "user.name", "demo"],
        &["config", "user.email", "demo@example.invalid"],
        &["add", "--all"],
        &["commit", "--quiet", "--message", "A small program"],
    ] {
        let said = Command::new("git").args(arguments).current_dir(&folder).output()?;
        if !said.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&said.stderr).trim().to_owned()));
        }
    }
    fs::canonicalize(folder)
}

/// Answers the one question of the demo.
struct Somebody;

impl People for Somebody {
    fn ask(&self, asked: &Asked) -> Option<Answered> {
        show::out(&format!("  ? {}\n", asked.text));
        for (_, text) in &asked.shows {
            for line in text.trim_end().lines() {
                show::out(&format!("      {line}\n"));
            }
        }
        show::out("    yes   (answered for you; in a run of your own you are asked, or it waits)\n");
        Some(Answered { answer: "yes".into(), ..Answered::default() })
    }
}

/// Tells what happens, and what it means.
struct Narrator;

impl Watch for Narrator {
    fn happened(&self, _run: &str, event: &Event, _view: &RunView) {
        let Event::Settled { effect, evidence: Evidence::Out(outcome) } = event else { return };
        let step = format!("{}.{}", effect.state, effect.visit);
        let meaning = match step.as_str() {
            "plan.1" => "the planner wrote PLAN.md",
            "challenge.1" => "the plan goes back, and that spends one of two plans",
            "challenge.2" => "now somebody is asked",
            "approve.1" => "the answer is bound to the plan as it was shown",
            "checks.1" => "a gate refuses: back to the coder, one of three fixes spent",
            "checks.2" => "the gate passes, for exactly these files",
            "review.1" => "a real fault that no test had: back again",
            "checks.3" => "checked again, because the files changed",
            "review.2" => "settled",
            "commit.1" => "only now, and only what was judged",
            _ => "",
        };
        let came = format!("  {step:<12} {}", outcome.signal);
        show::out(&if meaning.is_empty() { format!("{came}\n") } else { format!("{came:<32} {meaning}\n") });
        if !outcome.findings.is_empty() {
            outcome.findings.iter().for_each(|it| show::out(&format!("                 - {}\n", it.text)));
        } else if *outcome.signal == *"fail" {
            outcome.output.lines().skip(1).for_each(|it| show::out(&format!("                 | {it}\n")));
        }
    }

    fn said(&self, _run: &str, text: &str) {
        show::out(&format!("  {text}\n"));
    }
}
