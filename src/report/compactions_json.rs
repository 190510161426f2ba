//! `compactions --format json` and `ndjson` (`docs/json.md`). Frozen: fields may be added, none renamed or dropped.

use serde::Serialize;

use super::compactions::Report;
use super::correlation::{WindowV1, clock_name, lag_span, paragraph};
use super::lang::Language;
use crate::correlate::{CompactionList, Lag, Listed, Run};
use crate::pipeline::Dataset;
use crate::redact::redact;

/// The whole report.
#[derive(Debug, Serialize)]
pub struct CompactionsV1 {
    schema: &'static str,
    tool_version: &'static str,
    partial: bool,
    compactions: Vec<CompactionV1>,
    prunes: u64,
    runs: Vec<RunV1>,
    event_study: Vec<LagV1>,
    windows: Vec<WindowV1>,
    any_failure: Vec<WindowV1>,
    by_trigger: Vec<TriggerV1>,
    verdict: &'static str,
    adjusted_p_value: Option<f64>,
    text: String,
}

#[derive(Debug, Serialize)]
struct CompactionV1 {
    session_id: String,
    compaction_id: String,
    trigger: &'static str,
    outcome: &'static str,
    error: Option<ErrorV1>,
    start_seq: u64,
    end_seq: Option<u64>,
    time_ms: Option<i64>,
    duration_ms: Option<i64>,
    turn: Option<u64>,
    shadowed_nodes: Option<u64>,
    shadowed_tokens: Option<u64>,
    tokens_before: Option<u64>,
    tokens_after: Option<u64>,
    caused_by_failure_seq: Option<u64>,
    next_failure: Option<NextFailureV1>,
}

#[derive(Debug, Serialize)]
struct ErrorV1 {
    code: String,
    message: String,
}

#[derive(Debug, Serialize)]
struct NextFailureV1 {
    seq: u64,
    events: u64,
    attempts: u64,
    ms: Option<i64>,
}

#[derive(Debug, Serialize)]
struct RunV1 {
    kind: &'static str,
    session_id: String,
    compactions: u64,
    first_seq: u64,
    last_seq: u64,
    code: Option<String>,
}

#[derive(Debug, Serialize)]
struct LagV1 {
    clock: &'static str,
    lag: i64,
    from: f64,
    to: f64,
    attempts: u64,
    failures: u64,
    rate: Option<f64>,
    lo: Option<f64>,
    hi: Option<f64>,
}

#[derive(Debug, Serialize)]
struct TriggerV1 {
    trigger: &'static str,
    #[serde(flatten)]
    window: WindowV1,
}

impl CompactionsV1 {
    /// Fills the contract.
    pub fn new(dataset: &Dataset, report: &Report<'_>) -> Self {
        let (study, summary) = (report.study, report.summary);
        let counted = study.answer.window.and_then(|index| summary.windows.get(index));
        let text = study.answer.text(&study.windows, counted.map_or((0, 0), |w| (w.inside, w.total)));
        // What these count as failures is not what the windows of failed steps count.
        let begun = |s: &crate::correlate::WindowStudy| crate::summary::WindowCounts {
            window: s.window,
            inside: s.inside.failures,
            total: s.inside.failures + s.outside.failures,
        };
        Self {
            schema: "dsh-forensics/compactions/v1",
            tool_version: env!("CARGO_PKG_VERSION"),
            partial: dataset.is_partial(),
            compactions: report.list.listed.iter().map(CompactionV1::from).collect(),
            prunes: summary.prunes,
            runs: report.list.runs.iter().map(RunV1::from).collect(),
            event_study: study.lags.iter().map(LagV1::from).collect(),
            windows: WindowV1::all(&summary.windows, &study.windows),
            any_failure: study.any_failure.iter().map(|s| WindowV1::new(&begun(s), Some(s))).collect(),
            by_trigger: study
                .by_trigger
                .iter()
                .map(|(trigger, s)| TriggerV1 { trigger, window: WindowV1::new(&begun(s), Some(s)) })
                .collect(),
            verdict: study.answer.verdict.name(),
            adjusted_p_value: study.answer.adjusted_p,
            text: paragraph(Language::English, &text),
        }
    }
}

impl From<&Listed<'_>> for CompactionV1 {
    fn from(listed: &Listed<'_>) -> Self {
        let row = listed.row;
        Self {
            session_id: listed.session.id.clone(),
            compaction_id: row.id.clone(),
            trigger: row.trigger.name(),
            outcome: row.outcome.name(),
            error: row.error.as_ref().map(|error| ErrorV1 {
                code: redact(&error.code).into_owned(),
                message: redact(&error.message).into_owned(),
            }),
            start_seq: row.start_seq,
            end_seq: row.end_seq,
            time_ms: row.start_time,
            duration_ms: row.end_time.zip(row.start_time).map(|(end, start)| end.saturating_sub(start)),
            turn: row.turn,
            shadowed_nodes: row.shadowed_nodes,
            shadowed_tokens: row.shadowed_tokens,
            tokens_before: row.tokens_before,
            tokens_after: row.tokens_after,
            caused_by_failure_seq: row.caused_by_failure_seq,
            next_failure: listed.next_failure.map(|next| NextFailureV1 {
                seq: next.seq,
                events: next.events,
                attempts: next.attempts,
                ms: next.ms,
            }),
        }
    }
}

impl From<&Run> for RunV1 {
    fn from(run: &Run) -> Self {
        Self {
            kind: run.kind.name(),
            session_id: run.session_id.clone(),
            compactions: run.count,
            first_seq: run.seqs.0,
            last_seq: run.seqs.1,
            code: run.code.as_deref().map(|code| redact(code).into_owned()),
        }
    }
}

impl From<&Lag> for LagV1 {
    fn from(lag: &Lag) -> Self {
        let (from, to) = lag_span(lag.clock, lag.lag);
        let interval = lag.rate.interval();
        Self {
            clock: clock_name(lag.clock),
            lag: lag.lag,
            from,
            to,
            attempts: lag.rate.steps,
            failures: lag.rate.failures,
            rate: lag.rate.value(),
            lo: interval.map(|i| i.lower),
            hi: interval.map(|i| i.upper),
        }
    }
}

/// One object per compaction.
///
/// # Errors
/// Never in practice: plain data serializes.
pub fn ndjson(list: &CompactionList<'_>) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Line {
        schema: &'static str,
        #[serde(flatten)]
        compaction: CompactionV1,
    }
    let mut out = String::new();
    for listed in &list.listed {
        let line = Line { schema: "dsh-forensics/compaction/v1", compaction: CompactionV1::from(listed) };
        out.push_str(&serde_json::to_string(&line)?);
        out.push('\n');
    }
    Ok(out)
}
