//! Texts of a session and the order in which they entered and left the surface. Tokens are counted late, and only of
//! texts that an estimate needs.

/// What a tokenizer would see of one surface node.
#[derive(Debug, Default, Clone)]
pub struct TextPiece {
    /// Its texts, one behind the other.
    pub text: String,
    /// Wire messages.
    pub messages: u32,
    /// Tool calls.
    pub calls: u32,
    /// Tokens of its images, by an assumed rule.
    pub image_tokens: u64,
    /// Its tokens at 4 bytes each, where the text was let go to bound memory.
    pub approximate: Option<u32>,
}

/// Most text kept of one session, bytes. Longer sessions let their oldest texts go; a log of 50 MB compressed stays below.
const MOST_TEXT: usize = 64 << 20;

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
    /// Bytes of text held.
    held: usize,
    /// Pieces from here on still have their text.
    oldest: usize,
}

impl TokenLog {
    /// A piece enters; returns its index.
    pub fn add(&mut self, piece: TextPiece) -> u32 {
        let index = self.pieces.len() as u32;
        self.held += piece.text.len();
        self.pieces.push(piece);
        self.changes.push(Change { piece: index, entered: true });
        while self.held > MOST_TEXT
            && let Some(old) = self.pieces.get_mut(self.oldest)
        {
            let text = std::mem::take(&mut old.text);
            old.approximate = Some((text.len() / 4) as u32);
            self.held -= text.len();
            self.oldest += 1;
        }
        index
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
