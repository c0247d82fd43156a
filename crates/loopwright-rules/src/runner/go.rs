//! `go test`.

use super::{Named, Said, Unloaded, until};

pub(super) fn said(lines: &[&str]) -> Said {
    let mut said = Said::default();
    for (index, line) in lines.iter().enumerate() {
        let named = |about: &str| Named {
            file: None,
            segments: vec![about.split([' ', '/']).next().unwrap_or_default().to_owned()],
            text: until(lines.get(index + 1..).unwrap_or_default(), |it| {
                it.starts_with("--- ") || it.starts_with("FAIL") || it.starts_with("ok ")
            }),
        };
        let line = line.trim_start();
        if let Some(about) = line.strip_prefix("--- FAIL: ") {
            said.failed.push(named(about));
        } else if let Some(about) = line.strip_prefix("--- PASS: ") {
            said.passed.push(named(about));
        } else if line.starts_with("FAIL")
            && (line.ends_with("[build failed]") || line.ends_with("[setup failed]"))
        {
            let errors: Vec<&str> = lines.iter().copied().filter(|it| it.contains(".go:")).collect();
            said.unloaded.push(Unloaded { file: None, text: errors.join("\n") });
        }
    }
    said
}
