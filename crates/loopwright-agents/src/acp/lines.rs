//! Lines: what an agent writes, cut where it ends them, and what it is written.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::mpsc::Receiver;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// The longest line that is listened to.
const LONGEST: usize = 16 * 1024 * 1024;

/// So much of a line that is too long says what it is.
const BEGINNING: usize = 256;

/// What an agent wrote next.
pub(super) enum Line {
    /// Something of the protocol.
    Message(String),
    /// Something else: what a library prints, a log. Heard, and passed over.
    Other(String),
    /// There can be no more.
    Broken(io::Error),
    /// There is no more.
    End,
}

/// The lines of a stream.
pub(super) struct Lines<R> {
    stream: BufReader<R>,
}

impl<R: Read> Lines<R> {
    pub fn new(stream: R) -> Self {
        Self { stream: BufReader::with_capacity(64 * 1024, stream) }
    }

    pub fn next(&mut self) -> Line {
        loop {
            let mut line = Vec::new();
            match (&mut self.stream).take(LONGEST as u64 + 1).read_until(b'\n', &mut line) {
                Ok(0) => return Line::End,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Line::Broken(error),
            }
            if line.len() > LONGEST {
                match self.pass_over(&line) {
                    Ok(note) => return Line::Other(note),
                    Err(error) => return Line::Broken(error),
                }
            }
            let line = String::from_utf8_lossy(&line);
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            let whole = line.to_owned();
            return if is_message(line) { Line::Message(whole) } else { Line::Other(whole) };
        }
    }

    /// Leaves out the rest of a line that is too long. News can be missed; an answer or a question can not.
    fn pass_over(&mut self, line: &[u8]) -> io::Result<String> {
        let beginning = String::from_utf8_lossy(line.get(..BEGINNING).unwrap_or(line)).into_owned();
        if !beginning.replace(' ', "").contains(r#""method":"session/update""#) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the agent said too much in one line"));
        }
        // A line that was cut exactly at its end is over already.
        let mut open = line.last() != Some(&b'\n');
        while open {
            let piece = self.stream.fill_buf()?;
            let end = piece.iter().position(|byte| *byte == b'\n');
            let used = end.map_or(piece.len(), |end| end + 1);
            open = end.is_none() && used > 0;
            self.stream.consume(used);
        }
        Ok(format!("{beginning}... (too long, left out)"))
    }
}

/// What makes a line one of the protocol. The library answers everything else with a complaint, which repeats it; agents
/// that print what is not for us do not expect an answer.
#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "jsonrpc")]
    _version: IgnoredAny,
    #[serde(default)]
    id: Option<IgnoredAny>,
    #[serde(default)]
    method: Option<IgnoredAny>,
    #[serde(default)]
    result: Option<IgnoredAny>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

fn is_message(line: &str) -> bool {
    // An answer may be `null`, which is no field at all to `Option`.
    let null = || line.contains(r#""result":null"#) || line.contains(r#""result": null"#);
    line.starts_with('{')
        && serde_json::from_str::<Envelope>(line).is_ok_and(|it| {
            it.method.is_some() || it.id.is_some() && (it.result.is_some() || it.error.is_some() || null())
        })
}

/// Writes what comes until nothing more can come, or nobody reads it. Closes the stream then.
pub(super) fn write(mut input: impl Write, lines: &Receiver<String>) {
    while let Ok(mut line) = lines.recv() {
        line.push('\n');
        if input.write_all(line.as_bytes()).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}
