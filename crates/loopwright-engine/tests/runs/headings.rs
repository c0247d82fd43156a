//! Headings that a document has to have.

use crate::actions::start;
use crate::bench::{Bench, workflow};

const HAS: &str = r#"
workflow: headings
subject: thing
documents:
  spec: {file: spec.md, as: markdown, has: [Goals, Acceptance criteria], optional: true}
  notes: {files: ["notes/*.md"], has: [Why], optional: true}
roles:
  writer: {agent: writer, prompt: "Write.", may-write: [spec, notes]}
facts:
  there: {in: [yes, no], is: "docs.spec.exists ? 'yes' : 'no'"}
  noted: {in: [yes, no], is: "docs.notes.exists ? 'yes' : 'no'"}
defaults: {failures: failed}
states:
  look: {choose: [{when: {there: yes}, to: seen}, {to: write}]}
  write: {agent: writer, produces: [spec, notes], on: {done: after, malformed: malformed}}
  after: {choose: [{when: {there: yes, noted: yes}, to: done}, {to: failed}]}
  seen: {end: success}
  done: {end: success}
  malformed: {end: stopped}
  failed: {end: failure}
"#;

const WHOLE: &str = "---\na: 1\n---\n# A thing\n\n## goals ##\n\nx\n\n### Acceptance Criteria\n\ny\n";

/// What is there before, what the writer writes to the spec and the notes, where that leads, and what is said.
type Case = (&'static [(&'static str, &'static str)], &'static str, &'static str, &'static str, &'static str);

const CASES: &[Case] = &[
    // Neither the level of a heading nor its large letters matter.
    (&[("spec.md", WHOLE)], "", "", "seen", ""),
    (&[("spec.md", "# Goals\n")], WHOLE, "# Why\n", "done", ""),
    (&[], WHOLE, "# Why\n", "done", ""),
    (
        &[],
        "# Goals\n\nAcceptance criteria\n",
        "# Why\n",
        "malformed",
        "the document `spec` should have the heading `Acceptance criteria`, and `spec.md` has not",
    ),
    // What stands in a block of code is no heading.
    (&[], "# Acceptance criteria\n```\n# Goals\n```\n", "# Why\n", "malformed", "the heading `Goals`"),
    (&[], WHOLE, "", "malformed", "the document `notes` should be there now, and is not"),
    // Of several files every one has it.
    (
        &[("notes/old.md", "# Old\n")],
        WHOLE,
        "# Why\n",
        "malformed",
        "the document `notes` should have the heading `Why`, and `notes/old.md` has not",
    ),
];

#[test]
fn a_document_without_its_headings_is_not_there() {
    for (before, spec, notes, end, said) in CASES {
        let bench = Bench::with(&[&[("a", "a\n")], *before].concat());
        let write = |file: &str, text: &str| match text {
            "" => String::new(),
            text => format!("cat > {file} <<'END'\n{text}END\n"),
        };
        let writer = format!(
            "cat > /dev/null; mkdir -p notes\n{}{}",
            write("spec.md", spec),
            write("notes/new.md", notes)
        );
        let engine = bench.engine(&[("writer", &writer)]);
        let standing = start(&engine, &workflow(HAS)).drive().expect("it runs");
        let run = standing.run();
        assert_eq!(&*run.at.state, *end, "{spec}: {:?}", run.cause);
        let summary = run.last.get("write").map(|it| it.summary.clone()).unwrap_or_default();
        assert!(summary.contains(said), "{spec}: {summary}");
    }
}
