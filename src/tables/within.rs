//! Which rows are within the filters, by the rules that `scan` counts by; a test holds the two against each other.

use crate::filter::Filters;
use crate::session::{AttemptRow, CompactionRow, Outcome, PruneRow, RetryRow, SessionRows, StepRow, TurnRow};

/// The filters, asked row by row.
#[derive(Clone, Copy)]
pub(crate) struct Within<'f> {
    filters: &'f Filters,
    narrow: bool,
}

impl<'f> Within<'f> {
    /// The rules of these filters.
    pub(crate) fn new(filters: &'f Filters) -> Self {
        Self { filters, narrow: filters.choose_attempts() }
    }

    /// An attempt that was chosen, and no failure of another code.
    pub(crate) fn attempt(self, _: &SessionRows, attempt: &AttemptRow) -> bool {
        let failed = attempt.failure.as_ref().filter(|_| attempt.outcome == Outcome::Failed);
        attempt.selected && self.code(failed.map(|f| f.code.as_str()))
    }

    pub(super) fn step(self, session: &SessionRows, step: &StepRow) -> bool {
        self.holds_chosen(session, step) && self.code(step.last_code(session))
    }

    pub(super) fn turn(self, session: &SessionRows, turn: &TurnRow) -> bool {
        let chosen =
            !self.narrow || session.steps.iter().any(|step| step.turn == turn.turn && self.holds_chosen(session, step));
        chosen && self.code(turn.failure.as_ref().map(|f| f.code.as_str()))
    }

    pub(super) fn retry(self, session: &SessionRows, row: &RetryRow) -> bool {
        let chosen = !self.narrow || row.after_attempt.is_some_and(|i| session.attempts[i].selected);
        chosen && self.code(Some(&row.retry.failure.code))
    }

    pub(super) fn compaction(self, _: &SessionRows, compaction: &CompactionRow) -> bool {
        self.time(compaction.start_time)
    }

    pub(super) fn prune(self, prune: &PruneRow) -> bool {
        self.time(prune.time)
    }

    /// `--since` and `--until`, for what is no part of an attempt.
    pub(crate) fn time(self, time: Option<i64>) -> bool {
        self.filters.since.is_none_or(|since| time.is_some_and(|t| t >= since))
            && self.filters.until.is_none_or(|until| time.is_some_and(|t| t < until))
    }

    fn holds_chosen(self, session: &SessionRows, step: &StepRow) -> bool {
        !self.narrow || step.attempts.iter().any(|i| session.attempts[*i].selected)
    }

    fn code(self, code: Option<&str>) -> bool {
        code.is_none_or(|code| self.filters.wants_code(code))
    }
}
