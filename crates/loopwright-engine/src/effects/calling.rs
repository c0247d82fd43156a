//! Calling one role: its agent is called until an answer can be taken, a bounded number of times in one session.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use loopwright_core::definition::{Call as Called, Role};
use loopwright_core::machine::{Cost, Effect, Outcome};
use loopwright_core::name::Name;
use loopwright_core::signal;
use serde_json::Value;

use super::call::{prompt, role_of, wanted, within_budget};
use super::{about, bounds, told_besides};
use crate::agents::{
    Call, Chosen, Desk, Documents, May, Reply, Session, Tools, Usual, Wanted, taken, understood,
};
use crate::config::CONFIG;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::home::Home;
use crate::process::{self, Cancel, MARK};
use crate::scene::Scene;

/// What a call is until it is tried again that came to a limit. Nothing that a run comes out with.
const LIMITED: &str = "limited";

/// The judge that is called, where others are at work beside it: what is left of one of them is not the others'.
pub(super) type Beside<'c> = Option<&'c Name>;

/// How often an answer that cannot be taken is asked for again in the same session.
const ASKED_AGAIN: usize = 2;

/// How a role came out: all it said with it, and how long it has no more to give, if that is so.
pub(super) struct Heard {
    pub(super) outcome: Outcome,
    pub(super) transcript: String,
    pub(super) limited: Option<Duration>,
}

/// Whoever does the work of a role, the one that is wanted first.
pub(super) fn who<'e>(
    engine: &'e Engine,
    scene: &Scene<'_>,
    name: &Name,
) -> Result<Vec<Chosen<'e>>, EngineError> {
    engine.crew.who(scene.workflow, name, scene.files.root()).map_err(|why| {
        EngineError::Wrong(format!(
            "nobody can be the `{name}` any more: {why}; say in `{CONFIG}` who it is, then `loopwright resume {}`",
            scene.name
        ))
    })
}

/// Calls a role. Where an agent has no more to give for now, the next one it may be given to is called.
pub(super) fn role(
    engine: &Engine,
    scene: &Scene<'_>,
    (effect, beside): (&Effect, Beside<'_>),
    (name, call): (&Name, Option<&Called>),
    cancel: &Cancel,
) -> Result<Heard, EngineError> {
    let mut all = who(engine, scene, name)?.into_iter().peekable();
    let (mut spent, mut said, mut before) = (Cost::default(), String::new(), None);
    let of_role = role_of(scene, name)?;
    let wall = Duration::from_millis(call.and_then(|it| it.timeout).unwrap_or(of_role.timeout));
    let (wall, begun) = (within_budget(scene, wall), Instant::now());
    loop {
        let Some(chosen) = all.next() else {
            return Err(EngineError::Wrong(format!("nobody can be the `{name}`")));
        };
        // All of them together have the time that one has.
        let wall = wall.saturating_sub(begun.elapsed());
        let calling = Calling { engine, scene, effect, beside, name, role: of_role, call, chosen, wall };
        let heard = calling.heard(cancel);
        // Calls beside this one have folders there of their own.
        if beside.is_none() && bounds::beside(scene).is_none() {
            tidy(&engine.home, scene.name);
        }
        let mut heard = heard?;
        spent = spent.and(heard.outcome.cost);
        said.push_str(&heard.transcript);
        if heard.limited.is_some()
            && let Some(next) = all.peek()
        {
            let _ = write!(said, "\n--- {}; `{}` goes on\n", heard.outcome.summary, next.name);
            before = Some(format!("by `{}`, as {}", next.name, heard.outcome.summary));
            continue;
        }
        heard.outcome.cost = spent;
        if let Some(before) = before {
            told_besides(&mut heard.outcome, &before);
        }
        return Ok(Heard { transcript: said, ..heard });
    }
}

/// One role and one agent for it.
struct Calling<'c> {
    engine: &'c Engine,
    scene: &'c Scene<'c>,
    effect: &'c Effect,
    beside: Beside<'c>,
    name: &'c Name,
    role: &'c Role,
    call: Option<&'c Called>,
    chosen: Chosen<'c>,
    wall: Duration,
}

impl Calling<'_> {
    fn heard(&self, cancel: &Cancel) -> Result<Heard, EngineError> {
        let wanted = wanted(self.scene, self.role, self.call)?;
        if !self.chosen.agent.takes_tools() {
            return self.until_taken(&wanted, None, cancel);
        }
        match Desk::open(&wanted, self.documents()?) {
            Ok(desk) => desk.during(|| self.until_taken(&wanted, Some(&desk), cancel)),
            // Then it has to answer in words.
            Err(_) => self.until_taken(&wanted, None, cancel),
        }
    }

    fn until_taken(
        &self,
        wanted: &Wanted<'_>,
        desk: Option<&Desk<'_>>,
        cancel: &Cancel,
    ) -> Result<Heard, EngineError> {
        let begun = Instant::now();
        let wall = self.wall;
        let own = self.own_folder()?;
        let tools = desk.map(|it| it.tools(&self.engine.supervisor));
        let mut call = self.first(wall, own.path().to_owned(), tools)?;
        let (mut cost, mut said) = (Cost::default(), String::new());
        let (mut asked, mut first) = (0, String::new());
        loop {
            let reply = match self.chosen.agent.call(&call, &self.engine.supervisor, cancel) {
                Ok(reply) => reply,
                Err(error) => {
                    let why = format!("the agent `{}` cannot be started: {error}", self.chosen.name);
                    Reply { failed: Some(("crashed", why)), ..Reply::default() }
                }
            };
            cost = cost.and(reply.cost);
            said.push_str(&reply.transcript);
            let why = match self.outcome(&reply, wanted, desk) {
                // The work was done before it was asked again: what could not be taken is still what it came to.
                Ok(outcome) if asked > 0 && ["crashed", "refused"].contains(&&*outcome.signal) => {
                    format!("{first}; asked again, {}", outcome.summary)
                }
                Ok(mut outcome) => {
                    self.hush(&mut outcome);
                    let outcome = Outcome { cost, ..outcome };
                    // One that had handed in its answer needs no more.
                    let limited = reply.limited.filter(|_| *outcome.signal == *LIMITED);
                    return Ok(Heard { outcome, transcript: said, limited });
                }
                Err(why) => why,
            };
            let left = wall.saturating_sub(begun.elapsed());
            let goes_on = reply.failed.is_none() && asked < ASKED_AGAIN && !left.is_zero();
            let session = reply.session.filter(|_| goes_on);
            let Some(session) = session else {
                let (signal, why) = match reply.denied.as_slice() {
                    [] => ("malformed", why),
                    denied => ("denied", format!("it was not allowed {}, and {why}", denied.join(", "))),
                };
                let outcome = Outcome { summary: why, cost, ..Outcome::of(signal) };
                return Ok(Heard { outcome, transcript: said, limited: None });
            };
            asked += 1;
            first.clone_from(&why);
            let _ = write!(said, "\n--- asked again: {why}\n");
            call = again(call, wanted, &why, (left, session));
        }
    }

    /// What a reply comes to, or why it cannot be taken.
    fn outcome(
        &self,
        reply: &Reply,
        wanted: &Wanted<'_>,
        desk: Option<&Desk<'_>>,
    ) -> Result<Outcome, String> {
        let failed = reply.failed.as_ref();
        // One that was called off is not to go on, whatever it had to say.
        if let Some((signal::CANCELLED, why)) = failed {
            return Ok(Outcome { summary: why.clone(), ..Outcome::of(signal::CANCELLED) });
        }
        // What was handed in counts, however the agent came to its end afterwards.
        if let Some(mut answer) = desk.and_then(Desk::answer) {
            if let Some((_, why)) = failed {
                told_besides(&mut answer, &format!("after that, {why}"));
            }
            return Ok(answer);
        }
        if reply.limited.is_some() {
            let summary = format!("`{}` has no more to give for now", self.chosen.name);
            return Ok(Outcome { summary, ..Outcome::of(LIMITED) });
        }
        if let Some((failure, why)) = failed {
            // Where nothing is measured, there is no way on from there.
            let metered = *failure != signal::OVER_BUDGET || self.scene.workflow.is_metered();
            let failure = if metered { failure } else { "refused" };
            return Ok(Outcome { summary: why.clone(), ..Outcome::of(failure) });
        }
        let said = match &reply.structured {
            Some(answer) => taken(answer.clone(), wanted),
            None => understood(&reply.text, wanted, reply.trusted),
        };
        // What is wrong with what it handed in says more than that it said nothing besides.
        said.map_err(|why| match desk.and_then(Desk::refused) {
            Some(refused) => format!("what it handed in was not taken: {refused}"),
            None => why,
        })
    }

    /// Takes out of an answer what nobody is to read.
    fn hush(&self, outcome: &mut Outcome) {
        let hush = |text: &mut String| *text = self.chosen.agent.without_secrets(text);
        hush(&mut outcome.summary);
        hush(&mut outcome.question);
        for finding in &mut outcome.findings {
            hush(&mut finding.text);
            hush(&mut finding.recommendation);
        }
    }

    fn first(&self, wall: Duration, own: PathBuf, tools: Option<Tools>) -> Result<Call, EngineError> {
        let (scene, wish) = (self.scene, &self.chosen.wish);
        let mut environment = about(scene, self.effect);
        if let Some(judge) = self.beside
            && let Some((_, mark)) = environment.iter_mut().find(|(name, _)| name == MARK)
        {
            *mark = process::beside(mark, judge);
        }
        environment.push(("LOOPWRIGHT_ROLE".to_owned(), self.name.to_string()));
        let allowed = |what: &str| !self.role.deny.iter().any(|it| **it == *what);
        Ok(Call {
            prompt: prompt(scene, (self.name, self.role, self.call), tools.is_some())?,
            folder: scene.files.root().to_owned(),
            own,
            environment,
            wall,
            idle: Duration::from_millis(self.role.idle),
            may: May {
                write: bounds::may_write(scene, self.name, self.call),
                git: allowed("git"),
                network: allowed("network"),
                shell: allowed("shell"),
            },
            model: wish.model.clone(),
            effort: wish.effort.clone(),
            usual: self.usual()?,
            arguments: wish.arguments.clone(),
            tools,
            schema: None,
            session: None,
            costs: self.role.costs,
            fence: None,
        })
    }

    /// What the workflow asks of the agent it names first, which is nothing to any other.
    fn usual(&self) -> Result<Usual, EngineError> {
        if self.chosen.stands_in || self.role.agents.first() != Some(&self.chosen.name) {
            return Ok(Usual::default());
        }
        let text = |text: &Option<String>| {
            let text = text.as_ref().map(|it| self.scene.text(it)).transpose()?;
            Ok::<_, EngineError>(text.filter(|it| !it.trim().is_empty()))
        };
        Ok(Usual { model: text(&self.role.model)?, effort: text(&self.role.effort)? })
    }

    /// A folder for this call alone.
    fn own_folder(&self) -> Result<tempfile::TempDir, EngineError> {
        let all = calls(&self.engine.home, self.scene.name);
        let disk = |error| crate::files::FilesError::Disk { path: all.clone(), error };
        std::fs::create_dir_all(&all).map_err(disk)?;
        Ok(tempfile::Builder::new().prefix("call.").tempdir_in(&all).map_err(disk)?)
    }

    /// The files of all documents, as they are now.
    fn documents(&self) -> Result<Documents, EngineError> {
        let (scene, root) = (self.scene, self.scene.files.root());
        let mut all = Documents::new();
        for document in scene.workflow.documents.keys() {
            let sets = scene.set(document)?;
            let files = scene.look.paths().filter(|path| sets.iter().any(|it| it.matches(path)));
            all.insert(document.to_string(), files.map(|it| root.join(it)).collect());
        }
        Ok(all)
    }
}

/// Where the calls of a run have folders of their own.
fn calls(home: &Home, run: &str) -> PathBuf {
    home.of_run(run).join("calls")
}

/// Removes what calls of a run left behind that were killed: there may be copies of credentials among it. What cannot be
/// removed now goes with the run.
pub(crate) fn tidy(home: &Home, run: &str) {
    let folder = calls(home, run);
    if folder.exists() && std::fs::remove_dir_all(&folder).is_ok() {
        // The folders around it are others' too, if there is anything in them.
        let around = folder.ancestors().skip(1).take_while(|it| **it != *home.kept());
        let _ = around.take_while(|it| std::fs::remove_dir(it).is_ok()).count();
    }
}

/// The same call once more, in its session: only the answer is wanted, and as data, if the agent knows how.
fn again(call: Call, wanted: &Wanted<'_>, why: &str, (wall, session): (Duration, Session)) -> Call {
    let prompt = wanted.told_again(why, call.tools.is_some());
    let schema: Option<Value> = Some(wanted.schema(true));
    Call { prompt, wall, schema, session: Some(session), ..call }
}
