//! `next` and `status`: what the workflow would do with the files as they are, in the words of the original.

use std::process::ExitCode;

use indexmap::IndexMap;
use loopwright_engine::process::Cancel;
use loopwright_engine::{Lookout, at_work_in, time};
use loopwright_formats::vibe::record::Acknowledged;
use loopwright_formats::vibe::{
    CONTEXT, Files as _, LOOP_RESULT, Overview, State, catalog, context, record, text,
};
use serde_json::{Value, json};

use super::super::Around;
use super::super::output::Output;
use super::files::Folder;
use crate::error::CommandError;
use crate::session;

#[derive(clap::Args, Debug)]
pub(super) struct StatusArgs {
    /// All of CONTEXT.md, not only the first of each section
    #[arg(long)]
    with_context: bool,
    /// The same as `--format json`
    #[arg(long)]
    pub(super) json: bool,
}

/// The role of whoever does nothing more.
const STOP: &str = "stop";
/// The field in which the workflow says why it stops.
const TELLING: &str = "result.stop";
/// The fact that says whether the last loop was recorded.
const RECORD: (&str, &str) = ("record", "current");

/// What each prompt is called.
const TITLES: [(&str, &str); 10] = [
    ("issues_triage", "Issues Triage Prompt"),
    ("review", "Checkpoint Review Prompt"),
    ("implement", "Checkpoint Implementation Prompt"),
    ("design", "Stage Design Prompt"),
    ("context_capture", "Context Capture Prompt"),
    ("consolidation", "Consolidation Prompt (docs sync + archival)"),
    ("improvements", "Process Improvements Prompt (system uplift)"),
    ("advance", "Advance Checkpoint Prompt"),
    ("retrospective", "Stage Retrospective Prompt"),
    (STOP, "Stop (no remaining checkpoints)"),
];
/// The same for a stop until a loop is recorded.
const PENDING: &str = "Stop (pending LOOP_RESULT acknowledgement)";

struct Decision {
    role: String,
    prompt: String,
    title: String,
    reason: String,
}

pub(super) fn cmd_next(
    around: &Around<'_>,
    folder: &Folder,
    output: Output,
) -> Result<ExitCode, CommandError> {
    let (state, text) = folder.state()?;
    let now = time(session::now());
    let recorded = folder.read(LOOP_RESULT);
    // What is written beside somebody who is at work would be taken for theirs.
    let is_free = at_work_in(&folder.root).is_none();
    if recorded.is_none() && is_free {
        folder.write(LOOP_RESULT, &record::render(&record::bootstrap(&state, &now)))?;
    }
    let acknowledged = record::acknowledgement(recorded.as_deref(), &text);
    let pending = !matches!(acknowledged, Acknowledged::Missing | Acknowledged::Current);
    let mut decision = decide(around, folder, IndexMap::new())?;
    if pending {
        PENDING.clone_into(&mut decision.title);
    } else if decision.role == STOP && is_free {
        folder.write(LOOP_RESULT, &record::render(&record::stop(&state, &decision.reason, &now)))?;
    }
    output.write(&json!({
        "recommended_role": decision.role,
        "recommended_prompt_id": decision.prompt,
        "recommended_prompt_title": decision.title,
        "reason": decision.reason,
        "stage": state.stage,
        "checkpoint": state.checkpoint,
        "status": state.status,
        "prompt_catalog_path": folder.catalog(),
        "requires_loop_result": pending,
    }));
    Ok(ExitCode::SUCCESS)
}

pub(super) fn cmd_status(
    around: &Around<'_>,
    folder: &Folder,
    arguments: &StatusArgs,
    output: Output,
) -> Result<ExitCode, CommandError> {
    let (state, _) = folder.state()?;
    // Where the work stands does not depend on what was recorded of it.
    let decision = decide(around, folder, IndexMap::from([(RECORD.0.into(), RECORD.1.into())]))?;
    let mut answer = of_state(&state);
    let more = json!({
        "recommended_next_role": decision.role,
        "recommended_next_reason": decision.reason,
        "recommended_prompt_id": decision.prompt,
        "recommended_prompt_title": decision.title,
        "context_summary": {},
        "prompt_catalog_path": folder.catalog(),
    });
    if let (Value::Object(answer), Value::Object(more)) = (&mut answer, more) {
        answer.extend(more);
    }
    if let Some(bytes) = folder.read(CONTEXT) {
        let text = text::decode(&bytes);
        answer["context_summary"] = json!(context::summary(&text));
        if arguments.with_context {
            answer["context_sections"] = json!(context::sections(&text));
        }
    }
    output.write(&answer);
    Ok(ExitCode::SUCCESS)
}

fn of_state(state: &State) -> Value {
    let mut answer = json!({
        "stage": state.stage,
        "checkpoint": state.checkpoint,
        "status": state.status,
        "evidence_path": state.evidence_path,
    });
    if let (Value::Object(answer), Value::Object(issues)) = (&mut answer, json!(Overview::of(state))) {
        answer.extend(issues);
    }
    answer
}

/// What the workflow would do, in the words of the original.
fn decide(
    around: &Around<'_>,
    folder: &Folder,
    facts: IndexMap<loopwright_core::name::Name, loopwright_core::name::Name>,
) -> Result<Decision, CommandError> {
    let lookout = Lookout {
        workflow: around.workflow,
        folder: around.folder,
        root: &folder.root,
        supervisor: &session::supervisor(),
        now: session::now(),
        facts,
        unasked: at_work_in(&folder.root)
            .map(|it| format!("demo commands are not run while the run {it} is at work")),
        telling: TELLING,
    };
    let cancel: Cancel = session::cancel_on_interrupt();
    let seen = lookout.next(&cancel).map_err(session::told)?;
    let role = seen.label.as_ref().unwrap_or(&seen.state).to_string();
    // A prompt of its own is named by its file, where the original knows one of that name.
    let own = seen.prompt.as_deref().and_then(|it| it.rsplit('/').next()?.strip_suffix(".md"));
    let own = own.map(|it| format!("prompt.{it}")).filter(|it| catalog::role_of(it) == Some(&*role));
    let usual = catalog::ROLES.iter().find(|(it, _)| *it == role).map(|(_, id)| (*id).to_owned());
    let title =
        TITLES.iter().find(|(it, _)| *it == role).map_or(role.as_str(), |(_, title)| title).to_owned();
    let because = match &seen.about {
        Some(about) => format!("{about} ({})", seen.because),
        None => seen.because.clone(),
    };
    Ok(Decision {
        prompt: own.or(usual).unwrap_or_else(|| role.clone()),
        title,
        reason: seen.says.unwrap_or(because),
        role,
    })
}
