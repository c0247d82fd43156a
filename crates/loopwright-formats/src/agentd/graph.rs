//! Dependencies: what is missing, and what goes in a circle.

use std::collections::HashMap;

/// A circle, as the places of those on it, the first one not repeated. Each place is on one circle at most.
pub(crate) fn cycles(names: &[&str], depends: &[&[String]]) -> Vec<Vec<usize>> {
    let mut places: HashMap<&str, usize> = HashMap::with_capacity(names.len());
    for (at, name) in names.iter().enumerate() {
        places.entry(name).or_insert(at);
    }
    let edges: Vec<Vec<usize>> = depends
        .iter()
        .map(|it| it.iter().filter_map(|it| places.get(it.as_str()).copied()).collect())
        .collect();
    // Not seen, on the way, done.
    let mut marks = vec![0_u8; edges.len()];
    let mut found = Vec::new();
    let mut is_on_circle = vec![false; edges.len()];
    for start in 0..edges.len() {
        if marks[start] != 0 {
            continue;
        }
        let mut way = vec![(start, 0)];
        marks[start] = 1;
        while let Some((at, next)) = way.last_mut() {
            let Some(&to) = edges[*at].get(*next) else {
                marks[*at] = 2;
                way.pop();
                continue;
            };
            *next += 1;
            match marks[to] {
                0 => {
                    marks[to] = 1;
                    way.push((to, 0));
                }
                1 => {
                    let from = way.iter().position(|(it, _)| *it == to).unwrap_or(0);
                    let circle: Vec<usize> = way.iter().skip(from).map(|(it, _)| *it).collect();
                    if !circle.iter().any(|it| is_on_circle[*it]) {
                        for it in &circle {
                            is_on_circle[*it] = true;
                        }
                        found.push(circle);
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// A circle as text: `a` -> `b` -> `a`.
pub(crate) fn shown(circle: &[usize], names: &[&str]) -> String {
    let named: Vec<String> = circle
        .iter()
        .chain(circle.first())
        .filter_map(|it| names.get(*it))
        .map(|it| format!("`{it}`"))
        .collect();
    named.join(" -> ")
}
