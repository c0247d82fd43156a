//! The last word on every edit: what came out is read again, and has to be what was meant and nothing else.

use serde_json::Value;

use super::fault::Fault;
use super::tree::Node;

/// The changed text, if it reads as expected.
pub(super) fn guarded(
    changed: String,
    read: impl FnOnce(&str) -> Result<Node, Vec<Fault>>,
    expected: &Value,
) -> Result<String, String> {
    match read(&changed) {
        Ok(node) if node.value() == *expected => Ok(changed),
        Ok(_) => Err("this value cannot be written here without changing something else".to_owned()),
        Err(faults) => {
            let why = faults.into_iter().next().map(|it| it.message).unwrap_or_default();
            Err(format!("this value cannot be written here without breaking the file ({why})"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::json;
    use super::guarded;

    #[test]
    fn only_what_was_meant_passes() {
        let read = |text: &str| json::parse(text, text, 0);
        let expected = json!({"a": 2, "b": 1});
        let passed = guarded(r#"{"b": 1, "a": 2}"#.to_owned(), read, &expected);
        assert_eq!(passed.as_deref(), Ok(r#"{"b": 1, "a": 2}"#));
        for (changed, why) in [
            (r#"{"a": 2, "b": 2}"#, "without changing something else"),
            (r#"{"a": 2}"#, "without changing something else"),
            (r#"{"a": 2, "b": 1, "c": null}"#, "without changing something else"),
            (r#"{"a": 2, "b": 1"#, "without breaking the file"),
            (r#"{"a": 2, "b": 1, "b": 1}"#, "without breaking the file"),
        ] {
            let refused = guarded(changed.to_owned(), read, &expected);
            assert!(refused.as_ref().is_err_and(|it| it.contains(why)), "{changed}: {refused:?}");
        }
    }
}
