//! What the section of a checkpoint has to have, and how much it may ask for.

use serde::Serialize;

use super::plan::Plan;
use super::text;

/// What a checkpoint of the plan has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "it is the answer of the original, field by field")]
pub struct PlanCheck {
    /// Whether the plan has the checkpoint.
    pub found_checkpoint: bool,
    /// Whether it says what it is for.
    pub has_objective: bool,
    /// Whether it says what comes of it.
    pub has_deliverables: bool,
    /// Whether it says when it is done.
    pub has_acceptance: bool,
    /// Whether it has commands that show it.
    pub has_demo: bool,
    /// Whether it says what evidence is wanted.
    pub has_evidence: bool,
    /// What is more than a checkpoint should have.
    pub complexity_warnings: Vec<String>,
}

/// The parts of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Objective,
    Deliverables,
    Acceptance,
    Demo,
    Evidence,
}

impl Part {
    pub const ALL: [Self; 5] =
        [Self::Objective, Self::Deliverables, Self::Acceptance, Self::Demo, Self::Evidence];

    pub fn name(self) -> &'static str {
        match self {
            Self::Objective => "Objective",
            Self::Deliverables => "Deliverables",
            Self::Acceptance => "Acceptance",
            Self::Demo => "Demo commands",
            Self::Evidence => "Evidence",
        }
    }

    /// How many items it may have.
    fn budget(self) -> Option<usize> {
        match self {
            Self::Deliverables => Some(5),
            Self::Acceptance => Some(6),
            Self::Demo => Some(4),
            Self::Objective | Self::Evidence => None,
        }
    }

    /// The part a line begins: one with just its name, perhaps as an item, bold, or with a colon.
    fn of(line: &str) -> Option<Self> {
        let line = text::trim(text::bullet(line).unwrap_or(line));
        let line = line.strip_prefix("**").unwrap_or(line);
        Self::ALL.into_iter().find(|part| {
            let name = part.name();
            let is_named = line.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name));
            is_named && is_closing(line.get(name.len()..).unwrap_or_default())
        })
    }
}

/// Whether nothing follows a name but a colon and the end of bold.
fn is_closing(rest: &str) -> bool {
    let rest = text::trim(rest);
    let rest = rest.strip_prefix("**").unwrap_or(rest);
    let rest = text::trim(rest);
    let rest = text::trim(rest.strip_prefix(':').unwrap_or(rest));
    rest.is_empty() || rest == "**"
}

impl PlanCheck {
    /// Looks at the section of a checkpoint.
    pub(crate) fn of(plan: &Plan, checkpoint: &str) -> Self {
        plan.mentioning(checkpoint)
            .map_or_else(Self::default, |section| Self::of_section(section, checkpoint))
    }

    fn of_section(section: &str, checkpoint: &str) -> Self {
        let lines: Vec<&str> = text::lines(section).collect();
        let parts: Vec<Option<Part>> = lines.iter().map(|line| Part::of(line)).collect();
        let has = |part: Part| parts.contains(&Some(part));
        Self {
            found_checkpoint: true,
            has_objective: has(Part::Objective),
            has_deliverables: has(Part::Deliverables),
            has_acceptance: has(Part::Acceptance),
            has_demo: section.contains("```") || lines.iter().any(|line| begins_with_code(line)),
            has_evidence: has(Part::Evidence),
            complexity_warnings: Part::ALL
                .into_iter()
                .filter_map(|part| {
                    let budget = part.budget()?;
                    let count = count_items(part, &lines, &parts);
                    (count > budget).then(|| {
                        let name = part.name();
                        format!(
                            "checkpoint {checkpoint} lists {count} items under `{name}`, and {budget} are enough for \
                             one; split it"
                        )
                    })
                })
                .collect(),
        }
    }

    /// Whether it has a part.
    pub(crate) fn has(&self, part: Part) -> bool {
        match part {
            Part::Objective => self.has_objective,
            Part::Deliverables => self.has_deliverables,
            Part::Acceptance => self.has_acceptance,
            Part::Demo => self.has_demo,
            Part::Evidence => self.has_evidence,
        }
    }
}

/// The items of a part, nested ones too, up to the next part.
fn count_items(part: Part, lines: &[&str], parts: &[Option<Part>]) -> usize {
    let Some(start) = parts.iter().position(|it| *it == Some(part)) else { return 0 };
    lines
        .iter()
        .zip(parts)
        .skip(start + 1)
        .take_while(|(_, part)| part.is_none())
        .filter(|(line, _)| text::bullet(line).is_some_and(|it| !it.is_empty()))
        .count()
}

/// Whether a line is an item that begins with code.
fn begins_with_code(line: &str) -> bool {
    text::bullet(line)
        .and_then(|it| it.strip_prefix('`'))
        .and_then(|it| it.find('`'))
        .is_some_and(|length| length > 0)
}
