# The agent of the demo: it plays its part by heart, and really edits the files. A real agent reads the prompt.
cat > /dev/null
answer() { printf '%s\n\n```json\n%s\n```\n' "$1" "$2"; }
case "$LOOPWRIGHT_STATE.$LOOPWRIGHT_VISIT" in
  plan.1)
    printf '# Plan\n\n1. Drop commas in `slug.sh`.\n' > PLAN.md
    echo "A plan of one step." ;;
  challenge.1)
    answer "The test has a question mark, the plan has not." '{"verdict": "NEEDS_REVISION", "summary": "only half of the fault", "findings": [{"severity": "major", "file": "PLAN.md", "subject": "step 1", "text": "commas are not all: a question mark would stay"}]}' ;;
  replan.1)
    printf '# Plan\n\n1. In `slug.sh`, drop everything that is no letter, digit or space.\n2. The tests show the fault; add one for whatever they miss.\n' > PLAN.md
    echo "Now it covers every mark." ;;
  challenge.2)
    answer "That would do it." '{"verdict": "APPROVED", "summary": "covers every mark"}' ;;
  implement.1)
    cat > slug.sh <<'SH'
# Makes a name for a file out of a title: `sh slug.sh "My first post"` prints `my-first-post`.
printf '%s\n' "$1" | tr 'A-Z ' 'a-z-' | tr -d '[:punct:]'
SH
    echo "Marks are dropped." ;;
  fix.1)
    cat > slug.sh <<'SH'
# Makes a name for a file out of a title: `sh slug.sh "My first post"` prints `my-first-post`.
printf '%s\n' "$1" | tr -d '[:punct:]' | tr 'A-Z ' 'a-z-'
SH
    echo "Marks are dropped before the dashes are made." ;;
  review.1)
    answer "I tried it with two spaces." '{"verdict": "NEEDS_FIX", "summary": "two spaces give two dashes", "findings": [{"severity": "major", "file": "slug.sh", "subject": "spaces", "text": "`A  b` gives `a--b`: several spaces should be one dash, and no test says so"}]}' ;;
  fix.2)
    cat > slug.sh <<'SH'
# Makes a name for a file out of a title: `sh slug.sh "My first post"` prints `my-first-post`.
printf '%s\n' "$1" | tr -d '[:punct:]' | tr -s ' ' | tr 'A-Z ' 'a-z-'
SH
    sed 's/^exit/expect "A  b" "a-b"\nexit/' test.sh > test.new && mv test.new test.sh
    echo "Several spaces are one, and a test says so." ;;
  review.2)
    answer "Tried again, with tabs of my own." '{"verdict": "APPROVED", "summary": "right, and tested"}' ;;
esac
