//! A folder of a run's own that git ignores, in one way or another: what lies there is what the run works on.

use loopwright_core::definition::Outcome as Ending;
use loopwright_engine::{Begin, Standing};

use crate::bench::{Bench, run, workflow};

const WORKFLOW: &str = r#"
workflow: papers
subject: {name: topic, matches: "[a-z]+"}
folder: ".work/{{subject}}"
documents:
  report: {file: ./report.json, as: json, optional: true, shape: {says: text}}
roles:
  writer: {agent: writer, prompt: "Write.", may-write: [report]}
  judge: {agent: judge, prompt: "Judge {{docs.report}}.", given: [docs.report], verdicts: [OK, BAD]}
defaults: {failures: failed}
states:
  write: {agent: writer, produces: [report], then: judge}
  judge: {review: judge, judges: [report], on: {OK: done, BAD: failed}}
  done: {end: success, needs: [judge]}
  failed: {end: failure}
"#;

const WRITER: &str =
    "cat > /dev/null; mkdir -p .work/foo; echo '{\"says\": \"all\"}' > .work/foo/report.json";
const JUDGE: &str = r#"cat > /dev/null; printf '```json\n{"verdict": "OK"}\n```\n'"#;

fn ends(ignored: &str, judge: &str) -> (Option<Ending>, Vec<String>, Bench) {
    let bench = Bench::with(&[(".gitignore", ignored), ("src/a", "a\n")]);
    let engine = bench.engine(&[("writer", WRITER), ("judge", judge)]);
    let begin = Begin { subject: "foo".into(), ..Begin::default() };
    let (_, standing) = run(&engine, &workflow(WORKFLOW), &begin).expect("a run");
    let Standing::Over { ending, .. } = standing else { panic!("{standing:?}") };
    let lines = bench.lines();
    (ending, lines, bench)
}

/// Ways in which git does not look at some of it.
const IGNORED: [&str; 5] = ["", ".work/\n", "/.work/*/\n", "*.json\n", ".work/foo/report.json\n"];

#[test]
fn what_git_ignores_of_it_is_guarded_all_the_same() {
    for ignored in IGNORED {
        let (ending, lines, _) = ends(ignored, JUDGE);
        assert_eq!(ending, Some(Ending::Success), "{ignored}: {lines:?}");
        let forges = format!("echo '{{\"says\": \"forged\"}}' > .work/foo/report.json; {JUDGE}");
        let (ending, lines, bench) = ends(ignored, &forges);
        assert_eq!(ending, Some(Ending::Failure), "{ignored}: {lines:?}");
        assert!(lines.contains(&"judge.1 out-of-bounds".to_owned()), "{ignored}: {lines:?}");
        assert_eq!(bench.read(".work/foo/report.json"), "{\"says\": \"all\"}\n", "{ignored}");
    }
}

#[test]
fn a_repository_that_is_begun_in_it_stops_nobody() {
    for ignored in IGNORED {
        let begins = format!("git init --quiet .work/foo/sub; {JUDGE}");
        let (ending, lines, bench) = ends(ignored, &begins);
        assert_eq!(ending, Some(Ending::Failure), "{ignored}: {lines:?}");
        assert!(lines.contains(&"judge.1 out-of-bounds".to_owned()), "{ignored}: {lines:?}");
        assert!(!bench.path().join(".work/foo/sub").exists(), "{ignored}: it is set aside");
    }
}
