//! What entered and left the surface between two places of a session's log, in sums that can be taken from one another.

use super::fit::{Features, UNFITTED};
use super::log::TokenLog;

/// Sums over a span of changes. All are whole numbers below 2^53, so that adding and taking away is exact.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SpanSums {
    /// Net features.
    pub net: Features,
    /// Tokens that entered or left, by the unfitted rule.
    pub churn: f64,
    /// Pieces with a text that left.
    pub left: u64,
    /// Net tokens of images.
    pub images: i64,
}

impl SpanSums {
    fn add(&mut self, other: &Self) {
        self.net.iter_mut().zip(other.net).for_each(|(sum, part)| *sum += part);
        self.churn += other.churn;
        self.left += other.left;
        self.images += other.images;
    }

    fn subtract(&mut self, other: &Self) {
        self.net.iter_mut().zip(other.net).for_each(|(sum, part)| *sum -= part);
        self.churn -= other.churn;
        self.left = self.left.saturating_sub(other.left);
        self.images -= other.images;
    }
}

/// A span whose ends move through the log. In a log without reports every failure asks for all that came before it: only
/// what lies between the old ends and the new ones is looked at, so that all of them together cost one walk.
#[derive(Debug, Clone, Copy, Default)]
pub struct MovingSpan {
    from: usize,
    to: usize,
    sums: SpanSums,
}

/// A log whose texts are counted when a span first needs them.
pub struct CountedLog<'a> {
    log: &'a TokenLog,
    tokens: Vec<Option<u32>>,
}

impl<'a> CountedLog<'a> {
    /// Nothing is counted yet.
    pub fn new(log: &'a TokenLog) -> Self {
        Self { log, tokens: vec![None; log.pieces.len()] }
    }

    /// Moves a span to other ends and gives its sums.
    pub fn of(&mut self, span: &mut MovingSpan, from: usize, to: usize) -> SpanSums {
        let to = to.max(from);
        if from.abs_diff(span.from) + to.abs_diff(span.to) > to - from {
            *span = MovingSpan { from, to: from, sums: SpanSums::default() };
        }
        // The ends do not cross: a span that is kept overlaps the new one.
        for change in from..span.from {
            span.sums.add(&self.change(change));
        }
        for change in span.to..to {
            span.sums.add(&self.change(change));
        }
        for change in span.from..from {
            span.sums.subtract(&self.change(change));
        }
        for change in to..span.to {
            span.sums.subtract(&self.change(change));
        }
        (span.from, span.to) = (from, to);
        span.sums
    }

    fn change(&mut self, index: usize) -> SpanSums {
        let Some(change) = self.log.changes.get(index).copied() else { return SpanSums::default() };
        let Some(text) = self.log.pieces.get(change.piece as usize).copied() else { return SpanSums::default() };
        let features = [f64::from(self.tokens(change.piece as usize)), f64::from(text.messages), f64::from(text.calls)];
        let size = UNFITTED.of(&features) + text.image_tokens as f64;
        let images = i64::try_from(text.image_tokens).unwrap_or(i64::MAX);
        if change.entered {
            SpanSums { net: features, churn: size, left: 0, images }
        } else {
            SpanSums { net: features.map(|f| -f), churn: size, left: u64::from(size > 0.0), images: -images }
        }
    }

    fn tokens(&mut self, piece: usize) -> u32 {
        if let Some(tokens) = self.tokens.get(piece).copied().flatten() {
            return tokens;
        }
        let tokens = self.log.tokens(piece);
        if let Some(slot) = self.tokens.get_mut(piece) {
            *slot = Some(tokens);
        }
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::{CountedLog, MovingSpan};
    use crate::tokens::{TextPiece, TokenLog};

    /// Pieces of different sizes, every third of which leaves again later.
    fn log() -> TokenLog {
        let mut log = TokenLog::default();
        for number in 0..60u32 {
            log.begin();
            log.text(&format!("\"{}\"", "row of the ledger ".repeat(number as usize)));
            let image_tokens = if number % 7 == 0 { 1_600 } else { 0 };
            let piece = log.add(TextPiece { messages: 1, calls: number % 2, image_tokens });
            if number % 3 == 2 {
                log.remove(piece - 1);
            }
        }
        log
    }

    #[test]
    fn a_span_that_moved_says_what_a_fresh_one_says() {
        let log = log();
        let mut counted = CountedLog::new(&log);
        let mut moving = MovingSpan::default();
        let ends = [(0, 10), (0, 40), (5, 41), (30, 60), (29, 31), (2, 70), (70, 70), (12, 13), (0, 80)];
        for (from, to) in ends {
            let fresh = counted.of(&mut MovingSpan::default(), from, to);
            assert_eq!(counted.of(&mut moving, from, to), fresh, "{from} to {to}");
        }
        let whole = counted.of(&mut moving, 0, log.position());
        assert_eq!(whole.net[1], 40.0, "of 60 messages 20 left");
        assert_eq!(whole.left, 20);
    }

    #[test]
    fn only_what_a_span_needs_is_counted() {
        let log = log();
        let mut counted = CountedLog::new(&log);
        counted.of(&mut MovingSpan::default(), 30, 35);
        assert!(counted.tokens.iter().filter(|tokens| tokens.is_some()).count() <= 5);
    }
}
