//! `Cargo.toml`: what of it is for tests, and what of it switches tests off.

use std::ops::Range;

/// The sections of development dependencies, with their headers.
pub(crate) fn dev_dependencies(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let headers = headers(text);
    for (index, header) in headers.iter().enumerate() {
        let end = headers.get(index + 1).map_or(text.len(), |it| it.start);
        if is_dev(text.get(header.clone()).unwrap_or_default()) {
            found.push(header.start..end);
        }
    }
    found
}

/// How many lines keep tests from being run.
pub(crate) fn switched_off(text: &[u8]) -> usize {
    let lines = text.split(|it| *it == b'\n').map(|line| {
        let line = line.split(|it| *it == b'#').next().unwrap_or_default();
        line.iter().copied().filter(|it| !it.is_ascii_whitespace()).collect::<Vec<_>>()
    });
    let off: [&[u8]; 4] = [b"test=false", b"autotests=false", b"harness=false", b"doctest=false"];
    lines.filter(|it| off.contains(&it.as_slice())).count()
}

/// `[dev-dependencies]`, `[dev-dependencies.x]`, and both below `[target.CONDITION]`.
fn is_dev(header: &[u8]) -> bool {
    let keys = keys(header);
    let key = if keys.first().is_some_and(|it| it == b"target") { keys.get(2) } else { keys.first() };
    key.is_some_and(|it| it == b"dev-dependencies" || it == b"dev_dependencies")
}

/// The parts of the name of a table, without their quotes.
fn keys(header: &[u8]) -> Vec<Vec<u8>> {
    let mut keys = vec![Vec::new()];
    let mut quote = None;
    for byte in header.iter().copied().skip(1) {
        match (quote, byte) {
            (None, b']') => break,
            (None, b'.') => keys.push(Vec::new()),
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b' ' | b'\t') => {}
            (Some(it), _) if it == byte => quote = None,
            _ => keys.iter_mut().last().into_iter().for_each(|it| it.push(byte)),
        }
    }
    keys
}

/// The headers of tables, which are not those that look like one inside a string or an array.
fn headers(text: &[u8]) -> Vec<Range<usize>> {
    let mut headers = Vec::new();
    let (mut at, mut depth, mut is_start) = (0, 0_usize, true);
    while let Some(byte) = text.get(at).copied() {
        let rest = text.get(at..).unwrap_or_default();
        let line = || rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len());
        match byte {
            b'\n' => is_start = true,
            b'#' => {
                at += line();
                continue;
            }
            b'[' if is_start && depth == 0 => {
                let end = at + line();
                headers.push(at..end);
                at = end;
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' | b'\'' => {
                at += string(rest, byte);
                is_start = false;
                continue;
            }
            _ => {}
        }
        is_start = is_start && byte.is_ascii_whitespace() || byte == b'\n';
        at += 1;
    }
    headers
}

/// How long the string is that begins here.
fn string(text: &[u8], quote: u8) -> usize {
    let long = [quote; 3];
    let is_long = text.starts_with(&long);
    let mut at = if is_long { 3 } else { 1 };
    while let Some(byte) = text.get(at).copied() {
        if byte == b'\\' && quote == b'"' {
            at += 2;
            continue;
        }
        let is_end =
            if is_long { text.get(at..).is_some_and(|it| it.starts_with(&long)) } else { byte == quote };
        if is_end {
            return at + if is_long { 3 } else { 1 };
        }
        if byte == b'\n' && !is_long {
            return at;
        }
        at += 1;
    }
    text.len()
}
