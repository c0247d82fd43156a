//! What can be said of the runs of any workflow after its name: `loopwright WORKFLOW status` and so on, and its documents
//! by their names.

use std::process::ExitCode;

use clap::Parser as _;
use loopwright_core::definition::{Files, Workflow};
use loopwright_core::name::Name;
use loopwright_engine::Engine;
use loopwright_engine::journal::RunLine;

use super::{last_of, live};
use crate::error::CommandError;
use crate::progress;
use crate::session::{self, RESUME};
use crate::show::out;
use crate::tools::Around;

/// Commands about a run that do not need to be told which.
const COMMANDS: [&str; 6] = ["status", "show", "log", "why", "answer", "stop"];

/// Begins a run, where the workflow has no word of its own for that.
const RUN: &str = "run";

/// Throws away what a run made, in whatever worktree that was.
const DISCARD: &str = "discard";

/// What to do with words that are no verb of the workflow's: say a command of a run of its, or show a document.
pub(super) fn said(around: &Around<'_>, words: &[String]) -> Option<Result<ExitCode, CommandError>> {
    let words = without_root(words);
    let at = words.iter().position(|it| !it.starts_with('-'))?;
    let word = words.get(at)?;
    let rest = &[words.get(..at)?, words.get(at + 1..)?].concat();
    if around.workflow.verbs.contains_key(word.as_str()) || word == RESUME {
        return None;
    }
    if COMMANDS.contains(&word.as_str()) {
        let wants_help = rest.iter().any(|it| it == "--help" || it == "-h");
        return Some(if wants_help { pass_on(word, None, rest) } else { of_a_run(around, word, rest) });
    }
    if word == RUN || word == DISCARD {
        let wants_help = rest.iter().any(|it| it == "--help" || it == "-h");
        return Some(match word.as_str() {
            _ if wants_help => pass_on(word, None, rest),
            RUN => pass_on(RUN, Some(around.name), rest),
            _ => anywhere(around, rest).and_then(|(name, rest)| pass_on(DISCARD, Some(&name), rest)),
        });
    }
    let document = papers(around.workflow).find(|it| **it == **word)?;
    Some(paper(around, document, rest))
}

/// The words without where the project is: it is gone to already.
fn without_root(words: &[String]) -> Vec<String> {
    let mut rest = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--repo-root" {
            words.next();
        } else if !word.starts_with("--repo-root=") {
            rest.push(word.clone());
        }
    }
    rest
}

/// What can be said besides verbs and tools, for the help of a workflow.
pub(super) fn about(workflow: &Workflow) -> String {
    let papers: Vec<&str> = papers(workflow).map(|it| &**it).collect();
    let papers = match papers.as_slice() {
        [] => String::new(),
        some => format!("\nIts documents, to read: {}", some.join(", ")),
    };
    format!("Of its runs, as without its name: {RUN}, {}, {DISCARD}{papers}", COMMANDS.join(", "))
}

/// Documents that are one file.
fn papers(workflow: &Workflow) -> impl Iterator<Item = &Name> {
    let is_paper = |name: &str, path: &str| {
        let of_item = path.contains("{{item") || path.contains("{{ item");
        !of_item && ![RESUME, RUN, DISCARD].contains(&name) && !COMMANDS.contains(&name)
    };
    workflow.documents.iter().filter_map(move |(name, it)| match &it.files {
        Files::One(path) if is_paper(name, path) => Some(name),
        _ => None,
    })
}

fn of_a_run(around: &Around<'_>, command: &str, words: &[String]) -> Result<ExitCode, CommandError> {
    let engine = progress::reader()?;
    let (name, rest) = meant(&engine, around, words)?;
    pass_on(command, Some(&name), rest)
}

/// Says a command as if nothing had been said about a workflow.
fn pass_on(command: &str, run: Option<&str>, rest: &[String]) -> Result<ExitCode, CommandError> {
    let words = ["loopwright", command].into_iter().chain(run).chain(rest.iter().map(String::as_str));
    let arguments = crate::Arguments::try_parse_from(words).unwrap_or_else(|error| error.exit());
    super::super::run(arguments.command)
}

/// The run that is meant, and what else was said: one that is named by what it is about, or the only one that is open, or
/// the last that was.
fn meant<'w>(
    engine: &Engine,
    around: &Around<'_>,
    words: &'w [String],
) -> Result<(String, &'w [String]), CommandError> {
    let workflow = around.workflow;
    if let Some((first, rest)) = words.split_first().filter(|(it, _)| !it.starts_with('-')) {
        let named = live(engine, workflow, Some(first))?;
        let named = match named {
            None => last_of(engine, &workflow.name, first)?.map(|(name, _)| name),
            named => named,
        };
        if let Some(name) = named {
            return Ok((name, rest));
        }
    }
    if let Some(name) = live(engine, workflow, None)? {
        return Ok((name, words));
    }
    let runs = engine.journal.runs().map_err(|it| session::told(it.into()))?;
    for line in runs {
        let is = line.run.workflow == *workflow.name && line.run.parent.is_none() && line.last > 0;
        if is && engine.is_here(&line.run.name).map_err(session::told)? {
            return Ok((line.run.name, words));
        }
    }
    Err(CommandError::user(format!("there was no run of `{}` here yet", around.name))
        .hinted(format!("`loopwright {} --help` says how to begin one", around.name)))
}

/// The last run about a subject, wherever it worked, or one that is named.
fn anywhere<'w>(around: &Around<'_>, words: &'w [String]) -> Result<(String, &'w [String]), CommandError> {
    let Some((subject, rest)) = words.split_first().filter(|(it, _)| !it.starts_with('-')) else {
        return Err(CommandError::user(format!("say what the run of `{}` was about", around.name))
            .hinted("`loopwright list` shows the runs there were"));
    };
    let engine = progress::reader()?;
    let runs = engine.journal.runs().map_err(|it| session::told(it.into()))?;
    let is_about = |it: &&RunLine| {
        let run = &it.run;
        run.workflow == *around.workflow.name
            && run.subject == *subject
            && run.parent.is_none()
            && it.last > 0
    };
    let last = runs.iter().filter(is_about).max_by_key(|it| it.run.at).map(|it| it.run.name.clone());
    Ok((last.unwrap_or_else(|| subject.clone()), rest))
}

/// Shows a document of a run.
fn paper(around: &Around<'_>, document: &Name, words: &[String]) -> Result<ExitCode, CommandError> {
    let engine = progress::reader()?;
    let (name, rest) = meant(&engine, around, words)?;
    if let Some(more) = rest.first() {
        return Err(CommandError::user(format!(
            "nobody knows what `{more}` is for: a document is read of one run of `{}`",
            around.name
        )));
    }
    let (definition, run) = engine.read(&name).map_err(session::told)?;
    let (path, text) = engine.paper(&name, (&definition, &run), document).map_err(session::told)?;
    match text {
        Some(text) => {
            out(&text);
            Ok(ExitCode::SUCCESS)
        }
        None => {
            Err(CommandError::user(format!("{path} is not there (yet): `{document}` of the run `{name}`"))
                .hinted(format!("`loopwright status {name}` says how far it is")))
        }
    }
}
