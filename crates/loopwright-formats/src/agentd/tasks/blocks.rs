//! Tasks that are blocks of values, and fenced code that is none.

use super::super::page::{Line, Part};
use super::super::yaml::{self, Node};
use super::super::{Severity, markdown, task_id};
use super::doubts::{self, Met};
use super::scan::{Scan, shown};
use super::starts::Form;

impl Scan<'_, '_> {
    /// Takes fenced code. Gives the line behind it.
    pub fn take_fence(&mut self, at: usize, line: &Line<'_>) -> usize {
        let page = self.page;
        let behind = page.lines.iter().skip(at + 1).position(|it| it.part != Part::Fence);
        let end = behind.map_or(page.lines.len(), |it| at + 1 + it);
        let Some(fence) = markdown::Fence::opened_by(line.text) else { return end };
        let is_closed = end > at + 1 && page.lines.get(end - 1).is_some_and(|it| fence.is_closed_by(it.text));
        let inner = (at + 1, if is_closed { end - 1 } else { end });
        let indent = markdown::indent(line.text);
        self.was_blank = false;
        self.take_hidden(at, inner, &fence);
        let is_read =
            (fence.is_yaml() || fence.is_bare() || fence.is_json()) && self.take_block(at, inner, &fence);
        if !(is_read || fence.is_markdown()) {
            self.take_unread(at, inner);
        }
        if !(fence.is_yaml() || fence.is_bare() || is_read) {
            self.open.retain(|it| self.drafts[*it].indent < indent);
        }
        self.belong(end - 1);
        end
    }

    /// Notes the values of a task that cannot be read.
    fn take_unread(&mut self, at: usize, inner: (usize, usize)) {
        let (from, to) = inner;
        if let Some(id) = doubts::id_of_values(self.page.slice(from, to)) {
            self.mention(at, id, "", Met::Code);
        }
    }

    /// Takes code that may be the values of a task. False if it is something else.
    fn take_block(&mut self, at: usize, inner: (usize, usize), fence: &markdown::Fence<'_>) -> bool {
        let page = self.page;
        let own: Vec<&str> =
            page.lines.get(inner.0..inner.1).unwrap_or_default().iter().map(|it| it.text).collect();
        // In a list all of it is indented.
        let indent = own
            .iter()
            .filter(|it| !it.trim().is_empty())
            .map(|it| it.len() - it.trim_start_matches(' ').len())
            .min();
        let indent = indent.unwrap_or(0);
        let text = if indent == 0 {
            own.join("\n")
        } else {
            own.iter().map(|it| it.get(indent..).unwrap_or_default()).collect::<Vec<_>>().join("\n")
        };
        let (node, fault) = yaml::read_loosely(&text, inner.0);
        let maps: Vec<&Node> = match &node {
            Node::List { items, .. } => items.iter().collect(),
            _ => match node.get("tasks") {
                Some(Node::List { items, .. }) => items.iter().collect(),
                _ => vec![&node],
            },
        };
        let is_single = maps.len() == 1;
        let mut is_task = false;
        for map in maps {
            is_task |= self.take_map(at, map, fence, is_single);
        }
        if let (Some(fault), true) = (fault, is_task) {
            let message =
                format!("the values of a task are not right, each was read by itself: {}", fault.message);
            self.problem(Severity::Low, fault.line.saturating_sub(1), message);
        }
        is_task
    }

    /// Takes the values of a task. False if they are of something else.
    fn take_map(&mut self, at: usize, map: &Node, fence: &markdown::Fence<'_>, is_single: bool) -> bool {
        let has = |names: &[&str]| names.iter().any(|it| map.get(it).is_some());
        let says_what = has(&["action", "file", "files", "spec_ref", "depends_on", "depends"]);
        let written = map
            .get("id")
            .or_else(|| map.get("task_id"))
            .and_then(Node::text)
            .map(str::trim)
            .filter(|it| !it.is_empty());
        let plain = written.and_then(task_id::alone);
        let id = plain.as_deref().or(written);
        // In JSON stand examples of all kinds.
        let is_enough = if fence.is_json() {
            says_what && plain.is_some()
        } else {
            says_what || (id.is_some() && has(&["status", "title"]))
        };
        if !is_enough || (!fence.is_yaml() && id.is_none()) {
            return false;
        }
        let current =
            self.open.last().copied().or(self.under.map(|it| it.0)).filter(|it| !self.drafts[*it].has_block);
        if let Some(current) = current.filter(|_| is_single) {
            let draft = &mut self.drafts[current];
            // Another id is a slip, unless the task has said all there is to say.
            let is_slip = draft.form == Form::Heading && !draft.facts.is_any && !fence.is_json();
            let is_inner = markdown::indent(self.page.lines[at].text) > draft.indent;
            let is_slip = is_slip || (is_inner && id.is_some_and(|it| !task_id::is_task_id(it)));
            let is_own = id.is_none_or(|it| it == draft.id || is_slip);
            if is_own {
                draft.has_block = true;
                draft.facts.take_map(map);
                let Some(id) = id.filter(|it| *it != draft.id) else { return true };
                let message = format!("the heading says task `{}`, and its values say `{id}`", draft.id);
                if task_id::is_task_id(id) {
                    id.clone_into(&mut draft.id);
                }
                self.problem(Severity::Medium, map.line().saturating_sub(1), message);
                return true;
            }
        }
        let line = map.line().saturating_sub(1);
        let Some(id) = id else {
            self.problem(Severity::High, line, "values of a task, and no id that says which".to_owned());
            return true;
        };
        let stated = ["title", "name", "summary"].iter().find_map(|it| map.get(it)).and_then(Node::text);
        let title = stated.map_or_else(|| self.heading_right_above(at), |it| it.trim().to_owned());
        self.open.clear();
        // Under the heading of a task, a second block is a task of its own.
        self.under = None;
        if let Some(new) =
            self.begin(if is_single { at } else { line }, Form::Block, id.to_owned(), title, None, 0)
        {
            let draft = &mut self.drafts[new];
            draft.has_block = true;
            draft.facts.take_map(map);
            draft.last = line;
            self.under = Some((new, 6));
            if !task_id::is_task_id(id) {
                self.problem(Severity::Low, line, format!("the id `{}` is no number such as 1.1", shown(id)));
            }
        }
        true
    }

    /// The title of a heading that stands right before a block.
    fn heading_right_above(&self, at: usize) -> String {
        let lines = self.page.lines.get(..at).unwrap_or_default();
        let above = lines.iter().rposition(|it| !it.text.trim().is_empty());
        let title = above.and_then(|it| self.titles.get(&it)).filter(|(level, _)| *level > 2);
        title.map(|it| it.1.to_owned()).unwrap_or_default()
    }
}
