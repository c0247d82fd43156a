//! Ending everything below this process.

use std::fs;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};

/// How long the dying are left alone before they are looked at again.
const PAUSE: Duration = Duration::from_millis(1);

/// Ends every process below this one and waits until all are gone. What they let go of comes to this process, which is
/// its reaper, so that nothing gets away.
///
/// It never waits for one process in particular: while it did, another that was begun just before its parent was ended
/// would live on.
pub(super) fn end_all() {
    loop {
        for pid in descendants() {
            // One that is gone already needs no ending.
            let _ = kill_process(pid, Signal::KILL);
        }
        // What is read of processes one by one may miss one whose parent dies meanwhile. That there is no child left, the
        // system knows: whatever lost its parent has become one.
        loop {
            match wait(WaitOptions::NOHANG) {
                Err(Errno::CHILD) => return,
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) | Err(_) => break,
            }
        }
        std::thread::sleep(PAUSE);
    }
}

/// Every process below this one that still runs.
fn descendants() -> Vec<Pid> {
    let parents = parents();
    let mut found = vec![getpid().as_raw_nonzero().get()];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    found.into_iter().skip(1).filter_map(Pid::from_raw).collect()
}

/// All processes with their parents. One that is dead and only waits to be read is left out.
fn parents() -> Vec<(i32, i32)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let pids = entries.filter_map(|it| it.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name is in brackets and may hold anything.
        let mut rest = stat.rsplit_once(')')?.1.split_whitespace();
        let state = rest.next()?;
        let parent = rest.next()?.parse().ok()?;
        (state != "Z" && state != "X").then_some((pid, parent))
    })
    .collect()
}
