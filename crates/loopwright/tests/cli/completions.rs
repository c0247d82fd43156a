//! What shells and the manual are told.

use crate::{Outcome, run};

/// Every command that `--help` lists.
fn commands() -> std::io::Result<Vec<String>> {
    let help = run("--help")?.stdout;
    let listed =
        help.split("Commands:\n").nth(1).unwrap_or_default().split("\n\n").next().unwrap_or_default();
    let named = listed.lines().filter(|it| it.starts_with("  ") && !it.starts_with("   "));
    Ok(named.filter_map(|it| it.split_whitespace().next()).map(str::to_owned).collect())
}

#[test]
fn shells_and_the_manual_know_every_command() -> Outcome {
    let commands = commands()?;
    assert!(commands.len() > 20, "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run(&format!("completions {shell}"))?;
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        for command in &commands {
            assert!(ran.stdout.contains(command.as_str()), "{shell} does not know `{command}`");
        }
        for option in ["detach", "unattended", "kept"] {
            assert!(ran.stdout.contains(option), "{shell} does not know `--{option}`");
        }
    }
    let page = run("man")?.stdout;
    assert!(page.contains(".TH loopwright 1"), "{page}");
    for command in commands.iter().filter(|it| *it != "help") {
        assert!(page.contains(&format!("loopwright\\-{command}(1)")), "the manual does not name `{command}`");
        let own = run(&format!("man {command}"))?;
        assert_eq!(own.code, Some(0), "{command}: {}", own.stderr);
        assert!(own.stdout.contains(&format!(".TH loopwright-{command} 1")), "{}", own.stdout);
    }
    let unknown = run("man rnu")?;
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("did you mean `run`?"), "{}", unknown.stderr);
    Ok(())
}
