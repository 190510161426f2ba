#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic: that is how it fails")]

use super::marker::Marker;
use super::trial::{SessionTrials, Trial};
use super::{Answer, Verdict, WindowStudy, event_study};
use crate::stats::ShiftPlan;
use crate::windows::{Clock, Window};

/// Steps of one attempt each, ten events and ten seconds apart; the given ones fail.
fn steps(count: usize, failing: &[usize]) -> SessionTrials {
    let trial = |attempt: usize| Trial {
        attempt,
        seq: 10 * attempt as u64 + 5,
        time: Some(10_000 * attempt as i64 + 500),
        failed: failing.contains(&attempt),
        met_failure: failing.contains(&attempt),
    };
    SessionTrials { trials: (0..count).map(trial).collect() }
}

/// A compaction that ends right before a step.
fn before(attempt: usize) -> Marker {
    let end = (10 * attempt as u64, Some(10_000 * attempt as i64));
    Marker { next_attempt: attempt, start: (end.0 - 3, end.1.map(|time| time - 300)), end }
}

fn study(session: &SessionTrials, markers: &[Marker], window: &str) -> WindowStudy {
    let plan = ShiftPlan::new(1);
    WindowStudy::of(std::slice::from_ref(session), &[markers.to_vec()], window.parse::<Window>().unwrap(), false, &plan)
}

#[test]
fn every_clock_places_steps_by_their_beginning() {
    let session = steps(40, &[20, 21, 30]);
    for (window, inside, failures) in [("5ev", 1, 1), ("4ev", 0, 0), ("2att", 2, 2), ("11s", 2, 2), ("60s", 6, 2)] {
        let study = study(&session, &[before(20)], window);
        assert_eq!((study.inside.steps, study.inside.failures), (inside, failures), "{window}");
        assert_eq!(study.inside.steps + study.outside.steps, 40, "{window}");
    }
}

#[test]
fn the_next_compaction_begins_a_window_of_its_own() {
    let study = study(&steps(40, &[]), &[before(10), before(11)], "3att");
    assert_eq!(study.inside.steps, 4);
}

#[test]
fn steps_before_a_compaction_are_counted_apart() {
    let session = steps(40, &[18, 19]);
    let study = study(&session, &[before(20)], "3att");
    assert_eq!((study.before.steps, study.before.failures), (3, 2));
    assert_eq!(study.inside.failures, 0);
}

#[test]
fn lags_run_on_both_sides_without_a_zero() {
    let lags = event_study(&[steps(40, &[20])], &[vec![before(20)]]);
    let attempts: Vec<_> = lags.iter().filter(|lag| lag.clock == Clock::Attempts).collect();
    assert_eq!(
        attempts.iter().map(|lag| lag.lag).collect::<Vec<_>>(),
        (-10..=10).filter(|l| *l != 0).collect::<Vec<_>>()
    );
    assert!(attempts.iter().all(|lag| lag.rate.steps == 1));
    assert_eq!(attempts.iter().filter(|lag| lag.rate.failures > 0).map(|lag| lag.lag).collect::<Vec<_>>(), [1]);
}

#[test]
fn few_failures_are_too_few_and_no_failure_is_said_plainly() {
    let session = [steps(40, &[20])];
    let answer = Answer::of(&[study(&session[0], &[before(20)], "3att")], &session);
    assert_eq!(answer.verdict, Verdict::TooFew);
    let clean = [steps(40, &[])];
    let studies = [study(&clean[0], &[before(20)], "3att")];
    let text = Answer::of(&studies, &clean).text(&studies, (0, 0));
    assert_eq!(text.iter().map(|message| message.key).collect::<Vec<_>>(), ["compactions.no-failure"]);
}

#[test]
fn a_session_without_compactions_is_no_evidence_of_anything() {
    let study = study(&steps(40, &[3, 9, 27]), &[], "8ev");
    assert_eq!((study.inside.steps, study.p_value, study.ratio.estimate), (0, None, None));
}
