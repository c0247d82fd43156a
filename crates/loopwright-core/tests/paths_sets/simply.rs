//! Paths and patterns, made up, and a matcher for them that is written as simply as can be.

use proptest::prelude::*;

/// Every name of up to so many letters.
pub(crate) fn names(longest: usize) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut last = vec![String::new()];
    for _ in 0..longest {
        last = last.iter().flat_map(|name| ["a", "b", "c"].map(|letter| format!("{name}{letter}"))).collect();
        names.extend(last.iter().cloned());
    }
    names
}

/// Every path of up to three names of up to two letters.
pub(crate) fn short_paths() -> Vec<String> {
    let names = names(2);
    let mut paths = names.clone();
    for first in &names {
        for second in &names {
            paths.push(format!("{first}/{second}"));
            paths.extend(names.iter().map(|third| format!("{first}/{second}/{third}")));
        }
    }
    paths
}

/// And those of two names of three letters, and of three where only one is longer.
pub(crate) fn longer_paths() -> Vec<String> {
    let (long, short) = (names(3), names(1));
    let mut paths = short_paths();
    paths.extend(long.iter().cloned());
    for first in &long {
        for second in &long {
            paths.push(format!("{first}/{second}"));
            for third in &short {
                paths.extend([
                    format!("{first}/{second}/{third}"),
                    format!("{third}/{first}/{second}"),
                    format!("{first}/{third}/{second}"),
                ]);
            }
        }
    }
    paths
}

/// A matcher written as simply as can be, for patterns without braces, classes and templates.
pub(crate) fn simply(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        (["**"], path) => !path.is_empty(),
        (["**", rest @ ..], path) => (0..=path.len()).any(|skipped| simply(rest, &path[skipped..])),
        ([first, rest @ ..], [name, path @ ..]) => name_simply(first, name) && simply(rest, path),
        _ => false,
    }
}

pub(crate) fn name_simply(pattern: &str, name: &str) -> bool {
    let mut letters = pattern.chars();
    match (letters.next(), name.chars().next()) {
        (None, None) => true,
        (Some('*'), _) => {
            let rest = letters.as_str();
            (0..=name.len()).any(|skipped| name_simply(rest, &name[skipped..]))
        }
        (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {
            name_simply(letters.as_str(), &name[1..])
        }
        _ => false,
    }
}

pub(crate) fn in_simply(patterns: &[String], path: &str) -> bool {
    let names: Vec<&str> = path.split('/').collect();
    let takes = |pattern: &str| simply(&pattern.split('/').collect::<Vec<_>>(), &names);
    patterns.iter().any(|it| !it.starts_with('!') && takes(it))
        && !patterns.iter().any(|it| it.strip_prefix('!').is_some_and(takes))
}

pub(crate) fn segment() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[ab*?]{1,3}".prop_map(|it| it.replace("**", "*a")), 1 => Just("**".to_owned()), 1 => Just("a".to_owned())]
        .prop_map(|it| if it == "***" { "*".to_owned() } else { it })
}

pub(crate) fn pattern() -> impl Strategy<Value = String> {
    prop::collection::vec(segment(), 1..4).prop_map(|segments| segments.join("/"))
}

pub(crate) fn patterns() -> impl Strategy<Value = Vec<String>> {
    (prop::collection::vec(pattern(), 1..3), prop::collection::vec(pattern(), 0..3)).prop_map(
        |(includes, excludes)| {
            includes.into_iter().chain(excludes.into_iter().map(|it| format!("!{it}"))).collect()
        },
    )
}

/// Patterns with templates, and what the templates stand for.
pub(crate) fn templated() -> impl Strategy<Value = Vec<String>> {
    let segment = prop_oneof![
        segment(),
        Just("{{x}}".to_owned()),
        Just("{{y}}".to_owned()),
        Just("a{{x}}".to_owned()),
        Just("{{x}}b".to_owned()),
        Just("{{x}}*".to_owned()),
        Just("*{{y}}".to_owned()),
        Just("{{x}}{{y}}".to_owned()),
    ];
    let pattern = prop::collection::vec(segment, 1..3).prop_map(|segments| segments.join("/"));
    (prop::collection::vec(pattern.clone(), 1..3), prop::collection::vec(pattern, 0..2)).prop_map(
        |(includes, excludes)| {
            includes.into_iter().chain(excludes.into_iter().map(|it| format!("!{it}"))).collect()
        },
    )
}
