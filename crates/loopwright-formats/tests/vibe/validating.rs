//! Every finding of a check, in a project that has it and is otherwise in order.

use loopwright_formats::vibe::catalog::{self, Catalog};
use loopwright_formats::vibe::{Options, Report, validate};

use crate::cases::Folder;
use crate::kinds;

const STATE: &str = "- Stage: 1\n- Checkpoint: 1.0\n- Status: IN_REVIEW\n- path: notes.md\n## Active issues\n- [ ] ISSUE-1: x\n  - Impact: MINOR\n  \
                     - Owner: me\n  - Status: OPEN\n  - Unblock Condition: u\n  - Evidence Needed: e\n";
const PLAN: &str = "## Stage 1\n### 1.0\n* **Objective:**\n  o\n- Deliverables\n  * d\n**ACCEPTANCE**:\n  * a\n* **Demo commands:**\n  * `true`\n\
                    * Evidence:\n  * e\n### 1.1\n";

fn project() -> Folder {
    let prompts = catalog::ROLES.map(|(role, id)| format!("## {id} — {role}\n\n```md\nbody\n```\n"));
    let catalog = prompts.concat();
    let files = [
        (".vibe/STATE.md", STATE),
        (".vibe/PLAN.md", PLAN),
        ("notes.md", ""),
        ("prompts/template_prompts.md", &catalog),
        ("workflows/w.yaml", "steps:\n  - prompt_id: prompt.stage_design\n  - other: 1\n"),
    ];
    Folder(files.into_iter().map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).collect())
}

fn with(path: &str, change: impl FnOnce(String) -> String) -> Folder {
    let mut files = project();
    let text = String::from_utf8(files.0.remove(path).unwrap_or_default()).unwrap();
    files.0.insert(path.to_owned(), change(text).into_bytes());
    files
}

fn judge(files: &Folder, strict: bool, strict_complexity: bool) -> Report {
    validate(files, Options { strict, strict_complexity })
}

fn kinds(messages: &[String]) -> Vec<&'static str> {
    messages.iter().map(|it| kinds::of_ours(it)).collect()
}

#[test]
fn a_project_in_order_has_no_findings() {
    let report = judge(&project(), true, true);
    assert_eq!((report.ok, report.errors, report.warnings), (true, vec![], vec![]));
}

#[test]
fn every_fault_is_found_and_weighed() {
    let state = |from: &'static str, to: &'static str| {
        assert!(STATE.contains(from), "{from}");
        with(".vibe/STATE.md", |it| it.replacen(from, to, 1))
    };
    let plan = |from: &'static str, to: &'static str| {
        assert!(PLAN.contains(from), "{from}");
        with(".vibe/PLAN.md", |it| it.replacen(from, to, 1))
    };
    let without = |path: &str| {
        let mut files = project();
        files.0.remove(path);
        files
    };
    let always = [
        (without(".vibe/STATE.md"), "no state"),
        (state("- Stage: 1\n", ""), "no stage"),
        (state("- Checkpoint: 1.0\n", ""), "no checkpoint"),
        (state("IN_REVIEW", "ODD"), "bad status"),
        (with(".vibe/STATE.md", |_| "- Stage: 1\n- Checkpoint: 1.0\n- path: x\n".to_owned()), "no status"),
        (plan("### 1.1\n", "## Stage 2:\n"), "bad stage id"),
        (plan("### 1.1\n", "## Stage 01\n"), "stage twice"),
        (plan("## Stage 1\n", "# Stage 1\n"), "stage not planned"),
        (plan("## Stage 1\n", "## Stage 1\n## Stage 2\n"), "drift"),
    ];
    for (files, kind) in always {
        let report = judge(&files, false, false);
        assert_eq!(kinds(&report.errors), [kind]);
        assert!(!report.ok && report.exit_code() == 2);
    }
    let log = "- path: notes.md\n## Work log (current session)\n".to_owned() + &"- x\n".repeat(11);
    let never = [
        (with(".vibe/STATE.md", |it| it.replace("- path: notes.md\n", &log)), "log"),
        (state("- path: notes.md\n", ""), "no evidence path"),
        (plan("### 1.1\n", "### 1.2\n### 1.1\n"), "minor order"),
        (without("prompts/template_prompts.md"), "no catalog"),
        (with("prompts/template_prompts.md", |_| "````\n".to_owned()), "bad catalog"),
    ];
    for (files, kind) in never {
        let report = judge(&files, true, true);
        assert_eq!((report.ok, kinds(&report.warnings)), (true, vec![kind]));
    }
    let missing_prompt = |it: String| it.replace("## prompt.retrospective ", "## prompt.other ");
    let strict = [
        (state("ISSUE-1: ", ""), "issue without id"),
        (state("OPEN", "WONTFIX"), "issue status"),
        (state("  - Impact: MINOR\n", ""), "issue lacks"),
        (state("Owner: me", "Owner: TBD"), "issue lacks"),
        (state("Evidence Needed: e", "Evidence Needed: <what>"), "issue lacks"),
        (state("[ ]", "[x]"), "checked, not resolved"),
        (state("OPEN", "RESOLVED"), "resolved, not checked"),
        (with(".vibe/STATE.md", |it| it.replace("OPEN", "RESOLVED").replace("[ ]", "[x]")), "settled"),
        (without("notes.md"), "no evidence"),
        (without(".vibe/PLAN.md"), "no plan"),
        (with(".vibe/PLAN.md", |_| String::new()), "not planned"),
        (plan("**Objective:**", "**Objective:** o"), "no part"),
        (plan("- Deliverables", "- Deliverable"), "no part"),
        (plan("**ACCEPTANCE**:", "**ACCEPTED**:"), "no part"),
        (plan("* Evidence:", "* Evidences:"), "no part"),
        (plan("* `true`", "* run `true`"), "no demo"),
        (with("prompts/template_prompts.md", missing_prompt), "role without prompt"),
        (with("workflows/w.yaml", |_| "a: [".to_owned()), "bad workflow"),
        (with("workflows/w.yaml", |_| "- x".to_owned()), "bad workflow"),
        (with("workflows/v.json", |_| "{\"steps\": 3}".to_owned()), "bad workflow"),
        (
            with("workflows/w.yaml", |_| "steps: [{prompt_id: prompt.test_review}]".to_owned()),
            "unknown prompt",
        ),
    ];
    for (files, kind) in strict {
        let (lax, strict) = (judge(&files, false, false), judge(&files, true, false));
        assert_eq!((kinds(&lax.warnings), lax.ok), (vec![kind], true));
        assert_eq!((kinds(&strict.errors), strict.ok), (vec![kind], false));
    }
    let undecided =
        with(".vibe/STATE.md", |it| it.replace("OPEN", "DECISION_REQUIRED").replace("[ ]", "[x]"));
    assert_eq!(
        kinds(&judge(&undecided, true, false).errors),
        ["checked, not resolved", "checked, undecided"]
    );
    let own = with("prompts/template_prompts.md", |it| it + "## prompt.mine - m\n```\n```\n");
    let named = |mut files: Folder| {
        files.0.insert("workflows/w.yml".to_owned(), b"steps: [{prompt_id: prompt.mine}]".to_vec());
        files
    };
    assert_eq!(kinds(&judge(&named(own), true, false).errors), ["prompt without role"]);
}

#[test]
fn only_what_is_over_budget_is_too_much() {
    for (from, most) in [("  * d\n", 5), ("  * a\n", 6), ("  * `true`\n", 4)] {
        for (count, kinds_found) in [(most, vec![]), (most + 1, vec!["budget"])] {
            let files = with(".vibe/PLAN.md", |it| it.replace(from, &from.repeat(count)));
            assert_eq!(kinds(&judge(&files, true, false).warnings), kinds_found);
            assert_eq!(kinds(&judge(&files, false, true).errors), kinds_found);
        }
    }
}

#[test]
fn a_catalog_with_something_wrong_is_read_by_its_headings() {
    let good =
        "## a.b — Title — more\ntext\n```md\none\n## c — no\n```\n## bare – x\n## d - y\n~~~\n```\n\n```\n";
    let catalog = Catalog::read(good, true);
    assert_eq!(catalog.prompts.keys().collect::<Vec<_>>(), ["a.b", "d"]);
    assert_eq!(catalog.prompts["a.b"].title, "Title — more");
    assert_eq!(catalog.prompts["a.b"].body.as_deref(), Some("one\n## c — no"));
    assert_eq!((catalog.fault, catalog.prompts["d"].body.as_deref()), (None, Some("")));
    for wrong in [format!("{good}## d — again\n"), format!("{good}````\n"), format!("{good}```\n")] {
        let catalog = Catalog::read(&wrong, true);
        assert!(catalog.fault.is_some());
        assert_eq!(catalog.prompts.keys().collect::<Vec<_>>(), ["a.b", "c", "bare", "d"]);
    }
    assert!(Catalog::read(good, false).fault.is_some());
    assert_eq!(catalog::role_of("prompt.test_review"), Some("review"));
}
