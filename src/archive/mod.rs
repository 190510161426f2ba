//! In: one archive (file, zip entry, standard input), compressed or plain.
//! Out: its complete JSONL lines in file order, each with its place, and a report of what was damaged.
//! Always: memory is bounded by [`Limits`], damage is reported with its place and never ends the scan.

mod batch;
mod frames;
mod lines;
mod reader;
mod stored;
#[cfg(test)]
mod tests;

pub use frames::{FrameExtent, FrameFault, frame_extent};
pub use lines::{Line, LinePlace};
pub use reader::{ArchiveReader, read_archive};

use crate::message::Message;

/// Bounds against hostile or broken input. Every hit becomes a notice with its place.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Largest accepted zstd window, in bytes (RFC 8878 section 3.1.1.1.2).
    pub window_bytes: u64,
    /// Most decompressed bytes taken out of one frame.
    pub frame_bytes: u64,
    /// Longest accepted line, in bytes.
    pub line_bytes: usize,
    /// Deepest accepted JSON nesting.
    pub json_depth: usize,
    /// Most entries read of one zip.
    pub zip_entries: usize,
    /// Largest accepted ratio of decompressed to compressed size of a zip entry.
    pub zip_ratio: u64,
    /// Most bytes read from standard input or out of one zip entry.
    pub buffered_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            window_bytes: 1 << 27,
            frame_bytes: 256 << 20,
            line_bytes: 64 << 20,
            json_depth: 128,
            zip_entries: 100_000,
            zip_ratio: 2_000,
            buffered_bytes: 2 << 30,
        }
    }
}

/// A place in an archive where something is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Kind, one of the ids of `docs/damage.md` (`torn-frame`, `corrupt-frame`, `nul-run` …).
    pub kind: &'static str,
    /// Byte offset in the archive as stored.
    pub offset: u64,
    /// Frame number from 0, `None` in plain logs.
    pub frame: Option<u64>,
    /// Line number from 1, where one is known.
    pub line: Option<u64>,
    /// Bytes concerned.
    pub bytes: u64,
    /// What was seen.
    pub detail: Message,
}

/// What reading one archive came to, beside its lines.
#[derive(Debug, Clone, Default)]
pub struct ArchiveReport {
    /// Complete zstd frames decoded (skippable frames are not counted).
    pub frames: u64,
    /// Size as stored, bytes.
    pub bytes_compressed: u64,
    /// Bytes of JSONL after decompression.
    pub bytes_logical: u64,
    /// Bytes of a torn last frame or torn last line.
    pub torn_bytes: u64,
    /// Lines that were read out of a torn last frame.
    pub torn_frame_lines: u64,
    /// Lines in the first frame.
    pub first_frame_lines: u64,
    /// Every damaged place in file order.
    pub damage: Vec<Damage>,
}

impl ArchiveReport {
    /// Whether the archive's end was torn off (a notice, not corruption).
    pub fn is_torn(&self) -> bool {
        self.damage.iter().any(|d| matches!(d.kind, "torn-frame" | "torn-line"))
    }

    /// Whether something inside could not be read (the scan is then partial).
    pub fn is_corrupt(&self) -> bool {
        self.damage
            .iter()
            .any(|d| matches!(d.kind, "corrupt-frame" | "limit" | "bad-line" | "not-a-log" | "read-error"))
    }
}
