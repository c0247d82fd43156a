//! The server as a program of its own.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use crate::client::{ask, path, prompt};
use crate::parse;

#[test]
fn the_program_says_its_port_and_serves_the_scripts_it_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let first = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/scripts.json");
    let second = folder.path().join("more.json");
    let log = folder.path().join("log");
    std::fs::write(&second, r#"{"text": [{"text": "The later one counts."}]}"#).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_loopwright-model-server"))
        .args(["--scripts", first, "--scripts"])
        .arg(&second)
        .arg("--log")
        .arg(&log)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = format!("http://127.0.0.1:{}", line.trim_end());
    let said = ["text", "dear"].map(|name| {
        let body = prompt("chat", &format!("[[script:{name}]]"));
        parse::whole("chat", &ask(&url, "POST", path("chat", false), &body).json()).text
    });
    program.kill().unwrap();
    program.wait().unwrap();
    assert_eq!(said, ["The later one counts.", "Dear."]);
    assert_eq!(std::fs::read_to_string(log).unwrap().lines().count(), 2);
}

#[test]
fn the_program_names_the_file_that_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wrong.json");
    std::fs::write(&file, r#"{"it": ["sleep"]}"#).unwrap();
    let program = Command::new(env!("CARGO_BIN_EXE_loopwright-model-server"))
        .arg("--scripts")
        .arg(&file)
        .output()
        .unwrap();
    let told = String::from_utf8(program.stderr).unwrap();
    assert!(!program.status.success() && program.stdout.is_empty());
    assert!(told.contains("wrong.json: `sleep`: unknown variant"), "{told}");
}
