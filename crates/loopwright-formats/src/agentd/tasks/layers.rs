//! Which layer a task is of: that of the heading it stands under.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::super::markdown;
use super::super::page::Page;
use super::super::yaml::Node;
use super::super::{Problem, Severity};
use super::fields;
use super::scan::{Draft, Scanned};
use super::starts::Form;
use super::{Layer, Task, TaskFile};

const KINDS: [&str; 5] = ["data", "logic", "integration", "testing", "other"];

/// Words of headings that are no layers: they only say that tasks follow.
const GENERAL: [&str; 14] = [
    "tasks",
    "task list",
    "implementation tasks",
    "implementation",
    "todo",
    "to do",
    "checklist",
    "overview",
    "summary",
    "task breakdown",
    "task overview",
    "implementation plan",
    "plan",
    "details",
];

/// The number that a text begins with, what is behind it, and that without what parts both.
fn number_of(text: &str) -> Option<(u64, &str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = text.get(..digits)?.parse().ok()?;
    let behind = text.get(digits..)?;
    // `1.0 Data` has the number 1, and `3rd` has none.
    let behind = behind.strip_prefix(".0").unwrap_or(behind);
    let rest = behind.trim_start_matches(['.', ')', ':', '-', '–', '—', ' ']);
    (rest.len() < behind.len() || behind.is_empty()).then_some((number, behind, rest))
}

/// A title without its number, and the number: `1. Data Layer`, `Layer 1: Data`, `Phase 2 - Logic`.
fn split_number(title: &str) -> (Option<u64>, &str) {
    let (number, name) = number_and_name(title);
    let plain = name.trim_matches(['*', '_', ' ']).trim_end_matches([':', ' ']).trim_end_matches(['*', '_']);
    (number, if plain.is_empty() { name } else { plain })
}

fn number_and_name(title: &str) -> (Option<u64>, &str) {
    let bare = title.trim().trim_matches(['*', '_']).trim();
    if let Some((number, _, rest)) = number_of(bare) {
        return (Some(number), if rest.is_empty() { bare } else { rest });
    }
    for word in ["layer", "phase", "stage", "step", "part", "task"] {
        let Some(rest) = markdown::strip_word(bare, word) else { continue };
        if let Some((number, behind, rest)) = number_of(rest.trim_start()) {
            let is_named = !rest.is_empty() && behind.trim_start().starts_with([':', '-', '–', '—', '.']);
            return (Some(number), if is_named { rest } else { bare });
        }
    }
    (None, bare)
}

/// The kind of layer that a title means.
fn kind(title: &str) -> Option<&'static str> {
    let plain = markdown::without_parentheses(title).to_lowercase();
    let words: Vec<&str> =
        plain.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let of = |word: &str| match word {
        "data" => Some("data"),
        "logic" => Some("logic"),
        "integration" => Some("integration"),
        "testing" | "tests" | "test" => Some("testing"),
        _ => None,
    };
    // `Layer: Data` and `Data Layer` are about the word beside it.
    let words: Vec<&str> = words.into_iter().filter(|it| *it != "layer" && *it != "tasks").collect();
    let (first, last) = (words.first()?, words.last()?);
    if words.len() == 1 && *first == "other" {
        return Some("other");
    }
    match (of(first), of(last)) {
        // `Integration Tests` are tests.
        (Some("integration"), Some("testing")) => Some("testing"),
        (Some(kind), _) | (None, Some(kind)) => Some(kind),
        (None, None) => None,
    }
}

/// Whether a heading says by itself that it is a layer.
pub(super) fn is_layer(title: &str) -> bool {
    let (number, name) = split_number(title);
    let says_so = || name.split(|it: char| !it.is_alphanumeric()).any(|it| it.eq_ignore_ascii_case("layer"));
    (number.is_some() || says_so() || kind(name).is_some()) && !is_general(name)
}

/// Whether a title has a number, or says that it is a layer.
pub(super) fn is_numbered(title: &str) -> bool {
    let (number, name) = split_number(title);
    let is_named = name.chars().next().is_some_and(char::is_alphabetic) || kind(name).is_some();
    let is_layer = name.to_lowercase().split(' ').any(|it| it == "layer");
    (number.is_some() && is_named && !name.ends_with(['.', ',', ';', '!', '?'])) || is_layer
}

/// The number before a title.
pub(super) fn number_of_title(title: &str) -> Option<u64> {
    split_number(title).0
}

/// The title that a line gives a layer without being a heading, and whether it says plainly that it is one.
pub(super) fn line_title(line: &str) -> Option<(&str, bool)> {
    let title = line.trim().trim_end_matches(':');
    let item = markdown::bullet(title).unwrap_or(title);
    let is_bold = super::starts::is_bold_line(title) || super::starts::is_bold_line(item);
    let title = if is_bold { title.trim_matches(['*', '_']).trim_end_matches(':') } else { title };
    // A dash before it is no part of it.
    let title = if title.starts_with(['-', '*', '+']) { item.trim_matches(['*', '_']) } else { title };
    let (number, name) = split_number(title);
    let lower = markdown::without_parentheses(name).to_lowercase();
    let words = lower.split_whitespace().count();
    let says_layer = lower.trim_end().ends_with(" layer") && words <= 5;
    let is_plain = says_layer && (number.is_some() || is_bold)
        || (is_bold && number.is_some() && kind(name).is_some() && words <= 5);
    let is_short = name.len() <= 60 && !name.ends_with(['.', ',', ';', '!', '?']);
    let is_title = is_plain || (is_bold && number.is_some());
    (is_title && is_short && super::super::task_id::named(title).is_none()).then_some((title, is_plain))
}

/// Whether what stands under a heading tells how things are, and lists no work.
pub(super) fn is_told(title: &str) -> bool {
    let lower = split_number(title).1.to_lowercase();
    let first = lower.split(|it: char| !it.is_alphanumeric()).next().unwrap_or_default();
    matches!(
        first,
        "overview" | "summary" | "background" | "context" | "introduction" | "scope" | "notes" | "impact"
    )
}

/// Whether the boxes under a heading are things to be true in the end, and no tasks.
pub(super) fn is_list_of_checks(title: &str) -> bool {
    const WORDS: [&str; 12] = [
        "acceptance",
        "criteria",
        "criterion",
        "done",
        "checklist",
        "verification",
        "validation",
        "gate",
        "gates",
        "legend",
        "key",
        "signoff",
    ];
    let lower = title.to_lowercase();
    !is_layer(title) && lower.split(|it: char| !it.is_alphanumeric()).any(|it| WORDS.contains(&it))
}

pub(super) fn is_general(name: &str) -> bool {
    let lower = name.trim_end_matches(':').to_lowercase();
    GENERAL.contains(&lower.as_str())
}

/// The heading that is the layer of what stands under all of these: the outermost one that says so, or the nearest of the
/// second level, or the nearest but for the title of the text.
pub(super) fn choose(above: &[(usize, usize, &str)]) -> Option<usize> {
    let is_inner = |it: &&(usize, usize, &str)| it.0 > 1 || above.iter().filter(|it| it.0 == 1).count() > 1;
    if let Some((_, at, _)) = above.iter().filter(is_inner).find(|it| is_layer(it.2)) {
        return Some(*at);
    }
    let mut named = above.iter().filter(|it| it.0 > 1 && !is_general(split_number(it.2).1));
    let second = named.clone().find(|it| it.0 == 2);
    if let Some((_, at, _)) = second.or_else(|| named.next()) {
        return Some(*at);
    }
    // A text may use its largest headings for layers.
    above.iter().find(|it| it.0 == 1 && is_layer(it.2)).map(|it| it.1)
}

/// Puts tasks into layers, in the order of the text.
pub(super) fn group(
    page: &Page<'_>,
    front: &Node,
    scanned: Scanned<'_>,
    problems: &mut Vec<Problem>,
) -> Vec<Layer> {
    let names = front.get("layers").map(front_layers).unwrap_or_default();
    let numbers: Vec<u64> =
        scanned.drafts.iter().filter(|it| it.layer.is_none()).filter_map(|it| number(&it.id)).collect();
    let by_number = |id: &str| without_heading(number(id), &names, &numbers);
    let mut layers: Vec<(Option<usize>, Layer)> = Vec::new();
    for draft in scanned.drafts {
        let heading = draft.layer.and_then(|at| Some((at + 1, scanned.titles.get(&at)?.1)));
        let (line, kind, title, number) = if let Some((line, title)) = heading {
            let (number, name) = split_number(title);
            (Some(line), kind(name), name.to_owned(), number)
        } else {
            let (kind, title) = by_number(&draft.id);
            (None, kind, title, number(&draft.id))
        };
        let known =
            layers.iter_mut().find(|(_, it)| it.line == line && (line.is_some() || it.title == title));
        let task = task(page, draft);
        match known {
            Some((_, layer)) => layer.tasks.push(task),
            None => {
                layers
                    .push((line, Layer { id: String::new(), kind, title, number, line, tasks: vec![task] }));
            }
        }
    }
    empty_layers(page, &scanned.titles, &scanned.headings, &layers, problems);
    let mut layers: Vec<Layer> = layers.into_iter().map(|it| it.1).collect();
    name(&mut layers);
    layers
}

/// Says which layers have no tasks. It matters if something is listed there all the same.
fn empty_layers(
    page: &Page<'_>,
    titles: &BTreeMap<usize, (usize, &str)>,
    headings: &[usize],
    layers: &[(Option<usize>, Layer)],
    problems: &mut Vec<Problem>,
) {
    let filled: HashSet<usize> = layers.iter().filter_map(|it| it.0).collect();
    let grave = problems.iter().filter(|it| it.severity == Severity::High).filter_map(|it| it.line);
    let grave: BTreeSet<usize> = grave.collect();
    for at in headings.iter().filter(|it| !filled.contains(&(**it + 1))) {
        let Some((level, title)) = titles.get(at).filter(|it| it.0 > 1) else { continue };
        let (number, name) = split_number(title);
        let says_so = title.to_lowercase().contains("layer") && is_layer(title);
        if !says_so && (number.is_none() || kind(name).is_none()) {
            continue;
        }
        let next = titles.range(at + 1..).find(|(_, it)| it.0 <= *level);
        let end = next.map_or(page.lines.len(), |it| *it.0);
        // What is wrong there is said already.
        let is_said = grave.range(at + 1..=end).next().is_some();
        let severity = match lists_work(page, at + 1, end) {
            true if !is_said => Severity::High,
            false if !says_so => continue,
            _ => Severity::Low,
        };
        problems.push(Problem::new(severity, at + 1, format!("layer `{name}` has no tasks")));
    }
}

/// Whether lines hold a list of something, and not only that there is nothing.
fn lists_work(page: &Page<'_>, from: usize, to: usize) -> bool {
    let lines = page.lines.get(from..to).unwrap_or_default();
    lines.iter().filter(|it| it.is_body()).filter_map(|it| markdown::bullet(it.text)).any(|it| {
        let first = it.trim_start_matches(['*', '_']).split(|it: char| !it.is_alphanumeric()).next();
        let first = first.unwrap_or_default().to_lowercase();
        !matches!(first.as_str(), "" | "none" | "no" | "nothing" | "n") && !markdown::is_placeholder(it)
    })
}

/// Gives each layer an id that no other has.
fn name(layers: &mut [Layer]) {
    let mut taken: Vec<String> = Vec::new();
    for layer in layers {
        let slug = markdown::slug(&layer.title);
        let slug = if slug.is_empty() { "layer".to_owned() } else { slug };
        let first = layer.kind.map(str::to_owned);
        let more = (2..).map(|it| format!("{slug}-{it}"));
        let mut names = first.into_iter().chain([slug.clone()]).chain(more);
        layer.id = names.find(|it| !taken.contains(it)).unwrap_or_default();
        taken.push(layer.id.clone());
    }
}

/// The layers that the front matter lists.
fn front_layers(node: &Node) -> Vec<String> {
    let keys = node.entries().iter().map(|(key, _)| key.clone());
    let items = node.items().iter().filter_map(|it| {
        let named = it.text().or_else(|| it.get("name")?.text()).map(str::to_owned);
        named.or_else(|| it.entries().first().map(|it| it.0.clone()))
    });
    keys.chain(items).collect()
}

/// The number before the dot of an id.
fn number(id: &str) -> Option<u64> {
    id.split_once('.')?.0.parse().ok()
}

/// Kind and title of the layer of a task that no heading says anything about.
fn without_heading(number: Option<u64>, names: &[String], numbers: &[u64]) -> (Option<&'static str>, String) {
    let Some(number) = number else { return (None, "Tasks".to_owned()) };
    let place = usize::try_from(number).unwrap_or(usize::MAX).wrapping_sub(1);
    let usual =
        |number: u64| usize::try_from(number).ok().and_then(|it| KINDS.get(it.checked_sub(1)?)).copied();
    // The listed layers go by the usual numbers, or else by their places.
    let is_usual =
        numbers.iter().all(|it| usual(*it).is_some_and(|it| names.iter().any(|name| kind(name) == Some(it))));
    if !names.is_empty()
        && !is_usual
        && let Some(name) = names.get(place)
    {
        return (kind(name), name.clone());
    }
    match usual(number) {
        Some(kind) => (Some(kind), kind.to_owned()),
        None => (None, format!("Layer {number}")),
    }
}

fn task(page: &Page<'_>, draft: Draft) -> Task {
    let ticked = draft.mark.is_some_and(markdown::is_tick);
    let facts = &draft.facts;
    let said = facts.status.as_deref();
    let done = ticked || said.is_some_and(fields::is_done);
    let status = match said {
        Some(status) if !ticked => status.to_owned(),
        _ if done => "completed".to_owned(),
        _ => "pending".to_owned(),
    };
    // A box that is empty says so of a task that its values call done.
    let done = done && !(draft.form == Form::Box && said.is_none() && !ticked);
    let text = page.slice(draft.first, draft.last + 1).trim_end().to_owned();
    let own = facts.action;
    let with_action = |it: &TaskFile| TaskFile { path: it.path.clone(), action: it.action.or(own) };
    let files = facts.files.iter().map(with_action).collect();
    Task {
        action: facts.action(),
        file: facts.files.first().map(|it| it.path.clone()),
        spec_ref: facts.spec_ref().map(str::to_owned),
        done,
        status,
        line: draft.first + 1,
        text,
        id: draft.id,
        title: draft.title,
        files,
        refs: draft.facts.refs,
        depends: draft.facts.depends,
    }
}
