//! Ids, and lists of them, in every spelling people have for them.

/// Whether a text is what an issue may be called: `GAL-39`.
pub fn is_id(text: &str) -> bool {
    parts_of(text).is_some()
}

/// What comes before the number of an id, and the number. A number too large to be counted is none.
pub fn parts_of(id: &str) -> Option<(&str, u64)> {
    let (prefix, number) = id.rsplit_once('-')?;
    let mut letters = prefix.bytes();
    let is_prefix = letters.next().is_some_and(|it| it.is_ascii_uppercase())
        && letters.all(|it| it.is_ascii_uppercase() || it.is_ascii_digit());
    let is_number = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
    (is_prefix && is_number).then(|| Some((prefix, number.parse().ok()?))).flatten()
}

/// How many bytes the id has that a text begins with. None, if it begins with something else.
pub(super) fn id_at_start(text: &str) -> Option<usize> {
    let prefix = text.bytes().take_while(|it| it.is_ascii_uppercase() || it.is_ascii_digit()).count();
    let behind = text.get(prefix..)?.strip_prefix('-')?;
    let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
    let length = prefix + 1 + digits;
    let ends = text.get(length..)?.chars().next().is_none_or(|it| !(it.is_alphanumeric() || it == '_'));
    // `GAL-39-old` is something else.
    let ends = ends && !text.get(length..)?.starts_with('-');
    (ends && is_id(text.get(..length)?)).then_some(length)
}

/// Where ids stand in a text, each by itself.
pub(super) fn ids_in(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut before: Option<char> = None;
    let mut at = 0;
    while let Some(it) = text.get(at..).and_then(|it| it.chars().next()) {
        let is_begin = it.is_ascii_uppercase()
            && before.is_none_or(|it| !(it.is_alphanumeric() || matches!(it, '_' | '-')));
        let length = if is_begin { text.get(at..).and_then(id_at_start) } else { None };
        let step = length.unwrap_or(it.len_utf8());
        if length.is_some() {
            found.push(at..at + step);
        }
        before = text.get(..at + step).and_then(|it| it.chars().next_back());
        at += step;
    }
    found
}

/// The ids of a list: `GAL-1, GAL-2`, links, or names of files. What is none is given back.
pub(super) fn ids(text: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for piece in text.split([',', ';', '\n']).flat_map(words) {
        let bare = bare(piece);
        match bare.strip_suffix(".md").unwrap_or(bare) {
            it if is_id(it) => found.push(it.to_owned()),
            it if says_nothing(it) || it == "and" => {}
            _ => return Err(piece.to_owned()),
        }
    }
    Ok(found)
}

/// The words of a piece; a link is one, however many words it shows.
fn words(piece: &str) -> Vec<&str> {
    if piece.contains("](") { vec![piece.trim()] } else { piece.split_whitespace().collect() }
}

/// A word without its quotes and marks; of a link what it shows, if that is an id, or else where it leads.
fn bare(word: &str) -> &str {
    let word = word.trim().trim_matches(['`', '"', '\'', '*', '_', '#', '.']);
    let Some((shown, target)) = word.strip_prefix('[').and_then(|it| it.split_once("](")) else {
        return word.trim_start_matches('[').trim_end_matches(']');
    };
    let shown = shown.trim_matches(['`', '*', '_', ' ']);
    let target = target.trim_end_matches(')');
    if is_id(shown) { shown } else { target.rsplit('/').next().unwrap_or(target) }
}

/// Ways to say that there is nothing.
pub(super) fn says_nothing(text: &str) -> bool {
    let text = text.trim();
    matches!(text, "" | "-" | "–" | "—" | "~" | "[]")
        || ["none", "null", "n/a", "nothing"].iter().any(|it| text.eq_ignore_ascii_case(it))
}
