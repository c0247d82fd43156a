//! Documents that are what a command says.

use loopwright_core::machine::Run;
use loopwright_engine::{Begin, EngineError, Standing};

use crate::bench::{Bench, example, run, workflow};

const LISTING: &str = r#"
workflow: listing
subject: thing
documents:
  stock: {from: "sh ../stock.sh {{subject}}", as: json, shape: {items: [{id: text, left: int}]}}
  paper: {file: paper.md, optional: true}
roles:
  clerk:
    agent: clerk
    prompt: "Order: {% for it in docs.stock.items %}{{it.id}} {{it.left}};{% endfor %} of {{docs.stock.items | length}}"
    given: [docs.stock]
    may-write: [paper]
facts:
  short: {in: [yes, no, unknown], is: "!docs.stock.exists ? 'unknown' : docs.stock.items.exists(it, it.left == 0) ? 'yes' : 'no'"}
defaults: {failures: failed}
states:
  look: {choose: [{when: {short: yes}, to: order}, {when: {short: no}, to: enough}, {to: closed}]}
  order: {agent: clerk, then: look-again}
  look-again: {choose: [{when: {short: no}, to: enough}, {to: failed}]}
  enough: {end: success}
  closed: {end: refused}
  failed: {end: failure}
"#;

/// What is asked notes that it was, and says what is in stock.
const STOCK: &str = r#"echo "$1" >> ../asked; cat ../stock.json"#;
/// Whoever orders notes what they were told.
const CLERK: &str = r#"cat > ../told; echo '{"items": [{"id": "nails", "left": 9}]}' > ../stock.json"#;

fn bench(script: &str) -> Bench {
    let bench = Bench::with(&[("README.md", "a shop\n")]);
    bench.write("../stock.sh", script);
    bench.write("../stock.json", r#"{"items": [{"id": "nails", "left": 0}, {"id": "planks", "left": 3}]}"#);
    bench
}

fn ended(bench: &Bench, text: &str) -> Result<Box<Run>, EngineError> {
    let begin = Begin { subject: "wood".into(), ..Begin::default() };
    match run(&bench.engine(&[("clerk", CLERK)]), &workflow(text), &begin)?.1 {
        Standing::Over { run, .. } => Ok(run),
        standing => panic!("{standing:?}: {:#?}", bench.lines()),
    }
}

#[test]
fn what_a_command_says_decides_and_is_told() {
    let bench = bench(STOCK);
    let run = ended(&bench, LISTING).expect("it runs");
    assert_eq!(&*run.at.state, "enough", "{:#?}", bench.lines());
    assert!(bench.read("../told").contains("Order: nails 0;planks 3; of 2"), "{}", bench.read("../told"));
    assert_eq!(
        bench.read("../asked"),
        "wood\nwood\n",
        "once before the order and its prompt, and once after"
    );
}

#[test]
fn a_command_that_fails_says_nothing() {
    let bench = bench("cat ../stock.json; echo 'the shop is closed' >&2; exit 3");
    let run = ended(&bench, LISTING).expect("it runs");
    assert_eq!(&*run.at.state, "closed", "{:#?}", bench.lines());
    let heedless = LISTING.replace("!docs.stock.exists ?", "changed.paper.count > 9 ?");
    let wrong = ended(&bench, &heedless).expect_err("there is nothing to decide by").to_string();
    let why = "the document `stock` is not there: `sh ../stock.sh wood` failed: it ended with exit code 3: the shop is closed";
    assert!(wrong.contains("the fact `short`") && wrong.contains(why), "{wrong}");
}

#[test]
fn what_is_not_in_the_form_is_refused_with_its_place() {
    let bench = bench("echo '{\"items\": [{\"id\": \"nails\", \"left\": \"none\"}]}'");
    let wrong = ended(&bench, LISTING).expect_err("no number").to_string();
    assert!(wrong.contains("`stock`, what its command says") && wrong.contains("left"), "{wrong}");
}

#[test]
fn a_command_that_changes_files_stops_the_run() {
    let bench = bench("echo more >> README.md; cat ../stock.json");
    let wrong = ended(&bench, LISTING).expect_err("it is for looking").to_string();
    assert!(wrong.contains("`stock`") && wrong.contains("files changed while it ran: README.md"), "{wrong}");
    assert!(!bench.around().join("told").exists(), "nobody was called");
    assert_eq!(bench.read("README.md"), "a shop\nmore\n", "nothing is lost");
}

#[test]
fn a_gate_over_what_a_command_says_is_stale_once_it_says_something_else() {
    let text = LISTING
        .replace("  look: {choose", "  first: {check: {run: \"true\"}, judges: [stock], gate: counted, on: {pass: look, fail: failed}}\n  look: {choose")
        .replace("look-again: {choose: [{when: {short: no}", "look-again: {choose: [{when: {gate.counted: stale}");
    let bench = bench(STOCK);
    let run = ended(&bench, &text).expect("it runs");
    assert_eq!(&*run.at.state, "enough", "{:#?}", bench.lines());
}

#[test]
fn the_notes_of_the_guide_are_written_from_what_happened() {
    let bench = Bench::with(&[("README.md", "a thing\n"), ("tools/check-links.sh", "true\n")]);
    bench.git(&["tag", "v1"]);
    let notes = || example("notes");
    let begin = Begin { subject: "1.2.3".into(), ..Begin::default() };
    let writer = r"cat > ../told; mkdir -p notes; printf '# 1.2.3\n\n## New\n\nA door.\n\n## Mended\n\nNothing.\n' > notes/1.2.3.md";
    let reader = r#"cat > /dev/null; printf '```json\n{"verdict": "CLEAR", "findings": []}\n```\n'"#;
    let engine = bench.engine(&[("claude", writer), ("codex", reader)]);
    let standing = run(&engine, &notes(), &begin).expect("it runs").1;
    assert!(
        matches!(&standing, Standing::Over { run, .. } if &*run.at.state == "nothing-new"),
        "{standing:?}"
    );
    bench.write("door", "a door\n");
    bench.git(&["add", "--all"]);
    bench.git(&["commit", "--quiet", "--message", "a door of oak"]);
    let standing = run(&engine, &notes(), &begin).expect("it runs").1;
    assert!(
        matches!(&standing, Standing::Waits { run, .. } if &*run.at.state == "approve"),
        "{standing:?}: {:#?}",
        bench.lines()
    );
    assert!(bench.read("../told").contains("a door of oak"), "{}", bench.read("../told"));
}
