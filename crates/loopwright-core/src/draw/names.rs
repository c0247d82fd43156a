//! Names that any graph language accepts, still close to what the author wrote.

use rustc_hash::FxHashSet;

use super::Drawing;

/// A safe, unique name for each box. The prefix keeps clear of words such as `end` and `graph`.
pub(super) fn names(drawing: &Drawing) -> Vec<String> {
    let mut taken = FxHashSet::default();
    let safe = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let mut name = |id: &str| {
        let wanted = format!("s_{}", id.chars().map(safe).collect::<String>());
        let mut unique = wanted.clone();
        let mut number = 2;
        while !taken.insert(unique.clone()) {
            unique = format!("{wanted}_{number}");
            number += 1;
        }
        unique
    };
    drawing.nodes.iter().map(|it| name(&it.id)).collect()
}

/// Label and detail of a box, one below the other.
pub(super) fn texts(label: &str, detail: Option<&str>) -> String {
    let parts = [label.trim(), detail.unwrap_or("").trim()];
    parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n")
}
