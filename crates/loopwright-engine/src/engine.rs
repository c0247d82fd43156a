//! The engine: what all runs of a project share, and how a run begins.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;
use loopwright_core::definition::Workflow;
use loopwright_core::language::{Folder, load};
use loopwright_core::machine::{Event, Run, Started, advance, before};
use loopwright_core::name::Name;
use loopwright_core::problem::Stage;

use crate::agents::Crew;
use crate::driver::{Driver, LEASE, Standing, is_gone, stands};
use crate::error::EngineError;
use crate::files::{Files, Look};
use crate::home::Home;
use crate::journal::{Batch, Journal, JournalError, Millis, NewRun, digest};
use crate::people::{People, Watch};
use crate::process::{Cancel, Supervisor};
use crate::project::Project;
use crate::scene::{Scene, Shell};

/// What all runs of a project share.
pub struct Engine {
    /// The truth.
    pub journal: Arc<dyn Journal>,
    /// The project.
    pub home: Home,
    /// What is known about it.
    pub project: Project,
    /// Who does the work of roles.
    pub crew: Crew,
    /// What commands run below.
    pub supervisor: Supervisor,
    /// Who is asked.
    pub people: Arc<dyn People>,
    /// Who is told.
    pub watch: Arc<dyn Watch>,
    /// What time it is.
    pub clock: Arc<dyn Fn() -> Millis + Send + Sync>,
    /// Whoever drives, as others are told.
    pub holder: String,
    /// A run is left once it came back to its start so often.
    pub most_rounds: Option<u32>,
    /// So many items may be at work side by side, where a workflow lets them.
    pub jobs: Option<u32>,
    /// Workflows that were proved, by digest.
    pub(crate) proved: Mutex<HashSet<String>>,
}

/// A run about to begin.
#[derive(Clone, Debug, Default)]
pub struct Begin {
    /// What it is about.
    pub subject: String,
    /// Values given at the start.
    pub inputs: IndexMap<Name, String>,
    /// Variables chosen at the start.
    pub vars: IndexMap<Name, Name>,
    /// The verb it begins with.
    pub verb: Option<Name>,
    /// The phase it is imported at, instead of beginning; see [`Engine::found`].
    pub phase: Option<Name>,
}

/// A workflow as a run is pinned to it.
#[derive(Debug)]
pub struct Definition {
    /// The workflow.
    pub workflow: Workflow,
    /// Its files.
    pub folder: Folder,
}

impl Engine {
    /// An engine in which nothing was proved yet.
    #[expect(clippy::too_many_arguments, reason = "it is made in one place, of everything it needs")]
    pub fn new(
        journal: Arc<dyn Journal>,
        home: Home,
        project: Project,
        crew: Crew,
        supervisor: Supervisor,
        people: Arc<dyn People>,
        watch: Arc<dyn Watch>,
        clock: Arc<dyn Fn() -> Millis + Send + Sync>,
        holder: String,
    ) -> Self {
        Self {
            journal,
            home,
            project,
            crew,
            supervisor,
            people,
            watch,
            clock,
            holder,
            most_rounds: None,
            jobs: None,
            proved: Mutex::default(),
        }
    }

    /// The same engine later: its clock is so many milliseconds ahead.
    #[must_use]
    pub fn after(mut self, ahead: Millis) -> Self {
        let clock = Arc::clone(&self.clock);
        self.clock = Arc::new(move || clock().saturating_add(ahead));
        self
    }

    /// Begins a run of a workflow. It is on record, and nothing is done yet.
    pub fn begin(&self, folder: &Folder, begin: &Begin, cancel: &Cancel) -> Result<Driver<'_>, EngineError> {
        let definition = Definition { workflow: self.fit(folder)?, folder: folder.clone() };
        let workflow = &definition.workflow;
        // Where another run is at work, none is begun.
        let place = crate::driver::place::take(&self.home.git, crate::driver::place::BEGINS, &self.holder)?;
        let begin = &self.about(&definition, begin)?;
        self.suits(workflow, begin)?;
        let begin = &self.chosen((workflow, folder), begin)?;
        self.has_documents((workflow, folder), begin)?;
        let kept = serde_json::to_vec(&kept(folder)).map_err(|it| EngineError::Wrong(it.to_string()))?;
        // Named before it is kept: what nobody names may be cleared away at any moment.
        let pinned = digest(&kept);
        let at = (self.clock)();
        let mut tries = 0_u64;
        let name = loop {
            let name = made_up(at, tries, &self.holder);
            let run = NewRun {
                name: name.clone(),
                workflow: workflow.name.to_string(),
                subject: begin.subject.clone(),
                definition: pinned.clone(),
                parent: None,
                at,
            };
            match self.journal.create(&run) {
                Ok(()) => break name,
                Err(JournalError::Taken(_)) => tries += 1,
                Err(error) => return Err(error.into()),
            }
        };
        self.journal.put(&kept)?;
        let files = Files::of(self.home.git.clone(), &name)?;
        files.see_also(self.own((workflow, folder), begin)?);
        let look = Arc::new(files.look()?);
        let mut started = Started {
            definition: workflow.digest.clone(),
            subject: begin.subject.clone(),
            inputs: begin.inputs.clone(),
            vars: begin.vars.clone(),
            verb: begin.verb.clone(),
            phase: begin.phase.clone(),
            ..Started::default()
        };
        started.facts = self.once(&definition, &started, &name, (&files, &look))?;
        let run = before(&definition.workflow, &started)?;
        if let Some(begun) = self.begun_before(&self.scene(&definition, (&name, &run), (&files, &look)))? {
            self.watch.said(&name, &begun);
        }
        for notice in self.crew.notices(&definition.workflow, self.home.root()) {
            self.watch.said(&name, &notice);
        }
        if let Some(phase) = &begin.phase {
            let scene = self.scene(&definition, (&name, &run), (&files, &look));
            started.digests = crate::landing::vouched(&scene, phase)?;
        }
        let shared = (Arc::new(definition), Arc::new(files));
        let driver = Driver::begin(self, &name, shared, (started, look, None), cancel)?;
        // Kept until it is driven: of several that are begun at once, one is.
        Ok(driver.at(place))
    }

    /// Where documents say that something stands which no run is about: how a run of it begins. Nothing, if they do not
    /// say.
    pub fn found(&self, folder: &Folder, begin: &Begin) -> Result<Option<Begin>, EngineError> {
        let workflow = self.fit(folder)?;
        // One that does not run yet says so when it is begun.
        if !crate::landing::is_said(&workflow) || crate::unkept::first(&workflow).is_some() {
            return Ok(None);
        }
        let files = Files::of(self.home.git.clone(), "import")?;
        files.see_also(self.own((&workflow, folder), begin)?);
        let look = files.look()?;
        let started = Started {
            definition: workflow.digest.clone(),
            subject: begin.subject.clone(),
            inputs: begin.inputs.clone(),
            vars: begin.vars.clone(),
            ..Started::default()
        };
        let run = before(&workflow, &started)?;
        let definition = Definition { workflow, folder: folder.clone() };
        let scene = self.scene(&definition, ("import", &run), (&files, &look));
        let Some(mut wanted) = crate::landing::found(&scene)? else { return Ok(None) };
        wanted.vars.extend(begin.vars.clone());
        Ok(Some(Begin { phase: wanted.phase, vars: wanted.vars, verb: None, ..begin.clone() }))
    }

    /// Facts that are read at the start and kept.
    pub(crate) fn once(
        &self,
        definition: &Definition,
        started: &Started,
        name: &str,
        (files, look): (&Files, &Look),
    ) -> Result<IndexMap<Name, Name>, EngineError> {
        let machine = definition.workflow.machine(started.child.as_deref());
        let once = machine.into_iter().flat_map(|it| &it.facts).filter(|(_, it)| it.once);
        let once: Vec<Name> = once.map(|(name, _)| name.clone()).collect();
        let run = before(&definition.workflow, started)?;
        Ok(self.scene(definition, (name, &run), (files, look)).facts(&once)?)
    }

    /// Everything there is to look at now about a run.
    pub(crate) fn scene<'a>(
        &'a self,
        definition: &'a Definition,
        (name, run): (&'a str, &'a Run),
        (files, look): (&'a Files, &'a Look),
    ) -> Scene<'a> {
        let Definition { workflow, folder } = definition;
        let (project, now) = (&self.project, (self.clock)());
        let shell = Shell { supervisor: &self.supervisor, cancel: None };
        Scene {
            workflow,
            folder,
            run,
            name,
            files,
            look,
            project,
            now,
            shell,
            item: None,
            finding: None,
            is_for_key: false,
        }
    }

    /// A run as it stands, without driving it.
    pub fn read(&self, run: &str) -> Result<(Definition, loopwright_core::machine::Run), EngineError> {
        crate::driver::read(self, run)
    }

    /// Takes a run up where it was left. It is leased, and nothing is done yet.
    pub fn take_up(&self, run: &str, cancel: &Cancel) -> Result<Driver<'_>, EngineError> {
        Driver::resume(self, run, None, cancel)
    }

    /// Drives a run until it is over, waits for somebody, or is called off.
    pub fn drive(&self, run: &str, cancel: &Cancel) -> Result<Standing, EngineError> {
        self.take_up(run, cancel)?.drive()
    }

    /// Ends a run that nobody can drive any more, because the files it works on are gone. Nothing is looked at.
    pub fn end(&self, name: &str, reason: &str) -> Result<(), EngineError> {
        let (definition, run) = self.read(name)?;
        let event = Event::Stopped { reason: reason.to_owned() };
        let ended = advance(&definition.workflow, &run, &event)?;
        let at = (self.clock)();
        let lease = |now: Millis| self.journal.lease(name, &self.holder, now, at.saturating_add(LEASE));
        let lease = match lease(at) {
            Err(JournalError::Held { holder, until, .. }) if is_gone(&holder) => lease(until)?,
            taken => taken?,
        };
        self.journal.append(&Batch {
            lease: lease.clone(),
            after: self.journal.run(name)?.last,
            at,
            events: vec![event],
            snapshot: None,
            taken: self.journal.inbox(name)?.iter().map(|it| it.id).collect(),
            blobs: Vec::new(),
            stands: Some(stands(&definition.workflow, &ended)),
        })?;
        Ok(self.journal.release(&lease)?)
    }

    /// The workflow of a folder, if it may run: it loads, and it is proved.
    fn fit(&self, folder: &Folder) -> Result<Workflow, EngineError> {
        let unfit = |why: String| EngineError::Unfit { workflow: folder.name.clone(), why };
        let loaded = load(folder);
        let broken = loaded.problems.iter().any(|it| it.stage == Stage::Load);
        let Some(workflow) = loaded.workflow.filter(|_| !broken) else {
            return Err(unfit(format!("it does not load (`loopwright check {}` says why)", folder.name)));
        };
        let mut proved = self.proved.lock().unwrap_or_else(PoisonError::into_inner);
        if !proved.contains(&workflow.digest) {
            let report = loopwright_core::check::check(&workflow);
            if !report.is_proved() || !loaded.problems.is_empty() {
                return Err(unfit(format!("it is not proved (`loopwright check {}` says why)", folder.name)));
            }
            proved.insert(workflow.digest.clone());
        }
        Ok(workflow)
    }
}

/// A folder as it is kept.
fn kept(folder: &Folder) -> serde_json::Value {
    let files: serde_json::Map<String, serde_json::Value> = folder
        .files
        .iter()
        .map(|(path, bytes)| {
            let text = std::str::from_utf8(bytes).map(Into::into);
            (path.clone(), text.unwrap_or_else(|_| bytes.clone().into()))
        })
        .collect();
    serde_json::json!({"name": folder.name, "files": files})
}

/// A folder that was kept.
pub(crate) fn unkept(bytes: &[u8]) -> Option<Folder> {
    let value: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    let files = value.get("files")?.as_object()?.iter();
    let bytes = |it: &serde_json::Value| match it.as_str() {
        Some(text) => Some(text.as_bytes().to_vec()),
        None => serde_json::from_value(it.clone()).ok(),
    };
    let files = files.filter_map(|(path, it)| Some((path.clone(), bytes(it)?)));
    Some(Folder { name: value.get("name")?.as_str()?.to_owned(), files: files.collect() })
}

/// A name for a run: short, and no other's.
pub(crate) fn made_up(at: Millis, tries: u64, holder: &str) -> String {
    // No letters that are taken for others.
    const LETTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";
    let mut hasher = blake3::Hasher::new();
    hasher.update(&at.to_le_bytes()).update(&tries.to_le_bytes()).update(holder.as_bytes());
    let bytes = hasher.finalize();
    let letter = |it: &u8| char::from(LETTERS[usize::from(*it) % LETTERS.len()]);
    // A letter first, so that it is taken for a name.
    let first = char::from(LETTERS[usize::from(bytes.as_bytes()[0]) % 23]);
    std::iter::once(first).chain(bytes.as_bytes()[1..6].iter().map(letter)).collect()
}
