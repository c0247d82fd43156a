//! A smaller text that tells the same lie.

use crate::claims::Lie;

/// The smallest text found that still tells a lie of this kind.
pub(crate) fn shrunk(text: &str, kind: &str, lies: &dyn Fn(&str) -> Vec<Lie>) -> String {
    let lying = |lines: &[String]| lies(&lines.join("\n")).iter().any(|it| it.kind() == kind);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    loop {
        let before = lines.clone();
        let mut size = (lines.len() / 4).max(1);
        while size > 0 {
            let mut at = 0;
            while at < lines.len() {
                let mut shorter = lines.clone();
                shorter.drain(at..(at + size).min(lines.len()));
                if lying(&shorter) {
                    lines = shorter;
                } else {
                    at += size;
                }
            }
            size /= 2;
        }
        for at in 0..lines.len() {
            let simpler = simpler_lines(&lines[at]).into_iter().find_map(|it| {
                let mut other = lines.clone();
                other[at] = it;
                lying(&other).then_some(other)
            });
            lines = simpler.unwrap_or(lines);
        }
        if lines == before {
            return lines.join("\n") + "\n";
        }
    }
}

/// A line with less in it: a list loses a member, an arm a key.
fn simpler_lines(line: &str) -> Vec<String> {
    let mut tries: Vec<String> = Vec::new();
    if let Some((head, rest)) = line.split_once(": [")
        && let Some(inner) = rest.strip_suffix(']')
    {
        let parts = members(inner);
        for skip in 0..parts.len() {
            let kept = parts.iter().enumerate().filter(|(at, _)| *at != skip).map(|(_, it)| it.as_str());
            let kept: Vec<&str> = kept.collect();
            tries.push(match kept.as_slice() {
                [one] => format!("{head}: {one}"),
                many => format!("{head}: [{}]", many.join(", ")),
            });
        }
    }
    let mut at = 0;
    while let Some(comma) = line[at..].find(", ").map(|it| at + it) {
        let rest = &line[comma + 2..];
        at = comma + 2;
        if !rest.split(['{', '[', '}', ']', ',']).next().is_some_and(|it| it.contains(": ")) {
            continue;
        }
        let mut depth = 0_i32;
        let end = rest.char_indices().find(|(_, it)| {
            match it {
                '{' | '[' => depth += 1,
                '}' | ']' => depth -= 1,
                _ => {}
            }
            depth < 0 || depth == 0 && *it == ','
        });
        tries.push(format!("{}{}", &line[..comma], &rest[end.map_or(rest.len(), |(at, _)| at)..]));
    }
    tries.retain(|it| it != line);
    tries
}

/// The members of a list in brackets.
pub(crate) fn members(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0_i32;
    for it in text.chars() {
        match it {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => {}
        }
        match parts.last_mut() {
            Some(last) if it != ',' || depth > 0 => last.push(it),
            _ => parts.push(String::new()),
        }
    }
    parts.into_iter().map(|it| it.trim().to_owned()).collect()
}
