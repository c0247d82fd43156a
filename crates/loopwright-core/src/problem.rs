//! Problems: everything `check` has to say about a workflow, each at its place in the text.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

/// Where in the folder a problem lies.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Place {
    /// The file, relative to the workflow's folder.
    pub file: String,
    /// Bytes of that file.
    pub bytes: Range<usize>,
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |it: &'_ Self| (it.file.clone(), it.bytes.start, it.bytes.end);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// How far the workflow got before the problem was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The file does not load: structure, types or names are wrong.
    Load,
    /// The file loads and something about it cannot be proved.
    Proof,
}

/// One thing that is wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// A stable word for the kind of problem, e.g. `unrouted`.
    pub code: &'static str,
    /// Whether the file does not load or cannot be proved.
    pub stage: Stage,
    /// Where.
    pub place: Place,
    /// What is wrong: a lowercase fragment with values in backticks.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// A shortest run that shows it, as a scenario that `rehearse` plays.
    pub path: Option<crate::rehearse::Scenario>,
}

impl Problem {
    /// A problem that keeps the file from loading.
    pub fn load(code: &'static str, place: Place, message: impl Into<String>) -> Self {
        Self { code, stage: Stage::Load, place, message: message.into(), help: None, path: None }
    }

    /// Something that could not be proved.
    pub fn proof(code: &'static str, place: Place, message: impl Into<String>) -> Self {
        Self { code, stage: Stage::Proof, place, message: message.into(), help: None, path: None }
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says what to do, if there is something to say.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }

    /// Shows it.
    #[must_use]
    pub fn path(mut self, path: crate::rehearse::Scenario) -> Self {
        self.path = Some(path);
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

/// The nearest of `known` to a word that is none of them, if one is near.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // What is longer than any name resembles none, and would take long to compare.
    const MOST: usize = 80;
    if word.len() > MOST {
        return None;
    }
    // One letter of two is no slip any more: `to` is not `do`.
    let limit = (word.chars().count() / 3).min(3);
    known
        .into_iter()
        .map(|it| (strsim::damerau_levenshtein(&word.to_lowercase(), &it.to_lowercase()), it))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, it)| it)
}

/// "did you mean `x`?", or the list of what there is.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    const SHOWN: usize = 24;
    let known: Vec<&str> = known.into_iter().collect();
    if let Some(near) = nearest(word, known.iter().copied()) {
        return Some(format!("did you mean `{near}`?"));
    }
    if known.is_empty() {
        return None;
    }
    let parts: Vec<&str> = word.split([' ', ',']).filter(|it| !it.is_empty()).collect();
    if parts.len() > 1 && parts.iter().all(|it| known.contains(it)) {
        return Some(format!("write a list: `[{}]`", parts.join(", ")));
    }
    let mut listed = known.iter().take(SHOWN).map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
    if known.len() > SHOWN {
        listed.push_str(", …");
    }
    Some(format!("there is {listed}"))
}
