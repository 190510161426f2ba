//! Hides the texts of a request: what was said becomes its length, the structure stays.

use serde_json::Value;

use crate::event::json_text::utf16_units;

/// Keys whose texts are names and kinds, not contents.
const SHOWN: [&str; 16] = [
    "model",
    "role",
    "type",
    "id",
    "name",
    "tool_call_id",
    "toolCallId",
    "callId",
    "provider",
    "reasoning_effort",
    "reasoningEffort",
    "kind",
    "plugin",
    "mediaType",
    "api",
    "stopReason",
];

/// Replaces every text that is not a name by `<N chars>`, N in UTF-16 units.
pub fn hide_contents(value: &mut Value) {
    match value {
        Value::String(text) => *text = format!("<{} chars>", utf16_units(text)),
        Value::Array(items) => items.iter_mut().for_each(hide_contents),
        Value::Object(fields) => {
            for (key, field) in fields.iter_mut() {
                if !(SHOWN.contains(&key.as_str()) && field.is_string()) {
                    hide_contents(field);
                }
            }
        }
        _ => {}
    }
}

/// Parses JSON as JavaScript writes it: lone surrogates, which no `String` holds, become U+FFFD.
///
/// # Errors
/// When it is no JSON.
pub fn parse_lossy(json: &[u8]) -> Result<Value, serde_json::Error> {
    let mut clean = Vec::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (head, tail) = rest.split_at(at);
        clean.extend_from_slice(head);
        let surrogate = tail.len() >= 6 && tail[1] == b'u' && matches!(tail[2], b'd' | b'D') && tail[3] >= b'8';
        // Digits of a surrogate: 8 and above, letters included; they all stand above '8' in ASCII.
        let used = if surrogate { 6 } else { 2.min(tail.len()) };
        clean.extend_from_slice(if surrogate { b"\\ufffd" } else { &tail[..used] });
        rest = &tail[used..];
    }
    clean.extend_from_slice(rest);
    serde_json::from_slice(&clean)
}

#[cfg(test)]
mod tests {
    use super::{hide_contents, parse_lossy};

    #[test]
    fn texts_become_lengths_and_names_stay() {
        let mut value =
            serde_json::json!({"model": "m", "messages": [{"role": "user", "content": "秘密 x"}], "max_tokens": 5});
        hide_contents(&mut value);
        assert_eq!(
            value.to_string(),
            r#"{"model":"m","messages":[{"role":"user","content":"<4 chars>"}],"max_tokens":5}"#
        );
    }

    #[test]
    fn lone_surrogates_do_not_stop_it() {
        let value = parse_lossy(br#"{"content":"a\ud83db\\ud83d"}"#).unwrap();
        assert_eq!(value["content"], "a\u{FFFD}b\\ud83d");
    }
}
