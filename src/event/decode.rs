//! Lines to events, for every format version. Versions differ in where a stream stands and how a replace is named; both
//! are told by the fields present, so one decoder reads them all and a mixed log (a fork's prefix) is no special case.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::content::{Beside, take_apart};
use super::fast::{FastEnvelope, bare_place, decode_fast, usage_of};
use super::stream::{FailureWire, UsageWire, chunk_summary, delta_run, embedded_summary};
use super::text::Text;
use super::types::is_harness_type;
use super::walk::{Value, Walk, has_control};
use super::{
    Body, Event, Failure, LoggedMessage, Message, MessageKind, RequestHeader, Retry, SurfaceOp, TurnEndKind, Usage,
};
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

type Decoded<T> = Result<T, serde_json::Error>;

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
            b"step/start" | b"step/end" | b"turn/start" => {
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
            "tool/call" => (!has_control(envelope.data)).then(|| tool_call(raw, depth).ok())?,
            "assistant/chunk" => (!has_control(envelope.data)).then(|| chunk(raw, Some(envelope.time), depth).ok())?,
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    turn: Option<u64>,
    step: Option<u64>,
}

fn turn_step(raw: &str) -> Decoded<(u64, u64)> {
    let place: Place = serde_json::from_str(raw)?;
    Ok((place.turn.unwrap_or(0), place.step.unwrap_or(0)))
}

fn message_kind(kind: &str) -> Option<MessageKind> {
    Some(match kind {
        "system/message" => MessageKind::System,
        "developer/message" => MessageKind::Developer,
        "user/message" => MessageKind::User,
        "assistant/message" => MessageKind::Assistant,
        "tool/result" => MessageKind::ToolResult,
        _ => return None,
    })
}

fn decode_body<'a>(kind: &str, raw: &'a str, op: Option<&'a str>, time: Option<i64>) -> Decoded<Body<'a>> {
    if let Some(kind) = message_kind(kind) {
        let [turn, step, usage, interrupted, stream] =
            fields(raw, ["\"turn\"", "\"step\"", "\"usage\"", "\"interrupted\"", "\"stream\""], usize::MAX)?;
        let text = |value: Option<Value<'a>>| value.map(Value::raw).filter(|raw| *raw != "null");
        let beside = Beside { turn, step, usage: text(usage), interrupted: text(interrupted), stream: text(stream) };
        return message(kind, raw, op, MessageWire::of(beside, kind)?, LoggedMessage::parse(kind, raw));
    }
    Ok(match kind {
        "turn/start" => Body::TurnStart { turn: turn_step(raw)?.0 },
        "turn/end" => turn_end(raw)?,
        "step/start" => {
            let (turn, step) = turn_step(raw)?;
            Body::StepStart { turn, step }
        }
        "step/end" => {
            let (turn, step) = turn_step(raw)?;
            Body::StepEnd { turn, step }
        }
        "request/header" => request_header(raw)?,
        "request/context" => request_context(raw)?,
        "assistant/chunk" => chunk(raw, time, usize::MAX)?,
        "text-chunks" | "reasoning-chunks" | "tool-call-chunks" => packed_row(raw, time)?,
        "assistant/attempt" => {
            let wire: StreamWire<'a> = serde_json::from_str(raw)?;
            let stream = embedded_summary(wire.stream.map_or("[]", RawValue::get))?;
            Body::Attempt { turn: wire.turn.unwrap_or(0), step: wire.step.unwrap_or(0), stream }
        }
        "tool/call" => tool_call(raw, usize::MAX)?,
        "llm/retry" => retry(raw)?,
        "llm/retry-started" => {
            let wire: RetryWire = serde_json::from_str(raw)?;
            Body::RetryStarted {
                turn: wire.turn.unwrap_or(0),
                step: wire.step.unwrap_or(0),
                retry_id: wire.retry_id.unwrap_or_default().0,
                retry: wire.retry.map_or(0, |r| r as u64),
            }
        }
        "compaction/start" => {
            let wire: CompactionWire<'a> = serde_json::from_str(raw)?;
            Body::CompactionStart { id: wire.id(), turn: wire.turn, command: wire.source_command_id.is_some() }
        }
        "compaction/summary" => {
            let wire: CompactionWire<'a> = serde_json::from_str(raw)?;
            let usage = wire
                .usage
                .as_ref()
                .map(|raw| serde_json::from_str::<UsageWire>(raw.get()).map(Usage::from))
                .transpose()?
                .filter(|u| u.is_report());
            Body::CompactionSummary {
                id: wire.id(),
                shadowed_nodes: wire.shadowed_nodes(),
                shadowed_tokens: wire.tokens(),
                prompt_tokens: usage.map(Usage::prompt),
                output_tokens: usage.map(|u| u.output),
            }
        }
        "compaction/end" => {
            let wire: CompactionWire<'a> = serde_json::from_str(raw)?;
            Body::CompactionEnd { id: wire.id(), error: wire.error.map(|raw| failure_of(raw.get())) }
        }
        "compaction/prune" => {
            let wire: CompactionWire<'a> = serde_json::from_str(raw)?;
            Body::Prune { shadowed_nodes: wire.shadowed_nodes(), shadowed_tokens: wire.tokens() }
        }
        "session/end-seed" => {
            let wire: EndSeedWire = serde_json::from_str(raw)?;
            Body::EndSeed { inherited: wire.inherited.unwrap_or(false) }
        }
        other => Body::Other {
            kind: other.to_owned(),
            known: other == "session" || is_harness_type(other),
            ignorable: false,
        },
    })
}

/// An error may be logged as a failure object or as plain text.
fn failure_of(raw: &str) -> Failure {
    if let Ok(wire) = serde_json::from_str::<FailureWire>(raw) {
        return wire.into();
    }
    let message = serde_json::from_str::<Text>(raw).map_or_else(|_| raw.to_owned(), |t| t.0);
    Failure { message, code: "UNKNOWN".to_owned(), ..Failure::default() }
}

#[derive(Deserialize)]
struct TurnEndWire<'a> {
    turn: Option<u64>,
    #[serde(borrow)]
    reason: Option<TurnReasonWire<'a>>,
}

#[derive(Deserialize)]
struct TurnReasonWire<'a> {
    kind: Option<Text>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

fn turn_end(raw: &str) -> Decoded<Body<'_>> {
    let wire: TurnEndWire<'_> = serde_json::from_str(raw)?;
    let (kind, error) = wire.reason.map_or((None, None), |r| (r.kind, r.error));
    let kind = match kind.as_ref().map(|k| k.0.as_str()) {
        Some("completed") => TurnEndKind::Completed,
        Some("aborted") => TurnEndKind::Aborted,
        Some("blocked") => TurnEndKind::Blocked,
        Some("error") => TurnEndKind::Error,
        Some("max-tokens") => TurnEndKind::MaxTokens,
        Some("interrupted") => TurnEndKind::Interrupted,
        Some("forked") => TurnEndKind::Forked,
        _ => TurnEndKind::Unknown,
    };
    Ok(Body::TurnEnd { turn: wire.turn.unwrap_or(0), kind, failure: error.map(|e| failure_of(e.get())) })
}

#[derive(Deserialize)]
struct HeaderEventWire<'a> {
    #[serde(borrow)]
    header: &'a RawValue,
}

#[derive(Deserialize)]
struct HeaderWire {
    config: Option<ConfigWire>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfigWire {
    provider: Option<Text>,
    model: Option<Text>,
    max_tokens: Option<f64>,
    reasoning_effort: Option<Text>,
}

fn request_header(raw: &str) -> Decoded<Body<'_>> {
    let event: HeaderEventWire<'_> = serde_json::from_str(raw)?;
    let header: HeaderWire = serde_json::from_str(event.header.get())?;
    let config =
        header.config.unwrap_or(ConfigWire { provider: None, model: None, max_tokens: None, reasoning_effort: None });
    Ok(Body::RequestHeader(Box::new(RequestHeader {
        provider: config.provider.unwrap_or_default().0,
        model: config.model.unwrap_or_default().0,
        max_tokens: config.max_tokens.filter(|v| *v >= 0.0).map(|v| v as u64),
        reasoning_effort: config.reasoning_effort.map(|t| t.0),
        raw: event.header.get(),
    })))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContextWire {
    provider: Option<Text>,
    model: Option<Text>,
    context_window: Option<f64>,
}

fn request_context(raw: &str) -> Decoded<Body<'_>> {
    let wire: ContextWire = serde_json::from_str(raw)?;
    Ok(Body::RequestContext {
        provider: wire.provider.map(|t| t.0),
        model: wire.model.map(|t| t.0),
        window: wire.context_window.filter(|w| *w >= 1.0).map(|w| w as u64),
    })
}

/// What is read of an assistant message beside its content.
#[derive(Default)]
struct MessageWire<'a> {
    turn: Option<u64>,
    step: Option<u64>,
    usage: Option<Usage>,
    interrupted: bool,
    stream: Option<&'a str>,
}

impl<'a> MessageWire<'a> {
    fn of(beside: Beside<'a>, kind: MessageKind) -> Decoded<Self> {
        if kind != MessageKind::Assistant {
            return Ok(Self::default());
        }
        let usage = match beside.usage {
            None => None,
            Some(raw) => match usage_of(raw) {
                Some(usage) => Some(usage),
                None => serde_json::from_str::<Option<UsageWire>>(raw)?.map(Usage::from),
            },
        };
        Ok(Self {
            turn: beside.turn.map(optional_number).transpose()?.flatten(),
            step: beside.step.map(optional_number).transpose()?.flatten(),
            usage: usage.filter(|u| u.is_report()),
            interrupted: match beside.interrupted {
                None | Some("false" | "null") => false,
                Some(raw) => serde_json::from_str(raw)?,
            },
            stream: beside.stream,
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpWire {
    op: Option<Text>,
    start: Option<u64>,
    end: Option<u64>,
    start_seq: Option<u64>,
    end_seq: Option<u64>,
}

fn message<'a>(
    kind: MessageKind,
    raw: &'a str,
    op: Option<&str>,
    wire: MessageWire<'a>,
    logged: Option<LoggedMessage<'a>>,
) -> Decoded<Body<'a>> {
    let op = match op {
        None | Some("null") => None,
        Some("\"append\"") => Some(SurfaceOp::Append),
        Some(other) => {
            let wire: OpWire = serde_json::from_str(other)?;
            match (wire.op.as_ref().map(|o| o.0.as_str()), wire.start.or(wire.start_seq), wire.end.or(wire.end_seq)) {
                (Some("append"), ..) => Some(SurfaceOp::Append),
                (Some("replace"), Some(start), Some(end)) => Some(SurfaceOp::Replace { start, end }),
                _ => None,
            }
        }
    };
    let stream = wire.stream.map(embedded_summary).transpose()?;
    Ok(Body::Message(Box::new(Message {
        kind,
        op,
        raw,
        logged,
        turn: wire.turn,
        step: wire.step,
        usage: wire.usage,
        stream,
        interrupted: wire.interrupted,
    })))
}

#[derive(Deserialize)]
struct StreamWire<'a> {
    turn: Option<u64>,
    step: Option<u64>,
    #[serde(borrow)]
    stream: Option<&'a RawValue>,
}

/// Some fields of an object; the others are passed over. Keys come with their quotes.
fn fields<'a, const N: usize>(raw: &'a str, keys: [&str; N], depth: usize) -> Decoded<[Option<Value<'a>>; N]> {
    let mut found = [None; N];
    let mut walk = Walk::new(raw, depth);
    let walked = walk.object(|key, walk| {
        let value = walk.value()?;
        if let Some(index) = keys.iter().position(|wanted| *wanted == key) {
            found[index] = Some(value);
        }
        Some(())
    });
    let whole = walked.is_some() && walk.is_at_end();
    whole.then_some(found).ok_or_else(|| serde::de::Error::custom("not an object"))
}

fn optional_number(value: Value<'_>) -> Decoded<Option<u64>> {
    match value.unsigned() {
        Some(number) => Ok(Some(number)),
        None => serde_json::from_str(value.raw()),
    }
}

fn number(value: Option<Value<'_>>) -> Decoded<u64> {
    Ok(value.map(optional_number).transpose()?.flatten().unwrap_or(0))
}

fn chunk(raw: &str, time: Option<i64>, depth: usize) -> Decoded<Body<'_>> {
    let [turn, step, chunk] = fields(raw, ["\"turn\"", "\"step\"", "\"chunk\""], depth)?;
    let stream = chunk_summary(chunk.map_or("null", Value::raw), time)?;
    Ok(Body::Deltas { turn: number(turn)?, step: number(step)?, stream })
}

fn tool_call(raw: &str, depth: usize) -> Decoded<Body<'_>> {
    let [turn, step, name] = fields(raw, ["\"turn\"", "\"step\"", "\"name\""], depth)?;
    let name = match name {
        Some(Value::Text(name)) => name.decode(),
        Some(Value::Other(raw)) => serde_json::from_str::<Option<Text>>(raw)?.unwrap_or_default().0,
        None => String::new(),
    };
    Ok(Body::ToolCall { turn: number(turn)?, step: number(step)?, name })
}

#[derive(Deserialize)]
struct PackedWire {
    turn: Option<u64>,
    step: Option<u64>,
    dt: Vec<f64>,
}

fn packed_row(raw: &str, time0: Option<i64>) -> Decoded<Body<'_>> {
    let wire: PackedWire = serde_json::from_str(raw)?;
    let stream = delta_run(time0, wire.dt.iter().map(|d| *d as i64));
    Ok(Body::Deltas { turn: wire.turn.unwrap_or(0), step: wire.step.unwrap_or(0), stream })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RetryWire {
    retry_id: Option<Text>,
    turn: Option<u64>,
    step: Option<u64>,
    provider: Option<Text>,
    mode: Option<Text>,
    policy_key: Option<Text>,
    retry: Option<f64>,
    max_retries: Option<f64>,
    delay_ms: Option<f64>,
    failure: Option<FailureWire>,
}

fn retry(raw: &str) -> Decoded<Body<'_>> {
    let wire: RetryWire = serde_json::from_str(raw)?;
    Ok(Body::Retry(Box::new(Retry {
        retry_id: wire.retry_id.unwrap_or_default().0,
        turn: wire.turn.unwrap_or(0),
        step: wire.step.unwrap_or(0),
        provider: wire.provider.map(|t| t.0),
        mode: wire.mode.map(|t| t.0),
        policy_key: wire.policy_key.map(|t| t.0),
        retry: wire.retry.map_or(0, |r| r as u64),
        max_retries: wire.max_retries.map(|r| r as u64),
        delay_ms: wire.delay_ms.unwrap_or(0.0),
        failure: wire.failure.map(Failure::from).unwrap_or_default(),
    })))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CompactionWire<'a> {
    compaction_id: Option<Text>,
    turn: Option<u64>,
    source_command_id: Option<Text>,
    shadowed_seqs: Option<Vec<serde_json::Value>>,
    shadowed_token_count: Option<f64>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl CompactionWire<'_> {
    fn id(&self) -> String {
        self.compaction_id.clone().unwrap_or_default().0
    }

    /// Counts the nodes a summary took away; later formats write ranges as `[start, end]` among the numbers.
    fn shadowed_nodes(&self) -> u64 {
        let range = |entry: &serde_json::Value| match entry.as_array().map(Vec::as_slice) {
            Some([start, end]) => {
                end.as_u64().zip(start.as_u64()).map_or(1, |(end, start)| end.saturating_sub(start) + 1)
            }
            _ => 1,
        };
        self.shadowed_seqs.iter().flatten().map(range).sum()
    }

    fn tokens(&self) -> Option<u64> {
        self.shadowed_token_count.filter(|t| *t >= 0.0).map(|t| t as u64)
    }
}

#[derive(Deserialize)]
struct EndSeedWire {
    inherited: Option<bool>,
}
