//! What somebody said to a workflow, word by word.

use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory as _, FromArgMatches as _};
use indexmap::IndexMap;
use loopwright_core::definition::{Verb, Workflow, matches};
use loopwright_core::name::Name;
use loopwright_core::problem::did_you_mean;
use loopwright_engine::Begin;

use super::super::run::pairs;
use super::{begins, elsewhere};
use crate::error::CommandError;
use crate::progress::{Manner, MannerArgs};
use crate::session::RESUME;
use crate::tools;

/// Say one of a workflow's own verbs: to the run that waits for it, or to begin one
#[derive(clap::Parser, Debug)]
struct VerbArgs {
    /// The verb
    verb: Option<String>,
    /// What the run is about, or its name
    subject: Option<String>,
    /// What the verb takes, in the order its workflow names it
    #[arg(value_name = "VALUE")]
    values: Vec<String>,
    /// The project, if it is not the one around this folder
    #[arg(long, value_name = "FOLDER")]
    repo_root: Option<std::path::PathBuf>,
    /// An input of the workflow's
    #[arg(long = "input", value_name = "NAME=VALUE")]
    inputs: Vec<String>,
    #[command(flatten)]
    manner: MannerArgs,
}

/// Words that say nothing without what they are about, so none of them is an option.
const SAY_NOTHING: [&str; 8] = ["yes", "no", "on", "off", "true", "false", "none", "all"];

/// What arguments of a workflow's own are told apart by.
const INPUT: &str = "input";
const CHOICE: &str = "choice";

/// What somebody said to a workflow.
#[derive(Default)]
pub(super) struct Said {
    pub(super) verb: Name,
    pub(super) subject: Option<String>,
    pub(super) inputs: IndexMap<Name, String>,
    /// Variables somebody chose.
    pub(super) vars: IndexMap<Name, Name>,
    pub(super) manner: Manner,
    pub(super) detach: bool,
    /// Whether it is about nothing that is there: the workflow makes up what it is about.
    pub(super) begins_anew: bool,
}

impl Said {
    /// The run that it begins.
    pub(super) fn begin(&self) -> Begin {
        Begin {
            subject: self.subject.clone().unwrap_or_default(),
            inputs: self.inputs.clone(),
            vars: self.vars.clone(),
            verb: Some(self.verb.clone()),
            ..Begin::default()
        }
    }

    /// What is chosen at the beginning cannot be chosen of a run that is there.
    pub(super) fn chooses_nothing(&self, run: &str) -> Result<(), CommandError> {
        let Some((name, _)) = self.vars.first() else { return Ok(()) };
        Err(CommandError::user(format!("`{name}` is chosen at the beginning, and the run `{run}` has begun"))
            .hinted("leave it out to go on with that run; `loopwright stop` ends it"))
    }
}

/// What the words say.
pub(super) fn said(workflow: &Workflow, words: &[String]) -> Result<Said, CommandError> {
    let name = format!("loopwright {}", workflow.name);
    let words = std::iter::once(&name).chain(words);
    // As clap itself would: it prints what is asked for, or what is wrong, and ends.
    let found = command(workflow, &name).try_get_matches_from(words);
    let read = found.and_then(|it| VerbArgs::from_arg_matches(&it).map(|typed| (it, typed)));
    let (found, typed) = read.unwrap_or_else(|error| error.exit());
    let Some(verb) = &typed.verb else { return Err(nothing(workflow)) };
    if verb != RESUME && !workflow.verbs.contains_key(verb.as_str()) {
        return Err(CommandError::user(format!("`{}` knows no verb `{verb}`", workflow.name))
            .maybe_hinted(did_you_mean(verb, workflow.verbs.keys().map(|it| &**it)))
            .hinted(format!("`loopwright {} --help` lists what it knows", workflow.name)));
    }
    let takes = workflow.verbs.get(verb.as_str()).map(|it| it.takes.as_slice()).unwrap_or_default();
    // Where the workflow makes up what a run is about, anything else that is said first is what the verb takes.
    let is_subject = |it: &String| matches(workflow.subject.matches.as_deref(), it);
    let makes_up = workflow.subject.made.is_some() && begins(workflow, &verb.as_str().into());
    let (subject, values) = match typed.subject {
        Some(first) if makes_up && !is_subject(&first) => {
            (None, std::iter::once(first).chain(typed.values).collect())
        }
        subject => (subject, typed.values),
    };
    if let Some(value) = values.get(takes.len()) {
        let known: Vec<&str> = takes.iter().map(|it| &**it).collect();
        let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
        return Err(CommandError::user(format!(
            "nobody knows what `{value}` is for: `{verb}` takes {known}"
        ))
        .hinted("put quotes around what belongs together"));
    }
    let mut inputs: IndexMap<Name, String> = takes.iter().cloned().zip(values).collect();
    inputs.extend(pairs("--input", &typed.inputs)?);
    for (name, value) in workflow.inputs.keys().filter_map(|it| Some((it, given(&found, INPUT, it)?))) {
        if inputs.insert(name.clone(), value).is_some() {
            return Err(CommandError::user(format!("`{name}` is said twice"))
                .hinted("quotes around what belongs together make one value of it"));
        }
    }
    Ok(Said {
        verb: verb.as_str().into(),
        begins_anew: makes_up && subject.is_none(),
        subject,
        inputs,
        vars: chosen(workflow, &found)?,
        detach: typed.manner.detach,
        manner: typed.manner.manner(),
    })
}

/// What the words are about, as far as they can be understood.
pub(crate) fn subject_of(workflow: &Workflow, words: &[String]) -> Option<String> {
    let name = format!("loopwright {}", workflow.name);
    let words = std::iter::once(&name).chain(words);
    let found = command(workflow, &name).try_get_matches_from(words).ok()?;
    found.get_one::<String>("subject").cloned()
}

/// Somebody said no verb.
fn nothing(workflow: &Workflow) -> CommandError {
    let error = CommandError::user(format!("`{}` is a workflow: say what to do with it", workflow.name));
    if workflow.tools.is_some() {
        return error.hinted(format!("`loopwright {} --help` lists what it knows", workflow.name));
    }
    let verbs: Vec<&str> = workflow.verbs.keys().map(|it| &**it).collect();
    error.hinted(format!("it knows {}; `loopwright run {}` begins a run", verbs.join(", "), workflow.name))
}

/// The words a workflow understands: its verbs, and what can be given and chosen at the beginning.
fn command(workflow: &Workflow, name: &str) -> Command {
    let mut command = VerbArgs::command().bin_name(name).after_help(verbs(workflow));
    let mut taken: Vec<String> =
        command.get_arguments().filter_map(|it| it.get_long()).map(Into::into).collect();
    taken.extend(["help".to_owned(), "version".to_owned()]);
    let mut is_free = |word: &str| {
        let free = !taken.iter().any(|it| it == word);
        taken.push(word.to_owned());
        free
    };
    let option = |of: &str, name: &Name, about: Option<&String>| {
        let arg = Arg::new(format!("{of} {name}")).long(name.to_string()).value_name("VALUE");
        arg.help(about.cloned().unwrap_or_default()).help_heading("Of this workflow")
    };
    for (name, it) in &workflow.inputs {
        if is_free(name) {
            command = command.arg(option(INPUT, name, it.about.as_ref()));
        }
    }
    // A name goes before a value that is called the same.
    let chosen = || workflow.main.vars.iter().filter(|(_, it)| it.input);
    for (name, it) in chosen() {
        if is_free(name) {
            let values: Vec<String> = it.values.iter().map(ToString::to_string).collect();
            command = command.arg(option(CHOICE, name, it.about.as_ref()).value_parser(values));
        }
    }
    for (name, it) in chosen() {
        for value in &it.values {
            let says = value.starts_with(char::is_alphabetic) && !SAY_NOTHING.contains(&&**value);
            if says && is_free(value) {
                let arg = Arg::new(format!("{CHOICE} {name}={value}")).long(value.to_string());
                let arg = arg.action(ArgAction::SetTrue).help(format!("The same as `--{name} {value}`"));
                command = command.arg(arg.help_heading("Of this workflow"));
            }
        }
    }
    command
}

/// What was given as an option of a workflow's own.
fn given(found: &ArgMatches, of: &str, name: &Name) -> Option<String> {
    found.try_get_one::<String>(&format!("{of} {name}")).ok().flatten().cloned()
}

/// Variables that were chosen, by name or by one of their values.
fn chosen(workflow: &Workflow, found: &ArgMatches) -> Result<IndexMap<Name, Name>, CommandError> {
    let mut vars: IndexMap<Name, Name> = IndexMap::new();
    for (name, it) in workflow.main.vars.iter().filter(|(_, it)| it.input) {
        let named = given(found, CHOICE, name).map(Name::from);
        let is_said = |value: &Name| {
            found
                .try_get_one::<bool>(&format!("{CHOICE} {name}={value}"))
                .ok()
                .flatten()
                .is_some_and(|it| *it)
        };
        let said: Vec<Name> =
            named.into_iter().chain(it.values.iter().filter(|it| is_said(it)).cloned()).collect();
        if let Some(other) = said.iter().find(|it| **it != said[0]) {
            return Err(CommandError::user(format!("`{name}` cannot be both `{}` and `{other}`", said[0])));
        }
        vars.extend(said.into_iter().next().map(|it| (name.clone(), it)));
    }
    Ok(vars)
}

/// The verbs of a workflow, for its help.
fn verbs(workflow: &Workflow) -> String {
    let width = workflow.verbs.keys().map(|it| it.len()).max().unwrap_or(0);
    let line = |(name, it): (&Name, &Verb)| {
        format!("  {name:width$}  {}", it.about.as_deref().unwrap_or_default()).trim_end().to_owned()
    };
    let lines: Vec<String> = workflow.verbs.iter().map(line).collect();
    let verbs = if lines.is_empty() { String::new() } else { format!("Verbs:\n{}\n\n", lines.join("\n")) };
    let tools = tools::about(workflow);
    let tools = if tools.is_empty() { tools } else { format!("{tools}\n") };
    format!("{tools}{verbs}{}", elsewhere::about(workflow))
}
