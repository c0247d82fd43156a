//! An actor that makes things up, the same way for the same seed.

use indexmap::IndexMap;

use super::actor::{Actor, Listing, Moment, Play};
use crate::definition::{Arm, Kind, Term, Workflow};
use crate::machine::Stage;
use crate::name::Name;
use crate::signal;

/// Where each fails as often as it works, nothing comes to an end: one outcome in so many is a failure.
const ONE_FAILS_IN: usize = 24;
/// Runs differ: in some anything comes out, in others one outcome in so many is drawn and the rest are the best.
const MOODS: [usize; 3] = [1, 4, 12];
/// How often facts are drawn again for the sake of an arm that is hard to come by.
const MOST_DRAWS: usize = 50;

/// Makes up what comes back.
#[derive(Clone, Debug)]
pub struct Chance {
    state: u64,
    /// Whether failures are among it.
    pub faults: bool,
    /// How often people answer or say something before they leave the run alone.
    pub patience: u32,
    /// The most items a loop finds.
    pub most_items: u64,
    /// One outcome in so many is drawn; the rest are the best there is.
    calm: usize,
}

impl Chance {
    /// The same seed makes up the same things.
    pub fn new(seed: u64, faults: bool) -> Self {
        let mut chance = Self { state: seed, faults, patience: 24, most_items: 2, calm: 1 };
        let mood = chance.below(MOODS.len());
        chance.calm = MOODS.get(mood).copied().unwrap_or(1);
        chance
    }

    /// The next number (splitmix64).
    pub fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Variables a person chooses at the start.
    pub fn inputs(&mut self, workflow: &Workflow) -> IndexMap<Name, Name> {
        let inputs = workflow.main.vars.iter().filter(|(_, it)| it.input);
        inputs.filter_map(|(name, it)| Some((name.clone(), self.one_of(&it.values)?.clone()))).collect()
    }

    fn below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { usize::try_from(self.draw() % limit as u64).unwrap_or(0) }
    }

    /// Values for facts, each as likely as the others.
    fn some_facts(&mut self, moment: &Moment<'_>, facts: &[Name]) -> IndexMap<Name, Name> {
        let machine = moment.run.machine(moment.workflow);
        let mut drawn = IndexMap::new();
        for name in facts {
            let fact = machine
                .and_then(|it| it.facts.get(&**name))
                .or_else(|| moment.workflow.main.facts.get(&**name));
            if let Some(value) = fact.and_then(|it| self.one_of(&it.values)) {
                drawn.insert(name.clone(), value.clone());
            }
        }
        drawn
    }

    fn one_of<'n>(&mut self, names: &'n [Name]) -> Option<&'n Name> {
        names.get(self.below(names.len()))
    }
}

impl Actor for Chance {
    fn come_out(&mut self, moment: &Moment<'_>) -> Option<Play> {
        let faults = self.faults;
        let asks = matches!(moment.state.kind, Kind::Ask { .. });
        let signals: Vec<Name> = moment
            .state
            .cells
            .keys()
            .filter(|it| {
                **it != signal::STALE && **it != signal::OVER_BUDGET && (faults || !signal::is_failure(it))
            })
            .filter(|it| {
                !asks || self.patience > 0 || !signal::waits_for_person(moment.workflow, moment.state, it)
            })
            .cloned()
            .collect();
        let (failures, outcomes): (Vec<Name>, Vec<Name>) =
            signals.into_iter().partition(|it| signal::is_failure(it));
        let fails = !failures.is_empty() && self.below(ONE_FAILS_IN) == 0;
        let signal = if fails || outcomes.is_empty() {
            self.one_of(&failures)?.clone()
        } else if self.below(self.calm) == 0 {
            self.one_of(&outcomes)?.clone()
        } else {
            outcomes.first()?.clone()
        };
        if asks && signal::waits_for_person(moment.workflow, moment.state, &signal) {
            self.patience -= 1;
        }
        let mut play = Play { signal: Some(signal.clone()), ..Play::default() };
        if let Some(declared) = signal::outcomes_of(moment.workflow, moment.state).get(&*signal) {
            for (name, values) in &declared.fields {
                if let Some(value) = self.one_of(values) {
                    play.fields.insert(name.clone(), value.clone());
                }
            }
        }
        if let Kind::Review { call, .. } = &moment.state.kind
            && let Some(findings) =
                moment.run.pick(&call.role).and_then(|it| moment.workflow.roles.get(&**it)?.findings.as_ref())
        {
            play.same_again = Some(self.below(2) == 0);
            play.topic = self.one_of(&findings.topic).cloned();
        }
        if self.below(3) == 0 {
            play.wrote = Some(Vec::new());
        }
        Some(play)
    }

    fn facts(&mut self, moment: &Moment<'_>, facts: &[Name]) -> IndexMap<Name, Name> {
        let arms = deciding(moment);
        let wanted = self.below(arms.len());
        let mut drawn = self.some_facts(moment, facts);
        for _ in 1..MOST_DRAWS {
            if arms.iter().position(|it| agrees(it, &drawn)).is_none_or(|it| it == wanted) {
                break;
            }
            drawn = self.some_facts(moment, facts);
        }
        drawn
    }

    fn changed(&mut self, _: &Moment<'_>, documents: &[Name]) -> Vec<Name> {
        documents.iter().filter(|_| self.draw().is_multiple_of(2)).cloned().collect()
    }

    fn items(&mut self, _: &Moment<'_>, _: &str) -> Option<Listing> {
        let count = self.draw() % (self.most_items + 1);
        Some(Listing::Ids((1..=count).map(|it| it.to_string()).collect()))
    }

    fn verb(&mut self, _: &Moment<'_>, verbs: &[Name]) -> Option<Name> {
        self.patience = self.patience.checked_sub(1)?;
        self.one_of(verbs).cloned()
    }

    fn edits(&mut self, _: &Moment<'_>) -> Vec<Name> {
        Vec::new()
    }
}

/// The arms a run is choosing from.
fn deciding<'m>(moment: &Moment<'m>) -> &'m [Arm] {
    let Stage::Deciding { outcome, .. } = &moment.run.at.stage else { return &[] };
    moment.state.cells.get(&*outcome.signal).map(|it| it.arms.as_slice()).unwrap_or_default()
}

/// Whether an arm may be taken, as far as these facts are concerned.
fn agrees(arm: &Arm, facts: &IndexMap<Name, Name>) -> bool {
    arm.when.iter().all(|it| match &it.term {
        Term::Fact(name) => facts.get(&**name).is_none_or(|value| it.values.contains(value)),
        _ => true,
    })
}
