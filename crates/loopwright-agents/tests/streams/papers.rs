//! The table people read (`docs/outcomes.md`) is of the streams there are, and says of each what it comes to.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::captures;
use super::expected::table;

/// The rows of the paper: what they say is the outcome, and the streams they name.
fn rows() -> Vec<(String, Vec<String>)> {
    let paper: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", "docs", "outcomes.md"].iter().collect();
    let paper = std::fs::read_to_string(paper).unwrap();
    let cells = paper.lines().filter(|it| it.starts_with('|')).map(|it| {
        let cells: Vec<&str> = it.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 3, "{it}");
        cells
    });
    let rows = cells.filter(|it| it[2].contains('`')).map(|it| {
        let names = it[2].split('`').skip(1).step_by(2).map(str::to_owned);
        (it[1].to_owned(), names.collect())
    });
    rows.collect()
}

#[test]
fn the_paper_names_every_stream_once_and_no_other() {
    let mut named: Vec<String> = rows().into_iter().flat_map(|(_, names)| names).collect();
    named.sort();
    let all: Vec<String> = captures().into_iter().collect();
    assert_eq!(named, all);
}

#[test]
fn the_paper_says_what_streams_come_to() {
    let kinds: BTreeMap<String, String> = table()
        .into_iter()
        .map(|it| {
            (it.capture, it.failed.map_or_else(|| "no failure".to_owned(), |it| it.kind.replace('-', " ")))
        })
        .collect();
    for (outcome, names) in rows() {
        for name in names {
            // What else is to be said of it stands behind a comma.
            let said = outcome.split(',').next().unwrap_or_default();
            assert_eq!(said, kinds[&name], "{name}");
        }
    }
}
