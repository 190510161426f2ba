//! Breaks text into lines by the columns that it fills.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Chinese punctuation that never begins a line.
const CLOSING: &str = "，。；：！？、）」』》”’";
/// What never ends a line.
const OPENING: &str = "（「『《“‘";

/// Wraps at spaces, or between wide characters, which need none. A word that is wider than a line stays whole.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    lines(text, width, false)
}

/// [`wrap`], where a word that is wider than a line is broken: for cells, which must not be wider than their column.
pub(super) fn wrap_hard(text: &str, width: usize) -> Vec<String> {
    lines(text, width.max(1), true)
}

fn lines(text: &str, width: usize, hard: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let (mut line, mut used) = (String::new(), 0);
        for piece in pieces(paragraph).into_iter().flat_map(|p| if hard { split(p, width) } else { vec![p] }) {
            let needed = piece.trim_end().width();
            if used > 0 && used + needed > width {
                lines.push(line.trim_end().to_owned());
                line.clear();
                used = 0;
            }
            used += piece.width();
            line.push_str(&piece);
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// What may not be broken: words with the blanks behind them, wide characters with their punctuation.
fn pieces(paragraph: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for c in paragraph.chars() {
        let wide = c.width().unwrap_or(0) > 1;
        match pieces.last_mut() {
            Some(piece)
                if c == ' '
                    || CLOSING.contains(c)
                    || piece.ends_with(|last| OPENING.contains(last))
                    || !wide && !piece.ends_with(' ') && !ends_wide(piece) =>
            {
                piece.push(c);
            }
            _ => pieces.push(c.to_string()),
        }
    }
    pieces
}

fn ends_wide(piece: &str) -> bool {
    piece.chars().next_back().is_some_and(|c| c.width().unwrap_or(0) > 1)
}

/// Parts of a piece that fit a line.
fn split(piece: String, width: usize) -> Vec<String> {
    if piece.trim_end().width() <= width {
        return vec![piece];
    }
    let mut parts = vec![String::new()];
    let mut used = 0;
    for c in piece.chars() {
        let columns = c.width().unwrap_or(0);
        if used + columns > width && used > 0 && c != ' ' {
            parts.push(String::new());
            used = 0;
        }
        used += columns;
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks_and_between_wide_characters() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("请求失败，已重试", 10), ["请求失败，", "已重试"]);
        assert_eq!(wrap("共三次（另有两次）", 8), ["共三次", "（另有两", "次）"]);
        assert_eq!(wrap("a\n\nb", 8), ["a", "", "b"]);
    }

    #[test]
    fn only_cells_break_words() {
        assert_eq!(wrap("recover2-136d6d5c", 10), ["recover2-136d6d5c"]);
        assert_eq!(wrap_hard("id recover2-136d6d5c ok", 10), ["id", "recover2-1", "36d6d5c ok"]);
    }
}
