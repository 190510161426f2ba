//! The harness's decision on a failing attempt, as a pure function (spec 2.5, "On a failing attempt").
//!
//! What happens before and after is the caller's: in mode `always` downstream recovery (overflow compaction) is asked
//! first, and after [`Decision::GiveUp`] it may still act. Neither writes an `llm/retry`.

use super::model::{Backoff, RetryMode, RetryPolicy};

/// One failing attempt, as the policy sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Failure<'a> {
    /// `failure.code`.
    pub code: &'a str,
    /// `failure.providerRetryAfterMs`, in milliseconds.
    pub retry_after_ms: Option<f64>,
}

/// Where a delay came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DelaySource {
    /// The provider's Retry-After, without jitter.
    RetryAfter,
    /// The local formula.
    Backoff,
}

/// Why no retry follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GiveUp {
    /// The code is not in `retryableCodes`.
    NotRetryable,
    /// `maxRetries` retries were already written for this step, provider and policy.
    BudgetSpent,
    /// Retry-After is above `maxDelayMs`.
    RetryAfterTooLong,
}

/// What the policy does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Decision {
    /// Write `llm/retry`, wait, try again.
    Retry {
        /// Number of the retry, from 1.
        retry: u64,
        /// Wait in milliseconds; a fraction, as the log has it.
        delay_ms: f64,
        /// See [`DelaySource`].
        source: DelaySource,
    },
    /// Leave the failure to downstream recovery, or end the turn.
    GiveUp {
        /// See [`GiveUp`].
        reason: GiveUp,
    },
}

/// The delay before one retry without jitter: `min(initial · 2^min(retry−1, 1024), max)`, in milliseconds.
#[must_use]
pub fn nominal_delay(backoff: &Backoff, retry: u64) -> f64 {
    let exponent = i32::try_from(retry.saturating_sub(1).min(1024)).unwrap_or(1024);
    (backoff.initial_delay_ms * 2f64.powi(exponent)).min(backoff.max_delay_ms)
}

/// The local delay for one uniform draw `u` in 0 to 1, in milliseconds.
///
/// The operations keep the harness's order, so that the same `u` gives the same bits; the cap applies a second time
/// after the jitter, so at the cap half of all delays equal it.
#[must_use]
pub fn local_delay(backoff: &Backoff, retry: u64, u: f64) -> f64 {
    let jitter = 1.0 - backoff.jitter_ratio + 2.0 * backoff.jitter_ratio * u;
    (nominal_delay(backoff, retry) * jitter).min(backoff.max_delay_ms)
}

/// Shortest and longest local delay before one retry, in milliseconds. Exact: the formula grows with `u`.
#[must_use]
pub fn delay_range(policy: &RetryPolicy, retry: u64) -> (f64, f64) {
    (local_delay(&policy.backoff, retry, 0.0), local_delay(&policy.backoff, retry, 1.0))
}

/// A Retry-After that the harness looks at: present, finite, above 0.
#[must_use]
pub fn usable_retry_after(retry_after_ms: Option<f64>) -> Option<f64> {
    retry_after_ms.filter(|ms| ms.is_finite() && *ms > 0.0)
}

/// The harness's decision.
///
/// `previous_retry` is the `retry` of the last `llm/retry` of the same turn, step, provider and `policyKey` (0 without
/// one), whether or not its wait ended. `u` is the uniform draw of the jitter; only a local delay uses it.
#[must_use]
pub fn decide(policy: &RetryPolicy, failure: Failure<'_>, previous_retry: u64, u: f64) -> Decision {
    if !policy.retries_code(failure.code) {
        return Decision::GiveUp { reason: GiveUp::NotRetryable };
    }
    let normal = policy.mode == RetryMode::Normal;
    if normal && previous_retry >= policy.max_retries {
        return Decision::GiveUp { reason: GiveUp::BudgetSpent };
    }
    let retry = previous_retry.saturating_add(1);
    match usable_retry_after(failure.retry_after_ms) {
        Some(wait) if wait <= policy.backoff.max_delay_ms => {
            Decision::Retry { retry, delay_ms: wait, source: DelaySource::RetryAfter }
        }
        Some(_) if normal => Decision::GiveUp { reason: GiveUp::RetryAfterTooLong },
        _ => Decision::Retry { retry, delay_ms: local_delay(&policy.backoff, retry, u), source: DelaySource::Backoff },
    }
}

/// What a log says about one failing attempt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Recorded {
    /// An `llm/retry` followed.
    Retried {
        /// Its `retry`.
        retry: u64,
        /// Its `delayMs`.
        delay_ms: f64,
    },
    /// None followed.
    Surrendered,
}

/// Why a record and a policy disagree.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Mismatch {
    /// A retry was recorded where the policy gives up.
    #[error("the log has retry {retry}, the policy gives up ({})", reason_words(*.reason))]
    RetriedInsteadOfGivingUp {
        /// Recorded number.
        retry: u64,
        /// Why the policy gives up.
        reason: GiveUp,
    },
    /// No retry was recorded where the policy retries: cancelled, downstream recovery, or another plugin.
    #[error("the log has no retry, the policy makes retry {retry}: cancelled, recovered elsewhere, or another policy")]
    SurrenderedInsteadOfRetrying {
        /// Number of the missing retry.
        retry: u64,
    },
    /// The number differs.
    #[error("the log has retry {recorded}, the policy makes retry {expected}")]
    RetryNumber {
        /// Recorded number.
        recorded: u64,
        /// Number by the policy.
        expected: u64,
    },
    /// The wait is not the Retry-After.
    #[error("the log waits {recorded_ms} ms, Retry-After asks for {expected_ms} ms")]
    NotRetryAfter {
        /// Recorded wait in milliseconds.
        recorded_ms: f64,
        /// Retry-After in milliseconds.
        expected_ms: f64,
    },
    /// The wait is outside the formula's range.
    #[error("the log waits {recorded_ms} ms, the formula gives {low_ms} to {high_ms} ms")]
    OutsideRange {
        /// Recorded wait in milliseconds.
        recorded_ms: f64,
        /// Shortest local delay in milliseconds.
        low_ms: f64,
        /// Longest local delay in milliseconds.
        high_ms: f64,
    },
}

/// A surrender in words.
#[must_use]
pub fn reason_words(reason: GiveUp) -> &'static str {
    match reason {
        GiveUp::NotRetryable => "the code is not retried",
        GiveUp::BudgetSpent => "all retries are spent",
        GiveUp::RetryAfterTooLong => "Retry-After is above maxDelayMs",
    }
}

/// Whether the policy explains one recorded decision and its delay.
///
/// # Errors
/// The first disagreement.
pub fn reproduces(
    policy: &RetryPolicy,
    failure: Failure<'_>,
    previous_retry: u64,
    recorded: Recorded,
) -> Result<(), Mismatch> {
    match (decide(policy, failure, previous_retry, 0.5), recorded) {
        (Decision::GiveUp { .. }, Recorded::Surrendered) => Ok(()),
        (Decision::GiveUp { reason }, Recorded::Retried { retry, .. }) => {
            Err(Mismatch::RetriedInsteadOfGivingUp { retry, reason })
        }
        (Decision::Retry { retry, .. }, Recorded::Surrendered) => Err(Mismatch::SurrenderedInsteadOfRetrying { retry }),
        (Decision::Retry { retry: expected, .. }, Recorded::Retried { retry: recorded, .. })
            if recorded != expected =>
        {
            Err(Mismatch::RetryNumber { recorded, expected })
        }
        (
            Decision::Retry { delay_ms: expected_ms, source: DelaySource::RetryAfter, .. },
            Recorded::Retried { delay_ms: recorded_ms, .. },
        ) => {
            if recorded_ms == expected_ms {
                Ok(())
            } else {
                Err(Mismatch::NotRetryAfter { recorded_ms, expected_ms })
            }
        }
        (
            Decision::Retry { retry, source: DelaySource::Backoff, .. },
            Recorded::Retried { delay_ms: recorded_ms, .. },
        ) => {
            let (low_ms, high_ms) = delay_range(policy, retry);
            if (low_ms..=high_ms).contains(&recorded_ms) {
                Ok(())
            } else {
                Err(Mismatch::OutsideRange { recorded_ms, low_ms, high_ms })
            }
        }
    }
}
