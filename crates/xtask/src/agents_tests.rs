//! Installing against a stand-in for npm: a script that does to the folder what npm would, or fails
//! as npm does. What it was asked is written down beside it, a line each.
#![expect(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// A folder of a test, removed at its end.
struct Room(PathBuf);

impl Drop for Room {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Room {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("xtask-agents-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("agents")).unwrap();
        Self(path)
    }

    fn agents(&self) -> PathBuf {
        self.0.join("agents")
    }

    /// A stand-in that keeps a note of each call and then does what the lines say. They find the
    /// folder to install into in `$prefix` and the number of the call in `$call`.
    fn npm(&self, lines: &str) -> String {
        let path = self.0.join("npm");
        let calls = self.0.join("calls");
        let head = format!(
            "#!/bin/sh\necho \"$*\" >> '{calls}'\ncall=$(wc -l < '{calls}')\n\
             while [ $# -gt 1 ]; do [ \"$1\" = --prefix ] && prefix=$2; shift; done\n",
            calls = calls.display()
        );
        fs::write(&path, format!("{head}{lines}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.0.join("calls")).unwrap_or_default();
        text.lines().map(ToOwned::to_owned).collect()
    }

    /// What is below `agents`, so that leftovers show.
    fn left(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.agents())
            .unwrap()
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

const CODEX: &str = "codex";

fn agent(name: &str) -> Agent {
    AGENTS.into_iter().find(|it| it.name == name).unwrap()
}

/// A whole codex of a version: package, machine code, program.
fn whole(version: &str) -> String {
    format!(
        "modules=$prefix/node_modules\nmkdir -p $modules/@openai/codex $modules/@openai/codex-linux-x64 $modules/.bin\n\
         printf '{{\"name\": \"@openai/codex\", \"version\": \"{version}\"}}' > $modules/@openai/codex/package.json\n\
         echo program > $modules/@openai/codex/codex.js\nln -sf ../@openai/codex/codex.js $modules/.bin/codex"
    )
}

#[test]
fn what_is_whole_is_installed_once_and_then_left_alone() {
    let room = Room::new("once");
    let npm = room.npm(&whole("0.166.0"));
    let program = room.agents().join("codex/node_modules/.bin/codex");
    assert_eq!(ensure(&agent(CODEX), &room.agents(), &npm), Outcome::Ready(program.clone()));
    assert_eq!(ensure(&agent(CODEX), &room.agents(), &npm), Outcome::Ready(program));
    assert_eq!(room.left(), ["codex"]);
    let calls = room.calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert!(calls[0].ends_with("@openai/codex@0.166.0"), "{calls:?}");
    assert!(calls[0].contains("--no-audit --no-fund"), "{calls:?}");
}

#[test]
fn what_is_not_whole_is_removed_and_tried_once_more() {
    let right = whole("0.166.0");
    let cases = [
        ("fails", "exit 1".to_owned(), "npm ended with exit status: 1"),
        ("fails-half-way", format!("{right}\nexit 7"), "npm ended with exit status: 7"),
        ("brings-nothing", "true".to_owned(), "cannot read its package.json"),
        ("brings-another-version", whole("0.165.9"), "npm brought version 0.165.9"),
        (
            "has-no-version",
            format!("{right}\necho '{{}}' > $modules/@openai/codex/package.json"),
            "has no version",
        ),
        (
            "has-no-machine-code",
            format!("{right}\nrm -r $modules/@openai/codex-linux-x64"),
            "no `@openai/codex-*`",
        ),
        (
            "has-a-dangling-program",
            format!("{right}\nrm $modules/@openai/codex/codex.js"),
            "no program `codex`",
        ),
    ];
    for (name, lines, expected) in cases {
        let room = Room::new(name);
        let npm = room.npm(&lines);
        let Outcome::Failed(why) = ensure(&agent(CODEX), &room.agents(), &npm) else {
            panic!("{name}: it counts as installed")
        };
        assert!(why.contains(expected), "{name}: {why}");
        assert_eq!((room.calls().len(), room.left()), (2, vec![]), "{name}");

        let second = Room::new(&format!("{name}-first"));
        let npm = second.npm(&format!("if [ $call = 1 ]; then\n{lines}\nexit\nfi\n{right}"));
        let outcome = ensure(&agent(CODEX), &second.agents(), &npm);
        assert!(matches!(outcome, Outcome::Ready(_)), "{name}: {outcome:?}");
        assert_eq!((second.calls().len(), second.left()), (2, vec![CODEX.to_owned()]), "{name}");
    }
}

#[test]
fn a_placeholder_that_no_script_replaced_is_no_program() {
    let placeholder = "modules=$prefix/node_modules\nscope=$modules/@anthropic-ai\n\
         mkdir -p $scope/claude-code $scope/claude-code-linux-x64 $modules/.bin\n\
         printf '{\"version\":\"2.1.325\"}' > $scope/claude-code/package.json\n\
         echo 'echo run the script first' > $modules/.bin/claude";
    let room = Room::new("placeholder");
    let Outcome::Failed(why) = ensure(&agent("claude"), &room.agents(), &room.npm(placeholder)) else {
        panic!("it counts as installed")
    };
    assert!(why.contains("ignore-scripts"), "{why}");

    let replaced = format!("{placeholder}\nhead -c 70000 /dev/zero > $modules/.bin/claude");
    let outcome = ensure(&agent("claude"), &room.agents(), &room.npm(&replaced));
    assert!(matches!(outcome, Outcome::Ready(_)), "{outcome:?}");
}

#[test]
fn an_older_version_and_the_rest_of_a_killed_run_make_way() {
    let room = Room::new("older");
    let npm = room.npm(&whole("0.1.0"));
    assert!(matches!(ensure(&agent(CODEX), &room.agents(), &npm), Outcome::Failed(_)));
    let old = room.agents().join("codex/node_modules/@openai/codex");
    fs::create_dir_all(&old).unwrap();
    fs::write(old.join("package.json"), r#"{"version":"0.1.0"}"#).unwrap();
    fs::create_dir_all(room.agents().join("codex.partial/node_modules")).unwrap();
    fs::write(room.agents().join("codex.partial/stray"), "").unwrap();

    let npm = room.npm(&whole("0.166.0"));
    assert!(matches!(ensure(&agent(CODEX), &room.agents(), &npm), Outcome::Ready(_)));
    assert_eq!(room.left(), [CODEX]);
    assert!(!room.agents().join("codex/stray").exists());
}

#[test]
fn an_agent_that_is_there_stays_when_its_successor_fails_to_come() {
    let room = Room::new("stays");
    let old = room.agents().join("codex/node_modules/@openai/codex");
    fs::create_dir_all(&old).unwrap();
    fs::write(old.join("package.json"), r#"{"version":"0.1.0"}"#).unwrap();
    assert!(matches!(ensure(&agent(CODEX), &room.agents(), &room.npm("exit 1")), Outcome::Failed(_)));
    assert!(old.join("package.json").exists());
}

#[test]
fn without_npm_an_agent_is_skipped_by_name_unless_it_is_there() {
    let room = Room::new("no-npm");
    let missing = room.0.join("no-such-npm");
    let missing = missing.to_str().unwrap();
    let outcome = ensure(&agent(CODEX), &room.agents(), missing);
    assert_eq!(
        line(&agent(CODEX), &outcome),
        format!("skipped: codex 0.166.0: `{missing}` is not installed")
    );
    assert_eq!(room.left(), Vec::<String>::new());

    let npm = room.npm(&whole("0.166.0"));
    ensure(&agent(CODEX), &room.agents(), &npm);
    assert!(matches!(ensure(&agent(CODEX), &room.agents(), missing), Outcome::Ready(_)));
}

#[test]
fn arguments_choose_agents() {
    let names = |arguments: &[&str]| {
        let arguments: Vec<String> = arguments.iter().map(|&it| it.to_owned()).collect();
        choose(&arguments).map(|it| it.iter().map(|it| it.name).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(names(&[]).unwrap(), "claude codex gemini");
    assert_eq!(names(&["copilot", "claude", "copilot"]).unwrap(), "copilot claude");
    assert_eq!(names(&["--all"]).unwrap(), "claude codex gemini opencode copilot acp-claude acp-codex");
    assert!(names(&["claud"]).unwrap_err().contains("no agent `claud`; there are claude, codex"));
    assert!(names(&["--everything"]).is_err());
}

#[test]
fn the_version_of_a_package_is_read() {
    for (text, expected) in [
        (r#"{"name":"x","version":"1.2.3"}"#, Some("1.2.3")),
        ("{\n  \"version\" :\n \"1.2.3\",", Some("1.2.3")),
        (r#"{"version": 3}"#, None),
        (r#"{"version":"1.2"#, None),
        ("", None),
    ] {
        assert_eq!(version(text), expected, "{text}");
    }
}
