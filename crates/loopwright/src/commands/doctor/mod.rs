//! `loopwright doctor`

mod agents;

use std::process::{Command, ExitCode};

use loopwright_core::library::PROJECT_COMMANDS;
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

/// One thing that was looked at: how it is with it, what it is, and what to do.
struct Looked {
    what: String,
    how: How,
    is: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// All is well.
    Well,
    /// It works, and somebody should know something about it.
    Note,
    /// It is not there, and need not be.
    Absent,
    /// It has to be there and is not.
    Missing,
}

impl Looked {
    fn well(what: String, is: String) -> Self {
        Self { what, how: How::Well, is }
    }

    fn note(what: String, is: String) -> Self {
        Self { what, how: How::Note, is }
    }

    fn absent(what: String, is: String) -> Self {
        Self { what, how: How::Absent, is }
    }

    fn missing(what: String, is: String) -> Self {
        Self { what, how: How::Missing, is }
    }

    fn so(what: &str, well: bool, is: String) -> Self {
        Self { what: what.to_owned(), how: if well { How::Well } else { How::Missing }, is }
    }
}

pub(crate) fn cmd_doctor(arguments: &DoctorArgs) -> Result<ExitCode, CommandError> {
    let here = session::here()?;
    let mut all = vec![git()];
    match Home::find(&here) {
        Ok(home) => {
            let kept =
                if home.is_repository { "a git repository" } else { "no git repository: runs cannot commit" };
            all.push(Looked::so("project", true, format!("{}, {kept}", home.root().display())));
            if home.is_repository {
                all.push(identity(&home));
            }
            all.push(journal(&home));
            all.extend(config(&home));
        }
        Err(error) => all.push(Looked::so("project", false, error.to_string())),
    }
    let well = all.iter().all(|it| it.how != How::Missing);
    for it in &all {
        let (mark, word) = match it.how {
            How::Well => ("ok  ", "well"),
            How::Note => ("note", "note"),
            How::Absent => ("-   ", "absent"),
            How::Missing => ("MISS", "missing"),
        };
        if arguments.json {
            let well = it.how != How::Missing;
            show::out(&format!("{}\n", json!({"what": it.what, "well": well, "how": word, "is": it.is})));
        } else {
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
    Looked::so("git", well, is)
}

/// Whether the journal can be read, every page of it.
fn journal(home: &Home) -> Looked {
    if !home.journal.exists() {
        return Looked::so("journal", true, "no run was begun yet".into());
    }
    let damage = Sqlite::open(&home.journal).and_then(|it| it.damage());
    let (well, is) = match damage {
        Ok(damage) if damage.is_empty() => (true, home.journal.display().to_string()),
        Ok(damage) => (false, format!("{} is damaged: {}", home.journal.display(), damage.join("; "))),
        Err(error) => (false, error.to_string()),
    };
    Looked::so("journal", well, is)
}

/// The agents and commands of a project.
fn config(home: &Home) -> Vec<Looked> {
    let config = match Config::of(home) {
        Ok(config) => config,
        Err(error) => {
            return vec![Looked::so("configuration", false, error.to_string())];
        }
    };
    let mut all = agents::there(home, &config);
    all.extend(agents::wanted(home, &loopwright_agents::crew(&config)));
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
            all.push(Looked::so(&format!("project {name}"), known, is));
        }
    }
    all.extend(agents::sources(home, &config));
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
    Looked::so("commits as", well, is)
}
