//! One summary for every shape in which a model stream is logged: single chunks, packed rows, embedded streams.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::text::Text;
use super::{Failure, Usage};

/// Why a stream ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Finish {
    /// The kind logged.
    pub kind: FinishKind,
    /// The failure of an `error` finish.
    pub failure: Option<Failure>,
}

/// `finish.reason.kind`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishKind {
    /// The model stopped.
    Stop,
    /// The model asks for tools.
    ToolCalls,
    /// Output limit reached.
    MaxTokens,
    /// The caller cancelled.
    Aborted,
    /// The attempt failed.
    Error,
    /// Not one of the documented kinds; counted as a success, as the harness goes on.
    Unknown,
}

/// What a run of stream chunks came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StreamSummary {
    /// Chunks in the run.
    pub chunks: u64,
    /// Epoch milliseconds of the first and the last chunk.
    pub first_time: Option<i64>,
    /// See `first_time`.
    pub last_time: Option<i64>,
    /// Longest silence between two chunks of the run, milliseconds.
    pub longest_gap_ms: i64,
    /// Last usage reported in it.
    pub usage: Option<Usage>,
    /// Its finish.
    pub finish: Option<Box<Finish>>,
    /// Chunks that go back in time.
    pub time_back: u64,
}

impl StreamSummary {
    /// A run of one chunk without content of interest.
    pub(super) fn single(time: Option<i64>) -> Self {
        Self { chunks: 1, first_time: time, last_time: time, ..Self::default() }
    }

    /// Appends a later run.
    pub fn extend(&mut self, later: Self) {
        if let (Some(last), Some(next)) = (self.last_time, later.first_time) {
            self.longest_gap_ms = self.longest_gap_ms.max(next.saturating_sub(last));
            self.time_back += u64::from(next < last);
        }
        self.longest_gap_ms = self.longest_gap_ms.max(later.longest_gap_ms);
        self.time_back += later.time_back;
        self.chunks += later.chunks;
        self.first_time = self.first_time.or(later.first_time);
        self.last_time = later.last_time.or(self.last_time);
        self.usage = later.usage.or(self.usage);
        self.finish = later.finish.or(self.finish.take());
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FailureWire {
    message: Option<Text>,
    code: Option<Text>,
    status: Option<f64>,
    provider_retry_after_ms: Option<f64>,
    request_id: Option<Text>,
}

impl From<FailureWire> for Failure {
    fn from(wire: FailureWire) -> Self {
        Self {
            message: wire.message.unwrap_or_default().0,
            code: wire.code.map_or_else(|| "UNKNOWN".to_owned(), |c| c.0),
            status: wire.status.filter(|s| (0.0..=999.0).contains(s)).map(|s| s as u16),
            retry_after_ms: wire.provider_retry_after_ms,
            request_id: wire.request_id.map(|r| r.0),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UsageWire {
    input_tokens: Option<f64>,
    output_tokens: Option<f64>,
    cache_read_tokens: Option<f64>,
    cache_write_tokens: Option<f64>,
}

impl From<UsageWire> for Usage {
    fn from(wire: UsageWire) -> Self {
        let count = |value: Option<f64>| value.filter(|v| v.is_finite() && *v > 0.0).map_or(0, |v| v as u64);
        Self {
            input: count(wire.input_tokens),
            output: count(wire.output_tokens),
            cache_read: count(wire.cache_read_tokens),
            cache_write: count(wire.cache_write_tokens),
        }
    }
}

#[derive(Deserialize)]
struct ReasonWire {
    kind: Option<Text>,
    failure: Option<FailureWire>,
}

#[derive(Deserialize)]
struct ChunkWire {
    r#type: Text,
    usage: Option<UsageWire>,
    reason: Option<ReasonWire>,
}

/// Summarises one chunk object.
pub(super) fn chunk_summary(raw: &str, time: Option<i64>) -> Result<StreamSummary, serde_json::Error> {
    let chunk: ChunkWire = serde_json::from_str(raw)?;
    let mut summary = StreamSummary::single(time);
    match chunk.r#type.0.as_str() {
        "usage" => summary.usage = chunk.usage.map(Usage::from).filter(|u| u.is_report()),
        "finish" => {
            let reason = chunk.reason.unwrap_or(ReasonWire { kind: None, failure: None });
            let kind = match reason.kind.as_ref().map(|k| k.0.as_str()) {
                Some("stop") => FinishKind::Stop,
                Some("tool-calls") => FinishKind::ToolCalls,
                Some("max-tokens") => FinishKind::MaxTokens,
                Some("aborted") => FinishKind::Aborted,
                Some("error") => FinishKind::Error,
                _ => FinishKind::Unknown,
            };
            summary.finish = Some(Box::new(Finish { kind, failure: reason.failure.map(Failure::from) }));
        }
        _ => {}
    }
    Ok(summary)
}

#[derive(Deserialize)]
struct RecordWire<'a> {
    r#type: Text,
    time: Option<f64>,
    time0: Option<f64>,
    dt: Option<Vec<f64>>,
    #[serde(borrow)]
    chunk: Option<&'a RawValue>,
}

/// Summarises an embedded stream (`data.stream[]`, v2 and later).
pub(super) fn embedded_summary(raw: &str) -> Result<StreamSummary, serde_json::Error> {
    let records: Vec<&RawValue> = serde_json::from_str(raw)?;
    let mut summary = StreamSummary::default();
    for record in records {
        let record: RecordWire<'_> = serde_json::from_str(record.get())?;
        if let Some(chunk) = record.chunk {
            summary.extend(chunk_summary(chunk.get(), record.time.map(|t| t as i64))?);
        } else if record.r#type.0.ends_with("-chunks") {
            summary.extend(delta_run(
                record.time0.map(|t| t as i64),
                record.dt.unwrap_or_default().into_iter().map(|d| d as i64),
            ));
        }
    }
    Ok(summary)
}

/// Summarises a run of deltas from its first time and the gaps between its members, milliseconds.
pub(super) fn delta_run(time0: Option<i64>, gaps: impl Iterator<Item = i64>) -> StreamSummary {
    let mut summary = StreamSummary::single(time0);
    let mut elapsed = 0i64;
    for gap in gaps {
        elapsed = elapsed.saturating_add(gap);
        summary.chunks += 1;
        summary.longest_gap_ms = summary.longest_gap_ms.max(gap);
        summary.time_back += u64::from(gap < 0);
    }
    summary.last_time = time0.map(|t| t.saturating_add(elapsed));
    summary
}
