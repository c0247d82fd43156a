//! What somebody sees who sits at a terminal.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::runs::{git, name, project, say, waited_for};
use crate::{Outcome, loopwright};

/// Writes when it is told to.
const PATIENT: &str = "cat > /dev/null; until [ -e .git/go ]; do sleep 0.02; done; echo hello > greeting";

const COLUMNS: u16 = 60;

/// A command at a terminal of its own.
struct Terminal {
    child: Child,
    keys: File,
    screen: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    fn start(folder: &Path, words: &[&str]) -> Result<Self, Box<dyn std::error::Error>> {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        let path = ptsname(&ours, Vec::new())?;
        let theirs: OwnedFd = File::options().read(true).write(true).open(path.to_str()?)?.into();
        tcsetwinsize(&theirs, Winsize { ws_row: 24, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 })?;
        let child = loopwright(folder)
            .args(words)
            .env("TERM", "xterm-256color")
            .stdin(Stdio::from(theirs.try_clone()?))
            .stdout(Stdio::from(theirs.try_clone()?))
            .stderr(Stdio::from(theirs))
            .spawn()?;
        let keys = File::from(ours);
        let mut shown = keys.try_clone()?;
        let (sends, screen) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Once nobody writes any more, reading fails.
            while let Ok(read) = shown.read(&mut bytes) {
                if read == 0 || sends.send(bytes[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, keys, screen, seen: String::new() })
    }

    /// Waits until something was shown.
    fn shows(&mut self, expected: &str) {
        while !self.seen.contains(expected) {
            let bytes = self.screen.recv_timeout(Duration::from_mins(1));
            assert!(bytes.is_ok(), "{expected:?} never came: {}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&bytes.unwrap_or_default()));
        }
    }

    fn types(&mut self, text: &str) -> std::io::Result<()> {
        self.keys.write_all(text.as_bytes())
    }

    /// All that was shown, once it is over.
    fn ends(mut self) -> std::io::Result<(Option<i32>, String)> {
        let code = self.child.wait()?.code();
        while let Ok(bytes) = self.screen.recv_timeout(Duration::from_millis(200)) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
        Ok((code, self.seen))
    }
}

/// What is drawn, without what moves the cursor.
fn drawn(text: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(letter) = rest.next() {
        if letter == '\u{1b}' {
            // Everything up to the letter that says what it does.
            for letter in rest.by_ref().skip(1) {
                if letter.is_ascii_alphabetic() {
                    assert_ne!(letter, 'm', "colours: {text:?}");
                    break;
                }
            }
        } else {
            plain.push(letter);
        }
    }
    plain.split(['\r', '\n']).map(str::to_owned).collect()
}

#[test]
fn what_is_at_work_is_shown_and_a_question_is_left_alone() -> Outcome {
    let folder = project("terminal", PATIENT)?;
    let mut terminal = Terminal::start(&folder, &["run", "greet", "world"])?;
    terminal.shows("write.1 (coder) · fixes 1, retries 2 left");
    fs::write(folder.join(".git/go"), "")?;
    terminal.shows("answer (nothing: later)?");
    let before = terminal.seen.clone();
    terminal.types("yes\n")?;
    terminal.shows("go on with `loopwright greet go world`");
    let (code, seen) = terminal.ends()?;
    assert_eq!(code, Some(3), "{seen}");
    let question = before.find("Ship it?").unwrap_or_default();
    assert!(question > 0, "{before}");
    // From the question on nothing is drawn but what was typed.
    let after = &seen[question..];
    let typed = after.find("later)?").and_then(|it| after[it..].find("yes")).unwrap_or_default();
    assert!(typed > 0 && !after[..typed].contains('\u{1b}'), "{after:?}");
    for line in drawn(&seen) {
        let bar = line.contains(" left");
        assert!(!bar || line.chars().count() <= usize::from(COLUMNS), "{line:?}");
    }
    assert!(seen.contains("write.1 -> done ("), "{seen}");
    Ok(())
}

#[test]
fn somebody_who_answers_later_is_asked_again_whatever_is_declared() -> Outcome {
    let folder = project("terminal-later", "cat > /dev/null; echo hello > greeting")?;
    let path = folder.join(".loopwright/workflows/greet/workflow.yaml");
    let text =
        fs::read_to_string(&path)?.replace("asks: \"Ship it?\",", "asks: \"Ship it?\", unattended: yes,");
    fs::write(&path, text)?;
    git(&folder, &["commit", "--quiet", "--all", "--message", "declared"])?;
    let mut terminal = Terminal::start(&folder, &["run", "greet", "world"])?;
    terminal.shows("answer (nothing: later)?");
    // Who answers elsewhere meanwhile is told that it does not count, and it does not.
    let elsewhere = say(&folder, &format!("answer {} yes", name(&folder)?))?;
    assert_eq!(elsewhere.code, Some(6), "{}", elsewhere.stderr);
    assert!(elsewhere.stderr.contains("nothing was kept of this answer"), "{}", elsewhere.stderr);
    terminal.types("\n")?;
    let (code, seen) = terminal.ends()?;
    assert_eq!(code, Some(3), "{seen}");
    let status = say(&folder, &format!("status {}", name(&folder)?))?.stdout;
    assert!(status.contains("waits for    an answer: Ship it?"), "{status}");
    Ok(())
}

const ITEMS: &str = r#"
workflow: several
about: Several at once, one of which asks.
subject: thing
documents:
  tasks: {file: tasks.yaml, as: yaml, shape: {items: [{id: text}]}}
roles:
  worker: {agent: worker, prompt: "{{item.id}}"}
questions:
  good: {asks: "Is it good?", answers: [yes, no]}
states:
  all: {each: {item: task, in: docs.tasks.items, at-once: 2, run: one}, on: {done: done, bad | failures: failed}}
  done: {end: success}
  failed: {end: failure}
children:
  one:
    defaults: {failures: bad}
    facts: {asks: {in: [yes, no], is: "item.id == 'asks' ? 'yes' : 'no'"}}
    states:
      first: {agent: worker, then: second}
      second: {choose: [{when: {asks: yes}, to: ask}, third]}
      third: {agent: worker, then: done}
      ask: {ask: good, on: {yes: done, no | deferred: bad}}
      done: {end: success}
      bad: {end: failure}
"#;

/// One item comes to its question at once; the other works until it is told to go on, and then goes on.
const WORKER: &str = "cat > /dev/null; [ $LOOPWRIGHT_ITEM = asks ] || until [ -e .git/go ]; do sleep 0.02; done; echo > .git/$LOOPWRIGHT_ITEM-$LOOPWRIGHT_STATE";

#[test]
fn others_go_on_while_somebody_is_asked_and_say_so_afterwards() -> Outcome {
    let folder = project("terminal-items", PATIENT)?;
    fs::create_dir_all(folder.join(".loopwright/workflows/several"))?;
    fs::write(folder.join(".loopwright/workflows/several/workflow.yaml"), ITEMS)?;
    fs::write(folder.join("tasks.yaml"), "items: [{id: asks}, {id: works}]\n")?;
    let config = format!("agents: {{worker: {{command: {}}}}}\n", serde_json::Value::from(WORKER));
    fs::write(folder.join(".loopwright/config.yaml"), config)?;
    let checked = say(&folder, "check several")?;
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
    let mut terminal = Terminal::start(&folder, &["run", "several", "house"])?;
    terminal.shows("works: first.1 (worker)");
    terminal.shows("answer (nothing: later)?");
    fs::write(folder.join(".git/go"), "")?;
    // It has come two states further by then.
    waited_for(&folder.join(".git/works-third"));
    terminal.types("yes\n")?;
    terminal.shows("success, at `done`");
    let (code, seen) = terminal.ends()?;
    assert_eq!(code, Some(0), "{seen}");
    let after = seen.split("later)?").nth(1).unwrap_or_default();
    let typed = after.find("yes").unwrap_or_default();
    assert!(after[..typed].trim().is_empty(), "{after:?}");
    assert!(after[typed..].contains("works: first.1 -> done ("), "{after:?}");
    Ok(())
}

#[test]
fn findings_are_asked_about_one_after_the_other() -> Outcome {
    let folder = crate::per_finding::remarks("terminal-findings")?;
    let mut terminal = Terminal::start(&folder, &["run", "greet", "world"])?;
    terminal.shows("Mend it: too short?");
    terminal.types("leave\n")?;
    terminal.shows("Mend it: too loud?");
    // Later: what was answered is on record.
    terminal.types("\n")?;
    let (code, _) = terminal.ends()?;
    assert_eq!(code, Some(3));
    let mut terminal = Terminal::start(&folder, &["resume", &name(&folder)?])?;
    terminal.shows("Mend it: too loud?");
    terminal.types("leave\n")?;
    terminal.shows("Ship it?");
    terminal.types("\n")?;
    let (_, shown) = terminal.ends()?;
    assert!(!shown.contains("too short?"), "{shown}");
    Ok(())
}
