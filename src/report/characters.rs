//! In: a character of a text that may come from a log.
//! Out: the same, or what is shown in its place.
//! Always: no control character and no mark that turns the direction of what stands around it reaches a page.

/// What stands for a character that is not shown.
pub const REPLACEMENT: char = '\u{fffd}';

/// The character as pages show it; line breaks and tabs become blanks.
pub fn shown(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' => ' ',
        c if is_hidden(c) => REPLACEMENT,
        c => c,
    }
}

/// Control characters, marks that turn the direction of the text, and what XML forbids.
pub fn is_hidden(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let no_character = (c as u32) & 0xfffe == 0xfffe || ('\u{fdd0}'..='\u{fdef}').contains(&c);
    turns || no_character || c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// As it is.
    Plain(&'a str),
    /// Between two backticks: names that are typed.
    Code(&'a str),
}

/// Cuts a text at pairs of single backticks. A backtick without a partner, or several in a row, stays plain text.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let bytes = text.as_bytes();
    let single = |at: usize| {
        bytes[at] == b'`' && (at == 0 || bytes[at - 1] != b'`') && bytes.get(at + 1).is_none_or(|next| *next != b'`')
    };
    let marks: Vec<usize> = (0..bytes.len()).filter(|at| single(*at)).collect();
    let mut pieces = Vec::new();
    let mut done = 0;
    for pair in marks.chunks_exact(2) {
        let (open, close) = (pair[0], pair[1]);
        let inside = &text[open + 1..close];
        // A code span with blanks at its ends would lose them, one with several backticks needs a longer fence.
        if inside.contains(['`', '\n', '\r']) || inside.trim() != inside {
            continue;
        }
        if open > done {
            pieces.push(Piece::Plain(&text[done..open]));
        }
        pieces.push(Piece::Code(inside));
        done = close + 1;
    }
    if done < text.len() {
        pieces.push(Piece::Plain(&text[done..]));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::Piece::{Code, Plain};
    use super::{pieces, shown};

    #[test]
    fn pairs_of_backticks_are_code_and_others_are_not() {
        assert_eq!(pieces("use `scan` now"), [Plain("use "), Code("scan"), Plain(" now")]);
        assert_eq!(pieces("`a``b` c"), [Code("a``b")].map(|_| Plain("`a``b` c")));
        for plain in ["one ` alone", "``` fence ```", "` blank `", "`two\nlines`", "``"] {
            assert_eq!(pieces(plain), [Plain(plain)], "{plain:?}");
        }
        assert_eq!(pieces(""), []);
    }

    #[test]
    fn nothing_that_hides_or_turns_text_is_shown() {
        let shown: String = "a\u{202e}b\u{1b}[31m\nc\u{85}\u{2066}\u{ffff}".chars().map(shown).collect();
        assert_eq!(shown, "a\u{fffd}b\u{fffd}[31m c\u{fffd}\u{fffd}\u{fffd}");
    }
}
