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

/// UTF-16 code units of a text: what JavaScript calls its length.
pub fn utf16_units(text: &str) -> u64 {
    text.bytes().map(|b| u64::from((b & 0xC0) != 0x80) + u64::from(b >= 0xF0)).sum()
}

/// The inside of a raw JSON string and its length in UTF-16 units, where it has JavaScript's form already: no escape of
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
    Some((inside, utf16_units(inside) - escapes))
}

/// UTF-16 units of the value of a raw JSON string.
pub fn value_units(raw: &str) -> u64 {
    plain_inside(raw).map_or_else(|| write_inside(raw, &mut Vec::new()), |(_, units)| units)
}

/// Writes the inside of a raw JSON string (no quotes) as `JSON.stringify` would, and returns its length in UTF-16 units.
pub fn write_inside(raw: &str, out: &mut Vec<u8>) -> u64 {
    if let Some((inside, units)) = plain_inside(raw) {
        out.extend_from_slice(inside.as_bytes());
        return units;
    }
    let mut units = 0;
    walk(raw, &mut |piece| match piece {
        Piece::Run(text) => {
            out.extend_from_slice(text.as_bytes());
            units += utf16_units(text);
        }
        Piece::Char(char) => {
            units += char.len_utf16() as u64;
            match char {
                '"' => out.extend_from_slice(b"\\\""),
                '\\' => out.extend_from_slice(b"\\\\"),
                '\n' => out.extend_from_slice(b"\\n"),
                '\t' => out.extend_from_slice(b"\\t"),
                '\r' => out.extend_from_slice(b"\\r"),
                '\u{8}' => out.extend_from_slice(b"\\b"),
                '\u{c}' => out.extend_from_slice(b"\\f"),
                control if control < ' ' => out.extend_from_slice(format!("\\u{:04x}", u32::from(control)).as_bytes()),
                plain => out.extend_from_slice(plain.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        Piece::Lone(unit) => {
            units += 1;
            out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
        }
    });
    units
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

/// Writes any JSON without white space between its tokens, strings in JavaScript's form; returns its length in UTF-16
/// units. Numbers stand as logged.
pub fn write_compact(raw: &str, out: &mut Vec<u8>) -> u64 {
    let bytes = raw.as_bytes();
    let (start, mut at) = (out.len(), 0);
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
    let written = out.get(start..).unwrap_or(&[]);
    std::str::from_utf8(written).map_or(written.len() as u64, utf16_units)
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
    use super::{decode, write_compact, write_inside};

    fn inside(raw: &str) -> (String, u64) {
        let mut out = Vec::new();
        let units = write_inside(raw, &mut out);
        (String::from_utf8(out).unwrap(), units)
    }

    #[test]
    fn strings_take_the_form_javascript_writes() {
        assert_eq!(inside(r#""a\n\"\\中""#), (r#"a\n\"\\中"#.to_owned(), 5));
        assert_eq!(inside(r#""\u4e2d\/\u0041\u0001\u001F""#), ("中/A\\u0001\\u001f".to_owned(), 5));
        assert_eq!(inside(r#""\ud83d\ude00😀""#), ("😀😀".to_owned(), 4));
        assert_eq!(inside(r#""x\uD83Dy\uDE00""#), (r"x\ud83dy\ude00".to_owned(), 4));
        assert_eq!(decode(r#""\uD83D\u000a""#), "\u{FFFD}\n");
    }

    #[test]
    fn compact_json_keeps_white_space_inside_strings() {
        let mut out = Vec::new();
        let units = write_compact("{ \"a b\" : [ 1 , \"\\u00e9 \\\"\" ] }", &mut out);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, r#"{"a b":[1,"é \""]}"#);
        assert_eq!(units, text.encode_utf16().count() as u64);
    }
}
