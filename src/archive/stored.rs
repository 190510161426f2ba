//! The stored bytes of an archive, a window at a time.

use std::io::{self, Read};

/// How much is read at a time, bytes.
pub(super) const READ_STEP: usize = 256 << 10;

/// The part of the stored bytes that is in memory: `buffer[start..end]`, at file offset `offset`. The buffer keeps its
/// length between archives: clearing it for every small log would cost more than reading the log.
pub(super) struct StoredWindow<'a> {
    pub(super) input: &'a mut dyn Read,
    pub(super) buffer: &'a mut Vec<u8>,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) offset: u64,
    pub(super) ended: bool,
    pub(super) error: Option<io::Error>,
}

impl StoredWindow<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    pub(super) fn advance(&mut self, count: usize) {
        self.start += count;
        self.offset += count as u64;
    }

    /// Reads until at least `wanted` bytes are in memory; false when the input ended before.
    pub(super) fn fill_to(&mut self, wanted: usize) -> bool {
        while self.bytes().len() < wanted && !self.ended {
            self.fill_step(READ_STEP);
        }
        self.bytes().len() >= wanted
    }

    pub(super) fn fill_step(&mut self, step: usize) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() < self.end + step {
            self.buffer.resize(self.end + step, 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.ended = count == 0;
                    self.end += count;
                    return;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.error = Some(error);
                    self.ended = true;
                    return;
                }
            }
        }
    }
}
