//! One pass over JSON text that hands out raw slices and builds nothing. Logged messages are most of the bytes that have
//! to be read at all, and a generic parser walks each nested part of them again.

use memchr::memchr2;

/// A place in JSON text. Every method is `None` where the text is not what it asks for.
#[derive(Debug, Clone, Copy)]
pub struct Walk<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Walk<'a> {
    /// At the start of a text.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The next byte that is no white space.
    pub fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.text.as_bytes().get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// A string with its quotes, escapes as they stand.
    pub fn string(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let start = self.at - 1;
        self.at = string_end(self.text.as_bytes(), self.at)?;
        self.text.get(start..self.at)
    }

    /// Any value, raw. Brackets are counted, not matched: the text has been checked by [`is_sound`] or another parser.
    pub fn value(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        let first = self.peek()?;
        let start = self.at;
        match first {
            b'"' => return self.string(),
            b'{' | b'[' => {
                let mut depth = 0usize;
                loop {
                    let byte = *bytes.get(self.at)?;
                    self.at += 1;
                    match byte {
                        b'"' => self.at = string_end(bytes, self.at)?,
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' => {
                            depth = depth.saturating_sub(1);
                            if depth == 0 {
                                break;
                            }
                        }
                        _ => {}
                    }
                }
            }
            _ => {
                let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                self.at += bytes[start..].iter().position(ends).unwrap_or(bytes.len() - start);
            }
        }
        self.text.get(start..self.at).filter(|raw| !raw.is_empty())
    }

    /// An object: `field` gets each raw key (quotes included) and must consume its value.
    pub fn object(&mut self, field: &mut dyn FnMut(&'a str, &mut Self) -> Option<()>) -> Option<()> {
        self.take(b'{')?;
        if self.take(b'}').is_some() {
            return Some(());
        }
        loop {
            let key = self.string()?;
            self.take(b':')?;
            field(key, self)?;
            if self.take(b',').is_none() {
                return self.take(b'}');
            }
        }
    }

    /// An array: `item` must consume each value.
    pub fn array(&mut self, item: &mut dyn FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
        if self.take(b']').is_some() {
            return Some(());
        }
        loop {
            item(self)?;
            if self.take(b',').is_none() {
                return self.take(b']');
            }
        }
    }

    /// What was walked over since an earlier place.
    pub fn since(&self, earlier: Self) -> Option<&'a str> {
        self.text.get(earlier.at..self.at)
    }
}

/// Index behind the closing quote of a string whose opening quote stands before `at`.
fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let found = at + memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[found] == b'"' {
            return Some(found + 1);
        }
        at = found + 2;
    }
}

/// Whether a text is one JSON value without control characters (the harness writes none), nested at most `most_depth`
/// deep. Lone surrogates are allowed, as everywhere in logs. What this refuses, a slower parser judges.
pub fn is_sound(text: &str, most_depth: usize) -> bool {
    let bytes = text.as_bytes();
    // Chunks, so that the compiler turns it into vector code.
    let control = |chunk: &[u8]| chunk.iter().fold(false, |found, byte| found | (*byte < 0x20));
    !bytes.chunks(64).any(control) && sound_end(bytes, most_depth) == Some(bytes.len())
}

fn sound_end(bytes: &[u8], most_depth: usize) -> Option<usize> {
    let mut open: Vec<u8> = Vec::new();
    let mut at = 0;
    loop {
        // A value begins here.
        match bytes.get(at)? {
            b'"' => at = sound_string(bytes, at + 1)?,
            bracket @ (b'{' | b'[') => {
                let close = bracket + 2;
                at += 1;
                if bytes.get(at) == Some(&close) {
                    if open.len() >= most_depth {
                        return None;
                    }
                    at += 1;
                } else {
                    open.push(close);
                    if open.len() > most_depth {
                        return None;
                    }
                    if close == b'}' {
                        at = sound_key(bytes, at)?;
                    }
                    continue;
                }
            }
            b't' => at = literal(bytes, at, b"true")?,
            b'f' => at = literal(bytes, at, b"false")?,
            b'n' => at = literal(bytes, at, b"null")?,
            _ => at = sound_number(bytes, at)?,
        }
        // A value ended here: what follows it?
        loop {
            let Some(close) = open.last() else { return Some(at) };
            let byte = bytes.get(at)?;
            at += 1;
            if byte == close {
                open.pop();
            } else if *byte == b',' {
                if *close == b'}' {
                    at = sound_key(bytes, at)?;
                }
                break;
            } else {
                return None;
            }
        }
    }
}

fn literal(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes.get(at..at + word.len()).filter(|found| *found == word).map(|_| at + word.len())
}

/// `"key":`
fn sound_key(bytes: &[u8], at: usize) -> Option<usize> {
    let at = sound_string(bytes, literal(bytes, at, b"\"")?)?;
    literal(bytes, at, b":")
}

fn sound_string(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let found = at + memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[found] == b'"' {
            return Some(found + 1);
        }
        at = found + 2;
        match bytes.get(found + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
            b'u' if bytes.get(at..at + 4)?.iter().all(u8::is_ascii_hexdigit) => at += 4,
            _ => return None,
        }
    }
}

fn sound_number(bytes: &[u8], at: usize) -> Option<usize> {
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
    use super::{Walk, is_sound};

    #[test]
    fn what_is_sound_is_json_and_nothing_else_is() {
        for text in
            [r#"{"a":[1,-0.5e+3,"x\"\\\u00e9\ud83d",{}],"b":null,"c":[],"d":{"e":true}}"#, "\"\"", "0", "[[[]]]"]
        {
            assert!(is_sound(text, 8), "{text}");
            assert!(serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\":}",
            "{\"a\" 1}",
            "[1}",
            "01",
            "1.",
            "-",
            "tru",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"",
            "{}{}",
            "[\"\u{1}\"]",
            "{,}",
            "[1 2]",
        ] {
            assert!(!is_sound(text, 8), "{text}");
        }
        assert!(!is_sound("[[[]]]", 2) && !is_sound("[[[1]]]", 2) && is_sound("[[1]]", 2));
    }

    #[test]
    fn a_walk_hands_out_raw_values() {
        let mut found = Vec::new();
        let text = r#" { "a" : [1, {"b":"]\""}], "c":"x\"", "d":-1.5 } "#;
        let walked = Walk::new(text).object(&mut |key, walk| {
            found.push((key, walk.value()?));
            Some(())
        });
        assert_eq!(walked, Some(()));
        assert_eq!(found, [("\"a\"", r#"[1, {"b":"]\""}]"#), ("\"c\"", r#""x\"""#), ("\"d\"", "-1.5")]);
        assert!(Walk::new("{\"a\":").object(&mut |_, walk| walk.value().map(drop)).is_none());
    }
}
