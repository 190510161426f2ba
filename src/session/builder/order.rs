//! Order of seqs and times: holes, forks, late starts and clocks that go back become anomalies.

use super::{SessionBuilder, last_member};
use crate::event::{Body, Event};
use crate::message;

impl SessionBuilder {
    pub(super) fn check_order(&mut self, event: &Event<'_>, line: u64) {
        match self.next_seq {
            None => {
                if event.seq > self.seed_length {
                    self.anomaly(
                        "late-start",
                        event.seq,
                        line,
                        event.seq - self.seed_length,
                        message!("notices.late-start", seq = event.seq),
                    );
                }
            }
            Some(expected) if event.seq > expected => {
                self.anomaly(
                    "holes",
                    expected.saturating_sub(1),
                    line,
                    event.seq - expected,
                    message!("notices.holes", n = event.seq - expected, seq = expected.saturating_sub(1)),
                );
            }
            Some(expected) if event.seq < expected => {
                self.sizer.rewind(event.seq);
                self.anomaly(
                    "seq-fork",
                    expected.saturating_sub(1),
                    line,
                    expected - event.seq,
                    message!("notices.seq-fork", expected = expected, seq = event.seq),
                );
            }
            Some(_) => {}
        }
        self.next_seq = Some(event.seq.saturating_add(event.members));
        self.rows.first_seq = Some(self.rows.first_seq.map_or(event.seq, |s| s.min(event.seq)));
        self.max_seq = self.max_seq.max(last_member(event));
        self.rows.last_seq = Some(self.max_seq);
        let begins = match &event.body {
            Body::Deltas { stream, .. } => stream.first_time,
            _ => event.time,
        };
        if let (Some(last), Some(begins)) = (self.last_time, begins)
            && begins < last
        {
            self.time_back += 1;
            let back = last.abs_diff(begins);
            if back > self.worst_time_back.0 {
                self.worst_time_back = (back, event.seq, line);
            }
        }
        self.last_time = event.time.or(self.last_time);
    }
}
