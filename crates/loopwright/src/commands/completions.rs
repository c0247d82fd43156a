//! `loopwright completions` and `loopwright man`

use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::Shell;
use loopwright_core::problem::did_you_mean;

use crate::error::CommandError;
use crate::show;

/// Print what makes a shell complete commands and options
///
/// For bash: `loopwright completions bash > ~/.local/share/bash-completion/completions/loopwright`.
#[derive(clap::Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn cmd_completions(arguments: &CompletionsArgs) -> ExitCode {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::Arguments::command(), "loopwright", &mut text);
    show::out(&String::from_utf8_lossy(&text));
    ExitCode::SUCCESS
}

/// Print the manual page, of all or of one command
///
/// To read it: `loopwright man | man -l -`.
#[derive(clap::Args, Debug)]
pub(crate) struct ManArgs {
    /// The command
    command: Option<String>,
}

pub(crate) fn cmd_man(arguments: &ManArgs) -> Result<ExitCode, CommandError> {
    let mut all = crate::Arguments::command();
    all.build();
    let page = match &arguments.command {
        None => all,
        Some(name) => {
            let named = all.find_subcommand(name).cloned();
            let unknown = || {
                let names = all.get_subcommands().map(clap::Command::get_name);
                CommandError::user(format!("there is no command `{name}`"))
                    .maybe_hinted(did_you_mean(name, names))
            };
            named.ok_or_else(unknown)?.display_name(format!("loopwright-{name}"))
        }
    };
    let mut text = Vec::new();
    let written = clap_mangen::Man::new(page).render(&mut text);
    written.map_err(|it| CommandError::user(format!("the page cannot be written: {it}")))?;
    show::out(&String::from_utf8_lossy(&text));
    Ok(ExitCode::SUCCESS)
}
