//! `init` and `add-checkpoint`: something to work on.

use std::process::ExitCode;

use indexmap::IndexMap;
use loopwright_engine::at_work_in;
use loopwright_formats::vibe::{self, Files as _, PLAN, STATE, text};
use serde_json::json;

use super::super::output::Output;
use super::files::Folder;
use crate::error::{self, CommandError};
use crate::session;

/// What a new folder has.
const BEGUN: [(&str, &str); 2] =
    [(STATE, include_str!("files/STATE.md")), (PLAN, include_str!("files/PLAN.md"))];
/// Where a project keeps templates of its own.
const TEMPLATES: &str = "templates/checkpoints";
/// Templates everybody has.
const KNOWN: [(&str, &str); 2] =
    [("feature", include_str!("files/feature.yaml")), ("fix", include_str!("files/fix.yaml"))];

/// Options of `add-checkpoint` that may stand between the keys of a template, and whether something is said with them.
const OPTIONS: [(&str, bool); 5] =
    [("--template", true), ("--stage", true), ("--repo-root", true), ("--format", true), ("--json", false)];

#[derive(clap::Args, Debug)]
pub(super) struct AddCheckpointArgs {
    /// Which template: `templates/checkpoints/NAME.yaml`, or one of `feature` and `fix`
    #[arg(long, value_name = "NAME")]
    template: String,
    /// The stage it goes to the end of; the current one if nothing is said
    #[arg(long, value_name = "ID")]
    stage: Option<String>,
    /// The same as `--format json`
    #[arg(long)]
    pub(super) json: bool,
    /// What the template leaves open: `--KEY VALUE`
    #[arg(value_name = "--KEY VALUE", trailing_var_arg = true, allow_hyphen_values = true)]
    values: Vec<String>,
}

pub(super) fn cmd_init(folder: &Folder, output: Output) -> Result<ExitCode, CommandError> {
    let missing: Vec<(&str, &str)> = BEGUN.into_iter().filter(|(path, _)| !folder.exists(path)).collect();
    if missing.is_empty() {
        return Err(CommandError::user(format!(
            "{STATE} and {PLAN} are there already, and stay as they are"
        ))
        .hinted("`loopwright vibe validate` says whether they can be worked with"));
    }
    for (path, text) in &missing {
        folder.write(path, text)?;
    }
    let created: Vec<&str> = missing.iter().map(|(path, _)| *path).collect();
    let mut answer = json!({
        "ok": true,
        "created": created,
        "next": "say in .vibe/PLAN.md what is to be built, then `loopwright vibe run`",
    });
    // Whoever stands elsewhere would look for it there.
    if folder.root != session::here()? {
        answer["repo_root"] = json!(folder.root.to_string_lossy());
    }
    output.write(&answer);
    Ok(ExitCode::SUCCESS)
}

pub(super) fn cmd_add_checkpoint(
    folder: &Folder,
    arguments: &AddCheckpointArgs,
    output: Output,
) -> Result<ExitCode, CommandError> {
    let by_it = std::env::var("LOOPWRIGHT_RUN").ok();
    // What the agents of a run write is theirs, by whatever means.
    if let Some(run) = at_work_in(&folder.root).filter(|it| Some(it) != by_it.as_ref()) {
        return Err(CommandError::with_code(
            format!("the run {run} is at work here, and would take this for what an agent wrote"),
            error::HELD,
        )
        .hinted("leave it first (Ctrl-C where it runs), or add the checkpoint once it waits or is done"));
    }
    let template = template(folder, &arguments.template)?;
    let stage = match &arguments.stage {
        Some(stage) => stage.clone(),
        None => folder.state()?.0.stage.ok_or_else(|| {
            CommandError::user(format!("{STATE} names no stage")).hinted("say which one with `--stage ID`")
        })?,
    };
    let Some(plan) = folder.read(PLAN) else {
        return Err(
            CommandError::user(format!("there is no {PLAN}")).hinted("`loopwright vibe init` begins one")
        );
    };
    let plan = String::from_utf8(plan)
        .map_err(|_| CommandError::user(format!("{PLAN} is not UTF-8")).hinted("save the file as UTF-8"))?;
    let values = values(&arguments.values)?;
    let (plan, id) = vibe::add_checkpoint(&plan, &template, &stage, &values).map_err(CommandError::user)?;
    folder.write(PLAN, &plan)?;
    output.write(&json!({"ok": true, "checkpoint": id, "stage": stage, "plan_path": PLAN}));
    Ok(ExitCode::SUCCESS)
}

/// The words of `add-checkpoint` with all options before the keys, where they are told from them.
pub(super) fn in_order(words: &[String]) -> Vec<String> {
    let (mut options, mut keys) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        let known = OPTIONS.iter().find(|(it, _)| *it == name);
        // What is said with either is taken as it is.
        let more = if known.is_some_and(|(_, takes)| !takes) || name != word || !word.starts_with("--") {
            None
        } else {
            words.next()
        };
        let of = if known.is_some() { &mut options } else { &mut keys };
        of.extend(std::iter::once(word).chain(more).cloned());
    }
    options.append(&mut keys);
    options
}

fn template(folder: &Folder, name: &str) -> Result<String, CommandError> {
    if name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.') {
        return Err(CommandError::user(format!("`{name}` is no name of a template")));
    }
    let own = ["yaml", "yml"].iter().find_map(|it| folder.read(&format!("{TEMPLATES}/{name}.{it}")));
    if let Some(own) = own {
        return Ok(text::decode(&own));
    }
    let known = KNOWN.iter().find(|(it, _)| *it == name).map(|(_, text)| (*text).to_owned());
    known.ok_or_else(|| {
        let names: Vec<&str> = KNOWN.iter().map(|(it, _)| *it).collect();
        CommandError::user(format!("there is no template `{name}`"))
            .hinted(format!("write {TEMPLATES}/{name}.yaml, or take one of {}", names.join(", ")))
    })
}

/// Pairs of `--KEY VALUE` or `--KEY=VALUE`.
fn values(words: &[String]) -> Result<IndexMap<String, String>, CommandError> {
    let mut values = IndexMap::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(key) = word.strip_prefix("--").filter(|it| !it.is_empty()) else {
            return Err(CommandError::user(format!("`{word}` says nothing of what it is"))
                .hinted("write `--KEY VALUE`"));
        };
        let (key, value) = match key.split_once('=') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (key, words.next().cloned()),
        };
        let Some(value) = value else {
            return Err(CommandError::user(format!("`--{key}` says no value")).hinted("write `--KEY VALUE`"));
        };
        values.insert(key.replace('-', "_"), value);
    }
    Ok(values)
}
