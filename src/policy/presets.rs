//! Policies with a name: the harness's own by release, documented defaults of well known libraries, and plugins of the
//! harness's community whose rules fit this model.
//!
//! Every number was read in the named source; what the model cannot hold stands in the candidate's `source`.

use std::collections::BTreeSet;

use super::fixes::{Candidate, CodeFilter, Fixes, JitterKind, RetryBudget};
use super::model::{Backoff, INTRINSIC_CODES, KNOWN_CODES, MAX_TIMER_DELAY_MS, RetryMode, RetryPolicy};
use super::release::{Release, ReleaseError};
use crate::report::lang::Language;

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

/// Where a preset's numbers were read, in English, for JSON.
fn source(key: &'static str) -> String {
    Language::English.say(key)
}

/// The key of the text that tells where the numbers of a preset were read.
#[must_use]
pub fn source_key(name: &str) -> Option<&'static str> {
    let base = name.split('@').next().unwrap_or(name);
    Some(match base {
        "dsh-default" if base != name => "policy.preset-dsh-default-release",
        "dsh-default" => "policy.preset-dsh-default",
        "dsh-always" => "policy.preset-dsh-always",
        "aws-standard" => "policy.preset-aws-standard",
        "aws-standard-2026" => "policy.preset-aws-standard-2026",
        "polly" => "policy.preset-polly",
        "resilience4j" => "policy.preset-resilience4j",
        "tenacity" => "policy.preset-tenacity",
        "dsh-reconnect" => "policy.preset-dsh-reconnect",
        "dsh-llm-retry-escape" => "policy.preset-dsh-llm-retry-escape",
        _ => return None,
    })
}

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
            own(RetryPolicy::default_for(&release), &source("policy.preset-dsh-default-release"))
        }
        ("dsh-default", None) => own(RetryPolicy::default(), &source("policy.preset-dsh-default")),
        ("dsh-always", _) => {
            own(RetryPolicy { mode: RetryMode::Always, ..RetryPolicy::default() }, &source("policy.preset-dsh-always"))
        }
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
    aws("aws-standard", "policy.preset-aws-standard", 1000.0, 5.0, 10.0)
}

/// Standard mode as of 2026 (`AWS_NEW_RETRIES_2026`): the first delay is 50 ms, a retry costs 14 of the quota of 500.
/// After throttling the first delay is 1 s; the model has one backoff for all codes and takes the other.
/// Sources: AWS Developer Tools Blog, "Announcing updated retry behavior for AWS SDKs and Tools"; the table in
/// github.com/aws/aws-sdk-cpp/issues/3832.
fn aws_standard_2026() -> Candidate {
    aws("aws-standard-2026", "policy.preset-aws-standard-2026", 50.0, 14.0, 14.0)
}

fn aws(name: &str, source_key: &'static str, initial_delay_ms: f64, cost: f64, timeout_cost: f64) -> Candidate {
    Candidate {
        name: name.to_owned(),
        source: source(source_key),
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
    constant("polly", "policy.preset-polly", 3, 2000.0)
}

/// Source: resilience4j.readme.io/docs/retry, the table of defaults: the first call counts as an attempt.
fn resilience4j() -> Candidate {
    constant("resilience4j", "policy.preset-resilience4j", 2, 500.0)
}

/// `@retry` without arguments: no wait, no end, every exception. The list of codes has no part in mode `always`.
/// Source: tenacity.readthedocs.io, "Basic Retry": the default is to retry forever without waiting.
fn tenacity() -> Candidate {
    Candidate {
        name: "tenacity".to_owned(),
        source: source("policy.preset-tenacity"),
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
        source: source("policy.preset-dsh-reconnect"),
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
        source: source("policy.preset-dsh-llm-retry-escape"),
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
fn constant(name: &str, source_key: &'static str, max_retries: u64, delay_ms: f64) -> Candidate {
    Candidate {
        name: name.to_owned(),
        source: source(source_key),
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
