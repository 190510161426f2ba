//! What the retry policy did with the failure, and why.

use crate::event::Failure;
use crate::evidence::verdict::layers::{PolicySource, earlier_retries, policy_in_force};
use crate::policy::{Decision, RetryPolicy, decide, semantics};
use crate::session::{AttemptRow, Outcome, RetryRow, SessionRows};

/// A retry as the log has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordedRetry {
    /// Its number.
    pub retry: u64,
    /// Its wait, milliseconds.
    pub delay_ms: f64,
    /// Whether the wait ended.
    pub started: bool,
    /// How the next attempt ended.
    pub next: Option<Outcome>,
}

/// The decision on one failed attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionStory {
    /// The policy.
    pub policy: RetryPolicy,
    /// Where it is known from.
    pub source: PolicySource,
    /// Retries of the step before, as the policy counts them.
    pub previous: u64,
    /// Of those, waits that were cut off.
    pub cancelled: u64,
    /// What the policy does with it.
    pub decision: Decision,
    /// The retry that followed.
    pub recorded: Option<RecordedRetry>,
    /// Whether the log and the policy agree.
    pub explained: bool,
}

pub(super) fn of(session: &SessionRows, attempt: &AttemptRow, failure: &Failure) -> DecisionStory {
    let in_force = policy_in_force(session, attempt);
    let (previous, cancelled) = previous_retries(session, attempt);
    let input = semantics::Failure { code: &failure.code, retry_after_ms: failure.retry_after_ms };
    let decision = decide(&in_force.policy, input, previous, 0.5);
    let recorded = attempt.retry.map(|index| recorded(session, &session.retries[index]));
    let logged = recorded.map_or(semantics::Recorded::Surrendered, |r| semantics::Recorded::Retried {
        retry: r.retry,
        delay_ms: r.delay_ms,
    });
    DecisionStory {
        explained: semantics::reproduces(&in_force.policy, input, previous, logged).is_ok(),
        policy: in_force.policy,
        source: in_force.source,
        previous,
        cancelled,
        decision,
        recorded,
    }
}

fn recorded(session: &SessionRows, row: &RetryRow) -> RecordedRetry {
    RecordedRetry {
        retry: row.retry.retry,
        delay_ms: row.retry.delay_ms,
        started: row.started,
        next: row.next_attempt.filter(|_| row.started).map(|index| session.attempts[index].outcome),
    }
}

/// Number of the step's last retry before the attempt, and how many of those waits were cut off.
pub(super) fn previous_retries(session: &SessionRows, attempt: &AttemptRow) -> (u64, u64) {
    let mut found = (0, 0);
    for retry in earlier_retries(session, attempt) {
        found.0 = retry.retry.retry;
        found.1 += u64::from(!retry.started);
    }
    found
}
