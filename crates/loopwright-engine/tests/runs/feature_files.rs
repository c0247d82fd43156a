//! Agents for runs of `feature`: shell scripts that write what is asked for.

/// Writes whatever stage it is in the words its reader wants. `$LOOPWRIGHT_STATE` says which.
pub(crate) const AUTHOR: &str = r#"
folder=docs/features/$LOOPWRIGHT_SUBJECT
case "$LOOPWRIGHT_STATE" in
  brainstorm) printf '# B\n\n## Problem\nNobody is greeted.\n\n## Options\nGreet, or do not.\n\n## Intent\nGreet.\n' > $folder/brainstorm.md ;;
  specify) printf '# S\n\n## Requirements\n- R1: it greets (%s).\n\n## Acceptance criteria\n- AC1 of R1\n\n## Scope\nGreetings.\n' "$LOOPWRIGHT_VISIT" > $folder/spec.md ;;
  design) printf '# D\n\n## Components\na (%s)\n\n## Interfaces\nb\n\n## Dependencies\nnone\n\n## Risks\nnone\n' "$LOOPWRIGHT_VISIT" > $folder/design.md ;;
  create-plan) printf '# P\n\n## Steps\n1. Write it (%s).\n' "$LOOPWRIGHT_VISIT" > $folder/plan.md ;;
  create-tasks) printf '# T\n\n- [ ] Write it (%s)\n' "$LOOPWRIGHT_VISIT" > $folder/tasks.md ;;
  implement) mkdir -p src; echo "hello $LOOPWRIGHT_VISIT" > src/greeting
    if [ -f $folder/tasks.md ]; then sed -i 's/\[ \]/[x]/' $folder/tasks.md; fi ;;
esac
echo "I wrote $LOOPWRIGHT_STATE, try $LOOPWRIGHT_VISIT."
"#;

/// Approves of everything.
pub(crate) const APPROVES: &str = r#"
printf '```json\n{"verdict": "approved", "summary": "It will do.", "findings": [], "evidence": [{"requirement": "R1", "file": "src/greeting", "line": 1}]}\n```\n'
"#;

/// A chain reviewer that never approves; everybody else does.
pub(crate) const NEVER: &str = r#"
case "$LOOPWRIGHT_STATE" in
  chain-review) printf '```json\n{"verdict": "not-approved", "summary": "Not yet.", "findings": [{"severity": "blocker", "topic": "sufficiency", "text": "fault %s", "subject": "fault %s"}, {"severity": "note", "topic": "out-of-scope", "text": "greet in colour"}]}\n```\n' "$LOOPWRIGHT_VISIT" "$LOOPWRIGHT_VISIT" ;;
  *) printf '```json\n{"verdict": "approved", "summary": "It will do.", "evidence": []}\n```\n' ;;
esac
"#;

/// For those who are killed: who is at work is signed before it is done.
pub(crate) const AUTHOR_SIGNS: &str = r#"
cat > /dev/null; set -- "$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT"; . ../sign
echo "hello $LOOPWRIGHT_VISIT" > src/greeting
echo "I wrote it, try $LOOPWRIGHT_VISIT."
"#;

/// The first review of either kind finds something.
pub(crate) const REVIEWER_SIGNS: &str = r#"
cat > /dev/null; set -- "$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT"; . ../sign
case "$1" in
  chain-review.1) printf '```json\n{"verdict": "not-approved", "summary": "Not yet.", "findings": [{"severity": "blocker", "topic": "sufficiency", "text": "too short"}]}\n```\n' ;;
  final-review.1) printf '```json\n{"verdict": "not-approved", "summary": "R1 is missing.", "findings": [{"severity": "blocker", "topic": "missing", "text": "R1"}], "evidence": []}\n```\n' ;;
  *) printf '```json\n{"verdict": "approved", "summary": "It will do.", "evidence": []}\n```\n' ;;
esac
"#;
