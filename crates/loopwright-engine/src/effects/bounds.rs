//! Bounds: what an effect may change, and what is done about the rest.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use loopwright_core::definition::{Call, Each, EachRun, Kind, Workflow};
use loopwright_core::machine::{Effect, Run, Want};
use loopwright_core::name::Name;
use loopwright_core::paths::{FileSet, OWN};
use serde_json::Value;

use crate::error::EngineError;
use crate::files::{Change, Look};
use crate::journal::Millis;
use crate::scene::Scene;

/// What may be changed.
pub(super) enum Bounds {
    /// These files, and no others.
    Only(Vec<FileSet>),
    /// Everything but these, and what is said there about who does the work and how it is checked.
    AllBut(Vec<FileSet>),
    /// What others may, and whatever was written in a folder after a moment.
    OrAfter(Box<Self>, PathBuf, SystemTime),
}

impl Bounds {
    fn allow(&self, path: &str) -> bool {
        match self {
            Self::Only(sets) => sets.iter().any(|it| it.matches(path)),
            Self::OrAfter(bounds, root, moment) => {
                let written = root.join(path).symlink_metadata().and_then(|it| it.modified());
                bounds.allow(path) || written.is_ok_and(|it| it > *moment)
            }
            Self::AllBut(sets) => !path.starts_with(OWN) && !sets.iter().any(|it| it.matches(path)),
        }
    }

    /// What a role may change in a call: documents it may write that are not the engine's.
    pub(super) fn of_call(scene: &Scene<'_>, role: &Name, call: Option<&Call>) -> Result<Self, EngineError> {
        let mut sets = Vec::new();
        for document in &writable(scene, role, call) {
            sets.extend(scene.set(document)?);
        }
        Ok(Self::Only(sets))
    }

    /// What a check may change: nothing that a document names.
    pub(super) fn of_check(scene: &Scene<'_>) -> Result<Self, EngineError> {
        let mut sets = Vec::new();
        for document in scene.workflow.documents.keys() {
            sets.extend(scene.set(document)?);
        }
        Ok(Self::AllBut(sets))
    }
}

/// Whether a role may change anything at all in a call.
pub(super) fn may_write(scene: &Scene<'_>, role: &Name, call: Option<&Call>) -> bool {
    !writable(scene, role, call).is_empty()
}

/// The documents a role may write in a call.
pub(super) fn writable(scene: &Scene<'_>, role: &Name, call: Option<&Call>) -> Vec<Name> {
    let declared = scene.workflow.roles.get(&**role).map(|it| &it.may_write);
    let narrowed = call.and_then(|it| it.may_write.as_ref());
    let documents = narrowed.or(declared).and_then(|it| scene.run.pick(it)).cloned().unwrap_or_default();
    let owned = |it: &Name| scene.workflow.documents.get(&**it).is_some_and(|it| it.engine_owned);
    documents.into_iter().filter(|it| !owned(it)).collect()
}

/// What was found out of bounds and undone.
pub(crate) struct Undone {
    pub(crate) paths: Vec<String>,
    pub(crate) patch: String,
    /// Whether nothing that was there before was touched.
    pub(super) only_added: bool,
    /// Where folders are now that were repositories of their own.
    pub(super) aside: Option<PathBuf>,
}

/// All files afterwards, what changed within the bounds, and what was undone.
type Kept = (Arc<Look>, Vec<Change>, Option<Undone>);

/// Looks at what changed, and undoes what may not have.
pub(super) fn keep_within(scene: &Scene<'_>, before: &Look, bounds: &Bounds) -> Result<Kept, EngineError> {
    let after = scene.files.look()?;
    // Files that say what is ignored come back first: without them, what was there and ignored all along looks new, and
    // undoing that would delete it.
    let changes = after.since(before);
    let rules = changes.iter().map(Change::path).filter(|it| says_what_is_ignored(it) && !bounds.allow(it));
    let rules: Vec<&str> = rules.collect();
    if rules.is_empty() {
        return undo_outside(scene, before, bounds, after);
    }
    let patch = scene.files.kept_patch(&before.tree, &after.tree, &rules)?;
    scene.files.restore(&after, &before.tree, &rules)?;
    scene.files.unstage(&rules)?;
    let (look, within, rest) = undo_outside(scene, before, bounds, scene.files.look_since(&before.tree)?)?;
    let rest = rest.unwrap_or_else(|| Undone {
        paths: Vec::new(),
        patch: String::new(),
        only_added: true,
        aside: None,
    });
    let of_rules = changes.iter().filter(|it| rules.contains(&it.path()));
    let only_added = rest.only_added && of_rules.clone().all(|it| matches!(it, Change::Added(_)));
    let paths = rules.iter().map(|it| (*it).to_owned()).chain(rest.paths).collect();
    Ok((look, within, Some(Undone { paths, patch: patch + &rest.patch, only_added, aside: rest.aside })))
}

fn says_what_is_ignored(path: &str) -> bool {
    path.rsplit('/').next() == Some(".gitignore")
}

fn undo_outside(scene: &Scene<'_>, before: &Look, bounds: &Bounds, after: Look) -> Result<Kept, EngineError> {
    let others = of_others(scene)?;
    let changes = after.since(before).into_iter();
    // A repository within this one would be committed as a number that nobody can read.
    let begun = |it: &str| after.is_repository(it) && !before.is_repository(it);
    let (within, outside): (Vec<Change>, Vec<Change>) =
        changes.partition(|it| bounds.allow(it.path()) && !begun(it.path()));
    let theirs = |it: &Change| others.iter().any(|set| set.matches(it.path()));
    let outside: Vec<Change> = outside.into_iter().filter(|it| !theirs(it)).collect();
    if outside.is_empty() {
        return Ok((Arc::new(after), within, None));
    }
    let paths: Vec<&str> = outside.iter().map(Change::path).collect();
    let (look, undone) = undo(scene, before, (&after, &outside), &paths)?;
    Ok((look, within, Some(undone)))
}

/// Undoes some of what changed, and keeps it as a patch.
pub(super) fn undo(
    scene: &Scene<'_>,
    before: &Look,
    (after, changes): (&Look, &[Change]),
    paths: &[&str],
) -> Result<(Arc<Look>, Undone), EngineError> {
    let patch = scene.files.kept_patch(&before.tree, &after.tree, paths)?;
    let aside = paths.iter().any(|it| after.is_repository(it)).then(|| scene.files.aside());
    scene.files.restore(after, &before.tree, paths)?;
    // What was undone must not come back with somebody's next commit.
    scene.files.unstage(paths)?;
    let mut undone = changes.iter().filter(|it| paths.contains(&it.path()));
    let only_added = undone.all(|it| matches!(it, Change::Added(_)));
    let paths = paths.iter().map(|it| (*it).to_owned()).collect();
    Ok((Arc::new(scene.files.look()?), Undone { paths, patch, only_added, aside }))
}

/// What items at work beside this one may write: nobody can tell who changed it, so it is not this one's to undo. An item
/// writes only files of its own, so that nothing of this one's is among it.
fn of_others(scene: &Scene<'_>) -> Result<Vec<FileSet>, EngineError> {
    let Some(each) = beside(scene) else { return Ok(Vec::new()) };
    let own = scene.item.or(scene.run.item.as_deref());
    let mut sets = Vec::new();
    for (id, _) in scene.entries(each)?.into_iter().filter(|(id, _)| Some(id.as_str()) != own) {
        match &each.run {
            EachRun::Child(child) => {
                let run = Run { item: Some(id), ..scene.run.clone() };
                let beside = Scene { run: &run, item: None, ..*scene };
                for document in &written_by(scene.workflow, child) {
                    sets.extend(beside.set(document)?);
                }
            }
            EachRun::Call(call) => {
                let beside = Scene { item: Some(&id), ..*scene };
                let role = scene.run.pick(&call.role).cloned().unwrap_or_default();
                for document in &writable(&beside, &role, Some(call)) {
                    sets.extend(beside.set(document)?);
                }
            }
        }
    }
    Ok(sets)
}

/// The loop that runs items side by side in these files, if what is at work is one of them.
pub(super) fn beside<'a>(scene: &Scene<'a>) -> Option<&'a Each> {
    let around = match &scene.run.of {
        Some(of) => scene.workflow.main.states.get(&**of),
        None => scene.state().filter(|_| scene.item.is_some()),
    };
    match around.map(|it| &it.kind) {
        Some(Kind::Each(each)) if each.at_once > 1 && !each.apart => Some(each),
        _ => None,
    }
}

/// The documents that a child may write.
pub(super) fn written_by(workflow: &Workflow, child: &Name) -> Vec<Name> {
    let mut found: Vec<Name> = Vec::new();
    for state in workflow.children.get(&**child).into_iter().flat_map(|it| it.states.values()) {
        if let Some(call) = state.call() {
            let roles = call.role.values().filter_map(|it| workflow.roles.get(&**it));
            let tables = roles.map(|it| call.may_write.as_ref().unwrap_or(&it.may_write));
            found.extend(tables.flat_map(|it| it.values().flatten()).cloned());
        }
        if let Kind::Do { actions, .. } = &state.kind {
            found.extend(actions.iter().filter_map(|it| it.writes.as_ref()).flatten().cloned());
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Undoes what somebody who is gone may not have changed: what that was, and all files afterwards.
pub(crate) fn undo_out_of_bounds(
    scene: &Scene<'_>,
    effect: &Effect,
    values: &Value,
    gone: Option<Millis>,
) -> Result<(Option<Undone>, Option<Arc<Look>>), EngineError> {
    let state = scene.state();
    let bounds = match &effect.want {
        Want::Call { role, .. } => Bounds::of_call(scene, role, state.and_then(|it| it.call()))?,
        Want::Check if state.is_some_and(|it| matches!(it.kind, Kind::Check(_))) => Bounds::of_check(scene)?,
        _ => return Ok((None, None)),
    };
    let Some(tree) = values["tree"].as_str() else { return Ok((None, None)) };
    let before = scene.files.look_back(tree)?;
    // What was written when they were surely gone is somebody else's: a person who mends what is in the way.
    let bounds = match gone {
        Some(gone) => {
            let gone = UNIX_EPOCH + Duration::from_millis(gone);
            Bounds::OrAfter(Box::new(bounds), scene.files.root().to_owned(), gone)
        }
        None => bounds,
    };
    let (after, within, undone) = keep_within(scene, &before, &bounds)?;
    let until = gone.map(|it| UNIX_EPOCH + Duration::from_millis(it));
    let put_back = super::engine_fields::put_back(scene, &before, &within, until)?;
    Ok((undone, Some(put_back.map_or(after, |(look, _)| look))))
}

/// Some paths, in a sentence.
pub(crate) fn listed(paths: &[String]) -> String {
    const SHOWN: usize = 5;
    // A name with a line end in it must not pass for lines of ours.
    let shown = |it: &String| {
        it.chars()
            .flat_map(|it| if it.is_control() { it.escape_default().collect() } else { vec![it] })
            .collect::<String>()
    };
    let first: Vec<String> = paths.iter().take(SHOWN).map(|it| format!("`{}`", shown(it))).collect();
    match paths.len().checked_sub(SHOWN).filter(|it| *it > 0) {
        Some(more) => format!("{} and {more} more", first.join(", ")),
        None => first.join(", "),
    }
}
