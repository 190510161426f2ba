//! Rows and events of every format, and that the fast path says what the full parser says.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;

use super::fast::decode_fast;
use super::{Body, Decoder, Event, FinishKind, LineError, MessageKind, SessionHeader, SurfaceOp, TurnEndKind};

fn decode(line: &str) -> Event<'_> {
    Decoder::new(128).decode(line.as_bytes()).unwrap()
}

/// A line with its keys in an order that the fast path does not take.
fn by_the_full_parser(line: &str) -> String {
    let spaced = line.replacen('{', "{ ", 1);
    assert!(decode_fast(spaced.as_bytes()).is_none(), "{spaced}");
    spaced
}

/// Everything that is known of an event, for comparison.
fn told(event: &Event<'_>) -> String {
    format!("{event:?}")
}

fn packed(kind: &str, gaps: &str, members: usize) -> String {
    let texts = vec!["\"x\""; members].join(",");
    let payload = if kind == "tool-call-chunks" {
        format!("\"id\":\"call_1\",\"name\":\"ledger\",\"args\":[{texts}]")
    } else {
        format!("\"texts\":[{texts}]")
    };
    format!(
        "{{\"type\":\"{kind}\",\"seq0\":7,\"time0\":1796007052583,\"data\":{{\"turn\":2,\"step\":3,\"index\":0,\"dt\":[{gaps}],{payload}}}}}"
    )
}

#[test]
fn the_fast_path_equals_the_full_parser_for_every_kind_of_packed_row() {
    for kind in ["text-chunks", "reasoning-chunks", "tool-call-chunks"] {
        for (gaps, members) in [("", 1), ("0", 2), ("5,0,12", 4), ("-3,8", 3), ("10,-250,3", 4), ("-1,-1,-1", 4)] {
            let line = packed(kind, gaps, members);
            let fast = decode_fast(line.as_bytes()).unwrap_or_else(|| panic!("not taken: {line}"));
            let slow_line = by_the_full_parser(&line);
            assert_eq!(told(&fast), told(&decode(&slow_line)), "{line}");
            assert_eq!((fast.seq, fast.members), (7, members as u64), "{line}");
        }
    }
}

#[test]
fn a_packed_row_ends_at_the_time_of_its_last_member() {
    let line = packed("text-chunks", "10,-250,3", 4);
    let event = decode(&line);
    assert_eq!(event.time, Some(1_796_007_052_583 + 10 - 250 + 3));
    let Body::Deltas { turn, step, stream } = &event.body else { panic!("{event:?}") };
    assert_eq!((*turn, *step, stream.chunks, stream.time_back, stream.longest_gap_ms), (2, 3, 4, 1, 10));
    assert_eq!(stream.first_time, Some(1_796_007_052_583));
}

#[test]
fn the_fast_path_leaves_everything_unusual_to_the_full_parser() {
    let usual = packed("text-chunks", "1,2", 3);
    for (unusual, readable) in [
        (usual.replace("[1,2]", "[1.5,2]"), true),
        (usual.replace("[1,2]", "[1, 2]"), true),
        (usual.replace("[1,2]", "[01,2]"), false),
        (usual.replace("\"index\":0,", ""), true),
        (usual.replace("}}", ",\"extra\":1}}"), true),
        (usual.replace("\"seq0\":7", "\"seq0\":-7"), false),
        (usual.replace("]}}", "]}"), false),
    ] {
        assert!(decode_fast(unusual.as_bytes()).is_none(), "{unusual}");
        assert_eq!(Decoder::new(128).decode(unusual.as_bytes()).is_ok(), readable, "{unusual}");
    }
}

fn chunk_line(chunk: &str) -> String {
    format!(
        "{{\"type\":\"assistant/chunk\",\"seq\":9,\"time\":50,\"data\":{{\"turn\":1,\"step\":2,\"chunk\":{chunk}}}}}"
    )
}

#[test]
fn usual_chunks_take_the_fast_path_and_read_the_same_on_both() {
    for chunk in [
        r#"{"type":"text-delta","index":0,"text":"}}} {\"type\":\"finish\"}"}"#,
        r#"{"type":"reasoning-delta","index":0,"text":"x"}"#,
        r#"{"type":"tool-call-delta","index":0,"id":"c","argumentsDelta":"{\"a\":[1]}"}"#,
        r#"{"type":"block-start","index":0,"blockType":"text"}"#,
        r#"{"type":"block-end","index":0,"block":{"type":"text","text":"x"}}"#,
        r#"{"type":"usage","usage":{"inputTokens":5,"outputTokens":1}}"#,
        r#"{"type":"usage","usage":{"inputTokens":0,"outputTokens":0}}"#,
        r#"{"type":"usage","usage":{"inputTokens":5,"outputTokens":1,"cacheReadTokens":7,"cacheWriteTokens":3,"reasoningTokens":2,"totalTokens":99}}"#,
        r#"{"type":"finish","reason":{"kind":"stop"}}"#,
        r#"{"type":"finish","reason":{"kind":"max-tokens"}}"#,
        r#"{"type":"finish","reason":{"kind":"tool-calls"},"replayState":{"blocks":[{"a":"}}}"},null]}}"#,
    ] {
        let text = chunk_line(chunk);
        let slow = by_the_full_parser(&text);
        let fast = decode_fast(text.as_bytes()).unwrap_or_else(|| panic!("not taken: {text}"));
        assert_eq!(told(&fast), told(&decode(&slow)), "{text}");
    }
}

#[test]
fn unusual_chunks_are_left_to_the_full_parser() {
    for (chunk, readable) in [
        (r#"{"type":"usage","usage":{"inputTokens":5.5,"outputTokens":1}}"#, true),
        (r#"{"type":"usage","usage":{"inputTokens":-5}}"#, true),
        (r#"{"type":"usage","usage":{"inputTokens":5},"more":1}"#, true),
        (r#"{"type":"usage","usage":{"inputTokens":5,"plugin":1}}"#, true),
        (r#"{"type":"finish","reason":{"kind":"error","failure":{"message":"x","code":"SERVER"}}}"#, true),
        (r#"{"type":"finish","reason":{"kind":"stop"},"replayState":{"a":1}"#, false),
        (r#"{"type":"finish","reason":{"kind":"stop"},"repl{"type":"session"}}"#, false),
        (r#"{"type":"finish","reason":{"kind":"someday"}}"#, true),
        (r#"{"type":"something-new"}"#, true),
    ] {
        let line = chunk_line(chunk);
        assert!(decode_fast(line.as_bytes()).is_none(), "{chunk}");
        assert_eq!(Decoder::new(128).decode(line.as_bytes()).is_ok(), readable, "{chunk}");
    }
}

#[test]
fn lines_read_whole_give_what_the_full_parser_gives() {
    let data = [
        ("step/start", r#"{"turn":3,"step":14}"#, ""),
        ("step/end", r#"{"turn":3,"step":14}"#, ""),
        ("turn/start", r#"{"turn":3}"#, ""),
        ("turn/start", r#"{"turn":3,"from":"plugin"}"#, ""),
        ("step/start", r#"{"step":14,"turn":3}"#, ""),
        ("turn/end", r#"{"turn":3,"reason":{"kind":"completed"}}"#, ""),
        ("tool/call", r#"{"turn":1,"step":2,"callId":"c","name":"read \"it\"","arguments":"{\"a\":[1]}"}"#, ""),
        ("user/message", r#"{"content":[{"type":"text","text":"a\n\u4e2d"}],"role":"user"}"#, APPEND),
        ("user/message", r#"{"content":"plain","role":"user"}"#, REPLACE),
        ("user/message", r#"{"content":[7,{"type":"text","text":"x"}]}"#, APPEND),
        ("assistant/message", ASSISTANT, APPEND),
        ("assistant/message", r#"{"turn":1,"step":2,"message":null,"usage":null,"interrupted":true}"#, ""),
        ("tool/result", RESULT, APPEND),
        (
            "tool/result",
            r#"{"turn":1,"message":{"role":"tool","toolCallId":"c","content":[{"type":"text","text":"x"}]}}"#,
            REPLACE,
        ),
    ];
    for (kind, data, op) in data {
        let line = format!("{{\"type\":\"{kind}\",\"seq\":9,\"time\":50,\"data\":{data}{op}}}");
        let slow = by_the_full_parser(&line);
        assert_eq!(told(&decode(&line)), told(&decode(&slow)), "{line}");
        assert!(!told(&decode(&line)).contains("Odd"), "{line}");
    }
}

const APPEND: &str = r#","surfaceOp":"append""#;
const REPLACE: &str = r#","surfaceOp":{"op":"replace","start":3,"end":5},"sourceEventSeqs":[1,[3,5]]"#;
const ASSISTANT: &str = r#"{"turn":1,"step":2,"message":{"role":"assistant","content":[{"type":"reasoning","text":"hm"},{"type":"text","text":"ok"},{"type":"tool-call","id":"c","name":"n","arguments":"{\"a\": 1}"}],"source":{"kind":"model","provider":"p","model":"m","replayState":{"blocks":[{"thinkingSignature":"reasoning_content"},{}]}}},"usage":{"inputTokens":10,"outputTokens":4,"cacheReadTokens":2}}"#;
const RESULT: &str = r#"{"turn":1,"step":2,"message":{"source":{"kind":"tool","callId":"c"},"content":[{"type":"tool-result","toolCallId":"c","content":[{"type":"text","text":"a\tb"},{"type":"image","attachment":{}}],"isError":false}],"role":"user"}}"#;

proptest! {
    #[test]
    fn every_packed_row_reads_the_same_on_both_paths(
        kind in prop::sample::select(vec!["text-chunks", "reasoning-chunks", "tool-call-chunks"]),
        gaps in prop::collection::vec(-100_000i64..100_000, 0..40),
    ) {
        let list = gaps.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        let line = packed(kind, &list, gaps.len() + 1);
        let slow = by_the_full_parser(&line);
        let fast = decode_fast(line.as_bytes());
        prop_assert!(fast.is_some(), "{}", line);
        prop_assert_eq!(told(&fast.unwrap()), told(&decode(&slow)));
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..120), at in 0usize..160) {
        let mut decoder = Decoder::new(128);
        let _ = decoder.decode(&bytes);
        let mut row = packed("text-chunks", "1,2", 3).into_bytes();
        let at = at.min(row.len());
        row.splice(at.., bytes.iter().copied().take(20));
        let _ = decoder.decode(&row);
        let _ = SessionHeader::parse(&bytes);
    }
}

#[test]
fn json_nested_too_deep_is_refused_and_brackets_in_text_do_not_count() {
    let nested = |depth: usize| {
        format!("{{\"type\":\"plugin/x\",\"seq\":0,\"data\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1))
    };
    let read = |line: &str| Decoder::new(16).decode(line.as_bytes()).map(|event| event.seq);
    assert!(matches!(read(&nested(16)), Ok(0)));
    assert!(matches!(read(&nested(17)), Err(LineError::TooDeep(16))));
    assert!(matches!(read(&nested(100_000)), Err(LineError::TooDeep(16))));
    let text = format!("{{\"type\":\"plugin/x\",\"seq\":0,\"data\":\"{}\\\"{}\"}}", "[".repeat(40), "{".repeat(40));
    assert!(matches!(read(&text), Ok(0)), "{text}");
    let wide = format!("{{\"type\":\"plugin/x\",\"seq\":0,\"data\":[{}]}}", vec!["[]"; 100].join(","));
    assert!(matches!(read(&wide), Ok(0)));
}

#[test]
fn lone_surrogates_are_accepted_and_replaced() {
    let line = r#"{"type":"turn/end","seq":3,"time":5,"data":{"turn":1,"reason":{"kind":"error","error":{"message":"half \ud83d emoji \ude00 and 😀","code":"X"}}}}"#;
    let event = decode(line);
    let Body::TurnEnd { turn: 1, kind: TurnEndKind::Error, failure: Some(failure) } = &event.body else {
        panic!("{event:?}")
    };
    assert_eq!(failure.message, "half \u{FFFD} emoji \u{FFFD} and 😀");
    let whole = decode(r#"{"type":"\ud83d\ude00","seq":0,"data":{}}"#);
    assert!(matches!(&whole.body, Body::Other { kind, known: false, .. } if kind == "😀"), "{whole:?}");
}

#[test]
fn events_without_seq_are_numbered_by_position() {
    let mut decoder = Decoder::new(128);
    let seqs: Vec<u64> = [
        r#"{"type":"turn/start","data":{"turn":1}}"#.to_owned(),
        packed("text-chunks", "1,1", 3).replace("\"seq0\":7,", ""),
        r#"{"type":"step/end","data":{"turn":1,"step":1}}"#.to_owned(),
    ]
    .iter()
    .map(|line| decoder.decode(line.as_bytes()).unwrap().seq)
    .collect();
    assert_eq!((seqs, decoder.lines_without_seq), (vec![0, 1, 4], 3));
}

#[test]
fn a_known_type_of_another_shape_is_odd_and_no_error() {
    let event = decode(r#"{"type":"llm/retry","seq":4,"data":{"turn":"one"}}"#);
    assert!(matches!(&event.body, Body::Odd { kind, .. } if kind == "llm/retry"), "{event:?}");
    for bad in ["", "null", "[]", "{\"seq\":1}", "{\"type\":\"x\"", "plain text"] {
        assert!(matches!(Decoder::new(128).decode(bad.as_bytes()), Err(LineError::NotAnEvent(_))), "{bad:?}");
    }
}

#[test]
fn usage_of_zero_is_no_report_and_cached_tokens_belong_to_the_prompt() {
    let line = |usage: &str| {
        format!(
            "{{\"type\":\"assistant/chunk\",\"seq\":1,\"time\":2,\"data\":{{\"turn\":1,\"step\":1,\"chunk\":{{\"type\":\"usage\",\"usage\":{usage}}}}}}}"
        )
    };
    let usage = |text: &str| match decode(&line(text)).body {
        Body::Deltas { stream, .. } => stream.usage,
        other => panic!("{other:?}"),
    };
    assert_eq!(usage(r#"{"inputTokens":0,"outputTokens":0}"#), None);
    let reported =
        usage(r#"{"inputTokens":100,"outputTokens":7,"cacheReadTokens":20,"cacheWriteTokens":3,"reasoningTokens":5}"#);
    assert_eq!(reported.map(|u| (u.prompt(), u.output)), Some((123, 7)));
}

#[test]
fn an_embedded_stream_is_summed_up_like_top_level_chunks() {
    let line = r#"{"type":"assistant/attempt","seq":8,"time":99,"data":{"turn":1,"step":2,"stream":[
        {"type":"chunk","time":10,"chunk":{"type":"block-start","index":0,"blockType":"text"}},
        {"type":"text-chunks","index":0,"time0":20,"dt":[5,30],"texts":["a","b","c"]},
        {"type":"tool-call-chunks","index":1,"id":"c","time0":60,"dt":[],"args":["{"]},
        {"type":"chunk","time":70,"chunk":{"type":"usage","usage":{"inputTokens":0,"outputTokens":0}}},
        {"type":"chunk","time":71,"chunk":{"type":"finish","reason":{"kind":"error","failure":{"message":"gone","code":"NETWORK","status":502.0}}}}]}}"#
        .replace('\n', "");
    let event = decode(&line);
    assert_eq!((event.seq, event.members), (8, 1));
    let Body::Attempt { turn: 1, step: 2, stream } = &event.body else { panic!("{event:?}") };
    assert_eq!(
        (stream.chunks, stream.first_time, stream.last_time, stream.longest_gap_ms),
        (7, Some(10), Some(71), 30)
    );
    assert_eq!(stream.usage, None);
    let finish = stream.finish.as_ref().unwrap();
    let failure = finish.failure.as_ref().unwrap();
    assert_eq!((finish.kind, failure.code.as_str(), failure.status), (FinishKind::Error, "NETWORK", Some(502)));
}

#[test]
fn a_replace_is_read_under_its_old_and_its_new_names() {
    for op in [r#"{"op":"replace","start":9,"end":4}"#, r#"{"op":"replace","startSeq":9,"endSeq":4}"#] {
        let line = format!(
            "{{\"type\":\"user/message\",\"seq\":1,\"time\":1,\"data\":{{\"role\":\"user\"}},\"surfaceOp\":{op}}}"
        );
        let event = decode(&line);
        let Body::Message(message) = &event.body else { panic!("{event:?}") };
        assert_eq!((message.kind, message.op), (MessageKind::User, Some(SurfaceOp::Replace { start: 9, end: 4 })));
    }
    let line = r#"{"type":"tool/result","seq":1,"data":{},"surfaceOp":"append"}"#;
    assert!(matches!(&decode(line).body, Body::Message(m) if m.op == Some(SurfaceOp::Append)));
}

#[test]
fn shadowed_nodes_are_counted_through_ranges() {
    let line = r#"{"type":"compaction/summary","seq":1,"data":{"compactionId":"c","shadowedSeqs":[3,[5,9],12],"shadowedTokenCount":77}}"#;
    let event = decode(line);
    assert!(
        matches!(&event.body, Body::CompactionSummary { shadowed_nodes: 7, shadowed_tokens: Some(77), .. }),
        "{event:?}"
    );
}

#[test]
fn a_header_is_a_session_line_with_an_id() {
    let parsed = SessionHeader::parse(
        br#"{"type":"session","version":1,"id":"s-1","createdAt":5,"delegationDepth":2,"parentSession":"p","seedLength":9,"origin":"subagent","new":{}}"#,
    )
    .unwrap();
    assert_eq!((parsed.version, parsed.id.as_str(), parsed.seed_length), (1, "s-1", Some(9)));
    assert_eq!((parsed.parent_session.as_deref(), parsed.delegation_depth, parsed.is_seeded), (Some("p"), 2, false));
    for other in [
        &br#"{"type":"session","version":0}"#[..],
        br#"{"type":"session/title","id":"session"}"#,
        br#"{"type":"user/message","data":"session"}"#,
        b"not json \"session\"",
    ] {
        assert!(SessionHeader::parse(other).is_none(), "{}", String::from_utf8_lossy(other));
    }
}

/// Later formats write the two fields behind the data in the other order, and plugins may add fields of their own: the
/// data must end where it ends, or a replaced node stays on the surface.
#[test]
fn fields_behind_the_data_are_told_apart_in_any_order() {
    let data = r#"{"content":[{"type":"text","text":"a"}]}"#;
    let replace = r#""surfaceOp":{"op":"replace","startSeq":4,"endSeq":4}"#;
    let sources = r#""sourceEventSeqs":[4,[6,9]]"#;
    let foreign = r#""note":{"by":"plugin"}"#;
    for tail in [
        format!("{replace},{sources}"),
        format!("{sources},{replace}"),
        format!("{replace},{foreign}"),
        format!("{foreign},{replace}"),
        format!("{sources},{replace},{foreign}"),
    ] {
        let line = format!(r#"{{"type":"system/message","seq":6,"time":1,"data":{data},{tail}}}"#);
        let mut decoder = crate::event::Decoder::new(128);
        let Body::Message(message) = decoder.decode(line.as_bytes()).unwrap().body else { panic!("{line}") };
        assert_eq!(
            (message.raw, message.op),
            (data, Some(crate::event::SurfaceOp::Replace { start: 4, end: 4 })),
            "{line}"
        );
    }
}
