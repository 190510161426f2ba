//! Strings as they stand in logs: lone surrogates are legal in JSON as JavaScript writes it, but not in UTF-8.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A decoded JSON string in which lone surrogates became U+FFFD.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text(pub String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(TextVisitor)
    }
}

struct TextVisitor;

impl Visitor<'_> for TextVisitor {
    type Value = Text;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Text, E> {
        Ok(Text(match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => replace_surrogates(bytes),
        }))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
        Ok(Text(text.to_owned()))
    }
}

/// `serde_json` hands lone surrogates on as their three-byte generalised UTF-8 form (ED A0..BF xx).
fn replace_surrogates(bytes: &[u8]) -> String {
    let mut clean = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, tail)) = rest.split_first() {
        if *first == 0xED && tail.first().is_some_and(|b| *b >= 0xA0) && tail.len() >= 2 {
            clean.extend_from_slice("\u{FFFD}".as_bytes());
            rest = &tail[2..];
        } else {
            clean.push(*first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&clean).into_owned()
}
