//! What an author does about what `check` says: for each problem the repair its help speaks of, as changes to the text.

use std::fmt::Write as _;
use std::ops::Range;

use loopwright_core::problem::Problem;

use crate::dice::Dice;
use crate::shrink::members;

/// A change: what is replaced, and by what.
pub(crate) type Edit = (Range<usize>, String);

/// A text as its author looks at it.
pub(crate) struct Page<'t> {
    pub(crate) text: &'t str,
}

/// How an author goes about it.
pub(crate) struct Author<'d> {
    pub(crate) dice: &'d mut Dice,
    /// How many names were given to budgets and states that were not there before.
    pub(crate) fresh: usize,
    /// Whether repairs may still make a workflow larger; else what is in the way goes.
    pub(crate) builds: bool,
}

impl Author<'_> {
    fn name(&mut self, letter: char) -> String {
        self.fresh += 1;
        format!("{letter}{}", self.fresh)
    }
}

impl Page<'_> {
    /// What nothing leads to and nothing takes goes, all at once: one part may speak of another.
    pub(crate) fn sweep(&self, problems: &[Problem]) -> Vec<Edit> {
        let mut gone: Vec<Range<usize>> = Vec::new();
        for problem in problems {
            let at = &problem.place.bytes;
            match problem.code {
                "never-taken" => gone.push(self.arm(at)),
                "unreachable" => gone.push(self.block(at.start)),
                _ => continue,
            }
            if let Some(name) = problem.message.split('`').nth(1).filter(|_| problem.code == "unreachable") {
                let reads = format!("last.{name}.");
                let facts = self.all_lines().into_iter().filter(|it| {
                    self.text[it.clone()].contains(&reads) && self.text[it.clone()].contains("is: ")
                });
                gone.extend(facts);
            }
        }
        gone.sort_by_key(|it| (it.start, std::cmp::Reverse(it.end)));
        let mut last = 0;
        gone.retain(|it| {
            let apart = it.start >= last && !it.is_empty();
            last = last.max(it.end);
            apart
        });
        gone.into_iter().map(|it| (it, String::new())).collect()
    }

    /// The repair of a problem; nothing where the author knows none.
    pub(crate) fn repair(&self, problem: &Problem, author: &mut Author<'_>) -> Vec<Edit> {
        let at = problem.place.bytes.clone();
        let block = self.block(at.start);
        let quoted: Vec<&str> = problem.message.split('`').skip(1).step_by(2).collect();
        match problem.code {
            "never-taken" if self.text[block.clone()].contains(" settle: ") => self.settle_no_more(&block),
            "never-taken" => cut(self.arm(&at)),
            "unreachable" if author.builds && author.dice.yes(50) => self.lead_there(&block, &quoted, author),
            "unreachable" => cut(block),
            "vacuous" | "property" | "over-cap" | "unknown-price" => cut(self.line(at.start)),
            "starved" => self.close(at.start, ", shared: true"),
            "unused" => self.use_it(problem, &quoted, author),
            "unread" => self.lead_last(&block, self.bad(&block)),
            "trapped" => self.lead_last(&block, if author.dice.yes(60) { "done" } else { self.bad(&block) }),
            "unrouted" => quoted[1..].iter().flat_map(|it| self.cover(&block, it)).collect(),
            "endless" => self.limit(problem, author),
            "undefined-input" => self.swap(&block, "given: [", "given: [maybe "),
            "unsettled" if author.builds && author.dice.yes(50) => self.settle_first(&block, &quoted, author),
            "unsettled" => cut(self.starting(&block, &["needs:"]).into_iter().next().unwrap_or(0..0)),
            "commit-unjudged" if author.builds && author.dice.yes(70) => self.need(&block, quoted[1]),
            "commit-unjudged" => self.swap(&block, "{commit: \"all\", what", "{restore"),
            _ => Vec::new(),
        }
    }

    /// What nobody uses is used, or goes.
    fn use_it(&self, problem: &Problem, quoted: &[&str], author: &mut Author<'_>) -> Vec<Edit> {
        let at = problem.place.bytes.start;
        let line = self.line(at);
        let block = self.block(at);
        if problem.message.starts_with("nothing needs the gate") {
            let gate = quoted[0].rsplit('.').next().unwrap_or_default();
            let done = self.state("done", self.indent(&block));
            if let Some(done) = done.filter(|_| author.builds && author.dice.yes(80)) {
                return self.need(&done, gate);
            }
            let judging = self.starting(&block, &["judges:", "gate:", "passes:", "only-when:"]);
            let forced = format!(", forced: {gate}");
            let forced = self.text.match_indices(&forced).map(|(at, it)| at..at + it.len());
            return judging.into_iter().chain(forced).map(|it| (it, String::new())).collect();
        }
        if problem.message.starts_with("nothing sets") {
            if self.indent(&line) == 2 && author.dice.yes(50) {
                return self.close(at, ", input: true");
            }
            let mut shorter = self.text[line.clone()].to_owned();
            for value in &quoted[1..] {
                shorter = shorter.replace(&format!(", {value}"), "").replace(&format!("[{value}, "), "[");
            }
            return vec![(line, shorter)];
        }
        if problem.message.contains("`shared`") {
            return self.swap(&line, ", shared: true", "");
        }
        cut(line)
    }

    /// A state needs a gate.
    fn need(&self, block: &Range<usize>, gate: &str) -> Vec<Edit> {
        let there = self.starting(block, &["needs: ["]).into_iter().next();
        match there {
            Some(line) if self.text[line.clone()].contains("needs: []") => {
                self.swap(&line, "[]", &format!("[{gate}]"))
            }
            Some(line) => self.swap(&line, "needs: [", &format!("needs: [{gate}, ")),
            None => {
                let first = self.line(block.start);
                let indent = " ".repeat(self.indent(block) + 2);
                vec![(first.end..first.end, format!("{indent}needs: [{gate}]\n"))]
            }
        }
    }

    /// A signal that has no route, or not for every way it comes, leads to the end for what went wrong.
    fn cover(&self, block: &Range<usize>, signal: &str) -> Vec<Edit> {
        let bad = self.bad(block);
        let indent = self.indent(block);
        if signal == "*" {
            let choices = self.starting(block, &["- "]);
            let Some(last) = choices.last() else { return self.lead_last(block, bad) };
            return vec![(last.end..last.end, format!("{}- {{to: {bad}}}\n", " ".repeat(indent + 4)))];
        }
        if let Some(line) = self.starting(block, &[&format!("{signal}: ")]).into_iter().next() {
            let (head, mut arms) = self.arms(&line);
            arms.push(bad.to_owned());
            return vec![(line, written(&head, &arms))];
        }
        let route = format!("{}{signal}: {bad}\n", " ".repeat(indent + 4));
        match self.starting(block, &["on:"]).first() {
            Some(on) => vec![(on.end..on.end, route)],
            None => vec![(block.end..block.end, format!("{}on:\n{route}", " ".repeat(indent + 2)))],
        }
    }

    /// The last route of a state leads elsewhere.
    fn lead_last(&self, block: &Range<usize>, to: &str) -> Vec<Edit> {
        let Some(line) = self.routes(block).pop() else { return Vec::new() };
        let (head, mut arms) = self.arms(&line);
        arms.pop();
        arms.push(if head.trim() == "-" { format!("{{to: {to}}}") } else { to.to_owned() });
        vec![(line, written(&head, &arms))]
    }

    /// Some state leads where nothing led.
    fn lead_there(&self, block: &Range<usize>, quoted: &[&str], author: &mut Author<'_>) -> Vec<Edit> {
        let name = quoted[0].rsplit('.').next().unwrap_or_default();
        let depth = self.indent(block);
        let states = self.all_lines().into_iter().filter(|it| self.indent(it) == depth);
        let mut states: Vec<Range<usize>> = states.map(|it| self.block(it.start)).collect();
        let is_state = |it: &Range<usize>| {
            !self.routes(it).is_empty() && *it != *block && !self.text[it.clone()].contains(" states:")
        };
        states.retain(is_state);
        if states.is_empty() { Vec::new() } else { self.lead_last(author.dice.one(&states), name) }
    }

    /// A gate that is settled anyway wherever a state asks for it is not asked for.
    fn settle_no_more(&self, block: &Range<usize>) -> Vec<Edit> {
        let (settle, then) = (self.starting(block, &["settle: "]), self.starting(block, &["then: "]));
        let (Some(settle), Some(then)) = (settle.first(), then.first()) else { return Vec::new() };
        let indent = " ".repeat(self.indent(block) + 2);
        let mut choose = format!("{indent}choose:\n");
        for arm in self.arms(then).1 {
            let arm = if arm.starts_with('{') { arm } else { format!("{{to: {arm}}}") };
            let _ = writeln!(choose, "{indent}  - {arm}");
        }
        vec![(settle.clone(), choose), (then.clone(), String::new())]
    }

    /// Every way to a state leads through a gate it needs.
    fn settle_first(&self, block: &Range<usize>, quoted: &[&str], author: &mut Author<'_>) -> Vec<Edit> {
        let own = |it: &str| it.rsplit('.').next().unwrap_or_default().to_owned();
        let (name, gate) = (own(quoted[0]), own(quoted[1]));
        let depth = self.indent(block);
        let settles = author.name('z');
        let indent = " ".repeat(depth);
        let state = format!("{indent}{settles}:\n{indent}  settle: [{gate}]\n{indent}  then: {name}\n");
        let mut edits = vec![(block.start..block.start, state)];
        let routes = self.all_lines().into_iter().filter(|it| {
            let text = self.text[it.clone()].trim_start();
            self.indent(it) == depth + 4 || self.indent(it) == depth + 2 && text.starts_with("then: ")
        });
        for line in routes.filter(|it| !block.contains(&it.start)) {
            let (head, arms) = self.arms(&line);
            let led =
                |it: &String| if leads(it, &name) { it.replacen(&name, &settles, 1) } else { it.clone() };
            let other: Vec<String> = arms.iter().map(led).collect();
            if other != arms {
                edits.push((line, written(&head, &other)));
            }
        }
        edits
    }

    /// A loop gets a budget of its own, on one of its arms; or one that it fills itself is filled no more.
    fn limit(&self, problem: &Problem, author: &mut Author<'_>) -> Vec<Edit> {
        let help = problem.help.as_deref().unwrap_or_default();
        if help.contains("out of `per`") {
            let budget = help.split('`').nth(1).unwrap_or_default();
            let mut lines = self.all_lines().into_iter();
            let line =
                lines.find(|it| self.text[it.clone()].trim_start().starts_with(&format!("{budget}: {{")));
            let from = line.and_then(|it| Some(it.start + self.text[it].find(", per: [")?));
            let until = from.and_then(|it| Some(it + self.text[it..].find(']')? + 1));
            return from.zip(until).map(|(from, until)| cut(from..until)).unwrap_or_default();
        }
        let Some((_, turn)) = problem.message.rsplit_once(": ") else { return Vec::new() };
        let turn: Vec<&str> = turn.split(" > ").collect();
        let depth = if turn[0].contains('.') { 6 } else { 2 };
        let own = |it: &str| it.rsplit('.').next().unwrap_or_default().to_owned();
        let from = author.dice.below(turn.len());
        for at in (0..turn.len()).map(|it| (it + from) % turn.len()) {
            let Some(block) = self.state(&own(turn[at]), depth) else { continue };
            let to = own(turn[(at + 1) % turn.len()]);
            for line in self.routes(&block) {
                let (head, mut arms) = self.arms(&line);
                let Some(free) = arms
                    .iter()
                    .position(|it| (leads(it, &to) || leads(it, "back")) && !it.contains("spend:"))
                else {
                    continue;
                };
                let name = author.name('m');
                let inner = arms[free].strip_prefix('{').and_then(|it| it.strip_suffix('}'));
                let arm = inner.map_or_else(|| format!("to: {}", arms[free]), str::to_owned);
                arms[free] = format!("{{{arm}, spend: {name}}}");
                if free + 1 == arms.len() && head.trim() != "-" {
                    arms.push(self.bad(&block).to_owned());
                }
                let section = format!("\n{}budgets:\n", " ".repeat(depth - 2));
                let Some(budgets) = self.text.find(&section).map(|it| it + section.len()) else { continue };
                let budget =
                    format!("{}{name}: {{limit: {}}}\n", " ".repeat(depth), 1 + author.dice.below(3));
                return vec![(budgets..budgets, budget), (line, written(&head, &arms))];
            }
        }
        Vec::new()
    }

    /// Where things end that went wrong, in the machine of a state.
    fn bad(&self, block: &Range<usize>) -> &'static str {
        if self.indent(block) == 2 { "failed" } else { "broke" }
    }

    /// What stands before the arms of a line, and the arms.
    fn arms(&self, line: &Range<usize>) -> (String, Vec<String>) {
        let text = self.text[line.clone()].trim_end();
        let found = if text.trim_start().starts_with("- ") { text.find("- ") } else { text.find(": ") };
        let (head, rest) = text.split_at(found.map_or(text.len(), |it| it + 2));
        let list = rest.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        (head.to_owned(), list.map_or_else(|| vec![rest.to_owned()], members))
    }

    /// The lines of a state that lead somewhere.
    fn routes(&self, block: &Range<usize>) -> Vec<Range<usize>> {
        let depth = self.indent(block) + 4;
        let then = self.starting(block, &["then: "]);
        let deep = self.lines(block).into_iter().filter(|it| self.indent(it) == depth);
        then.into_iter().chain(deep).collect()
    }

    /// The block of a state, by its name and how far it is indented.
    fn state(&self, name: &str, indent: usize) -> Option<Range<usize>> {
        let head = format!("\n{}{name}:\n", " ".repeat(indent));
        self.text.find(&head).map(|it| self.block(it + 1))
    }

    fn lines(&self, within: &Range<usize>) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        while let Some(at) =
            Some(found.last().map_or(within.start, |it| it.end)).filter(|it| *it < within.end)
        {
            found.push(self.line(at));
        }
        found
    }

    fn all_lines(&self) -> Vec<Range<usize>> {
        self.lines(&(0..self.text.len()))
    }

    /// Lines of a block that start like this.
    fn starting(&self, block: &Range<usize>, starts: &[&str]) -> Vec<Range<usize>> {
        let begins = |it: &Range<usize>| {
            let text = self.text[it.clone()].trim_start();
            starts.iter().any(|it| text.starts_with(it))
        };
        self.lines(block).into_iter().filter(begins).collect()
    }

    fn swap(&self, within: &Range<usize>, old: &str, new: &str) -> Vec<Edit> {
        let found = self.text[within.clone()].find(old).map(|it| within.start + it);
        found.map(|it| (it..it + old.len(), new.to_owned())).into_iter().collect()
    }

    /// Puts something before the brace that closes a line.
    fn close(&self, at: usize, more: &str) -> Vec<Edit> {
        let line = self.line(at);
        let end = self.text[line.clone()].rfind('}').map(|it| line.start + it);
        end.map(|it| (it..it, more.to_owned())).into_iter().collect()
    }

    fn indent(&self, line: &Range<usize>) -> usize {
        let text = &self.text[line.clone()];
        text.len() - text.trim_start_matches(' ').len()
    }

    pub(crate) fn line(&self, at: usize) -> Range<usize> {
        let from = self.text[..at].rfind('\n').map_or(0, |it| it + 1);
        let until = self.text[at..].find('\n').map_or(self.text.len(), |it| at + it + 1);
        from..until
    }

    /// A line and everything below it that is indented further.
    pub(crate) fn block(&self, at: usize) -> Range<usize> {
        let first = self.line(at);
        let depth = self.indent(&first);
        let mut until = first.end;
        while until < self.text.len() {
            let next = self.line(until);
            if self.indent(&next) <= depth {
                break;
            }
            until = next.end;
        }
        first.start..until
    }

    /// An arm in a list with its comma, or the line of an arm that stands alone.
    pub(crate) fn arm(&self, at: &Range<usize>) -> Range<usize> {
        let rest = &self.text[at.end..];
        if let Some(gap) = rest.strip_prefix(',') {
            let space = gap.len() - gap.trim_start_matches(' ').len();
            return at.start..at.end + 1 + space;
        }
        let before = self.text[..at.start].trim_end_matches(' ');
        if before.ends_with(',') && rest.starts_with(']') {
            return before.len() - 1..at.end;
        }
        if before.ends_with(['-', ':']) { self.line(at.start) } else { 0..0 }
    }
}

pub(crate) fn cut(range: Range<usize>) -> Vec<Edit> {
    if range.is_empty() { Vec::new() } else { vec![(range, String::new())] }
}

fn leads(arm: &str, to: &str) -> bool {
    arm == to || arm.split([',', '}']).next() == Some(&format!("{{to: {to}"))
}

fn written(head: &str, arms: &[String]) -> String {
    match arms {
        [one] => format!("{head}{one}\n"),
        many => format!("{head}[{}]\n", many.join(", ")),
    }
}
