//! Watches: what has to be true when certain states are entered, one bit each.

use super::presence;
use super::slots::{BY_ITSELF, Slot};
use super::unfold::{Begin, Setting, Unfolded, Values, goes_before};
use super::watched::root_of;
use super::writes::{self, Documents};
use crate::definition::{Arm, Condition, EachRun, Gate, Happened, Kind, Machine, Outcome, State, Term};
use crate::name::{Name, in_expression};
use crate::problem::Place;
use crate::signal;

/// Something that has to be true when certain states are entered.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    /// What a person would call it.
    pub(super) name: String,
    pub(super) what: What,
}

/// What is watched.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// A gate is settled where it is needed.
    Gate(Name),
    /// Something happened before a state is reached (an author's property).
    Before {
        /// Which property.
        property: usize,
        /// The state.
        reach: Name,
        /// What must have happened.
        happened: Happened,
        /// Only for these values.
        when: Vec<Condition>,
        /// For something in a child: where it surely happens, by loop, setting and end.
        inside: Vec<(Name, Setting, Vec<Name>)>,
    },
    /// Something follows a state before success (an author's property).
    After {
        /// Which property.
        property: usize,
        /// The state.
        after: Name,
        /// What follows.
        comes: Happened,
        /// For something in a child: where it surely happens, by loop, setting and end.
        inside: Vec<(Name, Setting, Vec<Name>)>,
    },
    /// Something a prompt or a person is given is there.
    Defined {
        /// The name: `docs.spec`, `last.review`, `inputs.goal`.
        given: String,
        /// The document that must be there; one of a group's, for a group.
        document: Option<Name>,
        /// States that are given it, and where that is said.
        by: Vec<(Name, Place)>,
    },
    /// In a child: something happened before this end.
    Inside {
        /// The state and signals.
        happened: Happened,
        /// The end.
        end: Name,
    },
    /// In a child: what is seen on every way to this end. Nobody asks for it; it tells what the parent may count on, and a
    /// run that breaks it shows another way.
    OnTheWay {
        /// What is seen.
        seen: Seen,
        /// The end.
        end: Name,
    },
}

/// What may be seen on the way to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// No gate was passed over.
    NothingForced,
    /// A gate was passed over.
    SomethingForced,
    /// None of these was written.
    NotWritten(Documents),
}

/// An arm as the watches see it: out of a state that was entered with these values and came out like this.
pub(super) struct Taken<'a> {
    pub(super) state: &'a State,
    pub(super) before: &'a Values,
    pub(super) signal: &'a Name,
    pub(super) arm: &'a Arm,
}

impl Watch {
    /// Whether it must be true on entering a state with these values.
    pub(super) fn requires(&self, unfolded: &Unfolded<'_>, state: &State, values: &Values) -> bool {
        let holds = |conditions: &[Condition]| {
            conditions
                .iter()
                .all(|it| unfolded.term(values, &it.term).is_none_or(|value| it.values.contains(&value)))
        };
        match &self.what {
            What::Gate(gate) => {
                let needs = writes::picked(&state.needs, &|name| unfolded.lookup(values, name));
                // What somebody outside the run changed meanwhile shows as `stale` when it runs; here counts what it does itself.
                let owed = crate::machine::Run::owed_when(unfolded.machine, gate).iter().all(|it| {
                    // What the step here may just have changed may ask for it.
                    if unfolded
                        .slots
                        .term(&it.term)
                        .is_some_and(|at| unfolded.slots.kept[at].reads.by_routing)
                    {
                        return true;
                    }
                    let outside = match &it.term {
                        Term::Fact(name) => unfolded.slots.position(&Slot::Outside(name.clone())),
                        _ => None,
                    };
                    let now = unfolded.term(values, &it.term);
                    now.is_none_or(|value| it.values.contains(&value))
                        && outside.is_none_or(|at| values[at] == BY_ITSELF)
                });
                if !needs.iter().any(|it| it.contains(gate)) || !owed {
                    return false;
                }
                match unfolded.term(values, &Term::Gate(gate.clone())) {
                    Some(status) => !matches!(&*status, "fresh" | "forced"),
                    None => true,
                }
            }
            What::Before { reach, when, .. } => *reach == state.name && holds(when),
            What::After { .. } => matches!(state.kind, Kind::End { outcome: Outcome::Success, .. }),
            What::Defined { by, .. } => {
                by.iter().any(|(it, _)| *it == state.name) && self.is_given(unfolded, state, values)
            }
            What::Inside { end, .. } | What::OnTheWay { end, .. } => *end == state.name,
        }
    }

    /// With tables, a state is given something only for some values.
    fn is_given(&self, unfolded: &Unfolded<'_>, state: &State, values: &Values) -> bool {
        let What::Defined { given, .. } = &self.what else { return false };
        let Some(call) = state.call() else { return true };
        let workflow = unfolded.workflow;
        let lookup = |name: &Name| unfolded.lookup(values, name);
        let advice = match &state.kind {
            Kind::Review { advice, .. } => advice.as_slice(),
            _ => &[],
        };
        let roles = writes::picked(&call.role, &lookup).into_iter().chain(advice);
        let roles = roles.filter_map(|it| workflow.roles.get(&**it));
        let mut all = std::iter::once(&call.given)
            .chain(roles.map(|it| &it.given))
            .flat_map(|it| writes::picked(it, &lookup).into_iter().flatten())
            .chain(&workflow.given);
        all.any(|it| !it.maybe && root_of(&it.name) == *given)
    }

    /// Whether it is true when a run begins like this.
    pub(super) fn holds_at_start(
        &self,
        unfolded: &Unfolded<'_>,
        begin: &Begin,
        first: &Name,
        settled: &[Name],
    ) -> bool {
        let imported = begin.phase.is_some();
        match &self.what {
            What::Gate(gate) | What::Before { happened: Happened::Settled { gate }, .. } => {
                settled.contains(gate)
            }
            // What happened in an imported run nobody saw; properties of that kind speak of runs from their start.
            What::Before { happened: Happened::Signal { .. }, .. } => imported,
            What::After { after, .. } => *after != *first,
            What::Inside { .. } => false,
            What::OnTheWay { seen, .. } => *seen != Seen::SomethingForced,
            What::Defined { document: Some(document), .. } => {
                let (workflow, machine) = (unfolded.workflow, unfolded.machine);
                match &machine.name {
                    Some(_) => presence::stays_in_child(workflow, machine, document),
                    None => imported || presence::is_there_at_start(workflow, document),
                }
            }
            What::Defined { given, .. } => {
                let child = unfolded.machine.name.is_some();
                match given.split_once('.') {
                    Some(("inputs", name)) => {
                        let input = unfolded
                            .workflow
                            .inputs
                            .iter()
                            .find(|(it, _)| it.in_expression() == in_expression(name));
                        child || !imported && input.is_some_and(|(_, it)| !it.optional)
                    }
                    Some(("last", name)) => child && !unfolded.machine.states.contains_key(name),
                    _ => true,
                }
            }
        }
    }

    /// The state it waits for to be entered: one without signals, such as an end, has happened then.
    pub(super) fn entered(&self, machine: &Machine) -> Option<&Name> {
        let (What::Before { happened, .. }
        | What::After { comes: happened, .. }
        | What::Inside { happened, .. }) = &self.what
        else {
            return None;
        };
        match happened {
            Happened::Signal { child, state, signals } if signals.is_empty() => {
                let here = matches!(self.what, What::Inside { .. }) || child.is_none();
                Some(state).filter(|it| here && machine.states.contains_key(&***it))
            }
            _ => None,
        }
    }

    /// The gate it watches, if that is what it does.
    pub(super) fn gate(&self) -> Option<&Name> {
        match &self.what {
            What::Gate(gate)
            | What::Before { happened: Happened::Settled { gate }, .. }
            | What::After { comes: Happened::Settled { gate }, .. } => Some(gate),
            _ => None,
        }
    }

    /// The documents it watches, if that is what it does.
    pub(super) fn unwritten(&self) -> Option<Documents> {
        match self.what {
            What::OnTheWay { seen: Seen::NotWritten(documents), .. } => Some(documents),
            _ => None,
        }
    }

    /// Whether it can have to be true on entering a state, for some values.
    pub(super) fn may_require(&self, state: &State) -> bool {
        match &self.what {
            What::Gate(gate) => state.needs.values().flatten().any(|it| it == gate),
            What::Before { reach: name, .. }
            | What::Inside { end: name, .. }
            | What::OnTheWay { end: name, .. } => *name == state.name,
            What::After { .. } => matches!(state.kind, Kind::End { outcome: Outcome::Success, .. }),
            What::Defined { by, .. } => by.iter().any(|(it, _)| *it == state.name),
        }
    }

    /// Whether an arm makes it false, whatever was written. What was written and which state is entered come on top.
    pub(super) fn breaks(&self, unfolded: &Unfolded<'_>, taken: &Taken<'_>) -> bool {
        match (&self.what, self.gate()) {
            (_, Some(gate)) => opens(unfolded, gate, taken) || retables(unfolded, gate, taken.arm),
            (What::OnTheWay { seen: Seen::NothingForced, .. }, None) => !taken.arm.forced.is_empty(),
            (What::Defined { document: Some(document), .. }, None) => {
                presence::loses(unfolded.workflow, taken.state, taken.signal, document)
            }
            _ => false,
        }
    }

    /// Whether an arm makes it true.
    pub(super) fn holds(&self, unfolded: &Unfolded<'_>, taken: &Taken<'_>) -> bool {
        match (&self.what, self.gate()) {
            (_, Some(gate)) => settles(unfolded, gate, taken) && !retables(unfolded, gate, taken.arm),
            (What::Before { happened: happened @ Happened::Signal { child, .. }, inside, .. }, _) => {
                match child {
                    None => came_out(happened, taken),
                    Some(child) => surely_happened(unfolded, taken, child, inside),
                }
            }
            (What::After { comes: Happened::Signal { child: Some(child), .. }, inside, .. }, _) => {
                // What was done before may have been done before the state.
                !unfolded.done_before(taken.state, taken.before, taken.signal)
                    && surely_happened(unfolded, taken, child, inside)
            }
            (What::After { comes: happened, .. } | What::Inside { happened, .. }, _) => {
                came_out(happened, taken)
            }
            (What::OnTheWay { seen: Seen::SomethingForced, .. }, _) => !taken.arm.forced.is_empty(),
            (What::Defined { document: Some(document), .. }, _) => presence::makes(unfolded, taken, document),
            (What::Defined { given, .. }, _) => match given.split_once('.') {
                Some(("last", name)) => taken.state.name == *name,
                _ => false,
            },
            _ => false,
        }
    }
}

impl Watch {
    /// Whether an arm makes it true where the loop ran at least one item, even if one that was done before decided how it
    /// came out.
    pub(super) fn holds_by_an_item(&self, unfolded: &Unfolded<'_>, taken: &Taken<'_>) -> bool {
        let (What::Before { happened, inside, .. } | What::After { comes: happened, inside, .. }) =
            &self.what
        else {
            return false;
        };
        // One that ended otherwise decides, and is no item that is done.
        went_well(unfolded, taken, happened) && happened_in_what_is_done(unfolded, taken, happened, inside)
    }

    /// Whether an arm makes it true where the loop did not come out well, and left an item done all the same.
    pub(super) fn holds_by_what_is_left(&self, unfolded: &Unfolded<'_>, taken: &Taken<'_>) -> bool {
        let What::After { comes, inside, .. } = &self.what else { return false };
        !went_well(unfolded, taken, comes) && happened_in_what_is_done(unfolded, taken, comes, inside)
    }
}

/// Whether a loop over the child that something is said of comes out well.
fn went_well(unfolded: &Unfolded<'_>, taken: &Taken<'_>, happened: &Happened) -> bool {
    let Happened::Signal { child: Some(child), .. } = happened else { return false };
    let child = run_as(unfolded, taken, child);
    child.is_some_and(|(machine, _)| goes_before(taken.state, machine, taken.signal, taken.signal))
}

/// Whether something surely happened in every item that a visit which comes out like this may have done.
fn happened_in_what_is_done(
    unfolded: &Unfolded<'_>,
    taken: &Taken<'_>,
    happened: &Happened,
    inside: &[(Name, Setting, Vec<Name>)],
) -> bool {
    let Happened::Signal { child: Some(child), .. } = happened else { return false };
    let Some((machine, setting)) = run_as(unfolded, taken, child) else { return false };
    let ran = machine.ends().map(|(it, _)| it).filter(|it| {
        goes_before(taken.state, machine, it, taken.signal) && unfolded.may_end(taken.state, &setting, it)
    });
    let ran: Vec<&Name> = ran.collect();
    let mut of_loop = inside.iter().filter(|(state, ..)| *state == taken.state.name);
    !ran.is_empty() && of_loop.any(|(_, at, ends)| *at == setting && ran.iter().all(|it| ends.contains(it)))
}

/// The child a loop runs, if it is this one, and with what.
fn run_as<'w>(unfolded: &Unfolded<'w>, taken: &Taken<'_>, child: &Name) -> Option<(&'w Machine, Setting)> {
    let Kind::Each(each) = &taken.state.kind else { return None };
    let EachRun::Child(runs) = &each.run else { return None };
    let machine = unfolded.workflow.children.get(&**child).filter(|_| runs == child)?;
    Some((machine, unfolded.setting(taken.before, machine, &each.with)))
}

/// Whether something surely happened in every child that came to the end a loop came out with.
fn surely_happened(
    unfolded: &Unfolded<'_>,
    taken: &Taken<'_>,
    child: &Name,
    inside: &[(Name, Setting, Vec<Name>)],
) -> bool {
    let Some((_, setting)) = run_as(unfolded, taken, child) else { return false };
    let mut of_loop = inside.iter().filter(|(state, ..)| *state == taken.state.name);
    let surely = |ends: &[Name]| ends.contains(taken.signal);
    // What was done before may have been done with another setting.
    if unfolded.done_before(taken.state, taken.before, taken.signal) {
        return of_loop.all(|(_, _, ends)| surely(ends));
    }
    of_loop.any(|(_, at, ends)| *at == setting && surely(ends))
}

/// Whether a state is a judge of a gate, at present.
fn judges<'s>(unfolded: &Unfolded<'_>, gate: &Name, taken: &Taken<'s>) -> Option<&'s Gate> {
    let own = taken.state.gate.as_ref().filter(|it| it.name == *gate)?;
    unfolded.judges(taken.state, taken.before).then_some(own)
}

/// Whether a gate is passed or passed over.
fn settles(unfolded: &Unfolded<'_>, gate: &Name, taken: &Taken<'_>) -> bool {
    let passes = judges(unfolded, gate, taken).is_some_and(|it| it.passes.contains(taken.signal));
    passes || taken.arm.forced.contains(gate)
}

/// Whether a gate's judge comes out without passing it.
fn opens(unfolded: &Unfolded<'_>, gate: &Name, taken: &Taken<'_>) -> bool {
    let not_passed = judges(unfolded, gate, taken).is_some_and(|it| !it.passes.contains(taken.signal));
    not_passed && *taken.signal != signal::STALE
}

/// Whether an arm sets the variable that decides what a gate judges: an earlier pass was about something else.
fn retables(unfolded: &Unfolded<'_>, gate: &Name, arm: &Arm) -> bool {
    let judges = unfolded.machine.gates.get(&**gate).into_iter().flatten();
    judges
        .filter_map(|it| unfolded.machine.states.get(&**it)?.gate.as_ref())
        .any(|gate| arm.set.keys().any(|it| unfolded.workflow.decides_what_is_judged(it, gate)))
}

fn came_out(happened: &Happened, taken: &Taken<'_>) -> bool {
    matches!(happened, Happened::Signal { state, signals, .. } if *state == taken.state.name && signals.contains(taken.signal))
}
