//! The supervisor: what stands between a driver and a command.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, ExitCode, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, WaitOptions, getpid, set_child_subreaper, setsid, wait};
use serde::{Deserialize, Serialize};

use super::fence::Fence;
use super::tree::end_all;

/// What is to be run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    pub(super) folder: String,
    pub(super) environment: Vec<(String, String)>,
    pub(super) unset: Vec<String>,
    /// Whether it has nothing of this process's own environment.
    #[serde(default)]
    pub(super) only: bool,
    #[serde(default)]
    pub(super) fence: Option<Fence>,
    /// How many bytes follow that the command reads.
    pub(super) input: usize,
    /// Whether whatever follows after that is for the command, too.
    #[serde(default)]
    pub(super) open: bool,
}

/// Whoever was handed what a command reads may hold it open for ever, and is waited for no longer than this.
const A_MOMENT: Duration = Duration::from_secs(1);
/// How the line begins that says so of a command which failed. What it says itself explains more.
pub const UNREAD: &str = "broken pipe: it was gone before it had read";
/// Where a shell would say that a command cannot be started, and so does the supervisor.
const CANNOT_START: u8 = 127;

/// Reads an order from the standard input, runs it, and ends everything it started when it is over, or when the standard
/// input closes: then nobody wants it any more. Comes out as the command does.
pub fn supervise() -> ExitCode {
    // A signal to the group of whoever drives, as a terminal or `timeout` sends it, is for them alone: they end what they
    // began, and where they cannot, this one does. One that leads a group already has one of its own.
    let _ = setsid();
    let mut input = BufReader::new(io::stdin());
    let mut line = String::new();
    let order: Option<Order> = input.read_line(&mut line).ok().and_then(|_| serde_json::from_str(&line).ok());
    let Some(order) = order else { return told("the supervisor was given no order") };
    let mut given = vec![0; order.input];
    if input.read_exact(&mut given).is_err() {
        return told("the supervisor was given less than it was promised");
    }
    if let Err(error) = set_child_subreaper(Some(getpid())) {
        return told(&format!("what a command starts cannot be kept together: {error}"));
    }
    let mut command = std::process::Command::new(&order.program);
    command.args(&order.arguments).current_dir(&order.folder).stdin(Stdio::piped());
    if order.only {
        command.env_clear();
    }
    command.envs(order.environment.iter().map(|(name, value)| (name, value)));
    for name in &order.unset {
        command.env_remove(name);
    }
    let mut child = match begun(&mut command, order.fence.as_ref()) {
        Ok(child) => child,
        Err(error) => return told(&format!("`{}` cannot be started: {error}", order.program)),
    };
    // A command that does not read what it is given must not keep anybody waiting.
    // What comes is taken at once, so that whoever lets go is heard even then.
    let (pass, passed) = channel::<Vec<u8>>();
    let (tell, told_of) = channel::<bool>();
    let writer = child.stdin.take();
    drop(pass.send(given));
    let pass = order.open.then_some(pass);
    std::thread::spawn(move || {
        let Some(mut writer) = writer else { return };
        // The end of a channel is the end of what there is to read.
        passed.iter().all(|it| {
            let written = writer.write_all(&it).is_ok();
            let _ = tell.send(written);
            written
        });
    });
    // From here on one of two things happens, and only the first counts.
    let over = Arc::new(Mutex::new(()));
    let called_off = Arc::clone(&over);
    std::thread::spawn(move || {
        let mut bytes = vec![0; 64 << 10];
        while let Ok(count @ 1..) = input.read(&mut bytes) {
            drop(pass.as_ref().map(|it| it.send(bytes[..count].to_vec())));
        }
        let _first = called_off.lock().unwrap_or_else(PoisonError::into_inner);
        end_all();
        std::process::exit(i32::from(CANNOT_START));
    });
    let code = status_of(i32::try_from(child.id()).ok().and_then(Pid::from_raw));
    let _first = over.lock().unwrap_or_else(PoisonError::into_inner);
    end_all();
    // Hardly anybody is left who could read it, so by now it is read or lost. A command that went well did not need it.
    if code != 0 && told_of.recv_timeout(A_MOMENT) == Ok(false) {
        let given = order.input;
        let _ = writeln!(io::stderr(), "{UNREAD} the {given} bytes it was given");
    }
    ExitCode::from(code)
}

/// Begins a command, behind its fence.
fn begun(command: &mut std::process::Command, fence: Option<&Fence>) -> io::Result<Child> {
    let Some(fence) = fence else { return command.spawn() };
    // A fence is around one thread and what it starts. The supervisor itself stays outside, to end what is inside.
    std::thread::scope(|scope| {
        let inside = scope.spawn(|| {
            fence.close()?;
            command.spawn()
        });
        inside.join().unwrap_or_else(|_| Err(io::Error::other("the fence could not be put up")))
    })
}

/// How the command ended, as a shell would say it. What it let go of ends as it pleases.
fn status_of(command: Option<Pid>) -> u8 {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if Some(pid) == command => {
                let by_signal = status.terminating_signal().map(|it| it + 128);
                let code = status.exit_status().or(by_signal).unwrap_or(i32::from(CANNOT_START));
                return u8::try_from(code).unwrap_or(CANNOT_START);
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return CANNOT_START,
        }
    }
}

/// Says why there is nothing to supervise.
fn told(why: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "{why}");
    ExitCode::from(CANNOT_START)
}
