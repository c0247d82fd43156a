//! One file a command.

mod answer;
mod check;
mod completions;
mod demo;
mod discard;
mod doctor;
mod fork;
mod gc;
mod graph;
mod init;
mod list;
mod log;
mod matrix;
mod mcp;
mod rehearse;
mod resume;
mod run;
mod schema;
mod show;
mod status;
mod stop;
mod test;
mod verb;
mod why;
mod workflows;

use std::process::ExitCode;

pub(crate) use self::verb::{drive, subject_of};
use crate::error::CommandError;
use crate::tools::todo;

#[derive(clap::Subcommand, Debug)]
pub(crate) enum Command {
    Demo(demo::DemoArgs),
    Init(init::InitArgs),
    Doctor(doctor::DoctorArgs),
    Run(run::RunArgs),
    Status(status::StatusArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Log(log::LogArgs),
    Why(why::WhyArgs),
    Answer(answer::AnswerArgs),
    Resume(resume::ResumeArgs),
    Stop(stop::StopArgs),
    Discard(discard::DiscardArgs),
    Fork(fork::ForkArgs),
    Gc(gc::GcArgs),
    Todo(todo::TodoArgs),
    Check(check::CheckArgs),
    Matrix(matrix::MatrixArgs),
    Graph(graph::GraphArgs),
    Rehearse(rehearse::RehearseArgs),
    Test(test::TestArgs),
    Workflows(workflows::WorkflowsArgs),
    Readers(workflows::ReadersArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
    Man(completions::ManArgs),
    Mcp(mcp::McpArgs),
    /// A workflow's own verb: `loopwright WORKFLOW VERB [SUBJECT]`
    #[command(external_subcommand)]
    Verb(Vec<String>),
}

/// Runs a command.
pub(crate) fn run(command: Command) -> Result<ExitCode, CommandError> {
    match command {
        Command::Demo(arguments) => demo::cmd_demo(&arguments),
        Command::Init(arguments) => init::cmd_init(&arguments),
        Command::Doctor(arguments) => doctor::cmd_doctor(&arguments),
        Command::Why(arguments) => why::cmd_why(&arguments),
        Command::Run(arguments) => run::cmd_run(&arguments),
        Command::Status(arguments) => status::cmd_status(&arguments),
        Command::List(arguments) => list::cmd_list(&arguments),
        Command::Show(arguments) => show::cmd_show(&arguments),
        Command::Log(arguments) => log::cmd_log(&arguments),
        Command::Answer(arguments) => answer::cmd_answer(&arguments),
        Command::Resume(arguments) => resume::cmd_resume(&arguments),
        Command::Stop(arguments) => stop::cmd_stop(&arguments),
        Command::Discard(arguments) => discard::cmd_discard(&arguments),
        Command::Fork(arguments) => fork::cmd_fork(&arguments),
        Command::Gc(arguments) => gc::cmd_gc(&arguments),
        Command::Todo(arguments) => todo::cmd_todo(&arguments),
        Command::Verb(words) => verb::cmd_verb(&words),
        Command::Check(arguments) => check::cmd_check(&arguments),
        Command::Matrix(arguments) => matrix::cmd_matrix(&arguments),
        Command::Graph(arguments) => graph::cmd_graph(&arguments),
        Command::Rehearse(arguments) => rehearse::cmd_rehearse(&arguments),
        Command::Test(arguments) => Ok(test::cmd_test(&arguments)),
        Command::Workflows(arguments) => Ok(workflows::cmd_workflows(&arguments)),
        Command::Readers(arguments) => Ok(workflows::cmd_readers(&arguments)),
        Command::Schema(arguments) => Ok(schema::cmd_schema(&arguments)),
        Command::Completions(arguments) => Ok(completions::cmd_completions(&arguments)),
        Command::Man(arguments) => completions::cmd_man(&arguments),
        Command::Mcp(arguments) => Ok(mcp::cmd_mcp(&arguments)),
    }
}
