//! All issues of a folder: what can be done now, what waits for what, what is part of what.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::{Issue, Status, words};
use crate::agentd::graph;

/// All issues of a folder.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    issues: Vec<(String, Issue)>,
    places: HashMap<String, usize>,
    children: HashMap<String, Vec<usize>>,
}

/// How an issue stands among the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "standing", content = "for", rename_all = "kebab-case")]
pub enum Standing {
    /// It can be done now.
    Ready,
    /// It needs these first: they are not done, or not there.
    Waits(Vec<String>),
    /// These parts of it are not done.
    Parts(Vec<String>),
    /// Somebody is at it here.
    InProgress,
    /// Somebody is at it, or done with it, elsewhere.
    Elsewhere(String),
    /// It is done.
    Done,
    /// Nobody can tell: something is wrong with its file.
    Unclear(String),
}

/// An issue in the tree of all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Branch {
    /// The issue.
    pub id: String,
    /// How far in it stands.
    pub depth: usize,
    /// Whether it needs the one it stands below, and is not a part of it.
    pub after: bool,
}

impl Tracker {
    /// Of all issues, each with the name of its file. Two of one id are both kept; the first goes by it.
    pub fn of(mut issues: Vec<(String, Issue)>) -> Self {
        issues.sort_by(|one, other| {
            place(&one.1.id).cmp(&place(&other.1.id)).then_with(|| one.0.cmp(&other.0))
        });
        let mut tracker = Self { places: HashMap::with_capacity(issues.len()), ..Self::default() };
        for (at, (file, issue)) in issues.iter().enumerate() {
            let is_own = file.strip_suffix(".md") == Some(&issue.id);
            let known = tracker.places.entry(issue.id.clone()).or_insert(at);
            if is_own {
                *known = at;
            }
            if let Some(parent) = &issue.parent {
                tracker.children.entry(parent.clone()).or_default().push(at);
            }
        }
        tracker.issues = issues;
        tracker
    }

    /// All issues with their files, in the order of their ids.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Issue)> {
        self.issues.iter().map(|(file, issue)| (file.as_str(), issue))
    }

    /// The issue of an id.
    pub fn get(&self, id: &str) -> Option<&Issue> {
        self.places.get(id).and_then(|at| self.issues.get(*at)).map(|it| &it.1)
    }

    /// The file of an id.
    pub fn file_of(&self, id: &str) -> Option<&str> {
        self.places.get(id).and_then(|at| self.issues.get(*at)).map(|it| it.0.as_str())
    }

    /// The parts of an issue, in the order of their ids.
    pub fn children(&self, id: &str) -> impl Iterator<Item = &Issue> {
        self.children.get(id).into_iter().flatten().filter_map(|at| self.issues.get(*at)).map(|it| &it.1)
    }

    /// Issues that wait for each other, in circles: for what they need, and for their parts.
    pub(super) fn circles(&self) -> Vec<Vec<&(String, Issue)>> {
        let names: Vec<&str> = self.issues.iter().map(|it| it.1.id.as_str()).collect();
        let waits = |issue: &Issue| -> Vec<String> {
            let parts = self.children(&issue.id).map(|it| &it.id);
            issue.depends_on.iter().chain(parts).filter(|it| **it != issue.id).cloned().collect()
        };
        let waits: Vec<Vec<String>> = self.issues.iter().map(|it| waits(&it.1)).collect();
        let waits: Vec<&[String]> = waits.iter().map(Vec::as_slice).collect();
        let circles = graph::cycles(&names, &waits);
        circles.iter().map(|it| it.iter().filter_map(|at| self.issues.get(*at)).collect()).collect()
    }

    /// What an issue needs first that is not done, or not there.
    pub fn waits_for(&self, issue: &Issue) -> Vec<String> {
        let is_open = |id: &&String| self.get(id).is_none_or(|it| it.status != Status::Done);
        issue.depends_on.iter().filter(is_open).cloned().collect()
    }

    /// How an issue stands. `elsewhere` says of an id where else somebody is at it.
    pub fn standing(&self, id: &str, elsewhere: impl Fn(&str) -> Option<String>) -> Option<Standing> {
        let issue = self.get(id)?;
        if let Some(problem) = issue.problems.first() {
            return Some(Standing::Unclear(problem.to_string()));
        }
        match issue.status {
            Status::Done => return Some(Standing::Done),
            Status::InProgress => return Some(Standing::InProgress),
            Status::Todo => {}
        }
        let waits = self.waits_for(issue);
        if !waits.is_empty() {
            return Some(Standing::Waits(waits));
        }
        let open = self.children(id).filter(|it| it.status != Status::Done).map(|it| it.id.clone());
        let open: Vec<String> = open.collect();
        if !open.is_empty() {
            return Some(Standing::Parts(open));
        }
        Some(elsewhere(id).map_or(Standing::Ready, Standing::Elsewhere))
    }

    /// What can be done now.
    pub fn ready(&self, elsewhere: impl Fn(&str) -> Option<String>) -> Vec<&Issue> {
        let own = self.issues.iter().map(|it| &it.1);
        own.filter(|it| self.standing(&it.id, &elsewhere) == Some(Standing::Ready)).collect()
    }

    /// All issues as a tree, or one with what is part of it: parts in the order in which they can be done, those that need
    /// others of them below these.
    pub fn tree(&self, root: Option<&str>) -> Vec<Branch> {
        let mut tree = Vec::new();
        let mut seen = HashSet::new();
        let is_root = |issue: &Issue| issue.parent.as_ref().is_none_or(|it| !self.places.contains_key(it));
        let roots: Vec<usize> = if let Some(id) = root {
            self.places.get(id).copied().into_iter().collect()
        } else {
            self.issues.iter().enumerate().filter(|(_, it)| is_root(&it.1)).map(|(at, _)| at).collect()
        };
        self.grow(&roots, 0, &mut seen, &mut tree);
        // Parts of each other have no root.
        if root.is_none() {
            for at in 0..self.issues.len() {
                if !seen.contains(&at) {
                    self.grow(&[at], 0, &mut seen, &mut tree);
                }
            }
        }
        tree
    }

    fn grow(&self, places: &[usize], depth: usize, seen: &mut HashSet<usize>, tree: &mut Vec<Branch>) {
        // What stands below what, and whether it needs that; a list to go through, for a chain may be long.
        let (order, mut below) = self.arranged(places);
        let mut stack: Vec<(usize, usize, bool)> = order.iter().rev().map(|at| (*at, depth, false)).collect();
        while let Some((at, depth, after)) = stack.pop() {
            if !seen.insert(at) {
                continue;
            }
            let Some((_, issue)) = self.issues.get(at) else { continue };
            tree.push(Branch { id: issue.id.clone(), depth, after });
            let parts: Vec<usize> = if self.places.get(&issue.id) == Some(&at) {
                self.children.get(&issue.id).into_iter().flatten().copied().collect()
            } else {
                Vec::new()
            };
            let (order, more) = self.arranged(&parts);
            // Behind its parts comes what needs it.
            let later = below.remove(&at).unwrap_or_default();
            stack.extend(later.into_iter().rev().map(|it| (it, depth + 1, true)));
            stack.extend(order.into_iter().rev().map(|it| (it, depth + 1, false)));
            for (under, all) in more {
                below.entry(under).or_default().extend(all);
            }
        }
    }

    /// Issues in the order in which they can be done: those that need none of the others, and which stand below which.
    fn arranged(&self, places: &[usize]) -> (Vec<usize>, HashMap<usize, Vec<usize>>) {
        let own: HashSet<usize> = places.iter().copied().collect();
        let needs = |at: usize| -> Vec<usize> {
            let depends = self.issues.get(at).map(|it| it.1.depends_on.as_slice()).unwrap_or_default();
            let found = depends.iter().filter_map(|it| self.places.get(it).copied());
            found.filter(|it| own.contains(it) && *it != at).collect()
        };
        let mut placed: HashMap<usize, usize> = HashMap::with_capacity(places.len());
        let (mut order, mut below): (Vec<usize>, HashMap<usize, Vec<usize>>) = (Vec::new(), HashMap::new());
        let mut waiting: Vec<usize> = places.to_vec();
        while !waiting.is_empty() {
            let (now, later): (Vec<usize>, Vec<usize>) =
                waiting.iter().partition(|at| needs(**at).iter().all(|it| placed.contains_key(it)));
            // Those in a circle stand as if they needed nothing.
            let (now, later) = if now.is_empty() { (later, Vec::new()) } else { (now, later) };
            let rank = placed.len();
            for (step, at) in now.iter().enumerate() {
                match needs(*at)
                    .into_iter()
                    .filter(|it| placed.contains_key(it))
                    .max_by_key(|it| placed.get(it).copied())
                {
                    Some(last) => below.entry(last).or_default().push(*at),
                    None => order.push(*at),
                }
                placed.insert(*at, rank + step);
            }
            waiting = later;
        }
        (order, below)
    }
}

/// Where an id stands among others.
pub fn place(id: &str) -> (&str, u64, &str) {
    match words::parts_of(id) {
        Some((prefix, number)) => (prefix, number, id),
        None => (id, u64::MAX, id),
    }
}
