//! The layers of the harness that kept a failure from recovering (spec 2.1), and the policy that was in force.

use super::super::codes::FixableBy;
use super::super::supports::Supported;
use super::{Judgement, Verdict, failure_of};
use crate::policy::RetryPolicy;
use crate::session::{AttemptRow, Fate, RetryRow, SessionRows};

/// Where the policy of a route is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicySource {
    /// The `policyKey` of a retry of the same session and provider.
    Logged,
    /// No retry of the route is in the session: the default of the harness is assumed.
    Assumed,
}

/// The retry policy behind a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyInForce {
    /// The policy.
    pub policy: RetryPolicy,
    /// Where it is known from.
    pub source: PolicySource,
}

/// The policy in force at an attempt: that of the last retry of its provider up to then, else of the first one after,
/// else the default (settings are re-read while the harness runs, so the nearest retry speaks).
pub fn policy_in_force(session: &SessionRows, attempt: &AttemptRow) -> PolicyInForce {
    let own = |retry: &&RetryRow| retry.retry.provider.as_deref().is_none_or(|p| p == attempt.route.provider);
    let read = |retry: &RetryRow| RetryPolicy::from_policy_key(retry.retry.policy_key.as_deref()?);
    // A retry right after the attempt is the decision itself.
    let decided = attempt.retry.map(|index| &session.retries[index]);
    let before = || session.retries.iter().rev().filter(own).find(|r| r.seq <= attempt.seq);
    let after = || session.retries.iter().filter(own).find(|r| r.seq > attempt.seq);
    let logged = decided.or_else(before).or_else(after).and_then(read);
    match logged {
        Some(policy) => PolicyInForce { policy, source: PolicySource::Logged },
        None => PolicyInForce { policy: RetryPolicy::default(), source: PolicySource::Assumed },
    }
}

/// Retries that were scheduled in the step of an attempt before it ended, in order.
pub fn earlier_retries<'a>(session: &'a SessionRows, attempt: &AttemptRow) -> impl Iterator<Item = &'a RetryRow> {
    let (step, seq) = ((attempt.turn, attempt.step), attempt.seq);
    // Retries stand in file order: those of the step lie before the attempt's end.
    session.retries.iter().filter(move |r| (r.retry.turn, r.retry.step) == step && r.seq < seq)
}

/// The layers that kept a chain from recovering, for its last attempt; empty where another attempt followed.
pub(super) fn blocking(
    session: &SessionRows,
    attempt: &AttemptRow,
    judgement: &Judgement,
    text: &Supported,
) -> Vec<&'static str> {
    let Some(failure) = failure_of(attempt) else { return Vec::new() };
    if attempt.retry.is_some() || !matches!(attempt.fate, Some(Fate::GaveUp)) {
        return Vec::new();
    }
    let policy = policy_in_force(session, attempt).policy;
    let retried = policy.retries_code(&failure.code);
    let earlier: Vec<&RetryRow> = earlier_retries(session, attempt).collect();
    let too_long = failure.retry_after_ms.is_some_and(|wait| wait > policy.backoff.max_delay_ms);
    // A wait that only the text names: the adapter does not pass it on, and the local waits were shorter.
    let longest_wait = earlier.iter().map(|r| r.retry.delay_ms).fold(0.0, f64::max);
    let unheard = text.numbers.retry_after_ms.is_some_and(|asked| retried && asked as f64 > longest_wait)
        && failure.retry_after_ms.is_none();
    let mut layers = Vec::new();
    let misread = matches!(judgement.verdict, Verdict::Contradicted | Verdict::Uninformative);
    let waiting_might_help = matches!(judgement.fixable_by, FixableBy::Time | FixableBy::Unknown);
    if misread && waiting_might_help && !retried {
        layers.push("L1");
    }
    if earlier.iter().any(|r| !r.started) {
        layers.push("L2");
    }
    if retried && !too_long {
        layers.push("L3");
    }
    if too_long || unheard {
        layers.push("L4");
    }
    layers.push("L5");
    layers
}
