//! Texts of a session and the order in which they entered and left the surface. Tokens are counted late, and only of
//! texts that an estimate needs.

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

/// Most text held of one session, bytes. The oldest beyond it is counted on the spot and let go.
const MOST_TEXT: usize = 24 << 20;
/// Texts are held in blocks of about this many bytes: small enough for the allocator to hand them out again and again.
const BLOCK: usize = 64 << 10;

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
    blocks: Vec<String>,
    /// Where the current piece begins in the last block.
    start: usize,
    /// Bytes in all blocks.
    bytes: usize,
    /// Blocks before this one are let go, and so are the texts of the pieces before the other.
    oldest: (usize, usize),
}

impl TokenLog {
    /// The texts that follow belong to the next piece.
    pub fn begin(&mut self) {
        if self.blocks.last().is_none_or(|block| block.len() >= BLOCK) {
            self.blocks.push(String::with_capacity(BLOCK + BLOCK / 4));
        }
        self.start = self.blocks.last().map_or(0, String::len);
    }

    /// Adds a raw JSON string (quotes included) to the piece.
    pub fn text(&mut self, raw: &str) {
        let inside = raw.strip_prefix('"').and_then(|r| r.strip_suffix('"')).unwrap_or(raw);
        if let Some(block) = self.blocks.last_mut() {
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
        let end = self.blocks.last().map_or(0, String::len);
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
            self.bytes -= block.len();
            *block = String::new();
        }
        self.oldest = (gone + 1, piece);
    }

    /// Tokens of a piece's text.
    pub fn tokens(&self, piece: usize) -> u32 {
        match self.held.get(piece).copied() {
            Some(Held::Counted(tokens)) => tokens,
            Some(Held::At { block, start, end }) => self
                .blocks
                .get(block as usize)
                .and_then(|text| text.get(start as usize..end as usize))
                .map_or(0, bpe::count_escaped),
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
    use super::{MOST_TEXT, TextPiece, TokenLog};

    #[test]
    fn what_is_let_go_was_counted_as_exactly_as_what_is_held() {
        let mut log = TokenLog::default();
        let text = format!("\"{}\"", "a line of text\\n".repeat(1 << 16));
        let pieces = MOST_TEXT / text.len() + 4;
        for _ in 0..pieces {
            log.begin();
            log.text(&text);
            log.add(TextPiece::default());
        }
        assert!(log.bytes <= MOST_TEXT && log.oldest.1 > 0);
        assert_eq!(log.tokens(0), log.tokens(pieces - 1));
        assert!(log.tokens(0) > 4 << 16);
    }
}
