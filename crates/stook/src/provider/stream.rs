//! Bodies of answers: known at once, or told piece by piece while something goes on.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::{Body, Frame};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The body of any answer.
pub type Reply = Either<Full<Bytes>, Streamed>;

/// Pieces that wait for a slow reader before whoever makes them waits too.
const MOST_WAITING: usize = 16;

/// A body that is made while it is sent.
pub struct Streamed {
    pieces: Receiver<Bytes>,
    gone: Arc<AtomicBool>,
}

impl Streamed {
    /// A body, and where its pieces go in. `gone` is set when nobody reads it any more, or when it is at its end.
    pub fn new(gone: Arc<AtomicBool>) -> (Sender<Bytes>, Streamed) {
        let (sender, pieces) = channel(MOST_WAITING);
        (sender, Streamed { pieces, gone })
    }
}

impl Body for Streamed {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.pieces.poll_recv(context);
        piece.map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
    }
}

impl Drop for Streamed {
    fn drop(&mut self) {
        self.gone.store(true, Relaxed);
    }
}
