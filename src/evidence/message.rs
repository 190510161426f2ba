//! The parts of a message: its status, a JSON body, and a plain form in which wordings are looked for.

use serde_json::Value;

/// The HTTP status a message carries: at its start (`400 …`, `HTTP 400 …`, `error code: 524`), or in the text
/// that `llm-deepseek` writes (`DeepSeek API error (HTTP 400)`).
#[must_use]
pub fn leading_status(text: &str) -> Option<u16> {
    let text = text.trim_start();
    let starts = [
        "DeepSeek API error (HTTP ",
        "HTTP error ",
        "HTTP ",
        "http ",
        "HTTP/1.1 ",
        "Error code: ",
        "error code: ",
        "Error: ",
        "<title>",
        "",
    ];
    starts.iter().find_map(|start| status_number(text.strip_prefix(start)?))
}

/// A status that a text names further in (`status code: 404`, `API error (429)`), for texts without a leading
/// one; the harness does not read it, only the evidence does.
#[must_use]
pub fn embedded_status(plain: &str) -> Option<u16> {
    [
        "status code: ",
        "status code ",
        "status_code=",
        "status: ",
        "status ",
        "error code: ",
        "api error (",
        "http ",
        "\"code\":",
        "\"code\": ",
        "[",
    ]
    .iter()
    .find_map(|marker| {
        let at = plain.find(marker)? + marker.len();
        status_number(plain.get(at..)?)
    })
}

/// A number of three digits from 300 to 599 that no further word character follows.
fn status_number(text: &str) -> Option<u16> {
    let digits = text.get(..3)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let next = text.as_bytes().get(3);
    let ends = next.is_none_or(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'.' | b',' | b'-'));
    let status: u16 = digits.parse().ok()?;
    (ends && (300..600).contains(&status) && !counts_something(&text[3..])).then_some(status)
}

/// Whether the number before this text counts things (`400 credits`, `500 tokens`) and is no status.
fn counts_something(rest: &str) -> bool {
    ["credits", "tokens", "requests", "messages", "bytes", "images"]
        .iter()
        .any(|word| rest.trim_start().starts_with(word))
}

/// The JSON value inside a message: the whole text, or what follows a status.
#[must_use]
pub fn json_body(text: &str) -> Option<Value> {
    let start = text.find('{')?;
    let before = text[..start].trim().trim_end_matches(':').trim();
    let only_status = before.is_empty() || (before.len() == 3 && status_number(before).is_some());
    if !only_status {
        return None;
    }
    serde_json::from_str(text[start..].trim()).ok()
}

/// Code, type and message of an error body joined by spaces, as `llm-deepseek` reads them: from `error`.
///
/// Bodies without `error` give an empty text, since that adapter finds nothing in them.
#[must_use]
pub fn deepseek_detail(body: &Value) -> String {
    let Some(error) = body.get("error") else {
        return String::new();
    };
    let fields = ["code", "type", "message"].map(|name| match error.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    });
    fields.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The text as the catalogue's patterns expect it: ASCII letters small, quotation marks straight, escapes of
/// JSON strings undone (`\"`, `\n`, `\u4f59`), white space single.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut gap = false;
    while let Some(character) = characters.next() {
        let character = match character {
            '\\' => unescaped(&mut characters),
            '\u{2018}' | '\u{2019}' => '\'',
            '\u{201c}' | '\u{201d}' => '"',
            '\u{ff0c}' => ',',
            '\u{ff1a}' => ':',
            other => other.to_ascii_lowercase(),
        };
        if character.is_whitespace() {
            gap = !plain.is_empty();
            continue;
        }
        if gap {
            plain.push(' ');
            gap = false;
        }
        plain.push(character);
    }
    plain
}

/// The character that a backslash and what follows it stand for; an unknown escape is the backslash's own.
fn unescaped(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> char {
    match characters.peek().copied() {
        Some('n' | 'r' | 't') => {
            characters.next();
            ' '
        }
        Some(quote @ ('"' | '\\' | '/' | '\'')) => {
            characters.next();
            quote
        }
        Some('u') => {
            let digits: String = characters.clone().skip(1).take(4).collect();
            let code = (digits.len() == 4).then(|| u32::from_str_radix(&digits, 16).ok()).flatten();
            match code.and_then(char::from_u32) {
                Some(character) => {
                    characters.nth(4);
                    character.to_ascii_lowercase()
                }
                None => '\\',
            }
        }
        _ => '\\',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_a_number_that_counts_nothing() {
        for (text, status) in [
            ("400 status code (no body)", Some(400)),
            ("429: {\"message\":\"x\"}", Some(429)),
            ("HTTP 502 bad gateway", Some(502)),
            ("<title>503 x", Some(503)),
            ("error code: 524", Some(524)),
            ("400 credits left", None),
            ("500 tokens over", None),
            ("40000 exceeds", None),
            ("requested 500 tokens", None),
            ("429余额不足", Some(429)),
            ("", None),
        ] {
            assert_eq!(leading_status(text), status, "{text}");
        }
    }

    #[test]
    fn escapes_are_undone() {
        assert_eq!(plain(r#"{"M":"\u4f59\u989D\n x \"A\""}"#), r#"{"m":"余额 x "a""}"#);
        assert_eq!(plain(r"a\u12 \q"), r"a\u12 \q");
    }

    #[test]
    fn the_detail_is_what_the_adapter_joins() {
        let body = json_body(r#"400 {"error":{"message":"m","type":"t","code":7,"param":null}}"#);
        assert_eq!(body.map(|body| deepseek_detail(&body)).as_deref(), Some("7 t m"));
        assert!(json_body("before 400 {}").is_none());
    }
}
