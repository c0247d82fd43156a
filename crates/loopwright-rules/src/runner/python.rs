//! pytest and unittest.

use super::{Named, Said, Sure, Unloaded, is_same_file, until};
use crate::brought::Test;

pub(super) fn said(lines: &[&str]) -> Said {
    let mut said = Said::default();
    for (index, line) in lines.iter().enumerate() {
        let rest = lines.get(index + 1..).unwrap_or_default();
        if let Some(about) = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR ")) {
            short(about, lines, &mut said);
        } else if let Some(about) = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: ")) {
            let text = until(rest, |it| it.starts_with("====="));
            unittest(about, text, &mut said);
        } else if let Some((name, state)) = line.rsplit_once(" ... ") {
            if let ("ok", Some(named)) = (state, of_unittest(name)) {
                said.passed.push(named);
            }
        } else if let Some((id, state)) = line.split_once(' ')
            && id.contains("::")
            && state.trim_start().starts_with("PASSED")
        {
            said.passed.push(of_pytest(id));
        }
    }
    said
}

/// A line of the summary that pytest prints: `tests/test_a.py::TestB::test_c[1] - why`.
fn short(about: &str, lines: &[&str], said: &mut Said) {
    let (id, why) = about.split_once(" - ").unwrap_or((about, ""));
    let id = id.trim();
    if id.contains("::") {
        said.failed.push(Named { text: why.to_owned(), ..of_pytest(id) });
    } else if id.contains(".py") {
        let begins = |it: &&str| it.contains("ERROR collecting ") && it.contains(id);
        let at = lines.iter().position(begins);
        let section = at.map(|at| {
            until(lines.get(at + 1..).unwrap_or_default(), |it| {
                it.starts_with("____") || it.starts_with("====")
            })
        });
        let text = format!("{why}\n{}", section.unwrap_or_default());
        said.unloaded.push(Unloaded { file: Some(id.to_owned()), text });
    }
}

fn of_pytest(id: &str) -> Named {
    // What stands in brackets may have colons of its own.
    let id = id.split_once('[').map_or(id, |(id, _)| id);
    let mut parts = id.split("::");
    let file = parts.next().map(str::to_owned);
    Named { file, segments: parts.map(str::to_owned).collect(), text: String::new() }
}

/// `test_c (tests.test_a.TestB.test_c)`; before Python 3.11 without the name at the end.
fn of_unittest(about: &str) -> Option<Named> {
    let (name, rest) = about.split_once(" (")?;
    let (place, _) = rest.split_once(')')?;
    let mut segments: Vec<String> = place.split('.').map(str::to_owned).collect();
    if segments.last().is_none_or(|it| it != name) {
        segments.push(name.to_owned());
    }
    Some(Named { file: None, segments, text: String::new() })
}

fn unittest(about: &str, text: String, said: &mut Said) {
    let Some(named) = of_unittest(about) else { return };
    if about.contains("unittest.loader._FailedTest") {
        let name = about.split(' ').next().unwrap_or_default().replace('.', "/");
        said.unloaded.push(Unloaded { file: Some(format!("{name}.py")), text });
    } else {
        said.failed.push(Named { text, ..named });
    }
}

pub(super) fn sure_of(test: &Test, named: &Named) -> Option<Sure> {
    let own: Vec<&String> = test.inside.iter().chain([&test.name]).collect();
    let at = named.segments.len().checked_sub(own.len())?;
    let is_own = named.segments.iter().skip(at).eq(own);
    if !is_own {
        return None;
    }
    if let Some(file) = &named.file {
        return is_same_file(file, &test.path).then_some(Sure::ByPlace);
    }
    let place = named.segments.get(..at).unwrap_or_default().join("/");
    let is_there = !place.is_empty() && is_same_file(&format!("{place}.py"), &test.path);
    Some(if is_there { Sure::ByPlace } else { Sure::ByName })
}
