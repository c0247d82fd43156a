//! Judges beside each other: whoever comes back first, a run goes the way it would go if they had worked one by one.
#![expect(clippy::expect_used, clippy::panic, reason = "these are tests")]

use std::collections::BTreeMap;

use indexmap::IndexMap;
use loopwright_core::check::check;
use loopwright_core::definition::Workflow;
use loopwright_core::language::{Folder, load};
use loopwright_core::machine::{
    Cost, Effect, Event, Evidence, Observed, Outcome, Part, Report, Run, Started, Want, advance, begin, due,
    early_findings, in_turn, is_owed, looks_for,
};
use loopwright_core::name::Name;
use serde_json::Value;

/// Four judges of which one writes tests; each has a repair of its own.
const WORKFLOW: &str = r#"
workflow: beside
subject: thing
vars: {depth: {in: [audited, plain], start: audited, input: true}}
budgets: {reviews: 2, audits: 2, trials: 2, styles: 2, hours: {limit: 9h, shared: true}}
documents:
  code: {files: ["src/**"]}
  tests: {files: ["tests/**"]}
roles:
  coder: {agent: coder, prompt: "Write.", may-write: [code, tests], given: [maybe findings.open]}
  judge:
    agent: judge
    prompt: "Judge."
    verdicts: [OK, BLOCKED]
    findings: {severity: [minor, major], at-least: {major: BLOCKED}}
  tester: {agent: judge, prompt: "Test.", may-write: [tests], verdicts: [OK, BLOCKED]}
defaults: {over-budget: failed, failures: failed}
states:
  write: {agent: coder, then: owed}
  owed: {settle: [review, trial, audit, style], ahead: 3, then: done}
  review: {review: judge, judges: [code, tests], on: {OK: owed, BLOCKED: {to: fix-review, spend: reviews, else: failed}}}
  fix-review: {agent: coder, then: review}
  trial: {review: tester, judges: code, on: {OK: owed, BLOCKED: {to: fix-trial, spend: trials, else: failed}}}
  fix-trial: {agent: coder, then: trial}
  audit:
    review: judge
    judges: code
    only-when: {depth: audited}
    on: {OK: owed, BLOCKED: {to: fix-audit, spend: audits, else: failed}}
  fix-audit: {agent: coder, then: audit}
  style: {review: judge, judges: code, on: {OK: owed, BLOCKED: {to: fix-style, spend: styles, else: failed}}}
  fix-style: {agent: coder, then: style}
  done: {needs: [review, trial, audit, style], end: success}
  failed: {end: failure}
"#;

fn loaded(text: &str) -> Workflow {
    let files = BTreeMap::from([("workflow.yaml".to_owned(), text.as_bytes().to_vec())]);
    let loaded = load(&Folder { name: "beside".into(), files });
    // Where a case takes a variable away, nothing uses it.
    assert!(loaded.problems.iter().all(|it| it.code == "unused"), "{:?}", loaded.problems);
    loaded.workflow.expect("a workflow")
}

fn problems(text: &str) -> Vec<(&'static str, String)> {
    let files = BTreeMap::from([("workflow.yaml".to_owned(), text.as_bytes().to_vec())]);
    let loaded = load(&Folder { name: "beside".into(), files });
    loaded.problems.iter().map(|it| (it.code, it.to_string())).collect()
}

fn begun(workflow: &Workflow) -> Run {
    let started = Started { definition: workflow.digest.clone(), subject: "it".into(), ..Started::default() };
    begin(workflow, &started).expect("a run")
}

/// A world in which every judge says of a state of the files what it says of it, whenever it is asked.
struct World<'w> {
    workflow: &'w Workflow,
    run: Run,
    /// Every event there was.
    events: Vec<Event>,
    /// How often code and tests were written.
    code: u32,
    tests: u32,
    /// What each judge blocks: of which versions of the code.
    blocks: &'w [(&'w str, &'w [u32])],
    /// The one who tests adds tests in this visit.
    adds: Option<u32>,
    walk: Vec<String>,
    /// Calls of judges, with what they were about.
    asked: Vec<(String, String)>,
}

/// Puts calls in the order in which they come back.
type Order<'o> = dyn Fn(&mut Vec<(Effect, Name)>) + 'o;

impl<'w> World<'w> {
    fn of(workflow: &'w Workflow, blocks: &'w [(&'w str, &'w [u32])]) -> Self {
        let (run, events, walk, asked) = (begun(workflow), Vec::new(), Vec::new(), Vec::new());
        Self { workflow, run, events, code: 0, tests: 0, blocks, adds: None, walk, asked }
    }

    fn learn(&mut self, event: Event) {
        self.run = advance(self.workflow, &self.run, &event).expect("it can follow");
        self.walk.extend(self.run.taken.iter().map(|it| format!("{} {}", it.state, it.signal)));
        self.events.push(event);
    }

    fn judged(&self, gate: &str) -> String {
        let tests = if gate == "review" { self.tests } else { 0 };
        format!("code {} tests {tests}", self.code)
    }

    fn seen(&self, want: &Want) -> Observed {
        let Want::Observe { gates, .. } = want else { panic!("{want:?}") };
        let digests = gates.iter().map(|it| (it.clone(), self.judged(it))).collect();
        Observed { digests, ..Observed::default() }
    }

    fn says(&mut self, judge: &str) -> Outcome {
        let about = self.judged(judge);
        self.asked.push((judge.to_owned(), about.clone()));
        let blocked = self.blocks.iter().any(|(it, code)| *it == judge && code.contains(&self.code));
        let text = format!("{judge} of {about}");
        let finding = Report { severity: "major".into(), text, ..Report::default() };
        let reports = blocked && judge != "trial";
        Outcome {
            judged: Some(about),
            findings: if reports { vec![finding] } else { Vec::new() },
            cost: Cost { time: 1_000, ..Cost::default() },
            ..Outcome::of(if blocked { "BLOCKED" } else { "OK" })
        }
    }

    fn issue(&mut self, effect: &Effect) {
        let (effect, attempt) = (effect.id.clone(), effect.attempt);
        self.learn(Event::Issued { effect, attempt, values: Value::Null });
    }

    /// The judges that may be called now beside the one whose turn it is.
    fn beside(&self, effects: &[Effect]) -> Vec<(Effect, Name)> {
        let owed = |judge: &Name| {
            let (gate, want) = looks_for(self.workflow, &self.run, judge).expect("a gate");
            is_owed(self.workflow, &self.run, &gate, &self.seen(&want))
        };
        let known = |judge: &Name| self.run.heard.get(judge).is_some_and(|it| it.key == self.judged(judge));
        let offered = effects.iter().filter_map(|it| match &it.want {
            Want::Ahead { judge, at_once } => Some((it.clone(), judge.clone(), *at_once)),
            _ => None,
        });
        let wanted = offered.filter(|(_, judge, _)| owed(judge) && !known(judge));
        wanted
            .enumerate()
            .filter(|(at, (.., most))| at + 1 < *most as usize)
            .map(|(_, (it, judge, _))| (it, judge))
            .collect()
    }

    /// Goes on until it is over. Judges that work beside each other come back in the order that is said.
    fn play(&mut self, order: &Order<'_>) {
        for _ in 0..200 {
            let effects = due(self.workflow, &self.run);
            let Some(first) = effects.first().cloned() else { return };
            match &first.want {
                want @ Want::Observe { .. } => {
                    let evidence = Evidence::Observed(Box::new(self.seen(want)));
                    self.learn(Event::Settled { effect: first.id, evidence });
                }
                Want::Call { role, .. } if **role == *"coder" => {
                    self.issue(&first);
                    self.code += 1;
                    let evidence = Evidence::Out(Box::new(Outcome::of("done")));
                    self.learn(Event::Settled { effect: first.id, evidence });
                }
                Want::Call { .. } => self.judge(&first, &effects, order),
                other => panic!("{other:?}"),
            }
        }
        panic!("it does not end: {:?}", self.walk);
    }

    fn judge(&mut self, own: &Effect, effects: &[Effect], order: &Order<'_>) {
        let judge = own.id.state.clone();
        let early = self.run.heard.get(&*judge).filter(|it| it.key == self.judged(&judge)).cloned();
        let outcome = if let Some(early) = early {
            Outcome { cost: Cost::default(), ..early.outcome }
        } else {
            let mut all = self.beside(effects);
            all.push((own.clone(), judge.clone()));
            for (effect, _) in &all {
                self.issue(effect);
            }
            order(&mut all);
            let mut said = None;
            let alone = all.len() == 1;
            for (effect, who) in all {
                let (key, outcome) = (self.judged(&who), self.says(&who));
                if effect.id.part == Part::Work {
                    said = Some(Outcome { cost: Cost::default(), ..outcome.clone() });
                    if alone {
                        said = Some(outcome);
                        continue;
                    }
                }
                self.learn(Event::Heard { effect: effect.id, key, outcome: Box::new(outcome) });
            }
            said.expect("its own word")
        };
        let mut outcome = outcome;
        if *judge == *"trial" && self.adds == Some(own.id.visit) {
            self.tests += 1;
            outcome.judged = Some(self.judged("trial"));
        }
        self.learn(Event::Settled { effect: own.id.clone(), evidence: Evidence::Out(Box::new(outcome)) });
    }
}

/// Every order of so many.
fn orders(of: usize) -> Vec<Vec<usize>> {
    if of == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(of - 1).into_iter();
    shorter.flat_map(|it| (0..of).map(move |at| [&it[..at], &[of - 1], &it[at..]].concat())).collect()
}

const BLOCKS: &[(&str, &[u32])] = &[("review", &[1]), ("audit", &[1, 2]), ("style", &[3])];

#[test]
fn every_order_of_arrival_leads_to_the_walk_of_judges_one_by_one() {
    let workflow = loaded(WORKFLOW);
    let one_by_one = loaded(&WORKFLOW.replace(", ahead: 3", ""));
    let mut alone = World::of(&one_by_one, BLOCKS);
    alone.adds = Some(1);
    alone.play(&|_| ());
    assert_eq!(&*alone.run.at.state, "done", "{:?}", alone.walk);
    for order in orders(3) {
        let mut world = World::of(&workflow, BLOCKS);
        world.adds = Some(1);
        world.play(&|all| {
            let before = all.clone();
            let places = order.iter().filter(|it| **it < before.len());
            all.clear();
            all.extend(places.map(|it| before[*it].clone()));
        });
        assert_eq!(world.walk, alone.walk, "{order:?}");
        assert_eq!(world.run.spent, alone.run.spent);
        let said = |run: &Run| -> Vec<String> { run.ledger.findings.keys().cloned().collect() };
        assert_eq!(said(&world.run), said(&alone.run), "{order:?}");
        // Nobody is asked twice about the same.
        let mut asked = world.asked.clone();
        asked.sort();
        let all = asked.len();
        asked.dedup();
        assert_eq!(asked.len(), all, "{:?}", world.asked);
        // What happened replays to the same run.
        let replayed = world.events.iter().fold(begun(&workflow), |run, it| {
            let text = serde_json::to_string(it).expect("a text");
            let event: Event = serde_json::from_str(&text).expect("an event");
            advance(&workflow, &run, &event).expect("it can follow")
        });
        assert_eq!(Run { taken: Vec::new(), ..replayed }, Run { taken: Vec::new(), ..world.run.clone() });
        // A second each, whether it counted in the end or not.
        assert_eq!(world.run.left["hours"], 9 * 3_600_000 - 1_000 * all as u64);
    }
}

/// A run that stands at its first judge.
fn at_the_first(workflow: &Workflow) -> World<'_> {
    let mut world = World::of(workflow, &[]);
    while *world.run.at.state != *"review" {
        let effect = due(workflow, &world.run).remove(0);
        world.issue(&effect);
        let evidence = match &effect.want {
            want @ Want::Observe { .. } => Evidence::Observed(Box::new(world.seen(want))),
            _ => Evidence::Out(Box::new(Outcome::of("done"))),
        };
        world.learn(Event::Settled { effect: effect.id, evidence });
    }
    world
}

fn offered(workflow: &Workflow, run: &Run) -> Vec<String> {
    due(workflow, run).iter().skip(1).map(|it| it.id.to_string()).collect()
}

#[test]
fn only_who_looks_and_nothing_else_is_called_ahead_and_only_if_the_others_do_not_decide_it() {
    for (from, to, wanted) in [
        ("", "", &["review.1/ahead-audit", "review.1/ahead-style"][..]),
        // Nobody works beside one who writes.
        ("review: judge, judges: [code, tests]", "review: tester, judges: [code]", &[]),
        ("{depth: audited}", "{depth: plain}", &["review.1/ahead-style"]),
        ("{depth: audited}", "{ever.review: yes}", &["review.1/ahead-style"]),
        ("{depth: audited}", "{last.style: [none, OK, BLOCKED]}", &["review.1/ahead-style"]),
        (", ahead: 3", "", &[]),
    ] {
        let workflow = loaded(&WORKFLOW.replace(from, to));
        assert_eq!(offered(&workflow, &at_the_first(&workflow).run), wanted, "{to}");
    }
}

#[test]
fn what_is_heard_ahead_leads_nowhere_is_paid_at_once_and_is_told_to_who_repairs() {
    let workflow = loaded(WORKFLOW);
    let mut world = at_the_first(&workflow);
    world.blocks = &[("audit", &[0]), ("review", &[0])];
    let effects = due(&workflow, &world.run);
    for effect in &effects[..2] {
        world.issue(effect);
    }
    let (own, audit) = (&effects[0].id, &effects[1].id);
    let before = world.run.clone();
    let outcome = Box::new(world.says("audit"));
    let heard = Event::Heard { effect: audit.clone(), key: "one".into(), outcome };
    world.learn(heard.clone());
    assert_eq!((&world.run.at.state, &world.run.last), (&before.at.state, &before.last));
    assert_eq!((&world.run.spent, &world.run.gates), (&before.spent, &before.gates));
    assert_eq!(world.run.left["hours"], before.left["hours"] - 1_000);
    assert_eq!(world.run.calls["judge"], 1);
    assert_eq!(world.run.ledger, before.ledger);
    advance(&workflow, &world.run, &heard).expect_err("nobody waits for it any more");
    let texts = |run: &Run| -> Vec<String> {
        early_findings(&workflow, run).values().map(|it| it.text.clone()).collect()
    };
    assert_eq!(texts(&world.run), ["audit of code 0 tests 0"]);
    // Whoever repairs is told of it; once they have worked, it is theirs no more.
    let outcome = Box::new(world.says("review"));
    world.learn(Event::Settled { effect: own.clone(), evidence: Evidence::Out(outcome) });
    assert_eq!(&*world.run.at.state, "fix-review");
    assert_eq!(texts(&world.run), ["audit of code 0 tests 0"]);
    let effect = due(&workflow, &world.run).remove(0);
    world.issue(&effect);
    let evidence = Evidence::Out(Box::new(Outcome::of("done")));
    world.learn(Event::Settled { effect: effect.id, evidence });
    assert_eq!(texts(&world.run), Vec::<String>::new());
    assert!(world.run.heard.contains_key("audit"), "it may still count");
    // Asked anew at its turn, it counts no more.
    let then = in_turn(&workflow, &world.run, &"audit".into()).expect("its turn");
    assert_eq!((&*then.at.state, then.at.visit), ("audit", 1));
    let effect = due(&workflow, &then).remove(0);
    let issued = Event::Issued { effect: effect.id, attempt: 1, values: Value::Null };
    assert!(!advance(&workflow, &then, &issued).expect("it is begun").heard.contains_key("audit"));
}

#[test]
fn one_that_was_put_off_ahead_holds_nobody_up() {
    let workflow = loaded(WORKFLOW);
    let mut world = at_the_first(&workflow);
    let effects = due(&workflow, &world.run);
    for effect in &effects[..2] {
        world.issue(effect);
    }
    let put_off = |effect: &Effect| Event::PutOff {
        effect: effect.id.clone(),
        why: "no more for now".into(),
        until: Some(7),
        cost: Cost { time: 1_000, ..Cost::default() },
        kept: IndexMap::new(),
    };
    let before = world.run.left["hours"];
    world.learn(put_off(&effects[1]));
    assert_eq!(world.run.at.until, None);
    assert_eq!(world.run.left["hours"], before - 1_000);
    assert_eq!(due(&workflow, &world.run), effects);
    world.learn(put_off(&effects[0]));
    assert_eq!(world.run.at.until, Some(7));
}

#[test]
fn what_judges_at_once_may_cost_is_counted_where_they_are_called() {
    let calls = |text: &str| {
        let report = check(&loaded(text));
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        report.worst.expect("it is bounded").calls_of["judge"].clone()
    };
    let (beside, alone) = (calls(WORKFLOW), calls(&WORKFLOW.replace(", ahead: 3", "")));
    assert!(alone.is_exact() && beside.at_most > alone.at_most, "{beside:?} {alone:?}");
    assert_eq!(beside.at_least, alone.at_least, "some run does without");
}

#[test]
fn what_cannot_be_called_ahead_is_said() {
    let wrong = |from: &str, to: &str| problems(&WORKFLOW.replace(from, to));
    for (from, to, code, told) in [
        ("ahead: 3", "ahead: 1", "bad-value", "one judge at a time is what `settle` does anyway"),
        ("ahead: 3", "ahead: many", "bad-type", "number"),
        (
            "settle: [review, trial, audit, style]",
            "settle: [review, trial]",
            "bad-value",
            "nobody here can be called ahead",
        ),
        (
            "prompt: \"Judge.\"",
            "prompt: \"Judge.\"\n    given: [maybe last.review]",
            "ahead-hears",
            "`audit` may be called ahead of its turn, before `review` has said anything",
        ),
    ] {
        let found = wrong(from, to);
        assert!(found.iter().any(|(it, text)| *it == code && text.contains(told)), "{to}: {found:?}");
    }
}
