//! The corpus: files in every spelling that is in use, and in some that are not, with what a careful reader takes from them.

use loopwright_formats::agentd::config::Config;
use loopwright_formats::agentd::proposal::Proposal;
use loopwright_formats::agentd::spec::Spec;
use loopwright_formats::agentd::state::State;
use loopwright_formats::agentd::tasks::Tasks;
use loopwright_formats::agentd::verdict::{self, Found, NoVerdict};
use loopwright_formats::agentd::{Problem, Severity};
use serde_json::{Value, json};

struct Case {
    id: String,
    kind: String,
    text: String,
    expect: Value,
}

fn cases() -> Vec<Case> {
    let path = format!("{}/tests/corpus/agentd.jsonl", env!("CARGO_MANIFEST_DIR"));
    let word = |it: &Value| it.as_str().unwrap().to_owned();
    let case = |line: &str| {
        let mut all: Value = serde_json::from_str(line).unwrap();
        Case {
            id: word(&all["id"]),
            kind: word(&all["kind"]),
            text: word(&all["text"]),
            expect: all["expect"].take(),
        }
    };
    std::fs::read_to_string(path).unwrap().lines().map(case).collect()
}

/// Checks every case of a kind, with each way to end a line.
fn check(kind: &str, least: usize, differences: impl Fn(&str, &Value) -> Vec<String>) {
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in cases().iter().filter(|it| it.kind == kind) {
        count += 1;
        for (name, end) in [("", "\n"), (" with CRLF", "\r\n"), (" with CR", "\r")] {
            // TOML knows no CR alone, and YAML keeps it in what it says is wrong.
            if end == "\r" && matches!(kind, "config" | "state") {
                continue;
            }
            let found = differences(&case.text.replace('\n', end), &case.expect);
            wrong.extend(found.iter().map(|it| format!("{}{name}: {it}", case.id)));
        }
        let marked = differences(&format!("\u{feff}{}", case.text), &case.expect);
        wrong.extend(marked.iter().map(|it| format!("{} with a byte order mark: {it}", case.id)));
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= least, "only {count} cases");
}

/// Says where our value is not the wanted one.
fn differ(found: &mut Vec<String>, what: &str, ours: &Value, wanted: &Value) {
    if ours != wanted {
        found.push(format!("{what} is {ours}, not {wanted}"));
    }
}

/// Holds problems against severity, line, and a word that must be in the message.
fn differ_in_problems(found: &mut Vec<String>, ours: &[Problem], wanted: &Value) {
    let severity = |it: Severity| json!(it);
    let shown = || {
        ours.iter().map(|it| format!("{:?} {:?} {}", it.severity, it.line, it.message)).collect::<Vec<_>>()
    };
    let mut left: Vec<&Problem> = ours.iter().collect();
    for it in wanted.as_array().unwrap() {
        let word = it[2].as_str().unwrap();
        let place = left.iter().position(|problem| {
            severity(problem.severity) == it[0]
                && json!(problem.line) == it[1]
                && problem.message.contains(word)
        });
        match place {
            Some(at) => drop(left.remove(at)),
            None => found.push(format!("no problem {it} among {:?}", shown())),
        }
    }
    found.extend(left.iter().map(|it| format!("unforeseen {:?} {:?} {}", it.severity, it.line, it.message)));
}

fn outcome(verdict: &Result<Found, NoVerdict>) -> Value {
    match verdict {
        Ok(found) => json!(found.verdict),
        Err(reason) => json!(reason.why),
    }
}

#[test]
fn a_verdict_is_read_from_its_one_place() {
    check("verdict", 150, |text, expect| {
        let mut found = Vec::new();
        match verdict::read(text) {
            Ok(ours) => {
                differ(&mut found, "the verdict", &json!(ours.verdict), &expect["verdict"]);
                differ(&mut found, "the form", &json!(ours.form), &expect["form"]);
                differ(&mut found, "the line", &json!(ours.line), &expect["line"]);
            }
            Err(ours) => {
                differ(&mut found, "the reason", &json!(ours.why), &expect["why"]);
                if !expect["line"].is_null() {
                    differ(&mut found, "the line", &json!(ours.line), &expect["line"]);
                }
            }
        }
        found
    });
}

#[test]
fn tasks_are_read_and_none_is_lost() {
    check("tasks", 115, |text, expect| {
        let ours = Tasks::read(text, "add-login");
        let mut found = Vec::new();
        let ids = |it: &loopwright_formats::agentd::tasks::Layer| {
            it.tasks.iter().map(|it| it.id.clone()).collect::<Vec<_>>()
        };
        let layers: Vec<Value> = ours
            .layers
            .iter()
            .map(|it| json!({"id": it.id, "kind": it.kind, "title": it.title, "tasks": ids(it)}))
            .collect();
        differ(&mut found, "layers", &json!(layers), &expect["layers"]);
        differ(&mut found, "the change", &json!(ours.change_id), &expect["change_id"]);
        differ(&mut found, "whether it is stated", &json!(ours.change_id_stated), &expect["stated"]);
        differ_in_problems(&mut found, &ours.problems, &expect["problems"]);
        for (id, wanted) in expect["details"].as_object().unwrap() {
            let task = json!(ours.all().find(|it| it.id == *id).unwrap());
            for (key, wanted) in wanted.as_object().unwrap().iter().filter(|it| it.0 != "line") {
                let of_files = |key: &str| {
                    json!(task["files"].as_array().unwrap().iter().map(|it| &it[key]).collect::<Vec<_>>())
                };
                let value = match key.as_str() {
                    "files" => of_files("path"),
                    "actions" => of_files("action"),
                    "text" => json!(task["text"].as_str().unwrap().replace("\r\n", "\n").replace('\r', "\n")),
                    key => task[key].clone(),
                };
                differ(&mut found, &format!("{key} of {id}"), &value, wanted);
            }
        }
        found
    });
}

#[test]
fn a_proposal_is_read_with_its_reviews() {
    check("proposal", 100, |text, expect| {
        let ours = Proposal::read(text);
        let mut found = Vec::new();
        let specs: Vec<Value> = ours.affected_specs.iter().map(|it| json!([it.id, it.depends])).collect();
        let reviews: Vec<Value> =
            ours.reviews.iter().map(|it| json!([it.iteration, outcome(&it.verdict), it.line])).collect();
        differ(&mut found, "the id", &json!(ours.id), &expect["id"]);
        differ(&mut found, "the specs", &json!(specs), &expect["specs"]);
        differ(&mut found, "whether it is complete", &json!(ours.complete()), &expect["complete"]);
        differ(&mut found, "the reviews", &json!(reviews), &expect["reviews"]);
        differ_in_problems(&mut found, &ours.problems, &expect["problems"]);
        if let Some(wanted) = expect.get("summary") {
            differ(&mut found, "the summary", &json!(ours.summary), wanted);
        }
        if let Some(wanted) = expect.get("sections") {
            let titles: Vec<&str> = ours.sections.iter().map(|it| it.title.as_str()).collect();
            differ(&mut found, "the sections", &json!(titles), wanted);
        }
        let latest =
            ours.latest().and_then(|it| ours.reviews.iter().position(|other| std::ptr::eq(it, other)));
        differ(
            &mut found,
            "the latest",
            &json!(latest),
            expect.get("latest").unwrap_or(&json!(ours.reviews.len().checked_sub(1))),
        );
        for block in &ours.reviews {
            if !text.contains(&block.raw) || !block.raw.contains(&block.text) {
                found.push(format!("{:?} is not of the text", block.raw));
            }
        }
        found
    });
}

#[test]
fn a_spec_is_read_with_what_is_wrong_with_it() {
    check("spec", 25, |text, expect| {
        let ours = Spec::read(text, "login");
        let mut found = Vec::new();
        let requirements: Vec<Value> = ours.requirements.iter().map(|it| json!([it.id, it.title])).collect();
        let scenarios: Vec<&str> = ours.scenarios.iter().map(|it| it.name.as_str()).collect();
        differ(&mut found, "the id", &json!(ours.id), &expect["id"]);
        differ(&mut found, "the title", &json!(ours.title), &expect["title"]);
        differ(&mut found, "the requirements", &json!(requirements), &expect["requirements"]);
        differ(&mut found, "the scenarios", &json!(scenarios), &expect["scenarios"]);
        differ(&mut found, "what it depends on", &json!(ours.depends), &expect["depends"]);
        differ_in_problems(&mut found, &ours.problems, &expect["problems"]);
        found
    });
}

#[test]
fn settings_are_read_and_a_broken_file_has_a_line() {
    check("config", 13, |text, expect| {
        let mut found = Vec::new();
        match Config::read(text) {
            Ok(ours) => {
                let ours = json!(ours);
                for (key, value) in ours.as_object().unwrap() {
                    differ(&mut found, key, value, expect.get(key).unwrap_or(&Value::Null));
                }
                differ(&mut found, "the error", &Value::Null, expect.get("error").unwrap_or(&Value::Null));
            }
            Err(problem) => differ(
                &mut found,
                "the error",
                &json!(problem.line),
                expect.get("error").unwrap_or(&Value::Null),
            ),
        }
        found
    });
}

#[test]
fn a_state_is_read_or_everything_wrong_is_said() {
    check("state", 25, |text, expect| {
        let mut found = Vec::new();
        match State::read(text) {
            Ok(ours) => {
                let all = json!(ours);
                for (key, wanted) in expect.as_object().unwrap() {
                    let value = if key == "known" { json!(ours.known_phase()) } else { all[key].clone() };
                    differ(&mut found, key, &value, wanted);
                }
            }
            Err(problems) => {
                let lines: Vec<Option<usize>> = problems.iter().map(|it| it.line).collect();
                if expect["error"] != json!(true) {
                    differ(&mut found, "the faults", &json!(lines), &expect["error"]);
                }
            }
        }
        found
    });
}
