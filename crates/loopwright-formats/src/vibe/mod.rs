//! The files of vibe: `.vibe/STATE.md`, `PLAN.md`, `CONTEXT.md` and `LOOP_RESULT.json`.
//!
//! Read as its stage 22 reads them. On purpose we differ in this, and in nothing else:
//!
//! 1. Nothing hangs when the id of a finished checkpoint comes twice ([`Plan::after`]).
//! 2. A settled issue can be told from one that counts ([`Issue::is_settled`]); [`validate`] still mentions it.
//! 3. `- [] FLAG` is a flag that is not set.
//! 4. An empty `- Stage:` is no stage, instead of whatever stands on the next line.
//! 5. Ids are compared in normal form (`21a.00` is `21A.0`), and a checkpoint that the plan does not have is
//!    [`Next::Unknown`], not the reason to begin again.

pub mod catalog;
mod checks;
pub mod context;
mod demo;
pub mod edit;
mod flags;
mod focus;
pub mod ids;
mod issues;
pub mod plan;
pub mod record;
mod report;
mod result;
mod sections;
mod state;
mod status;
mod template;
pub mod text;
mod validate;
mod yaml;

pub use checks::PlanCheck;
pub use issues::{Impact, Issue};
pub use plan::{Checkpoint, Mark, Next, Plan, Stage};
pub use report::{IssueReport, Report, StateReport};
pub use state::{MOST_LOG_ENTRIES, STATUSES, State};
pub use status::Overview;
pub use template::add_checkpoint;
pub use validate::{Files, Options, validate};

/// Where a project stands.
pub const STATE: &str = ".vibe/STATE.md";
/// What it is to become.
pub const PLAN: &str = ".vibe/PLAN.md";
/// What newcomers have to know.
pub const CONTEXT: &str = ".vibe/CONTEXT.md";
/// What is over.
pub const HISTORY: &str = ".vibe/HISTORY.md";
/// What the last loop came to.
pub const LOOP_RESULT: &str = ".vibe/LOOP_RESULT.json";
/// Folders in which a project has its catalog of prompts, the first one first.
const CATALOG_FOLDERS: [&str; 2] = ["prompts", "built_in/prompts"];
