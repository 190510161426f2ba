//! The last messages of a request, for `--show-content`.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::archive::Limits;
use crate::discover::Archive;
use crate::message;
use crate::redact::redact;
use crate::report::lang::Said;
use crate::request::{Wanted, parse_lossy, rebuild};
use crate::session::AttemptRow;

/// Messages shown, from the end of the request: what the model was asked last.
const MOST_MESSAGES: usize = 6;
/// Characters shown of one message.
const MOST_CHARACTERS: usize = 1_000;

/// A message of the request, without credentials and without characters that control a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownMessage {
    /// Who speaks: `system`, `user`, `assistant`, `tool`.
    pub role: String,
    /// The beginning of what is said; tool calls stand below it.
    pub text: String,
    /// Characters that are not shown.
    pub left_out: u64,
}

/// The last messages of the request behind an attempt.
///
/// # Errors
/// When the log cannot be read again, or does not hold the request.
pub fn last_messages(archive: &Archive, limits: Limits, attempt: &AttemptRow) -> Result<Vec<ShownMessage>> {
    let (_, rebuilt) = rebuild(archive, limits, Wanted::Attempt(attempt.ordinal))?;
    let request = rebuilt.last().ok_or_else(|| Said(message!("errors.no-request-header")))?;
    let body = parse_lossy(&request.body).context("the rebuilt request is no JSON")?;
    let messages = body.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    Ok(messages[messages.len().saturating_sub(MOST_MESSAGES)..].iter().map(shown).collect())
}

fn shown(message: &Value) -> ShownMessage {
    let role = message.get("role").and_then(Value::as_str).unwrap_or("?").to_owned();
    let mut text = message.get("content").map(words).unwrap_or_default();
    for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
        let part = |key| call.pointer(key).and_then(Value::as_str).unwrap_or_default();
        text.push_str(&format!("\n{}({})", part("/function/name"), part("/function/arguments")));
    }
    let clean: String = redact(text.trim()).chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    let count = clean.chars().count();
    ShownMessage {
        role,
        text: clean.chars().take(MOST_CHARACTERS).collect(),
        left_out: count.saturating_sub(MOST_CHARACTERS) as u64,
    }
}

/// Text as it is, or the texts of its parts; other parts by their kind.
fn words(content: &Value) -> String {
    let part = |part: &Value| match part.get("text").and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => format!("<{}>", part.get("type").and_then(Value::as_str).unwrap_or("?")),
    };
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(part).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}
