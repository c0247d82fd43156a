//! Questions about findings, as people meet them.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::Outcome;
use crate::runs::{CODER, WORKFLOW, name, project, say};

/// Finds two things.
const JUDGE: &str = r#"cat > /dev/null; printf '```json\n{"verdict": "NOTES", "findings": [{"severity": "bad", "file": "greeting", "text": "too short"}, {"severity": "bad", "text": "too loud"}]}\n```\n'"#;

/// The workflow in which a person is asked about every remark.
pub(crate) fn remarks(scratch: &str) -> io::Result<PathBuf> {
    let folder = project(scratch, CODER)?;
    let text = WORKFLOW
        .replace("verdicts: [GOOD, BAD]", "verdicts: [GOOD, NOTES]")
        .replace("  ship: {id: Q1", "  notes: {id: N1, asks: \"Mend it: {{finding.text}}?\", per: finding, answers: [leave, fix]}\n  ship: {id: Q1")
        .replace("    on: {GOOD: ask, BAD: {to: fix, spend: fixes, else: failed}}", "    passes: [GOOD, NOTES]\n    on: {GOOD: ask, NOTES: remarks}\n  remarks: {ask: notes, on: {leave: ask, fix: {to: fix, spend: fixes, else: ask}, deferred: failed}}");
    fs::write(folder.join(".loopwright/workflows/greet/workflow.yaml"), text)?;
    let command = |it: &str| serde_json::Value::from(it);
    let config = format!(
        "agents:\n  coder: {{command: {}}}\n  judge: {{command: {}}}\n",
        command(CODER),
        command(JUDGE)
    );
    fs::write(folder.join(".loopwright/config.yaml"), config)?;
    Ok(folder)
}

fn all(folder: &Path, words: &str) -> io::Result<(Option<i32>, String)> {
    let ran = say(folder, words)?;
    // Lines are as wide as they are; what is said is the same.
    let text = format!("{} {}", ran.stdout, ran.stderr);
    Ok((ran.code, text.split_whitespace().collect::<Vec<_>>().join(" ")))
}

#[test]
fn the_finding_an_answer_is_about_is_named() -> Outcome {
    let folder = remarks("per-finding")?;
    let (code, told) = all(&folder, "run greet world")?;
    assert_eq!(code, Some(3), "{told}");
    let run = name(&folder)?;
    let status: serde_json::Value = serde_json::from_str(&say(&folder, "status --json")?.stdout)?;
    let ids: Vec<&str> =
        status["asks-about"].as_array().into_iter().flatten().filter_map(|it| it.as_str()).collect();
    assert_eq!(ids.len(), 2, "{status}");
    let (short, loud) = (ids[0], ids[1]);
    assert!(
        told.contains("Mend it: too short?") && told.contains(&format!("{short} (bad, greeting): too short")),
        "{told}"
    );
    assert!(told.contains(&format!("answer {run} leave --finding {short}`")), "{told}");
    for words in ["status", &format!("show {run}")] {
        let (_, told) = all(&folder, words)?;
        let both = format!("asks about {short} (bad, greeting): too short; {loud} (bad): too loud");
        assert!(told.contains(&both), "{words}: {told}");
    }
    assert!(
        all(&folder, &format!("why {run}"))?.1.contains(&format!("asks `notes` about {short}, {loud} at"))
    );
    assert!(all(&folder, "list")?.1.contains("asks notes about 2 findings"));

    let (code, told) = all(&folder, &format!("answer {run} leave"))?;
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains(&format!("which of these is meant: {short}, {loud}")), "{told}");
    let (code, told) = all(&folder, &format!("answer {run} leave --finding F-none"))?;
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("nothing is asked about `F-none`"), "{told}");
    // The beginning of an id will do.
    let (code, told) = all(&folder, &format!("answer {run} leave --finding {}", &loud[..6]))?;
    assert_eq!(code, Some(3), "{told}");
    assert!(told.contains("too short") && !told.contains("too loud"), "{told}");
    assert!(
        all(&folder, "status")?.1.contains(&format!("asks about {short} (bad, greeting): too short go on"))
    );
    // With one left, that one is meant; the question after it is another.
    let (code, told) = all(&folder, &format!("answer {run} leave"))?;
    assert_eq!(code, Some(3), "{told}");
    assert!(told.contains("Ship it?"), "{told}");
    let (code, told) = all(&folder, &format!("answer {run} yes --finding {short}"))?;
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("asks about no finding"), "{told}");
    Ok(())
}

/// One answer beforehand is for all that is asked in one go, and for nothing that is asked later.
#[test]
fn an_answer_given_beforehand_answers_every_finding_once() -> Outcome {
    let folder = remarks("per-finding-given")?;
    let (code, told) = all(&folder, "run greet world --answer N1=fix --answer ship=yes")?;
    assert_eq!(code, Some(3), "{told}");
    assert!(told.contains("remarks.1/F-") && told.contains("asks at `remarks`"), "{told}");
    assert_eq!(told.matches("-> fix").count(), 2, "{told}");
    let (code, told) =
        all(&folder, &format!("resume {} --answer notes=leave --answer ship=yes", name(&folder)?))?;
    assert_eq!(code, Some(3), "{told}");
    assert!(told.contains("It is ready."), "{told}");
    Ok(())
}
