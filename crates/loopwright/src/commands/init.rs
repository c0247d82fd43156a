//! `loopwright init`

use std::fmt::Write as _;
use std::fs;
use std::process::ExitCode;

use loopwright_core::library::PROJECT_COMMANDS;
use loopwright_engine::{CONFIG, Home, Project};

use crate::error::CommandError;
use crate::{session, show};

/// Set this project up: write a configuration to fill in
#[derive(clap::Args, Debug)]
pub(crate) struct InitArgs {}

pub(crate) fn cmd_init(_arguments: &InitArgs) -> Result<ExitCode, CommandError> {
    let home = Home::find(&session::here()?).map_err(|it| session::told(it.into()))?;
    let path = home.root().join(CONFIG);
    if path.exists() {
        return Err(CommandError::user(format!("{} is there already", path.display()))
            .hinted("`loopwright doctor` says what is missing"));
    }
    let text = config(&Project::at(home.root()));
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
    written.map_err(|it| CommandError::user(format!("{} cannot be written: {it}", path.display())))?;
    show::out(&format!(
        "wrote {}\n  nothing in it has to be said; `loopwright doctor` shows what is here, then `loopwright run task \"...\"`\n",
        path.display()
    ));
    Ok(ExitCode::SUCCESS)
}

/// A configuration to fill in, with what is known.
fn config(project: &Project) -> String {
    let mut text = String::from(
        "# Who does the work. claude, codex, gemini, opencode and copilot are known and need no entry; one of them is enough.\n# `loopwright doctor` says who is here. Besides, any program that reads a prompt and answers can be an agent.\nagents:\n  # claude: {model: \"...\", effort: high}\n  # helper: {acp: [PROGRAM, ARGUMENT]}     # anything that speaks the Agent Client Protocol\n  # script: {command: \"sh ./agent.sh\"}\n\n# Who is wanted for which role, in which order, if not whom the workflow names.\nroles:\n  # reviewer: {agent: [codex, claude]}\n  # task.coder: {agent: claude, model: \"...\"}\n\n# The commands of this project. What is not said here is taken from its files.\nproject:\n",
    );
    for name in PROJECT_COMMANDS {
        let commands = project.commands_of(name);
        let known = if commands.is_empty() { "...".to_owned() } else { commands.join(" && ") };
        let known = serde_json::Value::from(known);
        let _ = writeln!(text, "  # {name}: {known}");
    }
    text
}
