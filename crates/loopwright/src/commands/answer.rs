//! `loopwright answer`

use std::process::ExitCode;

use loopwright_core::machine::{Want, due};
use loopwright_engine::{Answered, Message};

use super::run::pairs;
use crate::error::{self, CommandError};
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
    /// The finding the answer is about, or the beginning of its id, where several are asked about
    #[arg(long, value_name = "FINDING")]
    finding: Option<String>,
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
    let asked: Vec<_> = effects
        .iter()
        .filter_map(|it| match &it.want {
            Want::Ask { question, finding } => {
                Some((definition.workflow.questions.get(&**question)?, finding.as_deref()))
            }
            _ => None,
        })
        .collect();
    let Some((question, _)) = asked.first() else {
        return Err(CommandError::user(format!("the run `{name}` asks nothing"))
            .hinted(format!("`loopwright show {name}` says where it stands")));
    };
    let open: Vec<&str> = asked.iter().filter_map(|it| it.1).collect();
    let finding = meant(&name, &open, arguments.finding.as_deref())?;
    let fields = pairs("--field", &arguments.fields)?;
    let answered = Answered {
        answer: arguments.answer.as_str().into(),
        fields: fields.into_iter().map(|(name, it)| (name, it.into())).collect(),
        note: arguments.note.clone(),
        finding,
    };
    loopwright_engine::fits(question, &answered).map_err(CommandError::user)?;
    // Whoever is asked at a terminal answers there: an answer that lay in wait would come between.
    if let Some(holder) = engine.driven_by(&name).map_err(session::told)? {
        let held =
            CommandError::with_code(format!("`{name}` is asked about where {holder} drives it"), error::HELD);
        return Err(held.hinted("answer there, or leave it there first; nothing was kept of this answer"));
    }
    live::paid(&engine.account(&name, &definition).map_err(session::told)?.cost);
    session::leave(&engine, &waiting, &Message::Answer(answered))?;
    let standing = engine.drive(&name, &session::cancel_on_interrupt()).map_err(session::told)?;
    progress::stands(&engine, &name, &standing, arguments.json)
}

/// The finding somebody means, among those that are asked about.
fn meant(name: &str, open: &[&str], wanted: Option<&str>) -> Result<Option<String>, CommandError> {
    let hint = format!("`loopwright show {name}` says what each is about");
    let which = |why: String| CommandError::user(format!("{why}: {}", open.join(", "))).hinted(hint.clone());
    let Some(wanted) = wanted else {
        return match open {
            [] => Ok(None),
            [one] => Ok(Some((*one).to_owned())),
            _ => Err(which("say with `--finding` which of these is meant".to_owned())),
        };
    };
    if open.is_empty() {
        return Err(CommandError::user(format!("the run `{name}` asks about no finding")));
    }
    match open.iter().filter(|it| it.starts_with(wanted)).collect::<Vec<_>>().as_slice() {
        [one] => Ok(Some((**one).to_owned())),
        [] => Err(which(format!("nothing is asked about `{wanted}`; open are"))),
        several => Err(crate::session::ambiguous(wanted, several.iter().map(|it| **it))),
    }
}
