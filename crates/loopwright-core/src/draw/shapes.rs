//! The outline of each kind of box, and the way of a line from point to point.

use super::DrawKind;
use super::geometry::{Area, Point};
use super::scene::Shape;

/// A length as short text, to a tenth of a pixel.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0").unwrap_or(&text) {
        "-0" => "0".to_owned(),
        short => short.to_owned(),
    }
}

fn at(x: f64, y: f64) -> String {
    format!("{} {}", number(x), number(y))
}

pub(super) fn rectangle(area: Area, radius: f64, class: &str) -> String {
    let Area { x, y, width, height } = area;
    let [x, y, width, height, radius] = [x, y, width, height, radius].map(number);
    format!(r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}"/>"#)
}

fn polygon(points: &[(f64, f64)]) -> String {
    let points: Vec<String> = points.iter().map(|it| at(it.0, it.1)).collect();
    format!(r#"<path class="b" d="M{}Z"/>"#, points.join("L"))
}

/// The outline of a box; it stays within the area and touches all four sides.
pub(super) fn outline(kind: DrawKind, area: Area) -> String {
    let Area { x, y, width, height } = area;
    let (right, bottom, middle) = (area.right(), area.bottom(), area.middle().y);
    match kind {
        DrawKind::Agent | DrawKind::Rest => rectangle(area, 8.0_f64.min(height / 3.0), "b"),
        DrawKind::Do => rectangle(area, 1.5, "b"),
        DrawKind::Review => {
            let bar = 5.0_f64.min(width / 6.0);
            let bars = [x + bar, right - bar].map(|it| format!("M{}V{}", at(it, y), number(bottom)));
            format!(r#"{}<path class="i" d="{}"/>"#, rectangle(area, 2.0, "b"), bars.concat())
        }
        DrawKind::Check => {
            let cut = 8.0_f64.min(height / 3.0);
            polygon(&[
                (x + cut, y),
                (right - cut, y),
                (right, y + cut),
                (right, bottom - cut),
                (right - cut, bottom),
                (x + cut, bottom),
                (x, bottom - cut),
                (x, y + cut),
            ])
        }
        DrawKind::Ask => {
            let slant = 10.0_f64.min(width / 4.0);
            polygon(&[(x + slant, y), (right, y), (right - slant, bottom), (x, bottom)])
        }
        DrawKind::Choose | DrawKind::Settle => {
            let point = 14.0_f64.min(width / 4.0);
            let (left, far) = (x + point, right - point);
            polygon(&[(left, y), (far, y), (right, middle), (far, bottom), (left, bottom), (x, middle)])
        }
        DrawKind::Each => {
            let shift = 4.0_f64.min(height / 5.0);
            let sheet = Area { width: width - shift, height: height - shift, ..area };
            let back = sheet.shifted(Point { x: shift, y: 0.0 });
            rectangle(back, 4.0, "b") + &rectangle(sheet.shifted(Point { x: 0.0, y: shift }), 4.0, "b")
        }
        DrawKind::Back => rectangle(area, height / 2.0, "b"),
        DrawKind::Landing => {
            let tip = 6.0_f64.min(height / 3.0);
            let (middle, shoulder) = (area.middle().x, bottom - tip);
            polygon(&[(x, y), (right, y), (right, shoulder), (middle, bottom), (x, shoulder)])
        }
        DrawKind::EndSuccess | DrawKind::EndFailure | DrawKind::EndStopped => {
            let radius = (height / 2.0).min(18.0);
            let rim = 3.0_f64.min(height / 5.0);
            let inner = Area { x: x + rim, y: y + rim, width: width - 2.0 * rim, height: height - 2.0 * rim };
            rectangle(area, radius, "b") + &rectangle(inner, radius - rim, "i")
        }
    }
}

/// How long an arrow's head is; the line ends where the head begins.
const HEAD: f64 = 7.0;
const HEAD_HALF: f64 = 3.6;
const CORNER: f64 = 10.0;

/// The line and the head of an arrow, as path data.
pub(super) fn arrow(points: &[Point], shape: Shape) -> (String, String) {
    let mut points = points.to_vec();
    points.dedup_by(|one, other| (one.x - other.x).abs() < 0.5 && (one.y - other.y).abs() < 0.5);
    let (Some(&first), Some(&tip)) = (points.first(), points.last()) else { return Default::default() };
    let before = points.iter().rev().nth(1).copied().unwrap_or(first);
    let toward = match shape {
        Shape::Square if (tip.x - before.x).abs() > 0.5 => Point { x: (tip.x - before.x).signum(), y: 0.0 },
        Shape::Square => Point { x: 0.0, y: (tip.y - before.y).signum() },
        Shape::Loop => Point { x: -1.0, y: 0.0 },
    };
    let neck = Point { x: tip.x - toward.x * HEAD, y: tip.y - toward.y * HEAD };
    let (side_x, side_y) = (toward.y * HEAD_HALF, toward.x * HEAD_HALF);
    let head = format!(
        "M{}L{}L{}Z",
        at(tip.x, tip.y),
        at(neck.x + side_x, neck.y + side_y),
        at(neck.x - side_x, neck.y - side_y)
    );
    if let Some(last) = points.last_mut() {
        *last = neck;
    }
    let line = match shape {
        Shape::Square => square(&points),
        Shape::Loop => {
            let far = points.get(1).map_or(first.x, |it| it.x) + 4.0;
            format!(
                "M{}C{} {} {}",
                at(first.x, first.y),
                at(far, first.y - 4.0),
                at(far, neck.y + 3.0),
                at(neck.x, neck.y)
            )
        }
    };
    (line, head)
}

/// Straight lines with round corners.
fn square(points: &[Point]) -> String {
    let toward = |from: Point, to: Point| {
        let length = (to.x - from.x).hypot(to.y - from.y);
        let part = if length > 0.0 { (CORNER / length).min(0.5) } else { 0.0 };
        at(from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part)
    };
    let piece = |(index, &point): (usize, &Point)| match (index, points.get(index + 1)) {
        (0, _) => format!("M{}", at(point.x, point.y)),
        (_, None) => format!("L{}", at(point.x, point.y)),
        (_, Some(&next)) => {
            let (before, after) = (toward(point, points[index - 1]), toward(point, next));
            format!("L{before}Q{} {after}", at(point.x, point.y))
        }
    };
    points.iter().enumerate().map(piece).collect()
}
