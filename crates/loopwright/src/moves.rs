//! What would move a run, and what to type for it.

use std::fmt::Write as _;

use loopwright_core::definition::{Fields, Kind, Note, Outcomes};
use loopwright_core::machine::{Run, RunView, Want, due};
use loopwright_core::name::Name;
use loopwright_core::signal::DEFERRED;
use loopwright_engine::{Asked, Engine, Found};

use crate::error::CommandError;
use crate::{session, show};

/// What would move a run.
pub(crate) struct Moves {
    /// What it waits for.
    pub(crate) waits: Waits,
    /// What the run tells whoever would move it.
    pub(crate) text: String,
    /// What to type; any of these.
    pub(crate) commands: Vec<String>,
    /// Findings it asks about, one after the other.
    pub(crate) open: Vec<Found>,
    /// What an answer is about: names and texts.
    pub(crate) shows: Vec<(String, String)>,
}

impl Moves {
    fn by(waits: Waits, text: String, commands: Vec<String>) -> Self {
        Self { waits, text, commands, open: Vec::new(), shows: Vec::new() }
    }

    /// What to type, a line each.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let labels = std::iter::once("go on with").chain(std::iter::repeat("or"));
        labels.zip(self.commands.iter().map(String::as_str))
    }
}

/// What a run waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// An answer.
    Answer,
    /// A verb.
    Verb,
    /// Nothing but its own work, which somebody drives.
    Work,
    /// Somebody who drives it.
    Driver,
}

impl Waits {
    /// What stands before what the run tells.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Answer => "asks",
            Self::Verb => "rests",
            Self::Work | Self::Driver => "waits",
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Answer => "an answer",
            Self::Verb => "a verb",
            Self::Work => "its own work",
            Self::Driver => "somebody to drive it",
        }
    }
}

/// What would move a run, or the item of it that waits. `None`: it is over.
pub(crate) fn of(engine: &Engine, name: &str) -> Result<Option<Moves>, CommandError> {
    let waiting = session::who_waits(engine, name)?;
    let (definition, run) = engine.read(&waiting).map_err(session::told)?;
    if run.is_over() {
        return Ok(None);
    }
    let filled = |text: &str| {
        let filled = engine.filled(&waiting, (&definition, &run), text);
        filled.unwrap_or_else(|_| text.to_owned()).trim().to_owned()
    };
    Ok(Some(match due(&definition.workflow, &run).first().map(|it| &it.want) {
        Some(Want::Await { verbs }) => {
            let text = match run.state(&definition.workflow).map(|it| &it.kind) {
                Some(Kind::Rest { text }) => filled(text),
                _ => String::new(),
            };
            let commands = said(engine, name, &RunView::of(&definition.workflow, &run), verbs);
            Moves::by(Waits::Verb, text, commands)
        }
        Some(Want::Ask { question, .. }) => {
            let question = definition.workflow.questions.get(&**question);
            // Where what it shows cannot be seen any more, what the author wrote still says more than nothing.
            let asked = engine.asked(&waiting, (&definition, &run)).unwrap_or_default();
            let open: Vec<Found> = asked.iter().filter_map(|it| it.finding.clone()).collect();
            let one = open.first().filter(|_| open.len() > 1).map(|it| it.id.as_str());
            let commands = question.map(|it| answers(name, &it.answers, one)).unwrap_or_default();
            let first = asked.first().map(|it| it.text.trim().to_owned());
            let text = first.or_else(|| question.map(|it| it.asks.clone())).unwrap_or_default();
            let shows = asked.into_iter().next().map(shown).unwrap_or_default();
            Moves { open, shows, ..Moves::by(Waits::Answer, text, commands) }
        }
        _ if engine.driven_by(name).map_err(session::told)?.is_some() => {
            Moves::by(Waits::Work, put_off(&run), Vec::new())
        }
        _ => {
            let commands = vec![format!("loopwright resume {name}")];
            Moves::by(Waits::Driver, put_off(&run), commands)
        }
    }))
}

/// How long what is due is put off yet.
fn put_off(run: &Run) -> String {
    let left = run.at.until.map_or(0, |it| it.saturating_sub(session::now()));
    if left > 0 { format!("put off for another {}", show::lasting(left)) } else { String::new() }
}

/// What a question shows that says something.
pub(crate) fn shown(asked: Asked) -> Vec<(String, String)> {
    asked.shows.into_iter().filter(|(_, text)| !text.trim().is_empty()).collect()
}

/// What a question shows, whole.
pub(crate) fn whole(shows: &[(String, String)]) -> String {
    let whole = |(name, text): &(String, String)| format!("--- {name}\n{}\n---\n", text.trim_end());
    shows.iter().map(whole).collect()
}

/// How to see what a question shows, where it is not shown.
pub(crate) fn look(name: &str, shows: &[(String, String)]) -> Option<String> {
    let names: Vec<&str> = shows.iter().map(|(name, _)| name.as_str()).collect();
    (!names.is_empty()).then(|| format!("{} (`loopwright show {name}` prints it)", names.join(", ")))
}

/// What to type for each answer, to the one of several findings that is meant.
pub(crate) fn answers(name: &str, answers: &Outcomes, finding: Option<&str>) -> Vec<String> {
    let typed = |(answer, declared): (&Name, &Fields)| {
        let mut typed = format!("loopwright answer {name} {}", quoted(answer));
        for (field, values) in &declared.fields {
            let values: Vec<&str> = values.iter().map(|it| &**it).collect();
            let _ = write!(typed, " --field {field}={}", values.first().unwrap_or(&"..."));
        }
        if declared.note == Note::Required {
            typed.push_str(" --note '...'");
        }
        if let Some(finding) = finding {
            let _ = write!(typed, " --finding {finding}");
        }
        typed
    };
    // Whoever cannot tell may put it off, and the workflow says what becomes of it.
    let off = Name::from(DEFERRED);
    let off = typed((&off, &Fields::default()));
    answers.iter().map(typed).chain([off]).collect()
}

/// What to type to say verbs to a run.
pub(crate) fn said(engine: &Engine, name: &str, view: &RunView, verbs: &[Name]) -> Vec<String> {
    // Runs about one thing are told apart by their names.
    let over = |name: &str| engine.read(name).is_ok_and(|(_, run)| run.is_over());
    let about_it = engine.journal.runs().unwrap_or_default().into_iter().filter(|it| {
        it.run.parent.is_none()
            && it.last > 0
            && it.run.subject == view.subject
            && *it.run.workflow == *view.workflow
            && !over(&it.run.name)
    });
    let which = if about_it.count() > 1 { name.to_owned() } else { quoted(&view.subject) };
    let typed = verbs.iter().map(|it| match &**it {
        "resume" => format!("loopwright resume {name}"),
        verb => format!("loopwright {} {verb} {which}", view.workflow),
    });
    typed.collect()
}

/// A word as a shell takes it for one.
pub(crate) fn quoted(text: &str) -> String {
    let plain = !text.is_empty() && text.chars().all(|it| it.is_alphanumeric() || "-_./:".contains(it));
    if plain { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
