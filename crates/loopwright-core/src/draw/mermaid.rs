//! The drawing as a Mermaid flowchart.

use std::fmt::Write;

use super::names::{names, texts};
use super::style::{EDGE_KINDS, KINDS};
use super::{DrawKind, DrawNode, Drawing, EdgeKind};

/// The drawing as Mermaid text, for documents whose readers render it.
///
/// Nothing is folded or left out here. Mermaid refuses more than 500 arrows unless told otherwise.
pub fn mermaid(drawing: &Drawing) -> String {
    let mut out = String::new();
    if !drawing.title.trim().is_empty() {
        let _ = writeln!(out, "---\ntitle: {}\n---", yaml(drawing.title.trim()));
    }
    out.push_str("flowchart TD\n");
    let names = names(drawing);
    for (index, node) in drawing.nodes.iter().enumerate().filter(|it| drawing.group_of(it.0).is_none()) {
        state(&mut out, node, &names[index], "  ");
    }
    for (group, it) in drawing.groups.iter().enumerate() {
        let _ = writeln!(out, "  subgraph group{group}[\"{}\"]\n    direction TB", text(&it.title));
        for (index, node) in
            drawing.nodes.iter().enumerate().filter(|it| drawing.group_of(it.0) == Some(group))
        {
            state(&mut out, node, &names[index], "    ");
        }
        out.push_str("  end\n");
    }
    let mut styled: Vec<(EdgeKind, Vec<String>)> =
        EDGE_KINDS.into_iter().map(|it| (it, Vec::new())).collect();
    let mut count = 0;
    for (index, _) in drawing.nodes.iter().enumerate().filter(|it| it.1.start) {
        let _ = writeln!(out, "  start_{0} --> {0}", names[index]);
        count += 1;
    }
    for arrow in drawing.arrows() {
        let line = match arrow.kind {
            EdgeKind::Plain | EdgeKind::Spends | EdgeKind::Person => "-->",
            EdgeKind::Forced | EdgeKind::Failure => "-.->",
            EdgeKind::Runs => "==>",
        };
        let label: Vec<String> = arrow.labels.iter().map(|it| text(it)).collect();
        let label = if label.is_empty() { String::new() } else { format!("|\"{}\"|", label.join("<br/>")) };
        // A child machine is run as a whole, so its frame is the target.
        let inside = drawing.group_of(arrow.to).filter(|&it| drawing.group_of(arrow.from) != Some(it));
        let target = match inside {
            Some(group) if arrow.kind == EdgeKind::Runs => format!("group{group}"),
            _ => names[arrow.to].clone(),
        };
        let _ = writeln!(out, "  {} {line}{label} {target}", names[arrow.from]);
        for (_, list) in styled.iter_mut().filter(|it| it.0 == arrow.kind) {
            list.push(count.to_string());
        }
        count += 1;
    }
    for kind in KINDS.into_iter().filter(|kind| drawing.nodes.iter().any(|it| it.kind == *kind)) {
        let paint = kind.light();
        let dashes = if kind == DrawKind::Rest { ",stroke-dasharray:5 3" } else { "" };
        let _ = writeln!(
            out,
            "  classDef kind_{} fill:{},stroke:{},color:#1c2430{dashes}",
            kind.class(),
            paint.fill,
            paint.line
        );
    }
    if drawing.nodes.iter().any(|it| it.start) {
        out.push_str("  classDef dot fill:#4b5563,stroke:#4b5563\n");
    }
    for (kind, list) in styled.iter().filter(|it| it.0 != EdgeKind::Plain && !it.1.is_empty()) {
        let _ = writeln!(out, "  linkStyle {} stroke:{}", list.join(","), kind.light());
    }
    out
}

fn state(out: &mut String, node: &DrawNode, name: &str, indent: &str) {
    let (open, close) = match node.kind {
        DrawKind::Agent | DrawKind::Rest => ("(", ")"),
        DrawKind::Review | DrawKind::Each => ("[[", "]]"),
        DrawKind::Check => ("{{", "}}"),
        DrawKind::Ask => ("[/", "/]"),
        DrawKind::Do => ("[", "]"),
        DrawKind::Choose | DrawKind::Settle => ("{", "}"),
        DrawKind::EndSuccess | DrawKind::EndFailure | DrawKind::EndStopped | DrawKind::Back => ("([", "])"),
        DrawKind::Landing => (">", "]"),
    };
    if node.start {
        let _ = writeln!(out, "{indent}start_{name}(( )):::dot");
    }
    let label = text(&texts(&node.label, node.detail.as_deref()));
    let _ = writeln!(out, "{indent}{name}{open}\"{label}\"{close}:::kind_{}", node.kind.class());
}

/// Text inside quotes, which must not be empty. Whatever Mermaid could read as markup, Markdown or a directive becomes a character code.
fn text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut only_digits = true;
    for letter in text.trim().chars() {
        match letter {
            '\n' => safe.push_str("<br/>"),
            '"' | '#' | '<' | '>' | '&' | '`' | '|' | '\\' | '%' | '*' | '_' | '~' | '[' | ']' | '{'
            | '}' | '(' | ')' => {
                let _ = write!(safe, "#{};", u32::from(letter));
            }
            '.' | '-' | '+' if only_digits => {
                let _ = write!(safe, "#{};", u32::from(letter));
            }
            control if control.is_control() => safe.push(' '),
            other => safe.push(other),
        }
        only_digits = letter == '\n' || only_digits && (letter.is_ascii_digit() || letter.is_whitespace());
    }
    if safe.is_empty() {
        safe.push(' ');
    }
    safe
}

/// Text as a quoted YAML scalar.
fn yaml(text: &str) -> String {
    let mut safe = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => safe.extend(['\\', letter]),
            control if control.is_control() => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe.push('"');
    safe
}
