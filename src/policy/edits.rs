//! Inline edits: `dsh-default + maxRetries 10 + mode always + expose-retry-after` → a candidate.

use std::collections::BTreeSet;

use super::fixes::{
    Candidate, CircuitBreaker, CodeFilter, FailOver, JitterKind, RetryBudget, StopRule, TimeBudget, WhenOpen,
};
use super::model::{RetryMode, default_codes};
use super::presets::{PRESET_NAMES, intrinsic_codes, preset};
use super::release::ReleaseError;
use super::spelling::did_you_mean;
use crate::message;
use crate::message::Message;
use crate::report::lang::Language;

/// The edits, each with the key of its line of help. [`usage`] says it in English, for JSON.
pub const EDITS: [(&str, &str); 25] = [
    ("retry", "policy.edit-retry"),
    ("no-retry", "policy.edit-no-retry"),
    ("codes", "policy.edit-codes"),
    ("mode", "policy.edit-mode"),
    ("maxRetries", "policy.edit-maxRetries"),
    ("initialDelayMs", "policy.edit-initialDelayMs"),
    ("maxDelayMs", "policy.edit-maxDelayMs"),
    ("jitterRatio", "policy.edit-jitterRatio"),
    ("expose-retry-after", "policy.edit-expose-retry-after"),
    ("ignore-retry-after", "policy.edit-ignore-retry-after"),
    ("retry-after-cap", "policy.edit-retry-after-cap"),
    ("clamp", "policy.edit-clamp"),
    ("evidence-guard", "policy.edit-evidence-guard"),
    ("gateway-503", "policy.edit-gateway-503"),
    ("time-budget", "policy.edit-time-budget"),
    ("uncounted-cancelled", "policy.edit-uncounted-cancelled"),
    ("always-only", "policy.edit-always-only"),
    ("always-except", "policy.edit-always-except"),
    ("fail-over", "policy.edit-fail-over"),
    ("token-bucket", "policy.edit-token-bucket"),
    ("retry-ratio", "policy.edit-retry-ratio"),
    ("breaker", "policy.edit-breaker"),
    ("jitter", "policy.edit-jitter"),
    ("name", "policy.edit-name"),
    ("none", "policy.edit-none"),
];

/// How an edit is written and what it does, in English.
#[must_use]
pub fn usage(key: &'static str) -> String {
    Language::English.say(key)
}

/// An expression that is none.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EditError {
    /// Nothing before the first `+`.
    #[error("an expression starts with a policy: a file's policy, \"current\", or one of {}", PRESET_NAMES.join(", "))]
    NoBase,
    /// The policy has no such name.
    #[error("there is no policy \"{name}\"{}", hint(.suggestion.as_deref()))]
    UnknownBase {
        /// As written.
        name: String,
        /// Nearest known name.
        suggestion: Option<String>,
    },
    /// The release after `@`.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// There is no such edit.
    #[error("there is no edit \"{edit}\"{}", hint(.suggestion.as_deref()))]
    UnknownEdit {
        /// As written.
        edit: String,
        /// Nearest known edit.
        suggestion: Option<String>,
    },
    /// The edit's values are missing or wrong.
    #[error("\"{edit}\": expected {}", usage(.key))]
    BadValue {
        /// As written.
        edit: String,
        /// Of the line in [`EDITS`].
        key: &'static str,
    },
    /// The result is a policy that the harness refuses.
    #[error("{0}")]
    Refused(String),
}

impl EditError {
    /// What is wrong, for every language.
    #[must_use]
    pub fn message(&self) -> Message {
        let quoted = |text: &str| format!("\"{text}\"");
        match self {
            Self::NoBase => message!("policy.no-base").with_words("presets", PRESET_NAMES),
            Self::UnknownBase { name, suggestion: None } => message!("policy.unknown-base", name = quoted(name)),
            Self::UnknownBase { name, suggestion: Some(near) } => {
                message!("policy.unknown-base-but", name = quoted(name), near = quoted(near))
            }
            Self::Release(error) => error.message(),
            Self::UnknownEdit { edit, suggestion: None } => message!("policy.unknown-edit", edit = quoted(edit)),
            Self::UnknownEdit { edit, suggestion: Some(near) } => {
                message!("policy.unknown-edit-but", edit = quoted(edit), near = quoted(near))
            }
            Self::BadValue { edit, key } => {
                message!("policy.bad-value", edit = quoted(edit), usage = Message::new(key))
            }
            Self::Refused(words) => Message::verbatim(words),
        }
    }
}

fn hint(suggestion: Option<&str>) -> String {
    suggestion.map(|word| format!(" (did you mean \"{word}\"?)")).unwrap_or_default()
}

/// Read `BASE [+ EDIT]…`.
///
/// `named` answers names that are no presets: `current`, policies of files. Presets come first.
///
/// # Errors
/// See [`EditError`].
pub fn parse_candidate(expression: &str, named: &dyn Fn(&str) -> Option<Candidate>) -> Result<Candidate, EditError> {
    let mut parts = split_edits(expression).into_iter();
    let base = parts.next().filter(|base| !base.is_empty()).ok_or(EditError::NoBase)?;
    let mut candidate = match preset(base)? {
        Some(candidate) => candidate,
        None => named(base).ok_or_else(|| unknown_base(base))?,
    };
    let edits: Vec<&str> = parts.collect();
    let foreign = super::resolve::validate_policy(&candidate.policy, base).is_err();
    for edit in &edits {
        apply_edit(&mut candidate, edit)?;
    }
    if !edits.is_empty() {
        if !edits.iter().any(|edit| edit.split_whitespace().next() == Some("name")) {
            candidate.name = std::iter::once(base).chain(edits.iter().copied()).collect::<Vec<_>>().join(" + ");
        }
        // A library's preset may hold numbers that the harness refuses (no wait at all); an edit may not add any.
        if !foreign {
            super::resolve::validate_policy(&candidate.policy, &candidate.name).map_err(EditError::Refused)?;
        }
    }
    Ok(candidate)
}

/// Parts between plus signs that stand free; a plus inside a word (a release's build) is kept.
fn split_edits(expression: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = expression;
    while let Some(at) = find_free_plus(rest) {
        parts.push(rest[..at].trim());
        rest = &rest[at + 1..];
    }
    parts.push(rest.trim());
    parts
}

fn find_free_plus(text: &str) -> Option<usize> {
    text.match_indices('+').map(|(at, _)| at).find(|at| {
        let before = text[..*at].chars().next_back().is_none_or(char::is_whitespace);
        let after = text[at + 1..].chars().next().is_none_or(char::is_whitespace);
        before || after
    })
}

fn unknown_base(base: &str) -> EditError {
    let known = PRESET_NAMES.iter().copied().chain(["current"]);
    EditError::UnknownBase { name: base.to_owned(), suggestion: did_you_mean(base, known).map(str::to_owned) }
}

/// Apply one edit.
///
/// # Errors
/// An edit that does not exist, or whose values are missing or wrong.
pub fn apply_edit(candidate: &mut Candidate, edit: &str) -> Result<(), EditError> {
    let mut words = edit.split_whitespace();
    let name = words.next().unwrap_or_default();
    let Some((name, key)) = EDITS.iter().copied().find(|(known, _)| *known == name) else {
        let suggestion = did_you_mean(name, EDITS.iter().map(|(known, _)| *known)).map(str::to_owned);
        return Err(EditError::UnknownEdit { edit: edit.to_owned(), suggestion });
    };
    let values: Vec<&str> = words.collect();
    set(candidate, name, &values).ok_or_else(|| EditError::BadValue { edit: edit.to_owned(), key })
}

fn set(candidate: &mut Candidate, name: &str, values: &[&str]) -> Option<()> {
    let Candidate { policy, fixes, .. } = candidate;
    let backoff = &mut policy.backoff;
    match (name, values) {
        ("retry", _) => policy.retryable_codes.extend(codes(values)?),
        ("no-retry", _) => {
            let away = codes(values)?;
            policy.retryable_codes.retain(|code| !away.contains(code));
        }
        ("codes", ["default"]) => policy.retryable_codes = default_codes(),
        ("codes", _) => policy.retryable_codes = codes(values)?,
        ("mode", ["normal"]) => policy.mode = RetryMode::Normal,
        ("mode", ["always"]) => policy.mode = RetryMode::Always,
        ("maxRetries", [count]) => policy.max_retries = count.parse().ok()?,
        ("initialDelayMs", [value]) => backoff.initial_delay_ms = duration_ms(value)?,
        ("maxDelayMs", [value]) => backoff.max_delay_ms = duration_ms(value)?,
        ("jitterRatio", [value]) => backoff.jitter_ratio = number(value)?,
        ("expose-retry-after", []) => fixes.expose_retry_after = true,
        ("ignore-retry-after", []) => fixes.ignore_retry_after = true,
        ("retry-after-cap", [value]) => fixes.retry_after_cap_ms = Some(duration_ms(value)?),
        ("clamp", []) => fixes.clamp_retry_after = true,
        ("evidence-guard", [value]) => fixes.evidence_guard = Some(number(value)?),
        ("gateway-503", []) => fixes.gateway_rewrite = true,
        ("time-budget", [limit, how @ ..]) => fixes.time_budget = Some(time_budget(limit, how)?),
        ("uncounted-cancelled", []) => fixes.uncounted_cancelled = true,
        ("always-only", _) => fixes.always_filter = Some(CodeFilter::Only(codes(values)?)),
        ("always-except", ["intrinsic"]) => fixes.always_filter = Some(CodeFilter::Except(intrinsic_codes())),
        ("always-except", _) => fixes.always_filter = Some(CodeFilter::Except(codes(values)?)),
        ("fail-over", [routes, how @ ..]) => fixes.fail_over = Some(fail_over(routes, how)?),
        ("token-bucket", _) => fixes.retry_budget = Some(token_bucket(values)?),
        ("retry-ratio", [ratio, rest @ ..]) => fixes.retry_budget = Some(ratio_budget(ratio, rest)?),
        ("breaker", [failures, open, how @ ..]) => {
            let when_open = match how {
                [] | ["fail-fast"] => WhenOpen::FailFast,
                ["wait"] => WhenOpen::Wait,
                _ => return None,
            };
            let failures = failures.parse().ok().filter(|count| *count > 0)?;
            fixes.breaker = Some(CircuitBreaker { failures, open_ms: duration_ms(open)?, when_open });
        }
        ("jitter", [kind]) => {
            fixes.jitter = match *kind {
                "harness" => JitterKind::Harness,
                "none" => JitterKind::None,
                "full" => JitterKind::Full,
                "equal" => JitterKind::Equal,
                "decorrelated" => JitterKind::Decorrelated,
                _ => return None,
            }
        }
        ("name", [_, ..]) => candidate.name = values.join(" "),
        ("none", []) => {}
        _ => return None,
    }
    Some(())
}

fn time_budget(limit: &str, how: &[&str]) -> Option<TimeBudget> {
    let mut budget = TimeBudget { limit_ms: duration_ms(limit)?, stop: StopRule::After, keep_count: false };
    for word in how {
        match *word {
            "after" => budget.stop = StopRule::After,
            "before" => budget.stop = StopRule::Before,
            "keep-count" => budget.keep_count = true,
            _ => return None,
        }
    }
    Some(budget)
}

fn fail_over(routes: &str, how: &[&str]) -> Option<FailOver> {
    let routes: Vec<String> = routes.split(',').filter(|route| !route.is_empty()).map(str::to_owned).collect();
    let after_failures = match how {
        [] => None,
        ["after", count] => Some(count.parse().ok().filter(|count| *count > 0)?),
        _ => return None,
    };
    (!routes.is_empty()).then_some(FailOver { routes, after_failures })
}

fn token_bucket(values: &[&str]) -> Option<RetryBudget> {
    let mut numbers = [500.0, 5.0, 10.0, 1.0];
    if values.len() > numbers.len() {
        return None;
    }
    for (slot, value) in numbers.iter_mut().zip(values) {
        *slot = number(value)?;
    }
    // One price for all where only one is given.
    if values.len() == 2 {
        numbers[2] = numbers[1];
    }
    let [capacity, cost, timeout_cost, refund] = numbers;
    Some(RetryBudget::TokenBucket { capacity, cost, timeout_cost, refund })
}

fn ratio_budget(ratio: &str, rest: &[&str]) -> Option<RetryBudget> {
    let (window_ms, min_per_second) = match rest {
        [] => (10_000.0, 10.0),
        [window] => (duration_ms(window)?, 10.0),
        [window, minimum] => (duration_ms(window)?, number(minimum)?),
        _ => return None,
    };
    Some(RetryBudget::Ratio { ratio: number(ratio)?, window_ms, min_per_second })
}

fn codes(values: &[&str]) -> Option<BTreeSet<String>> {
    let codes: BTreeSet<String> =
        values.iter().flat_map(|value| value.split(',')).filter(|code| !code.is_empty()).map(str::to_owned).collect();
    (!codes.is_empty()).then_some(codes)
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// A duration in milliseconds: `250`, `250ms`, `30s`, `5m` or `5min`, `2h`.
#[must_use]
pub fn duration_ms(text: &str) -> Option<f64> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let factor = match unit {
        "" | "ms" => 1.0,
        "s" => 1e3,
        "m" | "min" => 6e4,
        "h" => 3.6e6,
        _ => return None,
    };
    number(digits).map(|value| value * factor)
}
