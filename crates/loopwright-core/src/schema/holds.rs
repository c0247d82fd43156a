//! A value, held against a schema.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use super::Fault;

/// So many schemas are applied to one value before that is too many: references can make a short file mean very much.
const MOST: u32 = 200_000;
/// So many faults are told; whoever mends them finds the others.
const TOLD: usize = 20;

pub(super) fn faults(root: &Value, value: &Value) -> Vec<Fault> {
    let mut looking = Looking { root, left: MOST };
    let mut found = Vec::new();
    looking.schema(root, value, "", &mut found);
    if looking.left == 0 {
        return vec![Fault { at: String::new(), what: "is too much to be held against its schema".into() }];
    }
    found.truncate(TOLD);
    found
}

struct Looking<'s> {
    root: &'s Value,
    left: u32,
}

type Keywords = Map<String, Value>;

impl Looking<'_> {
    fn fits(&mut self, schema: &Value, value: &Value) -> bool {
        let mut found = Vec::new();
        self.schema(schema, value, "", &mut found);
        found.is_empty()
    }

    fn schema(&mut self, schema: &Value, value: &Value, at: &str, found: &mut Vec<Fault>) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        let wrong = |what: String| Fault { at: at.to_owned(), what };
        let keywords = match schema {
            Value::Bool(false) => return found.push(wrong("may not be there".into())),
            Value::Object(keywords) => keywords,
            _ => return,
        };
        if let Some(types) = keywords.get("type")
            && !list(types).iter().any(|it| is_of(value, it.as_str().unwrap_or_default()))
        {
            let types: Vec<&str> = list(types).iter().filter_map(|it| it.as_str()).map(named).collect();
            // What is of another kind fits nothing else either.
            return found.push(wrong(format!("is {}, and should be {}", shown(value), types.join(" or "))));
        }
        if let Some(values) = keywords.get("enum").and_then(Value::as_array)
            && !values.iter().any(|it| same(it, value))
        {
            let values: Vec<String> = values.iter().map(shown).collect();
            found.push(wrong(format!("is {}: it is one of {}", shown(value), values.join(", "))));
        }
        if let Some(only) = keywords.get("const").filter(|it| !same(it, value)) {
            found.push(wrong(format!("is {}, and should be {}", shown(value), shown(only))));
        }
        match value {
            Value::String(text) => found.extend(of_text(keywords, text).map(wrong)),
            Value::Number(number) => found.extend(of_number(keywords, number).into_iter().map(wrong)),
            Value::Array(items) => self.items(keywords, items, at, found),
            Value::Object(fields) => self.fields(keywords, fields, at, found),
            Value::Null | Value::Bool(_) => {}
        }
        self.others(keywords, value, at, found);
    }

    fn items(&mut self, keywords: &Keywords, items: &[Value], at: &str, found: &mut Vec<Fault>) {
        let mut wrong = |what: String| found.push(Fault { at: at.to_owned(), what });
        if let Some(least) = count(keywords, "minItems").filter(|it| items.len() < *it) {
            wrong(format!("has {} entries, and should have {least} or more", items.len()));
        }
        if let Some(most) = count(keywords, "maxItems").filter(|it| items.len() > *it) {
            wrong(format!("has {} entries, and may have {most}", items.len()));
        }
        if keywords.get("uniqueItems") == Some(&Value::Bool(true))
            && let Some(twice) =
                (1..items.len()).find(|at| items[..*at].iter().any(|it| same(it, &items[*at])))
        {
            wrong(format!("has {} twice", shown(&items[twice])));
        }
        let first = keywords.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (index, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(index).or_else(|| keywords.get("items")) {
                self.schema(schema, item, &below(at, &index.to_string()), found);
            }
        }
    }

    fn fields(&mut self, keywords: &Keywords, fields: &Map<String, Value>, at: &str, found: &mut Vec<Fault>) {
        let mut wrong = |what: String| found.push(Fault { at: at.to_owned(), what });
        for name in texts(keywords.get("required")).filter(|it| !fields.contains_key(*it)) {
            wrong(format!("lacks `{name}`"));
        }
        for (name, needs) in
            keywords.get("dependentRequired").and_then(Value::as_object).into_iter().flatten()
        {
            for need in texts(Some(needs)).filter(|it| fields.contains_key(name) && !fields.contains_key(*it))
            {
                wrong(format!("has `{name}`, and lacks `{need}`, which comes with it"));
            }
        }
        if let Some(least) = count(keywords, "minProperties").filter(|it| fields.len() < *it) {
            wrong(format!("has {} fields, and should have {least} or more", fields.len()));
        }
        if let Some(most) = count(keywords, "maxProperties").filter(|it| fields.len() > *it) {
            wrong(format!("has {} fields, and may have {most}", fields.len()));
        }
        let named = keywords.get("properties").and_then(Value::as_object);
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        let patterns: Vec<_> = patterns
            .into_iter()
            .flatten()
            .filter_map(|(pattern, schema)| Some((regex_lite::Regex::new(pattern).ok()?, schema)))
            .collect();
        for (name, field) in fields {
            let place = below(at, name);
            if let Some(schema) = keywords.get("propertyNames")
                && !self.fits(schema, &Value::String(name.clone()))
            {
                found.push(Fault { at: place.clone(), what: "has a name that may not be".into() });
            }
            let mut known = false;
            let own = named.and_then(|it| it.get(name));
            let matching = patterns.iter().filter(|(it, _)| it.is_match(name)).map(|(_, it)| *it);
            for schema in own.into_iter().chain(matching) {
                known = true;
                self.schema(schema, field, &place, found);
            }
            match keywords.get("additionalProperties").filter(|_| !known) {
                Some(Value::Bool(false)) => {
                    let names: Vec<String> =
                        named.into_iter().flat_map(Map::keys).map(|it| format!("`{it}`")).collect();
                    let there = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
                    let what = format!("may not be there: there may be {there}");
                    found.push(Fault { at: place, what });
                }
                Some(schema) => self.schema(schema, field, &place, found),
                None => {}
            }
        }
    }

    /// Schemas that apply to the same value.
    fn others(&mut self, keywords: &Keywords, value: &Value, at: &str, found: &mut Vec<Fault>) {
        if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
            let target = reference.strip_prefix('#').and_then(|it| self.root.pointer(it));
            if let Some(target) = target {
                self.schema(target, value, at, found);
            }
        }
        for schema in keywords.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.schema(schema, value, at, found);
        }
        for (word, one) in [("anyOf", false), ("oneOf", true)] {
            let Some(schemas) = keywords.get(word).and_then(Value::as_array) else { continue };
            let mut why = Vec::new();
            let mut fit = 0;
            for schema in schemas {
                let mut faults = Vec::new();
                self.schema(schema, value, at, &mut faults);
                match faults.first() {
                    Some(fault) => why.push(fault.to_string()),
                    None => fit += 1,
                }
            }
            let what = match fit {
                0 => format!("fits none of its {} ways ({})", schemas.len(), why.join("; or ")),
                1 => continue,
                _ if one => format!("fits {fit} of its {} ways, and should fit one", schemas.len()),
                _ => continue,
            };
            found.push(Fault { at: at.to_owned(), what });
        }
        if let Some(schema) = keywords.get("not")
            && self.fits(schema, value)
        {
            found
                .push(Fault { at: at.to_owned(), what: format!("is {}, which it may not be", shown(value)) });
        }
        if let Some(condition) = keywords.get("if") {
            let way = if self.fits(condition, value) { "then" } else { "else" };
            if let Some(schema) = keywords.get(way) {
                self.schema(schema, value, at, found);
            }
        }
    }
}

fn of_text<'k>(keywords: &'k Keywords, text: &'k str) -> impl Iterator<Item = String> + 'k {
    let long = text.chars().count();
    let least = count(keywords, "minLength").filter(|it| long < *it);
    let most = count(keywords, "maxLength").filter(|it| long > *it);
    let pattern = keywords.get("pattern").and_then(Value::as_str);
    let other = pattern.filter(|it| regex_lite::Regex::new(it).is_ok_and(|it| !it.is_match(text)));
    let least = least.map(|it| match it {
        1 => "is empty".to_owned(),
        it => format!("has {long} letters, and should have {it} or more"),
    });
    let most = most.map(|it| format!("has {long} letters, and may have {it}"));
    let other = other.map(|it| format!("is {}, which does not match `{it}`", shown(&text.into())));
    least.into_iter().chain(most).chain(other)
}

fn of_number(keywords: &Keywords, number: &Number) -> Vec<String> {
    let bounds = [
        ("minimum", Ordering::Less, false, "or more"),
        ("exclusiveMinimum", Ordering::Less, true, "and more, not that itself"),
        ("maximum", Ordering::Greater, false, "or less"),
        ("exclusiveMaximum", Ordering::Greater, true, "and less, not that itself"),
    ];
    let mut found = Vec::new();
    for (word, beyond, exclusive, how) in bounds {
        let Some(Value::Number(bound)) = keywords.get(word) else { continue };
        let order = compare(number, bound);
        if order == Some(beyond) || exclusive && order == Some(Ordering::Equal) {
            found.push(format!("is {number}: it is {bound} {how}"));
        }
    }
    if let Some(of) = keywords.get("multipleOf").and_then(Value::as_u64)
        && whole(number).is_none_or(|it| it % i128::from(of) != 0)
    {
        found.push(format!("is {number}, and should be a multiple of {of}"));
    }
    found
}

/// Names, one or a list of them.
fn texts(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value.map(list).unwrap_or_default().into_iter().filter_map(Value::as_str)
}

fn count(keywords: &Keywords, word: &str) -> Option<usize> {
    keywords.get(word).and_then(Value::as_u64).map(|it| usize::try_from(it).unwrap_or(usize::MAX))
}

fn list(value: &Value) -> Vec<&Value> {
    value.as_array().map_or_else(|| vec![value], |it| it.iter().collect())
}

fn below(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_number().is_some_and(|it| whole(it).is_some()),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

/// A type as people say it.
fn named(kind: &str) -> &str {
    match kind {
        "null" => "null",
        "boolean" => "`true` or `false`",
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "a text",
        "array" => "a list",
        _ => "an object",
    }
}

/// A number that has no part behind the point.
fn whole(number: &Number) -> Option<i128> {
    let exact = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    exact.or_else(|| format!("{:.0}", number.as_f64().filter(|it| it.fract() == 0.0)?).parse().ok())
}

fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

/// Whether two values are the same: `1` and `1.0` are.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => compare(one, other) == Some(Ordering::Equal),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, it)| other.get(name).is_some_and(|other| same(it, other)))
        }
        _ => one == other,
    }
}

/// A value as it fits into a sentence.
fn shown(value: &Value) -> String {
    const MOST: usize = 60;
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(_) => return "a list".into(),
        Value::Object(_) => return "an object".into(),
        other => other.to_string(),
    };
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("`{}…`", &text[..at]),
        None => format!("`{text}`"),
    }
}
