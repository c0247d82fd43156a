//! `docs/mutants.md`: written from what became of the mutants, and read back.

use std::fmt::Write as _;

use crate::operators::OPERATORS;

/// A mutant, and what the document says became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) built_in: String,
    pub(crate) operator: String,
    pub(crate) what: String,
    pub(crate) outcome: String,
}

pub(crate) const LOAD: &str = "does not load: ";
pub(crate) const PROOF: &str = "not proved: ";
pub(crate) const SCENARIO: &str = "scenario fails: ";
pub(crate) const EQUIVALENT: &str = "equivalent: ";
pub(crate) const SURVIVES: &str = "survives: ";

const HEAD: &str = "# Mutants

Every built-in workflow, changed in one small place at a time by a program, and what `loopwright check` makes of it.

This page is written by a test, which plays a sample of the mutants in every `cargo test` and holds it against the page.
`LOOPWRIGHT_MUTANTS=all` plays all of them; after a change to a built-in or to `check`, write the page anew with

    LOOPWRIGHT_MUTANTS=update cargo test -p loopwright-core --test mutants

and read the difference.

A mutant is **caught by `check`** when it does not load or is not proved. One that is proved is played against the
workflow's own scenarios, as `loopwright test` does: one that fails says that the workflow is sound and no longer does
what it did. A mutant is **equivalent** when the change makes no difference to any run: the two files mean the same once
every default is written out, no run brings the signal whose route is gone, what `maybe` allows to be absent never is; or
a reason says why. What is left **survives**, with the reason why `check` has nothing to object to, or what it does not
ask.

The rates leave the equivalent ones out: caught / (made - equivalent).

Some operators break a promise: a route that is missing, a loop that never ends, a gate passed unjudged. Those `check` has
to catch. Others change what is promised: `drop-own-route`, `skip-the-repair`, `drop-need`, `drop-judged`, `drop-per`,
`drop-refill`, `drop-set` and `drop-default` mostly leave a workflow that is sound and smaller, or gives up sooner, and
only a scenario knows that it is not the one that was meant.

The rates are not those of a suite written blind: scenarios and properties were added to the built-ins after mutants had
survived. Two kinds are told apart because they are not the same mistake: a signal that has lost its only route, and one
that a default takes; a repair that leads past its gate, and one that is left out, so that the gate is judged again with
nothing repaired. An arm that leads to a judge is not led to the `choose` or `settle` behind the judge: that sends the run
back, so nothing is passed.

## Operators

";

const COLUMNS: &str = "made | does not load | not proved | scenario fails | equivalent | survives | caught by `check` | \
                       caught by `check` or a scenario |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n";

/// The whole document.
pub(crate) fn write(entries: &[Entry]) -> String {
    let mut text = HEAD.to_owned();
    text.push_str("| operator | what it does |\n|---|---|\n");
    for (name, what) in OPERATORS {
        line(&mut text, &format!("| `{name}` | {what} |"));
    }
    let names = built_ins(entries);
    let all: Vec<&Entry> = entries.iter().collect();
    line(&mut text, "\n## Figures\n");
    table(&mut text, "workflow", names.iter().map(|name| (*name, of(entries, name, None))), &all);
    line(&mut text, "");
    let by_operator = OPERATORS.iter().map(|(name, _)| (*name, by(entries, name)));
    table(&mut text, "operator", by_operator, &all);
    line(&mut text, "\n## What survives\n");
    for entry in entries.iter().filter(|it| it.outcome.starts_with(SURVIVES)) {
        let Entry { built_in, operator, what, outcome } = entry;
        let reason = outcome.trim_start_matches(SURVIVES);
        line(&mut text, &format!("- {built_in}, {operator}, `{what}`. {}.", capital(reason)));
    }
    for name in names {
        line(&mut text, &format!("\n## {name}\n"));
        let own: Vec<&Entry> = of(entries, name, None);
        let by_operator = OPERATORS.iter().map(|(it, _)| (*it, of(entries, name, Some(it))));
        table(&mut text, "operator", by_operator.filter(|(_, it)| !it.is_empty()), &own);
        for (operator, _) in OPERATORS {
            let own = of(entries, name, Some(operator));
            if own.is_empty() {
                continue;
            }
            line(&mut text, &format!("\n### {operator} in {name}\n"));
            for it in own {
                line(&mut text, &format!("- `{}`: {}", it.what, it.outcome));
            }
        }
    }
    text
}

/// The mutants a document lists.
pub(crate) fn read(text: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut below: Option<(String, String)> = None;
    for line in text.lines() {
        if let Some((operator, built_in)) = line.strip_prefix("### ").and_then(|it| it.split_once(" in ")) {
            below = Some((operator.to_owned(), built_in.to_owned()));
        } else if line.starts_with("## ") {
            below = None;
        }
        let (Some((operator, built_in)), Some(rest)) = (&below, line.strip_prefix("- `")) else { continue };
        let (what, outcome) = rest.split_once("`: ").expect("a mutant and what became of it");
        entries.push(Entry {
            built_in: built_in.clone(),
            operator: operator.clone(),
            what: what.to_owned(),
            outcome: outcome.to_owned(),
        });
    }
    entries
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a string takes everything");
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|it| it.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn built_ins(entries: &[Entry]) -> Vec<&str> {
    let mut names: Vec<&str> = entries.iter().map(|it| it.built_in.as_str()).collect();
    names.dedup();
    names
}

fn of<'e>(entries: &'e [Entry], built_in: &str, operator: Option<&str>) -> Vec<&'e Entry> {
    let own = entries.iter().filter(|it| it.built_in == built_in);
    own.filter(|it| operator.is_none_or(|operator| it.operator == operator)).collect()
}

fn by<'e>(entries: &'e [Entry], operator: &str) -> Vec<&'e Entry> {
    entries.iter().filter(|it| it.operator == operator).collect()
}

fn table<'n, 'e>(
    text: &mut String,
    title: &str,
    rows: impl Iterator<Item = (&'n str, Vec<&'e Entry>)>,
    all: &[&Entry],
) {
    write!(text, "| {title} | {COLUMNS}").expect("a string takes everything");
    for (name, of) in rows {
        line(text, &row(&format!("`{name}`"), &of));
    }
    line(text, &row("in all", all));
}

fn row(label: &str, of: &[&Entry]) -> String {
    let count = |word: &str| of.iter().filter(|it| it.outcome.starts_with(word)).count();
    let [load, proof, scenario, equivalent, survives] =
        [LOAD, PROOF, SCENARIO, EQUIVALENT, SURVIVES].map(count);
    let made = of.len();
    let checked = percent(load + proof, made - equivalent);
    let caught = percent(load + proof + scenario, made - equivalent);
    format!(
        "| {label} | {made} | {load} | {proof} | {scenario} | {equivalent} | {survives} | {checked} | {caught} |"
    )
}

fn percent(part: usize, whole: usize) -> String {
    let tenths = (part * 1000).checked_div(whole);
    tenths.map_or_else(|| "-".to_owned(), |it| format!("{}.{} %", it / 10, it % 10))
}
