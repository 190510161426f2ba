//! The decision with repairs. Without any switch it equals [`decide`](super::semantics::decide).
//!
//! All state is in two plain values: [`ChainState`] of one chain, [`RouteState`] shared by the chains of a route. The
//! caller tells the route state about every attempt ([`RouteState::on_attempt`]) and every success
//! ([`RouteState::on_success`]), in order of time; [`decide_with_fixes`] handles the failures.

use std::collections::VecDeque;

use super::fixes::{Candidate, Fixes, JitterKind, RetryBudget, StopRule, WhenOpen};
use super::model::{Backoff, RetryMode};
use super::semantics::{self, local_delay, nominal_delay, usable_retry_after};

/// One failing attempt, with what the repairs need to know. Times are milliseconds on one clock of the caller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FailedAttempt<'a> {
    /// `failure.code` as the harness labels it today.
    pub code: &'a str,
    /// Retry-After that the adapter passes on today.
    pub retry_after_ms: Option<f64>,
    /// Retry-After of the response that the adapter drops (pi-ai routes); `None` where unknown.
    pub hidden_retry_after_ms: Option<f64>,
    /// A 400 or 413 without a body.
    pub bodyless_client_error: bool,
    /// Upper bound of the fill with output, 0 to 1 and above; `None` where unknown.
    pub fill: Option<f64>,
    /// When the attempt failed.
    pub now_ms: f64,
    /// Time since the chain's first failure.
    pub elapsed_ms: f64,
    /// As in [`decide`](super::semantics::decide).
    pub previous_retry: u64,
    /// Of those, retries whose wait was cancelled.
    pub cancelled_retries: u64,
}

/// State of one chain under one candidate.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChainState {
    /// Last local delay, for decorrelated jitter.
    pub previous_delay_ms: Option<f64>,
    /// Failures on the route in use.
    pub failures_on_route: u64,
    /// Routes left behind.
    pub fail_overs: usize,
    /// Price of the last retry, returned by a success.
    pub last_cost: f64,
}

/// State of one route under one candidate.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RouteState {
    spent_tokens: f64,
    requests: VecDeque<f64>,
    retries: VecDeque<f64>,
    failures_in_a_row: u64,
    open_until_ms: Option<f64>,
}

impl RouteState {
    /// A first attempt or a retry is sent.
    pub fn on_attempt(&mut self, fixes: &Fixes, now_ms: f64) {
        if let Some(RetryBudget::Ratio { window_ms, .. }) = fixes.retry_budget {
            self.requests.push_back(now_ms);
            forget_before(&mut self.requests, now_ms - window_ms);
        }
    }

    /// An attempt succeeds: tokens come back, the breaker closes.
    pub fn on_success(&mut self, fixes: &Fixes, chain: &ChainState) {
        self.failures_in_a_row = 0;
        self.open_until_ms = None;
        if let Some(RetryBudget::TokenBucket { refund, .. }) = fixes.retry_budget {
            let back = if chain.last_cost > 0.0 { chain.last_cost } else { refund };
            self.spent_tokens = (self.spent_tokens - back).max(0.0);
        }
    }

    /// Whether the breaker keeps attempts back at this moment.
    #[must_use]
    pub fn is_open(&self, now_ms: f64) -> bool {
        self.open_until_ms.is_some_and(|until| now_ms < until)
    }

    fn on_failure(&mut self, fixes: &Fixes, now_ms: f64) {
        let Some(breaker) = fixes.breaker else { return };
        self.failures_in_a_row += 1;
        if self.failures_in_a_row >= breaker.failures && !self.is_open(now_ms) {
            self.open_until_ms = Some(now_ms + breaker.open_ms);
        }
    }
}

fn forget_before(times: &mut VecDeque<f64>, limit_ms: f64) {
    while times.front().is_some_and(|time| *time < limit_ms) {
        times.pop_front();
    }
}

/// Where a delay came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixedDelaySource {
    /// The provider's Retry-After.
    RetryAfter,
    /// Its cap, where the provider asks for more.
    ClampedRetryAfter,
    /// The local formula.
    Backoff,
    /// The breaker, which lets the next trial through at that moment.
    Breaker,
}

/// Why no retry follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixedGiveUp {
    /// As in the harness.
    Policy(semantics::GiveUp),
    /// The filter of mode `always` holds the code back.
    Filtered,
    /// The time budget is spent.
    TimeSpent,
    /// The route's retry budget is spent.
    RetryBudgetSpent,
    /// The breaker is open.
    BreakerOpen,
}

/// What the candidate does.
#[derive(Debug, Clone, PartialEq)]
pub enum FixedDecision {
    /// Wait, then try the same route again.
    Retry {
        /// Number of the retry, from 1.
        retry: u64,
        /// Wait in milliseconds.
        delay_ms: f64,
        /// See [`FixedDelaySource`].
        source: FixedDelaySource,
    },
    /// Try this route at once; the count starts again there.
    FailOver {
        /// The next route.
        route: String,
    },
    /// End the chain.
    GiveUp {
        /// See [`FixedGiveUp`].
        reason: FixedGiveUp,
    },
}

/// The code that the policy sees once labels are repaired: gateway rewrite first (the adapter never sees the 400), then
/// the evidence guard. An unknown fill leaves the label believed.
#[must_use]
pub fn effective_code<'a>(fixes: &Fixes, attempt: &FailedAttempt<'a>) -> &'a str {
    if fixes.gateway_rewrite && attempt.bodyless_client_error {
        return "SERVER";
    }
    let below = |guard: f64| attempt.fill.is_some_and(|fill| fill < guard);
    if attempt.code == "CONTEXT_WINDOW_EXCEEDED" && fixes.evidence_guard.is_some_and(below) {
        return "SERVER";
    }
    attempt.code
}

/// The Retry-After that the policy sees.
#[must_use]
pub fn effective_retry_after(fixes: &Fixes, attempt: &FailedAttempt<'_>) -> Option<f64> {
    if fixes.ignore_retry_after {
        return None;
    }
    let seen = usable_retry_after(attempt.retry_after_ms);
    if fixes.expose_retry_after { seen.or(usable_retry_after(attempt.hidden_retry_after_ms)) } else { seen }
}

/// The decision of a candidate on one failing attempt; `u` is a uniform draw in 0 to 1.
///
/// Order: labels, filter or list of codes, count, delay, time budget, breaker, retry budget, fail over. A retry that a
/// later rule refuses costs nothing.
pub fn decide_with_fixes(
    candidate: &Candidate,
    attempt: &FailedAttempt<'_>,
    chain: &mut ChainState,
    route: &mut RouteState,
    u: f64,
) -> FixedDecision {
    let fixes = &candidate.fixes;
    chain.failures_on_route += 1;
    route.on_failure(fixes, attempt.now_ms);
    if let Some(fail_over) = &fixes.fail_over
        && fail_over.after_failures.is_some_and(|limit| chain.failures_on_route >= limit)
        && let Some(next) = next_route(fixes, chain)
    {
        return next;
    }
    match retry_or_reason(candidate, attempt, chain, route, u) {
        Ok(retry) => retry,
        Err(reason) => next_route(fixes, chain).unwrap_or(FixedDecision::GiveUp { reason }),
    }
}

fn next_route(fixes: &Fixes, chain: &mut ChainState) -> Option<FixedDecision> {
    let route = fixes.fail_over.as_ref()?.routes.get(chain.fail_overs)?.clone();
    *chain = ChainState { fail_overs: chain.fail_overs + 1, ..ChainState::default() };
    Some(FixedDecision::FailOver { route })
}

fn retry_or_reason(
    candidate: &Candidate,
    attempt: &FailedAttempt<'_>,
    chain: &mut ChainState,
    route: &mut RouteState,
    u: f64,
) -> Result<FixedDecision, FixedGiveUp> {
    let Candidate { policy, fixes, .. } = candidate;
    let normal = policy.mode == RetryMode::Normal;
    let code = effective_code(fixes, attempt);
    if !policy.retries_code(code) {
        return Err(FixedGiveUp::Policy(semantics::GiveUp::NotRetryable));
    }
    if !normal && fixes.always_filter.as_ref().is_some_and(|filter| !filter.admits(code)) {
        return Err(FixedGiveUp::Filtered);
    }
    let uncounted = if fixes.uncounted_cancelled { attempt.cancelled_retries } else { 0 };
    let previous = attempt.previous_retry.saturating_sub(uncounted);
    let counts = normal && fixes.time_budget.is_none_or(|budget| budget.keep_count);
    if counts && previous >= policy.max_retries {
        return Err(FixedGiveUp::Policy(semantics::GiveUp::BudgetSpent));
    }
    let retry = previous.saturating_add(1);
    let (mut delay_ms, mut source) = delay(candidate, attempt, chain, retry, u)?;
    if route.is_open(attempt.now_ms + delay_ms)
        && let (Some(breaker), Some(until)) = (fixes.breaker, route.open_until_ms)
    {
        match breaker.when_open {
            WhenOpen::FailFast => return Err(FixedGiveUp::BreakerOpen),
            WhenOpen::Wait => (delay_ms, source) = (until - attempt.now_ms, FixedDelaySource::Breaker),
        }
    }
    if let Some(budget) = fixes.time_budget {
        let reached = match budget.stop {
            StopRule::After => attempt.elapsed_ms,
            StopRule::Before => attempt.elapsed_ms + delay_ms,
        };
        if reached >= budget.limit_ms {
            return Err(FixedGiveUp::TimeSpent);
        }
    }
    chain.last_cost = spend(fixes, route, code, attempt.now_ms).ok_or(FixedGiveUp::RetryBudgetSpent)?;
    if source == FixedDelaySource::Backoff {
        chain.previous_delay_ms = Some(delay_ms);
    }
    Ok(FixedDecision::Retry { retry, delay_ms, source })
}

fn delay(
    candidate: &Candidate,
    attempt: &FailedAttempt<'_>,
    chain: &ChainState,
    retry: u64,
    u: f64,
) -> Result<(f64, FixedDelaySource), FixedGiveUp> {
    let Candidate { policy, fixes, .. } = candidate;
    let cap = fixes.retry_after_cap_ms.unwrap_or(policy.backoff.max_delay_ms);
    match effective_retry_after(fixes, attempt) {
        Some(wait) if wait <= cap => return Ok((wait, FixedDelaySource::RetryAfter)),
        Some(_) if fixes.clamp_retry_after => {
            return Ok((cap, FixedDelaySource::ClampedRetryAfter));
        }
        Some(_) if policy.mode == RetryMode::Normal => {
            return Err(FixedGiveUp::Policy(semantics::GiveUp::RetryAfterTooLong));
        }
        _ => {}
    }
    Ok((jittered(fixes.jitter, &policy.backoff, retry, chain.previous_delay_ms, u), FixedDelaySource::Backoff))
}

/// A local delay under another kind of jitter, in milliseconds; the formulas stand at [`JitterKind`].
#[must_use]
pub fn jittered(kind: JitterKind, backoff: &Backoff, retry: u64, previous_delay_ms: Option<f64>, u: f64) -> f64 {
    let base = nominal_delay(backoff, retry);
    match kind {
        JitterKind::Harness => local_delay(backoff, retry, u),
        JitterKind::None => base,
        JitterKind::Full => u * base,
        JitterKind::Equal => base / 2.0 + u * base / 2.0,
        JitterKind::Decorrelated => {
            let initial = backoff.initial_delay_ms;
            let widest = 3.0 * previous_delay_ms.unwrap_or(initial);
            (initial + u * (widest - initial).max(0.0)).min(backoff.max_delay_ms)
        }
    }
}

/// Pay for a retry; `None` when the budget does not allow it, else the price in tokens (0 without a bucket).
fn spend(fixes: &Fixes, route: &mut RouteState, code: &str, now_ms: f64) -> Option<f64> {
    match fixes.retry_budget {
        None => Some(0.0),
        Some(RetryBudget::TokenBucket { capacity, cost, timeout_cost, .. }) => {
            let price = if code == "TIMEOUT" { timeout_cost } else { cost };
            if capacity - route.spent_tokens < price {
                return None;
            }
            route.spent_tokens += price;
            Some(price)
        }
        Some(RetryBudget::Ratio { ratio, window_ms, min_per_second }) => {
            forget_before(&mut route.requests, now_ms - window_ms);
            forget_before(&mut route.retries, now_ms - window_ms);
            let allowed = ratio * route.requests.len() as f64 + min_per_second * window_ms / 1000.0;
            if (route.retries.len() as f64) + 1.0 > allowed {
                return None;
            }
            route.retries.push_back(now_ms);
            Some(0.0)
        }
    }
}
