//! Active issues: checkboxes with details, or, in old files, bullets that begin with how bad it is.

use serde::{Serialize, Serializer};

use super::focus;
use super::sections::Sections;
use super::text;

/// How bad an issue is, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Impact {
    /// Nothing goes on before it is settled.
    Blocker,
    /// It has to be settled.
    Major,
    /// It can wait.
    Minor,
    /// Somebody wants to know something. Also whatever does not say how bad it is.
    Question,
}

impl Impact {
    /// All of them, worst first.
    pub const ALL: [Self; 4] = [Self::Blocker, Self::Major, Self::Minor, Self::Question];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Blocker => "BLOCKER",
            Self::Major => "MAJOR",
            Self::Minor => "MINOR",
            Self::Question => "QUESTION",
        }
    }

    /// What a word stands for, written in capitals.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }
}

impl Serialize for Impact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Something that somebody has to see to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// `ISSUE-...` in capitals, if it has an id.
    pub id: Option<String>,
    /// What it is called, its id included.
    pub title: String,
    /// How bad it is.
    pub impact: Impact,
    /// Whether it says how bad it is, in whatever words.
    pub impact_written: bool,
    /// Who has to see to it.
    pub owner: Option<String>,
    /// How it stands, in capitals.
    pub status: Option<String>,
    /// When it can go on.
    pub unblock_condition: Option<String>,
    /// What would show that it is settled.
    pub evidence_needed: Option<String>,
    /// Whatever else was noted.
    pub notes: Option<String>,
    /// Whether its box is checked.
    pub checked: bool,
}

impl Issue {
    fn new(title: &str, impact: Impact) -> Self {
        Self {
            id: id(title),
            title: title.to_owned(),
            impact,
            impact_written: false,
            owner: None,
            status: None,
            unblock_condition: None,
            evidence_needed: None,
            notes: None,
            checked: false,
        }
    }

    /// Whether it is done with: its box is checked and it says so.
    pub fn is_settled(&self) -> bool {
        self.checked && self.status.as_deref() == Some("RESOLVED")
    }

    /// Whether a person has to see to it.
    pub fn is_human(&self) -> bool {
        self.owner.as_deref().is_some_and(|it| text::trim(it).eq_ignore_ascii_case("human"))
    }

    /// What to call it: its id, or its title if it has none.
    pub fn name(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.title)
    }

    /// Takes one line of its details. The first of a kind counts.
    fn take(&mut self, key: &str, value: &str) {
        let slot = match key {
            "impact" if !self.impact_written => {
                self.impact_written = true;
                self.impact = upper_word(value).and_then(|it| Impact::of(&it)).unwrap_or(Impact::Question);
                return;
            }
            "status" if self.status.is_none() => {
                self.status = upper_word(value);
                return;
            }
            "owner" => &mut self.owner,
            "unblock_condition" | "unblock" => &mut self.unblock_condition,
            "evidence_needed" | "evidence" => &mut self.evidence_needed,
            "notes" => &mut self.notes,
            _ => return,
        };
        slot.get_or_insert_with(|| value.to_owned());
    }
}

/// All issues of a file.
pub(crate) fn read(text: &str, sections: &Sections<'_>) -> Vec<Issue> {
    let mut issues: Vec<Issue> = Vec::new();
    // Details below a head that is ignored belong to nobody.
    let mut open = false;
    for line in sections.lines("Active issues") {
        if let Some((checked, title)) = checkbox(line.text) {
            open = !is_placeholder_title(title);
            if open {
                issues.push(Issue { checked, ..Issue::new(title, Impact::Question) });
            }
        } else if open
            && let Some(issue) = issues.last_mut()
            && let Some((key, rest)) = focus::key(line.text)
        {
            let value = text::trim(rest);
            if !value.is_empty() {
                issue.take(&normal_key(&key), value);
            }
        }
    }
    if issues.is_empty() {
        issues = text::lines(text).filter_map(old_style).collect();
    }
    issues
}

/// A line with a box: whether it is checked, and what stands behind it. An empty box is an open one.
fn checkbox(line: &str) -> Option<(bool, &str)> {
    let inside = text::trim_start(text::trim_start(line).strip_prefix('-')?).strip_prefix('[')?;
    let (mark, rest) = inside.split_once(']')?;
    let checked = match text::trim(mark) {
        "" => false,
        "x" | "X" => true,
        _ => return None,
    };
    let title = text::trim(rest);
    (!title.is_empty()).then_some((checked, title))
}

/// What templates write where an issue would stand.
fn is_placeholder_title(title: &str) -> bool {
    let title = title.to_lowercase();
    title.contains("<short") || title == "none" || title == "none."
}

/// The id a title begins with.
fn id(title: &str) -> Option<String> {
    let head = title.get(..6).filter(|it| it.eq_ignore_ascii_case("ISSUE-"))?;
    let inside = title.get(head.len()..)?;
    let rest =
        inside.trim_start_matches(|it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '.' | '-'));
    let name = inside.strip_suffix(rest).filter(|it| !it.is_empty())?;
    text::trim_start(rest).starts_with(':').then(|| format!("ISSUE-{}", name.to_ascii_uppercase()))
}

/// A key in small letters, with underscores for whatever is no letter or digit.
fn normal_key(key: &str) -> String {
    let words: Vec<&str> =
        key.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty()).collect();
    words.join("_")
}

/// The first word in capitals.
pub(crate) fn upper_word(value: &str) -> Option<String> {
    text::first_word(value).map(str::to_uppercase)
}

/// An issue of old files: a bullet that begins with how bad it is.
fn old_style(line: &str) -> Option<Issue> {
    let inside = text::trim_start(text::trim_start(line).strip_prefix('-')?);
    let inside = inside.strip_prefix("**").unwrap_or(inside);
    let (word, rest) = inside.split_once(':')?;
    let word = text::trim_end(word);
    let word = text::trim(word.strip_suffix("**").unwrap_or(word)).to_ascii_uppercase();
    let impact = if word == "RISK" { Impact::Major } else { Impact::of(&word)? };
    let title = text::trim(rest);
    let title = text::trim(title.strip_prefix("**").unwrap_or(title));
    (!title.is_empty()).then(|| Issue { id: None, impact_written: true, ..Issue::new(title, impact) })
}
