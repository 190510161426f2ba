//! Trials: every step that was put to the test, placed by the moment at which its first request could leave.
//!
//! A step is placed by its beginning because its end depends on how it went: a failure ends after a few events and
//! milliseconds, a success streams for hundreds, and a step that is retried five times ends six attempts later. Placed
//! by their ends, failures would seem to lie close to a compaction and successes far from it.

use crate::filter::Filters;
use crate::session::{Outcome, SessionRows};
use crate::summary::failure_of;

/// One step with an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial {
    /// Index of its first attempt in the session's attempts, which is also its number there.
    pub attempt: usize,
    /// Seq of the first trace of that attempt.
    pub seq: u64,
    /// Epoch milliseconds at which its first request could leave.
    pub time: Option<i64>,
    /// No attempt of it succeeded.
    pub failed: bool,
    /// At least one attempt failed.
    pub met_failure: bool,
}

/// The trials of one session, by the order of their first attempts.
#[derive(Debug, Clone, Default)]
pub struct SessionTrials {
    /// The trials.
    pub trials: Vec<Trial>,
}

/// The trials of every session within the filters, in the order of the sessions.
///
/// Left out are steps without an outcome (cancelled or cut off before any answer) and steps without an attempt (a
/// missing credential): they were never put to the test.
#[must_use]
pub fn trials_of(sessions: &[SessionRows], filters: &Filters) -> Vec<SessionTrials> {
    sessions.iter().map(|session| of_session(session, filters)).collect()
}

fn of_session(session: &SessionRows, filters: &Filters) -> SessionTrials {
    let narrow = filters.choose_attempts();
    let mut trials: Vec<Trial> = Vec::with_capacity(session.steps.len());
    for step in &session.steps {
        let attempts = || step.attempts.iter().map(|index| &session.attempts[*index]);
        let decided = |outcome| matches!(outcome, Outcome::Succeeded | Outcome::Failed);
        let Some(first) = step.attempts.first().map(|index| &session.attempts[*index]) else { continue };
        if !attempts().any(|a| decided(a.outcome)) || (narrow && !attempts().any(|a| a.selected)) {
            continue;
        }
        let wanted = |index: usize| failure_of(&session.attempts[index], filters).is_some();
        trials.push(Trial {
            attempt: step.attempts[0],
            seq: first.first_seq,
            time: first.ready_time.or(first.first_time).or(first.time),
            failed: step.failed && step.last_failure.is_some_and(wanted),
            met_failure: step.attempts.iter().any(|index| wanted(*index)),
        });
    }
    trials.sort_by_key(|trial| trial.attempt);
    SessionTrials { trials }
}
