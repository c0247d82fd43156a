//! Lists that items record to: they are the lists of the run around them.

use loopwright_core::machine::Run;

use crate::actions::{die_everywhere, start};
use crate::bench::{Bench, workflow};

/// Items with a judge each. What it finds is recorded; an item that is not good is done again.
const LOOP: &str = r#"
workflow: several
subject: thing
budgets: {rounds: 2, retries: {limit: 3, per: visit}}
lists: [open, ends]
documents:
  tasks: {file: tasks.yaml, as: yaml, shape: {items: [{id: text}]}}
  log: {file: log.md}
roles:
  judge: {agent: judge, prompt: "{% for it in lists.open %}{{it.item}}:{{it.summary}};{% endfor %}", given: [lists.open], verdicts: [OK, BAD], findings: {severity: [bad]}}
facts:
  left: {in: [none, some], is: "lists.open.size() == 0 ? 'none' : 'some'"}
defaults: {lost: {to: again, spend: retries, else: failed}, failures: failed}
states:
  all: {each: {item: task, in: docs.tasks.items, run: one}, on: {good: look, bad: {to: all, spend: rounds, record: ends, else: look}}}
  look: {choose: [{when: {left: some}, to: note}, {to: done}]}
  note: {do: [{write: log, from: "{% for it in lists.open %}{{it.item}} {{it.state}} {{it.signal}} {{it.summary}} {{it.file}};{% endfor %}"}], then: done}
  done: {end: success}
  failed: {end: failure}
children:
  one:
    budgets: {retries: {limit: 3, per: visit}}
    defaults: {lost: {to: again, spend: retries, else: bad}, failures: bad}
    states:
      review: {review: judge, on: {OK: good, BAD: {to: bad, record: open}}}
      good: {end: success}
      bad: {end: failure}
"#;

const TASKS: &str = "items: [{id: a}, {id: b}, {id: c}]\n";

/// Item `b` is not good; the second time for another reason, the third time it is.
fn judge(good: u32) -> String {
    format!(
        r#"git=$(git rev-parse --git-dir); cat > "$git/told-$LOOPWRIGHT_ITEM"
        case "$LOOPWRIGHT_ITEM" in
          b) round=${{LOOPWRIGHT_RUN##*all.}}; round=${{round%%/*}}
             if [ "$round" -ge {good} ]; then printf '```json\n{{"verdict": "OK"}}\n```\n'
             else printf '```json\n{{"verdict": "BAD", "findings": [{{"severity": "bad", "file": "src/%s", "text": "fault %s"}}]}}\n```\n' "$round" "$round"; fi ;;
          *) printf '```json\n{{"verdict": "OK"}}\n```\n' ;;
        esac"#
    )
}

fn list(run: &Run, name: &str) -> Vec<String> {
    let entries = run.lists.get(name).into_iter().flatten();
    entries.map(|it| format!("{} {}", it.item.as_deref().unwrap_or("-"), it.summary)).collect()
}

#[test]
fn what_an_item_records_is_in_the_list_of_the_run_around_it() {
    // How often it is tried; what is in the lists then.
    let cases: [(u32, &[&str], usize); 3] = [(9, &["b fault 3"], 2), (3, &[], 2), (1, &[], 0)];
    for (good, open, tries) in cases {
        let bench = Bench::with(&[("tasks.yaml", TASKS)]);
        let engine = bench.engine(&[("judge", &judge(good))]);
        let driver = start(&engine, &workflow(LOOP));
        let name = driver.name().to_owned();
        let standing = driver.drive().expect("it runs");
        let run = standing.run();
        assert_eq!(&*run.at.state, "done", "{good}: {:?}", bench.lines());
        assert_eq!(list(run, "open"), open, "{good}: what the last try of an item recorded");
        assert_eq!(list(run, "ends").len(), tries, "{good}: what the run itself recorded stays");
        assert_eq!(bench.path().join("log.md").exists(), !open.is_empty(), "{good}");
        // Read again from its journal, the run is the same.
        assert_eq!(engine.read(&name).expect("a run").1.lists, run.lists);
        if good == 9 {
            assert_eq!(bench.read("log.md").trim_end(), "b review BAD fault 3 src/3;");
        }
        // The next try sees what the one before left.
        if good == 3 {
            assert!(bench.read(".git/told-b").starts_with("b:fault 2;"), "{}", bench.read(".git/told-b"));
        }
    }
}

#[test]
fn wherever_a_driver_dies_nothing_is_recorded_twice() {
    let judge = judge(9);
    let bench = || Bench::with(&[("tasks.yaml", TASKS)]);
    let (_, left) = die_everywhere("lists", &workflow(LOOP), &bench, &[("judge", &judge)]);
    assert_eq!(left.files["log.md"].trim_end(), "b review BAD fault 3 src/3;");
}

/// Other loops over the same items keep their own.
#[test]
fn another_loop_over_the_same_items_records_beside_the_first() {
    let again = "on: {good: look, bad: {to: all, spend: rounds, record: ends, else: look}}}";
    let once = "on: {good | bad: {to: more, record: ends}}}";
    let more = "  more: {each: {item: task, in: docs.tasks.items, run: one}, on: {good | bad: look}}";
    let text = LOOP.replace(again, &format!("{once}\n{more}")).replace("rounds: 2, ", "");
    let bench = Bench::with(&[("tasks.yaml", TASKS)]);
    // Which loop it is in stands where the number of its visit did.
    let judge = judge(9).replace("##*all.", "#*/").replace("-ge 9", "= never");
    let engine = bench.engine(&[("judge", &judge)]);
    let standing = start(&engine, &workflow(&text)).drive().expect("it runs");
    assert_eq!(list(standing.run(), "open"), ["b fault all.1", "b fault more.1"], "{:?}", bench.lines());
}
