//! Bodies that come in pieces and do not have to end well.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Bytes;
use http_body::{Body, Frame};

use crate::watch::Silence;

/// How a body ends.
pub(crate) enum End {
    /// In order.
    Done,
    /// With the connection.
    Torn,
    /// Not at all. Whoever waits goes away, or the server does; either drops the body, and that is written down.
    Silent(#[expect(dead_code, reason = "it is held to be dropped")] Silence),
}

/// Pieces, and how they end.
pub(crate) struct Pieces {
    left: VecDeque<Bytes>,
    end: End,
    yielded: bool,
}

impl Pieces {
    pub(crate) fn new(pieces: impl IntoIterator<Item = String>, end: End) -> Self {
        Self { left: pieces.into_iter().map(Bytes::from).collect(), end, yielded: false }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(piece) = self.left.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        match &self.end {
            End::Done => Poll::Ready(None),
            End::Silent(_) => Poll::Pending,
            // What was said before has to be on its way first: an error drops what is still held back.
            End::Torn if !self.yielded => {
                self.yielded = true;
                context.waker().wake_by_ref();
                Poll::Pending
            }
            End::Torn => Poll::Ready(Some(Err(io::Error::from(io::ErrorKind::ConnectionAborted)))),
        }
    }
}
