//! Readers that go away, and terminals that want no colour.

use std::process::Stdio;

use crate::{Outcome, Ran, data, loopwright};

const LINES: &[&str] = &[
    "check small",
    "check --json small",
    "check unproved",
    "check broken",
    "matrix small",
    "graph --format svg small",
    "rehearse small --random --runs 50 --json",
    "test small",
    "workflows",
    "readers",
    "schema",
    "--help",
    "check --help",
    "chek",
];

/// `loopwright schema | head -1`: nobody reads on, and that is no reason to crash.
#[test]
fn nobody_has_to_read_to_the_end() -> Outcome {
    for line in LINES {
        let command = || {
            let mut command = loopwright(&data());
            command.args(line.split_whitespace());
            command
        };
        let (reader, writer) = std::io::pipe()?;
        drop(reader);
        let ran: Ran = command().stdout(writer).stderr(Stdio::piped()).output()?.into();
        assert!(!ran.stderr.contains("panicked"), "{line}: {}", ran.stderr);
        assert!(ran.code.is_some_and(|it| it <= 2), "{line}: {:?}", ran.code);
        let (reader, writer) = std::io::pipe()?;
        drop(reader);
        let ran: Ran = command().stderr(writer).stdout(Stdio::piped()).output()?.into();
        assert!(ran.code.is_some_and(|it| it <= 2), "{line}: {:?}", ran.code);
    }
    Ok(())
}

/// What is piped has no colour, whatever the environment says; and `NO_COLOR` changes nothing else.
#[test]
fn what_is_piped_has_no_colour() -> Outcome {
    for line in LINES {
        let plain: Ran = loopwright(&data()).args(line.split_whitespace()).output()?.into();
        let without: Ran =
            loopwright(&data()).args(line.split_whitespace()).env("NO_COLOR", "1").output()?.into();
        assert!(!plain.stdout.contains('\u{1b}') && !plain.stderr.contains('\u{1b}'), "{line}");
        assert_eq!((plain.stdout, plain.stderr), (without.stdout, without.stderr), "{line}");
    }
    Ok(())
}

/// A disk that is full loses the answer, so the answer cannot be "all is well".
#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_is_an_error() -> Outcome {
    for line in ["check small", "check --json small", "matrix small", "test small", "schema"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full")?;
        let mut command = loopwright(&data());
        let ran: Ran =
            command.args(line.split_whitespace()).stdout(full).stderr(Stdio::piped()).output()?.into();
        assert_eq!(ran.code, Some(2), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains("the output could not be written"), "{line}: {}", ran.stderr);
    }
    Ok(())
}
