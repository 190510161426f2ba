//! JSON strings as JavaScript writes them, straight from their logged form: no decoding into a `String`, no re-encoding.
//!
//! `JSON.stringify` escapes quotes, backslashes, control characters and lone surrogates, and nothing else
//! (ECMA-262, QuoteJSONString). Other writers escape more; their strings are brought to that form.

use memchr::{memchr, memchr2};

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
    text.as_bytes().chunks(240).map(|bytes| u64::from(chunk(bytes))).sum()
}

/// How far a logged string is from what `JSON.stringify` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// It has that form, and no escapes but those of quotes and backslashes.
    Quotes,
    /// It has that form.
    JavaScript,
    /// It escapes more, as other writers do, or halves of surrogate pairs.
    Other,
}

/// A raw JSON string (quotes included) with what the one pass that found its end has told. Nearly every string that the
/// harness logs has JavaScript's form already, so that measuring and writing it need no second look.
#[derive(Debug, Clone, Copy)]
pub struct RawText<'a> {
    raw: &'a str,
    escapes: u64,
    form: Form,
}

impl<'a> RawText<'a> {
    /// `""`
    pub const EMPTY: RawText<'static> = RawText { raw: "\"\"", escapes: 0, form: Form::Quotes };

    /// A name that needs no escapes; `raw` has its quotes.
    pub(crate) const fn plain(raw: &'a str) -> Self {
        Self { raw, escapes: 0, form: Form::Quotes }
    }

    /// A raw JSON string that another parser found.
    pub fn of(raw: &'a str) -> Self {
        match scan_string(raw.as_bytes(), 1) {
            Some(scan) if scan.end == raw.len() && raw.starts_with('"') => scan.text(raw),
            _ => Self { raw, escapes: 0, form: Form::Other },
        }
    }

    /// As logged, with its quotes.
    pub fn raw(self) -> &'a str {
        self.raw
    }

    /// As logged, without its quotes.
    pub fn inside(self) -> &'a str {
        self.raw.strip_prefix('"').and_then(|r| r.strip_suffix('"')).unwrap_or(self.raw)
    }

    /// Whether its value is empty.
    pub fn is_empty(self) -> bool {
        self.inside().is_empty()
    }

    /// UTF-16 units of its value.
    pub fn units(self) -> u64 {
        if self.form != Form::Other {
            return utf16_units(self.inside()) - self.escapes;
        }
        let mut units = 0;
        walk(self.raw, &mut |piece| {
            units += match piece {
                Piece::Run(text) => utf16_units(text),
                Piece::Char(char) => char.len_utf16() as u64,
                Piece::Lone(_) => 1,
            }
        });
        units
    }

    /// Its value; lone surrogates become U+FFFD.
    pub fn decode(self) -> String {
        if self.escapes == 0 && self.form != Form::Other { self.inside().to_owned() } else { decode(self.raw) }
    }

    /// Writes its inside (no quotes) as `JSON.stringify` would.
    pub fn write_inside(self, out: &mut impl Sink) {
        if self.form != Form::Other {
            return out.put(self.inside().as_bytes());
        }
        walk(self.raw, &mut |piece| match piece {
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

    /// JSON text inside this string in compact form, where it is JSON in another form; `None`: it is compact, or no JSON.
    pub fn compact_json(self) -> Option<String> {
        // White space is what sets another form apart, or escapes that JavaScript does not write; most text has neither.
        if self.form == Form::Quotes && memchr(b' ', self.raw.as_bytes()).is_none() {
            return None;
        }
        let text = self.decode();
        if is_compact(&text) {
            return None;
        }
        let mut compact = Vec::with_capacity(text.len());
        write_compact(&text, &mut compact);
        if compact == text.as_bytes() || serde_json::from_str::<serde::de::IgnoredAny>(&text).is_err() {
            return None;
        }
        String::from_utf8(compact).ok()
    }
}

/// A string whose end was found.
pub(super) struct StringScan {
    /// Index behind the closing quote.
    pub(super) end: usize,
    escapes: u64,
    form: Form,
}

impl StringScan {
    /// The string itself.
    pub(super) fn text(self, raw: &str) -> RawText<'_> {
        RawText { raw, escapes: self.escapes, form: self.form }
    }
}

/// Reads a string whose opening quote stands before `at`; `None` where it does not end or has an escape that JSON does
/// not know.
pub(super) fn scan_string(bytes: &[u8], mut at: usize) -> Option<StringScan> {
    let (mut escapes, mut form) = (0, Form::Quotes);
    loop {
        let found = quote_or_escape(bytes, at)?;
        if bytes[found] == b'"' {
            return Some(StringScan { end: found + 1, escapes, form });
        }
        at = found + 2;
        escapes += 1;
        match bytes.get(found + 1)? {
            b'"' | b'\\' => {}
            b'n' | b't' | b'r' | b'b' | b'f' => form = if form == Form::Other { form } else { Form::JavaScript },
            b'/' => form = Form::Other,
            b'u' if bytes.get(at..at + 4)?.iter().all(u8::is_ascii_hexdigit) => {
                at += 4;
                form = Form::Other;
            }
            _ => return None,
        }
    }
}

/// Where the next quote or backslash stands. Most strings are keys and ids: the first bytes are looked at in place.
#[inline]
fn quote_or_escape(bytes: &[u8], mut at: usize) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // The lowest set bit marks the first zero byte (Hacker's Delight, 6-1).
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
    for _ in 0..4 {
        let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk).copied().map(u64::from_le_bytes) else { break };
        let hits = zeros(word ^ (ONES * u64::from(b'"'))) | zeros(word ^ (ONES * u64::from(b'\\')));
        if hits != 0 {
            return Some(at + hits.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    memchr2(b'"', b'\\', bytes.get(at..)?).map(|found| at + found)
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
        match scan_string(bytes, at + 1) {
            Some(scan) if scan.form != Form::Other => at = scan.end,
            _ => return false,
        }
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
        let scan = scan_string(bytes, at + 1);
        let end = scan.as_ref().map_or(bytes.len(), |scan| scan.end);
        let text = raw.get(at..end).unwrap_or("\"\"");
        out.push(b'"');
        scan.map_or(RawText { raw: text, escapes: 0, form: Form::Other }, |scan| scan.text(text)).write_inside(out);
        out.push(b'"');
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::{Length, RawText, Sink, decode, is_compact, utf16_units, write_compact};

    fn inside(raw: &str) -> (String, u64) {
        let (mut out, mut length) = (Vec::new(), Length::default());
        RawText::of(raw).write_inside(&mut out);
        RawText::of(raw).write_inside(&mut length);
        assert_eq!(out.len(), length.length(), "measuring and writing agree");
        assert_eq!(RawText::of(raw).decode(), decode(raw));
        (String::from_utf8(out).unwrap(), RawText::of(raw).units())
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
