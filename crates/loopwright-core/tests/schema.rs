//! The published JSON Schema is the one the code has.

#![expect(clippy::disallowed_methods, reason = "a test may read files; the crate may not")]

use std::fs;
use std::path::Path;

use loopwright_core::language::json_schema;

#[test]
fn the_published_schema_is_current() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/workflow.schema.json");
    let current = format!("{}\n", serde_json::to_string_pretty(&json_schema()).expect("a schema is JSON"));
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(&file, &current).expect("the schema can be written");
    }
    let published = fs::read_to_string(&file).unwrap_or_default();
    assert!(published == current, "schemas/workflow.schema.json is not current: run `cargo xtask schema`");
}
