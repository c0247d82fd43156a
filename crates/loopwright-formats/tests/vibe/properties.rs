//! Text nobody would write, and files of the corpus with something broken in them.

use std::sync::LazyLock;

use loopwright_formats::vibe::{self, Next, Options, Plan, STATUSES, State, edit, plan, record};
use proptest::prelude::*;

use crate::cases::{Folder, projects};

/// States and plans of the corpus.
static FILES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let both = |it: &crate::cases::Case| {
        let raw = |path: &str| it.files.0.get(path).map(|it| String::from_utf8_lossy(it).into_owned());
        Some((raw(vibe::STATE)?, raw(vibe::PLAN)?))
    };
    projects().iter().filter_map(both).filter(|(state, plan)| state.len() + plan.len() < 20_000).collect()
});

/// Pieces that mean something somewhere.
const PIECES: [&str; 36] = [
    "- Stage: ",
    "- Status:",
    "- Checkpoint",
    ":",
    "\n",
    "\r\n",
    "\r",
    "  ",
    "- [ ] ",
    "- [x] ",
    "[]",
    "## Workflow state\n",
    "## Active issues\n",
    "ISSUE-1: ",
    "- Impact: MAJOR\n",
    "RESOLVED",
    "DONE",
    "## Stage 1\n",
    "### 1.0",
    "(DONE)",
    "(SKIP) ",
    "```",
    "~~~",
    "**",
    "`",
    "Demo commands",
    "- path: ",
    "\u{2028}",
    "\u{85}",
    "\u{feff}",
    "１",
    "é",
    "# ",
    "- ",
    "## Evidence\n",
    "\0",
];

fn odd_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(PIECES.to_vec()).prop_map(str::to_owned),
        1 => "\\PC{0,5}",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// A state and a plan of the corpus, with something cut out and something put in.
fn broken() -> impl Strategy<Value = (String, String)> {
    (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        odd_text(),
        any::<bool>(),
    )
        .prop_map(|(case, from, to, put, in_state)| {
            let (mut state, mut plan) = case.get(&FILES).clone();
            let text = if in_state { &mut state } else { &mut plan };
            let mut characters: Vec<char> = text.chars().collect();
            if !characters.is_empty() {
                let (from, to) = (from.index(characters.len()), to.index(characters.len()));
                let end = to.max(from).min(from.min(to) + 60);
                characters.splice(from.min(to)..end, put.chars());
            }
            *text = characters.into_iter().collect();
            (state, plan)
        })
}

fn files() -> impl Strategy<Value = (String, String)> {
    prop_oneof![(odd_text(), odd_text()), broken()]
}

fn change() -> impl Strategy<Value = (String, String)> {
    let word = prop_oneof!["[0-9]{1,3}[A-Z]?", "[ -~]{1,8}", "\\PC{1,4}"];
    let flag = prop::sample::select(vec!["STAGE_DESIGNED", "RUN_CONTEXT_CAPTURE", "NEW", "X_1"]);
    prop_oneof![
        prop::sample::select(STATUSES.to_vec()).prop_map(|it| ("status".to_owned(), it.to_owned())),
        (prop::sample::select(vec!["stage", "checkpoint"]), word)
            .prop_map(|(field, it)| (field.to_owned(), it)),
        (flag, prop::sample::select(vec!["set", "clear"]))
            .prop_map(|(it, to)| (format!("flags.{it}"), to.to_owned())),
    ]
}

/// A state without what one field says, and without its hash.
fn others(state: &State, field: &str) -> State {
    let mut rest = State { sha256: String::new(), ..state.clone() };
    match field {
        "stage" => rest.stage = None,
        "checkpoint" => rest.checkpoint = None,
        "status" => rest.status = None,
        _ => {
            rest.flags.shift_remove(field.trim_start_matches("flags."));
        }
    }
    rest
}

/// Whether all of a text is still there, in order, but for one stretch of it.
fn differs_in_one_place(before: &str, after: &str) -> bool {
    let (before, after) = (before.as_bytes(), after.as_bytes());
    let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
    // What was taken away is one value, never a line that has others on it.
    let gone = before.len() - (same + tail).min(before.len());
    !before[same.min(before.len())..(same + gone).min(before.len())].contains(&b'\n')
}

proptest! {
    // As many as somebody asks for with `PROPTEST_CASES`, and 600 at least.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(600), ..ProptestConfig::default() })]

    #[test]
    fn nothing_makes_a_reader_panic((state, plan) in files(), strict: bool) {
        let read = Plan::read(&plan);
        for id in ["1.0", "", "x", "1.0 "].into_iter().map(str::to_owned).chain(State::read(&state).checkpoint) {
            let _ = (read.section(&id), read.title(&id), read.previous_stage(&id), plan::demo_commands(&plan, &id));
            let _ = read.after(Some(&id), Some(&id));
        }
        let _ = (vibe::context::summary(&plan), vibe::context::headings(&state));
        let _ = (record::payload(&state), record::acknowledgement(Some(plan.as_bytes()), &state));
        let _ = vibe::catalog::Catalog::read(&plan, strict);
        let _ = vibe::catalog::workflow_prompts("w.yaml", &plan);
        let mut folder = Folder::default();
        folder.0.insert(vibe::STATE.to_owned(), state.into_bytes());
        folder.0.insert(vibe::PLAN.to_owned(), plan.clone().into_bytes());
        folder.0.insert("prompts/template_prompts.md".to_owned(), plan.clone().into_bytes());
        folder.0.insert("workflows/w.yml".to_owned(), plan.into_bytes());
        let report = vibe::validate(&folder, Options { strict, strict_complexity: strict });
        prop_assert_eq!(report.ok, report.errors.is_empty());
    }

    #[test]
    fn bytes_are_read_whatever_they_are(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let text = vibe::text::decode(&bytes);
        prop_assert!(!text.contains('\r'));
        let _ = (State::read(&text), Plan::read(&text));
    }

    #[test]
    fn a_file_reads_the_same_before_and_after_it_is_decoded((state, _) in files()) {
        prop_assert_eq!(State::read(&state), State::read(&vibe::text::decode(state.as_bytes())));
    }

    #[test]
    fn an_edit_changes_one_field_and_nothing_else((state, _) in files(), (field, value) in change()) {
        let Ok(changed) = edit::set(&state, &field, &value) else { return Ok(()) };
        let wanted = value.trim_matches(|it: char| it.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&it));
        let got = edit::get(&changed, &field);
        prop_assert_eq!(got.as_deref(), Some(wanted));
        prop_assert_eq!(others(&State::read(&state), &field), others(&State::read(&changed), &field));
        prop_assert_eq!(edit::set(&changed, &field, &value), Ok(changed.clone()));
        if edit::get(&state, &field).as_deref() == Some(wanted) {
            prop_assert_eq!(&changed, &state);
        }
        prop_assert!(differs_in_one_place(&state, &changed));
    }

    #[test]
    fn edits_of_files_in_use_are_done(case: prop::sample::Index, (field, value) in change()) {
        let (state, _) = case.get(&FILES);
        prop_assume!(!value.trim().is_empty());
        if let Err(fault) = edit::set(state, &field, &value) {
            prop_assert!(false, "{}: {} in {:?}", field, fault, state);
        }
    }

    #[test]
    fn what_comes_next_is_to_be_done_and_comes_to_an_end((_, plan) in files()) {
        let plan = Plan::read(&plan);
        let mut at = None;
        // Whoever marks nothing as done may go back to an id that comes twice, but never beyond the plan.
        for _ in 0..=plan.checkpoints.len() {
            let next = plan.after(at.as_deref(), None);
            match next {
                Next::Advance { id, .. } | Next::NewStage { id, .. } => {
                    prop_assert!(plan.checkpoints.iter().any(|it| it.id == id && it.mark == vibe::Mark::Open));
                    at = Some(id);
                }
                Next::Unknown => prop_assert!(false, "{:?} is of the plan", at),
                _ => break,
            }
        }
    }

    #[test]
    fn a_checkpoint_is_added_without_touching_another_byte(
        (_, plan) in files(), stage in "[0-9]{1,2}A?", value in odd_text(),
    ) {
        let template = "title: T {{k}}\nobjective: '{{k}}.'\ndeliverables: d\nacceptance: a\ndemo_commands: true\nevidence: e\n";
        let values = [("k".to_owned(), value)].into_iter().collect();
        if let Ok((new, id)) = vibe::add_checkpoint(&plan, template, &stage, &values) {
            let same = plan.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
            let tail = plan.bytes().rev().zip(new.bytes().rev()).take_while(|(a, b)| a == b).count();
            prop_assert!(same + tail >= plan.len());
            prop_assert!(Plan::read(&plan).find(&id).is_none());
            prop_assert!(Plan::read(&new).find(&id).is_some());
        }
    }
}
