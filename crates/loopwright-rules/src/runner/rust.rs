//! `cargo test`, and `cargo nextest`, which runs the same programs.

use std::collections::HashMap;

use super::{Named, Said, Sure, Unloaded, until};
use crate::brought::Test;

pub(super) fn said(lines: &[&str]) -> Said {
    let mut failed: HashMap<&str, String> = HashMap::new();
    let mut order: Vec<&str> = Vec::new();
    let mut passed = Vec::new();
    let mut panics: Vec<(&str, String)> = Vec::new();
    let mut in_list = false;
    for (index, line) in lines.iter().enumerate() {
        let rest = || lines.get(index + 1..).unwrap_or_default();
        let mut fails = |name, text: String| {
            let said = failed.entry(name).or_insert_with(|| {
                order.push(name);
                String::new()
            });
            said.push_str(&text);
            said.push('\n');
        };
        if *line == "failures:" {
            in_list = true;
        } else if in_list && line.starts_with("    ") && !line.trim().contains(' ') {
            fails(line.trim(), String::new());
        } else if let Some(name) = headed(line) {
            in_list = false;
            fails(
                name,
                until(rest(), |it| {
                    headed(it).is_some() || it == "failures:" || it.starts_with("test result:")
                }),
            );
        } else if let Some((name, state)) = line.strip_prefix("test ").and_then(|it| it.rsplit_once(" ... "))
        {
            let name = name.trim_end_matches(" - should panic");
            match state {
                "FAILED" => fails(name, String::new()),
                "ok" => passed.push(name),
                _ => {}
            }
        } else if let Some((name, _)) =
            line.trim_start().strip_prefix("thread '").and_then(|it| it.split_once('\''))
        {
            // The message stands below, unless it stands behind the place, as it did once.
            if line.contains("panicked at") {
                let message: Vec<&str> = rest().iter().copied().take(3).collect();
                panics.push((name, format!("{line}\n{}\n", message.join("\n"))));
            }
        } else if let Some(rest) = line.trim_start().strip_prefix("FAIL [") {
            if let Some(name) = rest.split_whitespace().next_back() {
                fails(name, String::new());
            }
        } else if let Some(rest) = line.trim_start().strip_prefix("PASS [") {
            passed.extend(rest.split_whitespace().next_back());
        }
    }
    // A thread that panics need not be a test that fails.
    for (name, text) in panics {
        if let Some(said) = failed.get_mut(name) {
            said.push_str(&text);
        }
    }
    let named = |name: &str, text: String| Named {
        file: None,
        segments: name.split("::").map(str::to_owned).collect(),
        text,
    };
    Said {
        failed: order.iter().map(|it| named(it, failed.remove(it).unwrap_or_default())).collect(),
        passed: passed.into_iter().map(|it| named(it, String::new())).collect(),
        unloaded: uncompiled(lines).into_iter().collect(),
    }
}

/// `---- NAME stdout ----`
fn headed(line: &str) -> Option<&str> {
    let inner = line.trim().strip_prefix("---- ")?.strip_suffix(" ----")?;
    inner.strip_suffix(" stdout").or_else(|| inner.strip_suffix(" stderr"))
}

/// What does not compile leaves every test unloaded: cargo runs none.
fn uncompiled(lines: &[&str]) -> Option<Unloaded> {
    lines.iter().find(|it| it.starts_with("error: could not compile"))?;
    let at = lines.iter().position(|it| it.starts_with("error["));
    let at = at.or_else(|| lines.iter().position(|it| it.starts_with("error:")))?;
    let text = until(lines.get(at..).unwrap_or_default(), |it| it.trim().is_empty());
    Some(Unloaded { file: None, text })
}

/// A name is known by its end: the modules of the file, those in it, the function, and perhaps a case of it.
pub(super) fn sure_of(test: &Test, named: &Named) -> Option<Sure> {
    let own: Vec<&str> = test.inside.iter().map(String::as_str).chain([test.name.as_str()]).collect();
    let all: Vec<&str> = named.segments.iter().map(String::as_str).collect();
    let begins = (0..all.len()).filter(|at| all.get(*at..).is_some_and(|rest| rest.starts_with(&own)));
    // What comes after it are cases: `adds::case_1`.
    let at = begins.into_iter().find(|at| all.len() - at - own.len() <= 1)?;
    let outer = all.get(..at).unwrap_or_default();
    let modules = modules_of(&test.path);
    let is_there = modules.is_some_and(|it| it.iter().map(String::as_str).eq(outer.iter().copied()));
    Some(if is_there { Sure::ByPlace } else { Sure::ByName })
}

/// The modules that a file is by its place.
fn modules_of(path: &str) -> Option<Vec<String>> {
    let parts: Vec<&str> = path.trim_end_matches(".rs").split('/').collect();
    let at = parts.iter().rposition(|it| matches!(*it, "src" | "tests" | "benches" | "examples"))?;
    let is_library = parts.get(at) == Some(&"src");
    let own = parts.get(at + if is_library { 1 } else { 2 }..).unwrap_or_default();
    let own: Vec<&str> = match own.split_last() {
        Some((&("lib" | "main" | "mod"), rest)) => rest.to_vec(),
        _ => own.to_vec(),
    };
    Some(own.into_iter().map(str::to_owned).collect())
}
