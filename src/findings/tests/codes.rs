//! Rules about codes.

use super::builder::{Log, NO_BODY_400, NO_BODY_413, OVERFLOW};
use super::{TOO_LONG, archive, count, find};
use crate::findings::Confidence;
use crate::report::lang::Language;

/// One step that fails and ends its turn.
fn failing(code: &str, message: &str) -> Log {
    let mut log = Log::new("s");
    log.turn().step().ok(60_000).step().failed(code, message).gave_up();
    log
}

const ONE_STEP: Option<(u64, &str)> = Some((1, "failed_steps"));

#[test]
fn contradicted_overflow_fires() {
    let mut log = failing(OVERFLOW, NO_BODY_400);
    log.turn().step().ok(90_000).step().failed(OVERFLOW, NO_BODY_413).gave_up().turn().step().ok(95_000);
    let finding = find("contradicted-overflow", &archive(&mut [&mut log])).unwrap();
    assert_eq!((finding.count, finding.unit.name(), finding.confidence), (2, "failed_steps", Confidence::High));
    assert_eq!(
        Language::English.render(&finding.title),
        "2 failed steps with code CONTEXT_WINDOW_EXCEEDED against the evidence"
    );
    assert!(finding.settings.unwrap().contains("- CONTEXT_WINDOW_EXCEEDED"));
    assert_eq!(finding.places.len(), 2);
}

#[test]
fn contradicted_overflow_is_silent_where_the_provider_states_the_overflow() {
    let mut log = Log::new("s");
    log.turn().step().ok(280_000).step().failed(OVERFLOW, TOO_LONG).gave_up();
    assert_eq!(count("contradicted-overflow", &mut [&mut log]), None);
}

#[test]
fn bodyless_400_fires() {
    assert_eq!(count("bodyless-400", &mut [&mut failing(OVERFLOW, NO_BODY_413)]), ONE_STEP);
}

#[test]
fn bodyless_400_is_silent_where_the_answer_says_something() {
    assert_eq!(count("bodyless-400", &mut [&mut failing("INVALID_REQUEST", "400 invalid request")]), None);
}

#[test]
fn overflow_coded_otherwise_fires() {
    let message = r#"400 {"code":"quota_limit_reached","message":"Input token exceed the limit"}"#;
    assert_eq!(count("overflow-coded-otherwise", &mut [&mut failing("INVALID_REQUEST", message)]), ONE_STEP);
}

#[test]
fn overflow_coded_otherwise_is_silent_where_the_code_is_right() {
    assert_eq!(count("overflow-coded-otherwise", &mut [&mut failing(OVERFLOW, TOO_LONG)]), None);
}

#[test]
fn body_size_as_overflow_fires() {
    let message = r#"413 {"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#;
    assert_eq!(count("body-size-as-overflow", &mut [&mut failing(OVERFLOW, message)]), ONE_STEP);
}

#[test]
fn body_size_as_overflow_is_silent_where_nothing_is_said() {
    assert_eq!(count("body-size-as-overflow", &mut [&mut failing(OVERFLOW, NO_BODY_413)]), None);
}

const RATE: &str = "400 Too many tokens requested per minute, limit 500000 TPM";

#[test]
fn rate_limit_as_overflow_fires() {
    assert_eq!(count("rate-limit-as-overflow", &mut [&mut failing(OVERFLOW, RATE)]), ONE_STEP);
}

#[test]
fn rate_limit_as_overflow_is_silent_where_the_code_is_right() {
    assert_eq!(count("rate-limit-as-overflow", &mut [&mut failing("RATE_LIMIT", RATE)]), None);
}

const QUOTA: &str =
    r#"429: {"message":"Allocated quota exceeded, please increase your quota limit.","code":"insufficient_quota"}"#;

#[test]
fn quota_vs_rate_limit_fires() {
    let mut log = failing("QUOTA", QUOTA);
    log.turn().wait(60_000).step().ok(60_000);
    assert_eq!(count("quota-vs-rate-limit", &mut [&mut log]), ONE_STEP);
}

#[test]
fn quota_vs_rate_limit_is_silent_where_the_route_stays_shut() {
    assert_eq!(count("quota-vs-rate-limit", &mut [&mut failing("QUOTA", QUOTA)]), None);
}

const OVERLOADED: &str = "Our servers are currently overloaded. Please try again later.";

#[test]
fn unclassified_transient_fires() {
    let finding = find("unclassified-transient", &archive(&mut [&mut failing("PI_AI_ERROR", OVERLOADED)])).unwrap();
    assert_eq!(finding.count, 1);
    let settings = finding.settings.unwrap();
    assert!(settings.contains("- PI_AI_ERROR") && settings.contains("- RATE_LIMIT"), "{settings}");
}

#[test]
fn unclassified_transient_is_silent_where_the_text_says_nothing_or_it_was_retried() {
    assert_eq!(count("unclassified-transient", &mut [&mut failing("PI_AI_ERROR", "Something odd")]), None);
    let mut retried = Log::new("s");
    retried.turn().step().failed("PI_AI_ERROR", OVERLOADED).retry(500).ok(60_000);
    assert_eq!(count("unclassified-transient", &mut [&mut retried]), None);
}

#[test]
fn number_read_as_status_fires() {
    let message = "requested 500 tokens but only 400 credits";
    assert_eq!(count("number-read-as-status", &mut [&mut failing("INVALID_REQUEST", message)]), ONE_STEP);
}

#[test]
fn number_read_as_status_is_silent_for_a_real_status() {
    for message in ["400 invalid request", r#"400 {"error":{"code":"insufficient_quota"}}"#] {
        assert_eq!(count("number-read-as-status", &mut [&mut failing("INVALID_REQUEST", message)]), None, "{message}");
    }
}

const BROKEN: &str = "400 unexpected end of hex escape at line 1 column 8812";
const ORPHAN: &str = "400 insufficient tool messages following tool_calls message";

#[test]
fn deterministic_invalid_request_fires() {
    assert_eq!(count("deterministic-invalid-request", &mut [&mut failing("INVALID_REQUEST", BROKEN)]), ONE_STEP);
}

#[test]
fn deterministic_invalid_request_is_silent_for_a_bare_status_and_for_orphans() {
    for message in [NO_BODY_400, ORPHAN] {
        let mut log = failing("INVALID_REQUEST", message);
        assert_eq!(count("deterministic-invalid-request", &mut [&mut log]), None, "{message}");
    }
}

#[test]
fn orphan_tool_call_fires() {
    assert_eq!(count("orphan-tool-call", &mut [&mut failing("INVALID_REQUEST", ORPHAN)]), ONE_STEP);
}

#[test]
fn orphan_tool_call_is_silent_for_other_broken_requests() {
    assert_eq!(count("orphan-tool-call", &mut [&mut failing("INVALID_REQUEST", BROKEN)]), None);
}
