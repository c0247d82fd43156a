//! `loopwright gc`

use std::fmt::Write as _;
use std::process::ExitCode;

use loopwright_engine::gc::{Cleared, clear_away};
use loopwright_engine::journal::Sqlite;

use crate::error::CommandError;
use crate::{progress, session, show};

const DAY: u64 = 24 * 60 * 60 * 1_000;

/// Clear away what runs that ended long ago left behind
///
/// What they learnt, prompts and transcripts, what is known of files, and worktrees they made in which nothing is that is not
/// committed. Runs that are open or driven stay with everything they need, and no commit or branch is touched.
#[derive(clap::Args, Debug)]
pub(crate) struct GcArgs {
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// Only what ended more than so many days ago
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    older_than: u64,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn cmd_gc(arguments: &GcArgs) -> Result<ExitCode, CommandError> {
    let engine = progress::reader()?;
    if !engine.home.journal.exists() {
        show::out(if arguments.json { "{}\n" } else { "there are no runs here\n" });
        return Ok(ExitCode::SUCCESS);
    }
    let journal = Sqlite::open(&engine.home.journal).map_err(|it| session::told(it.into()))?;
    let older_than = arguments.older_than.saturating_mul(DAY);
    let cleared = clear_away(&engine, &journal, older_than, arguments.dry_run).map_err(session::told)?;
    if arguments.json {
        let text = serde_json::to_string(&cleared).map_err(|it| CommandError::user(it.to_string()))?;
        show::out(&format!("{text}\n"));
    } else {
        show::out(&told(&cleared));
    }
    Ok(ExitCode::SUCCESS)
}

fn told(cleared: &Cleared) -> String {
    let mut text = String::new();
    let word = if cleared.dry_run { "would go" } else { "gone" };
    for run in &cleared.removed {
        let items = match run.items {
            0 => String::new(),
            1 => ", with one item".to_owned(),
            more => format!(", with {more} items"),
        };
        let _ = writeln!(
            text,
            "{word}   {}  {} {}{items}: {}",
            run.run,
            run.workflow,
            run.subject,
            bytes(run.bytes)
        );
        for worktree in &run.worktrees {
            let _ =
                writeln!(text, "{word}   {worktree}: a worktree of `{}`, all of it is committed", run.run);
        }
    }
    for kept in &cleared.kept {
        let _ = writeln!(text, "stays  {}: {}", kept.what, kept.why);
    }
    let (runs, blobs, files) = (cleared.removed.len(), cleared.blobs, cleared.files);
    let what = format!(
        "{}, {} that nothing names, {} beside the journal: {}",
        count(runs as u64, "run"),
        count(blobs, "text"),
        count(files, "file"),
        bytes(cleared.bytes)
    );
    let _ = match (cleared.dry_run, cleared.shrunk) {
        (true, _) => writeln!(text, "would remove {what}; without `--dry-run` it is done"),
        (false, 0) => writeln!(text, "removed {what}"),
        (false, smaller) => writeln!(text, "removed {what}; the journal is {} smaller", bytes(smaller)),
    };
    text
}

fn count(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn bytes(number: u64) -> String {
    match number {
        0..10_000 => format!("{number} bytes"),
        10_000..10_000_000 => format!("{} kB", number / 1_000),
        _ => format!("{} MB", number / 1_000_000),
    }
}
