//! Reads one archive from start to end with two reused buffers: the stored bytes and one decompressed frame.

use std::io::{self, Read};

use memchr::memmem;
use zstd::bulk::Decompressor;
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::batch::{BATCH, BATCH_BOUND, Batch};
use super::frames::{FrameExtent, bounded_extent, frame_extent};
use super::lines::{Line, LineSplitter};
use super::stored::{READ_STEP, StoredWindow};
use super::{ArchiveReport, Limits};
use crate::message;
use crate::message::Message;

/// Frames that may decompress to more than this are decoded piece by piece, so that a single-frame rewrite of a huge
/// log stays within the memory bound.
const ONE_SHOT_BOUND: u64 = 4 << 20;
/// Blocks that a frame found by searching may have: 512 MiB of full ones.
const RESYNC_BLOCKS: usize = 4096;
/// Bytes that the search for the next frame may decompress in vain, over one archive.
const RESYNC_BUDGET: u64 = 2 << 30;
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Buffers and the decompression context of one worker, reused over all its archives: real frames are some 500 bytes,
/// so a context per frame would cost more than the decompression.
pub struct ArchiveReader {
    stored: Vec<u8>,
    decoded: Vec<u8>,
    batch: Batch,
    context: Decompressor<'static>,
}

impl ArchiveReader {
    /// A reader with empty buffers.
    ///
    /// # Errors
    /// When zstd cannot allocate its context.
    pub fn new() -> io::Result<Self> {
        Ok(Self { stored: Vec::new(), decoded: Vec::new(), batch: Batch::default(), context: Decompressor::new()? })
    }

    /// Streams every complete line of `input` into `sink`, in file order. Whether the archive is compressed is read
    /// from its first bytes, not from its name.
    pub fn read(&mut self, input: &mut dyn Read, limits: Limits, sink: &mut dyn FnMut(Line<'_>)) -> ArchiveReport {
        let mut report = ArchiveReport::default();
        let mut window =
            StoredWindow { input, buffer: &mut self.stored, start: 0, end: 0, offset: 0, ended: false, error: None };
        window.fill_to(4);
        let compressed = is_compressed(&mut window);
        let mut splitter = LineSplitter::new(limits, &mut report);
        if compressed {
            let mut walk = FrameWalk {
                window,
                decoded: &mut self.decoded,
                batch: &mut self.batch,
                context: &mut self.context,
                limits,
                frame: 0,
                resync_budget: RESYNC_BUDGET,
            };
            walk.run(&mut splitter, sink);
            let (end, frame) = (walk.window.offset, walk.frame.saturating_sub(1));
            let error = walk.window.error.take();
            finish(splitter, error, Some(frame), end);
        } else {
            loop {
                let offset = window.offset;
                if window.bytes().is_empty() && !window.fill_to(1) {
                    break;
                }
                splitter.feed(window.bytes(), None, offset, sink);
                window.advance(window.bytes().len());
            }
            let end = window.offset;
            let error = window.error.take();
            finish(splitter, error, None, end);
        }
        report
    }
}

/// A damaged first frame does not make a compressed log plain: the magic's bytes are no UTF-8, so no plain log has them.
fn is_compressed(window: &mut StoredWindow<'_>) -> bool {
    let head = window.bytes();
    let skippable = matches!(head.get(..4), Some([m, 0x2A, 0x4D, 0x18]) if m & 0xF0 == 0x50);
    if skippable || head.starts_with(&ZSTD_MAGIC) {
        return true;
    }
    if head.starts_with(b"{") {
        return false;
    }
    window.fill_to(READ_STEP);
    memmem::find(window.bytes(), &ZSTD_MAGIC).is_some()
}

fn finish(mut splitter: LineSplitter<'_>, error: Option<io::Error>, frame: Option<u64>, end: u64) {
    splitter.report().bytes_compressed = end;
    if let Some(error) = error {
        splitter.note("read-error", frame, end, 0, message!("notices.reading-stopped", why = error));
    }
    splitter.finish(frame, end);
}

/// [`ArchiveReader::read`] for a single archive, with its own buffers.
///
/// # Errors
/// When zstd cannot allocate its context.
pub fn read_archive(input: &mut dyn Read, limits: Limits, sink: &mut dyn FnMut(Line<'_>)) -> io::Result<ArchiveReport> {
    Ok(ArchiveReader::new()?.read(input, limits, sink))
}

struct FrameWalk<'a> {
    window: StoredWindow<'a>,
    decoded: &'a mut Vec<u8>,
    batch: &'a mut Batch,
    context: &'a mut Decompressor<'static>,
    limits: Limits,
    frame: u64,
    resync_budget: u64,
}

impl FrameWalk<'_> {
    fn run(&mut self, splitter: &mut LineSplitter<'_>, sink: &mut dyn FnMut(Line<'_>)) {
        loop {
            if self.window.bytes().is_empty() && !self.window.fill_to(1) {
                self.batch.hand_on(splitter, sink);
                return;
            }
            let extent = frame_extent(self.window.bytes());
            if let FrameExtent::Complete { stored, bound, window, .. } = extent
                && bound <= BATCH_BOUND
                && window <= self.limits.window_bytes
                && self.batched(stored, bound, splitter)
            {
                // The first frame holds the header line: how many lines it has is known only here.
                if self.batch.used >= BATCH || self.frame == 1 {
                    self.batch.hand_on(splitter, sink);
                }
                if self.frame == 1 {
                    splitter.report().first_frame_lines = splitter.lines_so_far();
                }
                continue;
            }
            // What follows speaks of lines: those before it come first.
            self.batch.hand_on(splitter, sink);
            match extent {
                FrameExtent::Complete { stored, bound, window, .. } => {
                    self.complete_frame(stored, bound, window, splitter, sink);
                }
                FrameExtent::Skippable { stored } => self.window.advance(stored),
                FrameExtent::Incomplete if !self.window.ended => {
                    // Doubling keeps the repeated structural walk over one large frame linear.
                    let step = self.window.bytes().len().max(READ_STEP);
                    self.window.fill_step(step);
                }
                FrameExtent::Incomplete => {
                    if !self.resync(&Message::new("notices.frame-past-end"), splitter) {
                        self.torn_frame(splitter, sink);
                        return;
                    }
                }
                FrameExtent::Invalid(fault) => {
                    let reason = fault.message();
                    self.fill_all();
                    if self.window.bytes().iter().all(|b| *b == 0) {
                        let (offset, bytes) = (self.window.offset, self.window.bytes().len());
                        splitter.note(
                            "nul-run",
                            Some(self.frame),
                            offset,
                            bytes as u64,
                            message!("notices.nul-bytes-at-end", n = bytes),
                        );
                        self.window.advance(bytes);
                        return;
                    }
                    if !self.resync(&reason, splitter) {
                        let (offset, bytes) = (self.window.offset, self.window.bytes().len());
                        splitter.note(
                            "corrupt-frame",
                            Some(self.frame),
                            offset,
                            bytes as u64,
                            message!("notices.no-frame-follows", why = reason, n = bytes),
                        );
                        self.window.advance(bytes);
                        return;
                    }
                }
            }
        }
    }

    /// Decodes a small frame into the batch; false where it cannot be decoded.
    fn batched(&mut self, stored: usize, bound: u64, splitter: &mut LineSplitter<'_>) -> bool {
        let bytes = &self.window.bytes()[..stored];
        let Ok(written) = self.context.decompress_to_buffer(bytes, self.batch.room(bound as usize)) else {
            return false;
        };
        self.batch.used += written;
        self.batch.frames.push((self.frame, self.window.offset, self.batch.used));
        self.next_frame(stored, splitter);
        true
    }

    fn complete_frame(
        &mut self,
        stored: usize,
        bound: u64,
        window: u64,
        splitter: &mut LineSplitter<'_>,
        sink: &mut dyn FnMut(Line<'_>),
    ) {
        let offset = self.window.offset;
        if window > self.limits.window_bytes {
            splitter.note(
                "limit",
                Some(self.frame),
                offset,
                stored as u64,
                message!("notices.large-window", n = window, most = self.limits.window_bytes),
            );
            splitter.cut(Some(self.frame), offset);
            self.next_frame(stored, splitter);
            return;
        }
        let lines_before = splitter.lines_so_far();
        if bound > ONE_SHOT_BOUND {
            // Decoded twice: no line of a frame is handed on before its checksum has been seen.
            let whole = self.decode_pieces(stored, &mut |_| {}).map(|_| ());
            match whole.and_then(|()| self.stream_frame(stored, splitter, sink)) {
                Ok(()) => self.next_frame(stored, splitter),
                Err(reason) => self.failed_frame(stored, &Message::verbatim(reason), splitter),
            }
        } else {
            self.decoded.clear();
            self.decoded.reserve(bound as usize);
            let bytes = &self.window.bytes()[..stored];
            match self.context.decompress_to_buffer(bytes, self.decoded) {
                Ok(_) => {
                    splitter.feed(self.decoded, Some(self.frame), offset, sink);
                    self.next_frame(stored, splitter);
                }
                Err(error) => self.failed_frame(stored, &Message::verbatim(error), splitter),
            }
        }
        if self.frame == 1 {
            splitter.report().first_frame_lines = splitter.lines_so_far() - lines_before;
        }
    }

    fn next_frame(&mut self, stored: usize, splitter: &mut LineSplitter<'_>) {
        splitter.report().frames += 1;
        self.frame += 1;
        self.window.advance(stored);
    }

    /// A frame whose structure is whole but whose content is not. Its stated end is trusted only where another frame
    /// (or the end of the file) stands there: a flipped bit in a block header moves the end as well.
    fn failed_frame(&mut self, stored: usize, reason: &Message, splitter: &mut LineSplitter<'_>) {
        if self.window.bytes().len() < stored + 4 && !self.window.ended {
            self.window.fill_to(stored + 4);
        }
        let after = &self.window.bytes()[stored..];
        if !after.is_empty() && matches!(frame_extent(after), FrameExtent::Invalid(_)) && self.resync(reason, splitter)
        {
            return;
        }
        // A length that a flipped bit made too long may have swallowed whole frames: look inside before going past.
        if self.resync_within(stored, reason, splitter) {
            return;
        }
        splitter.note("corrupt-frame", Some(self.frame), self.window.offset, stored as u64, reason.clone());
        splitter.cut(Some(self.frame), self.window.offset);
        self.frame += 1;
        self.window.advance(stored);
    }

    fn fill_all(&mut self) {
        while !self.window.ended {
            let step = self.window.bytes().len().max(READ_STEP);
            self.window.fill_step(step);
        }
    }

    /// After structural damage the next frame cannot be computed. Candidates are the places where the magic stands,
    /// but one counts only when a whole frame decodes there with a valid checksum.
    fn resync(&mut self, reason: &Message, splitter: &mut LineSplitter<'_>) -> bool {
        self.fill_all();
        let end = self.window.bytes().len();
        self.resync_within(end, reason, splitter)
    }

    fn resync_within(&mut self, end: usize, reason: &Message, splitter: &mut LineSplitter<'_>) -> bool {
        let bytes = self.window.bytes();
        let Some(range) = bytes.get(1..end) else { return false };
        for at in memmem::find_iter(range, &ZSTD_MAGIC) {
            let at = at + 1;
            let extent = bounded_extent(&bytes[at..], RESYNC_BLOCKS);
            let FrameExtent::Complete { stored, bound, window, checksum: true } = extent else {
                continue;
            };
            let cost = bound.saturating_add(stored as u64);
            if window > self.limits.window_bytes || bound > self.limits.frame_bytes || cost > self.resync_budget {
                continue;
            }
            self.resync_budget -= cost;
            self.decoded.clear();
            self.decoded.reserve(bound as usize);
            if self.context.decompress_to_buffer(&bytes[at..at + stored], self.decoded).is_ok() {
                splitter.note(
                    "corrupt-frame",
                    Some(self.frame),
                    self.window.offset,
                    at as u64,
                    message!("notices.goes-on-later", why = reason.clone(), n = at),
                );
                splitter.cut(Some(self.frame), self.window.offset);
                self.resync_budget = self.resync_budget.saturating_add(cost);
                self.frame += 1;
                self.window.advance(at);
                return true;
            }
        }
        false
    }

    /// What decodes out of the last, incomplete frame is real data up to its last newline.
    fn torn_frame(&mut self, splitter: &mut LineSplitter<'_>, sink: &mut dyn FnMut(Line<'_>)) {
        let (offset, bytes) = (self.window.offset, self.window.bytes().len());
        let before = splitter.lines_so_far();
        let outcome = self.stream_frame(bytes, splitter, sink);
        let lines = splitter.lines_so_far() - before;
        splitter.report().torn_bytes += bytes as u64;
        splitter.report().torn_frame_lines = lines;
        let detail = match outcome {
            Err(reason) if reason != "incomplete" => {
                message!("notices.torn-frame-why", n = bytes, lines = lines, why = reason)
            }
            _ => message!("notices.torn-frame", n = bytes, lines = lines),
        };
        splitter.note("torn-frame", Some(self.frame), offset, bytes as u64, detail);
        self.frame += 1;
        self.window.advance(bytes);
    }

    fn stream_frame(
        &mut self,
        stored: usize,
        splitter: &mut LineSplitter<'_>,
        sink: &mut dyn FnMut(Line<'_>),
    ) -> Result<(), String> {
        let (frame, offset) = (self.frame, self.window.offset);
        let whole = self.decode_pieces(stored, &mut |piece| splitter.feed(piece, Some(frame), offset, sink))?;
        if !whole {
            let most = self.limits.frame_bytes;
            splitter.note("limit", Some(frame), offset, stored as u64, message!("notices.large-frame", most = most));
            splitter.cut(Some(frame), offset);
        }
        Ok(())
    }

    /// Decodes a frame piece by piece; false when it holds more than the limit.
    fn decode_pieces(&mut self, stored: usize, take: &mut dyn FnMut(&[u8])) -> Result<bool, String> {
        let mut decoder = Decoder::new().map_err(|e| e.to_string())?;
        let window_log = 64 - self.limits.window_bytes.max(1 << 10).leading_zeros();
        decoder.set_parameter(DParameter::WindowLogMax(window_log.min(31))).map_err(|e| e.to_string())?;
        let source = &self.window.bytes()[..stored];
        let mut input = InBuffer::around(source);
        self.decoded.clear();
        self.decoded.resize(256 << 10, 0);
        let mut total = 0u64;
        loop {
            let mut output = OutBuffer::around(&mut self.decoded[..]);
            let hint = decoder.run(&mut input, &mut output).map_err(|e| e.to_string())?;
            let written = output.pos();
            total += written as u64;
            if total > self.limits.frame_bytes {
                return Ok(false);
            }
            take(&self.decoded[..written]);
            if hint == 0 {
                return Ok(true);
            }
            if input.pos() == stored && written < self.decoded.len() {
                return Err("incomplete".to_owned());
            }
        }
    }
}
