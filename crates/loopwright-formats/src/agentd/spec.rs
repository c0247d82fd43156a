//! A spec of a change: requirements and the scenarios that show them.

use serde::Serialize;

use super::page::{Line, Page};
use super::proposal::{spec_id, spec_names};
use super::yaml::Node;
use super::{Problem, Severity, markdown};

/// Something that is to be true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Requirement {
    /// Its id as it is written: `R1`, `WF-R1`.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// Its line, counted from 1.
    pub line: usize,
}

/// How one sees that it is true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Scenario {
    /// What it is called.
    pub name: String,
    /// Its line, counted from 1.
    pub line: usize,
    /// Whether it says when.
    pub has_when: bool,
    /// Whether it says what then.
    pub has_then: bool,
}

/// A spec as it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Spec {
    /// Its id: what the front matter says, or the name of the file.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// What is to be true, in the order of the text.
    pub requirements: Vec<Requirement>,
    /// How one sees it, in the order of the text.
    pub scenarios: Vec<Scenario>,
    /// The specs that come before it, if it names any.
    pub depends: Vec<String>,
    /// What can be referred to: its headings as anchors.
    #[serde(skip)]
    pub anchors: Vec<String>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

impl Spec {
    /// Reads a spec whose file is called this, without `.md`.
    pub fn read(text: &str, stem: &str) -> Self {
        let page = Page::read(text);
        let (front, fault) = page.front_values();
        let word = |key: &str| {
            front.get(key).and_then(Node::text).map(|it| it.trim().to_owned()).filter(|it| !it.is_empty())
        };
        let depends = ["depends", "depends_on", "dependencies"].iter().find_map(|it| front.get(it));
        let depends = depends
            .into_iter()
            .flat_map(|it| it.text().into_iter().chain(it.items().iter().filter_map(Node::text)));
        let mut spec = Self {
            id: word("id").unwrap_or_else(|| stem.to_owned()),
            title: word("title"),
            requirements: Vec::new(),
            scenarios: Vec::new(),
            depends: depends.flat_map(spec_names).filter_map(|it| spec_id(&it)).collect(),
            anchors: Vec::new(),
            problems: Vec::new(),
        };
        if let Some(fault) = fault {
            let message =
                format!("the front matter is not right, each key was read by itself: {}", fault.message);
            spec.problems.push(Problem::new(Severity::Low, fault.line, message));
        }
        spec.scan(&page);
        spec
    }

    fn scan(&mut self, page: &Page<'_>) {
        let mut body = page.lines.iter().skip(page.body_start());
        let is_text = |it: &Line<'_>| {
            it.is_body() && !it.text.trim().is_empty() && !it.text.trim().starts_with(['<', '#'])
        };
        if !body.clone().any(is_text) {
            self.problems.push(Problem::new(Severity::High, None, "the spec is empty"));
            return;
        }
        let (mut has_overview, mut criteria) = (false, None);
        let mut in_criteria: Option<usize> = None;
        let mut has_bare_scenario = false;
        // Whether the line is part of the scenario that came last.
        let mut is_open = false;
        for line in body.by_ref() {
            let Some((level, title)) = line.heading() else {
                if line.is_body() && (is_open || in_criteria.is_some()) {
                    let (when, then) = steps(line.text);
                    has_bare_scenario |= when && then && in_criteria.is_some() && !is_open;
                    if let Some(scenario) = self.scenarios.last_mut().filter(|_| is_open) {
                        scenario.has_when |= when;
                        scenario.has_then |= then;
                    }
                }
                continue;
            };
            self.anchors.push(markdown::slug(title));
            let name = plain(title);
            if level == 1 {
                self.title.get_or_insert_with(|| title_of(title).to_owned());
            }
            has_overview |= name.starts_with("overview");
            if in_criteria.is_some_and(|it| level <= it) {
                in_criteria = None;
            }
            if name.starts_with("acceptance criteria") {
                criteria = Some(line.number);
                in_criteria = Some(level);
            }
            let scenario = scenario_name(title);
            is_open = scenario.is_some() || (is_open && level > 3);
            if let Some(name) = scenario {
                self.scenarios.push(Scenario { name, line: line.number, has_when: false, has_then: false });
            } else if let Some((id, title)) = requirement(title).filter(|_| level > 1) {
                self.requirements.push(Requirement { id, title, line: line.number });
            } else if level == 3 && in_criteria.is_some() {
                let message = format!("`{title}` is under the acceptance criteria and is no scenario");
                self.problems.push(Problem::new(Severity::High, line.number, message));
            }
        }
        self.check(has_overview, criteria, has_bare_scenario);
    }

    fn check(&mut self, has_overview: bool, criteria: Option<usize>, has_bare_scenario: bool) {
        let mut high = |line: Option<usize>, message: String| {
            self.problems.push(Problem::new(Severity::High, line, message));
        };
        if !has_overview {
            high(None, "the heading `Overview` is missing".to_owned());
        }
        if criteria.is_none() {
            high(None, "the heading `Acceptance Criteria` is missing".to_owned());
        }
        if self.scenarios.is_empty() && !has_bare_scenario {
            high(criteria, "there is no scenario".to_owned());
        }
        for scenario in &self.scenarios {
            let lacks = match (scenario.has_when, scenario.has_then) {
                (true, true) => continue,
                (false, true) => "WHEN",
                (true, false) => "THEN",
                (false, false) => "WHEN and no THEN",
            };
            high(Some(scenario.line), format!("scenario `{}` has no {lacks}", scenario.name));
        }
        for (at, it) in self.requirements.iter().enumerate() {
            if let Some(before) =
                self.requirements.iter().take(at).find(|before| before.id.eq_ignore_ascii_case(&it.id))
            {
                high(
                    Some(it.line),
                    format!("requirement `{}` comes twice, first in line {}", it.id, before.line),
                );
            }
        }
    }

    /// Whether an anchor names something in it: a heading, a requirement or a scenario.
    pub fn has_anchor(&self, anchor: &str) -> bool {
        let wanted = markdown::slug(anchor);
        let is_requirement = |it: &Requirement| {
            let id = it.id.to_lowercase();
            wanted == id || wanted.strip_prefix(&id).is_some_and(|it| it.starts_with('-'))
        };
        self.anchors.contains(&wanted)
            || self.requirements.iter().any(is_requirement)
            || self.scenarios.iter().any(|it| markdown::slug(&it.name) == wanted)
            || self.anchors.iter().any(|it| is_same_but_numbered(it, &wanted))
    }
}

/// Whether an anchor is another one behind a number: `1-overview`.
fn is_same_but_numbered(anchor: &str, wanted: &str) -> bool {
    let bare = anchor.trim_start_matches(|it: char| it.is_ascii_digit() || it == '-');
    !bare.is_empty() && bare == wanted
}

/// A title in lower case, without number and marks.
fn plain(title: &str) -> String {
    title.trim_start_matches(|it: char| !it.is_alphabetic()).to_lowercase()
}

/// A title of the first level without what it is the title of.
fn title_of(title: &str) -> &str {
    let rest = markdown::strip_word(title, "specification").or_else(|| markdown::strip_word(title, "spec"));
    rest.and_then(|it| it.trim_start().strip_prefix(':')).map_or(title, str::trim)
}

/// The name in `Scenario: name`, `Scenario 2: name`, `Scenario - name`.
fn scenario_name(title: &str) -> Option<String> {
    let rest = markdown::strip_word(title.trim_start_matches(|it: char| !it.is_alphabetic()), "scenario")?;
    let rest = rest.trim_start_matches(|it: char| it.is_ascii_digit() || matches!(it, ' ' | '.' | '#' | '*'));
    let name = rest.trim_start_matches([':', '-', '–', '—', '*']).trim();
    (name.len() < rest.len() || rest.is_empty()).then(|| name.to_owned())
}

/// Id and title of a requirement: `R1 - Title`, `R1: Title`, `WF-R1. Title`, `Requirement R1: Title`.
fn requirement(title: &str) -> Option<(String, String)> {
    let start = title.trim_start_matches(['*', '_', '`', '[', ' ']);
    let start = markdown::strip_word(start, "requirement")
        .map_or(start, |it| it.trim_start_matches([' ', ':', '*', '`', '[']));
    let end = start.find(|it: char| !(it.is_ascii_alphanumeric() || it == '-')).unwrap_or(start.len());
    let id = start.get(..end)?.trim_end_matches('-');
    let last = id.rsplit('-').next()?;
    let digits = last.strip_prefix(['R', 'r'])?;
    let number = digits.trim_end_matches(|it: char| it.is_ascii_lowercase());
    let is_prefix =
        |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit());
    let is_id = !number.is_empty()
        && number.bytes().all(|it| it.is_ascii_digit())
        && digits.len() <= number.len() + 1
        && id.rsplit('-').skip(1).all(is_prefix);
    // `R1.2` is a part of `R1` with an id of its own.
    let behind = start.get(id.len()..)?;
    let part = behind.strip_prefix('.').map_or(0, |it| it.bytes().take_while(u8::is_ascii_digit).count());
    let length = id.len() + if part > 0 { part + 1 } else { 0 };
    let (id, behind) = start.split_at_checked(length)?;
    let title = behind
        .trim_start_matches(['*', '_', '`', ']'])
        .trim_start_matches([':', '-', '–', '—', '.', ')', ' ']);
    is_id.then(|| (id.to_owned(), title.trim_end_matches(['*', '_']).trim().to_owned()))
}

/// Whether a line says when, and whether it says what then.
fn steps(line: &str) -> (bool, bool) {
    let text = markdown::bullet(line).unwrap_or(line).trim_start().trim_start_matches(['*', '_', '`']);
    let starts = |word: &str| markdown::strip_word(text, word).is_some();
    let has = |word: &str| line.split(|it: char| !it.is_alphanumeric()).any(|it| it == word);
    (starts("when") || has("WHEN"), starts("then") || has("THEN"))
}
