//! Files that a merge left undecided: git writes both sides into them.

use super::body::{check_box, tick_in};
use super::entries::placed;
use crate::agentd::markdown;
use crate::agentd::page::{Line, Part};

/// Whether a line is a sign of an undecided merge.
fn is_sign(line: &str, sign: &str) -> bool {
    let line = line.trim_end_matches(['\n', '\r']);
    line.strip_prefix(sign).is_some_and(|it| it.is_empty() || it.starts_with(' '))
}

/// Whether a text has parts that a merge left undecided.
pub fn has_conflict(text: &str) -> bool {
    text.contains("<<<<<<<") && sides(text).is_some()
}

/// The first line that a merge left undecided.
pub fn conflict_line(text: &str) -> Option<usize> {
    has_conflict(text).then(|| text.lines().position(|it| is_sign(it, "<<<<<<<")).map_or(1, |it| it + 1))
}

/// The two texts that a merge could not make one of: ours, and theirs. Nothing, if there is no conflict in it.
pub fn sides(text: &str) -> Option<(String, String)> {
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum In {
        Both,
        Ours,
        Base,
        Theirs,
    }
    let (mut ours, mut theirs) = (String::with_capacity(text.len()), String::with_capacity(text.len()));
    let mut place = In::Both;
    let mut found = false;
    for line in text.split_inclusive('\n') {
        place = match place {
            In::Both if is_sign(line, "<<<<<<<") => In::Ours,
            In::Ours if is_sign(line, "|||||||") => In::Base,
            In::Ours | In::Base if is_sign(line, "=======") => In::Theirs,
            In::Theirs if is_sign(line, ">>>>>>>") => {
                found = true;
                In::Both
            }
            In::Both => {
                ours.push_str(line);
                theirs.push_str(line);
                continue;
            }
            In::Ours => {
                ours.push_str(line);
                continue;
            }
            In::Theirs => {
                theirs.push_str(line);
                continue;
            }
            In::Base => continue,
        };
    }
    (found && place == In::Both).then_some((ours, theirs))
}

/// The text that both sides of every undecided part come down to, where these are lists: what either side lists is listed,
/// and what either side ticked is ticked. Nothing, if one of them is anything else.
pub fn resolved(text: &str) -> Option<String> {
    sides(text)?;
    let mut whole = String::with_capacity(text.len());
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        if !is_sign(line, "<<<<<<<") {
            whole.push_str(line);
            continue;
        }
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let mut is_base = false;
        for line in lines.by_ref().take_while(|it| !is_sign(it, "=======")) {
            is_base |= is_sign(line, "|||||||");
            if !is_base {
                ours.push(line);
            }
        }
        theirs.extend(lines.by_ref().take_while(|it| !is_sign(it, ">>>>>>>")));
        let mut units = units(&ours)?;
        for (key, unit) in self::units(&theirs)? {
            match units.iter_mut().find(|(it, _)| *it == key) {
                // Between two that differ only in their boxes, the ticked one says more.
                Some((_, own)) if is_ticked(&unit) && !is_ticked(own) => *own = unit,
                Some(_) => {}
                None => units.push((key, unit)),
            }
        }
        for (_, unit) in units {
            whole.push_str(&unit);
        }
    }
    Some(whole)
}

/// Lines of a list as what each is about, and all that belongs to it.
fn units(lines: &[&str]) -> Option<Vec<(String, String)>> {
    let mut units: Vec<(String, String)> = Vec::new();
    for whole in lines {
        let text = whole.trim_end_matches(['\n', '\r']);
        let line = Line { number: 1, text, start: 0, next: whole.len(), part: Part::Body };
        let is_item = markdown::bullet(text).is_some() || text.trim_start().starts_with('|');
        if is_item {
            let entry = placed(&line, 0).map(|it| it.entry.id);
            let key = entry.or_else(|| check_box(&line).map(|(_, it)| it.trim().to_owned()));
            units.push((key.unwrap_or_else(|| text.trim().to_owned()), (*whole).to_owned()));
        } else if text.trim().is_empty() && units.is_empty() {
            units.push((String::new(), (*whole).to_owned()));
        } else if text.trim().is_empty() || markdown::indent(text) > 0 {
            units.last_mut()?.1.push_str(whole);
        } else {
            return None;
        }
    }
    Some(units)
}

fn is_ticked(unit: &str) -> bool {
    let text = unit.lines().next().unwrap_or_default();
    let line = Line { number: 1, text, start: 0, next: text.len(), part: Part::Body };
    check_box(&line).is_some_and(|(mark, _)| markdown::is_tick(tick_in(text.get(mark).unwrap_or_default())))
}
