//! What authors make of a workflow: they do what `check` says, round after round.

use loopwright_core::check::check;
use loopwright_core::definition::Workflow;
use loopwright_core::language::{Folder, Loaded, load};
use loopwright_core::problem::{Problem, Stage};

use crate::dice::Dice;
use crate::mend::{Author, Edit, Page, cut};

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

/// The text as an author leaves it who does something about parts nobody needs, and seldom about more.
pub(crate) fn listened(mut text: String, dice: &mut Dice) -> String {
    for _ in 0..6 {
        let Ok(workflow) = loaded(&text) else { return text };
        let page = Page { text: &text };
        let mut repairs: Vec<Vec<Edit>> = Vec::new();
        for problem in &check(&workflow).problems {
            let at = problem.place.bytes.clone();
            match problem.code {
                "never-taken" => repairs.push(cut(page.arm(&at))),
                "unreachable" => repairs.push(cut(page.block(at.start))),
                "vacuous" | "unused" => repairs.push(cut(page.line(at.start))),
                "property" | "over-cap" if dice.yes(70) => repairs.push(cut(page.line(at.start))),
                "unsettled" | "commit-unjudged" if dice.yes(60) => {
                    let whole = page.block(at.start);
                    let needs = text[whole.clone()].find("needs:").map(|it| page.line(whole.start + it));
                    repairs.push(cut(needs.unwrap_or(whole)));
                }
                _ => {}
            }
        }
        let Some(changed) = changed(&text, repairs) else { break };
        text = changed;
    }
    text
}

/// The text as an author leaves it who mends whatever `check` reports, until it reports nothing or nothing helps.
pub(crate) fn mended(mut text: String, dice: &mut Dice) -> String {
    let mut author = Author { dice, fresh: 0, builds: true };
    let mut problems: Option<Vec<Problem>> = None;
    for round in 0..16 {
        if problems.is_none() {
            problems = loaded(&text).ok().map(|it| check(&it).problems);
        }
        let Some(found) = problems.as_ref().filter(|it| !it.is_empty()) else { break };
        let page = Page { text: &text };
        author.builds = round < 8;
        let mut repairs = vec![page.sweep(found)];
        repairs.extend(found.iter().map(|it| page.repair(it, &mut author)));
        if let Some(changed) = changed(&text, repairs) {
            (text, problems) = (changed, None);
        }
    }
    text
}

/// The text with as many of these repairs as go together and leave it one that loads.
fn changed(text: &str, repairs: Vec<Vec<Edit>>) -> Option<String> {
    let mut made: Vec<Edit> = Vec::new();
    let mut now = text.to_owned();
    for repair in repairs.into_iter().filter(|it| !it.is_empty()) {
        let apart = |a: &Edit, b: &Edit| a.0.end <= b.0.start || b.0.end <= a.0.start;
        if !repair.iter().all(|one| made.iter().all(|other| apart(one, other))) {
            continue;
        }
        let mut more = [made.clone(), repair].concat();
        more.sort_by_key(|it| (it.0.start, it.0.end));
        let mut longer = text.to_owned();
        for (at, by) in more.iter().rev() {
            longer.replace_range(at.clone(), by);
        }
        if longer != now && loaded(&longer).is_ok() {
            (made, now) = (more, longer);
        }
    }
    (now != text).then_some(now)
}
