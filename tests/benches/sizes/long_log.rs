//! Long logs of format v0 as the harness writes them, with texts that never repeat.

#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

/// What happens in a log.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Steps.
    pub steps: u64,
    /// Characters of a tool result, about four to a token.
    pub result: usize,
    /// The prompt at which a compaction begins, tokens.
    pub compact_at: Option<u64>,
    /// Whether the provider reports usage.
    pub usage: bool,
    /// Every so many steps one fails.
    pub failure_every: u64,
    /// How often a failing step fails before it succeeds.
    pub failures: u64,
    /// Lines of a compressed frame.
    pub frame_lines: usize,
}

const USUAL: Shape = Shape {
    steps: 0,
    result: 300,
    compact_at: Some(100_000),
    usage: true,
    failure_every: 20,
    failures: 1,
    frame_lines: 12,
};

/// Shapes by name; each takes the number of steps.
pub const WORLDS: [(&str, &dyn Fn(u64) -> Shape); 5] = [
    ("compacted at 100,000 tokens", &|steps| Shape { steps, ..USUAL }),
    ("compacted at 1,000,000 tokens", &|steps| Shape { steps, compact_at: Some(1_000_000), ..USUAL }),
    ("never compacted, grows to the end", &|steps| Shape { steps, compact_at: None, ..USUAL }),
    ("never compacted, no usage reported", &|steps| Shape { steps, compact_at: None, usage: false, ..USUAL }),
    ("long outages, no usage reported", &|steps| Shape {
        steps,
        usage: false,
        failure_every: 100,
        failures: 40,
        ..USUAL
    }),
];

/// About 100,000 frames and 50 MB, with a context of 1,000,000 tokens that is compacted when it is full.
pub fn write_large(folder: &Path) -> PathBuf {
    let session = folder.join("--srv-harbour--").join("large-log");
    std::fs::create_dir_all(&session).unwrap();
    let path = session.join("session.jsonl.zstd");
    let shape = Shape { steps: 48_000, result: 1_050, compact_at: Some(1_000_000), frame_lines: 4, ..USUAL };
    write_log(&path, &shape, 0);
    path
}

const WORDS: [&str; 24] = [
    "harbour", "crane", "ledger", "buoy", "invoice", "tide", "batch", "seals", "counts", "balance", "ferry", "night",
    "row", "orchard", "sensor", "drops", "index", "the", "a", "of", "before", "while", "账目", "一致",
];

/// A generator of numbers that look random (xorshift, Marsaglia 2003).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn text(&mut self, characters: usize) -> String {
        let mut text = String::with_capacity(characters + 16);
        while text.len() < characters {
            let roll = self.roll();
            if roll.is_multiple_of(8) {
                text.push_str(&format!("{:05}", (roll >> 8) % 100_000));
            } else {
                text.push_str(WORDS[(roll >> 8) as usize % WORDS.len()]);
            }
            text.push(' ');
        }
        text
    }
}

struct Writer {
    out: BufWriter<File>,
    compressor: Compressor<'static>,
    batch: Vec<u8>,
    lines: usize,
    frame_lines: usize,
    seq: u64,
    time: i64,
    dice: Dice,
}

impl Writer {
    fn new(path: &Path, frame_lines: usize, seed: u64) -> Self {
        let mut compressor = Compressor::new(3).unwrap();
        compressor.set_parameter(CParameter::ChecksumFlag(true)).unwrap();
        compressor.set_parameter(CParameter::ContentSizeFlag(false)).unwrap();
        let out = BufWriter::new(File::create(path).unwrap());
        let (batch, dice) = (Vec::new(), Dice((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        Self { out, compressor, batch, lines: 0, frame_lines, seq: 0, time: 1_796_006_000_000, dice }
    }

    fn line(&mut self, value: &Value) {
        serde_json::to_writer(&mut self.batch, value).unwrap();
        self.batch.push(b'\n');
        self.lines += 1;
        if self.lines >= self.frame_lines {
            self.frame();
        }
    }

    fn frame(&mut self) {
        if self.lines > 0 {
            self.out.write_all(&self.compressor.compress(&self.batch).unwrap()).unwrap();
            self.batch.clear();
            self.lines = 0;
        }
    }

    fn event(&mut self, kind: &str, data: Value) -> u64 {
        let event = json!({"type": kind, "seq": self.seq, "time": self.time, "data": data});
        self.push(&event, 1)
    }

    fn message(&mut self, kind: &str, data: Value, op: Value) -> u64 {
        let event = json!({"type": kind, "seq": self.seq, "time": self.time, "data": data, "surfaceOp": op});
        self.push(&event, 1)
    }

    fn push(&mut self, event: &Value, members: u64) -> u64 {
        self.line(event);
        let seq = self.seq;
        self.seq += members;
        self.time += 5;
        seq
    }
}

/// Writes a log and returns its largest prompt, tokens (by about four characters a token).
/// Logs of other seeds have other texts: the tokenizer remembers what it has seen.
pub fn write_log(path: &Path, shape: &Shape, seed: u64) -> u64 {
    let mut log = Session {
        writer: Writer::new(path, shape.frame_lines, seed),
        shape,
        turn: 0,
        step: 0,
        prompt: 0,
        largest: 0,
        surface: None,
    };
    log.writer.line(&json!({"type": "session", "version": 0, "id": "long-log", "createdAt": log.writer.time, "cwd": "/srv/harbour", "delegationDepth": 0}));
    for number in 0..shape.steps {
        log.step(number);
    }
    log.writer.event("step/end", json!({"turn": log.turn, "step": log.step}));
    log.writer.event("turn/end", json!({"turn": log.turn, "reason": {"kind": "completed"}}));
    log.writer.frame();
    log.writer.out.flush().unwrap();
    log.largest
}

struct Session<'a> {
    writer: Writer,
    shape: &'a Shape,
    turn: u64,
    step: u64,
    prompt: u64,
    largest: u64,
    /// First and last node.
    surface: Option<(u64, u64)>,
}

const STEPS_A_TURN: u64 = 50;

impl Session<'_> {
    fn step(&mut self, number: u64) {
        if self.step > 0 {
            self.writer.event("step/end", json!({"turn": self.turn, "step": self.step}));
        }
        if self.shape.compact_at.is_some_and(|limit| self.prompt > limit) {
            self.compact();
        }
        if number.is_multiple_of(STEPS_A_TURN) {
            if self.turn > 0 {
                self.writer.event("turn/end", json!({"turn": self.turn, "reason": {"kind": "completed"}}));
            }
            (self.turn, self.step) = (self.turn + 1, 0);
            self.writer.event("turn/start", json!({"turn": self.turn}));
        }
        self.step += 1;
        self.writer.event("step/start", json!({"turn": self.turn, "step": self.step}));
        if self.step == 1 {
            let text = self.writer.dice.text(80);
            self.enter("user/message", json!({"role": "user", "content": [{"type": "text", "text": text}]}), 80);
        }
        if number == 0 {
            self.header();
        }
        if number % self.shape.failure_every == self.shape.failure_every - 1 {
            (0..self.shape.failures).for_each(|retry| self.failure(retry + 1));
        }
        self.success(number);
    }

    fn header(&mut self) {
        let parameters = json!({"type": "object", "properties": {"page": {"type": "string"}}});
        let tool =
            json!({"name": "ledger_page", "description": "Return one page of the ledger", "parameters": parameters});
        let config = json!({"provider": "gateway", "model": "large", "maxTokens": 4096});
        let header = json!({"config": config, "system": "Be brief. 请核对账目。", "tools": [tool]});
        self.prompt += 60;
        self.writer.event("request/header", json!({"header": header, "reason": "initial"}));
        let window = self.shape.compact_at.map_or(50_000_000, |limit| limit * 5 / 4);
        self.writer.event("request/context", json!({"provider": "gateway", "model": "large", "contextWindow": window}));
    }

    fn failure(&mut self, retry: u64) {
        let failure = json!({"message": "502 bad gateway", "code": "SERVER"});
        self.chunk(json!({"type": "usage", "usage": {"inputTokens": 0, "outputTokens": 0}}));
        self.chunk(json!({"type": "finish", "reason": {"kind": "error", "failure": failure}}));
        let id = format!("retry-{}-{}-{retry}", self.turn, self.step);
        self.writer.event(
            "llm/retry",
            json!({
                "retryId": id, "turn": self.turn, "step": self.step, "provider": "gateway", "mode": "always",
                "policyKey": "{}", "retry": retry, "delayMs": 500, "failure": failure,
            }),
        );
        self.writer.time += 500;
        self.writer
            .event("llm/retry-started", json!({"retryId": id, "turn": self.turn, "step": self.step, "retry": retry}));
    }

    fn success(&mut self, number: u64) {
        let (turn, step) = (self.turn, self.step);
        self.largest = self.largest.max(self.prompt);
        let usage = if self.shape.usage {
            json!({"inputTokens": self.prompt - self.prompt / 2, "outputTokens": 40, "cacheReadTokens": self.prompt / 2})
        } else {
            json!({"inputTokens": 0, "outputTokens": 0})
        };
        let text = self.writer.dice.text(60);
        let arguments = json!({"page": format!("page-{number}")}).to_string();
        let deltas: Vec<&str> = text.split_inclusive(' ').collect();
        let gaps = vec![2; deltas.len() - 1];
        let data = json!({"turn": turn, "step": step, "index": 0, "dt": gaps, "texts": deltas});
        let row = json!({"type": "text-chunks", "seq0": self.writer.seq, "time0": self.writer.time, "data": data});
        self.writer.push(&row, deltas.len() as u64);
        self.writer.time += 2 * deltas.len() as i64;
        let blocks = json!([{"type": "text", "text": text}, {"type": "tool-call", "id": format!("call_{number}_0"), "name": "ledger_page", "arguments": arguments}]);
        self.chunk(json!({"type": "usage", "usage": usage}));
        self.chunk(json!({"type": "finish", "reason": {"kind": "tool-calls"}}));
        let message = json!({"role": "assistant", "content": blocks, "source": {"kind": "model", "provider": "gateway", "model": "large"}});
        self.enter(
            "assistant/message",
            json!({"turn": turn, "step": step, "message": message, "usage": usage}),
            text.len() + 60,
        );
        let call = json!({"turn": turn, "step": step, "callId": format!("call_{number}_0"), "name": "ledger_page", "arguments": arguments});
        self.writer.event("tool/call", call);
        let result = self.writer.dice.text(self.shape.result);
        let block = json!({"type": "tool-result", "toolCallId": format!("call_{number}_0"), "content": [{"type": "text", "text": result}]});
        let message = json!({"role": "user", "content": [block]});
        self.enter("tool/result", json!({"turn": turn, "step": step, "message": message}), result.len());
    }

    fn compact(&mut self) {
        let id = format!("compaction-{}-{}", self.turn, self.step);
        self.writer.event("compaction/start", json!({"compactionId": id, "turn": self.turn}));
        let (first, last) = self.surface.take().unwrap();
        let summary = json!([{"type": "text", "text": self.writer.dice.text(2_000)}]);
        self.writer.event("compaction/summary", json!({
            "compactionId": id, "summary": summary, "shadowedRange": {"start": first, "end": last},
            "shadowedSeqs": [first, last], "shadowedTokenCount": self.prompt, "usage": {"inputTokens": 800, "outputTokens": 500},
        }));
        let replace = json!({"op": "replace", "start": first, "end": last});
        let seq = self.writer.message("user/message", json!({"role": "user", "content": summary}), replace);
        self.surface = Some((seq, seq));
        self.prompt = 560;
        self.writer.event("compaction/end", json!({"compactionId": id, "turn": self.turn}));
    }

    fn chunk(&mut self, chunk: Value) {
        self.writer.event("assistant/chunk", json!({"turn": self.turn, "step": self.step, "chunk": chunk}));
    }

    /// A message at the tail of the surface, of about so many characters.
    fn enter(&mut self, kind: &str, data: Value, characters: usize) {
        let seq = self.writer.message(kind, data, json!("append"));
        self.surface = Some((self.surface.map_or(seq, |(first, _)| first), seq));
        self.prompt += characters as u64 / 4 + 4;
    }
}
