use crate::policy::engine::jittered;
use crate::policy::fixes::JitterKind;
use crate::policy::model::{Backoff, RetryMode, RetryPolicy};
use crate::policy::schedule::{ScheduleEnd, duration_words, schedule, total_wait};
use crate::policy::semantics::{
    Decision, DelaySource, Failure, GiveUp, Mismatch, Recorded, decide, delay_range, local_delay, reproduces,
};

fn failure(code: &str, retry_after_ms: Option<f64>) -> Failure<'_> {
    Failure { code, retry_after_ms }
}

fn always() -> RetryPolicy {
    RetryPolicy { mode: RetryMode::Always, ..RetryPolicy::default() }
}

fn retry(retry: u64, delay_ms: f64, source: DelaySource) -> Decision {
    Decision::Retry { retry, delay_ms, source }
}

fn give_up(reason: GiveUp) -> Decision {
    Decision::GiveUp { reason }
}

#[test]
fn normal_filters_by_code_then_counts_then_looks_at_retry_after() {
    let policy = RetryPolicy::default();
    assert_eq!(decide(&policy, failure("AUTH", None), 0, 0.5), give_up(GiveUp::NotRetryable));
    assert_eq!(decide(&policy, failure("AUTH", None), 9, 0.5), give_up(GiveUp::NotRetryable));
    assert_eq!(decide(&policy, failure("SERVER", None), 0, 0.5), retry(1, 500.0, DelaySource::Backoff));
    assert_eq!(decide(&policy, failure("SERVER", None), 4, 0.5), retry(5, 8000.0, DelaySource::Backoff));
    assert_eq!(decide(&policy, failure("SERVER", None), 5, 0.5), give_up(GiveUp::BudgetSpent));
    assert_eq!(decide(&policy, failure("SERVER", Some(20_000.0)), 5, 0.5), give_up(GiveUp::BudgetSpent));
}

#[test]
fn retry_after_is_exact_up_to_the_cap_and_ends_normal_above_it() {
    let policy = RetryPolicy::default();
    assert_eq!(
        decide(&policy, failure("RATE_LIMIT", Some(10_000.0)), 0, 0.9),
        retry(1, 10_000.0, DelaySource::RetryAfter)
    );
    assert_eq!(decide(&policy, failure("RATE_LIMIT", Some(10_000.5)), 0, 0.9), give_up(GiveUp::RetryAfterTooLong));
    for unusable in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(
            decide(&policy, failure("RATE_LIMIT", Some(unusable)), 0, 0.5),
            retry(1, 500.0, DelaySource::Backoff)
        );
    }
}

#[test]
fn always_has_no_filter_no_end_and_ignores_long_retry_after() {
    assert_eq!(decide(&always(), failure("AUTH", None), 99, 0.5), retry(100, 10_000.0, DelaySource::Backoff));
    assert_eq!(decide(&always(), failure("AUTH", Some(30_000.0)), 0, 0.5), retry(1, 500.0, DelaySource::Backoff));
    assert_eq!(decide(&always(), failure("AUTH", Some(3000.0)), 0, 0.5), retry(1, 3000.0, DelaySource::RetryAfter));
}

#[test]
fn the_cap_applies_twice() {
    let policy = RetryPolicy::default();
    assert_eq!(delay_range(&policy, 1), (450.0, 550.0));
    assert_eq!(delay_range(&policy, 5), (7200.0, 8800.0));
    assert_eq!(delay_range(&policy, 6), (9000.0, 10_000.0));
    assert_eq!(local_delay(&policy.backoff, 6, 0.75), 10_000.0);
    // 2^1024 is infinite; the cap holds.
    assert_eq!(delay_range(&policy, u64::MAX), (9000.0, 10_000.0));
    let free = Backoff { initial_delay_ms: 100.0, max_delay_ms: 150.0, jitter_ratio: 1.0 };
    assert_eq!([0.0, 0.5, 1.0].map(|u| local_delay(&free, 1, u)), [0.0, 100.0, 150.0]);
}

#[test]
fn a_record_is_reproduced_or_the_disagreement_is_named() {
    let policy = RetryPolicy::default();
    let server = failure("SERVER", None);
    let retried = |retry, delay_ms| Recorded::Retried { retry, delay_ms };
    assert_eq!(reproduces(&policy, server, 0, retried(1, 450.0)), Ok(()));
    assert_eq!(reproduces(&policy, server, 5, Recorded::Surrendered), Ok(()));
    assert_eq!(
        reproduces(&policy, server, 0, retried(1, 449.9)),
        Err(Mismatch::OutsideRange { recorded_ms: 449.9, low_ms: 450.0, high_ms: 550.0 })
    );
    let messages: Vec<String> = [
        reproduces(&policy, server, 0, retried(2, 500.0)),
        reproduces(&policy, server, 0, Recorded::Surrendered),
        reproduces(&policy, server, 5, retried(6, 9500.0)),
        reproduces(&policy, failure("RATE_LIMIT", Some(2000.0)), 0, retried(1, 2000.5)),
        reproduces(&policy, server, 0, retried(1, 551.0)),
    ]
    .into_iter()
    .map(|result| result.unwrap_err().to_string())
    .collect();
    assert_eq!(
        messages,
        [
            "the log has retry 2, the policy makes retry 1",
            "the log has no retry, the policy makes retry 1: cancelled, recovered elsewhere, or another policy",
            "the log has retry 6, the policy gives up (all retries are spent)",
            "the log waits 2000.5 ms, Retry-After asks for 2000 ms",
            "the log waits 551 ms, the formula gives 450 to 550 ms",
        ]
    );
}

#[test]
fn the_default_gives_up_after_about_fifteen_and_a_half_seconds() {
    let table = schedule(&RetryPolicy::default(), 20, None);
    let rows: Vec<String> = table
        .rows
        .iter()
        .map(|row| {
            let words = [row.delay, row.cumulative]
                .map(|span| [span.min_ms, span.typical_ms, span.max_ms].map(duration_words).join(" / "));
            format!("{}: {}, in all {}", row.attempt, words[0], words[1])
        })
        .collect();
    assert_eq!(
        rows,
        [
            "1: 0 ms / 0 ms / 0 ms, in all 0 ms / 0 ms / 0 ms",
            "2: 450 ms / 500 ms / 550 ms, in all 450 ms / 500 ms / 550 ms",
            "3: 900 ms / 1 s / 1.1 s, in all 1.35 s / 1.5 s / 1.65 s",
            "4: 1.8 s / 2 s / 2.2 s, in all 3.15 s / 3.5 s / 3.85 s",
            "5: 3.6 s / 4 s / 4.4 s, in all 6.75 s / 7.5 s / 8.25 s",
            "6: 7.2 s / 8 s / 8.8 s, in all 13.95 s / 15.5 s / 17.05 s",
        ]
    );
    assert_eq!(table.end, ScheduleEnd::BudgetSpent);
    let old = RetryPolicy { max_retries: 2, ..RetryPolicy::default() };
    assert_eq!(total_wait(&old).unwrap().typical_ms, 1500.0);
}

#[test]
fn schedules_end_in_four_ways() {
    let policy = RetryPolicy { max_retries: 1000, ..RetryPolicy::default() };
    let ends = [
        schedule(&RetryPolicy::default(), 20, Some(3000.0)),
        schedule(&RetryPolicy::default(), 20, Some(30_000.0)),
        schedule(&always(), 4, Some(30_000.0)),
        schedule(&policy, 3, None),
    ]
    .map(|table| (table.rows.len(), table.rows.last().unwrap().cumulative.typical_ms, table.end));
    assert_eq!(
        ends,
        [
            (6, 15_000.0, ScheduleEnd::BudgetSpent),
            (1, 0.0, ScheduleEnd::RetryAfterTooLong),
            (4, 3500.0, ScheduleEnd::Endless),
            (3, 1500.0, ScheduleEnd::Cut),
        ]
    );
}

#[test]
fn total_wait_needs_no_table() {
    // 0.5 + 1 + 2 + 4 + 8 s, then 995 waits of 10 s (9 s at least).
    let policy = RetryPolicy { max_retries: 1000, ..RetryPolicy::default() };
    let wait = total_wait(&policy).unwrap();
    assert_eq!((wait.min_ms, wait.typical_ms, wait.max_ms), (8_968_950.0, 9_965_500.0, 9_967_050.0));
    assert!(total_wait(&RetryPolicy { max_retries: 1 << 53, ..policy }).is_some());
    assert_eq!(total_wait(&always()), None);
}

#[test]
fn durations_read_well() {
    let words = [0.4, 450.0, 999.6, 1350.0, 90_000.0, 120_000.0, 5_400_000.0, 9_965_500.0].map(duration_words);
    assert_eq!(words, ["0 ms", "450 ms", "1 s", "1.35 s", "90 s", "2 min", "90 min", "2.77 h"]);
}

#[test]
fn jitter_kinds_follow_their_formulas() {
    let backoff = Backoff::default();
    let at = |kind, retry, previous| [0.0, 0.5, 1.0].map(|u| jittered(kind, &backoff, retry, previous, u));
    assert_eq!(at(JitterKind::Harness, 2, None), [900.0, 1000.0, 1100.0]);
    assert_eq!(at(JitterKind::None, 2, None), [1000.0; 3]);
    assert_eq!(at(JitterKind::Full, 2, None), [0.0, 500.0, 1000.0]);
    assert_eq!(at(JitterKind::Equal, 2, None), [500.0, 750.0, 1000.0]);
    assert_eq!(at(JitterKind::Decorrelated, 1, None), [500.0, 1000.0, 1500.0]);
    assert_eq!(at(JitterKind::Decorrelated, 2, Some(1500.0)), [500.0, 2500.0, 4500.0]);
    assert_eq!(at(JitterKind::Decorrelated, 3, Some(9000.0)), [500.0, 10_000.0, 10_000.0]);
}
