//! Fields that the engine keeps in documents: they are no part of what gates judge, and nobody else's to write.

use std::collections::{BTreeMap, BTreeSet};

use loopwright_core::definition::{EachRun, Kind, Machine};
use loopwright_core::name::Name;
use serde_json::{Value, json};

use super::{Scene, Unseen};
use crate::documents::{About, Reader, text_of};

/// Fields that are kept, by path of the file. In a list, `*` stands for every entry.
pub(crate) type Kept = BTreeMap<String, (Reader, BTreeSet<String>)>;

impl Scene<'_> {
    /// The fields that something shows, sets or adds to.
    pub(super) fn kept(&self) -> Result<Kept, Unseen> {
        let mut fields: BTreeSet<(Name, String)> = BTreeSet::new();
        for (name, document) in &self.workflow.documents {
            fields.extend(document.shows.keys().map(|it| (name.clone(), it.clone())));
        }
        self.of_all(&["set", "append"], &mut fields);
        self.placed(fields)
    }

    /// The fields that something sets or shows in documents of others: only the engine says what they hold.
    pub(crate) fn set_by_engine(&self) -> Result<Kept, Unseen> {
        let others = self.workflow.documents.iter().filter(|(_, it)| !it.engine_owned);
        let shown =
            others.flat_map(|(name, it)| it.shows.keys().map(move |field| (name.clone(), field.clone())));
        let mut fields = shown.collect();
        self.of_all(&["set"], &mut fields);
        self.placed(fields)
    }

    fn of_all(&self, verbs: &[&str], fields: &mut BTreeSet<(Name, String)>) {
        self.set_in(&self.workflow.main, (None, verbs), fields);
        for (name, child) in &self.workflow.children {
            self.set_in(child, (Some(name), verbs), fields);
        }
    }

    /// Fields by the file they stand in.
    fn placed(&self, fields: BTreeSet<(Name, String)>) -> Result<Kept, Unseen> {
        let mut kept = Kept::new();
        for (name, field) in fields {
            let declared = self.workflow.documents.get(&*name);
            let reader = declared.and_then(|it| it.reader.as_deref()).and_then(Reader::named);
            if let (Some(reader), Some(path)) = (reader, self.path(&name)?) {
                kept.entry(path).or_insert_with(|| (reader, BTreeSet::new())).1.insert(field);
            }
        }
        Ok(kept)
    }

    /// Fields of the entries of a list that actions set.
    pub(crate) fn set_in_entries(&self, document: &Name, list: &str) -> Vec<String> {
        let mut fields = BTreeSet::new();
        self.of_all(&["set"], &mut fields);
        let of = |field: &str| {
            let rest = field.strip_prefix(list)?.strip_prefix('.')?;
            Some(rest.strip_prefix("*.").unwrap_or(rest).to_owned())
        };
        fields.iter().filter(|(name, _)| name == document).filter_map(|(_, field)| of(field)).collect()
    }

    /// The fields that actions of a machine set.
    fn set_in(
        &self,
        machine: &Machine,
        (child, verbs): (Option<&Name>, &[&str]),
        fields: &mut BTreeSet<(Name, String)>,
    ) {
        let known = |name: &str| {
            let name: Name = name.into();
            self.workflow.documents.keys().find(|it| it.in_expression() == name.in_expression()).cloned()
        };
        let actions = machine.states.values().filter_map(|it| match &it.kind {
            Kind::Do { actions, .. } => Some(actions),
            _ => None,
        });
        for action in actions.flatten().filter(|it| verbs.contains(&&*it.verb)) {
            let set = action.parameters["set"].as_object().filter(|_| *action.verb == *"set");
            let appended = action.parameters["to"].as_str().filter(|_| *action.verb == *"append");
            for target in set.into_iter().flatten().map(|(it, _)| it.as_str()).chain(appended) {
                let Some((head, field)) = target.split_once('.') else { continue };
                if head != "item" {
                    fields.extend(known(head).map(|it| (it, field.to_owned())));
                    continue;
                }
                // Of the lists this machine's items come from.
                for state in self.workflow.main.states.values() {
                    let Kind::Each(each) = &state.kind else { continue };
                    let runs = matches!(&each.run, EachRun::Child(name) if Some(name) == child);
                    let place = each.list.strip_prefix("docs.").and_then(|it| it.split_once('.'));
                    if let (true, Some((name, list))) = (runs, place) {
                        fields.extend(known(name).map(|it| (it, format!("{list}.*.{field}"))));
                    }
                }
            }
        }
    }

    /// A name for what a gate judges of a file in which fields are kept: another if anything else in it is.
    pub(super) fn judged_of(&self, kept: &Kept, path: &str) -> Result<Option<String>, Unseen> {
        let Some((reader, fields)) = kept.get(path) else { return Ok(None) };
        let bytes = self.files.read(path)?.unwrap_or_default();
        let Ok(text) = text_of(&bytes) else { return Ok(None) };
        let mut text = text.to_owned();
        for field in fields {
            for field in every(*reader, &text, field) {
                // What stands for nothing depends on the format.
                let nothing = [Value::Null, json!(""), json!(false), json!([])];
                let about = About::default();
                let set = |it| reader.set(&text, &field, it, &about).ok();
                let Some(without) = nothing.iter().find_map(set) else {
                    return Ok(None);
                };
                text = without;
            }
        }
        // How many empty lines stand around what was taken out says nothing.
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|it| !it.is_empty()).collect();
        Ok(Some(blake3::hash(lines.join("\n").as_bytes()).to_hex().to_string()))
    }
}

/// A field of every entry, where `*` stands for one.
fn every(reader: Reader, text: &str, field: &str) -> Vec<String> {
    let Some((list, rest)) = field.split_once(".*.") else { return vec![field.to_owned()] };
    let entries = match reader.get(text, list).ok().flatten() {
        Some(Value::Array(entries)) => entries.len(),
        _ => 0,
    };
    (0..entries).map(|at| format!("{list}.{at}.{rest}")).collect()
}
