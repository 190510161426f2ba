//! One row per failed attempt: the NDJSON contract (`docs/json.md`) and CSV. The page is in [`page`].

mod page;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::numbers::grouped;
use crate::context_window::WindowSource;
use crate::evidence::{Fact, Judgement, Verdicts};
use crate::filter::Filters;
use crate::pipeline::Dataset;
use crate::redact::redact;
use crate::report::lang::Language;
use crate::session::{AttemptRow, SessionRows};
use crate::summary::failure_of;

pub use page::page;

/// One failed attempt (`failures --format ndjson`). Frozen: fields may be added, none renamed or dropped.
#[derive(Debug, Serialize)]
pub struct FailureV1 {
    schema: &'static str,
    session_id: String,
    project: Option<String>,
    turn: u64,
    step: u64,
    attempt: u64,
    seq: u64,
    time_ms: Option<i64>,
    provider: String,
    model: String,
    code: String,
    status: Option<u16>,
    retry_after_ms: Option<f64>,
    message: String,
    duration_ms: Option<i64>,
    verdict: Option<&'static str>,
    supported_code: Option<&'static str>,
    confidence: Option<f64>,
    fixable_by: Option<&'static str>,
    evidence: Vec<EvidenceV1>,
    request: RequestV1,
    since_compaction: Option<SinceV1>,
    chain: ChainV1,
    blocked_by_layers: Vec<&'static str>,
}

/// One fact, in English whatever the language of the pages.
#[derive(Debug, Serialize)]
pub(super) struct EvidenceV1 {
    kind: &'static str,
    direction: &'static str,
    text: String,
}

impl EvidenceV1 {
    pub(super) fn of(facts: &[Fact]) -> Vec<Self> {
        let text = |fact: &Fact| Language::English.render(&fact.message);
        facts.iter().map(|f| Self { kind: f.kind, direction: f.direction, text: text(f) }).collect()
    }
}

#[derive(Debug, Serialize, Default)]
struct RequestV1 {
    messages: Option<u64>,
    body_bytes: Option<u64>,
    chars: CharsV1,
    tokens: TokensV1,
    harness_tokens: Option<u64>,
    window_tokens: Option<u64>,
    window_source: Option<&'static str>,
    reserved_output_tokens: Option<u64>,
    fill: Option<f64>,
    fill_with_output: Option<f64>,
}

#[derive(Debug, Serialize, Default)]
struct CharsV1 {
    system: Option<u64>,
    tools: Option<u64>,
    user: Option<u64>,
    assistant: Option<u64>,
    tool: Option<u64>,
}

#[derive(Debug, Serialize, Default)]
struct TokensV1 {
    value: Option<u64>,
    lo: Option<u64>,
    hi: Option<u64>,
    method: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct SinceV1 {
    compaction_id: String,
    trigger: &'static str,
    events: u64,
    attempts: u64,
    ms: Option<i64>,
}

#[derive(Debug, Serialize)]
struct ChainV1 {
    retries_before: u64,
    retry_scheduled: bool,
    delay_ms: Option<f64>,
    fate: Option<&'static str>,
}

impl RequestV1 {
    fn of(attempt: &AttemptRow) -> Self {
        let Some(size) = attempt.request.as_deref() else {
            return Self {
                window_tokens: attempt.window,
                window_source: attempt.window_source.map(WindowSource::name),
                ..Self::default()
            };
        };
        let tokens = size.tokens;
        let share =
            |output: Option<u64>| Some((tokens?.value + output?) as f64 / attempt.window.filter(|w| *w > 0)? as f64);
        Self {
            messages: Some(size.messages),
            body_bytes: size.body_bytes,
            chars: CharsV1 {
                system: Some(size.chars.system),
                tools: Some(size.chars.tools),
                user: Some(size.chars.user),
                assistant: Some(size.chars.assistant),
                tool: Some(size.chars.tool),
            },
            tokens: TokensV1 {
                value: tokens.map(|t| t.value),
                lo: tokens.map(|t| t.low),
                hi: tokens.map(|t| t.high),
                method: tokens.map(|t| t.method.name()),
            },
            harness_tokens: Some(size.harness_tokens),
            window_tokens: attempt.window,
            window_source: attempt.window_source.map(WindowSource::name),
            reserved_output_tokens: size.reserved_output,
            fill: share(Some(0)),
            fill_with_output: share(size.reserved_output),
        }
    }
}

impl RequestV1 {
    /// `4,871 ±12`, with nothing behind it where the size is reported.
    fn size_text(&self) -> String {
        let Some(value) = self.tokens.value else { return "–".to_owned() };
        let half = self.tokens.hi.zip(self.tokens.lo).map_or(0, |(hi, lo)| hi.saturating_sub(lo).div_ceil(2));
        if half == 0 { grouped(value) } else { format!("{} ±{}", grouped(value), grouped(half)) }
    }
}

/// All failed attempts within the filters, by time, then session and place.
pub fn rows(dataset: &Dataset, filters: &Filters, verdicts: &Verdicts) -> Vec<FailureV1> {
    let in_session = |(index, session): (usize, &SessionRows)| -> Vec<FailureV1> {
        let judged = |(i, attempt)| row(session, attempt, filters, verdicts.get(index, i));
        session.attempts.iter().enumerate().filter_map(judged).collect()
    };
    let mut rows: Vec<FailureV1> = dataset.sessions.iter().enumerate().flat_map(in_session).collect();
    rows.sort_by(|a, b| (a.time_ms, &a.session_id, a.seq).cmp(&(b.time_ms, &b.session_id, b.seq)));
    rows
}

pub(super) fn row(
    session: &SessionRows,
    attempt: &AttemptRow,
    filters: &Filters,
    judgement: Option<&Judgement>,
) -> Option<FailureV1> {
    let failure = failure_of(attempt, filters)?;
    let retry = attempt.retry.map(|i| &session.retries[i]);
    Some(FailureV1 {
        schema: "dsh-forensics/failure/v1",
        session_id: session.id.clone(),
        project: session.project.as_deref().map(|name| redact(name).into_owned()),
        turn: attempt.turn,
        step: attempt.step,
        attempt: attempt.attempt,
        seq: attempt.seq,
        time_ms: attempt.time,
        provider: attempt.route.provider.clone(),
        model: attempt.route.model.clone(),
        code: failure.code.clone(),
        status: failure.status,
        retry_after_ms: failure.retry_after_ms,
        message: redact(&failure.message).into_owned(),
        duration_ms: attempt.duration_ms(),
        verdict: judgement.map(|j| j.verdict.name()),
        supported_code: judgement.map(|j| j.supported_code.as_str()),
        confidence: judgement.map(|j| j.confidence),
        fixable_by: judgement.map(|j| j.fixable_by.as_str()),
        evidence: judgement.map(|j| EvidenceV1::of(&j.facts)).unwrap_or_default(),
        request: RequestV1::of(attempt),
        since_compaction: attempt.since_compaction.map(|s| {
            let compaction = &session.compactions[s.compaction];
            SinceV1 {
                compaction_id: compaction.id.clone(),
                trigger: compaction.trigger.name(),
                events: s.events,
                attempts: s.attempts,
                ms: s.ms,
            }
        }),
        chain: ChainV1 {
            retries_before: attempt.retries_before,
            retry_scheduled: retry.is_some(),
            delay_ms: retry.map(|r| r.retry.delay_ms),
            fate: attempt.fate.map(|f| f.name()),
        },
        blocked_by_layers: judgement.map(|j| j.layers.clone()).unwrap_or_default(),
    })
}

/// NDJSON: one object per line.
///
/// # Errors
/// When a row cannot be serialised.
pub fn ndjson(rows: &[FailureV1]) -> anyhow::Result<String> {
    let mut out = String::new();
    for row in rows {
        out.push_str(&serde_json::to_string(row)?);
        out.push('\n');
    }
    Ok(out)
}

/// CSV (RFC 4180): the flat columns; times in epoch milliseconds.
///
/// # Errors
/// When writing to memory fails.
pub fn csv(rows: &[FailureV1]) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "session_id",
        "project",
        "turn",
        "step",
        "attempt",
        "seq",
        "time_ms",
        "provider",
        "model",
        "code",
        "status",
        "retry_after_ms",
        "message",
        "duration_ms",
        "request_messages",
        "request_body_bytes",
        "request_tokens",
        "request_tokens_lo",
        "request_tokens_hi",
        "request_tokens_method",
        "window_tokens",
        "window_source",
        "reserved_output_tokens",
        "fill",
        "fill_with_output",
        "since_compaction_trigger",
        "since_compaction_events",
        "since_compaction_attempts",
        "since_compaction_ms",
        "retries_before",
        "retry_scheduled",
        "delay_ms",
        "fate",
    ])?;
    let text = |value: Option<String>| value.unwrap_or_default();
    for r in rows {
        let since = r.since_compaction.as_ref();
        writer.write_record([
            r.session_id.clone(),
            text(r.project.clone()),
            r.turn.to_string(),
            r.step.to_string(),
            r.attempt.to_string(),
            r.seq.to_string(),
            text(r.time_ms.map(|v| v.to_string())),
            r.provider.clone(),
            r.model.clone(),
            r.code.clone(),
            text(r.status.map(|v| v.to_string())),
            text(r.retry_after_ms.map(|v| v.to_string())),
            r.message.clone(),
            text(r.duration_ms.map(|v| v.to_string())),
            text(r.request.messages.map(|v| v.to_string())),
            text(r.request.body_bytes.map(|v| v.to_string())),
            text(r.request.tokens.value.map(|v| v.to_string())),
            text(r.request.tokens.lo.map(|v| v.to_string())),
            text(r.request.tokens.hi.map(|v| v.to_string())),
            text(r.request.tokens.method.map(str::to_owned)),
            text(r.request.window_tokens.map(|v| v.to_string())),
            text(r.request.window_source.map(str::to_owned)),
            text(r.request.reserved_output_tokens.map(|v| v.to_string())),
            text(r.request.fill.map(|v| format!("{v:.4}"))),
            text(r.request.fill_with_output.map(|v| format!("{v:.4}"))),
            text(since.map(|s| s.trigger.to_owned())),
            text(since.map(|s| s.events.to_string())),
            text(since.map(|s| s.attempts.to_string())),
            text(since.and_then(|s| s.ms).map(|v| v.to_string())),
            r.chain.retries_before.to_string(),
            r.chain.retry_scheduled.to_string(),
            text(r.chain.delay_ms.map(|v| v.to_string())),
            text(r.chain.fate.map(str::to_owned)),
        ])?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// As much of the beginning as fills `width` columns, with an ellipsis where something is cut.
pub fn shorten(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let fits = |c: &char| {
        let columns = c.width().unwrap_or(0);
        let fits = columns <= left;
        left = left.saturating_sub(columns);
        fits
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// Session ids in at most `width` columns: their beginning, or beginning and end where two ids begin alike. Both forms can
/// be given to `explain` as they stand.
pub fn short_ids<'a>(ids: impl Iterator<Item = &'a str>, width: usize) -> BTreeMap<&'a str, String> {
    let ids: BTreeSet<&str> = ids.collect();
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    ids.iter().for_each(|id| *alike.entry(shorten(id, width)).or_default() += 1);
    let middle = |id: &str| {
        let count = id.chars().count();
        let tail: String = id.chars().skip(count.saturating_sub(width / 2)).collect();
        format!("{}{tail}", shorten(id, width.saturating_sub(tail.width())))
    };
    let mut again: BTreeMap<String, usize> = BTreeMap::new();
    ids.iter().for_each(|id| *again.entry(middle(id)).or_default() += 1);
    let short = |id: &str| match (shorten(id, width), middle(id)) {
        (start, _) if alike.get(&start) == Some(&1) => start,
        (_, both) if again.get(&both) == Some(&1) => both,
        _ => id.to_owned(),
    };
    ids.iter().map(|id| (*id, short(id))).collect()
}

#[cfg(test)]
mod tests {
    use super::short_ids;

    #[test]
    fn ids_that_begin_alike_are_told_apart_by_their_ends() {
        let ids = ["7431dfda-f8b0-55ee", "nightly-run-of-0001", "nightly-run-of-0002", "k3"];
        let short = short_ids(ids.into_iter(), 12);
        assert_eq!(short["7431dfda-f8b0-55ee"], "7431dfda-f8…");
        assert_eq!(short["nightly-run-of-0001"], "night…f-0001");
        assert_eq!(short["nightly-run-of-0002"], "night…f-0002");
        assert_eq!(short["k3"], "k3");
    }
}
