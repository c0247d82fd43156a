//! Pictures of a workflow: [`mermaid`] and [`dot`] text for those who have the tools, and an [`svg`] for
//! those who only have a document to put it in.
//!
//! A [`Drawing`] knows boxes, arrows and child machines, and nothing of workflows; whoever holds a workflow
//! says what its states look like. Nothing here can fail: an arrow to a box that does not exist is left out,
//! a box in a group that does not exist stands outside all groups, and every text is escaped.
//!
//! **Invariant:** the same drawing gives the same bytes, so pictures can be kept under version control.

mod dot;
mod fold;
mod geometry;
mod layout;
mod legend;
mod mermaid;
mod names;
mod panels;
mod scene;
mod shapes;
mod style;
mod svg;
mod text;
mod workflow;

#[cfg(test)]
mod tests;

pub use dot::dot;
pub use mermaid::mermaid;
pub use style::Theme;
pub use svg::svg;
pub use workflow::of_workflow;

/// A picture before it is laid out: boxes, arrows, and the child machines some boxes belong to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// Shown above the picture and read aloud by screen readers.
    pub title: String,
    /// The boxes, in the order an author would list them; the order steers the layout.
    pub nodes: Vec<DrawNode>,
    /// The arrows. Several of one kind between the same two boxes become one arrow with several lines.
    pub edges: Vec<DrawEdge>,
    /// The child machines, each drawn as a titled box around its own states.
    pub groups: Vec<DrawGroup>,
}

/// One state, or a mark beside one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawNode {
    /// Names the box in Mermaid and DOT text; made safe and unique there.
    pub id: String,
    /// The first, bold line.
    pub label: String,
    /// A second, smaller line, such as the role that does the work.
    pub detail: Option<String>,
    /// Decides shape and colour.
    pub kind: DrawKind,
    /// Whether an arrow from a dot leads here.
    pub start: bool,
    /// Index into [`Drawing::groups`]; `None` for the machine itself.
    pub group: Option<usize>,
}

/// What a state does, which decides its shape and colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DrawKind {
    /// An agent works.
    Agent,
    /// An agent judges.
    Review,
    /// A command judges.
    Check,
    /// A person is asked.
    Ask,
    /// The engine acts.
    Do,
    /// Facts decide.
    Choose,
    /// Several judgements are brought together.
    Settle,
    /// A child machine or a role runs once per item.
    Each,
    /// The run waits for a command.
    Rest,
    /// The run ends well.
    EndSuccess,
    /// The run ends badly.
    EndFailure,
    /// The run ends early, neither well nor badly.
    EndStopped,
    /// No state: a mark beside one that leads back to whoever led there.
    Back,
    /// No state: a mark beside one where a run that is taken over lands.
    Landing,
}

impl DrawKind {
    /// Whether it is a mark beside a state, and no state.
    pub(crate) fn is_mark(self) -> bool {
        matches!(self, Self::Back | Self::Landing)
    }
}

/// One arrow between two boxes, by index into [`Drawing::nodes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawEdge {
    /// Where it leaves.
    pub from: usize,
    /// Where it arrives; may be the same box.
    pub to: usize,
    /// What must happen for it to be taken; may be empty.
    pub label: String,
    /// Decides line and colour.
    pub kind: EdgeKind,
}

/// What it means to follow an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// The ordinary way on.
    Plain,
    /// A bounded loop: following it spends a budget.
    Spends,
    /// A gate is passed over.
    Forced,
    /// A person decided.
    Person,
    /// Something went wrong; drawn faint, and folded into the boxes where many lead to one place.
    Failure,
    /// From a box to the child machine it runs for each item.
    Runs,
}

/// A child machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawGroup {
    /// Shown at the top of its box.
    pub title: String,
}

/// An arrow that stands for all arrows of one kind between the same two boxes.
struct Arrow {
    from: usize,
    to: usize,
    kind: EdgeKind,
    labels: Vec<String>,
}

impl Drawing {
    /// The arrows to draw: ends exist, and those of one kind between the same two boxes are one.
    fn arrows(&self) -> Vec<Arrow> {
        let mut arrows: Vec<Arrow> = Vec::new();
        let mut seen = rustc_hash::FxHashMap::default();
        for edge in self.edges.iter().filter(|it| it.from < self.nodes.len() && it.to < self.nodes.len()) {
            let index = *seen.entry((edge.from, edge.to, edge.kind)).or_insert_with(|| {
                arrows.push(Arrow { from: edge.from, to: edge.to, kind: edge.kind, labels: Vec::new() });
                arrows.len() - 1
            });
            let label = edge.label.trim();
            if !label.is_empty() && !arrows[index].labels.iter().any(|it| it == label) {
                arrows[index].labels.push(label.to_owned());
            }
        }
        arrows
    }

    /// The group a box is drawn in, if that group exists.
    fn group_of(&self, node: usize) -> Option<usize> {
        self.nodes[node].group.filter(|&it| it < self.groups.len())
    }
}
