//! Documents as they are: which files they have, what these hold, and a name for all of it.

use loopwright_core::definition::{Document, Files as Which};
use loopwright_core::fact::Type;
use loopwright_core::name::Name;
use loopwright_core::paths::FileSet;
use serde_json::{Value, json};

use super::{Scene, Unseen};
use crate::documents::markdown::lacking;
use crate::documents::{About, Fault, Page, Reader, text_of};
use crate::files::{Change, Own};

impl Scene<'_> {
    /// The run's own folder, if the workflow has one.
    pub(crate) fn own_folder(&self) -> Result<Option<String>, Unseen> {
        if let Some(moved) = self.run.site.as_ref().and_then(|it| it.own.clone()) {
            return Ok(Some(moved));
        }
        self.workflow.folder.as_deref().map(|it| self.text(it)).transpose()
    }

    /// The same with the documents in it that are one file, as far as their paths are known.
    pub(crate) fn own(&self) -> Result<Option<Own>, Unseen> {
        let Some(folder) = self.own_folder()? else { return Ok(None) };
        let folder = folder.trim_end_matches('/').to_owned();
        let within = format!("{folder}/");
        let paths = self.workflow.documents.keys().filter_map(|it| self.path(it).ok().flatten());
        let documents = paths.filter(|it| it.starts_with(&within)).collect();
        Ok(Some(Own { folder, documents }))
    }

    /// A pattern with its values, from the root.
    fn pattern(&self, pattern: &str, besides: &Value) -> Result<String, Unseen> {
        let (not, pattern) = pattern.strip_prefix('!').map_or(("", pattern), |it| ("!", it));
        let text = match (pattern.strip_prefix("./"), self.own_folder()?) {
            (Some(rest), Some(folder)) => {
                format!("{}/{}", folder.trim_end_matches('/'), self.text_with(rest, besides)?)
            }
            (Some(rest), None) => self.text_with(rest, besides)?,
            (None, _) => self.text_with(pattern, besides)?,
        };
        Ok(format!("{not}{text}"))
    }

    /// The patterns of a document.
    fn patterns(&self, document: &Document) -> Result<Vec<String>, Unseen> {
        self.patterns_with(document, &Value::Null)
    }

    /// The same, with names that are only known here.
    pub(crate) fn patterns_with(&self, document: &Document, besides: &Value) -> Result<Vec<String>, Unseen> {
        match &document.files {
            Which::One(path) => Ok(vec![self.pattern(path, besides)?]),
            Which::Many(patterns) => patterns.iter().map(|it| self.pattern(it, besides)).collect(),
            Which::Group(_) | Which::Command(_) => Ok(Vec::new()),
        }
    }

    /// The patterns of a document, and of those it stands for.
    pub(crate) fn patterns_of(&self, name: &Name) -> Result<Vec<String>, Unseen> {
        let mut all = Vec::new();
        for leaf in self.workflow.leaves(name) {
            if let Some(document) = self.workflow.documents.get(&*leaf) {
                all.extend(self.patterns(document)?);
            }
        }
        Ok(all)
    }

    /// Which files a document may have, as a set.
    pub(crate) fn set(&self, name: &Name) -> Result<Vec<FileSet>, Unseen> {
        let mut sets = Vec::new();
        for leaf in self.workflow.leaves(name) {
            let Some(document) = self.workflow.documents.get(&*leaf) else { continue };
            let patterns = self.patterns(document)?;
            if patterns.is_empty() {
                continue;
            }
            let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
            let set = FileSet::parse(&patterns);
            sets.push(set.map_err(|it| Unseen::Wrong(format!("the path of `{leaf}` cannot be used: {it}")))?);
        }
        Ok(sets)
    }

    /// The files a document has now, in order.
    pub(crate) fn files_of(&self, name: &Name) -> Result<Vec<String>, Unseen> {
        let sets = self.set(name)?;
        let mut found: Vec<String> = self
            .look
            .paths()
            .filter(|path| sets.iter().any(|it| it.matches(path)))
            .map(str::to_owned)
            .collect();
        // A file that is named is there even where git does not look.
        for leaf in self.workflow.leaves(name) {
            if let Some(path) = self.path(&leaf)?.filter(|it| !self.look.holds(it))
                && self.files.root().join(&path).is_file()
            {
                found.push(path);
            }
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// The path of a document that is one file.
    pub(crate) fn path(&self, name: &Name) -> Result<Option<String>, Unseen> {
        match self.workflow.documents.get(&**name).map(|it| &it.files) {
            Some(Which::One(path)) => self.pattern(path, &Value::Null).map(Some),
            _ => Ok(None),
        }
    }

    /// What a document holds, as its reader understands it.
    pub(super) fn document(&self, name: &Name) -> Result<Value, Unseen> {
        let Some(declared) = self.workflow.documents.get(&**name) else { return Ok(Value::Null) };
        let said = self.said(name)?;
        let files = self.files_of(name)?;
        let reader = match &declared.reader {
            Some(name_of) => Some(Reader::named(name_of).ok_or_else(|| {
                Unseen::Wrong(format!("files as `{name_of}` cannot be read yet (`{name}`)"))
            })?),
            None => None,
        };
        let mut texts = Vec::new();
        for path in &files {
            let bytes = self.files.read(path)?.unwrap_or_default();
            let text = match reader {
                Some(reader) => reader.text(&bytes),
                None => text_of(&bytes).map(str::to_owned),
            };
            let text = text.map_err(|it| wrong(path, &it))?;
            texts.push(Page { path: path.clone(), text, is_new: false });
        }
        if let Some(Ok(text)) = said.as_deref() {
            let text = reader.map_or_else(|| Ok(text.clone()), |it| it.text(text.as_bytes()));
            let path = format!("`{name}`, what its command says");
            let text = text.map_err(|it| wrong(&path, &it))?;
            texts.push(Page { path, text, is_new: false });
        }
        let exists = !texts.is_empty()
            && texts.iter().all(|it| lacking(&it.text, &declared.has, declared.filled).is_none());
        let Some(reader) = reader else {
            let all: Vec<&str> = texts.iter().map(|it| it.text.as_str()).collect();
            return Ok(json!({"exists": exists, "text": all.join("\n"), "files": files}));
        };
        let Some(Page { path, .. }) = texts.first() else { return Ok(json!({"exists": false})) };
        // Whether it exists is not for the file to say.
        let mut shape = declared.gives.clone();
        if let Type::Record(fields) = &mut shape {
            fields.shift_remove("exists");
        }
        let about = About { with: self.with(declared)?, modified: self.modified(path) };
        let mut value = reader.value(&texts, &shape, &about).map_err(|it| all_wrong(path, &it))?;
        if let Value::Object(fields) = &mut value {
            fields.insert("exists".to_owned(), json!(exists));
        }
        Ok(value)
    }

    /// What the reader of a document is told besides, with the values of now.
    pub(crate) fn with(&self, declared: &Document) -> Result<Value, Unseen> {
        self.told(&declared.with)
    }

    fn told(&self, value: &Value) -> Result<Value, Unseen> {
        Ok(match value {
            Value::Array(items) => {
                items.iter().map(|it| self.told(it)).collect::<Result<Vec<_>, _>>()?.into()
            }
            // A table: the row of a variable's value.
            Value::Object(rows) if rows.contains_key("by") => {
                let by = rows.get("by").and_then(Value::as_str).unwrap_or_default();
                let row = self.told_of(by)?;
                match row.as_str().and_then(|it| rows.get(it)) {
                    Some(row) => self.told(row)?,
                    None => Value::Null,
                }
            }
            Value::Object(fields) => {
                let fields = fields.iter().map(|(name, it)| Ok((name.clone(), self.told(it)?)));
                Value::Object(fields.collect::<Result<_, Unseen>>()?)
            }
            Value::String(path) => self.told_of(path)?,
            other => other.clone(),
        })
    }

    /// What a name gives: a whole document comes with the time it was written.
    fn told_of(&self, path: &str) -> Result<Value, Unseen> {
        let mut found = self.names(&[path])?;
        // A word that names nothing stands for itself.
        if !path.contains('.') && found.get(path).is_none() {
            return Ok(Value::String(path.to_owned()));
        }
        for part in path.split('.') {
            found = found.get_mut(part).map(Value::take).unwrap_or_default();
        }
        let whole = path.strip_prefix("docs.").filter(|it| !it.contains('.'));
        let known = |name: &&Name| Some(&*name.in_expression()) == whole;
        if let Some(name) = self.workflow.documents.keys().find(known)
            && let Some(path) = self.path(name)?
            && let Value::Object(fields) = &mut found
        {
            fields.insert("modified".to_owned(), json!(self.modified(&path)));
        }
        Ok(found)
    }

    /// What a field of a document says, as a text, and in which file. Nothing, if it says nothing.
    pub(crate) fn said_by(&self, path: &str) -> Result<Option<(String, String)>, Unseen> {
        let mut found = &self.names(&[path])?;
        for part in path.split('.') {
            let Some(inner) = found.get(part) else { return Ok(None) };
            found = inner;
        }
        let value = match found {
            Value::Null => return Ok(None),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let known = |name: &&Name| path.split('.').nth(1) == Some(&*name.in_expression());
        let document = self.workflow.documents.keys().find(known);
        let file = document.map(|it| self.path(it)).transpose()?.flatten();
        Ok(Some((value, file.unwrap_or_default())))
    }

    /// When a file was last written, in seconds since 1970.
    fn modified(&self, path: &str) -> Option<f64> {
        let written = self.files.root().join(path).metadata().and_then(|it| it.modified()).ok()?;
        match written.duration_since(std::time::UNIX_EPOCH) {
            Ok(since) => Some(since.as_secs_f64()),
            Err(before) => Some(-before.duration().as_secs_f64()),
        }
    }

    /// Why a document does not count as there: it has no file, or one of them lacks a heading.
    pub(crate) fn incomplete(&self, name: &Name, changes: &[Change]) -> Result<Option<String>, Unseen> {
        let files = self.files_of(name)?;
        if files.is_empty() {
            return Ok(Some(format!("the document `{name}` should be there now, and is not")));
        }
        let Some(declared) = self.workflow.documents.get(&**name) else { return Ok(None) };
        let reader = declared.reader.as_deref().and_then(Reader::named);
        let mut pages = Vec::new();
        for path in &files {
            let bytes = self.files.read(path)?.unwrap_or_default();
            // What is no text has no headings.
            let text = text_of(&bytes).unwrap_or_default();
            if let Some(reader) = reader {
                let about = About { with: self.with(declared)?, modified: None };
                let is_new = changes.iter().any(|it| it.path() == path);
                let page = Page { path: path.clone(), text: text.to_owned(), is_new };
                if let Some(why) = reader.lacks(&page, &about) {
                    return Ok(Some(format!("`{path}` is no `{name}` yet: {why}")));
                }
                pages.push(page);
            }
            if let Some(heading) = lacking(text, &declared.has, declared.filled) {
                let below = if declared.filled { " with something below it" } else { "" };
                let told = format!(
                    "the document `{name}` should have the heading `{heading}`{below}, and `{path}` has not"
                );
                return Ok(Some(told));
            }
        }
        let together = reader.and_then(|it| it.lack_together(&pages));
        Ok(together.map(|why| format!("the files of `{name}` do not go together yet: {why}")))
    }

    /// Files of a document that are not what they were when the run began.
    pub(super) fn changed_files(&self, name: &Name) -> Result<Vec<String>, Unseen> {
        let sets = self.set(name)?;
        let changed = self.changed_paths()?;
        Ok(changed.into_iter().filter(|path| sets.iter().any(|it| it.matches(path))).collect())
    }

    /// Whether a document is not what it was when the run began.
    pub(crate) fn is_changed(&self, name: &Name) -> Result<bool, Unseen> {
        Ok(!self.changed_files(name)?.is_empty())
    }

    /// A name for all that a gate judges: another whenever something of it is.
    pub(crate) fn judged(&self, gate: &str) -> Result<String, Unseen> {
        let Some(machine) = self.machine() else { return Ok(String::new()) };
        let judges = machine.gates.get(gate).into_iter().flatten();
        let gates = judges.filter_map(|it| machine.states.get(&**it)?.gate.as_ref());
        let mut documents: Vec<&Name> = gates.filter_map(|it| self.run.pick(&it.judges)).flatten().collect();
        documents.sort();
        documents.dedup();
        let kept = self.kept()?;
        let mut hasher = blake3::Hasher::new();
        for document in documents {
            if let Some(said) = self.said(document)? {
                hasher.update(blake3::hash(said.as_deref().unwrap_or_default().as_bytes()).as_bytes());
            }
            for path in self.files_of(document)? {
                let what = match (self.judged_of(&kept, &path)?, self.look.file(&path)) {
                    (Some(what), _) => what,
                    (None, Some(what)) => what.to_owned(),
                    (None, None) => {
                        blake3::hash(&self.files.read(&path)?.unwrap_or_default()).to_hex().to_string()
                    }
                };
                hasher.update(&(path.len() as u64).to_le_bytes()).update(path.as_bytes());
                hasher.update(&(what.len() as u64).to_le_bytes()).update(what.as_bytes());
            }
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// Where a gate stands.
    pub(super) fn gate(&self, name: &str) -> Result<Option<Value>, Unseen> {
        let Some(machine) = self.machine() else { return Ok(None) };
        let Some(gate) = machine.gates.keys().find(|it| it.in_expression() == name) else { return Ok(None) };
        let now = self.judged(gate)?;
        Ok(Some(json!(match self.run.gates.get(&**gate) {
            None => "open",
            Some(record) if record.digest != now => "stale",
            Some(record) if record.forced => "forced",
            Some(_) => "fresh",
        })))
    }
}

/// What is wrong with a file, and where.
fn wrong(path: &str, fault: &Fault) -> Unseen {
    Unseen::Wrong(format!("{path}: {fault}"))
}

fn all_wrong(path: &str, faults: &[Fault]) -> Unseen {
    let of = |it: &Fault| it.file.clone().unwrap_or_else(|| path.to_owned());
    let lines: Vec<String> = faults.iter().map(|it| format!("{}: {it}", of(it))).collect();
    Unseen::Wrong(lines.join("\n"))
}
