//! When an agent has something to give again, from the words it says it in.
//!
//! Three ways of saying it are understood: a moment (`usage limit reached|1760000000`, `resets at 2026-11-16T15:00:00Z`),
//! a time it lasts (`try again in 3h 20m`, `retry-after: 30`), and a time of day (`resets 3pm`, `try again at Nov 16th,
//! 2026 3:47 PM`). The last is a moment only where the clock on the wall is known: readers have none, so it is worked
//! out by [`Failed::timed`]. What is not understood stays unknown; a moment that is guessed would be worse than none.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;
use jiff::{Timestamp, ToSpan};

use super::Failed;
use super::kept::beginning;

/// How much of a text is looked at, in bytes.
const LOOKED_AT: usize = 8 << 10;

/// Nothing lasts longer: a year, in milliseconds. Beyond it, something was misread.
const LONGEST: u64 = 366 * 24 * 3600 * 1000;

/// Moments follow these.
const AT: &[&str] = &[
    "limit reached|",
    "resets_at",
    "resetsat",
    "resets at",
    "reset at",
    "reset-at",
    "resets on",
    "reset on",
    "resets",
    "try again at",
    "try again after",
    "retry at",
    "retry-after",
    "unified-reset",
    "until",
];

/// Times it lasts follow these, with the unit of a bare number in milliseconds, if that has one.
const FOR: &[(&str, Option<u64>)] = &[
    ("resets_in_seconds", Some(1000)),
    ("reset_after_seconds", Some(1000)),
    ("reset-after-seconds", Some(1000)),
    ("retry-after-ms", Some(1)),
    ("retry_after_ms", Some(1)),
    ("retrydelayms", Some(1)),
    ("retry-after", Some(1000)),
    ("retry_after_seconds", Some(1000)),
    ("retry_after", Some(1000)),
    ("retryafter", Some(1000)),
    ("retrydelay", None),
    ("try again in", None),
    ("try again after", None),
    ("retry in", None),
    ("retry after", None),
    ("resets in", None),
    ("resets after", None),
    ("reset in", None),
    ("reset after", None),
    ("available in", None),
    ("available again in", None),
];

/// Times of day follow these.
const BY_CLOCK: &[&str] = &["resets at", "resets on", "resets", "reset at", "try again at"];

/// The clock on the wall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Milliseconds since 1970.
    pub now: u64,
    /// How far ahead of UTC the clock is, in seconds.
    pub ahead: i32,
}

impl Failed {
    /// The same, with the moment it is over worked out where only a time of day is said.
    #[must_use]
    pub fn timed(self, clock: Clock) -> Self {
        match self {
            Self::Limited { why, until: None, lasts: None } => {
                let until = by_clock(&why, clock);
                Self::Limited { why, until, lasts: None }
            }
            other => other,
        }
    }
}

/// The moment it is over, and how long it lasts, each if it is said. Both in milliseconds.
pub(crate) fn told(text: &str) -> (Option<u64>, Option<u64>) {
    let text = beginning(text, LOOKED_AT).to_lowercase();
    let until = AT.iter().flat_map(|it| following(&text, it)).find_map(moment);
    let lasts =
        FOR.iter().find_map(|(words, unit)| following(&text, words).find_map(|it| lasting(it, *unit)));
    (until, lasts)
}

/// What follows the words, wherever they are.
fn following<'t>(text: &'t str, words: &str) -> impl Iterator<Item = &'t str> {
    text.match_indices(words)
        .filter_map(|(at, found)| text.get(at + found.len()..))
        .map(|it| it.trim_start_matches([' ', '"', '\'', ':', '=', '\\', '(', '\t']))
}

/// A moment, as seconds or milliseconds since 1970 or as a date with a zone.
fn moment(text: &str) -> Option<u64> {
    let digits = text.split(|it: char| !it.is_ascii_digit()).next().unwrap_or_default();
    let goes_on =
        text.get(digits.len()..).is_some_and(|it| it.starts_with(|it: char| it.is_alphabetic() || it == '-'));
    match digits.len() {
        10 if !goes_on => digits.parse::<u64>().ok()?.checked_mul(1000),
        13 if !goes_on => digits.parse().ok(),
        _ => {
            let word = text.split([' ', '"', '\'', ',', ')', '\\', '\n']).next()?.trim_end_matches('.');
            let at: Timestamp = word.to_uppercase().parse().ok()?;
            at.as_millisecond().try_into().ok()
        }
    }
}

/// How long, in milliseconds: numbers with units, one after the other.
fn lasting(text: &str, unit: Option<u64>) -> Option<u64> {
    let mut rest = text;
    for filler in ["about ", "approximately ", "another "] {
        rest = rest.strip_prefix(filler).unwrap_or(rest);
    }
    let mut sum = None;
    while let Some((whole, thousandths, after)) = number(rest) {
        let word_starts = after.trim_start_matches(' ');
        let length = word_starts.find(|it: char| !it.is_ascii_alphabetic()).unwrap_or(word_starts.len());
        let (word, then) = word_starts.split_at_checked(length)?;
        let milliseconds = match (unit_of(word), unit, sum) {
            (Some(unit), _, _) => unit,
            // A bare number, where one is expected.
            (None, Some(unit), None) => return scaled(whole, thousandths, unit),
            _ => break,
        };
        sum = Some(scaled(whole, thousandths, milliseconds)?.checked_add(sum.unwrap_or(0))?);
        rest = then.trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    sum.filter(|it| *it <= LONGEST)
}

/// A number at the beginning of a text: its whole, its thousandths and what follows.
fn number(text: &str) -> Option<(u64, u64, &str)> {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let (whole, rest) = text.split_at_checked(end)?;
    let whole = whole.parse().ok()?;
    let Some(fraction) = rest.strip_prefix('.').filter(|it| it.starts_with(|it: char| it.is_ascii_digit()))
    else {
        return Some((whole, 0, rest));
    };
    let end = fraction.find(|it: char| !it.is_ascii_digit()).unwrap_or(fraction.len());
    let (digits, rest) = fraction.split_at_checked(end)?;
    let thousandths = format!("{:0<3}", beginning(digits, 3)).parse().ok()?;
    Some((whole, thousandths, rest))
}

fn scaled(whole: u64, thousandths: u64, unit: u64) -> Option<u64> {
    let fraction = thousandths.checked_mul(unit)? / 1000;
    whole.checked_mul(unit)?.checked_add(fraction).filter(|it| *it <= LONGEST)
}

fn unit_of(word: &str) -> Option<u64> {
    Some(match word {
        "ms" | "millisecond" | "milliseconds" => 1,
        "s" | "sec" | "secs" | "second" | "seconds" => 1000,
        "m" | "min" | "mins" | "minute" | "minutes" => 60 * 1000,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600 * 1000,
        "d" | "day" | "days" => 24 * 3600 * 1000,
        "w" | "week" | "weeks" => 7 * 24 * 3600 * 1000,
        _ => return None,
    })
}

/// The moment a time of day is next, or that of a date. A zone that is named is the machine's own: agents speak in the
/// time of whoever they speak to. Only UTC is UTC wherever it is said.
fn by_clock(text: &str, clock: Clock) -> Option<u64> {
    let text = beginning(text, LOOKED_AT).to_lowercase();
    BY_CLOCK.iter().flat_map(|it| following(&text, it)).find_map(|rest| {
        let mut words = rest.split([' ', ',', '\n', '·', '\u{202f}']).filter(|it| !it.is_empty()).peekable();
        let ahead = if rest.contains("(utc)") || rest.contains(" utc") { 0 } else { clock.ahead };
        let offset = Offset::from_seconds(ahead).ok()?;
        let now = offset.to_datetime(Timestamp::from_millisecond(clock.now.try_into().ok()?).ok()?);
        let day = match words.peek().and_then(|it| month(it)) {
            None => None,
            Some(month) => {
                words.next();
                let day = words.next()?.trim_end_matches(|it: char| it.is_ascii_alphabetic()).parse().ok()?;
                let year = words.peek().filter(|it| it.len() == 4).and_then(|it| it.parse().ok());
                if year.is_some() {
                    words.next();
                }
                let date = Date::new(year.unwrap_or(now.year()), month, day).ok()?;
                // The year is only left out of what is near.
                let is_over = year.is_none() && date < now.date();
                Some(if is_over { date.checked_add(1.year()).ok()? } else { date })
            }
        };
        if words.peek() == Some(&"at") {
            words.next();
        }
        let time = time_of_day(words.next()?, words.next().unwrap_or_default())?;
        let at = match day {
            Some(day) => DateTime::from_parts(day, time),
            None if time > now.time() => DateTime::from_parts(now.date(), time),
            None => DateTime::from_parts(now.date().tomorrow().ok()?, time),
        };
        offset.to_timestamp(at).ok()?.as_millisecond().try_into().ok()
    })
}

fn month(word: &str) -> Option<i8> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let place = MONTHS.iter().position(|it| word.starts_with(it) && word.chars().all(char::is_alphabetic))?;
    i8::try_from(place + 1).ok()
}

/// `3pm`, `3:47 pm`, `15:00`. A bare number is no time.
fn time_of_day(word: &str, next: &str) -> Option<Time> {
    let word = word.trim_end_matches(['.', ')', ';']);
    let next = next.trim_end_matches(['.', ')', ';']);
    let (digits, half) =
        match word.strip_suffix("am").map(|it| (it, "am")).or(word.strip_suffix("pm").map(|it| (it, "pm"))) {
            Some(said) => said,
            None => (word, if ["am", "pm"].contains(&next) { next } else { "" }),
        };
    let (hour, minute) = match digits.split_once(':') {
        Some((hour, minute)) => (hour.parse::<i8>().ok()?, minute.get(..2)?.parse().ok()?),
        None if half.is_empty() => return None,
        None => (digits.parse().ok()?, 0),
    };
    let hour = match half {
        "" => hour,
        _ if !(1..=12).contains(&hour) => return None,
        "am" => hour % 12,
        _ => hour % 12 + 12,
    };
    Time::new(hour, minute, 0, 0).ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "these are tests")]

    use super::*;

    const SECOND: u64 = 1000;
    const MINUTE: u64 = 60 * SECOND;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;

    #[test]
    fn what_is_said_of_the_end_of_a_limit_is_understood_or_stays_unknown() {
        for (said, until, lasts) in [
            ("Claude AI usage limit reached|1760000000", Some(1_760_000_000_000), None),
            ("usage limit reached|1760000000000", Some(1_760_000_000_000), None),
            (
                r#"{"type":"usage_limit_reached","resets_at":1777936568,"resets_in_seconds":13872}"#,
                Some(1_777_936_568_000),
                Some(13_872 * SECOND),
            ),
            (r#"\"resets_in_seconds\": 60"#, None, Some(MINUTE)),
            ("Your limit resets at 2026-11-16T15:00:00Z.", Some(1_794_841_200_000), None),
            ("try again at 2026-11-16T15:00:00+01:00, please", Some(1_794_837_600_000), None),
            (
                "You've hit your usage limit. Upgrade to Pro or try again in 3h 20m.",
                None,
                Some(3 * HOUR + 20 * MINUTE),
            ),
            ("or try again in 2 days 17 hours 14 minutes.", None, Some(2 * DAY + 17 * HOUR + 14 * MINUTE)),
            ("Please try again in 1 hour and 5 minutes", None, Some(HOUR + 5 * MINUTE)),
            ("Please try again in 1.2s. Visit", None, Some(1200)),
            ("Please try again in 20ms.", None, Some(20)),
            ("Please try again in 6m0s.", None, Some(6 * MINUTE)),
            ("Your quota will reset after 3h2m1s.", None, Some(3 * HOUR + 2 * MINUTE + SECOND)),
            ("Your quota will reset after 0s..", None, Some(0)),
            (r#""retryDelay":"34.074824224s""#, None, Some(34_074)),
            ("Please retry in 34.07s.", None, Some(34_070)),
            (
                "Sorry, you've exceeded your 5 hour session limits. Please retry after 2733 seconds.",
                None,
                Some(2733 * SECOND),
            ),
            ("Please try again in 58 hours. Please review our Terms", None, Some(58 * HOUR)),
            (r#"{"retry-after":"1"}"#, None, Some(SECOND)),
            ("retry-after: 30", None, Some(30 * SECOND)),
            ("retry-after-ms: 1500", None, Some(1500)),
            ("Weekly limit: resets in 5d 5h.", None, Some(5 * DAY + 5 * HOUR)),
            // A time of day is a moment only with a clock.
            ("You've hit your limit · resets 3pm (Europe/Berlin)", None, None),
            ("try again at Nov 16th, 2026 3:47 PM.", None, None),
            // Nothing is guessed.
            ("try again in a moment", None, None),
            ("try again in 5", None, None),
            ("try again later", None, None),
            ("try again in 99999999999999999999 hours", None, None),
            ("try again in 18446744073709551615 weeks", None, None),
            ("try again in 900 weeks", None, None),
            ("resets at 17600000001760000000", None, None),
            ("resets at 2026-11-16", None, None),
            ("retry-after: 1760000000x", None, None),
            ("", None, None),
        ] {
            assert_eq!(told(said), (until, lasts), "{said}");
        }
    }

    #[test]
    fn a_time_of_day_is_the_next_one_by_the_clock_of_the_machine() {
        let at = |it: &str| u64::try_from(it.parse::<Timestamp>().unwrap().as_millisecond()).unwrap();
        let clock = Clock { now: at("2026-11-16T13:00:00Z"), ahead: 3600 };
        for (said, until) in [
            ("You've hit your limit · resets 3pm (Europe/Berlin)", Some("2026-11-16T14:00:00Z")),
            ("You've hit your limit · resets 3pm (UTC)", Some("2026-11-16T15:00:00Z")),
            ("5-hour limit reached ∙ resets 1am", Some("2026-11-17T00:00:00Z")),
            ("limit reached, resets at 12am", Some("2026-11-16T23:00:00Z")),
            ("session limit reached ∙ resets 2:30pm", Some("2026-11-16T13:30:00Z")),
            ("or try again at 3:47 PM.", Some("2026-11-16T14:47:00Z")),
            ("or try again at Nov 20th, 2026 3:47 PM.", Some("2026-11-20T14:47:00Z")),
            ("weekly limit · resets Nov 20 at 3pm (UTC)", Some("2026-11-20T15:00:00Z")),
            ("weekly limit · resets Jan 2, 9am (UTC)", Some("2027-01-02T09:00:00Z")),
            ("resets at 15:00", Some("2026-11-16T14:00:00Z")),
            ("resets at 7", None),
            ("resets at 25pm", None),
            ("resets Feb 31, 3pm", None),
            ("resets soon", None),
            ("resets 3", None),
        ] {
            let limited = Failed::Limited { why: said.to_owned(), until: None, lasts: None };
            let timed = Failed::Limited { why: said.to_owned(), until: until.map(at), lasts: None };
            assert_eq!(limited.timed(clock), timed, "{said}");
        }
        let known = Failed::Limited { why: "resets 3pm".to_owned(), until: None, lasts: Some(1) };
        assert_eq!(known.clone().timed(clock), known);
    }
}
