//! A command, from whoever wants it run.

use std::ffi::OsString;
use std::io::{self, Cursor, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::cancel::Cancel;
use super::fence::Fence;
use super::output::Output;
use super::supervise::Order;

/// How a supervisor is started: a program that calls [`super::supervise`], and its arguments.
#[derive(Clone, Debug)]
pub struct Supervisor {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// A command to be run.
#[derive(Clone, Debug)]
pub struct Command {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Where it runs.
    pub folder: PathBuf,
    /// What its environment has besides this process's own.
    pub environment: Vec<(String, String)>,
    /// What its environment has not.
    pub unset: Vec<String>,
    /// Whether its environment is what is said here and nothing besides.
    pub only: bool,
    /// What it may reach of the files there are; everything, if nothing is said.
    pub fence: Option<Fence>,
    /// What it reads on its standard input.
    pub input: Vec<u8>,
    /// The longest it may take.
    pub wall: Duration,
    /// The longest it may say nothing.
    pub idle: Option<Duration>,
}

/// A command that is over.
#[derive(Clone, Debug)]
pub struct Ran {
    /// How it ended.
    pub ended: Ended,
    /// What it said on its standard output.
    pub output: Output,
    /// What it said on its standard error.
    pub errors: Output,
    /// How long it took.
    pub took: Duration,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with a code: as a shell says it, so above 128 by a signal.
    Exit(i32),
    /// It took too long.
    Timeout,
    /// It said nothing for too long.
    Stalled,
    /// It was called off.
    Cancelled,
}

/// An exit code in words: which signal it was, where it was one.
pub fn exit_in_words(code: i32) -> String {
    let signal = match code - 128 {
        1 => "its terminal was closed (SIGHUP)",
        2 => "it was interrupted (SIGINT)",
        6 => "it gave itself up (SIGABRT)",
        9 => "it was killed (SIGKILL), as happens where memory runs out",
        11 => "it crashed (SIGSEGV)",
        13 => "its pipe broke (SIGPIPE): what it talked with was gone",
        15 => "it was told to end (SIGTERM)",
        _ => return format!("it ended with exit code {code}"),
    };
    format!("{signal}, exit code {code}")
}

/// What happens while a command runs.
enum Heard {
    Output(Vec<u8>),
    Errors(Vec<u8>),
    /// Nothing more is said on one of the two.
    Silent,
    Over(io::Result<ExitStatus>),
    CalledOff,
}

/// How many pieces of what a command says may be on their way.
const IN_BETWEEN: usize = 64;

/// What everything in the environment has that is started for a run, and nothing else.
pub(crate) const MARK: &str = "LOOPWRIGHT_MARK";

/// How long what a command said may still be on its way when it is over. Only one that got rid of its supervisor can
/// keep anybody waiting that long.
const ON_ITS_WAY: Duration = Duration::from_secs(5);

impl Command {
    /// A shell command.
    pub fn shell(text: &str, folder: PathBuf, wall: Duration) -> Self {
        Self {
            program: "sh".into(),
            arguments: vec!["-c".into(), text.to_owned()],
            folder,
            environment: Vec::new(),
            unset: Vec::new(),
            only: false,
            fence: None,
            input: Vec::new(),
            wall,
            idle: None,
        }
    }

    /// Runs it to its end, or ends it. `heard` is told what it says on its standard output as it comes.
    pub fn run(
        &self,
        supervisor: &Supervisor,
        cancel: &Cancel,
        heard: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Ran> {
        let (child, control) = self.begun(supervisor, false)?;
        self.watched(child, &control, cancel, heard)
    }

    /// Runs it while somebody talks with it: what they write it reads, besides what it is given anyway, and what it says
    /// they read. It is over when they have nothing more to say.
    pub fn talk<T: Send>(
        &self,
        supervisor: &Supervisor,
        cancel: &Cancel,
        talk: impl FnOnce(Box<dyn Write + Send>, Box<dyn Read + Send>) -> T + Send,
    ) -> io::Result<(Ran, T)> {
        let (child, control) = self.begun(supervisor, true)?;
        let (say, said) = sync_channel::<Vec<u8>>(IN_BETWEEN);
        std::thread::scope(|scope| {
            let theirs = Arc::clone(&control);
            let talking = scope.spawn(move || {
                let hears = Box::new(Hears { said, open: Cursor::default() });
                let done = talk(Box::new(Speaks(Arc::clone(&theirs))), hears);
                theirs.lock().unwrap_or_else(PoisonError::into_inner).take();
                done
            });
            // Somebody who does not listen any more has nothing more to say either.
            let mut say = Some(say);
            let ran = self.watched(child, &control, cancel, &mut |bytes| {
                drop(say.as_ref().map(|it| it.send(bytes.to_vec())));
            });
            say = None;
            drop(say);
            let done = talking.join().map_err(|_| io::Error::other("whoever talked with it fell over"))?;
            Ok((ran?, done))
        })
    }

    /// Begins it below its supervisor, which is told what to run.
    fn begun(&self, supervisor: &Supervisor, open: bool) -> io::Result<(Child, Control)> {
        let mut child = std::process::Command::new(&supervisor.program)
            .args(&supervisor.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut control = child.stdin.take();
        if let Some(control) = &mut control {
            // One that fell over is seen by how it ends.
            let _ = control.write_all(&self.order(open)?);
        }
        Ok((child, Arc::new(Mutex::new(control))))
    }

    fn watched(
        &self,
        mut child: Child,
        control: &Control,
        cancel: &Cancel,
        heard: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Ran> {
        let begun = Instant::now();
        // Whoever holds the supervisor's input lets go: that ends it, and all below it.
        let let_go = || drop(control.lock().unwrap_or_else(PoisonError::into_inner).take());
        // Bounded: what is said faster than it is heard waits where it is said.
        let (tell, hear) = sync_channel(IN_BETWEEN);
        listen(child.stdout.take(), Heard::Output, tell.clone());
        listen(child.stderr.take(), Heard::Errors, tell.clone());
        let over = tell.clone();
        std::thread::spawn(move || drop(over.send(Heard::Over(child.wait()))));
        let _listening = cancel.listen(move || drop(tell.send(Heard::CalledOff)));

        let (mut output, mut errors) = (Output::default(), Output::default());
        let (mut last, mut silent) = (begun, 0);
        let (mut code, mut cut) = (None, None);
        while code.is_none() || silent < 2 {
            let (at, why) = match code {
                None if cut.is_none() => self.deadline(begun, last),
                None => (None, Ended::Timeout),
                Some(_) => (Instant::now().checked_add(ON_ITS_WAY), Ended::Timeout),
            };
            let next = match at {
                Some(at) => hear.recv_timeout(at.saturating_duration_since(Instant::now())),
                None => hear.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match next {
                Ok(Heard::Output(bytes)) => {
                    last = Instant::now();
                    heard(&bytes);
                    output.push(&bytes);
                }
                Ok(Heard::Errors(bytes)) => {
                    last = Instant::now();
                    errors.push(&bytes);
                }
                Ok(Heard::Silent) => silent += 1,
                Ok(Heard::Over(status)) => {
                    let status = status?;
                    // One that was killed itself could not end what it had to end.
                    if status.code().is_none() {
                        self.end_leftover();
                    }
                    code = Some(status.code().unwrap_or(1));
                }
                Ok(Heard::CalledOff) => {
                    cut = cut.or(Some(Ended::Cancelled));
                    let_go();
                }
                Err(RecvTimeoutError::Timeout) if code.is_none() => {
                    cut = Some(why);
                    let_go();
                }
                Err(_) => break,
            }
        }
        let_go();
        let ended = cut.unwrap_or(Ended::Exit(code.unwrap_or(1)));
        Ok(Ran { ended, output, errors, took: begun.elapsed() })
    }

    /// Ends what is left of it by what it has in its environment and nobody else.
    fn end_leftover(&self) {
        if let Some((name, value)) = self.environment.iter().find(|(name, _)| name == MARK) {
            super::end_leftover(name, value);
        }
    }

    /// When it is ended next if nothing happens, and why.
    fn deadline(&self, begun: Instant, last: Instant) -> (Option<Instant>, Ended) {
        let wall = begun.checked_add(self.wall);
        let idle = self.idle.and_then(|it| last.checked_add(it));
        match (wall, idle) {
            (Some(wall), Some(idle)) if idle < wall => (Some(idle), Ended::Stalled),
            (None, Some(idle)) => (Some(idle), Ended::Stalled),
            (wall, _) => (wall, Ended::Timeout),
        }
    }

    fn order(&self, open: bool) -> io::Result<Vec<u8>> {
        let order = Order {
            program: self.program.clone(),
            arguments: self.arguments.clone(),
            folder: self.folder.to_string_lossy().into_owned(),
            environment: self.environment.clone(),
            unset: self.unset.clone(),
            only: self.only,
            fence: self.fence.clone(),
            input: self.input.len(),
            open,
        };
        let mut bytes = serde_json::to_vec(&order)?;
        bytes.push(b'\n');
        bytes.extend_from_slice(&self.input);
        Ok(bytes)
    }
}

/// What a supervisor reads: as long as it is held, it goes on.
type Control = Arc<Mutex<Option<ChildStdin>>>;

/// What is said to a command.
struct Speaks(Control);

impl Write for Speaks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(control) => control.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a command says.
struct Hears {
    said: Receiver<Vec<u8>>,
    open: Cursor<Vec<u8>>,
}

impl Read for Hears {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.open.read(bytes)?;
        if read > 0 || bytes.is_empty() {
            return Ok(read);
        }
        match self.said.recv() {
            Ok(said) => {
                self.open = Cursor::new(said);
                self.open.read(bytes)
            }
            Err(_) => Ok(0),
        }
    }
}

/// Passes on what is said, until nothing is said any more.
fn listen(source: Option<impl Read + Send + 'static>, what: fn(Vec<u8>) -> Heard, tell: SyncSender<Heard>) {
    std::thread::spawn(move || {
        let mut bytes = vec![0; 64 << 10];
        if let Some(mut source) = source {
            loop {
                match source.read(&mut bytes) {
                    Ok(0) => break,
                    Ok(count) => drop(tell.send(what(bytes[..count].to_vec()))),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
        }
        drop(tell.send(Heard::Silent));
    });
}
