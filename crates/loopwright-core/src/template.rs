//! Templates: what prompts and texts are written in. The same for whoever reads a workflow and for whoever fills it in.

use minijinja::value::ValueKind;
use minijinja::{Environment, Error, ErrorKind, Output, State, UndefinedBehavior, Value};

/// Jinja, with what there is here.
pub fn environment<'t>() -> Environment<'t> {
    let mut environment = Environment::new();
    // What may be missing is asked for with `if`.
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_formatter(written);
    environment.add_filter("tojson", to_json);
    environment.add_filter("slug", slug);
    environment
}

/// JSON, as it is: prompts and files are no pages of a browser, so no letter is written in another way.
fn to_json(value: &Value, indent: Option<bool>) -> Result<String, Error> {
    let written = if indent.unwrap_or(false) {
        serde_json::to_string_pretty(value)
    } else {
        serde_json::to_string(value)
    };
    written.map_err(|it| Error::new(ErrorKind::BadSerialization, it.to_string()))
}

/// A text as part of a name: its first words in small letters and digits, with `-` between. Letters that no name should
/// have to spell are left out.
#[expect(clippy::needless_pass_by_value, reason = "a filter is given what it works on")]
fn slug(text: String, words: Option<usize>) -> String {
    let small = text.to_lowercase();
    let known = small
        .split(|it: char| !it.is_alphanumeric())
        .map(|word| word.chars().filter(char::is_ascii_alphanumeric).collect::<String>());
    let known: Vec<String> = known.filter(|it| !it.is_empty()).take(words.unwrap_or(usize::MAX)).collect();
    known.join("-")
}

/// A value as it stands in a text: nothing for nothing, its text for what has one.
fn written(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    if value.is_none() {
        return Ok(());
    }
    if value.kind() == ValueKind::Map
        && let Ok(text) = value.get_attr("text")
        && let Some(text) = text.as_str()
    {
        return out.write_str(text).map_err(Error::from);
    }
    minijinja::escape_formatter(out, state, value)
}

/// A filter that a text uses and that there is not.
pub fn unknown_filter(text: &str) -> Option<String> {
    let environment = environment();
    filters(text).into_iter().find(|name| {
        let used = environment.compile_expression_owned(format!("'' | {name}"));
        // One that is there may still want something else than an empty text.
        let used = used.and_then(|it| it.eval(()).map(drop));
        used.is_err_and(|it| it.kind() == ErrorKind::UnknownFilter)
    })
}

/// The names behind `|`, inside of `{{ }}` and `{% %}`.
fn filters(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find("{{").into_iter().chain(rest.find("{%")).min() {
        let close = if rest[open..].starts_with("{{") { "}}" } else { "%}" };
        let inside = &rest[open + 2..];
        let end = inside.find(close).unwrap_or(inside.len());
        let mut quote: Option<char> = None;
        let mut letters = inside[..end].char_indices();
        while let Some((at, letter)) = letters.next() {
            match quote {
                Some(_) if letter == '\\' => drop(letters.next()),
                Some(open) if letter == open => quote = None,
                None if letter == '"' || letter == '\'' => quote = Some(letter),
                None if letter == '|' => {
                    let name = inside[at + 1..end].trim_start();
                    let length = name.find(|it: char| !it.is_alphanumeric() && it != '_');
                    let name = &name[..length.unwrap_or(name.len())];
                    if !name.is_empty() {
                        found.push(name.to_owned());
                    }
                }
                _ => {}
            }
        }
        rest = &inside[end..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str, values: &str) -> String {
        let values: serde_json::Value = serde_json::from_str(values).expect("JSON");
        environment().render_str(text, minijinja::value::Serde(&values)).expect(text)
    }

    #[test]
    fn a_value_stands_in_a_text_as_people_read_it() {
        let values = r#"{"doc": {"exists": true, "text": "all of it\n"}, "none": null, "tag": "<a> & 'b'", "list": [1, {"b": null}]}"#;
        let cases = [
            ("{{ doc }}", "all of it\n"),
            ("[{{ none }}{{ gone.further }}]", "[]"),
            ("{{ none or 'nothing' }}", "nothing"),
            ("{{ tag }}", "<a> & 'b'"),
            ("{{ tag | tojson }}", r#""<a> & 'b'""#),
            ("{{ list | tojson }} {{ none | tojson }}", r#"[1,{"b":null}] null"#),
            ("{{ {'at': tag, 'b': 1} | tojson }}", r#"{"at":"<a> & 'b'","b":1}"#),
            ("{{ [1] | tojson(true) }}", "[\n  1\n]"),
            ("{{ 'Add Pass-key (v2) login!' | slug(4) }} {{ 'Übung' | slug }}", "add-pass-key-v2 bung"),
            ("{{ '--- ' | slug or 'work' }}", "work"),
            ("{{ list | length }} {{ ['b', 'a'] | sort | join(', ') }}", "2 a, b"),
        ];
        for (text, expected) in cases {
            assert_eq!(filled(text, values), expected, "{text}");
        }
    }

    #[test]
    fn a_filter_that_is_not_there_is_found() {
        let cases = [
            ("{{ a | tojson }} {{ b | map(attribute='x|y') | join('|nothing') | default(1) }}", None),
            ("| nothing {{ a }} | nothing", None),
            ("{{ 'it is \\' | nothing' | upper }}", None),
            ("{{ a | tojsn }}", Some("tojsn")),
            ("{% for it in a|sort|uniqe %}{% endfor %}", Some("uniqe")),
            ("{{ \"}}\" }} {{ a | nothing", Some("nothing")),
        ];
        for (text, expected) in cases {
            assert_eq!(unknown_filter(text).as_deref(), expected, "{text}");
        }
    }
}
