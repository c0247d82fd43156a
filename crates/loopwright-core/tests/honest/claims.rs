//! What a proof claims of a workflow, and where what was seen goes against it.

use std::collections::BTreeSet;

use loopwright_core::check::{Figure, Report};
use loopwright_core::definition::{Claim, Happened, Workflow};
use loopwright_core::name::Name;
use loopwright_core::problem::{Place, Problem};

use crate::kinds;
use crate::seen::{Begin, Ground, Seen, Stop, begins};
use crate::world::{MOST_ITEMS, People, play};

/// What the proof claims, in a form the world can be held against.
pub(crate) struct Claims<'r> {
    workflow: &'r Workflow,
    report: &'r Report,
    /// States with a signal that has no route.
    unrouted: BTreeSet<Name>,
    /// Whether something was left out of the walk, so that little is claimed.
    cut: bool,
    /// Whether every unattended stretch is said to end.
    bounded: bool,
    ground: Ground<'r>,
    refuted: BTreeSet<usize>,
    vacuous: BTreeSet<usize>,
}

/// One thing a proof got wrong, and the play that shows it.
#[derive(Clone, Debug)]
pub(crate) struct Lie {
    /// What kind of lie, then a colon, then the particulars.
    pub(crate) text: String,
    /// How the play began, its seed and its people.
    pub(crate) shown_by: Option<(Begin, u64, People)>,
}

impl Lie {
    /// The kind of lie.
    pub(crate) fn kind(&self) -> &str {
        self.text.split(':').next().unwrap_or_default()
    }
}

impl<'r> Claims<'r> {
    pub(crate) fn of(workflow: &'r Workflow, report: &'r Report) -> Self {
        let problems = |code: &'static str| report.problems.iter().filter(move |it| it.code == code);
        let states = || workflow.machines().flat_map(|it| it.states.values().map(move |state| (it, state)));
        let state_at = |place: &Place| {
            let found = states().find(|(_, it)| it.place == *place);
            found.map(|(machine, it)| machine.qualified(&it.name))
        };
        let of_property = |code: &'static str| {
            let properties = workflow.properties.iter().enumerate();
            let named = properties.filter(|(_, it)| problems(code).any(|problem| problem.place == it.place));
            named.map(|(at, _)| at).collect()
        };
        // "`ship` needs `review`, and can be entered while ..."
        let gate_of = |it: &Problem| it.message.split('`').nth(3).map(Name::from);
        let bounded = problems("endless").next().is_none() && report.worst.is_some();
        Self {
            workflow,
            report,
            unrouted: problems("unrouted").filter_map(|it| state_at(&it.place)).collect(),
            cut: ["too-wide", "too-large", "not-shown"].iter().any(|it| problems(it).next().is_some()),
            bounded,
            ground: Ground::new(workflow, problems("unsettled").filter_map(gate_of).collect(), !bounded),
            refuted: of_property("property"),
            vacuous: of_property("vacuous"),
        }
    }

    /// Gates that are said to be unsettled somewhere.
    pub(crate) fn unsettled(&self) -> &BTreeSet<Name> {
        &self.ground.said
    }

    /// A play in words.
    pub(crate) fn show(&self, shown_by: &(Begin, u64, People)) -> String {
        let (begin, seed, people) = shown_by;
        let seen = play(&self.ground, begin, *seed, *people, true);
        let mut lines = seen.trace;
        if lines.len() > 80 {
            let end = lines.split_off(lines.len() - 30);
            lines.truncate(30);
            lines.push("...".into());
            lines.extend(end);
        }
        format!("{begin:?} {people:?} seed {seed}\n{}\n{:?}", lines.join("\n"), seen.stop)
    }

    /// Plays the workflow many times and says where it went against its proof, and what happened.
    pub(crate) fn held_against_the_world(
        &self,
        plays: u64,
        salt: u64,
        people: &[People],
    ) -> (Vec<Lie>, BTreeSet<&'static str>) {
        let mut found = Vec::new();
        let mut happened = BTreeSet::new();
        for at in 0..plays {
            for begin in begins(self.workflow) {
                for people in people {
                    let seed = salt.wrapping_mul(1_000_003).wrapping_add(at);
                    let seen = play(&self.ground, &begin, seed, *people, false);
                    happened.extend(kinds::of_play(&seen, *people));
                    let lies = self.contradictions(&seen, *people).into_iter();
                    let shown_by = Some((begin.clone(), seed, *people));
                    found.extend(lies.map(|text| Lie { text, shown_by: shown_by.clone() }));
                }
            }
        }
        (found, happened)
    }

    /// Where what was seen is not what was claimed.
    pub(crate) fn contradictions(&self, seen: &Seen, people: People) -> Vec<String> {
        let mut found: Vec<String> = seen.wrong.iter().map(|it| format!("machine: {it}")).collect();
        if self.cut {
            return found;
        }
        // With a gate that is reported as unsettled, nothing is said about anything else yet.
        if !self.unsettled().is_empty() {
            return found;
        }
        match &seen.stop {
            Some(Stop::NoRoute(state, signal)) if !self.unrouted.contains(state) => {
                found.push(format!("no-route: `{state}` has no route for `{signal}`"));
            }
            Some(Stop::Refused(why)) => found.push(format!("refused: {why}")),
            Some(Stop::TooLong) if self.bounded => found.push("too-long: it does not end".into()),
            None => found.push("machine: it did not stop".into()),
            _ => {}
        }
        if self.bounded {
            self.bounds(seen, people, &mut found);
        }
        self.gates(seen, people, &mut found);
        self.properties(seen, people, &mut found);
        self.reach(seen, &mut found);
        found
    }

    fn bounds(&self, seen: &Seen, people: People, found: &mut Vec<String>) {
        let Some(worst) = &self.report.worst else { return };
        let mut hold = |what: &str, count: u64, figure: Option<&Figure>| {
            let bound = figure.map(within);
            if bound.is_some_and(|bound| count > bound) {
                found.push(format!("{what}: {count}, and {} was the bound", bound.unwrap_or(0)));
            }
        };
        let none = Figure::default();
        hold("calls", seen.stretch.calls, Some(&worst.calls));
        for (role, count) in &seen.stretch.calls_of {
            hold(&format!("calls-of-{role}"), *count, worst.calls_of.get(&**role).or(Some(&none)));
        }
        hold("time", seen.stretch.time, Some(&worst.time));
        hold("money", seen.stretch.money, worst.money.as_ref());
        hold("tokens", seen.stretch.tokens, worst.tokens.as_ref());
        if people == People::Quiet {
            hold("whole-run", seen.calls, worst.whole_run.as_ref());
        }
        if self.report.problems.iter().any(|it| it.code == "over-cap" || it.code == "unknown-price") {
            return;
        }
        let caps = &self.workflow.caps;
        let mut hold = |what: &str, count: u64, cap: Option<&(u64, Place)>| {
            if let Some((cap, _)) = cap.filter(|(cap, _)| count > *cap) {
                found.push(format!("cap-on-{what}: {count}, and {cap} was the cap"));
            }
        };
        hold("calls", seen.stretch.calls, caps.calls.as_ref());
        for (role, count) in &seen.stretch.calls_of {
            hold("calls-of", *count, caps.calls_of.get(&**role));
        }
        hold("time", seen.stretch.time, caps.time.as_ref());
        hold("money", seen.stretch.money, caps.money.as_ref());
    }

    /// Gates that turned out unsettled although nobody touched anything; and states that went on although what a gate
    /// judged is not what it was, whoever changed it.
    fn gates(&self, seen: &Seen, people: People, found: &mut Vec<String>) {
        for (state, gates) in &seen.stale {
            if people == People::Quiet && !gates.iter().any(|it| self.unsettled().contains(it)) {
                found.push(format!("unsettled: `{state}` found {gates:?} unsettled"));
            }
        }
        for (state, gate) in &seen.unjudged {
            if !self.unsettled().contains(gate) {
                found.push(format!("unjudged: `{state}` went on although `{gate}` was not judged as it is"));
            }
        }
    }

    fn properties(&self, seen: &Seen, people: People, found: &mut Vec<String>) {
        for index in &seen.broken {
            // What people edit meanwhile, and facts they change by it, is not part of what is claimed.
            let outside = match &self.workflow.properties[*index].claim {
                Claim::Always { comes: Happened::Settled { .. }, .. } => true,
                Claim::Never { before, when, .. } => {
                    !when.is_empty() || before.iter().any(|it| matches!(it, Happened::Settled { .. }))
                }
                _ => false,
            };
            if outside && people != People::Quiet || self.refuted.contains(index) {
                continue;
            }
            let said = if self.vacuous.contains(index) { "said to say nothing" } else { "proved" };
            found.push(format!("property: property {index} is broken, and was {said}"));
        }
    }

    fn reach(&self, seen: &Seen, found: &mut Vec<String>) {
        let told = |code: &str, text: &str| {
            self.report.problems.iter().any(|it| it.code == code && it.message.contains(text))
        };
        for (state, given) in &seen.missing {
            if !told("undefined-input", &format!("`{given}`")) {
                found.push(format!("undefined: `{state}` is not given `{given}`"));
            }
        }
        for name in &seen.entered {
            if told("unreachable", &format!("nothing leads to `{name}`")) {
                found.push(format!("unreachable: `{name}` is entered"));
            }
        }
        for (child, place) in &seen.taken {
            let owner = child.as_deref().map_or(String::new(), |it| format!("{it}."));
            let never =
                self.report.problems.iter().filter(|it| it.code == "never-taken" && it.place == *place);
            let own = never.filter(|it| it.message.contains(&format!("of `{owner}")));
            found.extend(own.map(|it| format!("never-taken: {}", it.message)));
        }
    }
}

/// What a figure allows when every loop finds as many items as it does here.
fn within(figure: &Figure) -> u64 {
    let items = |depth: usize| MOST_ITEMS.saturating_pow(u32::try_from(depth).unwrap_or(u32::MAX));
    figure.per_item.iter().fold(figure.at_most, |sum, it| sum + it.at_most * items(it.loops.len()))
}
