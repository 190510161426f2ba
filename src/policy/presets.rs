//! Policies with a name: the harness's own by release, documented defaults of well known libraries, and plugins of the
//! harness's community whose rules fit this model.
//!
//! Every number was read in the named source; what the model cannot hold stands in the candidate's `source`.

use std::collections::BTreeSet;

use super::fixes::{Candidate, CodeFilter, Fixes, JitterKind, RetryBudget};
use super::model::{Backoff, INTRINSIC_CODES, KNOWN_CODES, MAX_TIMER_DELAY_MS, RetryMode, RetryPolicy};
use super::release::{Release, ReleaseError};

/// Names of all presets; `dsh-default` and `dsh-always` also take a release (`dsh-default@0.1.0-rc.5`).
pub const PRESET_NAMES: [&str; 9] = [
    "dsh-default",
    "dsh-always",
    "aws-standard",
    "aws-standard-2026",
    "polly",
    "resilience4j",
    "tenacity",
    "dsh-reconnect",
    "dsh-llm-retry-escape",
];

/// All presets, in the order of [`PRESET_NAMES`].
#[must_use]
pub fn all() -> Vec<Candidate> {
    PRESET_NAMES.iter().filter_map(|name| preset(name).ok().flatten()).collect()
}

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
        ("aws-standard-2026", None) => Ok(Some(aws_standard_2026())),
        ("polly", None) => Ok(Some(polly())),
        ("resilience4j", None) => Ok(Some(resilience4j())),
        ("tenacity", None) => Ok(Some(tenacity())),
        ("dsh-reconnect", None) => Ok(Some(reconnect())),
        ("dsh-llm-retry-escape", None) => Ok(Some(retry_escape())),
        _ => Ok(None),
    }
}

/// Standard mode before the change of 2026: 3 attempts, `rand(0, 1) · min(2^i, 20 s)`, retry quota 500 at 5 a retry (10
/// after a timeout), 1 back for a success at the first attempt.
/// Sources: AWS SDKs and Tools Reference Guide, "Retry behavior"
/// (docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html); botocore, `retries/standard.py` and
/// `retries/quota.py`.
fn aws_standard() -> Candidate {
    let source = "AWS SDKs, standard mode before 2026 (\"Retry behavior\" in the SDKs and Tools Reference Guide; botocore): \
                  3 attempts, full jitter up to 20 s, retry quota 500 at 5 a retry and 10 after a timeout";
    aws("aws-standard", source, 1000.0, 5.0, 10.0)
}

/// Standard mode as of 2026 (`AWS_NEW_RETRIES_2026`): the first delay is 50 ms, a retry costs 14 of the quota of 500.
/// After throttling the first delay is 1 s; the model has one backoff for all codes and takes the other.
/// Sources: AWS Developer Tools Blog, "Announcing updated retry behavior for AWS SDKs and Tools"; the table in
/// github.com/aws/aws-sdk-cpp/issues/3832.
fn aws_standard_2026() -> Candidate {
    let source = "AWS SDKs, standard mode of 2026 (AWS Developer Tools Blog, \"updated retry behavior\"): 3 attempts, full \
                  jitter from 50 ms up to 20 s, retry quota 500 at 14 a retry; its longer first delay after throttling \
                  (1 s) is not in the model";
    aws("aws-standard-2026", source, 50.0, 14.0, 14.0)
}

fn aws(name: &str, source: &str, initial_delay_ms: f64, cost: f64, timeout_cost: f64) -> Candidate {
    Candidate {
        name: name.to_owned(),
        source: source.to_owned(),
        policy: RetryPolicy {
            mode: RetryMode::Normal,
            max_retries: 2,
            retryable_codes: names(&["RATE_LIMIT", "SERVER", "TIMEOUT", "TRANSPORT"]),
            backoff: Backoff { initial_delay_ms, max_delay_ms: 20_000.0, jitter_ratio: 0.0 },
        },
        fixes: Fixes {
            ignore_retry_after: true,
            jitter: JitterKind::Full,
            retry_budget: Some(RetryBudget::TokenBucket { capacity: 500.0, cost, timeout_cost, refund: 1.0 }),
            ..Fixes::default()
        },
    }
}

/// Source: pollydocs.org, API reference, `RetryStrategyOptions<TResult>`: the defaults of its properties.
fn polly() -> Candidate {
    constant(
        "polly",
        "Polly 8, RetryStrategyOptions (pollydocs.org): MaxRetryAttempts 3, BackoffType Constant, Delay 2 s, no jitter, \
         every exception",
        3,
        2000.0,
    )
}

/// Source: resilience4j.readme.io/docs/retry, the table of defaults: the first call counts as an attempt.
fn resilience4j() -> Candidate {
    constant(
        "resilience4j",
        "resilience4j, RetryConfig (resilience4j.readme.io/docs/retry): maxAttempts 3 (the first included), waitDuration \
         500 ms constant, every exception",
        2,
        500.0,
    )
}

/// `@retry` without arguments: no wait, no end, every exception. The list of codes has no part in mode `always`.
/// Source: tenacity.readthedocs.io, "Basic Retry": the default is to retry forever without waiting.
fn tenacity() -> Candidate {
    Candidate {
        name: "tenacity".to_owned(),
        source: "tenacity, @retry without arguments (tenacity.readthedocs.io): stop_never, wait_none, every exception"
            .to_owned(),
        policy: RetryPolicy {
            mode: RetryMode::Always,
            backoff: Backoff { initial_delay_ms: 0.0, max_delay_ms: 0.0, jitter_ratio: 0.0 },
            ..RetryPolicy::default()
        },
        fixes: Fixes { ignore_retry_after: true, ..Fixes::default() },
    }
}

/// A plugin that goes on where the harness's own policy gives up: 1 s doubled up to 60 s, no jitter, Retry-After without
/// a cap, no end, all codes but the permanent ones.
/// Source: github.com/mrbeandev/dsh-reconnect (English edition of MistRain-1/dsh-reconnect), README and `src/index.js`
/// at commit 12a9b8a.
fn reconnect() -> Candidate {
    const PERMANENT: [&str; 10] = [
        "ABORTED",
        "AUTH",
        "CONTEXT_WINDOW_EXCEEDED",
        "INVALID_CREDENTIAL",
        "INVALID_REQUEST",
        "MISSING_CREDENTIAL",
        "NO_ADAPTER",
        "QUOTA",
        "UNSUPPORTED_CONTENT",
        "UNSUPPORTED_REASONING_EFFORT",
    ];
    Candidate {
        name: "dsh-reconnect".to_owned(),
        source:
            "plugin dsh-reconnect (github.com/mrbeandev/dsh-reconnect): without end, 1 s to 60 s, Retry-After without \
                 a cap, all but permanent codes; the harness's own retries before it are not in the model"
                .to_owned(),
        policy: RetryPolicy {
            mode: RetryMode::Always,
            backoff: Backoff { initial_delay_ms: 1000.0, max_delay_ms: 60_000.0, jitter_ratio: 0.0 },
            ..RetryPolicy::default()
        },
        fixes: Fixes {
            retry_after_cap_ms: Some(MAX_TIMER_DELAY_MS),
            always_filter: Some(CodeFilter::Except(names(&PERMANENT))),
            ..Fixes::default()
        },
    }
}

/// A plugin in place of `llm-retry`: mode `always` gives up after 30 retries of a step, and no wait is above 5 s.
/// Source: github.com/qilingzon/dsh-llm-retry-escape, README and `index.js` at commit dd1183f (defaults).
fn retry_escape() -> Candidate {
    Candidate {
        name: "dsh-llm-retry-escape".to_owned(),
        source:
            "plugin dsh-llm-retry-escape (github.com/qilingzon/dsh-llm-retry-escape), its mode always with the default \
                 backoff: gives up after 30 retries, waits at most 5 s; where Retry-After is longer it waits its own \
                 delay, here 5 s"
                .to_owned(),
        policy: RetryPolicy {
            mode: RetryMode::Normal,
            max_retries: 30,
            retryable_codes: every_failure(),
            backoff: Backoff { max_delay_ms: 5000.0, ..Backoff::default() },
        },
        fixes: Fixes { clamp_retry_after: true, ..Fixes::default() },
    }
}

/// A constant wait is an exponential one whose first delay is its cap.
fn constant(name: &str, source: &str, max_retries: u64, delay_ms: f64) -> Candidate {
    Candidate {
        name: name.to_owned(),
        source: source.to_owned(),
        policy: RetryPolicy {
            mode: RetryMode::Normal,
            max_retries,
            retryable_codes: every_failure(),
            backoff: Backoff { initial_delay_ms: delay_ms, max_delay_ms: delay_ms, jitter_ratio: 0.0 },
        },
        fixes: Fixes { ignore_retry_after: true, ..Fixes::default() },
    }
}

/// "Every exception" is every failure code but a cancellation by the caller.
fn every_failure() -> BTreeSet<String> {
    let mut codes = names(&KNOWN_CODES);
    codes.remove("ABORTED");
    codes
}

fn names(codes: &[&str]) -> BTreeSet<String> {
    codes.iter().map(|code| (*code).to_owned()).collect()
}

/// The codes that no waiting heals, as a set: what a filter for mode `always` leaves out first.
#[must_use]
pub fn intrinsic_codes() -> BTreeSet<String> {
    names(&INTRINSIC_CODES)
}
