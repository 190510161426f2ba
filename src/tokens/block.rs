//! A block of text that is packed once it is old: few texts are ever counted, and those are mostly the newest.

/// Level of the packing: the quickest; texts of a session shrink to a quarter.
const LEVEL: i32 = 1;

/// Text of some pieces, one after another.
#[derive(Debug)]
pub enum TextBlock {
    /// As it is.
    Plain(String),
    /// Packed with zstd, and its length before.
    Packed {
        /// Packed bytes.
        bytes: Box<[u8]>,
        /// Bytes before.
        length: usize,
    },
}

impl TextBlock {
    /// Bytes of its text.
    pub fn length(&self) -> usize {
        match self {
            Self::Plain(text) => text.len(),
            Self::Packed { length, .. } => *length,
        }
    }

    /// Bytes that it is held in.
    pub fn held(&self) -> usize {
        match self {
            Self::Plain(text) => text.len(),
            Self::Packed { bytes, .. } => bytes.len(),
        }
    }

    /// Packs it; it stays as it is where that makes it no smaller.
    pub fn pack(&mut self) {
        let Self::Plain(text) = self else { return };
        match zstd::bulk::compress(text.as_bytes(), LEVEL) {
            Ok(bytes) if bytes.len() < text.len() => {
                *self = Self::Packed { length: text.len(), bytes: bytes.into_boxed_slice() };
            }
            _ => text.shrink_to_fit(),
        }
    }

    /// Its text.
    pub fn text(&self) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::Packed { bytes, length } => zstd::bulk::decompress(bytes, *length)
                .ok()
                .and_then(|bytes| String::from_utf8(bytes).ok())
                .unwrap_or_default(),
        }
    }
}
