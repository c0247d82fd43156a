//! Filters that texts use: one that there is not is found before anything runs.

use loopwright_core::language::{Folder, load};

#[test]
fn a_text_with_a_filter_that_is_not_there_does_not_load() {
    for (text, expected) in [
        ("{{ subject | upper | tojson }}", None),
        ("{{ subject | default('a | nothing') }} | nothing", None),
        ("{{ subject | tojsn }}", Some("bad-template: there is no filter `tojsn` (did you mean `tojson`?)")),
        ("{% if subject | lenght > 3 %}a{% endif %}", Some("bad-template: there is no filter `lenght`")),
    ] {
        let workflow = format!(
            "workflow: texts\nsubject: thing\nstates:\n  say: {{do: [{{say: {}}}], on: {{done | failures: done}}}}\n  done: {{end: success}}\n",
            serde_json::Value::from(text)
        );
        let files = [("workflow.yaml".to_owned(), workflow.into_bytes())].into();
        let problems = load(&Folder { name: "texts".to_owned(), files }).problems;
        let told = |it: &loopwright_core::problem::Problem| {
            format!("{}: {} ({})", it.code, it.message, it.help.as_deref().unwrap_or_default())
        };
        let told: Vec<String> = problems.iter().map(told).collect();
        match expected {
            None => assert_eq!(told, Vec::<String>::new(), "{text}"),
            Some(expected) => assert!(told.len() == 1 && told[0].starts_with(expected), "{text}: {told:?}"),
        }
    }
}
