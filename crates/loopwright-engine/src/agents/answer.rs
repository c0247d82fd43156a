//! What an agent answered, held against what its role may answer. Nothing is matched in prose: the answer is one fenced
//! block of JSON, or there is none.

use loopwright_core::definition::{Fields, Findings};
use loopwright_core::machine::{Outcome, Report, raised};
use loopwright_core::name::Name;
use loopwright_core::signal;
use serde_json::Value;

use super::wanted::{Returns, Wanted};

/// What an answer in words means, or why it means nothing. Where there is only one way to come out, that need not be said,
/// if whoever answers can be trusted to have come to an end.
pub(crate) fn understood(text: &str, wanted: &Wanted<'_>, trusted: bool) -> Result<Outcome, String> {
    let Some(block) = last_block(text) else {
        if wanted.is_plain() && trusted {
            let verdict = wanted.verdicts.keys().next().cloned().unwrap_or_else(|| "done".into());
            return Ok(Outcome { summary: shortened(text), ..Outcome::of(verdict) });
        }
        return Err("the answer has no block of JSON at its end".into());
    };
    let answer: Value = serde_json::from_str(block).map_err(|it| format!("the block is not JSON: {it}"))?;
    taken(answer, wanted)
}

/// What an answer means that was given as data, or why it means nothing.
pub(crate) fn taken(mut answer: Value, wanted: &Wanted<'_>) -> Result<Outcome, String> {
    // What has to be there and is nothing is as good as left out.
    if let Value::Object(all) = &mut answer {
        all.retain(|_, it| !it.is_null());
    }
    let answer = answer;
    let said = |name: &str| answer.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let verdict = said("verdict");
    if wanted.asks && verdict == signal::ASK {
        let question = said("question");
        if question.trim().is_empty() {
            return Err("the verdict is `ASK`, and there is no `question`".into());
        }
        return Ok(Outcome { question, summary: said("summary"), ..Outcome::of(signal::ASK) });
    }
    let known: Vec<&str> = wanted.verdicts.keys().map(|it| &**it).collect();
    let Some((at, mut name, mut fields)) = wanted.verdicts.get_full(&*verdict) else {
        return Err(format!("`{verdict}` is no verdict: it is one of {}", known.join(", ")));
    };
    let mut outcome = Outcome { summary: said("summary"), ..Outcome::default() };
    if let Some(declared) = wanted.findings {
        outcome.findings = findings(&answer, declared)?;
        if at > 0 && outcome.findings.is_empty() {
            return Err(format!("`{verdict}` needs a finding that says why"));
        }
        let least = outcome.findings.iter().flat_map(|it| declared.asks_for(it.topic.as_ref(), &it.severity));
        let asked = least.filter_map(|it| wanted.verdicts.get_index_of(&**it)).max().unwrap_or(0);
        if declared.exact && at > asked {
            let words: Vec<String> = declared.at_least.keys().map(|it| format!("`{it}`")).collect();
            return Err(format!(
                "`{verdict}` needs a finding that stands in the way, one of {}; what is none does not keep the work back",
                words.join(", ")
            ));
        }
        if let Some(worse) = raised(&verdict, wanted.verdicts, declared, &outcome.findings) {
            (name, fields) = worse;
            let why = format!("it said {verdict}, and what it found makes that {name}");
            outcome.summary =
                [why, outcome.summary].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("; ");
        }
    }
    outcome.signal = name.clone();
    outcome.fields = finite(&answer, name, fields)?;
    if let Some(wanted) = &wanted.returns {
        outcome.returns = returned(&answer, fields, wanted)?;
    }
    Ok(outcome)
}

/// What comes with a verdict besides, if it fits.
fn returned(answer: &Value, declared: &Fields, wanted: &Returns<'_>) -> Result<Value, String> {
    let is_own = |name: &str| {
        let field = declared.fields.contains_key(name) && !wanted.schema.names().any(|it| it == name);
        field || signal::COMES_ALONG.contains(&name)
    };
    let all = answer.as_object().into_iter().flatten();
    let rest = all.filter(|(name, _)| !is_own(name)).map(|(name, it)| (name.clone(), it.clone()));
    let rest = Value::Object(rest.collect());
    let faults: Vec<String> = wanted.schema.faults(&rest).iter().map(ToString::to_string).collect();
    if faults.is_empty() {
        return Ok(rest);
    }
    Err(format!("what came with the verdict does not fit `{}`: {}", wanted.file, faults.join("; ")))
}

/// The fields that come with a verdict, each with one of its values.
fn finite(
    answer: &Value,
    verdict: &Name,
    declared: &Fields,
) -> Result<indexmap::IndexMap<Name, Name>, String> {
    let mut fields = indexmap::IndexMap::new();
    for (field, values) in &declared.fields {
        let said = answer.get(&**field).map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
        let known = || values.iter().map(|it| &**it).collect::<Vec<_>>().join(", ");
        match said.map(Name::from) {
            Some(value) if values.contains(&value) => drop(fields.insert(field.clone(), value)),
            Some(value) => return Err(format!("`{field}` is `{value}`: it is one of {}", known())),
            None => return Err(format!("`{verdict}` comes with `{field}`, one of {}", known())),
        }
    }
    Ok(fields)
}

fn findings(answer: &Value, declared: &Findings) -> Result<Vec<Report>, String> {
    let listed = match answer.get("findings") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(listed)) => listed,
        Some(_) => return Err("`findings` is no list".into()),
    };
    let report = |(at, it): (usize, &Value)| {
        let said = |name: &str| it.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = at + 1;
        let severity: Name = said("severity").into();
        if !declared.severity.contains(&severity) {
            let known: Vec<&str> = declared.severity.iter().map(|it| &**it).collect();
            return Err(format!(
                "finding {number}: `{severity}` is no severity: it is one of {}",
                known.join(", ")
            ));
        }
        let topic = Some(said("topic")).filter(|it| !it.is_empty()).map(Name::from);
        if !declared.topic.is_empty() && !topic.as_ref().is_some_and(|it| declared.topic.contains(it)) {
            let known: Vec<&str> = declared.topic.iter().map(|it| &**it).collect();
            return Err(format!("finding {number} needs a `topic`, one of {}", known.join(", ")));
        }
        let text = said("text");
        if text.trim().is_empty() {
            return Err(format!("finding {number} has no `text`"));
        }
        let topic = topic.filter(|_| !declared.topic.is_empty());
        let rank = |it: &Name| declared.severity.iter().position(|known| known == it);
        if let Some((topic, most)) = topic.as_ref().and_then(|it| declared.at_most.get_key_value(&**it))
            && rank(&severity) > rank(most)
        {
            return Err(format!(
                "finding {number}: what is `{topic}` is a `{most}` at most, not a `{severity}`: it is put on record, and keeps nobody back"
            ));
        }
        let id = Some(said("id")).filter(|it| !it.is_empty());
        let line = it.get("line").and_then(Value::as_u64).and_then(|it| u32::try_from(it).ok());
        let (file, subject, recommendation) = (said("file"), said("subject"), said("recommendation"));
        Ok(Report { id, severity, topic, file, subject, text, line, recommendation })
    };
    listed.iter().enumerate().map(report).collect()
}

/// The last fenced block of JSON of a text.
fn last_block(text: &str) -> Option<&str> {
    let mut found = None;
    let mut open: Option<usize> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        match open {
            None if trimmed == "```json" => open = Some(at + line.len()),
            Some(from) if trimmed == "```" => {
                found = text.get(from..at);
                open = None;
            }
            _ => {}
        }
        at += line.len();
    }
    found
}

/// A text that fits on a line.
fn shortened(text: &str) -> String {
    const MOST: usize = 200;
    let line = text.lines().rev().map(str::trim).find(|it| !it.is_empty()).unwrap_or_default();
    match line.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "these are tests")]
mod tests {
    use indexmap::IndexMap;
    use loopwright_core::definition::Outcomes;

    use super::*;

    fn understood(text: &str, wanted: &Wanted<'_>) -> Result<Outcome, String> {
        super::understood(text, wanted, true)
    }

    fn verdicts(words: &[&str]) -> Outcomes {
        words.iter().map(|it| (Name::from(*it), Fields::default())).collect()
    }

    fn judge() -> (Outcomes, Findings) {
        let severity = vec!["minor".into(), "major".into()];
        (verdicts(&["APPROVED", "NEEDS_FIX"]), Findings { severity, ..Findings::default() })
    }

    fn answer(block: &str) -> String {
        format!(
            "I think it is APPROVED.\n```json\n{{\"verdict\": \"APPROVED\"}}\n```\nNo:\n```json\n{block}\n```\n"
        )
    }

    #[test]
    fn the_last_block_counts_and_prose_does_not() {
        let (verdicts, findings) = judge();
        let wanted = Wanted { verdicts: &verdicts, findings: Some(&findings), asks: false, returns: None };
        let block = r#"{"verdict": "NEEDS_FIX", "summary": "no", "findings": [{"severity": "major", "file": "a", "subject": "b", "text": "c"}]}"#;
        let outcome = understood(&answer(block), &wanted).expect("an outcome");
        assert_eq!(&*outcome.signal, "NEEDS_FIX");
        assert_eq!(outcome.findings.len(), 1);
        assert!(understood("It is APPROVED.", &wanted).is_err());
    }

    #[test]
    fn a_verdict_is_as_bad_as_the_worst_that_was_found() {
        let (verdicts, findings) = judge();
        let findings = Findings { at_least: [("major".into(), "NEEDS_FIX".into())].into(), ..findings };
        let wanted = Wanted { verdicts: &verdicts, findings: Some(&findings), asks: false, returns: None };
        for (severity, verdict, summary) in [
            ("minor", "APPROVED", "fine"),
            ("major", "NEEDS_FIX", "it said APPROVED, and what it found makes that NEEDS_FIX; fine"),
        ] {
            let block = format!(
                r#"{{"verdict": "APPROVED", "summary": "fine", "findings": [{{"severity": "{severity}", "text": "c"}}]}}"#
            );
            let outcome = understood(&answer(&block), &wanted).expect("an outcome");
            assert_eq!((&*outcome.signal, &*outcome.summary), (verdict, summary));
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let (verdicts, findings) = judge();
        let wanted = Wanted { verdicts: &verdicts, findings: Some(&findings), asks: false, returns: None };
        let cases = [
            (r#"{"verdict": "GOOD"}"#, "`GOOD` is no verdict: it is one of APPROVED, NEEDS_FIX"),
            (r#"{"verdict": "NEEDS_FIX"}"#, "`NEEDS_FIX` needs a finding that says why"),
            (
                r#"{"verdict": "NEEDS_FIX", "findings": [{"severity": "bad", "text": "x"}]}"#,
                "finding 1: `bad` is no severity",
            ),
            (r#"{"verdict": "NEEDS_FIX", "findings": [{"severity": "major"}]}"#, "finding 1 has no `text`"),
            (r#"{"verdict": "NEEDS_FIX", "findings": {}}"#, "`findings` is no list"),
            ("{", "the block is not JSON"),
        ];
        for (block, expected) in cases {
            let why = understood(&answer(block), &wanted).expect_err(block);
            assert!(why.contains(expected), "{block}: {why}");
        }
    }

    #[test]
    fn with_one_way_to_come_out_nothing_need_be_said() {
        let verdicts = verdicts(&["done"]);
        let wanted = Wanted { verdicts: &verdicts, findings: None, asks: false, returns: None };
        let outcome = understood("I did it.\n\n", &wanted).expect("an outcome");
        assert_eq!((&*outcome.signal, outcome.summary.as_str()), ("done", "I did it."));
    }

    #[test]
    fn fields_have_one_of_their_values() {
        let fields = IndexMap::from([(Name::from("ui"), vec![Name::from("yes"), Name::from("no")])]);
        let verdicts = Outcomes::from([(Name::from("OK"), Fields { fields, ..Fields::default() })]);
        let wanted = Wanted { verdicts: &verdicts, findings: None, asks: true, returns: None };
        assert!(understood(&answer(r#"{"verdict": "OK"}"#), &wanted).is_err());
        assert!(understood(&answer(r#"{"verdict": "OK", "ui": "maybe"}"#), &wanted).is_err());
        let outcome = understood(&answer(r#"{"verdict": "OK", "ui": "yes"}"#), &wanted).expect("an outcome");
        assert_eq!(outcome.fields.get("ui").map(|it| &**it), Some("yes"));
        let asked =
            understood(&answer(r#"{"verdict": "ASK", "question": "Which?"}"#), &wanted).expect("an outcome");
        assert_eq!((&*asked.signal, asked.question.as_str()), ("ASK", "Which?"));
    }
}
