//! `loopwright graph`

use std::path::PathBuf;
use std::process::ExitCode;

use loopwright_core::definition::Workflow;
use loopwright_core::draw;
use loopwright_core::language::load;
use loopwright_core::problem::Stage;

use crate::error::CommandError;
use crate::find::{Found, wanted_one};
use crate::show;

/// Draw a workflow
///
/// As Mermaid (for Markdown), DOT, or an SVG that needs no other tool.
#[derive(clap::Args, Debug)]
pub(crate) struct GraphArgs {
    /// The workflow: a name, folder or file. The folder you are in, if none is given
    #[arg(value_name = "WORKFLOW|PATH")]
    workflow: Option<String>,
    /// What to draw; if this is left out, what the name of the file says, else Mermaid
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Colours of an SVG: as the reader's system prefers (if this is left out), light, or dark
    #[arg(long, value_enum)]
    theme: Option<Theme>,
    /// Leave out routes for failures
    #[arg(long)]
    no_failures: bool,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Mermaid,
    Dot,
    Svg,
}

impl Format {
    fn word(self) -> &'static str {
        match self {
            Self::Mermaid => "mermaid",
            Self::Dot => "dot",
            Self::Svg => "svg",
        }
    }
}

/// What is drawn: what was asked for, unless the name of the file says something else.
fn format(arguments: &GraphArgs) -> Result<Format, CommandError> {
    let file = arguments.output.as_deref();
    let said = match file.and_then(|it| it.extension()?.to_str()) {
        Some("svg") => Some(Format::Svg),
        Some("dot" | "gv") => Some(Format::Dot),
        Some("mmd" | "mermaid" | "md") => Some(Format::Mermaid),
        _ => None,
    };
    match (arguments.format, said, file) {
        (Some(asked), Some(said), Some(file)) if asked != said => Err(CommandError::user(format!(
            "`--format {}` does not go with a file called `{}`",
            asked.word(),
            file.display()
        ))
        .hinted(format!("write `--format {}`, or call the file otherwise", said.word()))),
        (asked, said, _) => Ok(asked.or(said).unwrap_or(Format::Mermaid)),
    }
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Theme {
    Auto,
    Light,
    Dark,
}

/// A workflow that loads, or an error that says how to see why not.
pub(crate) fn loaded(found: &Found) -> Result<Workflow, CommandError> {
    let loaded = load(&found.folder);
    let broken = loaded.problems.iter().filter(|it| it.stage == Stage::Load).count();
    match loaded.workflow {
        Some(workflow) if broken == 0 => Ok(workflow),
        _ => Err(CommandError::user(format!("{} does not load", found.origin))
            .hinted(format!("`loopwright check {}` says why", found.origin.trim_start_matches("built-in ")))),
    }
}

pub(crate) fn cmd_graph(arguments: &GraphArgs) -> Result<ExitCode, CommandError> {
    let format = format(arguments)?;
    if arguments.theme.is_some() && format != Format::Svg {
        return Err(CommandError::user("`--theme` colours an SVG, and none is drawn".to_owned())
            .hinted("add `--format svg`, or leave `--theme` out".to_owned()));
    }
    let found = wanted_one(arguments.workflow.as_deref())?;
    let workflow = loaded(&found)?;
    let drawing = draw::of_workflow(&workflow, !arguments.no_failures);
    let text = match format {
        Format::Mermaid => draw::mermaid(&drawing),
        Format::Dot => draw::dot(&drawing),
        Format::Svg => {
            let theme = match arguments.theme {
                None | Some(Theme::Auto) => draw::Theme::Auto,
                Some(Theme::Light) => draw::Theme::Light,
                Some(Theme::Dark) => draw::Theme::Dark,
            };
            draw::svg(&drawing, theme)
        }
    };
    match &arguments.output {
        None => show::out(&text),
        Some(file) => std::fs::write(file, text)
            .map_err(|it| CommandError::user(format!("`{}` cannot be written: {it}", file.display())))?,
    }
    Ok(ExitCode::SUCCESS)
}
