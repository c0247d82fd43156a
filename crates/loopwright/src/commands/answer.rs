//! `loopwright answer`

use std::process::ExitCode;

use loopwright_core::machine::{Want, due};
use loopwright_engine::{Answered, Message};

use super::run::pairs;
use crate::error::CommandError;
use crate::{progress, session};

/// Answer what a run asks, and goes on with it
#[derive(clap::Args, Debug)]
pub(crate) struct AnswerArgs {
    /// The run, or the beginning of its name
    run: String,
    /// The answer
    answer: String,
    /// In your own words
    #[arg(long, default_value = "")]
    note: String,
    /// What comes with the answer
    #[arg(long = "field", value_name = "NAME=VALUE")]
    fields: Vec<String>,
    /// One event a line, as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn cmd_answer(arguments: &AnswerArgs) -> Result<ExitCode, CommandError> {
    let engine = progress::engine_of_runs(arguments.json, &[], true)?;
    let name = session::find_run(&engine, &arguments.run)?.run.name;
    let waiting = session::who_waits(&engine, &name)?;
    let (definition, run) = engine.read(&waiting).map_err(session::told)?;
    let effects = due(&definition.workflow, &run);
    let asked = effects.iter().find_map(|it| match &it.want {
        Want::Ask { question } => definition.workflow.questions.get(&**question),
        _ => None,
    });
    let Some(question) = asked else {
        return Err(CommandError::user(format!("the run `{name}` asks nothing"))
            .hinted(format!("`loopwright show {name}` says where it stands")));
    };
    let fields = pairs("--field", &arguments.fields)?;
    let answered = Answered {
        answer: arguments.answer.as_str().into(),
        fields: fields.into_iter().map(|(name, it)| (name, it.into())).collect(),
        note: arguments.note.clone(),
    };
    loopwright_engine::fits(question, &answered).map_err(CommandError::user)?;
    session::leave(&engine, &waiting, &Message::Answer(answered))?;
    let standing = engine.drive(&name, &session::cancel_on_interrupt()).map_err(session::told)?;
    progress::stands(&engine, &name, &standing, arguments.json)
}
