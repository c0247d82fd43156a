//! `loopwright schema`

use std::process::ExitCode;

use loopwright_core::language::json_schema;

use crate::show;

/// Print the JSON Schema of workflow.yaml
///
/// Editors complete and check workflow files from it.
#[derive(clap::Args, Debug)]
pub(crate) struct SchemaArgs {}

pub(crate) fn cmd_schema(_: &SchemaArgs) -> ExitCode {
    let printed = serde_json::to_string_pretty(&json_schema()).unwrap_or_default();
    show::out(&format!("{printed}\n"));
    ExitCode::SUCCESS
}
