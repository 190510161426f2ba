//! The structural walk over zstd frames (RFC 8878 section 3.1): where a frame ends is read from its headers, never
//! guessed from magic bytes, because compressed data may hold them by chance.

use crate::message::Message;

const MAGIC: u32 = 0xFD2F_B528;
const BLOCK_MAX: u64 = 128 << 10;

/// What the bytes at a frame's start say about its extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameExtent {
    /// A whole zstd frame.
    Complete {
        /// Length as stored, bytes.
        stored: usize,
        /// Upper bound of its decompressed length, bytes.
        bound: u64,
        /// Window it asks for, bytes.
        window: u64,
        /// Whether a content checksum follows the last block.
        checksum: bool,
    },
    /// A whole skippable frame of this length (legal, holds no data of ours).
    Skippable {
        /// Length as stored, bytes.
        stored: usize,
    },
    /// The bytes end before the frame does.
    Incomplete,
    /// Not a frame.
    Invalid(FrameFault),
}

/// Why bytes are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameFault {
    /// The magic number is missing.
    NoFrame,
    /// The reserved bit of the frame header is set.
    ReservedBit,
    /// More blocks than any frame of a log has.
    TooManyBlocks,
    /// A block larger than the format allows.
    OversizedBlock,
    /// The reserved block type.
    ReservedBlock,
}

impl FrameFault {
    /// In words.
    pub fn message(self) -> Message {
        Message::new(match self {
            Self::NoFrame => "notices.no-frame-here",
            Self::ReservedBit => "notices.reserved-bit",
            Self::TooManyBlocks => "notices.too-many-blocks",
            Self::OversizedBlock => "notices.oversized-block",
            Self::ReservedBlock => "notices.reserved-block",
        })
    }
}

fn read_le(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let slice = bytes.get(at..at + width)?;
    Some(slice.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte)))
}

/// Reads the frame and block headers at the start of `bytes`. Source: RFC 8878 sections 3.1.1 and 3.1.2.
pub fn frame_extent(bytes: &[u8]) -> FrameExtent {
    bounded_extent(bytes, usize::MAX)
}

/// [`frame_extent`] for a place where a frame may only seem to begin: more than `most_blocks` blocks are no frame of
/// ours, so that a search through hostile bytes stays linear.
pub(super) fn bounded_extent(bytes: &[u8], most_blocks: usize) -> FrameExtent {
    use FrameExtent::{Complete, Incomplete, Invalid, Skippable};
    let Some(magic) = read_le(bytes, 0, 4) else {
        let known = MAGIC.to_le_bytes();
        let prefix = bytes.len();
        let skippable = prefix == 0 || (bytes[0] & 0xF0 == 0x50 && bytes[1..] == [0x2A, 0x4D][..prefix - 1]);
        return if bytes == &known[..prefix] || skippable { Incomplete } else { Invalid(FrameFault::NoFrame) };
    };
    if magic & 0xFFFF_FFF0 == 0x184D_2A50 {
        let Some(size) = read_le(bytes, 4, 4) else { return Incomplete };
        let stored = 8 + size as usize;
        return if bytes.len() < stored { Incomplete } else { Skippable { stored } };
    }
    if magic != u64::from(MAGIC) {
        return Invalid(FrameFault::NoFrame);
    }
    let Some(descriptor) = bytes.get(4).copied() else { return Incomplete };
    if descriptor & 0x08 != 0 {
        return Invalid(FrameFault::ReservedBit);
    }
    let single_segment = descriptor & 0x20 != 0;
    let checksum = descriptor & 0x04 != 0;
    let dictionary_width = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size_width = match (descriptor >> 6, single_segment) {
        (0, false) => 0,
        (0, true) => 1,
        (1, _) => 2,
        (2, _) => 4,
        _ => 8,
    };
    let mut at = 5;
    let mut window = 0;
    if !single_segment {
        let Some(byte) = bytes.get(at).copied() else { return Incomplete };
        let base = 1u64 << (10 + (byte >> 3));
        window = base + base / 8 * u64::from(byte & 7);
        at += 1;
    }
    at += dictionary_width;
    let Some(raw_size) = read_le(bytes, at, size_width) else { return Incomplete };
    at += size_width;
    let content = (size_width > 0).then_some(if size_width == 2 { raw_size + 256 } else { raw_size });
    if single_segment {
        window = content.unwrap_or(0);
    }
    let block_max = window.clamp(1, BLOCK_MAX);
    let mut bound = 0u64;
    let mut blocks = 0;
    loop {
        blocks += 1;
        if blocks > most_blocks {
            return Invalid(FrameFault::TooManyBlocks);
        }
        let Some(header) = read_le(bytes, at, 3) else { return Incomplete };
        at += 3;
        let size = (header >> 3) as usize;
        match header >> 1 & 3 {
            0 => {
                at += size;
                bound += size as u64;
            }
            1 => {
                at += 1;
                bound += size as u64;
            }
            2 => {
                if size as u64 > BLOCK_MAX {
                    return Invalid(FrameFault::OversizedBlock);
                }
                at += size;
                bound += block_max;
            }
            _ => return Invalid(FrameFault::ReservedBlock),
        }
        if at > bytes.len() {
            return Incomplete;
        }
        if header & 1 == 1 {
            break;
        }
    }
    if checksum {
        at += 4;
    }
    if at > bytes.len() {
        return Incomplete;
    }
    // A content size in the header is only a claim until the frame is decoded; never reserve more than the blocks can hold.
    Complete { stored: at, bound: content.map_or(bound, |c| c.min(bound)), window, checksum }
}
