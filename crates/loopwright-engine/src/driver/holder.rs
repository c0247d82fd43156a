//! Who drives a run, so that others can tell whether they still do.

use std::fs;

/// This process, as others are told of it.
pub fn this_process() -> String {
    let pid = std::process::id();
    format!("process {pid} on {} since {}", host(), begun(pid).unwrap_or_default())
}

/// Whoever is meant, for people: on this machine by the number of the process alone.
pub fn holder_in_words(holder: &str) -> String {
    let words: Vec<&str> = holder.split(' ').collect();
    match words.as_slice() {
        ["process", pid, "on", on, "since", _] if *on == host() => format!("process {pid}"),
        ["process", pid, "on", on, "since", _] => {
            format!("process {pid} on {}", on.split('/').next().unwrap_or(on))
        }
        _ => holder.to_owned(),
    }
}

/// Whether whoever is meant was a process of this machine and is none any more. Of others nothing is known.
pub(crate) fn is_gone(holder: &str) -> bool {
    is_there(holder) == Some(false)
}

/// Whether whoever is meant is a process of this machine.
pub(crate) fn is_alive(holder: &str) -> bool {
    is_there(holder) == Some(true)
}

/// Whether a process of this machine is there; `None` for anybody else.
fn is_there(holder: &str) -> Option<bool> {
    let words: Vec<&str> = holder.split(' ').collect();
    let ["process", pid, "on", on, "since", since] = words.as_slice() else { return None };
    let pid = pid.parse::<u32>().ok().filter(|_| *on == host())?;
    Some(begun(pid).unwrap_or_default() == *since)
}

/// This machine since it was started: another start is another machine.
fn host() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let boot = read("/proc/sys/kernel/random/boot_id");
    let name = read("/proc/sys/kernel/hostname").replace(' ', "-");
    format!("{name}/{}", boot.get(..8).unwrap_or_default())
}

/// When a process began, in the kernel's own count. `None`: there is none, or only its remains.
fn begun(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in brackets and may hold anything.
    let mut rest = stat.rsplit_once(')')?.1.split_whitespace();
    let state = rest.next()?;
    let begun = rest.nth(18)?;
    (state != "Z" && state != "X").then(|| begun.to_owned())
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "these are tests")]
mod tests {
    use super::*;

    #[test]
    fn one_that_lives_is_told_from_one_that_is_gone() {
        let me = this_process();
        assert!(!is_gone(&me) && is_alive(&me), "{me}");
        let (before, _) = me.rsplit_once(' ').expect("a moment");
        assert!(is_gone(&format!("{before} 1")), "the number was given to another since");
        assert!(is_gone(&me.replace(&format!("process {}", std::process::id()), "process 4194305")));
        assert!(!is_gone(&me.replace(" on ", " on another-")), "of other machines nothing is known");
        assert!(!is_gone("somebody") && !is_alive("somebody"));
    }
}
