//! `loopwright mcp`

use std::process::ExitCode;

/// Serve the tools of one call to an agent: agents start this, people do not
///
/// An agent hands its answer in here while it works. It speaks the Model Context Protocol on its standard input and output,
/// and only works within the call it was started for.
#[derive(clap::Args, Debug)]
pub(crate) struct McpArgs {}

pub(crate) fn cmd_mcp(_: &McpArgs) -> ExitCode {
    loopwright_agents::mcp::serve()
}
