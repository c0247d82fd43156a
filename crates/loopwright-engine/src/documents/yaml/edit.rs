//! Edits of YAML by span.

use serde_json::Value;

use super::super::splice::{Splice, add_in_brackets, column, line_end, line_start, newline};
use super::super::tree::{Node, Style};
use super::spell::{self, Layout, Texts};

/// Where a value hangs: its parent, and which of the parent's it is.
#[derive(Clone, Copy, Debug)]
struct Hook {
    /// The byte behind `:` or `-`.
    behind: usize,
    /// The column of the key or the `-`.
    column: usize,
    /// Behind a `-`.
    item: bool,
}

/// Another value in the place of one. `root` is what the layout is taken from, `way` leads from it to the value.
pub(in super::super) fn replace(
    text: &str,
    root: &Node,
    way: &[(usize, &Node)],
    value: &Value,
    texts: Texts,
) -> Result<Vec<Splice>, String> {
    movable(way)?;
    let layout = Layout::of(text, root, texts);
    let [.., (_, parent), (place, old)] = way else {
        return Err("the whole file cannot be set, only its fields".to_owned());
    };
    if parent.style == Style::Flow {
        let with = spell::flow(value, old.style);
        if !old.bytes.is_empty() {
            return Ok(vec![Splice::replace(old.bytes.clone(), with)]);
        }
        let colon = text[old.bytes.end..].trim_start_matches(' ').starts_with(':');
        return Ok(vec![if colon {
            Splice::insert(after(text, old.bytes.end, ':')?, format!(" {with}"))
        } else {
            Splice::insert(old.bytes.end, format!(": {with}"))
        }]);
    }
    let hook = hook(text, parent, *place)?;
    let keeps_brackets = old.style == Style::Flow && !old.children().is_empty();
    let (head, lines) = if keeps_brackets && spell::is_block(value) {
        (format!(" {}", spell::flow(value, old.style)), String::new())
    } else if old.style == Style::Block && spell::is_block(value) {
        return Ok(vec![in_place(text, old, value, hook, &layout)]);
    } else if hook.item && spell::is_block(value) {
        (spell::item(value, hook.column, &layout), String::new())
    } else {
        spell::behind(value, hook.column, old.style, &layout)
    };
    let on_the_line = matches!(old.style, Style::Plain | Style::Single | Style::Double | Style::Flow);
    if old.style == Style::Long {
        // The line of `|` may have a comment.
        let end = line_end(text, hook.behind).min(old.bytes.end.max(hook.behind));
        let header = &text[hook.behind..end];
        let comment = header.find('#').map_or("", |it| &header[header[..it].trim_end().len()..]);
        let first = Splice::replace(hook.behind..end, format!("{head}{comment}"));
        return Ok(vec![first, Splice::replace(end..old.bytes.end, lines)]);
    }
    if old.bytes.is_empty() {
        return Ok(two(Splice::insert(hook.behind, head), line_end(text, hook.behind), lines));
    }
    if on_the_line && lines.is_empty() {
        return Ok(vec![Splice::replace(old.bytes.clone(), head.trim_start())]);
    }
    if line_start(text, old.bytes.start) > hook.behind {
        // What stands on the key's own line, a comment perhaps, stays there.
        let from = line_end(text, line_start(text, old.bytes.start).saturating_sub(newline(text).len()));
        let below = Splice::replace(from..old.bytes.end, lines);
        return Ok(vec![Splice::insert(hook.behind, head), below]);
    }
    let first = Splice::replace(hook.behind..old.bytes.end, head);
    Ok(two(first, line_end(text, old.bytes.end), lines))
}

fn two(first: Splice, at: usize, lines: String) -> Vec<Splice> {
    if lines.is_empty() { vec![first] } else { vec![first, Splice::insert(at, lines)] }
}

/// Lines in the place of lines, at the same column; a map in the place of a list that stands as far out as its key
/// has to go further in.
fn in_place(text: &str, old: &Node, value: &Value, hook: Hook, layout: &Layout) -> Splice {
    let at = column(text, old.bytes.start);
    let inner = if at <= hook.column && value.is_object() { hook.column + layout.step } else { at };
    let with = format!("{}{}", " ".repeat(inner - at), spell::block(value, inner, layout));
    Splice::replace(old.bytes.clone(), with)
}

/// One more key at the end of a map.
pub(in super::super) fn insert(
    text: &str,
    root: &Node,
    way: &[(usize, &Node)],
    key: &str,
    value: &Value,
    texts: Texts,
) -> Result<Vec<Splice>, String> {
    movable(way)?;
    let layout = Layout::of(text, root, texts);
    let Some((_, map)) = way.last() else { return Err("there is no map here".to_owned()) };
    if map.entries().is_empty() {
        return replace(text, root, way, &super::super::path::wrapped(&[key.to_owned()], value), texts);
    }
    if map.style == Style::Flow {
        let piece = format!("{}: {}", spell::key(key, true), spell::flow(value, Style::Plain));
        return Ok(add_in_brackets(text, map.bytes.start, &map.children(), &piece));
    }
    let at = column(text, map.bytes.start);
    let (head, lines) = spell::behind(value, at, Style::Plain, &layout);
    let with = format!("{}{}{}:{head}{lines}", layout.newline, " ".repeat(at), spell::key(key, false));
    Ok(vec![Splice::insert(line_end(text, map.bytes.end), with)])
}

/// One more entry at the end of a list.
pub(in super::super) fn push(
    text: &str,
    root: &Node,
    way: &[(usize, &Node)],
    value: &Value,
    texts: Texts,
) -> Result<Vec<Splice>, String> {
    movable(way)?;
    let layout = Layout::of(text, root, texts);
    let Some((_, list)) = way.last() else { return Err("there is no list here".to_owned()) };
    if list.items().is_empty() {
        return replace(text, root, way, &Value::Array(vec![value.clone()]), texts);
    }
    if list.style == Style::Flow {
        let piece = spell::flow(value, Style::Plain);
        return Ok(add_in_brackets(text, list.bytes.start, &list.children(), &piece));
    }
    let at = column(text, list.bytes.start);
    let with = format!("{}{}-{}", layout.newline, " ".repeat(at), spell::item(value, at, &layout));
    Ok(vec![Splice::insert(line_end(text, list.bytes.end), with)])
}

/// The first key of a text that has none yet, behind what else stands in `part`.
pub(in super::super) fn first_key(
    text: &str,
    part: std::ops::Range<usize>,
    key: &str,
    value: &Value,
    texts: Texts,
) -> Splice {
    let newline = newline(text);
    let layout = Layout { newline, step: 2, list: 2, texts };
    let (head, lines) = spell::behind(value, 0, Style::Plain, &layout);
    let before = &text[part.clone()];
    let apart = if before.is_empty() || before.ends_with('\n') { "" } else { newline };
    Splice::insert(part.end, format!("{apart}{}:{head}{lines}{newline}", spell::key(key, false)))
}

/// An anchor names what stands behind it, so changing that might change what others meant.
fn movable(way: &[(usize, &Node)]) -> Result<(), String> {
    if way.iter().any(|(_, it)| it.style == Style::Anchored) {
        Err("an anchor (`&name`) stands here, so it is not changed; remove the anchor".to_owned())
    } else {
        Ok(())
    }
}

/// Where the value of an entry hangs.
fn hook(text: &str, parent: &Node, place: usize) -> Result<Hook, String> {
    if let Some(entry) = parent.entries().get(place) {
        let start = entry.key_bytes.start;
        if text[line_start(text, start)..start].trim_end().ends_with('?') {
            return Err("a key behind `?` is not changed; write `key: value`".to_owned());
        }
        let behind = after(text, entry.key_bytes.end, ':')?;
        return Ok(Hook { behind, column: column(text, start), item: false });
    }
    let mut at = parent.bytes.start;
    if let Some(before) = place.checked_sub(1).and_then(|it| parent.items().get(it)) {
        at = line_end(text, before.bytes.end);
        // Blank lines and comments may stand between two entries.
        loop {
            let Some(next) = text[at..].find('\n').map(|it| at + it + 1) else {
                return Err("the `-` of this entry was not found".to_owned());
            };
            let line = &text[next..line_end(text, next)];
            at = next;
            if line.trim_start().starts_with('-') {
                at += line.len() - line.trim_start().len();
                break;
            }
        }
    }
    Ok(Hook { behind: after(text, at, '-')?, column: column(text, at), item: true })
}

/// The byte behind a sign that comes next, spaces aside.
fn after(text: &str, from: usize, sign: char) -> Result<usize, String> {
    let rest = &text[from..];
    let skipped = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    if rest[skipped..].starts_with(sign) {
        Ok(from + skipped + sign.len_utf8())
    } else {
        Err(format!("no `{sign}` was found where one was looked for"))
    }
}
