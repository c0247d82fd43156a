//! Ids of stages (`21`, `21A`) and checkpoints (`21A.0`), and the form in which they are compared.

use super::text::is_edge;

/// The zeros of all decimal digits. The original takes any of them for a digit, also full-width ones.
const ZEROS: [char; 68] = [
    '\u{30}',
    '\u{660}',
    '\u{6f0}',
    '\u{7c0}',
    '\u{966}',
    '\u{9e6}',
    '\u{a66}',
    '\u{ae6}',
    '\u{b66}',
    '\u{be6}',
    '\u{c66}',
    '\u{ce6}',
    '\u{d66}',
    '\u{de6}',
    '\u{e50}',
    '\u{ed0}',
    '\u{f20}',
    '\u{1040}',
    '\u{1090}',
    '\u{17e0}',
    '\u{1810}',
    '\u{1946}',
    '\u{19d0}',
    '\u{1a80}',
    '\u{1a90}',
    '\u{1b50}',
    '\u{1bb0}',
    '\u{1c40}',
    '\u{1c50}',
    '\u{a620}',
    '\u{a8d0}',
    '\u{a900}',
    '\u{a9d0}',
    '\u{a9f0}',
    '\u{aa50}',
    '\u{abf0}',
    '\u{ff10}',
    '\u{104a0}',
    '\u{10d30}',
    '\u{11066}',
    '\u{110f0}',
    '\u{11136}',
    '\u{111d0}',
    '\u{112f0}',
    '\u{11450}',
    '\u{114d0}',
    '\u{11650}',
    '\u{116c0}',
    '\u{11730}',
    '\u{118e0}',
    '\u{11950}',
    '\u{11c50}',
    '\u{11d50}',
    '\u{11da0}',
    '\u{11f50}',
    '\u{16a60}',
    '\u{16ac0}',
    '\u{16b50}',
    '\u{1d7ce}',
    '\u{1d7d8}',
    '\u{1d7e2}',
    '\u{1d7ec}',
    '\u{1d7f6}',
    '\u{1e140}',
    '\u{1e2f0}',
    '\u{1e4f0}',
    '\u{1e950}',
    '\u{1fbf0}',
];

/// The value of a decimal digit of any script.
pub(crate) fn digit(character: char) -> Option<char> {
    if character.is_ascii() {
        return character.is_ascii_digit().then_some(character);
    }
    let at = ZEROS.partition_point(|zero| *zero <= character).checked_sub(1)?;
    let value = u32::from(character) - u32::from(*ZEROS.get(at)?);
    char::from_digit(value, 10)
}

/// The digits a text begins with, as plain ones without zeros before them, and what follows.
fn number(text: &str) -> Option<(String, &str)> {
    let rest = text.trim_start_matches(|it| digit(it).is_some());
    let written = text.strip_suffix(rest).filter(|it| !it.is_empty())?;
    let digits: String = written.chars().filter_map(digit).collect();
    let plain = digits.trim_start_matches('0');
    Some((if plain.is_empty() { "0".to_owned() } else { plain.to_owned() }, rest))
}

/// The id of a stage that a text begins with, in normal form, and what follows.
fn leading_stage(text: &str) -> Option<(String, &str)> {
    let (mut id, rest) = number(text)?;
    match rest.chars().next() {
        Some(letter) if letter.is_ascii_alphabetic() => {
            id.push(letter.to_ascii_uppercase());
            Some((id, rest.get(1..).unwrap_or_default()))
        }
        _ => Some((id, rest)),
    }
}

/// The id of a stage that a text begins with, and a word ends there.
pub(crate) fn stage_word(text: &str) -> Option<(String, &str)> {
    leading_stage(text).filter(|(_, rest)| is_edge(Some('0'), rest.chars().next()))
}

/// The id of a checkpoint that a text begins with, and a word ends there.
pub(crate) fn checkpoint_word(text: &str) -> Option<(String, &str)> {
    let (stage, rest) = leading_stage(text)?;
    let (minor, rest) = number(rest.strip_prefix('.')?)?;
    is_edge(Some('0'), rest.chars().next()).then(|| (format!("{stage}.{minor}"), rest))
}

/// The normal form of a stage's id: no zeros before it, its letter upper case. Nothing if it is no such id.
pub fn stage(text: &str) -> Option<String> {
    leading_stage(text).filter(|(_, rest)| rest.is_empty()).map(|(id, _)| id)
}

/// The normal form of a checkpoint's id. Nothing if it is no such id.
pub fn checkpoint(text: &str) -> Option<String> {
    checkpoint_word(text).filter(|(_, rest)| rest.is_empty()).map(|(id, _)| id)
}

/// A stage's id in normal form, or as it is if it has none.
pub fn stage_or_raw(text: &str) -> String {
    stage(text).unwrap_or_else(|| text.to_owned())
}

/// A checkpoint's id in normal form, or as it is if it has none.
pub fn checkpoint_or_raw(text: &str) -> String {
    checkpoint(text).unwrap_or_else(|| text.to_owned())
}

/// The number a text begins with, if facts can count so far.
pub(crate) fn leading_number(text: &str) -> Option<i64> {
    number(text)?.0.parse().ok()
}

/// The two halves of a checkpoint's id in normal form.
pub(crate) fn halves(id: &str) -> Option<(&str, &str)> {
    id.split_once('.')
}
