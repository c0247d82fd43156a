//! What real agents said, played again. Each capture has both sides of a conversation another client had; ours is held to
//! the agent's side of it, request by request.
//!
//! `expected.json` says for each how it is asked and what must come of it.

use std::collections::VecDeque;
use std::path::PathBuf;

use loopwright_agents::acp::{McpServer, Permissions, Turn, Way};
use loopwright_agents::streams::Usage;
use serde_json::{Value, json};

use crate::player::{Played, Stage, play};
use crate::shown::shown;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/acp")
}

fn capture(name: &str) -> VecDeque<Value> {
    let text = std::fs::read_to_string(folder().join("captures").join(format!("{name}.jsonl"))).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn turn(case: &Value) -> Turn {
    let text = |name: &str| case[name].as_str().map(str::to_owned);
    let may = |what: &str| case["may"].as_array().is_some_and(|may| may.contains(&json!(what)));
    Turn {
        cwd: "/repo".into(),
        prompt: "do it".to_owned(),
        mcp: text("mcp").map(|name| McpServer { name, command: "/bin/tools".into(), ..McpServer::default() }),
        session: text("session"),
        before: Usage { money: case["before"]["money"].as_u64(), ..Usage::default() },
        mode: text("mode"),
        model: text("model"),
        permissions: Permissions { write: may("write"), shell: may("shell"), network: may("network") },
    }
}

/// Plays the agent's side. `skip` prompts are left out, with all that was said to them. An agent that `forgets` does not
/// say that it can resume, so that it has to load.
fn replay(stage: &mut Stage, mut script: VecDeque<Value>, mut skip: u64, forgets: bool) -> Vec<Value> {
    let mut options = Vec::new();
    while let Some(request) = stage.next() {
        let method = request["method"].clone();
        // Find where the other client asked the same.
        let recorded = loop {
            let Some(entry) = script.pop_front() else { panic!("nobody ever asked {request}") };
            if entry["dir"] == "out" && entry["msg"]["method"] == method {
                if method != "session/prompt" || skip == 0 {
                    break entry;
                }
                skip -= 1;
            }
        };
        // Say what was said until the next question of the other client.
        while let Some(entry) = script.front() {
            let message = &entry["msg"];
            if entry["dir"] == "out" {
                if message.get("method").is_some() && message.get("id").is_some() {
                    break;
                }
            } else if message.get("method").is_some() && message.get("id").is_some() {
                stage.send(message);
                let reply = stage.next().unwrap();
                assert_eq!(reply["id"], message["id"]);
                options.push(match message["method"].as_str() {
                    Some("session/request_permission") => reply["result"]["outcome"]["optionId"].clone(),
                    _ => reply["error"]["code"].clone(),
                });
            } else if message["id"] == recorded["msg"]["id"] {
                let mut message = message.clone();
                message["id"] = request["id"].clone();
                if forgets
                    && let Some(can) =
                        message["result"]["agentCapabilities"]["sessionCapabilities"].as_object_mut()
                {
                    can.remove("resume");
                }
                stage.send(&message);
            } else {
                stage.send(message);
            }
            script.pop_front();
        }
    }
    options
}

/// What was said to the agent, as a list of methods, with the option that was set where one was.
fn asked(played: &Played<Vec<Value>>) -> Vec<String> {
    let requests = played.got.iter().filter(|message| message.get("method").is_some());
    let names = requests.map(|message| match message["params"]["configId"].as_str() {
        Some(option) => format!("{} {option}", message["method"].as_str().unwrap()),
        None => message["method"].as_str().unwrap().to_owned(),
    });
    names.collect()
}

#[test]
fn what_real_agents_said_comes_to_what_it_should() {
    let table: Vec<Value> =
        serde_json::from_str(&std::fs::read_to_string(folder().join("expected.json")).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for case in &table {
        let name = case["capture"].as_str().unwrap();
        let script = capture(name);
        let (skip, forgets) = (case["skip"].as_u64().unwrap_or(0), case["forgets"] == true);
        let played = play(&turn(case), move |stage| replay(stage, script, skip, forgets));
        let mut came = shown(&played.said);
        came["asked"] = json!(asked(&played));
        if !played.agent.is_empty() {
            came["answered"] = json!(played.agent);
        }
        if came != case["expect"] {
            wrong.push(format!("{name}: {came}"));
        }
        // Whatever was said either way was heard.
        let out = played.heard.iter().filter(|(way, _)| *way == Way::Out).count();
        assert_eq!(out, played.got.len(), "{name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // No capture lies there for nothing.
    for file in std::fs::read_dir(folder().join("captures")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(table.iter().any(|case| case["capture"] == name), "{name} is not played");
    }
}
