//! Documents that are what a command says.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use loopwright_core::definition::Files as Which;
use loopwright_core::name::Name;

use super::{Scene, Unseen};
use crate::files::Change;
use crate::process::{Cancel, Command, Ended, Supervisor, exit_in_words};

/// So long a command may take whose output is read.
const LONGEST: Duration = Duration::from_secs(30);
/// So many files are named that a command changed.
const MOST_NAMED: usize = 5;

/// Who runs commands that are listened to.
#[derive(Clone, Copy)]
pub(crate) struct Shell<'a> {
    pub(crate) supervisor: &'a Supervisor,
    /// Calls them off, where somebody may.
    pub(crate) cancel: Option<&'a Cancel>,
}

/// What a command said, or why it said nothing that counts.
pub(crate) type Said = Result<String, String>;

/// What commands said at one moment: each is asked once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard(Arc<Mutex<BTreeMap<String, Arc<Said>>>>);

impl Heard {
    fn of(&self, command: &str) -> Option<Arc<Said>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(command).cloned()
    }

    fn keep(&self, command: String, said: &Arc<Said>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(command, Arc::clone(said));
    }
}

impl Scene<'_> {
    /// What the command of a document says now. `None`: it is made of files.
    pub(super) fn said(&self, name: &Name) -> Result<Option<Arc<Said>>, Unseen> {
        let declared = self.workflow.documents.get(&**name);
        let Some(Which::Command(command)) = declared.map(|it| &it.files) else { return Ok(None) };
        let command = self.text(command)?;
        if let Some(said) = self.look.heard().of(&command) {
            return Ok(Some(said));
        }
        let said = Arc::new(self.only_looking(name, &command)?);
        self.look.heard().keep(command, &said);
        Ok(Some(said))
    }

    /// Runs a command that is for looking: what it changed would be taken for somebody's work.
    fn only_looking(&self, name: &Name, command: &str) -> Result<Said, Unseen> {
        let look = || if self.look.tree.is_empty() { Ok(None) } else { self.files.look().map(Some) };
        let before = look()?;
        let said = self.asked(command);
        let Some((before, after)) = before.zip(look()?) else { return Ok(said) };
        let changes = after.since(&before);
        if changes.is_empty() {
            return Ok(said);
        }
        let named: Vec<&str> = changes.iter().map(Change::path).take(MOST_NAMED).collect();
        let more = if changes.len() > MOST_NAMED { ", …" } else { "" };
        Err(Unseen::Wrong(format!(
            "the command of the document `{name}` (`{command}`) is for looking, and files changed while it ran: {}{more}; put them back, and let it write elsewhere",
            named.join(", ")
        )))
    }

    fn asked(&self, command: &str) -> Said {
        let about = [("RUN", self.name), ("SUBJECT", &self.run.subject), ("STATE", &self.run.at.state)];
        let about = about.map(|(name, value)| (format!("LOOPWRIGHT_{name}"), value.to_owned()));
        let shell = Command::shell(command, self.files.root().to_owned(), LONGEST);
        let shell = Command { environment: about.to_vec(), ..shell };
        let cancel = self.shell.cancel.cloned().unwrap_or_default();
        let ran = shell.run(self.shell.supervisor, &cancel, &mut |_| {});
        let ran = ran.map_err(|error| format!("`{command}` cannot be started: {error}"))?;
        let why = match ran.ended {
            Ended::Exit(0) if ran.output.is_whole() => return Ok(ran.output.text()),
            Ended::Exit(0) => "said more than can be read".to_owned(),
            Ended::Exit(code) => format!("failed: {}", exit_in_words(code)),
            Ended::Timeout | Ended::Stalled => format!("took longer than {} s", LONGEST.as_secs()),
            Ended::Cancelled => "was called off".to_owned(),
        };
        let complaint = ran.errors.text();
        let complaint = complaint.trim().lines().next_back().unwrap_or_default();
        let colon = if complaint.is_empty() { "" } else { ": " };
        Err(format!("`{command}` {why}{colon}{complaint}"))
    }

    /// Why documents that are used are not there, of those that a command says.
    pub(super) fn unsaid<S: AsRef<str>>(&self, used: &[S]) -> String {
        let is_used = |name: &Name| {
            let path = format!("docs.{}", name.in_expression());
            used.iter().any(|it| {
                it.as_ref().strip_prefix(&path).is_some_and(|it| it.is_empty() || it.starts_with('.'))
            })
        };
        let names = self.workflow.documents.keys().filter(|it| is_used(it));
        let why = names.filter_map(|name| match &*self.said(name).ok()?? {
            Ok(_) => None,
            Err(why) => Some(format!("; the document `{name}` is not there: {why}")),
        });
        why.collect()
    }
}
