//! Closes a session: steps, failure chains and their fates, retries and what they led to.

use std::collections::HashMap;

use super::attempt_row::{Fate, Outcome};
use super::rows::{SessionRows, StepRow};
use crate::event::TurnEndKind;

/// What the harness did between two attempts of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recovery {
    /// A retry was scheduled.
    Retry,
    /// A compaction ended with a new surface.
    Compaction,
}

/// One step's history in file order, as the builder saw it.
#[derive(Debug, Default)]
pub(super) struct StepHistory {
    pub(super) start_time: Option<i64>,
    pub(super) end_time: Option<i64>,
    /// Time at which its next request could leave.
    pub(super) ready: Option<i64>,
    pub(super) attempts: Vec<usize>,
    /// Index of its last retry.
    pub(super) last_retry: Option<usize>,
    /// Recoveries, each with the number of attempts of the step before it.
    pub(super) recoveries: Vec<(usize, Recovery)>,
}

/// Fills steps, fates and retry outcomes of a finished session.
pub(super) fn close(rows: &mut SessionRows, histories: Vec<((u64, u64), StepHistory)>) {
    let turn_ends: HashMap<u64, Option<TurnEndKind>> = rows.turns.iter().map(|t| (t.turn, t.end)).collect();
    for ((turn, step), history) in histories {
        let outcomes: Vec<Outcome> = history.attempts.iter().map(|i| rows.attempts[*i].outcome).collect();
        let first_failure = outcomes.iter().position(|o| *o == Outcome::Failed);
        let last_failure = outcomes.iter().rposition(|o| *o == Outcome::Failed);
        let success = outcomes.iter().rposition(|o| *o == Outcome::Succeeded);
        let fate = first_failure.map(|first| match success.filter(|s| *s > first) {
            Some(success) => {
                let deciding = history.recoveries.iter().rev().find(|(before, _)| *before <= success);
                match deciding {
                    Some((_, Recovery::Compaction)) => Fate::RecoveredByCompaction,
                    _ => Fate::RecoveredByRetry,
                }
            }
            None => match turn_ends.get(&turn).copied().flatten() {
                Some(TurnEndKind::Aborted) => Fate::Cancelled,
                None | Some(TurnEndKind::Interrupted | TurnEndKind::Forked) => Fate::Open,
                Some(_) => Fate::GaveUp,
            },
        });
        // In file order, so in the order of the attempts before them.
        let mut recoveries = history.recoveries.iter().peekable();
        let mut retries = 0;
        for (position, index) in history.attempts.iter().enumerate() {
            while let Some((_, kind)) = recoveries.next_if(|(before, _)| *before <= position) {
                retries += u64::from(*kind == Recovery::Retry);
            }
            let attempt = &mut rows.attempts[*index];
            attempt.attempt = position as u64 + 1;
            attempt.retries_before = retries;
            if first_failure.is_some_and(|first| position >= first) {
                attempt.fate = fate;
            }
        }
        rows.steps.push(StepRow {
            turn,
            step,
            start_time: history.start_time,
            end_time: history.end_time,
            failed: first_failure.is_some() && success.is_none(),
            last_failure: last_failure.map(|position| history.attempts[position]),
            attempts: history.attempts,
            fate,
        });
    }
    let mut steps_of: HashMap<u64, u64> = HashMap::new();
    for step in &rows.steps {
        *steps_of.entry(step.turn).or_default() += 1;
    }
    for turn in &mut rows.turns {
        turn.steps = steps_of.get(&turn.turn).copied().unwrap_or(0);
    }
}
