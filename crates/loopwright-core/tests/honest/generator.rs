//! Workflow texts from a seed.
//!
//! Half of it is craft: stages of work, judges that send it back, a commit that needs them. The other half is
//! mischief: arms led elsewhere, budgets forgotten, conditions put in front, gates needed where nobody judged.

use std::fmt::Write as _;

use crate::author::{listened, mended};
use crate::dice::Dice;
use crate::texts::{MachineText, StateText, What};

/// The documents roles write and gates judge.
pub(crate) const DOCUMENTS: &[&str] = &["code", "spec", "lib", "notes"];

/// Makes the parts of one workflow.
#[expect(clippy::struct_excessive_bools, reason = "what it has made so far, each thing by itself")]
pub(crate) struct Maker {
    pub(crate) dice: Dice,
    /// Whether the author is careful.
    pub(crate) tidy: bool,
    pub(crate) scout_asks: bool,
    pub(crate) judge_asks: bool,
    pub(crate) critic_fields: bool,
    /// What `sure` and `how` are answered with when nobody is there.
    pub(crate) nobody: String,
    pub(crate) hurry: String,
    /// Whether a cap is held, so that loops say how many items they have at most.
    pub(crate) capped: bool,
    priced: bool,
}

/// The text of a workflow: as it comes, after its author listened to `check` with half an ear, or mended what it said.
pub(crate) fn workflow(seed: u64) -> String {
    let mut dice = Dice(seed ^ 0xA5A5);
    let text = raw(seed);
    match dice.below(100) {
        0..15 => text,
        15..60 => listened(text, &mut dice),
        _ => mended(text, &mut dice),
    }
}

fn raw(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ 0x9E37);
    let mischief = *dice.one(&[0, 0, 0, 1, 1, 2, 3, 5]);
    let mut maker = Maker {
        tidy: dice.yes(75),
        scout_asks: dice.yes(30),
        judge_asks: dice.yes(12),
        critic_fields: dice.yes(50),
        nobody: (*dice.one(&["wait", "deferred", "yes"])).to_owned(),
        hurry: (*dice.one(&["wait", "deferred", "go"])).to_owned(),
        capped: dice.yes(25),
        priced: dice.yes(40),
        dice,
    };
    maker.whole(mischief)
}

pub(crate) fn strings(of: &[&str]) -> Vec<String> {
    of.iter().map(|it| (*it).to_owned()).collect()
}

/// A phase: its name, where it lands, what it vouches for, where `back` leads.
type PhaseText = (String, String, Vec<String>, Option<String>);

impl Maker {
    pub(crate) fn pick(&mut self, of: &[&str]) -> String {
        (*self.dice.one(of)).to_owned()
    }

    fn some_documents(&mut self, percent: usize) -> Vec<String> {
        let mut found = self.dice.some(&strings(DOCUMENTS), percent);
        if found.is_empty() {
            found.push(self.pick(DOCUMENTS));
        }
        found
    }

    /// A list of documents, or a table of them.
    pub(crate) fn documents(&mut self, percent: usize) -> String {
        let one = self.some_documents(percent).join(", ");
        if self.dice.yes(15) {
            let other =
                if self.dice.yes(40) { String::new() } else { self.some_documents(percent).join(", ") };
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
        let start = if self.dice.yes(20) { Some(self.dice.one(&main.names()).clone()) } else { None };
        let phases = self.phases(&main);
        if self.dice.yes(90) {
            let roots: Vec<String> = start.iter().chain(phases.iter().map(|it| &it.1)).cloned().collect();
            main.sweep(&roots);
            if let Some(child) = &mut child {
                child.sweep(&[]);
            }
        }
        let mut out = String::from("workflow: made\nsubject: thing\nverbs:\n  go: {}\n  redo: {}\n");
        if let Some(other) = start {
            let first = main.states[0].name.clone();
            let set = if self.dice.yes(40) { ", set: {mode: full}" } else { "" };
            let _ = writeln!(out, "start: {{verb go: {first}, verb redo: {{to: {other}{set}}}}}");
        }
        if self.capped {
            self.caps(&mut out);
        }
        out.push_str(concat!(
            "documents:\n  code: {files: [\"src/**\"]}\n  spec: {file: spec.md, optional: true}\n",
            "  lib: {files: [\"src/lib/**\"]}\n  notes: {file: notes.md}\n",
            "  wide: {files: [\"**\", \"!src/**\"]}\n  both: {group: [code, spec]}\n",
            "  table: {file: list.yaml, as: yaml, shape: {mark: text, items: [{id: text, note: text, depends: [text]}]}}\n",
        ));
        self.roles(&mut out);
        self.questions(&mut out);
        out.push_str("lists: [log]\n");
        write_phases(&mut out, &main, &phases);
        main.write(&mut out, "");
        if let Some(child) = &child {
            out.push_str("children:\n  task:\n");
            child.write(&mut out, "    ");
        }
        self.properties(&mut out, &main, child.as_ref());
        out
    }

    fn caps(&mut self, out: &mut String) {
        let calls = 4 + self.dice.below(60);
        let mut caps = vec![format!("calls: {calls}")];
        if self.dice.yes(30) {
            caps.push(format!("calls-of: {{coder: {}}}", 1 + self.dice.below(20)));
        }
        if self.dice.yes(30) {
            caps.push(format!("time: {}h", 1 + self.dice.below(40)));
        }
        if self.priced && self.dice.yes(50) {
            caps.push(format!("usd: {}", 5 + self.dice.below(90)));
        }
        let _ = writeln!(out, "caps: {{{}}}", caps.join(", "));
    }

    fn roles(&mut self, out: &mut String) {
        let coder = self.documents(45);
        let writer = self.documents(35);
        let asks = |yes: bool| if yes { ", asks: true" } else { "" };
        let scout = asks(self.scout_asks);
        let judge = asks(self.judge_asks);
        let judge_rates = self.pick(&[
            "",
            ", at-least: {high: WEAK}",
            ", at-least: {low: WEAK, high: BAD}",
            ", at-least: {high: BAD}",
        ]);
        let critic_rates = self.pick(&["", ", at-least: {high: AWAY}"]);
        let fields = if self.critic_fields { "{kind: [small, large]}" } else { "{}" };
        let bodies = [
            ("coder", format!("may-write: {coder}")),
            ("writer", format!("may-write: {writer}, verdicts: {{OK: {{ui: [yes, no]}}, PART: {{}}}}")),
            ("scout", format!("idle: 5m{scout}")),
            (
                "judge",
                format!(
                    "verdicts: [GOOD, WEAK, BAD], findings: {{severity: [low, high]{judge_rates}}}{judge}"
                ),
            ),
            (
                "critic",
                format!(
                    "verdicts: {{FINE: {{}}, AWAY: {fields}}}, findings: {{severity: [low, high], topic: [plan, look]{critic_rates}}}"
                ),
            ),
        ];
        out.push_str("roles:\n");
        for (at, (name, body)) in bodies.into_iter().enumerate() {
            let price = if self.priced {
                format!(", costs: {} usd, tokens: {}k", 1 + at % 3, 10 + at)
            } else {
                String::new()
            };
            let time = self.pick(&["", "", ", timeout: 10m", ", timeout: 1h"]);
            let _ = writeln!(out, "  {name}: {{agent: a, prompt: work, {body}{price}{time}}}");
        }
    }

    fn questions(&mut self, out: &mut String) {
        let (nobody, hurry) = (&self.nobody, &self.hurry);
        let _ = writeln!(
            out,
            "questions:\n  sure: {{asks: \"Sure?\", answers: [yes, no], unattended: {nobody}}}"
        );
        let _ = writeln!(
            out,
            "  how: {{asks: \"How?\", answers: {{go: {{pace: [fast, slow]}}, stop: {{}}}}, unattended: {hurry}}}"
        );
        out.push_str("  once: {asks: \"Once?\", answers: [fine, bad], re-ask: 2}\n");
    }

    fn phases(&mut self, main: &MachineText) -> Vec<PhaseText> {
        if !self.dice.yes(30) {
            return Vec::new();
        }
        let names: Vec<&str> = ["early", "late"].into_iter().take(1 + self.dice.below(2)).collect();
        let mut phases = Vec::new();
        for name in names {
            let at = self.dice.one(&main.names()).clone();
            let settles = self.dice.some(&main.gates(), 60);
            let back = if self.dice.yes(30) { Some(self.dice.one(&main.names()).clone()) } else { None };
            phases.push((name.to_owned(), at, settles, back));
        }
        phases
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
        let works: Vec<&StateText> = main.states.iter().filter(|it| it.what != What::End).collect();
        let state = (*self.dice.one(&works)).clone();
        if self.dice.yes(40) {
            state.name
        } else {
            format!("\"{} = {}\"", state.name, self.dice.one(&state.signals))
        }
    }

    fn properties(&mut self, out: &mut String, main: &MachineText, child: Option<&MachineText>) {
        let count = *self.dice.one(&[0, 0, 1, 2]);
        if count > 0 {
            out.push_str("properties:\n");
        }
        for _ in 0..count {
            let state = self.dice.one(&main.names()).clone();
            match self.dice.below(3) {
                0 => {
                    let before = self.happened(main, child);
                    let mut when = String::new();
                    if self.dice.yes(30) {
                        let from = if self.dice.yes(60) { &main.vars } else { &main.facts };
                        let (name, values) = self.dice.one(from).clone();
                        when = format!(", when: {{{name}: {}}}", self.dice.one(&values));
                    }
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
}

fn write_phases(out: &mut String, main: &MachineText, phases: &[PhaseText]) {
    if !phases.is_empty() {
        out.push_str("phases:\n");
    }
    let (gates, names) = (main.gates(), main.names());
    for (name, at, settles, back) in phases {
        let show = if name == "early" { "others" } else { at };
        let settles: Vec<&str> = settles.iter().filter(|it| gates.contains(it)).map(String::as_str).collect();
        let back =
            back.as_ref().filter(|it| names.contains(it)).map_or(String::new(), |it| format!(", back: {it}"));
        let _ =
            writeln!(out, "  {name}: {{at: {at}, show: [{show}], settles: [{}]{back}}}", settles.join(", "));
    }
}
