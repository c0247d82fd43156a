//! Actions, each played undisturbed and then once for every moment at which whoever drives may die: performed again, it
//! leaves the same.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loopwright_core::definition::Outcome as Ending;
use loopwright_core::language::Folder;
use loopwright_core::machine::{Event, Evidence};
use loopwright_engine::journal::{Journal, JournalError};
use loopwright_engine::process::Cancel;
use loopwright_engine::{Begin, Driver, Engine, Standing};

use crate::bench::{Bench, workflow};
use crate::watched::{Change, Watched, When};

/// What is played.
pub(crate) struct Case {
    /// What it shows.
    pub(crate) what: &'static str,
    /// Top of the file besides what every case has: documents, `folder`, lists.
    pub(crate) top: &'static str,
    /// The actions, one a line.
    pub(crate) actions: &'static [&'static str],
    pub(crate) before: &'static [(&'static str, &'static str)],
    /// Files afterwards; an empty text is a file that is not there.
    pub(crate) after: &'static [(&'static str, &'static str)],
    /// How each action that was begun came out.
    pub(crate) signals: &'static [&'static str],
    /// Words of what was said of the last.
    pub(crate) why: &'static str,
    /// What is done to the repository before.
    pub(crate) given: fn(&Bench),
}

/// A case of which nothing is known yet.
pub(crate) const CASE: Case = Case {
    what: "",
    top: "",
    actions: &[],
    before: &[],
    after: &[],
    signals: &["done"],
    why: "",
    given: |_| {},
};

impl Case {
    fn folder(&self) -> Folder {
        let mut text = format!("workflow: case\nsubject: thing\n{}\n", self.top);
        text.push_str("budgets: {retries: {limit: 3, per: visit}}\ndefaults:\n");
        text.push_str("  lost: {to: again, spend: retries, else: failed}\n  failures: failed\n");
        text.push_str("states:\n  act:\n    do:\n");
        for action in self.actions {
            let _ = writeln!(text, "      - {action}");
        }
        text.push_str("    then: done\n  done: {end: success}\n  failed: {end: failure}\n");
        workflow(&text)
    }

    fn bench(&self) -> Bench {
        let bench = Bench::with(self.before);
        (self.given)(&bench);
        bench
    }
}

/// What a run left.
#[derive(Debug, PartialEq)]
pub(crate) struct Left {
    pub(crate) ending: Option<Ending>,
    pub(crate) signals: Vec<String>,
    pub(crate) why: String,
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) branches: String,
    pub(crate) status: String,
}

/// All files of the repository and beside it, but git's own.
fn files(bench: &Bench) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![bench.around().to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|it| it.expect("a file").path()) {
            let name = entry.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
            let git = Path::new(&name).extension().is_some_and(|it| it == "git") || name == ".git";
            if entry.is_dir() && !git && !entry.is_symlink() {
                waiting.push(entry);
            } else if !git {
                let path = entry.strip_prefix(bench.around()).expect("below").to_string_lossy().into_owned();
                let path = path.strip_prefix("repo/").map_or_else(|| format!("../{path}"), str::to_owned);
                found.insert(path, std::fs::read_to_string(&entry).unwrap_or_default());
            }
        }
    }
    found
}

pub(crate) fn left(bench: &Bench, engine: &Engine, name: &str, standing: &Standing) -> Left {
    let Standing::Over { ending, .. } = standing else { panic!("{standing:?}") };
    let (mut signals, mut why) = (Vec::new(), String::new());
    for stored in engine.journal.events(name, 0).expect("events") {
        if let Event::Settled { evidence: Evidence::Out(outcome), .. } = stored.event
            && *outcome.signal != *"lost"
        {
            signals.push(outcome.signal.to_string());
            why.clone_from(&outcome.summary);
        }
    }
    let format = "--format=%(refname) %(tree) %(subject)";
    Left {
        ending: *ending,
        signals,
        why: why.replace(&bench.around().to_string_lossy().into_owned(), "AROUND"),
        files: files(bench),
        branches: format!(
            "{}\n{}",
            bench.git(&["for-each-ref", format, "refs/heads", "refs/remotes"]),
            bench.git(&["worktree", "list"]).lines().count()
        ),
        status: bench.git(&["status", "--porcelain", "--branch"]),
    }
}

fn begin() -> Begin {
    Begin { subject: "greet".into(), ..Begin::default() }
}

/// Begins a run; says what is wrong with the workflow if it may not run.
pub(crate) fn start<'e>(engine: &'e Engine, folder: &Folder) -> Driver<'e> {
    engine.begin(folder, &begin(), &Cancel::default()).unwrap_or_else(|error| {
        let loaded = loopwright_core::language::load(folder);
        let report = loaded.workflow.as_ref().map(loopwright_core::check::check);
        panic!("{error}: {:#?} {:#?}", loaded.problems, report.map(|it| it.problems))
    })
}

pub(crate) const DEAD: &str = "whoever drove is dead";

/// A journal whose user dies at some append: before it is written, or after.
pub(crate) fn dying(inner: Arc<dyn Journal>, at: usize, written: bool) -> Arc<dyn Journal> {
    let left = AtomicUsize::new(at);
    Watched::around(inner, move |when, change| {
        let append = matches!(change, Change::Append(_));
        let last = if written { When::After } else { When::Before };
        if append && when == last && left.load(Ordering::SeqCst) > 0 {
            left.fetch_sub(1, Ordering::SeqCst);
        }
        let dead = left.load(Ordering::SeqCst) == 0;
        if dead { Err(JournalError::Damaged { what: DEAD.into() }) } else { Ok(()) }
    })
}

/// Drives a run to its end for every moment at which whoever drives may die.
pub(crate) fn die_everywhere(
    what: &str,
    folder: &Folder,
    bench: &dyn Fn() -> Bench,
    agents: &[(&str, &str)],
) -> (Bench, Left) {
    let undisturbed = bench();
    let engine = undisturbed.engine(agents);
    let driver = start(&engine, folder);
    let name = driver.name().to_owned();
    let standing = driver.drive().unwrap_or_else(|it| panic!("{what}: {it}"));
    let expected = left(&undisturbed, &engine, &name, &standing);
    let mut points = 0;
    for written in [false, true] {
        for at in 2.. {
            let bench = bench();
            let mut engine = bench.engine(agents);
            let inner = Arc::clone(&engine.journal);
            engine.journal = dying(inner, at, written);
            let driver = start(&engine, folder);
            let name = driver.name().to_owned();
            match driver.drive() {
                Ok(_) => break,
                Err(error) => assert!(error.to_string().contains(DEAD), "{what}: {error}"),
            }
            points += 1;
            let later = bench.engine(agents).after(60_000);
            let standing = later.drive(&name, &Cancel::default());
            let standing = standing.unwrap_or_else(|it| panic!("{what}, died at {at}: {it}"));
            let mut found = left(&bench, &later, &name, &standing);
            // It may say that it was done already.
            if found.ending == Some(Ending::Success) {
                found.why.clone_from(&expected.why);
            }
            assert_eq!(found, expected, "{what}: died at append {at}, written: {written}");
        }
    }
    assert!(points > 2, "{what}: only {points} points");
    (undisturbed, expected)
}

/// Plays cases.
pub(crate) fn play(cases: &[Case]) {
    for case in cases {
        let (_, left) = die_everywhere(case.what, &case.folder(), &|| case.bench(), &[]);
        let what = case.what;
        assert_eq!(left.signals, case.signals, "{what}: {left:#?}");
        assert!(left.why.contains(case.why), "{what}: {}", left.why);
        let ends = if case.signals.contains(&"failed") { Ending::Failure } else { Ending::Success };
        assert_eq!(left.ending, Some(ends), "{what}");
        for (path, text) in case.after {
            let found = left.files.get(*path).map(String::as_str);
            assert_eq!(found.unwrap_or_default(), *text, "{what}: {path} of {left:#?}");
            assert_eq!(found.is_some(), !text.is_empty(), "{what}: {path}");
        }
        // What a refused action leaves is what was there.
        if case.signals == ["failed"] {
            assert_eq!(left.files, files(&case.bench()), "{what}");
        }
    }
}
