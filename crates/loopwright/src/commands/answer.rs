//! `loopwright answer`

use std::process::ExitCode;

use loopwright_core::machine::{Want, due};
use loopwright_engine::{Answered, Message};

use super::run::pairs;
use crate::error::CommandError;
use crate::progress::{self, Manner, Unattended};
use crate::{live, session};

/// Answer what a run asks, and go on with it
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
    /// Ask nothing at the terminal; what becomes of further questions
    #[arg(long, value_name = "POLICY")]
    unattended: Option<Unattended>,
    /// One event a line, as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn cmd_answer(arguments: &AnswerArgs) -> Result<ExitCode, CommandError> {
    let manner = Manner { unattended: arguments.unattended, ..Manner::plain(arguments.json) };
    let engine = progress::engine_of_runs(&manner)?;
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
    live::paid(&engine.account(&name, &definition).map_err(session::told)?.cost);
    session::leave(&engine, &waiting, &Message::Answer(answered))?;
    let standing = engine.drive(&name, &session::cancel_on_interrupt()).map_err(session::told)?;
    progress::stands(&engine, &name, &standing, arguments.json)
}
