//! Byte-pair counts with OpenAI's o200k vocabulary. No provider's own count, but close to proportional to most of them;
//! the fits of [`super::fit`] find the proportion.
//!
//! Logs say the same things again and again (system prompts, tools, a fork's prefix), and texts are made of the same
//! words: both are counted once and remembered.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{LazyLock, Mutex, PoisonError};

use tiktoken_rs::o200k_base_singleton;

use super::words::{Word, Words};
use crate::event::json_text::decode;

/// Longest text given to the encoder at once, bytes: its merge step is quadratic in runs without a break.
const SLICE: usize = 4096;
/// Longest word that is remembered, bytes.
const REMEMBERED_WORD: usize = 15;
/// Most words remembered by a worker, 2 MB.
const MOST_WORDS: usize = 1 << 16;
/// Most texts remembered by all workers together, 8 MB.
const MOST_TEXTS: usize = 1 << 18;

thread_local! {
    static WORDS: RefCell<HashMap<u128, u8>> = RefCell::new(HashMap::new());
}

/// Tokens by length and hash of a text. The hash is keyed at random, so that no log can be made to collide.
static TEXTS: LazyLock<KnownTexts> = LazyLock::new(KnownTexts::default);

#[derive(Default)]
struct KnownTexts {
    hasher: RandomState,
    tokens: Mutex<HashMap<(u64, usize), u32>>,
}

/// Tokens of a text with JSON escapes.
pub fn count_escaped(raw: &str) -> u32 {
    let key = (TEXTS.hasher.hash_one(raw), raw.len());
    let lock = || TEXTS.tokens.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(tokens) = lock().get(&key) {
        return *tokens;
    }
    let tokens = u32::try_from(count(&decode(raw))).unwrap_or(u32::MAX);
    let mut known = lock();
    if known.len() < MOST_TEXTS {
        known.insert(key, tokens);
    }
    tokens
}

/// Tokens of a text.
pub fn count(text: &str) -> u64 {
    WORDS.with_borrow_mut(|known| {
        Words::new(text)
            .map(|word| match word {
                Word::Known(word) => word_tokens(known, word),
                Word::Rest(rest) => sliced(rest),
            })
            .sum()
    })
}

fn word_tokens(known: &mut HashMap<u128, u8>, word: &str) -> u64 {
    if word.len() > REMEMBERED_WORD {
        return sliced(word);
    }
    let mut bytes = [0; 16];
    bytes[..word.len()].copy_from_slice(word.as_bytes());
    bytes[15] = word.len() as u8;
    let key = u128::from_le_bytes(bytes);
    if let Some(tokens) = known.get(&key) {
        return u64::from(*tokens);
    }
    let tokens = o200k_base_singleton().encode_ordinary(word).len();
    if known.len() < MOST_WORDS {
        known.insert(key, tokens as u8);
    }
    tokens as u64
}

fn sliced(text: &str) -> u64 {
    let mut rest = text;
    let mut tokens = 0;
    while !rest.is_empty() {
        let slice = first_slice(rest);
        tokens += o200k_base_singleton().encode_ordinary(slice).len() as u64;
        rest = &rest[slice.len()..];
    }
    tokens
}

/// At most [`SLICE`] bytes, cut at the last line break or space where there is one.
fn first_slice(text: &str) -> &str {
    if text.len() <= SLICE {
        return text;
    }
    let mut end = SLICE;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = &text[..end];
    match head.rfind('\n').or_else(|| head.rfind(' ')) {
        Some(at) if at > SLICE / 2 => &head[..at],
        _ => head,
    }
}

#[cfg(test)]
mod tests {
    use super::{count, count_escaped};

    fn whole(text: &str) -> u64 {
        tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len() as u64
    }

    #[test]
    fn words_one_by_one_are_the_encoder_s_tokens() {
        for text in [
            "the quick brown Fox's dog\n\n  fn main() { println!(\"{}\", 12345); }\r\n\t\tlet x=a.b::<C>();   \n",
            "HTTPServer camelCase XMLHttp ABCdef I'LL don'T we're 'quoted' x'y /usr/bin//\n// comment\n",
            "请求过大，请稍后重试。中文ABC混排AB中Cd、数字１２３与 1234，「引号」…… naïve café Ünïcode 😀 日本語カナ 한국어",
            "a  b   c\t\td \n e\n\n\nf   ",
            "{\"a\":[1,2.5,\"x\"],\"path\":\"C:\\\\dir\"}",
        ] {
            assert_eq!(count(text), whole(text), "{text:?}");
        }
        assert_eq!(u64::from(count_escaped("a\\nb \\u4e2d\\\"x\\\"")), whole("a\nb 中\"x\""));
        assert_eq!(
            u64::from(count_escaped("a\\nb \\u4e2d\\\"x\\\"")),
            whole("a\nb 中\"x\""),
            "the second time as the first"
        );
    }

    #[test]
    fn long_runs_end() {
        assert!(count(&"a".repeat(200_000)) > 0);
        assert!(count(&"好".repeat(70_000)) > 0);
        assert_eq!(count(""), 0);
    }
}
