//! The findings table: one row per place of a finding, of the rules as `scan` runs them.

use std::collections::BTreeMap;

use polars::prelude::{DataFrame, PolarsResult};

use crate::findings::{Finding, Place};
use crate::report::lang::Language;
use crate::session::SessionRows;
use crate::tables::columns::{column, frame};

/// The places of every session, each with its finding.
#[derive(Debug, Default)]
pub(super) struct FindingPlaces<'a> {
    by_session: BTreeMap<&'a str, Vec<(&'a Finding, &'a Place)>>,
}

impl<'a> FindingPlaces<'a> {
    pub(super) fn of(findings: &'a [Finding]) -> Self {
        let mut by_session: BTreeMap<&str, Vec<(&Finding, &Place)>> = BTreeMap::new();
        for (finding, place) in findings.iter().flat_map(|f| f.places.iter().map(move |place| (f, place))) {
            by_session.entry(&place.session_id).or_default().push((finding, place));
        }
        Self { by_session }
    }

    /// The rows of `sessions`, in their order; those of one session by rule, then by seq.
    pub(super) fn frame(&self, sessions: &[SessionRows]) -> PolarsResult<DataFrame> {
        let mut rows: Vec<(&SessionRows, &Finding, &Place)> = Vec::new();
        for session in sessions {
            let places = self.by_session.get(session.id.as_str()).map(Vec::as_slice).unwrap_or_default();
            rows.extend(places.iter().map(|(finding, place)| (session, *finding, *place)));
        }
        frame(vec![
            column("session_id", &rows, |(s, ..)| s.id.as_str()),
            column("seq", &rows, |(.., p)| Some(p.seq).filter(|seq| *seq > 0)),
            column("time_ms", &rows, |(s, _, p)| time_at(s, p.seq)),
            column("finding", &rows, |(_, f, _)| f.id),
            column("severity", &rows, |(_, f, _)| f.severity.name()),
            column("confidence", &rows, |(_, f, _)| f.confidence.name()),
            column("life_cycle", &rows, |(_, f, _)| f.life_cycle.name()),
            column("fixable_by", &rows, |(_, f, _)| f.fixable_by.as_str()),
            column("title", &rows, |(_, f, _)| Language::English.render(&f.title)),
            column("fingerprint", &rows, |(_, f, _)| f.fingerprint.as_str()),
            column("place_fingerprint", &rows, |(_, f, p)| f.place_fingerprint(p)),
        ])
    }
}

/// Time of the attempt at the seq, else of the session's first event: a finding about a whole log has no moment.
fn time_at(session: &SessionRows, seq: u64) -> Option<i64> {
    let attempt = session.attempts.iter().find(|attempt| (attempt.first_seq..=attempt.seq).contains(&seq));
    attempt.and_then(|attempt| attempt.time).or(session.first_time)
}
