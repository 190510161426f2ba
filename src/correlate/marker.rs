//! Markers: the compactions and prunes of a session, each before the attempt that follows it.

use crate::session::{SessionRows, Trigger};

/// A compaction with an end, or a run of prunes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marker {
    /// Number of the first attempt after it.
    pub next_attempt: usize,
    /// Seq and epoch milliseconds at which it began.
    pub start: (u64, Option<i64>),
    /// Seq and epoch milliseconds at which it ended.
    pub end: (u64, Option<i64>),
}

/// Markers of one kind, in the order of the attempts that follow.
#[derive(Debug, Clone, Default)]
pub struct Markers {
    /// The markers.
    pub list: Vec<Marker>,
}

impl Markers {
    /// Compactions that no overflow failure caused; failed ones too, open ones not.
    #[must_use]
    pub fn independent(session: &SessionRows) -> Self {
        Self::compactions(session, |trigger| trigger != Trigger::Overflow)
    }

    /// Those that the token meter started.
    #[must_use]
    pub fn pressure(session: &SessionRows) -> Self {
        Self::compactions(session, |trigger| trigger == Trigger::Pressure)
    }

    /// Those that the user started.
    #[must_use]
    pub fn manual(session: &SessionRows) -> Self {
        Self::compactions(session, |trigger| trigger == Trigger::Manual)
    }

    fn compactions(session: &SessionRows, wanted: impl Fn(Trigger) -> bool) -> Self {
        let marker = |row: &crate::session::CompactionRow| {
            Some(Marker {
                next_attempt: usize::try_from(row.attempts_before_end).ok()?,
                start: (row.start_seq, row.start_time),
                end: (row.end_seq?, row.end_time),
            })
        };
        let mut list: Vec<Marker> =
            session.compactions.iter().filter(|row| wanted(row.trigger)).filter_map(marker).collect();
        list.sort_by_key(|marker| marker.next_attempt);
        Self { list }
    }

    /// Prunes that pressure caused; those between the same two attempts are one marker.
    #[must_use]
    pub fn prunes(session: &SessionRows) -> Self {
        let mut first_seqs: Vec<u64> = session.attempts.iter().map(|attempt| attempt.first_seq).collect();
        for index in 1..first_seqs.len() {
            first_seqs[index] = first_seqs[index].max(first_seqs[index - 1]);
        }
        let mut list: Vec<Marker> = Vec::new();
        for prune in session.prunes.iter().filter(|prune| prune.trigger == Trigger::Pressure) {
            let next_attempt = first_seqs.partition_point(|seq| *seq < prune.seq);
            let place = (prune.seq, prune.time);
            match list.last_mut().filter(|last| last.next_attempt == next_attempt) {
                Some(last) => last.end = place,
                None => list.push(Marker { next_attempt, start: place, end: place }),
            }
        }
        list.sort_by_key(|marker| marker.next_attempt);
        Self { list }
    }
}
