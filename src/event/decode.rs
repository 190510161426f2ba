//! Lines to events, for every format version. Versions differ in where a stream stands and how a replace is named; both
//! are told by the fields present, so one decoder reads them all and a mixed log (a fork's prefix) is no special case.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::bodies::{chunk, decode_body, request_header, tool_call};
use super::content::take_apart;
use super::fast::{FastEnvelope, bare_place, decode_fast};
use super::message_body::{MessageWire, message, message_kind};
use super::text::Text;
use super::walk::has_control;
use super::{Body, Event};
use crate::message;

/// Why a line is not an event.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// Not JSON, or not an object with a `type`.
    #[error("not an event: {0}")]
    NotAnEvent(String),
    /// Nested deeper than the limit.
    #[error("JSON nested deeper than --max-json-depth {0}")]
    TooDeep(usize),
}

impl LineError {
    /// In words.
    pub fn message(&self) -> crate::message::Message {
        match self {
            Self::NotAnEvent(why) => message!("notices.not-an-event", why = why),
            Self::TooDeep(most) => message!("notices.too-deep", most = most),
        }
    }
}

/// Decodes the event lines of one archive in file order.
#[derive(Debug)]
pub struct Decoder {
    json_depth: usize,
    next_seq: u64,
    /// Lines without `seq`: numbered by position.
    pub lines_without_seq: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    r#type: Text,
    seq: Option<u64>,
    seq0: Option<u64>,
    time: Option<f64>,
    time0: Option<f64>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    surface_op: Option<&'a RawValue>,
    #[serde(borrow)]
    ignorable: Option<&'a RawValue>,
}

impl Decoder {
    /// A decoder for one archive; deeper JSON than `json_depth` is refused.
    pub fn new(json_depth: usize) -> Self {
        Self { json_depth, next_seq: 0, lines_without_seq: 0 }
    }

    /// Decodes one line.
    ///
    /// # Errors
    /// When the line is not a JSON object with a `type`, or nested too deep.
    pub fn decode<'a>(&mut self, line: &'a [u8]) -> Result<Event<'a>, LineError> {
        let event = match decode_fast(line) {
            Some(event) => event,
            None => self.decode_full(line)?,
        };
        self.next_seq = event.seq.saturating_add(event.members);
        Ok(event)
    }

    fn decode_full<'a>(&mut self, line: &'a [u8]) -> Result<Event<'a>, LineError> {
        if let Some(envelope) = FastEnvelope::parse(line)
            && let Some(body) = self.body_of(&envelope)
        {
            return Ok(Event { seq: envelope.seq, time: Some(envelope.time), members: 1, body });
        }
        self.decode_slow(line)
    }

    /// `None`: the full parser judges the line. What no parser reads as a whole is checked to be JSON as well, so that a
    /// field behind the data is never taken for a part of it.
    fn body_of<'a>(&self, envelope: &FastEnvelope<'a>) -> Option<Body<'a>> {
        let depth = self.json_depth.saturating_sub(1);
        match envelope.kind {
            b"step/start" | b"step/end" | b"turn/start" | b"turn/end" => {
                if let Some(body) = bare_place(envelope) {
                    return Some(body);
                }
            }
            // Frequent types of which nothing but the place is needed: their data is not even checked to be JSON.
            b"agent/inbox/spliced" | b"session/title-llm-request" => {
                return Some(Body::Other { kind: String::new(), known: true, ignorable: true });
            }
            _ => {}
        }
        let raw = simdutf8::basic::from_utf8(envelope.data).ok()?;
        let kind = std::str::from_utf8(envelope.kind).ok()?;
        if let Some(kind) = message_kind(kind) {
            let (logged, beside) = take_apart(kind, raw, depth).filter(|_| !has_control(envelope.data))?;
            let wire = MessageWire::of(beside, kind).ok()?;
            return message(kind, raw, envelope.surface_op, wire, Some(logged)).ok();
        }
        match kind {
            "tool/call" | "assistant/chunk" | "request/header" if has_control(envelope.data) => None,
            "tool/call" => tool_call(raw, depth).ok(),
            "assistant/chunk" => chunk(raw, Some(envelope.time), depth).ok(),
            "request/header" => request_header(raw, depth).ok(),
            _ if depth_exceeds(envelope.data, depth) => None,
            _ => decode_body(kind, raw, envelope.surface_op, Some(envelope.time)).ok(),
        }
    }

    fn decode_slow<'a>(&mut self, line: &'a [u8]) -> Result<Event<'a>, LineError> {
        if depth_exceeds(line, self.json_depth) {
            return Err(LineError::TooDeep(self.json_depth));
        }
        let envelope: Envelope<'a> = serde_json::from_slice(line).map_err(|e| LineError::NotAnEvent(e.to_string()))?;
        let kind = envelope.r#type.0.as_str();
        let packed = matches!(kind, "text-chunks" | "reasoning-chunks" | "tool-call-chunks");
        let (seq, time) = if packed { (envelope.seq0, envelope.time0) } else { (envelope.seq, envelope.time) };
        if seq.is_none() {
            self.lines_without_seq += 1;
        }
        let seq = seq.unwrap_or(self.next_seq);
        let mut time = time.filter(|t| t.is_finite()).map(|t| t as i64);
        let mut members = 1;
        let raw = envelope.data.map_or("null", RawValue::get);
        let op = envelope.surface_op.map(RawValue::get);
        let mut body = decode_body(kind, raw, op, time)
            .unwrap_or_else(|error| Body::Odd { kind: kind.to_owned(), reason: error.to_string() });
        if let Body::Other { ignorable, .. } = &mut body {
            *ignorable = envelope.ignorable.is_some_and(|raw| raw.get() == "true");
        }
        if packed && let Body::Deltas { stream, .. } = &body {
            members = stream.chunks;
            time = stream.last_time;
        }
        Ok(Event { seq, time, members, body })
    }
}

/// Whether brackets outside strings nest deeper than `limit`; `serde_json` skips raw values without counting.
fn depth_exceeds(line: &[u8], limit: usize) -> bool {
    if memchr::memchr2_iter(b'[', b'{', line).take(limit + 1).count() <= limit {
        return false;
    }
    let (mut depth, mut at) = (0usize, 0usize);
    while let Some(byte) = line.get(at) {
        at += 1;
        match byte {
            b'"' => {
                while let Some(found) = memchr::memchr2(b'"', b'\\', &line[at..]) {
                    let quote = line[at + found] == b'"';
                    at += found + if quote { 1 } else { 2 };
                    if quote || at >= line.len() {
                        break;
                    }
                }
            }
            b'[' | b'{' => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}
