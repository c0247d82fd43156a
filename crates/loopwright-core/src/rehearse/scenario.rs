//! A scenario: what comes back, and the walk expected. The same file a person writes and the proof prints.

use std::fmt::Write as _;

use indexmap::IndexMap;
use serde::Serialize;

use super::actor::Play;
use crate::name::Name;

/// A run to be played.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Scenario {
    /// What it shows.
    #[serde(rename = "scenario")]
    pub name: String,
    /// How it begins.
    pub start: Start,
    /// Facts, until a step changes them.
    pub facts: IndexMap<Name, Name>,
    /// The ids loops find, by where the list is.
    pub items: IndexMap<String, Vec<String>>,
    /// What comes back, in order.
    pub steps: Vec<Step>,
    /// What must be true of the walk.
    pub expect: Expect,
}

/// How a scenario begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Start {
    /// With a verb.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verb: Option<Name>,
    /// Imported at a phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Name>,
    /// Variables chosen.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub vars: IndexMap<Name, Name>,
    /// Items an import brings along as done, by loop, and how each ended.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub done: IndexMap<Name, IndexMap<String, Name>>,
}

/// One thing that happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// A state's work comes out.
    State {
        /// The child, if it is a child's state.
        child: Option<Name>,
        /// The state.
        state: Name,
        /// How.
        play: Box<Play>,
    },
    /// Facts change.
    Facts(IndexMap<Name, Name>),
    /// A person says a verb.
    Verb(Name),
    /// A person edits documents.
    Edit(Vec<Name>),
}

/// What must be true of the walk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Expect {
    /// It ends here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Name>,
    /// It rests, or waits for an answer, here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<Name>,
    /// Every state in order, children's as `child.state`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walk: Option<Vec<Name>>,
    /// Gates passed over, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forced: Option<Vec<Name>>,
    /// What was spent.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub spent: IndexMap<Name, u32>,
    /// Agent calls in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u32>,
    /// The last state entered is this one (a path that shows a problem stops there).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reaches: Option<Name>,
    /// The last signal has no route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unrouted: Option<Name>,
    /// The last state needed these gates and they were not settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsettled: Option<Name>,
    /// This verb is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Name>,
    /// The last so many steps can be repeated for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endless: Option<usize>,
}

impl Scenario {
    /// The scenario as a file that `rehearse` reads.
    pub fn to_yaml(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "scenario: {}", quoted(&self.name));
        let mut start = Vec::new();
        start.extend(self.start.verb.iter().map(|it| format!("verb: {it}")));
        start.extend(self.start.phase.iter().map(|it| format!("phase: {}", quoted(it))));
        if !self.start.vars.is_empty() {
            start.push(format!("vars: {}", inline(&self.start.vars)));
        }
        if !self.start.done.is_empty() {
            let ended = |items: &IndexMap<String, Name>| {
                items.iter().map(|(id, end)| format!("{}: {end}", quoted(id))).collect::<Vec<_>>().join(", ")
            };
            let loops = self.start.done.iter().map(|(state, items)| format!("{state}: {{{}}}", ended(items)));
            start.push(format!("done: {{{}}}", loops.collect::<Vec<_>>().join(", ")));
        }
        if !start.is_empty() {
            let _ = writeln!(out, "start: {{{}}}", start.join(", "));
        }
        if !self.facts.is_empty() {
            let _ = writeln!(out, "facts: {}", inline(&self.facts));
        }
        if !self.items.is_empty() {
            let lists: Vec<String> =
                self.items.iter().map(|(list, ids)| format!("{list}: [{}]", ids.join(", "))).collect();
            let _ = writeln!(out, "items: {{{}}}", lists.join(", "));
        }
        out.push_str(if self.steps.is_empty() { "steps: []\n" } else { "steps:\n" });
        for step in &self.steps {
            let _ = writeln!(out, "  - {}", step.to_yaml());
        }
        let expect = self.expect.to_yaml();
        if !expect.is_empty() {
            let _ = writeln!(out, "expect:\n{expect}");
        }
        out
    }
}

impl Step {
    /// What it says of this state, if it is about it.
    pub(super) fn about(&self, of: Option<&Name>, name: &Name) -> Option<&Play> {
        match self {
            Self::State { child, state, play } if child.as_ref() == of && state == name => Some(play),
            _ => None,
        }
    }

    fn to_yaml(&self) -> String {
        match self {
            Self::Facts(facts) => format!("facts: {}", inline(facts)),
            Self::Verb(verb) => format!("verb: {verb}"),
            Self::Edit(documents) => format!("edit: [{}]", join(documents)),
            Self::State { child, state, play } => {
                let name = child.as_ref().map_or_else(|| state.to_string(), |it| format!("{it}.{state}"));
                format!("{name}: {}", play.to_yaml())
            }
        }
    }
}

impl Play {
    fn to_yaml(&self) -> String {
        let mut parts: Vec<String> = self.signal.iter().map(|it| format!("is: {}", quoted(it))).collect();
        parts.extend(self.fields.iter().map(|(name, value)| format!("{name}: {value}")));
        parts.extend(self.same_again.map(|it| format!("same-again: {}", if it { "yes" } else { "no" })));
        parts.extend(self.topic.iter().map(|it| format!("topic: {it}")));
        parts.extend(self.facts.iter().map(|(name, value)| format!("{name}: {value}")));
        parts.extend(self.changed.as_ref().map(|it| format!("changed: [{}]", join(it))));
        parts.extend(self.edited.as_ref().map(|it| format!("edited: [{}]", join(it))));
        parts.extend(self.wrote.as_ref().map(|it| format!("wrote: [{}]", join(it))));
        parts.extend(self.items.as_ref().map(|it| format!("items: [{}]", it.join(", "))));
        match (parts.len(), &self.signal) {
            (1, Some(signal)) => quoted(signal),
            _ => format!("{{{}}}", parts.join(", ")),
        }
    }
}

impl Expect {
    fn to_yaml(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        let named = [
            ("end", &self.end),
            ("rest", &self.rest),
            ("reaches", &self.reaches),
            ("unrouted", &self.unrouted),
            ("unsettled", &self.unsettled),
            ("refused", &self.refused),
        ];
        for (key, value) in named {
            lines.extend(value.as_ref().map(|it| format!("  {key}: {}", quoted(it))));
        }
        lines.extend(self.endless.map(|it| format!("  endless: {it}")));
        lines.extend(self.walk.as_ref().map(|it| format!("  walk: [{}]", join(it))));
        lines.extend(self.forced.as_ref().map(|it| format!("  forced: [{}]", join(it))));
        if !self.spent.is_empty() {
            let spent: Vec<String> = self.spent.iter().map(|(name, it)| format!("{name}: {it}")).collect();
            lines.push(format!("  spent: {{{}}}", spent.join(", ")));
        }
        lines.extend(self.calls.map(|it| format!("  calls: {it}")));
        lines.join("\n")
    }
}

fn join(names: &[Name]) -> String {
    names.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(", ")
}

fn inline(map: &IndexMap<Name, Name>) -> String {
    let parts: Vec<String> = map.iter().map(|(name, value)| format!("{name}: {}", quoted(value))).collect();
    format!("{{{}}}", parts.join(", "))
}

fn quoted(text: &str) -> String {
    if crate::language::is_name(text) && !matches!(text, "null" | "true" | "false") {
        return text.to_owned();
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " "))
}
