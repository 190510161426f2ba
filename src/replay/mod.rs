//! In: the rows of all sessions; for the facts of the linter also the verdicts on the failures.
//! Out: [`ReplayReport`]: every recorded retry decision played again under the policy in force; who had which policy when.
//! Always: pure; a decision is reproduced only by a policy that the logs show or that the release has by default.

mod decisions;
mod facts;
mod in_force;
mod release;
mod spans;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use decisions::{Expected, Reason, Unreproduced};
pub use facts::archive_facts;
pub use in_force::Basis;
pub use release::{InferredRelease, ReleaseBasis};
pub use spans::{PolicySpan, policy_spans};

use crate::session::SessionRows;

/// What playing every recorded decision again came to. All figures are counts of decisions.
///
/// A decision is one failing attempt, or one `llm/retry` without an attempt before it (a failure that left no trace).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReplayReport {
    /// Decisions that the logs hold; `reproduced` and `mismatches` add up to it.
    pub decisions: u64,
    /// Of those, decisions that the policy in force makes too: retry or surrender, number and wait.
    pub reproduced: u64,
    /// Reproduced decisions by where their policy is known from.
    pub by_basis: BTreeMap<Basis, u64>,
    /// Decisions that the policy in force does not make, in order of session and place.
    pub mismatches: Vec<Unreproduced>,
    /// Failing attempts whose decision the logs do not hold: cancelled, or the log ends there.
    pub undecided: Vec<Unreproduced>,
}

/// Play every recorded decision of the selected attempts again.
///
/// The policy of an `llm/retry` is the one of its own `policyKey`. Where no retry was written, it is the nearest logged
/// policy of the session and provider, then of the archive, then the default (spec 2.5).
#[must_use]
pub fn replay(sessions: &[SessionRows]) -> ReplayReport {
    let logged = in_force::LoggedPolicies::of(sessions);
    let mut report = ReplayReport::default();
    for (index, session) in sessions.iter().enumerate() {
        decisions::replay_session(session, index, &logged, &mut report);
    }
    report
}
