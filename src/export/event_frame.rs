//! The events table: one row per line of a log that is an event.

use std::sync::Arc;

use polars::prelude::{DataFrame, PolarsResult};

use super::event_line::LineDetails;
use crate::archive::Line;
use crate::event::{Body, Event, StreamSummary};
use crate::tables::columns::{column, frame};

/// One event, or the run of deltas that one packed row stands for. No text of the log.
#[derive(Debug, Clone)]
pub(super) struct EventRow {
    seq: u64,
    first_time: Option<i64>,
    pub(super) time: Option<i64>,
    kind: Arc<str>,
    turn: Option<u64>,
    step: Option<u64>,
    pub(super) members: u64,
    chunks: Option<u64>,
    chars: Option<u64>,
    longest_gap_ms: Option<i64>,
    frame: Option<u64>,
    line: u64,
    offset: u64,
    bytes: u64,
}

/// The stream inside an event, where there is one.
fn stream<'e>(event: &'e Event<'_>) -> Option<&'e StreamSummary> {
    match &event.body {
        Body::Deltas { stream, .. } | Body::Attempt { stream, .. } => Some(stream),
        Body::Message(message) => message.stream.as_ref(),
        _ => None,
    }
}

impl EventRow {
    /// `kind` is the type in `details`, shared by the rows of a session.
    pub(super) fn new(event: &Event<'_>, line: &Line<'_>, details: &LineDetails, kind: Arc<str>) -> Self {
        let stream = stream(event);
        Self {
            seq: event.seq,
            first_time: stream.and_then(|stream| stream.first_time).or(event.time),
            time: event.time,
            kind,
            turn: details.turn,
            step: details.step,
            members: event.members,
            chunks: stream.map(|stream| stream.chunks),
            chars: details.chars.filter(|_| stream.is_some()),
            longest_gap_ms: stream.filter(|stream| stream.chunks > 1).map(|stream| stream.longest_gap_ms),
            frame: line.place.frame,
            line: line.place.line,
            offset: line.place.offset,
            bytes: line.bytes.len() as u64,
        }
    }
}

/// A frame of rows, each with the id of its session.
pub(super) fn event_frame(rows: &[(Arc<str>, EventRow)]) -> PolarsResult<DataFrame> {
    frame(vec![
        column("session_id", rows, |(id, _)| &**id),
        column("seq", rows, |(_, e)| e.seq),
        column("last_seq", rows, |(_, e)| e.seq.saturating_add(e.members.saturating_sub(1))),
        column("first_time_ms", rows, |(_, e)| e.first_time),
        column("time_ms", rows, |(_, e)| e.time),
        column("type", rows, |(_, e)| &*e.kind),
        column("turn", rows, |(_, e)| e.turn),
        column("step", rows, |(_, e)| e.step),
        column("members", rows, |(_, e)| e.members),
        column("chunks", rows, |(_, e)| e.chunks),
        column("chars", rows, |(_, e)| e.chars),
        column("longest_gap_ms", rows, |(_, e)| e.longest_gap_ms),
        column("frame", rows, |(_, e)| e.frame),
        column("line", rows, |(_, e)| e.line),
        column("offset", rows, |(_, e)| e.offset),
        column("bytes", rows, |(_, e)| e.bytes),
    ])
}
