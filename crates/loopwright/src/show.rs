//! Showing things to people: problems with a pointer into the text, and plain lines.
//!
//! Data goes to stdout, everything else to stderr. A closed pipe ends the output, not the program with a crash; output
//! that cannot be written for any other reason is an error in the end.

use std::ffi::OsString;
use std::io::Write as _;
use std::sync::OnceLock;

use loopwright_core::machine::Cost;
use loopwright_core::problem::Problem;
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, MietteError, MietteSpanContents,
    NamedSource, Report, SourceCode, SourceSpan, SpanContents,
};

use crate::live::{self, Stream};

/// Prose is broken at so many columns.
const WIDTH: usize = 110;

/// Why output was lost, if it was.
static LOST: OnceLock<String> = OnceLock::new();

/// Writes to stdout.
pub(crate) fn out(text: &str) {
    write(Stream::Out, text);
}

/// Writes, above what is at work, and not into a question.
pub(crate) fn write(stream: Stream, text: &str) {
    if live::put_off(stream, text) {
        return;
    }
    let written = live::aside(|| match stream {
        Stream::Out => {
            let mut stdout = std::io::stdout().lock();
            stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
        }
        Stream::Error => {
            // Where this cannot be told, nothing can.
            let _ = std::io::stderr().lock().write_all(text.as_bytes());
            Ok(())
        }
    });
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            LOST.get_or_init(|| error.to_string());
        }
        _ => {}
    }
}

/// Why what was written to stdout did not all arrive.
pub(crate) fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

/// Writes a line to stderr.
pub(crate) fn error_line(text: &str) {
    write(Stream::Error, &format!("{text}\n"));
}

/// The same for somebody who cannot wait until a question is answered.
pub(crate) fn error_line_at_once(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = writeln!(stderr, "{text}");
}

/// Lines of which the long ones go on below, so far in.
pub(crate) fn wrapped(text: &str, hanging: usize) -> String {
    let indent = " ".repeat(hanging);
    let options = textwrap::Options::new(WIDTH)
        .subsequent_indent(&indent)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    text.lines().map(|it| textwrap::fill(it, &options) + "\n").collect()
}

/// A text that fits in so many columns.
pub(crate) fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{cut}…")
}

/// Lines, each a little further in.
pub(crate) fn indented(text: &str) -> String {
    text.lines().map(|it| format!("  {it}").trim_end().to_owned() + "\n").collect()
}

/// How long something takes, in the two largest units: `2h 5m`, `3m 12s`, `8s`.
pub(crate) fn lasting(milliseconds: u64) -> String {
    let seconds = milliseconds / 1_000;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes, seconds % 60) {
        (0, 0, 0, seconds) => format!("{seconds}s"),
        (0, 0, minutes, seconds) => format!("{minutes}m {seconds}s"),
        (0, hours, minutes, _) => format!("{hours}h {minutes}m"),
        (days, hours, ..) => format!("{days}d {hours}h"),
    }
}

/// What was paid for, and whether that is all of it.
pub(crate) fn cost(cost: &Cost) -> String {
    let known = known_cost(cost);
    match (cost.unpriced, cost.uncounted, known.is_empty()) {
        (false, false, _) => known,
        (true, _, true) => "unknown".to_owned(),
        (true, true, false) => format!("{known}, and more that nobody counted"),
        (true, false, false) if cost.money == 0 => format!("{known}, price unknown"),
        (true, false, false) => format!("{known}, and more without a price"),
        (false, true, true) => "tokens unknown".to_owned(),
        (false, true, false) => format!("{known}, and tokens nobody counted"),
    }
}

/// What was paid for, as far as it is known.
pub(crate) fn known_cost(cost: &Cost) -> String {
    let mut told = Vec::new();
    if cost.money > 0 {
        // Thousandths count as long as there is not much else.
        told.push(if cost.money < 1_000 {
            format!("$0.{:03}", cost.money)
        } else {
            format!("${}.{:02}", cost.money / 1_000, cost.money % 1_000 / 10)
        });
    }
    if cost.tokens > 0 {
        told.push(counted(cost.tokens, "token"));
    }
    told.join(", ")
}

/// A number of things: `1 call`, `2 calls`.
pub(crate) fn counted(number: impl TryInto<u64>, thing: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// Whether colour is wanted on a stream. An empty `NO_COLOR` says nothing.
fn coloured(terminal: bool, no_color: Option<OsString>, term: Option<OsString>) -> bool {
    terminal && no_color.is_none_or(|it| it.is_empty()) && term.is_none_or(|it| it != "dumb")
}

/// A problem, drawn for a stream with a pointer into its file, which goes by this name and holds this text.
pub(crate) fn problem(
    stream: &impl std::io::IsTerminal,
    name: &str,
    text: Option<&str>,
    problem: &Problem,
) -> String {
    let source = text.filter(|it| !it.is_empty());
    let message = match source {
        Some(_) => problem.message.clone(),
        None => format!("{name}: {}", problem.message),
    };
    let mut diagnostic = MietteDiagnostic::new(message).with_code(problem.code);
    if let Some(help) = &problem.help {
        diagnostic = diagnostic.with_help(help.clone());
    }
    let (no_color, term) = (std::env::var_os("NO_COLOR"), std::env::var_os("TERM"));
    let theme = if coloured(stream.is_terminal(), no_color, term) {
        GraphicalTheme::unicode()
    } else {
        GraphicalTheme::unicode_nocolor()
    };
    let handler =
        GraphicalReportHandler::new_themed(theme).with_width(WIDTH).with_context_lines(1).with_links(false);
    let mut drawn = String::new();
    let report = match source {
        Some(text) => {
            let start = problem.place.bytes.start.min(text.len());
            // A label over many lines hides the place it points to.
            let end = problem.place.bytes.end.clamp(start, text.len());
            let end = text[start..end].find('\n').map_or(end, |it| start + it);
            let (text, label, length) = shortened(text, start, end - start);
            let (_, column) = position(source.unwrap_or_default(), start);
            diagnostic = diagnostic.with_label(LabeledSpan::new(None, label, length));
            let text = NamedSource::new(name, text);
            Report::new(diagnostic).with_source_code(Cut { text, label, column })
        }
        None => Report::new(diagnostic),
    };
    match handler.render_report(&mut drawn, report.as_ref()) {
        Ok(()) => drawn,
        Err(_) => format!("{}\n", problem.message),
    }
}

/// A text with its long lines cut, that still knows in which column its label stood.
struct Cut {
    text: NamedSource<String>,
    label: usize,
    column: usize,
}

impl SourceCode for Cut {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let found = self.text.read_span(span, before, after)?;
        let name = found.name().unwrap_or_default().to_owned();
        let (data, at) = (found.data(), *found.span());
        let column = if span.offset() == self.label { self.column - 1 } else { found.column() };
        Ok(Box::new(MietteSpanContents::new_named(name, data, at, found.line(), column, found.line_count())))
    }
}

/// A text with its long lines cut, and where a label on one line is then. A line that nobody can read says nothing.
fn shortened(text: &str, start: usize, length: usize) -> (String, usize, usize) {
    const LONGEST: usize = 240;
    const BEFORE: usize = 80;
    if text.lines().all(|it| it.len() <= LONGEST) {
        return (text.to_owned(), start, length);
    }
    let (mut short, mut at, mut label) = (String::new(), 0, (0, 0));
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches('\n');
        let inside = start.checked_sub(at).filter(|it| *it <= body.len() && *it < line.len().max(1));
        let from = inside.map_or(0, |it| it.saturating_sub(BEFORE));
        let from = if body.len() > LONGEST { body.floor_char_boundary(from) } else { 0 };
        let to = if body.len() > LONGEST { body.floor_char_boundary(from + LONGEST) } else { body.len() };
        let to = to.min(body.len());
        let (left, right) = (if from > 0 { "…" } else { "" }, if to < body.len() { "…" } else { "" });
        if let Some(inside) = inside {
            label = (short.len() + left.len() + inside - from, length.min(to.saturating_sub(inside)));
        }
        short.extend([left, &body[from..to], right, &line[body.len()..]]);
        at += line.len();
    }
    (short, label.0, label.1)
}

/// Line and column of a byte, from one.
pub(crate) fn position(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(byte.min(text.len()))];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |it| it.chars().count()) + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_for_terminals_that_want_it() {
        let set = |it: &str| Some(OsString::from(it));
        assert!(coloured(true, None, None));
        assert!(coloured(true, set(""), set("xterm")));
        assert!(!coloured(false, None, set("xterm")));
        assert!(!coloured(true, set("1"), set("xterm")));
        assert!(!coloured(true, None, set("dumb")));
    }

    #[test]
    fn one_thing_is_one_thing() {
        assert_eq!([0_u64, 1, 2].map(|it| counted(it, "call")), ["0 calls", "1 call", "2 calls"]);
    }

    #[test]
    fn what_does_not_fit_is_cut() {
        assert_eq!(["äöü", "äöüß", "äöüßx"].map(|it| short(it, 4)), ["äöü", "äöüß", "äöü…"]);
    }

    #[test]
    fn times_are_told_in_two_units() {
        let seconds = [8, 192, 7_500, 180_000].map(|it| lasting(it * 1_000));
        assert_eq!(seconds, ["8s", "3m 12s", "2h 5m", "2d 2h"]);
    }

    #[test]
    fn what_is_not_known_is_not_told() {
        assert_eq!(cost(&Cost::default()), "");
        let known = Cost { time: 1, money: 1_234, tokens: 1, ..Cost::default() };
        assert_eq!(cost(&known), "$1.23, 1 token");
        let unknown = Cost { unpriced: true, uncounted: true, ..Cost::default() };
        assert_eq!(cost(&unknown), "unknown");
        assert_eq!(cost(&Cost { tokens: 7, unpriced: true, ..Cost::default() }), "7 tokens, price unknown");
        assert_eq!(cost(&known.and(unknown)), "$1.23, 1 token, and more that nobody counted");
    }

    #[test]
    fn positions_are_counted_in_characters() {
        assert_eq!(position("ä: b\nö: c", "ä: b\nö: ".len()), (2, 4));
        assert_eq!(position("ab", 99), (1, 3));
        assert_eq!(position("ä", 1), (1, 1));
    }
}
