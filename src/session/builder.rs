//! One pass over the events of a session. State is what the next event's meaning depends on; everything else is a row.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::chains::{self, Recovery, StepHistory};
use super::rows::{
    Anomaly, AttemptRow, CompactionOutcome, CompactionRow, Outcome, PruneRow, RequestSize, RetryRow, Route,
    SessionRows, SinceCompaction, Trigger, TurnRow, UnknownEvents,
};
use crate::event::{
    Body, Event, Failure, FinishKind, Message, MessageKind, Retry, SessionHeader, StreamSummary, TurnEndKind, Usage,
};
use crate::message;
use crate::request::{RebuiltRequest, RequestSizer, Sending, Wanted};

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
    /// The last attempt of a step, while a later event may still tell that it failed or succeeded.
    last_attempt: HashMap<StepKey, usize>,
    histories: Vec<(StepKey, StepHistory)>,
    history_of: HashMap<StepKey, usize>,
    turn_of: HashMap<u64, usize>,
    open_step: Option<StepKey>,
    /// Time at which the open step's next request could leave.
    ready: HashMap<StepKey, Option<i64>>,
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

struct Envelope {
    route: Arc<Route>,
    window: Option<u64>,
    window_of: HashMap<Route, u64>,
    max_tokens: Option<u64>,
    reasoning_effort: Option<Arc<str>>,
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
            envelope: Envelope {
                route: Arc::default(),
                window: None,
                window_of: HashMap::new(),
                max_tokens: None,
                reasoning_effort: None,
            },
            streaming: BTreeMap::new(),
            last_attempt: HashMap::new(),
            histories: Vec::new(),
            history_of: HashMap::new(),
            turn_of: HashMap::new(),
            open_step: None,
            ready: HashMap::new(),
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

    fn check_order(&mut self, event: &Event<'_>, line: u64) {
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
                self.ready.insert(key, event.time);
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
                self.ready.insert((*turn, *step), event.time);
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
        let envelope = std::mem::replace(
            &mut self.envelope,
            Envelope {
                route: Arc::default(),
                window: None,
                window_of: HashMap::new(),
                max_tokens: None,
                reasoning_effort: None,
            },
        );
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

    fn tool(&mut self, name: &str) {
        if self.last_tool.as_deref() != Some(name) {
            self.last_tool = Some(name.into());
        }
    }

    fn turn(&mut self, turn: u64) -> &mut TurnRow {
        let rows = &mut self.rows.turns;
        // Nearly always the last one; the map is for the rest.
        if rows.last().is_some_and(|row| row.turn == turn) {
            let last = rows.len() - 1;
            return &mut rows[last];
        }
        let index = *self.turn_of.entry(turn).or_insert_with(|| {
            rows.push(TurnRow { turn, start_time: None, end_time: None, end: None, failure: None, steps: 0 });
            rows.len() - 1
        });
        &mut rows[index]
    }

    fn history(&mut self, key: StepKey) -> &mut StepHistory {
        let histories = &mut self.histories;
        if histories.last().is_some_and(|(last, _)| *last == key) {
            let last = histories.len() - 1;
            return &mut histories[last].1;
        }
        let index = *self.history_of.entry(key).or_insert_with(|| {
            histories.push((key, StepHistory::default()));
            histories.len() - 1
        });
        &mut histories[index].1
    }

    /// Adds stream chunks to the step's open attempt, or opens one. `whole`: the stream is all there is of the attempt.
    fn stream(&mut self, key: StepKey, stream: &StreamSummary, event: &Event<'_>, whole: bool) {
        if whole {
            self.close_stream(key);
        }
        let index = match self.streaming.get(&key) {
            Some(index) => *index,
            None => self.open_attempt(key, event, stream.first_time.or(event.time)),
        };
        let attempt = &mut self.rows.attempts[index];
        if let (true, Some(last), Some(next)) = (attempt.chunks > 0, attempt.time, stream.first_time) {
            attempt.longest_gap_ms = attempt.longest_gap_ms.max(next.saturating_sub(last));
        }
        attempt.longest_gap_ms = attempt.longest_gap_ms.max(stream.longest_gap_ms);
        attempt.chunks += stream.chunks;
        attempt.seq = last_member(event);
        attempt.time = stream.last_time.or(event.time).or(attempt.time);
        attempt.usage = stream.usage.or(attempt.usage);
        if let Some(finish) = &stream.finish {
            attempt.outcome = match finish.kind {
                FinishKind::Error => Outcome::Failed,
                FinishKind::Aborted => Outcome::Aborted,
                _ => Outcome::Succeeded,
            };
            attempt.cut_at_limit = finish.kind == FinishKind::MaxTokens;
            if attempt.outcome == Outcome::Failed {
                attempt.failure = Some(
                    finish.failure.clone().unwrap_or_else(|| Failure { code: "UNKNOWN".into(), ..Failure::default() }),
                );
            }
            let (outcome, usage) = (attempt.outcome, attempt.usage);
            self.close_stream(key);
            if outcome == Outcome::Succeeded {
                self.note_success(usage);
            }
        }
    }

    fn open_attempt(&mut self, key: StepKey, event: &Event<'_>, first_time: Option<i64>) -> usize {
        let ordinal = self.rows.attempts.len();
        let request = self.request();
        let ready_time = self.ready.get(&key).copied().flatten();
        self.positions.push(self.sizer.tokens().position());
        self.rows.attempts.push(AttemptRow {
            turn: key.0,
            step: key.1,
            attempt: 0,
            ordinal: ordinal as u64,
            seq: event.seq,
            first_seq: event.seq,
            time: first_time,
            first_time,
            ready_time,
            // A message that came while the answer was under way asks for the next request, not for this one.
            asked_time: self.asked.filter(|asked| first_time.is_none_or(|first| *asked <= first)).max(ready_time),
            route: Arc::clone(&self.envelope.route),
            window: self.envelope.window,
            window_source: None,
            max_tokens: self.envelope.max_tokens,
            reasoning_effort: self.envelope.reasoning_effort.clone(),
            outcome: Outcome::Unfinished,
            failure: None,
            usage: None,
            chunks: 0,
            longest_gap_ms: 0,
            since_compaction: self.last_compaction.map(SinceCompaction::pending),
            since_independent_compaction: self.last_independent.map(SinceCompaction::pending),
            retries_before: 0,
            retry: None,
            fate: None,
            request,
            usage_untrusted: false,
            cut_at_limit: false,
            last_tool: self.last_tool.clone(),
            selected: true,
        });
        self.streaming.insert(key, ordinal);
        self.last_attempt.insert(key, ordinal);
        self.history(key).attempts.push(ordinal);
        if let Some(retry) = self.rows.retries.iter_mut().rev().find(|r| (r.retry.turn, r.retry.step) == key)
            && retry.next_attempt.is_none()
        {
            retry.next_attempt = Some(ordinal);
        }
        ordinal
    }

    /// Size of the request that leaves now.
    fn request(&mut self) -> Option<Box<RequestSize>> {
        if self.envelope.route.model.is_empty() {
            return None;
        }
        let sending = self.envelope.sending();
        let size = self.sizer.size(sending);
        let ordinal = self.rows.attempts.len() as u64;
        if self.wanted.is_some_and(|wanted| matches!(wanted, Wanted::All) || wanted == Wanted::Attempt(ordinal)) {
            let body = self.sizer.body(sending);
            self.rebuilt.push(RebuiltRequest { ordinal, body, harness: self.sizer.harness_shape() });
        }
        Some(Box::new(size))
    }

    fn close_stream(&mut self, key: StepKey) {
        self.streaming.remove(&key);
    }

    fn note_success(&mut self, usage: Option<Usage>) {
        let Some(prompt) = usage.map(Usage::prompt).filter(|p| *p > 0) else { return };
        self.last_prompt = Some(prompt);
        if let Some(row) = self.last_compaction.map(|i| &mut self.rows.compactions[i]) {
            row.tokens_after = row.tokens_after.or(Some(prompt));
        }
        self.rows.largest_success_tokens = self.rows.largest_success_tokens.max(Some(prompt));
    }

    fn message(&mut self, message: &Message<'_>, event: &Event<'_>) {
        if let Some(open) = self.open_compaction.as_mut().filter(|_| message.kind == MessageKind::User)
            && matches!(message.op, Some(crate::event::SurfaceOp::Replace { .. }))
        {
            open.replaced = true;
        }
        if message.kind != MessageKind::Assistant {
            return;
        }
        let key = (message.turn.unwrap_or(0), message.step.unwrap_or(0));
        if let Some(stream) = message.stream.as_ref().filter(|s| s.chunks > 0) {
            self.stream(key, stream, event, true);
            self.close_stream(key);
        } else if message.interrupted {
            self.close_stream(key);
        }
        // Usage is logged with the chunk and with the message; it is one report, and the message's wins.
        if let (Some(usage), Some(index)) = (message.usage, self.last_attempt.get(&key).copied()) {
            self.rows.attempts[index].usage = Some(usage);
            if self.rows.attempts[index].outcome == Outcome::Succeeded {
                self.note_success(Some(usage));
            }
        }
    }

    fn retry(&mut self, retry: &Retry, event: &Event<'_>) {
        let key = (retry.turn, retry.step);
        self.close_stream(key);
        let after_attempt = self.last_attempt.get(&key).copied();
        if let Some(attempt) = after_attempt.map(|i| &mut self.rows.attempts[i]) {
            if attempt.outcome == Outcome::Unfinished {
                attempt.outcome = Outcome::Failed;
                attempt.failure = Some(retry.failure.clone());
            }
            attempt.retry = Some(self.rows.retries.len());
        }
        let attempts_before = self.history(key).attempts.len();
        self.history(key).recoveries.push((attempts_before, Recovery::Retry));
        self.retry_ids.insert(retry.retry_id.clone(), self.rows.retries.len());
        self.rows.retries.push(RetryRow {
            seq: event.seq,
            time: event.time,
            retry: retry.clone(),
            started_time: None,
            started: false,
            after_attempt,
            next_attempt: None,
        });
    }

    fn turn_end(&mut self, turn: u64, kind: TurnEndKind, failure: Option<Failure>, time: Option<i64>) {
        let open: Vec<StepKey> = self.streaming.range((turn, 0)..=(turn, u64::MAX)).map(|(key, _)| *key).collect();
        for key in open {
            self.close_stream(key);
        }
        // A stream that threw leaves its failure in the turn's end alone.
        if kind == TurnEndKind::Error
            && let Some(attempt) = self.rows.attempts.iter_mut().rev().find(|a| a.turn == turn)
            && attempt.outcome == Outcome::Unfinished
        {
            attempt.outcome = Outcome::Failed;
            attempt.failure.clone_from(&failure);
        }
        if self.open_step.is_some_and(|key| key.0 == turn) {
            self.open_step = None;
        }
        let row = self.turn(turn);
        row.end_time = time.or(row.end_time);
        row.end = Some(kind);
        row.failure = failure;
    }

    fn compaction_start(&mut self, id: &str, turn: Option<u64>, command: bool, event: &Event<'_>) {
        self.leave_open();
        let trigger = match (turn, command, self.open_step) {
            (None, ..) | (_, true, _) => Trigger::Manual,
            (Some(_), false, Some(_)) => Trigger::Overflow,
            (Some(_), false, None) => Trigger::Pressure,
        };
        if let Some(key) = self.open_step {
            self.close_stream(key);
        }
        let caused_by_failure_seq = (trigger == Trigger::Overflow)
            .then(|| self.open_step.and_then(|key| self.last_attempt.get(&key)).map(|i| &self.rows.attempts[*i]))
            .flatten()
            .filter(|a| a.outcome == Outcome::Failed)
            .map(|a| a.seq);
        self.open_compaction =
            Some(OpenCompaction { row: self.rows.compactions.len(), has_summary: false, replaced: false });
        self.rows.compactions.push(CompactionRow {
            id: id.to_owned(),
            trigger,
            outcome: CompactionOutcome::Open,
            turn,
            start_seq: event.seq,
            end_seq: None,
            start_time: event.time,
            end_time: None,
            error: None,
            shadowed_nodes: None,
            shadowed_tokens: None,
            tokens_before: self.last_prompt,
            tokens_after: None,
            caused_by_failure_seq,
            attempts_before_end: 0,
        });
    }

    fn leave_open(&mut self) {
        if let Some(open) = self.open_compaction.take() {
            let row = &self.rows.compactions[open.row];
            let (seq, detail) = (row.start_seq, message!("notices.open-compaction", id = &row.id));
            self.anomaly("open-compaction", seq, 0, 1, detail);
        }
    }

    fn compaction_end(&mut self, id: &str, error: Option<Failure>, event: &Event<'_>) {
        let Some(open) = self.open_compaction.take_if(|o| self.rows.compactions[o.row].id == id) else { return };
        let attempts = self.rows.attempts.len() as u64;
        let row = &mut self.rows.compactions[open.row];
        row.outcome = if error.is_none() && open.has_summary && open.replaced {
            CompactionOutcome::Done
        } else {
            CompactionOutcome::Failed
        };
        row.error = error;
        row.end_seq = Some(event.seq);
        row.end_time = event.time;
        row.attempts_before_end = attempts;
        let (trigger, outcome) = (row.trigger, row.outcome);
        self.last_compaction = Some(open.row);
        if trigger != Trigger::Overflow {
            self.last_independent = Some(open.row);
        }
        if let Some(key) = self.open_step.filter(|_| trigger == Trigger::Overflow) {
            self.ready.insert(key, event.time);
            self.asked = event.time;
            if outcome == CompactionOutcome::Done {
                let attempts_before = self.history(key).attempts.len();
                self.history(key).recoveries.push((attempts_before, Recovery::Compaction));
            }
        }
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

impl SinceCompaction {
    fn pending(compaction: usize) -> Self {
        Self { compaction, events: 0, attempts: 0, ms: None }
    }

    fn measured(self, compaction: &CompactionRow, seq: u64, ordinal: u64, time: Option<i64>) -> Self {
        Self {
            compaction: self.compaction,
            events: compaction.end_seq.map_or(0, |end| seq.saturating_sub(end)),
            attempts: ordinal + 1 - compaction.attempts_before_end.min(ordinal),
            ms: time.zip(compaction.end_time).map(|(t, e)| t.saturating_sub(e)),
        }
    }
}

impl Envelope {
    fn sending(&self) -> Sending<'_> {
        Sending {
            provider: &self.route.provider,
            model: &self.route.model,
            window: self.window,
            max_tokens: self.max_tokens,
            effort: self.reasoning_effort.as_deref(),
        }
    }

    fn apply(&mut self, body: &Body<'_>) {
        match body {
            Body::RequestHeader(header) => {
                let route = Route { provider: header.provider.clone(), model: header.model.clone() };
                if *self.route != route {
                    self.window = self.window_of.get(&route).copied();
                    self.route = Arc::new(route);
                }
                self.max_tokens = header.max_tokens;
                self.reasoning_effort = header.reasoning_effort.as_deref().map(Arc::from);
            }
            Body::RequestContext { provider, model, window } => {
                let route = Route {
                    provider: provider.clone().unwrap_or_else(|| self.route.provider.clone()),
                    model: model.clone().unwrap_or_else(|| self.route.model.clone()),
                };
                if route == *self.route {
                    self.window = *window;
                }
                match window {
                    Some(window) => self.window_of.insert(route, *window),
                    None => self.window_of.remove(&route),
                };
            }
            _ => {}
        }
    }
}
