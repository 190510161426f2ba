//! Makes session logs of format v0 as the harness writes them, event by event.
//!
//! ```ignore
//! let mut log = Log::new("night-shift");
//! log.turn().step().ok(1_200).step().failed(OVERFLOW, NO_BODY_400).gave_up();
//! log.write_zstd(root);
//! ```
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

/// The harness's overflow code.
pub const OVERFLOW: &str = "CONTEXT_WINDOW_EXCEEDED";
/// What pi-ai makes of a 400 without a body.
pub const NO_BODY_400: &str = "400 status code (no body)";
/// What pi-ai makes of a 413 without a body.
pub const NO_BODY_413: &str = "413 status code (no body)";
/// 2026-11-24 00:00:00 UTC.
pub const START: i64 = 1_795_478_400_000;
/// Project directory that logs are written under.
pub const PROJECT: &str = "--srv-harbour--";

/// A session log under construction.
#[derive(Debug, Clone)]
pub struct Log {
    /// Session id.
    pub id: String,
    /// Project directory name.
    pub project: String,
    /// Epoch milliseconds of the next event.
    pub time: i64,
    /// Seq of the next event.
    pub seq: u64,
    header: Value,
    lines: Vec<String>,
    packed: bool,
    provider: String,
    model: String,
    window: u64,
    envelope_logged: bool,
    turn: u64,
    step: u64,
    turn_open: bool,
    step_open: bool,
    retries: u64,
    compactions: u64,
    /// Seqs of the nodes on the surface.
    surface: Vec<u64>,
    always: bool,
    last_failure: Value,
}

impl Log {
    /// An empty log that begins at [`START`].
    pub fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            project: PROJECT.to_owned(),
            time: START,
            seq: 0,
            header: json!({"type": "session", "version": 0, "id": id, "createdAt": START, "cwd": "/srv/harbour", "delegationDepth": 0}),
            lines: Vec::new(),
            packed: true,
            provider: "gateway".to_owned(),
            model: "large".to_owned(),
            window: 262_144,
            envelope_logged: false,
            turn: 0,
            step: 0,
            turn_open: false,
            step_open: false,
            retries: 0,
            compactions: 0,
            surface: Vec::new(),
            always: false,
            last_failure: Value::Null,
        }
    }

    /// Sets a field of the header line.
    pub fn header_field(&mut self, name: &str, value: Value) -> &mut Self {
        self.header[name] = value;
        self
    }

    /// Moves the clock.
    pub fn at(&mut self, time: i64) -> &mut Self {
        self.time = time;
        self
    }

    /// Lets time pass.
    pub fn wait(&mut self, ms: i64) -> &mut Self {
        self.time += ms;
        self
    }

    /// One line per delta instead of packed rows.
    pub fn unpacked(&mut self) -> &mut Self {
        self.packed = false;
        self
    }

    /// Changes the route; it is logged with the next step.
    pub fn route(&mut self, provider: &str, model: &str, window: u64) -> &mut Self {
        (self.provider, self.model, self.window) = (provider.to_owned(), model.to_owned(), window);
        self.envelope_logged = false;
        self
    }

    /// The window is not logged.
    pub fn without_window(&mut self) -> &mut Self {
        self.window = 0;
        self
    }

    /// A tool result of this many characters, about four to a token.
    pub fn large_tool_result(&mut self, characters: usize) -> &mut Self {
        let text = "the crane lifts a crate of lamps onto quay nine ".repeat(characters.div_ceil(48));
        let content = json!([{"type": "text", "text": text}]);
        let block = json!({"type": "tool-result", "toolCallId": "call-1", "content": content});
        let message = json!({"role": "user", "content": [block]});
        self.surface("tool/result", json!({"turn": self.turn, "step": self.step, "message": message}), json!("append"))
    }

    /// Begins a turn; what is open ends as completed.
    pub fn turn(&mut self) -> &mut Self {
        self.end_turn(json!({"kind": "completed"}));
        self.turn += 1;
        self.step = 0;
        self.turn_open = true;
        self.event("turn/start", json!({"turn": self.turn}))
    }

    /// Begins a step; an open one ends.
    pub fn step(&mut self) -> &mut Self {
        if !self.turn_open {
            self.turn();
        }
        self.end_step();
        self.step += 1;
        self.step_open = true;
        self.event("step/start", json!({"turn": self.turn, "step": self.step}));
        if self.step == 1 {
            let text = json!([{"type": "text", "text": "Seal the batch. 请核对账目。"}]);
            self.surface("user/message", json!({"role": "user", "content": text}), json!("append"));
        }
        if !self.envelope_logged {
            self.envelope_logged = true;
            let config = json!({"provider": self.provider, "model": self.model, "maxTokens": 4096});
            self.event(
                "request/header",
                json!({"header": {"config": config, "system": "Be brief.", "tools": []}, "reason": "initial"}),
            );
            let mut context = json!({"provider": self.provider, "model": self.model});
            if self.window > 0 {
                context["contextWindow"] = json!(self.window);
            }
            self.event("request/context", context);
        }
        self
    }

    /// An attempt that succeeds with a prompt of `tokens`, reported with the chunk and again with the message.
    pub fn ok(&mut self, tokens: u64) -> &mut Self {
        let cached = tokens / 2;
        let usage = json!({"inputTokens": tokens - cached, "outputTokens": 40, "cacheReadTokens": cached});
        self.chunk(json!({"type": "block-start", "index": 0, "blockType": "text"}));
        self.deltas(&["The batch", " is sealed", "，账目一致。"]);
        let block = json!({"type": "text", "text": "The batch is sealed，账目一致。"});
        self.chunk(json!({"type": "block-end", "index": 0, "block": block}));
        self.chunk(json!({"type": "usage", "usage": usage}));
        self.chunk(json!({"type": "finish", "reason": {"kind": "stop"}}));
        let message = json!({"role": "assistant", "content": [block]});
        let data = json!({"turn": self.turn, "step": self.step, "message": message, "usage": usage});
        self.surface("assistant/message", data, json!("append"))
    }

    /// Stream deltas of the open step without an end.
    pub fn deltas(&mut self, texts: &[&str]) -> &mut Self {
        if self.packed && texts.len() >= 3 {
            let gaps: Vec<i64> = texts.iter().skip(1).map(|_| 5).collect();
            let data = json!({"turn": self.turn, "step": self.step, "index": 0, "dt": gaps, "texts": texts});
            let row = json!({"type": "text-chunks", "seq0": self.seq, "time0": self.time, "data": data});
            self.lines.push(row.to_string());
            self.seq += texts.len() as u64;
            self.time += 5 * texts.len() as i64;
        } else {
            for text in texts {
                self.chunk(json!({"type": "text-delta", "index": 0, "text": text}));
            }
        }
        self
    }

    /// An attempt that fails, with the usage of zero that pi-ai logs before the finish.
    pub fn failed(&mut self, code: &str, message: &str) -> &mut Self {
        self.chunk(json!({"type": "usage", "usage": {"inputTokens": 0, "outputTokens": 0}}));
        self.last_failure = json!({"message": message, "code": code});
        self.chunk(json!({"type": "finish", "reason": {"kind": "error", "failure": self.last_failure}}))
    }

    /// An attempt that fails as `llm-deepseek` logs it: with `status`, `providerRetryAfterMs`, say.
    pub fn failed_with(&mut self, failure: Value) -> &mut Self {
        self.last_failure = failure;
        self.chunk(json!({"type": "finish", "reason": {"kind": "error", "failure": self.last_failure}}))
    }

    /// Retries from here on are those of mode `always`.
    pub fn always(&mut self) -> &mut Self {
        self.always = true;
        self
    }

    /// The retry after a failed attempt, waited for.
    pub fn retry(&mut self, delay_ms: i64) -> &mut Self {
        self.retry_scheduled(delay_ms);
        self.time += delay_ms;
        let data = json!({"retryId": self.retry_id(), "turn": self.turn, "step": self.step, "retry": self.retries});
        self.event("llm/retry-started", data)
    }

    /// The retry after a failed attempt, whose wait does not end.
    pub fn retry_scheduled(&mut self, delay_ms: i64) -> &mut Self {
        self.retries += 1;
        let data = json!({
            "retryId": self.retry_id(), "turn": self.turn, "step": self.step, "provider": self.provider,
            "mode": if self.always { "always" } else { "normal" }, "policyKey": "{}", "retry": self.retries,
            "maxRetries": if self.always { Value::Null } else { json!(5) },
            "delayMs": delay_ms as f64 + 0.25, "failure": self.last_failure,
        });
        self.event("llm/retry", data)
    }

    fn retry_id(&self) -> String {
        format!("{}-retry-{}", self.id, self.retries)
    }

    /// The turn ends with the last failure.
    pub fn gave_up(&mut self) -> &mut Self {
        let reason = json!({"kind": "error", "error": self.last_failure});
        self.end_turn(reason)
    }

    /// The user cancels the turn.
    pub fn cancelled(&mut self) -> &mut Self {
        self.end_turn(json!({"kind": "aborted"}))
    }

    /// The process dies here: nothing that is open gets an end.
    pub fn crash(&mut self) -> &mut Self {
        (self.turn_open, self.step_open) = (false, false);
        self
    }

    /// A compaction between two steps, as the token meter starts it.
    pub fn pressure_compaction(&mut self) -> &mut Self {
        self.end_step();
        self.compaction(json!(self.turn))
    }

    /// A compaction inside a step, as an overflow failure starts it.
    pub fn overflow_compaction(&mut self) -> &mut Self {
        self.compaction(json!(self.turn))
    }

    /// A compaction between two turns, as the user starts it.
    pub fn manual_compaction(&mut self) -> &mut Self {
        self.end_turn(json!({"kind": "completed"}));
        self.compaction(Value::Null)
    }

    fn compaction(&mut self, turn: Value) -> &mut Self {
        let id = self.compaction_start(turn.clone());
        let first = self.surface.first().copied().unwrap_or(0);
        let last = self.surface.last().copied().unwrap_or(first);
        self.event(
            "compaction/summary",
            json!({"compactionId": id, "summary": [{"type": "text", "text": "Goal: seal the batch."}],
                   "shadowedRange": {"start": first, "end": last}, "shadowedSeqs": [first, last],
                   "shadowedTokenCount": 900, "usage": {"inputTokens": 800, "outputTokens": 20}}),
        );
        let replace = json!({"op": "replace", "start": first, "end": last});
        self.surface.clear();
        let summary = json!([{"type": "text", "text": "Goal: seal the batch."}]);
        self.surface("user/message", json!({"role": "user", "content": summary}), replace);
        self.event("compaction/end", json!({"compactionId": id, "turn": turn}))
    }

    /// `compaction/start` alone; returns its id.
    pub fn compaction_start(&mut self, turn: Value) -> String {
        self.compactions += 1;
        let id = format!("{}-compaction-{}", self.id, self.compactions);
        self.event("compaction/start", json!({"compactionId": id, "turn": turn}));
        id
    }

    /// Any other event.
    pub fn event(&mut self, kind: &str, data: Value) -> &mut Self {
        self.push(json!({"type": kind, "seq": self.seq, "time": self.time, "data": data}))
    }

    /// A message event with its surface operation.
    pub fn surface(&mut self, kind: &str, data: Value, op: Value) -> &mut Self {
        self.surface.push(self.seq);
        self.push(json!({"type": kind, "seq": self.seq, "time": self.time, "data": data, "surfaceOp": op}))
    }

    /// A single chunk of the open step.
    pub fn chunk(&mut self, chunk: Value) -> &mut Self {
        self.event("assistant/chunk", json!({"turn": self.turn, "step": self.step, "chunk": chunk}))
    }

    fn push(&mut self, line: Value) -> &mut Self {
        self.lines.push(line.to_string());
        self.seq += 1;
        self.time += 5;
        self
    }

    fn end_step(&mut self) -> &mut Self {
        if self.step_open {
            self.step_open = false;
            self.event("step/end", json!({"turn": self.turn, "step": self.step}));
        }
        self
    }

    fn end_turn(&mut self, reason: Value) -> &mut Self {
        self.end_step();
        if self.turn_open {
            self.turn_open = false;
            self.event("turn/end", json!({"turn": self.turn, "reason": reason}));
        }
        self
    }

    /// Every line, the header first; what is open ends as completed unless [`Log::crash`] came before.
    pub fn lines(&mut self) -> Vec<String> {
        self.end_turn(json!({"kind": "completed"}));
        std::iter::once(self.header.to_string()).chain(self.lines.iter().cloned()).collect()
    }

    /// The plain log.
    pub fn jsonl(&mut self) -> Vec<u8> {
        self.lines().into_iter().flat_map(|line| (line + "\n").into_bytes()).collect()
    }

    /// The compressed log: a frame for the header, then one for every batch of lines, each with a checksum and without
    /// a content size.
    pub fn zstd(&mut self) -> Vec<u8> {
        let lines = self.lines();
        let batches = std::iter::once(&lines[..1]).chain(lines[1..].chunks(12));
        batches.flat_map(|batch| frame((batch.join("\n") + "\n").as_bytes())).collect()
    }

    /// Writes the plain log under a sessions root, as the harness would.
    pub fn write_plain(&mut self, root: &Path) -> PathBuf {
        let bytes = self.jsonl();
        self.write(root, "session.jsonl", &bytes)
    }

    /// Writes the compressed log under a sessions root, as the harness would.
    pub fn write_zstd(&mut self, root: &Path) -> PathBuf {
        let bytes = self.zstd();
        self.write(root, "session.jsonl.zstd", &bytes)
    }

    fn write(&self, root: &Path, name: &str, bytes: &[u8]) -> PathBuf {
        let directory = root.join(&self.project).join(&self.id);
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

/// One zstd frame as the harness writes it.
pub fn frame(bytes: &[u8]) -> Vec<u8> {
    let mut compressor = Compressor::new(3).unwrap();
    compressor.set_parameter(CParameter::ChecksumFlag(true)).unwrap();
    compressor.set_parameter(CParameter::ContentSizeFlag(false)).unwrap();
    compressor.compress(bytes).unwrap()
}
