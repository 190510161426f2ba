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
}

impl TokenLog {
    /// A piece enters; returns its index.
    pub fn add(&mut self, piece: TextPiece) -> u32 {
        let index = self.pieces.len() as u32;
        self.pieces.push(piece);
        self.changes.push(Change { piece: index, entered: true });
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
