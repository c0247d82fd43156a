//! `new`: an issue under a number that nobody has.

use std::collections::HashMap;
use std::io::{IsTerminal as _, Read as _};
use std::process::ExitCode;

use loopwright_engine::Numbers;
use loopwright_formats::todo::{
    Draft, Issue, README, Status, conflict_line, parts_of, with_entry, with_sub_issue,
};
use serde_json::json;

use super::issues::{Issues, Much, write};
use super::place::{Change, Held, Place};
use super::{Answer, notes};
use crate::error::CommandError;
use crate::session;

/// What ids begin with where no issue says otherwise.
const PREFIX: &str = "TODO";

/// File an issue
#[derive(clap::Args, Debug)]
pub(super) struct NewArgs {
    /// What it is, in a few words
    title: String,
    /// What it is about; `-` reads it from the standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    text: Option<String>,
    /// When it is done: an acceptance criterion; may be said several times
    #[arg(long, value_name = "TEXT")]
    criterion: Vec<String>,
    /// What kind of issue it is; may be said several times
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    label: Vec<String>,
    /// The issue it is part of
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// An issue that has to be done before; may be said several times
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    depends_on: Vec<String>,
    /// The heading of README.md to list it below
    #[arg(long, value_name = "HEADING")]
    category: Option<String>,
    /// What its id begins with; otherwise what its parent's or most ids begin with
    #[arg(long, value_name = "LETTERS")]
    prefix: Option<String>,
}

pub(super) fn cmd_new(place: &Place, arguments: &NewArgs, answer: Answer) -> Result<ExitCode, CommandError> {
    let title = arguments.title.split_whitespace().collect::<Vec<_>>().join(" ");
    if title.is_empty() {
        return Err(CommandError::user("an issue has a title").hinted("`loopwright todo new \"Print it\"`"));
    }
    if arguments.category.as_ref().is_some_and(|it| it.trim().is_empty() || it.contains(['\n', '\r'])) {
        return Err(CommandError::user("a category is one line that says something"));
    }
    let text = given(arguments.text.as_deref())?.unwrap_or_default();
    let held = place.hold()?;
    let issues = Issues::read(place, Much::Heads)?;
    let parent = arguments.parent.as_ref().map(|it| issues.meant(place, it)).transpose()?;
    let mut depends_on: Vec<String> = Vec::new();
    for id in arguments.depends_on.iter().filter(|it| !it.trim().is_empty()) {
        let id = &issues.meant(place, id)?.id;
        if !depends_on.contains(id) {
            depends_on.push(id.clone());
        }
    }
    if let Some(whole) = parent.and_then(|it| whole_among(&issues, it, &depends_on)) {
        let why = format!("it would depend on `{whole}`, which it is part of: that is done last");
        return Err(CommandError::user(why).hinted("leave out `--parent` or `--depends-on`"));
    }
    let prefix = prefix(arguments.prefix.as_deref(), parent, &issues)?;
    let id = number(place, &held, &prefix, &|id| issues.tracker.get(id).is_some())?;
    let draft = Draft {
        id: id.clone(),
        title: title.clone(),
        status: Status::Todo,
        labels: arguments.label.iter().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect(),
        parent: parent.map(|it| it.id.clone()),
        depends_on: depends_on.clone(),
        text,
        criteria: arguments.criterion.iter().filter(|it| !it.trim().is_empty()).cloned().collect(),
    };
    let text = draft.render().map_err(CommandError::user)?;
    let like = issues.files.readme.as_ref().or(issues.files.files.first().map(|it| &it.1));
    let text = if like.is_some_and(|it| it.contains("\r\n")) { with_crlf(&text) } else { text };
    let file = format!("{id}.md");
    let mut changes = vec![Change { file: file.clone(), before: None, after: Some(text) }];
    let mut said = Vec::new();
    if let Some(parent) = parent {
        let (file, text) = issues.text_of(place, parent)?;
        let after = with_sub_issue(text, (&id, &title), Status::Todo, &depends_on);
        changes.extend(Change::of(file, text, after));
        if parent.status == Status::Done {
            said.push(format!("{} is Done, and has a part now that is not", parent.id));
        }
    }
    if parent.is_none() || arguments.category.is_some() {
        changes.extend(listed(place, &issues, arguments.category.as_deref(), (&id, &title), &mut said));
    }
    let changed = write(place, &held, &changes)?;
    answer.give(
        || json!({"id": id, "title": title, "file": place.shown(&file), "changed": changed}),
        || format!("{id}  {}\n", place.shown(&file)),
    );
    notes(&said);
    Ok(ExitCode::SUCCESS)
}

/// The list with one more issue. One that cannot be changed is said, and stops nothing: `check` finds what it lacks.
fn listed(
    place: &Place,
    issues: &Issues,
    category: Option<&str>,
    entry: (&str, &str),
    said: &mut Vec<String>,
) -> Option<Change> {
    let before = issues.files.readme.clone();
    let torn = before.as_deref().and_then(conflict_line).map(|it| (it, "a merge left this undecided"));
    let unread = issues.files.unread.iter().find(|it| it.file == README);
    if let Some((line, why)) = torn.or(unread.map(|it| (it.line, it.message.as_str()))) {
        said.push(format!("{}:{line}: {why}; `{}` is not in it", place.shown(README), entry.0));
        return None;
    }
    let after = with_entry(before.as_deref().unwrap_or_default(), category, entry, Status::Todo);
    Some(Change { file: README.to_owned(), before, after: Some(after) })
}

/// Text that was given, perhaps on the standard input.
pub(super) fn given(said: Option<&str>) -> Result<Option<String>, CommandError> {
    match said {
        Some("-") => {
            let mut stdin = std::io::stdin();
            if stdin.is_terminal() {
                crate::show::error_line("the text, and Ctrl-D at its end:");
            }
            let mut text = String::new();
            let read = stdin.read_to_string(&mut text);
            read.map_err(|it| CommandError::user(format!("the standard input cannot be read: {it}")))?;
            Ok(Some(text))
        }
        said => Ok(said.map(str::to_owned)),
    }
}

/// The first of these issues that another is part of, or that is that one.
fn whole_among(issues: &Issues, part: &Issue, ids: &[String]) -> Option<String> {
    let mut at = Some(part);
    for _ in 0..64 {
        let it = at?;
        if ids.contains(&it.id) {
            return Some(it.id.clone());
        }
        at = it.parent.as_ref().and_then(|it| issues.tracker.get(it));
    }
    None
}

/// What a new id begins with.
fn prefix(said: Option<&str>, parent: Option<&Issue>, issues: &Issues) -> Result<String, CommandError> {
    if let Some(said) = said {
        let said = said.trim_end_matches('-');
        return match parts_of(&format!("{said}-1")) {
            Some((prefix, _)) if prefix == said => Ok(said.to_owned()),
            _ => Err(CommandError::user(format!("`{said}` cannot begin an id"))
                .hinted("large letters and digits, a letter first, such as `GAL`")),
        };
    }
    if let Some((prefix, _)) = parent.and_then(|it| parts_of(&it.id)) {
        return Ok(prefix.to_owned());
    }
    let mut count: HashMap<&str, usize> = HashMap::new();
    for (prefix, _) in issues.tracker.all().filter_map(|(_, it)| parts_of(&it.id)) {
        *count.entry(prefix).or_default() += 1;
    }
    // Of two that are as many, always the same.
    let most = count.into_iter().max_by_key(|(prefix, count)| (*count, std::cmp::Reverse(*prefix)));
    Ok(most.map_or(PREFIX, |it| it.0).to_owned())
}

/// An id that nobody has: in no worktree, on no branch, and no file here.
pub(super) fn number(
    place: &Place,
    _held: &Held,
    prefix: &str,
    is_taken: &dyn Fn(&str) -> bool,
) -> Result<String, CommandError> {
    let journal = place.numbering()?;
    let numbers = Numbers { git: &place.home.git, journal: &*journal };
    let start = format!("{prefix}-");
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let mut asked = 0_u32;
    loop {
        // Each time somebody else asks: who asks again under one name is given the same number.
        let holder = format!("todo {} {} {asked}", std::process::id(), clock.as_nanos());
        let number = numbers.take(&place.within, &start, &holder).map_err(session::told)?;
        let id = format!("{start}{number}");
        // An issue may call itself otherwise than its file.
        if !is_taken(&id) {
            return Ok(id);
        }
        asked += 1;
    }
}

fn with_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}
