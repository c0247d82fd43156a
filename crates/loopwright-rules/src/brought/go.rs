//! Tests in Go: functions `TestX` of files that end with `_test.go`. They are at the left edge, and end with a brace that is.

use super::{Language, Test};

pub(super) fn tests(path: &str, text: &str) -> Vec<Test> {
    let mut tests = Vec::new();
    if !path.ends_with("_test.go") {
        return tests;
    }
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let Some((name, _)) = line.strip_prefix("func ").and_then(|it| it.split_once('(')) else { continue };
        let is_test = ["Test", "Fuzz"].iter().filter_map(|it| name.strip_prefix(it));
        if !is_test.into_iter().any(|it| !it.starts_with(char::is_lowercase)) || name == "TestMain" {
            continue;
        }
        let rest = lines.get(index..).unwrap_or_default();
        let end = rest.iter().position(|it| it.starts_with('}')).map_or(rest.len(), |it| it + 1);
        let whole = rest.get(..end).unwrap_or_default().join("\n");
        tests.push(Test::new(path, Language::Go, Vec::new(), name, (index + 1, &whole)));
    }
    tests
}
