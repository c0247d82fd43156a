//! `loopwright doctor`

use std::process::{Command, ExitCode};

use loopwright_core::library::PROJECT_COMMANDS;
use loopwright_engine::agents::{Agent as _, CommandAgent};
use loopwright_engine::journal::Sqlite;
use loopwright_engine::{CONFIG, Config, Home, Project};
use serde_json::json;

use crate::error::{self, CommandError};
use crate::{session, show};

/// Say what is here, what is missing, and how to get it
#[derive(clap::Args, Debug)]
pub(crate) struct DoctorArgs {
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// One thing that was looked at: whether it is well, what it is, and what to do.
struct Looked {
    what: String,
    well: bool,
    is: String,
}

pub(crate) fn cmd_doctor(arguments: &DoctorArgs) -> Result<ExitCode, CommandError> {
    let here = session::here()?;
    let mut all = vec![git()];
    match Home::find(&here) {
        Ok(home) => {
            let kept =
                if home.is_repository { "a git repository" } else { "no git repository: runs cannot commit" };
            all.push(Looked {
                what: "project".into(),
                well: true,
                is: format!("{}, {kept}", home.root().display()),
            });
            if home.is_repository {
                all.push(identity(&home));
            }
            all.push(journal(&home));
            all.extend(config(&home));
        }
        Err(error) => all.push(Looked { what: "project".into(), well: false, is: error.to_string() }),
    }
    let well = all.iter().all(|it| it.well);
    for it in &all {
        if arguments.json {
            show::out(&format!("{}\n", json!({"what": it.what, "well": it.well, "is": it.is})));
        } else {
            let mark = if it.well { "ok  " } else { "MISS" };
            show::out(&show::wrapped(&format!("{mark}  {:<16} {}", it.what, it.is), 23));
        }
    }
    Ok(ExitCode::from(if well { error::OK } else { error::NOT_PROVED }))
}

fn git() -> Looked {
    let said = Command::new("git").arg("--version").output();
    let (well, is) = match said {
        Ok(said) if said.status.success() => (true, String::from_utf8_lossy(&said.stdout).trim().to_owned()),
        _ => (false, "git is not there; install it".to_owned()),
    };
    Looked { what: "git".into(), well, is }
}

/// Whether the journal can be read, every page of it.
fn journal(home: &Home) -> Looked {
    if !home.journal.exists() {
        return Looked { what: "journal".into(), well: true, is: "no run was begun yet".into() };
    }
    let damage = Sqlite::open(&home.journal).and_then(|it| it.damage());
    let (well, is) = match damage {
        Ok(damage) if damage.is_empty() => (true, home.journal.display().to_string()),
        Ok(damage) => (false, format!("{} is damaged: {}", home.journal.display(), damage.join("; "))),
        Err(error) => (false, error.to_string()),
    };
    Looked { what: "journal".into(), well, is }
}

/// The agents and commands of a project.
fn config(home: &Home) -> Vec<Looked> {
    let config = match Config::of(home) {
        Ok(config) => config,
        Err(error) => {
            return vec![Looked { what: "configuration".into(), well: false, is: error.to_string() }];
        }
    };
    let mut all = Vec::new();
    if config.agents.is_empty() {
        let how = if home.root().join(CONFIG).exists() {
            format!("{CONFIG} is there and says nobody: `agents: {{NAME: {{command: \"...\"}}}}`")
        } else {
            "`loopwright init` writes one to fill in".to_owned()
        };
        let is = format!("none; say in {CONFIG} who does the work ({how})");
        all.push(Looked { what: "agents".into(), well: false, is });
    }
    for (name, agent) in &config.agents {
        let agent = CommandAgent { command: agent.command.all() };
        let missing = agent.missing(home.root());
        let is = match &missing {
            Some(why) => format!("{why}; {CONFIG} says what `{name}` is"),
            None => agent.command.join(" "),
        };
        all.push(Looked { what: format!("agent {name}"), well: missing.is_none(), is });
    }
    let project = Project::at(home.root()).with(&config);
    for name in PROJECT_COMMANDS.iter().filter(|it| **it != "format") {
        let commands = project.commands_of(name);
        let known = !commands.is_empty();
        if known || *name == "checks" {
            let is = if known {
                commands.join(" && ")
            } else {
                format!("no command; say one in {CONFIG}: `project: {{test: \"...\"}}`")
            };
            all.push(Looked { what: format!("project {name}"), well: known, is });
        }
    }
    all
}

/// Whether git would commit here.
fn identity(home: &Home) -> Looked {
    let (well, is) = match home.git.text(&["var", "GIT_AUTHOR_IDENT"]) {
        // A time follows that nobody asked for.
        Ok(who) => (true, who.rsplit_once('>').map_or(who.clone(), |(who, _)| format!("{who}>"))),
        Err(_) => (
            false,
            "git does not know who commits here: `git config user.name \"...\"` and `git config user.email \"...\"`"
                .to_owned(),
        ),
    };
    Looked { what: "commits as".into(), well, is }
}
