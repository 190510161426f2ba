//! Every compaction in file order, with what came next, and runs of compactions that got nowhere.

use crate::filter::Filters;
use crate::session::{CompactionOutcome, CompactionRow, Outcome, SessionRows, Trigger};
use crate::stats::median;

/// After a compaction that helps, the prompt is at most this part of what it was.
const SHRUNK: f64 = 0.9;
/// Compactions with at most this many attempts between them follow closely.
const CLOSE_ATTEMPTS: u64 = 2;
/// This many that follow closely are a storm.
const STORM: usize = 4;

/// Distance from the end of a compaction (of an open one: its start) to the next failed attempt of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextFailure {
    /// Seq of the failing event.
    pub seq: u64,
    /// Events between.
    pub events: u64,
    /// It is the k-th attempt after the compaction.
    pub attempts: u64,
    /// Milliseconds between.
    pub ms: Option<i64>,
}

/// One compaction.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'a> {
    /// Its session.
    pub session: &'a SessionRows,
    /// Its row.
    pub row: &'a CompactionRow,
    /// The next failed attempt.
    pub next_failure: Option<NextFailure>,
}

/// What is wrong with a run of compactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunKind {
    /// They failed one after another with the same code.
    SameError,
    /// They were done, and the prompt after them was about as large as before.
    NotShrinking,
    /// At least four with at most two attempts between them.
    Storm,
}

impl RunKind {
    /// The name used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SameError => "same_error",
            Self::NotShrinking => "not_shrinking",
            Self::Storm => "storm",
        }
    }
}

/// Compactions of one session that follow one another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// What is wrong.
    pub kind: RunKind,
    /// Session id.
    pub session_id: String,
    /// Compactions in it.
    pub count: u64,
    /// Seqs of the first and last start.
    pub seqs: (u64, u64),
    /// The code they failed with.
    pub code: Option<String>,
}

/// Compactions of one trigger in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TriggerSummary {
    /// Started.
    pub started: u64,
    /// Done, failed, open.
    pub outcomes: [u64; 3],
    /// Median duration, milliseconds.
    pub median_duration_ms: Option<i64>,
    /// Median prompt before, tokens as reported.
    pub median_tokens_before: Option<u64>,
    /// Median prompt after.
    pub median_tokens_after: Option<u64>,
}

/// All compactions within the filters.
#[derive(Debug, Clone, Default)]
pub struct CompactionList<'a> {
    /// In the order of sessions, then of the file.
    pub listed: Vec<Listed<'a>>,
    /// Runs that got nowhere.
    pub runs: Vec<Run>,
}

impl<'a> CompactionList<'a> {
    /// Lists those that started within the time asked for.
    #[must_use]
    pub fn of(sessions: &'a [SessionRows], filters: &Filters) -> Self {
        let in_time = |time: Option<i64>| {
            filters.since.is_none_or(|since| time.is_some_and(|t| t >= since))
                && filters.until.is_none_or(|until| time.is_some_and(|t| t < until))
        };
        let mut list = Self::default();
        for session in sessions {
            let rows: Vec<&CompactionRow> = session.compactions.iter().filter(|c| in_time(c.start_time)).collect();
            list.listed.extend(rows.iter().map(|row| Listed {
                session,
                row,
                next_failure: next_failure(session, row),
            }));
            list.runs.extend(runs(session, &rows));
        }
        list
    }

    /// Compactions of one trigger.
    pub fn with_trigger(&self, trigger: Trigger) -> impl Iterator<Item = &Listed<'a>> {
        self.listed.iter().filter(move |listed| listed.row.trigger == trigger)
    }

    /// The compactions of one trigger in numbers.
    #[must_use]
    pub fn trigger_summary(&self, trigger: Trigger) -> TriggerSummary {
        let rows = || self.with_trigger(trigger).map(|listed| listed.row);
        let outcome = |outcome| rows().filter(|row| row.outcome == outcome).count() as u64;
        let middle = |values: &dyn Fn(&CompactionRow) -> Option<i64>| {
            let known: Vec<f64> = rows().filter_map(values).map(|value| value as f64).collect();
            median(&known).map(|value| value.round() as i64)
        };
        let tokens = |value: Option<u64>| value.and_then(|value| i64::try_from(value).ok());
        TriggerSummary {
            started: rows().count() as u64,
            outcomes: [CompactionOutcome::Done, CompactionOutcome::Failed, CompactionOutcome::Open].map(outcome),
            median_duration_ms: middle(&|row| Some(row.end_time?.saturating_sub(row.start_time?))),
            median_tokens_before: middle(&|row| tokens(row.tokens_before)).map(i64::unsigned_abs),
            median_tokens_after: middle(&|row| tokens(row.tokens_after)).map(i64::unsigned_abs),
        }
    }
}

fn next_failure(session: &SessionRows, row: &CompactionRow) -> Option<NextFailure> {
    let (from_seq, from_time) = (row.end_seq.unwrap_or(row.start_seq), row.end_time.or(row.start_time));
    let begins = match row.end_seq {
        Some(_) => row.attempts_before_end,
        None => attempts_before(session, row.start_seq),
    };
    let skipped = usize::try_from(begins).ok()?;
    let attempt = session.attempts.iter().skip(skipped).find(|attempt| attempt.outcome == Outcome::Failed)?;
    Some(NextFailure {
        seq: attempt.seq,
        events: attempt.seq.saturating_sub(from_seq),
        attempts: (attempt.ordinal + 1).saturating_sub(begins),
        ms: attempt.time.zip(from_time).map(|(then, from)| then.saturating_sub(from)),
    })
}

fn attempts_before(session: &SessionRows, seq: u64) -> u64 {
    session.attempts.partition_point(|attempt| attempt.first_seq < seq) as u64
}

/// Did the prompt stay about as large?
fn stayed_large(row: &CompactionRow) -> bool {
    row.outcome == CompactionOutcome::Done
        && row.tokens_before.zip(row.tokens_after).is_some_and(|(before, after)| after as f64 > SHRUNK * before as f64)
}

fn runs(session: &SessionRows, rows: &[&CompactionRow]) -> Vec<Run> {
    let code = |row: &CompactionRow| row.error.as_ref().map(|error| error.code.clone());
    let failed = |row: &CompactionRow| row.outcome == CompactionOutcome::Failed && row.error.is_some();
    let place = |row: &CompactionRow| attempts_before(session, row.start_seq);
    let run = |kind, group: &[&CompactionRow], code| Run {
        kind,
        session_id: session.id.clone(),
        count: group.len() as u64,
        seqs: (group[0].start_seq, group[group.len() - 1].start_seq),
        code,
    };
    let same_error = rows.chunk_by(|a, b| failed(a) && failed(b) && code(a) == code(b));
    let same_error = same_error.filter(|group| group.len() >= 2).map(|g| run(RunKind::SameError, g, code(g[0])));
    let large = rows.chunk_by(|a, b| stayed_large(a) && stayed_large(b));
    let large = large.filter(|group| stayed_large(group[0])).map(|g| run(RunKind::NotShrinking, g, None));
    let close = rows.chunk_by(|a, b| place(b).saturating_sub(place(a)) <= CLOSE_ATTEMPTS);
    let close = close.filter(|group| group.len() >= STORM).map(|g| run(RunKind::Storm, g, None));
    same_error.chain(large).chain(close).collect()
}
