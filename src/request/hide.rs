//! Hides the texts of a request: what was said becomes its length, the structure stays.

use serde_json::{Map, Value};

use crate::event::json_text::utf16_units;

/// Keys whose texts are kinds and identifiers, not contents.
const SHOWN: [&str; 15] = [
    "model",
    "role",
    "type",
    "id",
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
/// A `name` beside one of these is the name of a tool; any other, of a file say, is content.
const BESIDE_TOOL_NAMES: [&str; 3] = ["parameters", "arguments", "description"];
/// Longest key that is shown, bytes.
const LONGEST_KEY: usize = 64;

/// Replaces every text that is not a name by `<N chars>`, N in UTF-16 units. What stays passes `clean`.
pub fn hide_contents(value: &mut Value, clean: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = format!("<{} chars>", utf16_units(text)),
        Value::Array(items) => items.iter_mut().for_each(|item| hide_contents(item, clean)),
        Value::Object(fields) => {
            let of_tool = BESIDE_TOOL_NAMES.iter().any(|key| fields.contains_key(*key));
            for (key, field) in fields.iter_mut() {
                match field {
                    Value::String(text) if SHOWN.contains(&key.as_str()) || (of_tool && key == "name") => {
                        *text = clean(text);
                    }
                    _ => hide_contents(field, clean),
                }
            }
            hide_keys(fields, clean);
        }
        _ => {}
    }
}

/// Keys that are no identifiers (paths, say) or hold what `clean` replaces are contents as well; they are numbered, so that
/// none hides another.
fn hide_keys(fields: &mut Map<String, Value>, clean: &dyn Fn(&str) -> String) {
    let is_identifier = |key: &str| {
        key.len() <= LONGEST_KEY
            && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'$'))
            && clean(key) == key
    };
    if fields.keys().all(|key| is_identifier(key)) {
        return;
    }
    let hidden = std::mem::take(fields).into_iter().enumerate().map(|(number, (key, field))| {
        let shown = if is_identifier(&key) { key } else { format!("<key {number}, {} chars>", utf16_units(&key)) };
        (shown, field)
    });
    *fields = hidden.collect();
}

/// Passes every text and every key through `clean`, and hides nothing else. A text that is JSON (the arguments of a call)
/// is taken apart first: its escapes would hide what stands in it.
pub fn clean_contents(value: &mut Value, clean: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => {
            let inside = Some(&*text).filter(|text| text.starts_with(['{', '[']));
            match inside.and_then(|json| serde_json::from_str::<Value>(json).ok()) {
                Some(mut json) => {
                    clean_contents(&mut json, clean);
                    *text = json.to_string();
                }
                None => *text = clean(text),
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| clean_contents(item, clean)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| clean_contents(field, clean));
            let cleaned = std::mem::take(fields).into_iter().map(|(key, field)| (clean(&key), field));
            *fields = cleaned.collect();
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
    use serde_json::json;

    use super::{clean_contents, hide_contents, parse_lossy};

    fn hidden(mut value: serde_json::Value) -> String {
        hide_contents(&mut value, &|text| text.replace("key-1", "<key>"));
        value.to_string()
    }

    #[test]
    fn texts_become_lengths_and_names_stay() {
        assert_eq!(
            hidden(json!({"model": "m", "messages": [{"role": "user", "content": "秘密 x"}], "max_tokens": 5})),
            r#"{"model":"m","messages":[{"role":"user","content":"<4 chars>"}],"max_tokens":5}"#
        );
        assert_eq!(hidden(json!({"name": "read", "arguments": "{}"})), r#"{"name":"read","arguments":"<2 chars>"}"#);
        assert_eq!(hidden(json!({"model": "m key-1"})), r#"{"model":"m <key>"}"#, "what stays is cleaned");
    }

    #[test]
    fn names_of_files_and_keys_that_are_paths_are_contents() {
        assert_eq!(hidden(json!({"type": "file", "name": "payroll.xlsx"})), r#"{"type":"file","name":"<12 chars>"}"#);
        assert_eq!(
            hidden(json!({"page": 1, "/home/li/notes.txt": 2, "/home/li/b": 3})),
            r#"{"page":1,"<key 1, 18 chars>":2,"<key 2, 10 chars>":3}"#
        );
        assert_eq!(hidden(json!({"key-1": 1})), r#"{"<key 0, 5 chars>":1}"#, "a key that is a secret");
    }

    #[test]
    fn cleaning_reaches_every_text_and_key() {
        let mut value = json!({"a key-1": ["x key-1", {"content": "key-1"}], "n": 1});
        clean_contents(&mut value, &|text| text.replace("key-1", "<key>"));
        assert_eq!(value.to_string(), r#"{"a <key>":["x <key>",{"content":"<key>"}],"n":1}"#);
        let mut arguments = json!({"arguments": r#"{"path": "C:\\key-1"}"#});
        clean_contents(&mut arguments, &|text| text.replace(r"C:\key-1", "<key>"));
        assert_eq!(arguments.to_string(), json!({"arguments": r#"{"path":"<key>"}"#}).to_string());
    }

    #[test]
    fn lone_surrogates_do_not_stop_it() {
        let value = parse_lossy(br#"{"content":"a\ud83db\\ud83d"}"#).unwrap();
        assert_eq!(value["content"], "a\u{FFFD}b\\ud83d");
    }
}
