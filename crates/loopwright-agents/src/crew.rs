//! Everybody there is, from what somebody configured and from what is known anyway.

use std::sync::Arc;

use loopwright_core::name::Name;
use loopwright_engine::agents::{Agent, CommandAgent, Crew};
use loopwright_engine::{AgentConfig, Config};

use crate::cli::{Cli, Settings};
use crate::dialects::{self, Dialect};
use crate::fenced::Fenced;
use crate::own::Surroundings;

/// Everybody there is: those who are known without a word, and those who are configured.
pub fn crew(config: &Config) -> Crew {
    let surroundings = Arc::new(Surroundings::here(&config.fence));
    let mut crew = Crew { wishes: config.wishes(), ..Crew::default() };
    for dialect in dialects::all() {
        let name = Name::from(dialect.name());
        if !config.agents.contains_key(&*name) {
            crew.usual.push(name.clone());
            crew.agents.insert(name, Arc::new(cli(dialect, &AgentConfig::default(), &surroundings)));
        }
    }
    for (name, agent) in &config.agents {
        crew.agents.insert(name.as_str().into(), of(name, agent, &surroundings));
    }
    // Whoever is configured was meant to be used; of the others the best is first. A command of somebody's own was made for
    // something of their own, and is better than nobody.
    let of = |commands: bool| {
        let all = config.agents.iter().filter(move |(_, it)| it.command.is_some() == commands);
        all.map(|(name, _)| Name::from(name.as_str())).collect::<Vec<_>>()
    };
    crew.spare = of(false);
    let known = dialects::all().map(|it| Name::from(it.name()));
    crew.spare.extend(known.into_iter().filter(|it| !config.agents.contains_key(&**it)));
    crew.spare.extend(of(true));
    crew
}

/// One agent, as it is configured.
fn of(name: &str, config: &AgentConfig, surroundings: &Arc<Surroundings>) -> Arc<dyn Agent> {
    if let Some(command) = &config.command {
        let command = CommandAgent { command: command.all() };
        if !config.fence.unwrap_or(false) {
            return Arc::new(command);
        }
        return Arc::new(Fenced { command, surroundings: Arc::clone(surroundings) });
    }
    match known(name, config) {
        Some(dialect) => Arc::new(cli(dialect, config, surroundings)),
        None => Arc::new(CommandAgent { command: Vec::new() }),
    }
}

/// The command line an agent is, by what is configured or by its name.
pub fn known(name: &str, config: &AgentConfig) -> Option<Arc<dyn Dialect>> {
    match (&config.command, &config.acp) {
        (Some(_), _) => None,
        (None, Some(command)) => Some(dialects::speaks_acp(command.all(), config.mode.clone())),
        (None, None) => dialects::named(config.kind.as_deref().unwrap_or(name)),
    }
}

pub(crate) fn cli(dialect: Arc<dyn Dialect>, config: &AgentConfig, surroundings: &Arc<Surroundings>) -> Cli {
    let settings = Settings {
        program: config.program.clone(),
        model: config.model.clone(),
        effort: config.effort.clone(),
        arguments: config.arguments.clone(),
        environment: config.environment.clone(),
        files: config.files.clone(),
        fence: config.fence.unwrap_or(true),
    };
    Cli { dialect, settings, surroundings: Arc::clone(surroundings) }
}
