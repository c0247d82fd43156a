//! What an attribute says: which one it is, and whether what it stands on exists only in tests.

/// Conditions nested deeper than this are not understood, and so do not make test code.
const DEPTH: usize = 64;

/// An attribute of Rust, as its tokens.
pub(crate) struct Attribute<'t> {
    /// The segments of its path.
    path: Vec<&'t str>,
    /// What follows the path, without the closing bracket.
    rest: Vec<&'t str>,
}

impl<'t> Attribute<'t> {
    /// Reads the tokens of `#[...]` or `#![...]`.
    pub(crate) fn read(tokens: &[&'t str]) -> Self {
        let mut inside = tokens.iter().copied().skip_while(|it| *it != "[").skip(1).peekable();
        let mut path = Vec::new();
        while let Some(token) = inside.peek() {
            let is_name = token.starts_with(|it: char| it.is_alphabetic() || it == '_');
            if !is_name && *token != "::" {
                break;
            }
            if is_name {
                path.push(*token);
            }
            inside.next();
        }
        let mut rest: Vec<&str> = inside.collect();
        rest.pop();
        Self { path, rest }
    }

    /// Whether code may be there or not because of it.
    pub(crate) fn is_condition(&self) -> bool {
        matches!(self.path.as_slice(), ["cfg" | "cfg_attr"])
    }

    /// Whether what it stands on is compiled for tests only.
    pub(crate) fn needs_test(&self) -> bool {
        self.path == ["cfg"]
            && read(self.rest.get(1..).unwrap_or_default(), &mut 0, 0).is_some_and(|it| it.holds)
    }

    /// Whether it makes a function a test: `test` of whatever library, or one of those that are tests by another name.
    pub(crate) fn makes_test(&self) -> bool {
        matches!(
            self.path.last().copied(),
            Some("test" | "rstest" | "test_case" | "wasm_bindgen_test" | "quickcheck" | "proptest")
        )
    }

    /// The file that `#[path = "..."]` names.
    pub(crate) fn file(&self) -> Option<&'t str> {
        match (self.path.as_slice(), self.rest.as_slice()) {
            (["path"], ["=", text]) => Some(text.trim_matches('"')),
            _ => None,
        }
    }
}

/// What a condition says about `test`.
#[derive(Clone, Copy)]
struct Says {
    /// Where it holds, `test` holds.
    holds: bool,
    /// Where it fails, `test` holds.
    fails: bool,
}

fn read(tokens: &[&str], at: &mut usize, depth: usize) -> Option<Says> {
    let name = *tokens.get(*at)?;
    *at += 1;
    let opens = tokens.get(*at) == Some(&"(");
    if !opens {
        let value = tokens.get(*at) == Some(&"=");
        if value {
            *at += 2;
        }
        return Some(Says { holds: name == "test" && !value, fails: false });
    }
    if depth >= DEPTH {
        return None;
    }
    *at += 1;
    let mut parts = Vec::new();
    while *tokens.get(*at)? != ")" {
        if tokens.get(*at) == Some(&",") {
            *at += 1;
        } else {
            parts.push(read(tokens, at, depth + 1)?);
        }
    }
    *at += 1;
    Some(match (name, parts.as_slice()) {
        ("not", [it]) => Says { holds: it.fails, fails: it.holds },
        ("all", [_, ..]) => {
            Says { holds: parts.iter().any(|it| it.holds), fails: parts.iter().all(|it| it.fails) }
        }
        ("any", [_, ..]) => {
            Says { holds: parts.iter().all(|it| it.holds), fails: parts.iter().any(|it| it.fails) }
        }
        _ => Says { holds: false, fails: false },
    })
}
