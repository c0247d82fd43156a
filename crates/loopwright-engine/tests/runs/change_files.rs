//! A project with an `agentd/` folder, and those who work on a change of it.

/// Says that the tests ran once both parts are there.
pub(crate) const TEST: &str = "test -s src/greeting && test -s src/farewell\n";

/// The same, which sign before they run.
pub(crate) const TEST_SIGNS: &str = "set -- \"$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT\"; . ../sign\ntest -s src/greeting && test -s src/farewell\n";

/// Plans, and folds specs into the main ones. What it writes does not depend on how often it is called.
macro_rules! planner {
    () => {
        r#"
of="agentd/changes/$LOOPWRIGHT_SUBJECT"
case "$LOOPWRIGHT_STATE" in
  propose)
    mkdir -p "$of"
    cat > "$of/proposal.md" <<END
---
id: $LOOPWRIGHT_SUBJECT
type: proposal
version: 1
summary: "Greet people and say goodbye"
affected_specs:
  - id: farewell
    path: specs/farewell.md
    depends: [greeting]
  - id: greeting
    path: specs/greeting.md
    depends: []
---
<proposal>
# Change: $LOOPWRIGHT_SUBJECT

## Summary
It greets people and says goodbye.

## Why
Nobody is greeted today, and people leave without a word.

## What Changes
- a greeting
- a farewell

## Impact
- **Scope**: minor
</proposal>
END
    ;;
  specs)
    mkdir -p "$of/specs"
    cat > "$of/specs/$LOOPWRIGHT_ITEM.md" <<END
---
id: $LOOPWRIGHT_ITEM
type: spec
title: "$LOOPWRIGHT_ITEM"
version: 1
---
<spec>
# $LOOPWRIGHT_ITEM

## Overview
What a $LOOPWRIGHT_ITEM is.

## Requirements

### R1 - It is there
There must be a $LOOPWRIGHT_ITEM.

## Acceptance Criteria

### Scenario: Somebody comes
- **WHEN** somebody comes
- **THEN** there is a $LOOPWRIGHT_ITEM
</spec>
END
    ;;
  tasks)
    cat > "$of/tasks.md" <<END
---
id: $LOOPWRIGHT_SUBJECT
change_id: $LOOPWRIGHT_SUBJECT
type: tasks
version: 1
---
<tasks>
# Implementation Tasks

## 1. Data Layer

### Task 1.1: Write the greeting
\`\`\`yaml
id: "1.1"
action: CREATE
status: pending
file: src/greeting
spec_ref: greeting:R1
depends_on: []
\`\`\`
It says hello.

## 2. Logic Layer

### Task 2.10: Write the farewell
\`\`\`yaml
id: "2.10"
action: CREATE
status: pending
file: src/farewell
spec_ref: farewell:R1
depends_on: ["1.1"]
\`\`\`
It says goodbye.
</tasks>
END
    ;;
  repropose)
    # A careless one: the whole text anew, without what it was told to leave alone.
    sed -e '/<review/,/<\/review>/d' -e 's/^It greets people and says goodbye\.$/It greets people by name and says goodbye./' "$of/proposal.md" > "$of/new" && mv "$of/new" "$of/proposal.md"
    ;;
  merge-specs) mkdir -p agentd/specs; cp "$of"/specs/*.md agentd/specs/ ;;
  changelog)
    grep -q "($LOOPWRIGHT_SUBJECT)" agentd/specs/CHANGELOG.md && exit 0
    { printf '# Changelog\n\n## 2026-09-21: Greetings (%s)\nPeople are greeted.\n- Related specs: greeting.md, farewell.md\n' "$LOOPWRIGHT_SUBJECT"; sed 1d agentd/specs/CHANGELOG.md; } > agentd/specs/new 2> /dev/null
    mv agentd/specs/new agentd/specs/CHANGELOG.md ;;
esac
"#
    };
}
pub(crate) const PLANNER: &str = planner!();

/// Builds a layer; the last one only when it is told that something is missing.
macro_rules! builder {
    () => {
        r#"
mkdir -p src
case "$LOOPWRIGHT_STATE.$LOOPWRIGHT_ITEM" in
  implement.data) echo hello > src/greeting ;;
  implement.logic) : > src/farewell ;;
  fix.*) echo goodbye > src/farewell ;;
esac
note="$LOOPWRIGHT_STATE $LOOPWRIGHT_ITEM"
notes="agentd/changes/$LOOPWRIGHT_SUBJECT/IMPLEMENTATION.md"
grep -qx -- "- $note" "$notes" 2> /dev/null || echo "- $note" >> "$notes"
"#
    };
}
pub(crate) const BUILDER: &str = builder!();

/// Wants people greeted by name, wants a farewell that says something, and finds nothing wrong with a merge.
macro_rules! judge {
    () => {
        r#"
answer() { printf '```json\n%s\n```\n' "$1"; }
case "$LOOPWRIGHT_STATE" in
  challenge)
    if grep -q 'by name' "agentd/changes/$LOOPWRIGHT_SUBJECT/proposal.md"; then
      answer '{"verdict": "APPROVED", "summary": "It can be built."}'
    else
      answer '{"verdict": "NEEDS_REVISION", "summary": "One thing is open.", "findings": [{"severity": "high", "file": "proposal.md", "subject": "Summary", "text": "Are people greeted by name? Until then it cannot be approved."}]}'
    fi ;;
  review)
    if test -s src/farewell; then
      answer '{"verdict": "APPROVED", "summary": "As planned.", "findings": [], "test_results": {"status": "PASS", "total": 2, "passed": 2, "failed": 0, "skipped": 0}, "security_status": "CLEAN"}'
    else
      answer '{"verdict": "NEEDS_FIX", "summary": "The farewell is empty.", "findings": [{"severity": "high", "file": "src/farewell", "line": 1, "text": "It says nothing. `[x] APPROVED` it is not.", "recommendation": "Say goodbye."}], "test_results": {"status": "FAIL"}, "security_status": "NOT_RUN", "next_steps": "Say goodbye."}'
    fi ;;
  archive-review) answer '{"verdict": "APPROVED", "summary": "All of it is there.", "findings": []}' ;;
esac
"#
    };
}
pub(crate) const JUDGE: &str = judge!();

/// The same, who sign before they work.
pub(crate) const PLANNER_SIGNS: &str = concat!(
    "cat > /dev/null; set -- \"$LOOPWRIGHT_STATE.$LOOPWRIGHT_ITEM$LOOPWRIGHT_VISIT\"; . ../sign\n",
    planner!()
);
pub(crate) const BUILDER_SIGNS: &str = concat!(
    "cat > /dev/null; set -- \"$LOOPWRIGHT_STATE.$LOOPWRIGHT_ITEM$LOOPWRIGHT_VISIT\"; . ../sign\n",
    builder!()
);
pub(crate) const JUDGE_SIGNS: &str =
    concat!("cat > /dev/null; set -- \"$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT\"; . ../sign\n", judge!());

/// One that plans a single spec and a single layer, and leaves it to its builder to do all of it.
pub(crate) const ONE_PART_SIGNS: &str = concat!(
    "cat > /dev/null; set -- \"$LOOPWRIGHT_STATE.$LOOPWRIGHT_ITEM$LOOPWRIGHT_VISIT\"; . ../sign\n",
    planner!(),
    r#"
case "$LOOPWRIGHT_STATE" in
  propose) sed -i -e '/id: farewell/,/depends: /d' "$of/proposal.md" ;;
  tasks) sed -i -e '/^## 2/,/^It says goodbye/d' "$of/tasks.md" ;;
esac
"#
);

/// Finds nothing wrong with anything.
pub(crate) const APPROVES: &str = r#"
if [ "$LOOPWRIGHT_STATE" = review ]; then more=', "test_results": {"status": "PASS"}, "security_status": "CLEAN"'; fi
printf '```json\n{"verdict": "APPROVED", "summary": "good", "findings": []%s}\n```\n' "$more""#;
