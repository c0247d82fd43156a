//! Every record of the corpus.

use loopwright_formats::feature::{Meta, Phase};
use serde_json::{Value, json};

use super::cases;

fn found(meta: &Meta) -> Value {
    let phase = |it: &Phase| json!({"started": it.started, "completed": it.completed, "iterations": it.iterations, "verified": it.verified, "notes": it.notes});
    let phases: serde_json::Map<String, Value> =
        meta.phases.iter().map(|(name, it)| (name.clone(), phase(it))).collect();
    json!({
        "id": meta.id, "name": meta.name, "mode": meta.mode, "status": meta.status.word(), "last": meta.last,
        "created": meta.created, "completed": meta.completed, "phases": phases,
    })
}

#[test]
fn every_record_is_read_as_a_careful_person_reads_it() {
    let (mut read, mut broken, mut wrong) = (0, 0, Vec::new());
    for case in cases("meta") {
        let Some(file) = case.file() else {
            assert!(case.all["broken"] != Value::Null, "{} is no JSON", case.id);
            broken += 1;
            continue;
        };
        let meta = Meta::read(&file);
        assert!(meta.problems.is_empty(), "{}: {:?}", case.id, meta.problems);
        let (found, wanted) = (found(&meta), &case.all["expect"]);
        if found != *wanted {
            wrong.push(format!("{}\n  expected {wanted}\n  found    {found}", case.id));
        }
        read += 1;
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
    assert!(read > 350 && broken > 30, "{read} were read, {broken} were broken");
}

#[test]
fn what_is_odd_about_a_record_is_said() {
    let silent: Vec<String> = cases("meta")
        .into_iter()
        .filter_map(|case| Some((Meta::read(&case.file()?), case)))
        .filter(|(meta, case)| {
            let text = case.text();
            let words = [
                "startedAt",
                "reviewIterations",
                "phases_extra",
                "\"Standard\"",
                "\"status\": null",
                "\"implementing\"",
            ];
            let is_odd = words.iter().any(|it| text.contains(it));
            is_odd && meta.remarks.is_empty()
        })
        .map(|(_, case)| case.id)
        .collect();
    assert!(silent.is_empty(), "{silent:?}");
}
