//! A reader that ends where a line becomes too long.
//!
//! The protocol's own bound leaves such a line out and waits for the next one. Whoever sent it then waits for an answer
//! that never comes; an end is at least noticed.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

pub(super) struct Bounded<R> {
    inner: R,
    longest: usize,
    /// How long the line that is being read is so far.
    line: usize,
}

impl<R> Bounded<R> {
    pub fn new(inner: R, longest: usize) -> Self {
        Self { inner, longest, line: 0 }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.line > self.longest {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, "a line is too long")));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let read = buffer.filled().get(before..).unwrap_or_default();
        self.line = match read.iter().rposition(|byte| *byte == b'\n') {
            Some(newline) => read.len() - newline - 1,
            None => self.line.saturating_add(read.len()),
        };
        Poll::Ready(Ok(()))
    }
}
