//! Colours, fonts, and what each kind is called in the legend.
//!
//! Colours are written as plain classes, with the dark ones in a media query that older programs skip: SVG
//! readers outside browsers know neither variables nor `prefers-color-scheme`.

use std::fmt::Write;

use super::text::Font;
use super::{DrawKind, EdgeKind};

pub(super) const TITLE: Font = Font::bold(18.0);
pub(super) const GROUP: Font = Font::bold(13.0);
pub(super) const LABEL: Font = Font::bold(13.0);
pub(super) const DETAIL: Font = Font::regular(11.0);
pub(super) const NOTE: Font = Font::regular(10.0);
pub(super) const EDGE: Font = Font::regular(11.0);
pub(super) const LEGEND: Font = Font::regular(11.0);

/// Which colours a picture has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Light, or dark where the reader's system prefers dark.
    #[default]
    Auto,
    /// Always dark on light.
    Light,
    /// Always light on dark.
    Dark,
}

pub(super) const KINDS: [DrawKind; 14] = [
    DrawKind::Agent,
    DrawKind::Review,
    DrawKind::Check,
    DrawKind::Ask,
    DrawKind::Do,
    DrawKind::Choose,
    DrawKind::Settle,
    DrawKind::Each,
    DrawKind::Rest,
    DrawKind::EndSuccess,
    DrawKind::EndFailure,
    DrawKind::EndStopped,
    DrawKind::Back,
    DrawKind::Landing,
];

pub(super) const EDGE_KINDS: [EdgeKind; 6] = [
    EdgeKind::Plain,
    EdgeKind::Spends,
    EdgeKind::Forced,
    EdgeKind::Person,
    EdgeKind::Failure,
    EdgeKind::Runs,
];

/// A fill and a line colour.
pub(super) struct Paint {
    pub(super) fill: &'static str,
    pub(super) line: &'static str,
}

impl DrawKind {
    /// The class in SVG, Mermaid and DOT.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Review => "review",
            Self::Check => "check",
            Self::Ask => "ask",
            Self::Do => "do",
            Self::Choose => "choose",
            Self::Settle => "settle",
            Self::Each => "each",
            Self::Rest => "rest",
            Self::EndSuccess => "success",
            Self::EndFailure => "failure",
            Self::EndStopped => "stopped",
            Self::Back => "back",
            Self::Landing => "landing",
        }
    }

    pub(super) fn meaning(self) -> &'static str {
        match self {
            Self::Agent => "an agent works",
            Self::Review => "an agent reviews",
            Self::Check => "a command checks",
            Self::Ask => "a person is asked",
            Self::Do => "the engine acts",
            Self::Choose => "facts decide",
            Self::Settle => "settles what is owed",
            Self::Each => "once per item",
            Self::Rest => "waits for a command",
            Self::EndSuccess => "ends well",
            Self::EndFailure => "ends badly",
            Self::EndStopped => "ends early",
            Self::Back => "back to whoever led here",
            Self::Landing => "taken over in a phase",
        }
    }

    pub(super) fn light(self) -> Paint {
        let (fill, line) = match self {
            Self::Agent => ("#e7f0ff", "#3b6fd4"),
            Self::Review => ("#f1eafe", "#8250df"),
            Self::Check => ("#def5ef", "#0f8a72"),
            Self::Ask => ("#fff3cf", "#b98500"),
            Self::Do => ("#eef0f3", "#6b7480"),
            Self::Choose => ("#ffffff", "#6b7480"),
            Self::Settle => ("#fdeaf4", "#c2418a"),
            Self::Each => ("#def2fb", "#0277a8"),
            Self::Rest => ("#f8f5ea", "#8d8158"),
            Self::EndSuccess => ("#dff5e1", "#2d8a39"),
            Self::EndFailure => ("#fde6e4", "#cf3a34"),
            Self::EndStopped => ("#ececec", "#666666"),
            Self::Back | Self::Landing => ("#ffffff", "#9aa3ae"),
        };
        Paint { fill, line }
    }

    fn dark(self) -> Paint {
        let (fill, line) = match self {
            Self::Agent => ("#1c2f52", "#7ea6f4"),
            Self::Review => ("#33244f", "#b894f5"),
            Self::Check => ("#12392f", "#4cc4a8"),
            Self::Ask => ("#42350f", "#e0b33c"),
            Self::Do => ("#2b3038", "#9aa4b1"),
            Self::Choose => ("#1b1f25", "#9aa4b1"),
            Self::Settle => ("#47203a", "#ee83bf"),
            Self::Each => ("#0f3345", "#52b6e0"),
            Self::Rest => ("#353120", "#c2b587"),
            Self::EndSuccess => ("#173a1d", "#62c370"),
            Self::EndFailure => ("#4a1d1b", "#f28b85"),
            Self::EndStopped => ("#333333", "#aaaaaa"),
            Self::Back | Self::Landing => ("#14171c", "#7c8693"),
        };
        Paint { fill, line }
    }
}

impl EdgeKind {
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Spends => "spends",
            Self::Forced => "forced",
            Self::Person => "person",
            Self::Failure => "fails",
            Self::Runs => "runs",
        }
    }

    pub(super) fn meaning(self) -> &'static str {
        match self {
            Self::Plain => "goes on",
            Self::Spends => "spends a budget",
            Self::Forced => "passes over a gate",
            Self::Person => "a person decides",
            Self::Failure => "something failed",
            Self::Runs => "runs for each item",
        }
    }

    pub(super) fn light(self) -> &'static str {
        match self {
            Self::Plain => "#4b5563",
            Self::Spends => "#c2600a",
            Self::Forced => "#b0268a",
            Self::Person => "#0b7f86",
            Self::Failure => "#a98c8c",
            Self::Runs => "#0277a8",
        }
    }

    fn dark(self) -> &'static str {
        match self {
            Self::Plain => "#aab4c2",
            Self::Spends => "#f0a050",
            Self::Forced => "#ee83d0",
            Self::Person => "#4fc9cf",
            Self::Failure => "#9c8080",
            Self::Runs => "#52b6e0",
        }
    }

    /// The dashes and the width of the line.
    fn stroke(self) -> (&'static str, &'static str) {
        match self {
            Self::Plain | Self::Person => ("none", "1.3"),
            Self::Spends => ("none", "1.5"),
            Self::Forced => ("7 3", "1.5"),
            Self::Failure => ("3 3", "1"),
            Self::Runs => ("1.5 4", "2.2"),
        }
    }
}

/// The colours of what is neither box nor arrow.
struct Ground {
    card: &'static str,
    rim: &'static str,
    panel: &'static str,
    text: &'static str,
    muted: &'static str,
}

const LIGHT: Ground =
    Ground { card: "#ffffff", rim: "#d9dde3", panel: "#f7f9fb", text: "#1c2430", muted: "#5b6573" };
const DARK: Ground =
    Ground { card: "#14171c", rim: "#353c46", panel: "#1a1e25", text: "#e6eaf0", muted: "#a3adba" };

/// The class of the whole picture. Every rule begins with it, so that a picture pasted into a page leaves the
/// rest of the page alone.
pub(super) const ROOT: &str = "loopwright";

fn rule(css: &mut String, selector: &str, body: &str) {
    let _ = write!(css, ".{ROOT} {selector}{{{body}}}");
}

/// The style sheet for a theme and the kinds in use.
pub(super) fn sheet(theme: Theme, kinds: &[DrawKind], edges: &[EdgeKind]) -> String {
    let mut css = String::new();
    rule(&mut css, "text", "font-family:Helvetica,Arial,'Liberation Sans',sans-serif");
    let fonts =
        [("t", TITLE), ("g", GROUP), ("l", LABEL), ("d", DETAIL), ("n", NOTE), ("w", EDGE), ("y", LEGEND)];
    for (class, font) in fonts {
        let weight = if font.weight == super::text::Weight::Bold { ";font-weight:bold" } else { "" };
        rule(&mut css, &format!(".{class}"), &format!("font-size:{}px{weight}", font.size));
    }
    rule(&mut css, ".c", "text-anchor:middle");
    rule(&mut css, ".b", "stroke-width:1.4");
    rule(&mut css, ".i", "stroke-width:.8;fill:none");
    rule(&mut css, ".rest .b", "stroke-dasharray:5 3");
    rule(&mut css, ".e", "fill:none;stroke-linecap:round");
    rule(&mut css, ".q", "stroke-dasharray:6 4");
    for kind in edges {
        let (dashes, width) = kind.stroke();
        rule(
            &mut css,
            &format!(".{} .e", kind.class()),
            &format!("stroke-dasharray:{dashes};stroke-width:{width}"),
        );
    }
    css.push_str(&colours(if theme == Theme::Dark { Theme::Dark } else { Theme::Light }, kinds, edges));
    if theme == Theme::Auto {
        let _ = write!(css, "@media (prefers-color-scheme:dark){{{}}}", colours(Theme::Dark, kinds, edges));
    }
    css
}

fn colours(theme: Theme, kinds: &[DrawKind], edges: &[EdgeKind]) -> String {
    let dark = theme == Theme::Dark;
    let Ground { card, rim, panel, text, muted } = if dark { DARK } else { LIGHT };
    let mut css = String::new();
    for (selector, fill) in
        [("text", text), (".o", text), (".d", muted), (".n", muted), (".y", muted), (".h", card)]
    {
        rule(&mut css, selector, &format!("fill:{fill}"));
    }
    rule(&mut css, ".h.v", &format!("fill:{panel}"));
    rule(&mut css, ".p", &format!("fill:{card};stroke:{rim}"));
    rule(&mut css, ".q", &format!("fill:{panel};stroke:{muted}"));
    for kind in kinds {
        let Paint { fill, line } = if dark { kind.dark() } else { kind.light() };
        rule(&mut css, &format!(".{} .b", kind.class()), &format!("fill:{fill};stroke:{line}"));
        rule(&mut css, &format!(".{} .i", kind.class()), &format!("stroke:{line}"));
    }
    for kind in edges {
        let (class, line) = (kind.class(), if dark { kind.dark() } else { kind.light() });
        rule(&mut css, &format!(".{class} .e"), &format!("stroke:{line}"));
        for filled in [".a", ".w"] {
            rule(&mut css, &format!(".{class} {filled}"), &format!("fill:{line}"));
        }
        rule(&mut css, &format!(".n.{class}"), &format!("fill:{line}"));
    }
    css
}
