//! The issues of a folder, as verbs meet them: one that cannot be understood is there, and says why.

use std::collections::HashMap;

use loopwright_core::problem::did_you_mean;
use loopwright_formats::todo::{
    Folder, Issue, Problem, Readme, Standing, Status, Tracker, conflict_line, is_id, sides,
};

use super::place::{Change, Held, Place};
use crate::error::{self, CommandError};

/// How much of issues is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Much {
    /// What they say at their top.
    Heads,
    /// All.
    Whole,
}

/// The issues of a folder, and the files they are in.
pub(super) struct Issues {
    pub(super) tracker: Tracker,
    pub(super) files: Folder,
}

impl Issues {
    pub(super) fn read(place: &Place, much: Much) -> Result<Self, CommandError> {
        Ok(Self::of(place.read()?, much))
    }

    pub(super) fn of(files: Folder, much: Much) -> Self {
        let mut issues = Vec::with_capacity(files.files.len());
        for (file, text) in &files.files {
            let stem = file.strip_suffix(".md").unwrap_or(file);
            let issue = read(stem, text, much);
            if is_id(stem) || is_id(&issue.id) {
                issues.push((file.clone(), issue));
            }
        }
        for problem in &files.unread {
            let stem = problem.file.strip_suffix(".md").unwrap_or(&problem.file);
            if is_id(stem) {
                let own = vec![Problem { file: String::new(), ..problem.clone() }];
                let issue = Issue { id: stem.to_owned(), problems: own, ..Issue::default() };
                issues.push((problem.file.clone(), issue));
            }
        }
        Self { tracker: Tracker::of(issues), files }
    }

    /// The issue that somebody names.
    pub(super) fn meant(&self, place: &Place, id: &str) -> Result<&Issue, CommandError> {
        let id = id.trim();
        let id = id.strip_suffix(".md").unwrap_or(id);
        if let Some(issue) = self.tracker.get(id) {
            return Ok(issue);
        }
        let large = id.to_ascii_uppercase();
        let known = self.tracker.all().map(|(_, it)| it.id.as_str());
        let near = self.tracker.get(&large).map(|it| format!("did you mean `{}`?", it.id));
        let hint = near.or_else(|| did_you_mean(id, known).filter(|it| it.starts_with("did you mean")));
        Err(CommandError::user(format!("there is no issue `{id}` in {}", place.within))
            .maybe_hinted(hint)
            .hinted("`loopwright todo list --all` says which there are"))
    }

    /// The file and the text of an issue, for somebody who is about to change it. Two issues of one id, and a file that a merge
    /// left undecided, nobody changes.
    pub(super) fn text_of<'t>(
        &'t self,
        place: &Place,
        issue: &Issue,
    ) -> Result<(&'t str, &'t str), CommandError> {
        let refuse = |line: usize, file: &str, why: &str| {
            let place = place.shown(file);
            Err(CommandError::with_code(format!("{place}:{line}: {why}"), error::NOT_PROVED)
                .hinted("`loopwright todo check` says all that is wrong, `--repair` puts right what it can"))
        };
        let mut named = self.tracker.all().filter(|(_, it)| it.id == issue.id).map(|(file, _)| file);
        let file = self.tracker.file_of(&issue.id).unwrap_or_default();
        if let (Some(one), Some(other)) = (named.next(), named.next()) {
            let other = if other == file { one } else { other };
            return refuse(
                1,
                other,
                &format!("`{}` is taken twice: also in {}", issue.id, place.shown(file)),
            );
        }
        if let Some(problem) = self.files.unread.iter().find(|it| it.file == file) {
            return refuse(problem.line, file, &problem.message);
        }
        let found = self.files.files.iter().find(|it| it.0 == file);
        let Some((file, text)) = found else { return refuse(1, file, "there is no such file") };
        match conflict_line(text) {
            Some(line) => refuse(line, file, "a merge left this undecided"),
            None => Ok((file, text)),
        }
    }

    /// The text of a file, where nothing is undecided.
    pub(super) fn text(&self, file: &str) -> Option<&str> {
        let found = self.files.files.iter().find(|it| it.0 == file).map(|it| it.1.as_str());
        found.filter(|it| conflict_line(it).is_none())
    }

    /// The categories of issues. A part of one that is listed is of its category.
    pub(super) fn categories(&self) -> Categories {
        let readme = self.files.readme.as_deref().map(Readme::read).unwrap_or_default();
        let mut names = Vec::new();
        let mut of = HashMap::new();
        for (at, category) in readme.categories.into_iter().enumerate() {
            for entry in category.entries {
                of.entry(entry.id).or_insert(at);
            }
            names.push(category.name);
        }
        Categories { names, of }
    }

    /// Says to whoever is not told otherwise which issues cannot be understood.
    pub(super) fn unclear(&self, place: &Place) -> Vec<String> {
        let all = self.tracker.all().filter_map(|(file, it)| Some((file, it.problems.first()?)));
        all.map(|(file, it)| format!("{}:{}: {}", place.shown(file), it.line, it.message)).collect()
    }
}

/// Where issues are listed.
pub(super) struct Categories {
    pub(super) names: Vec<String>,
    of: HashMap<String, usize>,
}

impl Categories {
    /// The place of the category of an issue among all; behind the last for one of none.
    pub(super) fn place_of(&self, tracker: &Tracker, issue: &Issue) -> usize {
        let mut at = Some(issue);
        // Parts of each other have no end.
        for _ in 0..64 {
            let Some(it) = at else { break };
            if let Some(found) = self.of.get(&it.id) {
                return *found;
            }
            at = it.parent.as_ref().and_then(|it| tracker.get(it));
        }
        self.names.len()
    }

    /// Its name, if it has one.
    pub(super) fn name_of(&self, tracker: &Tracker, issue: &Issue) -> Option<&str> {
        self.names.get(self.place_of(tracker, issue)).map(String::as_str).filter(|it| !it.is_empty())
    }
}

/// An issue as its file says it; of one that a merge left undecided our side, with the problem.
fn read(stem: &str, text: &str, much: Much) -> Issue {
    if let Some(line) = conflict_line(text)
        && let Some((ours, _)) = sides(text)
    {
        let mut issue = Issue::read(stem, &ours);
        let message = "a merge left this undecided".to_owned();
        issue.problems.insert(0, Problem { file: String::new(), line, message });
        return issue;
    }
    if much == Much::Heads { Issue::head(stem, text) } else { Issue::read(stem, text) }
}

/// How an issue stands, in words.
pub(super) fn standing_in_words(standing: &Standing) -> String {
    match standing {
        Standing::Ready => "can be done now".to_owned(),
        Standing::Waits(ids) => format!("waits for {}", ids.join(", ")),
        Standing::Parts(ids) => format!("is done after its parts: {}", ids.join(", ")),
        Standing::InProgress => "is in progress".to_owned(),
        Standing::Elsewhere(how) => how.clone(),
        Standing::Done => "is done".to_owned(),
        Standing::Unclear(why) => format!("cannot be understood: {why}"),
    }
}

/// An issue with another text, and what lists it with how far it is now.
pub(super) fn turned(
    issues: &Issues,
    issue: &Issue,
    (file, before): (&str, &str),
    after: String,
) -> Vec<Change> {
    use loopwright_formats::todo::{README, shown_in_parent, shown_in_readme};
    let status = Issue::head(&issue.id, &after).status;
    let mut changes: Vec<Change> = Change::of(file, before, after).into_iter().collect();
    let parent = issue.parent.as_ref().filter(|it| **it != issue.id);
    if let Some(file) = parent.and_then(|it| issues.tracker.file_of(it))
        && let Some(text) = issues.text(file)
    {
        changes.extend(Change::of(file, text, shown_in_parent(text, &issue.id, status)));
    }
    if let Some(text) = issues.files.readme.as_deref().filter(|it| conflict_line(it).is_none()) {
        changes.extend(Change::of(README, text, shown_in_readme(text, &issue.id, status)));
    }
    changes
}

/// Writes changes, and says which files they are in.
pub(super) fn write(place: &Place, held: &Held, changes: &[Change]) -> Result<Vec<String>, CommandError> {
    place.write(held, changes)?;
    Ok(changes.iter().map(|it| place.shown(&it.file)).collect())
}

/// A status as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum StatusWord {
    /// Nobody has begun
    Todo,
    /// Somebody is at it
    InProgress,
    /// It is done
    Done,
}

impl From<StatusWord> for Status {
    fn from(word: StatusWord) -> Self {
        match word {
            StatusWord::Todo => Self::Todo,
            StatusWord::InProgress => Self::InProgress,
            StatusWord::Done => Self::Done,
        }
    }
}
