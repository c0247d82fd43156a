//! What is known about agents on this machine, for whoever wants to know what is missing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loopwright_engine::process::{Cancel, Command, Ended, Supervisor};
use loopwright_engine::{Config, Source};

use crate::cli::Cli;
use crate::crew::{cli, known};
use crate::dialects;
use crate::own::Surroundings;

/// What is known about an agent.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its name.
    pub name: String,
    /// Whether somebody configured it.
    pub configured: bool,
    /// Where its program is, if it is there.
    pub program: Option<PathBuf>,
    /// What it says its version is.
    pub version: Option<String>,
    /// The versions it was tried with, if this is not one between them.
    pub untried: Option<(&'static str, &'static str)>,
    /// What logs it in, if anything was found that does.
    pub logged_in: Option<String>,
    /// How to get it.
    pub get: String,
    /// How to log in.
    pub log_in: String,
    /// Whether the system keeps it to its bounds.
    pub fenced: bool,
}

/// The command lines that are known, and those that speak a protocol, as they are found here.
pub fn all(config: &Config, supervisor: &Supervisor) -> Vec<Found> {
    let surroundings = std::sync::Arc::new(Surroundings::here(&config.fence));
    let mut all = Vec::new();
    for (name, agent) in &config.agents {
        if let Some(dialect) = known(name, agent) {
            // A program that a repository names is not run by somebody who only looks.
            let theirs = config.sources.is_of(&format!("agents.{name}.program"), Source::Repository);
            let supervisor = Some(supervisor).filter(|_| !theirs);
            all.push(one(name, true, &cli(dialect, agent, &surroundings), supervisor));
        }
    }
    for dialect in dialects::all() {
        let name = dialect.name().to_owned();
        if !config.agents.contains_key(&name) {
            let agent = cli(dialect, &loopwright_engine::AgentConfig::default(), &surroundings);
            all.push(one(&name, false, &agent, Some(supervisor)));
        }
    }
    all
}

fn one(name: &str, configured: bool, cli: &Cli, supervisor: Option<&Supervisor>) -> Found {
    let (dialect, surroundings) = (&cli.dialect, &cli.surroundings);
    let program = cli.program();
    let tried = dialect.tried();
    // What is not known may do anything when it is asked.
    let known = program.as_ref().filter(|_| tried.is_some());
    let version = known.zip(supervisor).and_then(|(it, supervisor)| version_of(it, surroundings, supervisor));
    let untried = tried.filter(|(oldest, newest)| {
        let number = version.as_deref().map(numbers);
        number.is_some_and(|it| it < numbers(oldest) || it > numbers(newest))
    });
    let key = dialect.keys().iter().copied().find(|it| surroundings.variable(it).is_some());
    // Whatever is configured under such a name is there for that.
    let telling = |it: &&str| it.contains("KEY") || it.contains("TOKEN");
    let key = key.or_else(|| cli.settings.environment.keys().map(String::as_str).find(telling));
    let files = dialect.credentials(surroundings);
    let file = files.iter().map(|(from, _)| surroundings.home.join(from)).find(|it| it.is_file());
    let logged_in = key.map(str::to_owned).or_else(|| file.map(|it| it.display().to_string()));
    Found {
        name: name.to_owned(),
        configured,
        program,
        version,
        untried,
        logged_in,
        get: dialect.get(),
        log_in: dialect.log_in(),
        fenced: cli.settings.fence && (surroundings.holds)(),
    }
}

/// What a program says its version is: the first word that looks like one.
fn version_of(program: &Path, surroundings: &Surroundings, supervisor: &Supervisor) -> Option<String> {
    let home = tempfile::tempdir().ok()?;
    let mut environment = surroundings.passed(&[]);
    environment.push(("HOME".to_owned(), home.path().to_string_lossy().into_owned()));
    let command = Command {
        program: program.to_string_lossy().into_owned(),
        arguments: vec!["--version".to_owned()],
        environment,
        only: true,
        ..Command::shell("", home.path().to_owned(), Duration::from_secs(20))
    };
    let ran = command.run(supervisor, &Cancel::default(), &mut |_| {}).ok()?;
    let said = ran.output.text();
    let version = said.split_whitespace().map(|it| it.trim_matches(|it: char| !it.is_ascii_digit()));
    let mut version = version.filter(|it| it.contains('.') && !numbers(it).is_empty());
    version.next().filter(|_| ran.ended == Ended::Exit(0)).map(str::to_owned)
}

/// The numbers of a version, for comparing.
fn numbers(version: &str) -> Vec<u64> {
    let plain = version.split(['-', '+']).next().unwrap_or_default();
    plain.split('.').map_while(|it| it.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(numbers("2.1.9") < numbers("2.1.10"));
        assert!(numbers("0.166.0-alpha.1") == numbers("0.166.0"));
        assert!(numbers("10.0") > numbers("9.9.9"));
    }
}
