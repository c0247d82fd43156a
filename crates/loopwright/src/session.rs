//! The engine of the project somebody stands in.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use loopwright_engine::journal::{Journal, Memory, RunLine, Sqlite};
use loopwright_engine::process::{Cancel, Supervisor};
use loopwright_engine::{Config, Engine, EngineError, Home, People, Project, Watch};

use crate::error::{self, CommandError};
use crate::{live, show};

/// The word that makes this binary a supervisor of commands.
pub(crate) const SUPERVISE: &str = "supervise";

/// The folder somebody stands in.
pub(crate) fn here() -> Result<PathBuf, CommandError> {
    std::env::current_dir().map_err(|it| CommandError::user(format!("there is no folder here: {it}")))
}

/// The engine of the project around the folder somebody stands in, to begin runs with.
pub(crate) fn engine(people: Arc<dyn People>, watch: Arc<dyn Watch>) -> Result<Engine, CommandError> {
    engine_at(&here()?, people, watch)
}

/// The engine of the project around a folder.
pub(crate) fn engine_at(
    folder: &Path,
    people: Arc<dyn People>,
    watch: Arc<dyn Watch>,
) -> Result<Engine, CommandError> {
    let home = Home::around(folder).map_err(|it| told(EngineError::from(it)))?;
    let journal = Sqlite::open(&home.journal).map_err(|it| told(it.into()))?;
    let config = Config::of(&home).map_err(told)?;
    Ok(engine_of(home, &config, Arc::new(journal), people, watch))
}

/// The engine for runs there are. Where there are none, nothing is made to look for them in.
pub(crate) fn engine_of_runs(people: Arc<dyn People>, watch: Arc<dyn Watch>) -> Result<Engine, CommandError> {
    let home = Home::find(&here()?).map_err(|it| told(EngineError::from(it)))?;
    let config = Config::of(&home).map_err(told)?;
    of_runs(home, &config, people, watch)
}

/// The same for somebody who only looks at runs, or ends them. They need no agents: a configuration that cannot be read is
/// said, and stops nobody.
pub(crate) fn reader_of_runs(people: Arc<dyn People>, watch: Arc<dyn Watch>) -> Result<Engine, CommandError> {
    let home = Home::find(&here()?).map_err(|it| told(EngineError::from(it)))?;
    let config = Config::of(&home).unwrap_or_else(|error| {
        show::error_line(&format!("warning: {error}"));
        Config::default()
    });
    of_runs(home, &config, people, watch)
}

fn of_runs(
    home: Home,
    config: &Config,
    people: Arc<dyn People>,
    watch: Arc<dyn Watch>,
) -> Result<Engine, CommandError> {
    let journal: Arc<dyn Journal> = if home.journal.exists() {
        Arc::new(Sqlite::open(&home.journal).map_err(|it| told(it.into()))?)
    } else {
        Arc::new(Memory::default())
    };
    Ok(engine_of(home, config, journal, people, watch))
}

/// Why there are no runs here, for somebody who stands in the wrong folder.
pub(crate) fn nowhere(home: &Home) -> Option<String> {
    let none = !home.is_repository && !home.journal.exists();
    none.then(|| format!("{} is in no git repository, and no run was begun in it", home.root().display()))
}

fn engine_of(
    home: Home,
    config: &Config,
    journal: Arc<dyn Journal>,
    people: Arc<dyn People>,
    watch: Arc<dyn Watch>,
) -> Engine {
    let project = Project::at(home.root()).with(config);
    let crew = loopwright_agents::crew(config);
    let supervisor = supervisor();
    let clock = Arc::new(now);
    let holder = loopwright_engine::this_process();
    Engine::new(journal, home, project, crew, supervisor, people, watch, clock, holder)
}

/// Refuses to write what is said into a file of the project: it would count as a change that the agent at work made, and be
/// undone or committed.
pub(crate) fn says_elsewhere(home: &Home) -> Result<(), CommandError> {
    for stream in ["stdout", "stderr"] {
        let Ok(place) = std::fs::canonicalize(format!("/dev/{stream}")) else { continue };
        let Ok(path) = place.strip_prefix(home.root()) else { continue };
        if path.starts_with(".git") || !place.is_file() || home.git.ignored(&[path]).is_some() {
            continue;
        }
        return Err(CommandError::user(format!(
            "what this command says goes to `{}`, a file of the project: nobody could tell it from what an agent writes",
            path.display()
        ))
        .hinted("write it to a file elsewhere, or to one that git ignores"));
    }
    Ok(())
}

/// What commands run below: this same binary.
pub(crate) fn supervisor() -> Supervisor {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("loopwright"));
    Supervisor { program, arguments: vec![SUPERVISE.into()] }
}

/// What time it is.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// An error of the engine's, as a person is told it.
#[expect(clippy::needless_pass_by_value, reason = "it is what errors are mapped with")]
pub(crate) fn told(error: EngineError) -> CommandError {
    use loopwright_engine::journal::JournalError;
    let message = error.to_string();
    match error {
        EngineError::Journal(JournalError::NoRun(_)) => {
            CommandError::user(message).hinted("`loopwright list` shows the runs there are")
        }
        EngineError::Journal(JournalError::Held { .. }) => CommandError::with_code(message, error::HELD)
            .hinted("wait until it is done, or end it there; what you say meanwhile is kept for it"),
        EngineError::Busy { .. } => CommandError::with_code(message, error::HELD),
        EngineError::Unfit { .. } => CommandError::with_code(message, error::NOT_PROVED),
        EngineError::Wrong(_) => CommandError::user(message),
        EngineError::Journal(JournalError::Removed(_)) => CommandError::with_code(message, error::BROKEN)
            .hinted("nothing more was done; bring the file back if you can, and look at what changed before you go on"),
        EngineError::Journal(_) | EngineError::Files(_) | EngineError::Impossible(_) => {
            CommandError::with_code(message, error::BROKEN)
                .hinted("`loopwright list` shows what is on record, and a run goes on from there")
        }
    }
}

/// The run somebody means by the beginning of its name.
pub(crate) fn find_run(engine: &Engine, wanted: &str) -> Result<RunLine, CommandError> {
    if wanted.trim().is_empty() {
        return Err(CommandError::user("a run has no empty name")
            .hinted("`loopwright list` shows the runs there are"));
    }
    let runs = engine.journal.runs().map_err(|it| told(it.into()))?;
    if let Some(exact) = runs.iter().find(|it| it.run.name == wanted) {
        return Ok(exact.clone());
    }
    // Runs of items are named by their own run, and only meant where somebody writes that much.
    let meant =
        |it: &&RunLine| it.run.name.starts_with(wanted) && (it.run.parent.is_none() || wanted.contains('/'));
    let found: Vec<&RunLine> = runs.iter().filter(meant).collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let hint = nowhere(&engine.home);
            let hint = hint.unwrap_or_else(|| "`loopwright list` shows the runs there are".to_owned());
            Err(CommandError::user(format!("there is no run `{wanted}`")).hinted(hint))
        }
        several => Err(ambiguous(wanted, several.iter().map(|it| it.run.name.as_str()))),
    }
}

/// A beginning that several names have.
pub(crate) fn ambiguous<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> CommandError {
    const MOST: usize = 6;
    let names: Vec<String> = names.map(|it| format!("`{it}`")).collect();
    let more = names.len().saturating_sub(MOST);
    let listed = names[..names.len() - more].join(", ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    CommandError::user(format!("`{wanted}` may be any of {listed}{more}")).hinted("write more of the name")
}

/// Two signals within this time are one.
const TWICE: Duration = Duration::from_millis(500);

/// Called off when somebody presses Ctrl-C. Pressed twice, the program ends at once.
pub(crate) fn cancel_on_interrupt() -> Cancel {
    let cancel = Cancel::default();
    let told = cancel.clone();
    let mut first: Option<Instant> = None;
    // Where that cannot be, Ctrl-C ends the program, and what was at work is lost, which the run can bear.
    let _ = ctrlc::set_handler(move || {
        match first {
            // What is sent to a process and to its group, as `timeout` does, comes twice and is said once.
            Some(first) if first.elapsed() < TWICE => return,
            Some(_) => {
                show::error_line_at_once(
                    "left at once: `loopwright list` shows the run, `loopwright resume` takes it up again",
                );
                std::process::exit(i32::from(error::LEFT));
            }
            None => first = Some(Instant::now()),
        }
        told.call_off();
        if live::is_asking() {
            show::error_line_at_once("leaving the run: press Enter (or Ctrl-C once more to end at once)");
        } else {
            show::error_line("leaving the run (once more to end at once)");
        }
    });
    cancel
}

/// Leaves something for a run.
pub(crate) fn leave(
    engine: &Engine,
    run: &str,
    message: &loopwright_engine::Message,
) -> Result<(), CommandError> {
    let body = serde_json::to_string(message).map_err(|it| CommandError::user(it.to_string()))?;
    engine.journal.post(run, now(), &body).map_err(|it| told(it.into()))
}

/// The run that waits for a person: the one that is meant, or the first of its items that does.
pub(crate) fn who_waits(engine: &Engine, name: &str) -> Result<String, CommandError> {
    use loopwright_core::machine::{Want, due};
    let (definition, run) = engine.read(name).map_err(told)?;
    let waits = |it: &Want| matches!(it, Want::Ask { .. } | Want::Await { .. });
    if due(&definition.workflow, &run).iter().any(|it| waits(&it.want)) {
        return Ok(name.to_owned());
    }
    let runs = engine.journal.runs().map_err(|it| told(it.into()))?;
    for line in runs.iter().filter(|it| it.run.parent.as_deref() == Some(name) && it.last > 0) {
        let (_, child) = engine.read(&line.run.name).map_err(told)?;
        if !child.is_over() && due(&definition.workflow, &child).iter().any(|it| waits(&it.want)) {
            return Ok(line.run.name.clone());
        }
    }
    Ok(name.to_owned())
}

/// What is said to go on, to any run.
pub(crate) const RESUME: &str = "resume";

/// Whether a run waits for a verb.
pub(crate) fn waits_for(engine: &Engine, name: &str, verb: &str) -> Result<bool, CommandError> {
    let (definition, run) = engine.read(name).map_err(told)?;
    let view = loopwright_core::machine::RunView::of(&definition.workflow, &run);
    Ok(view.verbs.iter().any(|it| **it == *verb))
}

/// Whether a run of a workflow was ever about this.
pub(crate) fn is_known(engine: &Engine, workflow: &str, subject: &str) -> Result<bool, CommandError> {
    let runs = engine.journal.runs().map_err(|it| told(it.into()))?;
    let about = |it: &&RunLine| it.run.workflow == workflow && it.run.subject == subject && it.last > 0;
    for line in runs.iter().filter(about) {
        if engine.is_here(&line.run.name).map_err(told)? {
            return Ok(true);
        }
    }
    Ok(false)
}
