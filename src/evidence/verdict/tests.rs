//! Every rule of the trial, from both sides of its threshold. Sessions are built as rows; the window is 100,000 tokens.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::evidence::test_rows::Rows;
use crate::session::{Fate, SessionRows, TokenMethod, Trigger};

const NO_BODY: &str = "400 status code (no body)";
const NAMES_OVERFLOW: &str = "Your input exceeds the context window of this model";
const POLICY: &str = r#"["normal",2,["EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],500,10000,0.1]"#;

/// The judgement of one attempt of the first session.
fn judge_in(sessions: &[SessionRows], attempt: usize) -> Judgement {
    Verdicts::of(sessions).get(0, attempt).unwrap().clone()
}

fn judge(rows: Rows, attempt: usize) -> Judgement {
    judge_in(&[rows.done()], attempt)
}

/// A lone failure whose size is exact, in a window of 100,000 tokens.
fn lone(tokens: u64, code: &str, message: &str) -> Judgement {
    let exact = |a: &mut AttemptRow| {
        let size = a.request.as_mut().unwrap().tokens.as_mut().unwrap();
        (size.low, size.high) = (tokens, tokens);
    };
    judge(Rows::new("s").failed(tokens, code, message).with(exact), 0)
}

fn core(judgement: &Judgement) -> (Verdict, SupportedCode, FixableBy) {
    (judgement.verdict, judgement.supported_code, judgement.fixable_by)
}

fn kinds(judgement: &Judgement) -> Vec<(&'static str, &'static str)> {
    judgement.facts.iter().map(|f| (f.kind, f.direction)).collect()
}

#[test]
fn a_silent_overflow_is_contradicted_by_a_fill_below_one_half_and_not_from_there_on() {
    let below = lone(49_999, OVERFLOW, NO_BODY);
    assert_eq!(core(&below), (Verdict::Contradicted, SupportedCode::Undetermined, FixableBy::Unknown));
    assert!(kinds(&below).contains(&("fill", "against")));
    let half = lone(50_000, OVERFLOW, NO_BODY);
    assert_eq!(core(&half), (Verdict::Undetermined, SupportedCode::Undetermined, FixableBy::Unknown));
    assert!(kinds(&half).contains(&("fill", "neutral")));
}

#[test]
fn the_reserved_output_counts_into_the_fill() {
    let with = |reserved| judge(Rows::new("s").reserved(reserved).failed(45_000, OVERFLOW, NO_BODY), 0).verdict;
    assert_eq!((with(1_000), with(10_000)), (Verdict::Contradicted, Verdict::Undetermined));
}

#[test]
fn an_overflow_wording_is_supported_by_itself_above_97_percent() {
    let at = lone(97_001, OVERFLOW, NAMES_OVERFLOW);
    assert_eq!((at.verdict, at.confidence), (Verdict::Supported, 0.95));
    assert!(kinds(&at).contains(&("fill", "for")));
    // At the threshold the wording alone speaks.
    let below = lone(97_000, OVERFLOW, NAMES_OVERFLOW);
    assert_eq!((below.verdict, below.confidence), (Verdict::Supported, 0.6));
    assert_eq!(below.supported_code, SupportedCode::ContextWindowExceeded);
}

#[test]
fn a_silent_text_at_a_full_window_stays_undetermined() {
    let full = lone(120_000, OVERFLOW, NO_BODY);
    assert_eq!(core(&full), (Verdict::Undetermined, SupportedCode::Undetermined, FixableBy::Unknown));
}

#[test]
fn an_identical_request_that_succeeded_later_contradicts_whatever_the_fill() {
    let judged = judge(Rows::new("s").failed(99_000, OVERFLOW, NO_BODY).ok(99_000), 0);
    assert_eq!(core(&judged), (Verdict::Contradicted, SupportedCode::GatewayFault, FixableBy::Time));
    assert_eq!(judged.confidence, 0.95);
    assert!(kinds(&judged).contains(&("identical-request", "against")));
    let named = judge(Rows::new("s").failed(99_000, OVERFLOW, NAMES_OVERFLOW).ok(99_000), 0);
    assert_eq!((named.verdict, named.supported_code), (Verdict::Contradicted, SupportedCode::GatewayFault));
}

#[test]
fn a_success_on_another_route_is_no_witness() {
    let judged = judge(
        Rows::new("s").failed(70_000, OVERFLOW, NO_BODY).route("gateway", "huge", Some(400_000)).ok(70_000).ok(90_000),
        0,
    );
    assert_eq!(judged.verdict, Verdict::Undetermined);
    let other_window = Rows::new("s").failed(70_000, OVERFLOW, NO_BODY).route("gateway", "large", Some(400_000));
    // The same model with another window sends to something else.
    assert_eq!(judge(other_window.ok(90_000), 0).verdict, Verdict::Undetermined);
}

#[test]
fn a_larger_success_before_or_after_and_in_any_session_contradicts_a_silent_overflow() {
    let contradicted = (Verdict::Contradicted, SupportedCode::GatewayFault, FixableBy::Time);
    let failing = || Rows::new("a").failed(70_000, OVERFLOW, NO_BODY);
    assert_eq!(core(&judge(failing().ok(90_000), 0)), contradicted);
    assert_eq!(core(&judge(Rows::new("a").ok(90_000).failed(70_000, OVERFLOW, NO_BODY), 1)), contradicted);
    assert_eq!(core(&judge_in(&[failing().done(), Rows::new("b").ok(90_000).done()], 0)), contradicted);
    // 70,700 is the upper end of the estimate: less does not show that it would have fitted.
    let smaller = judge_in(&[failing().done(), Rows::new("b").ok(70_699).done()], 0);
    assert_eq!(smaller.verdict, Verdict::Undetermined);
}

#[test]
fn a_report_that_is_not_trusted_is_no_witness() {
    let untrusted = Rows::new("a").failed(70_000, OVERFLOW, NO_BODY).ok(90_000).with(|a| a.usage_untrusted = true);
    assert_eq!(judge(untrusted, 0).verdict, Verdict::Undetermined);
}

#[test]
fn where_the_window_is_unknown_comparisons_alone_decide() {
    let unknown = || Rows::new("s").route("gateway", "large", None);
    assert_eq!(judge(unknown().failed(20_000, OVERFLOW, NO_BODY), 0).verdict, Verdict::Undetermined);
    assert_eq!(judge(unknown().failed(20_000, OVERFLOW, NO_BODY).ok(30_000), 0).verdict, Verdict::Contradicted);
    let named = judge(unknown().failed(20_000, OVERFLOW, NAMES_OVERFLOW), 0);
    assert_eq!((named.verdict, named.confidence), (Verdict::Supported, 0.6));
    assert!(!kinds(&named).iter().any(|(kind, _)| *kind == "fill"));
}

#[test]
fn numbers_in_the_text_support_where_they_fit_the_rebuilt_request() {
    let text = "This model's maximum context length is 60000 tokens. However, you requested 64000 tokens";
    let judged = judge(Rows::new("s").failed(62_000, OVERFLOW, text), 0);
    assert_eq!((judged.verdict, judged.confidence), (Verdict::Supported, 0.95));
    for fact in [("numbers", "for"), ("stated-size", "for"), ("stated-window", "neutral")] {
        assert!(kinds(&judged).contains(&fact), "{fact:?}");
    }
}

#[test]
fn numbers_in_the_text_count_nothing_where_they_are_about_something_else() {
    let text = "This model's maximum context length is 60000 tokens. However, you requested 64000 tokens";
    let judged = judge(Rows::new("s").failed(5_000, OVERFLOW, text).ok(30_000), 0);
    assert_eq!(core(&judged), (Verdict::Contradicted, SupportedCode::GatewayFault, FixableBy::Time));
    assert!(kinds(&judged).contains(&("stated-size", "against")));
    // A size that is itself a guess is no ground to disbelieve a provider that counts.
    let guessed = Rows::new("s").failed(5_000, OVERFLOW, text).with(|a| {
        a.request.as_mut().unwrap().tokens.as_mut().unwrap().method = TokenMethod::Counted;
    });
    assert_eq!(judge(guessed, 0).verdict, Verdict::Supported);
}

#[test]
fn a_named_overflow_far_below_the_window_is_contradicted_and_a_larger_success_says_why() {
    let judged = judge(Rows::new("s").failed(20_000, OVERFLOW, NAMES_OVERFLOW), 0);
    assert_eq!(core(&judged), (Verdict::Contradicted, SupportedCode::Undetermined, FixableBy::Unknown));
    let larger = judge(Rows::new("s").failed(20_000, OVERFLOW, NAMES_OVERFLOW).ok(40_000), 0);
    assert_eq!(core(&larger), (Verdict::Contradicted, SupportedCode::GatewayFault, FixableBy::Time));
    // In between, a larger success makes the wording doubtful, no more.
    let between = judge(Rows::new("s").failed(60_000, OVERFLOW, NAMES_OVERFLOW).ok(80_000), 0);
    assert_eq!(between.verdict, Verdict::Undetermined);
}

#[test]
fn an_overflow_code_on_a_text_about_something_else_is_contradicted() {
    let judged = lone(60_000, OVERFLOW, "429 Too many requests");
    assert_eq!(core(&judged), (Verdict::Contradicted, SupportedCode::RateLimit, FixableBy::Time));
}

#[test]
fn failures_above_a_size_and_successes_below_show_a_hidden_limit() {
    let rows = |last: u64| {
        let sent = Rows::new("s").ok(40_000).failed(70_000, OVERFLOW, NO_BODY).ok(50_000);
        sent.failed(72_000, OVERFLOW, NO_BODY).failed(74_000, OVERFLOW, NO_BODY).ok(last)
    };
    let limit = judge(rows(60_000), 1);
    assert_eq!(core(&limit), (Verdict::Supported, SupportedCode::ContextWindowExceeded, FixableBy::Request));
    assert!(kinds(&limit).contains(&("hidden-limit", "for")));
    // Without a success after the first failure an outage at the end looks the same.
    let outage = Rows::new("s").ok(30_000).ok(40_000).ok(50_000).failed(70_000, OVERFLOW, NO_BODY);
    let outage = outage.failed(72_000, OVERFLOW, NO_BODY).failed(74_000, OVERFLOW, NO_BODY);
    assert_eq!(judge(outage, 3).verdict, Verdict::Undetermined);
}

#[test]
fn a_text_that_mostly_meets_smaller_requests_is_not_about_size() {
    // 70,500 lies within the estimate of the last failure: nothing shows that it was smaller.
    let rows = Rows::new("s").ok(70_500).failed(52_000, OVERFLOW, NO_BODY).failed(54_000, OVERFLOW, NO_BODY);
    let judged = judge(rows.failed(70_600, OVERFLOW, NO_BODY), 3);
    assert_eq!(core(&judged), (Verdict::Contradicted, SupportedCode::GatewayFault, FixableBy::Time));
    assert_eq!(judged.confidence, 0.6);
    // Larger than every success: the others say nothing about it.
    let rows = Rows::new("s").ok(70_500).failed(52_000, OVERFLOW, NO_BODY).failed(54_000, OVERFLOW, NO_BODY);
    assert_eq!(judge(rows.failed(90_000, OVERFLOW, NO_BODY), 3).verdict, Verdict::Undetermined);
}

#[test]
fn a_compaction_that_helped_is_told_and_repeated_failures_of_the_request_count() {
    let recovered = |a: &mut AttemptRow| a.fate = Some(Fate::RecoveredByCompaction);
    let once = Rows::new("s").failed(60_000, OVERFLOW, NO_BODY).with(recovered).compaction(Trigger::Overflow, 40_000);
    assert!(kinds(&judge(once.ok(20_000), 0)).contains(&("after-compaction", "neutral")));
    let twice = Rows::new("s").failed(60_000, OVERFLOW, NO_BODY).with(recovered).same_step();
    let twice = twice.failed(60_000, OVERFLOW, NO_BODY).with(recovered).compaction(Trigger::Overflow, 40_000);
    assert!(kinds(&judge(twice.ok(20_000), 1)).contains(&("after-compaction", "for")));
}

#[test]
fn fallback_codes_are_uninformative_not_wrong() {
    let named = lone(20_000, "PI_AI_ERROR", "websocket: close 1006 (abnormal closure): unexpected EOF");
    assert_eq!(core(&named), (Verdict::Uninformative, SupportedCode::Transport, FixableBy::Time));
    for code in ["PI_AI_ERROR", "UNKNOWN", "HTTP_418"] {
        let silent = lone(20_000, code, "something odd");
        assert_eq!(core(&silent), (Verdict::Uninformative, SupportedCode::Undetermined, FixableBy::Unknown), "{code}");
    }
}

#[test]
fn a_text_agrees_with_its_code_or_names_another() {
    for (code, text, fixable_by) in [
        ("RATE_LIMIT", "429 Too many requests", FixableBy::Time),
        ("AUTH", "401 Incorrect API key provided", FixableBy::Account),
        ("TIMEOUT", "stream idle timeout after 300000ms", FixableBy::Time),
    ] {
        let judged = lone(20_000, code, text);
        assert_eq!((judged.verdict, judged.fixable_by), (Verdict::Supported, fixable_by), "{text}");
        assert_eq!(judged.supported_code.as_str(), code);
    }
    let wrong = lone(20_000, "INVALID_REQUEST", "413: {\"message\":\"Request body too large\"}");
    assert_eq!(core(&wrong), (Verdict::Contradicted, SupportedCode::BodyTooLarge, FixableBy::BodySize));
    let user = lone(20_000, "INVALID_REQUEST", "400: {\"message\":\"Unknown parameter: context_window\"}");
    assert_eq!((user.verdict, user.fixable_by), (Verdict::Supported, FixableBy::Request));
    let config = lone(20_000, "INVALID_REQUEST", "404: {\"message\":\"The model does not exist\"}");
    assert_eq!(config.fixable_by, FixableBy::Config);
}

#[test]
fn passing_faults_support_one_another() {
    assert_eq!(lone(20_000, "TRANSPORT", "502 Bad Gateway").verdict, Verdict::Supported);
    assert_eq!(lone(20_000, "SERVER", "connection reset by peer").verdict, Verdict::Supported);
}

#[test]
fn a_silent_invalid_request_is_contradicted_by_an_identical_success_alone() {
    let judged = judge(Rows::new("s").failed(20_000, "INVALID_REQUEST", NO_BODY).ok(20_000), 0);
    assert_eq!(core(&judged), (Verdict::Contradicted, SupportedCode::GatewayFault, FixableBy::Time));
    assert_eq!(
        judge(Rows::new("s").failed(20_000, "INVALID_REQUEST", NO_BODY).ok(30_000), 0).verdict,
        Verdict::Undetermined
    );
}

#[test]
fn a_quota_that_heals_within_the_hour_was_no_empty_account() {
    let quota = || Rows::new("s").failed(20_000, "QUOTA", "402: {\"message\":\"Insufficient Balance\"}");
    assert_eq!(core(&judge(quota(), 0)).2, FixableBy::Account);
    let healed = judge(quota().ok(21_000), 0);
    assert_eq!((healed.verdict, healed.fixable_by), (Verdict::Undetermined, FixableBy::Time));
    assert_eq!(judge(quota().wait(3_600_000).ok(21_000), 0).verdict, Verdict::Supported);
}

#[test]
fn a_deadline_and_a_silence_are_told() {
    let timed = |ms: i64, gap: i64| {
        let rows = Rows::new("s").failed(20_000, "TIMEOUT", "stream idle timeout after 300000ms");
        kinds(&judge(rows.with(|a| (a.ready_time, a.longest_gap_ms) = (a.time.map(|t| t - ms), gap)), 0))
    };
    assert!(timed(300_400, 299_000).contains(&("deadline", "for")));
    assert!(timed(300_400, 299_000).contains(&("silence", "for")));
    assert!(!timed(310_000, 10).iter().any(|(kind, _)| matches!(*kind, "deadline" | "silence")));
}

#[test]
fn neighbours_that_fail_in_the_same_minute_are_told() {
    let failing = |id: &str| Rows::new(id).failed(20_000, "SERVER", "502 Bad Gateway").done();
    let together = judge_in(&[failing("a"), failing("b"), failing("c")], 0);
    assert!(kinds(&together).contains(&("neighbours", "for")));
    let later = |id: &str| Rows::new(id).wait(70_000).failed(20_000, "SERVER", "502 Bad Gateway").done();
    let apart = judge_in(&[failing("a"), later("b"), later("c")], 0);
    assert!(!kinds(&apart).iter().any(|(kind, _)| *kind == "neighbours"));
}

#[test]
fn layers_name_what_stood_in_the_way() {
    let layers = |rows: Rows, attempt| judge(rows, attempt).layers;
    // L1: the code is wrong, and as it stands is not retried.
    assert_eq!(layers(Rows::new("s").failed(20_000, OVERFLOW, NO_BODY), 0), ["L1", "L5"]);
    // No L1 where the right code would not be retried either.
    let account = Rows::new("s").failed(20_000, "PI_AI_ERROR", "402: {\"message\":\"Insufficient Balance\"}");
    assert_eq!(layers(account, 0), ["L5"]);
    // L2: a wait was cut off and still counted; L3: the count was spent.
    let server = |rows: Rows| rows.failed(20_000, "SERVER", "502 Bad Gateway");
    let spent = server(server(server(Rows::new("s")).retry(POLICY, 500.0, true)).retry(POLICY, 1_000.0, true));
    assert_eq!(layers(spent, 2), ["L3", "L5"]);
    let cut = server(server(server(Rows::new("s")).retry(POLICY, 500.0, false)).retry(POLICY, 1_000.0, true));
    assert_eq!(layers(cut, 2), ["L2", "L3", "L5"]);
    // L4: the provider asked for a longer wait than the policy takes, or the adapter did not pass it on.
    let limited = |text: &str| Rows::new("s").failed(20_000, "RATE_LIMIT", text);
    let asked = limited("429 Too many requests").with(|a| a.failure.as_mut().unwrap().retry_after_ms = Some(30_000.0));
    assert_eq!(layers(asked, 0), ["L4", "L5"]);
    assert_eq!(layers(limited("429 rate limit reached, try again in 20s"), 0), ["L3", "L4", "L5"]);
    // Where a retry followed, or the chain recovered, nothing stood in the way.
    assert_eq!(layers(server(server(Rows::new("s")).retry(POLICY, 500.0, true)), 0), [""; 0]);
}

#[test]
fn the_policy_of_the_log_decides_about_layers() {
    let own = r#"["normal",2,["CONTEXT_WINDOW_EXCEEDED"],500,10000,0.1]"#;
    let fail = |rows: Rows| rows.failed(20_000, OVERFLOW, NO_BODY);
    let rows = fail(fail(fail(Rows::new("s")).retry(own, 500.0, true)).retry(own, 1_000.0, true));
    // This policy retries the wrong code, so the classification stood in nobody's way.
    assert_eq!(judge(rows, 2).layers, ["L3", "L5"]);
}
