//! How many requests were under way at a moment, over all sessions.

use crate::session::SessionRows;

/// Beginnings and ends of all requests, each sorted.
#[derive(Debug, Default)]
pub(super) struct Concurrency {
    begins: Vec<i64>,
    ends: Vec<i64>,
}

impl Concurrency {
    /// From the moment a request could leave to its finish; attempts without both times are left out.
    pub(super) fn of(sessions: &[SessionRows]) -> Self {
        let mut all = Self::default();
        for attempt in sessions.iter().flat_map(|session| &session.attempts) {
            if let (Some(begin), Some(end)) = (attempt.ready_time.or(attempt.first_time), attempt.time) {
                all.begins.push(begin);
                all.ends.push(end.max(begin));
            }
        }
        all.begins.sort_unstable();
        all.ends.sort_unstable();
        all
    }

    /// Requests under way at a moment at which one begins, that one included.
    pub(super) fn at(&self, time: i64) -> usize {
        let begun = self.begins.partition_point(|begin| *begin <= time);
        let ended = self.ends.partition_point(|end| *end <= time);
        (begun - ended.min(begun)).max(1)
    }
}
