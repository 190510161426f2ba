//! The provider said when to come back, and the harness gave up because that was later than its longest wait.

use crate::findings::rule::rule;
use crate::findings::{Case, Confidence, Context, Draft};
use crate::message;
use crate::policy::model::proposed_delay_ms;
use crate::policy::{RetryMode, RetryPolicy, to_settings_yaml};
use crate::report::numbers::span;
use crate::session::Fate;

rule!("retry-after-abandoned", Error, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let cases = context.cases_where(|case| abandoned(context, case));
    let first = cases.first()?;
    let provider = &first.attempt.route.provider;
    let mut policy = policy_of(context, first);
    let asked = || cases.iter().filter_map(|case| case.failure.retry_after_ms);
    let (shortest, longest) = (asked().fold(f64::MAX, f64::min), asked().fold(0.0, f64::max));
    let cap = policy.backoff.max_delay_ms;
    // Beyond an hour (a date far away, say) a wait helps nobody.
    let worth = asked().filter_map(proposed_delay_ms).fold(policy.backoff.max_delay_ms, f64::max);
    policy.backoff.max_delay_ms = worth;
    let settings = (worth > cap).then(|| to_settings_yaml(provider, &policy));
    let draft = Draft::of_cases(context, &cases, message!("findings.retry-after-abandoned"))?;
    Some(
        draft
            .confidence(Confidence::High)
            .fixable_by(crate::evidence::FixableBy::Config)
            .seen(message!(
                "findings.seen-retry-after",
                shortest = span(shortest as i64),
                longest = span(longest as i64),
                cap = span(cap as i64),
            ))
            .settings(settings),
    )
}

fn policy_of(context: &Context<'_>, case: &Case<'_>) -> RetryPolicy {
    context.policy(case).unwrap_or_default()
}

/// Given up with budget left, for a code that is retried: only the length of the wait is in the way.
fn abandoned(context: &Context<'_>, case: &Case<'_>) -> bool {
    let Some(asked) = case.failure.retry_after_ms.filter(|ms| ms.is_finite() && *ms > 0.0) else { return false };
    if case.attempt.retry.is_some() || case.attempt.fate != Some(Fate::GaveUp) || !case.ends_step {
        return false;
    }
    let policy = policy_of(context, case);
    policy.mode == RetryMode::Normal
        && policy.retries_code(&case.failure.code)
        && case.attempt.retries_before < policy.max_retries
        && asked > policy.backoff.max_delay_ms
}
