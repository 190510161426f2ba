//! Rules about retries and time.

use serde_json::json;

use super::builder::{Log, START};
use super::{archive, count, find};

const HOUR: i64 = 3_600_000;

fn told_to_wait(ms: u64) -> Log {
    let mut log = Log::new("s");
    let failure =
        json!({"message": "Rate limit reached", "code": "RATE_LIMIT", "status": 429, "providerRetryAfterMs": ms});
    log.route("deepseek-official", "chat", 1_000_000).turn().step().failed_with(failure).gave_up();
    log
}

#[test]
fn retry_after_abandoned_fires() {
    let finding = find("retry-after-abandoned", &archive(&mut [&mut told_to_wait(30_000)])).unwrap();
    assert_eq!(finding.count, 1);
    let settings = finding.settings.unwrap();
    assert!(settings.contains("llm-deepseek") && settings.contains("maxDelayMs: 60000"), "{settings}");
}

#[test]
fn retry_after_abandoned_is_silent_where_the_wait_is_allowed() {
    assert_eq!(count("retry-after-abandoned", &mut [&mut told_to_wait(5_000)]), None);
}

#[test]
fn retry_after_abandoned_proposes_no_absurd_wait() {
    let finding = find("retry-after-abandoned", &archive(&mut [&mut told_to_wait(2_300_000_000_000)])).unwrap();
    assert_eq!(finding.settings, None);
}

#[test]
fn retry_before_retry_after_fires() {
    let mut log = Log::new("s");
    log.turn().step().failed("RATE_LIMIT", "Server requested 3600s retry delay (max: 60s). 429").retry(500).ok(9_000);
    assert_eq!(count("retry-before-retry-after", &mut [&mut log]), Some((1, "retries")));
}

#[test]
fn retry_before_retry_after_is_silent_where_no_wait_is_asked_for() {
    let mut log = Log::new("s");
    log.turn().step().failed("RATE_LIMIT", "429 Too many requests").retry(500).ok(9_000);
    assert_eq!(count("retry-before-retry-after", &mut [&mut log]), None);
}

/// Five retries in one step, the first of them cancelled or not, then the turn is given up.
fn spent(first_cancelled: bool) -> Log {
    let mut log = Log::new("s");
    log.turn().step().failed("SERVER", "502 Bad Gateway");
    if first_cancelled {
        log.retry_scheduled(500)
    } else {
        log.retry(500)
    };
    for _ in 0..4 {
        log.failed("SERVER", "502 Bad Gateway").retry(1_000);
    }
    log.failed("SERVER", "502 Bad Gateway").gave_up();
    log
}

#[test]
fn budget_shrunk_by_cancelled_wait_fires() {
    assert_eq!(count("budget-shrunk-by-cancelled-wait", &mut [&mut spent(true)]), Some((1, "failed_steps")));
}

#[test]
fn budget_shrunk_by_cancelled_wait_is_silent_where_every_retry_was_sent() {
    assert_eq!(count("budget-shrunk-by-cancelled-wait", &mut [&mut spent(false)]), None);
}

#[test]
fn budget_too_short_fires() {
    let mut log = spent(false);
    log.wait(40_000).turn().step().ok(9_000);
    let finding = find("budget-too-short", &archive(&mut [&mut log])).unwrap();
    assert_eq!((finding.count, finding.unit.name()), (1, "failed_steps"));
    // 4.5 s of retries and 40 s more: 0.5 + 1 + 2 + 4 + 8 + 10 + 10 + 10 s at the shortest jitter (0.9) are 40.95 s.
    assert!(finding.settings.unwrap().contains("maxRetries: 9"));
}

#[test]
fn budget_too_short_is_silent_where_the_route_stays_down() {
    assert_eq!(count("budget-too-short", &mut [&mut spent(false)]), None);
}

/// A session that fails twenty times within a few seconds.
fn hammering(id: &str) -> Log {
    let mut log = Log::new(id);
    log.turn().step();
    for _ in 0..20 {
        log.failed("SERVER", "502 Bad Gateway").retry(100);
    }
    log.cancelled();
    log
}

#[test]
fn retry_storm_fires() {
    let found = count("retry-storm", &mut [&mut hammering("a"), &mut hammering("b")]);
    assert_eq!(found, Some((38, "retries")));
}

#[test]
fn retry_storm_is_silent_for_one_session() {
    assert_eq!(count("retry-storm", &mut [&mut hammering("a")]), None);
}

const KEY: &str = r#"401 {"error":{"message":"Incorrect API key provided"}}"#;

#[test]
fn always_on_intrinsic_fires() {
    let mut log = Log::new("s");
    log.always().turn().step().failed("AUTH", KEY).retry(500).failed("AUTH", KEY).retry(1_000).cancelled();
    assert_eq!(count("always-on-intrinsic", &mut [&mut log]), Some((2, "retries")));
}

#[test]
fn always_on_intrinsic_is_silent_for_passing_faults() {
    let mut log = Log::new("s");
    log.always().turn().step().failed("SERVER", "502 Bad Gateway").retry(500).cancelled();
    assert_eq!(count("always-on-intrinsic", &mut [&mut log]), None);
}

/// A session that stops on a 502 while another goes on for three hours.
fn night(goes_on: bool) -> [Log; 2] {
    let (mut stopped, mut other) = (Log::new("a"), Log::new("b"));
    stopped.turn().step().ok(9_000).step().failed("SERVER", "502 Bad Gateway").gave_up();
    if goes_on {
        stopped.turn().step().ok(9_000);
    }
    other.at(START + 60_000).turn().step().ok(9_000).at(START + 3 * HOUR).step().ok(9_000);
    [stopped, other]
}

#[test]
fn autonomous_run_stopped_fires() {
    let [mut stopped, mut other] = night(false);
    assert_eq!(count("autonomous-run-stopped", &mut [&mut stopped, &mut other]), Some((1, "sessions")));
}

#[test]
fn autonomous_run_stopped_is_silent_where_somebody_went_on() {
    let [mut stopped, mut other] = night(true);
    assert_eq!(count("autonomous-run-stopped", &mut [&mut stopped, &mut other]), None);
}

fn idle(silence_ms: i64) -> Log {
    let mut log = Log::new("s");
    log.turn().step().wait(silence_ms).failed("TIMEOUT", "pi-ai stream idle timeout after 300000ms").gave_up();
    log
}

#[test]
fn idle_timeout_mismatch_fires() {
    assert_eq!(count("idle-timeout-mismatch", &mut [&mut idle(12_000)]), Some((1, "failed_steps")));
}

#[test]
fn idle_timeout_mismatch_is_silent_where_the_stream_was_silent() {
    assert_eq!(count("idle-timeout-mismatch", &mut [&mut idle(300_000)]), None);
}

fn broken_after(times: [i64; 5]) -> Log {
    let mut log = Log::new("s");
    for time in times {
        log.turn().step().wait(time).failed("TRANSPORT", "terminated").gave_up();
    }
    log
}

#[test]
fn deadline_cluster_fires() {
    let mut log = broken_after([300_000, 300_040, 300_100, 299_990, 300_010]);
    assert_eq!(count("deadline-cluster", &mut [&mut log]), Some((5, "failed_steps")));
}

#[test]
fn deadline_cluster_is_silent_where_times_differ() {
    let mut log = broken_after([20_000, 45_000, 300_100, 120_000, 80_000]);
    assert_eq!(count("deadline-cluster", &mut [&mut log]), None);
}

/// A step that a retry under this policy healed.
fn healed(id: &str, time: i64, retries: u64, first_ms: u64, longest_ms: u64) -> Log {
    let mut log = Log::new(id);
    let failure = json!({"message": "429", "code": "RATE_LIMIT"});
    log.at(time).route("deepseek-official", "chat", 1_000_000).turn().step().failed_with(failure.clone());
    let key = format!("[\"normal\",{retries},[\"RATE_LIMIT\"],{first_ms},{longest_ms},0.1]");
    log.event(
        "llm/retry",
        json!({
            "retryId": "r", "turn": 1, "step": 1, "provider": "deepseek-official", "mode": "normal", "policyKey": key,
            "retry": 1, "maxRetries": retries, "delayMs": first_ms, "failure": failure,
        }),
    );
    log.ok(900);
    log
}

#[test]
fn the_policy_of_the_failure_s_own_time_is_changed_and_not_a_later_one() {
    let mut early = healed("early", START - HOUR, 7, 700, 9_000);
    let mut late = healed("z-late", START + HOUR, 2, 40, 300);
    let sessions = &mut [&mut early, &mut told_to_wait(30_000), &mut late];
    let settings = find("retry-after-abandoned", &archive(sessions)).unwrap().settings.unwrap();
    assert!(settings.contains("initialDelayMs: 700") && settings.contains("maxRetries: 7"), "{settings}");
}
