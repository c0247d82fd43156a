//! A known command line as an agent: it is given what its dialect says, runs within its bounds, and its stream of events
//! is read to the end.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use indexmap::IndexMap;
use jiff::Zoned;
use loopwright_core::machine::Cost;
use loopwright_core::signal::{CANCELLED, OVER_BUDGET};
use loopwright_engine::agents::{Agent, Call, Reply, Says, Session, a_while};
use loopwright_engine::process::{Cancel, Command, Ended, Output, Ran, Supervisor};

use crate::acp::{Turn, Way, converse};
use crate::dialects::{Asked, Dialect, Order, Speech};
use crate::lines::Lines;
use crate::own::{Own, Surroundings};
use crate::secrets::Secrets;
use crate::streams::{Clock, End, Failed, Said, Stream, Usage};

/// What somebody configured about an agent.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The program, if it is not found by its usual name.
    pub program: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// How hard it is to think.
    pub effort: Option<String>,
    /// Arguments besides.
    pub arguments: Vec<String>,
    /// What its environment has besides.
    pub environment: IndexMap<String, String>,
    /// Files of one's home it is given a copy of, besides its credentials.
    pub files: Vec<String>,
    /// Whether it runs behind a fence.
    pub fence: bool,
}

/// A known command line.
pub struct Cli {
    /// What it is given and how it speaks.
    pub dialect: Arc<dyn Dialect>,
    /// What somebody configured about it.
    pub settings: Settings,
    /// The machine.
    pub surroundings: Arc<Surroundings>,
}

impl Cli {
    /// Where its program is, if it is there.
    pub fn program(&self) -> Option<PathBuf> {
        let name = self.settings.program.as_deref().unwrap_or(self.dialect.name());
        found(&self.surroundings, name)
    }

    /// Whether the system keeps it to its bounds.
    fn is_fenced(&self) -> bool {
        self.settings.fence && (self.surroundings.holds)()
    }

    /// What it is given that nobody is to read.
    fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        for (name, value) in self.surroundings.passed(&self.dialect.variables(&self.surroundings)) {
            secrets.variable(&name, &value);
        }
        for (name, value) in &self.settings.environment {
            secrets.variable(name, &self.surroundings.filled(value));
        }
        for (from, _) in self.dialect.credentials(&self.surroundings) {
            secrets.credentials(&std::fs::read(self.surroundings.home.join(from)).unwrap_or_default());
        }
        secrets
    }

    /// What it has of its own in a call.
    fn own(&self, call: &Call) -> io::Result<Own> {
        let mut files = self.dialect.credentials(&self.surroundings);
        for file in &self.settings.files {
            let from = self.surroundings.meant(file);
            let to = from.strip_prefix(&self.surroundings.home).unwrap_or(&from);
            // One from elsewhere goes to where it would be looked for by its name.
            let to = to.strip_prefix("/").unwrap_or(to).to_owned();
            files.push((from, to));
        }
        self.surroundings.own(call, &files)
    }

    fn command(&self, call: &Call, own: &mut Own, program: &Path) -> io::Result<(Command, Speech)> {
        let asked = Asked {
            call,
            settings: &self.settings,
            surroundings: &self.surroundings,
            home: &own.home,
            is_fenced: self.is_fenced(),
        };
        let Order { mut arguments, environment, input } = self.dialect.order(&asked)?;
        let speech = self.dialect.speech(&asked);
        if self.dialect.takes_more_at_the_end() {
            arguments.extend(self.settings.arguments.iter().chain(&call.arguments).cloned());
        }
        let mut all: IndexMap<String, String> =
            self.surroundings.passed(&self.dialect.variables(&self.surroundings)).into_iter().collect();
        let place = |it: &Path| it.to_string_lossy().into_owned();
        all.insert("HOME".to_owned(), place(&own.home));
        all.insert("TMPDIR".to_owned(), place(&own.temporary));
        if self.is_fenced() && !call.may.write {
            // What is built only to look at it does not go where it may not be written.
            all.insert("CARGO_TARGET_DIR".to_owned(), place(&own.temporary.join("target")));
        }
        all.extend(environment);
        all.extend(call.environment.iter().cloned());
        for (name, value) in &self.settings.environment {
            all.insert(name.clone(), self.surroundings.filled(value));
        }
        for (name, value) in &all {
            own.secrets.variable(name, value);
        }
        let command = Command {
            program: place(program),
            arguments,
            folder: call.folder.clone(),
            environment: all.into_iter().collect(),
            unset: Vec::new(),
            only: true,
            fence: self.is_fenced().then(|| self.surroundings.fence(call)),
            input,
            wall: call.wall,
            idle: Some(call.idle),
        };
        Ok((command, speech))
    }
}

impl Agent for Cli {
    fn missing(&self, _folder: &Path) -> Option<String> {
        if self.program().is_some() {
            return None;
        }
        let name = self.settings.program.as_deref().unwrap_or(self.dialect.name());
        Some(format!("`{name}` is not there ({})", self.dialect.get()))
    }

    fn unbounded(&self) -> Option<String> {
        if self.is_fenced() {
            return None;
        }
        let why = if (self.surroundings.holds)() { "as configured" } else { "this system has no Landlock" };
        Some(format!(
            "`{}` runs without a fence ({why}): what it writes out of bounds in the project is still undone, but nothing keeps it from the rest of this machine",
            self.dialect.name()
        ))
    }

    fn says(&self) -> Says {
        self.dialect.says()
    }

    fn without_secrets(&self, text: &str) -> String {
        self.secrets().without(text)
    }

    fn takes_tools(&self) -> bool {
        true
    }

    fn call(&self, call: &Call, supervisor: &Supervisor, cancel: &Cancel) -> io::Result<Reply> {
        let program = self.program().ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, self.missing(&call.folder).unwrap_or_default())
        })?;
        let mut own = self.own(call)?;
        let (command, speech) = self.command(call, &mut own, &program)?;
        let (said, ran) = match speech {
            Speech::Stream(stream) => heard(&command, stream, supervisor, cancel)?,
            Speech::Acp(turn) => talked(&command, &turn, supervisor, cancel)?,
        };
        own.give_back();
        let mut said = said;
        if let Some(used) = self.dialect.used(&own.home) {
            said.usage = used;
        }
        said.failed = said.failed.map(|it| it.timed(clock()));
        Ok(reply(said, &ran, &own, call))
    }
}

/// What time it is here, for agents that say when they can go on as a clock on the wall does.
fn clock() -> Clock {
    let now = Zoned::now();
    let now_ms = u64::try_from(now.timestamp().as_millisecond()).unwrap_or_default();
    Clock { now: now_ms, ahead: now.offset().seconds() }
}

/// Runs it, and has its stream of events read.
fn heard(
    command: &Command,
    mut stream: Box<dyn Stream>,
    supervisor: &Supervisor,
    cancel: &Cancel,
) -> io::Result<(Said, Ran)> {
    let mut lines = Lines::default();
    let ran = command.run(supervisor, cancel, &mut |bytes| lines.push(bytes, &mut |it| stream.line(it)))?;
    lines.end(&mut |it| stream.line(it));
    Ok((stream.over(end(ran.ended), &ran.errors.text()), ran))
}

/// Runs it, and has a conversation with it.
fn talked(
    command: &Command,
    turn: &Turn,
    supervisor: &Supervisor,
    cancel: &Cancel,
) -> io::Result<(Said, Ran)> {
    let mut transcript = Output::default();
    let (mut ran, told) = command.talk(supervisor, cancel, |input, output| {
        converse(input, output, turn, &mut |way, line| {
            let mark = if way == Way::In { "<" } else { ">" };
            transcript.push(format!("{mark} {line}\n").as_bytes());
        })
    })?;
    let said = told.said(end(ran.ended), &ran.errors.text());
    ran.output = transcript;
    Ok((said, ran))
}

fn end(ended: Ended) -> End {
    match ended {
        Ended::Exit(code) => End::Exit(code),
        Ended::Timeout => End::Timeout,
        Ended::Stalled => End::Stalled,
        Ended::Cancelled => End::Cancelled,
    }
}

/// What was said, as the engine takes it.
fn reply(said: Said, ran: &Ran, own: &Own, call: &Call) -> Reply {
    let plain = |text: &str| own.secrets.without(text);
    let (text, errors) = (plain(&ran.output.text()), plain(&ran.errors.text()));
    let transcript = if errors.trim().is_empty() { text } else { format!("{text}\n--- errors\n{errors}") };
    let (failed, limited) = failure(said.failed, call);
    let used = said.usage;
    let session = said.session.map(|id| Session { id, state: in_all(used, call.session.as_ref()) });
    Reply {
        failed: failed.map(|(signal, why)| (signal, plain(&why))),
        limited,
        text: plain(&said.text),
        structured: said.structured.or_else(|| as_data(&said.text, call)),
        trusted: false,
        session,
        denied: said.denied.iter().map(|it| plain(it)).collect(),
        transcript,
        cost: cost(&used, ran.took),
    }
}

/// An answer that is data as a whole, where that was asked for.
fn as_data(text: &str, call: &Call) -> Option<serde_json::Value> {
    call.schema.as_ref()?;
    serde_json::from_str(text.trim()).ok().filter(serde_json::Value::is_object)
}

/// A failure in the engine's words, and how long one that has no more to give is left alone.
pub(crate) fn failure(
    failed: Option<Failed>,
    call: &Call,
) -> (Option<(&'static str, String)>, Option<Duration>) {
    let failed = match failed {
        None => return (None, None),
        Some(Failed::Limited { until, lasts, .. }) => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let lasts = lasts.map(Duration::from_millis);
            let lasts = lasts.or_else(|| Some(Duration::from_millis(until?).saturating_sub(now)));
            return (None, Some(a_while(lasts)));
        }
        Some(Failed::Crashed(why)) => ("crashed", why),
        Some(Failed::Refused(why)) => ("refused", why),
        Some(Failed::Denied(why)) => ("denied", why),
        Some(Failed::OverBudget(why)) => (OVER_BUDGET, why),
        Some(Failed::Timeout) => ("timeout", format!("it took longer than {:.0} s", call.wall.as_secs_f64())),
        Some(Failed::Stalled) => ("stalled", format!("it said nothing for {:.0} s", call.idle.as_secs_f64())),
        Some(Failed::Cancelled) => (CANCELLED, "it was called off".to_owned()),
    };
    (Some(failed), None)
}

/// What the calls of a session before this one used.
pub(crate) fn before(session: Option<&Session>) -> Usage {
    session.and_then(|it| serde_json::from_value(it.state.clone()).ok()).unwrap_or_default()
}

/// What all calls of a session used, this one with them.
pub(crate) fn in_all(used: Usage, session: Option<&Session>) -> serde_json::Value {
    let all = if session.is_some() { used.and(before(session)) } else { used };
    serde_json::to_value(all).unwrap_or_default()
}

/// What a call cost, and whether that is all.
pub(crate) fn cost(used: &Usage, took: Duration) -> Cost {
    let tokens = used.input.unwrap_or(0).saturating_add(used.output.unwrap_or(0));
    Cost {
        time: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        // A price that is not nothing is never told as nothing.
        money: used.money.unwrap_or(0).div_ceil(1_000),
        tokens,
        unpriced: used.money.is_none(),
        uncounted: used.input.is_none() || used.output.is_none(),
    }
}

/// A program, by its name or its path.
pub(crate) fn found(surroundings: &Surroundings, name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(surroundings.meant(name)).filter(|it| is_program(it));
    }
    let path = surroundings.variable("PATH").unwrap_or_default();
    std::env::split_paths(path).map(|it| it.join(name)).find(|it| is_program(it))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}
