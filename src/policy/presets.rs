//! Policies with a name: the harness's own by release, and documented defaults of well known libraries.

use std::collections::BTreeSet;

use super::fixes::{Candidate, Fixes, JitterKind, RetryBudget};
use super::model::{Backoff, INTRINSIC_CODES, KNOWN_CODES, RetryMode, RetryPolicy};
use super::release::{Release, ReleaseError};

/// Names of all presets; `dsh-default` and `dsh-always` also take a release (`dsh-default@0.1.0-rc.5`).
pub const PRESET_NAMES: [&str; 6] = ["dsh-default", "dsh-always", "aws-standard", "polly", "resilience4j", "tenacity"];

/// A preset by name; `Ok(None)` when there is none of this name.
///
/// # Errors
/// A release after `@` that is none.
pub fn preset(name: &str) -> Result<Option<Candidate>, ReleaseError> {
    let (base, release) = match name.split_once('@') {
        Some((base, release)) => (base, Some(release.parse::<Release>()?)),
        None => (name, None),
    };
    let own = |policy, source: &str| Ok(Some(Candidate::plain(name, source, policy)));
    match (base, release) {
        ("dsh-default", Some(release)) => {
            own(RetryPolicy::default_for(&release), "the harness's default in this release (retry-policy.ts)")
        }
        ("dsh-default", None) => {
            own(RetryPolicy::default(), "the harness's default since 0.1.0-rc.8: 5 retries (retry-policy.ts)")
        }
        ("dsh-always", _) => own(
            RetryPolicy { mode: RetryMode::Always, ..RetryPolicy::default() },
            "the harness's mode always with the default backoff (retry-policy.ts)",
        ),
        (_, Some(_)) => Ok(None),
        ("aws-standard", None) => Ok(Some(aws_standard())),
        ("polly", None) => Ok(Some(polly())),
        ("resilience4j", None) => Ok(Some(resilience4j())),
        ("tenacity", None) => Ok(Some(tenacity())),
        _ => Ok(None),
    }
}

/// Standard mode: 3 attempts, `rand(0, 1) · min(2^i, 20 s)`, retry quota 500 at 5 a retry (10 after a timeout).
fn aws_standard() -> Candidate {
    Candidate {
        name: "aws-standard".to_owned(),
        source: "AWS SDKs and Tools Reference Guide, \"Retry behavior\", standard mode: 3 attempts, full jitter up to \
                 20 s, retry quota 500/5/10"
            .to_owned(),
        policy: RetryPolicy {
            mode: RetryMode::Normal,
            max_retries: 2,
            retryable_codes: names(&["RATE_LIMIT", "SERVER", "TIMEOUT", "TRANSPORT"]),
            backoff: Backoff { initial_delay_ms: 1000.0, max_delay_ms: 20_000.0, jitter_ratio: 0.0 },
        },
        fixes: Fixes {
            ignore_retry_after: true,
            jitter: JitterKind::Full,
            retry_budget: Some(RetryBudget::TokenBucket {
                capacity: 500.0,
                cost: 5.0,
                timeout_cost: 10.0,
                refund: 1.0,
            }),
            ..Fixes::default()
        },
    }
}

fn polly() -> Candidate {
    constant(
        "polly",
        "Polly 8 RetryStrategyOptions: MaxRetryAttempts 3, BackoffType Constant, Delay 2 s, no jitter, every exception",
        3,
        2000.0,
    )
}

fn resilience4j() -> Candidate {
    constant(
        "resilience4j",
        "resilience4j RetryConfig: maxAttempts 3 (the first included), waitDuration 500 ms constant, every exception",
        2,
        500.0,
    )
}

/// `@retry` without arguments: no wait, no end, every exception. The list of codes has no part in mode `always`.
fn tenacity() -> Candidate {
    Candidate {
        name: "tenacity".to_owned(),
        source: "tenacity @retry without arguments: stop_never, wait_none, every exception".to_owned(),
        policy: RetryPolicy {
            mode: RetryMode::Always,
            backoff: Backoff { initial_delay_ms: 0.0, max_delay_ms: 0.0, jitter_ratio: 0.0 },
            ..RetryPolicy::default()
        },
        fixes: Fixes { ignore_retry_after: true, ..Fixes::default() },
    }
}

/// A constant wait is an exponential one whose first delay is its cap. "Every exception" is every failure code but a
/// cancellation by the caller.
fn constant(name: &str, source: &str, max_retries: u64, delay_ms: f64) -> Candidate {
    let mut retryable_codes = names(&KNOWN_CODES);
    retryable_codes.remove("ABORTED");
    Candidate {
        name: name.to_owned(),
        source: source.to_owned(),
        policy: RetryPolicy {
            mode: RetryMode::Normal,
            max_retries,
            retryable_codes,
            backoff: Backoff { initial_delay_ms: delay_ms, max_delay_ms: delay_ms, jitter_ratio: 0.0 },
        },
        fixes: Fixes { ignore_retry_after: true, ..Fixes::default() },
    }
}

fn names(codes: &[&str]) -> BTreeSet<String> {
    codes.iter().map(|code| (*code).to_owned()).collect()
}

/// The codes that no waiting heals, as a set: what a filter for mode `always` leaves out first.
#[must_use]
pub fn intrinsic_codes() -> BTreeSet<String> {
    names(&INTRINSIC_CODES)
}
