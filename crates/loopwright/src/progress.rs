//! What people see while a run is driven, and who answers for them.

use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;
use loopwright_core::definition::{Note, Outcome as Ending};
use loopwright_core::machine::{Event, Evidence, Part, Run, RunView};
use loopwright_core::name::Name;
use loopwright_core::signal::DEFERRED;
use loopwright_engine::{
    Answered, Asked, Asking, Engine, Nobody, People, Policy, Standing, Unwatched, Watch,
};
use serde_json::json;

use crate::error::{self, CommandError};
use crate::{live, moves, session, show};

/// Shows what happens, a line each: to people, or as JSON. On a terminal, what is at work is shown while it is.
pub(crate) struct Progress {
    pub(crate) json: bool,
}

impl Watch for Progress {
    fn happened(&self, run: &str, event: &Event, view: &RunView) {
        if self.json {
            show::out(&format!("{}\n", json!({"run": run, "event": event, "state": view.state})));
            return;
        }
        // An item's run is told from others by the item.
        let whose = run.rsplit_once('/').map(|(_, item)| format!("{item}: ")).unwrap_or_default();
        match event {
            Event::Issued { effect, attempt, values } => {
                let role = values["role"].as_str().map(|it| format!(" ({it})")).unwrap_or_default();
                let again = if *attempt > 1 { format!(", try {attempt}") } else { String::new() };
                let what = format!("{whose}{effect}{role}{again}");
                // A question is at nobody's work.
                if values["question"].is_null() && !live::works((run, effect), &what, view) {
                    show::error_line(&format!("  {what} …"));
                }
            }
            Event::Settled { effect, evidence: Evidence::Out(outcome) } => {
                let took = live::came_back((run, effect), &outcome.cost);
                let took = took.map(|it| format!(" ({it})")).unwrap_or_default();
                let why =
                    if outcome.summary.is_empty() { String::new() } else { format!(": {}", outcome.summary) };
                show::error_line(&format!("  {whose}{effect} -> {}{took}{why}", outcome.signal));
                for finding in &outcome.findings {
                    show::error_line(&format!("      {}: {}", finding.severity, finding.text));
                }
                undone(run, &outcome.kept);
            }
            Event::Heard { effect, outcome, .. } => {
                let took = live::came_back((run, effect), &outcome.cost);
                let took = took.map(|it| format!(" ({it})")).unwrap_or_default();
                let heard = format!("{whose}{effect} was heard{took}: {}, for its turn", outcome.signal);
                show::error_line(&format!("  {heard}"));
                undone(run, &outcome.kept);
            }
            // Nobody waits for one that was called ahead of its turn.
            Event::PutOff { effect, why, cost, kept, .. } if matches!(effect.part, Part::Ahead(_)) => {
                live::came_back((run, effect), cost);
                show::error_line(&format!("  {whose}{effect} was put off: {why}; it is called at its turn"));
                undone(run, kept);
            }
            Event::PutOff { effect, why, until, cost, kept } => {
                live::came_back((run, effect), cost);
                let when = match until {
                    Some(until) => format!("in {}", show::lasting(until.saturating_sub(session::now()))),
                    None => "when the run is taken up again".to_owned(),
                };
                show::error_line(&format!("  {whose}{effect} was put off: {why}; it is begun anew {when}"));
                undone(run, kept);
            }
            _ => {}
        }
    }

    fn said(&self, run: &str, text: &str) {
        if self.json {
            show::out(&format!("{}\n", json!({"run": run, "said": text})));
        } else {
            show::error_line(text);
        }
    }
}

/// Says how to get back what was undone: nobody can tell who wrote it, and it may have been a person.
fn undone(run: &str, kept: &IndexMap<String, String>) {
    for (_, name) in kept.iter().filter(|(it, _)| it.starts_with("undone")) {
        let name = &name[..name.len().min(10)];
        show::error_line(&format!("      to have it back: `loopwright log {run} --kept {name} | git apply`"));
    }
}

/// What becomes of questions when nobody is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Unattended {
    /// Whatever is asked ends the command (exit code 3) and stays to be answered
    Fail,
    /// What the workflow declares (`unattended` of the question) is the answer; anything else as in `fail`
    Default,
}

/// Asks whoever sits at the terminal; elsewhere, gives the answers that were given beforehand.
pub(crate) struct AtTheTerminal {
    given: Mutex<Given>,
    may_ask: bool,
    policy: Policy,
}

/// Answers that were given beforehand, by question.
#[derive(Default)]
struct Given {
    left: Vec<(String, Answered)>,
    /// The last of them, with the run and the visit it was for. It answers all that is asked in that visit.
    last: Option<(String, String, Answered)>,
}

impl AtTheTerminal {
    /// With answers that were given beforehand, as `ID=VALUE`.
    pub(crate) fn with(
        given: &[String],
        may_ask: bool,
        unattended: Option<Unattended>,
    ) -> Result<Self, CommandError> {
        let mut answers = Vec::new();
        for text in given {
            let Some((id, answer)) = text.split_once('=') else {
                return Err(CommandError::user(format!("`--answer {text}` says no answer"))
                    .hinted("write `--answer QUESTION=ANSWER`"));
            };
            answers.push((id.to_owned(), Answered { answer: Name::from(answer), ..Answered::default() }));
        }
        let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        let may_ask = may_ask && terminal && unattended.is_none();
        // Somebody who is asked and says nothing is there, and wants to answer later.
        let policy = match unattended {
            Some(Unattended::Fail) => Policy::Wait,
            None if may_ask => Policy::Wait,
            _ => Policy::Declared,
        };
        Ok(Self { given: Mutex::new(Given { left: answers, last: None }), may_ask, policy })
    }
}

impl People for AtTheTerminal {
    fn ask(&self, asked: &Asked) -> Option<Answered> {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        // Asked once per finding, it is answered once for all of them.
        let again = given.last.as_ref().filter(|_| asked.finding.is_some());
        if let Some((.., answer)) = again.filter(|(run, visit, _)| *run == asked.run && *visit == asked.visit)
        {
            return Some(answer.clone());
        }
        if let Some(at) = given.left.iter().position(|(id, _)| *id == asked.id || **id == *asked.name) {
            let answer = given.left.remove(at).1;
            given.last = Some((asked.run.clone(), asked.visit.clone(), answer.clone()));
            return Some(answer);
        }
        if !self.may_ask {
            return None;
        }
        live::asking(|| answer(asked))
    }

    fn policy(&self) -> Policy {
        self.policy
    }
}

/// Asks at the terminal. `None`: later.
fn answer(asked: &Asked) -> Option<Answered> {
    question(asked);
    let line = |prompt: &str| {
        show::error_line(prompt);
        let mut text = String::new();
        let read = std::io::stdin().lock().read_line(&mut text).unwrap_or(0);
        (read > 0).then(|| text.trim().to_owned())
    };
    let answer: Name = line("answer (nothing: later)?").filter(|it| !it.is_empty())?.into();
    let mut answered = Answered { answer: answer.clone(), ..Answered::default() };
    if let Some(declared) = asked.answers.get(&*answer) {
        for (field, values) in &declared.fields {
            let words: Vec<&str> = values.iter().map(|it| &**it).collect();
            let value = line(&format!("{field} ({})?", words.join(", ")))?;
            answered.fields.insert(field.clone(), value.into());
        }
        if declared.note != Note::None {
            answered.note = line("in your own words?")?;
        }
    }
    Some(answered)
}

/// A question with what it shows and its answers.
fn question(asked: &Asked) {
    let shows = moves::whole(&moves::shown(asked.clone()));
    if !shows.is_empty() {
        show::error_line(shows.trim_end());
    }
    if let Some(finding) = &asked.finding {
        show::error_line(&finding.to_string());
    }
    let answers: Vec<&str> = asked.answers.keys().map(|it| &**it).chain([DEFERRED]).collect();
    show::error_line(&format!("{}\n  {}", asked.text, answers.join(", ")));
}

/// How a command deals with people.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manner {
    /// One event a line.
    pub(crate) json: bool,
    /// Answers that were given beforehand.
    pub(crate) answers: Vec<String>,
    /// What becomes of questions when nobody is to be asked.
    pub(crate) unattended: Option<Unattended>,
    /// The run is left once it came back to its start so often.
    pub(crate) max_loops: Option<u32>,
    /// So many items may be at work side by side.
    pub(crate) jobs: Option<u32>,
}

/// How a run is driven, as somebody says it.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct MannerArgs {
    /// An answer given beforehand; without a terminal, questions without one wait
    #[arg(long = "answer", value_name = "QUESTION=ANSWER")]
    answers: Vec<String>,
    /// Ask nothing at the terminal; what becomes of questions without an answer
    #[arg(long, value_name = "POLICY")]
    unattended: Option<Unattended>,
    /// Leave the run once it came back to its start so many times (0: never)
    #[arg(long, value_name = "N")]
    max_loops: Option<u32>,
    /// How many items may be at work side by side, where the workflow lets as many; on record from then on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    jobs: Option<u32>,
    /// In the background: says what the run is called once it goes, and returns
    #[arg(long)]
    pub(crate) detach: bool,
    /// One event a line, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl MannerArgs {
    pub(crate) fn manner(&self) -> Manner {
        Manner {
            json: self.json,
            answers: self.answers.clone(),
            unattended: self.unattended,
            max_loops: self.max_loops.filter(|it| *it > 0),
            jobs: self.jobs,
        }
    }
}

impl Manner {
    /// Of somebody who only wants to know whether it is for programs.
    pub(crate) fn plain(json: bool) -> Self {
        Self { json, ..Self::default() }
    }

    fn sides(&self) -> Result<(Arc<AtTheTerminal>, Arc<Progress>), CommandError> {
        let people = AtTheTerminal::with(&self.answers, !self.json, self.unattended)?;
        if !self.json {
            live::begin();
        }
        Ok((Arc::new(people), Arc::new(Progress { json: self.json })))
    }
}

/// An engine for runs there are, to look at them.
pub(crate) fn reader() -> Result<Engine, CommandError> {
    session::reader_of_runs(Arc::new(Nobody), Arc::new(Unwatched))
}

/// An engine for runs there are, that shows what it does.
pub(crate) fn engine_of_runs(manner: &Manner) -> Result<Engine, CommandError> {
    let (people, watch) = manner.sides()?;
    let mut engine = session::engine_of_runs(people, watch)?;
    session::says_elsewhere(&engine.home)?;
    engine.most_rounds = manner.max_loops;
    engine.jobs = manner.jobs;
    Ok(engine)
}

/// An engine for runs there are, to end them.
pub(crate) fn ender(manner: &Manner) -> Result<Engine, CommandError> {
    let (people, watch) = manner.sides()?;
    session::reader_of_runs(people, watch)
}

/// An engine to begin runs with, that shows what it does.
pub(crate) fn engine(manner: &Manner) -> Result<Engine, CommandError> {
    let (people, watch) = manner.sides()?;
    let mut engine = session::engine(people, watch)?;
    session::says_elsewhere(&engine.home)?;
    engine.most_rounds = manner.max_loops;
    engine.jobs = manner.jobs;
    Ok(engine)
}

/// Says where a run stands now, how to go on, and with which exit code.
pub(crate) fn stands(
    engine: &Engine,
    name: &str,
    standing: &Standing,
    json: bool,
) -> Result<ExitCode, CommandError> {
    let (definition, _) = engine.read(name).map_err(session::told)?;
    let view = RunView::of(&definition.workflow, standing.run());
    let says = engine.says(name, (&definition, standing.run()));
    let (code, word) = match standing {
        Standing::Over { ending: Some(Ending::Success), .. } => (error::OK, "success"),
        Standing::Over { ending, .. } => {
            (error::NOT_PROVED, ending.map_or("ended by a person", Ending::word))
        }
        Standing::Waits { .. } => (error::WAITS, "waits"),
        Standing::CalledOff { .. } => (error::LEFT, "left"),
        Standing::Rounded { .. } => (error::OK, "left"),
    };
    if json {
        show::out(&format!("{}\n", json!({"run": name, "standing": word, "says": says, "view": view})));
        return Ok(ExitCode::from(code));
    }
    match standing {
        Standing::Over { .. } => {
            let mut told = format!("{name}: {word}, at `{}`\n", view.state);
            told.push_str(&says.map(|it| show::indented(&it)).unwrap_or_default());
            // Whoever ended it knows why.
            let failed = code != error::OK && view.outcome.is_some();
            if let Some(because) = because(standing.run()).filter(|_| failed) {
                told.push_str(&show::indented(&format!(
                    "because {because}; `loopwright log {name}` has all of it"
                )));
            }
            show::out(&show::wrapped(&told, 4));
        }
        Standing::CalledOff { .. } | Standing::Rounded { .. } => {
            show::out(&format!(
                "{name}: left at `{}`; `loopwright resume {name}` takes it up again\n",
                view.state
            ));
        }
        Standing::Waits { asking, .. } => show::out(&waiting(engine, name, &view, asking)),
    }
    if !view.forced.is_empty() {
        let gates: Vec<&str> = view.forced.iter().map(|it| &**it).collect();
        show::out(&format!("  passed over: {}\n", gates.join(", ")));
    }
    Ok(ExitCode::from(code))
}

/// What led to where a run stands.
pub(crate) fn because(run: &Run) -> Option<String> {
    // A choice has no outcome.
    let cause = run.cause.as_ref().filter(|it| *it.signal != *"*")?;
    let came = format!("`{}` came out as {}", cause.state, cause.signal);
    let why = if cause.summary.is_empty() { String::new() } else { format!(": {}", cause.summary) };
    let out = cause.exhausted.as_ref().map(|it| format!("; `{it}` was used up")).unwrap_or_default();
    Some(format!("{came}{why}{out}"))
}

/// What a run waits for, and what to type.
fn waiting(engine: &Engine, name: &str, view: &RunView, asking: &Asking) -> String {
    match asking {
        Asking::Verbs { text, verbs, run } => {
            let verbs: Vec<String> =
                moves::said(engine, name, view, verbs).iter().map(|it| format!("`{it}`")).collect();
            let item = if run == name { String::new() } else { format!(" (in {run})") };
            format!(
                "{name}: waits at `{}`{item}\n  {}\n  go on with {}\n",
                view.state,
                text.trim(),
                verbs.join(" or ")
            )
        }
        Asking::Question(asked) => {
            let finding = asked.finding.as_ref().map(|it| it.id.as_str());
            let typed: Vec<String> =
                moves::answers(name, &asked.answers, finding).iter().map(|it| format!("`{it}`")).collect();
            let about = asked.finding.as_ref().map(|it| format!("  {it}\n")).unwrap_or_default();
            let shows = moves::look(name, &moves::shown((**asked).clone()));
            let shows = shows.map(|it| format!("  it is about {it}\n")).unwrap_or_default();
            format!(
                "{name}: asks at `{}`\n  {}\n{about}{shows}  answer with {}\n",
                view.state,
                asked.text.trim(),
                typed.join(" or ")
            )
        }
    }
}
