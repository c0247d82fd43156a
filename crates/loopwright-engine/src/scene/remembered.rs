//! What the run itself remembers.

use indexmap::IndexMap;
use loopwright_core::definition::{Each, Kind, State};
use loopwright_core::machine::{Decision, Finding, Last, beside, early_findings, gate_name};
use loopwright_core::name::Name;
use serde_json::{Map, Value, json};

use super::{Scene, Unseen};

impl Scene<'_> {
    /// How a state last came out: its own machine's, or the parent's.
    pub(super) fn last(&self, name: &str) -> Option<Value> {
        let is = |it: &&Name| it.in_expression() == name;
        let own = self.run.last.iter().find(|(it, _)| is(it));
        let outer = self.run.outer.as_ref().and_then(|it| it.last.iter().find(|(it, _)| is(it)));
        let mut machines = [self.machine(), Some(&self.workflow.main)].into_iter().flatten();
        let state = machines.find_map(|it| it.states.keys().find(is).and_then(|name| it.states.get(name)))?;
        let found = own.or(outer).map(|(_, it)| it);
        Some(self.as_seen(state, found))
    }

    /// What a fact sees of it: every field there may be, `none` where there is none.
    fn as_seen(&self, state: &State, last: Option<&Last>) -> Value {
        let mut value = Map::new();
        for outcome in loopwright_core::signal::outcomes_of(self.workflow, state).values() {
            for field in outcome.fields.keys() {
                value.insert(field.in_expression(), json!("none"));
            }
        }
        let nothing = Last { signal: "none".into(), ..Last::default() };
        let last = last.unwrap_or(&nothing);
        value.insert("signal".into(), json!(last.signal));
        value.insert("summary".into(), json!(last.summary));
        value.insert("note".into(), json!(last.note));
        value.insert("output".into(), json!(last.output));
        value.insert("question".into(), json!(last.question));
        value.extend(last.fields.iter().map(|(name, it)| (name.in_expression(), json!(it))));
        if let Value::Object(returns) = &last.returns {
            value.extend(returns.iter().map(|(name, it)| (name.clone(), it.clone())));
        }
        Value::Object(value)
    }

    /// Findings of the loop the state belongs to, and what every round brought. Judges that work beside each other are not
    /// told what the others found; everybody else hears also of what was found ahead.
    pub(super) fn findings(&self) -> Value {
        let others = self.machine().zip(self.state()).map(|(machine, state)| beside(machine, state));
        let (others, at_once) = others.unwrap_or_default();
        let hidden: Vec<Name> = others.into_iter().map(gate_name).collect();
        let early = if at_once > 1 { IndexMap::new() } else { early_findings(self.workflow, self.run) };
        let known = self.run.ledger.findings.iter().filter(|(id, _)| !early.contains_key(*id));
        let all = known.chain(&early).filter(|(_, it)| !hidden.contains(&it.gate));
        let (open, closed): (Vec<_>, Vec<_>) = all.partition(|(_, it)| it.closed.is_none());
        let judges = self.run.ledger.judges.iter().filter(|(gate, _)| !hidden.contains(gate));
        let rounds = judges.flat_map(|(gate, judge)| {
            (judge.before + 1..=judge.rounds).map(move |round| {
                let of = |it: &(&String, &Finding)| it.1.gate == *gate && it.1.rounds.contains(&round);
                let found: Vec<Value> =
                    self.run.ledger.findings.iter().filter(of).map(|(id, it)| seen(id, it)).collect();
                let said = judge.said.iter().find(|it| it.round == round);
                json!({
                    "gate": gate, "round": round, "findings": found, "run": self.name,
                    "verdict": said.map(|it| &it.verdict), "summary": said.map(|it| &it.summary),
                    "returns": said.map(|it| &it.returns), "by": self.judge_of(gate),
                })
            })
        });
        json!({
            "open": open.into_iter().map(|(id, it)| seen(id, it)).collect::<Vec<_>>(),
            "closed": closed.into_iter().map(|(id, it)| seen(id, it)).collect::<Vec<_>>(),
            "rounds": rounds.collect::<Vec<_>>(),
        })
    }

    /// The role that judges, as the run stands.
    fn judge_of(&self, gate: &Name) -> Option<&Name> {
        let mut machines = [self.machine(), Some(&self.workflow.main)].into_iter().flatten();
        machines.find_map(|it| {
            it.states.values().find_map(|state| match &state.kind {
                Kind::Review { call, .. } if gate_name(state) == *gate => self.run.pick(&call.role),
                _ => None,
            })
        })
    }

    /// The finding that is asked about.
    pub(super) fn finding(&self) -> Option<Value> {
        let id = self.finding?;
        self.run.ledger.findings.get(id).map(|it| seen(id, it))
    }

    /// The question that led here: one that a role asked, or one that a person answered.
    pub(super) fn question(&self) -> Option<Value> {
        let cause = self.run.cause.as_ref()?;
        self.run.last.get(&*cause.state).filter(|it| !it.question.is_empty()).map(|it| json!(it.question))
    }

    /// What people were asked, here and in the run around it, and what became of it.
    pub(super) fn decisions(&self) -> Value {
        let outer = self.run.outer.iter().flat_map(|it| &it.decisions);
        let time = |at: Option<u64>| at.map(super::time).unwrap_or_default();
        let one = |it: &Decision| {
            json!({
                "state": it.state, "id": it.id, "question": it.question, "status": it.status, "answer": it.answer,
                "note": it.note, "reason": it.reason, "finding": it.finding, "item": it.item, "phase": it.phase,
                "before": it.before, "asked_at": time(it.asked), "resolved_at": time(it.resolved),
            })
        };
        outer.chain(&self.run.decisions).map(one).collect()
    }

    /// What was spent of budgets, by item; the run's own without a name.
    pub(super) fn spent_by_item(&self) -> Value {
        let mut all = self
            .run
            .outer
            .as_ref()
            .map_or_else(|| self.run.spent_by_item.clone(), |it| it.spent_by_item.clone());
        let own = all.entry(self.run.item.clone().unwrap_or_default()).or_default();
        for (budget, times) in &self.run.spent {
            *own.entry(budget.clone()).or_insert(0) += times;
        }
        json!(all)
    }

    /// What a person answered to it.
    pub(super) fn answer(&self) -> Option<Value> {
        let cause = self.run.cause.as_ref()?;
        let state = self.machine()?.states.get(&*cause.state)?;
        matches!(state.kind, Kind::Ask { .. }).then(|| json!(cause.signal))
    }

    /// What a person noted when they last answered, if nobody has worked with it since.
    pub(super) fn note(&self) -> Option<Value> {
        Some(&self.run.noted).filter(|it| !it.is_empty()).map(|it| json!(it))
    }

    /// Rounds of the loop, as text.
    pub(super) fn history(&self) -> String {
        let mut lines = Vec::new();
        for (gate, judge) in &self.run.ledger.judges {
            for round in 1..=judge.rounds {
                lines.push(format!("{gate}, round {round}:"));
                let of = |it: &&Finding| it.gate == *gate && it.rounds.contains(&round);
                let found = self.run.ledger.findings.values().filter(of);
                lines.extend(found.map(|it| format!("- {}: {}", it.severity, it.text)));
            }
        }
        lines.join("\n")
    }

    /// Items of a loop, by the end they came to.
    pub(super) fn items_by_end(&self, state: &str) -> Result<Option<Value>, Unseen> {
        let machines = [self.machine(), Some(&self.workflow.main)].into_iter().flatten();
        let found = machines.flat_map(|it| it.states.values()).find(|it| it.name.in_expression() == state);
        let Some((state, Kind::Each(each))) = found.map(|it| (it, &it.kind)) else { return Ok(None) };
        let mut ends: Map<String, Value> =
            state.cells.keys().map(|it| (it.in_expression(), json!([]))).collect();
        let entries = self.entries(each)?;
        for (id, end) in self.run.items.get(&*state.name).into_iter().flatten() {
            let entry = entries
                .iter()
                .find(|(it, _)| it == id)
                .map_or_else(|| json!({"id": id}), |(_, it)| it.clone());
            if let Some(Value::Array(list)) = ends.get_mut(&end.in_expression()) {
                list.push(entry);
            }
        }
        Ok(Some(Value::Object(ends)))
    }

    /// The entries of a loop's list, each with the id it goes by.
    pub(crate) fn entries(&self, each: &Each) -> Result<Vec<(String, Value)>, Unseen> {
        self.entries_of(&each.list)
    }

    /// The entries of a list, by its name.
    pub(crate) fn entries_of(&self, list: &str) -> Result<Vec<(String, Value)>, Unseen> {
        let path = loopwright_core::name::in_expression(list);
        let names = self.names(&[&path])?;
        let found = path.split('.').try_fold(&names, |at, part| at.get(part));
        let list = match found {
            Some(Value::Array(list)) => list.clone(),
            Some(Value::Null) | None => Vec::new(),
            Some(_) => return Err(Unseen::Wrong(format!("`{path}` is no list"))),
        };
        let entries = list.into_iter().enumerate().map(|(at, entry)| (identity(at, &entry), entry));
        Ok(entries.collect())
    }

    /// The item at hand: an entry of the list its loop goes through.
    pub(super) fn item(&self) -> Result<Option<Value>, Unseen> {
        let run = self.run;
        let (Some(id), of) = (self.item.or(run.item.as_deref()), run.of.as_ref()) else { return Ok(None) };
        let here = self.state().filter(|_| self.item.is_some());
        let around = of.and_then(|it| self.workflow.main.states.get(&**it));
        let Some(Kind::Each(each)) = here.or(around).map(|it| &it.kind) else {
            return Ok(Some(json!({"id": id})));
        };
        let entries = self.entries(each)?;
        let found = entries.into_iter().find(|(it, _)| it == id);
        Ok(Some(match found {
            Some((_, Value::Object(mut entry))) => {
                entry.entry("id").or_insert_with(|| json!(id));
                Value::Object(entry)
            }
            _ => json!({"id": id}),
        }))
    }
}

/// A finding, as facts and texts see it.
fn seen(id: &str, it: &Finding) -> Value {
    json!({
        "id": id, "severity": it.severity, "topic": it.topic, "text": it.text, "file": it.file,
        "gate": it.gate, "round": it.rounds.last().copied().unwrap_or(0), "subject": it.subject,
        "line": it.line, "recommendation": it.recommendation,
    })
}

/// What an entry goes by: its id, itself, or its place.
fn identity(at: usize, entry: &Value) -> String {
    let own = match entry {
        Value::String(text) => Some(text.clone()),
        Value::Object(fields) => fields.get("id").or_else(|| fields.get("finding")).and_then(|it| match it {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }),
        _ => None,
    };
    own.unwrap_or_else(|| (at + 1).to_string())
}
