//! Fields of documents: in which file they stand, and how they are read and changed there.

use indexmap::IndexMap;
use loopwright_core::definition::Kind;
use loopwright_core::fact::Type;
use loopwright_core::name::Name;
use serde_json::Value;

use super::Refusable;
use super::places::proper;
use crate::documents::{About, Fault, Reader, text_of};
use crate::error::EngineError;
use crate::scene::Scene;

/// A field, and where it stands.
pub(super) struct Field<'s> {
    document: Name,
    pub(super) path: String,
    pub(super) reader: Reader,
    about: About,
    name: String,
    gives: &'s Type,
    /// Whether the engine may make the document.
    owned: bool,
}

/// The field an action names: `doc.field`, or `item.field`.
pub(super) fn find<'s>(scene: &Scene<'s>, target: &str) -> Refusable<Field<'s>> {
    let (head, field) = target.split_once('.').unwrap_or((target, ""));
    if head == "item" { of_item(scene, field) } else { of_document(scene, &head.into(), field) }
}

/// A field of a document that is one file.
pub(super) fn of_document<'s>(scene: &Scene<'s>, name: &Name, field: &str) -> Refusable<Field<'s>> {
    let Some(declared) = scene.workflow.documents.get(&**name) else {
        return Ok(Err(format!("there is no document `{name}`")));
    };
    let Some(path) = scene.path(name)? else {
        return Ok(Err(format!("`{name}` is not one file, so it has no fields that could be set")));
    };
    // What a path is made of may come from anybody.
    let path = match proper(scene, &path)? {
        Ok(path) => path,
        Err(why) => return Ok(Err(why)),
    };
    let reader = declared.reader.as_deref().unwrap_or("text");
    let about = About { with: scene.with(declared)?, modified: None };
    let reader = Reader::named(reader)
        .ok_or_else(|| EngineError::Wrong(format!("files as `{reader}` cannot be changed yet (`{name}`)")))?;
    let (document, name) = (name.clone(), field.to_owned());
    Ok(Ok(Field {
        document,
        path,
        reader,
        about,
        name,
        gives: &declared.gives,
        owned: declared.engine_owned,
    }))
}

/// A field of the item at hand: of the entry with its id, in the list its loop goes through.
fn of_item<'s>(scene: &Scene<'s>, field: &str) -> Refusable<Field<'s>> {
    let around = scene.run.of.as_ref().and_then(|it| scene.workflow.main.states.get(&**it));
    let (Some(id), Some(Kind::Each(each))) = (&scene.run.item, around.map(|it| &it.kind)) else {
        return Ok(Err("there is no item here whose fields could be set".to_owned()));
    };
    let Some((name, list)) = each.list.strip_prefix("docs.").and_then(|it| it.split_once('.')) else {
        let list = &each.list;
        return Ok(Err(format!("items of `{list}` are in no document, so they have no fields to set")));
    };
    let name: Name = name.into();
    let known = scene.workflow.documents.keys().find(|it| it.in_expression() == name.in_expression());
    let entries = scene.entries(each)?;
    let Some(at) = entries.iter().position(|(it, _)| it == id) else {
        return Ok(Err(format!("`{}` has no item `{id}` any more", each.list)));
    };
    of_document(scene, known.unwrap_or(&name), &format!("{list}.{at}.{field}"))
}

impl Field<'_> {
    /// What is wrong, said of the file.
    pub(super) fn wrong(&self, fault: &Fault) -> String {
        let help = fault.help.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        format!("{}: {fault}{help}", self.path)
    }

    /// What the field holds in a text. `None`: it is not there.
    pub(super) fn value(&self, text: &str) -> Result<Option<Value>, String> {
        let read = self.reader.get_with(text, &self.name, &self.about).map_err(|faults| {
            let all: Vec<String> = faults.iter().map(|it| self.wrong(it)).collect();
            all.join("\n")
        })?;
        Ok(read.filter(|it| !it.is_null()))
    }

    /// Whether it shows a value in a text.
    pub(super) fn shows(&self, text: &str, value: &Value) -> Result<bool, String> {
        if let Some(shows) = self.reader.shows(text, &self.name, value) {
            return Ok(shows);
        }
        let there = self.value(text)?.unwrap_or(Value::Null);
        Ok(super::as_text(&there) == super::as_text(value))
    }

    /// Where it stands in a text, for people.
    pub(super) fn place(&self, text: &str) -> String {
        let line = self.reader.line(text, &self.name);
        line.map_or_else(|| self.path.clone(), |it| format!("{}, line {it}", self.path))
    }

    /// The text with another value in the field.
    pub(super) fn set(&self, text: &str, value: &Value) -> Result<String, String> {
        let set = self.reader.set(text, &self.name, &self.fitted(value), &self.about);
        set.map_err(|it| self.wrong(&it))
    }

    /// An entry as it stands in the field once it was added.
    pub(super) fn entry(&self, value: &Value) -> Value {
        self.reader.entry(&self.name, value)
    }

    /// The text with one more entry in the field.
    pub(super) fn append(&self, text: &str, value: &Value) -> Result<String, String> {
        self.reader.append(text, &self.name, value).map_err(|it| self.wrong(&it))
    }

    /// A text as the number or truth that the document's shape wants here.
    fn fitted(&self, value: &Value) -> Value {
        let mut wanted = self.gives;
        for part in self.name.split('.') {
            wanted = match wanted {
                Type::Record(fields) => fields.get(part).unwrap_or(&Type::Any),
                Type::List(inner) | Type::Map(inner) => inner,
                _ => &Type::Any,
            };
        }
        let Value::String(text) = value else { return value.clone() };
        match wanted {
            Type::Int => text.parse::<i64>().map_or_else(|_| value.clone(), Value::from),
            Type::Bool => text.parse::<bool>().map_or_else(|_| value.clone(), Value::from),
            _ => value.clone(),
        }
    }
}

/// Files that are being changed: nothing is written before all of it is known to work.
#[derive(Default)]
pub(super) struct Changes {
    texts: IndexMap<String, Text>,
}

/// A file that is being changed.
struct Text {
    /// Nothing, if it is not there.
    before: Option<String>,
    now: String,
    /// What reads it; nothing for a file that only speaks of others.
    reader: Option<Reader>,
}

impl Changes {
    /// The text of a field's file so far. `None`: there is no file.
    pub(super) fn there(&mut self, scene: &Scene<'_>, field: &Field<'_>) -> Refusable<Option<String>> {
        if let Some(text) = self.texts.get(&field.path) {
            return Ok(Ok(Some(text.now.clone())));
        }
        let Some(bytes) = scene.files.read(&field.path)? else { return Ok(Ok(None)) };
        let text = match text_of(&bytes) {
            Ok(text) => text.to_owned(),
            Err(fault) => return Ok(Err(field.wrong(&fault))),
        };
        let held = Text { before: Some(text.clone()), now: text.clone(), reader: Some(field.reader) };
        self.texts.insert(field.path.clone(), held);
        Ok(Ok(Some(text)))
    }

    /// The same; one of the engine's that is not there is begun.
    pub(super) fn text(&mut self, scene: &Scene<'_>, field: &Field<'_>) -> Refusable<String> {
        Ok(match self.there(scene, field)? {
            Ok(Some(text)) => Ok(text),
            Ok(None) if field.owned => Ok(field.reader.blank().to_owned()),
            Ok(None) => Err(format!(
                "the document `{}` is not there ({}), and it is not the engine's to make",
                field.document, field.path
            )),
            Err(why) => Err(why),
        })
    }

    /// Takes a text in.
    pub(super) fn put(&mut self, field: &Field<'_>, text: String) {
        if let Some(held) = self.texts.get_mut(&field.path) {
            held.now = text;
        } else {
            let held = Text { before: None, now: text, reader: Some(field.reader) };
            self.texts.insert(field.path.clone(), held);
        }
    }

    /// Writes what differs, and what speaks of it; says whether anything was.
    pub(super) fn write(mut self, scene: &Scene<'_>) -> Result<bool, EngineError> {
        let own: Vec<(String, Option<String>, String, Reader)> = self
            .texts
            .iter()
            .filter_map(|(path, it)| Some((path.clone(), it.before.clone(), it.now.clone(), it.reader?)))
            .collect();
        for (path, before, now, reader) in own {
            // Also where nothing differs: whoever tried before may not have got so far.
            let beside =
                reader.beside(&path, (before.as_deref(), Some(&now)), |path| self.now(scene, path))?;
            for (path, text) in beside {
                match self.texts.get_mut(&path) {
                    Some(held) => held.now = text,
                    None => drop(self.texts.insert(path, Text { before: None, now: text, reader: None })),
                }
            }
        }
        let mut any = false;
        for (path, Text { before, now, .. }) in self.texts {
            if before.as_ref() != Some(&now) {
                scene.files.write(&path, now.as_bytes())?;
                any = true;
            }
        }
        Ok(any)
    }

    fn now(&self, scene: &Scene<'_>, path: &str) -> Result<Option<String>, EngineError> {
        match self.texts.get(path) {
            Some(held) => Ok(Some(held.now.clone())),
            None => in_words(scene, path),
        }
    }
}

/// What a file says. One that is no text says nothing that could be changed.
pub(super) fn in_words(scene: &Scene<'_>, path: &str) -> Result<Option<String>, EngineError> {
    Ok(scene.files.read(path)?.and_then(|it| text_of(&it).ok().map(str::to_owned)))
}
