//! The session around the failure: attempts, waits, compactions, ends of turns.

use crate::event::TurnEndKind;
use crate::evidence::verdict::failure_of;
use crate::session::{CompactionOutcome, Outcome, SessionRows, Trigger};

/// Moments shown before and after the failure.
const BEFORE: usize = 6;
const AFTER: usize = 5;

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum MomentKind {
    /// A request ended.
    Attempt {
        /// Turn, step, attempt.
        place: (u64, u64, u64),
        /// How.
        outcome: Outcome,
        /// The code of a failure.
        code: Option<String>,
        /// Prompt, tokens.
        tokens: Option<u64>,
        /// Milliseconds it took.
        duration_ms: Option<i64>,
    },
    /// A retry was scheduled.
    Retry {
        /// Its number.
        retry: u64,
        /// Its wait, milliseconds.
        delay_ms: f64,
        /// Whether the wait ended.
        started: bool,
    },
    /// A compaction ended, or started and has no end.
    Compaction {
        /// What started it.
        trigger: Trigger,
        /// What came of it.
        outcome: CompactionOutcome,
        /// Tokens it took away.
        tokens: Option<u64>,
    },
    /// Tool results were cut.
    Prunes {
        /// How many.
        count: u64,
        /// Tokens they took away.
        tokens: u64,
    },
    /// A turn ended.
    TurnEnd {
        /// Its number.
        turn: u64,
        /// How.
        end: TurnEndKind,
    },
}

/// One moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// Epoch milliseconds.
    pub time: Option<i64>,
    /// Milliseconds from the end of the failed attempt.
    pub offset_ms: Option<i64>,
    /// Seq, where the log has one for it.
    pub seq: Option<u64>,
    /// Whether it is the failure itself.
    pub here: bool,
    /// What happened.
    pub kind: MomentKind,
}

pub(super) fn around(session: &SessionRows, index: usize) -> Vec<Moment> {
    let failed = &session.attempts[index];
    let moment = |time: Option<i64>, seq: Option<u64>, here: bool, kind: MomentKind| Moment {
        time,
        offset_ms: time.zip(failed.time).map(|(t, f)| t.saturating_sub(f)),
        seq,
        here,
        kind,
    };
    let mut moments = Vec::new();
    for (position, attempt) in session.attempts.iter().enumerate() {
        let kind = MomentKind::Attempt {
            place: (attempt.turn, attempt.step, attempt.attempt),
            outcome: attempt.outcome,
            code: failure_of(attempt).map(|f| f.code.clone()),
            tokens: attempt.request.as_ref().and_then(|r| r.tokens).map(|t| t.value),
            duration_ms: attempt.duration_ms(),
        };
        moments.push(moment(attempt.time, Some(attempt.seq), position == index, kind));
    }
    for row in &session.retries {
        let (retry, delay_ms) = (row.retry.retry, row.retry.delay_ms);
        moments.push(moment(
            row.time,
            Some(row.seq),
            false,
            MomentKind::Retry { retry, delay_ms, started: row.started },
        ));
    }
    for row in &session.compactions {
        let kind = MomentKind::Compaction { trigger: row.trigger, outcome: row.outcome, tokens: row.shadowed_tokens };
        let seq = row.end_seq.unwrap_or(row.start_seq);
        moments.push(moment(row.end_time.or(row.start_time), Some(seq), false, kind));
    }
    for row in &session.prunes {
        let kind = MomentKind::Prunes { count: 1, tokens: row.shadowed_tokens.unwrap_or(0) };
        moments.push(moment(row.time, Some(row.seq), false, kind));
    }
    // An end of a turn has no seq of its own in the rows: it comes after everything of the same moment.
    moments.sort_by_key(|m| (m.seq, m.time));
    insert_turn_ends(session, &mut moments, &moment);
    merge_prunes(&mut moments);
    let at = moments.iter().position(|m| m.here).unwrap_or(0);
    let start = at.saturating_sub(BEFORE);
    moments.truncate((at + AFTER + 1).min(moments.len()));
    moments.drain(..start);
    moments
}

/// Puts the end of each turn after the last attempt or retry of it.
fn insert_turn_ends(
    session: &SessionRows,
    moments: &mut Vec<Moment>,
    moment: &dyn Fn(Option<i64>, Option<u64>, bool, MomentKind) -> Moment,
) {
    for row in &session.turns {
        let Some(end) = row.end else { continue };
        let last_seq = session
            .attempts
            .iter()
            .filter(|a| a.turn == row.turn)
            .map(|a| a.seq)
            .chain(session.retries.iter().filter(|r| r.retry.turn == row.turn).map(|r| r.seq))
            .max();
        let Some(last_seq) = last_seq else { continue };
        let place = moments.partition_point(|m| m.seq.is_some_and(|seq| seq <= last_seq) || m.seq.is_none());
        moments.insert(place, moment(row.end_time, None, false, MomentKind::TurnEnd { turn: row.turn, end }));
    }
}

fn merge_prunes(moments: &mut Vec<Moment>) {
    moments.dedup_by(|later, earlier| match (&later.kind, &mut earlier.kind) {
        (MomentKind::Prunes { count, tokens }, MomentKind::Prunes { count: all, tokens: sum }) => {
            *all += count;
            *sum += tokens;
            true
        }
        _ => false,
    });
}
