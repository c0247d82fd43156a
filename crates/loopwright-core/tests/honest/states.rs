//! Generated states: what there is, what it judges and needs.

use crate::generator::{DOCUMENTS, Maker, strings};
use crate::texts::{MachineText, StateText, What};

impl Maker {
    pub(crate) fn machine(&mut self, child: bool, inner: Option<&MachineText>) -> MachineText {
        let bad = if child { "broke" } else { "failed" };
        let mut machine = MachineText { child, bad, ..MachineText::default() };
        let yes_no = strings(&["yes", "no"]);
        let fact = |machine: &mut MachineText, name: &str, is: &str, more: &str| {
            machine.facts.push((name.into(), yes_no.clone()));
            let line = format!("{name}: {{in: [yes, no], is: \"{is} ? 'yes' : 'no'\"{more}}}");
            machine.fact_lines.push(line);
        };
        if child {
            machine.vars.push(("size".into(), strings(&["small", "large"])));
            machine.var_lines.push("size: {in: [small, large], start: small}".into());
            machine.with = self.dice.yes(60).then(|| ("size".into(), "large".into()));
            fact(&mut machine, "ready", "docs.spec.exists", "");
            fact(&mut machine, "sized", "size == 'small'", "");
            if self.dice.yes(30) {
                fact(&mut machine, "marked", "item.note == 'x'", "");
            }
            if self.dice.yes(30) {
                fact(&mut machine, "tested", "project.test.size() > 0", ", once: true");
            }
        } else {
            let input = if self.dice.yes(35) { ", input: true" } else { "" };
            let start = self.pick(&["lean", "full"]);
            machine.vars.push(("mode".into(), strings(&["lean", "full"])));
            machine.var_lines.push(format!("mode: {{in: [lean, full], start: {start}{input}}}"));
            machine.vars.push(("step".into(), strings(&["one", "two", "three"])));
            machine.var_lines.push("step: {in: [one, two, three], start: one}".into());
            fact(&mut machine, "speced", "docs.spec.exists", "");
            fact(&mut machine, "dirty", "git.dirty", "");
            fact(&mut machine, "lean", "mode == 'lean'", "");
            fact(&mut machine, "logged", "lists.log.size() > 0", "");
            fact(&mut machine, "found", "findings.open.size() > 0", "");
            fact(&mut machine, "rust", "project.language == 'rust'", ", once: true");
            if self.dice.yes(30) {
                fact(&mut machine, "listed", "docs.table.mark == 'x'", "");
            }
        }
        self.outline(&mut machine, if child { "c" } else { "s" }, inner);
        let check = machine.states.iter().find(|it| it.what == What::Check).map(|it| it.name.clone());
        if let Some(check) = check.filter(|_| !child) {
            fact(&mut machine, "passed", &format!("last.{check}.signal == 'pass'"), "");
        }
        self.budgets(&mut machine);
        self.routes(&mut machine);
        machine
    }

    /// Which states there are.
    fn outline(&mut self, machine: &mut MachineText, letter: &str, inner: Option<&MachineText>) {
        let most = if machine.child { 3 } else { 8 };
        let count = 2 + self.dice.below(most);
        let mut kinds = Vec::new();
        for at in 0..count {
            let kind = match self.dice.below(100) {
                0..22 => What::Agent,
                22..42 => What::Review,
                42..54 => What::Check,
                54..62 => What::Ask,
                62..74 => What::Do,
                74..81 => What::Choose,
                81..86 => What::Settle,
                86..90 => What::EachCall,
                90..95 if inner.is_some() => What::EachChild,
                _ => What::Rest,
            };
            let instant = matches!(kind, What::Settle | What::Choose);
            kinds.push(if at == 0 && instant { What::Agent } else { kind });
        }
        if inner.is_some() && !kinds.contains(&What::EachChild) {
            let at = self.dice.below(kinds.len());
            kinds[at] = What::EachChild;
        }
        for (at, kind) in kinds.into_iter().enumerate() {
            let mut state = self.state(format!("{letter}{at}"), kind, inner);
            let judges = match kind {
                What::Review => 85,
                What::Check => 70,
                What::Ask | What::EachCall | What::EachChild => 25,
                _ => 0,
            };
            if self.dice.yes(judges) {
                self.judges(&mut state, machine);
            }
            let before = machine.gates();
            let needy = match kind {
                What::Do => 45,
                What::Choose | What::Settle => 0,
                _ => 8,
            };
            if !before.is_empty() && self.dice.yes(needy) {
                state.needs = Some(self.needs(&before));
            }
            if kind == What::Agent && at > 0 && self.dice.yes(12) {
                let maybe = if self.dice.yes(40) { "maybe " } else { "" };
                let of = self.dice.below(at + 1);
                state.head.push(format!("given: [{maybe}last.{letter}{of}]"));
            }
            machine.states.push(state);
        }
        self.ends(machine);
    }

    fn ends(&mut self, machine: &mut MachineText) {
        let ends: Vec<(&str, &str)> = match self.dice.below(3) {
            0 => [("done", "success"), (machine.bad, "failure")].to_vec(),
            1 => [("done", "success"), ("fine", "success"), (machine.bad, "failure")].to_vec(),
            _ => [("done", "success"), (machine.bad, "failure"), ("stopped", "stopped")].to_vec(),
        };
        for (name, outcome) in ends {
            let mut state = StateText::new(name.to_owned(), What::End);
            state.head.push(format!("end: {outcome}"));
            let gates = machine.gates();
            if name == "done" && !gates.is_empty() && self.dice.yes(12) {
                state.needs = Some(self.needs(&gates));
            }
            machine.states.push(state);
        }
    }

    /// A state of a kind, without routes.
    fn state(&mut self, name: String, what: What, child: Option<&MachineText>) -> StateText {
        let mut state = StateText::new(name, what);
        match what {
            What::Agent => self.agent(&mut state),
            What::Review => self.review(&mut state),
            What::Check => {
                state.head.push("check: project.checks".into());
                state.signals = strings(&["pass", "fail"]);
            }
            What::Ask => self.ask(&mut state),
            What::Do => self.act(&mut state),
            What::Choose | What::Settle => state.signals = strings(&["*"]),
            What::EachCall | What::EachChild => self.each(&mut state, child),
            What::Rest => {
                state.head.push("rest: \"It rests.\"".into());
                state.signals = vec!["verb go".into()];
                if self.dice.yes(40) {
                    state.signals.push("verb redo".into());
                }
            }
            What::End => {}
        }
        state
    }

    fn agent(&mut self, state: &mut StateText) {
        match self.dice.below(3) {
            0 => {
                state.head.push("agent: writer".into());
                state.signals = strings(&["OK", "PART"]);
                state.fields.insert("OK".into(), vec![("ui".into(), strings(&["yes", "no"]))]);
            }
            1 => {
                state.head.push("agent: scout".into());
                state.signals = strings(&["done"]);
                if self.scout_asks {
                    state.signals.push("ASK".into());
                }
            }
            _ => {
                state.head.push("agent: coder".into());
                state.signals = strings(&["done"]);
            }
        }
    }

    fn review(&mut self, state: &mut StateText) {
        state.finds = true;
        if self.dice.yes(60) {
            state.head.push("review: judge".into());
            state.signals = strings(&["GOOD", "WEAK", "BAD"]);
            if self.judge_asks {
                state.signals.push("ASK".into());
            }
        } else {
            state.head.push("review: critic".into());
            state.signals = strings(&["FINE", "AWAY"]);
            state.topics = strings(&["plan", "look"]);
            if self.critic_fields {
                state.fields.insert("AWAY".into(), vec![("kind".into(), strings(&["small", "large"]))]);
            }
        }
        if self.dice.yes(10) {
            state.head.push("advice: [scout]".into());
        }
    }

    fn ask(&mut self, state: &mut StateText) {
        let question = self.pick(&["sure", "how", "once"]);
        state.head.push(format!("ask: {question}"));
        match question.as_str() {
            "sure" => {
                state.signals = strings(&["yes", "no", "deferred"]);
                state.asks_nobody = Some(self.nobody.clone());
            }
            "how" => {
                state.signals = strings(&["go", "stop", "deferred"]);
                state.fields.insert("go".into(), vec![("pace".into(), strings(&["fast", "slow"]))]);
                state.asks_nobody = Some(self.hurry.clone());
            }
            _ => state.signals = strings(&["fine", "bad", "deferred", "unanswered"]),
        }
        if self.dice.yes(25) {
            state.signals.push("verb redo".into());
        }
    }

    fn act(&mut self, state: &mut StateText) {
        let mut actions = Vec::new();
        for _ in 0..=self.dice.below(2) {
            actions.push(match self.dice.below(7) {
                0 => format!("{{write: {}, from: \"text\"}}", self.pick(DOCUMENTS)),
                1 => "{run: \"make\", writes: [notes]}".to_owned(),
                2 => format!("{{restore: [{}]}}", self.pick(DOCUMENTS)),
                3 => {
                    let what = self.pick(&["code", "spec", "both", "notes"]);
                    format!("{{commit: \"all\", what: [{what}]}}")
                }
                4 if state.name.starts_with('c') => "{set: {item.note: x}}".to_owned(),
                4 => "{set: {table.mark: x}}".to_owned(),
                _ => "{say: \"so far\"}".to_owned(),
            });
        }
        state.head.push(format!("do: [{}]", actions.join(", ")));
        state.signals = strings(&["done"]);
    }

    fn each(&mut self, state: &mut StateText, child: Option<&MachineText>) {
        let anew = if self.dice.yes(30) { ", anew: true" } else { "" };
        let most = if self.capped && self.dice.yes(85) { ", at-most: 2" } else { "" };
        let Some(child) = child.filter(|_| state.what == What::EachChild) else {
            let role = self.pick(&["coder", "scout"]);
            let side = if role == "scout" && self.dice.yes(30) { ", at-once: 2" } else { "" };
            state.head.push(format!(
                "each: {{item: part, in: docs.table.items, run: {{agent: {role}}}{anew}{side}{most}}}"
            ));
            state.signals = strings(&["done", "empty"]);
            return;
        };
        let order = if self.dice.yes(15) { ", order: depends" } else { "" };
        let with = child.with.clone().filter(|_| self.dice.yes(50));
        let with = with.map_or(String::new(), |(name, value)| format!(", with: {{{name}: {value}}}"));
        state
            .head
            .push(format!("each: {{item: part, in: docs.table.items, run: task{order}{anew}{with}{most}}}"));
        let ends = child.states.iter().filter(|it| it.what == What::End).map(|it| it.name.clone());
        state.signals = ends.chain(["empty".into()]).collect();
        if !order.is_empty() {
            state.signals.push("unordered".into());
        }
    }

    fn judges(&mut self, state: &mut StateText, machine: &MachineText) {
        let documents = self.documents(35);
        let documents = if self.dice.yes(15) { "[both]".to_owned() } else { documents };
        state.head.push(format!("judges: {documents}"));
        let shared = machine.gates();
        let mut name = state.name.clone();
        if !shared.is_empty() && self.dice.yes(8) {
            name.clone_from(self.dice.one(&shared));
            state.head.push(format!("gate: {name}"));
        }
        state.gate = Some(name);
        if self.dice.yes(12) {
            let passes = self.dice.some(&state.signals, 50);
            if !passes.is_empty() {
                let quoted: Vec<String> = passes.iter().map(|it| format!("\"{it}\"")).collect();
                state.head.push(format!("passes: [{}]", quoted.join(", ")));
            }
        }
        if self.dice.yes(22) {
            let from = if self.dice.yes(65) { &machine.facts } else { &machine.vars };
            let (name, values) = self.dice.one(from).clone();
            let value = self.dice.one(&values).clone();
            state.head.push(format!("only-when: {{{name}: {value}}}"));
        }
    }

    pub(crate) fn needs(&mut self, gates: &[String]) -> String {
        let mut some = self.dice.some(gates, 45);
        if some.is_empty() {
            some.push(self.dice.one(gates).clone());
        }
        if self.dice.yes(6) {
            return format!("{{by: mode, lean: [], full: [{}]}}", some.join(", "));
        }
        format!("[{}]", some.join(", "))
    }
}
