//! The rules that tell test code from other code: `tests-only`, `no-test-edits` and `inside-cfg-test`.

use std::collections::HashMap;
use std::ops::Range;

use crate::modules::{Modules, Side, files};
use crate::outline::{Counts, Declared, Outline, Stretch, outline};
use crate::production::{Kept, first_difference};
use crate::rust::{Source, new_fault};
use crate::{Change, Report, line_of, manifest, name_of, test_paths};

/// Without any of these words a file has no tests in it and declares no modules.
const WORDS: &[&[u8]] = &[b"test", b"quickcheck", b"mod"];

/// Only test code may change.
pub(crate) fn tests_only(changes: &[Change<'_>], modules: &Modules<'_>, report: &mut Report) {
    // Whoever adds a dependency for tests finds the lock file changed by the next build.
    let is_manifest = |it: &Change<'_>| name_of(it.path) == "Cargo.toml" && dev_only(it).is_none();
    let may_lock = changes.iter().any(is_manifest);
    for change in changes {
        if change.is_rust() {
            let whole = |side| modules.is_test(side, change.path);
            outside(
                change,
                Counts::TestsToo,
                whole,
                "what changed here is not test code, and only tests may change",
                report,
            );
        } else if test_paths::is_test(change.path) || (may_lock && name_of(change.path) == "Cargo.lock") {
        } else if name_of(change.path) == "Cargo.toml" {
            if let Some(line) = dev_only(change) {
                let why = "of `Cargo.toml` only `[dev-dependencies]` may change here";
                report.add(change.path, change.after.map(|_| line), why);
            }
        } else {
            let why = format!("{}, but it is not a test, and only tests may change here", change.verb());
            report.add(change.path, None, why);
        }
    }
}

/// Only what is inside `#[cfg(test)]` of Rust files may change.
pub(crate) fn inside_cfg_test(changes: &[Change<'_>], modules: &Modules<'_>, report: &mut Report) {
    for change in changes {
        if change.is_rust() {
            let whole = |side| modules.is_declared_test(side, change.path) == Some(true);
            outside(
                change,
                Counts::Conditions,
                whole,
                "what changed here is not inside `#[cfg(test)]`",
                report,
            );
        } else {
            let why = format!("{}, but only Rust inside `#[cfg(test)]` may change here", change.verb());
            report.add(change.path, None, why);
        }
    }
}

/// No test code may change, vanish or be added.
pub(crate) fn no_test_edits(changes: &[Change<'_>], modules: &Modules<'_>, report: &mut Report) {
    for change in changes {
        if change.is_rust() {
            let is_test = |side, text: Option<&[u8]>| text.is_some() && modules.is_test(side, change.path);
            if is_test(Side::Before, change.before) || is_test(Side::After, change.after) {
                let why = format!("{}, but it is test code, which may not be edited here", change.verb());
                report.add(change.path, None, why);
            } else {
                same_tests(change, modules, report);
            }
        } else if test_paths::is_test(change.path) {
            let why = format!("{}, but it is a test, and tests may not be edited here", change.verb());
            report.add(change.path, None, why);
        } else if name_of(change.path) == "Cargo.toml" {
            let off = |text: Option<&[u8]>| text.map_or(0, manifest::switched_off);
            if off(change.after) > off(change.before) {
                report.add(change.path, None, "a line keeps tests from being run");
            }
        }
    }
}

/// The line outside of development dependencies that differs, if one does.
fn dev_only(change: &Change<'_>) -> Option<usize> {
    let kept = |text: Option<&'_ [u8]>| text.map(manifest::dev_dependencies).unwrap_or_default();
    let (before, after) = (change.before.unwrap_or_default(), change.after.unwrap_or_default());
    let is_gone = change.before.is_none() || change.after.is_none();
    differs((before, kept(change.before)), (after, kept(change.after))).or(is_gone.then_some(1))
}

/// The line outside of the stretches that differs, if one does. Space counts where there are no stretches.
fn differs(before: (&[u8], Vec<Range<usize>>), after: (&[u8], Vec<Range<usize>>)) -> Option<usize> {
    let found = if before.1.is_empty() && after.1.is_empty() {
        Some(before.0.iter().zip(after.0).take_while(|(old, new)| old == new).count())
    } else {
        first_difference(Kept::new(before.0, before.1), Kept::new(after.0, after.1))
    };
    found.map(|it| line_of(after.0, it.min(after.0.trim_ascii_end().len())))
}

/// Reports what changed outside of test code.
fn outside(
    change: &Change<'_>,
    counts: Counts,
    whole: impl Fn(Side) -> bool,
    why: &str,
    report: &mut Report,
) {
    let is_whole = |side, text: Option<&[u8]>| text.is_none() || whole(side);
    let (old, new) = (is_whole(Side::Before, change.before), is_whole(Side::After, change.after));
    if old && new {
        return;
    }
    let Some((before, after)) = sources(change, report) else { return };
    let tests = |source: &Source<'_>, all: bool| -> Vec<Range<usize>> {
        if all {
            return std::iter::once(0..source.text.len()).collect();
        }
        outline(source, counts).tests.into_iter().map(|it| it.range).collect()
    };
    let (old, new) = (tests(&before, old), tests(&after, new));
    if let Some(line) = differs((before.text, old), (after.text, new)) {
        report.add(change.path, change.after.map(|_| line), why);
    }
}

/// Both versions of a file of Rust, or a report that one cannot be read.
pub(crate) fn sources<'t>(change: &Change<'t>, report: &mut Report) -> Option<(Source<'t>, Source<'t>)> {
    let before = Source::read(change.before.unwrap_or_default());
    let after = Source::read(change.after.unwrap_or_default());
    let (before, after) = match (before, after) {
        (Ok(before), Ok(after)) => (before, after),
        (_, Err(why)) => {
            report.add(change.path, None, format!("this cannot be checked: {}", why.0));
            return None;
        }
        (Err(why), _) => {
            report.add(change.path, None, format!("this cannot be checked: before the change, {}", why.0));
            return None;
        }
    };
    if let Some(fault) = new_fault(&before, &after) {
        report.add(change.path, Some(fault.line), "this cannot be checked: there is a syntax error here");
        return None;
    }
    Some((before, after))
}

/// Reports where the tests inside a file are no longer what they were.
fn same_tests(change: &Change<'_>, modules: &Modules<'_>, report: &mut Report) {
    // Most files have no tests, and need not be read.
    let may_have = |text: Option<&[u8]>| text.is_some_and(|it| WORDS.iter().any(|word| mentions(it, word)));
    if !may_have(change.before) && !may_have(change.after) {
        return;
    }
    let Some((before, after)) = sources(change, report) else { return };
    let old = outline(&before, Counts::TestsToo);
    let new = outline(&after, Counts::TestsToo);
    // Their order may change: code moves around them.
    let mut known: HashMap<(&str, &[u8]), usize> = HashMap::new();
    for test in &old.tests {
        *known.entry((&test.place, before.at(test.range.clone()))).or_default() += 1;
    }
    let mut added = None;
    for test in &new.tests {
        match known.get_mut(&(&*test.place, after.at(test.range.clone()))) {
            Some(left) if *left > 0 => *left -= 1,
            _ => added = added.or(Some(test)),
        }
    }
    let is_gone =
        |it: &&Stretch| known.get(&(&*it.place, before.at(it.range.clone()))).is_some_and(|it| *it > 0);
    let gone = old.tests.iter().find(is_gone);
    let line = |test: &Stretch| Some(line_of(after.text, test.range.start));
    match (gone, added) {
        (Some(_), Some(it)) => {
            report.add(change.path, line(it), "test code here was changed, moved or switched off");
        }
        (Some(test), None) => {
            let what = title(before.at(test.range.clone()));
            report.add(change.path, None, format!("test code is gone: `{what}`"));
        }
        (None, Some(it)) => {
            report.add(change.path, line(it), "test code was added, and tests are not edited here");
        }
        (None, None) => {}
    }
    for module in &old.declared {
        lost_module(change.path, module, &new, modules, report);
    }
}

/// Reports a module with tests that is no longer compiled, or under other conditions than before.
fn lost_module(path: &str, module: &Declared, new: &Outline, modules: &Modules<'_>, report: &mut Report) {
    let named = |it: &&Declared| it.name == module.name && it.inside == module.inside;
    if module.is_test || new.declared.iter().any(|it| named(&it) && it.place == module.place) {
        return;
    }
    for file in files(path, module) {
        let text = modules.text(Side::Before, &file).unwrap_or_default();
        let is_kept = modules.text(Side::After, &file).is_some();
        let has_tests = Source::read(&text).is_ok_and(|it| !outline(&it, Counts::TestsToo).tests.is_empty());
        if is_kept && has_tests {
            report.add(path, None, format!("the tests in `{file}` are no longer compiled as they were"));
        }
    }
}

fn mentions(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|it| it == word)
}

/// The line of an item that names it: the first that is no comment and no attribute.
fn title(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let is_title = |line: &&str| !line.is_empty() && !line.starts_with("//") && !line.starts_with('#');
    let line = text.lines().map(str::trim).find(is_title).unwrap_or_default();
    line.trim_end_matches(['{', ' ']).chars().take(80).collect()
}
