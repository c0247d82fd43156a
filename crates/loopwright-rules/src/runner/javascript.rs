//! `node --test` in both of its forms, Jest, Vitest and Mocha.

use super::{LINES, Named, Said, Sure, Unloaded, is_same_file, until};
use crate::brought::{Language, Test};

pub(super) fn said(lines: &[&str]) -> Said {
    let mut said = Said::default();
    // The file that the next failures are in, where a runner says so first.
    let mut file: Option<&str> = None;
    for (index, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        let rest = lines.get(index + 1..).unwrap_or_default();
        if let Some(place) = trimmed.strip_prefix("test at ") {
            file = Some(place.split(':').next().unwrap_or(place));
        } else if let Some(title) = numbered(trimmed, "not ok ") {
            if !title.contains(" # SKIP") && !title.contains(" # TODO") {
                let text = until(rest, |it| it.trim() == "...");
                let place = text.lines().find_map(|it| it.trim().strip_prefix("location: "));
                let place = place.and_then(|it| it.trim_matches(['\'', '"']).split(':').next());
                failed(&mut said, title, place, &text, above(lines, index));
            }
        } else if let Some(title) = numbered(trimmed, "ok ") {
            said.passed.push(named(title, None));
        } else if let Some(title) = trimmed.strip_prefix(['✖', '✕', '×']) {
            let text = until(rest, |it| it.trim_start().starts_with(['✖', '✔', '✕', '✓', '×', 'ℹ']));
            failed(&mut said, untimed(title.trim()), file.take(), &text, above(lines, index));
        } else if let Some(title) = trimmed.strip_prefix(['✔', '✓', '√']) {
            said.passed.push(named(untimed(title.trim()), None));
        } else if let Some(title) = trimmed.strip_prefix("● ") {
            let text = until(rest, |it| it.trim_start().starts_with("● "));
            if title.trim() == "Test suite failed to run" {
                said.unloaded.push(Unloaded { file: file.map(str::to_owned), text });
            } else {
                said.failed.push(Named { text, ..named(title, file) });
            }
        } else if let Some(about) = trimmed.strip_prefix("FAIL ") {
            let about = about.trim();
            let place = about.split([' ', '\t']).next().unwrap_or(about);
            file = Some(place);
            let text = until(rest, |it| it.trim_start().starts_with("FAIL "));
            match about.split_once(" > ") {
                Some((_, title)) => said.failed.push(Named { text, ..named(title, file) }),
                None if about.ends_with(']') => {
                    said.unloaded.push(Unloaded { file: Some(place.to_owned()), text });
                }
                None => {}
            }
        } else if let Some((number, title)) = trimmed.split_once(") ")
            && !number.is_empty()
            && number.bytes().all(|it| it.is_ascii_digit())
        {
            said.failed.push(named(title.trim_end_matches(':'), None));
        }
    }
    said
}

/// What a program complained of before its file is reported: the lines since the last report.
fn above<'l>(lines: &'l [&'l str], index: usize) -> &'l [&'l str] {
    let upto = lines.get(index.saturating_sub(LINES)..index).unwrap_or_default();
    let is_report = |it: &&str| {
        let line = it.trim_start();
        line == "..." || line.starts_with(['✖', '✔', '▶', 'ℹ']) || line.starts_with("TAP version")
    };
    let from = upto.iter().rposition(is_report).map_or(0, |it| it + 1);
    upto.get(from..).unwrap_or_default()
}

/// `not ok 3 - title`
fn numbered<'l>(line: &'l str, begin: &str) -> Option<&'l str> {
    let (number, title) = line.strip_prefix(begin)?.split_once(" - ")?;
    number.bytes().all(|it| it.is_ascii_digit()).then_some(title)
}

/// A title without the time that stands behind it: `(1.2ms)`, `(5 ms)` or `5ms`.
fn untimed(title: &str) -> &str {
    let is_time = |it: &str| {
        let number = it.trim_end_matches(')').strip_suffix("ms").map(str::trim_end);
        number.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit() || it == b'.'))
    };
    let parts = [title.rsplit_once(" ("), title.rsplit_once(' ')];
    parts.into_iter().flatten().find(|(_, time)| is_time(time)).map_or(title, |(title, _)| title.trim_end())
}

/// What could not be loaded fails under the name of its file.
fn failed(said: &mut Said, title: &str, place: Option<&str>, text: &str, before: &[&str]) {
    if Language::of(title) == Some(Language::JavaScript) && !title.contains(char::is_whitespace) {
        // What it complained of stands above, marked as a remark or not.
        let text = format!("{}\n{text}", before.join("\n"));
        said.unloaded.push(Unloaded { file: Some(title.to_owned()), text });
    } else {
        said.failed.push(Named { text: text.to_owned(), ..named(title, place) });
    }
}

fn named(title: &str, file: Option<&str>) -> Named {
    let title = title.trim();
    let parts = ["›", " > "].iter().find(|it| title.contains(**it)).map(|it| title.split(it));
    let segments = match parts {
        Some(parts) => parts.map(|it| it.trim().to_owned()).collect(),
        None => vec![title.to_owned()],
    };
    Named { file: file.map(str::to_owned), segments, text: String::new() }
}

pub(super) fn sure_of(test: &Test, named: &Named) -> Option<Sure> {
    let whole = named.segments.join(" ");
    let is_own = named.segments.last().is_some_and(|it| fits(&test.name, it))
        || fits(&[&test.inside.join(" "), " ", &test.name].concat(), &whole)
        // A title may have the signs in it that runners put between titles.
        || fits(&test.name, &named.segments.join(" > "));
    if !is_own {
        return None;
    }
    match &named.file {
        Some(file) => is_same_file(file, &test.path).then_some(Sure::ByPlace),
        None => Some(Sure::ByName),
    }
}

/// Whether a title is what a name becomes: `adds %i` and `adds ${a}` have values in it.
fn fits(name: &str, title: &str) -> bool {
    let pieces = pieces(name.trim());
    let mut rest = title.trim();
    for (index, piece) in pieces.iter().enumerate() {
        let found = if index == 0 {
            rest.starts_with(piece.as_str()).then_some(0)
        } else {
            rest.find(piece.as_str())
        };
        let Some(at) = found else { return false };
        rest = rest.get(at + piece.len()..).unwrap_or_default();
    }
    pieces.len() > 1 || rest.is_empty()
}

/// What of a name is always there: all of it, but for what values take the place of.
fn pieces(name: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied().unwrap_or(' ');
        match letter {
            '$' if next == '{' => {
                letters.by_ref().find(|it| *it == '}');
                pieces.push(String::new());
            }
            '$' if next.is_alphabetic() => {
                while letters.next_if(|it| it.is_alphanumeric() || matches!(it, '.' | '_')).is_some() {}
                pieces.push(String::new());
            }
            '%' if matches!(next, 's' | 'd' | 'i' | 'f' | 'j' | 'o' | 'p' | 'c' | '#' | '$') => {
                letters.next();
                pieces.push(String::new());
            }
            it => {
                if let Some(last) = pieces.last_mut() {
                    last.push(it);
                }
            }
        }
    }
    pieces
}
