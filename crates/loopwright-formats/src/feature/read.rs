//! Reading a `.meta.json`.

use serde_json::Value;

use super::phases;
use super::words::{PHASES, Status, doing, line, moment, notes, phase, word};
use super::{Meta, Phase, Problem};

/// How much ceremony there can be.
const MODES: [&str; 4] = ["hotfix", "quick", "standard", "full"];

impl Meta {
    /// What a file says, and what is odd or wrong in it.
    pub fn read(file: &Value) -> Self {
        let mut meta = Self::default();
        if !file.is_object() {
            if !file.is_null() {
                meta.problems.push(Problem::new("", "this is no map of fields"));
            }
            return meta;
        }
        meta.is_project = file["milestones"].is_array() && file["phases"].is_null();
        meta.features = notes(&file["features"]);
        meta.called(file);
        meta.stands(file);
        meta.created = meta.time(file, "created");
        meta.completed = meta.time(file, "completed");
        meta.worktree = meta.text(file, "worktree");
        meta.branch = meta.text(file, "branch");
        phases::read(file, &mut meta);
        meta.last = meta.current(file);
        meta.skips(file);
        meta.hangs_together();
        meta
    }

    fn remark(&mut self, field: &str, message: impl Into<String>) {
        self.remarks.push(Problem::new(field, message));
    }

    /// A text that may be missing. What is no text was meant as one.
    fn text(&mut self, file: &Value, field: &str) -> Option<String> {
        let value = &file[field];
        if !value.is_null() && !value.is_string() {
            self.remark(field, "this is no text");
        }
        Some(line(value)).filter(|it| !it.is_empty())
    }

    fn time(&mut self, file: &Value, field: &str) -> Option<String> {
        let text = self.text(file, field)?;
        if moment(&text).is_none() {
            self.remark(field, format!("`{text}` is no time"));
        }
        Some(text)
    }

    fn called(&mut self, file: &Value) {
        self.id = self.text(file, "id").unwrap_or_default();
        if self.id.is_empty() {
            self.remark("id", "it has no number");
        }
        let (name, slug) = (self.text(file, "name"), self.text(file, "slug"));
        if let (Some(name), Some(slug)) = (&name, &slug)
            && name != slug
        {
            let message = format!("`slug` says `{slug}`");
            self.remark("name", message);
        }
        self.name = slug.or(name).unwrap_or_default();
        if self.name.is_empty() {
            self.remark("name", "it has no name");
        }
    }

    fn stands(&mut self, file: &Value) {
        let mode = self.text(file, "mode").unwrap_or_default();
        self.mode = word(&mode);
        if self.mode.is_empty() {
            if !self.is_project {
                self.remark("mode", "it has no mode");
            }
        } else if !MODES.contains(&self.mode.as_str()) {
            self.remark("mode", format!("`{mode}` is no mode; one of {}", MODES.join(", ")));
        } else if self.mode != mode {
            self.remark("mode", format!("`{mode}` is written `{}`", self.mode));
        }
        let said = self.text(file, "status").unwrap_or_default();
        self.status = match Status::meant(&said) {
            // What was never said to be over is not, unless it says when.
            None if said.is_empty() => {
                let over = !line(&file["completed"]).is_empty();
                let status = if over { Status::Completed } else { Status::Active };
                self.remark("status", format!("it has no status: it counts as {}", status.word()));
                status
            }
            None => {
                let message = format!("`{said}` is no status; one of active, completed, abandoned");
                self.problems.push(Problem::new("status", message));
                Status::Active
            }
            Some(status) => {
                if said != status.word() {
                    self.remark("status", format!("`{said}` counts as {}", status.word()));
                }
                status
            }
        };
    }

    /// The phase that was completed last: as the file says, or as its phases show where what it says is none.
    fn current(&mut self, file: &Value) -> Option<String> {
        let shown =
            PHASES.iter().rev().find(|it| self.phases.get(**it).is_some_and(|it| it.completed.is_some()));
        let shown = shown.map(|it| (*it).to_owned());
        let field = if file["lastCompletedPhase"].is_null() { "currentPhase" } else { "lastCompletedPhase" };
        let Some(said) = self.text(file, field) else {
            if shown.is_some() {
                self.remark(field, "it does not say which phase was completed last: the phases do");
            }
            return shown;
        };
        if let Some(named) = phase(&said) {
            let record = self.phases.get(named);
            if record.is_none_or(|it| it.completed.is_none()) && !self.is_project {
                self.remark(field, format!("`{said}` is not recorded as completed"));
            } else if shown.as_deref().is_some_and(|it| it != named) {
                let message = format!("`{}` is recorded as completed too", shown.unwrap_or_default());
                self.remark(field, message);
            }
            return Some(named.to_owned());
        }
        // Who is at a phase has completed the one before it.
        let at = doing(&word(&said)).and_then(|it| PHASES.iter().position(|known| *known == it));
        let before = at.and_then(|it| PHASES.get(it.checked_sub(1)?)).map(|it| (*it).to_owned());
        let over = matches!(Status::meant(&said), Some(Status::Completed));
        let last = over.then(|| PHASES[PHASES.len() - 1].to_owned());
        let found = shown.or(before).or(last);
        let told = found.as_deref().unwrap_or("none");
        self.remark(field, format!("`{said}` is no phase: `{told}` was completed last"));
        found
    }

    /// Phases that were left out, as texts or as records of when.
    fn skips(&mut self, file: &Value) {
        for field in ["skippedPhases", "skipped"] {
            let list = match &file[field] {
                Value::Null => continue,
                Value::Array(list) => list.clone(),
                one => vec![one.clone()],
            };
            for (at, entry) in list.iter().enumerate() {
                let said = if entry.is_object() { line(&entry["phase"]) } else { line(entry) };
                for name in said.split(',').map(str::trim).filter(|it| !it.is_empty()) {
                    match phase(name) {
                        Some(known) if !self.skipped.iter().any(|it| it == known) => {
                            self.skipped.push(known.to_owned());
                        }
                        Some(_) => {}
                        None => self.remark(&format!("{field}.{at}"), format!("`{name}` is no phase")),
                    }
                }
            }
        }
    }

    /// What no field says by itself.
    fn hangs_together(&mut self) {
        match (self.status, &self.completed) {
            (Status::Active, Some(_)) => self.remark("completed", "it is active, and says when it was over"),
            (Status::Completed | Status::Abandoned, None) => {
                self.remark(
                    "completed",
                    format!("it is {}, and does not say since when", self.status.word()),
                );
            }
            _ => {}
        }
        let (created, completed) = (self.created.as_deref(), self.completed.as_deref());
        if let Some(why) = backwards(created, completed) {
            self.remark("completed", format!("it was over {why} it was begun"));
        }
        let mut found = Vec::new();
        for (name, record) in &self.phases {
            let Phase { place, started, completed, .. } = record;
            let mut tell = |message: String| found.push(Problem::new(place.clone(), message));
            if let Some(why) = backwards(started.as_deref(), completed.as_deref()) {
                tell(format!("`{name}` was completed {why} it was begun"));
            }
            if started.is_none() && completed.is_some() {
                tell(format!("`{name}` was completed and never begun"));
            }
        }
        self.remarks.extend(found);
    }
}

/// Whether what should come after came before.
fn backwards(first: Option<&str>, then: Option<&str>) -> Option<&'static str> {
    let (first, then) = (moment(first?)?, moment(then?)?);
    (then < first).then_some("before")
}
