//! The rows that outlive a session. `docs/tables.md` gives type, unit and meaning of every column.

use super::attempt_row::{AttemptRow, Fate};
use crate::event::Failure;
use std::collections::BTreeMap;

/// One model request with its tool calls.
#[derive(Debug, Clone)]
pub struct StepRow {
    /// Turn number.
    pub turn: u64,
    /// Step number in its turn.
    pub step: u64,
    /// Epoch milliseconds of its start.
    pub start_time: Option<i64>,
    /// Epoch milliseconds of its end.
    pub end_time: Option<i64>,
    /// Indices of its attempts in [`SessionRows::attempts`].
    pub attempts: Vec<usize>,
    /// At least one failed attempt and no successful one.
    pub failed: bool,
    /// Index of its last failing attempt.
    pub last_failure: Option<usize>,
    /// Fate of its failure chain, where it has one.
    pub fate: Option<Fate>,
}

impl StepRow {
    /// Error code of its last failing attempt.
    pub fn last_code<'s>(&self, session: &'s SessionRows) -> Option<&'s str> {
        self.last_failure.and_then(|i| session.attempts[i].failure.as_ref()).map(|f| f.code.as_str())
    }
}

/// One turn.
#[derive(Debug, Clone)]
pub struct TurnRow {
    /// Turn number.
    pub turn: u64,
    /// Epoch milliseconds of its start.
    pub start_time: Option<i64>,
    /// Epoch milliseconds of its end.
    pub end_time: Option<i64>,
    /// How it ended; `None`: the log ends inside.
    pub end: Option<crate::event::TurnEndKind>,
    /// The failure it ended with.
    pub failure: Option<Failure>,
    /// Steps in it.
    pub steps: u64,
}

/// One scheduled retry.
#[derive(Debug, Clone)]
pub struct RetryRow {
    /// Seq of the `llm/retry` event.
    pub seq: u64,
    /// Epoch milliseconds.
    pub time: Option<i64>,
    /// What was logged.
    pub retry: crate::event::Retry,
    /// Epoch milliseconds at which its wait ended; `None`: cancelled, or died while waiting.
    pub started_time: Option<i64>,
    /// Whether its wait ended.
    pub started: bool,
    /// Index of the attempt it followed.
    pub after_attempt: Option<usize>,
    /// Index of the attempt it led to.
    pub next_attempt: Option<usize>,
}

/// What started a compaction (inferred, the log does not say).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trigger {
    /// The token meter passed its threshold.
    Pressure,
    /// A `CONTEXT_WINDOW_EXCEEDED` failure.
    Overflow,
    /// The user.
    Manual,
}

impl Trigger {
    /// The name used in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pressure => "pressure",
            Self::Overflow => "overflow",
            Self::Manual => "manual",
        }
    }
}

/// What came of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompactionOutcome {
    /// A summary replaced part of the surface.
    Done,
    /// It ended with an error (or without a summary).
    Failed,
    /// It has no end.
    Open,
}

impl CompactionOutcome {
    /// The name used in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Open => "open",
        }
    }
}

/// One compaction.
#[derive(Debug, Clone)]
pub struct CompactionRow {
    /// Id as logged.
    pub id: String,
    /// What started it.
    pub trigger: Trigger,
    /// What came of it.
    pub outcome: CompactionOutcome,
    /// Turn, `None` when the user asked between turns.
    pub turn: Option<u64>,
    /// Seq of its start.
    pub start_seq: u64,
    /// Seq of its end.
    pub end_seq: Option<u64>,
    /// Epoch milliseconds of its start.
    pub start_time: Option<i64>,
    /// Epoch milliseconds of its end.
    pub end_time: Option<i64>,
    /// The error it ended with.
    pub error: Option<Failure>,
    /// Surface nodes it took away.
    pub shadowed_nodes: Option<u64>,
    /// Tokens it took away, by the harness's meter.
    pub shadowed_tokens: Option<u64>,
    /// Largest prompt reported on the route before it, tokens.
    pub tokens_before: Option<u64>,
    /// First prompt reported after it, tokens.
    pub tokens_after: Option<u64>,
    /// The failing event that caused it.
    pub caused_by_failure_seq: Option<u64>,
    /// Attempts of the session before its end.
    pub attempts_before_end: u64,
}

/// One pruned tool result.
#[derive(Debug, Clone)]
pub struct PruneRow {
    /// Seq of the event.
    pub seq: u64,
    /// Epoch milliseconds.
    pub time: Option<i64>,
    /// Overflow-caused inside an open step, else pressure.
    pub trigger: Trigger,
    /// Tokens it took away, by the harness's meter.
    pub shadowed_tokens: Option<u64>,
}

/// Everything one session leaves behind.
#[derive(Debug, Clone, Default)]
pub struct SessionRows {
    /// Session id.
    pub id: String,
    /// Project directory name.
    pub project: Option<String>,
    /// Where it was read, as given on the command line (never printed in reports that leave the machine).
    pub path: String,
    /// SHA-256 of the stored bytes, hexadecimal, where it was asked for.
    pub sha256: Option<String>,
    /// Format version of the header; `None` when headless.
    pub format_version: Option<u32>,
    /// Generation in the file name.
    pub generation: u32,
    /// Session it was forked or spawned from.
    pub parent_session: Option<String>,
    /// `subagent`, or nothing.
    pub origin: Option<String>,
    /// Nesting of sub-agents.
    pub delegation_depth: u64,
    /// Epoch milliseconds.
    pub created_at: Option<i64>,
    /// First and last event time of its own events, epoch milliseconds.
    pub first_time: Option<i64>,
    /// See `first_time`.
    pub last_time: Option<i64>,
    /// Own events, packed rows expanded.
    pub events: u64,
    /// Inherited events, not counted anywhere else.
    pub inherited_events: u64,
    /// First and last seq seen.
    pub first_seq: Option<u64>,
    /// See `first_seq`.
    pub last_seq: Option<u64>,
    /// Attempts in order of their first trace.
    pub attempts: Vec<AttemptRow>,
    /// Steps in order of their start.
    pub steps: Vec<StepRow>,
    /// Turns in order of their start.
    pub turns: Vec<TurnRow>,
    /// Retries in file order.
    pub retries: Vec<RetryRow>,
    /// Compactions in file order.
    pub compactions: Vec<CompactionRow>,
    /// Prunes in file order.
    pub prunes: Vec<PruneRow>,
    /// Event types that are not the harness's, with their counts.
    pub unknown_types: BTreeMap<String, u64>,
    /// Those of them that are not marked as ignorable: the harness refuses a log that holds one.
    pub unknown_required: BTreeMap<String, UnknownEvents>,
    /// The last frame or line is torn.
    pub torn: bool,
    /// Damage and oddities of the event sequence.
    pub anomalies: Vec<Anomaly>,
    /// What is known about the prompts of attempts without a report: index of the attempt, evidence.
    pub token_evidence: Vec<(usize, crate::tokens::Evidence)>,
    /// Differences between reported prompts, for the fits.
    pub token_samples: Vec<crate::tokens::fit::Sample>,
    /// Largest reported prompt of a successful attempt, tokens.
    pub largest_success_tokens: Option<u64>,
}

impl SessionRows {
    /// Model of the first reported attempt: the one its samples are about.
    pub fn sampled_model(&self) -> &str {
        self.attempts.iter().find(|a| a.reported_prompt().is_some()).map_or("", |a| a.route.model.as_str())
    }
}

/// Events of one unknown type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownEvents {
    /// How many.
    pub count: u64,
    /// Seq of the first.
    pub first_seq: u64,
}

/// Something in the order of events that the harness would not have written by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Anomaly {
    /// Kind: `seq-fork`, `holes`, `late-start`, `no-seq`, `time-back`, `open-turn`, `open-compaction`, `odd-event`.
    pub kind: &'static str,
    /// Seq at which it stands.
    pub seq: u64,
    /// Line in the archive.
    pub line: u64,
    /// How much: missing events, seqs gone back, milliseconds.
    pub amount: u64,
    /// What was seen.
    pub detail: crate::message::Message,
}
