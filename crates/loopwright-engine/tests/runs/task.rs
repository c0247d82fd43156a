//! The smallest loop: work, check, review, fix, commit.

use indexmap::IndexMap;
use loopwright_core::definition::Outcome as Ending;
use loopwright_engine::{Begin, Standing};

use crate::bench::{Bench, example, run};

fn begin() -> Begin {
    Begin {
        subject: "greet".into(),
        inputs: IndexMap::from([("description".into(), "say hello".to_owned())]),
        ..Begin::default()
    }
}

/// Writes what the test wants only at the second visit.
const CODER: &str = r#"
    cat > /dev/null
    case "$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT" in
      implement.1) echo helo > greeting ;;
      fix.1) echo hello > greeting ;;
      fix.2) echo 'hello, world' > greeting ;;
    esac
    echo "I wrote the greeting."
"#;

const REVIEWER: &str = r#"
    cat > /dev/null
    if [ "$LOOPWRIGHT_VISIT" = 1 ]; then
      printf '```json\n{"verdict": "NEEDS_FIX", "summary": "too short", "findings": [{"severity": "major", "file": "greeting", "subject": "text", "text": "whom does it greet?"}]}\n```\n'
    else
      printf 'Good.\n```json\n{"verdict": "APPROVED", "summary": "fine"}\n```\n'
    fi
"#;

const TEST: &str = "grep -q hello greeting || { echo 'no hello in the greeting' >&2; exit 1; }\n";

#[test]
fn it_works_checks_reviews_fixes_and_commits() {
    let bench = Bench::with(&[("test.sh", TEST)]);
    let engine = bench.engine(&[("claude", CODER), ("codex", REVIEWER)]);
    let (_, standing) = run(&engine, &example("task"), &begin()).expect("it runs");
    let Standing::Over { ending, .. } = standing else { panic!("{standing:?}") };
    assert_eq!(ending, Some(Ending::Success), "{:#?}", bench.lines());
    assert_eq!(
        bench.lines(),
        [
            "implement.1 done",
            "checks.1 fail",
            "fix.1 done",
            "checks.2 pass",
            "review.1 NEEDS_FIX",
            "fix.2 done",
            "checks.3 pass",
            "review.2 APPROVED",
            "commit.1/action-0 done",
        ]
    );
    assert_eq!(bench.read("greeting"), "hello, world\n");
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
    let message = bench.git(&["log", "-1", "--format=%B"]);
    assert!(message.starts_with("greet: say hello"), "{message}");
}
