//! Changes to one field of an issue.

use serde_json::Value;

use super::body::{Body, ticked};
use super::comments::{comment, with_comment};
use super::fields::replaced;
use super::issue::{Issue, with_field};
use super::spelled::Written;
use super::{Problem, Status, words};
use crate::agentd::page::Page;

/// The text with another value in one field, and all else as it was. `stem` is the name of its file without `.md`.
pub fn set(stem: &str, text: &str, field: &str, value: &Value) -> Result<String, Problem> {
    let issue = Issue::read(stem, text);
    let line = match field {
        "status" => issue.lines.status,
        "parent" => issue.lines.parent,
        "depends_on" => issue.lines.depends_on,
        _ => 1,
    };
    let refused = |why: String| Problem::new(line, why);
    let one = || match value {
        Value::String(text) => Ok(text.trim().to_owned()),
        Value::Null => Ok(String::new()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(refused(format!("`{field}` is one value"))),
    };
    let (name, written) = match field {
        "checked" => return tick(text, &issue, value).map_err(refused),
        "comments" => return say(text, &issue, value).map_err(refused),
        "status" => {
            let word = one()?;
            let status = Status::of(&word).ok_or_else(|| {
                refused(format!(
                    "`{word}` is no status; one of {}",
                    Status::ALL.map(Status::as_str).join(", ")
                ))
            })?;
            if issue.status == status && issue.problems.is_empty() && has_status(text) {
                return Ok(text.to_owned());
            }
            ("status", Written::Text(status.as_str().to_owned()))
        }
        "id" => ("id", Written::Text(one_id(&one()?).map_err(refused)?)),
        "title" => {
            let title = one()?;
            if title.is_empty() {
                return Err(refused("an issue has a title".to_owned()));
            }
            ("title", Written::Text(title))
        }
        "parent" => match one()? {
            it if it.is_empty() && issue.parent.is_none() => return Ok(text.to_owned()),
            it if it.is_empty() => ("parent", Written::Text(String::new())),
            it => ("parent", Written::Text(one_id(&it).map_err(refused)?)),
        },
        "label" | "labels" => ("labels", Written::List(several(value))),
        "depends_on" => {
            let ids = several(value).iter().map(|it| words::ids(it)).collect::<Result<Vec<_>, _>>();
            let ids = ids.map_err(|odd| refused(format!("`{odd}` is no id such as `GAL-39`")))?;
            let mut seen = std::collections::HashSet::new();
            let ids = ids.concat().into_iter().filter(|it| seen.insert(it.clone()));
            ("depends-on", Written::List(ids.collect()))
        }
        other => return Err(refused(format!("nobody can set `{other}` of an issue"))),
    };
    if matches!(&written, Written::List(it) if it.is_empty() && !issue.has_list(name)) {
        return Ok(text.to_owned());
    }
    with_field(stem, text, name, &written)
        .ok_or_else(|| refused(format!("`{field}` cannot be written here without changing something else")))
}

/// What a field of an issue holds.
pub fn get(issue: &Issue, field: &str) -> Option<Value> {
    Some(match field {
        "status" => Value::from(issue.status.as_str()),
        "checked" => Value::from(issue.checked()),
        "comments" => Value::from(issue.comments.clone()),
        "id" => Value::from(issue.id.clone()),
        "title" => Value::from(issue.title.clone()),
        "parent" => Value::from(issue.parent.clone()?),
        "label" => Value::from(issue.labels.first()?.clone()),
        "labels" => Value::from(issue.labels.clone()),
        "depends_on" => Value::from(issue.depends_on.clone()),
        _ => return None,
    })
}

impl Issue {
    fn has_list(&self, name: &str) -> bool {
        if name == "labels" { !self.labels.is_empty() } else { !self.depends_on.is_empty() }
    }
}

fn has_status(text: &str) -> bool {
    super::fields::Fields::read(&Page::read(text), super::issue::FIELDS).get("status").is_some()
}

fn one_id(text: &str) -> Result<String, String> {
    match words::ids(text) {
        Ok(ids) if ids.len() == 1 => Ok(ids.concat()),
        _ => Err(format!("`{text}` is no id such as `GAL-39`")),
    }
}

fn several(value: &Value) -> Vec<String> {
    let text = |it: &Value| match it {
        Value::String(text) => text.trim().to_owned(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let all: Vec<String> = match value {
        Value::Array(items) => items.iter().map(text).collect(),
        one => text(one).split(',').map(|it| it.trim().to_owned()).collect(),
    };
    all.into_iter().filter(|it| !it.is_empty()).collect()
}

/// Ticks criteria. What is ticked stays ticked: nobody who names some says anything of the others.
fn tick(text: &str, issue: &Issue, value: &Value) -> Result<String, String> {
    let page = Page::read(text);
    let body = Body::read(&page);
    let mut marks = Vec::new();
    for name in several(value) {
        let found = body.boxes.iter().position(|it| it.criterion.id == name);
        let found = found.or_else(|| meant(&body, &name));
        let Some(one) = found.and_then(|it| body.boxes.get(it)) else {
            let known: Vec<&str> = issue.criteria.iter().map(|it| it.id.as_str()).collect();
            let known = if known.is_empty() {
                "it has none".to_owned()
            } else {
                format!("there are {}", known.join(", "))
            };
            return Err(format!("`{name}` is no criterion of `{}`; {known}", issue.id));
        };
        marks.push(one.mark.clone());
    }
    marks.sort_by_key(|it| std::cmp::Reverse(it.start));
    marks.dedup();
    let tick = |text: String, mark: std::ops::Range<usize>| {
        let new = ticked(text.get(mark.clone()).unwrap_or_default(), true);
        replaced(&text, mark, &new)
    };
    Ok(marks.into_iter().fold(text.to_owned(), tick))
}

/// The criterion that somebody means who does not quite say its id.
fn meant(body: &Body, name: &str) -> Option<usize> {
    let plain = |text: &str| -> String {
        text.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let said = plain(name);
    let by_id = body.criteria().position(|it| plain(&it.id) == said);
    let by_text = || body.criteria().position(|it| plain(&it.text) == said && !said.is_empty());
    // `AC-2` and `criterion 2` are the second, where criteria have no ids of their own.
    let digits = said.trim_start_matches(|it: char| it.is_alphabetic());
    let is_word = matches!(said.strip_suffix(digits)?, "ac" | "criterion" | "c" | "no");
    let by_place = || body.criteria().position(|it| is_word && it.id == digits);
    by_id.or_else(by_text).or_else(by_place)
}

/// Adds comments behind those that are there.
fn say(text: &str, issue: &Issue, value: &Value) -> Result<String, String> {
    let Value::Array(all) = value else { return Err("comments are a list".to_owned()) };
    let all: Vec<String> = all.iter().filter_map(|it| it.as_str().map(comment)).collect();
    let Some(new) = all.strip_prefix(issue.comments.as_slice()) else {
        return Err("what was said stays: comments can only be added to".to_owned());
    };
    new.iter().try_fold(text.to_owned(), |text, it| with_comment(&text, it))
}
