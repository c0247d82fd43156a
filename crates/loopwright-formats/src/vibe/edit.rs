//! Changes of one field of `.vibe/STATE.md`. Nothing else of the file changes, to the byte.
//!
//! They are made in the text as it is in the file, with its line ends and its byte order mark. What comes of it is read
//! again: a change that would make anything else read differently is not made.

use std::ops::Range;

use super::flags::{self, Flag, Written, normal_name};
use super::focus::{self, Bullet};
use super::sections::Sections;
use super::state::{FLAGS, STATUSES, State};
use super::text::{self, Ends, Line};

const FOCUS: &str = "Current focus";

/// A field that can be changed.
enum Field {
    Stage,
    Checkpoint,
    Status,
    Flag(String),
}

impl Field {
    fn of(name: &str) -> Option<Self> {
        match name {
            "stage" => Some(Self::Stage),
            "checkpoint" => Some(Self::Checkpoint),
            "status" => Some(Self::Status),
            _ => name.strip_prefix("flags.").map(normal_name).filter(|it| !it.is_empty()).map(Self::Flag),
        }
    }

    /// The key of its bullet.
    fn key(&self) -> &'static str {
        match self {
            Self::Stage => "Stage",
            Self::Checkpoint => "Checkpoint",
            Self::Status | Self::Flag(_) => "Status",
        }
    }
}

/// What a field of the state is: `stage`, `checkpoint`, `status`, or `flags.NAME`, which is `set` or `clear`.
pub fn get(text: &str, field: &str) -> Option<String> {
    let state = State::read_unhashed(text);
    match Field::of(field)? {
        Field::Stage => state.stage,
        Field::Checkpoint => state.checkpoint,
        Field::Status => state.status,
        Field::Flag(name) => state.flags.get(&name).map(|set| if *set { "set" } else { "clear" }.to_owned()),
    }
}

/// The text with one field changed, or why it cannot be.
pub fn set(text: &str, field: &str, value: &str) -> Result<String, String> {
    let Some(known) = Field::of(field) else {
        return Err(format!(
            "`{field}` is no field of the state; change `stage`, `checkpoint`, `status` or `flags.NAME`"
        ));
    };
    let value = text::trim(value);
    if text::has_break(value) {
        return Err(format!("the value of `{field}` has several lines; give one"));
    }
    if value.is_empty() {
        return Err(format!("`{field}` cannot be made empty; give a value"));
    }
    let before = State::read_unhashed(text);
    let mut wanted = before.clone();
    let changed = match &known {
        Field::Stage | Field::Checkpoint | Field::Status => {
            if matches!(known, Field::Status) && !STATUSES.contains(&value) {
                return Err(format!("`{value}` is not a status; give one of {}", STATUSES.join(", ")));
            }
            let slot = match known {
                Field::Stage => &mut wanted.stage,
                Field::Checkpoint => &mut wanted.checkpoint,
                _ => &mut wanted.status,
            };
            *slot = Some(value.to_owned());
            if wanted == before {
                return Ok(text.to_owned());
            }
            set_focus(text, &known, value)
        }
        Field::Flag(name) => {
            let set = match value {
                "set" => true,
                "clear" => false,
                _ => return Err(format!("a flag is `set` or `clear`, and not `{value}`")),
            };
            if wanted.flags.insert(name.clone(), set) == Some(set) {
                return Ok(text.to_owned());
            }
            set_flag(text, name, set)
        }
    };
    if State::read_unhashed(&changed) == wanted {
        Ok(changed)
    } else {
        Err(format!(
            "`{field}` cannot be changed to `{value}` without something else of the file being read differently; look \
             for odd or repeated lines about it in STATE.md, and change it by hand"
        ))
    }
}

/// The text with something else in one place.
fn splice(text: &str, place: Range<usize>, new: &str) -> String {
    let mut out = String::with_capacity(text.len() + new.len());
    out.push_str(text.get(..place.start).unwrap_or_default());
    out.push_str(new);
    out.push_str(text.get(place.end..).unwrap_or_default());
    out
}

fn set_focus(text: &str, field: &Field, value: &str) -> String {
    let bullets = focus::read(text);
    let sections = Sections::read(text);
    let issues = sections.lines("Active issues");
    // Without a status of its own a file has that of its first issue. It is not the one to change.
    let own = |key: &str| bullets.get(key).filter(|it| !focus::is_among(issues, it.start));
    let found = match field {
        Field::Status => own("status").or_else(|| own("state").filter(|_| !bullets.contains_key("status"))),
        _ => own(&field.key().to_lowercase()),
    };
    if let Some(bullet) = found {
        return splice_value(text, bullet, matches!(field, Field::Status), value);
    }
    let line = |indent: &str| format!("{indent}- {}: {value}", field.key());
    let (before, after): (&[&str], &[&str]) = match field {
        Field::Stage => (&[], &["checkpoint", "status", "state"]),
        Field::Checkpoint => (&["stage"], &["status", "state"]),
        Field::Status | Field::Flag(_) => (&["checkpoint", "stage"], &[]),
    };
    let indent = |it: &Bullet| text.get(it.indent.clone()).unwrap_or_default().to_owned();
    if let Some(neighbour) = before.iter().find_map(|key| own(key)) {
        return add_after(text, neighbour.end, neighbour.next, &line(&indent(neighbour)));
    }
    if let Some(neighbour) = after.iter().find_map(|key| own(key)) {
        let new = format!("{}{}", line(&indent(neighbour)), text::line_end(text));
        return splice(text, neighbour.start..neighbour.start, &new);
    }
    if let Some(section) = sections.get(FOCUS) {
        let own = section.lines.get(..section.own).unwrap_or_default();
        return add_below(text, section.heading, own, &line(""));
    }
    add_section(text, &line(""))
}

/// Puts a value in the place of the one a bullet has. Of a status only the first word is the value.
fn splice_value(text: &str, bullet: &Bullet, word_only: bool, value: &str) -> String {
    let Some(place) = bullet.value.clone() else {
        let rest = text.get(bullet.colon..).unwrap_or_default();
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let new = if blanks == 0 { format!(" {value}") } else { value.to_owned() };
        return splice(text, bullet.colon + blanks..bullet.colon + blanks, &new);
    };
    let written = text.get(place.clone()).unwrap_or_default();
    let length = text::first_word(written).filter(|_| word_only).map_or(written.len(), str::len);
    splice(text, place.start..place.start + length, value)
}

/// Adds a line behind the one that ends at `end`.
fn add_after(text: &str, end: usize, next: usize, line: &str) -> String {
    let new = format!("{}{line}", text::line_end(text));
    if end == next {
        return splice(text, end..end, &new);
    }
    // What ended the line before ends this one too.
    let ending = text.get(end..next).unwrap_or_default();
    splice(text, next..next, &format!("{line}{ending}"))
}

/// Adds a line below a heading, behind the blank line that may stand there.
fn add_below(text: &str, heading: Line<'_>, below: &[Line<'_>], line: &str) -> String {
    let ending = text::line_end(text);
    match below.first() {
        Some(first) if text::trim(first.text).is_empty() => add_after(text, first.end(), first.next, line),
        _ if heading.next == text.len() => {
            let gap = if heading.end() == heading.next { ending } else { "" };
            splice(text, text.len()..text.len(), &format!("{gap}{ending}{line}{ending}"))
        }
        _ => splice(text, heading.next..heading.next, &format!("{ending}{line}{ending}{ending}")),
    }
}

/// Adds the section that says where a project stands, below the title.
fn add_section(text: &str, line: &str) -> String {
    let ending = text::line_end(text);
    let title = text::places(text, Ends::Plain)
        .find(|it| text::heading(it.text).is_some_and(|(level, _)| level == 1));
    let section = format!("## {FOCUS}{ending}{ending}{line}{ending}");
    if let Some(title) = title {
        let gap = if title.end() == title.next { ending } else { "" };
        return splice(text, title.next..title.next, &format!("{gap}{ending}{section}"));
    }
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let gap = if start == text.len() { "" } else { ending };
    splice(text, start..start, &format!("{section}{gap}"))
}

fn set_flag(text: &str, name: &str, set: bool) -> String {
    let sections = Sections::read(text);
    let section = sections.get(FLAGS);
    let found = flags::read(section).into_iter().rfind(|it| it.name == name);
    if let Some(flag) = found {
        return splice_flag(text, &flag, set);
    }
    let mark = if set { 'x' } else { ' ' };
    let line = |indent: &str| format!("{indent}- [{mark}] {name}");
    let ending = text::line_end(text);
    let Some(section) = section else {
        let gap = match text.chars().next_back() {
            None => "",
            Some('\n' | '\r') => ending,
            Some(_) => &ending.repeat(2),
        };
        let new = format!("{gap}## {FLAGS}{ending}{ending}{}{ending}", line(""));
        return splice(text, text.len()..text.len(), &new);
    };
    let own = section.lines.get(..section.own).unwrap_or_default();
    match own.iter().rfind(|it| text::bullet(it.text).is_some()) {
        Some(last) => {
            let blanks = last.text.len() - text::trim_start(last.text).len();
            let indent = last.text.get(..blanks).unwrap_or_default();
            add_after(text, last.end(), last.next, &line(indent))
        }
        None => add_below(text, section.heading, own, &line("")),
    }
}

/// Checks or clears the box of a flag; a bullet without a box is given one.
fn splice_flag(text: &str, flag: &Flag, set: bool) -> String {
    match &flag.written {
        Written::Marked(inside) => {
            let mark = text.get(inside.clone()).unwrap_or_default();
            let old = text::trim(mark);
            let from = inside.start + if old.is_empty() { 0 } else { mark.find(old).unwrap_or_default() };
            let length =
                if old.is_empty() { mark.chars().next().map_or(0, char::len_utf8) } else { old.len() };
            splice(text, from..from + length, if set { "x" } else { " " })
        }
        Written::Plain(start) => {
            let rest = text.get(*start..).unwrap_or_default();
            // A box with something in it that means nothing is a box all the same.
            let odd = rest.strip_prefix('[').and_then(|it| it.chars().next()).filter(|it| *it != ']');
            match odd.filter(|it| rest.get(1 + it.len_utf8()..).is_some_and(|it| it.starts_with(']'))) {
                Some(odd) => splice(text, start + 1..start + 1 + odd.len_utf8(), " "),
                None => splice(text, *start..*start, "[ ] "),
            }
        }
    }
}
