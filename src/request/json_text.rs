//! JSON strings as JavaScript writes them, straight from their logged form: no decoding into a `String`, no re-encoding.
//!
//! `JSON.stringify` escapes quotes, backslashes, control characters and lone surrogates, and nothing else
//! (ECMA-262, QuoteJSONString). Other writers escape more; their strings are brought to that form.

use memchr::memchr;

/// One piece of a JSON string's value.
enum Piece<'a> {
    /// Characters that stand as they are.
    Run(&'a str),
    /// A character that was escaped.
    Char(char),
    /// Half of a surrogate pair without the other half.
    Lone(u16),
}

/// Walks the value of a raw JSON string (quotes included).
fn walk<'a>(raw: &'a str, take: &mut impl FnMut(Piece<'a>)) {
    let mut rest = raw.strip_prefix('"').and_then(|r| r.strip_suffix('"')).unwrap_or(raw);
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        if at > 0 {
            take(Piece::Run(&rest[..at]));
        }
        let escape = rest.as_bytes().get(at + 1).copied().unwrap_or(b'\\');
        let mut used = at + 2;
        match escape {
            b'u' => {
                let unit = hex(rest, at + 2).unwrap_or(0xFFFD);
                used = at + 6;
                let low = (rest.as_bytes().get(at + 6..at + 8) == Some(b"\\u")).then(|| hex(rest, at + 8)).flatten();
                match (unit, low) {
                    (0xD800..=0xDBFF, Some(low @ 0xDC00..=0xDFFF)) => {
                        let code = 0x1_0000 + ((u32::from(unit) - 0xD800) << 10) + (u32::from(low) - 0xDC00);
                        take(Piece::Char(char::from_u32(code).unwrap_or('\u{FFFD}')));
                        used = at + 12;
                    }
                    (0xD800..=0xDFFF, _) => take(Piece::Lone(unit)),
                    _ => take(Piece::Char(char::from_u32(u32::from(unit)).unwrap_or('\u{FFFD}'))),
                }
            }
            b'n' => take(Piece::Char('\n')),
            b't' => take(Piece::Char('\t')),
            b'r' => take(Piece::Char('\r')),
            b'b' => take(Piece::Char('\u{8}')),
            b'f' => take(Piece::Char('\u{c}')),
            other => take(Piece::Char(char::from(other))),
        }
        rest = rest.get(used..).unwrap_or("");
    }
    if !rest.is_empty() {
        take(Piece::Run(rest));
    }
}

fn hex(text: &str, at: usize) -> Option<u16> {
    text.get(at..at + 4).and_then(|digits| u16::from_str_radix(digits, 16).ok())
}

/// Where text is written, or only measured: the length of a message is wanted far more often than the message.
pub trait Sink {
    /// Writes bytes.
    fn put(&mut self, bytes: &[u8]);
    /// Bytes so far.
    fn length(&self) -> usize;
    /// Takes back everything behind an earlier length.
    fn cut(&mut self, length: usize);
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    fn length(&self) -> usize {
        self.len()
    }

    fn cut(&mut self, length: usize) {
        self.truncate(length);
    }
}

/// Counts what it is given.
#[derive(Debug, Default, Clone, Copy)]
pub struct Length(usize);

impl Sink for Length {
    fn put(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }

    fn length(&self) -> usize {
        self.0
    }

    fn cut(&mut self, length: usize) {
        self.0 = length;
    }
}

/// UTF-16 code units of a text: what JavaScript calls its length.
pub fn utf16_units(text: &str) -> u64 {
    // Chunks whose count fits a byte, so that the compiler turns it into vector code.
    let chunk =
        |bytes: &[u8]| bytes.iter().fold(0u8, |sum, b| sum + u8::from((*b & 0xC0) != 0x80) + u8::from(*b >= 0xF0));
    text.as_bytes().chunks(64).map(|bytes| u64::from(chunk(bytes))).sum()
}

/// The inside of a raw JSON string and how many escapes are in it, where it has JavaScript's form already: no escape of
/// more than two characters, no escaped slash. That is nearly every string the harness logs.
fn plain_inside(raw: &str) -> Option<(&str, u64)> {
    let inside = raw.strip_prefix('"')?.strip_suffix('"')?;
    let (bytes, mut at, mut escapes) = (inside.as_bytes(), 0, 0);
    while let Some(found) = memchr(b'\\', bytes.get(at..)?) {
        match bytes.get(at + found + 1)? {
            b'u' | b'/' => return None,
            _ => escapes += 1,
        }
        at += found + 2;
    }
    Some((inside, escapes))
}

/// UTF-16 units of the value of a raw JSON string.
pub fn value_units(raw: &str) -> u64 {
    if let Some((inside, escapes)) = plain_inside(raw) {
        return utf16_units(inside) - escapes;
    }
    let mut units = 0;
    walk(raw, &mut |piece| {
        units += match piece {
            Piece::Run(text) => utf16_units(text),
            Piece::Char(char) => char.len_utf16() as u64,
            Piece::Lone(_) => 1,
        }
    });
    units
}

/// Writes the inside of a raw JSON string (no quotes) as `JSON.stringify` would.
pub fn write_inside(raw: &str, out: &mut impl Sink) {
    if let Some((inside, _)) = plain_inside(raw) {
        return out.put(inside.as_bytes());
    }
    walk(raw, &mut |piece| match piece {
        Piece::Run(text) => out.put(text.as_bytes()),
        Piece::Char(char) => match char {
            '"' => out.put(b"\\\""),
            '\\' => out.put(b"\\\\"),
            '\n' => out.put(b"\\n"),
            '\t' => out.put(b"\\t"),
            '\r' => out.put(b"\\r"),
            '\u{8}' => out.put(b"\\b"),
            '\u{c}' => out.put(b"\\f"),
            control if control < ' ' => out.put(format!("\\u{:04x}", u32::from(control)).as_bytes()),
            plain => out.put(plain.encode_utf8(&mut [0; 4]).as_bytes()),
        },
        Piece::Lone(unit) => out.put(format!("\\u{unit:04x}").as_bytes()),
    });
}

/// Whether JSON text has no white space between its tokens and its strings have JavaScript's form. It may be no JSON.
pub fn is_compact(text: &str) -> bool {
    let (bytes, mut at) = (text.as_bytes(), 0);
    while let Some(byte) = bytes.get(at) {
        if byte.is_ascii_whitespace() {
            return false;
        }
        if *byte != b'"' {
            at += 1;
            continue;
        }
        let end = string_end(bytes, at);
        if text.get(at..end).and_then(plain_inside).is_none() {
            return false;
        }
        at = end;
    }
    true
}

/// Adds the value of a raw JSON string to a text; lone surrogates become U+FFFD.
pub fn decode_into(raw: &str, text: &mut String) {
    walk(raw, &mut |piece| match piece {
        Piece::Run(run) => text.push_str(run),
        Piece::Char(char) => text.push(char),
        Piece::Lone(_) => text.push('\u{FFFD}'),
    });
}

/// The value of a raw JSON string.
pub fn decode(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    decode_into(raw, &mut text);
    text
}

/// Writes any JSON without white space between its tokens, strings in JavaScript's form. Numbers stand as logged.
pub fn write_compact(raw: &str, out: &mut Vec<u8>) {
    let (bytes, mut at) = (raw.as_bytes(), 0);
    while let Some(byte) = bytes.get(at) {
        if *byte != b'"' {
            if !byte.is_ascii_whitespace() {
                out.push(*byte);
            }
            at += 1;
            continue;
        }
        let end = string_end(bytes, at);
        out.push(b'"');
        write_inside(raw.get(at..end).unwrap_or("\"\""), out);
        out.push(b'"');
        at = end;
    }
}

/// Index behind the closing quote of the string that opens at `at`.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', bytes.get(end..).unwrap_or(&[])) {
        if bytes[end + found] == b'"' {
            return end + found + 1;
        }
        end += found + 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::{Length, Sink, decode, is_compact, utf16_units, value_units, write_compact, write_inside};

    fn inside(raw: &str) -> (String, u64) {
        let (mut out, mut length) = (Vec::new(), Length::default());
        write_inside(raw, &mut out);
        write_inside(raw, &mut length);
        assert_eq!(out.len(), length.length(), "measuring and writing agree");
        (String::from_utf8(out).unwrap(), value_units(raw))
    }

    #[test]
    fn strings_take_the_form_javascript_writes() {
        assert_eq!(inside(r#""a\n\"\\中""#), (r#"a\n\"\\中"#.to_owned(), 5));
        assert_eq!(inside(r#""\u4e2d\/\u0041\u0001\u001F""#), ("中/A\\u0001\\u001f".to_owned(), 5));
        assert_eq!(inside(r#""\ud83d\ude00😀""#), ("😀😀".to_owned(), 4));
        assert_eq!(inside(r#""x\uD83Dy\uDE00""#), (r"x\ud83dy\ude00".to_owned(), 4));
        assert_eq!(decode(r#""\uD83D\u000a""#), "\u{FFFD}\n");
        let long = "é😀a".repeat(200);
        assert_eq!(utf16_units(&long), long.encode_utf16().count() as u64);
    }

    #[test]
    fn compact_json_keeps_white_space_inside_strings() {
        let mut out = Vec::new();
        write_compact("{ \"a b\" : [ 1 , \"\\u00e9 \\\"\" ] }", &mut out);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, r#"{"a b":[1,"é \""]}"#);
        assert!(is_compact(&text) && !is_compact("{\"a\": 1}") && !is_compact("[\"\\u0041\"]"));
    }
}
