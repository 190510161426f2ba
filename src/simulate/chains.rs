//! The failure chains to play: one per step that failed at least once.

use super::evidence::{FailureRecord, RouteEvidence, Seen};
use super::kinds::Kind;
use crate::event::TurnEndKind;
use crate::session::{Fate, SessionRows, Trigger};

/// What was recorded of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// It ended its turn with an error.
    FailedTurn,
    /// It came to success.
    Recovered,
}

/// One chain from its first failure on. Times are milliseconds on the clock of the evidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chain {
    /// Number of its session.
    pub session: u32,
    /// What was recorded.
    pub recorded: Recorded,
    /// Arrival of the first failing attempt.
    pub arrival_ms: f64,
    /// When it failed.
    pub failed_ms: f64,
    /// Its failure.
    pub record: FailureRecord,
    /// Every attempt fails whatever the route does: the request itself is at fault.
    pub at_fault: bool,
    /// Nothing decides whether it heals.
    pub contested: bool,
    /// From when on its session fails for good; infinite where that is not known.
    pub bad_from_ms: f64,
    /// The failure that then comes back.
    pub bad_record: FailureRecord,
    /// After this time no evidence speaks.
    pub evidence_end_ms: f64,
    /// Best estimate of its prompt, tokens.
    pub tokens: Option<u64>,
    /// Upper bound of the fill with output.
    pub fill: Option<f64>,
    /// An overflow label leads to a compaction.
    pub compaction_mounted: bool,
}

/// Chains of a route by time, and how many are not played because they were cancelled or are open.
pub(super) fn of_route(
    seen: &[Seen<'_>],
    sessions: &[SessionRows],
    evidence: &RouteEvidence,
    start: i64,
) -> (Vec<Chain>, u64) {
    // Attempts of one step stand in order of time; the first failing one opens the chain.
    let mut open: std::collections::BTreeMap<(u32, u64, u64), usize> = std::collections::BTreeMap::new();
    let mut chains: Vec<Option<Chain>> = Vec::new();
    let mut unplayed = 0;
    let mounted_anywhere = sessions.iter().any(has_overflow_compaction);
    for attempt in seen {
        let (Some(kind), Some(record)) = (attempt.kind, attempt.record) else { continue };
        let row = attempt.row;
        let key = (attempt.session, row.turn, row.step);
        if let Some(index) = open.get(&key) {
            if let Some(chain) = &mut chains[*index] {
                chain.at_fault |= kind == Kind::Request;
                chain.contested |= kind == Kind::Contested;
            }
            continue;
        }
        open.insert(key, chains.len());
        let session = &sessions[attempt.session as usize];
        let recorded = match row.fate {
            Some(Fate::RecoveredByRetry | Fate::RecoveredByCompaction) => Some(Recorded::Recovered),
            Some(Fate::GaveUp) if turn_failed(session, row.turn) => Some(Recorded::FailedTurn),
            _ => None,
        };
        let Some(recorded) = recorded.filter(|_| row.selected) else {
            unplayed += u64::from(row.selected);
            chains.push(None);
            continue;
        };
        let known = &evidence.sessions[attempt.session as usize];
        let own_end = known.last_probe_ms.unwrap_or(attempt.arrival_ms).max(attempt.arrival_ms);
        let size = row.request.as_ref();
        let tokens = size.and_then(|request| request.tokens);
        let window = row.window.filter(|window| *window > 0).map(|window| window as f64);
        let reserved = size.and_then(|request| request.reserved_output).unwrap_or(0) as f64;
        chains.push(Some(Chain {
            session: attempt.session,
            recorded,
            arrival_ms: attempt.arrival_ms,
            failed_ms: row.time.map_or(attempt.arrival_ms, |time| ((time - start) as f64).max(attempt.arrival_ms)),
            record,
            at_fault: kind == Kind::Request,
            contested: kind == Kind::Contested,
            bad_from_ms: known.onset.map_or(f64::INFINITY, |onset| onset.time_ms),
            bad_record: known.onset.map_or(record, |onset| onset.record),
            evidence_end_ms: if evidence.onset_rate > 0.0 {
                own_end.min(evidence.last_probe_ms)
            } else {
                evidence.last_probe_ms
            },
            tokens: tokens.map(|tokens| tokens.value),
            fill: tokens.zip(window).map(|(tokens, window)| (tokens.high as f64 + reserved) / window),
            compaction_mounted: has_overflow_compaction(session)
                || (mounted_anywhere && !has_overflow_failure(session)),
        }));
    }
    let mut chains: Vec<Chain> = chains.into_iter().flatten().collect();
    chains.sort_by(|a, b| a.failed_ms.total_cmp(&b.failed_ms));
    (chains, unplayed)
}

fn has_overflow_compaction(session: &SessionRows) -> bool {
    session.compactions.iter().any(|compaction| compaction.trigger == Trigger::Overflow)
}

fn has_overflow_failure(session: &SessionRows) -> bool {
    session.attempts.iter().any(|a| a.failure.as_ref().is_some_and(|f| f.code == crate::session::OVERFLOW))
}

fn turn_failed(session: &SessionRows, turn: u64) -> bool {
    // Turns are numbered from 1 in order, but forks repeat numbers: the last one counts.
    session.turns.iter().rev().find(|row| row.turn == turn).is_some_and(|row| row.end == Some(TurnEndKind::Error))
}
