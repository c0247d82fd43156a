//! Files that a merge left undecided: git writes both sides into them.

/// Whether a line is a sign of an undecided merge.
fn is_sign(line: &str, sign: &str) -> bool {
    let line = line.trim_end_matches(['\n', '\r']);
    line.strip_prefix(sign).is_some_and(|it| it.is_empty() || it.starts_with(' '))
}

/// Whether a text has parts that a merge left undecided.
pub fn has_conflict(text: &str) -> bool {
    text.contains("<<<<<<<") && sides(text).is_some()
}

/// The two texts that a merge could not make one of: ours, and theirs. Nothing, if there is no conflict in it.
pub fn sides(text: &str) -> Option<(String, String)> {
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum In {
        Both,
        Ours,
        Base,
        Theirs,
    }
    let (mut ours, mut theirs) = (String::with_capacity(text.len()), String::with_capacity(text.len()));
    let mut place = In::Both;
    let mut found = false;
    for line in text.split_inclusive('\n') {
        place = match place {
            In::Both if is_sign(line, "<<<<<<<") => In::Ours,
            In::Ours if is_sign(line, "|||||||") => In::Base,
            In::Ours | In::Base if is_sign(line, "=======") => In::Theirs,
            In::Theirs if is_sign(line, ">>>>>>>") => {
                found = true;
                In::Both
            }
            In::Both => {
                ours.push_str(line);
                theirs.push_str(line);
                continue;
            }
            In::Ours => {
                ours.push_str(line);
                continue;
            }
            In::Theirs => {
                theirs.push_str(line);
                continue;
            }
            In::Base => continue,
        };
    }
    (found && place == In::Both).then_some((ours, theirs))
}
