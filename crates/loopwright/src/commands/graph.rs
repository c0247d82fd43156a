//! `loopwright graph`

use std::path::PathBuf;
use std::process::ExitCode;

use loopwright_core::definition::Workflow;
use loopwright_core::draw;
use loopwright_core::language::load;
use loopwright_core::problem::Stage;

use crate::error::CommandError;
use crate::find::{Found, find};
use crate::show;

/// Draw a workflow
///
/// As Mermaid (for Markdown), DOT, or an SVG that needs no other tool.
#[derive(clap::Args, Debug)]
pub(crate) struct GraphArgs {
    /// The workflow: a name, folder or file
    #[arg(value_name = "WORKFLOW|PATH")]
    workflow: String,
    /// What to draw
    #[arg(long, value_enum, default_value_t = Format::Mermaid)]
    format: Format,
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

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Format {
    Mermaid,
    Dot,
    Svg,
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
    if arguments.theme.is_some() && !matches!(arguments.format, Format::Svg) {
        return Err(CommandError::user("`--theme` colours an SVG, and none is drawn".to_owned())
            .hinted("add `--format svg`, or leave `--theme` out".to_owned()));
    }
    let found = find(&arguments.workflow)?;
    let workflow = loaded(&found)?;
    let drawing = draw::of_workflow(&workflow, !arguments.no_failures);
    let text = match arguments.format {
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
