//! The drawing as a DOT graph for Graphviz.

use std::fmt::Write;

use super::names::{names, texts};
use super::{DrawKind, DrawNode, Drawing, EdgeKind};

/// The drawing as DOT text, for those who have Graphviz.
///
/// Nothing is folded or left out here; failures do not take part in the ranking, so they do not pull the
/// picture apart.
pub fn dot(drawing: &Drawing) -> String {
    let title = quoted(drawing.title.trim());
    let mut out = format!(
        "digraph {title} {{\n  graph [label={title}, labelloc=t, compound=true, rankdir=TB, fontname=\"Helvetica\"];\n  \
         node [fontname=\"Helvetica\", fontsize=12, style=filled];\n  edge [fontname=\"Helvetica\", fontsize=10];\n"
    );
    let names = names(drawing);
    for (index, node) in drawing.nodes.iter().enumerate().filter(|it| drawing.group_of(it.0).is_none()) {
        state(&mut out, node, &names[index], "  ");
    }
    for (group, it) in drawing.groups.iter().enumerate() {
        let title = quoted(it.title.trim());
        let _ =
            writeln!(out, "  subgraph cluster_{group} {{\n    label={title};\n    style=\"rounded,dashed\";");
        for (index, node) in
            drawing.nodes.iter().enumerate().filter(|it| drawing.group_of(it.0) == Some(group))
        {
            state(&mut out, node, &names[index], "    ");
        }
        out.push_str("  }\n");
    }
    for arrow in drawing.arrows() {
        let mut attributes = vec![format!("color=\"{0}\", fontcolor=\"{0}\"", arrow.kind.light())];
        if !arrow.labels.is_empty() {
            attributes.insert(0, format!("label={}", quoted(&arrow.labels.join("\n"))));
        }
        let inside = drawing.group_of(arrow.to).filter(|&it| drawing.group_of(arrow.from) != Some(it));
        match (arrow.kind, inside) {
            (EdgeKind::Failure, _) => attributes.push("style=dashed, constraint=false".to_owned()),
            (EdgeKind::Forced, _) => attributes.push("style=dashed".to_owned()),
            (EdgeKind::Runs, Some(group)) => attributes.push(format!("style=bold, lhead=cluster_{group}")),
            (EdgeKind::Runs, None) => attributes.push("style=bold".to_owned()),
            (EdgeKind::Plain | EdgeKind::Spends | EdgeKind::Person, _) => {}
        }
        let _ = writeln!(out, "  {} -> {} [{}];", names[arrow.from], names[arrow.to], attributes.join(", "));
    }
    out.push_str("}\n");
    out
}

fn state(out: &mut String, node: &DrawNode, name: &str, indent: &str) {
    let shape = match node.kind {
        DrawKind::Agent => "shape=box, style=\"filled,rounded\"",
        DrawKind::Review => "shape=box, peripheries=2",
        DrawKind::Check => "shape=octagon",
        DrawKind::Ask => "shape=parallelogram",
        DrawKind::Do => "shape=box",
        DrawKind::Choose | DrawKind::Settle => "shape=hexagon",
        DrawKind::Each => "shape=box3d",
        DrawKind::Rest => "shape=box, style=\"filled,rounded,dashed\"",
        DrawKind::EndSuccess | DrawKind::EndFailure | DrawKind::EndStopped => "shape=ellipse, peripheries=2",
        DrawKind::Back => "shape=box, style=\"filled,rounded\", height=0.2, fontsize=10",
        DrawKind::Landing => "shape=invhouse, height=0.3, fontsize=10",
    };
    let paint = node.kind.light();
    let label = quoted(&texts(&node.label, node.detail.as_deref()));
    let _ = writeln!(
        out,
        "{indent}{name} [label={label}, {shape}, fillcolor=\"{}\", color=\"{}\"];",
        paint.fill, paint.line
    );
    if node.start {
        let _ = writeln!(
            out,
            "{indent}start_{name} [label=\"\", shape=circle, width=0.15, fillcolor=\"#4b5563\"];"
        );
        let _ = writeln!(out, "{indent}start_{name} -> {name};");
    }
}

/// Text as a quoted DOT string. Graphviz reads backslashes and HTML entities in labels, so both are escaped.
fn quoted(text: &str) -> String {
    let mut safe = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => safe.push_str("\\\""),
            '\\' => safe.push_str("\\\\"),
            '&' => safe.push_str("&amp;"),
            '\n' => safe.push_str("\\n"),
            control if control.is_control() => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe.push('"');
    safe
}
