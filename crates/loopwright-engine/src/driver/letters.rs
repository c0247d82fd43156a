//! What people left for a run.

use loopwright_core::definition::{Note, Question};
use loopwright_core::machine::{Event, Evidence, Impossible, Outcome, Want, due};
use loopwright_core::name::Name;
use loopwright_core::signal;

use super::Driver;
use crate::error::EngineError;
use crate::people::{Answered, Message};
use crate::scene::Scene;

impl Driver<'_> {
    /// Takes in what people left for the run. What does not fit any more is said and put aside.
    pub(super) fn read_letters(&mut self) -> Result<(), EngineError> {
        for letter in self.engine.journal.inbox(&self.name)? {
            if self.taken.contains(&letter.id) {
                continue;
            }
            let refused = match serde_json::from_str::<Message>(&letter.body) {
                Ok(message) => self.take_in(message)?,
                Err(error) => Some(format!("a message cannot be read: {error}")),
            };
            self.taken.push(letter.id);
            if let Some(why) = refused {
                self.engine.watch.said(&self.name, &why);
            }
        }
        Ok(())
    }

    /// Ends the run if somebody said so. Whatever else they left stays for whoever drives it next.
    pub(super) fn hear_stop(&mut self) -> Result<(), EngineError> {
        for letter in self.engine.journal.inbox(&self.name)? {
            if let Ok(message @ Message::Stop { .. }) = serde_json::from_str::<Message>(&letter.body) {
                self.take_in(message)?;
                self.taken.push(letter.id);
            }
        }
        Ok(())
    }

    /// Takes in one message; says why not.
    fn take_in(&mut self, message: Message) -> Result<Option<String>, EngineError> {
        let event = match message {
            Message::Stop { reason } => {
                self.end_children("the run around it was ended")?;
                Event::Stopped { reason }
            }
            Message::Raise { budget, by } => Event::Raised { budget, by },
            Message::Say { verb, inputs } => Event::Said { verb, inputs, judged: self.judged_now()? },
            Message::Answer(answered) => return self.take_answer(&answered),
        };
        match self.learn(event) {
            Ok(()) => Ok(None),
            Err(EngineError::Impossible(why)) if is_refusal(&why) => Ok(Some(why.to_string())),
            Err(error) => Err(error),
        }
    }

    /// Takes an answer in, if it answers what is asked; says why not.
    pub(super) fn take_answer(&mut self, answered: &Answered) -> Result<Option<String>, EngineError> {
        let effects = due(&self.definition.workflow, &self.run);
        let asked: Vec<_> = effects
            .iter()
            .filter_map(|it| match &it.want {
                Want::Ask { question, finding } => Some((it, question, finding.as_deref())),
                _ => None,
            })
            .collect();
        let meant = match (asked.as_slice(), answered.finding.as_deref()) {
            ([], _) => return Ok(Some("nothing is asked any more".into())),
            ([one], None) => one,
            (several, None) => {
                let known: Vec<&str> = several.iter().filter_map(|it| it.2).collect();
                return Ok(Some(format!("say which finding is meant, one of {}", known.join(", "))));
            }
            (several, Some(id)) => {
                let Some(one) = several.iter().find(|it| it.2 == Some(id)) else {
                    return Ok(Some(format!("nothing is asked about the finding `{id}` any more")));
                };
                one
            }
        };
        let (effect, name) = (meant.0, meant.1);
        let Some(question) = self.definition.workflow.questions.get(&**name) else { return Ok(None) };
        if let Err(why) = fits(question, answered) {
            return Ok(Some(why));
        }
        let key = effect.id.to_string();
        let now = self.judged_now()?;
        let begun = self.run.at.begun.get(&key);
        let shown = begun.map(|it| it.values["judged"].as_str().map(str::to_owned));
        if shown.is_some_and(|it| it != now) {
            // Asked anew, it is shown as it is now.
            self.run.at.begun.shift_remove(&key);
            return Ok(Some("what was shown has changed since: look at it again, and answer again".into()));
        }
        let question = self.question_text(&key, name, answered.finding.as_deref())?;
        let outcome = Outcome {
            question,
            fields: answered.fields.clone(),
            note: answered.note.clone(),
            judged: now,
            at: Some((self.engine.clock)()),
            ..Outcome::of(answered.answer.clone())
        };
        let effect = effect.id.clone();
        self.learn(Event::Settled { effect, evidence: Evidence::Out(Box::new(outcome)) })?;
        Ok(None)
    }

    /// A question as it was asked, or as it would be.
    fn question_text(
        &mut self,
        key: &str,
        name: &Name,
        finding: Option<&str>,
    ) -> Result<String, EngineError> {
        if let Some(text) = self.run.at.begun.get(key).and_then(|it| it.values["question"].as_str()) {
            return Ok(text.to_owned());
        }
        let look = self.look()?;
        let Some(question) = self.definition.workflow.questions.get(&**name) else {
            return Ok(String::new());
        };
        Ok(Scene { finding, ..self.scene(&look, None) }.text(&question.asks)?)
    }

    /// A name for what the state at hand judges, if it does.
    pub(super) fn judged_now(&mut self) -> Result<Option<String>, EngineError> {
        let state = self.run.state(&self.definition.workflow);
        let Some(gate) = state.and_then(|it| it.gate.as_ref()).map(|it| it.name.clone()) else {
            return Ok(None);
        };
        // A person may have edited something while the run waited.
        self.look = None;
        let look = self.look()?;
        Ok(Some(self.scene(&look, None).judged(&gate)?))
    }
}

/// Whether somebody asked for what cannot be, and the run goes on without it.
fn is_refusal(why: &Impossible) -> bool {
    matches!(why, Impossible::VerbRefused { .. } | Impossible::Over | Impossible::Unknown { .. })
}

/// Whether an answer is one of a question's; why not.
pub fn fits(question: &Question, answered: &Answered) -> Result<(), String> {
    // Whoever cannot tell may put it off.
    if *answered.answer == *signal::DEFERRED {
        return Ok(());
    }
    let known: Vec<&str> = question.answers.keys().map(|it| &**it).chain([signal::DEFERRED]).collect();
    let Some(declared) = question.answers.get(&*answered.answer) else {
        return Err(format!("`{}` is no answer: it is one of {}", answered.answer, known.join(", ")));
    };
    if declared.note == Note::Required && answered.note.trim().is_empty() {
        return Err(format!("`{}` needs a note that says what is meant (`--note`)", answered.answer));
    }
    if let Some(field) = answered.fields.keys().find(|it| !declared.fields.contains_key(*it)) {
        return Err(format!("`{}` comes with no `{field}`", answered.answer));
    }
    for (field, values) in &declared.fields {
        let words: Vec<&str> = values.iter().map(|it| &**it).collect();
        match answered.fields.get(field) {
            Some(value) if values.contains(value) => {}
            Some(value) => {
                return Err(format!("`{field}` cannot be `{value}`: it is one of {}", words.join(", ")));
            }
            None => {
                return Err(format!(
                    "`{}` comes with `{field}`, one of {}",
                    answered.answer,
                    words.join(", ")
                ));
            }
        }
    }
    Ok(())
}
