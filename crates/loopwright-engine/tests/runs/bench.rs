//! A repository, agents that are shell scripts, and an engine around them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use indexmap::IndexMap;
use loopwright_core::language::Folder;
use loopwright_core::machine::{Event, Evidence, RunView};
use loopwright_core::name::Name;
use loopwright_engine::agents::{Agent, CommandAgent};
use loopwright_engine::journal::{Journal, Sqlite};
use loopwright_engine::process::{Cancel, Supervisor};
use loopwright_engine::{
    Answered, Asked, Begin, Config, Engine, EngineError, Home, People, Project, Standing, Watch,
};

/// A repository with an engine.
pub(crate) struct Bench {
    /// The folder around it, which goes when nobody needs it any more.
    _root: Option<tempfile::TempDir>,
    folder: std::path::PathBuf,
    pub(crate) heard: Arc<Heard>,
    pub(crate) answers: Arc<Answers>,
}

/// What was told, in words.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) lines: Mutex<Vec<String>>,
}

impl Watch for Heard {
    fn happened(&self, _run: &str, event: &Event, _view: &RunView) {
        if let Event::Settled { effect, evidence: Evidence::Out(outcome) } = event {
            self.lines.lock().expect("lines").push(format!("{effect} {}", outcome.signal));
        }
    }

    fn said(&self, _run: &str, text: &str) {
        self.lines.lock().expect("lines").push(format!("said: {text}"));
    }
}

/// Answers that people give: to findings by what they say, to anything else in order.
#[derive(Default)]
pub(crate) struct Answers {
    pub(crate) left: Mutex<Vec<Answered>>,
    pub(crate) to_findings: Mutex<BTreeMap<String, Answered>>,
    /// The texts of questions that somebody was asked.
    pub(crate) asked: Mutex<Vec<String>>,
    /// What they were shown with them.
    pub(crate) shown: Mutex<Vec<String>>,
}

impl People for Answers {
    fn ask(&self, asked: &Asked) -> Option<Answered> {
        self.asked.lock().expect("questions").push(asked.text.clone());
        self.shown.lock().expect("what was shown").extend(asked.shows.iter().map(|it| it.1.clone()));
        if let Some(finding) = &asked.finding {
            return self.to_findings.lock().expect("answers").get(&finding.text).cloned();
        }
        let mut left = self.left.lock().expect("answers");
        if left.is_empty() { None } else { Some(left.remove(0)) }
    }
}

impl Bench {
    /// A repository with these files, committed.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("repo");
        std::fs::create_dir(&folder).expect("a folder");
        let bench = Self { _root: Some(root), ..Self::at(folder) };
        bench.git(&["init", "--quiet", "--initial-branch=main"]);
        bench.git(&["config", "user.name", "somebody"]);
        bench.git(&["config", "user.email", "somebody@example.invalid"]);
        for (path, text) in files {
            bench.write(path, text);
        }
        bench.git(&["add", "--all"]);
        bench.git(&["commit", "--quiet", "--message", "start"]);
        bench
    }

    /// One that is there already.
    pub(crate) fn at(folder: std::path::PathBuf) -> Self {
        Self { _root: None, folder, heard: Arc::default(), answers: Arc::default() }
    }

    /// The repository.
    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }

    /// The folder around the repository.
    pub(crate) fn around(&self) -> &Path {
        self.folder.parent().expect("a folder around it")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let place = self.path().join(path);
        std::fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        std::fs::write(place, text).expect("a file");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap_or_else(|it| panic!("{path}: {it}"))
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let said = Command::new("git").args(arguments).current_dir(self.path()).output().expect("git");
        assert!(said.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8_lossy(&said.stdout).trim().to_owned()
    }

    /// An engine with the journal of this repository and shell scripts as agents.
    pub(crate) fn engine(&self, agents: &[(&str, &str)]) -> Engine {
        let home = Home::around(self.path()).expect("a home");
        let journal: Arc<dyn Journal> = Arc::new(Sqlite::open(&home.journal).expect("a journal"));
        let agent =
            |script: &str| Arc::new(CommandAgent { command: vec![script.to_owned()] }) as Arc<dyn Agent>;
        let crew = agents.iter().map(|(name, script)| (Name::from(*name), agent(script))).collect();
        // Time passes whenever somebody asks.
        let now = AtomicU64::new(1_790_000_000_000);
        Engine::new(
            journal,
            home,
            Project::default().with(&Config {
                project: IndexMap::from([("test".to_owned(), "sh test.sh".to_owned())]),
                ..Config::default()
            }),
            crew,
            Supervisor { program: env!("CARGO_BIN_EXE_loopwright-supervise").into(), arguments: Vec::new() },
            Arc::clone(&self.answers) as Arc<dyn People>,
            Arc::clone(&self.heard) as Arc<dyn Watch>,
            Arc::new(move || now.fetch_add(1, Ordering::Relaxed)),
            "the test".into(),
        )
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.heard.lines.lock().expect("lines").clone()
    }
}

/// A workflow of the guide's examples.
pub(crate) fn example(name: &str) -> Folder {
    in_folder("../../docs/guide/examples", name)
}

/// A workflow in a folder of this repository.
pub(crate) fn in_folder(folder: &str, name: &str) -> Folder {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(name);
    let mut files = BTreeMap::new();
    let mut waiting = vec![root.clone()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|it| it.expect("a file").path()) {
            if entry.is_dir() {
                waiting.push(entry);
            } else {
                let path = entry.strip_prefix(&root).expect("below").to_string_lossy().into_owned();
                files.insert(path, std::fs::read(&entry).expect("a file"));
            }
        }
    }
    Folder { name: name.to_owned(), files }
}

/// A workflow of one file, whose prompts are in it.
pub(crate) fn workflow(text: &str) -> Folder {
    let name = text.lines().find_map(|it| it.strip_prefix("workflow: ")).expect("a name");
    Folder {
        name: name.to_owned(),
        files: BTreeMap::from([("workflow.yaml".to_owned(), text.as_bytes().to_vec())]),
    }
}

/// Begins a run and drives it as far as it goes.
pub(crate) fn run(
    engine: &Engine,
    folder: &Folder,
    begin: &Begin,
) -> Result<(String, Standing), EngineError> {
    let driver = engine.begin(folder, begin, &Cancel::default())?;
    let name = driver.name().to_owned();
    Ok((name, driver.drive()?))
}
