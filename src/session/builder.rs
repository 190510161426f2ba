//! One pass over the events of a session. State is what the next event's meaning depends on; everything else is a row.

mod attempts;
mod compactions;
mod envelope;
mod order;
mod steps;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use self::envelope::Envelope;
use super::attempt_row::{AttemptRow, Outcome, SinceCompaction};
use super::chains::{self, StepHistory};
use super::rows::{Anomaly, PruneRow, SessionRows, Trigger, UnknownEvents};
use crate::event::{Body, Event, MessageKind, SessionHeader};
use crate::message;
use crate::request::{RebuiltRequest, RequestSizer, Wanted};

/// Overflow code of the harness.
pub const OVERFLOW: &str = "CONTEXT_WINDOW_EXCEEDED";

type StepKey = (u64, u64);

/// What is known about a session beside its events.
#[derive(Debug, Clone, Default)]
pub struct SessionContext {
    /// Project directory name.
    pub project: Option<String>,
    /// Path as found.
    pub path: String,
    /// Generation in the file name.
    pub generation: u32,
    /// Id taken from the path, for headless logs.
    pub id_from_path: Option<String>,
    /// Gather token evidence for successes as well, to check the estimates on them.
    pub evidence_for_all: bool,
}

/// Builds [`SessionRows`] from events in file order.
pub struct SessionBuilder {
    rows: SessionRows,
    sizer: RequestSizer,
    wanted: Option<Wanted>,
    /// Place of each attempt in the token log.
    positions: Vec<usize>,
    evidence_for_all: bool,
    rebuilt: Vec<RebuiltRequest>,
    seed_length: u64,
    header_seen: bool,
    envelope: Envelope,
    /// Attempts whose stream is not closed yet.
    streaming: BTreeMap<StepKey, usize>,
    histories: Vec<(StepKey, StepHistory)>,
    history_of: HashMap<StepKey, usize>,
    turn_of: HashMap<u64, usize>,
    open_step: Option<StepKey>,
    /// Ends of waits in steps that nothing else is known of yet (the log begins late).
    ready_elsewhere: HashMap<StepKey, Option<i64>>,
    /// Time of the last event that a request waits for.
    asked: Option<i64>,
    open_compaction: Option<OpenCompaction>,
    last_compaction: Option<usize>,
    last_independent: Option<usize>,
    retry_ids: HashMap<String, usize>,
    last_prompt: Option<u64>,
    last_tool: Option<Arc<str>>,
    next_seq: Option<u64>,
    max_seq: u64,
    last_time: Option<i64>,
    time_back: u64,
    worst_time_back: (u64, u64, u64),
}

struct OpenCompaction {
    row: usize,
    has_summary: bool,
    replaced: bool,
}

impl SessionBuilder {
    /// A builder for one archive.
    pub fn new(context: SessionContext) -> Self {
        let rows = SessionRows {
            id: context.id_from_path.unwrap_or_default(),
            project: context.project,
            path: context.path,
            generation: context.generation,
            ..SessionRows::default()
        };
        Self {
            rows,
            sizer: RequestSizer::default(),
            wanted: None,
            positions: Vec::new(),
            evidence_for_all: context.evidence_for_all,
            rebuilt: Vec::new(),
            seed_length: 0,
            header_seen: false,
            envelope: Envelope::default(),
            streaming: BTreeMap::new(),
            histories: Vec::new(),
            history_of: HashMap::new(),
            turn_of: HashMap::new(),
            open_step: None,
            ready_elsewhere: HashMap::new(),
            asked: None,
            open_compaction: None,
            last_compaction: None,
            last_independent: None,
            retry_ids: HashMap::new(),
            last_prompt: None,
            last_tool: None,
            next_seq: None,
            max_seq: 0,
            last_time: None,
            time_back: 0,
            worst_time_back: (0, 0, 0),
        }
    }

    /// A builder that also rebuilds request bodies.
    pub fn rebuilding(context: SessionContext, wanted: Wanted) -> Self {
        Self { sizer: RequestSizer::new(true), wanted: Some(wanted), ..Self::new(context) }
    }

    /// The requests rebuilt so far.
    pub fn take_rebuilt(&mut self) -> Vec<RebuiltRequest> {
        std::mem::take(&mut self.rebuilt)
    }

    /// Takes the header line.
    pub fn header(&mut self, header: SessionHeader) {
        self.header_seen = true;
        // Only a fork's prefix is inherited: v0 and v1 write `seedLength` beside `parentSession`.
        self.seed_length = if header.parent_session.is_some() { header.seed_length.unwrap_or(0) } else { 0 };
        self.rows.format_version = Some(header.version);
        self.rows.created_at = header.created_at;
        self.rows.parent_session = header.parent_session;
        self.rows.origin = header.origin;
        self.rows.delegation_depth = header.delegation_depth;
        self.rows.id = header.id;
    }

    /// Takes the next event.
    pub fn event(&mut self, event: &Event<'_>, line: u64) {
        // The prefix ends with the first event of its own: a second writer that goes back later is a fork, not inheritance.
        if event.seq < self.seed_length && self.rows.first_seq.is_none() {
            self.rows.inherited_events += event.members;
            self.context_of(event);
            self.next_seq = Some(event.seq.saturating_add(event.members));
            return;
        }
        self.check_order(event, line);
        self.rows.events += event.members;
        if let Some(time) = event.time {
            self.rows.first_time = Some(self.rows.first_time.map_or(time, |t| t.min(time)));
            self.rows.last_time = Some(self.rows.last_time.map_or(time, |t| t.max(time)));
        }
        self.apply(event, line);
    }

    /// Inherited events set the envelope of the requests that follow and nothing else.
    fn context_of(&mut self, event: &Event<'_>) {
        match &event.body {
            Body::RequestHeader(_) | Body::RequestContext { .. } => self.envelope_event(event),
            Body::Message(message) => self.sizer.message(message, event.seq),
            Body::ToolCall { name, .. } => self.tool(name),
            _ => {}
        }
    }

    fn envelope_event(&mut self, event: &Event<'_>) {
        self.envelope.apply(&event.body);
        if let Body::RequestHeader(header) = &event.body {
            self.sizer.header(header);
        }
    }

    fn anomaly(&mut self, kind: &'static str, seq: u64, line: u64, amount: u64, detail: message::Message) {
        self.rows.anomalies.push(Anomaly { kind, seq, line, amount, detail });
    }

    fn apply(&mut self, event: &Event<'_>, line: u64) {
        match &event.body {
            Body::TurnStart { turn } => {
                let turn = self.turn(*turn);
                turn.start_time = turn.start_time.or(event.time);
            }
            Body::TurnEnd { turn, kind, failure } => self.turn_end(*turn, *kind, failure.clone(), event.time),
            Body::StepStart { turn, step } => {
                let key = (*turn, *step);
                self.turn(*turn);
                let history = self.history(key);
                history.start_time = history.start_time.or(event.time);
                history.ready = event.time;
                self.asked = event.time;
                self.open_step = Some(key);
            }
            Body::StepEnd { turn, step } => {
                let key = (*turn, *step);
                self.close_stream(key);
                self.history(key).end_time = event.time;
                if self.open_step == Some(key) {
                    self.open_step = None;
                }
            }
            Body::RequestHeader(_) | Body::RequestContext { .. } => {
                self.asked = event.time;
                self.envelope_event(event);
            }
            Body::Message(message) => {
                if message.kind == MessageKind::User {
                    self.asked = event.time;
                }
                self.message(message, event);
                // After its attempt: a message is not part of the request that it answers.
                self.sizer.message(message, event.seq);
            }
            Body::Deltas { turn, step, stream } => self.stream((*turn, *step), stream, event, false),
            Body::Attempt { turn, step, stream } => {
                self.stream((*turn, *step), stream, event, true);
                self.close_stream((*turn, *step));
            }
            Body::ToolCall { name, .. } => self.tool(name),
            Body::Retry(retry) => self.retry(retry, event),
            Body::RetryStarted { turn, step, retry_id, .. } => {
                if let Some(row) = self.retry_ids.get(retry_id).copied() {
                    self.rows.retries[row].started = true;
                    self.rows.retries[row].started_time = event.time;
                }
                self.ready((*turn, *step), event.time);
                self.asked = event.time;
            }
            Body::CompactionStart { id, turn, command } => self.compaction_start(id, *turn, *command, event),
            Body::CompactionSummary { id, shadowed_nodes, shadowed_tokens, .. } => {
                if let Some(open) = self.open_compaction.as_mut().filter(|o| self.rows.compactions[o.row].id == *id) {
                    open.has_summary = true;
                    let row = &mut self.rows.compactions[open.row];
                    row.shadowed_nodes = Some(*shadowed_nodes);
                    row.shadowed_tokens = *shadowed_tokens;
                }
            }
            Body::CompactionEnd { id, error } => self.compaction_end(id, error.clone(), event),
            Body::Prune { shadowed_tokens, .. } => {
                let trigger = if self.open_step.is_some() { Trigger::Overflow } else { Trigger::Pressure };
                self.rows.prunes.push(PruneRow {
                    seq: event.seq,
                    time: event.time,
                    trigger,
                    shadowed_tokens: *shadowed_tokens,
                });
            }
            Body::EndSeed { inherited: true } => self.inherited_prefix_ends(event),
            Body::EndSeed { inherited: false } => {}
            Body::Other { kind, known, ignorable } => {
                if !known {
                    if !ignorable {
                        let first = UnknownEvents { count: 0, first_seq: event.seq };
                        self.rows.unknown_required.entry(kind.clone()).or_insert(first).count += 1;
                    }
                    *self.rows.unknown_types.entry(kind.clone()).or_default() += 1;
                }
            }
            Body::Odd { kind, reason } => {
                self.anomaly("odd-event", event.seq, line, 1, message!("notices.odd-event", kind = kind, why = reason))
            }
        }
    }

    /// v2 and later tag the end of the inherited prefix: everything before belongs to the parent's log.
    fn inherited_prefix_ends(&mut self, event: &Event<'_>) {
        let envelope = std::mem::take(&mut self.envelope);
        let kept = SessionRows {
            id: std::mem::take(&mut self.rows.id),
            project: self.rows.project.take(),
            path: std::mem::take(&mut self.rows.path),
            generation: self.rows.generation,
            format_version: self.rows.format_version,
            created_at: self.rows.created_at,
            parent_session: self.rows.parent_session.take(),
            origin: self.rows.origin.take(),
            delegation_depth: self.rows.delegation_depth,
            first_seq: self.rows.first_seq,
            last_seq: self.rows.last_seq,
            anomalies: std::mem::take(&mut self.rows.anomalies),
            unknown_types: std::mem::take(&mut self.rows.unknown_types),
            unknown_required: std::mem::take(&mut self.rows.unknown_required),
            inherited_events: self.rows.inherited_events + self.rows.events - event.members,
            events: event.members,
            first_time: event.time,
            last_time: event.time,
            ..SessionRows::default()
        };
        let sizer = std::mem::take(&mut self.sizer);
        let (last_tool, next_seq, max_seq, last_time, header_seen) =
            (self.last_tool.take(), self.next_seq, self.max_seq, self.last_time, self.header_seen);
        *self = Self {
            rows: kept,
            sizer,
            wanted: self.wanted,
            evidence_for_all: self.evidence_for_all,
            envelope,
            last_tool,
            next_seq,
            max_seq,
            last_time,
            header_seen,
            ..Self::new(SessionContext::default())
        };
    }

    /// Ends the log and closes what is still open.
    pub fn finish(mut self) -> SessionRows {
        self.leave_open();
        if self.time_back > 0 {
            let (back, seq, line) = self.worst_time_back;
            let count = self.time_back;
            self.anomaly("time-back", seq, line, back, message!("notices.time-back", n = count, ms = back));
        }
        let open_turns: Vec<u64> = self.rows.turns.iter().filter(|t| t.end.is_none()).map(|t| t.turn).collect();
        for turn in open_turns {
            let seq = self.max_seq;
            self.anomaly("open-turn", seq, 0, 1, message!("notices.open-turn", turn = turn));
        }
        let mut seen = HashSet::new();
        self.rows.anomalies.retain(|a| seen.insert((a.kind, a.seq, a.line, a.detail.clone())));
        for index in 0..self.rows.attempts.len() {
            let (seq, ordinal, time) =
                (self.rows.attempts[index].seq, self.rows.attempts[index].ordinal, self.rows.attempts[index].time);
            let compactions = &self.rows.compactions;
            let measure = |since: Option<SinceCompaction>| {
                since.map(|s| s.measured(&compactions[s.compaction], seq, ordinal, time))
            };
            let (any, independent) = (
                measure(self.rows.attempts[index].since_compaction),
                measure(self.rows.attempts[index].since_independent_compaction),
            );
            self.rows.attempts[index].since_compaction = any;
            self.rows.attempts[index].since_independent_compaction = independent;
        }
        chains::close(&mut self.rows, self.histories);
        let all = self.evidence_for_all;
        let wanted = |a: &AttemptRow| a.request.is_some() && (all || a.outcome == Outcome::Failed);
        let (evidence, samples) =
            crate::tokens::gather(&self.rows.attempts, &self.positions, self.sizer.tokens(), wanted, all);
        self.rows.token_evidence = evidence;
        self.rows.token_samples = samples;
        self.rows
    }

    /// Whether a header line was seen.
    pub fn has_header(&self) -> bool {
        self.header_seen
    }
}

/// Seq of an event, or of the last member of a packed row.
fn last_member(event: &Event<'_>) -> u64 {
    event.seq.saturating_add(event.members.saturating_sub(1))
}
