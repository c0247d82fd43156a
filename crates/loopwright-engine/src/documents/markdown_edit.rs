//! Changes to Markdown: front matter, sections, check boxes.

use serde_json::Value;

use super::guard::guarded;
use super::markdown::{CheckBox, Heading, Markdown, in_lines_of, parse_checklist, scan};
use super::splice::{Splice, apply, line_end, newline};
use super::tree::{Node, kind};
use super::yaml;

/// Another body for a section, or a new section at the end. Spaces around the body are not part of it.
pub(super) fn set_section(text: &str, title: &str, value: &Value) -> Result<String, String> {
    let Value::String(body) = value else {
        return Err(format!("a section is a text, and this is {}", kind(value)));
    };
    let found = scan(text);
    let body = in_lines_of(text, body.trim());
    let Some(place) = found.headings.iter().position(|it| it.title == title) else {
        return new_section(text, &found, title, &body);
    };
    let old = found.body(text, place);
    if text[old.clone()] == body {
        return Ok(text.to_owned());
    }
    let splice = if old.is_empty() {
        first_body(text, &found, place, &body)
    } else {
        Splice::replace(old, body.clone())
    };
    checked(text, &found, title, &body, &splice)
}

/// A line at the end of a section.
pub(super) fn append_to_section(text: &str, title: &str, value: &Value) -> Result<String, String> {
    let Value::String(line) = value else {
        return Err(format!("a line of a section is a text, and this is {}", kind(value)));
    };
    let found = scan(text);
    let line = in_lines_of(text, line.trim_end());
    let place = found.headings.iter().position(|it| it.title == title);
    match place.map(|it| (it, found.body(text, it))) {
        Some((_, old)) if !old.is_empty() => {
            let added = format!("{}{line}", newline(text));
            let body = format!("{}{added}", &text[old.clone()]);
            checked(text, &found, title, &body, &Splice::insert(old.end, added))
        }
        _ => set_section(text, title, value),
    }
}

/// Behind a heading with nothing below it, with an empty line before and after.
fn first_body(text: &str, found: &Markdown, place: usize, body: &str) -> Splice {
    let newline = newline(text);
    let below = found.below(place);
    let gap = &text[below.clone()];
    let last = below.end == text.len();
    let after = if last || gap.matches('\n').count() > 1 { "" } else { newline };
    Splice::insert(below.start, format!("{newline}{newline}{body}{after}"))
}

fn new_section(text: &str, found: &Markdown, title: &str, body: &str) -> Result<String, String> {
    let newline = newline(text);
    // A single first-level heading is the title of the page; several are its sections.
    let top = found.headings.iter().filter(|it| it.level == 1).count();
    let level = if top > 1 && found.headings.iter().all(|it| it.level != 2) { "#" } else { "##" };
    let heading = format!("{level} {title}");
    let (before, after) = match text.trim_start_matches('\u{feff}') {
        "" => ("", newline),
        it if it.ends_with("\n\n") || it.ends_with("\n\r\n") => ("", newline),
        it if it.ends_with('\n') => (newline, newline),
        _ => (&*newline.repeat(2), ""),
    };
    let section = match body {
        "" => heading,
        body => format!("{heading}{newline}{newline}{body}"),
    };
    checked(text, found, title, body, &Splice::insert(text.len(), format!("{before}{section}{after}")))
}

/// The change, if the section has the meant body and the headings outside of it are what they were. With that, every
/// section that does not hold the changed one is as it was.
fn checked(
    text: &str,
    before: &Markdown,
    title: &str,
    body: &str,
    splice: &Splice,
) -> Result<String, String> {
    let changed = apply(text, std::slice::from_ref(splice));
    let after = scan(&changed);
    let outside = |all: &[Heading], start: usize, end: usize| -> Vec<(usize, String)> {
        let kept = all.iter().filter(|it| it.line.end <= start || it.line.start >= end);
        kept.map(|it| (it.level, it.title.clone())).collect()
    };
    let end = splice.bytes.start + splice.with.len();
    let old = outside(&before.headings, splice.bytes.start, splice.bytes.end);
    let new = outside(&after.headings, splice.bytes.start, end);
    let place = after.headings.iter().position(|it| it.title == title);
    let holds =
        place.is_some_and(|it| after.below(it).end >= end && changed[after.body(&changed, it)] == *body);
    if holds && old == new {
        Ok(changed)
    } else {
        Err("this text cannot be that section: with its headings or code fences it would reach beyond it"
            .to_owned())
    }
}

/// A field of the front matter, which is made if there is none. `edit` changes a front matter that has keys.
pub(super) fn set_front(
    text: &str,
    front: &Node,
    key: &str,
    value: &Value,
    texts: yaml::Texts,
    edit: impl FnOnce() -> Result<Vec<Splice>, String>,
) -> Result<Vec<Splice>, String> {
    let found = scan(text);
    match found.front {
        Some(_) if !front.entries().is_empty() => edit(),
        Some(part) => Ok(vec![yaml::first_key(text, part, key, value, texts)]),
        None => {
            let begin = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
            let newline = newline(text);
            let line = yaml::first_key(text, begin..begin, key, value, texts).with;
            let apart = if text.len() == begin { "" } else { newline };
            Ok(vec![Splice::insert(begin, format!("---{newline}{line}---{newline}{apart}"))])
        }
    }
}

/// Items of a checklist: `items`, `items.N`, `items.N.checked` or `items.N.text`, as `expected` says they should be.
pub(super) fn set_items(text: &str, expected: &Value) -> Result<String, String> {
    let found = scan(text);
    let wanted = expected.as_array().ok_or("`items` is a list of `{text, checked}`")?;
    if wanted.len() < found.boxes.len() {
        return Err("items are not taken away; check them off, or remove the lines by hand".to_owned());
    }
    let mut splices = Vec::new();
    for (it, item) in found.boxes.iter().zip(wanted) {
        let (line, checked) = parts(item)?;
        if checked != it.checked {
            splices.push(Splice::replace(it.mark..it.mark + 1, if checked { "x" } else { " " }));
        }
        if line != &text[it.text.clone()] {
            let apart = if it.text.start == it.mark + 2 { " " } else { "" };
            splices.push(Splice::replace(it.text.clone(), format!("{apart}{line}")));
        }
    }
    let mut changed = apply(text, &splices);
    for item in wanted.iter().skip(found.boxes.len()) {
        changed = with_item(&changed, item)?;
    }
    let items =
        |it: &str| Ok(parse_checklist(it).get("items").cloned().unwrap_or_else(|| parse_checklist("")));
    guarded(changed, items, expected)
}

/// One more item: `{text, checked}`, or only its text.
pub(super) fn append_item(text: &str, items: &Value, value: &Value) -> Result<String, String> {
    let item = match value {
        Value::String(line) => serde_json::json!({"text": line.trim(), "checked": false}),
        other => other.clone(),
    };
    let mut expected = items.as_array().cloned().unwrap_or_default();
    expected.push(item);
    set_items(text, &Value::Array(expected))
}

fn parts(item: &Value) -> Result<(&str, bool), String> {
    let line = item.get("text").and_then(Value::as_str);
    let checked = item.get("checked").and_then(Value::as_bool);
    match (line, checked) {
        (Some(line), Some(checked)) if item.as_object().is_some_and(|it| it.len() == 2) => {
            Ok((line, checked))
        }
        _ => Err("an item is `{text, checked}`: a line of text, and true or false".to_owned()),
    }
}

/// Behind the last item and what belongs to it, as far out as the outermost of them.
fn with_item(text: &str, item: &Value) -> Result<String, String> {
    let (line, checked) = parts(item)?;
    let mark = if checked { 'x' } else { ' ' };
    let newline = newline(text);
    let found = scan(text);
    let written = |marker: &str| format!("{marker}[{mark}] {line}").trim_end().to_owned();
    let depth = |it: &CheckBox| text[it.line.clone()].len() - text[it.line.clone()].trim_start().len();
    let least = found.boxes.iter().map(depth).min();
    let (Some(last), Some(like)) =
        (found.boxes.last(), found.boxes.iter().rfind(|it| Some(depth(it)) == least))
    else {
        let body = written("- ");
        let with = match text.trim_start_matches('\u{feff}') {
            "" => format!("{body}{newline}"),
            it if it.ends_with("\n\n") || it.ends_with("\n\r\n") => format!("{body}{newline}"),
            it if it.ends_with('\n') => format!("{newline}{body}{newline}"),
            _ => format!("{newline}{newline}{body}"),
        };
        return Ok(apply(text, &[Splice::insert(text.len(), with)]));
    };
    let mut end = last.line.end;
    // Lines that stand further in go on with the item.
    for start in text[end..].match_indices('\n').map(|(at, _)| last.line.end + at + 1) {
        let line = &text[start..line_end(text, start)];
        let bare = line.trim();
        if bare.is_empty() || line.len() - line.trim_start().len() <= depth(last) {
            break;
        }
        end = start + line.len();
    }
    let marker = next_marker(&text[like.marker.clone()]);
    Ok(apply(text, &[Splice::insert(end, format!("{newline}{}", written(&marker)))]))
}

/// `1. ` is followed by `2. `; other markers by themselves.
fn next_marker(marker: &str) -> String {
    let bare = marker.trim_start();
    let digits = bare.len() - bare.trim_start_matches(|it: char| it.is_ascii_digit()).len();
    match bare[..digits].parse::<u64>() {
        Ok(number) => format!("{}{}{}", &marker[..marker.len() - bare.len()], number + 1, &bare[digits..]),
        Err(_) => marker.to_owned(),
    }
}
