//! What begins a task: a box, a heading, a bullet with an id.

use super::super::task_id::{self, Named};
use super::super::{markdown, page::Line};
use super::fields;

/// How a task is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `- [ ] 1.1 Title`.
    Box,
    /// `- 1.1 Title`: a task only if it says something about itself.
    Bullet,
    /// `**Task 1.1: Title**`, on a line of its own: a task only if it says something about itself.
    Line,
    /// `### Task 1.1: Title`.
    Heading,
    /// `### 1.1 Title`: a task, unless it only groups others.
    Numbered,
    /// A block of values by itself.
    Block,
}

/// The first line of a task, or of what looks like one.
#[derive(Clone, Debug)]
pub(super) enum Start {
    /// A task.
    Task { form: Form, id: String, title: String, mark: Option<char> },
    /// A box with words and no id.
    NoId { text: String },
    /// Something that calls itself a task and has no id that can be understood.
    Unclear { text: String },
}

/// Words that some write for `Task` in a heading.
const SYNONYMS: [&str; 9] =
    ["step", "subtask", "sub-task", "item", "todo", "story", "ticket", "action", "work item"];

/// Numbers that some write as words.
const NUMBERS: [&str; 16] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "ii", "iii", "iv", "vi",
    "vii", "viii",
];

fn task(form: Form, named: Named, mark: Option<char>) -> Start {
    let mark = mark.or(named.is_ticked.then_some('x'));
    Start::Task { form, id: named.id, title: named.title, mark }
}

/// What a line of a list begins.
pub(super) fn of_line(line: &str) -> Option<Start> {
    let start = line.trim_start();
    if !start.starts_with(|it: char| {
        matches!(it, '-' | '*' | '+' | '[' | '☐' | '☑' | '☒' | '⬜')
            || it.is_ascii_digit()
            || markdown::PRINTED_BULLETS.contains(&it)
    }) {
        return None;
    }
    // `-[ ]` lacks a blank, and is still meant.
    let tight = || start.strip_prefix(['-', '*', '+']).filter(|it| it.starts_with('['));
    let item = markdown::bullet(start).or_else(tight);
    let text = item.unwrap_or(start);
    if let Some((mark, rest)) = markdown::checkbox(text) {
        return Some(match calls_itself_task(rest).or_else(|| task_id::named(rest).map(Ok)) {
            Some(Ok(named)) => task(Form::Box, named, Some(mark)),
            Some(Err(())) => Start::Unclear { text: rest.to_owned() },
            None if rest.is_empty() => return None,
            None => Start::NoId { text: rest.to_owned() },
        });
    }
    Some(task(Form::Bullet, task_id::named(item?)?, None))
}

/// What a line that stands for itself begins: `**Task 1.1: Title**`, `Task 1.1: Title`.
pub(super) fn of_paragraph(line: &str) -> Option<Start> {
    let text = line.trim();
    let is_whole = is_marked_line(text, &["**", "__", "*", "_"]);
    let named = task_id::named(text)?;
    // `Task 1.1 needs this` speaks of a task, and `**Task 1.1** Title` is one.
    let is_parted = || {
        let behind = text.split_once(named.id.as_str()).map_or("", |it| it.1);
        let is_marked = text.starts_with(['*', '_']) && behind.starts_with(['*', '_']);
        if is_marked {
            return true;
        }
        let behind = behind.trim_start_matches(['*', '_', '`', ' ', ']']);
        behind.is_empty() || behind.starts_with([':', '-', '–', '—', '.'])
    };
    let is_plain = text.starts_with(|it: char| it.is_ascii_digit());
    (is_whole || is_plain || is_parted()).then(|| task(Form::Line, named, None))
}

/// Whether a line names a task even if nothing is said about it below: it is bold, has the word, or is no sentence.
pub(super) fn is_named_line(line: &str) -> bool {
    let text = line.trim();
    let is_sentence = text.ends_with(['.', ',', ';', '!', '?']) || text.len() > 80;
    is_bold_line(text) || !is_sentence || task_id::named(text).is_some_and(|it| it.is_called_task)
}

/// Whether all of a line is bold, but for a colon.
pub(super) fn is_bold_line(text: &str) -> bool {
    is_marked_line(text, &["**", "__"])
}

/// Whether all of a line stands between two of the same marks, but for a colon.
fn is_marked_line(text: &str, marks: &[&str]) -> bool {
    let text = text.trim().trim_end_matches(':');
    marks.iter().any(|mark| {
        let inner = text.strip_prefix(mark).and_then(|it| it.strip_suffix(mark));
        inner.is_some_and(|it| !it.trim().is_empty() && !it.contains(mark))
    })
}

/// What a heading begins, if that is a task. The title of the text is one only if it says so plainly. What is within a task is
/// a step of it, unless it is called a task.
pub(super) fn of_heading(title: &str, level: usize, is_within: bool) -> Option<Start> {
    let (mark, text) = markdown::checkbox(title.trim_start_matches(['*', '_']))
        .map_or((None, title), |(mark, rest)| (Some(mark), rest));
    match calls_itself_task(text) {
        Some(found) if level == 1 && !found.as_ref().is_ok_and(|it| it.id.contains('.')) => None,
        Some(Ok(named)) => {
            // `Task 1: Title` often groups `1.1`, `1.2` and so on.
            let is_task = named.id.contains('.') || mark.is_some();
            Some(task(if is_task { Form::Heading } else { Form::Numbered }, named, mark))
        }
        Some(Err(())) => Some(Start::Unclear { text: text.to_owned() }),
        None if level == 1 => None,
        None => {
            let synonym = || {
                let text = text.trim_start_matches(|it: char| !it.is_alphanumeric());
                let rest = SYNONYMS.iter().find_map(|it| markdown::strip_word(text, it))?;
                task_id::named(rest.trim_start_matches(['-', '#', ':', ' '])).filter(|_| !is_within)
            };
            let named = task_id::named(text).or_else(synonym)?;
            Some(task(if mark.is_some() { Form::Heading } else { Form::Numbered }, named, mark))
        }
    }
}

/// Id and title of what begins with the word `Task`. Inner nothing: it has no id.
fn calls_itself_task(text: &str) -> Option<Result<Named, ()>> {
    if let Some(found) = task_id::called_task(text) {
        return Some(Ok(found));
    }
    let rest = task_id::behind_task(text)?;
    let is_lettered = rest.get(1..).is_some_and(|it| it.starts_with([':', '.', ')', ' '])) && rest.len() > 2;
    let word = rest.split(|it: char| !it.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    let is_meant = rest.starts_with(':')
        || rest.starts_with(|it: char| it.is_ascii_digit())
        || NUMBERS.contains(&word.as_str())
        || (rest.starts_with(|it: char| it.is_ascii_uppercase()) && is_lettered);
    is_meant.then_some(Err(()))
}

/// The id behind one word of a heading that is otherwise none of a task: `Feature 1.2: Title`.
pub(super) fn behind_a_word(title: &str) -> Option<String> {
    const NO_TASKS: [&str; 13] = [
        "version",
        "release",
        "section",
        "requirement",
        "spec",
        "figure",
        "table",
        "appendix",
        "scenario",
        "layer",
        "phase",
        "stage",
        "part",
    ];
    let start = title.trim_start_matches(|it: char| !it.is_alphanumeric());
    let (word, rest) = start.split_once([' ', '-'])?;
    let is_word = word.chars().all(char::is_alphabetic) && !NO_TASKS.contains(&word.to_lowercase().as_str());
    let named = task_id::named(rest).filter(|_| is_word)?;
    let behind = rest.split_once(named.id.as_str())?.1.trim_start_matches(['*', '_', '`', ' ', ']']);
    behind.starts_with([':', '-', '–', '—']).then_some(named.id)
}

/// Whether something that only a task says follows on a line, before something else begins.
pub(super) fn facts_follow(lines: &[Line<'_>], least_indent: usize) -> bool {
    let texts = lines.iter().filter(|it| !it.text.trim().is_empty());
    for line in texts.take(3) {
        if line.heading().is_some() || markdown::indent(line.text) < least_indent {
            return false;
        }
        if let Some(fence) = markdown::Fence::opened_by(line.text) {
            return fence.is_yaml() || fence.is_json();
        }
        let label = markdown::label(line.text).and_then(|(name, value)| Some((fields::field(&name)?, value)));
        if let Some((field, _)) = label {
            return field != fields::Field::Text;
        }
        if matches!(of_line(line.text), Some(Start::Task { .. } | Start::NoId { .. })) {
            return false;
        }
    }
    false
}
