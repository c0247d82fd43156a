//! `start`, `done` and `comment`: an issue goes on.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use loopwright_formats::todo::{Issue, Standing, Status, Tracker, set, with_comment};
use serde_json::json;

use super::elsewhere::elsewhere;
use super::issues::{Issues, Much, standing_in_words, turned, write};
use super::new::given;
use super::place::Place;
use super::{Answer, notes};
use crate::error::{self, CommandError};
use crate::show::counted;

/// Say that somebody is at an issue
///
/// Only what can be done now is begun; nobody else begins it, in whatever worktree.
#[derive(clap::Args, Debug)]
pub(super) struct StartArgs {
    /// The issue
    id: String,
    /// Also what waits for others, is taken elsewhere, or is done
    #[arg(long)]
    force: bool,
    /// Nobody is at it after all: it is to be done again
    #[arg(long, conflicts_with = "force")]
    undo: bool,
}

pub(super) fn cmd_start(
    place: &Place,
    arguments: &StartArgs,
    answer: Answer,
) -> Result<ExitCode, CommandError> {
    let held = place.hold()?;
    let issues = Issues::read(place, Much::Heads)?;
    let issue = issues.meant(place, &arguments.id)?;
    let (file, text) = issues.text_of(place, issue)?;
    clear(place, file, issue)?;
    let (id, status) = (issue.id.as_str(), issue.status);
    let wanted = if arguments.undo { Status::Todo } else { Status::InProgress };
    // Whoever begins what is begun already is not the only one, unless they say that they know.
    if status == wanted && (arguments.undo || arguments.force) {
        return Ok(already(place, issue, file, answer));
    }
    let refuse = |why: String, hint: &str| {
        let refused = CommandError::with_code(format!("{id} {why}"), error::NOT_PROVED);
        Err(refused.hinted(hint))
    };
    if arguments.undo && status == Status::Done {
        return refuse("is done".to_owned(), "`--force` without `--undo` begins it anew");
    }
    if !arguments.undo && !arguments.force {
        let taken = elsewhere(place, &issues, &[id])?;
        match issues.tracker.standing(id, |it| taken.get(it).cloned()) {
            Some(Standing::Ready) | None => {}
            Some(other) => {
                return refuse(
                    standing_in_words(&other),
                    "`loopwright todo ready` says what can be done now; `--force` begins it all the same",
                );
            }
        }
    }
    go_on(place, &held, &issues, issue, (file, text), wanted, &[], answer)
}

/// Say that an issue is done
#[derive(clap::Args, Debug)]
pub(super) struct DoneArgs {
    /// The issue
    id: String,
    /// Tick all its criteria
    #[arg(long)]
    tick: bool,
    /// Also with criteria that are not ticked, parts that are not done, or others that have to be done before
    #[arg(long)]
    force: bool,
}

pub(super) fn cmd_done(
    place: &Place,
    arguments: &DoneArgs,
    answer: Answer,
) -> Result<ExitCode, CommandError> {
    let held = place.hold()?;
    let issues = Issues::read(place, Much::Heads)?;
    let head = issues.meant(place, &arguments.id)?;
    let (file, text) = issues.text_of(place, head)?;
    clear(place, file, head)?;
    let issue = Issue::read(file.strip_suffix(".md").unwrap_or(file), text);
    let open: Vec<String> = issue.criteria.iter().filter(|it| !it.checked).map(|it| it.id.clone()).collect();
    if head.status == Status::Done && (open.is_empty() || !arguments.tick) {
        return Ok(already(place, head, file, answer));
    }
    let mut said = Vec::new();
    if !open.is_empty() && !arguments.tick {
        let first = issue.criteria.iter().find(|it| !it.checked).map_or(1, |it| it.line);
        let are = if open.len() == 1 { "is" } else { "are" };
        let criteria = if open.len() == 1 { "criterion" } else { "criteria" };
        said.push((
            format!("{} {criteria} {are} not ticked ({}:{first})", open.len(), place.shown(file)),
            Some("tick what is met in the file, or all of them with `--tick`"),
        ));
    }
    let parts = issues.tracker.children(&head.id).filter(|it| it.status != Status::Done);
    let parts: Vec<&str> = parts.map(|it| it.id.as_str()).collect();
    if !parts.is_empty() {
        said.push((format!("parts of it are not done: {}", parts.join(", ")), None));
    }
    let needs = issues.tracker.waits_for(head);
    if !needs.is_empty() {
        said.push((format!("it depends on what is not done: {}", needs.join(", ")), None));
    }
    if !said.is_empty() && !arguments.force {
        let why: Vec<&str> = said.iter().map(|it| it.0.as_str()).collect();
        let mut refused = CommandError::with_code(
            format!("{} is not done: {}", head.id, why.join("; ")),
            error::NOT_PROVED,
        );
        for hint in said.iter().filter_map(|it| it.1) {
            refused = refused.hinted(hint);
        }
        return Err(refused.hinted("`--force` says so all the same"));
    }
    let ticks = if arguments.tick { open } else { Vec::new() };
    go_on(place, &held, &issues, head, (file, text), Status::Done, &ticks, answer)
}

/// Sets the status of an issue, and what shows it.
#[expect(clippy::too_many_arguments, reason = "each is what one of the verbs knows")]
fn go_on(
    place: &Place,
    held: &super::place::Held,
    issues: &Issues,
    issue: &Issue,
    (file, text): (&str, &str),
    status: Status,
    ticks: &[String],
    answer: Answer,
) -> Result<ExitCode, CommandError> {
    let stem = file.strip_suffix(".md").unwrap_or(file);
    let refused = |it: loopwright_formats::todo::Problem| {
        let told = format!("{}:{}: {}", place.shown(file), it.line, it.message);
        CommandError::with_code(told, error::NOT_PROVED).hinted("change it in the file")
    };
    let ticked = if ticks.is_empty() {
        text.to_owned()
    } else {
        set(stem, text, "checked", &json!(ticks)).map_err(refused)?
    };
    let after = set(stem, &ticked, "status", &json!(status)).map_err(refused)?;
    let changed = write(place, held, &turned(issues, issue, (file, text), after))?;
    let freed = if status == Status::Done { freed(&issues.tracker, issue) } else { Vec::new() };
    answer.give(
        || {
            json!({
                "id": issue.id, "status": status, "was": issue.status,
                "file": place.shown(file), "changed": changed, "waited_for_it": freed,
            })
        },
        || {
            let ticked = match ticks.len() {
                0 => String::new(),
                1 => ", 1 criterion ticked".to_owned(),
                more => format!(", {more} criteria ticked"),
            };
            format!("{}: {} -> {}{ticked}\n", issue.id, issue.status.as_str(), status.as_str())
        },
    );
    if !freed.is_empty() && !answer.json {
        notes(&[format!("nothing else keeps {} back", freed.join(", "))]);
    }
    Ok(ExitCode::SUCCESS)
}

/// What waited for an issue that is done now, and for nothing else: what depends on it, and what it was the last part of.
fn freed(tracker: &Tracker, done: &Issue) -> Vec<String> {
    let is_free = |it: &Issue| {
        let depends = it.depends_on.contains(&done.id);
        let is_whole = done.parent.as_ref() == Some(&it.id);
        let waits = tracker.waits_for(it).iter().any(|it| *it != done.id);
        let parts = tracker.children(&it.id).any(|it| it.status != Status::Done && it.id != done.id);
        it.status == Status::Todo && (depends || is_whole) && !waits && !parts
    };
    tracker.all().filter(|(_, it)| is_free(it)).map(|(_, it)| it.id.clone()).collect()
}

/// Add a comment to an issue
#[derive(clap::Args, Debug)]
pub(super) struct CommentArgs {
    /// The issue
    id: String,
    /// What is said; left out or `-`, it is read from the standard input
    #[arg(allow_hyphen_values = true)]
    text: Option<String>,
}

pub(super) fn cmd_comment(
    place: &Place,
    arguments: &CommentArgs,
    answer: Answer,
) -> Result<ExitCode, CommandError> {
    let text = arguments.text.as_deref();
    if text.is_none() && std::io::stdin().is_terminal() {
        return Err(CommandError::user("say something: `loopwright todo comment ID \"...\"`")
            .hinted("`-` reads it from here, up to Ctrl-D"));
    }
    let said = given(text.or(Some("-")))?.unwrap_or_default();
    let held = place.hold()?;
    let issues = Issues::read(place, Much::Heads)?;
    let issue = issues.meant(place, &arguments.id)?;
    let (file, before) = issues.text_of(place, issue)?;
    let after = with_comment(before, &said)
        .map_err(|why| CommandError::user(format!("{}: {why}", place.shown(file))))?;
    let number = Issue::read(&issue.id, &after).comments.len();
    let changed = write(place, &held, &turned(&issues, issue, (file, before), after))?;
    answer.give(
        || json!({"id": issue.id, "comments": number, "file": place.shown(file), "changed": changed}),
        || format!("{}: {}\n", issue.id, counted(number, "comment")),
    );
    Ok(ExitCode::SUCCESS)
}

/// An issue that is so already.
fn already(place: &Place, issue: &Issue, file: &str, answer: Answer) -> ExitCode {
    answer.give(
        || json!({"id": issue.id, "status": issue.status, "was": issue.status, "file": place.shown(file), "changed": []}),
        || format!("{}: {} already\n", issue.id, issue.status.as_str()),
    );
    ExitCode::SUCCESS
}

/// Nobody goes on with an issue of which nobody knows how far it is.
fn clear(place: &Place, file: &str, issue: &Issue) -> Result<(), CommandError> {
    let Some(problem) = issue.problems.first() else { return Ok(()) };
    let told = format!("{}:{}: {}", place.shown(file), problem.line, problem.message);
    Err(CommandError::with_code(told, error::NOT_PROVED).hinted("put it right in the file first"))
}
