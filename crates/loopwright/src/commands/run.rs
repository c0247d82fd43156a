//! `loopwright run`

use std::process::ExitCode;

use indexmap::IndexMap;
use loopwright_core::name::Name;
use loopwright_engine::Begin;

use crate::error::CommandError;
use crate::{background, find, progress, session, show};

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
    /// An answer given beforehand; without a terminal, questions without one wait
    #[arg(long = "answer", value_name = "QUESTION=ANSWER")]
    answers: Vec<String>,
    /// Never ask at the terminal
    #[arg(long)]
    unattended: bool,
    /// In the background: says what the run is called once it is begun, and returns
    #[arg(long)]
    detach: bool,
    /// One event a line, as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn cmd_run(arguments: &RunArgs) -> Result<ExitCode, CommandError> {
    if arguments.detach && !background::is_here() {
        return background::start(arguments.json);
    }
    let begin = Begin {
        subject: arguments.subject.clone().unwrap_or_default(),
        inputs: pairs("--input", &arguments.inputs)?.into_iter().collect(),
        vars: pairs("--set", &arguments.vars)?.into_iter().map(|(name, it)| (name, it.into())).collect(),
        verb: None,
    };
    begin_and_drive(&arguments.workflow, &begin, &arguments.answers, !arguments.unattended, arguments.json)
}

/// Begins a run and drives it as far as it goes.
pub(super) fn begin_and_drive(
    workflow: &str,
    begin: &Begin,
    answers: &[String],
    may_ask: bool,
    json: bool,
) -> Result<ExitCode, CommandError> {
    let found = find::find(workflow)?;
    let engine = progress::engine(json, answers, may_ask)?;
    let cancel = session::cancel_on_interrupt();
    let driver = engine.begin(&found.folder, begin, &cancel).map_err(session::told)?;
    let name = driver.name().to_owned();
    if background::is_here() {
        background::let_go(&engine.home, &name)?;
    }
    if !json {
        show::error_line(&format!("{name}: {} {}", found.name(), begin.subject));
    }
    let standing = driver.drive().map_err(session::told)?;
    progress::stands(&engine, &name, &standing, json)
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
