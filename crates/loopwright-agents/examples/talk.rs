//! One turn with a real agent, by hand:
//!
//!     cargo run -p loopwright-agents --example talk -- [--may wsn] [--mode M] [--model M] [--session S] [--tools] \
//!         CWD PROMPT -- COMMAND...
//!
//! `--tools` gives it a tool `create_review`, taken at a desk of this process. What was heard is on the standard error,
//! what it came to on the standard output.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is talked to by hand")]

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use loopwright_agents::acp::{McpServer, Permissions, Turn, Way, converse};
use loopwright_agents::streams::End;
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut turn = Turn::default();
    let mut words = Vec::new();
    let mut given = std::env::args().skip(1);
    let mut desk = false;
    while let Some(word) = given.next() {
        let mut value = || given.next().ok_or("a value is missing");
        match word.as_str() {
            "--may" => {
                let may = value()?;
                let (write, shell, network) = (may.contains('w'), may.contains('s'), may.contains('n'));
                turn.permissions = Permissions { write, shell, network };
            }
            "--mode" => turn.mode = Some(value()?),
            "--model" => turn.model = Some(value()?),
            "--session" => turn.session = Some(value()?),
            "--tools" => desk = true,
            "--" => break,
            _ => words.push(word),
        }
    }
    let [cwd, prompt] = words.try_into().map_err(|_| "say where and what")?;
    turn.cwd = PathBuf::from(cwd);
    turn.prompt = prompt;
    let program = given.next().ok_or("say whom")?;
    let folder = std::env::temp_dir().join(format!("loopwright-talk-{}", std::process::id()));
    if desk {
        std::fs::create_dir(&folder)?;
        turn.mcp = Some(open(&folder.join("desk"))?);
    }
    let mut child = Command::new(program)
        .args(given)
        .current_dir(&turn.cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("no streams".into());
    };
    let told = converse(input, output, &turn, &mut |way, line| match way {
        Way::In => eprintln!("< {line}"),
        Way::Out => eprintln!("> {line}"),
    });
    println!("{:#?}", told.said(End::Exit(0), ""));
    // Its input is closed, which is its sign to leave. Some have a session to write down first, and some never leave.
    for _ in 0..50 {
        if child.try_wait()?.is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    child.kill()?;
    child.wait()?;
    if desk {
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(())
}

/// A desk that takes reviews with a verdict, and the server that leads to it.
fn open(path: &Path) -> Result<McpServer, Box<dyn Error>> {
    let listener = UnixListener::bind(path)?;
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut line = String::new();
            if BufReader::new(&stream).read_line(&mut line).is_err() {
                continue;
            }
            let reply = answer(&serde_json::from_str(&line).unwrap_or_default());
            println!("desk: {} -> {reply}", line.trim());
            drop(writeln!(stream, "{reply}"));
        }
    });
    let face = std::env::current_exe()?.with_file_name("loopwright-mcp-face");
    // An example lies one folder further down.
    let face = if face.exists() { face } else { face.with_file_name("../loopwright-mcp-face") };
    let env = [("LOOPWRIGHT_DESK", path.display().to_string()), ("LOOPWRIGHT_TOKEN", "by-hand".to_owned())];
    let env = env.map(|(name, value)| (name.to_owned(), value)).to_vec();
    Ok(McpServer { name: "loopwright".to_owned(), command: face, args: Vec::new(), env })
}

fn answer(request: &Value) -> Value {
    if request["want"] == "tools" {
        let text = json!({ "type": "string" });
        let input =
            json!({ "type": "object", "properties": { "title": text, "body": text, "verdict": text } });
        let tool = json!({ "name": "create_review", "description": "Gives the review.", "input": input });
        return json!({ "tools": [tool], "instructions": "" });
    }
    json!({ "text": "taken", "refused": request["arguments"]["verdict"].is_null() })
}
