//! The community's repairs as switches, and the candidate policy that carries them (spec 2.1, 4.5 point 11).
//!
//! All switches off is the harness as it is. Durations are milliseconds.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::model::RetryPolicy;

/// When a time budget ends a chain (the two meanings that tenacity names `stop_after_delay` and `stop_before_delay`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopRule {
    /// Give up at the first failure at or after the limit; the last wait may pass it.
    After,
    /// Give up when the next wait would reach the limit.
    Before,
}

/// "Keep trying for 30 minutes".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TimeBudget {
    /// Time since the chain's first failure.
    pub limit_ms: f64,
    /// See [`StopRule`].
    pub stop: StopRule,
    /// Whether `maxRetries` still counts; otherwise time alone limits mode `normal`.
    pub keep_count: bool,
}

/// Which codes mode `always` retries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CodeFilter {
    /// These only.
    Only(BTreeSet<String>),
    /// All but these.
    Except(BTreeSet<String>),
}

impl CodeFilter {
    /// Whether the filter lets the code through.
    #[must_use]
    pub fn admits(&self, code: &str) -> bool {
        match self {
            Self::Only(codes) => codes.contains(code),
            Self::Except(codes) => !codes.contains(code),
        }
    }
}

/// Go on with another route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailOver {
    /// Routes in order of preference, the one in use left out.
    pub routes: Vec<String>,
    /// Failures on one route before the next is tried; `None`: only where the policy gives up.
    pub after_failures: Option<u64>,
}

/// A budget of retries shared by all chains of a route.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum RetryBudget {
    /// AWS SDKs, standard mode: a retry costs tokens, a success gives them back.
    TokenBucket {
        /// Tokens at the start, and the most there can be.
        capacity: f64,
        /// Price of a retry.
        cost: f64,
        /// Price of a retry after a `TIMEOUT`.
        timeout_cost: f64,
        /// Tokens for a success at the first attempt; a success after a retry returns that retry's price.
        refund: f64,
    },
    /// Finagle: retries at most a share of the requests of a sliding window, plus a floor.
    Ratio {
        /// Retries per request.
        ratio: f64,
        /// Width of the window.
        window_ms: f64,
        /// Retries per second always allowed.
        min_per_second: f64,
    },
}

/// What a retry does while the breaker is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenOpen {
    /// Give up at once (the usual meaning).
    FailFast,
    /// Wait until the breaker lets a trial through.
    Wait,
}

/// Stop asking a route that keeps failing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CircuitBreaker {
    /// Failures in a row, over all chains of the route, that open it.
    pub failures: u64,
    /// How long it stays open before one trial.
    pub open_ms: f64,
    /// See [`WhenOpen`].
    pub when_open: WhenOpen,
}

/// How chance enters a local delay. `base` is the capped exponential delay. Full, equal and decorrelated: M. Brooker,
/// "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JitterKind {
    /// The harness's: `min(base · (1 − j + 2·j·U), max)`.
    #[default]
    Harness,
    /// `base`.
    None,
    /// `U · base`.
    Full,
    /// `base/2 + U · base/2`.
    Equal,
    /// `min(max, initial + U · (3 · previous − initial))`, previous = initial at first.
    Decorrelated,
}

/// All switches.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Fixes {
    /// L4b: cap for Retry-After, apart from `maxDelayMs`.
    pub retry_after_cap_ms: Option<f64>,
    /// L4b: wait the cap instead of giving up (or of ignoring it) when Retry-After is above it.
    pub clamp_retry_after: bool,
    /// L4a: adapters that drop Retry-After pass it on.
    pub expose_retry_after: bool,
    /// The policy does not look at Retry-After (libraries whose default ignores the header).
    pub ignore_retry_after: bool,
    /// L1: an overflow label at a fill (0 to 1) below this counts as `SERVER`.
    pub evidence_guard: Option<f64>,
    /// L1: the gateway answers 503 where it answered a bodyless 400 or 413, so the code becomes `SERVER`.
    pub gateway_rewrite: bool,
    /// L3: see [`TimeBudget`].
    pub time_budget: Option<TimeBudget>,
    /// L2: retries whose wait was cancelled do not count.
    pub uncounted_cancelled: bool,
    /// L3: see [`CodeFilter`]; mode `always` only.
    pub always_filter: Option<CodeFilter>,
    /// L5: see [`FailOver`].
    pub fail_over: Option<FailOver>,
    /// See [`RetryBudget`].
    pub retry_budget: Option<RetryBudget>,
    /// See [`CircuitBreaker`].
    pub breaker: Option<CircuitBreaker>,
    /// L4: see [`JitterKind`].
    pub jitter: JitterKind,
}

impl Fixes {
    /// Whether any switch is on; without, the candidate is a policy that the harness can run today.
    #[must_use]
    pub fn any(&self) -> bool {
        *self != Self::default()
    }

    /// The switches that are on, in the words of an inline edit, so that `base + words` builds them again.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.expose_retry_after {
            words.push("expose-retry-after".to_owned());
        }
        if self.ignore_retry_after {
            words.push("ignore-retry-after".to_owned());
        }
        if let Some(cap) = self.retry_after_cap_ms {
            words.push(format!("retry-after-cap {cap}ms"));
        }
        if self.clamp_retry_after {
            words.push("clamp".to_owned());
        }
        if let Some(fill) = self.evidence_guard {
            words.push(format!("evidence-guard {fill}"));
        }
        if self.gateway_rewrite {
            words.push("gateway-503".to_owned());
        }
        if let Some(budget) = self.time_budget {
            let stop = if budget.stop == StopRule::After { "after" } else { "before" };
            let keep = if budget.keep_count { " keep-count" } else { "" };
            words.push(format!("time-budget {}ms {stop}{keep}", budget.limit_ms));
        }
        if self.uncounted_cancelled {
            words.push("uncounted-cancelled".to_owned());
        }
        match &self.always_filter {
            Some(CodeFilter::Only(codes)) => words.push(format!("always-only {}", join(codes))),
            Some(CodeFilter::Except(codes)) => words.push(format!("always-except {}", join(codes))),
            None => {}
        }
        if let Some(fail_over) = &self.fail_over {
            let after = fail_over.after_failures.map(|count| format!(" after {count}")).unwrap_or_default();
            words.push(format!("fail-over {}{after}", fail_over.routes.join(",")));
        }
        match self.retry_budget {
            Some(RetryBudget::TokenBucket { capacity, cost, timeout_cost, refund }) => {
                words.push(format!("token-bucket {capacity} {cost} {timeout_cost} {refund}"));
            }
            Some(RetryBudget::Ratio { ratio, window_ms, min_per_second }) => {
                words.push(format!("retry-ratio {ratio} {window_ms}ms {min_per_second}"));
            }
            None => {}
        }
        if let Some(breaker) = self.breaker {
            let open = if breaker.when_open == WhenOpen::Wait { "wait" } else { "fail-fast" };
            words.push(format!("breaker {} {}ms {open}", breaker.failures, breaker.open_ms));
        }
        match self.jitter {
            JitterKind::Harness => {}
            JitterKind::None => words.push("jitter none".to_owned()),
            JitterKind::Full => words.push("jitter full".to_owned()),
            JitterKind::Equal => words.push("jitter equal".to_owned()),
            JitterKind::Decorrelated => words.push("jitter decorrelated".to_owned()),
        }
        words
    }
}

fn join(codes: &BTreeSet<String>) -> String {
    codes.iter().map(String::as_str).collect::<Vec<_>>().join(",")
}

/// A policy to be compared: what the harness could run, plus repairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// What the reports call it.
    pub name: String,
    /// Where its numbers come from, one line.
    pub source: String,
    /// Count, codes, delays.
    pub policy: RetryPolicy,
    /// Switches.
    pub fixes: Fixes,
}

impl Candidate {
    /// A policy without repairs.
    #[must_use]
    pub fn plain(name: &str, source: &str, policy: RetryPolicy) -> Self {
        Self { name: name.to_owned(), source: source.to_owned(), policy, fixes: Fixes::default() }
    }
}
