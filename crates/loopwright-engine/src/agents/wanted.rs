//! What a role may answer: how it is told, and what it may hand in.

use std::fmt::Write as _;

use indexmap::IndexMap;
use loopwright_core::definition::{Findings, Outcomes};
use loopwright_core::name::Name;
use loopwright_core::schema::Schema;
use loopwright_core::signal;
use serde_json::{Map, Value, json};

/// What a role may answer.
pub(crate) struct Wanted<'a> {
    pub(crate) verdicts: &'a Outcomes,
    pub(crate) findings: Option<&'a Findings>,
    pub(crate) asks: bool,
    pub(crate) returns: Option<Returns<'a>>,
}

/// What comes with a verdict, as a schema of the workflow says.
pub(crate) struct Returns<'a> {
    /// The file of the schema, and what it says.
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
    pub(crate) schema: Schema,
}

impl Wanted<'_> {
    /// Whether there is only one way to come out, which need not be said.
    pub(super) fn is_plain(&self) -> bool {
        let only = self.verdicts.len() == 1 && self.verdicts.values().all(|it| it.fields.is_empty());
        only && !self.asks && self.findings.is_none() && self.returns.is_none()
    }

    /// Whether it is asked for findings.
    fn is_review(&self) -> bool {
        self.findings.is_some()
    }

    /// The tool an answer is handed in with.
    pub(crate) fn tool(&self) -> &'static str {
        if self.is_review() { "create_review" } else { "submit" }
    }

    /// What an agent is told about how to answer: with a tool, where it has one, or else at the end of its text.
    pub(crate) fn told(&self, by_tool: bool) -> String {
        let mut text = String::from("\n---\n\n## How to answer\n\n");
        if by_tool {
            let tool = self.tool();
            let _ = write!(
                text,
                "When you are done, call the tool `{tool}` of the MCP server `loopwright` once (your list of tools may show it as `mcp__loopwright__{tool}` or the like). What you write as text decides nothing: without that call your work does not count. If the call is turned down, it says why; put that right and call again. After it was taken, end.\n\nOnly if you have no such tool, e"
            );
        } else if self.is_plain() {
            text.push_str("When you are done, say in a few sentences what you did and end.\n");
            return text;
        } else {
            text.push('E');
        }
        text.push_str(
            "nd your answer with exactly one fenced block of JSON, and nothing after it:\n\n```json\n{\n",
        );
        self.example(&mut text);
        self.explained(&mut text);
        if self.asks {
            let how = if by_tool { ", or call the tool `ask_person`" } else { "" };
            let _ = writeln!(
                text,
                "If you cannot go on without a person, give the verdict `ASK` and a `question`{how}."
            );
        }
        text
    }

    /// What an agent is told whose answer could not be taken.
    pub(crate) fn told_again(&self, why: &str, by_tool: bool) -> String {
        let told = self.told(by_tool);
        format!(
            "Your answer was not taken: {why}.\n\nThe work itself is as you left it; do not begin anew. Give your answer again, as described here.\n{told}"
        )
    }

    fn example(&self, text: &mut String) {
        let verdict = self.verdicts.keys().next().map(|it| &**it).unwrap_or_default();
        let _ = writeln!(text, "  \"verdict\": \"{verdict}\",");
        text.push_str("  \"summary\": \"one or two sentences\"");
        if let Some(findings) = self.findings {
            let severity = findings.severity.last().map(|it| &**it).unwrap_or_default();
            let _ = write!(text, ",\n  \"findings\": [\n    {{\"severity\": \"{severity}\"");
            if let Some(topic) = findings.topic.first() {
                let _ = write!(text, ", \"topic\": \"{topic}\"");
            }
            text.push_str(
                ", \"file\": \"path\", \"line\": 1, \"subject\": \"what in it\", \"text\": \"what is wrong\", \"recommendation\": \"what to do\"}\n  ]",
            );
        }
        for name in self.returns.iter().flat_map(|it| it.schema.required()) {
            let _ = write!(text, ",\n  \"{name}\": …");
        }
        text.push_str("\n}\n```\n\n");
    }

    fn explained(&self, text: &mut String) {
        let words = |names: &[Name]| names.iter().map(|it| &**it).collect::<Vec<_>>().join(", ");
        let verdicts: Vec<Name> = self.verdicts.keys().cloned().collect();
        let _ = writeln!(text, "`verdict` is one of: {}.", words(&verdicts));
        for (verdict, fields) in self.verdicts {
            for (field, values) in &fields.fields {
                let _ = writeln!(text, "With `{verdict}` also give `{field}`: one of {}.", words(values));
            }
        }
        if let Some(findings) = self.findings {
            let _ = writeln!(text, "`severity` is one of: {}, the worst last.", words(&findings.severity));
            if !findings.topic.is_empty() {
                let _ = writeln!(text, "`topic` is one of: {}.", words(&findings.topic));
            }
            for (topic, most) in &findings.at_most {
                let _ = writeln!(text, "What is `{topic}` is a `{most}` at most.");
            }
            if findings.exact {
                let rated: Vec<Name> = findings.at_least.keys().cloned().collect();
                let _ = writeln!(
                    text,
                    "Every verdict but the first needs a finding that stands in the way: {}.",
                    words(&rated)
                );
            }
            text.push_str("A finding you reported before keeps its `id`. Every verdict but the first needs a finding. `line` and `recommendation` may be left out.\n");
        }
        if let Some(Returns { file, text: schema, .. }) = &self.returns {
            let _ = writeln!(
                text,
                "Beside these there is what comes with the verdict. Without them it has to fit the JSON Schema `{file}`:\n\n```\n{}\n```\n",
                schema.trim()
            );
        }
    }

    /// The JSON Schema of an answer. What need not be there is left out, or is null where everything has to be there.
    pub(crate) fn schema(&self, everything: bool) -> Value {
        let mut all = Properties::of(everything);
        let mut verdicts: Vec<&str> = self.verdicts.keys().map(|it| &**it).collect();
        if self.asks {
            verdicts.push(signal::ASK);
        }
        all.put("verdict", true, json!({"type": "string", "enum": verdicts}));
        all.put("summary", true, json!({"type": "string", "description": "One or two sentences."}));
        if let Some(findings) = self.findings {
            let finding = finding(findings, everything);
            all.put("findings", true, json!({"type": "array", "items": finding}));
        }
        let mut fields: IndexMap<&Name, (Vec<&Name>, Vec<&Name>)> = IndexMap::new();
        for (verdict, declared) in self.verdicts {
            for (field, values) in &declared.fields {
                let (of, all) = fields.entry(field).or_default();
                of.push(verdict);
                all.extend(values.iter().filter(|it| !all.contains(it)).collect::<Vec<_>>());
            }
        }
        for (field, (of, values)) in fields {
            let of: Vec<&str> = of.into_iter().map(|it| &**it).collect();
            let about = format!("Comes with {}.", of.join(", "));
            let only = self.verdicts.len() == 1 && !self.asks;
            all.put(field, only, json!({"type": "string", "enum": values, "description": about}));
        }
        if let Some(returns) = &self.returns {
            let schema: Value = serde_json::from_str(returns.text).unwrap_or_default();
            let required: Vec<&str> = returns.schema.required().collect();
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                all.put(name, required.contains(&name.as_str()), property.clone());
            }
            // What properties refer to goes along; what is said otherwise than by properties is held against it later.
            all.besides = ["$defs", "definitions"]
                .iter()
                .filter_map(|it| Some(((*it).to_owned(), schema.get(*it)?.clone())))
                .collect();
            all.closed = schema["properties"].is_object();
        }
        if self.asks {
            let about = "With the verdict ASK: what a person has to say.";
            all.put("question", false, json!({"type": "string", "description": about}));
        }
        all.done()
    }
}

fn finding(declared: &Findings, everything: bool) -> Value {
    let mut all = Properties::of(everything);
    let text = |about: &str| json!({"type": "string", "description": about});
    all.put(
        "severity",
        true,
        json!({"type": "string", "enum": declared.severity, "description": "The worst last."}),
    );
    if !declared.topic.is_empty() {
        all.put("topic", true, json!({"type": "string", "enum": declared.topic}));
    }
    all.put("text", true, text("What is wrong."));
    all.put("file", false, text("The file, from the root of the project."));
    all.put("line", false, json!({"type": "integer", "minimum": 1}));
    all.put("subject", false, text("What in it: a symbol, a requirement, a heading."));
    all.put("recommendation", false, text("What to do about it."));
    all.put("id", false, text("The id of a finding you reported before."));
    all.done()
}

/// The properties of an object, as they come together.
struct Properties {
    everything: bool,
    known: Map<String, Value>,
    required: Vec<String>,
    besides: Map<String, Value>,
    /// Whether there is nothing else.
    closed: bool,
}

impl Properties {
    fn of(everything: bool) -> Self {
        Self { everything, known: Map::new(), required: Vec::new(), besides: Map::new(), closed: true }
    }

    fn put(&mut self, name: &str, needed: bool, mut property: Value) {
        if self.everything && !needed {
            property = json!({"anyOf": [property, {"type": "null"}]});
        }
        if (self.everything || needed) && !self.known.contains_key(name) {
            self.required.push(name.to_owned());
        }
        self.known.insert(name.to_owned(), property);
    }

    fn done(self) -> Value {
        let Self { known, required, besides, closed, .. } = self;
        let mut schema = json!({"type": "object", "properties": known, "required": required});
        if closed {
            schema["additionalProperties"] = false.into();
        }
        for (name, value) in besides {
            schema[name] = value;
        }
        schema
    }
}
