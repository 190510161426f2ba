use crate::policy::edits::parse_candidate;
use crate::policy::engine::{
    ChainState, FailedAttempt, FixedDecision, FixedDelaySource, FixedGiveUp, RouteState, decide_with_fixes,
    effective_code,
};
use crate::policy::fixes::Candidate;
use crate::policy::model::{RetryMode, RetryPolicy};
use crate::policy::semantics::{Decision, DelaySource, Failure, GiveUp, decide};

fn candidate(expression: &str) -> Candidate {
    parse_candidate(expression, &|_| None).unwrap()
}

fn attempt(code: &str) -> FailedAttempt<'_> {
    FailedAttempt {
        code,
        retry_after_ms: None,
        hidden_retry_after_ms: None,
        bodyless_client_error: false,
        fill: None,
        now_ms: 0.0,
        elapsed_ms: 0.0,
        previous_retry: 0,
        cancelled_retries: 0,
    }
}

fn once(expression: &str, attempt: FailedAttempt<'_>) -> FixedDecision {
    decide_with_fixes(&candidate(expression), &attempt, &mut ChainState::default(), &mut RouteState::default(), 0.5)
}

fn retry(retry: u64, delay_ms: f64, source: FixedDelaySource) -> FixedDecision {
    FixedDecision::Retry { retry, delay_ms, source }
}

fn give_up(reason: FixedGiveUp) -> FixedDecision {
    FixedDecision::GiveUp { reason }
}

#[test]
fn without_switches_it_is_the_harness() {
    let policies = [
        RetryPolicy::default(),
        RetryPolicy { max_retries: 2, ..RetryPolicy::default() },
        RetryPolicy { mode: RetryMode::Always, ..RetryPolicy::default() },
    ];
    let waits = [None, Some(0.0), Some(3000.0), Some(10_000.0), Some(30_000.0)];
    for policy in policies {
        let plain = Candidate::plain("x", "test", policy.clone());
        for code in ["SERVER", "AUTH", "CONTEXT_WINDOW_EXCEEDED"] {
            for retry_after_ms in waits {
                for (previous_retry, u) in [(0, 0.0), (1, 0.3), (2, 0.7), (5, 1.0), (9, 0.5)] {
                    let attempt = FailedAttempt {
                        retry_after_ms,
                        hidden_retry_after_ms: Some(1.0),
                        bodyless_client_error: true,
                        fill: Some(0.01),
                        previous_retry,
                        cancelled_retries: 1,
                        ..attempt(code)
                    };
                    let fixed =
                        decide_with_fixes(&plain, &attempt, &mut ChainState::default(), &mut RouteState::default(), u);
                    let expected = match decide(&policy, Failure { code, retry_after_ms }, previous_retry, u) {
                        Decision::Retry { retry: number, delay_ms, source: DelaySource::RetryAfter } => {
                            retry(number, delay_ms, FixedDelaySource::RetryAfter)
                        }
                        Decision::Retry { retry: number, delay_ms, source: DelaySource::Backoff } => {
                            retry(number, delay_ms, FixedDelaySource::Backoff)
                        }
                        Decision::GiveUp { reason } => give_up(FixedGiveUp::Policy(reason)),
                    };
                    assert_eq!(fixed, expected);
                }
            }
        }
    }
}

/// Spec 2.1: exposing Retry-After (L4a) before the policy can wait longer (L4b) turns 2 useless attempts into 0.
#[test]
fn exposing_retry_after_alone_makes_it_worse() {
    let limited = FailedAttempt { hidden_retry_after_ms: Some(30_000.0), ..attempt("RATE_LIMIT") };
    let retries = |expression: &str| {
        let candidate = candidate(expression);
        let (mut chain, mut route) = (ChainState::default(), RouteState::default());
        let mut waits = Vec::new();
        while let FixedDecision::Retry { delay_ms, .. } = decide_with_fixes(
            &candidate,
            &FailedAttempt { previous_retry: waits.len() as u64, ..limited },
            &mut chain,
            &mut route,
            0.5,
        ) {
            waits.push(delay_ms);
        }
        waits
    };
    let today = "dsh-default@0.1.0-rc.7";
    assert_eq!(retries(today), [500.0, 1000.0]);
    assert_eq!(retries("dsh-default@0.1.0-rc.7 + expose-retry-after"), Vec::<f64>::new());
    assert_eq!(retries("dsh-default@0.1.0-rc.7 + expose-retry-after + retry-after-cap 120s"), [30_000.0, 30_000.0]);
    assert_eq!(retries("dsh-default@0.1.0-rc.7 + expose-retry-after + clamp"), [10_000.0, 10_000.0]);
    assert_eq!(retries("dsh-default@0.1.0-rc.7 + expose-retry-after + ignore-retry-after"), [500.0, 1000.0]);
}

#[test]
fn labels_are_repaired_before_the_policy_sees_them() {
    let bodyless = FailedAttempt { bodyless_client_error: true, ..attempt("CONTEXT_WINDOW_EXCEEDED") };
    let at = |fill| FailedAttempt { fill, ..attempt("CONTEXT_WINDOW_EXCEEDED") };
    let backoff = retry(1, 500.0, FixedDelaySource::Backoff);
    let not_retried = give_up(FixedGiveUp::Policy(GiveUp::NotRetryable));
    assert_eq!(once("dsh-default", bodyless), not_retried);
    assert_eq!(once("dsh-default + gateway-503", bodyless), backoff);
    assert_eq!(once("dsh-default + gateway-503", at(None)), not_retried);
    assert_eq!(once("dsh-default + evidence-guard 0.5", at(Some(0.3))), backoff);
    assert_eq!(once("dsh-default + evidence-guard 0.5", at(Some(0.5))), not_retried);
    assert_eq!(once("dsh-default + evidence-guard 0.5", at(None)), not_retried);
    let guard = candidate("dsh-default + evidence-guard 0.5").fixes;
    assert_eq!(effective_code(&guard, &FailedAttempt { fill: Some(0.1), ..attempt("QUOTA") }), "QUOTA");
}

#[test]
fn a_time_budget_replaces_the_count_and_has_two_meanings() {
    let late = |elapsed_ms, previous_retry| FailedAttempt { elapsed_ms, previous_retry, ..attempt("SERVER") };
    let spent = give_up(FixedGiveUp::TimeSpent);
    let long = retry(21, 10_000.0, FixedDelaySource::Backoff);
    assert_eq!(once("dsh-default + time-budget 5m", late(299_999.0, 20)), long);
    assert_eq!(once("dsh-default + time-budget 5m", late(300_000.0, 20)), spent);
    assert_eq!(once("dsh-default + time-budget 5m before", late(289_999.0, 20)), long);
    assert_eq!(once("dsh-default + time-budget 5m before", late(290_000.0, 20)), spent);
    assert_eq!(
        once("dsh-default + time-budget 5m keep-count", late(1000.0, 5)),
        give_up(FixedGiveUp::Policy(GiveUp::BudgetSpent))
    );
}

#[test]
fn cancelled_waits_can_be_left_out_of_the_count() {
    let cancelled = FailedAttempt { previous_retry: 5, cancelled_retries: 4, ..attempt("SERVER") };
    assert_eq!(once("dsh-default", cancelled), give_up(FixedGiveUp::Policy(GiveUp::BudgetSpent)));
    assert_eq!(once("dsh-default + uncounted-cancelled", cancelled), retry(2, 1000.0, FixedDelaySource::Backoff));
}

#[test]
fn always_can_have_a_filter() {
    let backoff = retry(1, 500.0, FixedDelaySource::Backoff);
    let filtered = give_up(FixedGiveUp::Filtered);
    assert_eq!(once("dsh-always + always-except intrinsic", attempt("AUTH")), filtered);
    assert_eq!(once("dsh-always + always-except intrinsic", attempt("SERVER")), backoff);
    assert_eq!(once("dsh-always + always-only SERVER,TIMEOUT", attempt("RATE_LIMIT")), filtered);
    assert_eq!(once("dsh-default + always-only TIMEOUT", attempt("SERVER")), backoff);
}

#[test]
fn fail_over_comes_after_a_count_or_where_the_policy_gives_up() {
    let (mut chain, mut route) = (ChainState::default(), RouteState::default());
    let two = candidate("dsh-default + fail-over b,c after 2");
    let mut step = |code| decide_with_fixes(&two, &attempt(code), &mut chain, &mut route, 0.5);
    let to = |route: &str| FixedDecision::FailOver { route: route.to_owned() };
    assert_eq!(
        [step("SERVER"), step("SERVER"), step("AUTH"), step("AUTH"), step("SERVER")],
        [
            retry(1, 500.0, FixedDelaySource::Backoff),
            to("b"),
            to("c"),
            give_up(FixedGiveUp::Policy(GiveUp::NotRetryable)),
            retry(1, 500.0, FixedDelaySource::Backoff),
        ]
    );
}

#[test]
fn a_token_bucket_is_shared_and_filled_by_success() {
    let bucket = candidate("dsh-default + token-bucket 12 5 10 1");
    let (mut chain, mut route) = (ChainState::default(), RouteState::default());
    let fail = |chain: &mut ChainState, route: &mut RouteState, code| {
        matches!(decide_with_fixes(&bucket, &attempt(code), chain, route, 0.5), FixedDecision::Retry { .. })
    };
    assert!(fail(&mut chain, &mut route, "SERVER"));
    assert!(!fail(&mut chain, &mut route, "TIMEOUT"));
    assert!(fail(&mut chain, &mut route, "SERVER"));
    assert!(!fail(&mut chain, &mut route, "SERVER"));
    // The retry that succeeds returns its price, a first attempt one token.
    route.on_success(&bucket.fixes, &ChainState { last_cost: 5.0, ..ChainState::default() });
    assert!(fail(&mut chain, &mut route, "SERVER"));
    for _ in 0..3 {
        route.on_success(&bucket.fixes, &ChainState::default());
    }
    assert!(fail(&mut chain, &mut route, "SERVER"));
    assert!(!fail(&mut chain, &mut route, "SERVER"));
}

#[test]
fn a_ratio_budget_counts_a_sliding_window() {
    let ratio = candidate("dsh-default + retry-ratio 0.2 10s 0");
    let (mut chain, mut route) = (ChainState::default(), RouteState::default());
    for _ in 0..10 {
        route.on_attempt(&ratio.fixes, 0.0);
    }
    let mut at = |now_ms| {
        let attempt = FailedAttempt { now_ms, ..attempt("SERVER") };
        decide_with_fixes(&ratio, &attempt, &mut chain, &mut route, 0.5)
    };
    let backoff = retry(1, 500.0, FixedDelaySource::Backoff);
    let spent = give_up(FixedGiveUp::RetryBudgetSpent);
    assert_eq!([at(1.0), at(2.0), at(3.0), at(20_000.0)], [backoff.clone(), backoff, spent.clone(), spent]);
}

#[test]
fn a_breaker_opens_after_failures_in_a_row_and_lets_a_trial_through() {
    let run = |expression: &str| {
        let breaker = candidate(expression);
        let (mut chain, mut route) = (ChainState::default(), RouteState::default());
        [0.0, 100.0, 31_000.0].map(|now_ms| {
            let attempt = FailedAttempt { now_ms, ..attempt("SERVER") };
            decide_with_fixes(&breaker, &attempt, &mut chain, &mut route, 0.5)
        })
    };
    let backoff = retry(1, 500.0, FixedDelaySource::Backoff);
    let open = give_up(FixedGiveUp::BreakerOpen);
    assert_eq!(run("dsh-default + breaker 2 30s"), [backoff.clone(), open.clone(), open]);
    let wait = |ms| retry(1, ms, FixedDelaySource::Breaker);
    assert_eq!(run("dsh-default + breaker 2 30s wait"), [backoff, wait(30_000.0), wait(30_000.0)]);
}
