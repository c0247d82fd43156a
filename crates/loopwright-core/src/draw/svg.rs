//! Writes a scene as SVG: one file, no script, nothing fetched, and every text escaped.

use std::fmt::Write;

use super::geometry::{Area, Point};
use super::legend::Legend;
use super::scene::{Figure, Line, NOTE_RULE, Scene, group_title, label_size, scene};
use super::shapes::{arrow, number, outline, rectangle};
use super::text::{Font, xml};
use super::{Drawing, Theme, style};

const MARGIN: f64 = 24.0;
/// The least width of the picture, so that a legend below a small machine is not a tower.
const LEAST: f64 = 420.0;

/// The drawing as one SVG file, laid out here and readable on light and on dark paper.
pub fn svg(drawing: &Drawing, theme: Theme) -> String {
    let (scene, figures) = scene(drawing);
    let legend = Legend::new(drawing, &scene, &figures);
    let width = scene.size.width.max(LEAST);
    let title = style::TITLE.wrap(&drawing.title, width, 3);
    let top = MARGIN + style::TITLE.block(&title).height + if title.is_empty() { 0.0 } else { 14.0 };
    let mut body = String::new();
    text(&mut body, &title, style::TITLE, "t", Point { x: MARGIN, y: MARGIN });
    let origin = Point { x: MARGIN + (width - scene.size.width) / 2.0, y: top };
    picture(&mut body, drawing, &scene, &figures, origin);
    let below = top + scene.size.height + if drawing.nodes.is_empty() { 0.0 } else { 24.0 };
    let room = legend.add_to(&mut body, &scene.footnotes, MARGIN, below, width);
    let whole = Area {
        x: 0.0,
        y: 0.0,
        width: width.max(room.width) + 2.0 * MARGIN,
        height: below + room.height + MARGIN,
    };
    let name = if drawing.title.trim().is_empty() { "workflow" } else { drawing.title.trim() };
    let [wide, high] = [whole.width, whole.height].map(number);
    let card = Area { x: 0.5, y: 0.5, width: whole.width - 1.0, height: whole.height - 1.0 };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{}\" role=\"img\" aria-label=\"{name}\" width=\"{wide}\" \
         height=\"{high}\" viewBox=\"0 0 {wide} {high}\">\n<title>{name}</title>\n<desc>{}</desc>\n\
         <style>{}</style>\n{}\n{body}</svg>\n",
        style::ROOT,
        xml(&summary(drawing)),
        style::sheet(theme, &legend.kinds, &legend.edges),
        rectangle(card, 10.0, "p"),
        name = xml(name),
    )
}

/// What a screen reader says of the picture as a whole.
fn summary(drawing: &Drawing) -> String {
    let count =
        |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let marks = drawing.nodes.iter().filter(|it| it.kind.is_mark()).count();
    let states = count(drawing.nodes.len() - marks, "state", "states");
    let arrows = count(drawing.arrows().len(), "transition", "transitions");
    let starts: Vec<&str> = drawing.nodes.iter().filter(|it| it.start).map(|it| it.label.trim()).collect();
    let from = if starts.is_empty() { String::new() } else { format!("; starts at {}", starts.join(", ")) };
    format!("A state machine with {states} and {arrows}{from}.")
}

fn picture(out: &mut String, drawing: &Drawing, scene: &Scene, figures: &[Figure], by: Point) {
    let _ = writeln!(out, "<g transform=\"translate({} {})\">", number(by.x), number(by.y));
    for panel in &scene.panels {
        let title = drawing.groups[panel.group].title.trim();
        let _ = write!(out, "<g><title>{}</title>{}</g>", xml(title), rectangle(panel.area, 10.0, "p q"));
        let corner = Point { x: panel.area.x + 14.0, y: panel.area.y + 10.0 };
        text(out, &group_title(title), style::GROUP, "g", corner);
        out.push('\n');
    }
    for line in &scene.lines {
        let (path, head) = arrow(&line.points, line.shape);
        let _ = write!(out, "<g class=\"{}\">{}", line.kind.class(), tooltip(drawing, line));
        let _ = writeln!(out, "<path class=\"e\" d=\"{path}\"/><path class=\"a\" d=\"{head}\"/></g>");
    }
    for line in &scene.lines {
        let Some(label) = &line.label else { continue };
        let area = Area::centred(label.middle, label_size(&label.lines));
        let within = |frame: Area| {
            frame.x < area.x && area.right() < frame.right() && frame.y < area.y && area.y < frame.bottom()
        };
        let halo = if scene.panels.iter().any(|it| within(it.area)) { "h v" } else { "h" };
        let _ = write!(out, "<g class=\"{}\">{}", line.kind.class(), rectangle(area, 3.0, halo));
        text(out, &label.lines, style::EDGE, "w c", Point { x: label.middle.x, y: area.y + 1.0 });
        *out += "</g>\n";
    }
    for dot in &scene.dots {
        let _ =
            writeln!(out, "<circle class=\"o\" cx=\"{}\" cy=\"{}\" r=\"6\"/>", number(dot.x), number(dot.y));
    }
    for placement in &scene.boxes {
        let node = &drawing.nodes[placement.node];
        let about = match node.detail.as_deref().map(str::trim) {
            Some(detail) if !detail.is_empty() => {
                format!("{} ({}): {detail}", node.label.trim(), node.kind.meaning())
            }
            _ => format!("{} ({})", node.label.trim(), node.kind.meaning()),
        };
        let _ = write!(out, "<g class=\"{}\"><title>{}</title>", node.kind.class(), xml(&about));
        *out += &outline(node.kind, placement.area);
        content(out, &figures[placement.node], placement.area);
        *out += "</g>\n";
    }
    *out += "</g>\n";
}

fn tooltip(drawing: &Drawing, line: &Line) -> String {
    let Some((from, to)) = line.ends else { return String::new() };
    let name = |index: usize| drawing.nodes[index].label.trim();
    let label = if line.whole.is_empty() { String::new() } else { format!(": {}", line.whole) };
    format!("<title>{}</title>", xml(&format!("{} → {}{label}", name(from), name(to))))
}

/// The texts of a box, centred as one block.
fn content(out: &mut String, figure: &Figure, area: Area) {
    let mut height = style::LABEL.block(&figure.label).height + style::DETAIL.block(&figure.detail).height;
    for (_, lines) in &figure.notes {
        height += style::NOTE.block(lines).height;
    }
    if !figure.notes.is_empty() {
        height += NOTE_RULE;
    }
    let x = area.middle().x;
    let mut y = area.middle().y - height / 2.0;
    text(out, &figure.label, style::LABEL, "l c", Point { x, y });
    y += style::LABEL.block(&figure.label).height;
    text(out, &figure.detail, style::DETAIL, "d c", Point { x, y });
    y += style::DETAIL.block(&figure.detail).height;
    if !figure.notes.is_empty() {
        y += NOTE_RULE / 2.0;
        let (left, right) = (area.x + figure.inset + 6.0, area.right() - figure.inset - 6.0);
        let _ = write!(out, "<path class=\"i\" d=\"M{} {}H{}\"/>", number(left), number(y), number(right));
        y += NOTE_RULE / 2.0;
    }
    for (kind, lines) in &figure.notes {
        text(out, lines, style::NOTE, &format!("n c {}", kind.class()), Point { x, y });
        y += style::NOTE.block(lines).height;
    }
}

/// Lines of text below a point.
fn text(out: &mut String, lines: &[String], font: Font, class: &str, at: Point) {
    let mut y = at.y + font.size * 0.95;
    for line in lines {
        let _ = write!(
            out,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>",
            number(at.x),
            number(y),
            xml(line)
        );
        y += font.line();
    }
}
