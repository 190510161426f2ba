//! One pass over JSON text that hands out raw slices, checks what it passes and builds nothing. Logged messages are most
//! of the bytes that have to be read at all, and a generic parser walks each nested part of them again.

use super::json_text::{RawText, scan_string};

/// A place in JSON text. Every method is `None` where the text is not what it asks for, or no JSON: a walk to the end
/// has checked all of it but control characters inside strings ([`has_control`]).
#[derive(Debug, Clone, Copy)]
pub struct Walk<'a> {
    text: &'a str,
    at: usize,
    /// How many more brackets may open.
    depth: usize,
}

/// A value as it stands.
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    /// A string.
    Text(RawText<'a>),
    /// Anything else.
    Other(&'a str),
}

impl<'a> Value<'a> {
    /// The value as logged.
    pub fn raw(self) -> &'a str {
        match self {
            Self::Text(text) => text.raw(),
            Self::Other(raw) => raw,
        }
    }

    /// The string, where it is one.
    pub fn text(self) -> Option<RawText<'a>> {
        match self {
            Self::Text(text) => Some(text),
            Self::Other(_) => None,
        }
    }

    /// A whole number of at most 15 digits: what a float holds exactly.
    pub fn unsigned(self) -> Option<u64> {
        let digits = self.raw().as_bytes();
        let whole = !digits.is_empty() && digits.len() <= 15 && (digits[0] != b'0' || digits.len() == 1);
        if !whole || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        Some(digits.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')))
    }
}

impl<'a> Walk<'a> {
    /// At the start of a text in which at most `depth` brackets may be open at a time.
    pub fn new(text: &'a str, depth: usize) -> Self {
        Self { text, at: 0, depth }
    }

    /// The next byte that is no white space.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        self.at = skip_space(self.text.as_bytes(), self.at);
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// A string.
    #[inline]
    pub fn string(&mut self) -> Option<RawText<'a>> {
        self.take(b'"')?;
        let start = self.at - 1;
        let scan = scan_string(self.text.as_bytes(), self.at)?;
        self.at = scan.end;
        Some(scan.text(self.text.get(start..self.at)?))
    }

    /// Any value.
    pub fn value(&mut self) -> Option<Value<'a>> {
        if self.peek()? == b'"' {
            return self.string().map(Value::Text);
        }
        let start = self.at;
        self.at = skip_value(self.text.as_bytes(), start, self.depth)?;
        self.text.get(start..self.at).map(Value::Other)
    }

    /// An object: `field` gets each raw key (quotes included) and must consume its value.
    pub fn object(&mut self, mut field: impl FnMut(&'a str, &mut Self) -> Option<()>) -> Option<()> {
        self.take(b'{')?;
        self.depth = self.depth.checked_sub(1)?;
        if self.take(b'}').is_none() {
            loop {
                let key = self.string()?.raw();
                self.take(b':')?;
                field(key, self)?;
                if self.take(b',').is_none() {
                    self.take(b'}')?;
                    break;
                }
            }
        }
        self.depth += 1;
        Some(())
    }

    /// An array: `item` must consume each value.
    pub fn array(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
        self.depth = self.depth.checked_sub(1)?;
        if self.take(b']').is_none() {
            loop {
                item(self)?;
                if self.take(b',').is_none() {
                    self.take(b']')?;
                    break;
                }
            }
        }
        self.depth += 1;
        Some(())
    }

    /// What was walked over since an earlier place.
    pub fn since(&self, earlier: Self) -> Option<&'a str> {
        self.text.get(earlier.at..self.at)
    }

    /// Whether nothing but white space is left.
    pub fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }
}

/// Whether a text has control characters, which JSON strings may not hold; the harness writes none outside of them.
pub fn has_control(text: &[u8]) -> bool {
    // Chunks, so that the compiler turns it into vector code.
    text.chunks(512).any(|chunk| chunk.iter().fold(false, |found, byte| found | (*byte < 0x20)))
}

/// Whether bytes are one JSON value without control characters, nested at most `depth` deep. They may be no UTF-8.
/// Lone surrogates are allowed, as everywhere in logs. What this refuses, a slower parser judges.
pub fn is_sound(bytes: &[u8], depth: usize) -> bool {
    !has_control(bytes)
        && skip_value(bytes, skip_space(bytes, 0), depth).map(|end| skip_space(bytes, end)) == Some(bytes.len())
}

#[inline]
fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The brackets that are open: a bit each, set for objects, in words that are kept aside when they are full.
#[derive(Default)]
struct Brackets {
    last: u64,
    count: usize,
    full: Vec<u64>,
}

impl Brackets {
    fn open(&mut self, object: bool) {
        if self.count > 0 && self.count.is_multiple_of(64) {
            self.full.push(self.last);
        }
        self.last = self.last << 1 | u64::from(object);
        self.count += 1;
    }

    fn close(&mut self) {
        self.last >>= 1;
        self.count -= 1;
        if self.count > 0 && self.count.is_multiple_of(64) {
            self.last = self.full.pop().unwrap_or(0);
        }
    }

    fn in_object(&self) -> bool {
        self.last & 1 == 1
    }
}

/// Index behind the value that begins at `at`.
fn skip_value(bytes: &[u8], mut at: usize, depth: usize) -> Option<usize> {
    let mut open = Brackets::default();
    loop {
        // A value begins here.
        match bytes.get(at)? {
            b'"' => at = scan_string(bytes, at + 1)?.end,
            bracket @ (b'{' | b'[') => {
                if open.count >= depth {
                    return None;
                }
                at = skip_space(bytes, at + 1);
                if bytes.get(at) == Some(&(bracket + 2)) {
                    at += 1;
                } else {
                    open.open(*bracket == b'{');
                    if *bracket == b'{' {
                        at = skip_key(bytes, at)?;
                    }
                    continue;
                }
            }
            b't' => at = literal(bytes, at, b"true")?,
            b'f' => at = literal(bytes, at, b"false")?,
            b'n' => at = literal(bytes, at, b"null")?,
            _ => at = number_end(bytes, at)?,
        }
        // A value ended here: what follows it?
        loop {
            if open.count == 0 {
                return Some(at);
            }
            at = skip_space(bytes, at);
            let byte = bytes.get(at)?;
            at += 1;
            if *byte == b',' {
                at = skip_space(bytes, at);
                if open.in_object() {
                    at = skip_key(bytes, at)?;
                }
                break;
            }
            if *byte != if open.in_object() { b'}' } else { b']' } {
                return None;
            }
            open.close();
        }
    }
}

fn literal(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes.get(at..at + word.len()).filter(|found| *found == word).map(|_| at + word.len())
}

/// `"key":` and the space behind it.
fn skip_key(bytes: &[u8], at: usize) -> Option<usize> {
    let at = scan_string(bytes, literal(bytes, at, b"\"")?)?.end;
    Some(skip_space(bytes, literal(bytes, skip_space(bytes, at), b":")?))
}

fn number_end(bytes: &[u8], at: usize) -> Option<usize> {
    let digits = |from: usize| {
        let count = bytes.get(from..)?.iter().take_while(|b| b.is_ascii_digit()).count();
        (count > 0).then_some(from + count)
    };
    let start = at + usize::from(bytes.get(at) == Some(&b'-'));
    let mut end = if bytes.get(start) == Some(&b'0') { start + 1 } else { digits(start)? };
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1)?;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        end = digits(end + 1 + sign)?;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Brackets, Walk, is_sound};

    #[test]
    fn what_is_sound_is_json_and_nothing_else_is() {
        for text in [
            r#"{"a":[1,-0.5e+3,"x\"\\\u00e9\ud83d",{}],"b":null,"c":[],"d":{"e":true}}"#,
            "\"\"",
            "0",
            "[[[]]]",
            " { \"a\" : [ 1 , { } ] , \"b\" : [ ] } ",
            "\"sixteen bytes and more before the quote\"",
        ] {
            assert!(is_sound(text.as_bytes(), 8), "{text}");
            assert!(serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\":}",
            "{\"a\" 1}",
            "[1}",
            "{\"a\":1]",
            "01",
            "1.",
            "-",
            "tru",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"",
            "\"sixteen bytes and more, and no quote at the end",
            "{}{}",
            "[\"\u{1}\"]",
            "{,}",
            "{1:2}",
            "[1 2]",
        ] {
            assert!(!is_sound(text.as_bytes(), 8), "{text}");
        }
        assert!(!is_sound(b"[[[]]]", 2) && !is_sound(b"[[[1]]]", 2) && is_sound(b"[[1]]", 2) && !is_sound(b"[]", 0));
    }

    #[test]
    fn brackets_are_told_apart_at_any_depth() {
        let mut brackets = Brackets::default();
        (0..1_000).for_each(|n| brackets.open(n % 3 == 0));
        for n in (0..1_000).rev() {
            assert_eq!(brackets.in_object(), n % 3 == 0, "{n}");
            brackets.close();
        }
    }

    #[test]
    fn a_walk_hands_out_raw_values() {
        let mut found = Vec::new();
        let text = r#" { "a" : [1, {"b":"]\""}], "c":"x\"", "d":-1.5 } "#;
        let walked = Walk::new(text, 3).object(|key, walk| {
            found.push((key, walk.value()?.raw()));
            Some(())
        });
        assert_eq!(walked, Some(()));
        assert_eq!(found, [("\"a\"", r#"[1, {"b":"]\""}]"#), ("\"c\"", r#""x\"""#), ("\"d\"", "-1.5")]);
        let passes = |text, depth| Walk::new(text, depth).object(|_, walk| walk.value().map(drop)).is_some();
        assert!(!passes("{\"a\":", 3) && !passes(text, 2) && !passes("{}", 0) && passes("{}", 1));
    }

    proptest! {
        /// Bytes near JSON: what the walk passes, the generic parser passes too.
        #[test]
        fn a_walk_passes_nothing_that_is_no_json(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"a\":", "1", "-0.5e3", "true", "null", " ", "\\", "\\n",
                    "\\u00e9", "é", "{\"k\":[]}",
                ]),
                0..14,
            ),
        ) {
            let text = parts.concat();
            let json = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
            prop_assert_eq!(is_sound(text.as_bytes(), 64), json, "{}", text);
        }
    }
}
