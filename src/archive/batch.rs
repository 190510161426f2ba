//! Small frames, decoded one after the other.

use super::Line;
use super::lines::LineSplitter;

/// Small frames are decoded one after the other up to this many bytes before their lines are looked at: taking turns for
/// every 500 bytes costs the decompressor its place in the caches.
pub(super) const BATCH: usize = 32 << 10;
/// Frames that may hold more are no small frames.
pub(super) const BATCH_BOUND: u64 = 256 << 10;

/// Decoded frames whose lines have not been handed on yet.
#[derive(Default)]
pub(super) struct Batch {
    bytes: Vec<u8>,
    pub(super) used: usize,
    /// Number and offset of each frame, and where its bytes end.
    pub(super) frames: Vec<(u64, u64, usize)>,
}

impl Batch {
    /// Room for a frame of at most `bound` bytes.
    pub(super) fn room(&mut self, bound: usize) -> &mut [u8] {
        if self.bytes.len() < self.used + bound {
            self.bytes.resize(self.used + bound, 0);
        }
        &mut self.bytes[self.used..self.used + bound]
    }

    pub(super) fn hand_on(&mut self, splitter: &mut LineSplitter<'_>, sink: &mut dyn FnMut(Line<'_>)) {
        let mut start = 0;
        for (frame, offset, end) in self.frames.drain(..) {
            splitter.feed(&self.bytes[start..end], Some(frame), offset, sink);
            start = end;
        }
        self.used = 0;
    }
}
