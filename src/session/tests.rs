//! What a session's events mean: attempts, chains and their fates, compactions, inherited prefixes, forks.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use serde_json::{Value, json};

use super::{CompactionOutcome, Fate, Outcome, SessionBuilder, SessionContext, SessionRows, Trigger};
use crate::event::{Decoder, SessionHeader, TurnEndKind};
use crate::test_logs::{Log, NO_BODY_400, OVERFLOW, START};
use crate::windows::Window;

/// The rows of a log given line by line, its header first.
pub(crate) fn rows_of_lines(lines: &[String]) -> SessionRows {
    let mut builder = SessionBuilder::new(SessionContext { path: "test".to_owned(), ..SessionContext::default() });
    let mut decoder = Decoder::new(128);
    for (index, line) in lines.iter().enumerate() {
        match SessionHeader::parse(line.as_bytes()).filter(|_| index == 0) {
            Some(header) => builder.header(header),
            None => builder.event(&decoder.decode(line.as_bytes()).unwrap(), index as u64 + 1),
        }
    }
    builder.finish()
}

fn rows(log: &mut Log) -> SessionRows {
    rows_of_lines(&log.lines())
}

fn outcomes(rows: &SessionRows) -> Vec<Outcome> {
    rows.attempts.iter().map(|a| a.outcome).collect()
}

fn fates(rows: &SessionRows) -> Vec<Option<Fate>> {
    rows.attempts.iter().map(|a| a.fate).collect()
}

fn anomalies(rows: &SessionRows) -> Vec<(&'static str, u64)> {
    rows.anomalies.iter().map(|a| (a.kind, a.amount)).collect()
}

// ---- attempts and chains

#[test]
fn a_retry_that_succeeds_recovers_the_whole_chain() {
    let rows = rows(
        Log::new("s").turn().step().failed("SERVER", "500").retry(100).failed("SERVER", "500").retry(200).ok(1_000),
    );
    assert_eq!(outcomes(&rows), [Outcome::Failed, Outcome::Failed, Outcome::Succeeded]);
    assert_eq!(fates(&rows), [Some(Fate::RecoveredByRetry); 3]);
    assert_eq!(
        rows.attempts.iter().map(|a| (a.attempt, a.retries_before)).collect::<Vec<_>>(),
        [(1, 0), (2, 1), (3, 2)]
    );
    assert!(!rows.steps[0].failed);
    assert_eq!(
        rows.retries.iter().map(|r| (r.started, r.after_attempt, r.next_attempt)).collect::<Vec<_>>(),
        [(true, Some(0), Some(1)), (true, Some(1), Some(2))]
    );
    assert_eq!(rows.retries[0].retry.delay_ms, 100.25);
}

#[test]
fn the_last_action_before_the_success_decides_how_a_chain_recovered() {
    let compacted = rows(
        Log::new("s")
            .turn()
            .step()
            .failed("SERVER", "500")
            .retry(100)
            .failed(OVERFLOW, NO_BODY_400)
            .overflow_compaction()
            .ok(900),
    );
    assert_eq!(fates(&compacted), [Some(Fate::RecoveredByCompaction); 3]);
    let retried = rows(
        Log::new("s")
            .turn()
            .step()
            .failed(OVERFLOW, NO_BODY_400)
            .overflow_compaction()
            .failed("SERVER", "500")
            .retry(100)
            .ok(900),
    );
    assert_eq!(fates(&retried), [Some(Fate::RecoveredByRetry); 3]);
}

#[test]
fn a_chain_without_success_shares_the_fate_of_its_turn() {
    type End = fn(&mut Log) -> &mut Log;
    let ends: [(End, Fate, Option<TurnEndKind>); 3] = [
        (Log::gave_up, Fate::GaveUp, Some(TurnEndKind::Error)),
        (Log::cancelled, Fate::Cancelled, Some(TurnEndKind::Aborted)),
        (Log::crash, Fate::Open, None),
    ];
    for (end, fate, kind) in ends {
        let mut log = Log::new("s");
        end(log.turn().step().failed("SERVER", "500").retry(50).failed("SERVER", "502").retry_scheduled(900));
        let rows = rows(&mut log);
        assert_eq!(fates(&rows), [Some(fate); 2]);
        assert_eq!(rows.turns[0].end, kind);
        let step = &rows.steps[0];
        assert!(step.failed, "{fate:?}");
        assert_eq!(step.last_failure, Some(1));
        assert_eq!(rows.retries.iter().map(|r| r.started).collect::<Vec<_>>(), [true, false]);
    }
}

#[test]
fn a_turn_closed_after_a_crash_is_open_and_not_given_up() {
    let mut log = Log::new("s");
    log.turn().step().failed("SERVER", "500").retry_scheduled(900).crash();
    log.event("turn/end", json!({"turn": 1, "reason": {"kind": "interrupted"}}));
    assert_eq!(fates(&rows(&mut log)), [Some(Fate::Open)]);
}

#[test]
fn attempts_before_the_first_failure_belong_to_no_chain() {
    let mut log = Log::new("s");
    log.turn().step().deltas(&["cut"]).compaction_start(json!(1));
    log.failed("SERVER", "500").gave_up();
    let rows = rows(&mut log);
    assert_eq!(outcomes(&rows), [Outcome::Unfinished, Outcome::Failed]);
    assert_eq!(fates(&rows), [None, Some(Fate::GaveUp)]);
}

#[test]
fn a_stream_that_threw_fails_by_the_retry_or_the_turn_end_that_follows() {
    let mut log = Log::new("s");
    log.turn().step().failed("NETWORK", "socket hang up").retry(10);
    log.deltas(&["half"]).retry_scheduled(20).wait(20);
    log.deltas(&["half again"]).gave_up();
    let rows = rows(&mut log);
    assert_eq!(outcomes(&rows), [Outcome::Failed; 3]);
    let codes: Vec<&str> = rows.attempts.iter().map(|a| a.failure.as_ref().unwrap().code.as_str()).collect();
    assert_eq!(codes, ["NETWORK"; 3]);
}

#[test]
fn a_cancelled_or_killed_stream_is_unfinished_and_its_step_not_failed() {
    for end in [Log::cancelled, Log::crash] {
        let mut log = Log::new("s");
        end(log.turn().step().deltas(&["one", "two", "three", "four"]));
        let rows = rows(&mut log);
        assert_eq!(outcomes(&rows), [Outcome::Unfinished]);
        assert!(!rows.steps[0].failed);
    }
}

#[test]
fn a_failure_without_a_stream_is_a_failed_turn_and_no_attempt() {
    let mut log = Log::new("s");
    log.turn().step();
    log.event(
        "turn/end",
        json!({"turn": 1, "reason": {"kind": "error", "error": {"message": "no key", "code": "AUTH"}}}),
    );
    log.crash();
    let rows = rows(&mut log);
    assert_eq!((rows.attempts.len(), rows.turns[0].end), (0, Some(TurnEndKind::Error)));
    assert!(!rows.steps[0].failed);
}

#[test]
fn usage_is_one_report_and_the_messages_wins() {
    let mut log = Log::new("s");
    log.turn().step();
    log.chunk(json!({"type": "usage", "usage": {"inputTokens": 100, "outputTokens": 1}}));
    log.chunk(json!({"type": "finish", "reason": {"kind": "stop"}}));
    log.surface(
        "assistant/message",
        json!({"turn": 1, "step": 1, "usage": {"inputTokens": 130, "outputTokens": 2, "cacheReadTokens": 70}}),
        json!("append"),
    );
    let rows = rows(&mut log);
    assert_eq!(rows.attempts[0].usage.map(|u| (u.prompt(), u.output)), Some((200, 2)));
    assert_eq!(rows.largest_success_tokens, Some(200));
}

#[test]
fn duration_runs_from_the_last_thing_that_was_waited_for() {
    let mut log = Log::new("s");
    log.turn().step().wait(100).failed("SERVER", "500").retry(1_000).wait(40).ok(10);
    let rows = rows(&mut log);
    // step/start, three more events, the wait, usage, finish: 5 ms an event.
    assert_eq!(rows.attempts[0].duration_ms(), Some(4 * 5 + 100 + 5));
    // llm/retry-started, the wait, block-start, a row of three, block-end, usage, finish.
    assert_eq!(rows.attempts[1].duration_ms(), Some(5 + 40 + 5 + 15 + 5 + 5));
}

#[test]
fn packed_and_plain_deltas_make_the_same_rows() {
    let story = |log: &mut Log| {
        let made = rows(log.turn().step().ok(10).step().failed("SERVER", "500").retry(5).ok(20).step().ok(30));
        format!("{:?} {:?} {:?} {:?}", made.attempts, made.steps, made.events, made.anomalies)
    };
    assert_eq!(story(&mut Log::new("s")), story(Log::new("s").unpacked()));
}

#[test]
fn steps_whose_attempts_interleave_are_kept_apart() {
    let mut log = Log::new("s");
    let chunk = |log: &mut Log, step: u64, chunk: Value| {
        log.event("assistant/chunk", json!({"turn": 1, "step": step, "chunk": chunk}));
    };
    let delta = || json!({"type": "text-delta", "index": 0, "text": "x"});
    for step in [1, 2] {
        log.event("step/start", json!({"turn": 1, "step": step}));
    }
    chunk(&mut log, 1, delta());
    chunk(&mut log, 2, delta());
    chunk(&mut log, 1, delta());
    chunk(
        &mut log,
        2,
        json!({"type": "finish", "reason": {"kind": "error", "failure": {"message": "m", "code": "SERVER"}}}),
    );
    chunk(&mut log, 1, json!({"type": "finish", "reason": {"kind": "stop"}}));
    log.crash();
    let rows = rows(&mut log);
    let seen: Vec<_> = rows.attempts.iter().map(|a| (a.step, a.chunks, a.outcome)).collect();
    assert_eq!(seen, [(1, 3, Outcome::Succeeded), (2, 2, Outcome::Failed)]);
    assert_eq!(rows.steps.iter().map(|s| s.failed).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn an_attempt_has_the_route_and_the_window_in_force() {
    let mut log = Log::new("s");
    log.turn().step().ok(10).route("deepseek-official", "chat", 65_536).step().ok(10);
    log.route("gateway", "large", 262_144).step().ok(10);
    let rows = rows(&mut log);
    let seen: Vec<_> =
        rows.attempts.iter().map(|a| (a.route.provider.as_str(), a.route.model.as_str(), a.window)).collect();
    assert_eq!(
        seen,
        [
            ("gateway", "large", Some(262_144)),
            ("deepseek-official", "chat", Some(65_536)),
            ("gateway", "large", Some(262_144))
        ]
    );
}

// ---- compactions

#[test]
fn a_compaction_tells_its_trigger_by_where_it_stands() {
    let mut log = Log::new("s");
    log.turn().step().ok(8_000).pressure_compaction().step().failed(OVERFLOW, NO_BODY_400);
    let failing = log.seq - 1;
    log.overflow_compaction().ok(5_000).manual_compaction();
    let rows = rows(&mut log);
    let seen: Vec<_> = rows.compactions.iter().map(|c| (c.trigger, c.outcome, c.caused_by_failure_seq)).collect();
    assert_eq!(
        seen,
        [
            (Trigger::Pressure, CompactionOutcome::Done, None),
            (Trigger::Overflow, CompactionOutcome::Done, Some(failing)),
            (Trigger::Manual, CompactionOutcome::Done, None)
        ]
    );
    let tokens: Vec<_> = rows.compactions.iter().map(|c| (c.tokens_before, c.tokens_after)).collect();
    assert_eq!(tokens, [(Some(8_000), None), (Some(8_000), Some(5_000)), (Some(5_000), None)]);
    assert_eq!(rows.compactions[2].turn, None);
}

#[test]
fn a_compaction_with_an_error_failed_and_one_without_an_end_is_open() {
    let mut log = Log::new("s");
    log.turn().step().ok(10);
    log.event("step/end", json!({"turn": 1, "step": 1}));
    let id = log.compaction_start(json!(1));
    log.event("compaction/end", json!({"compactionId": id, "turn": 1, "error": {"message": "500", "code": "SERVER"}}));
    log.compaction_start(json!(1));
    log.crash();
    let rows = rows(&mut log);
    let outcomes: Vec<_> = rows.compactions.iter().map(|c| c.outcome).collect();
    assert_eq!(outcomes, [CompactionOutcome::Failed, CompactionOutcome::Open]);
    assert_eq!(rows.compactions[0].error.as_ref().unwrap().code, "SERVER");
    assert!(anomalies(&rows).contains(&("open-compaction", 1)), "{:?}", rows.anomalies);
}

fn window(text: &str) -> Window {
    text.parse().unwrap()
}

#[test]
fn a_window_counts_events_attempts_and_time_from_the_end_of_the_compaction() {
    let mut log = Log::new("s");
    log.turn().step().ok(10).pressure_compaction();
    let end = (log.seq - 1, log.time - 5);
    log.step().ok(10).wait(2_000).step().failed("SERVER", "500");
    let finish = (log.seq - 1, log.time - 5);
    log.gave_up();
    let rows = rows(&mut log);
    let since = rows.attempts[2].since_independent_compaction.unwrap();
    assert_eq!((since.events, since.attempts, since.ms), (finish.0 - end.0, 2, Some(finish.1 - end.1)));
    let (events, seconds) = (since.events, since.ms.unwrap() as f64 / 1_000.0);
    for (inside, outside) in [
        (format!("{events}ev"), format!("{}ev", events - 1)),
        ("2att".to_owned(), "1att".to_owned()),
        (format!("{seconds}s"), format!("{}s", seconds - 0.001)),
    ] {
        assert!(window(&inside).contains(&since) && !window(&outside).contains(&since), "{inside}, {outside}");
    }
    assert_eq!(rows.attempts[1].since_independent_compaction.unwrap().attempts, 1);
    assert_eq!(rows.attempts[0].since_independent_compaction, None);
}

#[test]
fn an_overflow_compaction_is_near_but_no_cause() {
    let mut log = Log::new("s");
    log.turn().step().failed(OVERFLOW, NO_BODY_400).overflow_compaction().failed(OVERFLOW, NO_BODY_400).gave_up();
    let rows = rows(&mut log);
    let second = &rows.attempts[1];
    assert_eq!(second.since_compaction.map(|s| (s.events, s.attempts)), Some((2, 1)));
    assert_eq!(second.since_independent_compaction, None);
}

#[test]
fn windows_are_read_and_printed_as_typed() {
    for text in ["8ev", "3att", "60s", "0.5s"] {
        assert_eq!(window(text).to_string(), text);
    }
    for text in ["", "ev", "8", "8 ev", "0s", "-1ev", "nans", "infs", "8EV", "1e400s"] {
        assert!(text.parse::<Window>().is_err(), "{text:?}");
    }
}

// ---- lineage

#[test]
fn a_forks_prefix_in_v0_gives_context_and_is_never_counted() {
    let mut log = Log::new("child");
    log.turn().step().ok(50_000).step().failed("SERVER", "500").gave_up();
    let seed = log.seq;
    log.turn().step().ok(900);
    log.header_field("parentSession", json!("parent")).header_field("seedLength", json!(seed));
    let rows = rows(&mut log);
    assert_eq!(rows.inherited_events, seed);
    assert_eq!(rows.events, log.seq - seed);
    assert_eq!((rows.turns.len(), rows.steps.len(), rows.attempts.len()), (1, 1, 1));
    assert_eq!(rows.largest_success_tokens, Some(900));
    assert_eq!((rows.attempts[0].route.provider.as_str(), rows.attempts[0].window), ("gateway", Some(262_144)));
    assert_eq!(rows.first_time, Some(START + 5 * seed as i64), "the span is that of its own events");
    assert_eq!(anomalies(&rows), []);
}

#[test]
fn a_seed_length_without_a_parent_is_not_a_fork() {
    let mut log = Log::new("s");
    log.turn().step().ok(10).header_field("seedLength", json!(4));
    let rows = rows(&mut log);
    assert_eq!((rows.inherited_events, rows.events, rows.attempts.len()), (0, log.seq, 1));
}

#[test]
fn a_forks_prefix_in_later_formats_ends_at_the_last_tagged_end_seed() {
    let mut log = Log::new("child");
    log.header_field("version", json!(2))
        .header_field("isSeeded", json!(true))
        .header_field("parentSession", json!("p"));
    log.turn().step().ok(50_000).event("session/end-seed", json!({}));
    log.step().failed("SERVER", "500").gave_up().event("session/end-seed", json!({"inherited": true}));
    log.turn().step().failed(OVERFLOW, NO_BODY_400).gave_up();
    log.event("session/end-seed", json!({"inherited": true}));
    let inherited = log.seq - 1;
    log.turn().step().ok(700).event("session/end-seed", json!({}));
    let rows = rows(&mut log);
    assert_eq!(rows.inherited_events, inherited);
    assert_eq!(rows.events, log.seq - inherited);
    assert_eq!((rows.turns.len(), rows.steps.len(), outcomes(&rows)), (1, 1, vec![Outcome::Succeeded]));
    assert_eq!(rows.largest_success_tokens, Some(700));
    assert_eq!(rows.attempts[0].route.provider, "gateway");
    assert_eq!((rows.id.as_str(), rows.parent_session.as_deref(), rows.format_version), ("child", Some("p"), Some(2)));
}

// ---- damage

#[test]
fn two_writers_of_one_log_count_their_requests_and_close_a_turn_once() {
    let mut log = Log::new("s");
    log.turn().step().ok(10);
    let fork = log.seq;
    // The first writer closes the turn …
    log.event("step/end", json!({"turn": 1, "step": 1}))
        .event("turn/end", json!({"turn": 1, "reason": {"kind": "interrupted"}}));
    log.event("session/end-seed", json!({}));
    let ahead = log.seq;
    // … and the second, which never saw that, goes on from where it was.
    log.seq = fork;
    log.event("step/end", json!({"turn": 1, "step": 1})).event("step/start", json!({"turn": 1, "step": 2}));
    log.event(
        "assistant/chunk",
        json!({"turn": 1, "step": 2, "chunk": {"type": "finish", "reason": {"kind": "stop"}}}),
    );
    log.event("step/end", json!({"turn": 1, "step": 2}))
        .event("turn/end", json!({"turn": 1, "reason": {"kind": "completed"}}));
    let last = log.seq;
    log.crash();
    let rows = rows(&mut log);
    assert_eq!((rows.turns.len(), rows.steps.len(), rows.attempts.len()), (1, 2, 2));
    assert_eq!(rows.events, ahead + (last - fork), "every event counts as it stands in the file");
    assert_eq!(anomalies(&rows), [("seq-fork", ahead - fork)]);
    assert!(
        crate::report::lang::Language::English
            .render(&rows.anomalies[0].detail)
            .contains(&format!("expected {ahead}, got {fork}")),
        "{:?}",
        rows.anomalies
    );
}

#[test]
fn missing_events_and_a_late_start_are_said_and_no_fork() {
    let mut log = Log::new("s");
    log.seq = 100;
    log.turn().step().ok(10);
    log.seq += 1_415;
    log.turn().step().ok(20);
    let rows = rows(&mut log);
    assert_eq!(anomalies(&rows), [("late-start", 100), ("holes", 1_415)]);
    assert_eq!((rows.attempts.len(), rows.first_seq, rows.last_seq), (2, Some(100), Some(log.seq - 1)));
}

#[test]
fn time_that_goes_back_is_said_once_with_its_worst() {
    let mut log = Log::new("s");
    log.turn().step().ok(10).wait(-500).step().ok(20).wait(-3_000).step().ok(30);
    let rows = rows(&mut log);
    let back: Vec<_> = anomalies(&rows).into_iter().filter(|a| a.0 == "time-back").collect();
    assert_eq!(back, [("time-back", 3_000 - 5)]);
    assert_eq!(rows.attempts.len(), 3);
}

#[test]
fn unknown_event_types_are_counted_and_kept_out_of_the_way() {
    let mut log = Log::new("s");
    log.turn().event("plugin/metrics", json!({"deep": [{}]})).event("plugin/metrics", json!(null)).step().ok(10);
    log.event("agent/inbox/spliced", json!({}));
    let rows = rows(&mut log);
    assert_eq!(rows.unknown_types.into_iter().collect::<Vec<_>>(), [("plugin/metrics".to_owned(), 2)]);
    assert_eq!(rows.events, log.seq);
}
