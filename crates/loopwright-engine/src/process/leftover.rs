//! What is left of a run's commands when also the one was killed that should have ended them.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, kill_process};

/// How often it is looked whether they are gone.
const LOOKS: usize = 200;
const PAUSE: Duration = Duration::from_millis(5);

/// What stands between what marks all that is started for a run and who of several at work at once it is.
const BESIDE: &[u8] = b"+";

/// What marks one of several that are at work at once for a run.
pub(crate) fn beside(mark: &str, who: &str) -> String {
    format!("{mark}{}{who}", String::from_utf8_lossy(BESIDE))
}

/// Ends every process that has this in its environment, and waits until it is gone: how many there were.
pub(crate) fn end_leftover(variable: &str, value: &str) -> usize {
    let mark = format!("{variable}={value}");
    let mut ended = Vec::new();
    for _ in 0..LOOKS {
        let found = marked(mark.as_bytes());
        if found.is_empty() {
            break;
        }
        for pid in found {
            // One that is gone already needs no ending.
            let _ = kill_process(pid, Signal::KILL);
            if !ended.contains(&pid) {
                ended.push(pid);
            }
        }
        std::thread::sleep(PAUSE);
    }
    ended.len()
}

/// Processes with such a line in their environment, as they were started. One that is dead has none any more.
fn marked(mark: &[u8]) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let pids =
        entries.filter_map(|it| it.file_name().to_str()?.parse::<i32>().ok()).filter_map(Pid::from_raw);
    let others = pids.filter(|it| *it != getpid());
    let is_marked = |pid: &Pid| {
        let environment = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default();
        environment
            .split(|it| *it == 0)
            .any(|it| it.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with(BESIDE)))
    };
    others.filter(is_marked).collect()
}
