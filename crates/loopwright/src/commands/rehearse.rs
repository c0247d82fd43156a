//! `loopwright rehearse`

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use loopwright_core::definition::Workflow;
use loopwright_core::rehearse::{
    Chance, Coverage, Played, Scenario, Script, Start, Stop, WalkStep, exhaustive, perform, play,
};
use loopwright_core::signal;
use serde_json::{Value, json};

use crate::error::{CommandError, NOT_PROVED};
use crate::find::{Found, read_text, wanted_one};
use crate::show;

/// Play a workflow with scripted agents, without a token spent
///
/// Without options, once with everything at its best. Prints the walk, what was spent, and how many arms were taken.
///
/// Exit codes: 0 as expected, 1 not, 2 something does not load.
#[derive(clap::Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option a person types")]
pub(crate) struct RehearseArgs {
    /// The workflow: a name, folder or file. The folder you are in, if none is given
    #[arg(value_name = "WORKFLOW|PATH")]
    workflow: Option<String>,
    /// Play this scenario (may be given several times)
    #[arg(long, value_name = "FILE")]
    scenario: Vec<PathBuf>,
    /// Play random outcomes
    #[arg(long, conflicts_with_all = ["scenario", "exhaustive"])]
    random: bool,
    /// Where the random outcomes begin
    #[arg(long, default_value_t = 1, requires = "random", conflicts_with_all = ["scenario", "exhaustive"])]
    seed: u64,
    /// How many random runs
    #[arg(long, default_value_t = 100, requires = "random", conflicts_with_all = ["scenario", "exhaustive"])]
    runs: u64,
    /// Play a shortest run to every transition of every position
    #[arg(long, conflicts_with = "scenario")]
    exhaustive: bool,
    /// Let every agent, check and action fail as well: at random, once at every step of the scenario, or with
    /// `--exhaustive` in a run to every failure
    #[arg(long)]
    faults: bool,
    /// List the arms that were never taken
    #[arg(long, conflicts_with = "json")]
    arms: bool,
    /// Print as JSON, one run a line; with `--exhaustive` one line for all of them
    #[arg(long)]
    json: bool,
}

/// The longest a random run may go on before it is called endless.
const MOST_STEPS: u32 = 200_000;

pub(crate) fn cmd_rehearse(arguments: &RehearseArgs) -> Result<ExitCode, CommandError> {
    let found = wanted_one(arguments.workflow.as_deref())?;
    let workflow = super::graph::loaded(&found)?;
    let mut coverage = Coverage::of(&workflow);
    let mut session = Session { arguments, workflow: &workflow, failed: false };
    if arguments.random {
        session.random(&mut coverage)?;
    } else if arguments.exhaustive {
        session.exhaustive(&mut coverage);
    } else if arguments.scenario.is_empty() {
        let scenario = Scenario { name: "everything at its best".into(), ..Scenario::default() };
        session.one(&with_first_facts(&workflow, scenario), &mut coverage, None)?;
    } else {
        for file in &arguments.scenario {
            let text = read_text(file)?;
            let scenario = super::test::scenario(&workflow, &file.display().to_string(), &text)?;
            session.one(&scenario, &mut coverage, Some((file, &text)))?;
        }
    }
    if !arguments.json {
        let listed = arguments.arms || arguments.exhaustive;
        show::out(&covered(&found, &coverage, listed));
    }
    Ok(if session.failed { ExitCode::from(NOT_PROVED) } else { ExitCode::SUCCESS })
}

/// Without a scenario facts have their first value.
fn with_first_facts(workflow: &Workflow, mut scenario: Scenario) -> Scenario {
    for machine in workflow.machines() {
        for (name, fact) in &machine.facts {
            if let Some(first) = fact.values.first() {
                scenario.facts.entry(name.clone()).or_insert_with(|| first.clone());
            }
        }
    }
    scenario.start.verb = workflow.main.start.first().and_then(|it| it.verb.clone());
    scenario
}

struct Session<'s> {
    arguments: &'s RehearseArgs,
    workflow: &'s Workflow,
    failed: bool,
}

impl Session<'_> {
    /// Plays a scenario, which may come from a file.
    fn one(
        &mut self,
        scenario: &Scenario,
        coverage: &mut Coverage,
        file: Option<(&PathBuf, &str)>,
    ) -> Result<(), CommandError> {
        let impossible = |it: loopwright_core::machine::Impossible| CommandError::user(it.to_string());
        let verdict = perform(self.workflow, scenario, coverage).map_err(impossible)?;
        let complaints = match file {
            Some((file, text)) => super::test::complaints(&verdict, &file.display().to_string(), text),
            None => verdict.complaints.clone(),
        };
        self.failed |= !complaints.is_empty();
        if self.arguments.json {
            let mut line = as_json(&verdict.played);
            line["scenario"] = json!(scenario.name);
            line["complaints"] = json!(complaints);
            show::out(&format!("{line}\n"));
        } else {
            show::out(&format!("{}\n{}", scenario.name, walk(&verdict.played)));
            for complaint in &complaints {
                show::out(&format!("  NOT AS EXPECTED: {complaint}\n"));
            }
        }
        if self.arguments.faults {
            self.with_faults(scenario, coverage)?;
        }
        Ok(())
    }

    /// The same scenario again, once for every failure of every piece of work.
    fn with_faults(&mut self, scenario: &Scenario, coverage: &mut Coverage) -> Result<(), CommandError> {
        let mut plain = Script::new(scenario);
        let impossible = |it: loopwright_core::machine::Impossible| CommandError::user(it.to_string());
        play(self.workflow, &scenario.start, &mut plain, coverage, MOST_STEPS).map_err(impossible)?;
        let failures: Vec<&str> = signal::CALL_FAILURES
            .iter()
            .chain(signal::ACTION_FAILURES)
            .copied()
            .chain([signal::OVER_BUDGET])
            .collect();
        let (mut runs, mut broken) = (0, 0);
        for at in 0..plain.worked() {
            for failure in &failures {
                let mut script = Script::new(scenario).failing(at, (*failure).into());
                let played = play(self.workflow, &scenario.start, &mut script, coverage, MOST_STEPS)
                    .map_err(impossible)?;
                runs += 1;
                if !matches!(played.stop, Stop::NoRoute(..) | Stop::Refused(_) | Stop::TooLong) {
                    continue;
                }
                broken += 1;
                self.failed = true;
                let (step, stop) = (at + 1, played.stop.to_string());
                show::out(&if self.arguments.json {
                    let scenario = &scenario.name;
                    format!(
                        "{}\n",
                        json!({"scenario": scenario, "fault": failure, "step": step, "stop": stop})
                    )
                } else {
                    format!("  FAULT `{failure}` at step {step}: {stop}\n")
                });
            }
        }
        if self.arguments.json {
            let line = json!({"scenario": scenario.name, "faults": runs, "without-a-way-on": broken});
            show::out(&format!("{line}\n"));
            return Ok(());
        }
        show::out(&format!("  {} played, {broken} without a way on\n", show::counted(runs, "fault")));
        Ok(())
    }

    fn random(&mut self, coverage: &mut Coverage) -> Result<(), CommandError> {
        let starts: Vec<Start> = self
            .workflow
            .main
            .start
            .iter()
            .map(|it| Start { verb: it.verb.clone(), ..Start::default() })
            .collect();
        let mut ends: BTreeMap<String, u64> = BTreeMap::new();
        let (mut longest, mut steps) = (0, 0);
        for run in 0..self.arguments.runs {
            let seed = self.arguments.seed.wrapping_add(run);
            let mut chance = Chance::new(seed, self.arguments.faults);
            let index = usize::try_from(chance.draw() % starts.len().max(1) as u64).unwrap_or(0);
            let mut start = starts.get(index).cloned().unwrap_or_default();
            start.vars = chance.inputs(self.workflow);
            let played = play(self.workflow, &start, &mut chance, coverage, MOST_STEPS)
                .map_err(|it| CommandError::user(it.to_string()))?;
            let broken = matches!(
                played.stop,
                Stop::NoRoute(..) | Stop::Refused(_) | Stop::TooLong | Stop::NoFact(..)
            );
            self.failed |= broken;
            longest = longest.max(played.longest_stretch);
            steps += played.walk.len();
            if self.arguments.json {
                let mut line = as_json(&played);
                line["seed"] = json!(seed);
                show::out(&format!("{line}\n"));
            } else if broken {
                show::out(&format!("seed {seed}: {}\n{}", played.stop, walk(&played)));
            }
            *ends.entry(played.stop.to_string()).or_insert(0) += 1;
        }
        if !self.arguments.json {
            let mut text = format!(
                "{}, {}, at most {} between two things a person did\n",
                show::counted(self.arguments.runs, "run"),
                show::counted(steps, "step"),
                show::counted(longest, "agent call"),
            );
            for (end, count) in ends {
                let _ = writeln!(text, "  {count:6} {end}");
            }
            show::out(&text);
        }
        Ok(())
    }

    fn exhaustive(&mut self, coverage: &mut Coverage) {
        let outcome = exhaustive(self.workflow, self.arguments.faults, coverage);
        let complete = outcome.unknown.is_empty() && !outcome.cut;
        self.failed |= !complete;
        if self.arguments.json {
            let (all, taken) = coverage.count();
            let line = json!({
                "played": outcome.played, "complete": complete, "unknown": outcome.unknown,
                "arms": all, "taken": taken, "not-taken": not_taken(coverage),
            });
            show::out(&format!("{line}\n"));
            return;
        }
        let mut unknown: BTreeMap<&String, u32> = BTreeMap::new();
        outcome.unknown.iter().for_each(|it| *unknown.entry(it).or_insert(0) += 1);
        for (transition, count) in unknown {
            let places = if count == 1 { String::new() } else { format!(" ({count} positions)") };
            show::out(&format!("  not known whether a run does this: {transition}{places}\n"));
        }
        let all = match (outcome.cut, outcome.unknown.len()) {
            (true, _) => "only part: there are too many transitions".to_owned(),
            (false, 0) => "every transition of every position".to_owned(),
            (false, count) => format!("every transition of every position but {count}"),
        };
        let left_out = if self.arguments.faults {
            ""
        } else {
            ", but no run to a failure of its own (`--faults` adds them)"
        };
        show::out(&format!("{} played: {all}{left_out}\n", show::counted(outcome.played, "run")));
    }
}

/// A walk, a line a step. What a loop came to stands below what its items did.
fn walk(played: &Played) -> String {
    let mut text = String::new();
    let mut around: Option<&WalkStep> = None;
    for (at, step) in played.walk.iter().enumerate() {
        let runs_items = step.item.is_none() && played.walk.get(at + 1).is_some_and(|it| it.item.is_some());
        if step.item.is_none() {
            around.take().into_iter().for_each(|it| walked(it, &mut text));
        }
        if runs_items {
            let _ = writeln!(text, "  {}", step.state);
            around = step.signal.is_some().then_some(step);
        } else {
            walked(step, &mut text);
        }
    }
    around.take().into_iter().for_each(|it| walked(it, &mut text));
    let _ = writeln!(text, "  {}", played.stop);
    let spent: Vec<String> = played.spent.iter().map(|(name, count)| format!("{name} {count}")).collect();
    let calls: Vec<String> = played.calls.iter().map(|(name, count)| format!("{name} {count}")).collect();
    let _ =
        writeln!(text, "  spent: {}", if spent.is_empty() { "nothing".to_owned() } else { spent.join(", ") });
    let _ =
        writeln!(text, "  calls: {}", if calls.is_empty() { "none".to_owned() } else { calls.join(", ") });
    if !played.run.forced.is_empty() {
        let forced: Vec<&str> = played.run.forced.iter().map(|it| &**it).collect();
        let _ = writeln!(text, "  forced: {}", forced.join(", "));
    }
    text
}

/// One step of a walk. Items stand further in.
fn walked(step: &WalkStep, text: &mut String) {
    let signal = step.signal.as_deref().filter(|it| *it != signal::ALWAYS).unwrap_or_default();
    let _ = match &step.item {
        Some(item) => write!(text, "    {} [{item}]", step.state),
        None => write!(text, "  {}", step.state),
    };
    if !signal.is_empty() {
        let _ = write!(text, " -> {signal}");
    }
    if let Some(budget) = &step.spent {
        let _ = write!(text, " (spends {budget})");
    }
    if signal == signal::STALE {
        text.push_str(" (a gate it needs is not settled)");
    } else if step.person {
        text.push_str(" (a person)");
    }
    text.push('\n');
}

fn as_json(played: &Played) -> Value {
    json!({
        "stop": played.stop.to_string(),
        "walk": played.walk,
        "spent": played.spent,
        "calls": played.calls,
        "forced": played.run.forced,
    })
}

/// The arms that were not taken, in words.
fn not_taken(coverage: &Coverage) -> Vec<String> {
    let not_taken = coverage.arms().filter(|(_, it)| it.taken == 0);
    not_taken.map(|(_, arm)| format!("{} {} -> {}", arm.state, arm.signal, arm.to)).collect()
}

/// How many arms were taken and, if they are to be listed, which never.
fn covered(found: &Found, coverage: &Coverage, listed: bool) -> String {
    let (all, taken) = coverage.count();
    if !listed && taken < all {
        return format!("{taken} of {all} arms taken (`--arms` lists the others)\n");
    }
    let mut text = format!("{taken} of {all} arms taken\n");
    for (place, arm) in coverage.arms().filter(|(_, it)| it.taken == 0) {
        let (line, _) = show::position(found.folder.text(&place.file).unwrap_or_default(), place.bytes.start);
        let _ = writeln!(text, "  not taken: line {line}, {} {} -> {}", arm.state, arm.signal, arm.to);
    }
    text
}
