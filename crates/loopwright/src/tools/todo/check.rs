//! `check`: what is wrong in the folder, and what of it can be put right without asking anybody.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::process::ExitCode;

use loopwright_engine::unmerged;
use loopwright_formats::todo::{self, Finding, Folder, Issue, Report, is_id};
use serde_json::json;

use super::elsewhere::texts;
use super::list::problems;
use super::place::{Place, TODO, of_git};
use super::{Answer, notes, repair};
use crate::error::{self, CommandError};
use crate::show::counted;

/// Look for what is wrong: with an issue, between issues, with the list of them
#[derive(clap::Args, Debug)]
pub(super) struct CheckArgs {
    /// Put right what can be without asking anybody: lists, boxes, merges of lists, numbers that were taken twice
    #[arg(long)]
    repair: bool,
}

pub(super) fn cmd_check(
    place: &Place,
    arguments: &CheckArgs,
    answer: Answer,
) -> Result<ExitCode, CommandError> {
    let mended = if arguments.repair {
        let held = place.hold()?;
        let folder = place.read()?;
        repair::repair(place, &held, folder)?
    } else {
        Vec::new()
    };
    let mut folder = place.read()?;
    let Report { tracker, mut findings } = todo::check(&folder);
    if findings.iter().any(|it| it.kind == "conflict") {
        let two = repair::twins(place, &folder)?;
        for finding in findings.iter_mut().filter(|it| it.kind == "conflict") {
            if let Some(twins) = two.iter().find(|it| it.file == finding.problem.file) {
                finding.mends = true;
                finding.problem.message = format!(
                    "two issues of one number met here: \"{}\" and \"{}\"",
                    twins.ours.title, twins.theirs.title
                );
            }
        }
    }
    findings.extend(collisions(place, &mut folder)?);
    let mends = findings.iter().filter(|it| it.mends).count();
    let count = tracker.all().count();
    let value = || {
        let one = |it: &Finding| {
            json!({"kind": it.kind, "mends": it.mends, "file": place.shown(&it.problem.file),
                "line": it.problem.line, "message": it.problem.message})
        };
        json!({"ok": findings.is_empty(), "issues": count, "mended": mended,
            "findings": findings.iter().map(one).collect::<Vec<_>>()})
    };
    let text = || {
        let mut text = String::new();
        for line in &mended {
            let _ = writeln!(text, "mended  {line}");
        }
        for it in &findings {
            let (file, line) = (place.shown(&it.problem.file), it.problem.line);
            let _ = writeln!(text, "{file}:{line}: {}", it.problem.message);
        }
        let _ = match (findings.len(), mends) {
            (0, _) => writeln!(text, "{}, nothing wrong", counted(count, "issue")),
            (all, 0) => writeln!(text, "{}", problems(all)),
            (all, _) if arguments.repair => writeln!(text, "{}", problems(all)),
            (all, mends) => {
                writeln!(
                    text,
                    "{}; `loopwright todo check --repair` puts {mends} of them right",
                    problems(all)
                )
            }
        };
        text
    };
    answer.give(value, text);
    if !mended.is_empty() && repair::is_merging(place) {
        notes(&[format!("look at it; `git add {TODO}` and `git commit` end the merge")]);
    }
    Ok(ExitCode::from(if findings.is_empty() { error::OK } else { error::NOT_PROVED }))
}

/// Numbers that somebody took for another issue on a branch that is not merged here: they will meet.
fn collisions(place: &Place, folder: &mut Folder) -> Result<Vec<Finding>, CommandError> {
    let mut found = Vec::new();
    // What is about to be merged is looked at where it is.
    if !place.home.is_repository || repair::is_merging(place) {
        return Ok(found);
    }
    let git = &place.home.git;
    let mut bases: HashMap<String, Option<String>> = HashMap::new();
    let touched = unmerged(git, &place.within).map_err(of_git)?;
    for (file, branches) in touched {
        let stem = file.strip_suffix(".md").unwrap_or(&file);
        let Ok(at) = folder.files.binary_search_by(|it| it.0.as_str().cmp(&file)) else { continue };
        let text = &folder.files[at].1;
        if !is_id(stem) || todo::has_conflict(text) {
            continue;
        }
        let own = Issue::head(stem, text);
        for branch in branches {
            let base = bases
                .entry(branch.clone())
                .or_insert_with(|| git.text(&["merge-base", "HEAD", &branch]).ok())
                .clone();
            let path = format!("{}/{file}", place.within);
            let names =
                [format!("{branch}:{path}"), format!("{}:{path}", base.as_deref().unwrap_or("no-base"))];
            let [there, before] = names.each_ref().map(String::as_str);
            let mut said = texts(place, &[there, before])?.into_iter();
            let (Some(Some(there)), Some(None)) = (said.next(), said.next()) else { continue };
            let other = Issue::head(stem, &there);
            if other.title != own.title {
                let message = format!(
                    "`{stem}` is another issue on branch `{branch}`: \"{}\"; `loopwright todo renumber {stem}` gives \
                     this one a number of its own",
                    other.title
                );
                let problem = todo::Problem { file: file.clone(), line: own.lines.id, message };
                found.push(Finding { kind: "twice", mends: false, problem });
                break;
            }
        }
    }
    Ok(found)
}
