//! Who could do the work here, who would do it, and what is missing for that.

use loopwright_agents::Found;
use loopwright_core::language::load;
use loopwright_engine::agents::{Agent as _, CommandAgent, Crew};
use loopwright_engine::process::Fence;
use loopwright_engine::{CONFIG, Config, Home};

use super::Looked;
use crate::{find, session};

/// Who could do the work.
pub(super) fn there(home: &Home, config: &Config) -> Vec<Looked> {
    let found = loopwright_agents::found(config, &session::supervisor());
    let mut all: Vec<Looked> = found.iter().map(one).collect();
    let commands = config.agents.iter().filter_map(|(name, it)| Some((name, it.command.as_ref()?.all())));
    let mut any = found.iter().any(|it| it.program.is_some());
    for (name, command) in commands {
        let agent = CommandAgent { command };
        let missing = agent.missing(home.root());
        any |= missing.is_none();
        let what = format!("agent {name}");
        all.push(match missing {
            Some(why) => Looked::missing(what, format!("{why}; {CONFIG} says what `{name}` is")),
            None => Looked::well(
                what,
                format!(
                    "{} (a command of your own: it runs as you, without a fence)",
                    agent.command.join(" ")
                ),
            ),
        });
    }
    if !any {
        let ways: Vec<String> =
            found.iter().filter(|it| !it.configured).map(|it| format!("{}: `{}`", it.name, it.get)).collect();
        all.insert(
            0,
            Looked::missing(
                "agents".to_owned(),
                format!(
                    "nobody is here to do the work. One is enough for every workflow: install one ({}) and log in, or name a program of your own in {CONFIG}: `agents: {{NAME: {{command: \"...\"}}}}`",
                    ways.join("; ")
                ),
            ),
        );
    }
    all.push(fence());
    all
}

fn one(found: &Found) -> Looked {
    let what = format!("agent {}", found.name);
    let Some(program) = &found.program else {
        let is = format!("not there; to get it: {}", found.get);
        return if found.configured { Looked::missing(what, is) } else { Looked::absent(what, is) };
    };
    let mut is = program.display().to_string();
    if let Some(version) = &found.version {
        is = format!("{version}, {is}");
    }
    if !found.fenced {
        is.push_str(", without a fence");
    }
    match (&found.logged_in, found.log_in.as_str()) {
        (Some(how), _) => is = format!("{is}, logged in by {how}"),
        (None, how) => return Looked::note(what, format!("{is}; nothing was found that logs it in: {how}")),
    }
    match found.untried {
        Some((oldest, newest)) => Looked::note(
            what,
            format!(
                "{is}; it was tried with {oldest} to {newest}: what it says may not be understood in full"
            ),
        ),
        None => Looked::well(what, is),
    }
}

fn fence() -> Looked {
    let what = "fence".to_owned();
    if Fence::holds() {
        return Looked::well(
            what,
            "Landlock: the system keeps agents to what they may write and read".to_owned(),
        );
    }
    Looked::note(
        what,
        "this system has no Landlock (Linux 5.13 or later, switched on): what an agent writes out of bounds in the project is still undone after each call, but nothing keeps it from the rest of this machine".to_owned(),
    )
}

/// Who would do the work of which workflow.
pub(super) fn wanted(home: &Home, crew: &Crew) -> Vec<Looked> {
    let mut all = Vec::new();
    for name in find::all() {
        // One that does not load says so when it is checked.
        let Ok(found) = find::find(&name) else { continue };
        let Some(workflow) = load(&found.folder).workflow else { continue };
        let (mut who, mut well) = (Vec::new(), true);
        let mut wrong: Vec<String> = crew.misspelt(&workflow).into_iter().collect();
        for role in workflow.roles.keys() {
            let chosen = crew.who(&workflow, role, home.root());
            // Somebody who wants a certain agent is told why they cannot have it; where nobody is here, that is said once.
            let wish = crew.wish(&workflow.name, role);
            if let (Err(why), false) = (&chosen, wish.agents.is_empty()) {
                wrong.push(format!("{role}: {why}"));
            }
            let chosen = chosen.unwrap_or_default();
            who.push(match chosen.first() {
                Some(first) if first.stands_in => format!("{role} {} (stands in)", first.name),
                Some(first) => format!("{role} {}", first.name),
                None => format!("{role} nobody"),
            });
            well &= !chosen.is_empty();
        }
        let what = format!("who {}", workflow.name);
        let is = if who.is_empty() { "no roles".to_owned() } else { who.join(", ") };
        wrong.sort();
        wrong.dedup();
        all.push(match wrong.as_slice() {
            [] if well => Looked::well(what, is),
            [] => Looked::absent(what, is),
            wrong => Looked::missing(what, format!("{is}; {}", wrong.join("; "))),
        });
    }
    all.extend(nobodys(crew));
    all
}

/// Roles that somebody has a wish for and that no workflow here has.
fn nobodys(crew: &Crew) -> Vec<Looked> {
    let folders: Vec<_> = find::all().iter().filter_map(|it| find::find(it).ok()).collect();
    let workflows: Vec<_> = folders.iter().filter_map(|it| load(&it.folder).workflow).collect();
    let known = |wish: &str| match wish.split_once('.') {
        // What is wrong with a role of a workflow is said with that workflow.
        Some((of, _)) => workflows.iter().any(|it| *it.name == *of),
        None => workflows.iter().any(|it| it.roles.contains_key(wish)),
    };
    let unknown = crew.wishes.keys().filter(|it| !known(it));
    let told = |wish: &String| {
        let what = format!("role {wish}");
        Looked::missing(what, format!("no workflow here has it; {CONFIG} or your own configuration names it"))
    };
    unknown.map(told).collect()
}

/// What is configured, and where.
pub(super) fn sources(home: &Home, config: &Config) -> Vec<Looked> {
    let value = |(path, file): (&str, &std::path::PathBuf)| {
        let file = file.strip_prefix(home.root()).unwrap_or(file);
        Looked::well("says".to_owned(), format!("{path} is from {}", file.display()))
    };
    config.sources.all().map(value).collect()
}
