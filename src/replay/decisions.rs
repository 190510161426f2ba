//! The decisions of one session, each compared with what its policy does.

use std::collections::HashMap;

use super::ReplayReport;
use super::in_force::{Basis, LoggedPolicies, provider_of};
use crate::event::TurnEndKind;
use crate::policy::semantics::{Mismatch, delay_range};
use crate::policy::{Decision, Failure, Recorded, RetryMode, RetryPolicy, decide, reproduces};
use crate::session::{AttemptRow, CompactionOutcome, Outcome, RetryRow, Route, SessionRows, Trigger};

/// Why a decision is not reproduced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// The policy decides otherwise.
    Policy(Mismatch),
    /// The retry carries no `policyKey` of the harness: another plugin wrote it.
    AnotherPlugin,
    /// No retry was written, and the step went on: a recovery that the policy stands before.
    RecoveredElsewhere,
    /// The user ended the turn before the decision.
    Cancelled,
    /// The log ends before the decision.
    CutLog,
}

impl Reason {
    /// The name used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Policy(Mismatch::RetriedInsteadOfGivingUp { .. }) => "retried_instead_of_giving_up",
            Self::Policy(Mismatch::SurrenderedInsteadOfRetrying { .. }) => "gave_up_instead_of_retrying",
            Self::Policy(Mismatch::RetryNumber { .. }) => "retry_number",
            Self::Policy(Mismatch::NotRetryAfter { .. }) => "not_retry_after",
            Self::Policy(Mismatch::OutsideRange { .. }) => "delay_outside_range",
            Self::AnotherPlugin => "another_plugin",
            Self::RecoveredElsewhere => "recovered_elsewhere",
            Self::Cancelled => "cancelled",
            Self::CutLog => "cut_log",
        }
    }
}

/// A decision that is not reproduced.
#[derive(Debug, Clone, PartialEq)]
pub struct Unreproduced {
    /// Session id.
    pub session: String,
    /// Seq of the `llm/retry`, or of the failing event where none was written.
    pub seq: u64,
    /// Turn number.
    pub turn: u64,
    /// Step number.
    pub step: u64,
    /// Route of the attempt; the provider of the policy where no attempt left a trace.
    pub route: Route,
    /// Code of the failure.
    pub code: String,
    /// What the policy in force does, with the range of the wait in milliseconds; `None`: no policy is known.
    pub expected: Option<Expected>,
    /// What the log holds.
    pub recorded: Recorded,
    /// See [`Reason`].
    pub reason: Reason,
}

/// What a policy does with one failure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expected {
    /// A retry with this number after a wait in this range, milliseconds.
    Retry {
        /// Number of the retry, from 1.
        retry: u64,
        /// Shortest wait.
        low_ms: f64,
        /// Longest wait.
        high_ms: f64,
    },
    /// None.
    GiveUp(crate::policy::semantics::GiveUp),
}

impl Expected {
    fn of(policy: &RetryPolicy, failure: Failure<'_>, previous: u64) -> Self {
        use crate::policy::semantics::DelaySource;
        match decide(policy, failure, previous, 0.5) {
            Decision::GiveUp { reason } => Self::GiveUp(reason),
            Decision::Retry { retry, delay_ms, source: DelaySource::RetryAfter } => {
                Self::Retry { retry, low_ms: delay_ms, high_ms: delay_ms }
            }
            Decision::Retry { retry, source: DelaySource::Backoff, .. } => {
                let (low_ms, high_ms) = delay_range(policy, retry);
                Self::Retry { retry, low_ms, high_ms }
            }
        }
    }
}

/// One session with what its decisions need to be looked up.
struct Replayed<'a> {
    rows: &'a SessionRows,
    index: usize,
    logged: &'a LoggedPolicies<'a>,
    /// Retries by turn and step, in file order.
    retries: HashMap<(u64, u64), Vec<&'a RetryRow>>,
    turn_ends: HashMap<u64, Option<TurnEndKind>>,
    /// Last attempt by turn and step.
    last: HashMap<(u64, u64), usize>,
}

/// What came of one decision.
enum Verdict {
    Reproduced(Basis),
    Mismatch(Option<Expected>, Reason),
    Undecided(Option<Expected>, Reason),
}

/// Plays the decisions of one session and adds them to the report.
pub(super) fn replay_session(rows: &SessionRows, index: usize, logged: &LoggedPolicies<'_>, report: &mut ReplayReport) {
    let mut retries: HashMap<(u64, u64), Vec<&RetryRow>> = HashMap::new();
    for retry in &rows.retries {
        retries.entry((retry.retry.turn, retry.retry.step)).or_default().push(retry);
    }
    let replayed = Replayed {
        rows,
        index,
        logged,
        retries,
        turn_ends: rows.turns.iter().map(|turn| (turn.turn, turn.end)).collect(),
        last: rows.attempts.iter().enumerate().map(|(at, a)| ((a.turn, a.step), at)).collect(),
    };
    let selected = |attempt: Option<usize>| attempt.is_none_or(|at| rows.attempts[at].selected);
    for retry in rows.retries.iter().filter(|retry| selected(retry.after_attempt)) {
        let verdict = replayed.retry(retry);
        replayed.book(report, verdict, || replayed.of_retry(retry));
    }
    let retried = |attempt: &AttemptRow| attempt.retry.is_some();
    for (at, attempt) in rows.attempts.iter().enumerate() {
        if attempt.outcome == Outcome::Failed && attempt.selected && !retried(attempt) {
            let verdict = replayed.surrender(at, attempt);
            replayed.book(report, verdict, || replayed.of_attempt(attempt));
        }
    }
}

impl Replayed<'_> {
    /// A retry was written: its own key names the policy.
    fn retry(&self, retry: &RetryRow) -> Verdict {
        let key = retry.retry.policy_key.as_deref().unwrap_or_default();
        let Some(policy) = self.logged.policy(key) else {
            return Verdict::Mismatch(None, Reason::AnotherPlugin);
        };
        let failure = Failure { code: &retry.retry.failure.code, retry_after_ms: retry.retry.failure.retry_after_ms };
        let provider = provider_of(self.rows, retry);
        let earlier = self.step_retries(retry.retry.turn, retry.retry.step);
        let previous = last_number(
            self.rows,
            earlier
                .iter()
                .copied()
                .take_while(|found| !std::ptr::eq(*found, retry))
                .filter(|found| found.seq < retry.seq),
            provider,
            key,
        );
        let recorded = Recorded::Retried { retry: retry.retry.retry, delay_ms: retry.retry.delay_ms };
        match reproduces(policy, failure, previous, recorded) {
            Ok(()) => Verdict::Reproduced(Basis::Logged),
            Err(mismatch) => Verdict::Mismatch(Some(Expected::of(policy, failure, previous)), Reason::Policy(mismatch)),
        }
    }

    /// No retry was written.
    fn surrender(&self, at: usize, attempt: &AttemptRow) -> Verdict {
        let Some(logged_failure) = &attempt.failure else {
            return Verdict::Undecided(None, Reason::CutLog);
        };
        let failure = Failure { code: &logged_failure.code, retry_after_ms: logged_failure.retry_after_ms };
        let provider = attempt.route.provider.as_str();
        let mut first = None;
        for in_force in self.logged.around(self.index, at, provider, attempt.time) {
            let policy = in_force.policy;
            let earlier = self.step_retries(attempt.turn, attempt.step);
            let before = earlier.iter().copied().filter(|retry| retry.after_attempt.is_some_and(|a| a < at));
            let previous = last_number(self.rows, before, Some(provider), &policy.policy_key());
            // Mode always asks the recoveries behind it first, and their retry writes no `llm/retry`.
            if policy.mode == RetryMode::Always && self.recovered_behind(at, attempt) {
                return Verdict::Reproduced(in_force.basis);
            }
            match reproduces(policy, failure, previous, Recorded::Surrendered) {
                Ok(()) => return Verdict::Reproduced(in_force.basis),
                Err(mismatch) => first = first.or(Some((Expected::of(policy, failure, previous), mismatch))),
            }
        }
        let Some((expected, mismatch)) = first else { return Verdict::Undecided(None, Reason::CutLog) };
        let expected = Some(expected);
        let last_of_step = self.last.get(&(attempt.turn, attempt.step)) == Some(&at);
        match self.turn_ends.get(&attempt.turn).copied().flatten() {
            _ if !last_of_step => Verdict::Mismatch(expected, Reason::RecoveredElsewhere),
            Some(TurnEndKind::Aborted) => Verdict::Undecided(expected, Reason::Cancelled),
            None | Some(TurnEndKind::Interrupted | TurnEndKind::Forked) => Verdict::Undecided(expected, Reason::CutLog),
            Some(_) => Verdict::Mismatch(expected, Reason::Policy(mismatch)),
        }
    }

    /// Whether an overflow compaction, or a prune in its place, made this failure good.
    fn recovered_behind(&self, at: usize, attempt: &AttemptRow) -> bool {
        let compacted = self
            .rows
            .compactions
            .iter()
            .any(|c| c.caused_by_failure_seq == Some(attempt.seq) && c.outcome == CompactionOutcome::Done);
        let next = self.rows.attempts[at + 1..].iter().find(|a| (a.turn, a.step) == (attempt.turn, attempt.step));
        let pruned = next.is_some_and(|next| {
            let between = attempt.seq..next.first_seq;
            self.rows.prunes.iter().any(|prune| prune.trigger == Trigger::Overflow && between.contains(&prune.seq))
        });
        compacted || pruned
    }

    fn step_retries(&self, turn: u64, step: u64) -> &[&RetryRow] {
        self.retries.get(&(turn, step)).map(Vec::as_slice).unwrap_or_default()
    }

    fn book(&self, report: &mut ReplayReport, verdict: Verdict, place: impl FnOnce() -> Unreproduced) {
        match verdict {
            Verdict::Reproduced(basis) => {
                report.decisions += 1;
                report.reproduced += 1;
                *report.by_basis.entry(basis).or_default() += 1;
            }
            Verdict::Mismatch(expected, reason) => {
                report.decisions += 1;
                report.mismatches.push(Unreproduced { expected, reason, ..place() });
            }
            Verdict::Undecided(expected, reason) => {
                report.undecided.push(Unreproduced { expected, reason, ..place() });
            }
        }
    }

    fn of_retry(&self, retry: &RetryRow) -> Unreproduced {
        let route = match retry.after_attempt {
            Some(at) => (*self.rows.attempts[at].route).clone(),
            None => Route { provider: retry.retry.provider.clone().unwrap_or_default(), model: String::new() },
        };
        Unreproduced {
            session: self.rows.id.clone(),
            seq: retry.seq,
            turn: retry.retry.turn,
            step: retry.retry.step,
            route,
            code: retry.retry.failure.code.clone(),
            expected: None,
            recorded: Recorded::Retried { retry: retry.retry.retry, delay_ms: retry.retry.delay_ms },
            reason: Reason::AnotherPlugin,
        }
    }

    fn of_attempt(&self, attempt: &AttemptRow) -> Unreproduced {
        Unreproduced {
            session: self.rows.id.clone(),
            seq: attempt.seq,
            turn: attempt.turn,
            step: attempt.step,
            route: (*attempt.route).clone(),
            code: attempt.failure.as_ref().map(|failure| failure.code.clone()).unwrap_or_default(),
            expected: None,
            recorded: Recorded::Surrendered,
            reason: Reason::CutLog,
        }
    }
}

/// Number of the last of these retries that the harness counts for this provider and policy; 0 without one.
fn last_number<'a>(
    rows: &'a SessionRows,
    retries: impl Iterator<Item = &'a RetryRow>,
    provider: Option<&str>,
    key: &str,
) -> u64 {
    retries
        .filter(|found| provider_of(rows, found) == provider && found.retry.policy_key.as_deref() == Some(key))
        .last()
        .map_or(0, |found| found.retry.retry)
}
