//! What an agent has of its own in a call, seen from inside: a program that plays a command line writes down what it
//! finds.
#![expect(clippy::expect_used, reason = "these are tests")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use loopwright_agents::{Cli, Settings, Surroundings, dialects};
use loopwright_engine::FenceConfig;
use loopwright_engine::agents::{Agent as _, Call, May, Reply, Session, Usual};
use loopwright_engine::process::{Cancel, Supervisor};

/// A machine: a home with secrets in it, a project, and a program that plays a command line.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Self { folder: tempfile::tempdir().expect("a folder") };
        for (path, text) in [
            (
                "home/.claude/.credentials.json",
                r#"{"claudeAiOauth": {"accessToken": "token-of-mine-0123456789"}}"#,
            ),
            ("home/.ssh/id", "a key"),
            ("home/plain.txt", "plain"),
            ("home/.config/tool.json", r#"{"tool": 1}"#),
            ("project/file.txt", "file"),
        ] {
            let path = machine.path(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        machine
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// A command line of a dialect whose program is a shell script.
    fn cli(&self, dialect: &str, script: &str, settings: Settings) -> Cli {
        let program = self.path("program");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a file");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a program");
        let environment = [
            ("PATH", "/usr/bin:/bin"),
            ("ANTHROPIC_API_KEY", "key-of-mine-0123456789"),
            ("DATABASE_PASSWORD", "not-for-agents"),
            ("AWS_SECRET_ACCESS_KEY", "cloud-of-mine"),
        ];
        let surroundings = Surroundings {
            home: self.path("home"),
            environment: environment.map(|(name, it)| (name.to_owned(), it.to_owned())).to_vec(),
            fence: FenceConfig::default(),
            holds: loopwright_engine::process::Fence::holds,
        };
        Cli {
            dialect: dialects::named(dialect).expect("a dialect"),
            settings: Settings {
                program: Some(program.to_string_lossy().into_owned()),
                fence: true,
                ..settings
            },
            surroundings: Arc::new(surroundings),
        }
    }

    fn call(&self) -> Call {
        let own = self.path("own");
        std::fs::create_dir_all(&own).expect("a folder");
        Call {
            prompt: "What to do.".to_owned(),
            folder: self.path("project"),
            own,
            environment: vec![("LOOPWRIGHT_ROLE".to_owned(), "coder".to_owned())],
            wall: Duration::from_mins(2),
            idle: Duration::from_mins(2),
            may: May { write: true, git: false, network: false, shell: true },
            model: None,
            effort: None,
            usual: Usual::default(),
            arguments: Vec::new(),
            tools: None,
            schema: None,
            session: None,
            costs: None,
            fence: None,
        }
    }

    fn reply(&self, dialect: &str, script: &str, settings: Settings, call: &Call) -> Reply {
        let supervisor = Supervisor {
            program: env!("CARGO_BIN_EXE_loopwright-mcp-face").into(),
            arguments: vec!["supervise".into()],
        };
        self.cli(dialect, script, settings).call(call, &supervisor, &Cancel::default()).expect("it is called")
    }
}

const DONE: &str = r#"echo '{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s1","usage":{"input_tokens":1,"output_tokens":2},"total_cost_usd":0.0011}'"#;

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn an_agent_finds_its_credentials_and_nothing_else_of_mine() {
    let machine = Machine::new();
    let script = format!("env > env.txt; (cd; find . -type f) > home.txt; cat > prompt.txt; {DONE}");
    let reply = machine.reply("claude", &script, Settings::default(), &machine.call());
    assert_eq!(reply.failed, None, "{reply:?}");
    let project = machine.path("project");
    let environment = read(&project.join("env.txt"));
    assert!(environment.contains("ANTHROPIC_API_KEY=key-of-mine"), "{environment}");
    assert!(environment.contains("LOOPWRIGHT_ROLE=coder"), "{environment}");
    for not in [
        "DATABASE_PASSWORD",
        "IS_SANDBOX",
        "cloud-of-mine",
        &format!("HOME={}\n", machine.path("home").display()),
    ] {
        assert!(!environment.contains(not), "{environment}");
    }
    assert_eq!(read(&project.join("home.txt")).trim(), "./.claude/.credentials.json");
    assert_eq!(read(&project.join("prompt.txt")), "What to do.");
    assert_eq!(
        reply.session,
        Some(Session { id: "s1".into(), state: reply.session.clone().expect("one").state })
    );
    assert_eq!((reply.cost.tokens, reply.cost.money), (3, 2), "what is not nothing is not told as nothing");
}

#[test]
fn what_i_name_goes_along_and_values_are_filled_in() {
    let machine = Machine::new();
    let script = format!("cat ~/.config/tool.json > tool.txt; echo \"$ONE $TWO\" > env.txt; {DONE}");
    let environment = [("ONE", "plain"), ("TWO", "$DATABASE_PASSWORD")];
    let settings = Settings {
        files: vec!["~/.config/tool.json".to_owned()],
        environment: environment
            .map(|(name, it)| (name.to_owned(), it.to_owned()))
            .into_iter()
            .collect::<IndexMap<_, _>>(),
        ..Settings::default()
    };
    machine.reply("claude", &script, settings, &machine.call());
    assert_eq!(read(&machine.path("project/tool.txt")), r#"{"tool": 1}"#);
    assert_eq!(read(&machine.path("project/env.txt")), "plain not-for-agents\n");
}

#[test]
fn secrets_are_not_kept() {
    let machine = Machine::new();
    let script = format!("echo \"$ANTHROPIC_API_KEY\" >&2; cat ~/.claude/.credentials.json; echo; {DONE}");
    let reply = machine.reply("claude", &script, Settings::default(), &machine.call());
    assert!(reply.transcript.contains("[secret]"), "{}", reply.transcript);
    for secret in ["token-of-mine", "key-of-mine"] {
        assert!(!reply.transcript.contains(secret), "{}", reply.transcript);
    }
}

#[test]
fn renewed_credentials_come_back() {
    let machine = Machine::new();
    let renewed = r#"{"claudeAiOauth": {"accessToken": "another-token-0123456789"}}"#;
    let script = format!("printf '%s' '{renewed}' > ~/.claude/.credentials.json; {DONE}");
    machine.reply("claude", &script, Settings::default(), &machine.call());
    assert_eq!(read(&machine.path("home/.claude/.credentials.json")), renewed);
}

#[test]
fn one_that_ends_before_it_reads_is_told_by_its_own_end() {
    let machine = Machine::new();
    let mut call = machine.call();
    call.prompt = "long ".repeat(1 << 20);
    let reply = machine.reply("claude", "echo 'no such flag' >&2; exit 1", Settings::default(), &call);
    let (signal, why) = reply.failed.expect("it failed");
    assert_eq!(signal, "crashed");
    assert!(why.contains("no such flag"), "{why}");
    let reply = machine.reply("claude", "exit 1", Settings::default(), &call);
    let (_, why) = reply.failed.expect("it failed");
    assert!(why.contains("broken pipe"), "it says nothing itself: {why}");
}

#[test]
fn secrets_are_taken_out_of_answers() {
    let machine = Machine::new();
    let settings = Settings {
        environment: [("OTHER_TOKEN".to_owned(), "configured-0123456789".to_owned())].into_iter().collect(),
        ..Settings::default()
    };
    let cli = machine.cli("claude", DONE, settings);
    let said = "key-of-mine-0123456789 token-of-mine-0123456789 configured-0123456789 plain";
    assert_eq!(cli.without_secrets(said), "[secret] [secret] [secret] plain");
}

#[test]
fn a_command_of_ones_own_stands_in_last() {
    let mut config = loopwright_engine::Config::default();
    let command = Some(loopwright_engine::OneOrMany::One("cat".to_owned()));
    let script = loopwright_engine::AgentConfig { command, ..Default::default() };
    let codex = loopwright_engine::AgentConfig { model: Some("x".to_owned()), ..Default::default() };
    config.agents.extend([("script".to_owned(), script), ("codex".to_owned(), codex)]);
    let spare: Vec<String> = loopwright_agents::crew(&config).spare.iter().map(ToString::to_string).collect();
    assert_eq!(spare, ["codex", "claude", "gemini", "opencode", "copilot", "script"]);
}
