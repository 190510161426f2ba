use super::*;
use crate::pipeline::{ReadOptions, read_all};
use crate::policy::Recorded;
use crate::policy::semantics::Mismatch;
use crate::session::Outcome;

fn demo() -> Vec<SessionRows> {
    read_all(crate::demo::discovery(), ReadOptions::default(), &|_| {}).sessions
}

/// Session and position of the first retry that waited by the formula.
fn first_local_retry(sessions: &[SessionRows]) -> (usize, usize) {
    let places = sessions.iter().enumerate().flat_map(|(s, rows)| (0..rows.retries.len()).map(move |r| (s, r)));
    places
        .into_iter()
        .find(|(s, r)| sessions[*s].retries[*r].retry.failure.retry_after_ms.is_none())
        .expect("the demo has retries")
}

#[test]
fn every_decision_of_the_demo_is_reproduced() {
    let sessions = demo();
    let report = replay(&sessions);
    let failed = sessions.iter().flat_map(|s| &s.attempts).filter(|a| a.outcome == Outcome::Failed).count() as u64;
    assert_eq!(report.mismatches, []);
    assert_eq!(report.decisions, report.reproduced);
    assert_eq!(report.decisions + report.undecided.len() as u64, failed);
    assert!(report.by_basis[&Basis::Logged] > 0);
}

#[test]
fn a_wrong_delay_is_listed_with_its_place_and_the_range() {
    let mut sessions = demo();
    let (session, at) = first_local_retry(&sessions);
    let row = &mut sessions[session].retries[at];
    row.retry.delay_ms *= 3.0;
    let (seq, wrong) = (row.seq, row.retry.delay_ms);
    let report = replay(&sessions);
    let [found] = &report.mismatches[..] else { panic!("{:?}", report.mismatches) };
    assert_eq!((found.session.as_str(), found.seq), (sessions[session].id.as_str(), seq));
    assert!(matches!(found.reason, Reason::Policy(Mismatch::OutsideRange { recorded_ms, .. }) if recorded_ms == wrong));
    assert_eq!(report.reproduced + 1, report.decisions);
}

#[test]
fn a_wrong_number_is_listed() {
    let mut sessions = demo();
    let (session, at) = first_local_retry(&sessions);
    sessions[session].retries[at].retry.retry += 1;
    let report = replay(&sessions);
    assert!(
        report.mismatches.iter().any(|m| matches!(m.reason, Reason::Policy(Mismatch::RetryNumber { .. }))),
        "{:?}",
        report.mismatches
    );
}

#[test]
fn a_code_that_the_policy_does_not_retry_is_listed() {
    let mut sessions = demo();
    let (session, at) = first_local_retry(&sessions);
    sessions[session].retries[at].retry.failure.code = "AUTH".to_owned();
    let report = replay(&sessions);
    assert_eq!(report.mismatches.len(), 1);
    assert_eq!(report.mismatches[0].reason.name(), "retried_instead_of_giving_up");
}

#[test]
fn a_missing_retry_is_listed() {
    let mut sessions = demo();
    let (session, at) = first_local_retry(&sessions);
    let rows = &mut sessions[session];
    let attempt = rows.retries[at].after_attempt.unwrap();
    rows.attempts[attempt].retry = None;
    rows.retries.remove(at);
    for later in &mut rows.attempts {
        later.retry = later.retry.map(|index| if index > at { index - 1 } else { index });
    }
    let report = replay(&sessions);
    let seq = sessions[session].attempts[attempt].seq;
    let missing = report.mismatches.iter().find(|m| m.seq == seq).expect("listed at the failing event");
    assert_eq!((missing.recorded, missing.reason), (Recorded::Surrendered, Reason::RecoveredElsewhere));
    // The retry after it has a number too many now.
    assert!(report.mismatches.iter().all(|m| m.seq == seq || m.reason.name() == "retry_number"));
}

#[test]
fn a_retry_without_the_harness_key_is_another_plugins() {
    let mut sessions = demo();
    let (session, at) = first_local_retry(&sessions);
    for key in [None, Some("{not json".to_owned()), Some("[\"patient\",3]".to_owned())] {
        sessions[session].retries[at].retry.policy_key = key;
        let report = replay(&sessions);
        let other = |m: &&Unreproduced| m.reason == Reason::AnotherPlugin;
        assert_eq!(report.mismatches.iter().filter(other).count(), 1);
    }
}

#[test]
fn the_spans_of_the_demo_hold_every_retry_and_name_their_release() {
    let sessions = demo();
    let spans = policy_spans(&sessions);
    let retries: u64 = spans.iter().map(|span| span.retries).sum();
    assert_eq!(retries, sessions.iter().map(|s| s.retries.len() as u64).sum::<u64>());
    assert!(spans.iter().all(|span| span.from_ms <= span.to_ms));
    assert!(spans.windows(2).all(|pair| pair[0].route <= pair[1].route));
    assert!(spans.iter().all(|span| span.release.to == Some("0.1.2")), "the demo was written in format v0");
}
