//! Sessions for tests: a plan of turns, steps and attempts, written as the harness writes it in format 0 or 3, packed or
//! not, in any batching. One plan gives the same attempts, failures and compactions whatever the format.

#![allow(clippy::unwrap_used, dead_code)] // Each test binary uses its part.

use std::sync::Arc;

use dsh_forensics::discover::{Archive, ArchiveSource};
use serde_json::{Value, json};

pub const FIRST_TIME: i64 = 1_796_006_000_000;

/// How an attempt ends and what the harness does then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Succeed,
    RetryAfter(&'static str),
    CompactAfter,
    GiveUp(&'static str),
}

/// One provider request: its deltas and its end.
#[derive(Debug, Clone, Copy)]
pub struct Attempt {
    pub deltas: usize,
    pub then: Then,
}

/// Turns of steps of attempts.
pub type Plan = Vec<Vec<Vec<Attempt>>>;

pub fn attempt(deltas: usize, then: Then) -> Attempt {
    Attempt { deltas, then }
}

/// Two turns: a success; a retried failure and a success.
pub fn small_plan() -> Plan {
    vec![
        vec![vec![attempt(4, Then::Succeed)]],
        vec![vec![attempt(1, Then::RetryAfter("RATE_LIMIT")), attempt(5, Then::Succeed)]],
    ]
}

/// The header line of a format.
pub fn header(version: u32) -> String {
    let mut line = json!({"type": "session", "version": version, "id": "test-session", "createdAt": FIRST_TIME, "delegationDepth": 0});
    if version >= 2 {
        line["isSeeded"] = json!(false);
    }
    line.to_string()
}

struct Writer {
    events: Vec<Value>,
    time: i64,
    version: u32,
    compactions: usize,
}

impl Writer {
    fn push(&mut self, kind: &str, data: Value) {
        self.push_with(kind, data, None);
    }

    fn push_with(&mut self, kind: &str, data: Value, op: Option<Value>) {
        self.time += 7;
        let mut event = json!({"type": kind, "seq": self.events.len(), "time": self.time, "data": data});
        if let Some(op) = op {
            event["surfaceOp"] = op;
        }
        self.events.push(event);
    }

    fn attempt(&mut self, turn: usize, step: usize, attempt: Attempt) {
        let mut chunks = Vec::new();
        if attempt.deltas > 0 {
            chunks.push(json!({"type": "block-start", "index": 0, "blockType": "text"}));
            for n in 0..attempt.deltas {
                chunks.push(json!({"type": "text-delta", "index": 0, "text": format!("灯{n} ")}));
            }
            let text: String = (0..attempt.deltas).map(|n| format!("灯{n} ")).collect();
            chunks.push(json!({"type": "block-end", "index": 0, "block": {"type": "text", "text": text}}));
        }
        let code = match attempt.then {
            Then::Succeed => None,
            Then::RetryAfter(code) | Then::GiveUp(code) => Some(code),
            Then::CompactAfter => Some("CONTEXT_WINDOW_EXCEEDED"),
        };
        let usage = json!({"inputTokens": 100 + attempt.deltas, "outputTokens": 1 + attempt.deltas});
        match code {
            None => {
                chunks.push(json!({"type": "usage", "usage": usage}));
                chunks.push(json!({"type": "finish", "reason": {"kind": "stop"}}));
            }
            Some(code) => chunks.push(
                json!({"type": "finish", "reason": {"kind": "error", "failure": {"message": "400 status code (no body)", "code": code}}}),
            ),
        }
        let message = json!({"role": "assistant", "content": [{"type": "text", "text": "灯"}]});
        if self.version >= 2 {
            let stream: Vec<Value> = chunks
                .into_iter()
                .map(|chunk| {
                    self.time += 7;
                    json!({"type": "chunk", "time": self.time, "chunk": chunk})
                })
                .collect();
            match code {
                None => self.push_with(
                    "assistant/message",
                    json!({"turn": turn, "step": step, "message": message, "usage": usage, "stream": stream}),
                    Some(json!("append")),
                ),
                Some(_) => self.push("assistant/attempt", json!({"turn": turn, "step": step, "stream": stream})),
            }
        } else {
            for chunk in chunks {
                self.push("assistant/chunk", json!({"turn": turn, "step": step, "chunk": chunk}));
            }
            if code.is_none() {
                self.push_with(
                    "assistant/message",
                    json!({"turn": turn, "step": step, "message": message, "usage": usage}),
                    Some(json!("append")),
                );
            }
        }
    }

    fn compaction(&mut self, turn: usize) {
        self.compactions += 1;
        let id = format!("compaction-{}", self.compactions);
        self.push("compaction/start", json!({"compactionId": id, "turn": turn}));
        self.push(
            "compaction/summary",
            json!({"compactionId": id, "shadowedSeqs": [1], "shadowedRange": [1, 1], "shadowedTokenCount": 50}),
        );
        let op = if self.version >= 3 {
            json!({"op": "replace", "startSeq": 1, "endSeq": 1})
        } else {
            json!({"op": "replace", "start": 1, "end": 1})
        };
        self.push_with("user/message", json!({"message": {"role": "user", "content": []}}), Some(op));
        self.push("compaction/end", json!({"compactionId": id}));
    }
}

/// The events of a plan, one object each, in format 0 or 3.
pub fn events(plan: &Plan, version: u32) -> Vec<Value> {
    let mut w = Writer { events: Vec::new(), time: FIRST_TIME, version, compactions: 0 };
    let mut retries = 0;
    for (turn, steps) in plan.iter().enumerate() {
        let turn = turn + 1;
        w.push("turn/start", json!({"turn": turn}));
        let ask = json!({"message": {"role": "user", "content": [{"type": "text", "text": "go"}]}});
        w.push_with("user/message", ask, Some(json!("append")));
        let mut end = json!({"kind": "completed"});
        for (step, attempts) in steps.iter().enumerate() {
            let step = step + 1;
            w.push("step/start", json!({"turn": turn, "step": step}));
            if turn == 1 && step == 1 {
                w.push(
                    "request/header",
                    json!({"header": {"config": {"provider": "gateway", "model": "large", "maxTokens": 1000}}, "reason": "initial"}),
                );
            }
            for (number, attempt) in attempts.iter().enumerate() {
                w.attempt(turn, step, *attempt);
                match attempt.then {
                    Then::Succeed => {}
                    Then::RetryAfter(code) => {
                        retries += 1;
                        let id = format!("retry-{retries}");
                        let failure = json!({"message": "400 status code (no body)", "code": code});
                        w.push(
                            "llm/retry",
                            json!({"retryId": id, "turn": turn, "step": step, "provider": "gateway", "mode": "normal",
                                "policyKey": "default policy", "retry": number + 1, "maxRetries": 5, "delayMs": 12.5, "failure": failure}),
                        );
                        w.push(
                            "llm/retry-started",
                            json!({"retryId": id, "turn": turn, "step": step, "retry": number + 1}),
                        );
                    }
                    Then::CompactAfter => w.compaction(turn),
                    Then::GiveUp(code) => {
                        end = json!({"kind": "error", "error": {"message": "400 status code (no body)", "code": code}});
                    }
                }
            }
            w.push("step/end", json!({"turn": turn, "step": step}));
        }
        w.push("turn/end", json!({"turn": turn, "reason": end}));
    }
    w.events
}

/// One line an event.
pub fn lines(events: &[Value]) -> Vec<String> {
    events.iter().map(Value::to_string).collect()
}

/// Runs of three and more text deltas become one packed row, as formats 0 and 1 store them.
pub fn packed_lines(events: &[Value]) -> Vec<String> {
    let delta = |event: &Value| event["data"]["chunk"]["type"] == "text-delta";
    let mut out = Vec::new();
    let mut at = 0;
    while at < events.len() {
        let run = events[at..].iter().take_while(|e| delta(e)).count();
        if run < 3 {
            out.push(events[at].to_string());
            at += 1;
            continue;
        }
        let members = &events[at..at + run];
        let time = |e: &Value| e["time"].as_i64().unwrap();
        let gaps: Vec<i64> = members.windows(2).map(|pair| time(&pair[1]) - time(&pair[0])).collect();
        let texts: Vec<&Value> = members.iter().map(|e| &e["data"]["chunk"]["text"]).collect();
        let first = &members[0];
        let row = json!({"type": "text-chunks", "seq0": first["seq"], "time0": first["time"], "data": {
            "turn": first["data"]["turn"], "step": first["data"]["step"], "index": 0, "dt": gaps, "texts": texts}});
        out.push(row.to_string());
        at += run;
    }
    out
}

/// A plain log.
pub fn plain(header: &str, lines: &[String]) -> Vec<u8> {
    let mut text = format!("{header}\n");
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text.into_bytes()
}

/// One checksummed frame.
pub fn frame(text: &str) -> Vec<u8> {
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Text of a batch.
pub fn batch(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

/// A compressed log: the header's frame, then one frame a batch; `sizes` repeats.
pub fn compressed(header: &str, lines: &[String], sizes: &[usize]) -> Vec<u8> {
    let mut out = frame(&format!("{header}\n"));
    let mut rest = lines;
    let mut turn = 0;
    while !rest.is_empty() {
        let size = sizes[turn % sizes.len()].clamp(1, rest.len());
        turn += 1;
        let (head, tail) = rest.split_at(size);
        out.extend(frame(&batch(head)));
        rest = tail;
    }
    out
}

/// A log in memory, as discovery would name it.
pub fn archive(bytes: &[u8]) -> Archive {
    Archive {
        source: ArchiveSource::Memory(Arc::from(bytes)),
        display: "session.jsonl".to_owned(),
        project: None,
        id_from_path: Some("test-session".to_owned()),
        generation: 0,
        bytes: bytes.len() as u64,
        walked: false,
    }
}
