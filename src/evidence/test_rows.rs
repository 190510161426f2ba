//! Rows for unit tests, built in a few lines: sessions of attempts with sizes, windows, failures and compactions.
#![allow(dead_code, clippy::unwrap_used)]

use std::sync::Arc;

use crate::event::{Failure, Retry, TurnEndKind, Usage};
use crate::session::{
    AttemptRow, CompactionOutcome, CompactionRow, Fate, Outcome, PruneRow, RequestChars, RequestSize, RetryRow, Route,
    SessionRows, TokenEstimate, TokenMethod, Trigger, TurnRow,
};

/// The window of [`Rows`] unless another is set, tokens.
pub const WINDOW: u64 = 100_000;

/// A session under construction: one step per attempt unless [`Rows::same_step`] says otherwise; 10 s between attempts.
pub struct Rows {
    rows: SessionRows,
    route: Arc<Route>,
    window: Option<u64>,
    reserved: u64,
    seq: u64,
    time: i64,
    step: u64,
    stay: bool,
}

impl Rows {
    pub fn new(id: &str) -> Self {
        Self {
            rows: SessionRows { id: id.to_owned(), ..SessionRows::default() },
            route: Arc::new(Route { provider: "gateway".to_owned(), model: "large".to_owned() }),
            window: Some(WINDOW),
            reserved: 0,
            seq: 0,
            time: 1_795_478_400_000,
            step: 0,
            stay: false,
        }
    }

    pub fn route(mut self, provider: &str, model: &str, window: Option<u64>) -> Self {
        self.route = Arc::new(Route { provider: provider.to_owned(), model: model.to_owned() });
        self.window = window;
        self
    }

    pub fn reserved(mut self, tokens: u64) -> Self {
        self.reserved = tokens;
        self
    }

    pub fn at(mut self, time: i64) -> Self {
        self.time = time;
        self
    }

    pub fn wait(mut self, ms: i64) -> Self {
        self.time += ms;
        self
    }

    /// The next attempt belongs to the step of the last one.
    pub fn same_step(mut self) -> Self {
        self.stay = true;
        self
    }

    fn attempt(&mut self, tokens: u64, spread: u64) -> &mut AttemptRow {
        if !std::mem::take(&mut self.stay) {
            self.step += 1;
        }
        self.seq += 10;
        self.time += 10_000;
        let ordinal = self.rows.attempts.len() as u64;
        let method = if spread == 0 { TokenMethod::Reported } else { TokenMethod::Anchored };
        let size = TokenEstimate { value: tokens, low: tokens.saturating_sub(spread), high: tokens + spread, method };
        self.rows.attempts.push(AttemptRow {
            turn: 1,
            step: self.step,
            attempt: 1,
            ordinal,
            seq: self.seq,
            first_seq: self.seq - 1,
            time: Some(self.time),
            first_time: Some(self.time - 1_000),
            ready_time: Some(self.time - 2_000),
            asked_time: Some(self.time - 2_000),
            route: Arc::clone(&self.route),
            window: self.window,
            window_source: None,
            max_tokens: Some(4_096),
            reasoning_effort: None,
            outcome: Outcome::Succeeded,
            failure: None,
            usage: None,
            chunks: 3,
            longest_gap_ms: 5,
            since_compaction: None,
            since_independent_compaction: None,
            retries_before: 0,
            retry: None,
            fate: None,
            request: Some(Box::new(RequestSize {
                messages: 3,
                body_bytes: Some(tokens * 4),
                chars: RequestChars { user: tokens * 4, ..RequestChars::default() },
                harness_tokens: tokens,
                reserved_output: Some(self.reserved),
                // Equal sizes stand for equal requests, unless a test says otherwise.
                identity: tokens,
                tokens: Some(size),
            })),
            usage_untrusted: false,
            cut_at_limit: false,
            last_tool: None,
            selected: true,
        });
        self.rows.attempts.last_mut().unwrap()
    }

    /// A success with a reported prompt.
    pub fn ok(mut self, tokens: u64) -> Self {
        let usage = Usage { input: tokens, output: 40, ..Usage::default() };
        self.attempt(tokens, 0).usage = Some(usage);
        self
    }

    /// A failure that nothing followed, with an estimate of ± 1 %.
    pub fn failed(mut self, tokens: u64, code: &str, message: &str) -> Self {
        let row = self.attempt(tokens, tokens / 100);
        row.outcome = Outcome::Failed;
        row.fate = Some(Fate::GaveUp);
        row.failure = Some(Failure { code: code.to_owned(), message: message.to_owned(), ..Failure::default() });
        self
    }

    /// Changes the last attempt.
    pub fn with(mut self, change: impl FnOnce(&mut AttemptRow)) -> Self {
        change(self.rows.attempts.last_mut().unwrap());
        self
    }

    /// A retry after the last attempt; `started`: its wait ended.
    pub fn retry(mut self, policy_key: &str, delay_ms: f64, started: bool) -> Self {
        self.seq += 1;
        let index = self.rows.retries.len();
        let key = (1, self.step);
        let number = self.rows.retries.iter().filter(|r| (r.retry.turn, r.retry.step) == key).count() as u64 + 1;
        let after = self.rows.attempts.len() - 1;
        let attempt = &mut self.rows.attempts[after];
        attempt.retry = Some(index);
        let failure = attempt.failure.clone().unwrap();
        self.rows.retries.push(RetryRow {
            seq: self.seq,
            time: Some(self.time),
            retry: Retry {
                retry_id: format!("retry-{index}"),
                turn: key.0,
                step: key.1,
                provider: Some(self.route.provider.clone()),
                mode: Some("normal".to_owned()),
                policy_key: Some(policy_key.to_owned()),
                retry: number,
                max_retries: Some(5),
                delay_ms,
                failure,
            },
            started_time: started.then_some(self.time + delay_ms as i64),
            started,
            after_attempt: Some(after),
            next_attempt: started.then_some(after + 1),
        });
        self.same_step()
    }

    /// A compaction; an overflow one is caused by the last attempt, and the next attempt belongs to its step.
    pub fn compaction(mut self, trigger: Trigger, shadowed: u64) -> Self {
        self.seq += 4;
        let overflow = trigger == Trigger::Overflow;
        self.rows.compactions.push(CompactionRow {
            id: format!("compaction-{}", self.rows.compactions.len() + 1),
            trigger,
            outcome: CompactionOutcome::Done,
            turn: Some(1),
            start_seq: self.seq - 3,
            end_seq: Some(self.seq),
            start_time: Some(self.time),
            end_time: Some(self.time),
            error: None,
            shadowed_nodes: Some(3),
            shadowed_tokens: Some(shadowed),
            tokens_before: None,
            tokens_after: None,
            caused_by_failure_seq: self.rows.attempts.last().filter(|_| overflow).map(|a| a.seq),
            attempts_before_end: self.rows.attempts.len() as u64,
        });
        if overflow { self.same_step() } else { self }
    }

    /// A tool result cut inside the step.
    pub fn prune(mut self, shadowed: u64) -> Self {
        self.seq += 1;
        self.rows.prunes.push(PruneRow {
            seq: self.seq,
            time: Some(self.time),
            trigger: Trigger::Overflow,
            shadowed_tokens: Some(shadowed),
        });
        self
    }

    pub fn done(mut self) -> SessionRows {
        let end = self.rows.attempts.last().map_or(TurnEndKind::Completed, |a| match a.outcome {
            Outcome::Failed => TurnEndKind::Error,
            _ => TurnEndKind::Completed,
        });
        let failure = self.rows.attempts.last().and_then(|a| a.failure.clone());
        let turn = TurnRow { turn: 1, start_time: None, end_time: Some(self.time), end: Some(end), failure, steps: 1 };
        self.rows.turns.push(turn);
        self.rows
    }
}
