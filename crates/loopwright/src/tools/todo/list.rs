//! `list`, `ready` and `tree`: what there is, what can be done now, and what is part of what.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::process::ExitCode;

use loopwright_formats::todo::{Issue, Standing, Status};
use serde_json::{Value, json};

use super::elsewhere::elsewhere;
use super::issues::{Issues, Much, StatusWord, standing_in_words};
use super::place::Place;
use super::{Answer, notes};
use crate::error::CommandError;
use crate::show::counted;

/// List issues by category, those that are open
#[derive(clap::Args, Debug)]
pub(super) struct ListArgs {
    /// Also those that are done
    #[arg(long)]
    all: bool,
    /// Only those that are so far; may be said several times
    #[arg(long, value_name = "STATUS")]
    status: Vec<StatusWord>,
    /// Only those with this label
    #[arg(long, value_name = "LABEL")]
    label: Option<String>,
    /// Only parts of this issue
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// Only those below this heading of README.md
    #[arg(long, value_name = "HEADING")]
    category: Option<String>,
}

pub(super) fn cmd_list(
    place: &Place,
    arguments: &ListArgs,
    answer: Answer,
) -> Result<ExitCode, CommandError> {
    let issues = Issues::read(place, Much::Heads)?;
    let categories = issues.categories();
    let tracker = &issues.tracker;
    let parent = arguments.parent.as_ref().map(|it| issues.meant(place, it)).transpose()?.map(|it| &it.id);
    let wanted: Vec<Status> = arguments.status.iter().map(|it| (*it).into()).collect();
    let same = |one: &str, other: &str| one.to_lowercase() == other.trim().to_lowercase();
    let is_wanted = |it: &Issue| {
        let by_status = if wanted.is_empty() {
            arguments.all || it.status != Status::Done
        } else {
            wanted.contains(&it.status)
        };
        by_status
            && arguments.label.as_ref().is_none_or(|label| it.labels.iter().any(|it| same(it, label)))
            && parent.is_none_or(|parent| it.parent.as_ref() == Some(parent))
            && arguments
                .category
                .as_ref()
                .is_none_or(|wanted| categories.name_of(tracker, it).is_some_and(|name| same(name, wanted)))
    };
    let mut found: Vec<(usize, &str, &Issue)> = tracker
        .all()
        .filter(|(_, it)| is_wanted(it))
        .map(|(file, it)| (categories.place_of(tracker, it), file, it))
        .collect();
    found.sort_by_key(|it| it.0);
    let value = || {
        let one = |(_, file, it): &(usize, &str, &Issue)| {
            let mut value = brief(place, file, it);
            value["category"] = json!(categories.name_of(tracker, it));
            value
        };
        json!({"issues": found.iter().map(one).collect::<Vec<_>>()})
    };
    let text = || {
        if found.is_empty() {
            let is_asked = !wanted.is_empty()
                || arguments.label.is_some()
                || arguments.parent.is_some()
                || arguments.category.is_some();
            let otherwise = if is_asked {
                "no issue is like that"
            } else {
                "nothing is open (`--all` lists what is done)"
            };
            return none(&issues, otherwise);
        }
        let width = found.iter().map(|it| it.2.id.len()).max().unwrap_or(0);
        let mut text = String::new();
        let mut last = None;
        for (at, _, issue) in &found {
            if last != Some(*at) {
                let gap = if last.is_some() { "\n" } else { "" };
                let name = categories.names.get(*at).filter(|it| !it.is_empty());
                let _ = writeln!(text, "{gap}{}", name.map_or("(not in README.md)", String::as_str));
                last = Some(*at);
            }
            let _ = writeln!(text, "  {:width$}  {:11}  {}", issue.id, issue.status.as_str(), titled(issue));
        }
        let done = tracker.all().filter(|(_, it)| it.status == Status::Done).count();
        if done > 0 && wanted.is_empty() && !arguments.all {
            let _ = writeln!(text, "\nand {done} done (`--all`)");
        }
        text
    };
    answer.give(value, text);
    notes(&issues.unclear(place));
    Ok(ExitCode::SUCCESS)
}

/// Say which issues can be done now
///
/// Nobody has begun them here, in another worktree, on a branch that is not merged or in an open run; all they depend on is done, and so
/// are their parts.
#[derive(clap::Args, Debug)]
pub(super) struct ReadyArgs {
    /// Say also of the others why they cannot be
    #[arg(long)]
    why: bool,
}

pub(super) fn cmd_ready(
    place: &Place,
    arguments: &ReadyArgs,
    answer: Answer,
) -> Result<ExitCode, CommandError> {
    let issues = Issues::read(place, Much::Heads)?;
    let standings = standings(place, &issues)?;
    let (mut ready, mut others, mut count) = (Vec::new(), Vec::new(), HashMap::new());
    let mut seen = HashSet::new();
    for (file, issue) in issues.tracker.all().filter(|(_, it)| seen.insert(it.id.as_str())) {
        match standings.get(issue.id.as_str()) {
            Some(Standing::Ready) => ready.push((file, issue)),
            Some(Standing::Done) | None => {}
            Some(other) => {
                *count.entry(std::mem::discriminant(other)).or_insert(0_usize) += 1;
                others.push((issue, other));
            }
        }
    }
    let value = || {
        let ready: Vec<Value> = ready.iter().map(|(file, it)| brief(place, file, it)).collect();
        let mut value = json!({"ready": ready});
        if arguments.why {
            let other = |(it, standing): &(&Issue, &Standing)| {
                let mut value = json!(standing);
                value["id"] = json!(it.id);
                value["title"] = json!(it.title);
                value
            };
            value["others"] = others.iter().map(other).collect();
        }
        value
    };
    let text = || {
        let width = ready.iter().map(|it| &it.1.id).chain(others.iter().map(|it| &it.0.id));
        let width = width.map(String::len).max().unwrap_or(0);
        let mut text = String::new();
        for (_, issue) in &ready {
            let _ = writeln!(text, "{:width$}  {}", issue.id, titled(issue));
        }
        if arguments.why && !others.is_empty() {
            let gap = if ready.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}not now");
            for (issue, standing) in &others {
                let _ = writeln!(text, "  {:width$}  {}", issue.id, standing_in_words(standing));
            }
        } else if ready.is_empty() {
            text = if others.is_empty() {
                none(&issues, "nothing is left to do")
            } else {
                format!("nothing can be done now: {} (`--why` says of each)\n", summed(&others))
            };
        }
        text
    };
    answer.give(value, text);
    // With `--why` they are among the others.
    if !arguments.why {
        notes(&issues.unclear(place));
    }
    Ok(ExitCode::SUCCESS)
}

/// How issues stand, each by its id, with all that is known of elsewhere.
pub(super) fn standings<'i>(
    place: &Place,
    issues: &'i Issues,
) -> Result<HashMap<&'i str, Standing>, CommandError> {
    let tracker = &issues.tracker;
    let own = tracker.all().filter_map(|(_, it)| Some((it.id.as_str(), tracker.standing(&it.id, |_| None)?)));
    let mut found: HashMap<&str, Standing> = own.collect();
    let free: Vec<&str> = found.iter().filter(|it| *it.1 == Standing::Ready).map(|it| *it.0).collect();
    let taken = elsewhere(place, issues, &free)?;
    for (id, standing) in &mut found {
        if let Some(how) = taken.get(*id) {
            *standing = Standing::Elsewhere(how.clone());
        }
    }
    Ok(found)
}

/// Whether an issue stands in some way.
type Is = fn(&Standing) -> bool;

/// How many issues stand how.
fn summed(others: &[(&Issue, &Standing)]) -> String {
    let words: [(&str, Is); 4] = [
        ("waiting for others", |it| matches!(it, Standing::Waits(_) | Standing::Parts(_))),
        ("in progress", |it| matches!(it, Standing::InProgress)),
        ("taken elsewhere", |it| matches!(it, Standing::Elsewhere(_))),
        ("not to be understood", |it| matches!(it, Standing::Unclear(_))),
    ];
    let told = words.iter().filter_map(|(word, is)| {
        let count = others.iter().filter(|it| is(it.1)).count();
        (count > 0).then(|| format!("{count} {word}"))
    });
    told.collect::<Vec<_>>().join(", ")
}

/// Show what is part of what, in the order in which it can be done
///
/// What stands further in is part of what is above it; behind `↳` stands what needs the one above it first.
#[derive(clap::Args, Debug)]
pub(super) struct TreeArgs {
    /// Only this issue and its parts
    id: Option<String>,
    /// Also what is done with all its parts
    #[arg(long)]
    all: bool,
}

pub(super) fn cmd_tree(
    place: &Place,
    arguments: &TreeArgs,
    answer: Answer,
) -> Result<ExitCode, CommandError> {
    let issues = Issues::read(place, Much::Heads)?;
    let tracker = &issues.tracker;
    let root = arguments.id.as_ref().map(|it| issues.meant(place, it)).transpose()?;
    let mut tree = tracker.tree(root.map(|it| it.id.as_str()));
    let whole = tree.len();
    if !arguments.all && root.is_none() {
        // What stands on its own, with everything below it.
        let mut kept = Vec::with_capacity(tree.len());
        let is_open = |id: &str| tracker.get(id).is_none_or(|it| it.status != Status::Done);
        let mut at = 0;
        while at < tree.len() {
            let end = (at + 1..tree.len()).find(|it| tree[*it].depth == 0).unwrap_or(tree.len());
            if tree[at..end].iter().any(|it| is_open(&it.id)) {
                kept.extend_from_slice(&tree[at..end]);
            }
            at = end;
        }
        tree = kept;
    }
    let hidden = whole - tree.len();
    let value = || {
        let one = |it: &loopwright_formats::todo::Branch| {
            let issue = tracker.get(&it.id);
            json!({
                "id": it.id, "depth": it.depth, "after": it.after,
                "title": issue.map(|it| &it.title), "status": issue.map(|it| it.status),
            })
        };
        json!({"tree": tree.iter().map(one).collect::<Vec<_>>()})
    };
    let text = || {
        if tree.is_empty() {
            return none(&issues, "everything is done (`--all` shows it)");
        }
        let mut text = String::new();
        for it in &tree {
            let Some(issue) = tracker.get(&it.id) else { continue };
            let mark = if issue.status == Status::Done { "[x]" } else { "[ ]" };
            let word = if issue.status == Status::InProgress { " (In Progress)" } else { "" };
            let arrow = if it.after { "↳ " } else { "" };
            let indent = "  ".repeat(it.depth);
            let _ = writeln!(text, "{indent}{arrow}{mark} {}  {}{word}", issue.id, titled(issue));
        }
        if hidden > 0 {
            let _ = writeln!(text, "\nand {hidden} done (`--all`)");
        }
        text
    };
    answer.give(value, text);
    notes(&issues.unclear(place));
    Ok(ExitCode::SUCCESS)
}

/// What is said where there is nothing to show.
fn none(issues: &Issues, otherwise: &str) -> String {
    match issues.tracker.all().next() {
        Some(_) => format!("{otherwise}\n"),
        None => "no issues; `loopwright todo new \"What should be\"` files one\n".to_owned(),
    }
}

/// A title with labels behind it.
fn titled(issue: &Issue) -> String {
    let title = if issue.title.is_empty() { "(no title)" } else { &issue.title };
    match issue.labels.as_slice() {
        [] => title.to_owned(),
        labels => format!("{title}  [{}]", labels.join(", ")),
    }
}

/// What programs are told of an issue.
pub(super) fn brief(place: &Place, file: &str, issue: &Issue) -> Value {
    let mut value = json!({
        "id": issue.id, "title": issue.title, "status": issue.status, "labels": issue.labels,
        "parent": issue.parent, "depends_on": issue.depends_on, "file": place.shown(file),
    });
    if !issue.problems.is_empty() {
        value["problems"] = json!(issue.problems.iter().map(ToString::to_string).collect::<Vec<_>>());
    }
    value
}

/// Problems, counted.
pub(super) fn problems(count: usize) -> String {
    counted(count, "problem")
}
