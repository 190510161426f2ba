//! Schemas and builders of the tables.

use polars::prelude::{DataFrame, PolarsResult};

use super::columns::{column, frame};
use super::within::Within;
use crate::filter::Filters;
use crate::session::{AttemptRow, CompactionRow, PruneRow, RetryRow, SessionRows, StepRow, TokenEstimate, TurnRow};

/// Names of the tables, in the order of `docs/tables.md`.
pub const TABLES: [&str; 7] = ["sessions", "turns", "steps", "attempts", "retries", "compactions", "prunes"];

/// All tables of a dataset. Times are epoch milliseconds; unknown is null, never 0.
#[derive(Debug)]
pub struct Tables {
    /// One row per session.
    pub sessions: DataFrame,
    /// One row per turn.
    pub turns: DataFrame,
    /// One row per step.
    pub steps: DataFrame,
    /// One row per attempt.
    pub attempts: DataFrame,
    /// One row per scheduled retry.
    pub retries: DataFrame,
    /// One row per compaction.
    pub compactions: DataFrame,
    /// One row per pruned tool result.
    pub prunes: DataFrame,
}

impl Tables {
    /// Builds all tables of all rows, each on a worker of its own.
    ///
    /// # Errors
    /// When polars refuses a column (columns of unequal length: a bug).
    pub fn build(sessions: &[SessionRows]) -> PolarsResult<Self> {
        Self::build_within(sessions, &Filters::default())
    }

    /// Builds all tables of the rows within the filters, by the rules that `scan` counts by. `--code` leaves out rows
    /// with another error code.
    ///
    /// # Errors
    /// As [`Tables::build`].
    pub fn build_within(sessions: &[SessionRows], filters: &Filters) -> PolarsResult<Self> {
        let within = Within::new(filters);
        let ((s, t), ((st, a), (r, (c, p)))) = rayon::join(
            || rayon::join(|| session_table(sessions), || turn_table(sessions, within)),
            || {
                rayon::join(
                    || rayon::join(|| step_table(sessions, within), || attempt_table(sessions, within)),
                    || {
                        rayon::join(
                            || retry_table(sessions, within),
                            || rayon::join(|| compaction_table(sessions, within), || prune_table(sessions, within)),
                        )
                    },
                )
            },
        );
        Ok(Self { sessions: s?, turns: t?, steps: st?, attempts: a?, retries: r?, compactions: c?, prunes: p? })
    }

    /// A table by its name.
    pub fn get(&self, name: &str) -> Option<&DataFrame> {
        Some(match name {
            "sessions" => &self.sessions,
            "turns" => &self.turns,
            "steps" => &self.steps,
            "attempts" => &self.attempts,
            "retries" => &self.retries,
            "compactions" => &self.compactions,
            "prunes" => &self.prunes,
            _ => return None,
        })
    }
}

/// Rows of all sessions with the session they belong to, as far as they are within the filters.
fn flat<R>(
    sessions: &[SessionRows],
    rows: fn(&SessionRows) -> &[R],
    keep: impl Fn(&SessionRows, &R) -> bool,
) -> Vec<(&SessionRows, &R)> {
    let mut kept = Vec::new();
    for session in sessions {
        kept.extend(rows(session).iter().filter(|row| keep(session, row)).map(|row| (session, row)));
    }
    kept
}

fn session_table(sessions: &[SessionRows]) -> PolarsResult<DataFrame> {
    let r = sessions;
    frame(vec![
        column("session_id", r, |s| s.id.clone()),
        column("project", r, |s| s.project.clone()),
        column("format_version", r, |s| s.format_version),
        column("generation", r, |s| s.generation),
        column("parent_session_id", r, |s| s.parent_session.clone()),
        column("origin", r, |s| s.origin.clone()),
        column("delegation_depth", r, |s| s.delegation_depth),
        column("created_ms", r, |s| s.created_at),
        column("first_time_ms", r, |s| s.first_time),
        column("last_time_ms", r, |s| s.last_time),
        column("events", r, |s| s.events),
        column("inherited_events", r, |s| s.inherited_events),
        column("turns", r, |s| s.turns.len() as u64),
        column("steps", r, |s| s.steps.len() as u64),
        column("attempts", r, |s| s.attempts.len() as u64),
        column("retries", r, |s| s.retries.len() as u64),
        column("compactions", r, |s| s.compactions.len() as u64),
        column("prunes", r, |s| s.prunes.len() as u64),
        column("largest_success_tokens", r, |s| s.largest_success_tokens),
    ])
}

fn turn_table(sessions: &[SessionRows], within: Within<'_>) -> PolarsResult<DataFrame> {
    let rows = flat(sessions, |s| s.turns.as_slice(), |s, row| within.turn(s, row));
    let r: &[(&SessionRows, &TurnRow)] = &rows;
    frame(vec![
        column("session_id", r, |(s, _)| s.id.clone()),
        column("turn", r, |(_, t)| t.turn),
        column("start_time_ms", r, |(_, t)| t.start_time),
        column("end_time_ms", r, |(_, t)| t.end_time),
        column("end", r, |(_, t)| t.end.map(|e| e.name().to_owned())),
        column("code", r, |(_, t)| t.failure.as_ref().map(|f| f.code.clone())),
        column("steps", r, |(_, t)| t.steps),
    ])
}

fn step_table(sessions: &[SessionRows], within: Within<'_>) -> PolarsResult<DataFrame> {
    let rows = flat(sessions, |s| s.steps.as_slice(), |s, row| within.step(s, row));
    let r: &[(&SessionRows, &StepRow)] = &rows;
    frame(vec![
        column("session_id", r, |(s, _)| s.id.clone()),
        column("turn", r, |(_, t)| t.turn),
        column("step", r, |(_, t)| t.step),
        column("start_time_ms", r, |(_, t)| t.start_time),
        column("end_time_ms", r, |(_, t)| t.end_time),
        column("attempts", r, |(_, t)| t.attempts.len() as u64),
        column("failed", r, |(_, t)| t.failed),
        column("code", r, |(s, t)| t.last_code(s).map(str::to_owned)),
        column("fate", r, |(_, t)| t.fate.map(|f| f.name().to_owned())),
    ])
}

/// Best estimate of an attempt's prompt.
fn tokens(attempt: &AttemptRow) -> Option<TokenEstimate> {
    attempt.request.as_ref().and_then(|request| request.tokens)
}

fn attempt_table(sessions: &[SessionRows], within: Within<'_>) -> PolarsResult<DataFrame> {
    let rows = flat(sessions, |s| s.attempts.as_slice(), |s, row| within.attempt(s, row));
    let r: &[(&SessionRows, &AttemptRow)] = &rows;
    frame(vec![
        column("session_id", r, |(s, _)| s.id.clone()),
        column("turn", r, |(_, a)| a.turn),
        column("step", r, |(_, a)| a.step),
        column("attempt", r, |(_, a)| a.attempt),
        column("seq", r, |(_, a)| a.seq),
        column("first_seq", r, |(_, a)| a.first_seq),
        column("ready_time_ms", r, |(_, a)| a.ready_time),
        column("first_time_ms", r, |(_, a)| a.first_time),
        column("time_ms", r, |(_, a)| a.time),
        column("duration_ms", r, |(_, a)| a.duration_ms()),
        column("longest_gap_ms", r, |(_, a)| (a.chunks > 1).then_some(a.longest_gap_ms)),
        column("chunks", r, |(_, a)| a.chunks),
        column("provider", r, |(_, a)| a.route.provider.clone()),
        column("model", r, |(_, a)| a.route.model.clone()),
        column("reasoning_effort", r, |(_, a)| a.reasoning_effort.as_deref().map(str::to_owned)),
        column("outcome", r, |(_, a)| a.outcome.name().to_owned()),
        column("code", r, |(_, a)| a.failure.as_ref().map(|f| f.code.clone())),
        column("status", r, |(_, a)| a.failure.as_ref().and_then(|f| f.status).map(u32::from)),
        column("retry_after_ms", r, |(_, a)| a.failure.as_ref().and_then(|f| f.retry_after_ms)),
        column("window_tokens", r, |(_, a)| a.window),
        column("max_tokens", r, |(_, a)| a.max_tokens),
        column("input_tokens", r, |(_, a)| a.usage.map(|u| u.input)),
        column("cache_read_tokens", r, |(_, a)| a.usage.map(|u| u.cache_read)),
        column("cache_write_tokens", r, |(_, a)| a.usage.map(|u| u.cache_write)),
        column("output_tokens", r, |(_, a)| a.usage.map(|u| u.output)),
        column("messages", r, |(_, a)| a.request.as_ref().map(|q| q.messages)),
        column("body_bytes", r, |(_, a)| a.request.as_ref().and_then(|q| q.body_bytes)),
        column("request_tokens", r, |(_, a)| tokens(a).map(|t| t.value)),
        column("request_tokens_lo", r, |(_, a)| tokens(a).map(|t| t.low)),
        column("request_tokens_hi", r, |(_, a)| tokens(a).map(|t| t.high)),
        column("request_tokens_method", r, |(_, a)| tokens(a).map(|t| t.method.name().to_owned())),
        column("reserved_output_tokens", r, |(_, a)| a.request.as_ref().and_then(|q| q.reserved_output)),
        column("retries_before", r, |(_, a)| a.retries_before),
        column("retry_scheduled", r, |(_, a)| a.retry.is_some()),
        column("fate", r, |(_, a)| a.fate.map(|f| f.name().to_owned())),
        column("last_tool", r, |(_, a)| a.last_tool.as_deref().map(str::to_owned)),
        column("since_compaction_events", r, |(_, a)| a.since_compaction.map(|s| s.events)),
        column("since_compaction_attempts", r, |(_, a)| a.since_compaction.map(|s| s.attempts)),
        column("since_compaction_ms", r, |(_, a)| a.since_compaction.and_then(|s| s.ms)),
    ])
}

fn retry_table(sessions: &[SessionRows], within: Within<'_>) -> PolarsResult<DataFrame> {
    let rows = flat(sessions, |s| s.retries.as_slice(), |s, row| within.retry(s, row));
    let r: &[(&SessionRows, &RetryRow)] = &rows;
    let next = |s: &SessionRows, row: &RetryRow| row.next_attempt.map(|i| s.attempts[i].outcome.name().to_owned());
    frame(vec![
        column("session_id", r, |(s, _)| s.id.clone()),
        column("turn", r, |(_, t)| t.retry.turn),
        column("step", r, |(_, t)| t.retry.step),
        column("seq", r, |(_, t)| t.seq),
        column("time_ms", r, |(_, t)| t.time),
        column("provider", r, |(_, t)| t.retry.provider.clone()),
        column("mode", r, |(_, t)| t.retry.mode.clone()),
        column("policy_key", r, |(_, t)| t.retry.policy_key.clone()),
        column("retry", r, |(_, t)| t.retry.retry),
        column("max_retries", r, |(_, t)| t.retry.max_retries),
        column("delay_ms", r, |(_, t)| t.retry.delay_ms),
        column("code", r, |(_, t)| t.retry.failure.code.clone()),
        column("started", r, |(_, t)| t.started),
        column("started_time_ms", r, |(_, t)| t.started_time),
        column("next_outcome", r, |(s, t)| next(s, t)),
    ])
}

fn compaction_table(sessions: &[SessionRows], within: Within<'_>) -> PolarsResult<DataFrame> {
    let rows = flat(sessions, |s| s.compactions.as_slice(), |s, row| within.compaction(s, row));
    let r: &[(&SessionRows, &CompactionRow)] = &rows;
    frame(vec![
        column("session_id", r, |(s, _)| s.id.clone()),
        column("compaction_id", r, |(_, c)| c.id.clone()),
        column("trigger", r, |(_, c)| c.trigger.name().to_owned()),
        column("outcome", r, |(_, c)| c.outcome.name().to_owned()),
        column("turn", r, |(_, c)| c.turn),
        column("start_seq", r, |(_, c)| c.start_seq),
        column("end_seq", r, |(_, c)| c.end_seq),
        column("start_time_ms", r, |(_, c)| c.start_time),
        column("end_time_ms", r, |(_, c)| c.end_time),
        column("error_code", r, |(_, c)| c.error.as_ref().map(|f| f.code.clone())),
        column("shadowed_nodes", r, |(_, c)| c.shadowed_nodes),
        column("shadowed_tokens", r, |(_, c)| c.shadowed_tokens),
        column("tokens_before", r, |(_, c)| c.tokens_before),
        column("tokens_after", r, |(_, c)| c.tokens_after),
        column("caused_by_failure_seq", r, |(_, c)| c.caused_by_failure_seq),
    ])
}

fn prune_table(sessions: &[SessionRows], within: Within<'_>) -> PolarsResult<DataFrame> {
    let rows = flat(sessions, |s| s.prunes.as_slice(), |_, row| within.prune(row));
    let r: &[(&SessionRows, &PruneRow)] = &rows;
    frame(vec![
        column("session_id", r, |(s, _)| s.id.clone()),
        column("seq", r, |(_, p)| p.seq),
        column("time_ms", r, |(_, p)| p.time),
        column("trigger", r, |(_, p)| p.trigger.name().to_owned()),
        column("shadowed_tokens", r, |(_, p)| p.shadowed_tokens),
    ])
}
