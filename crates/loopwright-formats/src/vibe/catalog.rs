//! Catalogs of prompts, and the workflows that name them.

use std::collections::HashSet;

use indexmap::IndexMap;
use serde_json::Value;

use super::{text, yaml};

/// Which prompt each role is given, in the order they are checked.
pub const ROLES: [(&str, &str); 9] = [
    ("issues_triage", "prompt.issues_triage"),
    ("review", "prompt.checkpoint_review"),
    ("implement", "prompt.checkpoint_implementation"),
    ("design", "prompt.stage_design"),
    ("context_capture", "prompt.context_capture"),
    ("consolidation", "prompt.consolidation"),
    ("improvements", "prompt.process_improvements"),
    ("advance", "prompt.advance_checkpoint"),
    ("retrospective", "prompt.retrospective"),
];

/// Prompts that only workflows name, and the roles they are for.
const MORE_PROMPTS: [(&str, &str); 19] = [
    ("design", "prompt.ideation"),
    ("design", "prompt.feature_breakdown"),
    ("design", "prompt.architecture"),
    ("design", "prompt.milestones"),
    ("design", "prompt.stages_from_milestones"),
    ("design", "prompt.checkpoints_from_stage"),
    ("design", "prompt.demo_script"),
    ("implement", "prompt.refactor_scan"),
    ("implement", "prompt.refactor_execute"),
    ("implement", "prompt.test_gap_analysis"),
    ("implement", "prompt.test_generation"),
    ("implement", "prompt.docs_gap_analysis"),
    ("implement", "prompt.docs_gap_fix"),
    ("implement", "prompt.docs_refactor_analysis"),
    ("implement", "prompt.docs_refactor_fix"),
    ("review", "prompt.refactor_verify"),
    ("review", "prompt.test_review"),
    ("issues_triage", "prompt.feedback_intake"),
    ("issues_triage", "prompt.feedback_triage"),
];

/// The role a prompt is for.
pub fn role_of(prompt: &str) -> Option<&'static str> {
    ROLES.iter().chain(&MORE_PROMPTS).find(|(_, id)| *id == prompt).map(|(role, _)| *role)
}

/// A prompt of a catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// What it is called.
    pub title: String,
    /// What it says. Nothing if only headings could be read.
    pub body: Option<String>,
}

/// A catalog of prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// Prompts by id, in the order they are written.
    pub prompts: IndexMap<String, Prompt>,
    /// Why only headings were read, if so.
    pub fault: Option<String>,
}

impl Catalog {
    /// Reads a catalog. `alone` says that no other file in its folder looks like one. With anything wrong, its headings are
    /// all that is taken of it.
    pub fn read(text: &str, alone: bool) -> Self {
        let read = if alone { entries(text) } else { Err("there is a second catalog beside it".to_owned()) };
        match read {
            Ok(prompts) => Self { prompts, fault: None },
            Err(fault) => {
                let headings = text::lines(text).filter_map(header);
                let prompts = headings
                    .map(|(id, title)| (id.to_owned(), Prompt { title: title.to_owned(), body: None }))
                    .collect();
                Self { prompts, fault: Some(fault) }
            }
        }
    }
}

/// A heading of a prompt: its id and its title.
fn header(line: &str) -> Option<(&str, &str)> {
    let rest = text::after_blanks(line.strip_prefix("##")?)?;
    let id = text::first_word(rest)?;
    let behind = text::after_blanks(rest.strip_prefix(id)?)?;
    let title = text::trim(text::after_blanks(behind.strip_prefix(['—', '–', '-'])?)?);
    (!title.is_empty()).then_some((id, title))
}

/// The prompts of a catalog that has nothing wrong with it: a heading each, and the first fenced block below it.
fn entries(text: &str) -> Result<IndexMap<String, Prompt>, String> {
    let mut prompts = IndexMap::new();
    let mut seen = HashSet::new();
    let mut wanting: Option<(String, String)> = None;
    let mut body: Vec<&str> = Vec::new();
    let mut inside = false;
    for line in text::lines(text) {
        let shown = text::trim_start(line);
        if shown.starts_with("````") {
            return Err("it has a fence of more than three backticks".to_owned());
        }
        if shown.starts_with("```") {
            if inside && let Some((id, title)) = wanting.take() {
                prompts.insert(id, Prompt { title, body: Some(body.join("\n")) });
            }
            inside = !inside;
            body.clear();
        } else if inside {
            body.push(line);
        } else if let Some((id, title)) = header(line) {
            if !seen.insert(id.to_owned()) {
                return Err(format!("it has `{id}` twice"));
            }
            wanting = Some((id.to_owned(), title.to_owned()));
        }
    }
    if inside { Err("its last fence is not closed".to_owned()) } else { Ok(prompts) }
}

/// The prompts that the steps of a workflow name, or what is wrong with it.
pub fn workflow_prompts(name: &str, text: &str) -> Result<Vec<String>, String> {
    let is_json = name.to_ascii_lowercase().ends_with(".json");
    let workflow = if is_json {
        serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?
    } else {
        yaml::read(text)?
    };
    let Value::Object(workflow) = workflow else { return Err("it is not a map".to_owned()) };
    let Some(Value::Array(steps)) = workflow.get("steps") else {
        return Err("its `steps` are not a list".to_owned());
    };
    let named = steps.iter().filter_map(|step| step.get("prompt_id")).filter_map(Value::as_str);
    Ok(named.filter(|id| !id.is_empty()).map(str::to_owned).collect())
}
