//! Rules about sizes and windows.

use super::builder::{Log, NO_BODY_413, OVERFLOW};
use super::{TOO_LONG, archive, count, find, set_size};
use crate::pipeline::Dataset;
use crate::session::Outcome;

/// Two sessions of a route: small requests succeed before, between and after six large ones that fail.
fn with_limit(smallest_failing: u64) -> Dataset {
    let (mut a, mut b) = (Log::new("a"), Log::new("b"));
    for log in [&mut a, &mut b] {
        for _ in 0..3 {
            log.turn();
            for _ in 0..5 {
                log.step().ok(30_000);
            }
            log.step().failed(OVERFLOW, NO_BODY_413).gave_up();
        }
        log.turn().step().ok(30_000);
    }
    let mut dataset = archive(&mut [&mut a, &mut b]);
    for attempt in dataset.sessions.iter_mut().flat_map(|s| &mut s.attempts) {
        let failed = attempt.outcome == Outcome::Failed;
        attempt.request.as_mut().unwrap().body_bytes = Some(if failed { smallest_failing } else { 900_000 });
    }
    dataset
}

#[test]
fn hidden_size_limit_fires() {
    let finding = find("hidden-size-limit", &with_limit(1_100_000)).unwrap();
    assert_eq!((finding.count, finding.unit.name()), (6, "failed_steps"));
}

#[test]
fn hidden_size_limit_is_silent_where_a_success_is_as_large() {
    assert!(find("hidden-size-limit", &with_limit(900_000)).is_none());
}

fn overflow(window: u64, message: &str) -> Log {
    overflow_after(2_000, window, message)
}

fn overflow_after(prompt: u64, window: u64, message: &str) -> Log {
    let mut log = Log::new("s");
    log.route("gateway", "large", window).turn().step().ok(prompt).step().failed(OVERFLOW, message).gave_up();
    log
}

#[test]
fn output_reservation_overflow_fires() {
    let message = "400 This model's maximum context length is 1048576 tokens. However, you requested 1048638 tokens (792638 in the messages, 256000 in the completion).";
    let found = count("output-reservation-overflow", &mut [&mut overflow_after(790_000, 1_048_576, message)]);
    assert_eq!(found, Some((1, "failed_steps")));
}

#[test]
fn output_reservation_overflow_is_silent_where_the_prompt_alone_is_too_long() {
    assert_eq!(count("output-reservation-overflow", &mut [&mut overflow(262_144, TOO_LONG)]), None);
}

const SMALL_WINDOW: &str = "request (42947 tokens) exceeds the available context size (8192 tokens), try increasing it";

#[test]
fn window_mismatch_fires() {
    let found = count("window-mismatch", &mut [&mut overflow(131_072, SMALL_WINDOW)]);
    assert_eq!(found, Some((1, "failed_steps")));
}

#[test]
fn window_mismatch_is_silent_where_log_and_error_agree() {
    assert_eq!(count("window-mismatch", &mut [&mut overflow(8_192, SMALL_WINDOW)]), None);
}

#[test]
fn window_unknown_fires() {
    let mut dataset = archive(&mut [&mut overflow(131_072, NO_BODY_413)]);
    dataset.sessions[0].attempts.iter_mut().for_each(|attempt| attempt.window = None);
    assert_eq!(find("window-unknown", &dataset).unwrap().count, 1);
}

#[test]
fn window_unknown_is_silent_where_the_log_states_it() {
    assert_eq!(count("window-unknown", &mut [&mut overflow(131_072, NO_BODY_413)]), None);
}

#[test]
fn untrusted_usage_fires() {
    let mut dataset = archive(&mut [Log::new("s").turn().step().ok(2_000).step().ok(2_100)]);
    dataset.sessions[0].attempts[1].usage_untrusted = true;
    let finding = find("untrusted-usage", &dataset).unwrap();
    assert_eq!((finding.count, finding.unit.name()), (1, "attempts"));
}

#[test]
fn untrusted_usage_is_silent_where_reports_fit() {
    assert_eq!(count("untrusted-usage", &mut [Log::new("s").turn().step().ok(2_000)]), None);
}

fn jump(before: u64) -> Dataset {
    let mut log = overflow(100_000, "prompt is too long: 110000 tokens > 100000 maximum");
    let mut dataset = archive(&mut [&mut log]);
    set_size(&mut dataset, 0, before);
    set_size(&mut dataset, 1, 110_000);
    dataset
}

#[test]
fn step_jump_fires() {
    assert_eq!(find("step-jump", &jump(60_000)).unwrap().count, 1);
}

#[test]
fn step_jump_is_silent_where_the_threshold_was_passed_before() {
    assert!(find("step-jump", &jump(85_000)).is_none());
}

fn switch(first_fails: bool) -> Dataset {
    let mut log = Log::new("s");
    log.route("gateway", "small", 100_000).turn().step();
    if first_fails {
        log.failed(OVERFLOW, "prompt is too long: 150000 tokens > 100000 maximum").gave_up();
    } else {
        log.ok(90_000);
    }
    log.route("gateway", "large", 1_000_000).turn().step().ok(150_000);
    let mut dataset = archive(&mut [&mut log]);
    set_size(&mut dataset, 1, 150_000);
    dataset
}

#[test]
fn masked_overflow_fires() {
    assert_eq!(find("masked-overflow", &switch(true)).unwrap().count, 1);
}

#[test]
fn masked_overflow_is_silent_where_nothing_had_failed() {
    assert!(find("masked-overflow", &switch(false)).is_none());
}

fn cut(at_limit: bool) -> Dataset {
    let mut dataset = archive(&mut [Log::new("s").turn().step().ok(261_000)]);
    dataset.sessions[0].attempts[0].cut_at_limit = at_limit;
    dataset
}

#[test]
fn missed_overflow_fires() {
    assert_eq!(find("missed-overflow", &cut(true)).unwrap().count, 1);
}

#[test]
fn missed_overflow_is_silent_where_the_model_stopped_by_itself() {
    assert!(find("missed-overflow", &cut(false)).is_none());
}
