//! The finding ledger: what judges found, round by round.
//!
//! A finding's id comes from what it is about, not from how it is worded, so the same remark in other words is the
//! same finding. That makes "the same finding twice" and "what was left at the limit" data instead of opinion.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::event::{Outcome, Report};
use crate::definition::Findings;
use crate::name::Name;

/// One remark, over all rounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Finding {
    /// The gate or state that found it.
    pub gate: Name,
    /// How bad.
    pub severity: Name,
    /// What kind of thing it is about.
    pub topic: Option<Name>,
    /// The file.
    pub file: String,
    /// What in it.
    pub subject: String,
    /// The remark, as last worded.
    pub text: String,
    /// The line of the file, if it is about one, as last said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What the judge would have done about it, as last said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub recommendation: String,
    /// Whether it stands in the way.
    pub blocks: bool,
    /// The rounds it was reported in.
    pub rounds: Vec<u32>,
    /// How it ended, if it did.
    pub closed: Option<Closed>,
    /// What a person last answered about it, since it was reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Name>,
}

/// How a finding ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Closed {
    /// A later round no longer reported it.
    Gone,
    /// It was left open and the run went on.
    Forced,
    /// A person answered that it may stay.
    Answered,
    /// Its judge began anew, about something else.
    Past,
}

/// All findings of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Ledger {
    /// By id.
    pub findings: IndexMap<String, Finding>,
    /// Per judge: rounds so far, and what the last repair was handed in the present stretch.
    pub judges: IndexMap<Name, Judge>,
}

/// Where one judge stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Judge {
    /// Rounds so far.
    pub rounds: u32,
    /// How many of them were before it last began anew.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub before: u32,
    /// Ids of findings handed to the last repair. Emptied when the loop starts anew.
    pub handed: Vec<String>,
    /// How each round came out, the last ones of a run that is older than this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<Said>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "that is how it is asked")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// How a round came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Said {
    /// The round, from one.
    pub round: u32,
    /// The verdict that counts, which may be worse than the judge's own.
    pub verdict: Name,
    /// What it said, in a sentence.
    pub summary: String,
    /// What came along besides.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub returns: serde_json::Value,
}

/// What a round of findings means for routing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Whether something handed to the last repair is still open.
    pub same_again: bool,
    /// What the blocking findings are about, first in declared order.
    pub topic: Option<Name>,
}

impl Ledger {
    /// Takes down how the last round of a judge came out.
    pub fn say(&mut self, gate: &Name, outcome: &Outcome) {
        let judge = self.judges.entry(gate.clone()).or_default();
        judge.said.push(Said {
            round: judge.rounds,
            verdict: outcome.signal.clone(),
            summary: outcome.summary.clone(),
            returns: outcome.returns.clone(),
        });
    }

    /// Takes in what a judge reported in a round. `passed` closes everything that does not block.
    pub fn round(
        &mut self,
        gate: &Name,
        declared: &Findings,
        reports: &[Report],
        verdict_blocks: bool,
    ) -> Round {
        let judge = self.judges.entry(gate.clone()).or_default();
        judge.rounds += 1;
        let round = judge.rounds;
        let handed = judge.handed.clone();
        let mut seen = Vec::new();
        let rated = |it: &Report| declared.asks_for(it.topic.as_ref(), &it.severity).next().is_some();
        // Where no severity stands in the way and the verdict does, every finding does.
        let all_block = verdict_blocks && !reports.iter().any(rated);
        for report in reports {
            let known =
                report.id.as_ref().filter(|it| self.findings.get(*it).is_some_and(|it| it.gate == *gate));
            let id = known.cloned().unwrap_or_else(|| identity(gate, report));
            let blocks = all_block || rated(report);
            let entry = self.findings.entry(id.clone()).or_insert_with(|| Finding {
                gate: gate.clone(),
                severity: report.severity.clone(),
                topic: report.topic.clone(),
                file: report.file.clone(),
                subject: report.subject.clone(),
                text: String::new(),
                line: None,
                recommendation: String::new(),
                blocks,
                rounds: Vec::new(),
                closed: None,
                answer: None,
            });
            // Said twice in a round, it counts as the worse of the two.
            let again = seen.contains(&id);
            let rank = |severity: &Name| declared.severity.iter().position(|it| it == severity);
            if !again || rank(&report.severity) > rank(&entry.severity) {
                entry.severity = report.severity.clone();
                entry.text.clone_from(&report.text);
                entry.line = report.line;
                entry.recommendation.clone_from(&report.recommendation);
            }
            entry.blocks = blocks || again && entry.blocks;
            entry.closed = None;
            entry.answer = None;
            if entry.rounds.last() != Some(&round) {
                entry.rounds.push(round);
            }
            seen.push(id);
        }
        for (id, finding) in &mut self.findings {
            if finding.gate == *gate && finding.closed.is_none() && !seen.contains(id) {
                finding.closed = Some(Closed::Gone);
            }
        }
        let open: Vec<(&String, &Finding)> = self
            .findings
            .iter()
            .filter(|(id, it)| it.gate == *gate && it.blocks && seen.contains(id))
            .collect();
        let topics: Vec<&Name> = open.iter().filter_map(|(_, it)| it.topic.as_ref()).collect();
        Round {
            same_again: open.iter().any(|(id, _)| handed.contains(id)),
            topic: declared.topic.iter().find(|it| topics.contains(it)).cloned(),
        }
    }

    /// Remembers what a repair is handed: the blocking findings on its topic, or all of them.
    pub fn hand(&mut self, gate: &Name, topic: Option<&Name>) {
        let handed = self
            .open(gate)
            .filter(|(_, it)| it.blocks && (topic.is_none() || it.topic.as_ref() == topic))
            .map(|(id, _)| id.clone())
            .collect();
        self.judges.entry(gate.clone()).or_default().handed = handed;
    }

    /// The loop starts anew: nothing has been handed to a repair yet.
    pub fn anew(&mut self, gate: &Name) {
        if let Some(judge) = self.judges.get_mut(&**gate) {
            judge.handed.clear();
        }
    }

    /// A judge begins anew, about something else: what it left open is closed, and its rounds count from here.
    pub fn begin_anew(&mut self, gate: &Name) {
        for finding in self.findings.values_mut() {
            if finding.gate == *gate && finding.closed.is_none() {
                finding.closed = Some(Closed::Past);
            }
        }
        if let Some(judge) = self.judges.get_mut(&**gate) {
            judge.before = judge.rounds;
        }
    }

    /// The run goes on although these are open.
    pub fn force(&mut self, gate: &Name) {
        for finding in self.findings.values_mut() {
            if finding.gate == *gate && finding.blocks && finding.closed.is_none() {
                finding.closed = Some(Closed::Forced);
            }
        }
    }

    /// A person answered about a finding; `settled`: nothing is to be done about it. The finding is returned.
    pub fn answer(&mut self, id: &str, answer: &Name, settled: bool) -> Option<Report> {
        let finding = self.findings.get_mut(id)?;
        finding.answer = Some(answer.clone());
        if settled {
            finding.closed = Some(Closed::Answered);
        }
        Some(Report {
            id: None,
            severity: finding.severity.clone(),
            topic: finding.topic.clone(),
            file: finding.file.clone(),
            subject: finding.subject.clone(),
            text: finding.text.clone(),
            line: finding.line,
            recommendation: finding.recommendation.clone(),
        })
    }

    /// Findings of a judge that are open.
    pub fn open<'l>(&'l self, gate: &'l Name) -> impl Iterator<Item = (&'l String, &'l Finding)> {
        self.findings.iter().filter(move |(_, it)| it.gate == *gate && it.closed.is_none())
    }

    /// Findings the run went on in spite of.
    pub fn left(&self) -> impl Iterator<Item = (&String, &Finding)> {
        self.findings.iter().filter(|(_, it)| it.closed == Some(Closed::Forced))
    }
}

/// What a finding is about, as a short stable id.
fn identity(gate: &Name, report: &Report) -> String {
    let subject = if report.subject.trim().is_empty() { &report.text } else { &report.subject };
    let words: Vec<String> = subject
        .split(|it: char| !it.is_alphanumeric())
        .filter(|it| !it.is_empty())
        .map(str::to_lowercase)
        .collect();
    let topic = report.topic.as_deref().unwrap_or_default();
    let about = format!("{gate}\n{topic}\n{}\n{}", report.file.trim(), words.join(" "));
    let hash = blake3::hash(about.as_bytes()).to_hex();
    format!("F-{}", &hash[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(subject: &str, text: &str, severity: &str) -> Report {
        Report { subject: subject.into(), text: text.into(), severity: severity.into(), ..Report::default() }
    }

    fn declared() -> Findings {
        Findings {
            severity: vec!["minor".into(), "major".into()],
            topic: Vec::new(),
            at_least: [("major".into(), "FAIL".into())].into(),
            ..Findings::default()
        }
    }

    #[test]
    fn a_reworded_finding_is_the_same_finding() {
        let gate = Name::from("review");
        let mut ledger = Ledger::default();
        let first = ledger.round(&gate, &declared(), &[report("parse()", "it panics", "major")], true);
        assert!(!first.same_again, "nothing was handed to a repair yet");
        ledger.hand(&gate, None);
        let second = ledger.round(
            &gate,
            &declared(),
            &[report("Parse ( )", "still panics on empty input", "major")],
            true,
        );
        assert!(second.same_again);
        assert_eq!(ledger.findings.len(), 1);
        ledger.anew(&gate);
        let third = ledger.round(&gate, &declared(), &[report("parse()", "panics", "major")], true);
        assert!(!third.same_again, "a new stretch starts from nothing");
    }

    #[test]
    fn said_twice_in_a_round_it_counts_as_the_worse() {
        let gate = Name::from("review");
        let mut ledger = Ledger::default();
        let twice = [report("a", "it panics", "major"), report("a", "and reads badly", "minor")];
        ledger.round(&gate, &declared(), &twice, true);
        let (_, finding) = ledger.open(&gate).next().expect("one finding");
        assert!(finding.blocks);
        assert_eq!((&*finding.severity, &*finding.text), ("major", "it panics"));
    }

    #[test]
    fn what_is_not_reported_again_is_gone_and_minor_does_not_block() {
        let gate = Name::from("review");
        let mut ledger = Ledger::default();
        ledger.round(&gate, &declared(), &[report("a", "x", "major"), report("b", "y", "minor")], true);
        ledger.hand(&gate, None);
        let round = ledger.round(&gate, &declared(), &[report("b", "y", "minor")], false);
        assert!(!round.same_again, "a minor finding is never in the way");
        assert_eq!(ledger.open(&gate).count(), 1);
        ledger.force(&gate);
        assert_eq!(ledger.left().count(), 0, "only what blocks is left over");
    }

    #[test]
    fn a_judge_that_begins_anew_has_left_nothing_open() {
        let gate = Name::from("review");
        let mut ledger = Ledger::default();
        ledger.round(&gate, &declared(), &[report("a", "x", "major"), report("b", "y", "minor")], true);
        ledger.begin_anew(&gate);
        assert_eq!(ledger.open(&gate).count(), 0);
        assert_eq!(ledger.left().count(), 0, "nothing was passed over");
        ledger.round(&gate, &declared(), &[report("c", "z", "minor")], false);
        let judge = &ledger.judges[&gate];
        assert_eq!((judge.before, judge.rounds), (1, 2));
    }
}
