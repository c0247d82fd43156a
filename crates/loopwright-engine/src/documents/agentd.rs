//! The files of a change below `agentd/` as documents. What their texts mean is `loopwright_formats::agentd`; here it gets
//! the names that workflows know.

use loopwright_formats::agentd::proposal::{self, Filed, Proposal};
use loopwright_formats::agentd::review::{self, Issue, Review, TestResults, Written};
use loopwright_formats::agentd::spec::Spec;
use loopwright_formats::agentd::state::{self, State};
use loopwright_formats::agentd::tasks::{Action, Layer, Task, TaskFile, Tasks};
use loopwright_formats::agentd::{Problem, Severity, change, config::Config};
use serde_json::{Value, json};

use super::reader::{About, Page};
use super::{Fault, Format, text_at};

/// Which file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agentd {
    /// `STATE.yaml`.
    State,
    /// `proposal.md`.
    Proposal,
    /// `specs/*.md`.
    Spec,
    /// `tasks.md`.
    Tasks,
    /// All of a plan.
    Change,
    /// `REVIEW.md`.
    Review,
    /// `ARCHIVE_REVIEW.md`.
    ArchiveReview,
    /// `config.toml`.
    Config,
}

/// What a state has that nobody began.
const SCHEMA: &str = "2.0";

impl Agentd {
    pub(super) fn named(reader: &str) -> Option<Self> {
        match reader {
            "agentd-state" => Some(Self::State),
            "agentd-proposal" => Some(Self::Proposal),
            "agentd-spec" => Some(Self::Spec),
            "agentd-tasks" => Some(Self::Tasks),
            "agentd-change" => Some(Self::Change),
            "agentd-review" => Some(Self::Review),
            "agentd-archive-review" => Some(Self::ArchiveReview),
            "agentd-config" => Some(Self::Config),
            _ => None,
        }
    }

    pub(super) fn value(self, pages: &[Page], about: &About) -> Result<Value, Fault> {
        let text = pages.first().map(|it| it.text.as_str()).unwrap_or_default();
        let id = about.with["change"].as_str().unwrap_or_default();
        Ok(match self {
            Self::State => stands(text)?,
            Self::Proposal => proposed(text),
            Self::Spec => {
                let all: Vec<&str> = pages.iter().map(|it| it.text.as_str()).collect();
                json!({"items": pages.iter().map(specified).collect::<Vec<_>>(), "text": all.join("\n")})
            }
            Self::Tasks => {
                let tasks = Tasks::read(text, id);
                json!({
                    "change_id": tasks.change_id,
                    "layers": tasks.layers.iter().map(layer).collect::<Vec<_>>(),
                    "problems": grave(&tasks.problems).map(said).collect::<Vec<_>>(),
                    "text": text,
                })
            }
            Self::Change => {
                let report = change::validate(&whole(pages, id), false);
                let all = |of: &dyn Fn(&&Problem) -> bool| -> Vec<String> {
                    report.problems.iter().filter(of).map(said).collect()
                };
                let in_specs = |it: &&Problem| it.severity == Severity::High && it.file.starts_with("specs/");
                json!({"problems": all(&|_| true), "in_specs": all(&in_specs)})
            }
            Self::Review | Self::ArchiveReview => {
                let verdict = Review::read(text).verdict;
                json!({"verdict": verdict.map_or("none", |it| it.verdict.as_str()), "text": text})
            }
            Self::Config => configured(text)?,
        })
    }

    pub(super) fn get(self, text: &str, field: &str) -> Result<Option<Value>, Fault> {
        match self {
            Self::State => {
                let document = Format::Yaml.read(text).map_err(first)?;
                let value = document.get(field).filter(|it| !it.is_null());
                Ok(match (field, value) {
                    // The words that came later mean one of the six.
                    ("phase", Some(Value::String(word))) => {
                        Some(state::phase(&word).map_or(Value::String(word.clone()), Value::from))
                    }
                    (_, value) => value,
                })
            }
            Self::Proposal if field == "reviews" => {
                let blocks = Proposal::read(text).reviews;
                Ok(Some(json!({"blocks": blocks.iter().map(|it| &it.raw).collect::<Vec<_>>()})))
            }
            Self::Review | Self::ArchiveReview if field == "review" => Ok(Some(json!(text))),
            _ => Ok(None),
        }
    }

    pub(super) fn line(self, text: &str, field: &str) -> Option<usize> {
        if self == Self::State { Format::Yaml.read(text).ok()?.line(field) } else { None }
    }

    /// What is shown of reviews is filed once. What people make of it afterwards is theirs, but for the verdict.
    pub(super) fn shows(self, text: &str, field: &str, value: &Value) -> Option<bool> {
        match self {
            // All blocks as they were, or none, is a question of the letter.
            Self::Proposal if field == "reviews" && !value.is_array() => None,
            Self::Proposal if field == "reviews" => {
                let keys: Vec<String> = filed(value).into_iter().map(|it| it.key).collect();
                Some(proposal::holds_reviews(text, &keys))
            }
            Self::Review | Self::ArchiveReview if field == "review" => {
                let Some(written) = self.written(value) else { return Some(true) };
                let there = Review::read(text);
                let verdict = there.verdict.ok().map(|it| it.written);
                Some(there.iteration == Some(written.iteration) && verdict.as_ref() == Some(&written.verdict))
            }
            _ => None,
        }
    }

    pub(super) fn set(self, text: &str, field: &str, value: &Value, about: &About) -> Result<String, Fault> {
        if self.shows(text, field, value) == Some(true) {
            return Ok(text.to_owned());
        }
        match self {
            Self::State => {
                if self.get(text, field)?.as_ref() == Some(value) {
                    return Ok(text.to_owned());
                }
                let begun = if text.trim().is_empty() { begun(about) } else { text.to_owned() };
                let changed = Format::Yaml.set(&begun, field, value)?;
                match &about.with["now"] {
                    now @ Value::String(_) => Format::Yaml.set(&changed, "updated_at", now),
                    _ => Ok(changed),
                }
            }
            Self::Proposal => Ok(match (value, &value["blocks"]) {
                (_, Value::Array(blocks)) => {
                    let blocks: Vec<String> =
                        blocks.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect();
                    proposal::restore_reviews(text, &blocks)
                }
                (Value::Null, _) => proposal::without_reviews(text),
                _ => proposal::file_reviews(text, &filed(value)),
            }),
            Self::Review | Self::ArchiveReview => match self.written(value) {
                Some(written) => Ok(review::render(&written)),
                None => Ok(text.to_owned()),
            },
            Self::Spec | Self::Tasks | Self::Change | Self::Config => {
                Err(Fault::at(text, 0, "nothing can be set in this").of(field))
            }
        }
    }

    /// A layer is what its tasks say, whether or not somebody ticked them.
    pub(super) fn means(self, entry: &Value) -> Value {
        let mut entry = entry.clone();
        if self == Self::Tasks
            && let Some(layer) = entry.as_object_mut()
        {
            layer.remove("done");
            for task in layer.get_mut("tasks").and_then(Value::as_array_mut).into_iter().flatten() {
                let Some(task) = task.as_object_mut() else { continue };
                task.remove("done");
                let text = task.get("text").and_then(Value::as_str).unwrap_or_default();
                let lines = text.lines().filter(|it| !it.trim_start().starts_with("status:"));
                let plain: Vec<String> =
                    lines.map(|it| it.replacen("[x]", "[ ]", 1).replacen("[X]", "[ ]", 1)).collect();
                task.insert("text".to_owned(), json!(plain.join("\n")));
            }
        }
        entry
    }

    /// What a file lacks. One that somebody just wrote has to say more than one that was there.
    pub(super) fn lacks(self, page: &Page, about: &About) -> Option<String> {
        let high = |problems: &[Problem]| grave(problems).next().map(said);
        match self {
            Self::Proposal => {
                let proposal = Proposal::read(&page.text);
                let missing =
                    (!proposal.complete()).then(|| format!("it lacks {}", proposal.missing.join(", ")));
                missing.or_else(|| high(&proposal.problems))
            }
            Self::Spec => {
                let spec = Spec::read(&page.text, stem(&page.path));
                if spec.requirements.is_empty() {
                    return Some("it has no requirement (`### R1 - Title`)".to_owned());
                }
                if spec.scenarios.is_empty() {
                    return Some("it has no scenario (`### Scenario: name` with WHEN and THEN)".to_owned());
                }
                high(&spec.problems)
            }
            Self::Tasks => {
                let id = about.with["change"].as_str().unwrap_or_default();
                let tasks = Tasks::read(&page.text, id);
                if page.is_new && !tasks.change_id_stated {
                    return Some(format!("its front matter does not say `change_id: {id}`"));
                }
                if tasks.all().next().is_none() {
                    return Some("it has no layer with a task".to_owned());
                }
                high(&tasks.problems)
            }
            _ => None,
        }
    }

    /// A round of a judge as the review it is in a file. Nothing, where there was none.
    fn written(self, round: &Value) -> Option<Written> {
        let title = if self == Self::ArchiveReview { "Archive Review" } else { "Code Review" };
        let text = |value: &Value| value.as_str().map(str::to_owned).filter(|it| !it.trim().is_empty());
        let returns = &round["returns"];
        let tests = &returns["test_results"];
        let count = |name: &str| tests[name].as_u64().unwrap_or(0);
        Some(Written {
            title: title.to_owned(),
            iteration: round["round"].as_u64()?,
            verdict: text(&round["verdict"])?,
            summary: None,
            tests: text(&tests["status"]).map(|status| TestResults {
                status,
                total: count("total"),
                passed: count("passed"),
                failed: count("failed"),
                skipped: count("skipped"),
            }),
            security: text(&returns["security_status"]),
            issues: issues(round),
            next_steps: text(&returns["next_steps"]).or_else(|| text(&round["summary"])),
        })
    }
}

fn first(mut faults: Vec<Fault>) -> Fault {
    if faults.is_empty() { Fault::at("", 0, "it cannot be read") } else { faults.swap_remove(0) }
}

/// A problem in a line of text, with its place.
fn said(problem: &Problem) -> String {
    let Problem { file, line, message, .. } = problem;
    match (file.as_str(), line) {
        ("", Some(line)) => format!("line {line}: {message}"),
        ("", None) => message.clone(),
        (file, Some(line)) => format!("{file}, line {line}: {message}"),
        (file, None) => format!("{file}: {message}"),
    }
}

/// A problem as a fault of a text.
fn fault(text: &str, problem: &Problem) -> Fault {
    Fault::at(text, text_at(text, problem.line.unwrap_or(1)), problem.message.clone())
}

fn stands(text: &str) -> Result<Value, Fault> {
    let state = State::read(text).map_err(|all| {
        all.first().map_or_else(|| Fault::at(text, 0, "it cannot be read"), |it| fault(text, it))
    })?;
    let word = |it: &Option<String>| it.clone().unwrap_or_default();
    Ok(json!({
        "change_id": word(&state.change_id),
        "schema_version": word(&state.schema_version),
        "last_action": word(&state.last_action),
        "created_at": word(&state.created_at),
        "updated_at": word(&state.updated_at),
        "phase": state.known_phase().unwrap_or_default(),
        "iteration": state.iteration,
    }))
}

/// A state that is begun.
fn begun(about: &About) -> String {
    let word = |name: &str| about.with[name].as_str().unwrap_or_default().to_owned();
    let (change, now) = (word("change"), word("now"));
    format!("change_id: {change}\nschema_version: \"{SCHEMA}\"\ncreated_at: {now}\nupdated_at: {now}\n")
}

fn proposed(text: &str) -> Value {
    let proposal = Proposal::read(text);
    let spec = |it: &proposal::AffectedSpec| json!({"id": it.id, "depends": it.depends});
    let iteration = proposal.reviews.iter().map(|it| it.iteration).max().unwrap_or(0).max(1);
    json!({
        "complete": proposal.complete(),
        "specs": proposal.affected_specs.iter().map(spec).collect::<Vec<_>>(),
        "reviews": proposal.reviews.iter().map(|it| &it.raw).collect::<Vec<_>>(),
        "iteration": iteration,
        "problems": grave(&proposal.problems).map(said).collect::<Vec<_>>(),
        "text": text,
    })
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".md").unwrap_or(name)
}

fn specified(page: &Page) -> Value {
    let name = stem(&page.path);
    let spec = Spec::read(&page.text, name);
    json!({
        // The name of its file: what a proposal lists is looked for there.
        "id": name,
        "path": page.path,
        "title": spec.title,
        "requirements": spec.requirements.iter().map(|it| &it.id).collect::<Vec<_>>(),
        "depends": spec.depends,
    })
}

fn layer(layer: &Layer) -> Value {
    let action = |it: Option<Action>| it.map(Action::as_str).unwrap_or_default();
    let file = |it: &TaskFile| json!({"path": it.path, "action": action(it.action)});
    let task = |it: &Task| {
        json!({
            "id": it.id, "title": it.title, "text": it.text, "depends": it.depends, "done": it.done,
            "action": action(it.action),
            "file": it.file.as_deref().unwrap_or_default(),
            "files": it.files.iter().map(file).collect::<Vec<_>>(),
            "spec_ref": it.spec_ref.as_deref().unwrap_or_default(),
        })
    };
    json!({
        "id": layer.id,
        "name": layer.title,
        "done": layer.tasks.iter().all(|it| it.done),
        "tasks": layer.tasks.iter().map(task).collect::<Vec<_>>(),
    })
}

/// What cannot be understood, so that something would be left out.
fn grave(problems: &[Problem]) -> impl Iterator<Item = &Problem> {
    problems.iter().filter(|it| it.severity == Severity::High)
}

/// The files of a change, by where they are in its folder.
fn whole(pages: &[Page], id: &str) -> change::Files {
    let within = |path: &str| {
        let parts: Vec<&str> = path.rsplit('/').take(2).collect();
        match parts.as_slice() {
            [name, "specs"] => format!("specs/{name}"),
            [name, ..] => (*name).to_owned(),
            [] => String::new(),
        }
    };
    let texts = pages.iter().map(|it| (within(&it.path), it.text.clone())).collect();
    change::Files { change_id: id.to_owned(), texts, ..change::Files::default() }
}

fn configured(text: &str) -> Result<Value, Fault> {
    let config = Config::read(text).map_err(|it| fault(text, &it))?;
    let word = |it: Option<String>| it.unwrap_or_default();
    Ok(json!({
        "planning_iterations": config.planning_iterations,
        "implementation_iterations": config.implementation_iterations,
        "archive_iterations": config.archive_iterations,
        "gemini_model": word(config.gemini_model),
        "codex_model": word(config.codex_model),
        // As the command line has it.
        "codex_reasoning": word(config.codex_reasoning).replace("extra high", "xhigh"),
        "claude_model": word(config.claude_model),
    }))
}

/// What a judge found in a round.
fn issues(round: &Value) -> Vec<Issue> {
    let text = |value: &Value| value.as_str().map(str::to_owned).filter(|it| !it.is_empty());
    let issue = |found: &Value| {
        let severity = match found["severity"].as_str() {
            Some("high") => Some(Severity::High),
            Some("medium") => Some(Severity::Medium),
            Some("low") => Some(Severity::Low),
            _ => None,
        };
        let remark = found["text"].as_str().unwrap_or_default();
        let (title, description) = match text(&found["subject"]) {
            Some(subject) => (subject, remark.to_owned()),
            None => (remark.to_owned(), String::new()),
        };
        Issue {
            severity,
            title,
            description,
            file: text(&found["file"]),
            line: found["line"].as_u64(),
            recommendation: text(&found["recommendation"]),
            at: None,
        }
    };
    round["findings"].as_array().into_iter().flatten().map(issue).collect()
}

/// Rounds of a judge as blocks of a proposal: each is named after its run and its number.
fn filed(rounds: &Value) -> Vec<Filed> {
    let one = |round: &Value| {
        let number = round["round"].as_u64()?;
        let verdict = round["verdict"].as_str().filter(|it| !it.is_empty())?;
        Some(Filed {
            key: format!("{}.{number}", round["run"].as_str().unwrap_or_default()),
            reviewer: round["by"].as_str().unwrap_or_default().to_owned(),
            status: verdict.to_lowercase(),
            body: review::render(&Written {
                iteration: number,
                verdict: verdict.to_owned(),
                summary: round["summary"].as_str().map(str::to_owned),
                issues: issues(round),
                ..Written::default()
            }),
        })
    };
    rounds.as_array().into_iter().flatten().filter_map(one).collect()
}
