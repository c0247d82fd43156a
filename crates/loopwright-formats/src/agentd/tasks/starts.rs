//! What begins a task: a box, a heading, a bullet with an id.

use super::super::markdown;

/// How a task is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `- [ ] 1.1 Title`.
    Box,
    /// `- 1.1 Title`: a task only if it says something about itself.
    Bullet,
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

/// What a line of a list begins.
pub(super) fn of_line(line: &str) -> Option<Start> {
    let start = line.trim_start();
    if !start.starts_with(|it: char| {
        matches!(it, '-' | '*' | '+' | '[' | '☐' | '☑' | '☒' | '⬜') || it.is_ascii_digit()
    }) {
        return None;
    }
    // `-[ ]` lacks a blank, and is still meant.
    let tight = || start.strip_prefix(['-', '*', '+']).filter(|it| it.starts_with('['));
    let item = markdown::bullet(start).or_else(tight);
    let text = item.unwrap_or(start);
    if let Some((mark, rest)) = markdown::checkbox(text) {
        return Some(match named(rest) {
            Some(Ok((id, title))) => Start::Task { form: Form::Box, id, title, mark: Some(mark) },
            Some(Err(())) => Start::Unclear { text: rest.to_owned() },
            None if rest.is_empty() => return None,
            None => Start::NoId { text: rest.to_owned() },
        });
    }
    let (id, title) = item.and_then(|it| markdown::task_title(it).or_else(|| split(it)))?;
    Some(Start::Task { form: Form::Bullet, id, title, mark: None })
}

/// What a heading begins, if that is a task. The title of the text is one only if it says so plainly.
pub(super) fn of_heading(title: &str, level: usize) -> Option<Start> {
    if level == 1 && markdown::task_title(title).is_none() {
        return None;
    }
    let (mark, text) = markdown::checkbox(title.trim_start_matches(['*', '_']))
        .map_or((None, title), |(mark, rest)| (Some(mark), rest));
    match calls_itself_task(text) {
        Some(Ok((id, title))) => {
            // `Task 1: Title` often groups `1.1`, `1.2` and so on.
            let form = if id.contains('.') || mark.is_some() { Form::Heading } else { Form::Numbered };
            Some(Start::Task { form, id, title, mark })
        }
        Some(Err(())) => Some(Start::Unclear { text: text.to_owned() }),
        None => {
            let (id, title) = split(text)?;
            let form = if mark.is_some() { Form::Heading } else { Form::Numbered };
            Some(Start::Task { form, id, title, mark })
        }
    }
}

fn split(text: &str) -> Option<(String, String)> {
    // `#1.1` and `(1.1)` are ids with something around them.
    let text = text.strip_prefix('#').unwrap_or(text);
    if let Some((id, rest)) = text.strip_prefix('(').and_then(|it| it.split_once(')')) {
        return markdown::is_task_id(id)
            .then(|| (id.to_owned(), rest.trim_start_matches([':', '-', ' ']).to_owned()));
    }
    markdown::split_id(text).map(|(id, title)| (id.to_owned(), title))
}

/// Id and title behind a box.
fn named(text: &str) -> Option<Result<(String, String), ()>> {
    calls_itself_task(text).or_else(|| split(text).map(Ok))
}

/// Id and title of what begins with the word `Task`. Inner nothing: it has no id.
fn calls_itself_task(text: &str) -> Option<Result<(String, String), ()>> {
    if let Some(found) = markdown::task_title(text) {
        return Some(Ok(found));
    }
    let rest = markdown::strip_word(text.trim_start_matches(['*', '_', '`', '~', ' ']), "task")?;
    let rest = rest.trim_start_matches([' ', '*', '`', '#', '_']);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 {
        let (id, behind) = rest.split_at(digits);
        let title = behind.trim_start_matches(['*', '`', ':', '.', ')', '-', '–', '—', ' ']);
        let is_id = behind.is_empty() || title.len() < behind.len();
        return Some(if is_id { Ok((id.to_owned(), title.to_owned())) } else { Err(()) });
    }
    let is_lettered = rest.get(1..).is_some_and(|it| it.starts_with([':', '.', ')', ' '])) && rest.len() > 2;
    let is_meant =
        rest.starts_with(':') || (rest.starts_with(|it: char| it.is_ascii_uppercase()) && is_lettered);
    is_meant.then_some(Err(()))
}
