//! `list`: which features there are, and how far each is.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::features::{Feature, Features, told};
use crate::error::CommandError;
use crate::show::out;
use crate::tools::Around;

#[derive(clap::Args, Debug)]
pub(super) struct ListArgs {
    /// Only those that are active
    #[arg(long)]
    active: bool,
    /// The same as `--format json`
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn cmd_list(
    around: &Around<'_>,
    arguments: &ListArgs,
    as_json: bool,
) -> Result<ExitCode, CommandError> {
    let features = Features::of(around.workflow)?;
    let is_listed =
        |it: &Feature| !arguments.active || it.meta.as_ref().map_or(true, |it| it.status.word() == "active");
    let all: Vec<Feature> = features.all().into_iter().filter(is_listed).collect();
    if as_json {
        let lines: Vec<Value> = all.iter().map(|it| line(&features, it)).collect();
        super::json(&json!({"features": lines}));
        return Ok(ExitCode::SUCCESS);
    }
    if all.is_empty() {
        out("no features; `loopwright feature start \"what is wanted\"` begins one\n");
    }
    let width = all.iter().map(|it| it.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for feature in &all {
        let rest = match &feature.meta {
            Ok(meta) => {
                let next = features.next(meta);
                let next = if next.is_empty() { String::new() } else { format!("{next} is next") };
                format!("{:9}  {:8}  {next}", meta.status.word(), meta.mode)
            }
            Err(problem) => format!("?          {}", told(problem)),
        };
        let place = features.elsewhere(feature).map(|it| format!("  in {it}")).unwrap_or_default();
        let one = format!("{:width$}  {rest}{place}", feature.name);
        let _ = writeln!(text, "{}", one.trim_end());
    }
    out(&text);
    Ok(ExitCode::SUCCESS)
}

fn line(features: &Features<'_>, feature: &Feature) -> Value {
    let folder = features.within(&feature.folder);
    let root = feature.root.display().to_string();
    match &feature.meta {
        Ok(meta) => json!({
            "feature": feature.name, "folder": folder, "worktree": root, "id": meta.id, "name": meta.name,
            "mode": meta.mode, "status": meta.status.word(), "currentPhase": meta.last, "next": features.next(meta),
            "problem": null,
        }),
        Err(problem) => {
            json!({"feature": feature.name, "folder": folder, "worktree": root, "problem": told(problem)})
        }
    }
}
