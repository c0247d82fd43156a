//! Puts the built-in workflows into the binary: a table of every file below `workflows/`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?);
    let workflows = here.join("../../workflows");
    println!("cargo::rerun-if-changed={}", workflows.display());
    let mut table = String::from("pub(crate) const BUILT_IN: &[(&str, &str, &[u8])] = &[\n");
    for folder in sorted(&workflows)? {
        if !folder.is_dir() {
            continue;
        }
        let mut files = Vec::new();
        collect(&folder, &mut files)?;
        for file in files {
            println!("cargo::rerun-if-changed={}", file.display());
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let path = file.strip_prefix(&folder).map_err(io::Error::other)?;
            let path =
                path.components().map(|it| it.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
            let absolute = fs::canonicalize(&file)?;
            let _ = writeln!(
                table,
                "    ({name:?}, {path:?}, include_bytes!({:?})),",
                absolute.display().to_string()
            );
        }
    }
    table.push_str("];\n");
    let out = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?);
    fs::write(out.join("built_in.rs"), table)
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|it| it.map(|it| it.path())).collect::<io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for path in sorted(folder)? {
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
