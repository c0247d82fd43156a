//! Places: what an action is told by the name of a document or by a path.

use loopwright_core::name::Name;
use loopwright_core::paths::FileSet;

use super::Refusable;
use crate::error::EngineError;
use crate::scene::Scene;

/// Files that are to go somewhere.
pub(super) struct Source {
    /// What they are told apart below: a folder, or the one file.
    pub(super) base: String,
    pub(super) files: Vec<String>,
    one: bool,
}

/// Where files are to go.
pub(super) struct Target {
    /// The folder, or the one file.
    pub(super) base: String,
    /// A document that is one file.
    one: bool,
    /// What a document of several files may have.
    sets: Option<Vec<FileSet>>,
}

/// The document that is named, if it is one.
fn document(scene: &Scene<'_>, what: &str) -> Option<Name> {
    let name = what.strip_prefix("docs.").unwrap_or(what);
    scene.workflow.documents.contains_key(name).then(|| name.into())
}

/// A path from the root, if it stays within the files of the run.
pub(super) fn proper(scene: &Scene<'_>, path: &str) -> Refusable<String> {
    let path = match (path.strip_prefix("./"), scene.own_folder()?) {
        (Some(rest), Some(folder)) => format!("{}/{rest}", folder.trim_end_matches('/')),
        (Some(rest), None) => rest.to_owned(),
        (None, _) => path.to_owned(),
    };
    let path = path.trim_end_matches('/').to_owned();
    let bad = |it: &str| it.is_empty() || it == "." || it == ".." || it == ".git" || it.contains('\\');
    if path.split('/').any(bad) {
        return Ok(Err(format!(
            "`{path}` is no path within the repository: it may not begin with `/` or have `..` or `.git` in it"
        )));
    }
    // A folder that is a link may lead elsewhere.
    let root = scene.files.root();
    let real = root.join(&path);
    let there = real.ancestors().skip(1).find_map(|it| it.canonicalize().ok());
    match (there, root.canonicalize()) {
        (Some(there), Ok(root)) if there.starts_with(&root) => Ok(Ok(path)),
        _ => Ok(Err(format!("`{path}` leads out of the repository by a link"))),
    }
}

/// The folder that all files of some patterns are in.
fn folder_of(patterns: &[String]) -> String {
    let plain = |it: &String| {
        let end = it.find(['*', '?', '[', '{']).unwrap_or(it.len());
        let folder = it[..end].rfind('/').unwrap_or(0);
        it[..folder].to_owned()
    };
    let mut folders = patterns.iter().filter(|it| !it.starts_with('!')).map(plain);
    let first = folders.next().unwrap_or_default();
    folders.fold(first, |common, folder| {
        let same = common.split('/').zip(folder.split('/')).take_while(|(a, b)| a == b);
        same.map(|(it, _)| it).collect::<Vec<_>>().join("/")
    })
}

/// What a name or a path stands for, as it is.
pub(super) fn source(scene: &Scene<'_>, what: &str) -> Refusable<Source> {
    let Some(name) = document(scene, what) else {
        return Ok(match proper(scene, what)? {
            Ok(base) => {
                let files = scene.files.below(&base)?;
                let one = files == [base.clone()];
                Ok(Source { base, files, one })
            }
            Err(why) => Err(why),
        });
    };
    let files = scene.files_of(&name)?;
    Ok(Ok(match scene.path(&name)? {
        Some(base) => Source { base, files, one: true },
        None => Source { base: folder_of(&scene.patterns_of(&name)?), files, one: false },
    }))
}

/// Where something is to go.
pub(super) fn target(scene: &Scene<'_>, what: &str) -> Refusable<Target> {
    let Some(name) = document(scene, what) else {
        return Ok(proper(scene, what)?.map(|base| Target { base, one: false, sets: None }));
    };
    if let Some(base) = scene.path(&name)? {
        return Ok(proper(scene, &base)?.map(|base| Target { base, one: true, sets: None }));
    }
    let sets = scene.set(&name)?;
    if sets.is_empty() {
        return Ok(Err(format!("`{name}` has no files of its own that could be written")));
    }
    Ok(Ok(Target { base: folder_of(&scene.patterns_of(&name)?), one: false, sets: Some(sets) }))
}

impl Target {
    /// The files that are there now.
    pub(super) fn files(&self, scene: &Scene<'_>) -> Result<Vec<String>, EngineError> {
        let below = scene.files.below(&self.base)?;
        Ok(match &self.sets {
            Some(sets) => below.into_iter().filter(|path| sets.iter().any(|it| it.matches(path))).collect(),
            None => below,
        })
    }
}

/// Each file with where it is to go.
pub(super) fn pairs(source: &Source, target: &Target) -> Result<Vec<(String, String)>, String> {
    let within = |a: &str, b: &str| a.strip_prefix(b).is_some_and(|it| b.is_empty() || it.starts_with('/'));
    let (from, to) = (source.base.as_str(), target.base.as_str());
    if from == to || within(from, to) || within(to, from) {
        return Err(format!("`{from}` and `{to}` lie within each other"));
    }
    if target.one && !source.one && !source.files.is_empty() {
        return Err(format!("`{to}` is one file, and what is at `{from}` is a folder"));
    }
    let mut pairs = Vec::new();
    for file in &source.files {
        let below = file.strip_prefix(from).unwrap_or(file).trim_start_matches('/');
        let to = match (source.one, &target.sets) {
            (true, None) => to.to_owned(),
            (true, Some(_)) => format!("{to}/{}", file.rsplit('/').next().unwrap_or(file)),
            (false, _) => format!("{to}/{below}"),
        };
        let to = to.trim_start_matches('/').to_owned();
        if target.sets.as_ref().is_some_and(|sets| !sets.iter().any(|it| it.matches(&to))) {
            return Err(format!("`{file}` would become `{to}`, and that is none of the document's files"));
        }
        pairs.push((file.clone(), to));
    }
    Ok(pairs)
}
