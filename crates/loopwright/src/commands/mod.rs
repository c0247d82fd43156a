//! One file a command.

mod check;
mod graph;
mod list;
mod matrix;
mod rehearse;
mod schema;
mod test;

use std::process::ExitCode;

use crate::error::CommandError;

#[derive(clap::Subcommand, Debug)]
pub(crate) enum Command {
    Check(check::CheckArgs),
    Matrix(matrix::MatrixArgs),
    Graph(graph::GraphArgs),
    Rehearse(rehearse::RehearseArgs),
    Test(test::TestArgs),
    Workflows(list::WorkflowsArgs),
    Readers(list::ReadersArgs),
    Schema(schema::SchemaArgs),
}

/// Runs a command.
pub(crate) fn run(command: Command) -> Result<ExitCode, CommandError> {
    match command {
        Command::Check(arguments) => check::cmd_check(&arguments),
        Command::Matrix(arguments) => matrix::cmd_matrix(&arguments),
        Command::Graph(arguments) => graph::cmd_graph(&arguments),
        Command::Rehearse(arguments) => rehearse::cmd_rehearse(&arguments),
        Command::Test(arguments) => Ok(test::cmd_test(&arguments)),
        Command::Workflows(arguments) => Ok(list::cmd_workflows(&arguments)),
        Command::Readers(arguments) => Ok(list::cmd_readers(&arguments)),
        Command::Schema(arguments) => Ok(schema::cmd_schema(&arguments)),
    }
}
