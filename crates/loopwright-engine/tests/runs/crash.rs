//! Whoever drives may die at any moment: the run ends as it would have, nothing that came back is done again, and what
//! is done again was lost.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use indexmap::IndexMap;
use loopwright_core::definition::Outcome as Ending;
use loopwright_core::machine::{Event, Evidence};
use loopwright_engine::journal::{
    Batch, Journal, JournalError, Lease, Letter, Millis, NewRun, RunLine, Snapshot, Stored,
};
use loopwright_engine::process::Cancel;
use loopwright_engine::{Answered, Asking, Begin, Driver, Engine, Message, Standing};

use crate::bench::{Bench, workflow};

const STEADY: &str = r#"
workflow: steady
subject: thing
budgets:
  fixes: {limit: 2, shared: true}
  retries: {limit: 3, per: visit}
documents:
  code: {files: ["src/**"]}
  notes: {file: NOTES.md}
roles:
  coder: {agent: coder, prompt: "Write {{subject}}.", may-write: [code]}
  judge: {agent: judge, prompt: "Judge it.", verdicts: [GOOD, BAD], findings: {severity: [bad]}}
questions:
  ship: {asks: "Ship {{subject}}?", shows: [maybe docs.code], answers: [yes, no]}
verbs:
  go: {}
defaults:
  lost: {to: again, spend: retries, else: failed}
  failures: failed
states:
  write: {agent: coder, then: checks}
  checks:
    check: project.test
    judges: code
    on: {pass: review, fail: {to: fix, spend: fixes, else: failed}}
  review:
    review: judge
    judges: code
    on: {GOOD: ask, BAD: {to: fix, spend: fixes, else: failed}}
  fix: {agent: coder, then: checks}
  ask:
    ask: ship
    needs: [checks, review]
    on: {yes: note, no | deferred: failed}
  note:
    do: [{write: notes, from: "{{subject}} was shipped on {{today}} by {{run}}.\n"}]
    then: rest
  rest: {rest: "Say go.", on: {verb go: commit}}
  commit:
    do: [{commit: "{{subject}}", what: [code, notes]}, {say: "committed"}]
    needs: [checks, review]
    then: done
  done: {end: success, says: "done"}
  failed: {end: failure}
"#;

/// Each of them writes down that it was called.
const CODER: &str = r#"
    cat > /dev/null
    echo "$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT" >> "$(git rev-parse --git-dir)/called"
    mkdir -p src
    case "$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT" in
      write.1) echo one > src/a ;;
      fix.1) echo two > src/a ;;
      fix.2) echo three > src/a ;;
    esac
"#;

const JUDGE: &str = r#"
    cat > /dev/null
    echo "$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT" >> "$(git rev-parse --git-dir)/called"
    if [ "$LOOPWRIGHT_VISIT" = 1 ]; then
      printf '```json\n{"verdict": "BAD", "findings": [{"severity": "bad", "text": "two is not enough"}]}\n```\n'
    else
      printf '```json\n{"verdict": "GOOD"}\n```\n'
    fi
"#;

const TEST: &str = "echo \"checks\" >> \"$(git rev-parse --git-dir)/called\"; grep -q 'two\\|three' src/a\n";

/// A journal whose user dies at some append: before it is written, or after.
pub(crate) struct Dying {
    pub(crate) inner: Arc<dyn Journal>,
    pub(crate) left: AtomicUsize,
    pub(crate) written: bool,
}

pub(crate) const DEAD: &str = "whoever drove is dead";

impl Dying {
    fn dead<T>() -> Result<T, JournalError> {
        Err(JournalError::Damaged { what: DEAD.into() })
    }

    fn alive(&self) -> Result<(), JournalError> {
        if self.left.load(Ordering::SeqCst) == 0 { Self::dead() } else { Ok(()) }
    }
}

impl Journal for Dying {
    fn create(&self, run: &NewRun) -> Result<(), JournalError> {
        self.alive()?;
        self.inner.create(run)
    }

    fn append(&self, batch: &Batch) -> Result<u64, JournalError> {
        self.alive()?;
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            if self.written {
                self.inner.append(batch)?;
            }
            return Self::dead();
        }
        self.inner.append(batch)
    }

    fn events(&self, run: &str, after: u64) -> Result<Vec<Stored>, JournalError> {
        self.inner.events(run, after)
    }

    fn snapshot(&self, run: &str) -> Result<Option<Snapshot>, JournalError> {
        self.inner.snapshot(run)
    }

    fn run(&self, run: &str) -> Result<RunLine, JournalError> {
        self.inner.run(run)
    }

    fn runs(&self) -> Result<Vec<RunLine>, JournalError> {
        self.inner.runs()
    }

    fn put(&self, bytes: &[u8]) -> Result<String, JournalError> {
        self.alive()?;
        self.inner.put(bytes)
    }

    fn blob(&self, digest: &str) -> Result<Option<Vec<u8>>, JournalError> {
        self.inner.blob(digest)
    }

    fn lease(&self, run: &str, holder: &str, now: Millis, until: Millis) -> Result<Lease, JournalError> {
        self.alive()?;
        self.inner.lease(run, holder, now, until)
    }

    fn renew(&self, lease: &Lease, until: Millis) -> Result<(), JournalError> {
        self.alive()?;
        self.inner.renew(lease, until)
    }

    fn release(&self, lease: &Lease) -> Result<(), JournalError> {
        self.alive()?;
        self.inner.release(lease)
    }

    fn post(&self, run: &str, at: Millis, body: &str) -> Result<(), JournalError> {
        self.inner.post(run, at, body)
    }

    fn inbox(&self, run: &str) -> Result<Vec<Letter>, JournalError> {
        self.inner.inbox(run)
    }
}

/// What a run leaves behind.
#[derive(Debug, PartialEq)]
struct Left {
    ending: Option<Ending>,
    code: String,
    notes: String,
    commits: String,
    status: String,
}

fn say(engine: &Engine, name: &str, message: &Message) {
    let body = serde_json::to_string(message).expect("a message");
    engine.journal.post(name, 0, &body).expect("it is left");
}

/// Drives a run to its end, whatever it waits for.
fn to_the_end(bench: &Bench, engine: &Engine, name: &str) -> Left {
    loop {
        match engine.drive(name, &Cancel::default()).expect("it goes on") {
            Standing::Over { ending, .. } => {
                return Left {
                    ending,
                    code: bench.read("src/a"),
                    notes: bench.read("NOTES.md").replace(name, "RUN"),
                    commits: bench.git(&["log", "--format=%s"]),
                    status: bench.git(&["status", "--porcelain"]),
                };
            }
            Standing::Waits { asking, .. } => {
                let message = match *asking {
                    Asking::Verbs { .. } => Message::Say { verb: "go".into(), inputs: IndexMap::default() },
                    // Somebody answered, and it was not written down before whoever asked was dead.
                    Asking::Question(_) => Message::Answer(yes()),
                };
                say(engine, name, &message);
            }
            Standing::CalledOff { .. } => panic!("nobody called it off"),
        }
    }
}

fn bench() -> Bench {
    let bench = Bench::with(&[("test.sh", TEST)]);
    bench.answers.left.lock().expect("answers").push(yes());
    bench
}

fn yes() -> Answered {
    Answered { answer: "yes".into(), ..Answered::default() }
}

fn begin() -> Begin {
    Begin { subject: "greet".into(), ..Begin::default() }
}

const AGENTS: [(&str, &str); 2] = [("coder", CODER), ("judge", JUDGE)];

/// How often each effect was performed, as far as the agents say.
fn called(bench: &Bench) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in bench.read(".git/called").lines() {
        *counts.entry(line.to_owned()).or_insert(0) += 1;
    }
    counts
}

/// How often each effect came back, and how often as lost.
fn settled(engine: &Engine, name: &str) -> (BTreeMap<String, usize>, BTreeMap<String, usize>) {
    let (mut all, mut lost) = (BTreeMap::new(), BTreeMap::new());
    for stored in engine.journal.events(name, 0).expect("events") {
        if let Event::Settled { effect, evidence: Evidence::Out(outcome) } = stored.event {
            let counts = if *outcome.signal == *"lost" { &mut lost } else { &mut all };
            *counts.entry(effect.to_string()).or_insert(0) += 1;
        }
    }
    (all, lost)
}

#[test]
fn wherever_a_driver_dies_the_run_ends_the_same() {
    let folder = workflow(STEADY);
    let undisturbed = bench();
    let engine = undisturbed.engine(&AGENTS);
    let driver = engine.begin(&folder, &begin(), &Cancel::default()).expect("it begins");
    let name = driver.name().to_owned();
    drop(driver.drive().expect("it runs"));
    let expected = to_the_end(&undisturbed, &engine, &name);
    assert_eq!(expected.ending, Some(Ending::Success), "{:#?}", undisturbed.lines());
    assert_eq!(expected.code, "three\n");
    assert_eq!(expected.status, "");
    let mut points = 0;
    for written in [false, true] {
        for at in 1.. {
            let bench = bench();
            let mut engine = bench.engine(&AGENTS);
            engine.journal =
                Arc::new(Dying { inner: Arc::clone(&engine.journal), left: AtomicUsize::new(at), written });
            let begun = engine.begin(&folder, &begin(), &Cancel::default());
            let name = engine.journal.runs().expect("runs").first().map(|it| it.run.name.clone());
            let name = name.expect("a run");
            let died = match begun.map(Driver::drive) {
                // It never began: there is nothing to go on with.
                Err(_) if at == 1 && !written => continue,
                Err(error) | Ok(Err(error)) => error.to_string().contains(DEAD),
                Ok(Ok(_)) => {
                    say(&engine, &name, &Message::Say { verb: "go".into(), inputs: IndexMap::default() });
                    engine.drive(&name, &Cancel::default()).is_err_and(|it| it.to_string().contains(DEAD))
                }
            };
            if !died {
                break;
            }
            points += 1;
            // Whoever comes next comes later, when the lease of the dead is over.
            let later = bench.engine(&AGENTS).after(60_000);
            let left = to_the_end(&bench, &later, &name);
            assert_eq!(left, expected, "died at append {at}, written: {written}: {:#?}", bench.lines());
            let (all, lost) = settled(&later, &name);
            assert!(all.values().all(|it| *it == 1), "died at append {at}: came back twice: {all:?}");
            for (effect, count) in called(&bench) {
                if effect == "checks" {
                    continue;
                }
                let lost = lost.get(&effect).copied().unwrap_or(0);
                assert!(
                    count <= 1 + lost,
                    "died at append {at}: {effect} was done {count} times, lost {lost}"
                );
            }
        }
    }
    println!("{points} points");
    assert!(points > 25, "only {points} points");
}
