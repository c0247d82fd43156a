//! `loopwright run`

use std::process::ExitCode;

use indexmap::IndexMap;
use loopwright_core::definition::{Note, Question};
use loopwright_core::language::{Folder, load};
use loopwright_core::name::Name;
use loopwright_core::problem::did_you_mean;
use loopwright_core::signal::DEFERRED;
use loopwright_engine::journal::NewRun;
use loopwright_engine::{Begin, Engine};

use super::verb::open_runs;
use crate::error::CommandError;
use crate::progress::{self, Manner, MannerArgs};
use crate::{background, find, session, show};

/// Run a workflow in this project
#[derive(clap::Args, Debug)]
pub(crate) struct RunArgs {
    /// The workflow: a name, or its folder
    workflow: String,
    /// What the run is about
    subject: Option<String>,
    /// An input of the workflow's
    #[arg(long = "input", value_name = "NAME=VALUE")]
    inputs: Vec<String>,
    /// A variable somebody may choose at the start
    #[arg(long = "set", value_name = "NAME=VALUE")]
    vars: Vec<String>,
    #[command(flatten)]
    manner: MannerArgs,
}

pub(crate) fn cmd_run(arguments: &RunArgs) -> Result<ExitCode, CommandError> {
    if arguments.manner.detach && !background::is_here() {
        return background::start(arguments.manner.json);
    }
    let begin = Begin {
        subject: arguments.subject.clone().unwrap_or_default(),
        inputs: pairs("--input", &arguments.inputs)?.into_iter().collect(),
        vars: pairs("--set", &arguments.vars)?.into_iter().map(|(name, it)| (name, it.into())).collect(),
        ..Begin::default()
    };
    begin_and_drive(&arguments.workflow, &begin, &arguments.manner.manner())
}

/// Begins a run and drives it as far as it goes.
pub(super) fn begin_and_drive(
    workflow: &str,
    begin: &Begin,
    manner: &Manner,
) -> Result<ExitCode, CommandError> {
    let found = find::find(workflow)?;
    known(&found.folder, &manner.answers)?;
    let engine = progress::engine(manner)?;
    alone(&engine, &found.folder, &begin.subject)?;
    let json = manner.json;
    if !session::is_known(&engine, &found.folder.name, &begin.subject)?
        && let Some(Begin { phase: Some(phase), .. }) =
            engine.found(&found.folder, begin).map_err(session::told)?
    {
        let (workflow, subject) = (found.name(), &begin.subject);
        return Err(CommandError::user(format!(
            "the documents of `{subject}` say that it stands at `{phase}`"
        ))
        .hinted(format!("`loopwright {workflow} resume '{subject}'` takes it up from there"))
        .hinted("to begin it anew, move the documents that say so out of the way"));
    }
    let cancel = session::cancel_on_interrupt();
    let driver = engine.begin(&found.folder, begin, &cancel).map_err(session::told)?;
    let name = driver.name().to_owned();
    if background::is_here() {
        background::let_go(&engine.home, &name)?;
    }
    if !json {
        // The workflow may have made up what it is about.
        let (_, run) = engine.read(&name).map_err(session::told)?;
        show::error_line(&format!("{name}: {} {}", found.name(), run.subject));
    }
    let standing = driver.drive().map_err(session::told)?;
    progress::stands(&engine, &name, &standing, json)
}

/// A run about the whole project is about what every other one is about too: it would work on what that is in the middle of.
fn alone(engine: &Engine, folder: &Folder, subject: &str) -> Result<(), CommandError> {
    let Some(workflow) = load(folder).workflow else { return Ok(()) };
    if !workflow.subject.optional || workflow.subject.made.is_some() {
        return Ok(());
    }
    let open = open_runs(engine, &workflow.name, None)?;
    let beside = open.iter().find(|it| subject.is_empty() || it.subject.is_empty());
    let Some(NewRun { name, .. }) = beside else { return Ok(()) };
    Err(CommandError::user(format!("a run of `{}` is open here: `{name}`", workflow.name)).hinted(format!(
        "`loopwright resume {name}` goes on with it; `loopwright stop {name}` ends it, and another can begin"
    )))
}

/// An answer to a question that is never asked would be waited for in vain, and one that is none taken for nobody's.
fn known(folder: &Folder, answers: &[String]) -> Result<(), CommandError> {
    let Some(workflow) = load(folder).workflow else { return Ok(()) };
    let names =
        workflow.questions.iter().flat_map(|(name, it)| [Some((name, it)), it.id.as_ref().zip(Some(it))]);
    let known: Vec<(&str, &Question)> = names.flatten().map(|(name, it)| (&**name, it)).collect();
    for (id, answer) in answers.iter().filter_map(|it| it.split_once('=')) {
        let Some((_, question)) = known.iter().find(|(it, _)| *it == id) else {
            return Err(CommandError::user(format!("`{}` asks no question `{id}`", workflow.name))
                .maybe_hinted(did_you_mean(id, known.iter().map(|it| it.0))));
        };
        if answer != DEFERRED && !question.answers.contains_key(answer) {
            let answers: Vec<&str> = question.answers.keys().map(|it| &**it).chain([DEFERRED]).collect();
            return Err(CommandError::user(format!("`{answer}` is no answer to `{id}`"))
                .hinted(format!("it is one of {}", answers.join(", "))));
        }
        if question.answers.get(answer).is_some_and(|it| it.note == Note::Required) {
            return Err(CommandError::user(format!("`{answer}` needs a note that says what is meant"))
                .hinted("it can only be answered when it is asked: `loopwright answer RUN ... --note`"));
        }
    }
    Ok(())
}

/// Pairs of a name and a value.
pub(super) fn pairs(option: &str, given: &[String]) -> Result<IndexMap<Name, String>, CommandError> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((Name::from(name), value.to_owned())),
        _ => Err(CommandError::user(format!("`{option} {text}` says no value"))
            .hinted(format!("write `{option} NAME=VALUE`"))),
    };
    given.iter().map(pair).collect()
}
