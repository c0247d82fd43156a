//! `show`: how far one feature is.

use std::fmt::Write as _;
use std::process::ExitCode;

use loopwright_formats::feature::history::{self, Entry};
use loopwright_formats::feature::{Meta, Phase};
use serde_json::{Value, json};

use super::features::{Feature, Features, told as problem_told};
use crate::error::{self, CommandError};
use crate::show::out;
use crate::tools::Around;

#[derive(clap::Args, Debug)]
pub(super) struct ShowArgs {
    /// The feature, or its number; without one, the one that is active
    feature: Option<String>,
    /// The same as `--format json`
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn cmd_show(
    around: &Around<'_>,
    arguments: &ShowArgs,
    as_json: bool,
) -> Result<ExitCode, CommandError> {
    let features = Features::of(around.workflow)?;
    let feature = match &arguments.feature {
        Some(said) => features.find(said)?,
        None => features.only_active().ok_or_else(|| {
            CommandError::user("there is not exactly one active feature")
                .hinted(format!("say which: `loopwright {} list` says which there are", around.name))
        })?,
    };
    let meta = feature.meta.as_ref().map_err(|it| {
        let told = format!("{}/.meta.json: {}", features.within(&feature.folder), problem_told(it));
        CommandError::with_code(told, error::NOT_PROVED)
    })?;
    let text = std::fs::read_to_string(feature.folder.join(".review-history.md")).unwrap_or_default();
    let rounds = history::read(&text);
    if as_json {
        super::json(&data(&features, (&feature, meta), &rounds));
    } else {
        out(&told(&features, (&feature, meta), &rounds));
    }
    Ok(ExitCode::SUCCESS)
}

fn data(features: &Features<'_>, (feature, meta): (&Feature, &Meta), rounds: &[Entry]) -> Value {
    let phases: serde_json::Map<String, Value> =
        meta.phases.iter().map(|(name, it)| (name.clone(), json!(it))).collect();
    json!({
        "feature": feature.name,
        "folder": features.within(&feature.folder),
        "worktree": feature.root.display().to_string(),
        "stands_elsewhere": features.elsewhere(feature).is_some(),
        "id": meta.id, "name": meta.name, "mode": meta.mode, "status": meta.status.word(),
        "created": meta.created, "completed": meta.completed,
        "currentPhase": meta.last, "next": features.next(meta), "phases": phases, "skipped": meta.skipped,
        "rounds": rounds,
        "remarks": meta.remarks.iter().map(problem_told).collect::<Vec<_>>(),
    })
}

fn told(features: &Features<'_>, (feature, meta): (&Feature, &Meta), rounds: &[Entry]) -> String {
    let mut text = String::new();
    let folder = features.within(&feature.folder);
    let _ = writeln!(text, "{}: {}, {}  ({folder})", feature.name, meta.status.word(), meta.mode);
    if let Some(place) = features.elsewhere(feature) {
        let _ = writeln!(text, "its worktree is {place}, and you stand elsewhere");
    }
    let next = features.next(meta);
    if !next.is_empty() {
        let _ = writeln!(text, "{next} is next");
    }
    if !meta.phases.is_empty() {
        text.push_str("\nphases\n");
    }
    let width = meta.phases.keys().map(String::len).max().unwrap_or(0);
    for (name, phase) in &meta.phases {
        let _ = writeln!(text, "  {name:width$}  {}", far(phase));
        for note in &phase.notes {
            let _ = writeln!(text, "  {:width$}  left open: {note}", "");
        }
    }
    if !meta.skipped.is_empty() {
        let _ = writeln!(text, "  skipped: {}", meta.skipped.join(", "));
    }
    if !rounds.is_empty() {
        text.push_str("\nreviews\n");
    }
    for round in rounds {
        let decision = if round.decision.is_empty() { "reviewed" } else { &round.decision };
        let _ = writeln!(
            text,
            "  {} {}: {decision}, {} issues",
            round.phase,
            round.iteration,
            round.issues.len()
        );
    }
    for remark in &meta.remarks {
        let _ = writeln!(text, "\n.meta.json: {}", problem_told(remark));
    }
    text
}

fn far(phase: &Phase) -> String {
    let rounds = if phase.iterations > 0 { format!(", rounds: {}", phase.iterations) } else { String::new() };
    let verified = if phase.verified { ", verified" } else { "" };
    match (&phase.completed, &phase.started) {
        (Some(at), _) => format!("completed {at}{rounds}{verified}"),
        (None, Some(at)) => format!("begun {at}, not completed"),
        (None, None) => "not begun".to_owned(),
    }
}
