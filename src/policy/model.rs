//! The retry policy itself, its defaults, and the key under which the harness writes it to the log.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::release::Release;

/// Failure codes retried by default, in the order of the harness's own list.
pub const DEFAULT_RETRYABLE_CODES: [&str; 5] = ["EMPTY_RESPONSE", "RATE_LIMIT", "SERVER", "TIMEOUT", "TRANSPORT"];

/// Whether the harness's default policy (`normal`, no `retryableCodes`) retries this code.
#[must_use]
pub fn retried_by_default(code: &str) -> bool {
    DEFAULT_RETRYABLE_CODES.contains(&code)
}

/// Every stable failure code of the harness's two adapters; `HTTP_<status>` exists besides.
pub const KNOWN_CODES: [&str; 21] = [
    "ABORTED",
    "AUTH",
    "CONTEXT_WINDOW_EXCEEDED",
    "EMPTY_RESPONSE",
    "IMAGE_OFFLOAD_REQUIRED",
    "INVALID_CREDENTIAL",
    "INVALID_REQUEST",
    "MALFORMED_RESPONSE",
    "MISSING_CREDENTIAL",
    "NO_ADAPTER",
    "PI_AI_ERROR",
    "QUOTA",
    "RATE_LIMIT",
    "SERVER",
    "STREAM_CLOSED",
    "TIMEOUT",
    "TRANSPORT",
    "UNKNOWN",
    "UNKNOWN_MODEL",
    "UNSUPPORTED_CONTENT",
    "UNSUPPORTED_REASONING_EFFORT",
];

/// Codes that no waiting heals: they belong to the credentials, the account or the request.
pub const INTRINSIC_CODES: [&str; 10] = [
    "AUTH",
    "INVALID_CREDENTIAL",
    "INVALID_REQUEST",
    "MISSING_CREDENTIAL",
    "NO_ADAPTER",
    "QUOTA",
    "UNKNOWN_MODEL",
    "UNSUPPORTED_CONTENT",
    "UNSUPPORTED_REASONING_EFFORT",
    "IMAGE_OFFLOAD_REQUIRED",
];

/// The longest delay that the harness's timer takes, in milliseconds.
pub const MAX_TIMER_DELAY_MS: f64 = 2_147_483_647.0;

/// Longest `maxDelayMs` that is ever proposed, milliseconds: a provider that says "come back in 70 years" means no time.
pub const LONGEST_PROPOSED_DELAY_MS: f64 = 3_600_000.0;

/// The `maxDelayMs` to propose where a provider asks for a wait, milliseconds: whole minutes, since the next answer may
/// ask for a little more; `None` beyond [`LONGEST_PROPOSED_DELAY_MS`].
#[must_use]
pub fn proposed_delay_ms(asked: f64) -> Option<f64> {
    (asked <= LONGEST_PROPOSED_DELAY_MS).then(|| ((asked / 60_000.0).floor() + 1.0) * 60_000.0)
}
/// The largest `maxRetries`: JavaScript's `Number.MAX_SAFE_INTEGER`.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Whether a count and a list of codes bound the retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RetryMode {
    /// `maxRetries` retries, and only of `retryableCodes`.
    Normal,
    /// Every failure, without end.
    Always,
}

impl RetryMode {
    /// The word of the settings file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Always => "always",
        }
    }
}

/// Bounded exponential backoff with symmetric jitter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Backoff {
    /// Delay before the first retry, in milliseconds.
    pub initial_delay_ms: f64,
    /// Cap of a local delay, and of an accepted Retry-After, in milliseconds.
    pub max_delay_ms: f64,
    /// Half width of the random factor around one, 0 to 1.
    pub jitter_ratio: f64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { initial_delay_ms: 500.0, max_delay_ms: 10_000.0, jitter_ratio: 0.1 }
    }
}

/// One resolved retry policy of one provider route (spec 2.5).
///
/// `max_retries` and `retryable_codes` mean nothing in mode `always`, as in the harness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryPolicy {
    /// See [`RetryMode`].
    pub mode: RetryMode,
    /// Retries after the first request.
    pub max_retries: u64,
    /// Codes that are retried.
    pub retryable_codes: BTreeSet<String>,
    /// Delays.
    pub backoff: Backoff,
}

impl Default for RetryPolicy {
    /// The default of the newest release known (five retries).
    fn default() -> Self {
        Self { mode: RetryMode::Normal, max_retries: 5, retryable_codes: default_codes(), backoff: Backoff::default() }
    }
}

/// [`DEFAULT_RETRYABLE_CODES`] as a set.
#[must_use]
pub fn default_codes() -> BTreeSet<String> {
    DEFAULT_RETRYABLE_CODES.iter().map(|code| (*code).to_owned()).collect()
}

impl RetryPolicy {
    /// The policy of a route that configures none, in this release.
    #[must_use]
    pub fn default_for(release: &Release) -> Self {
        Self { max_retries: release.default_max_retries(), ..Self::default() }
    }

    /// The harness's canonical name of this policy: the `policyKey` of an `llm/retry` event.
    ///
    /// `["normal",maxRetries,[codes sorted],initial,max,jitter]` or `["always",initial,max,jitter]`, as
    /// `JSON.stringify` writes it: no spaces, numbers in JavaScript's shortest form, codes by UTF-16 order.
    #[must_use]
    pub fn policy_key(&self) -> String {
        let Backoff { initial_delay_ms, max_delay_ms, jitter_ratio } = self.backoff;
        let delays = format!("{},{},{}", js_number(initial_delay_ms), js_number(max_delay_ms), js_number(jitter_ratio));
        match self.mode {
            RetryMode::Always => format!("[\"always\",{delays}]"),
            RetryMode::Normal => {
                let mut codes: Vec<&String> = self.retryable_codes.iter().collect();
                codes.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
                let codes: Vec<String> = codes.into_iter().map(|code| json_string(code)).collect();
                format!("[\"normal\",{},[{}],{delays}]", self.max_retries, codes.join(","))
            }
        }
    }

    /// Read a `policyKey` back; `None` when it is not one of the two forms. The parts that a key of mode `always` does
    /// not carry get their defaults.
    #[must_use]
    pub fn from_policy_key(key: &str) -> Option<Self> {
        if let Ok((mode, max_retries, codes, initial_delay_ms, max_delay_ms, jitter_ratio)) =
            serde_json::from_str::<(String, u64, Vec<String>, f64, f64, f64)>(key)
        {
            return (mode == "normal").then(|| Self {
                mode: RetryMode::Normal,
                max_retries,
                retryable_codes: codes.into_iter().collect(),
                backoff: Backoff { initial_delay_ms, max_delay_ms, jitter_ratio },
            });
        }
        let (mode, initial_delay_ms, max_delay_ms, jitter_ratio) =
            serde_json::from_str::<(String, f64, f64, f64)>(key).ok()?;
        (mode == "always").then(|| Self {
            mode: RetryMode::Always,
            backoff: Backoff { initial_delay_ms, max_delay_ms, jitter_ratio },
            ..Self::default()
        })
    }

    /// Whether a failure of this code is tried again (before any count is looked at).
    #[must_use]
    pub fn retries_code(&self, code: &str) -> bool {
        self.mode == RetryMode::Always || self.retryable_codes.contains(code)
    }

    /// The codes in the order a reader expects: the defaults first, then the rest by name.
    #[must_use]
    pub fn codes_in_order(&self) -> Vec<&str> {
        let defaults = DEFAULT_RETRYABLE_CODES.iter().copied().filter(|code| self.retryable_codes.contains(*code));
        let others =
            self.retryable_codes.iter().map(String::as_str).filter(|code| !DEFAULT_RETRYABLE_CODES.contains(code));
        defaults.chain(others).collect()
    }

    /// The default codes that the list leaves out (empty in mode `always`).
    #[must_use]
    pub fn dropped_default_codes(&self) -> Vec<&'static str> {
        match self.mode {
            RetryMode::Always => Vec::new(),
            RetryMode::Normal => {
                DEFAULT_RETRYABLE_CODES.iter().copied().filter(|code| !self.retryable_codes.contains(*code)).collect()
            }
        }
    }
}

/// A number as JavaScript's `String(n)` writes it (ECMA-262, Number::toString, radix 10).
#[must_use]
pub fn js_number(value: f64) -> String {
    if value == 0.0 {
        // Also -0, which JSON.stringify writes as 0.
        return "0".to_owned();
    }
    if !value.is_finite() {
        return "null".to_owned();
    }
    let magnitude = value.abs();
    if magnitude >= 1e21 {
        format!("{value:e}").replace('e', "e+")
    } else if magnitude < 1e-6 {
        format!("{value:e}")
    } else {
        format!("{value}")
    }
}

/// A string as `JSON.stringify` writes it.
#[must_use]
pub fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
