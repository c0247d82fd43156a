//! The list of sub-issues that an issue has.

use super::body::{About, Body};
use super::comments::appended;
use super::entries::Placed;
use super::fields::replaced;
use super::lists::{self, New};
use super::{Status, body};
use crate::agentd::page::{Page, line_end};

/// An issue whose list shows how far a sub-issue is. One that it does not list changes nothing.
pub fn shown_in_parent(text: &str, id: &str, status: Status) -> String {
    let page = Page::read(text);
    lists::showing(text, &Body::read(&page).sub_issues, id, status)
}

/// An issue whose list shows of all sub-issues how far they are, each once.
pub fn parent_in_step(text: &str, status_of: &dyn Fn(&str) -> Option<Status>) -> String {
    let page = Page::read(text);
    lists::in_step(text, &Body::read(&page).sub_issues, status_of)
}

/// An issue that lists a sub-issue: behind those it needs first, with `↳`, or behind all others.
pub fn with_sub_issue(text: &str, (id, title): (&str, &str), status: Status, after: &[String]) -> String {
    let page = Page::read(text);
    let body = Body::read(&page);
    if body.sub_issues.iter().any(|it| it.entry.id == id) {
        return lists::showing(text, &body.sub_issues, id, status);
    }
    let new = New { id, title, status, after };
    if let Some(section) = body.section(About::SubIssues) {
        return lists::with(text, &page, section.lines.clone(), &[new]);
    }
    let end = line_end(text);
    let section = format!("## Sub-issues{end}{end}- {}", lists::said(new, true, false, false));
    // Comments stay the last.
    let comments = body.sections.iter().find(|it| it.about == About::Comments && it.level == 2);
    match comments.and_then(|it| page.lines.get(it.lines.start.checked_sub(1)?)) {
        Some(heading) => replaced(text, heading.start..heading.start, &format!("{section}{end}{end}")),
        None => appended(text, &section),
    }
}

/// An issue that does not list a sub-issue any more. A list of which nothing is left goes with its heading.
pub fn without_sub_issue(text: &str, id: &str) -> String {
    let page = Page::read(text);
    let found = Body::read(&page).sub_issues;
    let gone: Vec<&Placed> = found.iter().filter(|it| it.entry.id == id).collect();
    if gone.is_empty() {
        return text.to_owned();
    }
    let changed = lists::without(text, &page, &gone);
    let page = Page::read(&changed);
    let section = body::sections(&page).into_iter().find(|it| it.about == About::SubIssues);
    let Some(section) = section else { return changed };
    let own = page.lines.get(section.lines.clone()).unwrap_or_default();
    let heading = page.lines.get(section.lines.start.wrapping_sub(1));
    match heading.filter(|_| own.iter().all(|it| it.text.trim().is_empty())) {
        Some(heading) => {
            let to = own.last().map_or(heading.next, |it| it.next);
            // At the end of a file the empty line before it goes as well.
            let is_last = changed.get(to..).is_none_or(|it| it.trim().is_empty());
            let kept = changed.get(..heading.start).unwrap_or_default();
            let from = if is_last { kept.trim_end().len() } else { heading.start };
            let last =
                if is_last && changed.ends_with(['\n', '\r']) && from > 0 { line_end(&changed) } else { "" };
            replaced(&changed, from..to, last)
        }
        None => changed,
    }
}
