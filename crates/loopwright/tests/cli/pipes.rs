//! Readers that go away, and terminals that want no colour.

use std::process::Stdio;

use crate::{Outcome, Ran, data, loopwright, scratch};

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

/// Runs that cannot be written down are an error, and half of one would be another run.
#[cfg(target_os = "linux")]
#[test]
fn runs_that_cannot_be_written_are_an_error() -> Outcome {
    let folder = scratch("paths")?;
    let check = |paths: &std::path::Path| {
        let mut command = loopwright(&data());
        command.args(["check", "unproved", "--paths"]).arg(paths);
        command
    };
    // Nobody makes a folder there, not even root.
    for nowhere in ["/proc/loopwright/paths", "/dev/null/paths"] {
        let ran: Ran = check(nowhere.as_ref()).output()?.into();
        assert_eq!(ran.code, Some(2), "{nowhere}: {}", ran.stderr);
        assert!(ran.stderr.contains(&format!("`{nowhere}` cannot be written")), "{}", ran.stderr);
    }
    // No room: the shell allows no file to grow.
    let full = folder.join("full");
    let mut shell = std::process::Command::new("sh");
    shell.current_dir(data()).args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"]);
    shell.arg(env!("CARGO_BIN_EXE_loopwright")).args(["check", "unproved", "--paths"]).arg(&full);
    let ran: Ran = shell.output()?.into();
    assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("cannot be written"), "{}", ran.stderr);
    assert_eq!(std::fs::read_dir(&full)?.count(), 0, "something was left behind");
    // With room they are written, and what was there stays until then.
    let ran: Ran = check(&full).output()?.into();
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let written: Vec<_> = std::fs::read_dir(&full)?.collect::<Result<_, _>>()?;
    assert!(!written.is_empty());
    let texts = || written.iter().map(|it| std::fs::read_to_string(it.path())).collect::<Result<Vec<_>, _>>();
    let before = texts()?;
    let ran: Ran = shell.output()?.into();
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert_eq!(texts()?, before);
    assert_eq!(std::fs::read_dir(&full)?.count(), written.len());
    Ok(())
}
