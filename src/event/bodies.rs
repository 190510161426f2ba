//! The `data` of each event type, read into the common model.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::content::Beside;
use super::message_body::{MessageWire, message, message_kind};
use super::stream::{FailureWire, UsageWire, chunk_summary, delta_run, embedded_summary};
use super::text::Text;
use super::types::is_harness_type;
use super::walk::{Value, Walk};
use super::{Body, Failure, LoggedMessage, RequestHeader, Retry, TurnEndKind, Usage};

pub(super) type Decoded<T> = Result<T, serde_json::Error>;

/// Reads the data of an event. The data is JSON; `op` is its raw `surfaceOp`.
pub(super) fn decode_body<'a>(kind: &str, raw: &'a str, op: Option<&'a str>, time: Option<i64>) -> Decoded<Body<'a>> {
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
        "request/header" => request_header(raw, usize::MAX)?,
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

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct ConfigWire {
    provider: Option<Text>,
    model: Option<Text>,
    max_tokens: Option<f64>,
    reasoning_effort: Option<Text>,
}

pub(super) fn request_header(raw: &str, depth: usize) -> Decoded<Body<'_>> {
    let [header] = fields(raw, ["\"header\""], depth)?;
    let header = header.map(Value::raw).ok_or_else(|| serde::de::Error::missing_field("header"))?;
    let [config, system, tools] = fields(header, ["\"config\"", "\"system\"", "\"tools\""], usize::MAX)?;
    let config = config.map(|value| serde_json::from_str::<Option<ConfigWire>>(value.raw())).transpose()?;
    let config = config.flatten().unwrap_or_default();
    Ok(Body::RequestHeader(Box::new(RequestHeader {
        provider: config.provider.unwrap_or_default().0,
        model: config.model.unwrap_or_default().0,
        max_tokens: config.max_tokens.filter(|v| *v >= 0.0).map(|v| v as u64),
        reasoning_effort: config.reasoning_effort.map(|t| t.0),
        system: system.and_then(Value::text),
        tools: tools.map(Value::raw),
        raw: header,
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

pub(super) fn optional_number(value: Value<'_>) -> Decoded<Option<u64>> {
    match value.unsigned() {
        Some(number) => Ok(Some(number)),
        None => serde_json::from_str(value.raw()),
    }
}

fn number(value: Option<Value<'_>>) -> Decoded<u64> {
    Ok(value.map(optional_number).transpose()?.flatten().unwrap_or(0))
}

pub(super) fn chunk(raw: &str, time: Option<i64>, depth: usize) -> Decoded<Body<'_>> {
    let [turn, step, chunk] = fields(raw, ["\"turn\"", "\"step\"", "\"chunk\""], depth)?;
    let stream = chunk_summary(chunk.map_or("null", Value::raw), time)?;
    Ok(Body::Deltas { turn: number(turn)?, step: number(step)?, stream })
}

pub(super) fn tool_call(raw: &str, depth: usize) -> Decoded<Body<'_>> {
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
