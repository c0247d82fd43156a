//! A project, and a whole crew that works in it. Everybody is a shell script that does what its state asks for.

/// What every script begins with: where the session is, and how an answer is given.
macro_rules! crew {
    () => {
        r#"
of=".agents-work/$LOOPWRIGHT_SUBJECT"
say() { printf '```json\n%s\n```\n' "$1"; }
case "$LOOPWRIGHT_STATE" in
  intake|correct-spec)
    mkdir -p "$of"
    printf '# Greetings\n\n## Goals\n\nGreet people.\n\n## Acceptance Criteria\n\n- AC-001\n\n## Definition of Done\n\nIt greets.\n' > "$of/spec.md"
    if [ "$LOOPWRIGHT_STATE" = correct-spec ]; then echo 'And say goodbye.' >> "$of/spec.md"; fi
    printf '{"acceptance_criteria": [{"id": "AC-001", "description": "it greets", "verify": ["test -s src/greeting"]}, {"id": "AC-002", "description": "it is friendly", "verify": ["manual: read it"]}]}\n' > "$of/acceptance.json"
    say '{"verdict": "OK", "research": "no", "ui": "no", "research_question": "", "summary": "people read English"}' ;;
  intake-lean)
    mkdir -p "$of"
    printf '# Greetings\n\n## Goals\n\nGreet people.\n\n## Acceptance Criteria\n\n- AC-001\n\n## Definition of Done\n\nIt greets.\n' > "$of/spec.md"
    printf '{"acceptance_criteria": [{"id": "AC-001", "description": "it greets", "verify": ["test -s src/greeting"]}]}\n' > "$of/acceptance.json"
    printf 'project: {name: greetings}\ntasks:\n  - {id: T-001, status: not-started, type: feat, title: Greet, depends_on: [], goal: greet people, acceptance_checks: ["cmd: test -s src/greeting"], risk_flags: [none], done_when: [it greets]}\n' > "$of/tasks.yaml"
    say '{"verdict": "OK", "research": "no", "ui": "no"}' ;;
  architect|correct-architecture)
    printf '# Architecture\n\n## Overview\n\nOne file.\n\n## Modules\n\n- greeting\n\n## Risks\n\nNone.\n' > "$of/architecture.md"
    if [ "$LOOPWRIGHT_STATE" = correct-architecture ]; then echo 'Two files.' >> "$of/architecture.md"; fi
    say '{"verdict": "OK", "summary": "one file"}' ;;
  plan)
    cat > "$of/tasks.yaml" <<END
project: {name: greetings, definition_of_done: [it greets]}
tasks:
  # the first
  - {id: T-001, status: not-started, type: feat, title: Greet, depends_on: [], goal: greet people, acceptance_checks: ["cmd: test -s src/greeting"], risk_flags: [none], done_when: [it greets]}
  - id: T-002
    status: not-started
    type: docs
    title: Write about it
    depends_on: [T-001]
    goal: people know of it
    acceptance_checks: ["manual: read the README"]
    risk_flags: [none]
    done_when: [it is written down]
END
    say '{"verdict": "OK", "summary": "two tasks"}' ;;
  code)
    mkdir -p src
    case "$LOOPWRIGHT_ITEM" in
      T-001) echo helo > src/greeting ;;
      T-002) echo '# Greetings' > README.md ;;
    esac
    say '{"verdict": "OK", "touches": "nothing", "summary": "coded"}' ;;
  fix-review|fix-tests|fix-security|fix-build)
    echo hello > src/greeting
    say '{"verdict": "OK", "touches": "nothing", "summary": "fixed"}' ;;
  review)
    if grep -qx helo src/greeting 2> /dev/null; then
      say '{"verdict": "BLOCKED", "summary": "misspelt", "findings": [{"severity": "major", "text": "it is spelt hello", "file": "src/greeting"}]}'
    else
      say '{"verdict": "OK", "summary": "good", "findings": []}'
    fi ;;
  qa|security) say '{"verdict": "OK", "summary": "fine", "findings": []}' ;;
  integrate|release) say '{"verdict": "OK", "summary": "together"}' ;;
  docs)
    printf '# Report\n\n## What was done\n\nIt greets.\n\n## How to run\n\ncat src/greeting\n\n## How to test\n\nsh test.sh\n\n## Acceptance\n\nmet\n\n## Known issues\n\nNone\n' > "$of/report.md"
    say '{"verdict": "OK", "summary": "written"}' ;;
esac
"#
    };
}
pub(crate) const CREW: &str = crew!();

/// The same, who sign before they work.
pub(crate) const CREW_SIGNS: &str = concat!(
    "cat > /dev/null; set -- \"$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT.$LOOPWRIGHT_ITEM\"; . ../sign\n",
    crew!()
);
