//! Checkpoints made from templates.

use indexmap::IndexMap;
use loopwright_formats::vibe::{Options, add_checkpoint, plan::demo_commands, validate};

use crate::cases::Folder;

const TEMPLATE: &str = "title: Make {{ what }}\nobjective: |\n  First {{what}}.\n\n  Then more.\ndeliverables:\n  - one {{what}}\n  - two\n\
                        acceptance: it works\ndemo_commands: [\"`true`\", echo `date`]\nevidence:\n  - log of 5\n";
const PLAN: &str = "# PLAN\n\n## Stage 1 — a\n\n### 1.0 — x\n\n---\n\n### (DONE) 1.4 — y\n\n---\n\n\n## Notes\n\n## Stage 2\n";

fn values(pairs: &[(&str, &str)]) -> IndexMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn a_checkpoint_is_added_at_the_end_of_its_stage() {
    let (plan, id) = add_checkpoint(PLAN, TEMPLATE, "01", &values(&[("what", "tea")])).unwrap();
    assert_eq!(id, "1.5");
    let new = "\n### 1.5 — Make tea\n\n* **Objective:**\n  First tea.\n  Then more.\n* **Deliverables:**\n  * one tea\n  * two\n\
               * **Acceptance:**\n  * it works\n* **Demo commands:**\n  * `true`\n  * `echo `date``\n* **Evidence:**\n  * log of 5\n\n---\n";
    assert_eq!(plan, PLAN.replace("y\n\n---\n", &format!("y\n\n---\n{new}")));
    assert_eq!(demo_commands(&plan, &id), ["true", "echo `date`"]);
}

#[test]
fn any_stage_and_any_line_end_will_do() {
    let (plan, id) = add_checkpoint(PLAN, TEMPLATE, "2", &values(&[("what", "x")])).unwrap();
    assert_eq!(id, "2.0");
    assert!(plan.starts_with(PLAN) && plan[PLAN.len()..].starts_with("\n### 2.0"));
    let windows = "## Stage 1\r\n### 1.0\r\n## Stage 2";
    let (plan, _) = add_checkpoint(windows, TEMPLATE, "1", &values(&[("what", "x")])).unwrap();
    assert!(!plan.replace("\r\n", "").contains('\n'));
    assert!(plan.starts_with("## Stage 1\r\n### 1.0\r\n\r\n### 1.1") && plan.ends_with("\r\n\r\n## Stage 2"));
    let (plan, _) = add_checkpoint(windows, TEMPLATE, "2", &values(&[("what", "x")])).unwrap();
    assert!(plan.starts_with("## Stage 1\r\n### 1.0\r\n## Stage 2\r\n\r\n### 2.0"));
}

#[test]
fn our_own_check_accepts_it() {
    let (plan, id) = add_checkpoint(PLAN, TEMPLATE, "1", &values(&[("what", "tea")])).unwrap();
    let mut files = Folder::default();
    let state = format!("- Stage: 1\n- Checkpoint: {id}\n- Status: NOT_STARTED\n- path: x\n");
    files.0.insert(".vibe/STATE.md".to_owned(), state.into_bytes());
    files.0.insert(".vibe/PLAN.md".to_owned(), plan.into_bytes());
    let report = validate(&files, Options { strict: true, strict_complexity: true });
    assert!(report.ok, "{:?}", report.errors);
}

#[test]
fn what_does_not_fit_is_named() {
    let with = |template: &str, stage: &str, pairs: &[(&str, &str)]| {
        add_checkpoint(PLAN, template, stage, &values(pairs)).unwrap_err()
    };
    assert!(with(TEMPLATE, "1", &[]).contains("`what`"));
    assert!(with(TEMPLATE, "1", &[("what", "x"), ("who", "y")]).contains("`who`"));
    assert!(with(TEMPLATE, "9", &[("what", "x")]).contains("stage 9"));
    assert!(with(TEMPLATE, "one", &[("what", "x")]).contains("`one`"));
    assert!(with("title: x\n", "1", &[]).contains("`objective`"));
    assert!(with("title: {a: b}\n", "1", &[]).contains("`title`"));
    assert!(with("- x\n", "1", &[]).contains("map"));
    assert!(with("a: [", "1", &[]).contains("YAML"));
    assert!(with("a: &x 1\nb: *x\n", "1", &[]).contains("alias"));
    let open = "## Stage 1\n```\n";
    assert!(add_checkpoint(open, TEMPLATE, "1", &values(&[("what", "x")])).unwrap_err().contains("fence"));
    let huge = "## Stage 1\n### 1.99999999999999999999999\n";
    assert!(
        add_checkpoint(huge, TEMPLATE, "1", &values(&[("what", "x")])).unwrap_err().contains("too large")
    );
}

#[test]
fn values_cannot_add_headings_or_placeholders() {
    let (plan, _) = add_checkpoint(PLAN, TEMPLATE, "1", &values(&[("what", "{{what}}")])).unwrap();
    assert!(plan.contains("Make {{what}}"));
    let fault = add_checkpoint(PLAN, TEMPLATE, "1", &values(&[("what", "x\n### 7.7")])).unwrap_err();
    assert!(fault.contains("heading"), "{fault}");
}
