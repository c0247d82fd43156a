//! A `.vibe` folder, and those who work in it.

/// A plan of two stages and three checkpoints. Each has a command that shows it.
pub(crate) const PLAN: &str = "\
# PLAN

## Stage 1 — words

### 1.0 — hello

* **Objective:**
  * say hello
* **Deliverables:**
  * hello.txt
* **Acceptance:**
  * it says hello
* **Demo commands:**
  * `grep -q hello hello.txt`
* **Evidence:**
  * none

### 1.1 — goodbye

* **Objective:**
  * say goodbye
* **Deliverables:**
  * bye.txt
* **Acceptance:**
  * it says goodbye
* **Demo commands:**
  * `test -s bye.txt`
* **Evidence:**
  * none

## Stage 2 — more words

### 2.0 — thanks

* **Objective:**
  * say thanks
* **Deliverables:**
  * thanks.txt
* **Acceptance:**
  * it says thanks
* **Demo commands:**
  * `test -s thanks.txt`
* **Evidence:**
  * none
";

/// A state with every flag in use and nothing due.
pub(crate) const STATE: &str = "\
# STATE

## Current focus

- Stage: 1
- Checkpoint: 1.0
- Status: NOT_STARTED <!-- the engine's -->

## Workflow state

- [ ] RUN_CONTEXT_CAPTURE
- [x] STAGE_DESIGNED
- [x] RETROSPECTIVE_DONE
- [x] MAINTENANCE_CYCLE_DONE

## Work log (current session)

- begun

## Evidence

- path: notes.md

## Active issues

- None.
";

/// Does the work of every role that writes; the first try of the first checkpoint is wrong.
macro_rules! worker {
    () => {
        r#"
say() { printf '```json\n{"verdict": "%s"}\n```\n' "$1"; }
log() {
  entry="$LOOPWRIGHT_STATE of $(sed -n 's/^- Checkpoint: //p' .vibe/STATE.md)"
  grep -q "^- $entry$" .vibe/STATE.md && return
  sed "s/^- begun/- $entry\n- begun/" .vibe/STATE.md > .vibe/new && mv .vibe/new .vibe/STATE.md
}
case "$LOOPWRIGHT_STATE" in
  implement)
    case "$(sed -n 's/^- Checkpoint: //p' .vibe/STATE.md)" in
      1.0) if [ -e hello.txt ]; then echo 'hello, world' > hello.txt; else echo helo > hello.txt; fi ;;
      1.1) echo bye > bye.txt ;;
      2.0) echo thanks > thanks.txt ;;
    esac
    log; say ready_for_review ;;
  smoke-triage) echo hello > hello.txt; log; say resolved ;;
  close-stage) printf '# HISTORY\n\n## Stage 1\n' > .vibe/HISTORY.md; say aligned ;;
  retrospective) printf '# CONTEXT\n\n## Stage Retrospective Notes\n\n- read the plan\n' > .vibe/CONTEXT.md; say completed ;;
  design) echo '- decided' >> .vibe/CONTEXT.md; log; say updated ;;
  maintain) echo docs > README; say ready_for_review ;;
  capture|recapture) echo '- captured' >> .vibe/CONTEXT.md; say updated ;;
esac
"#
    };
}
pub(crate) const WORKER: &str = worker!();

/// Wants to know whom it greets, and passes all else.
macro_rules! judge {
    () => {
        r#"
if grep -qx hello hello.txt 2> /dev/null; then
  printf '```json\n{"verdict": "pass", "findings": [{"severity": "MODERATE", "text": "whom does it greet?", "file": "hello.txt"}]}\n```\n'
else
  printf '```json\n{"verdict": "pass", "findings": [{"severity": "MINOR", "text": "short"}], "summary": "short, but fine"}\n```\n'
fi
"#
    };
}
pub(crate) const JUDGE: &str = judge!();

/// The last checkpoint of the first stage is being built, in a project that uses no flags but one.
pub(crate) const LATE: &str = "\
# STATE

- Stage: 1
- Checkpoint: 1.1
- Status: IN_PROGRESS

## Workflow state

- [x] RETROSPECTIVE_DONE

## Work log (current session)

- begun
";

/// The same, who sign before they work.
pub(crate) const WORKER_SIGNS: &str =
    concat!("cat > /dev/null; set -- \"$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT\"; . ../sign\n", worker!());
pub(crate) const JUDGE_SIGNS: &str =
    concat!("cat > /dev/null; set -- \"$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT\"; . ../sign\n", judge!());
