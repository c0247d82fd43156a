//! What is out of step between issues, and with the list of them.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::conflict::{conflict_line, resolved};
use super::lists;
use super::merged::merged_readme;
use super::{Issue, Problem, README, Status, Tracker, words};
use crate::agentd::graph;
use crate::agentd::page::Page;

/// Something that is wrong in a folder of issues.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// What kind of mistake it is, as one word.
    pub kind: &'static str,
    /// Whether it can be put right without asking anybody.
    pub mends: bool,
    /// Where, and what.
    #[serde(flatten)]
    pub problem: Problem,
}

/// The files of a folder of issues, each with its text, and the list of them if there is one.
#[derive(Clone, Debug, Default)]
pub struct Folder {
    /// Issues, and whatever else ends with `.md`.
    pub files: Vec<(String, String)>,
    /// `README.md`.
    pub readme: Option<String>,
    /// Files that nobody can read, each with the reason.
    pub unread: Vec<Problem>,
}

/// A folder that has been looked through.
pub struct Report {
    /// Its issues. A file that a merge left undecided is none.
    pub tracker: Tracker,
    /// What is wrong, file by file.
    pub findings: Vec<Finding>,
}

/// Looks a folder through.
pub fn check(folder: &Folder) -> Report {
    let mut looking = Looking { findings: Vec::new() };
    let mut issues = Vec::with_capacity(folder.files.len());
    let mut torn = HashSet::new();
    for problem in &folder.unread {
        torn.insert(problem.file.strip_suffix(".md").unwrap_or(&problem.file));
        looking.findings.push(Finding { kind: "unread", mends: false, problem: problem.clone() });
    }
    for (file, text) in &folder.files {
        let stem = file.strip_suffix(".md").unwrap_or(file);
        if let Some(line) = conflict_line(text) {
            looking.torn(file, line, resolved(text).is_some());
            torn.insert(stem);
            continue;
        }
        let issue = Issue::read(stem, text);
        if !words::is_id(stem) && !words::is_id(&issue.id) {
            let message = "this is no issue: neither its name nor an `id` in it is one such as `GAL-39`";
            looking.say("no-issue", file, 1, message, false);
            continue;
        }
        issues.push((file.clone(), issue));
    }
    let tracker = Tracker::of(issues);
    let mut seen: HashMap<&str, &str> = HashMap::new();
    for (file, issue) in tracker.all() {
        let own = tracker.file_of(&issue.id).unwrap_or(file);
        let is_again = own != file || seen.insert(&issue.id, file).is_some();
        looking.alone(file, issue, is_again);
        if is_again {
            let message = format!("`{}` is taken twice: also in {own}", issue.id);
            looking.say("twice", file, issue.lines.id, &message, true);
        }
        looking.depends(&tracker, &torn, file, issue);
        looking.is_part(&tracker, &torn, file, issue);
        looking.has_parts(&tracker, &torn, file, issue);
    }
    looking.circles(&tracker);
    match &folder.readme {
        Some(text) => match conflict_line(text) {
            Some(line) => {
                let known = |id: &str| tracker.get(id).map(|it| (it.title.as_str(), it.status));
                looking.torn(README, line, merged_readme(text, &known).is_some());
            }
            None => looking.readme(&tracker, &torn, text),
        },
        None if tracker.all().next().is_some() && folder.unread.iter().all(|it| it.file != README) => {
            looking.say("readme", README, 1, "there is no list of the issues", true);
        }
        None => {}
    }
    looking.findings.sort_by(|one, other| {
        let place = |it: &Finding| {
            (super::tracker::place(it.problem.file.trim_end_matches(".md")).1, it.problem.clone())
        };
        place(one).cmp(&place(other))
    });
    Report { tracker, findings: looking.findings }
}

struct Looking {
    findings: Vec<Finding>,
}

impl Looking {
    fn say(&mut self, kind: &'static str, file: &str, line: usize, message: &str, mends: bool) {
        self.findings.push(Finding { kind, mends, problem: Problem::new(line, message).of(file) });
    }

    fn torn(&mut self, file: &str, line: usize, mends: bool) {
        self.say("conflict", file, line, "a merge left this undecided", mends);
    }

    /// What is wrong with an issue by itself.
    fn alone(&mut self, file: &str, issue: &Issue, is_again: bool) {
        for problem in issue.problems.iter().chain(&issue.doubts) {
            self.findings.push(Finding { kind: "unclear", mends: false, problem: problem.clone().of(file) });
        }
        let stem = file.strip_suffix(".md").unwrap_or(file);
        if !words::is_id(&issue.id) {
            let message =
                format!("`{}` is no id: large letters, a dash and a number, such as `GAL-39`", issue.id);
            self.say("id", file, issue.lines.id, &message, false);
        } else if stem != issue.id && !is_again {
            let message = format!("this calls itself `{}`, and its file is `{file}`", issue.id);
            self.say("id", file, issue.lines.id, &message, false);
        }
        let open = issue.open_criteria();
        if issue.status == Status::Done && open > 0 {
            let criteria = if open == 1 { "criterion" } else { "criteria" };
            let message = format!("`{}` is Done, and {open} {criteria} of it not ticked", issue.id);
            self.say("done", file, issue.lines.status, &message, false);
        }
    }

    fn depends(&mut self, tracker: &Tracker, torn: &HashSet<&str>, file: &str, issue: &Issue) {
        for id in &issue.depends_on {
            let line = issue.lines.depends_on;
            let message = match tracker.get(id) {
                _ if *id == issue.id => format!("`{id}` depends on itself"),
                None if torn.contains(id.as_str()) => continue,
                None => format!("`{}` depends on `{id}`, which is not there", issue.id),
                Some(_) if is_above(tracker, id, issue) => {
                    format!("`{}` depends on `{id}`, which it is part of: that is done last", issue.id)
                }
                Some(it) if issue.status == Status::Done && it.status != Status::Done => {
                    format!("`{}` is Done, and depends on `{id}`, which is {}", issue.id, it.status.as_str())
                }
                Some(_) => continue,
            };
            self.say("dependency", file, line, &message, false);
        }
    }

    fn is_part(&mut self, tracker: &Tracker, torn: &HashSet<&str>, file: &str, issue: &Issue) {
        let Some(parent) = &issue.parent else { return };
        let line = issue.lines.parent;
        match tracker.get(parent) {
            _ if *parent == issue.id => {
                self.say("parent", file, line, &format!("`{parent}` is part of itself"), false);
            }
            None if torn.contains(parent.as_str()) => {}
            None => {
                let message = format!("`{}` is part of `{parent}`, which is not there", issue.id);
                self.say("parent", file, line, &message, false);
            }
            Some(_) if is_above(tracker, &issue.id, issue) => {
                let message = format!("`{}` is part of a part of itself", issue.id);
                self.say("parent", file, line, &message, false);
            }
            Some(it) if !it.sub_issues.iter().any(|it| it.id == issue.id) => {
                let message = format!("`{parent}` does not list `{}`, which is part of it", issue.id);
                let file = tracker.file_of(parent).unwrap_or(file);
                self.say("sub-issues", file, 1, &message, true);
            }
            Some(_) => {}
        }
    }

    fn has_parts(&mut self, tracker: &Tracker, torn: &HashSet<&str>, file: &str, issue: &Issue) {
        let mut seen = HashSet::new();
        for entry in &issue.sub_issues {
            let (kind, id, line) = ("sub-issues", &entry.id, entry.line);
            if !seen.insert(id) {
                self.say(kind, file, line, &format!("`{id}` is listed twice"), true);
                continue;
            }
            match tracker.get(id) {
                None if torn.contains(id.as_str()) => {}
                None => self.say(kind, file, line, &format!("`{id}` is listed, and is not there"), false),
                Some(it) if it.parent.as_ref() != Some(&issue.id) => {
                    let whose = it.parent.as_ref().map_or("of nothing".to_owned(), |it| format!("of `{it}`"));
                    let message =
                        format!("`{id}` is listed as part of `{}`, and says it is part {whose}", issue.id);
                    self.say(kind, file, line, &message, false);
                }
                Some(it) => self.shows(kind, (file, line), id, entry.shown, it.status),
            }
        }
    }

    fn shows(
        &mut self,
        kind: &'static str,
        (file, line): (&str, usize),
        id: &str,
        shown: Option<Status>,
        is: Status,
    ) {
        if let Some(shown) = shown.filter(|it| *it != is) {
            let message = format!("`{id}` is shown as {}, and is {}", shown.as_str(), is.as_str());
            self.say(kind, file, line, &message, true);
        }
    }

    fn circles(&mut self, tracker: &Tracker) {
        for circle in tracker.circles() {
            // What needs the whole it is part of is said by itself.
            let is_said = |it: &&(String, Issue)| {
                it.1.depends_on
                    .iter()
                    .any(|id| is_above(tracker, id, &it.1) && circle.iter().any(|it| it.1.id == *id))
            };
            let is_part = |it: &&(String, Issue)| is_above(tracker, &it.1.id, &it.1);
            if circle.iter().any(|it| is_said(it) || is_part(it)) {
                continue;
            }
            let names: Vec<&str> = circle.iter().map(|it| it.1.id.as_str()).collect();
            let places: Vec<usize> = (0..names.len()).collect();
            let Some((file, issue)) = circle.first() else { continue };
            let message = format!("these wait for each other: {}", graph::shown(&places, &names));
            self.say("circle", file, issue.lines.depends_on, &message, false);
        }
    }

    fn readme(&mut self, tracker: &Tracker, torn: &HashSet<&str>, text: &str) {
        let page = Page::read(text);
        let found = lists::entries(&page, 0..page.lines.len());
        let mut heading: Option<Status> = None;
        let mut headings =
            page.lines.iter().enumerate().filter_map(|(at, it)| Some((at, it.heading()?.1))).peekable();
        let mut seen = HashSet::with_capacity(found.len());
        for it in &found {
            let (id, line) = (&it.entry.id, it.entry.line);
            while let Some((_, title)) = headings.next_if(|(at, _)| *at < it.at) {
                heading = Status::of(title);
            }
            if !seen.insert(id.as_str()) {
                self.say("readme", README, line, &format!("`{id}` is listed twice"), true);
                continue;
            }
            match tracker.get(id) {
                None if torn.contains(id.as_str()) => {}
                None => {
                    self.say("readme", README, line, &format!("`{id}` is listed, and is not there"), false);
                }
                Some(issue) => {
                    let shown = it.entry.shown.filter(|it| *it != issue.status).or(heading);
                    self.shows("readme", (README, line), id, shown, issue.status);
                }
            }
        }
        for (_, issue) in
            tracker.all().filter(|(_, it)| it.parent.is_none() && !seen.contains(it.id.as_str()))
        {
            let message = format!("`{}` is not listed", issue.id);
            self.say("readme", README, 1, &message, true);
        }
    }
}

/// Whether an issue is among those that another is part of.
fn is_above(tracker: &Tracker, id: &str, issue: &Issue) -> bool {
    let mut seen = HashSet::new();
    let mut at = issue.parent.as_deref();
    while let Some(parent) = at {
        if parent == id {
            return true;
        }
        if !seen.insert(parent) {
            return false;
        }
        at = tracker.get(parent).and_then(|it| it.parent.as_deref());
    }
    false
}
