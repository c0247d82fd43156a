//! Real agents, driven by the real binary, against a model that plays by a script.
//!
//! Each case runs in a process of its own, in a network that has nothing but itself (`unshare`): no agent under test can
//! reach anybody. Agents are those that `cargo xtask agents` installed. Whatever is missing for a case is said, and the
//! case is counted as skipped, never as passed: that is why this is no ordinary list of tests.
#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "these are tests")]

mod bench;
mod built_in;
mod cases;
mod change;
mod real;

use std::process::{Command, ExitCode};

use real::Real;

/// Set in the process that has a network of its own, to what it is to do there.
const CASE: &str = "LOOPWRIGHT_TEST_CASE";
/// Which agents are tried: names, or `all`.
const AGENTS: &str = "LOOPWRIGHT_TEST_AGENTS";

/// What is done with those who take part.
type Run = Box<dyn Fn(&[&'static Real])>;

/// Something to be tried: who takes part, and in what.
struct Trial {
    name: String,
    case: &'static str,
    agents: Vec<&'static Real>,
    run: Run,
}

/// Everything that can be tried with some of the agents.
fn trials(agents: &[&'static Real]) -> Vec<Trial> {
    let alone = |agent: &'static Real| {
        cases::ALL.iter().map(move |&(case, run)| {
            let name = format!("{}::{case}", agent.name);
            Trial {
                name,
                case,
                agents: vec![agent],
                run: Box::new(move |all| all.iter().for_each(|it| run(it))),
            }
        })
    };
    let together = cases::TOGETHER.iter().filter_map(|&(case, names, run)| {
        let found = names.iter().map(|name| agents.iter().find(|it| it.name == *name).copied());
        let name = format!("together::{case}");
        Some(Trial { name, case, agents: found.collect::<Option<_>>()?, run: Box::new(run) })
    });
    agents.iter().copied().flat_map(alone).chain(together).collect()
}

fn main() -> ExitCode {
    if let Ok(case) = std::env::var(CASE) {
        let all = trials(&real::ALL.iter().collect::<Vec<_>>());
        let trial = all.iter().find(|it| it.name == case).expect("a case");
        (trial.run)(&trial.agents);
        return ExitCode::SUCCESS;
    }
    let asked: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let chosen = |name: &str| asked.is_empty() || asked.iter().any(|it| name.contains(it.as_str()));
    let agents = std::env::var(AGENTS).unwrap_or_default();
    let agents: Vec<&Real> = real::ALL
        .iter()
        .filter(|it| {
            agents == "all" || agents.split(',').any(|name| name == it.name) || agents.is_empty() && it.usual
        })
        .collect();
    let all: Vec<Trial> = trials(&agents).into_iter().filter(|it| chosen(&it.name)).collect();
    if std::env::args().any(|it| it == "--list") {
        for trial in all {
            println!("{}: test", trial.name);
        }
        return ExitCode::SUCCESS;
    }
    let no_network = no_network();
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for Trial { name, case, agents, .. } in all {
        let cannot = || agents.iter().find_map(|it| it.missing().or_else(|| it.cannot(case)));
        let why = no_network.clone().or_else(cannot);
        let outcome = match why {
            Some(why) => {
                skipped += 1;
                format!("ignored, {why}")
            }
            None if passes(&name) => {
                passed += 1;
                "ok".to_owned()
            }
            None => {
                failed += 1;
                "FAILED".to_owned()
            }
        };
        println!("test {name} ... {outcome}");
    }
    let word = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {word}. {passed} passed; {failed} failed; {skipped} ignored; 0 measured; 0 filtered out\n"
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What brings a network up that has nothing but itself.
const ALONE: &str = "ip link set lo up && exec \"$0\" \"$@\"";

fn alone(program: &std::path::Path) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--net", "sh", "-c", ALONE]).arg(program);
    command
}

/// Why nobody can be given a network of their own here.
fn no_network() -> Option<String> {
    match alone(std::path::Path::new("true")).output() {
        Ok(it) if it.status.success() => None,
        Ok(it) => {
            Some(format!("no network of one's own here: {}", String::from_utf8_lossy(&it.stderr).trim()))
        }
        Err(error) => Some(format!("no network of one's own here: unshare: {error}")),
    }
}

fn passes(case: &str) -> bool {
    let program = std::env::current_exe().expect("this program");
    let said = alone(&program).env(CASE, case).output().expect("a process");
    if !said.status.success() {
        println!("{}{}", String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
    }
    said.status.success()
}
