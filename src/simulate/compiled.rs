//! A candidate prepared for many decisions: codes are numbers, nominal delays a table.
//!
//! Decides exactly as [`crate::policy::decide_with_fixes`] does for candidates whose repairs concern one chain alone; a
//! test holds the two against each other. Repairs that chains share (retry budgets, breaker, fail over) go the long way.

use super::evidence::{CodeId, Codes, FailureRecord, OVERFLOW, SERVER};
use crate::policy::engine::jittered;
use crate::policy::fixes::{JitterKind, StopRule, TimeBudget};
use crate::policy::semantics::{local_delay, nominal_delay};
use crate::policy::{Backoff, Candidate, RetryMode};

const TABLE: usize = 64;

/// See the module.
#[derive(Debug, Clone)]
pub struct CompiledPolicy {
    /// Mode `always`.
    pub always: bool,
    /// Repairs are shared between chains: [`super::together`] plays it.
    pub shared: bool,
    counted: bool,
    max_retries: u64,
    retried: Vec<bool>,
    nominal: [f64; TABLE],
    backoff: Backoff,
    jitter: JitterKind,
    retry_after_cap_ms: f64,
    clamp: bool,
    ignore_retry_after: bool,
    expose: bool,
    gateway_rewrite: bool,
    guard: Option<f64>,
    time_budget: Option<TimeBudget>,
}

/// The place of a failure in its chain.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// Retries before it.
    pub previous_retry: u64,
    /// Since the chain's first failure, milliseconds.
    pub elapsed_ms: f64,
    /// Last local delay, milliseconds; for decorrelated jitter.
    pub previous_delay_ms: Option<f64>,
    /// Uniform number for the jitter.
    pub luck: f64,
}

/// A retry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wait {
    /// Milliseconds.
    pub delay_ms: f64,
    /// From the local formula, not from Retry-After.
    pub local: bool,
}

impl CompiledPolicy {
    /// Prepares a candidate for these codes.
    #[must_use]
    pub fn new(candidate: &Candidate, codes: &Codes) -> Self {
        let Candidate { policy, fixes, .. } = candidate;
        let always = policy.mode == RetryMode::Always;
        let admits = |code: &str| !always || fixes.always_filter.as_ref().is_none_or(|filter| filter.admits(code));
        let mut nominal = [0.0; TABLE];
        for (index, delay) in nominal.iter_mut().enumerate() {
            *delay = nominal_delay(&policy.backoff, index as u64 + 1);
        }
        Self {
            always,
            shared: fixes.retry_budget.is_some() || fixes.breaker.is_some() || fixes.fail_over.is_some(),
            counted: !always && fixes.time_budget.is_none_or(|budget| budget.keep_count),
            max_retries: policy.max_retries,
            retried: codes.names().iter().map(|code| policy.retries_code(code) && admits(code)).collect(),
            nominal,
            backoff: policy.backoff,
            jitter: fixes.jitter,
            retry_after_cap_ms: fixes.retry_after_cap_ms.unwrap_or(policy.backoff.max_delay_ms),
            clamp: fixes.clamp_retry_after,
            ignore_retry_after: fixes.ignore_retry_after,
            expose: fixes.expose_retry_after,
            gateway_rewrite: fixes.gateway_rewrite,
            guard: fixes.evidence_guard,
            time_budget: fixes.time_budget,
        }
    }

    /// The code that the policy sees once labels are repaired.
    #[must_use]
    pub fn effective_code(&self, record: &FailureRecord, fill: Option<f64>) -> CodeId {
        let below = || self.guard.zip(fill).is_some_and(|(guard, fill)| fill < guard);
        if (self.gateway_rewrite && record.bodyless) || (record.code == OVERFLOW && below()) {
            SERVER
        } else {
            record.code
        }
    }

    /// The wait before the next attempt; `None`: the chain ends, or downstream recovery acts.
    #[must_use]
    pub fn decide(&self, record: &FailureRecord, fill: Option<f64>, moment: Moment) -> Option<Wait> {
        let code = self.effective_code(record, fill);
        if !self.retried.get(code).copied().unwrap_or(self.always) {
            return None;
        }
        if self.counted && moment.previous_retry >= self.max_retries {
            return None;
        }
        let wait = self.wait(record, moment)?;
        if let Some(budget) = self.time_budget {
            let reached = match budget.stop {
                StopRule::After => moment.elapsed_ms,
                StopRule::Before => moment.elapsed_ms + wait.delay_ms,
            };
            if reached >= budget.limit_ms {
                return None;
            }
        }
        Some(wait)
    }

    fn wait(&self, record: &FailureRecord, moment: Moment) -> Option<Wait> {
        match self.seen_retry_after(record) {
            Some(asked) if asked <= self.retry_after_cap_ms => return Some(Wait { delay_ms: asked, local: false }),
            Some(_) if self.clamp => return Some(Wait { delay_ms: self.retry_after_cap_ms, local: false }),
            Some(_) if !self.always => return None,
            _ => {}
        }
        let retry = moment.previous_retry + 1;
        let delay_ms = match self.jitter {
            JitterKind::Harness if retry <= TABLE as u64 => {
                let factor = 1.0 - self.backoff.jitter_ratio + 2.0 * self.backoff.jitter_ratio * moment.luck;
                (self.nominal[retry as usize - 1] * factor).min(self.backoff.max_delay_ms)
            }
            JitterKind::Harness => local_delay(&self.backoff, retry, moment.luck),
            kind => jittered(kind, &self.backoff, retry, moment.previous_delay_ms, moment.luck),
        };
        Some(Wait { delay_ms, local: true })
    }

    /// The Retry-After that the policy looks at.
    #[must_use]
    pub fn seen_retry_after(&self, record: &FailureRecord) -> Option<f64> {
        if self.ignore_retry_after {
            None
        } else if self.expose {
            record.retry_after_ms.or(record.hidden_retry_after_ms)
        } else {
            record.retry_after_ms
        }
    }

    /// The steady wait of a long chain, milliseconds, once its local delays have reached their cap; `None` before that,
    /// and where waits do not settle.
    #[must_use]
    pub fn settled_wait(&self, record: &FailureRecord, previous_retry: u64) -> Option<f64> {
        let index = usize::try_from(previous_retry).unwrap_or(usize::MAX).min(TABLE - 1);
        if self.nominal[index] < self.backoff.max_delay_ms || self.time_budget.is_some() {
            return None;
        }
        if self.seen_retry_after(record).is_some_and(|asked| asked <= self.retry_after_cap_ms || self.clamp) {
            return None;
        }
        let max = self.backoff.max_delay_ms;
        Some(match self.jitter {
            // Half of all draws are cut to the cap, the others lose a quarter of the jitter on average.
            JitterKind::Harness => max * (1.0 - 0.25 * self.backoff.jitter_ratio),
            JitterKind::None => max,
            JitterKind::Full => 0.5 * max,
            JitterKind::Equal => 0.75 * max,
            JitterKind::Decorrelated => return None,
        })
    }

    /// Retries that the count still allows; `None`: without end.
    #[must_use]
    pub fn retries_left(&self, previous_retry: u64) -> Option<u64> {
        self.counted.then(|| self.max_retries.saturating_sub(previous_retry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::engine::{ChainState, FailedAttempt, FixedDecision, RouteState, decide_with_fixes};
    use crate::policy::parse_candidate;
    use crate::stats::SeededRng;

    const EXPRESSIONS: [&str; 14] = [
        "dsh-default",
        "dsh-always",
        "dsh-default@0.1.0-rc.5",
        "polly",
        "tenacity",
        "dsh-default + retry CONTEXT_WINDOW_EXCEEDED + maxRetries 10",
        "dsh-default + expose-retry-after",
        "dsh-default + expose-retry-after + retry-after-cap 120s",
        "dsh-default + clamp + expose-retry-after",
        "dsh-always + always-except intrinsic + jitter full",
        "dsh-default + gateway-503 + jitter equal",
        "dsh-default + evidence-guard 0.5 + jitter decorrelated",
        "dsh-default + time-budget 30s before",
        "dsh-default + time-budget 5s after keep-count + ignore-retry-after",
    ];

    #[test]
    fn the_short_way_decides_as_the_policy_engine_does() {
        let mut codes = Codes::default();
        let ids: Vec<CodeId> = ["RATE_LIMIT", "AUTH", "SERVER", "CONTEXT_WINDOW_EXCEEDED", "PI_AI_ERROR"]
            .iter()
            .map(|name| codes.id(name))
            .collect();
        let mut rng = SeededRng::new(11);
        for expression in EXPRESSIONS {
            let candidate = parse_candidate(expression, &|_| None).unwrap();
            let compiled = CompiledPolicy::new(&candidate, &codes);
            assert!(!compiled.shared);
            for _ in 0..400 {
                let record = FailureRecord {
                    time_ms: 0.0,
                    code: *rng.choose(&ids).unwrap(),
                    retry_after_ms: rng.chance(0.3).then(|| rng.uniform_between(1.0, 40_000.0)),
                    hidden_retry_after_ms: rng.chance(0.3).then(|| rng.uniform_between(1.0, 200_000.0)),
                    bodyless: rng.chance(0.3),
                    duration_ms: 5.0,
                };
                let fill = rng.chance(0.5).then(|| rng.uniform());
                let moment = Moment {
                    previous_retry: rng.below(8).unwrap(),
                    elapsed_ms: rng.uniform_between(0.0, 40_000.0),
                    previous_delay_ms: rng.chance(0.5).then(|| rng.uniform_between(100.0, 4000.0)),
                    luck: rng.uniform(),
                };
                let attempt = FailedAttempt {
                    code: codes.name(record.code),
                    retry_after_ms: record.retry_after_ms,
                    hidden_retry_after_ms: record.hidden_retry_after_ms,
                    bodyless_client_error: record.bodyless,
                    fill,
                    now_ms: 0.0,
                    elapsed_ms: moment.elapsed_ms,
                    previous_retry: moment.previous_retry,
                    cancelled_retries: 0,
                };
                let mut chain = ChainState { previous_delay_ms: moment.previous_delay_ms, ..ChainState::default() };
                let mut route = RouteState::default();
                let long = match decide_with_fixes(&candidate, &attempt, &mut chain, &mut route, moment.luck) {
                    FixedDecision::Retry { delay_ms, .. } => Some(delay_ms),
                    _ => None,
                };
                let short = compiled.decide(&record, fill, moment).map(|wait| wait.delay_ms);
                assert_eq!(short, long, "{expression}: {record:?} {moment:?}");
            }
        }
    }
}
