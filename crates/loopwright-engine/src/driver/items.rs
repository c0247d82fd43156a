//! Items: runs of their own, as many at once as the loop allows. Where one comes back, the next is begun.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

use loopwright_core::definition::{Each, Kind, Outcome as Ending};
use loopwright_core::machine::{
    Effect, Evidence, Outcome, Run, Shown, Site, Started, Want, due, left_over, most_at_once,
};
use loopwright_core::name::Name;

use super::line::{Line, Turn};
use super::steps::{Asking, settled};
use super::{Driver, Shared, Standing};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::files::Look;
use crate::journal::{JournalError, NewRun};
use crate::process::Cancel;

/// What is heard of items at work.
pub(super) enum Came {
    /// One waits for its turn, so that another may work.
    Freed,
    /// One is not at work any more.
    Back(Box<Back>),
}

/// A run of an item that was left, with what documents show of it.
pub(super) struct Back {
    effect: Effect,
    name: String,
    standing: Result<(Option<Standing>, Shown), EngineError>,
}

/// The run of an item, about to be driven by somebody else.
struct Child<'e> {
    engine: &'e Engine,
    effect: Effect,
    name: String,
    /// How it begins. Nothing, where it was begun before.
    started: Option<Started>,
    shared: Shared,
    look: Arc<Look>,
    around: Option<Site>,
    shown: Shown,
    turn: Option<Turn>,
}

/// Items at work, and what came of others.
struct Items<'s, 'v> {
    scope: &'s Scope<'s, 'v>,
    /// The loop: its state, and the visit.
    of: (Name, u32),
    tell: Sender<Came>,
    told: Receiver<Came>,
    line: Arc<Line>,
    working: Vec<String>,
    /// Those that nobody drives for now.
    aside: Vec<(Effect, String)>,
    /// Those that ended, and are not on record as ended.
    over: Vec<(Effect, String, Box<Run>)>,
    waits: Option<Asking>,
    moved: bool,
}

impl Items<'_, '_> {
    /// Whether what is due is an item of this loop of which nothing is known.
    fn begins(&self, effect: &Effect) -> bool {
        let id = &effect.id;
        matches!(effect.want, Want::Child { .. })
            && (&id.state, id.visit) == (&self.of.0, self.of.1)
            && !self.working.contains(&id.to_string())
            && self.aside.iter().all(|(it, _)| it.id != *id)
            && self.over.iter().all(|(it, ..)| it.id != *id)
    }
}

impl<'e> Driver<'e> {
    /// Runs the items that are due. `Some`: none of them can go on without a person.
    pub(super) fn run_children(&mut self) -> Result<Option<Asking>, EngineError> {
        // What led here is on record before a child is.
        self.write_down()?;
        let definition = Arc::clone(&self.definition);
        let Some(Kind::Each(each)) = self.run.state(&definition.workflow).map(|it| &it.kind) else {
            return Err(EngineError::Wrong(format!("`{}` is no loop", self.run.at.state)));
        };
        let (state, visit) = (self.run.at.state.clone(), self.run.at.visit);
        let line = Arc::new(Line::of(most_at_once(&self.run, each), self.left()));
        let (done, items) = std::thread::scope(|scope| {
            let (tell, told) = channel();
            let mut items = Items {
                scope,
                of: (state.clone(), visit),
                tell,
                told,
                line,
                working: Vec::new(),
                aside: Vec::new(),
                over: Vec::new(),
                waits: None,
                moved: false,
            };
            let mut done = Ok(());
            loop {
                if done.is_ok() {
                    done = self.go_on_with(each, &mut items);
                }
                if done.is_err() {
                    // Whoever is at work is waited for: what they did is not to be lost. Nobody's turn comes any more.
                    items.line.close();
                }
                if items.working.is_empty() {
                    break;
                }
                if let Ok(Came::Back(back)) = items.told.recv() {
                    done = done.and(self.take_back(*back, &mut items));
                }
            }
            (done, (items.aside, items.waits, items.moved))
        });
        self.look = None;
        done?;
        let (aside, waits, moved) = items;
        let led_on = self.run.at.state != state || self.run.at.visit != visit;
        for (_, name) in aside.iter().filter(|_| led_on) {
            // An item beside it led on, and nobody waits for this one any more.
            self.end_child(name, "the run around it went on without it")?;
        }
        Ok(waits.filter(|_| !moved))
    }

    /// What ended is on record, as far as it is its turn; and what is due is begun, as far as there is room.
    fn go_on_with<'v>(&mut self, each: &Each, items: &mut Items<'_, 'v>) -> Result<(), EngineError>
    where
        'e: 'v,
    {
        loop {
            while let Some(at) = items.over.iter().position(|it| self.may_end(each, items, it)) {
                let (effect, name, run) = items.over.remove(at);
                self.end_item(each, (&effect, &name, &run))?;
                items.moved = true;
                self.tell_left(items);
            }
            let stops = |it: &(Effect, String, Box<Run>)| !self.ended_well(&it.2);
            if !each.apart && items.over.iter().any(stops) {
                return Ok(());
            }
            let next = due(&self.definition.workflow, &self.run).into_iter().find(|it| items.begins(it));
            let Some(effect) = next.filter(|_| !self.cancel.is_called_off() && items.line.take()) else {
                return Ok(());
            };
            self.begin_item(each, effect, items)?;
        }
    }

    /// Whether it may be on record now that an item ended.
    fn may_end(&self, each: &Each, items: &Items<'_, '_>, over: &(Effect, String, Box<Run>)) -> bool {
        let well = self.ended_well(&over.2);
        if each.apart {
            // One that brings nothing back keeps nobody waiting.
            return !well || over.2.item.as_ref().is_some_and(|it| items.line.is_turn(it));
        }
        // One that stops the loop lets those beside it come to their end.
        well || items.working.is_empty()
    }

    fn ended_well(&self, run: &Run) -> bool {
        let state = run.state(&self.definition.workflow);
        matches!(state.map(|it| &it.kind), Some(Kind::End { outcome: Ending::Success, .. }))
    }

    /// The items that may come back yet, in their order.
    fn left(&self) -> Vec<String> {
        left_over(&self.definition.workflow, &self.run).into_iter().map(str::to_owned).collect()
    }

    /// Whoever waits for a person keeps nobody waiting.
    fn tell_left(&self, items: &Items<'_, '_>) {
        let aside = |it: &String| {
            items
                .aside
                .iter()
                .any(|(effect, _)| matches!(&effect.want, Want::Child { item, .. } if item == it))
        };
        items.line.are_left(self.left().into_iter().filter(|it| !aside(it)).collect());
    }

    /// Begins the run of an item, or takes it up where it was left.
    fn begin_item<'v>(
        &mut self,
        each: &Each,
        effect: Effect,
        items: &mut Items<'_, 'v>,
    ) -> Result<(), EngineError>
    where
        'e: 'v,
    {
        let Want::Child { child, item, vars, outer } = &effect.want else { return Ok(()) };
        let name = self.child_name(&effect, item);
        if !items.working.is_empty() {
            self.look = None;
        }
        let look = self.look()?;
        let is_new = self.is_made_room_for(&name)?;
        let mut started = is_new.then(|| Started {
            definition: self.run.definition.clone(),
            child: Some(child.clone()),
            subject: self.run.subject.clone(),
            inputs: self.run.inputs.clone(),
            vars: vars.clone(),
            item: Some(item.clone()),
            of: Some(self.run.at.state.clone()),
            outer: Some(outer.clone()),
            ..Started::default()
        });
        let item = item.clone();
        let mut shared = (Arc::clone(&self.definition), Arc::clone(&self.files));
        let mut around = self.run.site.clone();
        let (mut look, mut shown) = (look, self.run.shown.clone());
        if each.apart {
            shown = Shown::default();
            if is_new {
                let (files, site) = self.set_apart(&look, (child, &item), &name)?;
                look = Arc::new(files.look()?);
                (shared.1, around) = (Arc::new(files), Some(site));
            } else {
                let (run, ..) = super::fold(self.engine, &name, &self.definition)?;
                if run.is_over() {
                    // Whoever drove it was gone before that was on record, or before it could be brought back.
                    items.line.give();
                    items.over.push((effect, name, Box::new(run)));
                    return Ok(());
                }
                if let Some(site) = &run.site {
                    // Without it, it could only work where the run does.
                    shared.1 = Arc::new(super::files_at(self.engine, site, &name)?);
                }
            }
        }
        if let Some(started) = &mut started {
            started.facts = self.engine.once(&self.definition, started, &name, (&shared.1, &look))?;
        }
        let line = Arc::clone(&items.line);
        let turn = each.apart.then(|| Turn { line, item, tell: items.tell.clone() });
        let engine = self.engine;
        let child = Child { engine, effect, name, started, shared, look, around, shown, turn };
        items.working.push(child.effect.id.to_string());
        let (tell, cancel) = (items.tell.clone(), self.cancel.clone());
        items.scope.spawn(move || {
            let (effect, name) = (child.effect.clone(), child.name.clone());
            let fell = Err(EngineError::Wrong(format!("driving {} fell over", effect.id)));
            let standing = catch_unwind(AssertUnwindSafe(|| driven(child, &cancel))).unwrap_or(fell);
            // Whoever waits for it is there until all came back.
            drop(tell.send(Came::Back(Box::new(Back { effect, name, standing }))));
        });
        Ok(())
    }

    /// Makes room for the run of an item. Whether nothing is on record of it yet.
    fn is_made_room_for(&self, name: &str) -> Result<bool, EngineError> {
        let engine = self.engine;
        let new = NewRun {
            name: name.to_owned(),
            workflow: self.definition.workflow.name.to_string(),
            subject: self.run.subject.clone(),
            definition: String::new(),
            parent: Some(self.name.clone()),
            at: (engine.clock)(),
        };
        match engine.journal.create(&new) {
            Ok(()) => Ok(true),
            // Made room for by somebody who was gone before it began.
            Err(JournalError::Taken(_)) => Ok(engine.journal.run(name)?.last == 0),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes in that an item is not at work any more.
    fn take_back(&mut self, back: Back, items: &mut Items<'_, '_>) -> Result<(), EngineError> {
        let Back { effect, name, standing } = back;
        items.working.retain(|it| *it != effect.id.to_string());
        items.line.give();
        // It has written what it likes.
        self.look = None;
        let (standing, shown) = standing?;
        self.adopt(&shown)?;
        match standing {
            Some(Standing::Over { run, .. }) => items.over.push((effect, name, run)),
            Some(Standing::Waits { asking, .. }) => {
                items.waits.get_or_insert(*asking);
                items.aside.push((effect, name));
                self.tell_left(items);
            }
            Some(Standing::CalledOff { .. } | Standing::Rounded { .. }) | None => {
                items.moved = true;
                items.aside.push((effect, name));
            }
        }
        Ok(())
    }

    /// An item ended: what it did apart is brought back, and how it came out is on record.
    fn end_item(
        &mut self,
        each: &Each,
        (effect, name, run): (&Effect, &str, &Run),
    ) -> Result<(), EngineError> {
        // An item that stopped the loop has others with it that nobody waits for any more.
        if self.run.at.state != effect.id.state || self.run.at.visit != effect.id.visit {
            return Ok(());
        }
        let well = self.ended_well(run);
        let conflict = if each.apart { self.bring_back((effect, name, run), well)? } else { None };
        let judged = self.judged_now()?;
        // What it cost is taken from the budgets around it as well.
        let cost = self.engine.account(name, &self.definition)?.cost;
        let (signal, summary) = match conflict {
            Some(why) => ("conflict".into(), why),
            None => (run.at.state.clone(), String::new()),
        };
        let outcome = Outcome {
            cost,
            judged,
            summary,
            forced: run.forced.clone(),
            recorded: run.lists.clone(),
            decisions: run.decisions.clone(),
            spent: run.spent.clone(),
            ..Outcome::of(signal)
        };
        self.learn(settled(effect, Evidence::Out(Box::new(outcome))))?;
        self.write_down()
    }

    /// What the run of an item is called.
    pub(super) fn child_name(&self, effect: &Effect, item: &str) -> String {
        let again = if effect.attempt > 1 { format!("~{}", effect.attempt) } else { String::new() };
        format!("{}/{}.{}{again}/{item}", self.name, effect.id.state, effect.id.visit)
    }

    /// Runs of the items at hand that have begun.
    pub(super) fn children(&self) -> Result<Vec<String>, EngineError> {
        let mut found = Vec::new();
        for effect in due(&self.definition.workflow, &self.run) {
            let Want::Child { item, .. } = &effect.want else { continue };
            let name = self.child_name(&effect, item);
            match self.engine.journal.run(&name) {
                Ok(line) if line.last > 0 => found.push(name),
                Ok(_) | Err(JournalError::NoRun(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(found)
    }
}

/// Drives the run of an item as far as it goes.
fn driven(child: Child<'_>, cancel: &Cancel) -> Result<(Option<Standing>, Shown), EngineError> {
    let Child { engine, name, started, shared, look, around, shown, turn, .. } = child;
    let mut driver = match started {
        Some(started) => {
            let mut driver = Driver::begin(engine, &name, shared, (started, look, around.as_ref()), cancel)?;
            driver.adopt(&shown)?;
            driver
        }
        None => Driver::resume(engine, &name, Some(shared), cancel)?,
    };
    driver.turn = turn;
    let standing = driver.drive_item()?;
    Ok((standing, std::mem::take(&mut driver.run.shown)))
}
