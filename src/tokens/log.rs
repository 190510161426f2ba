//! Texts of a session and the order in which they entered and left the surface. Tokens are counted late, and only of
//! texts that an estimate needs.

use std::cell::RefCell;

use super::block::TextBlock;
use super::bpe;

/// What a tokenizer would see of one surface node, beside its text.
#[derive(Debug, Default, Clone, Copy)]
pub struct TextPiece {
    /// Wire messages.
    pub messages: u32,
    /// Tool calls.
    pub calls: u32,
    /// Tokens of its images, by an assumed rule.
    pub image_tokens: u64,
}

/// Most text held of one session, bytes as held. The oldest beyond it is counted on the spot and let go.
const MOST_TEXT: usize = 16 << 20;
/// Texts are held in blocks of about this many bytes: small enough for the allocator to hand them out again and again.
const BLOCK: usize = 64 << 10;
/// Blocks that are held as they are; older ones are packed. Most sessions have no more.
const PLAIN_BLOCKS: usize = 32;

/// The text of a piece: its place, or its tokens once it is gone.
#[derive(Debug, Clone, Copy)]
enum Held {
    At { block: u32, start: u32, end: u32 },
    Counted(u32),
}

/// A change of the surface: the index of a piece, and whether it entered or left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Index of the piece.
    pub piece: u32,
    /// Entered (or left).
    pub entered: bool,
}

/// Texts and changes of one session.
#[derive(Debug, Default)]
pub struct TokenLog {
    /// All pieces that were ever on the surface.
    pub pieces: Vec<TextPiece>,
    /// Changes in order.
    pub changes: Vec<Change>,
    held: Vec<Held>,
    /// Texts with their JSON escapes, as logged: they are decoded when they are counted, which most never are.
    blocks: Vec<TextBlock>,
    /// Where the current piece begins in the last block.
    start: usize,
    /// Bytes in all blocks, as held.
    bytes: usize,
    /// Blocks before this one are no longer held as they are.
    packed: usize,
    /// Blocks before this one are let go, and so are the texts of the pieces before the other.
    oldest: (usize, usize),
    /// The last packed block that was read, unpacked: pieces are counted one after another.
    unpacked: RefCell<(usize, String)>,
}

impl TokenLog {
    /// The texts that follow belong to the next piece.
    pub fn begin(&mut self) {
        if self.blocks.last().is_none_or(|block| block.length() >= BLOCK) {
            self.blocks.push(TextBlock::Plain(String::with_capacity(BLOCK + BLOCK / 4)));
            if self.blocks.len() - self.packed > PLAIN_BLOCKS {
                self.pack_a_block();
            }
        }
        self.start = self.blocks.last().map_or(0, TextBlock::length);
    }

    fn pack_a_block(&mut self) {
        if let Some(block) = self.blocks.get_mut(self.packed) {
            self.bytes -= block.held();
            block.pack();
            self.bytes += block.held();
        }
        self.packed += 1;
    }

    /// Adds a raw JSON string (quotes included) to the piece.
    pub fn text(&mut self, raw: &str) {
        let inside = raw.strip_prefix('"').and_then(|r| r.strip_suffix('"')).unwrap_or(raw);
        if let Some(TextBlock::Plain(block)) = self.blocks.last_mut() {
            block.push_str(inside);
            self.bytes += inside.len();
        }
    }

    /// Adds text that is not escaped.
    pub fn plain_text(&mut self, text: &str) {
        self.text(&text.replace('\\', "\\\\"));
    }

    /// The piece enters; returns its index.
    pub fn add(&mut self, piece: TextPiece) -> u32 {
        let index = self.pieces.len() as u32;
        let end = self.blocks.last().map_or(0, TextBlock::length);
        let block = self.blocks.len().saturating_sub(1) as u32;
        self.held.push(Held::At { block, start: self.start as u32, end: end as u32 });
        self.start = end;
        self.pieces.push(piece);
        self.changes.push(Change { piece: index, entered: true });
        while self.bytes > MOST_TEXT && self.oldest.0 + 1 < self.blocks.len() {
            self.let_go_of_a_block();
        }
        index
    }

    fn let_go_of_a_block(&mut self) {
        let (gone, mut piece) = self.oldest;
        while let Some(Held::At { block, .. }) = self.held.get(piece).copied()
            && block as usize <= gone
        {
            self.held[piece] = Held::Counted(self.tokens(piece));
            piece += 1;
        }
        if let Some(block) = self.blocks.get_mut(gone) {
            self.bytes -= block.held();
            *block = TextBlock::Plain(String::new());
        }
        self.oldest = (gone + 1, piece);
        self.packed = self.packed.max(gone + 1);
    }

    /// Tokens of a piece's text.
    pub fn tokens(&self, piece: usize) -> u32 {
        let (block, start, end) = match self.held.get(piece).copied() {
            Some(Held::Counted(tokens)) => return tokens,
            Some(Held::At { block, start, end }) => (block as usize, start as usize, end as usize),
            None => return 0,
        };
        let count = |text: &str| text.get(start..end).map_or(0, bpe::count_escaped);
        match self.blocks.get(block) {
            Some(TextBlock::Plain(text)) => count(text),
            Some(TextBlock::Packed { .. }) => {
                let mut unpacked = self.unpacked.borrow_mut();
                if unpacked.1.is_empty() || unpacked.0 != block {
                    *unpacked = (block, self.blocks[block].text());
                }
                count(&unpacked.1)
            }
            None => 0,
        }
    }

    /// A piece leaves.
    pub fn remove(&mut self, piece: u32) {
        self.changes.push(Change { piece, entered: false });
    }

    /// Changes so far: the place of an attempt in the log.
    pub fn position(&self) -> usize {
        self.changes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, MOST_TEXT, PLAIN_BLOCKS, TextPiece, TokenLog};

    /// A log that holds a text, once for each number.
    fn holding(texts: impl Iterator<Item = String>) -> TokenLog {
        let mut log = TokenLog::default();
        for text in texts {
            log.begin();
            log.text(&format!("\"{text}\""));
            log.add(TextPiece::default());
        }
        log
    }

    /// A text that no packing makes small.
    fn noise(number: usize) -> String {
        use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
        let hash = BuildHasherDefault::<DefaultHasher>::new();
        (0..1usize << 12).map(|word| format!("{:016x}", hash.hash_one((number, word)))).collect()
    }

    #[test]
    fn what_is_packed_is_counted_as_what_is_plain() {
        let line = "a line of text\\n请核对账目".repeat(BLOCK / 30);
        let log = holding((0..4 * PLAIN_BLOCKS).map(|_| line.clone()));
        assert!(log.packed > PLAIN_BLOCKS && log.oldest.1 == 0, "some are packed, none is let go");
        assert!(log.bytes < (PLAIN_BLOCKS + 8) * 2 * BLOCK, "{} bytes are held", log.bytes);
        assert_eq!(log.tokens(0), log.tokens(4 * PLAIN_BLOCKS - 1));
        assert_eq!(log.tokens(1), log.tokens(0));
    }

    #[test]
    fn what_is_let_go_was_counted_as_exactly_as_what_is_held() {
        let pieces = 2 * MOST_TEXT / noise(0).len() + 4;
        let mut log = holding((0..pieces).map(|number| noise(number % 2)));
        assert!(log.bytes <= MOST_TEXT && log.oldest.1 > 0, "{} bytes are held", log.bytes);
        assert!(log.oldest.1 < pieces - 2);
        let last = pieces - 2 + pieces % 2;
        assert_eq!(log.tokens(0), log.tokens(last));
        assert!(log.tokens(0) > 1 << 12);
        log.begin();
        assert_eq!(log.tokens(1), log.tokens(last - 1));
    }
}
