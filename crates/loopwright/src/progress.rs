//! What people see while a run is driven, and who answers for them.

use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use loopwright_core::definition::{Note, Outcome as Ending};
use loopwright_core::machine::{Event, Evidence, RunView};
use loopwright_core::name::Name;
use loopwright_engine::{Answered, Asked, Asking, Engine, People, Standing, Watch};
use serde_json::json;

use crate::error::{self, CommandError};
use crate::{moves, session, show};

/// Shows what happens, a line each: to people, or as JSON.
pub(crate) struct Progress {
    pub(crate) json: bool,
}

impl Watch for Progress {
    fn happened(&self, run: &str, event: &Event, view: &RunView) {
        if self.json {
            show::out(&format!("{}\n", json!({"run": run, "event": event, "state": view.state})));
            return;
        }
        match event {
            Event::Issued { effect, attempt, values } => {
                let role = values["role"].as_str().map(|it| format!(" ({it})")).unwrap_or_default();
                let again = if *attempt > 1 { format!(", try {attempt}") } else { String::new() };
                show::error_line(&format!("  {effect}{role}{again} …"));
            }
            Event::Settled { effect, evidence: Evidence::Out(outcome) } => {
                let why =
                    if outcome.summary.is_empty() { String::new() } else { format!(": {}", outcome.summary) };
                show::error_line(&format!("  {effect} -> {}{why}", outcome.signal));
                for finding in &outcome.findings {
                    show::error_line(&format!("      {}: {}", finding.severity, finding.text));
                }
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

/// Asks whoever sits at the terminal; elsewhere, gives the answers that were given beforehand.
pub(crate) struct AtTheTerminal {
    given: Mutex<Vec<(String, Answered)>>,
    may_ask: bool,
}

impl AtTheTerminal {
    /// With answers that were given beforehand, as `ID=VALUE`.
    pub(crate) fn with(given: &[String], may_ask: bool) -> Result<Self, CommandError> {
        let mut answers = Vec::new();
        for text in given {
            let Some((id, answer)) = text.split_once('=') else {
                return Err(CommandError::user(format!("`--answer {text}` says no answer"))
                    .hinted("write `--answer QUESTION=ANSWER`"));
            };
            answers.push((id.to_owned(), Answered { answer: Name::from(answer), ..Answered::default() }));
        }
        let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        Ok(Self { given: Mutex::new(answers), may_ask: may_ask && terminal })
    }
}

impl People for AtTheTerminal {
    fn ask(&self, asked: &Asked) -> Option<Answered> {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = given.iter().position(|(id, _)| *id == asked.id) {
            return Some(given.remove(at).1);
        }
        if !self.may_ask {
            return None;
        }
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
}

/// A question with what it shows and its answers.
fn question(asked: &Asked) {
    for (name, text) in asked.shows.iter().filter(|(_, it)| !it.trim().is_empty()) {
        show::error_line(&format!("--- {name}"));
        show::error_line(text.trim_end());
        show::error_line("---");
    }
    let answers: Vec<&str> = asked.answers.keys().map(|it| &**it).collect();
    show::error_line(&format!("{}\n  {}", asked.text, answers.join(", ")));
}

/// An engine for runs there are, that shows what it does.
pub(crate) fn engine_of_runs(json: bool, answers: &[String], may_ask: bool) -> Result<Engine, CommandError> {
    let people = AtTheTerminal::with(answers, may_ask && !json)?;
    session::engine_of_runs(Arc::new(people), Arc::new(Progress { json }))
}

/// An engine that shows what it does.
pub(crate) fn engine(json: bool, answers: &[String], may_ask: bool) -> Result<Engine, CommandError> {
    let people = AtTheTerminal::with(answers, may_ask && !json)?;
    session::engine(Arc::new(people), Arc::new(Progress { json }))
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
    };
    if json {
        show::out(&format!("{}\n", json!({"run": name, "standing": word, "says": says, "view": view})));
        return Ok(ExitCode::from(code));
    }
    match standing {
        Standing::Over { .. } => {
            let says = says.map(|it| show::indented(&it)).unwrap_or_default();
            show::out(&format!("{name}: {word}, at `{}`\n{says}", view.state));
        }
        Standing::CalledOff { .. } => {
            show::out(&format!(
                "{name}: left at `{}`; `loopwright resume {name}` takes it up again\n",
                view.state
            ));
        }
        Standing::Waits { asking, .. } => show::out(&waiting(name, &view, asking)),
    }
    if !view.forced.is_empty() {
        let gates: Vec<&str> = view.forced.iter().map(|it| &**it).collect();
        show::out(&format!("  passed over: {}\n", gates.join(", ")));
    }
    Ok(ExitCode::from(code))
}

/// What a run waits for, and what to type.
fn waiting(name: &str, view: &RunView, asking: &Asking) -> String {
    match asking {
        Asking::Verbs { text, verbs, run } => {
            let verbs: Vec<String> = verbs
                .iter()
                .map(|it| match &**it {
                    "resume" => format!("`loopwright resume {name}`"),
                    verb => format!("`{}`", moves::said(view, verb)),
                })
                .collect();
            let item = if run == name { String::new() } else { format!(" (in {run})") };
            format!(
                "{name}: waits at `{}`{item}\n  {}\n  go on with {}\n",
                view.state,
                text.trim(),
                verbs.join(" or ")
            )
        }
        Asking::Question(asked) => {
            let typed: Vec<String> =
                moves::answers(name, &asked.answers).iter().map(|it| format!("`{it}`")).collect();
            format!(
                "{name}: asks at `{}`\n  {}\n  answer with {}\n",
                view.state,
                asked.text.trim(),
                typed.join(" or ")
            )
        }
    }
}
