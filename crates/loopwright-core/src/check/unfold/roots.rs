//! Where runs begin: every start, every phase that can be imported, for every value of what is free there.

use indexmap::IndexMap;

use super::{Begin, Builder, MOST_ROOTS, Setting, Unfolded, Values};
use crate::check::slots::Slot;
use crate::definition::{Arm, Target, Term};
use crate::name::Name;
use crate::proof::graph::Root;

impl Unfolded<'_> {
    pub(super) fn roots(&mut self, settings: &[Setting], builder: &Builder<'_, '_>) {
        let machine = self.machine;
        if machine.name.is_some() {
            for setting in settings {
                for start in &machine.start {
                    let fixed: Vec<(Term, Name)> = setting
                        .outer
                        .iter()
                        .map(|(term, value)| (Term::Outer(Box::new(term.clone())), value.clone()))
                        .chain(
                            setting.with.iter().map(|(name, value)| (Term::Var(name.clone()), value.clone())),
                        )
                        .collect();
                    let begin = Begin { vars: setting.with.iter().cloned().collect(), ..Begin::default() };
                    self.begin(&start.arm, &fixed, &begin, builder, &[], None);
                }
            }
            return;
        }
        for start in &machine.start {
            let begin = Begin { verb: start.verb.clone(), ..Begin::default() };
            self.begin(&start.arm, &[], &begin, builder, &[], None);
        }
        for (phase, row) in &self.workflow.phases {
            let arm = Arm {
                to: Target::State(row.at.clone()),
                when: Vec::new(),
                spend: None,
                refill: Vec::new(),
                set: IndexMap::new(),
                record: Vec::new(),
                forced: Vec::new(),
                anew: Vec::new(),
                place: row.place.clone(),
            };
            let begin = Begin { phase: Some(phase.clone()), ..Begin::default() };
            self.begin(&arm, &[], &begin, builder, &row.settles, row.back.as_ref());
        }
    }

    /// Roots at one state, for every value of what is free there.
    fn begin(
        &mut self,
        arm: &Arm,
        fixed: &[(Term, Name)],
        begin: &Begin,
        builder: &Builder<'_, '_>,
        settled: &[Name],
        back: Option<&Name>,
    ) {
        let Target::State(first) = &arm.to else { return };
        let Some(index) = self.machine.states.get_index_of(&**first) else { return };
        let mut alive = self.slots.alive(first);
        if let Some(back) = back {
            alive.iter_mut().zip(self.slots.alive(back)).for_each(|(here, there)| *here |= there);
        }
        let imported = begin.phase.is_some();
        let pauses = imported && crate::machine::pauses_at_landing(&self.machine.states[index]);
        let mut choices: Vec<Vec<u16>> = Vec::new();
        for (at, kept) in self.slots.kept.iter().enumerate() {
            let all =
                || (0..kept.values.len()).map(|it| u16::try_from(it).unwrap_or(u16::MAX)).collect::<Vec<_>>();
            let one = |value: &str| vec![kept.index_of(value)];
            let choice = match &kept.slot {
                _ if !alive.get(at).copied().unwrap_or(false) => vec![0],
                Slot::Term(term) => match (fixed.iter().find(|(it, _)| it == term), term) {
                    (Some((_, value)), _) => one(value),
                    (None, Term::Var(name)) => match (arm.set.get(&**name), self.machine.vars.get(&**name)) {
                        (Some(value), _) => one(value),
                        (None, Some(variable)) if !variable.input && !imported => one(&variable.start),
                        _ => all(),
                    },
                    (None, Term::Fact(_) | Term::Outer(_)) => all(),
                    (None, Term::Gate(gate)) => one(if settled.contains(gate) { "forced" } else { "open" }),
                    (None, _) => vec![0],
                },
                Slot::From => vec![back.as_ref().map_or(0, |it| kept.index_of(it))],
                // An imported run may bring items along that are done.
                Slot::Done(name, _) => vec![u16::from(imported && !self.runs_anew(name))],
                Slot::Handed(_) | Slot::Outside(_) | Slot::Passed(_) => vec![0],
            };
            choices.push(choice);
        }
        if choices.iter().map(Vec::len).try_fold(1_usize, usize::checked_mul).is_none_or(|it| it > MOST_ROOTS)
        {
            self.cut = true;
            return;
        }
        for values in product(&choices) {
            let mut this = begin.clone();
            for (at, kept) in self.slots.kept.iter().enumerate() {
                let Some(value) = self.value(&values, at).filter(|_| alive.get(at).copied().unwrap_or(false))
                else {
                    continue;
                };
                match &kept.slot {
                    Slot::Term(Term::Var(name))
                        if self.machine.vars.get(&**name).is_some_and(|it| it.input || imported) =>
                    {
                        this.vars.insert(name.clone(), value);
                    }
                    Slot::Term(Term::Fact(name)) => {
                        this.facts.insert(name.clone(), value);
                    }
                    _ => {}
                }
            }
            // Before somebody says `resume`, somebody may edit what was vouched for.
            if pauses {
                self.tell_gates_apart(first, &values, builder);
            }
            let edits = if pauses { self.edits_meanwhile(&values, builder) } else { vec![(0, 0)] };
            for (edited, touched) in edits {
                let vouched = values.clone();
                let mut values = values.clone();
                for gate in builder.plan.gates.iter().filter(|it| it.is_settled(&vouched)) {
                    if let Some(slot) = gate.slot.filter(|_| touched & gate.judged(&vouched) != 0) {
                        values[slot.at] = slot.stale;
                    }
                }
                let this = Begin { edited, ..this.clone() };
                let node = self.node(index, &mut values, builder);
                let watches = builder.fitter.watches.iter().zip(0_u16..);
                let holds = watches
                    .filter(|(it, _)| it.holds_at_start(self, &this, first, settled))
                    .map(|(_, at)| at)
                    .collect();
                self.graph.roots.push(Root { node, holds });
                self.begins.push(this);
            }
        }
    }
}

/// All combinations.
fn product(choices: &[Vec<u16>]) -> Vec<Values> {
    let mut found: Vec<Values> = vec![Vec::with_capacity(choices.len())];
    for choice in choices {
        let mut longer = Vec::with_capacity(found.len() * choice.len());
        for values in &found {
            for value in choice {
                let mut next = values.clone();
                next.push(*value);
                longer.push(next);
            }
        }
        found = longer;
    }
    found
}
