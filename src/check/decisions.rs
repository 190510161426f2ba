//! What one policy decides on every recorded failure.

use std::collections::BTreeMap;

use super::baseline::{Decided, Decisions};
use super::observed::at;
use crate::findings::Case;
use crate::policy::semantics::{DelaySource, GiveUp};
use crate::policy::{Decision, Failure, RetryPolicy, decide, delay_range};
use crate::session::Route;

/// A policy with what it is on each route.
#[derive(Debug, Clone)]
pub struct Policy {
    /// An expression, or the name of a file without its directory.
    pub name: String,
    /// It came from a file.
    pub from_file: bool,
    /// By route.
    pub by_route: BTreeMap<Route, RetryPolicy>,
}

/// The decisions on the cases: the recorded retries before each count, whatever policy wrote them.
pub fn decide_all(policy: &Policy, cases: &[Case<'_>], codes: &BTreeMap<String, String>) -> Decisions {
    let made = cases.iter().filter_map(|case| {
        let place = at(&case.session.id, case.attempt.seq);
        let own = policy.by_route.get(case.attempt.route.as_ref())?;
        let code = codes.get(&place).map_or(case.failure.code.as_str(), String::as_str);
        let failure = Failure { code, retry_after_ms: case.failure.retry_after_ms };
        Some((place, decided(own, failure, case.attempt.retries_before)))
    });
    Decisions { reason: None, policy: policy.name.clone(), from_file: policy.from_file, made: made.collect() }
}

fn decided(policy: &RetryPolicy, failure: Failure<'_>, previous: u64) -> Decided {
    match decide(policy, failure, previous, 0.5) {
        Decision::GiveUp { reason } => {
            let why = match reason {
                GiveUp::NotRetryable => "not_retryable",
                GiveUp::BudgetSpent => "budget_spent",
                GiveUp::RetryAfterTooLong => "retry_after_too_long",
            };
            Decided { decision: format!("give_up {why}"), wait_ms: None }
        }
        Decision::Retry { retry, delay_ms, source } => {
            let (low, high) = match source {
                DelaySource::RetryAfter => (delay_ms, delay_ms),
                DelaySource::Backoff => delay_range(policy, retry),
            };
            Decided { decision: format!("retry {retry}"), wait_ms: Some([low.round() as u64, high.round() as u64]) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_says_what_happens_and_how_long_it_waits() {
        let policy = RetryPolicy::default();
        let failure = |code, retry_after_ms| Failure { code, retry_after_ms };
        assert_eq!(decided(&policy, failure("AUTH", None), 0).to_string(), "give_up not_retryable");
        assert_eq!(decided(&policy, failure("SERVER", None), 0).to_string(), "retry 1 (450-550 ms)");
        assert_eq!(decided(&policy, failure("RATE_LIMIT", Some(2000.0)), 1).to_string(), "retry 2 (2000 ms)");
        assert_eq!(decided(&policy, failure("SERVER", None), 99).to_string(), "give_up budget_spent");
    }
}
