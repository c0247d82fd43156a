//! What must hold for every drawing, tried on random ones: no box covers another, no line runs through a box,
//! no label covers a box or another label.

use proptest::prelude::*;

use super::geometry::{Area, Point, spread};
use super::scene::{Line, Scene, Shape, label_size, scene};
use super::style::{EDGE_KINDS, KINDS};
use super::text::{Font, xml};
use super::{DrawEdge, DrawGroup, DrawNode, Drawing};

fn overlap(one: Area, other: Area) -> bool {
    const TOUCH: f64 = 0.5;
    one.x + TOUCH < other.right()
        && other.x + TOUCH < one.right()
        && one.y + TOUCH < other.bottom()
        && other.y + TOUCH < one.bottom()
}

/// The areas a line covers, piece by piece; a loop is as wide as its bow.
fn covered(line: &Line) -> Vec<Area> {
    let area = |from: Point, to: Point| Area {
        x: from.x.min(to.x),
        y: from.y.min(to.y),
        width: (from.x - to.x).abs().max(1.0),
        height: (from.y - to.y).abs().max(1.0),
    };
    if line.shape == Shape::Loop {
        return vec![area(line.points[0], line.points[2]), area(line.points[0], line.points[1])];
    }
    line.points.windows(2).map(|pair| area(pair[0], pair[1])).collect()
}

fn faults(scene: &Scene) -> Vec<String> {
    let mut found = Vec::new();
    for (index, one) in scene.boxes.iter().enumerate() {
        for other in scene.boxes[index + 1..].iter().filter(|it| overlap(it.area, one.area)) {
            found.push(format!("box {} covers box {}", one.node, other.node));
        }
    }
    for line in &scene.lines {
        let (from, to) = line.ends.unwrap_or((usize::MAX, usize::MAX));
        for piece in covered(line) {
            for it in scene.boxes.iter().filter(|it| overlap(it.area, piece)) {
                let dot_ends_here =
                    line.ends.is_none() && line.points.last().is_some_and(|tip| tip.y <= it.area.y + 0.5);
                if it.node != from && it.node != to && !dot_ends_here {
                    found.push(format!("line {from} to {to} runs through box {}", it.node));
                }
            }
        }
    }
    let labels: Vec<Area> = scene
        .lines
        .iter()
        .filter_map(|it| it.label.as_ref())
        .map(|it| Area::centred(it.middle, label_size(&it.lines)))
        .collect();
    for (index, &label) in labels.iter().enumerate() {
        for it in scene.boxes.iter().filter(|it| overlap(it.area, label)) {
            found.push(format!("label {index} covers box {}", it.node));
        }
        for (other, _) in labels.iter().enumerate().skip(index + 1).filter(|it| overlap(*it.1, label)) {
            found.push(format!("label {index} covers label {other}"));
        }
    }
    for (index, one) in scene.panels.iter().enumerate() {
        for other in scene.panels[index + 1..].iter().filter(|it| overlap(it.area, one.area)) {
            found.push(format!("group {} covers group {}", one.group, other.group));
        }
    }
    found
}

prop_compose! {
    fn drawings()(count in 1_usize..40, groups in 0_usize..3)(
        nodes in prop::collection::vec((".{0,30}", prop::option::of("[a-z ]{0,80}"), 0..KINDS.len(), 0_usize..8, 0_usize..4), count),
        edges in prop::collection::vec((0..count, 0..count, "[a-zA-Z_:| ]{0,40}", 0..EDGE_KINDS.len()), 0..count * 4),
        titles in prop::collection::vec("[a-z: ]{0,20}", groups),
    ) -> Drawing {
        let node = |(index, (label, detail, kind, start, group)): (usize, (String, Option<String>, usize, usize, usize))| DrawNode {
            id: format!("n{index}"), label, detail, kind: KINDS[kind], start: start == 0, group: group.checked_sub(1),
        };
        let edge = |(from, to, label, kind): (usize, usize, String, usize)| DrawEdge { from, to, label, kind: EDGE_KINDS[kind] };
        Drawing {
            title: "random".to_owned(),
            nodes: nodes.into_iter().enumerate().map(node).collect(),
            edges: edges.into_iter().map(edge).collect(),
            groups: titles.into_iter().map(|title| DrawGroup { title }).collect(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_covers_anything(drawing in drawings()) {
        let (scene, _) = scene(&drawing);
        prop_assert_eq!(scene.boxes.len(), drawing.nodes.len());
        prop_assert_eq!(faults(&scene), Vec::<String>::new());
    }

    #[test]
    fn everything_is_on_the_paper(drawing in drawings()) {
        let (scene, _) = scene(&drawing);
        let inside = |point: Point| {
            (-1.0..=scene.size.width + 1.0).contains(&point.x) && (-1.0..=scene.size.height + 1.0).contains(&point.y)
        };
        for it in &scene.boxes {
            let corners = [(it.area.x, it.area.y), (it.area.right(), it.area.bottom())];
            prop_assert!(corners.iter().all(|&(x, y)| inside(Point { x, y })), "box leaves the paper");
        }
        for line in &scene.lines {
            prop_assert!(line.points.iter().all(|it| inside(*it)), "line {:?} leaves the paper", line.ends);
        }
    }

    #[test]
    fn lines_are_upright_or_level(drawing in drawings()) {
        let (scene, _) = scene(&drawing);
        for line in scene.lines.iter().filter(|it| it.shape == Shape::Square) {
            for pair in line.points.windows(2) {
                let (across, down) = ((pair[0].x - pair[1].x).abs(), (pair[0].y - pair[1].y).abs());
                prop_assert!(across < 0.1 || down < 0.1, "line {:?} is askew: {:?}", line.ends, line.points);
            }
        }
    }

    #[test]
    fn wrapping_keeps_every_letter(text in "\\PC{0,200}", limit in 1.0_f64..200.0) {
        let squeezed = |it: &str| it.chars().filter(|it| !it.is_whitespace()).collect::<String>();
        let lines = Font::regular(11.0).wrap(&text, limit, usize::MAX);
        prop_assert_eq!(squeezed(&lines.concat()), squeezed(&text));
    }

    #[test]
    fn wishes_are_moved_apart_in_order(mut wished in prop::collection::vec(-50.0_f64..150.0, 1..12)) {
        wished.sort_by(f64::total_cmp);
        let placed = spread(&wished, 10.0, 0.0, 100.0);
        prop_assert!(placed.iter().all(|it| (-0.001..=100.001).contains(it)));
        let least = 10.0_f64.min(100.0 / super::geometry::real(wished.len() - 1).max(1.0));
        prop_assert!(placed.windows(2).all(|pair| pair[1] - pair[0] > least - 0.001));
    }
}

#[test]
fn long_texts_end_in_an_ellipsis() {
    let lines = Font::regular(11.0).wrap(&"word ".repeat(500), 100.0, 3);
    assert_eq!(lines.len(), 3);
    assert!(lines[2].ends_with('…'), "{lines:?}");
}

#[test]
fn names_that_fit_a_line_stay_in_one_piece() {
    let font = Font::regular(11.0);
    let wrap = |text: &str| font.wrap(text, font.width("place = dirty/on-"), 10);
    assert_eq!(wrap("place = dirty/on-base"), ["place = dirty/", "on-base"]);
    assert_eq!(wrap("a-name-too-long-for-a-line"), ["a-name-too-", "long-for-a-line"]);
}

#[test]
fn text_is_escaped() {
    assert_eq!(xml("a<b>&\"'\u{1}"), "a&lt;b&gt;&amp;&quot;&#39;\u{fffd}");
}
