//! Whole runs: a real repository, a real journal, and programs as agents.
#![expect(clippy::expect_used, clippy::panic, reason = "these are tests")]

mod actions;
mod ahead;
mod alone;
mod apart;
mod at_once;
mod bench;
mod bounds;
mod change;
mod change_again;
mod change_archive;
#[expect(dead_code, reason = "not everything of it is needed here")]
mod change_files;
mod clocks;
mod crew;
mod disk;
mod edits;
mod feature;
mod feature_ends;
#[expect(dead_code, reason = "not everything of it is needed here")]
mod feature_files;
mod fields;
mod gc;
mod git_actions;
mod golden;
mod handed;
mod headings;
mod heads;
mod issue;
mod issue_files;
mod items;
mod left;
mod listings;
mod new_tests;
mod outside;
mod own_folder;
mod per_finding;
mod places;
mod questions;
mod recorded;
mod returns;
mod rules;
mod shows;
mod siblings;
mod task;
mod team;
mod team_beside;
#[expect(dead_code, reason = "not everything of it is needed here")]
mod team_files;
mod team_import;
mod team_repairs;
mod texts;
mod todo;
mod trunk;
mod vibe;
mod vibe_committed;
#[expect(dead_code, reason = "not everything of it is needed here")]
mod vibe_files;
mod vibe_rules;
mod vibe_stops;
mod watched;
mod worktrees;
