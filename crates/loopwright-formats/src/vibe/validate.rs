//! Whether the files of a project are as they should be.

use std::collections::HashMap;

use super::catalog::{self, Catalog};
use super::checks::{Part, PlanCheck};
use super::issues::Issue;
use super::plan::{Plan, StageHeading};
use super::report::{Report, StateReport};
use super::state::{MOST_LOG_ENTRIES, STATUSES, State};
use super::{CATALOG_FOLDERS, PLAN, STATE, ids, text};

/// The files of a project. Paths are from its root, with slashes.
pub trait Files {
    /// What a file holds, if there is such a file.
    fn read(&self, path: &str) -> Option<Vec<u8>>;
    /// Whether there is a file or a folder of this path.
    fn exists(&self, path: &str) -> bool;
    /// The names of the files in a folder.
    fn list(&self, folder: &str) -> Vec<String>;
}

/// How much is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether what should not be must not be.
    pub strict: bool,
    /// Whether checkpoints must not be larger than they should be.
    pub strict_complexity: bool,
}

/// How much a finding weighs.
#[derive(Clone, Copy)]
enum Weight {
    Error,
    Warning,
    /// An error if asked to be strict.
    Strict,
    /// An error if asked to be strict about size.
    Complexity,
}

/// Checks a project.
pub fn validate(files: &dyn Files, options: Options) -> Report {
    let mut check = Check { files, options, report: Report::default() };
    check.all();
    check.report.ok = check.report.errors.is_empty();
    check.report
}

struct Check<'a> {
    files: &'a dyn Files,
    options: Options,
    report: Report,
}

impl Check<'_> {
    fn add(&mut self, weight: Weight, message: String) {
        let is_error = match weight {
            Weight::Error => true,
            Weight::Warning => false,
            Weight::Strict => self.options.strict,
            Weight::Complexity => self.options.strict_complexity,
        };
        if is_error { self.report.errors.push(message) } else { self.report.warnings.push(message) }
    }

    fn text(&self, path: &str) -> Option<String> {
        self.files.read(path).map(|bytes| text::decode(&bytes))
    }

    fn all(&mut self) {
        let Some(text) = self.text(STATE) else {
            self.add(Weight::Error, format!("`{STATE}` is not there"));
            return;
        };
        let state = State::read_unhashed(&text);
        self.focus(&state);
        for issue in &state.issues {
            self.issue(issue);
        }
        let entries = state.work_log.len();
        if entries > MOST_LOG_ENTRIES {
            let message = format!(
                "`{STATE}`: {entries} entries in the work log, {MOST_LOG_ENTRIES} are the most it should have; let \
                 consolidation prune it"
            );
            self.add(Weight::Warning, message);
        }
        self.evidence(&state);
        if let Some(checkpoint) = &state.checkpoint {
            self.plan(&state, checkpoint);
        }
        self.catalog();
        self.report.state = Some(StateReport::of(&state));
    }

    fn focus(&mut self, state: &State) {
        for (name, value) in [("Stage", &state.stage), ("Checkpoint", &state.checkpoint)] {
            if value.is_none() {
                self.add(
                    Weight::Error,
                    format!("`{STATE}` does not say `- {name}: ...` in its current focus"),
                );
            }
        }
        let allowed = STATUSES.join(", ");
        match &state.status {
            None => {
                self.add(
                    Weight::Error,
                    format!("`{STATE}` does not say `- Status: ...`, which is one of {allowed}"),
                );
            }
            Some(status) if !STATUSES.contains(&status.as_str()) => {
                self.add(Weight::Error, format!("`{STATE}`: the status `{status}` is not one of {allowed}"));
            }
            Some(_) => {}
        }
    }

    fn issue(&mut self, issue: &Issue) {
        const KNOWN: [&str; 5] = ["OPEN", "IN_PROGRESS", "BLOCKED", "RESOLVED", "DECISION_REQUIRED"];
        let name = issue.name();
        let mut add = |message: String| self.add(Weight::Strict, format!("`{STATE}`: {message}"));
        if issue.id.is_none() {
            add(format!("the issue `{name}` has no id; begin it with `ISSUE-<id>: `"));
            return;
        }
        let status = issue.status.as_deref();
        if let Some(status) = status
            && !KNOWN.contains(&status)
        {
            add(format!("the status `{status}` of {name} is not one of {}", KNOWN.join(", ")));
        }
        let missing = missing_fields(issue);
        if !missing.is_empty() {
            add(format!("{name} does not say its {}", missing.join(", ")));
        }
        let resolved = status == Some("RESOLVED");
        if issue.checked && !resolved {
            add(format!("{name} is checked off, but its status is not RESOLVED"));
        }
        if !issue.checked && resolved {
            add(format!("{name} is RESOLVED, but not checked off"));
        }
        if issue.is_settled() {
            add(format!("{name} is settled; its place is in HISTORY.md"));
        }
        if issue.checked && status == Some("DECISION_REQUIRED") {
            add(format!(
                "{name} is checked off and waits for a decision; once there is one, say IN_PROGRESS or RESOLVED"
            ));
        }
    }

    fn evidence(&mut self, state: &State) {
        match &state.evidence_path {
            None => {
                self.add(
                    Weight::Warning,
                    format!("`{STATE}` does not say where evidence is (`- path: ...`)"),
                );
            }
            Some(path) => {
                let wanted = matches!(state.status.as_deref(), Some("IN_REVIEW" | "DONE"));
                if wanted && !self.files.exists(path.trim_end_matches('/')) {
                    self.add(Weight::Strict, format!("there is no evidence at `{path}`"));
                }
            }
        }
    }

    fn plan(&mut self, state: &State, checkpoint: &str) {
        let text = self.text(PLAN);
        let plan = Plan::read(text.as_deref().unwrap_or_default());
        if text.as_deref().is_some_and(|it| !text::trim(it).is_empty()) {
            self.plan_ids(&plan, state, checkpoint);
        }
        let found = PlanCheck::of(&plan, checkpoint);
        if text.is_none() {
            self.add(Weight::Strict, format!("`{PLAN}` is not there"));
        } else if found.found_checkpoint {
            for part in Part::ALL.into_iter().filter(|part| !found.has(*part)) {
                let name = part.name();
                self.add(Weight::Strict, format!("`{PLAN}`: checkpoint {checkpoint} has no `{name}`"));
            }
            for warning in &found.complexity_warnings {
                self.add(Weight::Complexity, format!("`{PLAN}`: {warning}"));
            }
        } else {
            self.add(Weight::Strict, format!("`{PLAN}` has no heading for checkpoint {checkpoint}"));
        }
        self.report.plan_check = Some(found);
    }

    fn plan_ids(&mut self, plan: &Plan, state: &State, checkpoint: &str) {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for StageHeading { line, word, .. } in &plan.stage_headings {
            let Some(id) = ids::stage(word) else {
                let message = format!(
                    "`{PLAN}`, line {line}: `{word}` is no id of a stage, which is a number and perhaps one letter"
                );
                self.add(Weight::Error, message);
                continue;
            };
            if let Some(before) = seen.get(&id) {
                self.add(
                    Weight::Error,
                    format!("`{PLAN}`, line {line}: stage {id} is there already, in line {before}"),
                );
            } else {
                seen.insert(id, *line);
            }
        }
        if let Some(stage) = &state.stage
            && !has_stage(plan, stage)
        {
            self.add(Weight::Error, format!("`{PLAN}` has no heading for stage {stage}"));
        }
        self.minor_order(plan);
        if let Some(stage) = &state.stage
            && let Some(under) = plan.find(checkpoint).and_then(|it| it.stage.as_ref())
            && *under != ids::stage_or_raw(stage)
        {
            let message = format!(
                "the state is at stage {stage}, but its checkpoint {checkpoint} is one of stage {under}"
            );
            self.add(Weight::Error, message);
        }
    }

    /// Order is how the plan is written, never by number; ids that go backwards are a likely slip.
    fn minor_order(&mut self, plan: &Plan) {
        let mut last: HashMap<&str, &str> = HashMap::new();
        for checkpoint in &plan.checkpoints {
            let Some((stage, minor)) = ids::halves(&checkpoint.id) else { continue };
            // Without zeros before them, the shorter number is the smaller.
            if let Some(before) = last.insert(stage, minor)
                && (before.len(), before) > (minor.len(), minor)
            {
                let message =
                    format!("`{PLAN}`: in stage {stage}, {stage}.{minor} comes after {stage}.{before}");
                self.add(Weight::Warning, message);
            }
        }
    }

    fn catalog(&mut self) {
        let found = CATALOG_FOLDERS
            .iter()
            .find_map(|folder| Some((folder, self.text(&format!("{folder}/template_prompts.md"))?)));
        let Some((folder, text)) = found else {
            self.add(
                Weight::Warning,
                "there is no catalog of prompts at `prompts/template_prompts.md`".to_owned(),
            );
            return;
        };
        let alike = self.files.list(folder).into_iter().filter(|it| is_catalog(it)).count();
        let catalog = Catalog::read(&text, alike <= 1);
        if let Some(fault) = &catalog.fault
            && catalog.prompts.is_empty()
        {
            self.add(
                Weight::Warning,
                format!("the catalog of prompts in `{folder}` cannot be read: {fault}"),
            );
            return;
        }
        for (role, prompt) in catalog::ROLES {
            if !catalog.prompts.contains_key(prompt) {
                self.add(
                    Weight::Strict,
                    format!("the catalog has no `{prompt}`, which is the prompt of {role}"),
                );
            }
        }
        self.workflows(&catalog);
    }

    fn workflows(&mut self, catalog: &Catalog) {
        let mut names = self.files.list("workflows");
        names.retain(|it| [".yaml", ".yml", ".json"].iter().any(|end| it.ends_with(end)));
        names.sort();
        for name in names {
            let Some(text) = self.text(&format!("workflows/{name}")) else { continue };
            match catalog::workflow_prompts(&name, &text) {
                Err(fault) => self.add(Weight::Strict, format!("`workflows/{name}` is no workflow: {fault}")),
                Ok(prompts) => {
                    for prompt in prompts {
                        if !catalog.prompts.contains_key(&prompt) {
                            let message = format!(
                                "`workflows/{name}` names `{prompt}`, which the catalog does not have"
                            );
                            self.add(Weight::Strict, message);
                        }
                        if catalog::role_of(&prompt).is_none() {
                            let message = format!(
                                "`workflows/{name}` names `{prompt}`, which is the prompt of no role"
                            );
                            self.add(Weight::Strict, message);
                        }
                    }
                }
            }
        }
    }
}

/// Whether a plan has a heading for a stage, as it is written: who spells it in two ways is told.
fn has_stage(plan: &Plan, stage: &str) -> bool {
    plan.stage_headings.iter().any(|it| text::strip_word(&it.behind, stage).is_some())
}

/// What an issue should say and does not.
fn missing_fields(issue: &Issue) -> Vec<&'static str> {
    let fields = [
        ("Owner", &issue.owner),
        ("Status", &issue.status),
        ("Unblock Condition", &issue.unblock_condition),
        ("Evidence Needed", &issue.evidence_needed),
    ];
    let impact = (!issue.impact_written).then_some("Impact");
    let others = fields.into_iter().filter(|(_, value)| value.as_deref().is_none_or(is_placeholder));
    impact.into_iter().chain(others.map(|(name, _)| name)).collect()
}

/// What people write who have nothing to say yet.
fn is_placeholder(value: &str) -> bool {
    let word = text::trim(value).to_lowercase();
    matches!(word.as_str(), "" | "none" | "none." | "tbd" | "todo" | "unknown" | "n/a")
        || (value.contains('<') && value.contains('>'))
}

/// Whether a file looks like a catalog.
fn is_catalog(name: &str) -> bool {
    name.strip_suffix(".md").is_some_and(|it| it.contains("template_prompts"))
}
