//! When the attempts of one chain happen: a table before any failure.

use super::model::{RetryMode, RetryPolicy};
use super::semantics::{DelaySource, delay_range, nominal_delay, usable_retry_after};
use crate::message;
use crate::message::Message;
use crate::report::lang::Language;

/// Shortest, typical and longest wait, in milliseconds. Typical is the median: the delay at `u` = 0.5.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Span {
    /// All jitter low.
    pub min_ms: f64,
    /// The median.
    pub typical_ms: f64,
    /// All jitter high.
    pub max_ms: f64,
}

impl Span {
    fn plus(self, other: Self) -> Self {
        Self {
            min_ms: self.min_ms + other.min_ms,
            typical_ms: self.typical_ms + other.typical_ms,
            max_ms: self.max_ms + other.max_ms,
        }
    }
}

/// One attempt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScheduleRow {
    /// Number of the attempt, from 1; attempt 1 is no retry.
    pub attempt: u64,
    /// Wait before it.
    pub delay: Span,
    /// All waits up to it; the attempts' own durations come on top.
    pub cumulative: Span,
    /// Where the wait comes from; `None` for attempt 1.
    pub source: Option<DelaySource>,
}

/// How the table ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleEnd {
    /// The policy gives up after the last row.
    BudgetSpent,
    /// The policy gives up at the first failure: Retry-After is above `maxDelayMs`.
    RetryAfterTooLong,
    /// Mode `always`: the table is cut, the retries go on.
    Endless,
    /// The table is cut at the rows asked for, the budget is not spent.
    Cut,
}

/// The attempts of one chain that never succeeds.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// In order, attempt 1 first.
    pub rows: Vec<ScheduleRow>,
    /// See [`ScheduleEnd`].
    pub end: ScheduleEnd,
}

/// The table of a policy, at most `max_rows` attempts long, for failures of a retryable code.
///
/// With `retry_after_ms`, every failure carries this Retry-After (milliseconds).
#[must_use]
pub fn schedule(policy: &RetryPolicy, max_rows: usize, retry_after_ms: Option<f64>) -> Schedule {
    let first = ScheduleRow { attempt: 1, delay: Span::default(), cumulative: Span::default(), source: None };
    let mut rows = vec![first];
    let normal = policy.mode == RetryMode::Normal;
    let asked = usable_retry_after(retry_after_ms);
    if normal && policy.max_retries > 0 && asked.is_some_and(|wait| wait > policy.backoff.max_delay_ms) {
        return Schedule { rows, end: ScheduleEnd::RetryAfterTooLong };
    }
    let accepted = asked.filter(|wait| *wait <= policy.backoff.max_delay_ms);
    let mut cumulative = Span::default();
    let mut retry = 0;
    while !(normal && retry >= policy.max_retries) {
        if rows.len() >= max_rows.max(1) {
            return Schedule { rows, end: if normal { ScheduleEnd::Cut } else { ScheduleEnd::Endless } };
        }
        retry += 1;
        let (delay, source) = match accepted {
            Some(wait) => (Span { min_ms: wait, typical_ms: wait, max_ms: wait }, DelaySource::RetryAfter),
            None => (local_span(policy, retry), DelaySource::Backoff),
        };
        cumulative = cumulative.plus(delay);
        rows.push(ScheduleRow { attempt: retry + 1, delay, cumulative, source: Some(source) });
    }
    Schedule { rows, end: ScheduleEnd::BudgetSpent }
}

fn local_span(policy: &RetryPolicy, retry: u64) -> Span {
    let (min_ms, max_ms) = delay_range(policy, retry);
    Span { min_ms, typical_ms: nominal_delay(&policy.backoff, retry), max_ms }
}

/// All waits of a chain that never succeeds; `None` in mode `always`.
///
/// Computed without a table, so that `maxRetries` of any size is answered at once.
#[must_use]
pub fn total_wait(policy: &RetryPolicy) -> Option<Span> {
    if policy.mode == RetryMode::Always {
        return None;
    }
    let mut total = Span::default();
    let mut retry = 0;
    while retry < policy.max_retries {
        retry += 1;
        let delay = local_span(policy, retry);
        total = total.plus(delay);
        if delay.typical_ms >= policy.backoff.max_delay_ms {
            // Every further delay equals this one.
            let rest = (policy.max_retries - retry) as f64;
            return Some(total.plus(Span {
                min_ms: delay.min_ms * rest,
                typical_ms: delay.typical_ms * rest,
                max_ms: delay.max_ms * rest,
            }));
        }
    }
    Some(total)
}

/// A duration for a reader: `450 ms`, `15.5 s`, `12 min`, `3.5 h`.
#[must_use]
pub fn duration(ms: f64) -> Message {
    let hundredths = |value: f64| (value * 100.0).round() / 100.0;
    match ms {
        ms if ms < 999.5 => message!("common.milliseconds", n = ms.round()),
        ms if ms < 119_950.0 => message!("common.seconds", n = hundredths(ms / 1e3)),
        ms if ms < 7_170_000.0 => message!("common.minutes", n = hundredths(ms / 6e4)),
        ms => message!("common.hours", n = hundredths(ms / 3.6e6)),
    }
}

/// [`duration`] in English, for JSON.
#[must_use]
pub fn duration_words(ms: f64) -> String {
    Language::English.render(&duration(ms))
}
