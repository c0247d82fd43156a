//! `loopwright WORKFLOW VERB [SUBJECT]`: a workflow's own verbs.

use std::process::ExitCode;

use clap::CommandFactory as _;
use indexmap::IndexMap;
use loopwright_core::definition::{VerbElse, Workflow};
use loopwright_core::language::load;
use loopwright_core::machine::RunView;
use loopwright_core::name::Name;
use loopwright_core::problem::{Stage, did_you_mean};
use loopwright_engine::{Begin, Engine, Message};

use super::run::{begin_and_drive, pairs};
use crate::error::{self, CommandError};
use crate::progress::{self, Manner};
use crate::{find, live, session, show};

/// What somebody typed after the workflow's name.
struct Said {
    verb: Name,
    subject: Option<String>,
    inputs: IndexMap<Name, String>,
    json: bool,
}

pub(crate) fn cmd_verb(words: &[String]) -> Result<ExitCode, CommandError> {
    let Some((workflow, rest)) = words.split_first() else {
        return Err(CommandError::user("say what to do"));
    };
    let found = find::find(workflow).map_err(|_| unknown(workflow))?;
    let loaded = load(&found.folder);
    let Some(definition) =
        loaded.workflow.filter(|_| loaded.problems.iter().all(|it| it.stage != Stage::Load))
    else {
        return Err(CommandError::user(format!("`{workflow}` does not load"))
            .hinted(format!("`loopwright check {workflow}` says why")));
    };
    let said = said(&definition, rest)?;
    let engine = progress::engine_of_runs(&Manner::plain(said.json))?;
    match live(&engine, &definition, said.subject.as_deref())? {
        Some(name) => to_run(&engine, &name, &said),
        None if begins(&definition, &said.verb) => {
            let begin = Begin {
                subject: said.subject.clone().unwrap_or_default(),
                inputs: said.inputs.clone(),
                vars: IndexMap::new(),
                verb: Some(said.verb.clone()),
            };
            begin_and_drive(workflow, &begin, &Manner::plain(said.json))
        }
        None => {
            Err(CommandError::user(format!("there is no run of `{workflow}` that waits for `{}`", said.verb))
                .hinted(format!("`loopwright run {workflow} {}` begins one", definition.subject.name)))
        }
    }
}

fn unknown(word: &str) -> CommandError {
    let commands = crate::Arguments::command();
    let commands = commands.get_subcommands().map(clap::Command::get_name);
    let all = find::all();
    let known = commands.chain(all.iter().map(String::as_str));
    CommandError::user(format!("there is no command and no workflow `{word}`"))
        .maybe_hinted(did_you_mean(word, known))
}

fn said(workflow: &Workflow, words: &[String]) -> Result<Said, CommandError> {
    let mut given = Vec::new();
    let mut plain = Vec::new();
    let mut json = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => json = true,
            "--input" => given.extend(words.next().cloned()),
            option if option.starts_with("--") => {
                return Err(CommandError::user(format!("there is no option `{option}` here"))
                    .hinted("there is `--input NAME=VALUE` and `--json`"));
            }
            _ => plain.push(word.clone()),
        }
    }
    let Some(verb) = plain.first() else {
        let verbs: Vec<&str> = workflow.verbs.keys().map(|it| &**it).collect();
        return Err(CommandError::user(format!("`{}` is a workflow: say what to do with it", workflow.name))
            .hinted(format!(
                "it knows {}; `loopwright run {}` begins a run",
                verbs.join(", "),
                workflow.name
            )));
    };
    if !workflow.verbs.contains_key(verb.as_str()) {
        return Err(CommandError::user(format!("`{}` knows no verb `{verb}`", workflow.name))
            .maybe_hinted(did_you_mean(verb, workflow.verbs.keys().map(|it| &**it))));
    }
    Ok(Said {
        verb: verb.as_str().into(),
        subject: plain.get(1).cloned(),
        inputs: pairs("--input", &given)?,
        json,
    })
}

fn begins(workflow: &Workflow, verb: &Name) -> bool {
    workflow.main.start.iter().any(|it| it.verb.as_ref() == Some(verb))
}

/// The run of a workflow that is meant: the one about the subject, or the only one there is.
fn live(engine: &Engine, workflow: &Workflow, subject: Option<&str>) -> Result<Option<String>, CommandError> {
    let runs = engine.journal.runs().map_err(|it| session::told(it.into()))?;
    let mut found = Vec::new();
    for line in runs {
        let is = line.run.parent.is_none()
            && line.run.workflow == *workflow.name
            && subject.is_none_or(|it| it == line.run.subject || it == line.run.name);
        if is && !engine.read(&line.run.name).map_err(session::told)?.1.is_over() {
            found.push(line.run);
        }
    }
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.name.clone())),
        [one, other, ..] => Err(CommandError::user(format!(
            "several runs of `{}` are open: `{}` about `{}`, `{}` about `{}`",
            workflow.name, one.name, one.subject, other.name, other.subject
        ))
        .hinted("say which one after the verb, by its name")),
    }
}

/// Says a verb to a run, and goes on with it.
fn to_run(engine: &Engine, name: &str, said: &Said) -> Result<ExitCode, CommandError> {
    let waiting = session::who_waits(engine, name)?;
    let (definition, run) = engine.read(&waiting).map_err(session::told)?;
    let view = RunView::of(&definition.workflow, &run);
    let asks = run
        .state(&definition.workflow)
        .is_some_and(|it| it.cells.contains_key(&*format!("verb {}", said.verb)));
    if !view.verbs.contains(&said.verb) && !asks {
        let otherwise = definition.workflow.verbs.get(&*said.verb).and_then(|it| it.otherwise.as_ref());
        let filled = |text: &str| engine.filled(&waiting, (&definition, &run), text).map_err(session::told);
        return match otherwise {
            Some(VerbElse::Say(text)) => {
                show::out(&format!("{}\n", filled(text)?));
                Ok(ExitCode::SUCCESS)
            }
            Some(VerbElse::Error(text)) => Err(CommandError::with_code(filled(text)?, error::NOT_PROVED)),
            None => Err(CommandError::with_code(
                format!("the run `{name}` stands in `{}`, which does not take `{}`", view.state, said.verb),
                error::NOT_PROVED,
            )
            .hinted(format!("`loopwright show {name}` says what it waits for"))),
        };
    }
    live::paid(&engine.account(name, &definition).map_err(session::told)?.cost);
    session::leave(engine, &waiting, &Message::Say { verb: said.verb.clone(), inputs: said.inputs.clone() })?;
    let standing = engine.drive(name, &session::cancel_on_interrupt()).map_err(session::told)?;
    progress::stands(engine, name, &standing, said.json)
}
