//! The files of a project, and `validate`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use loopwright_engine::Home;
use loopwright_formats::vibe::{self, Options, STATE, State, text};
use serde_json::json;

use super::super::output::Output;
use crate::error::{self, CommandError};
use crate::session;

#[derive(clap::Args, Debug)]
pub(super) struct ValidateArgs {
    /// What should not be must not be
    #[arg(long)]
    strict: bool,
    /// Checkpoints must not be larger than they should be
    #[arg(long)]
    strict_complexity: bool,
    /// The same as `--format json`
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn cmd_validate(folder: &Folder, arguments: &ValidateArgs, output: Output) -> ExitCode {
    let options = Options { strict: arguments.strict, strict_complexity: arguments.strict_complexity };
    let report = vibe::validate(folder, options);
    output.write(&json!(report));
    ExitCode::from(if report.ok { error::OK } else { error::NOT_LOADED })
}

/// The files of the project somebody stands in.
pub(super) struct Folder {
    pub(super) root: PathBuf,
}

impl Folder {
    /// The project that is meant: the folder that was said, or the one that a run would work in, which is the root of the
    /// repository. A folder below it that has such files is meant only where the root has none.
    pub(super) fn meant(is_said: bool) -> Result<Self, CommandError> {
        let here = session::here()?;
        let has_files = |it: &Path| it.join(".vibe").is_dir();
        let around = Home::find(&here).ok().filter(|_| !is_said);
        let around = around.map(|it| (it.root().to_owned(), it.is_repository));
        let root = match around {
            Some((root, _)) if has_files(&root) => root,
            Some((root, true)) if !has_files(&here) => root,
            _ => here,
        };
        Ok(Self { root })
    }

    /// STATE.md, which everything else is about: what it says, and its text.
    pub(super) fn state(&self) -> Result<(State, String), CommandError> {
        let place = self.root.join(STATE);
        if place.exists() && !place.is_file() {
            return Err(CommandError::user(format!("{} is a folder, and no file", place.display()))
                .hinted(format!("put it elsewhere; `loopwright vibe init` begins a {STATE}")));
        }
        let Some(bytes) = vibe::Files::read(self, STATE) else {
            return Err(CommandError::user(format!("there is no {STATE} in {}", self.root.display()))
                .hinted("`loopwright vibe init` begins one; `--repo-root FOLDER` looks elsewhere"));
        };
        let text = text::decode(&bytes);
        Ok((State::read(&text), text))
    }

    /// Where the catalog of prompts is, if the project has one.
    pub(super) fn catalog(&self) -> Option<String> {
        let path = ["prompts", "built_in/prompts"].map(|it| self.root.join(it).join("template_prompts.md"));
        let path = path.into_iter().find(|it| it.is_file())?;
        Some(path.to_string_lossy().into_owned())
    }

    /// Writes a file as a whole, or not at all.
    pub(super) fn write(&self, path: &str, text: &str) -> Result<(), CommandError> {
        let place = self.root.join(path);
        replace(&place, text)
            .map_err(|error| CommandError::with_code(format!("{}: {error}", place.display()), error::BROKEN))
    }
}

fn replace(place: &Path, text: &str) -> std::io::Result<()> {
    let folder = place.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".loopwright.").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    let permissions = match place.metadata() {
        Ok(known) => known.permissions(),
        Err(_) => std::os::unix::fs::PermissionsExt::from_mode(0o644),
    };
    file.as_file().set_permissions(permissions)?;
    file.persist(place)?;
    Ok(())
}

impl vibe::Files for Folder {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(self.root.join(path)).ok()
    }

    fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.root.join(folder)).into_iter().flatten().filter_map(Result::ok);
        let files = entries.filter(|it| it.path().is_file());
        let mut names: Vec<String> = files.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}
