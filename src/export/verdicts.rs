//! The verdicts table: one row per failed attempt within the filters.

use polars::prelude::{DataFrame, PolarsResult};

use crate::evidence::{Judgement, Verdicts};
use crate::filter::Filters;
use crate::session::{AttemptRow, SessionRows};
use crate::summary::failure_of;
use crate::tables::columns::{column, frame};

/// Verdicts of `sessions`, the first of which is session `first` of the dataset that was judged.
pub(super) fn verdict_frame(
    sessions: &[SessionRows],
    first: usize,
    verdicts: &Verdicts,
    filters: &Filters,
) -> PolarsResult<DataFrame> {
    let mut rows: Vec<(&SessionRows, &AttemptRow, &str, &Judgement)> = Vec::new();
    for (index, session) in sessions.iter().enumerate() {
        for (position, attempt) in session.attempts.iter().enumerate() {
            let judged = failure_of(attempt, filters).zip(verdicts.get(first + index, position));
            rows.extend(judged.map(|(failure, judgement)| (session, attempt, failure.code.as_str(), judgement)));
        }
    }
    frame(vec![
        column("session_id", &rows, |(s, ..)| s.id.as_str()),
        column("turn", &rows, |(_, a, ..)| a.turn),
        column("step", &rows, |(_, a, ..)| a.step),
        column("attempt", &rows, |(_, a, ..)| a.attempt),
        column("seq", &rows, |(_, a, ..)| a.seq),
        column("time_ms", &rows, |(_, a, ..)| a.time),
        column("code", &rows, |(_, _, code, _)| *code),
        column("verdict", &rows, |(.., j)| j.verdict.name()),
        column("supported_code", &rows, |(.., j)| j.supported_code.as_str()),
        column("confidence", &rows, |(.., j)| j.confidence),
        column("fixable_by", &rows, |(.., j)| j.fixable_by.as_str()),
    ])
}
