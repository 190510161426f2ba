//! Text as HTML: escaped, with names that are typed as code, and words that are defined as links to their definitions.

use super::Writer;
use crate::report::characters::{Piece, REPLACEMENT, is_hidden, pieces};
use crate::report::definitions::Term;

/// Keeps text from becoming markup; what is not shown becomes a replacement character.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if is_hidden(c) => out.push(REPLACEMENT),
            c => out.push(c),
        }
    }
    out
}

/// Escaped, with code.
pub(super) fn with_code(text: &str) -> String {
    let piece = |piece: Piece<'_>| match piece {
        Piece::Plain(plain) => breakable(plain),
        Piece::Code(code) => format!("<code>{}</code>", escape(code)),
    };
    pieces(text).into_iter().map(piece).collect()
}

/// Units that are written behind a number and a blank.
const UNITS: [&str; 9] = ["s", "ms", "min", "h", "d", "B", "kB", "MB", "GB"];

/// A number stays on the line of its unit: `4.3 %`, `12 ms`, `13 次`.
fn joined(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let is_blank = c == ' ' && before.is_ascii_digit();
        out.push(if is_blank && begins_with_unit(&text[at + 1..]) { '\u{a0}' } else { c });
        before = c;
    }
    out
}

fn begins_with_unit(text: &str) -> bool {
    let word = text.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
    let chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    text.starts_with(|c| c == '%' || chinese(c)) || UNITS.contains(&word)
}

/// Escaped; codes as the harness writes them may break behind each part.
pub(super) fn breakable(text: &str) -> String {
    let escaped = escape(text);
    if escaped.contains('_') { escaped.replace('_', "_<wbr />") } else { escaped }
}

impl Writer<'_> {
    /// A sentence: with code, and the first of each word that is defined leads to its definition.
    pub(super) fn sentence(&mut self, text: &str) -> String {
        let mut linked = Vec::new();
        let mut out = String::with_capacity(text.len() * 2);
        for piece in pieces(text) {
            match piece {
                Piece::Code(code) => out.push_str(&format!("<code>{}</code>", escape(code))),
                Piece::Plain(plain) => self.link(plain, &mut linked, &mut out),
            }
        }
        self.terms.extend(linked);
        out
    }

    fn link(&self, text: &str, linked: &mut Vec<Term>, out: &mut String) {
        let text = joined(text);
        let mut rest = text.as_str();
        let mut before = None;
        while let Some((at, length, term)) = self.first_word(rest, before, linked) {
            let (plain, word) = (&rest[..at], &rest[at..at + length]);
            out.push_str(&breakable(plain));
            out.push_str(&format!("<a class=\"term\" href=\"#{}\">{}</a>", term.anchor(), escape(word)));
            linked.push(term);
            before = word.chars().next_back();
            rest = &rest[at + length..];
        }
        out.push_str(&breakable(rest));
    }

    /// Place, length and term of the first word that is defined and not linked yet; the longest where several begin there.
    fn first_word(&self, text: &str, before: Option<char>, linked: &[Term]) -> Option<(usize, usize, Term)> {
        let open = self.words.iter().filter(|(_, term)| !linked.contains(term));
        let found = open.filter_map(|(word, term)| {
            let mut places = text.match_indices(word.as_str()).map(|(at, _)| at);
            let at = places.find(|at| is_word(text, before, *at, word.len()))?;
            Some((at, word.len(), *term))
        });
        found.min_by_key(|(at, length, _)| (*at, std::cmp::Reverse(*length)))
    }
}

/// Whether a Latin word stands by itself there. Chinese words need no borders.
fn is_word(text: &str, before: Option<char>, at: usize, length: usize) -> bool {
    let joins = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/');
    let word = &text[at..at + length];
    let left = text[..at].chars().next_back().or(before);
    let right = text[at + length..].chars().next();
    let latin = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    (!latin(word.chars().next()) || left.is_none_or(|c| !joins(c)))
        && (!latin(word.chars().next_back()) || right.is_none_or(|c| !joins(c)))
}
