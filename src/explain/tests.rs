//! One failure explained, on sessions built as rows.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::evidence::test_rows::Rows;
use crate::evidence::verdict::layers::PolicySource;
use crate::policy::Decision;
use crate::policy::semantics::GiveUp;
use crate::session::{Fate, OVERFLOW, Trigger};

const NO_BODY: &str = "400 status code (no body)";
const TWO_RETRIES: &str =
    r#"["normal",2,["EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],500,10000,0.1]"#;

fn archive(sessions: Vec<Rows>) -> Dataset {
    Dataset { sessions: sessions.into_iter().map(Rows::done).collect(), ..Dataset::default() }
}

fn with_explanation(dataset: &Dataset, place: (usize, usize), look: impl FnOnce(&Explanation<'_>)) {
    let verdicts = Verdicts::of(&dataset.sessions);
    look(&explain(dataset, &verdicts, place, &Versions::default()).unwrap());
}

fn effect_of(explained: &Explanation<'_>, edit: &str) -> Effect {
    explained.repairs.iter().find(|r| r.edit == edit).unwrap_or_else(|| panic!("no repair {edit}")).effect
}

fn interesting(dataset: &Dataset) -> Option<(usize, usize)> {
    most_interesting(dataset, &Verdicts::of(&dataset.sessions), None)
}

#[test]
fn a_target_is_a_session_with_or_without_a_seq() {
    let target = |session: &str, seq| Target { session: session.to_owned(), seq };
    assert_eq!(Target::parse("e4-72e9:486"), target("e4-72e9", Some(486)));
    assert_eq!(Target::parse("e4-72e9"), target("e4-72e9", None));
    assert_eq!(Target::parse("a:b"), target("a:b", None));
}

#[test]
fn a_session_is_found_by_its_beginning_and_a_slip_is_answered_with_the_nearest() {
    let dataset = archive(vec![
        Rows::new("night-shift-1").failed(20_000, OVERFLOW, NO_BODY),
        Rows::new("night-shift-2").ok(20_000),
        Rows::new("morning").failed(20_000, "SERVER", "502"),
    ]);
    let verdicts = Verdicts::of(&dataset.sessions);
    let find = |text: &str| Target::parse(text).find(&dataset, &verdicts).map_err(|e| e.to_string());
    assert_eq!(find("morn"), Ok((2, 0)));
    assert_eq!(find("night-shift-1:10"), Ok((0, 0)));
    assert!(find("night").unwrap_err().contains("2 session ids begin"));
    assert!(find("mornung").unwrap_err().contains("morning"));
    assert!(find("night-shift-2").unwrap_err().contains("no failed attempt"));
    assert!(find("morning:99").unwrap_err().contains("explain morning:10"));
}

#[test]
fn the_most_interesting_failure_is_contradicted_then_costly() {
    let dataset = archive(vec![
        Rows::new("a").failed(90_000, "AUTH", "401 Incorrect API key provided"),
        Rows::new("b").failed(10_000, OVERFLOW, NO_BODY),
        Rows::new("c").failed(30_000, OVERFLOW, NO_BODY).ok(80_000),
    ]);
    assert_eq!(interesting(&dataset), Some((2, 0)));
    assert_eq!(interesting(&archive(vec![Rows::new("a").ok(5)])), None);
}

#[test]
fn of_one_chain_the_attempt_that_was_given_up_is_told() {
    let fail = |rows: Rows| rows.failed(20_000, "SERVER", "502 Bad Gateway");
    let dataset = archive(vec![fail(fail(Rows::new("s")).retry(TWO_RETRIES, 500.0, true))]);
    assert_eq!(interesting(&dataset), Some((0, 1)));
}

#[test]
fn a_code_that_is_not_retried_gets_the_setting_that_retries_it() {
    let dataset = archive(vec![Rows::new("s").failed(20_000, OVERFLOW, NO_BODY).ok(30_000)]);
    with_explanation(&dataset, (0, 0), |explained| {
        assert_eq!(explained.decision.source, PolicySource::Assumed);
        assert_eq!(explained.decision.decision, Decision::GiveUp { reason: GiveUp::NotRetryable });
        // The route answered 10 s later; five retries of the default backoff last 15.5 s.
        let answered = Chance::Answered { after_ms: 10_000, identical: false };
        let expected = Effect::Retries { delay_ms: 500.0, chance: answered };
        assert_eq!(effect_of(explained, "retry CONTEXT_WINDOW_EXCEEDED"), expected);
        assert_eq!(effect_of(explained, "gateway-503"), expected);
        let settings = explained.advice.settings.as_deref().unwrap();
        assert!(settings.contains("- CONTEXT_WINDOW_EXCEEDED") && settings.contains("- RATE_LIMIT"), "{settings}");
    });
}

#[test]
fn where_the_log_shows_no_answer_in_time_the_outcome_cannot_be_known() {
    let later = archive(vec![Rows::new("s").failed(20_000, "PI_AI_ERROR", "odd").wait(60_000).ok(30_000)]);
    with_explanation(&later, (0, 0), |explained| {
        let effect = effect_of(explained, "retry PI_AI_ERROR");
        assert!(
            matches!(effect, Effect::Retries { chance: Chance::AnsweredLater { after_ms: 70_000, .. }, .. }),
            "{effect:?}"
        );
    });
    let never = archive(vec![Rows::new("s").failed(20_000, "PI_AI_ERROR", "odd")]);
    with_explanation(&never, (0, 0), |explained| {
        assert!(matches!(effect_of(explained, "mode always"), Effect::Retries { chance: Chance::Unknown, .. }));
    });
    // A smaller answer says little while the size may be the cause.
    let smaller = archive(vec![Rows::new("s").failed(70_000, OVERFLOW, NO_BODY).ok(5_000)]);
    with_explanation(&smaller, (0, 0), |explained| {
        let effect = effect_of(explained, "retry CONTEXT_WINDOW_EXCEEDED");
        assert!(matches!(effect, Effect::Retries { chance: Chance::AnsweredSmaller { .. }, .. }), "{effect:?}");
    });
}

#[test]
fn an_empty_account_is_not_saved_by_any_retry() {
    let dataset = archive(vec![Rows::new("s").failed(20_000, "QUOTA", "402: {\"message\":\"Insufficient Balance\"}")]);
    with_explanation(&dataset, (0, 0), |explained| {
        assert!(matches!(effect_of(explained, "retry QUOTA"), Effect::Retries { chance: Chance::FailsAgain, .. }));
        assert_eq!(explained.advice.settings, None);
    });
}

#[test]
fn a_long_retry_after_asks_for_a_longer_cap() {
    let asked = |rows: Rows| rows.with(|a| a.failure.as_mut().unwrap().retry_after_ms = Some(90_000.0));
    let dataset = archive(vec![asked(Rows::new("s").failed(20_000, "RATE_LIMIT", "429 Too many requests"))]);
    with_explanation(&dataset, (0, 0), |explained| {
        assert_eq!(explained.decision.decision, Decision::GiveUp { reason: GiveUp::RetryAfterTooLong });
        assert!(explained.advice.settings.as_deref().unwrap().contains("maxDelayMs: 120000"));
        let Effect::Retries { delay_ms, .. } = effect_of(explained, "maxDelayMs 120000") else { panic!("no retry") };
        assert_eq!(delay_ms, 90_000.0);
    });
}

#[test]
fn a_spent_budget_is_read_from_the_log_and_enlarged() {
    let fail = |rows: Rows| rows.failed(20_000, "SERVER", "502 Bad Gateway");
    let rows = fail(fail(fail(Rows::new("s")).retry(TWO_RETRIES, 500.0, false)).retry(TWO_RETRIES, 1_000.0, true));
    let dataset = archive(vec![rows]);
    with_explanation(&dataset, (0, 2), |explained| {
        let story = &explained.decision;
        assert_eq!((story.source, story.previous, story.cancelled), (PolicySource::Logged, 2, 1));
        assert_eq!(story.decision, Decision::GiveUp { reason: GiveUp::BudgetSpent });
        assert!(story.explained);
        assert!(explained.advice.settings.as_deref().unwrap().contains("maxRetries: 10"));
        assert!(matches!(effect_of(explained, "uncounted-cancelled"), Effect::Retries { .. }));
    });
    // Asked about an earlier attempt of the chain, the advice is still about its end.
    with_explanation(&dataset, (0, 0), |explained| {
        assert!(matches!(explained.decision.decision, Decision::Retry { retry: 1, .. }));
        assert!(explained.advice.settings.as_deref().unwrap().contains("maxRetries: 10"));
    });
}

#[test]
fn a_retry_that_helped_needs_no_repair() {
    let recovered = |a: &mut AttemptRow| a.fate = Some(Fate::RecoveredByRetry);
    let rows = Rows::new("s").failed(20_000, "SERVER", "502 Bad Gateway").with(recovered);
    let dataset = archive(vec![rows.retry(TWO_RETRIES, 500.0, true).ok(20_000)]);
    with_explanation(&dataset, (0, 0), |explained| {
        assert!(explained.repairs.is_empty());
        assert_eq!(explained.vicinity.answer.map(|a| a.identical), Some(true));
    });
}

#[test]
fn context_that_was_destroyed_is_counted() {
    let recovered = |a: &mut AttemptRow| a.fate = Some(Fate::RecoveredByCompaction);
    let rows = Rows::new("s").ok(60_000).failed(20_000, OVERFLOW, NO_BODY).with(recovered);
    let dataset = archive(vec![rows.compaction(Trigger::Overflow, 12_000).ok(9_000)]);
    with_explanation(&dataset, (0, 1), |explained| {
        assert_eq!(explained.destroyed.map(|d| d.destroyed_tokens()), Some(12_000));
        let kinds: Vec<bool> =
            explained.timeline.iter().map(|m| matches!(m.kind, MomentKind::Compaction { .. })).collect();
        assert_eq!(kinds, [false, false, true, false, false], "attempt, failure, compaction, attempt, end of turn");
        assert_eq!(explained.timeline.iter().position(|m| m.here), Some(1));
    });
}

#[test]
fn neighbours_are_other_sessions_on_the_route_within_a_minute() {
    let failing = |id: &str, wait| Rows::new(id).wait(wait).failed(20_000, "SERVER", "502");
    let dataset = archive(vec![
        failing("a", 0),
        failing("b", 30_000),
        failing("c", 90_000),
        Rows::new("d").route("other", "large", None).failed(20_000, "SERVER", "502"),
    ]);
    with_explanation(&dataset, (0, 0), |explained| {
        let near = &explained.vicinity;
        assert_eq!((near.sessions, near.attempts, near.failures), (1, 1, 1));
        assert_eq!(near.codes, [("SERVER".to_owned(), 1)]);
        assert_eq!(near.answer, None);
    });
}

#[test]
fn the_rule_is_named_with_the_releases_that_have_it() {
    let dataset = archive(vec![Rows::new("s").failed(20_000, OVERFLOW, NO_BODY)]);
    with_explanation(&dataset, (0, 0), |explained| {
        assert_eq!(explained.rule.rule, Some("pi-ai-overflow:no-body"));
        let Basis::Only(releases) = &explained.rule.basis else { panic!("{:?}", explained.rule.basis) };
        assert_eq!(releases.len(), 3, "{releases:?}");
        assert!(explained.rule.elsewhere.iter().all(|(_, code)| code == "INVALID_REQUEST"));
    });
    let verdicts = Verdicts::of(&dataset.sessions);
    let versions = Versions { dsh: Some("0.2.0-rc.2".to_owned()), pi_ai: None };
    let named = explain(&dataset, &verdicts, (0, 0), &versions).unwrap();
    assert_eq!(named.rule.basis, Basis::Given { assumed: false });
    assert_eq!(named.rule.other_code.as_deref(), Some("INVALID_REQUEST"));
}

#[test]
fn a_code_that_no_rule_gives_is_said_to_be_so() {
    let dataset = archive(vec![Rows::new("s").failed(20_000, OVERFLOW, "the dog ate it")]);
    with_explanation(&dataset, (0, 0), |explained| {
        assert_eq!((explained.rule.rule, &explained.rule.basis), (None, &Basis::None));
    });
}
