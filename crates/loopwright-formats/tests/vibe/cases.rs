//! The corpus: cases with the answers of the original, in `corpus/`: made up, or of a history whose words were replaced by
//! ones that mean nothing. Messages are what they are about and what they name; ours have words of their own.

use std::collections::BTreeMap;

use loopwright_formats::vibe::Files;
use serde_json::Value;

/// The files of a case.
#[derive(Clone, Default)]
pub struct Folder(pub BTreeMap<String, Vec<u8>>);

impl Files for Folder {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.0.get(path).cloned()
    }

    fn exists(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        self.0.contains_key(path) || self.0.keys().any(|it| it.starts_with(&folder))
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let folder = format!("{folder}/");
        let inside = self.0.keys().filter_map(|it| it.strip_prefix(&folder));
        inside.filter(|it| !it.contains('/')).map(str::to_owned).collect()
    }
}

/// A line of the corpus.
pub struct Case {
    pub id: String,
    pub files: Folder,
    pub all: Value,
}

impl Case {
    pub fn text(&self, path: &str) -> Option<String> {
        self.files.0.get(path).map(|bytes| loopwright_formats::vibe::text::decode(bytes))
    }
}

/// The cases of one file.
pub fn cases(name: &str) -> Vec<Case> {
    let text = std::fs::read_to_string(format!("{}/tests/corpus/{name}.jsonl", env!("CARGO_MANIFEST_DIR")));
    text.unwrap().lines().map(case).collect()
}

/// The cases that are whole projects.
pub fn projects() -> Vec<Case> {
    ["made-up", "history"].into_iter().flat_map(cases).collect()
}

fn case(line: &str) -> Case {
    let all: Value = serde_json::from_str(line).unwrap();
    let mut files = Folder::default();
    for (path, text) in all["files"].as_object().unwrap() {
        files.0.insert(path.clone(), text.as_str().unwrap().as_bytes().to_vec());
    }
    for (path, text) in all["files_b64"].as_object().into_iter().flatten() {
        files.0.insert(path.clone(), base64(text.as_str().unwrap()));
    }
    Case { id: all["id"].as_str().unwrap().to_owned(), files, all }
}

fn base64(text: &str) -> Vec<u8> {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.bytes().filter(|it| *it != b'=') {
        let value = alphabet.iter().position(|it| *it == byte).unwrap();
        bits = (bits << 6) | u32::try_from(value).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).unwrap());
        }
    }
    bytes
}
