//! `loopwright matrix`

use std::fmt::Write as _;
use std::process::ExitCode;

use loopwright_core::definition::{Arm, Cell, Machine, Origin, Workflow};
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::find::wanted_one;
use crate::show;

/// Show where every signal of every state leads
///
/// States by signals. Cells that come from `defaults` are marked `*`, cells the language fills `~`, cells that nothing
/// routes `(none)`.
#[derive(clap::Args, Debug)]
pub(crate) struct MatrixArgs {
    /// The workflow: a name, folder or file. The folder you are in, if none is given
    #[arg(value_name = "WORKFLOW|PATH")]
    workflow: Option<String>,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Terminal)]
    format: Format,
    /// Print as JSON (same as --format json)
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Terminal,
    Markdown,
    Json,
}

pub(crate) fn cmd_matrix(arguments: &MatrixArgs) -> Result<ExitCode, CommandError> {
    let found = wanted_one(arguments.workflow.as_deref())?;
    let workflow = super::graph::loaded(&found)?;
    let format = if arguments.json { Format::Json } else { arguments.format };
    match format {
        Format::Json => {
            let machines: Vec<Value> = workflow.machines().map(|it| as_json(&workflow, it)).collect();
            show::out(&format!("{}\n", json!({"workflow": workflow.name, "machines": machines})));
        }
        Format::Markdown => show::out(&markdown(&workflow)),
        Format::Terminal => show::out(&terminal(&workflow)),
    }
    Ok(ExitCode::SUCCESS)
}

/// The phase a state shows.
fn phase(workflow: &Workflow, machine: &Machine, state: &str) -> String {
    let name = machine.qualified(state);
    let row = workflow.phases.iter().find(|(_, row)| row.show.contains(&name));
    row.map(|(phase, _)| phase.to_string()).unwrap_or_default()
}

fn arm_text(arm: &Arm) -> String {
    let mut text = arm.to.to_string();
    if let Some(budget) = &arm.spend {
        let _ = write!(text, " -{budget}");
    }
    for budget in &arm.refill {
        let _ = write!(text, " +{budget}");
    }
    for gate in &arm.forced {
        let _ = write!(text, " !{gate}");
    }
    for (name, value) in &arm.set {
        let _ = write!(text, " {name}:={value}");
    }
    for list in &arm.record {
        let _ = write!(text, " >{list}");
    }
    if !arm.when.is_empty() {
        let when: Vec<String> = arm
            .when
            .iter()
            .map(|it| {
                format!("{}={}", it.term, it.values.iter().map(|it| &**it).collect::<Vec<_>>().join("/"))
            })
            .collect();
        let _ = write!(text, " [{}]", when.join(" "));
    }
    text
}

fn cell_text(cell: &Cell) -> String {
    if cell.arms.is_empty() {
        return "(none)".to_owned();
    }
    let arms: Vec<String> = cell.arms.iter().map(arm_text).collect();
    let mark = match cell.origin {
        Origin::Own => "",
        Origin::Default => "* ",
        Origin::Implied => "~ ",
    };
    format!("{mark}{}", arms.join(" / "))
}

/// A line a cell: readable at any width, and it greps well.
fn terminal(workflow: &Workflow) -> String {
    let mut text = String::new();
    let with_phases = !workflow.phases.is_empty();
    for machine in workflow.machines() {
        if let Some(name) = &machine.name {
            let _ = writeln!(text, "\nchild {name}");
        }
        let rows = machine
            .states
            .iter()
            .flat_map(|(name, state)| state.cells.iter().map(move |it| (name, state, it)));
        let width = machine.states.keys().map(|it| it.chars().count()).max().unwrap_or(0);
        let signals = machine
            .states
            .values()
            .flat_map(|it| it.cells.keys())
            .map(|it| it.chars().count())
            .max()
            .unwrap_or(0);
        let mut last = None;
        for (name, state, (signal, cell)) in rows {
            let shown = if last == Some(name) { String::new() } else { name.to_string() };
            let kind = if last == Some(name) { "" } else { state.kind.word() };
            last = Some(name);
            let _ = write!(text, "{shown:width$}  {kind:6}  {signal:signals$}  {}", cell_text(cell));
            let phase = phase(workflow, machine, name);
            if with_phases && !kind.is_empty() && !phase.is_empty() {
                let _ = write!(text, "   ({phase})");
            }
            text.push('\n');
        }
        for (name, state) in machine.states.iter().filter(|(_, it)| it.cells.is_empty()) {
            let _ = writeln!(text, "{name:width$}  {}", state.kind.word());
        }
    }
    text.push_str(
        "\n* from defaults   ~ implied   / otherwise   [condition]   (none) no route\n\
         -budget spent   +budget filled   !gate passed over   name:=value set   >list appended to\n",
    );
    text
}

/// A real matrix: states down, signals across.
fn markdown(workflow: &Workflow) -> String {
    let mut text = format!("# {}: where every signal leads\n", workflow.name);
    for machine in workflow.machines() {
        if let Some(name) = &machine.name {
            let _ = write!(text, "\n## child {name}\n");
        }
        let mut signals: Vec<&str> = Vec::new();
        for signal in machine.states.values().flat_map(|it| it.cells.keys()) {
            if !signals.contains(&&**signal) {
                signals.push(signal);
            }
        }
        let escape = |it: &str| it.replace('|', "\\|");
        let head: Vec<String> = signals.iter().map(|it| format!("`{}`", escape(it))).collect();
        let _ = writeln!(text, "\n| state | kind | shows | {} |", head.join(" | "));
        let _ = writeln!(text, "|---|---|---|{}", "---|".repeat(signals.len()));
        for (name, state) in &machine.states {
            let cells: Vec<String> = signals
                .iter()
                .map(|it| {
                    state.cells.get(*it).map_or_else(|| "·".to_owned(), |cell| escape(&cell_text(cell)))
                })
                .collect();
            let phase = escape(&phase(workflow, machine, name));
            let _ = writeln!(text, "| {name} | {} | {phase} | {} |", state.kind.word(), cells.join(" | "));
        }
    }
    text.push_str(
        "\n`·` cannot happen, `*` from defaults, `~` implied, `/` otherwise, `(none)` no route, `-b` spends b, `+b` fills b, \
         `!g` passes g over, `v:=x` sets v, `>l` appends to l.\n",
    );
    text
}

fn as_json(workflow: &Workflow, machine: &Machine) -> Value {
    let states: Vec<Value> = machine
        .states
        .iter()
        .map(|(name, state)| {
            let cells: Vec<Value> = state
                .cells
                .iter()
                .map(|(signal, cell)| {
                    let arms: Vec<Value> = cell
                        .arms
                        .iter()
                        .map(|it| {
                            json!({
                                "to": it.to.to_string(), "spend": it.spend, "refill": it.refill, "forced": it.forced,
                                "record": it.record, "set": it.set,
                                "when": it.when.iter().map(|it| json!({"name": it.term.to_string(), "in": it.values})).collect::<Vec<_>>(),
                            })
                        })
                        .collect();
                    json!({"signal": signal, "origin": cell.origin, "arms": arms})
                })
                .collect();
            json!({"state": name, "kind": state.kind.word(), "shows": phase(workflow, machine, name), "cells": cells})
        })
        .collect();
    json!({"child": machine.name, "states": states})
}
