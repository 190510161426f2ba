//! Streams, messages, retries and turn ends: what an attempt was and how it ended.

use std::sync::Arc;

use super::{SessionBuilder, StepKey, last_member};
use crate::event::{Event, Failure, FinishKind, Message, MessageKind, Retry, StreamSummary, TurnEndKind, Usage};
use crate::request::{RebuiltRequest, Wanted};
use crate::session::chains::Recovery;
use crate::session::{AttemptRow, Outcome, RequestSize, RetryRow, SinceCompaction};

impl SessionBuilder {
    /// Adds stream chunks to the step's open attempt, or opens one. `whole`: the stream is all there is of the attempt.
    pub(super) fn stream(&mut self, key: StepKey, stream: &StreamSummary, event: &Event<'_>, whole: bool) {
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

    pub(super) fn open_attempt(&mut self, key: StepKey, event: &Event<'_>, first_time: Option<i64>) -> usize {
        let ordinal = self.rows.attempts.len();
        let request = self.request();
        let ready_time = self.history(key).ready;
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
        let history = self.history(key);
        history.attempts.push(ordinal);
        if let Some(retry) = history.last_retry
            && self.rows.retries[retry].next_attempt.is_none()
        {
            self.rows.retries[retry].next_attempt = Some(ordinal);
        }
        ordinal
    }

    /// Size of the request that leaves now.
    pub(super) fn request(&mut self) -> Option<Box<RequestSize>> {
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

    pub(super) fn close_stream(&mut self, key: StepKey) {
        self.streaming.remove(&key);
    }

    pub(super) fn note_success(&mut self, usage: Option<Usage>) {
        let Some(prompt) = usage.map(Usage::prompt).filter(|p| *p > 0) else { return };
        self.last_prompt = Some(prompt);
        if let Some(row) = self.last_compaction.map(|i| &mut self.rows.compactions[i]) {
            row.tokens_after = row.tokens_after.or(Some(prompt));
        }
        self.rows.largest_success_tokens = self.rows.largest_success_tokens.max(Some(prompt));
    }

    pub(super) fn message(&mut self, message: &Message<'_>, event: &Event<'_>) {
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
        if let (Some(usage), Some(index)) = (message.usage, self.last_attempt(key)) {
            self.rows.attempts[index].usage = Some(usage);
            if self.rows.attempts[index].outcome == Outcome::Succeeded {
                self.note_success(Some(usage));
            }
        }
    }

    pub(super) fn retry(&mut self, retry: &Retry, event: &Event<'_>) {
        let key = (retry.turn, retry.step);
        self.close_stream(key);
        let after_attempt = self.last_attempt(key);
        if let Some(attempt) = after_attempt.map(|i| &mut self.rows.attempts[i]) {
            if attempt.outcome == Outcome::Unfinished {
                attempt.outcome = Outcome::Failed;
                attempt.failure = Some(retry.failure.clone());
            }
            attempt.retry = Some(self.rows.retries.len());
        }
        let row = self.rows.retries.len();
        let history = self.history(key);
        history.recoveries.push((history.attempts.len(), Recovery::Retry));
        history.last_retry = Some(row);
        self.retry_ids.insert(retry.retry_id.clone(), row);
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

    pub(super) fn turn_end(&mut self, turn: u64, kind: TurnEndKind, failure: Option<Failure>, time: Option<i64>) {
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
}
