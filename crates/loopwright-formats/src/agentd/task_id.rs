//! Ids of tasks, with what people put around them: marks, brackets, signs, the word `Task`.

use super::markdown;

/// What a text begins with: the id of a task, and its title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub id: String,
    pub title: String,
    /// Whether the word `Task`, or a `T`, stands before the id.
    pub is_called_task: bool,
    /// Whether a tick stands before it.
    pub is_ticked: bool,
}

/// The start of a text while it is read, with the marks that are open.
struct Lead<'a> {
    rest: &'a str,
    open: Vec<(char, usize)>,
    is_ticked: bool,
}

impl<'a> Lead<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text, open: Vec::new(), is_ticked: false }
    }

    fn skip(&mut self, length: usize) {
        self.rest = self.rest.get(length..).unwrap_or_default();
    }

    /// Takes blanks, signs and marks, opening or closing.
    fn take_around(&mut self) {
        while let Some(first) = self.rest.chars().next() {
            match first {
                '*' | '_' | '`' | '~' | '[' | '(' => {
                    if !self.close() {
                        let length = if matches!(first, '[' | '(') { 1 } else { run(self.rest, first) };
                        self.open.push((first, length));
                        self.skip(length);
                    }
                }
                ']' | ')' if self.close() => {}
                _ if first.is_whitespace() => self.skip(first.len_utf8()),
                // A picture before an id is no part of it.
                _ if !first.is_ascii() && !first.is_alphanumeric() => {
                    self.is_ticked |= markdown::is_tick(first);
                    self.skip(first.len_utf8());
                }
                _ => return,
            }
        }
    }

    /// Takes a mark that closes the one that was opened last.
    fn close(&mut self) -> bool {
        let Some(first) = self.rest.chars().next() else { return false };
        let opening = match first {
            ']' => '[',
            ')' => '(',
            '[' | '(' => return false,
            it => it,
        };
        let Some((_, open)) = self.open.last_mut().filter(|it| it.0 == opening) else { return false };
        let length = run(self.rest, first).min(*open);
        *open -= length;
        if *open == 0 {
            self.open.pop();
        }
        self.skip(length);
        true
    }

    /// Takes the word `Task`, and the letter that stands for it. Gives whether each was there.
    fn take_word(&mut self) -> (bool, bool) {
        let is_word = self.rest.get(..4).is_some_and(|it| it.eq_ignore_ascii_case("task"))
            && !self.rest.get(4..).is_some_and(|it| it.starts_with(char::is_alphabetic));
        if is_word {
            self.skip(4);
            self.rest = self.rest.strip_prefix('_').unwrap_or(self.rest);
            loop {
                self.take_around();
                let rest = self.rest.strip_prefix(['#', ':', '-', '.', '–', '—']);
                let Some(rest) = rest.or_else(|| numero(self.rest)) else { break };
                self.rest = rest;
            }
        }
        let behind =
            self.rest.strip_prefix(['T', 't']).map(|it| it.strip_prefix(['-', '_', '.']).unwrap_or(it));
        if let Some(rest) = behind.filter(|it| it.starts_with(|it: char| it.is_ascii_digit())) {
            self.rest = rest;
            return (is_word, true);
        }
        (is_word, false)
    }

    /// Takes what parts an id from its title. False if nothing does.
    fn take_parting(&mut self) -> bool {
        let before = self.rest.len();
        let mut is_behind = true;
        while let Some(first) = self.rest.chars().next() {
            let next = self.rest.get(first.len_utf8()..).and_then(|it| it.chars().next());
            let is_parting = match first {
                ':' => true,
                '.' | ')' => is_behind,
                '-' | '–' | '—' => {
                    is_behind || next.is_none_or(|it| it.is_whitespace() || it.is_uppercase())
                }
                it => it.is_whitespace(),
            };
            if is_parting {
                self.skip(first.len_utf8());
                is_behind &= !first.is_whitespace();
            } else if !self.close() {
                break;
            }
        }
        self.rest.is_empty() || self.rest.len() < before
    }

    /// The title, without the ends of marks that were opened before it.
    fn title(mut self) -> String {
        let mut title = self.rest.trim().to_owned();
        while let Some((mark, length)) = self.open.pop() {
            let end = match mark {
                '[' => "]".to_owned(),
                it => it.to_string().repeat(length),
            };
            if let Some(bare) = title.strip_suffix(&end) {
                title.truncate(bare.trim_end().len());
            } else if title.matches(&end).count() % 2 == 1 {
                title = title.replacen(&end, "", 1);
            }
        }
        title
    }
}

/// What stands behind a word that says that a number follows.
fn numero(text: &str) -> Option<&str> {
    let rest = ["number", "no", "nr"].iter().find_map(|it| markdown::strip_word(text, it))?;
    let number = rest.trim_start_matches(['.', ' ', '\u{a0}']);
    number.starts_with(|it: char| it.is_ascii_digit()).then_some(number)
}

/// How often a character stands at the start of a text, in bytes.
fn run(text: &str, mark: char) -> usize {
    text.len() - text.trim_start_matches(mark).len()
}

/// The id that a text begins with, and its title: `1.1 x`, `**2.3b** - x`, `Task 1.1: x`, `### ✅ T1.1: x` without its
/// hashes.
pub(crate) fn named(text: &str) -> Option<Named> {
    parse(text, false)
}

/// The same of what calls itself a task, which may have a number alone: `Task 2: x`.
pub(crate) fn called_task(text: &str) -> Option<Named> {
    parse(text, true).filter(|it| it.is_called_task)
}

/// What stands behind the word `Task`, or behind a `T` with a number.
pub(crate) fn behind_task(text: &str) -> Option<&str> {
    let mut lead = Lead::new(text);
    lead.take_around();
    if let (false, true) = lead.take_word() {
        let behind = lead.rest.trim_start_matches(|it: char| it.is_ascii_digit() || it == '.');
        return behind.starts_with([':', ' ', '-', '*', '`']).then_some(lead.rest);
    }
    let mut lead = Lead::new(text);
    lead.take_around();
    let rest = markdown::strip_word(lead.rest, "task").or_else(|| {
        let rest = lead.rest.get(4..)?;
        let is_word = lead.rest.get(..4)?.eq_ignore_ascii_case("task");
        (is_word && rest.starts_with(|it: char| it == '_' || it.is_ascii_digit())).then_some(rest)
    })?;
    let rest = rest.trim_start_matches([' ', '*', '`', '#', '_', '-']);
    let lettered = rest.strip_prefix(['T', 't']).filter(|it| it.starts_with(|it: char| it.is_ascii_digit()));
    Some(lettered.unwrap_or(rest))
}

fn parse(text: &str, takes_numbers: bool) -> Option<Named> {
    let mut lead = Lead::new(text);
    lead.take_around();
    if let Some(rest) = lead.rest.strip_prefix('#') {
        lead.rest = rest;
    }
    let (is_word, is_letter) = lead.take_word();
    let length = id_length(lead.rest);
    let id = lead.rest.get(..length)?.to_owned();
    let is_number = !id.is_empty() && id.bytes().all(|it| it.is_ascii_digit());
    if !(is_task_id(&id) || (takes_numbers && is_number && is_word && !is_letter)) {
        return None;
    }
    lead.skip(length);
    if goes_on(lead.rest) {
        return None;
    }
    let was_linked = lead.open.last().is_some_and(|it| it.0 == '[');
    let mut is_parted = false;
    while lead.close() {
        is_parted = true;
    }
    // `[1.1](#anchor)` is a link.
    if was_linked && is_parted && lead.rest.starts_with('(') {
        let end = lead.rest.find(')')?;
        lead.skip(end + 1);
    }
    // What is in parentheses is an id only if nothing else is.
    if !(lead.take_parting() || is_parted) || lead.open.iter().any(|it| it.0 == '(') {
        return None;
    }
    let is_ticked = lead.is_ticked;
    Some(Named { id, title: lead.title(), is_called_task: is_word || is_letter, is_ticked })
}

/// Whether an id goes on with what is no part of one: `2.10.a`, `1.1-1.3`.
fn goes_on(behind: &str) -> bool {
    let Some(rest) = behind.strip_prefix(['.', '-', '–', '—']) else { return false };
    let mut rest = rest.chars();
    match (rest.next(), rest.next()) {
        (Some(first), _) if first.is_ascii_digit() => true,
        (Some(first), next) => first.is_alphanumeric() && !next.is_some_and(char::is_alphanumeric),
        (None, _) => false,
    }
}

fn id_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len()
        && (bytes[at].is_ascii_digit()
            || (bytes[at] == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)))
    {
        at += 1;
    }
    let is_end = |it: Option<&u8>| it.is_none_or(|it| !it.is_ascii_alphanumeric());
    at + usize::from(
        at > 0 && bytes.get(at).is_some_and(u8::is_ascii_alphabetic) && is_end(bytes.get(at + 1)),
    )
}

/// Whether a word is the id of a task: numbers with dots between them, and perhaps a letter.
pub(crate) fn is_task_id(word: &str) -> bool {
    let numbers = word.strip_suffix(|it: char| it.is_ascii_alphabetic()).unwrap_or(word);
    numbers.contains('.')
        && numbers.split('.').all(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
}

/// The id that a word is, whatever is around it: `T1.1` and `Task 1.1` are `1.1`.
pub(crate) fn alone(word: &str) -> Option<String> {
    named(word).filter(|it| it.title.is_empty()).map(|it| it.id)
}

/// Whether a line is the heading of a task, as `create_tasks` writes them. A blank behind the hashes may be forgotten.
pub(crate) fn is_task_heading(line: &str) -> bool {
    let start = line.trim_start_matches(' ');
    let title = start.trim_start_matches('#');
    let level = start.len() - title.len();
    line.len() - start.len() <= 3
        && (2..=6).contains(&level)
        && named(title).is_some_and(|it| it.is_called_task)
}
