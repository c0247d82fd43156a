//! `cargo xtask agents`: the agent programs that tests against the real thing run, in the versions
//! they were measured with.
//!
//! Each is a package of its own below `target/agents/NAME`, so that one can be thrown away without
//! the others, and nothing of the machine's own is used or changed. What is there in the right
//! version is left alone: a second run asks nobody for anything.
//!
//! **Left out:** no agent is started here, not even for its version. Some of them look for hosts
//! when they start, and whoever runs one has to shut the network first.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One agent, as npm knows it.
#[derive(Clone, Copy, Debug)]
struct Agent {
    /// What the command line and the folder call it.
    name: &'static str,
    package: &'static str,
    /// Exact: with a range npm takes an older release that suits an older node better.
    version: &'static str,
    /// The name of the program in `node_modules/.bin`.
    program: &'static str,
    /// How the name of the package begins that carries the machine code for this machine. npm
    /// counts it as optional, and ends well without it.
    native: Option<&'static str>,
    made: Made,
    chosen: Chosen,
}

/// How the program comes into being.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    /// It is in the package.
    Ready,
    /// The package has a few lines of text in its place, and a script of its own that puts machine
    /// code there after the installation. Where npm may not run scripts, the text stays.
    ByScript,
}

/// Whether an agent is installed without being named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chosen {
    ByDefault,
    ByName,
}

const AGENTS: [Agent; 7] = [
    Agent {
        name: "claude",
        package: "@anthropic-ai/claude-code",
        version: "2.1.325",
        program: "claude",
        native: Some("@anthropic-ai/claude-code-"),
        made: Made::ByScript,
        chosen: Chosen::ByDefault,
    },
    Agent {
        name: "codex",
        package: "@openai/codex",
        version: "0.166.0",
        program: "codex",
        native: Some("@openai/codex-"),
        made: Made::Ready,
        chosen: Chosen::ByDefault,
    },
    Agent {
        name: "gemini",
        package: "@google/gemini-cli",
        version: "0.61.0",
        program: "gemini",
        native: None,
        made: Made::Ready,
        chosen: Chosen::ByDefault,
    },
    Agent {
        name: "opencode",
        package: "opencode-ai",
        version: "1.18.33",
        program: "opencode",
        native: Some("opencode-"),
        made: Made::ByScript,
        chosen: Chosen::ByName,
    },
    Agent {
        name: "copilot",
        package: "@github/copilot",
        version: "1.0.102",
        program: "copilot",
        native: Some("@github/copilot-"),
        made: Made::Ready,
        chosen: Chosen::ByName,
    },
    Agent {
        name: "acp-claude",
        package: "@agentclientprotocol/claude-agent-acp",
        version: "0.99.0",
        program: "claude-agent-acp",
        native: Some("@anthropic-ai/claude-agent-sdk-"),
        made: Made::Ready,
        chosen: Chosen::ByName,
    },
    Agent {
        name: "acp-codex",
        package: "@agentclientprotocol/codex-acp",
        version: "2.6.0",
        program: "codex-acp",
        native: Some("@openai/codex-"),
        made: Made::Ready,
        chosen: Chosen::ByName,
    },
];

/// A placeholder has some hundred bytes, a program a hundred million.
const LEAST_MACHINE_CODE: u64 = 64 * 1024;

/// What came of one agent. The first word of a line is for scripts to count.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Ready(PathBuf),
    Skipped(String),
    Failed(String),
}

/// Installs what the arguments name and returns whether nothing failed. A machine without npm is
/// no failure: its lines say `skipped`.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let chosen = choose(arguments)?;
    let folder = folder()?;
    let mut passed = true;
    for agent in chosen {
        let outcome = ensure(&agent, &folder, "npm");
        passed &= !matches!(outcome, Outcome::Failed(_));
        crate::say(&line(&agent, &outcome));
    }
    Ok(passed)
}

fn line(agent: &Agent, outcome: &Outcome) -> String {
    let Agent { name, version, .. } = agent;
    match outcome {
        Outcome::Ready(program) => format!("ready: {name} {version} {}", program.display()),
        Outcome::Skipped(why) => format!("skipped: {name} {version}: {why}"),
        Outcome::Failed(why) => format!("failed: {name} {version}: {why}"),
    }
}

/// No argument means the default ones, `--all` every one, names those and no others.
fn choose(arguments: &[String]) -> Result<Vec<Agent>, String> {
    if arguments.is_empty() {
        return Ok(AGENTS.into_iter().filter(|it| it.chosen == Chosen::ByDefault).collect());
    }
    if arguments.iter().any(|it| it == "--all") {
        return Ok(AGENTS.to_vec());
    }
    let mut chosen: Vec<Agent> = Vec::new();
    for name in arguments {
        let Some(agent) = AGENTS.into_iter().find(|it| it.name == name) else {
            let known: Vec<&str> = AGENTS.iter().map(|it| it.name).collect();
            return Err(format!("there is no agent `{name}`; there are {} and `--all`", known.join(", ")));
        };
        if !chosen.iter().any(|it| it.name == agent.name) {
            chosen.push(agent);
        }
    }
    Ok(chosen)
}

/// `target/agents` of this repository, from wherever cargo was called.
fn folder() -> Result<PathBuf, String> {
    let target = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => PathBuf::from(target),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"),
    };
    let folder = target.join("agents");
    fs::create_dir_all(&folder)
        .and_then(|()| folder.canonicalize())
        .map_err(|error| format!("cannot use `{}`: {error}", folder.display()))
}

/// Sees to it that an agent is there, trying twice: what fails on the way from the registry often
/// comes the second time.
fn ensure(agent: &Agent, folder: &Path, npm: &str) -> Outcome {
    let home = folder.join(agent.name);
    if let Ok(program) = installed(agent, &home) {
        return Outcome::Ready(program);
    }
    let mut why = String::new();
    for _ in 0..2 {
        match install(agent, folder, npm) {
            Ok(program) => return Outcome::Ready(program),
            Err(Trouble::NoNpm) => return Outcome::Skipped(format!("`{npm}` is not installed")),
            Err(Trouble::Other(text)) => why = text,
        }
    }
    Outcome::Failed(why)
}

enum Trouble {
    NoNpm,
    Other(String),
}

/// Installs beside the place and moves it there once it is whole, so that a run that is ended in
/// the middle leaves nothing that looks installed.
fn install(agent: &Agent, folder: &Path, npm: &str) -> Result<PathBuf, Trouble> {
    let home = folder.join(agent.name);
    let draft = folder.join(format!("{}.partial", agent.name));
    let result = fetch(agent, &draft, npm).and_then(|()| {
        installed(agent, &draft).map_err(Trouble::Other)?;
        remove(&home)?;
        fs::rename(&draft, &home)
            .map_err(|error| Trouble::Other(format!("cannot move it into place: {error}")))?;
        installed(agent, &home).map_err(Trouble::Other)
    });
    if result.is_err() {
        // What cannot be removed now is found, and named, by the next try.
        let _ = remove(&draft);
    }
    result
}

fn fetch(agent: &Agent, draft: &Path, npm: &str) -> Result<(), Trouble> {
    remove(draft)?;
    fs::create_dir_all(draft)
        .map_err(|error| Trouble::Other(format!("cannot make `{}`: {error}", draft.display())))?;
    let status = Command::new(npm)
        .args(["install", "--no-audit", "--no-fund", "--no-update-notifier", "--save-exact"])
        // A person's own settings may forbid an engine that only draws a warning.
        .args(["--engine-strict=false", "--global=false", "--loglevel=error", "--prefix"])
        .arg(draft)
        .arg(format!("{}@{}", agent.package, agent.version))
        .current_dir(draft)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Trouble::Other(format!("npm ended with {status}"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Trouble::NoNpm),
        Err(error) => Err(Trouble::Other(format!("npm did not start: {error}"))),
    }
}

fn remove(folder: &Path) -> Result<(), Trouble> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Trouble::Other(format!("cannot remove `{}`: {error}", folder.display())))
        }
        _ => Ok(()),
    }
}

/// The program of an agent that is whole and of the right version, or what is wrong with it.
fn installed(agent: &Agent, home: &Path) -> Result<PathBuf, String> {
    let modules = home.join("node_modules");
    let paper = modules.join(agent.package).join("package.json");
    let text =
        fs::read_to_string(&paper).map_err(|error| format!("cannot read its package.json: {error}"))?;
    match version(&text) {
        Some(found) if found == agent.version => {}
        Some(found) => return Err(format!("npm brought version {found}")),
        None => return Err("its package.json has no version".to_owned()),
    }
    if let Some(prefix) = agent.native
        && !has_package(&modules, prefix)
    {
        return Err(format!("npm brought no `{prefix}*` for this machine"));
    }
    let program = modules.join(".bin").join(agent.program);
    // Through the link: a link to nothing is no program.
    match fs::metadata(&program) {
        Ok(it) if it.is_file() && agent.made == Made::ByScript && it.len() < LEAST_MACHINE_CODE => {
            Err("npm did not run its script; is `ignore-scripts` set?".to_owned())
        }
        Ok(it) if it.is_file() => Ok(program),
        _ => Err(format!("it has no program `{}`", agent.program)),
    }
}

/// Whether some package below `node_modules` has a name that begins so.
fn has_package(modules: &Path, prefix: &str) -> bool {
    let (scope, start) = match prefix.rsplit_once('/') {
        Some((scope, start)) => (modules.join(scope), start),
        None => (modules.to_owned(), prefix),
    };
    let Ok(entries) = fs::read_dir(scope) else { return false };
    entries.flatten().any(|it| it.file_name().to_string_lossy().starts_with(start))
}

/// The version a package.json gives itself. npm writes it near the top, before anything that could
/// have a key of the same name inside.
fn version(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("\"version\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    rest.split_once('"').map(|(version, _)| version)
}

#[cfg(all(test, unix))]
#[path = "agents_tests.rs"]
mod tests;
