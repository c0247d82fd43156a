//! The driver: what is due is done, what came of it is written down, and so on.
//!
//! One loop. Something that reaches outside is written down before it is begun (`Issued`) and after it came back
//! (`Settled`); what lies between the two when a driver is gone is `lost`, and routed like any signal. What was learnt
//! since the last thing that reached outside is written together with the next, so that a step costs one commit.

mod ahead;
mod apart;
mod follow;
mod heart;
mod holder;
mod items;
mod left;
mod letters;
mod line;
pub(crate) mod place;
mod record;
mod standing;
mod steps;
mod together;

use std::sync::Arc;

use loopwright_core::machine::{Effect, Event, Part, Run, RunView, Site, Started, Want, advance, begin, due};

pub use self::holder::{holder_in_words, this_process};
pub(crate) use self::holder::{is_alive, is_gone};
pub use self::letters::fits;
pub use self::place::at_work_in;
pub(crate) use self::record::stands;
pub use self::record::{AT_WORK, WAITS_UNTIL, is_open};
pub use self::standing::Standing;
pub use self::steps::Asking;
use crate::engine::{Definition, Engine, unkept};
use crate::error::EngineError;
use crate::files::{Files, Look};
use crate::journal::{JournalError, Lease, Millis};
use crate::process::Cancel;
use crate::scene::{Scene, Shell};

/// How long a lease lasts that is not kept. Whoever is gone that long is gone.
pub(crate) const LEASE: u64 = 30_000;

/// Drives one run.
pub struct Driver<'e> {
    engine: &'e Engine,
    name: String,
    lease: Lease,
    definition: Arc<Definition>,
    files: Arc<Files>,
    run: Run,
    /// The number of the last event that is on record.
    last: u64,
    /// What was learnt since.
    learnt: Vec<Event>,
    /// Letters that led to some of it.
    taken: Vec<u64>,
    /// Bytes that some of it names.
    blobs: Vec<Vec<u8>>,
    /// Events since the last snapshot.
    since_snapshot: u64,
    /// All files, if nothing can have changed since they were looked at.
    look: Option<Arc<Look>>,
    /// Whether something was learnt that documents may have to show.
    unshown: bool,
    /// Whether they have to be written even if they are known to show it.
    show_anyway: bool,
    /// Whether somebody was at work since who may have written what they like: no person's edit is told from that.
    at_work: bool,
    /// Documents that cannot show anything.
    unshowable: Vec<String>,
    cancel: Cancel,
    /// The folder, while it is taken. Items work in their parent's.
    place: Option<place::Place>,
    /// Of an item that works apart: its place among the others.
    turn: Option<line::Turn>,
    /// When whoever drove it before was surely gone, if they went without a word.
    gone: Option<Millis>,
    _heart: heart::Heart,
}

/// What a run shares with its children: what it is a run of, and the files it works on.
type Shared = (Arc<Definition>, Arc<Files>);

impl<'e> Driver<'e> {
    /// Begins a run that was made room for.
    pub(crate) fn begin(
        engine: &'e Engine,
        name: &str,
        shared: Shared,
        (started, look, around): (Started, Arc<Look>, Option<&Site>),
        cancel: &Cancel,
    ) -> Result<Self, EngineError> {
        let (definition, files) = shared;
        let run = begin(&definition.workflow, &started)?;
        let site = Site {
            folder: files.root().to_string_lossy().into_owned(),
            start: look.tree.clone(),
            base: files.git().head()?,
            own: around.and_then(|it| it.own.clone()),
            trunk: match around {
                Some(around) => around.trunk.clone(),
                None => files.git().trunk()?,
            },
            whole: around.map(|it| it.whole.as_ref().unwrap_or(&it.start).clone()),
            joins: around.and_then(|it| it.joins.clone()),
        };
        files.keep(name, &look.tree)?;
        let (lease, heart, _) = heart::take(engine, name, cancel)?;
        let mut driver = Self {
            engine,
            name: name.to_owned(),
            lease,
            definition,
            files,
            run,
            last: 0,
            learnt: vec![Event::Started(Box::new(started))],
            taken: Vec::new(),
            blobs: Vec::new(),
            since_snapshot: 0,
            look: Some(look),
            unshown: true,
            show_anyway: false,
            at_work: false,
            unshowable: Vec::new(),
            cancel: cancel.clone(),
            place: None,
            turn: None,
            gone: None,
            _heart: heart,
        };
        driver.learn(Event::Placed(site))?;
        driver.write_down()?;
        Ok(driver)
    }

    /// Takes up a run where it was left. A child shares what its parent knows.
    pub(crate) fn resume(
        engine: &'e Engine,
        name: &str,
        parent: Option<Shared>,
        cancel: &Cancel,
    ) -> Result<Self, EngineError> {
        let (lease, heart, gone) = heart::take(engine, name, cancel)?;
        crate::effects::tidy(&engine.home, name);
        let definition = match &parent {
            Some((definition, _)) => Arc::clone(definition),
            None => Arc::new(definition_of(engine, &engine.journal.run(name)?.run.definition)?),
        };
        let (run, last, since_snapshot) = fold(engine, name, &definition)?;
        let is_own = parent.is_none();
        let files = match (parent, &run.site) {
            // An item that works apart is where it was, as long as that is there.
            (Some(_), Some(site)) if site.joins.is_some() && std::path::Path::new(&site.folder).is_dir() => {
                Arc::new(files_at(engine, site, name)?)
            }
            (Some((_, files)), _) => files,
            (None, Some(site)) => Arc::new(files_at(engine, &still(&run, site), name)?),
            (None, None) => Arc::new(Files::of(engine.home.git.clone(), name)?),
        };
        let driver = Self {
            engine,
            name: name.to_owned(),
            lease,
            definition,
            files,
            run,
            last,
            learnt: Vec::new(),
            taken: Vec::new(),
            blobs: Vec::new(),
            since_snapshot,
            look: None,
            unshown: true,
            show_anyway: false,
            at_work: false,
            unshowable: Vec::new(),
            cancel: cancel.clone(),
            place: None,
            turn: None,
            gone,
            _heart: heart,
        };
        if is_own || driver.is_apart() {
            driver.see_own()?;
        }
        Ok(driver)
    }

    /// Has the run's own folder looked into, whatever git ignores.
    fn see_own(&self) -> Result<(), EngineError> {
        let look = Look::default();
        self.files.see_also(self.scene(&look, None).own()?);
        Ok(())
    }

    /// What the run is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Drives the run until it is over, waits for somebody, or is called off.
    pub fn drive(mut self) -> Result<Standing, EngineError> {
        match self.drive_item()? {
            Some(standing) => Ok(standing),
            None => Err(EngineError::Wrong("it was put elsewhere, and there is no run around it".into())),
        }
    }

    /// The same for the run of an item. `None`: a person put the run around it elsewhere.
    fn drive_item(&mut self) -> Result<Option<Standing>, EngineError> {
        let standing = self.go();
        // Whatever happened, what was learnt is kept, and the run is free for others.
        let left = self.leave();
        let standing = standing?;
        left?;
        Ok(standing)
    }

    /// Lets go of the run as it is, for others to drive.
    pub fn put_down(mut self) -> Result<(), EngineError> {
        self.leave()
    }

    /// Keeps what was learnt, and lets go of the run.
    fn leave(&mut self) -> Result<(), EngineError> {
        let written = self.write_down();
        self.note_left();
        self.engine.journal.release(&self.lease)?;
        written
    }

    fn go(&mut self) -> Result<Option<Standing>, EngineError> {
        if self.place.is_none()
            && let Err(busy) = self.take_place().and_then(|()| self.may_commit())
        {
            // To end, it needs no folder.
            self.hear_stop()?;
            let run = Box::new(self.run.clone());
            return if run.is_over() { Ok(Some(Standing::Over { ending: None, run })) } else { Err(busy) };
        }
        self.say_jobs()?;
        let stood = self.run.at.state.clone();
        self.settle_lost()?;
        if self.run.of.is_none() && !self.run.is_over() {
            self.hear_of_changes()?;
        }
        let before = self.rounds() + u32::from(self.is_between(&stood));
        loop {
            // What somebody edited was there before they said something.
            if self.follow()? {
                return Ok(None);
            }
            self.read_letters()?;
            let effects = due(&self.definition.workflow, &self.run);
            // An action that is tried again may have been half done, or done: nobody knows where documents are until then.
            if !effects.first().is_some_and(|it| self.is_tried_again(it)) {
                self.show()?;
            }
            let run = || Box::new(self.run.clone());
            if self.run.is_over() {
                return Ok(Some(Standing::Over { ending: self.view().outcome, run: run() }));
            }
            if self.cancel.is_called_off() {
                return Ok(Some(Standing::CalledOff { run: run() }));
            }
            let most = self.engine.most_rounds.filter(|_| self.run.of.is_none());
            if most.is_some_and(|it| self.rounds() >= before.saturating_add(it)) {
                return Ok(Some(Standing::Rounded { run: run() }));
            }
            if let Some(first) = effects.first()
                && !self.has_turn(first)?
            {
                return Ok(Some(Standing::CalledOff { run: Box::new(self.run.clone()) }));
            }
            let Some(first) = effects.first() else {
                return Err(EngineError::Wrong(format!("nothing is due in `{}`", self.run.at.state)));
            };
            let waits = match &first.want {
                Want::Await { verbs } => Some(self.rests(verbs)?),
                Want::Ask { question, finding } => self.ask(first, (question, finding.as_deref()))?,
                Want::Observe { facts, gates, changed } => {
                    self.observe(first, facts, gates, changed)?;
                    None
                }
                Want::List => {
                    self.list(first)?;
                    None
                }
                Want::Child { .. } => self.run_children()?,
                Want::Call { .. } | Want::Check | Want::Act { .. } => {
                    match self.run.at.until.filter(|it| *it > (self.engine.clock)()) {
                        Some(until) => self.wait(until)?,
                        None if first.id.part == Part::Work && matches!(first.want, Want::Call { .. }) => {
                            self.call(&effects)?;
                        }
                        None if effects.len() > 1 => self.perform_together()?,
                        None => self.perform(first)?,
                    }
                    None
                }
                Want::Ahead { .. } => {
                    return Err(EngineError::Wrong(format!("nothing else is due than `{}`", first.id)));
                }
            };
            if let Some(asking) = waits {
                let run = Box::new(self.run.clone());
                return Ok(Some(Standing::Waits { asking: Box::new(asking), run }));
            }
        }
    }

    /// Puts on record how many items may be at work side by side, if somebody says so now.
    fn say_jobs(&mut self) -> Result<(), EngineError> {
        let said = self
            .engine
            .jobs
            .filter(|it| self.run.of.is_none() && !self.run.is_over() && self.run.jobs != Some(*it));
        said.map_or(Ok(()), |most| self.learn(Event::Jobs { most }))
    }

    fn is_tried_again(&self, effect: &Effect) -> bool {
        matches!(effect.want, Want::Act { .. }) && self.run.at.begun.contains_key(&effect.id.to_string())
    }

    /// The same driver, for which the folder was taken already.
    pub(crate) fn at(mut self, place: place::Place) -> Self {
        place.is_for(&self.name, &self.engine.holder);
        self.place = Some(place);
        self
    }

    /// Takes the folder the run works in.
    fn take_place(&mut self) -> Result<(), EngineError> {
        // What it had before, it may be about to take again.
        self.place = None;
        if self.run.of.is_none() || self.is_apart() {
            self.place = Some(place::take(self.files.git(), &self.name, &self.engine.holder)?);
        }
        Ok(())
    }

    /// Everything there is to look at now.
    fn scene<'a>(&'a self, look: &'a Look, item: Option<&'a str>) -> Scene<'a> {
        let scene = self.engine.scene(&self.definition, (&self.name, &self.run), (&self.files, look));
        let shell = Shell { cancel: Some(&self.cancel), ..scene.shell };
        Scene { shell, item, ..scene }
    }

    /// All files as they are.
    fn look(&mut self) -> Result<Arc<Look>, EngineError> {
        if let Some(look) = &self.look {
            return Ok(Arc::clone(look));
        }
        let look = Arc::new(self.files.look()?);
        self.look = Some(Arc::clone(&look));
        Ok(look)
    }

    fn view(&self) -> RunView {
        RunView::of(&self.definition.workflow, &self.run)
    }
}

/// A run as it stands, without driving it. An item's run is pinned to what the run around it is.
pub(crate) fn read(engine: &Engine, name: &str) -> Result<(Definition, Run), EngineError> {
    let mut line = engine.journal.run(name)?;
    // What it would have been a run of may not be there either.
    if line.last == 0 {
        return Err(never_began(name));
    }
    while let Some(parent) = &line.run.parent {
        line = engine.journal.run(parent)?;
    }
    let definition = definition_of(engine, &line.run.definition)?;
    let (run, ..) = fold(engine, name, &definition)?;
    Ok((definition, run))
}

/// The definition a run is pinned to.
fn definition_of(engine: &Engine, blob: &str) -> Result<Definition, EngineError> {
    let gone = || JournalError::Damaged { what: format!("the definition {blob} of a run is gone") };
    let bytes = engine.journal.blob(blob)?.ok_or_else(gone)?;
    let folder = unkept(&bytes).ok_or_else(gone)?;
    let loaded = loopwright_core::language::load(&folder);
    let workflow = loaded.workflow.ok_or_else(|| EngineError::Unfit {
        workflow: folder.name.clone(),
        why: "the definition the run began with does not load any more".into(),
    })?;
    Ok(Definition { workflow, folder })
}

/// Where a run works; one that was about to leave a worktree which is gone has left it.
fn still(run: &Run, site: &Site) -> Site {
    let gone = !std::path::Path::new(&site.folder).is_dir();
    let mut leaving = run.at.begun.values().filter(|it| it.open && gone);
    match leaving.find_map(|it| it.values["leaves"].as_str()) {
        Some(folder) => Site { folder: folder.to_owned(), ..site.clone() },
        None => site.clone(),
    }
}

/// The files a run works on.
pub(crate) fn files_at(engine: &Engine, site: &Site, name: &str) -> Result<Files, EngineError> {
    let folder = std::path::Path::new(&site.folder);
    if folder == engine.home.root() {
        return Ok(Files::of(engine.home.git.clone(), name)?);
    }
    match engine.home.git.at(folder) {
        Ok(Some(git)) => Ok(Files::of(git, name)?),
        _ => Err(EngineError::Wrong(format!(
            "the run `{name}` works in {}, and that is not there any more; bring it back (`git worktree add`) or stop the run (`loopwright stop {name}`)",
            folder.display()
        ))),
    }
}

/// A run as its events say it is, the number of the last, and how many came since the last snapshot.
fn fold(engine: &Engine, name: &str, definition: &Definition) -> Result<(Run, u64, u64), EngineError> {
    let workflow = &definition.workflow;
    let snapshot = engine.journal.snapshot(name)?;
    let read = snapshot.and_then(|it| Some((serde_json::from_str::<Run>(&it.body).ok()?, it.seq)));
    let (mut run, after) = read.map_or((None, 0), |(run, seq)| (Some(run), seq));
    let events = engine.journal.events(name, after)?;
    let since = events.len() as u64;
    for stored in events {
        run = Some(match (run, &stored.event) {
            (None, Event::Started(started)) => begin(workflow, started)?,
            (Some(run), event) => advance(workflow, &run, event)?,
            (None, _) => {
                let what = format!("the first event of run `{name}` is not its beginning");
                return Err(JournalError::Damaged { what }.into());
            }
        });
    }
    match run {
        Some(run) => Ok((run, after + since, since)),
        None => Err(never_began(name)),
    }
}

/// One that was made room for, when whoever was about to begin it was gone: it is nobody's.
fn never_began(name: &str) -> EngineError {
    EngineError::Wrong(format!(
        "the run `{name}` was made room for and never began: nothing was done, and nothing has to be (`loopwright gc` clears it away)"
    ))
}
