//! Which files are tests by where they are and what they are called.

use crate::{is_rust, name_of};

/// Whether a file that is not Rust is a test, or something only tests use.
pub(crate) fn is_test(path: &str) -> bool {
    let folders = || path.split('/').rev().skip(1);
    let in_folder = folders().any(|it| {
        matches!(
            it,
            "tests" | "test" | "__tests__" | "__mocks__" | "__fixtures__" | "__snapshots__" | "testdata"
        ) || it == "proptest-regressions"
    });
    in_folder || is_test_name(path)
}

fn is_test_name(path: &str) -> bool {
    let name = name_of(path);
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let ends = |endings: &[&str]| endings.iter().any(|it| stem.len() > it.len() && stem.ends_with(it));
    match extension {
        "py" | "pyi" => name == "conftest.py" || stem.starts_with("test_") || ends(&["_test"]),
        "go" | "dart" | "exs" | "ex" | "cc" | "cpp" | "cxx" | "c" | "lua" | "zig" | "ml" => {
            ends(&["_test", "_tests"])
        }
        "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "svelte" => {
            ends(&[".test", ".spec", ".cy", ".e2e"])
        }
        "rb" => ends(&["_test", "_spec"]) || stem.starts_with("test_"),
        // A word of its own, so `Contest.java` is none; and what is below `src/main` is shipped.
        "java" | "kt" | "kts" | "scala" | "groovy" | "cs" | "fs" | "swift" | "php" => {
            ends(&["Test", "Tests", "Spec"]) && !format!("/{path}").contains("/src/main/")
        }
        "snap" => true,
        _ => false,
    }
}

/// Whether a file of Rust is a test by its place in the package, whoever declares it.
pub(crate) fn is_test_target(path: &str) -> bool {
    is_rust(path) && path.split('/').rev().skip(1).any(|it| it == "tests") && {
        let mut folders = path.split('/');
        folders.find(|it| matches!(*it, "tests" | "src")) == Some("tests")
    }
}

/// Whether a file of Rust would be called a test if nobody is known who declares it.
pub(crate) fn is_test_module(path: &str) -> bool {
    let stem = name_of(path).trim_end_matches(".rs");
    let is_called = stem == "tests" || stem.ends_with("_test") || stem.ends_with("_tests");
    is_called || path.split('/').rev().skip(1).any(|it| it == "tests")
}
