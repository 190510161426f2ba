//! Compactions: what started one, what came of it, and how far an attempt is from the last.

use super::{OpenCompaction, SessionBuilder};
use crate::event::{Event, Failure};
use crate::message;
use crate::session::chains::Recovery;
use crate::session::{CompactionOutcome, CompactionRow, Outcome, SinceCompaction, Trigger};

impl SessionBuilder {
    pub(super) fn compaction_start(&mut self, id: &str, turn: Option<u64>, command: bool, event: &Event<'_>) {
        self.leave_open();
        let trigger = match (turn, command, self.open_step) {
            (None, ..) | (_, true, _) => Trigger::Manual,
            (Some(_), false, Some(_)) => Trigger::Overflow,
            (Some(_), false, None) => Trigger::Pressure,
        };
        if let Some(key) = self.open_step {
            self.close_stream(key);
        }
        let caused_by_failure_seq = (trigger == Trigger::Overflow)
            .then(|| self.open_step.and_then(|key| self.last_attempt(key)).map(|i| &self.rows.attempts[i]))
            .flatten()
            .filter(|a| a.outcome == Outcome::Failed)
            .map(|a| a.seq);
        self.open_compaction =
            Some(OpenCompaction { row: self.rows.compactions.len(), has_summary: false, replaced: false });
        self.rows.compactions.push(CompactionRow {
            id: id.to_owned(),
            trigger,
            outcome: CompactionOutcome::Open,
            turn,
            start_seq: event.seq,
            end_seq: None,
            start_time: event.time,
            end_time: None,
            error: None,
            shadowed_nodes: None,
            shadowed_tokens: None,
            tokens_before: self.last_prompt,
            tokens_after: None,
            caused_by_failure_seq,
            attempts_before_end: 0,
        });
    }

    pub(super) fn leave_open(&mut self) {
        if let Some(open) = self.open_compaction.take() {
            let row = &self.rows.compactions[open.row];
            let (seq, detail) = (row.start_seq, message!("notices.open-compaction", id = &row.id));
            self.anomaly("open-compaction", seq, 0, 1, detail);
        }
    }

    pub(super) fn compaction_end(&mut self, id: &str, error: Option<Failure>, event: &Event<'_>) {
        let Some(open) = self.open_compaction.take_if(|o| self.rows.compactions[o.row].id == id) else { return };
        let attempts = self.rows.attempts.len() as u64;
        let row = &mut self.rows.compactions[open.row];
        row.outcome = if error.is_none() && open.has_summary && open.replaced {
            CompactionOutcome::Done
        } else {
            CompactionOutcome::Failed
        };
        row.error = error;
        row.end_seq = Some(event.seq);
        row.end_time = event.time;
        row.attempts_before_end = attempts;
        let (trigger, outcome) = (row.trigger, row.outcome);
        self.last_compaction = Some(open.row);
        if trigger != Trigger::Overflow {
            self.last_independent = Some(open.row);
        }
        if let Some(key) = self.open_step.filter(|_| trigger == Trigger::Overflow) {
            self.ready(key, event.time);
            self.asked = event.time;
            if outcome == CompactionOutcome::Done {
                let attempts_before = self.history(key).attempts.len();
                self.history(key).recoveries.push((attempts_before, Recovery::Compaction));
            }
        }
    }
}

impl SinceCompaction {
    pub(super) fn pending(compaction: usize) -> Self {
        Self { compaction, events: 0, attempts: 0, ms: None }
    }

    pub(super) fn measured(self, compaction: &CompactionRow, seq: u64, ordinal: u64, time: Option<i64>) -> Self {
        Self {
            compaction: self.compaction,
            events: compaction.end_seq.map_or(0, |end| seq.saturating_sub(end)),
            attempts: ordinal + 1 - compaction.attempts_before_end.min(ordinal),
            ms: time.zip(compaction.end_time).map(|(t, e)| t.saturating_sub(e)),
        }
    }
}
