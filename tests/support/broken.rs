//! One small log for every kind of damage that was seen in the wild (docs/damage.md), made by hand from one plan.

#![allow(clippy::unwrap_used, dead_code)] // Each test binary uses its part.

use serde_json::{Value, json};

use super::logs::{Then, attempt, batch, compressed, events, frame, header, lines, packed_lines, plain, small_plan};

/// Files of one kind of damage, and the exit status of `verify` on them.
pub struct Broken {
    pub id: &'static str,
    pub files: Vec<(String, Vec<u8>)>,
    pub status: i32,
}

const PLACE: &str = "--project--/test-session";

fn broken(id: &'static str, status: i32, name: &str, bytes: Vec<u8>) -> Broken {
    Broken { id, files: vec![(format!("{PLACE}/{name}"), bytes)], status }
}

fn small() -> Vec<Value> {
    events(&small_plan(), 0)
}

fn with(change: impl FnOnce(&mut Vec<Value>)) -> Vec<u8> {
    let mut log = small();
    change(&mut log);
    plain(&header(0), &lines(&log))
}

fn place_of(log: &[Value], kind: &str) -> usize {
    log.iter().position(|e| e["type"] == kind).unwrap()
}

fn renumber(log: &mut [Value]) {
    for (seq, event) in log.iter_mut().enumerate() {
        event["seq"] = json!(seq);
    }
}

fn insert(log: &mut Vec<Value>, at: usize, event: Value) {
    log.insert(at, event);
    renumber(log);
}

fn frames() -> Vec<Vec<u8>> {
    let log = packed_lines(&small());
    let mut out = vec![frame(&format!("{}\n", header(0)))];
    out.extend(log.chunks(4).map(|lines| frame(&batch(lines))));
    out
}

fn torn_frame() -> Vec<u8> {
    // One block a line, so that whole lines decode out of the torn frame.
    let log = packed_lines(&small());
    let mut bytes = compressed(&header(0), &log[..8], &[4]);
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    for line in &log[8..] {
        std::io::Write::write_all(&mut encoder, format!("{line}\n").as_bytes()).unwrap();
        std::io::Write::flush(&mut encoder).unwrap();
    }
    let last = encoder.finish().unwrap();
    bytes.extend(&last[..last.len() - 40]);
    bytes
}

fn corrupt_frame() -> Vec<u8> {
    let mut all = frames();
    let middle = all.len() / 2;
    let last = all[middle].len() - 1;
    all[middle][last] ^= 0xFF;
    all.concat()
}

fn seq_fork() -> Vec<u8> {
    with(|log| {
        // One client closed the turn after a kill and seeded; the other went on from where it was.
        let at = place_of(log, "llm/retry");
        let tail: Vec<Value> = log.split_off(at);
        let close = |seq: usize, kind: &str, data: Value| json!({"type": kind, "seq": seq, "time": 1_796_006_001_000_i64, "data": data});
        log.push(close(at, "step/end", json!({"turn": 2, "step": 1})));
        log.push(close(at + 1, "turn/end", json!({"turn": 2, "reason": {"kind": "interrupted"}})));
        log.push(close(at + 2, "session/end-seed", json!({})));
        log.extend(tail);
    })
}

fn nul_run() -> Vec<u8> {
    let log = lines(&small());
    let mut bytes = plain(&header(0), &log[..6]);
    bytes.extend([0; 512]);
    bytes.extend(batch(&log[6..]).as_bytes());
    bytes
}

fn nul_tail() -> Vec<u8> {
    let mut bytes = compressed(&header(0), &packed_lines(&small()), &[5]);
    bytes.extend([0; 512]);
    bytes
}

fn interleaved() -> Vec<u8> {
    with(|log| {
        let delta = |step: usize, chunk: Value| json!({"type": "assistant/chunk", "seq": 0, "time": 1_796_006_000_100_i64, "data": {"turn": 1, "step": step, "chunk": chunk}});
        let finish = json!({"type": "finish", "reason": {"kind": "stop"}});
        let at = place_of(log, "turn/end");
        let text = json!({"type": "text-delta", "index": 0, "text": "x"});
        for event in [
            delta(2, text.clone()),
            delta(3, text.clone()),
            delta(2, text.clone()),
            delta(3, text),
            delta(2, finish.clone()),
            delta(3, finish),
        ]
        .into_iter()
        .rev()
        {
            log.insert(at, event);
        }
        renumber(log);
        for (seq, event) in log.iter_mut().enumerate() {
            event["time"] = json!(1_796_006_000_000_i64 + 7 * seq as i64);
        }
    })
}

fn deep(levels: usize) -> String {
    format!("{}1{}", "[".repeat(levels), "]".repeat(levels))
}

fn with_line(raw: &str) -> Vec<u8> {
    let mut log = small();
    let at = log.len() - 1;
    insert(&mut log, at, json!({"type": "hook/invoked", "seq": 0, "time": 1_796_006_000_500_i64, "data": {}}));
    log[at + 1]["time"] = json!(1_796_006_000_600_i64);
    let mut text = lines(&log);
    text[at] = text[at].replace("{}", raw);
    plain(&header(0), &text)
}

fn plugin_event(more: Value) -> Vec<u8> {
    with(|log| {
        let at = place_of(log, "turn/end");
        let time = log[at]["time"].clone();
        let mut event = json!({"type": "plugin/progress", "seq": 0, "time": time, "data": {"done": 1}});
        for (key, value) in more.as_object().unwrap() {
            event[key] = value.clone();
        }
        insert(log, at, event);
    })
}

/// All kinds, in the order of the table.
pub fn all() -> Vec<Broken> {
    let packed = packed_lines(&small());
    let whole = compressed(&header(0), &packed, &[4, 2]);
    let torn_line = {
        let mut bytes = plain(&header(0), &packed);
        bytes.truncate(bytes.len() - 10);
        bytes
    };
    let compacting = {
        let mut log = events(&vec![vec![vec![attempt(2, Then::CompactAfter), attempt(3, Then::Succeed)]]], 0);
        log.truncate(place_of(&log, "compaction/summary"));
        log
    };
    let zstd = "session.jsonl.zstd";
    let text = "session.jsonl";
    vec![
        broken("torn-frame", 4, zstd, torn_frame()),
        broken("torn-line", 4, text, torn_line),
        broken("corrupt-frame", 4, zstd, corrupt_frame()),
        broken("seq-fork", 4, text, seq_fork()),
        broken(
            "holes",
            4,
            text,
            with(|log| {
                log.drain(8..11);
            }),
        ),
        broken(
            "late-start",
            4,
            text,
            with(|log| {
                log.drain(..3);
            }),
        ),
        broken(
            "no-seq",
            4,
            text,
            with(|log| {
                for event in log.iter_mut() {
                    event.as_object_mut().unwrap().remove("seq");
                    event.as_object_mut().unwrap().remove("time");
                }
            }),
        ),
        broken("no-header", 4, text, batch(&lines(&small())).into_bytes()),
        broken("big-first-frame", 4, zstd, {
            let mut bytes = frame(&format!("{}\n{}", header(0), batch(&packed[..5])));
            bytes.extend(frame(&batch(&packed[5..])));
            bytes
        }),
        broken("single-frame", 4, zstd, frame(&format!("{}\n{}", header(0), batch(&packed)))),
        Broken {
            id: "duplicate-id",
            files: vec![
                (format!("{PLACE}/{zstd}"), whole.clone()),
                (format!("--backup--/test-session/{text}"), plain(&header(0), &packed[..packed.len() - 6])),
            ],
            status: 4,
        },
        broken("generation-mismatch", 4, "session.v3.jsonl", plain(&header(0), &packed)),
        broken("foreign-version", 4, "session.v7.jsonl", plain(&header(7), &lines(&events(&small_plan(), 3)))),
        broken("open-turn", 4, text, with(|log| log.truncate(place_of(log, "llm/retry") + 1))),
        broken("open-compaction", 4, text, plain(&header(0), &lines(&compacting))),
        broken(
            "time-back",
            0,
            text,
            with(|log| {
                let at = place_of(log, "llm/retry-started");
                log[at]["time"] = json!(1_796_005_999_000_i64);
            }),
        ),
        broken("interleaved", 0, text, interleaved()),
        broken(
            "odd-retry",
            0,
            text,
            with(|log| {
                let at = place_of(log, "llm/retry");
                log[at]["data"]["delayMs"] = json!(501.337_219_5);
                log[at]["data"]["policyKey"] = json!("{not json");
            }),
        ),
        broken("nul-run", 4, text, nul_run()),
        broken("nul-tail", 4, zstd, nul_tail()),
        broken("bom", 4, text, [b"\xEF\xBB\xBF".to_vec(), plain(&header(0), &packed)].concat()),
        broken(
            "crlf",
            0,
            text,
            String::from_utf8(plain(&header(0), &packed)).unwrap().replace('\n', "\r\n").into_bytes(),
        ),
        broken("surrogate", 0, text, with_line(r#"{"text":"\ud83d"}"#)),
        broken("long-line", 0, text, with_line(&format!(r#"{{"image":"{}"}}"#, "A".repeat(60_000)))),
        broken("deep-json", 4, text, with_line(&format!(r#"{{"deep":{}}}"#, deep(200)))),
        broken("unknown-type", 4, text, plugin_event(json!({}))),
        broken("ignorable", 0, text, plugin_event(json!({"ignorable": true}))),
        broken("extra-field", 4, text, plugin_event(json!({"ignorable": true, "plugin": "progress"}))),
        Broken {
            id: "mixed-encodings",
            files: vec![
                (format!("{PLACE}/{zstd}"), whole.clone()),
                (format!("{PLACE}/{text}"), plain(&header(0), &packed[..packed.len() - 6])),
            ],
            status: 4,
        },
        Broken {
            id: "older-generation",
            files: vec![
                (format!("{PLACE}/{text}"), plain(&header(0), &packed[..6])),
                (format!("{PLACE}/session.v3.jsonl"), plain(&header(3), &lines(&events(&small_plan(), 3)))),
            ],
            status: 4,
        },
        broken("leftover-tmp", 4, "session.jsonl.zstd.17a04cb3acd1.tmp", frames()[0].clone()),
        Broken {
            id: "not-a-log",
            files: vec![
                ("sessions.sqlite".to_owned(), b"SQLite format 3\0 and so on".to_vec()),
                ("notes.jsonl".to_owned(), b"{\"a\":1}\n".to_vec()),
                ("README.txt".to_owned(), b"not a log\n".to_vec()),
            ],
            status: 3,
        },
    ]
}
