//! `loopwright WORKFLOW VERB [SUBJECT]`: a workflow's own verbs.

mod elsewhere;
mod said;

use std::process::ExitCode;

use clap::CommandFactory as _;
use loopwright_core::definition::{Kind, VerbElse, Workflow};
use loopwright_core::language::{Folder, load};
use loopwright_core::machine::{Run, RunView};
use loopwright_core::name::Name;
use loopwright_core::problem::{Stage, did_you_mean};
use loopwright_engine::journal::NewRun;
use loopwright_engine::process::Cancel;
use loopwright_engine::{Begin, Definition, Engine, Message};

pub(crate) use self::said::subject_of;
use self::said::{Said, said};
use super::run::begin_and_drive;
use crate::error::{self, CommandError};
use crate::progress::{self, MannerArgs};
use crate::session::RESUME;
use crate::tools::{self, Around};
use crate::{background, find, live, session, show};

pub(crate) fn cmd_verb(words: &[String]) -> Result<ExitCode, CommandError> {
    let Some((workflow, rest)) = words.split_first() else {
        return Err(CommandError::user("say what to do"));
    };
    stand_in(rest)?;
    let found = find::find(workflow).map_err(|_| unknown(workflow))?;
    let loaded = load(&found.folder);
    let Some(definition) =
        loaded.workflow.filter(|_| loaded.problems.iter().all(|it| it.stage != Stage::Load))
    else {
        return Err(CommandError::user(format!("`{workflow}` does not load"))
            .hinted(format!("`loopwright check {workflow}` says why")));
    };
    let around = Around { name: workflow, workflow: &definition, folder: &found.folder };
    if let Some(done) = tools::tool(&around, rest) {
        return done;
    }
    if let Some(done) = elsewhere::said(&around, rest) {
        return done;
    }
    let said = said(&definition, rest)?;
    if said.detach && !background::is_here() {
        return background::start(said.manner.json);
    }
    if said.begins_anew {
        return begin_and_drive(workflow, &said.begin(), &said.manner);
    }
    let engine = progress::engine_of_runs(&said.manner)?;
    if let Some(name) = live(&engine, &definition, said.subject.as_deref())? {
        said.chooses_nothing(&name)?;
        return to_run(&engine, &name, &said);
    }
    if let Some((engine, name)) = take_over(&found.folder, &said)? {
        return to_run(&engine, &name, &said);
    }
    if let Some(answer) = of_ended(&engine, &definition, &said)? {
        return answer;
    }
    if begins(&definition, &said.verb) {
        return begin_and_drive(workflow, &said.begin(), &said.manner);
    }
    let unheard = said.subject.as_ref().and_then(|it| tools::unheard(&definition, &said.verb, it));
    Err(unheard.unwrap_or_else(|| nobody_hears(workflow, &definition, &said)))
}

/// Begins a run of a workflow that is about the whole project, or goes on with the one there is.
pub(crate) fn drive(around: &Around<'_>, manner: &MannerArgs) -> Result<ExitCode, CommandError> {
    if manner.detach && !background::is_here() {
        return background::start(manner.json);
    }
    let manner = manner.manner();
    let engine = progress::engine_of_runs(&manner)?;
    match live(&engine, around.workflow, None)? {
        Some(name) => to_run(&engine, &name, &Said { verb: RESUME.into(), manner, ..Said::default() }),
        None => begin_and_drive(around.name, &Begin::default(), &manner),
    }
}

/// Goes to the project that `--repo-root` names, wherever it stands.
fn stand_in(words: &[String]) -> Result<(), CommandError> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let folder = match word.strip_prefix("--repo-root") {
            Some("") => words.next().map(String::as_str),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        if let Some(folder) = folder {
            std::env::set_current_dir(folder)
                .map_err(|it| CommandError::user(format!("`{folder}` is no folder to work in: {it}")))?;
        }
    }
    Ok(())
}

/// Why a verb has nobody who hears it, and what begins something that would.
fn nobody_hears(name: &str, workflow: &Workflow, said: &Said) -> CommandError {
    let verb = &said.verb;
    let subject = said.subject.clone().unwrap_or_else(|| workflow.subject.name.to_string());
    let about = said.subject.as_ref().map(|it| format!(" about `{it}`")).unwrap_or_default();
    let error = CommandError::user(format!("there is no run of `{name}`{about} that waits for `{verb}`"));
    match workflow.main.start.iter().find_map(|it| it.verb.as_ref()) {
        Some(first) => error.hinted(format!("`loopwright {name} {first} {subject}` begins one")),
        None => error.hinted(format!("`loopwright run {name} {subject}` begins one")),
    }
}

/// Takes over what documents say of a subject that no run was ever about: in a fresh clone they are all there is.
fn take_over(folder: &Folder, said: &Said) -> Result<Option<(Engine, String)>, CommandError> {
    let Some(subject) = &said.subject else { return Ok(None) };
    let engine = progress::engine(&said.manner)?;
    // One that somebody stopped left its documents where they were.
    if let Some(last) = last_of(&engine, &folder.name, subject)?
        && last.1.outcome.is_some()
    {
        return Ok(None);
    }
    let (inputs, vars) = (said.inputs.clone(), said.vars.clone());
    let begin = Begin { subject: subject.clone(), inputs, vars, ..Begin::default() };
    let Some(begin) = engine.found(folder, &begin).map_err(session::told)? else { return Ok(None) };
    let driver = engine.begin(folder, &begin, &Cancel::default()).map_err(session::told)?;
    let name = driver.name().to_owned();
    driver.put_down().map_err(session::told)?;
    if !said.manner.json {
        let phase = begin.phase.unwrap_or_default();
        show::error_line(&format!(
            "{name}: {} {subject}, taken over at `{phase}`, as its documents say",
            folder.name
        ));
    }
    Ok(Some((engine, name)))
}

/// The last run about a subject that is over, as it came out.
fn last_of(
    engine: &Engine,
    workflow: &str,
    subject: &str,
) -> Result<Option<(String, RunView)>, CommandError> {
    let runs = engine.journal.runs().map_err(|it| session::told(it.into()))?;
    let mut last: Option<NewRun> = None;
    for line in runs {
        let is = line.run.workflow == workflow && line.run.subject == subject && line.run.parent.is_none();
        // One that was made room for and never began is nobody's.
        let is = is && line.last > 0 && last.as_ref().is_none_or(|it| it.at <= line.run.at);
        if is && engine.is_here(&line.run.name).map_err(session::told)? {
            last = Some(line.run);
        }
    }
    let Some(last) = last else { return Ok(None) };
    let (definition, run) = engine.read(&last.name).map_err(session::told)?;
    Ok(Some((last.name, RunView::of(&definition.workflow, &run))))
}

/// What a verb says to a subject whose run came to its end, if its workflow has words for that.
fn of_ended(
    engine: &Engine,
    workflow: &Workflow,
    said: &Said,
) -> Result<Option<Result<ExitCode, CommandError>>, CommandError> {
    let Some(subject) = &said.subject else { return Ok(None) };
    let Some((name, view)) = last_of(engine, &workflow.name, subject)? else { return Ok(None) };
    let has_words = workflow.verbs.get(&*said.verb).is_some_and(|it| it.otherwise.is_some());
    if view.outcome.is_none() || view.phase.is_none() || !has_words {
        return Ok(None);
    }
    let (definition, run) = engine.read(&name).map_err(session::told)?;
    Ok(Some(turned_down(engine, &name, (&definition, &run), said)))
}

fn unknown(word: &str) -> CommandError {
    let commands = crate::Arguments::command();
    let commands = commands.get_subcommands().map(clap::Command::get_name);
    let all = find::all();
    let known = commands.chain(all.iter().map(String::as_str));
    CommandError::user(format!("there is no command and no workflow `{word}`"))
        .maybe_hinted(did_you_mean(word, known))
}

fn begins(workflow: &Workflow, verb: &Name) -> bool {
    workflow.main.start.iter().any(|it| it.verb.as_ref() == Some(verb))
}

/// The run of a workflow that is meant: the one about the subject, or the only one there is.
fn live(engine: &Engine, workflow: &Workflow, subject: Option<&str>) -> Result<Option<String>, CommandError> {
    let found = open_runs(engine, &workflow.name, subject)?;
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.name.clone())),
        [one, other, ..] => Err(CommandError::user(format!(
            "several runs of `{}` are open: {} and {}",
            workflow.name,
            told(one),
            told(other)
        ))
        .hinted(format!(
            "`loopwright resume {}` or `loopwright resume {}` goes on with one, `loopwright stop RUN` ends one; after a verb, say its name",
            one.name, other.name
        ))),
    }
}

/// A run, and what it is about if it is not about the whole project.
fn told(run: &NewRun) -> String {
    if run.subject.is_empty() {
        return format!("`{}`", run.name);
    }
    format!("`{}` about `{}`", run.name, run.subject)
}

/// The runs of a workflow that are open here, about a subject if one is said. Runs that were begun in another worktree are
/// others' work, unless one is named.
pub(super) fn open_runs(
    engine: &Engine,
    workflow: &str,
    subject: Option<&str>,
) -> Result<Vec<NewRun>, CommandError> {
    let runs = engine.journal.runs().map_err(|it| session::told(it.into()))?;
    let mut found = Vec::new();
    // One that never began is nobody's.
    for line in runs.into_iter().filter(|it| it.last > 0) {
        let named = subject == Some(line.run.name.as_str());
        let is = line.run.parent.is_none()
            && line.run.workflow == workflow
            && (named || subject.is_none_or(|it| it == line.run.subject));
        let is = is && (named || engine.is_here(&line.run.name).map_err(session::told)?);
        if is && !engine.read(&line.run.name).map_err(session::told)?.1.is_over() {
            found.push(line.run);
        }
    }
    Ok(found)
}

/// Says a verb to a run, and goes on with it.
fn to_run(engine: &Engine, name: &str, said: &Said) -> Result<ExitCode, CommandError> {
    let waiting = session::who_waits(engine, name)?;
    let (definition, run) = engine.read(&waiting).map_err(session::told)?;
    let view = RunView::of(&definition.workflow, &run);
    let asks = run
        .state(&definition.workflow)
        .is_some_and(|it| it.cells.contains_key(&*format!("verb {}", said.verb)));
    let takes_up = *said.verb == *RESUME && !view.verbs.contains(&said.verb);
    let phase = engine.phase_now(&waiting, (&definition, &run)).map_err(session::told)?;
    let lands = phase.as_ref().and_then(|it| hears_at(&definition.workflow, it, &said.verb));
    let hears = if phase == run.phase {
        view.verbs.contains(&said.verb) || asks
    } else {
        // Somebody edited it: the run follows before it hears anything.
        lands == Some(true)
    };
    // One that was left in the middle goes on by the verb that would have brought it there.
    let is_left = view.verbs.is_empty() && !asks && phase == run.phase && !waits(&definition.workflow, &run);
    let goes_on = is_left && lands == Some(true);
    if !takes_up && !hears && !goes_on {
        let edited = Run { phase, ..run.clone() };
        return turned_down(engine, &waiting, (&definition, &edited), said);
    }
    let takes_up = takes_up || goes_on;
    live::paid(&engine.account(name, &definition).map_err(session::told)?.cost);
    if !takes_up {
        let message = Message::Say { verb: said.verb.clone(), inputs: said.inputs.clone() };
        session::leave(engine, &waiting, &message)?;
    }
    let cancel = session::cancel_on_interrupt();
    let driver = engine.take_up(name, &cancel).map_err(session::told)?;
    if background::is_here() {
        background::let_go(&engine.home, name)?;
    }
    let standing = driver.drive().map_err(session::told)?;
    progress::stands(engine, name, &standing, said.manner.json)
}

/// What a verb is answered with where the run does not take it.
fn turned_down(
    engine: &Engine,
    name: &str,
    (definition, run): (&Definition, &Run),
    said: &Said,
) -> Result<ExitCode, CommandError> {
    let otherwise = definition.workflow.verbs.get(&*said.verb).and_then(|it| it.otherwise.as_ref());
    let filled = |text: &str| engine.filled(name, (definition, run), text).map_err(session::told);
    match otherwise {
        Some(VerbElse::Say(text)) => {
            show::out(&format!("{}\n", filled(text)?.trim()));
            Ok(ExitCode::SUCCESS)
        }
        Some(VerbElse::Error(text)) => {
            Err(CommandError::with_code(filled(text)?.trim().to_owned(), error::NOT_PROVED))
        }
        None => {
            let state = RunView::of(&definition.workflow, run).state;
            Err(CommandError::with_code(
                format!("the run `{name}` stands in `{state}`, which does not take `{}`", said.verb),
                error::NOT_PROVED,
            )
            .hinted(format!("`loopwright show {name}` says what it waits for")))
        }
    }
}

/// Whether a verb is heard where an edit to a phase lands. Nothing, if nobody can land there.
fn hears_at(workflow: &Workflow, phase: &Name, verb: &Name) -> Option<bool> {
    let at = &workflow.phases.get(&**phase)?.at;
    let state = workflow.main.states.get(&**at)?;
    Some(state.cells.contains_key(&*format!("verb {verb}")))
}

/// Whether a run stands where it waits for a person.
fn waits(workflow: &Workflow, run: &Run) -> bool {
    let kind = run.state(workflow).map(|it| &it.kind);
    matches!(kind, Some(Kind::Rest { .. } | Kind::Ask { .. } | Kind::End { .. }))
}
