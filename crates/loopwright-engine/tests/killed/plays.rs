//! Runs in which everything happens that a run can do outside.

use indexmap::IndexMap;
use loopwright_core::language::Folder;
use loopwright_engine::Begin;

use crate::bench::{Bench, in_folder, workflow};
use crate::change_files;
use crate::team_files::CREW_SIGNS;
use crate::vibe_files::{JUDGE_SIGNS, LATE, PLAN, WORKER_SIGNS};

/// A run, and everybody who takes part.
pub(crate) struct Play {
    pub(crate) name: &'static str,
    pub(crate) folder: fn() -> Folder,
    pub(crate) begin: fn() -> Begin,
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// A branch of its own, where the run needs one.
    pub(crate) branch: Option<&'static str>,
    pub(crate) agents: &'static [(&'static str, &'static str)],
    /// Questions, and what is answered.
    pub(crate) answers: &'static [(&'static str, &'static str)],
    /// What is said wherever the run rests, the first that is heard there.
    pub(crate) verbs: &'static [&'static str],
}

impl Play {
    /// A repository to play in. Its agents sign before they work.
    pub(crate) fn bench(&self) -> Bench {
        let bench = Bench::with(self.files);
        if let Some(branch) = self.branch {
            bench.git(&["checkout", "--quiet", "-b", branch]);
        }
        std::fs::write(bench.around().join("sign"), SIGN).expect("a file");
        bench
    }
}

/// Says who is at work, and kills whoever drives if this is when: before the work is done or after it. It stops there
/// itself, so that nothing is done halfway by chance. Run with `.`, from a folder beside it.
const SIGN: &str = r#"
around=$(cd "$(git rev-parse --path-format=absolute --git-common-dir)/../.." && pwd)
echo "$1" >> "$around/called"
killed_if_this_is() {
  if [ "$LOOPWRIGHT_TEST_DURING" = "$1" ]; then kill -9 "$(cat "$around/driver")"; kill -STOP $$; fi
}
killed_if_this_is "before $1"
trap "killed_if_this_is 'after $1'" EXIT
"#;

pub(crate) const PLAYS: &[Play] = &[TASK, EVERYTHING, PAPERS, APART, VIBE, CHANGE, TEAM, ISSUE, BESIDE];

const TASK: Play = Play {
    name: "task",
    folder: || in_folder("../../workflows", "task"),
    begin: || Begin { subject: "greet".into(), ..Begin::default() },
    files: &[(
        "test.sh",
        r#"set -- "$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT"; . ../sign
        grep -q hello greeting || { echo 'no hello in the greeting' >&2; exit 1; }
        "#,
    )],
    branch: None,
    agents: &[
        (
            "claude",
            r#"cat > /dev/null; set -- "$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT"; . ../sign
            case "$1" in
              implement.1) echo helo > greeting ;;
              fix.1) echo hello > greeting ;;
              fix.2) echo 'hello, world' > greeting ;;
            esac
            echo "I wrote the greeting.""#,
        ),
        (
            "codex",
            r#"cat > /dev/null; set -- "$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT"; . ../sign
            if [ "$LOOPWRIGHT_VISIT" = 1 ]; then
              printf '```json\n{"verdict": "NEEDS_FIX", "findings": [{"severity": "major", "text": "whom does it greet?"}]}\n```\n'
            else
              printf '```json\n{"verdict": "APPROVED"}\n```\n'
            fi"#,
        ),
    ],
    answers: &[],
    verbs: &[],
};

/// A stage comes to its end, and the next is worked through.
const VIBE: Play = Play {
    name: "vibe",
    folder: || in_folder("../../workflows", "vibe"),
    begin: Begin::default,
    files: &[(".vibe/STATE.md", LATE), (".vibe/PLAN.md", PLAN), (".vibe/CONTEXT.md", "# CONTEXT\n")],
    branch: None,
    agents: &[("claude", WORKER_SIGNS), ("codex", JUDGE_SIGNS)],
    answers: &[],
    verbs: &["resume"],
};

/// A wish becomes a plan, which is sent back once, then code, then the main specs. How code goes back is in another play.
const CHANGE: Play = Play {
    name: "change",
    folder: || in_folder("../../workflows", "change"),
    begin: || Begin { subject: "greet".into(), verb: Some("plan".into()), ..Begin::default() },
    files: &[
        ("test.sh", change_files::TEST_SIGNS),
        ("agentd/specs/greeting.md", "# greeting\n\nNobody is greeted.\n"),
        (
            "agentd/specs/CHANGELOG.md",
            "# Changelog\n\n## 2026-01-01: It begins (begin)\nThere is a project.\n",
        ),
    ],
    branch: None,
    agents: &[
        ("gemini", change_files::ONE_PART_SIGNS),
        ("claude", change_files::BUILDER_SIGNS),
        ("codex", change_files::JUDGE_SIGNS),
    ],
    answers: &[("implement-now", "implement")],
    verbs: &["archive", "impl", "plan"],
};

/// A goal becomes a release: both questions, a repair, one pass of all judges, and something only a person can check.
const TEAM: Play = Play {
    name: "team",
    folder: || in_folder("../../workflows", "team"),
    begin: || Begin {
        subject: "2026-09-21_greet-people".into(),
        inputs: IndexMap::from([("goal".into(), "Greet people!".to_owned())]),
        verb: Some("start".into()),
        ..Begin::default()
    },
    files: &[("test.sh", "set -- \"$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT\"; . ../sign\ntest ! -e broken\n")],
    branch: None,
    agents: &[("claude", CREW_SIGNS), ("codex", CREW_SIGNS), ("gemini", CREW_SIGNS)],
    answers: &[("approve-design", "approved"), ("review-strategy", "single-final"), ("manual", "met")],
    verbs: &["resume"],
};

/// Calls, checks, a judge, a question, items, an action, a rest, a commit.
/// Two tasks, of which one is filed; a review that finds a fault. Its tests are shell scripts, which take no time.
const ISSUE: Play = Play {
    name: "issue",
    folder: || in_folder("../../workflows", "issue"),
    begin: || Begin { subject: "GAL-7".into(), ..Begin::default() },
    files: &[
        (
            "test.sh",
            r#"set -- "$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT"; . ../sign
            for it in tests/*.sh; do sh "$it" || exit 1; done
            "#,
        ),
        ("tests/greeting.sh", "grep -q hello greeting\n"),
        ("greeting", "hello\n"),
        ("TODO/README.md", "# Issues\n\n- [ ] [GAL-7](GAL-7.md): Greet\n"),
        (
            "TODO/GAL-7.md",
            "---\nid: GAL-7\ntitle: Greet\nstatus: Todo\n---\n\n## Acceptance criteria\n\n- [ ] The world is greeted.\n- [ ] The moon is greeted.\n",
        ),
    ],
    branch: Some("gal-7"),
    agents: &[("claude", ISSUE_CREW), ("codex", ISSUE_CREW), ("gemini", ADVISER)],
    answers: &[],
    verbs: &[],
};

/// Is asked within the call of a reviewer, and so does not sign.
const ADVISER: &str = r#"cat > /dev/null
printf '```json\n{"findings": [{"severity": "note", "text": "less would do"}]}\n```\n'"#;

const ISSUE_CREW: &str = r#"cat > /dev/null; set -- "$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT"; . ../sign
of=.workflow/run-GAL-7
say() { printf '```json\n%s\n```\n' "$1"; }
task() {
  printf -- '---\ntitle: Greet the %s\nfiles: [greeting, tests/%s.sh]\ndepends-on: [%s]\nnew-symbols: false\n---\n\n## Description\n\nGreet it.\n\n## Acceptance criteria\n\n- [ ] It is greeted.\n\n## Code context\n\nNone.\n\n## Contracts\n\nNone.\n\n## Plan\n\nGreet.\n' "$2" "$2" "$3" > "$of/task-$1.md"
}
case "$LOOPWRIGHT_STATE" in
  plan) mkdir -p "$of"; printf '# Greet\n\nThe world, then the moon.\n' > "$of/plan.md" ;;
  split) task 1 world ''; task 2 moon task-1 ;;
  write-tests) echo 'grep -q world greeting' > tests/world.sh; say '{"verdict": "TESTS_READY", "escalate": "no", "summary": "one"}' ;;
  implement) if [ "$LOOPWRIGHT_VISIT" = 1 ]; then echo 'hello wold world' > greeting; else echo 'hello world' > greeting; fi; say '{"verdict": "COMPLETE", "summary": "done"}' ;;
  final-review)
    if grep -q wold greeting; then
      say '{"verdict": "NEEDS_WORK", "summary": "a typo", "findings": [{"severity": "fault", "topic": "code", "file": "greeting", "text": "It says wold."}]}'
    else
      say '{"verdict": "ACCEPTABLE", "summary": "good", "findings": []}'
    fi ;;
  review-plan|review-split) say '{"verdict": "ACCEPTABLE", "summary": "good", "findings": []}' ;;
  assess) say '{"verdict": "done", "summary": "one holds", "met": ["1"], "bugs": [{"id": "b1", "title": "It is slow", "text": "Very."}]}' ;;
esac
"#;

const EVERYTHING: Play = Play {
    name: "everything",
    folder: || workflow(include_str!("../data/journals/workflow.yaml")),
    begin: || Begin { subject: "house".into(), ..Begin::default() },
    files: &[
        (
            "test.sh",
            "set -- \"$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT\"; . ../sign; grep -q 'two\\|three' src/a\n",
        ),
        (
            "tasks.yaml",
            "items:\n  - {id: roof, title: A roof, depends: [floor]}\n  - {id: floor, title: A floor, depends: []}\n",
        ),
    ],
    branch: None,
    agents: &[
        (
            "coder",
            r#"cat > /dev/null; set -- "$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT"; . ../sign; mkdir -p src
            case "$1" in
              write.1) echo one > src/a ;;
              fix.1) echo two > src/a ;;
              fix.2) echo three > src/a ;;
            esac"#,
        ),
        (
            "judge",
            r#"cat > /dev/null; set -- "$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT"; . ../sign
            if [ "$LOOPWRIGHT_VISIT" = 1 ]; then
              printf '```json\n{"verdict": "BAD", "findings": [{"severity": "bad", "text": "two is not enough"}]}\n```\n'
            else
              printf '```json\n{"verdict": "GOOD"}\n```\n'
            fi"#,
        ),
        (
            "writer",
            r#"set -- "$LOOPWRIGHT_ITEM.$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT"; . ../sign
            mkdir -p out; cat > "out/$LOOPWRIGHT_ITEM.txt""#,
        ),
    ],
    answers: &[("ship", "yes")],
    verbs: &["go"],
};

/// Two judges at work at once, who both send it back; then both let it pass.
const BESIDE: Play = Play {
    name: "beside",
    folder: || workflow(BESIDE_TEXT),
    begin: || Begin { subject: "house".into(), ..Begin::default() },
    files: &[("README.md", "a\n")],
    agents: &[
        (
            "coder",
            r#"cat > /dev/null; set -- "$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT"; . ../sign; mkdir -p src
            echo "$1" > src/a"#,
        ),
        (
            "judge",
            r#"cat > /dev/null; set -- "$LOOPWRIGHT_STATE of $(cat src/a)"; . ../sign
            if grep -q write src/a; then
              printf '```json\n{"verdict": "BLOCKED", "findings": [{"severity": "major", "text": "%s is missing"}]}\n```\n' "$LOOPWRIGHT_STATE"
            else
              printf '```json\n{"verdict": "OK"}\n```\n'
            fi"#,
        ),
    ],
    answers: &[],
    verbs: &[],
    branch: None,
};

const BESIDE_TEXT: &str = r#"
workflow: beside
subject: thing
budgets: {reviews: 2, audits: 2, retries: {limit: 3, per: visit}}
documents: {code: {files: ["src/**"]}}
roles:
  coder: {agent: coder, prompt: "Write.", may-write: [code]}
  judge: {agent: judge, prompt: "Judge.", verdicts: [OK, BLOCKED], findings: {severity: [minor, major], at-least: {major: BLOCKED}}}
defaults: {lost: {to: again, spend: retries, else: failed}, failures: failed}
states:
  write: {agent: coder, then: owed}
  owed: {settle: [review, audit], ahead: 2, then: commit}
  review: {review: judge, judges: code, on: {OK: owed, BLOCKED: {to: mend, spend: reviews, else: failed}}}
  audit: {review: judge, judges: code, on: {OK: owed, BLOCKED: {to: mend, spend: audits, else: failed}}}
  mend: {agent: coder, then: owed}
  commit: {needs: [review, audit], do: [{commit: "{{subject}}", what: [code]}], then: done}
  done: {end: success}
  failed: {end: failure}
"#;

/// Items in worktrees of their own, one after the other: each joins, is checked and brought back.
const APART: Play = Play {
    name: "apart",
    branch: None,
    folder: || workflow(APART_TEXT),
    begin: || Begin { subject: "house".into(), ..Begin::default() },
    files: &[
        ("list.yaml", "items:\n  - {id: roof, depends: [floor]}\n  - {id: floor, depends: []}\n"),
        (
            "whole.sh",
            "set -- \"$LOOPWRIGHT_ITEM.$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT\"; . ../sign; test -e src/floor\n",
        ),
    ],
    agents: &[(
        "writer",
        r#"cat > /dev/null; set -- "$LOOPWRIGHT_ITEM.$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT"; . ../sign
        mkdir -p src; echo written > "src/$LOOPWRIGHT_ITEM""#,
    )],
    answers: &[],
    verbs: &[],
};

const APART_TEXT: &str = r#"
workflow: apart
subject: thing
documents:
  list: {file: list.yaml, as: yaml, shape: {items: [{id: text, depends: [text]}]}}
  code: {files: ["src/**"]}
  state: {file: STATE.yaml, as: yaml, owner: engine, optional: true, shows: {phase: "{{phase}}"}, shape: {phase: text}}
phases:
  building: {at: all, show: others}
roles:
  writer: {agent: writer, prompt: "Write {{item.id}}.", may-write: [code]}
defaults:
  failures: failed
states:
  all:
    each: {item: part, in: docs.list.items, order: depends, at-once: 2, apart: true, run: part}
    on: {done: done, given-up | unordered | conflict | empty: failed}
  done: {end: success}
  failed: {end: failure}
children:
  part:
    budgets: {retries: {limit: 3, per: visit}}
    defaults:
      lost: {to: again, spend: retries, else: given-up}
      failures: given-up
    states:
      write: {agent: writer, then: commit}
      commit: {do: [{commit: "{{item.id}}", what: [code]}], then: join}
      join: {do: [{join: "Join {{item.id}}"}], then: whole}
      whole: {check: {run: "sh whole.sh"}, on: {pass: done, fail: given-up}}
      done: {end: success}
      given-up: {end: failure}
"#;

/// Documents that show where the run is, fields, entries, folders that move, a worktree of its own, merging.
const PAPERS: Play = Play {
    name: "papers",
    folder: || {
        let mut folder = workflow(PAPERS_TEXT);
        folder.files.insert("templates/note.md".to_owned(), b"# {{item.title}}\n".to_vec());
        folder
    },
    begin: || Begin { subject: "roof".into(), ..Begin::default() },
    files: &[
        ("test.sh", "set -- \"$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT\"; . ../sign; test -s src/a\n"),
        (
            "tasks.yaml",
            "# what there is to do\nitems:\n  - {id: a, title: First}\n  - {id: b, title: Second}\n",
        ),
        ("old/notes.md", "# Old\n"),
    ],
    branch: None,
    agents: &[(
        "coder",
        r#"cat > /dev/null; set -- "$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT"; . ../sign
        mkdir -p src; echo "$1" > src/a"#,
    )],
    answers: &[],
    verbs: &["go"],
};

const PAPERS_TEXT: &str = r#"
workflow: papers
subject: {name: topic, matches: "[a-z]+"}
folder: "work/{{subject}}"
budgets: {retries: {limit: 3, per: visit}}
documents:
  state: {file: ./STATE.yaml, as: yaml, owner: engine, shows: {phase: "{{phase}}"}, shape: {phase: text, status: text, done: [text]}}
  list: {file: tasks.yaml, as: yaml, shape: {items: [{id: text, title: text}]}}
  notes: {files: ["notes/*.md"]}
  kept: {files: ["kept/**"]}
  code: {files: ["src/**"]}
phases:
  planned: {at: plan, show: [plan, keep, away]}
  built: {at: rest, show: others}
roles:
  coder: {agent: coder, prompt: "Write {{subject}}.", may-write: [code]}
verbs: {go: {}}
defaults:
  lost: {to: again, spend: retries, else: failed}
  failures: failed
states:
  plan:
    do:
      - {set: {state.status: planned}}
      - {append: "planned", to: state.done}
      - {copy: old, to: kept/old}
    then: keep
  keep: {do: [{commit: "plan {{subject}}", what: [state, kept]}], then: away}
  away: {do: [{branch: "work/{{subject}}", worktree: true}], then: write}
  write: {agent: coder, then: check}
  check: {check: project.test, judges: code, on: {pass: papers, fail: failed}}
  papers:
    do:
      - {create: notes, for: docs.list.items, key: "{{item.id}}", set: {}, template: templates/note.md}
      - {append: "built", to: state.done}
      - {set: {state.status: built}}
    then: commit
  commit: {needs: [check], do: [{commit: "{{subject}}", what: [code, notes, state]}], then: rest}
  rest: {rest: "Say go.", on: {verb go: merge}}
  merge: {do: [{merge: "work/{{subject}}", into: main}, {drop: "work/{{subject}}"}], then: archive}
  archive: {do: [{move: folder, to: "done/{{subject}}"}, {delete: kept}], then: done}
  done: {end: success}
  failed: {end: failure}
"#;
