//! Streams of events, real ones and some written by hand, and what they come to.
//!
//! `tests/captures` has a file of what was said on the standard output (`.jsonl`) and one of what was said on the standard
//! error (`.err`) for each; `expected.json` says what each of them comes to. A conversation in the Agent Client Protocol has
//! both directions.

#![expect(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod expected;
mod garbage;
mod papers;

use std::collections::BTreeSet;
use std::path::PathBuf;

use loopwright_agents::streams::acp::acp;
use loopwright_agents::streams::{End, Said, Usage, resumed};
use serde_json::Value;

/// A stream.
#[derive(Clone, Debug)]
struct Capture {
    lines: String,
    errors: String,
}

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "captures"].iter().collect()
}

/// The names of all streams there are.
fn captures() -> BTreeSet<String> {
    let files = std::fs::read_dir(folder()).unwrap().map(|it| it.unwrap().path());
    let streams = files.filter(|it| it.extension().is_some_and(|it| it == "jsonl" || it == "err"));
    streams.map(|it| it.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

impl Capture {
    fn named(name: &str) -> Self {
        let read = |ending: &str| {
            std::fs::read_to_string(folder().join(format!("{name}.{ending}"))).unwrap_or_default()
        };
        Self { lines: read("jsonl"), errors: read("err") }
    }

    /// What it says.
    fn said(&self, dialect: &str, before: Usage, end: End) -> Said {
        if dialect == "acp" {
            let mut reader = acp(before);
            for line in self.lines.lines() {
                let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
                match line["dir"].as_str() {
                    Some("in") => reader.message(&line["msg"]),
                    Some("out") => reader.sent(&line["msg"]),
                    _ => {}
                }
            }
            return reader.said(end, &self.errors);
        }
        let mut reader = resumed(dialect, before).unwrap();
        for line in self.lines.lines() {
            reader.line(line);
        }
        reader.over(end, &self.errors)
    }
}
