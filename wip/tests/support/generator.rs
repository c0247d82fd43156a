//! Workflow texts from a seed.
//!
//! Half of it is craft: stages of work, judges that send it back, a commit that needs them. The other half is
//! mischief: arms led elsewhere, budgets forgotten, conditions put in front, gates needed where nobody judged.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Dice;

#[derive(Clone, Debug, Default)]
pub struct ArmText {
    pub to: String,
    pub when: Vec<(String, Vec<String>)>,
    pub spend: Option<String>,
    pub refill: Option<String>,
    pub set: Option<(String, String)>,
    pub record: bool,
    pub forced: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Agent,
    Review,
    Check,
    Ask,
    Do,
    Choose,
    Settle,
    EachCall,
    EachChild,
    Rest,
    End,
}

#[derive(Clone, Debug)]
pub struct StateText {
    pub name: String,
    pub what: What,
    /// What comes first: `agent: coder`.
    pub head: Vec<String>,
    pub gate: Option<String>,
    pub needs: Option<String>,
    /// Verdicts with their fields.
    pub fields: BTreeMap<String, Vec<(String, Vec<String>)>>,
    pub signals: Vec<String>,
    pub topics: Vec<String>,
    pub finds: bool,
    pub routes: Vec<(String, Vec<ArmText>)>,
    pub asks_nobody: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct MachineText {
    pub child: bool,
    pub states: Vec<StateText>,
    pub budgets: Vec<(String, String)>,
    /// Budgets that entering states fills.
    pub per: BTreeMap<String, Vec<String>>,
    pub vars: Vec<(String, Vec<String>)>,
    pub var_lines: Vec<String>,
    pub facts: Vec<(String, Vec<String>)>,
    pub fact_lines: Vec<String>,
    pub defaults: Vec<(String, Vec<ArmText>)>,
    pub with: Option<(String, String)>,
}

const DOCS: &[&str] = &["code", "spec", "lib", "notes"];

struct Maker {
    dice: Dice,
    tidy: bool,
    scout_asks: bool,
    judge_asks: bool,
    critic_fields: bool,
    nobody: String,
    hurry: String,
}

/// The text of a workflow: as it comes, or after its author listened to `check`.
pub fn workflow(seed: u64) -> String {
    let mut dice = Dice(seed ^ 0xA5A5);
    let text = raw(seed);
    if dice.yes(75) { super::listened(text, &mut dice) } else { text }
}

/// The text of a workflow as it comes.
pub fn raw(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ 0x9E37);
    let mischief = *dice.one(&[0, 0, 0, 1, 1, 2, 3, 5]);
    let mut maker = Maker {
        tidy: dice.yes(75),
        scout_asks: dice.yes(30),
        judge_asks: dice.yes(12),
        critic_fields: dice.yes(50),
        nobody: (*dice.one(&["wait", "deferred", "yes"])).to_owned(),
        hurry: (*dice.one(&["wait", "deferred", "go"])).to_owned(),
        dice,
    };
    maker.whole(mischief)
}

fn strings(of: &[&str]) -> Vec<String> {
    of.iter().map(|it| (*it).to_owned()).collect()
}

fn to(target: impl Into<String>) -> ArmText {
    ArmText { to: target.into(), ..ArmText::default() }
}

impl MachineText {
    fn names(&self) -> Vec<String> {
        self.states.iter().map(|it| it.name.clone()).collect()
    }

    fn gates(&self) -> Vec<String> {
        let mut gates: Vec<String> = self.states.iter().filter_map(|it| it.gate.clone()).collect();
        gates.sort();
        gates.dedup();
        gates
    }

    fn counters(&self) -> Vec<String> {
        self.budgets.iter().map(|(name, _)| name.clone()).filter(|it| it != "retries").collect()
    }

    /// Leaves out what nothing leads to and nothing spends.
    fn sweep(&mut self, roots: &[String]) {
        let mut reached: Vec<String> = roots.to_vec();
        reached.push(self.states[0].name.clone());
        let mut at = 0;
        while at < reached.len() {
            let name = reached[at].clone();
            at += 1;
            let mut next: Vec<String> = Vec::new();
            if let Some(state) = self.states.iter().find(|it| it.name == name) {
                next.extend(state.routes.iter().flat_map(|(_, it)| it).map(|it| it.to.clone()));
                if matches!(
                    state.what,
                    What::Agent | What::Review | What::Check | What::Do | What::EachCall | What::EachChild
                ) {
                    next.push("failed".into());
                }
                let judged: Vec<&String> = state
                    .needs
                    .iter()
                    .chain(state.head.iter().filter(|it| it.starts_with("settle:")))
                    .collect();
                for other in self.states.iter().filter(|it| it.gate.is_some()) {
                    let gate = other.gate.clone().unwrap_or_default();
                    let words =
                        |it: &&String| it.split(|it: char| !it.is_alphanumeric()).any(|it| it == gate);
                    if judged.iter().any(words) {
                        next.push(other.name.clone());
                    }
                }
                for line in &state.head {
                    if line.starts_with("each:") {
                        next.push("failed".into());
                    }
                }
            }
            // Whatever a condition speaks of stays.
            let state = self.states.iter().find(|it| it.name == name);
            let spoken: Vec<String> = state
                .into_iter()
                .flat_map(|it| it.routes.iter().flat_map(|(_, it)| it))
                .flat_map(|it| it.when.iter().map(|(name, _)| name.clone()).chain(it.forced.clone()))
                .chain(self.fact_lines.iter().cloned())
                .collect();
            let mentioned = |name: &str| {
                spoken.iter().any(|it| it.split(|it: char| !it.is_alphanumeric()).any(|it| it == name))
            };
            next.extend(
                self.states
                    .iter()
                    .filter(|it| mentioned(&it.name) || it.gate.as_deref().is_some_and(mentioned))
                    .map(|it| it.name.clone()),
            );
            next.retain(|it| self.states.iter().any(|state| state.name == *it));
            for name in next {
                if !reached.contains(&name) {
                    reached.push(name);
                }
            }
        }
        self.states.retain(|it| reached.contains(&it.name) || self.child && it.what == What::End);
        let names = self.names();
        for states in self.per.values_mut() {
            states.retain(|it| names.contains(it));
        }
        let spenders = |states: &[StateText], name: &str| {
            states
                .iter()
                .filter(|it| {
                    it.routes.iter().flat_map(|(_, it)| it).any(|it| it.spend.as_deref() == Some(name))
                })
                .count()
        };
        for state in &mut self.states {
            for arm in state.routes.iter_mut().flat_map(|(_, it)| it) {
                if let Some(budget) = arm.refill.clone() {
                    let used = self.budgets.iter().any(|(name, _)| *name == budget);
                    arm.refill = arm.refill.take().filter(|_| used);
                }
            }
        }
        let states = self.states.clone();
        let mut gone = Vec::new();
        self.budgets.retain_mut(|(name, text)| {
            let count = spenders(&states, name);
            if name == "retries" {
                return true;
            }
            if count == 0 {
                gone.push(name.clone());
                return false;
            }
            if let Some(states) = self.per.get(name) {
                let from = text.find("per: [").unwrap_or(0);
                let until = text[from..].find(']').map_or(from, |it| from + it + 1);
                let per = if states.is_empty() {
                    "per: []".to_owned()
                } else {
                    format!("per: [{}]", states.join(", "))
                };
                text.replace_range(from..until, &per);
            }
            *text = text.replace(", shared: true", "");
            if count > 1 {
                text.insert_str(text.len() - 1, ", shared: true");
            }
            true
        });
        for arm in self.states.iter_mut().flat_map(|it| it.routes.iter_mut().flat_map(|(_, it)| it)) {
            if arm.refill.as_ref().is_some_and(|it| gone.contains(it)) {
                arm.refill = None;
            }
        }
    }

    /// A budget an arm to this target can spend.
    fn budget_for(&self, dice: &mut Dice, target: &str) -> Option<String> {
        let fits: Vec<String> = self
            .counters()
            .into_iter()
            .filter(|it| self.per.get(it).is_none_or(|states| !states.iter().any(|it| it == target)))
            .collect();
        (!fits.is_empty()).then(|| dice.one(&fits).clone())
    }
}

impl StateText {
    fn route(&mut self, signal: &str, arms: Vec<ArmText>) {
        self.routes.retain(|(it, _)| it != signal);
        self.routes.push((signal.to_owned(), arms));
    }
}

impl Maker {
    fn pick(&mut self, of: &[&str]) -> String {
        (*self.dice.one(of)).to_owned()
    }

    fn docs(&mut self, percent: usize) -> Vec<String> {
        let mut found = self.dice.some(&strings(DOCS), percent);
        if found.is_empty() {
            found.push(self.pick(DOCS));
        }
        found
    }

    /// A list of documents, or a table of them.
    fn documents(&mut self, percent: usize) -> String {
        let one = self.docs(percent).join(", ");
        if self.dice.yes(15) {
            let other = if self.dice.yes(40) { String::new() } else { self.docs(percent).join(", ") };
            let (lean, full) = if self.dice.yes(50) { (one, other) } else { (other, one) };
            return format!("{{by: mode, lean: [{lean}], full: [{full}]}}");
        }
        format!("[{one}]")
    }

    fn whole(&mut self, mischief: usize) -> String {
        let mut child = if self.dice.yes(35) { Some(self.machine(true, None)) } else { None };
        let mut main = self.machine(false, child.as_ref());
        for _ in 0..mischief {
            match child.as_mut() {
                Some(child) if self.dice.yes(30) => {
                    let parent = main.clone();
                    self.mischief(child, Some(&parent));
                }
                _ => self.mischief(&mut main, None),
            }
        }
        let start = self.dice.yes(20).then(|| self.dice.one(&main.names()).clone());
        let phases = self.phases(&main);
        if self.dice.yes(90) {
            let roots: Vec<String> = start.iter().chain(phases.iter().map(|it| &it.1)).cloned().collect();
            main.sweep(&roots);
            if let Some(child) = &mut child {
                child.sweep(&[]);
            }
        }
        let mut out = String::from("workflow: made\nsubject: thing\n");
        let _ = writeln!(out, "verbs:\n  go: {{}}\n  redo: {{}}");
        if let Some(other) = start {
            let first = main.states[0].name.clone();
            let set = if self.dice.yes(40) { ", set: {mode: full}" } else { "" };
            let _ = writeln!(out, "start: {{verb go: {first}, verb redo: {{to: {other}{set}}}}}");
        }
        out.push_str(concat!(
            "documents:\n  code: {files: [\"src/**\"]}\n  spec: {file: spec.md, optional: true}\n",
            "  lib: {files: [\"src/lib/**\"]}\n  notes: {file: notes.md}\n  wide: {files: [\"**\", \"!src/**\"]}\n",
            "  both: {group: [code, spec]}\n  table: {file: list.yaml, as: yaml, shape: {items: [{id: text}]}}\n",
        ));
        self.roles(&mut out);
        let _ = writeln!(
            out,
            "questions:\n  sure: {{asks: \"Sure?\", answers: [yes, no], unattended: {}}}",
            self.nobody
        );
        let _ = writeln!(
            out,
            "  how: {{asks: \"How?\", answers: {{go: {{pace: [fast, slow]}}, stop: {{}}}}, unattended: {}}}",
            self.hurry
        );
        out.push_str("  once: {asks: \"Once?\", answers: [fine, bad], re-ask: 2}\nlists: [log]\n");
        if !phases.is_empty() {
            out.push_str("phases:\n");
        }
        for (name, at, settles, back) in &phases {
            let show = if name == "early" { "others" } else { at };
            let gates = main.gates();
            let settles: Vec<&str> =
                settles.iter().filter(|it| gates.contains(it)).map(String::as_str).collect();
            let back = back
                .as_ref()
                .filter(|it| main.names().contains(it))
                .map_or(String::new(), |it| format!(", back: {it}"));
            let _ = writeln!(
                out,
                "  {name}: {{at: {at}, show: [{show}], settles: [{}]{back}}}",
                settles.join(", ")
            );
        }
        machine_text(&mut out, &main, "");
        if let Some(child) = &child {
            out.push_str("children:\n  task:\n");
            machine_text(&mut out, child, "    ");
        }
        self.properties(&mut out, &main, child.as_ref());
        out
    }

    fn roles(&mut self, out: &mut String) {
        let coder = self.documents(45);
        let writer = self.documents(35);
        let _ = writeln!(out, "roles:\n  coder: {{agent: a, prompt: work, may-write: {coder}}}");
        let _ = writeln!(
            out,
            "  writer: {{agent: a, prompt: work, may-write: {writer}, verdicts: {{OK: {{ui: [yes, no]}}, PART: {{}}}}}}"
        );
        let asks = |yes: bool| if yes { ", asks: true" } else { "" };
        let _ = writeln!(out, "  scout: {{agent: a, prompt: work{}}}", asks(self.scout_asks));
        let rated = self.pick(&[
            "",
            ", at-least: {high: WEAK}",
            ", at-least: {low: WEAK, high: BAD}",
            ", at-least: {high: BAD}",
        ]);
        let _ = writeln!(
            out,
            "  judge: {{agent: a, prompt: work, verdicts: [GOOD, WEAK, BAD], findings: {{severity: [low, high]{rated}}}{}}}",
            asks(self.judge_asks)
        );
        let rated = self.pick(&["", ", at-least: {high: AWAY}"]);
        let fields = if self.critic_fields { "{kind: [small, large]}" } else { "{}" };
        let _ = writeln!(
            out,
            "  critic: {{agent: a, prompt: work, verdicts: {{FINE: {{}}, AWAY: {fields}}}, findings: {{severity: [low, high], topic: [plan, look]{rated}}}}}"
        );
    }

    fn phases(&mut self, main: &MachineText) -> Vec<(String, String, Vec<String>, Option<String>)> {
        if !self.dice.yes(30) {
            return Vec::new();
        }
        let names: Vec<&str> = ["early", "late"].into_iter().take(1 + self.dice.below(2)).collect();
        names
            .into_iter()
            .map(|name| {
                let at = self.dice.one(&main.names()).clone();
                let settles = self.dice.some(&main.gates(), 60);
                let back = if self.dice.yes(30) { Some(self.dice.one(&main.names()).clone()) } else { None };
                (name.to_owned(), at, settles, back)
            })
            .collect()
    }

    fn happened(&mut self, main: &MachineText, child: Option<&MachineText>) -> String {
        if let Some(child) = child.filter(|_| self.dice.yes(25)) {
            let state = self.dice.one(&child.states).clone();
            if !state.signals.is_empty() {
                return format!("\"task.{} = {}\"", state.name, self.dice.one(&state.signals));
            }
        }
        let gates = main.gates();
        if !gates.is_empty() && self.dice.yes(25) {
            return format!("\"{} = settled\"", self.dice.one(&gates));
        }
        let works: Vec<&StateText> = main.states.iter().filter(|it| !it.signals.is_empty()).collect();
        let state = (*self.dice.one(&works)).clone();
        if self.dice.yes(40) {
            state.name
        } else {
            format!("\"{} = {}\"", state.name, self.dice.one(&state.signals))
        }
    }

    fn properties(&mut self, out: &mut String, main: &MachineText, child: Option<&MachineText>) {
        let count = *self.dice.one(&[0, 0, 1, 2]);
        if count == 0 {
            return;
        }
        out.push_str("properties:\n");
        for _ in 0..count {
            let state = self.dice.one(&main.names()).clone();
            match self.dice.below(3) {
                0 => {
                    let before = self.happened(main, child);
                    let when = if self.dice.yes(30) {
                        let (name, values) = if self.dice.yes(60) {
                            self.dice.one(&main.vars).clone()
                        } else {
                            self.dice.one(&main.facts).clone()
                        };
                        format!(", when: {{{name}: {}}}", self.dice.one(&values))
                    } else {
                        String::new()
                    };
                    let _ = writeln!(out, "  - never: {{reach: {state}, before: [{before}]{when}}}");
                }
                1 => {
                    let times = 1 + self.dice.below(4);
                    let _ = writeln!(out, "  - at-most: {{visits: {state}, times: {times}}}");
                }
                _ => {
                    let comes = self.happened(main, child);
                    let _ = writeln!(out, "  - always: {{after: {state}, comes: {comes}}}");
                }
            }
        }
    }

    fn blank(&mut self, name: String, what: What) -> StateText {
        StateText {
            name,
            what,
            head: Vec::new(),
            gate: None,
            needs: None,
            fields: BTreeMap::new(),
            signals: Vec::new(),
            topics: Vec::new(),
            finds: false,
            routes: Vec::new(),
            asks_nobody: None,
        }
    }

    /// A state of a kind, without routes.
    fn state(&mut self, name: String, what: What, child: Option<&MachineText>) -> StateText {
        let mut state = self.blank(name, what);
        match what {
            What::Agent => match self.dice.below(3) {
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
            },
            What::Review => {
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
                        state
                            .fields
                            .insert("AWAY".into(), vec![("kind".into(), strings(&["small", "large"]))]);
                    }
                }
                if self.dice.yes(10) {
                    state.head.push("advice: [scout]".into());
                }
            }
            What::Check => {
                state.head.push("check: project.checks".into());
                state.signals = strings(&["pass", "fail"]);
            }
            What::Ask => {
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
            What::Do => {
                let mut actions = Vec::new();
                for _ in 0..1 + self.dice.below(2) {
                    actions.push(match self.dice.below(6) {
                        0 => format!("{{write: {}, from: \"text\"}}", self.pick(DOCS)),
                        1 => "{run: \"make\", writes: [notes]}".to_owned(),
                        2 => format!("{{restore: [{}]}}", self.pick(DOCS)),
                        3 => format!(
                            "{{commit: \"all\", what: [{}]}}",
                            self.pick(&["code", "spec", "both", "notes"])
                        ),
                        _ => "{say: \"so far\"}".to_owned(),
                    });
                }
                if self.dice.yes(4) {
                    actions.clear();
                }
                state.head.push(format!("do: [{}]", actions.join(", ")));
                state.signals = strings(&["done"]);
            }
            What::Choose => state.signals = strings(&["*"]),
            What::Settle => state.signals = strings(&["*"]),
            What::EachCall => {
                let role = self.pick(&["coder", "scout"]);
                let anew = if self.dice.yes(30) { ", anew: true" } else { "" };
                let side = if role == "scout" && self.dice.yes(30) { ", at-once: 2" } else { "" };
                state.head.push(format!(
                    "each: {{item: part, in: docs.table.items, run: {{agent: {role}}}{anew}{side}}}"
                ));
                state.signals = strings(&["done", "empty"]);
            }
            What::EachChild => {
                let order = if self.dice.yes(15) { ", order: depends" } else { "" };
                let anew = if self.dice.yes(30) { ", anew: true" } else { "" };
                let with = child.and_then(|it| it.with.clone()).filter(|_| self.dice.yes(50));
                let with = with.map_or(String::new(), |(name, value)| format!(", with: {{{name}: {value}}}"));
                state.head.push(format!(
                    "each: {{item: part, in: docs.table.items, run: task{order}{anew}{with}}}"
                ));
                state.signals = child
                    .map(|it| {
                        it.states.iter().filter(|it| it.what == What::End).map(|it| it.name.clone()).collect()
                    })
                    .unwrap_or_default();
                state.signals.push("empty".into());
                if !order.is_empty() {
                    state.signals.push("unordered".into());
                }
            }
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

    fn judges(&mut self, state: &mut StateText, machine: &MachineText) {
        let documents = self.documents(35);
        let documents = if self.dice.yes(15) { "[both]".to_owned() } else { documents };
        state.head.push(format!("judges: {documents}"));
        let shared = machine.gates();
        let name = if !shared.is_empty() && self.dice.yes(8) {
            let name = self.dice.one(&shared).clone();
            state.head.push(format!("gate: {name}"));
            name
        } else {
            state.name.clone()
        };
        state.gate = Some(name);
        if self.dice.yes(12) {
            let passes = self.dice.some(&state.signals, 50);
            if !passes.is_empty() {
                state.head.push(format!(
                    "passes: [{}]",
                    passes.iter().map(|it| format!("\"{it}\"")).collect::<Vec<_>>().join(", ")
                ));
            }
        }
        if self.dice.yes(22) && !machine.facts.is_empty() {
            let (name, values) = if self.dice.yes(65) {
                self.dice.one(&machine.facts).clone()
            } else {
                self.dice.one(&machine.vars).clone()
            };
            let value = self.dice.one(&values).clone();
            state.head.push(format!("only-when: {{{name}: {value}}}"));
        }
    }

    fn machine(&mut self, child: bool, inner: Option<&MachineText>) -> MachineText {
        let mut machine = MachineText { child, ..MachineText::default() };
        let letter = if child { "c" } else { "s" };
        let input = if !child && self.dice.yes(35) { ", input: true" } else { "" };
        if child {
            machine.vars.push(("size".into(), strings(&["small", "large"])));
            machine.var_lines.push("size: {in: [small, large], start: small}".into());
            if self.dice.yes(60) {
                machine.with = Some(("size".into(), "large".into()));
            }
            machine.facts.push(("ready".into(), strings(&["yes", "no"])));
            machine.fact_lines.push("ready: {in: [yes, no], is: \"docs.spec.exists ? 'yes' : 'no'\"}".into());
            machine.facts.push(("sized".into(), strings(&["yes", "no"])));
            machine.fact_lines.push("sized: {in: [yes, no], is: \"size == 'small' ? 'yes' : 'no'\"}".into());
        } else {
            machine.vars.push(("mode".into(), strings(&["lean", "full"])));
            let start = self.pick(&["lean", "full"]);
            machine.var_lines.push(format!("mode: {{in: [lean, full], start: {start}{input}}}"));
            machine.vars.push(("step".into(), strings(&["one", "two", "three"])));
            machine.var_lines.push("step: {in: [one, two, three], start: one}".into());
            let facts = [
                ("speced", "docs.spec.exists"),
                ("dirty", "git.dirty"),
                ("lean", "mode == 'lean'"),
                ("logged", "lists.log.size() > 0"),
                ("found", "findings.open.size() > 0"),
            ];
            for (name, is) in facts {
                machine.facts.push((name.into(), strings(&["yes", "no"])));
                machine.fact_lines.push(format!("{name}: {{in: [yes, no], is: \"{is} ? 'yes' : 'no'\"}}"));
            }
            machine.facts.push(("rust".into(), strings(&["yes", "no"])));
            machine.fact_lines.push(
                "rust: {in: [yes, no], is: \"project.language == 'rust' ? 'yes' : 'no'\", once: true}".into(),
            );
        }
        self.outline(&mut machine, letter, inner);
        if !child {
            let works = machine.states.iter().find(|it| it.what == What::Check);
            if let Some(check) = works {
                let name = check.name.clone();
                machine.facts.push(("passed".into(), strings(&["yes", "no"])));
                machine.fact_lines.push(format!(
                    "passed: {{in: [yes, no], is: \"last.{name}.signal == 'pass' ? 'yes' : 'no'\"}}"
                ));
            }
        }
        self.budgets(&mut machine);
        self.routes(&mut machine, inner);
        machine
    }

    /// Which states there are, and what they judge and need.
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
            let kind =
                if at == 0 && matches!(kind, What::Settle | What::Choose) { What::Agent } else { kind };
            kinds.push(kind);
        }
        if inner.is_some() && !kinds.contains(&What::EachChild) {
            let at = self.dice.below(kinds.len());
            kinds[at] = What::EachChild;
        }
        for (at, kind) in kinds.into_iter().enumerate() {
            let mut state = self.state(format!("{letter}{at}"), kind, inner);
            let gates = matches!(kind, What::Review) && self.dice.yes(85)
                || matches!(kind, What::Check) && self.dice.yes(70)
                || matches!(kind, What::Ask) && self.dice.yes(25)
                || matches!(kind, What::EachCall | What::EachChild) && self.dice.yes(25);
            if gates {
                self.judges(&mut state, machine);
            }
            let before = machine.gates();
            let needy = if matches!(kind, What::Do) { 45 } else { 8 };
            if !before.is_empty() && self.dice.yes(needy) {
                state.needs = self.needs(&before);
            }
            machine.states.push(state);
        }
        let ends: &[(&str, &str)] = match self.dice.below(3) {
            0 => &[("done", "success"), ("failed", "failure")],
            1 => &[("done", "success"), ("fine", "success"), ("failed", "failure")],
            _ => &[("done", "success"), ("failed", "failure"), ("stopped", "stopped")],
        };
        for (name, outcome) in ends {
            let mut state = self.state((*name).to_owned(), What::End, None);
            state.head.push(format!("end: {outcome}"));
            let gates = machine.gates();
            if *name == "done" && !gates.is_empty() && self.dice.yes(12) {
                state.needs = self.needs(&gates);
            }
            machine.states.push(state);
        }
    }

    fn needs(&mut self, gates: &[String]) -> Option<String> {
        let mut some = self.dice.some(gates, 45);
        if some.is_empty() {
            some.push(self.dice.one(gates).clone());
        }
        if self.dice.yes(6) {
            return Some(format!("{{by: mode, lean: [], full: [{}]}}", some.join(", ")));
        }
        Some(format!("[{}]", some.join(", ")))
    }

    fn budgets(&mut self, machine: &mut MachineText) {
        let working: Vec<String> =
            machine.states.iter().filter(|it| it.what != What::End).map(|it| it.name.clone()).collect();
        for at in 0..1 + self.dice.below(3) {
            let name = format!("b{at}");
            let shared = if self.dice.yes(50) { ", shared: true" } else { "" };
            let limit = 1 + self.dice.below(3);
            let by = machine.vars[0].clone();
            let text = match self.dice.below(10) {
                0 => {
                    let rows: Vec<String> =
                        by.1.iter().map(|it| format!("{it}: {}", self.dice.below(3))).collect();
                    format!("{{limit: {{by: {}, {}}}{shared}}}", by.0, rows.join(", "))
                }
                1 | 2 => {
                    let states = self.dice.some(&working, 25);
                    if states.is_empty() {
                        format!("{{limit: {limit}{shared}}}")
                    } else {
                        machine.per.insert(name.clone(), states.clone());
                        format!("{{limit: {limit}, per: [{}]{shared}}}", states.join(", "))
                    }
                }
                _ => format!("{{limit: {limit}{shared}}}"),
            };
            machine.budgets.push((name, text));
        }
        machine.budgets.push(("retries".into(), "{limit: 2, per: visit}".into()));
    }

    /// A condition an arm of a state could have.
    fn condition(
        &mut self,
        machine: &MachineText,
        outer: Option<&MachineText>,
        state: Option<(&StateText, &str)>,
    ) -> Option<(String, Vec<String>)> {
        let mut pool: Vec<(String, Vec<String>)> = machine.vars.clone();
        pool.extend(machine.vars.clone());
        pool.extend(machine.facts.clone());
        if let Some(outer) = outer {
            pool.extend(outer.vars.clone());
            pool.extend(outer.facts.clone().into_iter().take(2));
            for other in outer.states.iter().filter(|it| !it.signals.is_empty()).take(2) {
                pool.push((
                    format!("last.{}", other.name),
                    other.signals.iter().cloned().chain(["none".to_owned()]).collect(),
                ));
            }
            if let Some(gate) = outer.gates().first() {
                pool.push((format!("gate.{gate}"), strings(&["open", "fresh", "stale", "forced"])));
            }
        }
        for other in machine.states.iter().filter(|it| !it.signals.is_empty()) {
            pool.push((
                format!("last.{}", other.name),
                other.signals.iter().cloned().chain(["none".to_owned()]).collect(),
            ));
            if self.dice.yes(30) {
                pool.push((format!("ever.{}", other.name), strings(&["yes", "no"])));
            }
            for (field, values) in other.fields.values().flatten() {
                pool.push((
                    format!("last.{}.{field}", other.name),
                    values.iter().cloned().chain(["none".to_owned()]).collect(),
                ));
            }
        }
        for gate in machine.gates() {
            pool.push((format!("gate.{gate}"), strings(&["open", "fresh", "stale", "forced"])));
        }
        pool.push(("changed.code".into(), strings(&["yes", "no"])));
        if let Some((state, signal)) = state {
            let mut own: Vec<(String, Vec<String>)> = Vec::new();
            if state.finds {
                own.push(("same-again".into(), strings(&["yes", "no"])));
            }
            if !state.topics.is_empty() {
                own.push(("topic".into(), state.topics.clone()));
            }
            own.extend(state.fields.get(signal).into_iter().flatten().cloned());
            if !own.is_empty() && self.dice.yes(60) {
                pool = own;
            }
        }
        let (name, values) = self.dice.one(&pool).clone();
        let mut some = self.dice.some(&values, 40);
        if some.is_empty() {
            some.push(self.dice.one(&values).clone());
        }
        if some.len() == values.len() {
            some.truncate(1);
        }
        Some((name, some))
    }

    fn routes(&mut self, machine: &mut MachineText, inner: Option<&MachineText>) {
        let _ = inner;
        let names = machine.names();
        let working = machine.states.iter().filter(|it| it.what != What::End).count();
        let bad = self.pick(&["failed", "failed", "failed", "done"]);
        let whole = machine.clone();
        for at in 0..working {
            let next = if at + 1 < working { names[at + 1].clone() } else { "done".to_owned() };
            let mut state = machine.states[at].clone();
            let signals = state.signals.clone();
            for (rank, signal) in signals.iter().enumerate() {
                let arms = self.arms(&whole, &state, at, working, signal, rank, &next, &bad);
                if !arms.is_empty() {
                    state.route(signal, arms);
                }
            }
            if state.what == What::Settle {
                let mut single: Vec<String> = whole.gates();
                single.retain(|gate| {
                    whole.states.iter().filter(|it| it.gate.as_ref() == Some(gate)).count() == 1
                });
                let mut gates = self.dice.some(&single, 70);
                gates.truncate(3);
                if gates.is_empty() {
                    state.what = What::Choose;
                } else {
                    state.head.push(format!("settle: [{}]", gates.join(", ")));
                    state.routes = vec![("*".into(), vec![to(next.clone())])];
                }
            }
            if self.dice.yes(10) && matches!(state.what, What::Agent | What::Review | What::EachCall) {
                let target = self.dice.one(&names).clone();
                let spend = whole.budget_for(&mut self.dice, &target);
                state.route("timeout", vec![ArmText { spend, ..to(target) }, to("failed")]);
            }
            if state.needs.is_some() && self.dice.yes(25) {
                let target = self.dice.one(&names).clone();
                state.route("stale", vec![to(target)]);
            }
            machine.states[at] = state;
        }
        let retry = ArmText { spend: Some("retries".into()), ..to("again") };
        machine.defaults.push(("transient".into(), vec![retry, to("failed")]));
        machine.defaults.push(("failures".into(), vec![to("failed")]));
        if self.dice.yes(6) {
            machine.defaults.remove(self.dice.below(2));
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one call site")]
    fn arms(
        &mut self,
        machine: &MachineText,
        state: &StateText,
        at: usize,
        working: usize,
        signal: &str,
        rank: usize,
        next: &str,
        bad: &str,
    ) -> Vec<ArmText> {
        let names = machine.names();
        let mut arms: Vec<ArmText> = Vec::new();
        let fancy = if self.tidy { 12 } else { 30 };
        if state.what == What::Choose || self.dice.yes(fancy) {
            for _ in 0..1 + self.dice.below(2) {
                let when = self.condition(machine, None, Some((state, signal)));
                let target = if self.dice.yes(70) && at + 1 < working {
                    names[at + 1 + self.dice.below(working - at - 1)].clone()
                } else {
                    bad.to_owned()
                };
                arms.push(ArmText { when: when.into_iter().collect(), ..to(target) });
            }
        }
        let person = matches!(state.what, What::Rest)
            || state.what == What::Ask && state.asks_nobody.as_deref() != Some(signal);
        let backward = rank > 0 && self.dice.yes(55)
            || self.dice.yes(if self.tidy { 4 } else { 15 })
            || state.what == What::Rest && self.dice.yes(50);
        if backward && state.what != What::Choose {
            // Sent back: usually to whoever worked before, and paid for.
            let target = names[self.dice.below(at + 1)].clone();
            let careless = if self.tidy { 4 } else { 15 };
            let spend = if person && self.dice.yes(60) || self.dice.yes(careless) {
                None
            } else {
                machine.budget_for(&mut self.dice, &target)
            };
            let mut arm = ArmText { spend: spend.clone(), ..to(target) };
            if self.dice.yes(8) {
                let (name, values) = self.dice.one(&machine.vars).clone();
                arm.set = Some((name, self.dice.one(&values).clone()));
            }
            if person && self.dice.yes(25) {
                arm.refill = self.dice.one(&machine.counters()).clone().into();
            }
            arms.push(arm);
            if spend.is_none() {
                return arms;
            }
        }
        if self.dice.yes(2) && !arms.is_empty() {
            return arms;
        }
        let target = match self.dice.below(100) {
            _ if rank == 0 && self.dice.yes(85) => next.to_owned(),
            0..55 if rank > 0 => bad.to_owned(),
            0..75 => next.to_owned(),
            75..80 if !matches!(state.what, What::Choose) => "back".to_owned(),
            _ => "stopped".to_owned(),
        };
        let target = if names.contains(&target) || target == "back" { target } else { bad.to_owned() };
        let mut last = to(target);
        if self.dice.yes(6) {
            let (name, values) = self.dice.one(&machine.vars).clone();
            last.set = Some((name, self.dice.one(&values).clone()));
        }
        if self.dice.yes(5) {
            last.record = true;
        }
        if let Some(gate) = state.gate.as_ref().filter(|_| rank > 0 && self.dice.yes(15)) {
            last.forced = Some(gate.clone());
            if self.dice.yes(50) {
                next.clone_into(&mut last.to);
            }
        }
        arms.push(last);
        arms
    }

    /// Does something to a machine that its author did not mean.
    fn mischief(&mut self, machine: &mut MachineText, outer: Option<&MachineText>) {
        let names = machine.names();
        let whole = machine.clone();
        let candidates: Vec<usize> =
            (0..machine.states.len()).filter(|it| !machine.states[*it].routes.is_empty()).collect();
        if candidates.is_empty() {
            return;
        }
        let at = *self.dice.one(&candidates);
        let mut state = machine.states[at].clone();
        let route = self.dice.below(state.routes.len());
        let signal = state.routes[route].0.clone();
        let settle = state.what == What::Settle;
        let arm = self.dice.below(state.routes[route].1.len());
        match self.dice.below(9) {
            0 | 1 => {
                let target = self.dice.one(&names).clone();
                let fits = |budget: &String| {
                    whole.per.get(budget).is_none_or(|it| !it.contains(&target)) && budget != "retries"
                };
                let arm = &mut state.routes[route].1[arm];
                if arm.spend.as_ref().is_none_or(fits) {
                    arm.to = target;
                }
            }
            2 => {
                let arm = &mut state.routes[route].1[arm];
                if arm.to != "again" {
                    arm.spend = None;
                }
            }
            3 => {
                if state.routes[route].1.len() > 1 {
                    state.routes[route].1.remove(arm);
                } else if !settle && state.what != What::Choose && !signal.starts_with("verb") {
                    state.routes.remove(route);
                }
            }
            4 | 5 if !settle => {
                let when = self.condition(&whole, outer, Some((&state, &signal)));
                let target = self.dice.one(&names).clone();
                let spend = if self.dice.yes(50) { whole.budget_for(&mut self.dice, &target) } else { None };
                state.routes[route]
                    .1
                    .insert(0, ArmText { when: when.into_iter().collect(), spend, ..to(target) });
            }
            6 => {
                let gates = whole.gates();
                if !gates.is_empty() {
                    state.needs = self.needs(&gates);
                }
            }
            7 => {
                let (name, values) = self.dice.one(&whole.vars).clone();
                state.routes[route].1[arm].set = Some((name, self.dice.one(&values).clone()));
            }
            _ => {
                let gates = whole.gates();
                if !gates.is_empty() {
                    state.routes[route].1[arm].forced = Some(self.dice.one(&gates).clone());
                }
            }
        }
        machine.states[at] = state;
    }
}

fn arm_text(arm: &ArmText) -> String {
    let mut parts = vec![format!("to: {}", arm.to)];
    if !arm.when.is_empty() {
        let when: Vec<String> = arm
            .when
            .iter()
            .map(|(name, values)| {
                format!(
                    "{name}: [{}]",
                    values.iter().map(|it| format!("\"{it}\"")).collect::<Vec<_>>().join(", ")
                )
            })
            .collect();
        parts.push(format!("when: {{{}}}", when.join(", ")));
    }
    parts.extend(arm.spend.as_ref().map(|it| format!("spend: {it}")));
    parts.extend(arm.refill.as_ref().map(|it| format!("refill: {it}")));
    parts.extend(arm.set.as_ref().map(|(name, value)| format!("set: {{{name}: {value}}}")));
    if arm.record {
        parts.push("record: log".into());
    }
    parts.extend(arm.forced.as_ref().map(|it| format!("forced: {it}")));
    if parts.len() == 1 { arm.to.clone() } else { format!("{{{}}}", parts.join(", ")) }
}

fn arms_text(arms: &[ArmText]) -> String {
    match arms {
        [one] => arm_text(one),
        many => format!("[{}]", many.iter().map(arm_text).collect::<Vec<_>>().join(", ")),
    }
}

fn machine_text(out: &mut String, machine: &MachineText, indent: &str) {
    let _ = writeln!(out, "{indent}vars:");
    for line in &machine.var_lines {
        let _ = writeln!(out, "{indent}  {line}");
    }
    let _ = writeln!(out, "{indent}facts:");
    for line in &machine.fact_lines {
        let _ = writeln!(out, "{indent}  {line}");
    }
    let _ = writeln!(out, "{indent}budgets:");
    for (name, text) in &machine.budgets {
        let _ = writeln!(out, "{indent}  {name}: {text}");
    }
    let _ = writeln!(out, "{indent}defaults:");
    for (signal, arms) in &machine.defaults {
        let _ = writeln!(out, "{indent}  {signal}: {}", arms_text(arms));
    }
    let _ = writeln!(out, "{indent}states:");
    for state in &machine.states {
        let _ = writeln!(out, "{indent}  {}:", state.name);
        for line in &state.head {
            let _ = writeln!(out, "{indent}    {line}");
        }
        if let Some(needs) = &state.needs {
            let _ = writeln!(out, "{indent}    needs: {needs}");
        }
        match state.what {
            What::Choose => {
                let _ = writeln!(out, "{indent}    choose:");
                for arm in state.routes.iter().flat_map(|(_, it)| it) {
                    let text = arm_text(arm);
                    let text = if text.starts_with('{') { text } else { format!("{{to: {text}}}") };
                    let _ = writeln!(out, "{indent}      - {text}");
                }
            }
            What::Settle => {
                for (_, arms) in &state.routes {
                    let _ = writeln!(out, "{indent}    then: {}", arms_text(arms));
                }
            }
            What::End => {}
            _ if state.routes.is_empty() => {}
            _ => {
                let _ = writeln!(out, "{indent}    on:");
                for (signal, arms) in &state.routes {
                    let _ = writeln!(out, "{indent}      {signal}: {}", arms_text(arms));
                }
            }
        }
    }
}
