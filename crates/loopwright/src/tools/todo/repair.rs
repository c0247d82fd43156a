//! Puts right what needs nobody's decision: numbers that two clones took are parted, lists that a merge left undecided are
//! made one, and everything that lists an issue is brought in step with it.

use std::collections::BTreeMap;

use loopwright_formats::todo::{
    Folder, Issue, Meant, README, Status, conflict_line, has_conflict, is_id, listed_as, merged_readme,
    parent_in_step, parts_of, readme_in_step, referred, renamed, resolved, sides, with_entries,
    with_sub_issue,
};

use super::elsewhere::texts;
use super::issues::{Issues, Much};
use super::new::number;
use super::place::{Change, Held, Place, of_git};
use crate::error::CommandError;

/// Two issues that a merge put into one file, because two clones gave them the same number.
pub(super) struct Twins {
    pub(super) file: String,
    pub(super) ours: Issue,
    pub(super) theirs: Issue,
    texts: (String, String),
}

/// What git has under way, while both sides of it are known.
const UNDER_WAY: [&str; 3] = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD"];

/// Whether a merge is under way here.
pub(super) fn is_merging(place: &Place) -> bool {
    place.home.is_repository && UNDER_WAY.iter().any(|it| place.home.git.folder().join(it).exists())
}

/// Files in which two issues met. One issue that both sides changed is no such: nobody but a person can say which is right.
pub(super) fn twins(place: &Place, folder: &Folder) -> Result<Vec<Twins>, CommandError> {
    let torn = folder.files.iter().filter_map(|(file, text)| Some((file, sides(text)?)));
    let torn: Vec<_> = torn.filter(|(file, _)| is_id(file.strip_suffix(".md").unwrap_or(file))).collect();
    if torn.is_empty() {
        return Ok(Vec::new());
    }
    let mut stages: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    if place.home.is_repository {
        let path = format!(":(top,literal){}/", place.within);
        let listed = place.home.git.bytes(&["ls-files", "--unmerged", "-z", "--", &path]).map_err(of_git)?;
        for entry in String::from_utf8_lossy(&listed).split('\0') {
            let Some((head, path)) = entry.split_once('\t') else { continue };
            let file = path.rsplit('/').next().unwrap_or(path).to_owned();
            stages.entry(file).or_default().extend(head.bytes().last());
        }
    }
    let mut found = Vec::new();
    for (file, texts) in torn {
        let stem = file.strip_suffix(".md").unwrap_or(file);
        let (ours, theirs) = (Issue::read(stem, &texts.0), Issue::read(stem, &texts.1));
        let is_issue = |it: &Issue| !it.title.is_empty() && it.id == stem;
        let are_other = match stages.get(file) {
            // What both came from is known: then it is one issue.
            Some(stages) => !stages.contains(&b'1'),
            None => shares_nothing(&texts.0, &texts.1),
        };
        if is_issue(&ours) && is_issue(&theirs) && ours.title != theirs.title && are_other {
            found.push(Twins { file: file.clone(), ours, theirs, texts });
        }
    }
    Ok(found)
}

/// Whether two texts have nothing in common but what every issue has.
fn shares_nothing(one: &str, other: &str) -> bool {
    let said = |text: &str| -> std::collections::HashSet<String> {
        let lines = loopwright_formats::todo::below(text).lines().map(str::trim);
        lines.filter(|it| !it.is_empty() && !it.starts_with('#')).map(str::to_owned).collect()
    };
    said(one).is_disjoint(&said(other))
}

/// Puts right what can be, and says what was.
pub(super) fn repair(place: &Place, held: &Held, folder: Folder) -> Result<Vec<String>, CommandError> {
    let mut work = Work::of(place, folder);
    work.part_twins(held)?;
    work.part_doubles(held)?;
    work.resolve();
    work.bring_in_step();
    let changes = work.changes();
    place.write(held, &changes)?;
    Ok(work.said)
}

struct Work<'p> {
    place: &'p Place,
    before: BTreeMap<String, String>,
    /// `README.md` among them.
    now: BTreeMap<String, String>,
    unread: Vec<loopwright_formats::todo::Problem>,
    said: Vec<String>,
}

impl<'p> Work<'p> {
    fn of(place: &'p Place, folder: Folder) -> Self {
        let list = folder.readme.map(|it| (README.to_owned(), it));
        let before: BTreeMap<String, String> = folder.files.into_iter().chain(list).collect();
        Self { place, now: before.clone(), before, unread: folder.unread, said: Vec::new() }
    }

    /// The folder as it would be.
    fn folder(&self) -> Folder {
        let files =
            self.now.iter().filter(|it| *it.0 != README).map(|(file, text)| (file.clone(), text.clone()));
        Folder { files: files.collect(), readme: self.now.get(README).cloned(), unread: self.unread.clone() }
    }

    fn say(&mut self, file: &str, what: &str) {
        self.said.push(format!("{}: {what}", self.place.shown(file)));
    }

    /// A number for an issue that has to be called otherwise.
    fn free(&self, held: &Held, id: &str) -> Result<String, CommandError> {
        let prefix = parts_of(id).map_or("TODO", |it| it.0);
        let issues = Issues::of(self.folder(), Much::Heads);
        number(self.place, held, prefix, &|id| issues.tracker.get(id).is_some())
    }

    /// Ours keeps the number; theirs gets another, and so does whatever of theirs leads to it.
    fn part_twins(&mut self, held: &Held) -> Result<(), CommandError> {
        for twins in twins(self.place, &self.folder())? {
            let old = twins.ours.id.clone();
            let new = self.free(held, &old)?;
            self.now.insert(twins.file.clone(), twins.texts.0);
            self.now.insert(format!("{new}.md"), renamed(&twins.texts.1, &old, &new));
            self.say(&twins.file, &format!("\"{}\" is {new} now; {old} was taken twice", twins.theirs.title));
            let title = twins.theirs.title.split_whitespace().collect::<Vec<_>>().join(" ");
            let own = [twins.file.clone(), format!("{new}.md")];
            let theirs = self.of_theirs(&old)?;
            for (file, text) in &mut self.now {
                if own.contains(file) || !text.contains(&old) {
                    continue;
                }
                let is_meant = |says: &str| says == title;
                *text = if file == README {
                    listed_as(text, &old, &new, &is_meant)
                } else {
                    let fields = theirs.contains(file) && !has_conflict(text);
                    referred(text, &old, &new, Meant { fields, entries: &is_meant })
                };
            }
        }
        Ok(())
    }

    /// Files that lead to an issue as the other side has them, and not as ours does.
    fn of_theirs(&self, id: &str) -> Result<Vec<String>, CommandError> {
        if !self.place.home.is_repository {
            return Ok(Vec::new());
        }
        let git = &self.place.home.git;
        let under_way = UNDER_WAY.into_iter().find(|it| git.folder().join(it).exists());
        let (ours, theirs) = match under_way {
            Some(name) => ("HEAD", name),
            None => ("HEAD^1", "HEAD^2"),
        };
        let files: Vec<&String> = self.now.iter().filter(|it| it.1.contains(id)).map(|it| it.0).collect();
        let within = &self.place.within;
        let named = |side: &str| files.iter().map(|it| format!("{side}:{within}/{it}")).collect::<Vec<_>>();
        let texts_of = |side: &str| {
            let names = named(side);
            texts(self.place, &names.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let leads = |file: &str, text: &Option<String>| {
            let issue = text.as_ref().map(|it| Issue::head(file.strip_suffix(".md").unwrap_or(file), it));
            issue
                .is_some_and(|it| it.parent.as_deref() == Some(id) || it.depends_on.iter().any(|it| it == id))
        };
        let (ours, theirs) = (texts_of(ours)?, texts_of(theirs)?);
        let both = files.iter().zip(ours.iter().zip(&theirs));
        let found = both.filter(|(file, (ours, theirs))| leads(file, theirs) && !leads(file, ours));
        Ok(found.map(|(file, _)| (*file).clone()).collect())
    }

    /// Of files that call themselves the same, the one that is called so keeps the number.
    fn part_doubles(&mut self, held: &Held) -> Result<(), CommandError> {
        let issues = Issues::of(self.folder(), Much::Heads);
        let mut seen = std::collections::HashSet::new();
        for (file, issue) in issues.tracker.all() {
            let is_own = issues.tracker.file_of(&issue.id) == Some(file);
            let is_again = !is_own || !seen.insert(issue.id.clone());
            if !is_again || !is_id(&issue.id) || issues.text(file).is_none() {
                continue;
            }
            let stem = file.strip_suffix(".md").unwrap_or(file);
            let is_free = is_id(stem) && issues.tracker.get(stem).is_none();
            let new = if is_free { stem.to_owned() } else { self.free(held, &issue.id)? };
            if let Some(text) = self.now.remove(file) {
                self.now.insert(format!("{new}.md"), renamed(&text, &issue.id, &new));
                self.say(file, &format!("\"{}\" is {new} now; {} was taken twice", issue.title, issue.id));
            }
        }
        Ok(())
    }

    /// What both sides of a merge listed is listed.
    fn resolve(&mut self) {
        let mut said = Vec::new();
        for (file, text) in self.now.iter_mut().filter(|it| *it.0 != README) {
            if conflict_line(text).is_some()
                && let Some(whole) = resolved(text).filter(|it| !has_conflict(it))
            {
                *text = whole;
                said.push(file.clone());
            }
        }
        let issues = Issues::of(self.folder(), Much::Heads);
        let known = |id: &str| issues.tracker.get(id).map(|it| (it.title.as_str(), it.status));
        let list = self.now.get(README).filter(|it| has_conflict(it));
        if let Some(whole) = list.and_then(|it| merged_readme(it, &known)).filter(|it| !has_conflict(it)) {
            self.now.insert(README.to_owned(), whole);
            said.push(README.to_owned());
        }
        for file in said {
            self.say(&file, "what both sides of the merge list is listed");
        }
    }

    /// Lists show what issues say.
    fn bring_in_step(&mut self) {
        let issues = Issues::of(self.folder(), Much::Whole);
        let tracker = &issues.tracker;
        let status_of = |id: &str| tracker.get(id).filter(|it| it.problems.is_empty()).map(|it| it.status);
        let mut then: BTreeMap<String, String> = BTreeMap::new();
        for (file, issue) in tracker.all() {
            let Some(text) = issues.text(file) else { continue };
            let mut whole = text.to_owned();
            if !issue.sub_issues.is_empty() {
                whole = parent_in_step(&whole, &status_of);
            }
            for part in tracker.children(&issue.id).filter(|it| it.id != issue.id) {
                let is_listed = issue.sub_issues.iter().any(|it| it.id == part.id);
                if !is_listed && tracker.file_of(&issue.id) == Some(file) {
                    whole = with_sub_issue(&whole, (&part.id, &part.title), part.status, &part.depends_on);
                }
            }
            if whole != text {
                then.insert(file.to_owned(), whole);
            }
        }
        let text = issues.files.readme.clone().unwrap_or_default();
        let is_unread = self.unread.iter().any(|it| it.file == README);
        if tracker.all().next().is_some() && !has_conflict(&text) && !is_unread {
            let listed = loopwright_formats::todo::Readme::read(&text);
            let known: std::collections::HashSet<&str> = listed.entries().map(|it| it.id.as_str()).collect();
            let missing = tracker.all().map(|it| it.1).filter(|it| {
                it.parent.is_none() && !known.contains(it.id.as_str()) && it.problems.is_empty()
            });
            let missing: Vec<(&str, &str, Status)> =
                missing.map(|it| (it.id.as_str(), it.title.as_str(), it.status)).collect();
            let more = if missing.is_empty() { text.clone() } else { with_entries(&text, None, &missing) };
            let whole = readme_in_step(&more, &status_of);
            if whole != text {
                then.insert(README.to_owned(), whole);
            }
        }
        for (file, text) in then {
            self.now.insert(file.clone(), text);
            self.say(&file, "brought in step with the issues");
        }
    }

    fn changes(&self) -> Vec<Change> {
        let mut names: Vec<&String> = self.before.keys().chain(self.now.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let all = names.into_iter().map(|file| Change {
            file: file.clone(),
            before: self.before.get(file).cloned(),
            after: self.now.get(file).cloned(),
        });
        all.filter(|it| it.before != it.after).collect()
    }
}
