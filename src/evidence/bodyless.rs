//! Texts that carry a status and nothing else.

use super::message::leading_status;

/// The status of a text that holds a status and says nothing about the cause; `None` for every other text.
///
/// Covers what SDKs write for an empty body (`400 status code (no body)`), what `llm-deepseek` writes when the
/// body held no message (`DeepSeek API error (HTTP 400)`), and a bare number. A text with a reason phrase
/// (`413 Payload Too Large`) is not bodyless: the phrase says something. An empty text has no status of its
/// own: `supports` takes the one given apart.
#[must_use]
pub fn is_bodyless(text: &str) -> Option<u16> {
    let text = text.trim();
    let status = leading_status(text)?;
    let rest = text.trim_end_matches(['.', ' ']);
    if let Some(inner) = rest.strip_prefix("DeepSeek API error (HTTP ") {
        return (inner.len() == 4 && inner.ends_with(')')).then_some(status);
    }
    let lower = rest.to_ascii_lowercase();
    let after = lower.trim_start_matches("http").trim_start_matches("error").trim_start();
    let after = after.get(3..)?.trim_start_matches(':').trim();
    let silent = ["", "status code", "status code (no body)", "(no body)", "{}", "null"];
    silent.contains(&after).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silent_texts_have_a_status_and_nothing_else() {
        for (text, status) in [
            ("400 status code (no body)", Some(400)),
            ("413 status code (no body)", Some(413)),
            ("502 (no body)", Some(502)),
            ("400", Some(400)),
            ("HTTP 503", Some(503)),
            ("400 {}", Some(400)),
            ("DeepSeek API error (HTTP 400)", Some(400)),
            ("413 Payload Too Large", None),
            ("400 invalid request", None),
            ("4000", None),
            ("", None),
            ("terminated", None),
            ("400 credits left", None),
        ] {
            assert_eq!(is_bodyless(text), status, "{text}");
        }
    }
}
