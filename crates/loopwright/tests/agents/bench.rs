//! A scratch repository, a workflow, a model that plays by a script, and the binary.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use loopwright_testkit::{ModelServer, Scripts};
use serde_json::Value;

use crate::real::Real;

/// How long anything may take before a test says that it does not come.
pub(crate) const LONG: Duration = Duration::from_mins(2);

const WORKFLOW: &str = "workflow: real
about: One call of a real agent.
subject: what
vars: {who: {in: [worker, judge], start: worker, input: true}}
caps: {calls: 3}
documents:
  code: {files: [\"src/**\"]}
roles:
  worker:
    agent: real
    prompt: \"Do as the script says. [[script:{{subject}}]]\"
    may-write: [code]
    timeout: TIMEOUT
  judge:
    agent: real
    prompt: \"Judge as the script says. [[script:{{subject}}]]\"
    verdicts: [APPROVED, NEEDS_FIX]
    findings: {severity: [minor, major], at-least: {major: NEEDS_FIX}}
    timeout: TIMEOUT
states:
  begin: {choose: [{when: {who: judge}, to: judge}, {to: work}]}
  work: {agent: worker, then: done, on: {failures: failed}}
  judge: {review: judge, on: {APPROVED: done, NEEDS_FIX: sent-back, failures: failed}}
  done: {end: success}
  sent-back: {end: stopped}
  failed: {end: failure}
";

/// One case's surroundings.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    pub(crate) server: ModelServer,
}

impl Bench {
    pub(crate) fn of(agent: &Real, scripts: &str) -> Self {
        Self::within(agent, scripts, "90s")
    }

    /// The same, with calls that may take so long.
    pub(crate) fn within(agent: &Real, scripts: &str, timeout: &str) -> Self {
        let scripts = Scripts::parse(scripts).expect("scripts");
        Self::of_several(&[("real", agent)], scripts, |bench| {
            bench.write("notes.txt", "notes\n");
            bench.write(".loopwright/workflows/real/workflow.yaml", &WORKFLOW.replace("TIMEOUT", timeout));
        })
    }

    /// A repository with several agents, each by a name. More can be written into it before it is committed.
    pub(crate) fn of_several(agents: &[(&str, &Real)], scripts: Scripts, more: impl Fn(&Self)) -> Self {
        let server = ModelServer::start(scripts).expect("a model");
        let bench = Self { folder: tempfile::tempdir().expect("a folder"), server };
        let repo = bench.repo();
        bench.write("src/lib.txt", "one\n");
        let (url, folder) = (bench.server.url(), bench.folder.path());
        let line = |(name, it): &(&str, &Real)| format!("  {name}: {}\n", it.config(&url, folder));
        let entries: String = agents.iter().map(line).collect();
        bench.write(".loopwright/config.yaml", &format!("agents:\n{entries}"));
        more(&bench);
        for arguments in [
            &["init", "-q", "-b", "main"] as &[&str],
            &["config", "user.name", "Test"],
            &["config", "user.email", "test@localhost"],
            &["add", "-A"],
            &["commit", "-qm", "first"],
        ] {
            let done = Command::new("git").args(arguments).current_dir(&repo).status().expect("git");
            assert!(done.success(), "git {arguments:?}");
        }
        bench
    }

    pub(crate) fn repo(&self) -> PathBuf {
        let repo = self.folder.path().join("repo");
        fs::create_dir_all(&repo).expect("a folder");
        repo
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.repo().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub(crate) fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.repo().join(path)).ok()
    }

    /// A folder beside the repository, where no agent has anything to do.
    pub(crate) fn beside(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_loopwright"));
        let home = self.folder.path().join("home");
        fs::create_dir_all(&home).expect("a folder");
        command.args(arguments).current_dir(self.repo()).env_clear();
        command.env("HOME", home).env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("SECRET_OF_MINE", "not-for-agents-0123456789");
        command
    }

    pub(crate) fn loopwright(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary")
    }

    /// Begins a run in the background of this test.
    pub(crate) fn begin(&self, script: &str, who: &str) -> Child {
        let arguments = ["run", "real", script, "--set", &format!("who={who}"), "--json"];
        let mut command = self.command(&arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        // It leads a group, so that all of that can be sent a signal.
        command.process_group(0).spawn().expect("the binary")
    }

    /// Reads what a run says until one of two words comes: which.
    pub(crate) fn hears(run: &mut Child, words: [&'static str; 2]) -> Option<&'static str> {
        let said = BufReader::new(run.stdout.take().expect("what it says"));
        said.lines().map_while(Result::ok).find_map(|line| words.into_iter().find(|it| line.contains(it)))
    }

    /// Runs a script to its end: what the call came out as.
    pub(crate) fn outcome(&self, script: &str, who: &str) -> Value {
        let output = self.loopwright(&["run", "real", script, "--set", &format!("who={who}")]);
        let outcomes = self.outcomes();
        outcomes.last().cloned().unwrap_or_else(|| {
            panic!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
        })
    }

    /// The name of the only run.
    pub(crate) fn run(&self) -> String {
        let listed = self.loopwright(&["list", "--json"]);
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        let line: Value =
            text.lines().next().and_then(|it| serde_json::from_str(it).ok()).unwrap_or_default();
        line["run"].as_str().or(line["name"].as_str()).unwrap_or_default().to_owned()
    }

    /// What all calls of the only run came out as.
    pub(crate) fn outcomes(&self) -> Vec<Value> {
        let log = self.loopwright(&["log", &self.run(), "--json"]);
        let events = String::from_utf8_lossy(&log.stdout).into_owned();
        let events = events.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok());
        events
            .filter(|it| it["event"]["event"] == "settled")
            .map(|it| it["event"]["evidence"].clone())
            .collect()
    }

    /// What was kept of the last call under a name.
    pub(crate) fn kept(&self, name: &str) -> String {
        let outcomes = self.outcomes();
        let kept = outcomes.last().and_then(|it| it["kept"][name].as_str()).unwrap_or_default().to_owned();
        let log = self.loopwright(&["log", &self.run(), "--kept", &kept]);
        String::from_utf8_lossy(&log.stdout).into_owned()
    }
}

/// Whether a process is there, and not only its remains.
pub(crate) fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

impl Bench {
    /// What still runs in the repository or in a folder of a call: the agent, its tools, whatever they started.
    pub(crate) fn left_running(&self) -> Vec<String> {
        let folder = self.folder.path().canonicalize().expect("a folder");
        let all = fs::read_dir("/proc").expect("processes").filter_map(Result::ok).map(|it| it.path());
        let here = all.filter(|it| fs::read_link(it.join("cwd")).is_ok_and(|it| it.starts_with(&folder)));
        let name =
            |it: PathBuf| fs::read_to_string(it.join("cmdline")).unwrap_or_default().replace('\0', " ");
        here.map(name).filter(|it| !it.is_empty()).collect()
    }
}

/// Waits until something is so.
pub(crate) fn until(what: &str, is: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !is() {
        assert!(begun.elapsed() < LONG, "it did not come to it: {what}");
        std::thread::yield_now();
    }
}
