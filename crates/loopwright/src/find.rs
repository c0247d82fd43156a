//! Finding workflows: a path, the repository's own, or a built-in.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use loopwright_core::language::{Folder, WORKFLOW_FILE};
use loopwright_core::problem::{did_you_mean, nearest};

use crate::error::CommandError;

include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// A folder holds at most this much.
const MOST_BYTES: u64 = 16 << 20;
/// A single file is read up to here; what is larger is reported by the loader as too large.
const MOST_FILE: u64 = (1 << 20) + 1;
/// A folder holds at most this many files.
const MOST_FILES: usize = 2_000;

/// A workflow's folder and where it was found.
pub(crate) struct Found {
    pub(crate) folder: Folder,
    /// Where it lies, for messages: a path, or `built-in NAME`.
    pub(crate) origin: String,
    /// Whether it is a single file, so that the origin is the file's own path.
    single: bool,
}

impl Found {
    /// What to call it in messages.
    pub(crate) fn name(&self) -> &str {
        if self.single { &self.origin } else { &self.folder.name }
    }

    /// What to call files that are about it.
    pub(crate) fn stem(&self) -> String {
        if !self.single {
            return self.folder.name.clone();
        }
        Path::new(&self.origin).file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Where one of its files lies, for messages.
    pub(crate) fn path(&self, file: &str) -> String {
        if self.single && file == WORKFLOW_FILE {
            return self.origin.clone();
        }
        format!("{}/{file}", self.origin.trim_end_matches('/'))
    }
}

/// The names of the built-in workflows.
pub(crate) fn built_in() -> Vec<&'static str> {
    let mut names: Vec<&str> = BUILT_IN.iter().map(|(name, ..)| *name).collect();
    names.dedup();
    names
}

/// The workflows of the repository, in `.loopwright/workflows` here or in a folder above.
pub(crate) fn own() -> Vec<String> {
    let here = env::current_dir().unwrap_or_default();
    let mut names: Vec<String> = here
        .ancestors()
        .filter_map(|it| fs::read_dir(it.join(".loopwright/workflows")).ok())
        .flatten()
        .filter_map(Result::ok)
        .filter(|it| it.path().join(WORKFLOW_FILE).is_file())
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Every workflow that can be named here: the repository's own, then the built-in ones.
pub(crate) fn all() -> Vec<String> {
    let mut names = own();
    for name in built_in() {
        if !names.iter().any(|it| it == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// The folder somebody stands in, if it is a workflow's.
fn here() -> Option<String> {
    Path::new(WORKFLOW_FILE).is_file().then(|| ".".to_owned())
}

/// What somebody asked for; if nothing, the workflow they stand in, or everything that can be named here.
pub(crate) fn wanted(names: &[String]) -> impl Iterator<Item = Result<Found, CommandError>> {
    let names = match (names, here()) {
        ([], Some(here)) => vec![here],
        ([], None) => all(),
        _ => names.to_vec(),
    };
    names.into_iter().map(|it| find(&it))
}

/// The one workflow somebody asked for; if none, the one they stand in.
pub(crate) fn wanted_one(name: Option<&str>) -> Result<Found, CommandError> {
    match name.map(str::to_owned).or_else(here) {
        Some(name) => find(&name),
        None => {
            Err(CommandError::user(format!("no workflow is named, and there is no `{WORKFLOW_FILE}` here"))
                .hinted("give a workflow's folder, or its name; `loopwright workflows` lists the names"))
        }
    }
}

/// Finds a workflow by path or name.
pub(crate) fn find(wanted: &str) -> Result<Found, CommandError> {
    let path = Path::new(wanted);
    if path.is_dir() {
        return read(path);
    }
    if path.is_file() {
        if path.file_name().is_some_and(|it| it == WORKFLOW_FILE) {
            let parent = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
            return read(parent);
        }
        return read_single(path);
    }
    if path.exists() {
        return Err(CommandError::user(format!("`{wanted}` is neither a file nor a folder"))
            .hinted("give a workflow's folder, or its name"));
    }
    if wanted.contains(['/', '\\']) || Path::new(wanted).extension().is_some() {
        let near = near_folder(path).map(|it| format!("did you mean `{}`?", it.display()));
        let hint = near.unwrap_or_else(|| "give a workflow's folder, or its name".to_owned());
        return Err(CommandError::user(format!("there is no `{wanted}`")).hinted(hint));
    }
    if let Some(own) = repository_workflow(wanted) {
        return read(&own);
    }
    let files = BUILT_IN.iter().filter(|(name, ..)| *name == wanted);
    let files: std::collections::BTreeMap<String, Vec<u8>> =
        files.map(|(_, path, content)| ((*path).to_owned(), content.to_vec())).collect();
    if files.is_empty() {
        let mut known = all();
        known.extend(workflows_in(Path::new(".")));
        let error = CommandError::user(format!("there is no workflow `{wanted}`"));
        return Err(error.maybe_hinted(did_you_mean(wanted, known.iter().map(String::as_str))));
    }
    let folder = Folder { name: wanted.to_owned(), files };
    Ok(Found { folder, origin: format!("built-in {wanted}"), single: false })
}

/// `.loopwright/workflows/NAME` here or in a folder above.
fn repository_workflow(name: &str) -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    here.ancestors()
        .map(|it| it.join(".loopwright/workflows").join(name))
        .find(|it| it.join(WORKFLOW_FILE).is_file())
}

fn read(path: &Path) -> Result<Found, CommandError> {
    let unreadable =
        |error: &io::Error| CommandError::user(format!("`{}` cannot be read: {error}", path.display()));
    if !path.join(WORKFLOW_FILE).is_file() {
        return Err(no_workflow(path));
    }
    let mut folder = Folder::default();
    let absolute = fs::canonicalize(path).map_err(|it| unreadable(&it))?;
    folder.name = absolute.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let mut total = 0;
    for part in ["", "prompts", "templates", "schemas", "scenarios"] {
        let part_path = path.join(part);
        if !part_path.is_dir() {
            continue;
        }
        let entries = fs::read_dir(&part_path).map_err(|it| unreadable(&it))?;
        let mut names: Vec<PathBuf> =
            entries.filter_map(Result::ok).map(|it| it.path()).filter(|it| it.is_file()).collect();
        names.sort();
        for file in names {
            let length = fs::metadata(&file).map_err(|it| unreadable(&it))?.len();
            total += length.min(MOST_FILE);
            if total > MOST_BYTES || folder.files.len() >= MOST_FILES {
                let message = format!("`{}` is too large to be a workflow's folder", path.display());
                return Err(CommandError::user(message)
                    .hinted("a workflow is a folder of its own, with little else in it"));
            }
            let content = read_some(&file).map_err(|it| unreadable(&it))?;
            let name = file.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
            let key = if part.is_empty() { name } else { format!("{part}/{name}") };
            folder.files.insert(key, content);
        }
    }
    Ok(Found { folder, origin: path.display().to_string(), single: false })
}

/// The names of a folder's folders that hold a workflow.
fn workflows_in(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    let mut names: Vec<String> = entries
        .filter(|it| it.path().join(WORKFLOW_FILE).is_file())
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The workflow's folder a path was perhaps meant to be.
fn near_folder(path: &Path) -> Option<PathBuf> {
    let parent = path.parent()?;
    let beside = workflows_in(if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
    let name = nearest(path.file_name()?.to_str()?, beside.iter().map(String::as_str))?;
    Some(parent.join(name))
}

/// Says that a folder holds no workflow, and which of its folders do.
fn no_workflow(path: &Path) -> CommandError {
    let within = path.strip_prefix(".").unwrap_or(path);
    let inside: Vec<String> =
        workflows_in(path).iter().map(|it| format!("`{}`", within.join(it).display())).collect();
    let error = CommandError::user(format!("`{}` has no `{WORKFLOW_FILE}`", path.display()));
    if inside.is_empty() {
        return error.hinted("a workflow is a folder with a `workflow.yaml` in it");
    }
    error.hinted(format!("there are workflows in it: {}", inside.join(", ")))
}

/// A single file, taken for the `workflow.yaml` of a folder without prompts.
fn read_single(path: &Path) -> Result<Found, CommandError> {
    let content = read_some(path)
        .map_err(|it| CommandError::user(format!("`{}` cannot be read: {it}", path.display())))?;
    let mut folder = Folder::default();
    folder.files.insert(WORKFLOW_FILE.to_owned(), content);
    Ok(Found { folder, origin: path.display().to_string(), single: true })
}

/// A text file that somebody names, such as a scenario.
pub(crate) fn read_text(path: &Path) -> Result<String, CommandError> {
    let unreadable = |why: &str| CommandError::user(format!("`{}` cannot be read: {why}", path.display()));
    if path.is_dir() {
        return Err(unreadable("it is a folder"));
    }
    let content = read_some(path).map_err(|it| unreadable(&it.to_string()))?;
    String::from_utf8(content).map_err(|_| unreadable("it is not UTF-8 text"))
}

fn read_some(path: &Path) -> io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut content = Vec::new();
    fs::File::open(path)?.take(MOST_FILE).read_to_end(&mut content)?;
    Ok(content)
}
