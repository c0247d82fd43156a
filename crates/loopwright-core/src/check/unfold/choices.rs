//! Choices: what the world decides anew each time an outcome is routed.

use super::super::slots::Slot;
use super::planner::Planner;
use super::{Came, MOST_VALUATIONS};
use crate::definition::{Arm, Kind, Outcomes, State, Term};
use crate::machine::Run;
use crate::name::Name;

/// Everything that may come out any way when a cell is routed.
#[derive(Default)]
pub(super) struct Choices {
    pub(super) all: Vec<Choice>,
    /// There are too many to list.
    pub(super) too_many: bool,
}

/// One thing that may come out any way.
pub(super) struct Choice {
    what: Chosen,
    pub(super) values: Vec<Name>,
}

#[derive(PartialEq, Eq)]
enum Chosen {
    Fact(Name),
    Changed(Name),
    Field(Name),
    SameAgain,
    Topic,
}

impl Choices {
    pub(super) fn of(
        planner: &Planner<'_, '_>,
        state: &State,
        signal: &Name,
        arms: &[Arm],
        outcomes: &Outcomes,
    ) -> Self {
        let mut terms: Vec<Term> = Vec::new();
        for condition in arms.iter().flat_map(|it| &it.when) {
            flatten(planner, &condition.term, &mut terms);
        }
        // A field somebody reads later has to be told apart now.
        terms.extend(planner.slots.kept.iter().filter_map(|it| match &it.slot {
            Slot::Term(Term::LastField(of, field)) if *of == state.name => Some(Term::Field(field.clone())),
            _ => None,
        }));
        let best = outcomes.get_index_of(&**signal).is_none_or(|it| it == 0);
        let fields = outcomes.get(&**signal).map(|it| &it.fields);
        let yes_no = || vec![Name::from("no"), Name::from("yes")];
        let mut sorted: [Vec<Choice>; 5] = Default::default();
        for term in &terms {
            let (rank, what, values) = match term {
                Term::Fact(name) => {
                    let own = planner.machine.facts.get(&**name);
                    let fact = own.or_else(|| planner.workflow.main.facts.get(&**name));
                    (0, Chosen::Fact(name.clone()), fact.map(|it| it.values.clone()).unwrap_or_default())
                }
                Term::Changed(document) => (1, Chosen::Changed(document.clone()), yes_no()),
                Term::Field(field) => {
                    let values = fields.and_then(|it| it.get(&**field)).cloned();
                    (2, Chosen::Field(field.clone()), values.unwrap_or_default())
                }
                Term::SameAgain if best => (3, Chosen::SameAgain, vec!["no".into()]),
                Term::SameAgain => (3, Chosen::SameAgain, yes_no()),
                Term::Topic if !best => (4, Chosen::Topic, topics(planner, state)),
                _ => continue,
            };
            if !values.is_empty() && !sorted[rank].iter().any(|it| it.what == what) {
                sorted[rank].push(Choice { what, values });
            }
        }
        let all: Vec<Choice> = sorted.into_iter().flatten().collect();
        let combinations = all.iter().map(|it| it.values.len()).try_fold(1_usize, usize::checked_mul);
        Self { all, too_many: combinations.is_none_or(|it| it > MOST_VALUATIONS) }
    }

    fn position(&self, what: &Chosen) -> Option<usize> {
        self.all.iter().position(|it| it.what == *what)
    }

    pub(super) fn field(&self, name: &Name) -> Option<usize> {
        self.position(&Chosen::Field(name.clone()))
    }

    /// The choice a term of a condition reads.
    pub(super) fn of_term(&self, term: &Term) -> Option<usize> {
        match term {
            Term::Fact(name) => self.position(&Chosen::Fact(name.clone())),
            Term::Changed(name) => self.position(&Chosen::Changed(name.clone())),
            Term::Field(name) => self.field(name),
            Term::SameAgain => self.position(&Chosen::SameAgain),
            Term::Topic => self.position(&Chosen::Topic),
            Term::Outer(inner) => self.of_term(inner),
            _ => None,
        }
    }

    /// How many ways each can come out. The same findings come again only after some were handed on.
    pub(super) fn sizes(&self, handed: bool) -> Vec<u16> {
        let size = |it: &Choice| match it.what {
            Chosen::SameAgain if !handed => 1,
            _ => u16::try_from(it.values.len()).unwrap_or(u16::MAX),
        };
        self.all.iter().map(size).collect()
    }

    /// Whether these can come together: what was handed on under one topic and is open again is about that topic, or one
    /// before it. `handed` is the slot's value: nothing, or a topic from one on.
    pub(super) fn agree(&self, chosen: &[u16], handed: Option<u16>) -> bool {
        let value = |what: &Chosen| self.position(what).map(|it| chosen[it]);
        let (Some(1), Some(topic), Some(handed)) = (value(&Chosen::SameAgain), value(&Chosen::Topic), handed)
        else {
            return true;
        };
        topic < handed
    }

    /// The choice of a topic.
    pub(super) fn topic(&self) -> Option<usize> {
        self.position(&Chosen::Topic)
    }

    /// What was chosen, by name.
    pub(super) fn tell(&self, chosen: &[u16], came: &mut Came) {
        for (choice, value) in self.all.iter().zip(chosen) {
            let Some(name) = choice.values.get(usize::from(*value)) else { continue };
            match &choice.what {
                Chosen::Fact(fact) => came.facts.push((fact.clone(), name.clone())),
                Chosen::Changed(document) => came.changed.push((document.clone(), *value == 1)),
                Chosen::Field(field) => came.fields.push((field.clone(), name.clone())),
                Chosen::SameAgain => came.same_again = Some(*value == 1),
                Chosen::Topic => came.topic = Some(name.clone()),
            }
        }
    }
}

/// A term and what it stands for, as far as the world decides it.
fn flatten(planner: &Planner<'_, '_>, term: &Term, terms: &mut Vec<Term>) {
    match term {
        Term::Fact(_) if planner.slots.term(term).is_some() => {}
        Term::Outer(inner) if matches!(**inner, Term::Fact(_) | Term::Changed(_)) => {
            terms.push((**inner).clone());
        }
        Term::Owed(gate) => {
            for condition in Run::owed_when(planner.machine, gate) {
                flatten(planner, &condition.term, terms);
            }
        }
        term => terms.push(term.clone()),
    }
}

fn topics(planner: &Planner<'_, '_>, state: &State) -> Vec<Name> {
    let Kind::Review { call, .. } = &state.kind else { return Vec::new() };
    let roles = call.role.values().filter_map(|it| planner.workflow.roles.get(&**it)?.findings.as_ref());
    roles.flat_map(|it| it.topic.clone()).collect()
}

/// Counts through all combinations; the last place turns fastest.
pub(super) fn turn(places: &mut [u16], sizes: &[u16]) -> bool {
    for (place, size) in places.iter_mut().zip(sizes).rev() {
        *place += 1;
        if *place < *size {
            return true;
        }
        *place = 0;
    }
    false
}
