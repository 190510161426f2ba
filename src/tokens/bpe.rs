//! Byte-pair counts with OpenAI's o200k vocabulary. No provider's own count, but close to proportional to most of them;
//! the fits of [`super::fit`] find the proportion.

use tiktoken_rs::o200k_base_singleton;

/// Longest text given to the encoder at once, bytes: its merge step is quadratic in runs without a break.
const SLICE: usize = 4096;

/// Tokens of a text.
pub fn count(text: &str) -> u64 {
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
    use super::count;

    #[test]
    fn slices_change_little_and_long_runs_end() {
        let words = "the quick brown fox jumps over the lazy dog\n".repeat(500);
        let whole = tiktoken_rs::o200k_base_singleton().encode_ordinary(&words).len() as f64;
        assert!((count(&words) as f64 / whole - 1.0).abs() < 0.01);
        assert!(count(&"a".repeat(200_000)) > 0);
        assert_eq!(count(""), 0);
    }
}
