//! `show`: one issue, and how it stands.

use std::fmt::Write as _;
use std::process::ExitCode;

use loopwright_formats::todo::{Issue, Standing, below};
use serde_json::json;

use super::Answer;
use super::elsewhere::elsewhere;
use super::issues::{Issues, Much, standing_in_words};
use super::list::brief;
use super::place::Place;
use crate::error::CommandError;
use crate::show::counted;

/// Show an issue: how it stands, what it needs, what it says
#[derive(clap::Args, Debug)]
pub(super) struct ShowArgs {
    /// The issue
    id: String,
}

pub(super) fn cmd_show(
    place: &Place,
    arguments: &ShowArgs,
    answer: Answer,
) -> Result<ExitCode, CommandError> {
    let issues = Issues::read(place, Much::Heads)?;
    let tracker = &issues.tracker;
    let head = issues.meant(place, &arguments.id)?;
    let file = tracker.file_of(&head.id).unwrap_or_default();
    let text = issues.files.files.iter().find(|it| it.0 == file).map_or("", |it| it.1.as_str());
    let mut issue = Issue::read(file.strip_suffix(".md").unwrap_or(file), text);
    // What a merge left undecided, and what nobody can read, is known only from all of them.
    issue.problems.clone_from(&head.problems);
    let mut standing = tracker.standing(&head.id, |_| None);
    if standing == Some(Standing::Ready)
        && let Some(how) = elsewhere(place, &issues, &[&head.id])?.remove(&head.id)
    {
        standing = Some(Standing::Elsewhere(how));
    }
    let categories = issues.categories();
    let category = categories.name_of(tracker, head);
    let parts: Vec<&Issue> = tracker.children(&head.id).collect();
    let needed_by = tracker.all().filter(|(_, it)| it.depends_on.contains(&head.id)).map(|(_, it)| it);
    let needed_by: Vec<&Issue> = needed_by.collect();
    let value = || {
        let mut value = brief(place, file, &issue);
        value["category"] = json!(category);
        value["standing"] = json!(standing);
        value["criteria"] = json!(issue.criteria);
        value["sub_issues"] = parts.iter().map(|it| json!({"id": it.id, "status": it.status})).collect();
        value["needed_by"] = needed_by.iter().map(|it| json!(it.id)).collect();
        value["comments"] = json!(issue.comments);
        value["text"] = json!(below(text));
        value
    };
    let told = || {
        let with_status = |id: &str| match tracker.get(id) {
            Some(it) => format!("{id} ({})", it.status.as_str()),
            None => format!("{id} (not there)"),
        };
        let listed =
            |ids: &mut dyn Iterator<Item = &str>| ids.map(with_status).collect::<Vec<_>>().join(", ");
        let title = if issue.title.is_empty() { "(no title)" } else { &issue.title };
        let stands = standing.as_ref().map(standing_in_words).unwrap_or_default();
        let status = match &standing {
            Some(Standing::Done | Standing::InProgress) | None => issue.status.as_str().to_owned(),
            Some(_) => format!("{}, {stands}", issue.status.as_str()),
        };
        let ticked = issue.criteria.len() - issue.open_criteria();
        let criteria = match issue.criteria.len() {
            0 => String::new(),
            all => format!("{ticked} of {all} met"),
        };
        let comments =
            if issue.comments.is_empty() { String::new() } else { counted(issue.comments.len(), "comment") };
        let lines = [
            ("status", status),
            ("category", category.unwrap_or_default().to_owned()),
            ("labels", issue.labels.join(", ")),
            ("part of", listed(&mut issue.parent.as_deref().into_iter())),
            ("parts", listed(&mut parts.iter().map(|it| it.id.as_str()))),
            ("needs", listed(&mut issue.depends_on.iter().map(String::as_str))),
            ("needed by", listed(&mut needed_by.iter().map(|it| it.id.as_str()))),
            ("criteria", criteria),
            ("comments", comments),
            ("file", place.shown(file)),
        ];
        let mut told = format!("{}  {title}\n", issue.id);
        for (name, said) in lines.iter().filter(|it| !it.1.is_empty()) {
            let _ = writeln!(told, "  {name:9}  {said}");
        }
        let body = below(text).trim_end();
        if !body.is_empty() {
            let _ = writeln!(told, "\n{body}");
        }
        told
    };
    answer.give(value, told);
    Ok(ExitCode::SUCCESS)
}
