//! What a patient author makes of a workflow: does what `check` says about parts nobody needs, round after round.

use std::ops::Range;

use loopwright_core::check::check;
use loopwright_core::definition::Workflow;
use loopwright_core::language::{Folder, Loaded, load};
use loopwright_core::problem::Stage;

use crate::dice::Dice;

/// Reads a workflow from the text of its one file.
pub(crate) fn read(text: &str) -> Loaded {
    let mut folder = Folder::default();
    folder.files.insert("workflow.yaml".into(), text.as_bytes().to_vec());
    load(&folder)
}

/// The workflow of a text, or why it does not load.
pub(crate) fn loaded(text: &str) -> Result<Workflow, Vec<String>> {
    let loaded = read(text);
    let wrong = loaded.problems.iter().filter(|it| it.stage == Stage::Load);
    let wrong: Vec<String> = wrong.map(|it| format!("{}: {}", it.code, it.message)).collect();
    loaded.workflow.filter(|_| wrong.is_empty()).ok_or(wrong)
}

/// The text as its author leaves it.
pub(crate) fn listened(mut text: String, dice: &mut Dice) -> String {
    for _ in 0..6 {
        let Ok(workflow) = loaded(&text) else { return text };
        let mut cuts: Vec<Range<usize>> = Vec::new();
        for problem in &check(&workflow).problems {
            let at = problem.place.bytes.clone();
            match problem.code {
                "never-taken" => cuts.push(arm(&text, &at)),
                "unreachable" => cuts.push(block(&text, at.start)),
                "vacuous" | "unused" => cuts.push(line(&text, at.start)),
                "property" | "over-cap" if dice.yes(70) => cuts.push(line(&text, at.start)),
                "unsettled" | "commit-unjudged" if dice.yes(60) => {
                    let whole = block(&text, at.start);
                    let needs = text[whole.clone()].find("needs:").map(|it| line(&text, whole.start + it));
                    cuts.push(needs.unwrap_or(whole));
                }
                _ => {}
            }
        }
        let before = text.clone();
        cuts.retain(|it| !it.is_empty());
        cuts.sort_by_key(|it| std::cmp::Reverse(it.start));
        let mut last = usize::MAX;
        for cut in cuts.into_iter().filter(|it| !it.is_empty()) {
            if cut.end > last {
                continue;
            }
            let mut shorter = text.clone();
            shorter.replace_range(cut.clone(), "");
            // What does not load any more is left as it was.
            if loaded(&shorter).is_ok() {
                text = shorter;
                last = cut.start;
            }
        }
        if text == before {
            break;
        }
    }
    text
}

fn line(text: &str, at: usize) -> Range<usize> {
    let from = text[..at].rfind('\n').map_or(0, |it| it + 1);
    let until = text[at..].find('\n').map_or(text.len(), |it| at + it + 1);
    from..until
}

/// A line and everything below it that is indented further.
fn block(text: &str, at: usize) -> Range<usize> {
    let first = line(text, at);
    let indent = |line: &str| line.len() - line.trim_start().len();
    let depth = indent(&text[first.clone()]);
    let mut until = first.end;
    while until < text.len() {
        let next = line(text, until);
        if indent(&text[next.clone()]) <= depth {
            break;
        }
        until = next.end;
    }
    first.start..until
}

/// An arm in a list with its comma, or the line of an arm that stands alone.
fn arm(text: &str, at: &Range<usize>) -> Range<usize> {
    let rest = &text[at.end..];
    if let Some(gap) = rest.strip_prefix(',') {
        let space = gap.len() - gap.trim_start_matches(' ').len();
        return at.start..at.end + 1 + space;
    }
    let before = text[..at.start].trim_end_matches(' ');
    if before.ends_with(',') && rest.starts_with(']') {
        return before.len() - 1..at.end;
    }
    if before.ends_with(['-', ':']) { line(text, at.start) } else { 0..0 }
}
