//! The three formats: small pictures kept as snapshots, and what must hold of the text for every drawing.

#![expect(clippy::expect_used, reason = "a test may stop at the first surprise")]

use loopwright_core::draw::{
    DrawEdge, DrawGroup, DrawKind, DrawNode, Drawing, EdgeKind, Theme, dot, mermaid, of_workflow, svg,
};
use loopwright_core::language::{Folder, WORKFLOW_FILE, load};
use proptest::prelude::*;

fn node(id: &str, detail: &str, kind: DrawKind) -> DrawNode {
    let detail = (!detail.is_empty()).then(|| detail.to_owned());
    DrawNode { id: id.to_owned(), label: id.to_owned(), detail, kind, start: false, group: None }
}

fn edge(from: usize, to: usize, label: &str, kind: EdgeKind) -> DrawEdge {
    DrawEdge { from, to, label: label.to_owned(), kind }
}

/// The loop every newcomer writes first.
fn task() -> Drawing {
    let mut nodes = vec![
        node("implement", "coder", DrawKind::Agent),
        node("checks", "project.checks", DrawKind::Check),
        node("fix", "coder", DrawKind::Agent),
        node("done", "", DrawKind::EndSuccess),
        node("failed", "", DrawKind::EndFailure),
    ];
    nodes[0].start = true;
    Drawing {
        title: "task".to_owned(),
        nodes,
        edges: vec![
            edge(0, 1, "", EdgeKind::Plain),
            edge(1, 3, "pass", EdgeKind::Plain),
            edge(1, 2, "fail", EdgeKind::Spends),
            edge(1, 4, "fail, no fixes left", EdgeKind::Plain),
            edge(2, 1, "", EdgeKind::Plain),
            edge(2, 4, "timeout", EdgeKind::Failure),
            edge(2, 4, "crashed", EdgeKind::Failure),
            edge(0, 0, "retry", EdgeKind::Spends),
        ],
        groups: Vec::new(),
    }
}

/// A child machine, and every letter that some format gives a meaning to.
fn awkward() -> Drawing {
    let mut nodes = vec![
        node("each task", "runs \"task\"", DrawKind::Each),
        node("end", "<b>&amp;</b> | `code` [x] {y} (z)", DrawKind::Ask),
        node("each-task", "1. back\\slash #35; %%{init}%% *_~", DrawKind::Review),
        node("graph", "", DrawKind::EndStopped),
    ];
    nodes[0].start = true;
    nodes[2].start = true;
    nodes[2].group = Some(0);
    nodes[3].group = Some(0);
    Drawing {
        title: "awkward: \"quotes\" & <tags>".to_owned(),
        nodes,
        edges: vec![
            edge(0, 2, "per | item", EdgeKind::Runs),
            edge(0, 1, "- a \"b\" |c| <d>\n`e`", EdgeKind::Forced),
            edge(2, 3, "", EdgeKind::Person),
            edge(3, 1, "leaves the group", EdgeKind::Failure),
            edge(7, 1, "from nowhere", EdgeKind::Plain),
        ],
        groups: vec![DrawGroup { title: "task [one] \"each\"".to_owned() }],
    }
}

#[test]
fn a_task_in_mermaid() {
    insta::assert_snapshot!(mermaid(&task()));
}

#[test]
fn a_task_in_dot() {
    insta::assert_snapshot!(dot(&task()));
}

#[test]
fn a_task_in_svg() {
    insta::assert_snapshot!(svg(&task(), Theme::Light));
}

#[test]
fn awkward_text_in_mermaid() {
    insta::assert_snapshot!(mermaid(&awkward()));
}

#[test]
fn awkward_text_in_dot() {
    insta::assert_snapshot!(dot(&awkward()));
}

#[test]
fn awkward_text_in_svg() {
    insta::assert_snapshot!(svg(&awkward(), Theme::Auto));
}

const RESTS: &str = r#"workflow: rests
subject: thing
verbs: {go: {else: {error: "not now"}}}
documents: {status: {file: status.yaml, as: yaml, owner: engine, optional: true, shows: {phase: "{{phase}}"}}}
phases:
  asking: {at: waiting, show: [first, second]}
  moved: {at: taken-over, show: [taken-over, waiting], back: first}
  over: [done]
questions: {first: {asks: "Yes?", answers: [yes]}, second: {asks: "Sure?", answers: [yes]}}
states:
  first: {ask: first, on: {yes: second, deferred: waiting}}
  second: {ask: second, on: {yes: done, deferred: waiting}}
  waiting: {rest: "Later.", on: {verb resume: back, verb go: back}}
  taken-over: {rest: "Taken over.", on: {verb resume: second}}
  done: {end: success}
"#;

/// A way back and a way in from elsewhere are no ways from state to state, and are drawn all the same.
#[test]
fn ways_back_and_landings_are_drawn() {
    let files = [(WORKFLOW_FILE.to_owned(), RESTS.as_bytes().to_vec())].into();
    let loaded = load(&Folder { name: "rests".into(), files });
    let drawing = of_workflow(&loaded.workflow.expect("it loads"), true);
    let name = |it: usize| drawing.nodes[it].label.as_str();
    let of = |kind: DrawKind| {
        let mark = |it: usize| drawing.nodes[it].kind == kind;
        let edges = drawing.edges.iter().filter(|it| mark(it.from) || mark(it.to));
        edges.map(|it| (name(it.from), it.label.as_str(), name(it.to))).collect::<Vec<_>>()
    };
    assert_eq!(of(DrawKind::Back), [("waiting", "verb resume", "back"), ("waiting", "verb go", "back")]);
    assert_eq!(of(DrawKind::Landing), [("phase asking", "", "waiting"), ("phase moved", "", "taken-over")]);
    assert_eq!(drawing.nodes.iter().filter(|it| it.kind == DrawKind::Back).count(), 1);
    let picture = svg(&drawing, Theme::Light);
    assert!(picture.contains("with 5 states and"), "{picture}");
    for text in [picture, mermaid(&drawing), dot(&drawing)] {
        assert!(text.contains("phase asking") && text.contains("back"), "{text}");
    }
}

#[test]
fn nothing_gives_an_empty_picture() {
    let nothing = Drawing::default();
    assert_eq!(mermaid(&nothing), "flowchart TD\n");
    assert!(dot(&nothing).starts_with("digraph"));
    read(&svg(&nothing, Theme::Auto));
}

#[test]
fn mermaid_gets_no_empty_quotes() {
    let nodes = vec![node("", "", DrawKind::Do)];
    let drawing = Drawing { nodes, groups: vec![DrawGroup { title: String::new() }], ..Drawing::default() };
    assert!(!mermaid(&drawing).contains("\"\""));
}

#[test]
fn failures_from_everywhere_become_notes() {
    let mut nodes: Vec<DrawNode> =
        (0..6).map(|it| node(&format!("work-{it}"), "", DrawKind::Agent)).collect();
    nodes.push(node("failed", "", DrawKind::EndFailure));
    let edges = (0..6).map(|it| edge(it, 6, "timeout or crashed", EdgeKind::Failure)).collect();
    let picture = svg(&Drawing { title: String::new(), nodes, edges, groups: Vec::new() }, Theme::Light);
    assert_eq!(picture.matches(">[1] → failed<").count(), 6);
    assert_eq!(picture.matches("timeout or crashed").count(), 1, "the label is a footnote, written once");
    assert!(picture.contains("from 6 states"));
    assert_eq!(picture.matches("<path class=\"e\"").count(), 2, "no line but the two in the legend");
}

#[test]
fn a_crowd_is_drawn() {
    let nodes = (0..300).map(|it| node(&format!("state-{it}"), "", DrawKind::Agent)).collect();
    let edges = (0..1500)
        .map(|it| edge(it * 7 % 300, (it * 31 + it / 11) % 300, "signal", EdgeKind::Plain))
        .collect();
    read(&svg(&Drawing { title: "crowd".to_owned(), nodes, edges, groups: Vec::new() }, Theme::Auto));
}

/// All text of a picture, without spaces, since labels are wrapped; panics if it is not XML.
fn read(picture: &str) -> String {
    let document = roxmltree::Document::parse(picture).expect("well-formed");
    assert!(document.descendants().all(|it| !it.has_tag_name("script") && it.attribute("href").is_none()));
    squeezed(
        &document
            .descendants()
            .filter(roxmltree::Node::is_text)
            .filter_map(|it| it.text())
            .collect::<String>(),
    )
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|it| !it.is_whitespace()).collect()
}

const KINDS: [DrawKind; 4] = [DrawKind::Agent, DrawKind::Each, DrawKind::Ask, DrawKind::EndSuccess];
const EDGES: [EdgeKind; 4] = [EdgeKind::Plain, EdgeKind::Failure, EdgeKind::Runs, EdgeKind::Spends];

prop_compose! {
    fn drawings()(count in 1_usize..16)(
        nodes in prop::collection::vec(("\\PC{0,60}", prop::option::of("\\PC{0,120}"), 0_usize..4, any::<bool>(), prop::option::of(0_usize..3)), count),
        edges in prop::collection::vec((0..count + 1, 0..count + 1, "\\PC{0,60}", 0_usize..4), 0..40),
    ) -> Drawing {
        let nodes = nodes.into_iter().map(|(label, detail, kind, start, group)| {
            DrawNode { id: label.clone(), label, detail, kind: KINDS[kind], start, group }
        });
        let edges = edges.into_iter().map(|(from, to, label, kind)| DrawEdge { from, to, label, kind: EDGES[kind] });
        let groups = vec![DrawGroup { title: "one".to_owned() }, DrawGroup { title: String::new() }];
        Drawing { title: "any".to_owned(), nodes: nodes.collect(), edges: edges.collect(), groups }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_text_is_in_the_picture(drawing in drawings()) {
        let text = read(&svg(&drawing, Theme::Auto));
        for node in &drawing.nodes {
            prop_assert!(text.contains(&squeezed(&node.label)), "label {:?} is missing", node.label);
            prop_assert!(text.contains(&squeezed(node.detail.as_deref().unwrap_or(""))), "detail {:?}", node.detail);
        }
        let known = |it: &&DrawEdge| it.from < drawing.nodes.len() && it.to < drawing.nodes.len();
        for edge in drawing.edges.iter().filter(known) {
            prop_assert!(text.contains(&squeezed(&edge.label)), "edge {:?} is missing", edge.label);
        }
    }

    #[test]
    fn the_same_drawing_gives_the_same_bytes(drawing in drawings()) {
        prop_assert_eq!(svg(&drawing, Theme::Auto), svg(&drawing.clone(), Theme::Auto));
        prop_assert_eq!(mermaid(&drawing), mermaid(&drawing.clone()));
        prop_assert_eq!(dot(&drawing), dot(&drawing.clone()));
    }
}
