//! References: full enumeration of all joint shifts in Python (`itertools.product` over the shifts of each session,
//! integer counts, `fractions.Fraction` mean), and by the plain definition in [`by_definition`].

use super::null_counts::counts_by_shift;
use super::{CircularShiftTest, NullDistribution, ShiftError, ShiftPlan, ShiftSession, Window, circular_shift_test};
use crate::stats::SeededRng;
use crate::stats::closeness::assert_close;

const PLAN: ShiftPlan = ShiftPlan::new(1);

fn session<'a>(length: usize, failures: &'a [usize], markers: &'a [usize]) -> ShiftSession<'a> {
    ShiftSession { length, failures, markers }
}

fn three_sessions() -> [ShiftSession<'static>; 3] {
    [session(12, &[3, 4, 9], &[2]), session(10, &[1, 1, 8], &[0, 5]), session(7, &[6], &[3])]
}

fn test(sessions: &[ShiftSession<'_>], window: Window) -> CircularShiftTest {
    circular_shift_test(sessions, window, &PLAN).unwrap()
}

#[track_caller]
fn assert_test(test: CircularShiftTest, observed: u64, expected: f64, upper: f64, lower: f64) {
    assert_eq!(test.observed, observed);
    assert_eq!(test.method, NullDistribution::Exact);
    assert_close(test.expected, expected, 1e-14);
    assert_close(test.upper, upper, 1e-13);
    assert_close(test.lower, lower, 1e-13);
    assert_close(test.two_sided, (2.0 * upper.min(lower)).min(1.0), 1e-13);
}

#[test]
fn three_sessions_agree_with_the_enumeration_of_840_joint_shifts() {
    let after_two = test(&three_sessions(), Window::after(2).unwrap());
    assert_test(after_two, 4, 111.0 / 70.0, 38.0 / 840.0, 836.0 / 840.0);
    assert_eq!(after_two.informative_sessions, 3);
    let around = test(&three_sessions(), Window::new(-2, 3).unwrap());
    assert_test(around, 6, 327.0 / 70.0, 192.0 / 840.0, 1.0);
}

#[test]
fn neighbouring_markers_do_not_count_a_failure_twice() {
    let sessions = [session(15, &[2, 5, 11], &[1, 4, 10]), session(15, &[2, 5, 11, 12], &[1, 4, 13])];
    let next = test(&sessions, Window::after(1).unwrap());
    assert_test(next, 5, 7.0 / 5.0, 4.0 / 225.0, 1.0);
}

#[test]
fn a_perfect_run_of_one_session_has_one_shift_in_twenty() {
    let run = test(&[session(20, &[5, 6, 7], &[4])], Window::after(3).unwrap());
    assert_test(run, 3, 9.0 / 20.0, 1.0 / 20.0, 1.0);
}

/// A marker at the end of a session has nothing after it; failures at the start are not its doing.
#[test]
fn windows_end_with_the_session() {
    let end = test(&[session(20, &[0, 1], &[19])], Window::after(3).unwrap());
    assert_test(end, 0, 1.0 / 20.0, 1.0, 19.0 / 20.0);
}

#[test]
fn sessions_without_markers_or_failures_change_nothing() {
    let with_empty = [
        session(12, &[3, 4, 9], &[2]),
        session(0, &[], &[]),
        session(30, &[], &[4]),
        session(10, &[1, 1, 8], &[0, 5]),
        session(30, &[4], &[]),
        session(7, &[6], &[3]),
    ];
    let window = Window::after(2).unwrap();
    assert_eq!(test(&with_empty, window), test(&three_sessions(), window));
}

#[test]
fn a_count_that_no_shift_can_change_is_certain() {
    let everywhere: Vec<usize> = (0..9).collect();
    let certain = test(&[session(9, &[4], &everywhere)], Window::after(2).unwrap());
    assert_test(certain, 1, 1.0, 1.0, 1.0);
    assert_eq!(certain.informative_sessions, 0);
    assert_test(test(&[], Window::after(2).unwrap()), 0, 0.0, 1.0, 1.0);
}

/// The count under one shift, straight from the definition.
fn by_definition(session: &ShiftSession<'_>, window: Window, shift: usize) -> u32 {
    let inside = |failure: &&usize| {
        session.markers.iter().any(|marker| {
            let place = ((marker + shift) % session.length) as i64;
            let lag = **failure as i64 - place;
            (window.first..=window.last).contains(&lag)
        })
    };
    session.failures.iter().filter(inside).count() as u32
}

#[test]
fn random_sessions_agree_with_the_definition() {
    let mut rng = SeededRng::new(3);
    for _ in 0..300 {
        let length = 1 + rng.below(40).unwrap();
        let mut positions = |most| -> Vec<usize> {
            let count = rng.below(most).unwrap();
            (0..count).map(|_| rng.below(length).unwrap() as usize).collect()
        };
        let (failures, markers) = (positions(8), positions(6));
        let session = session(length as usize, &failures, &markers);
        let first = rng.below(50).unwrap() as i64 - 25;
        let window = Window::new(first, first + rng.below(60).unwrap() as i64).unwrap();
        let expected: Vec<u32> = (0..session.length).map(|shift| by_definition(&session, window, shift)).collect();
        assert_eq!(counts_by_shift(&session, window), expected, "{session:?} {window:?}");
    }
}

/// 38 of 840 and 836 of 840 are exact; 99,999 samples come within five standard errors and one seed gives one answer.
#[test]
fn sampled_shifts_approach_the_exact_tails() {
    let plan = ShiftPlan::new(7).with_most_steps(0).with_shifts(99_999);
    let window = Window::after(2).unwrap();
    let sampled = circular_shift_test(&three_sessions(), window, &plan).unwrap();
    assert_eq!(sampled.method, NullDistribution::Sampled { shifts: 99_999 });
    assert_eq!(sampled.observed, 4);
    assert!((sampled.upper - 38.0 / 840.0).abs() < 5.0 * 0.000_657, "{}", sampled.upper);
    assert!((sampled.lower - 836.0 / 840.0).abs() < 5.0 * 0.000_218, "{}", sampled.lower);
    assert_eq!(circular_shift_test(&three_sessions(), window, &plan), Ok(sampled));
}

#[test]
fn fewer_than_9999_samples_are_never_drawn() {
    assert_eq!(ShiftPlan::new(1).with_shifts(10).shifts(), 9_999);
    assert_eq!(ShiftPlan::new(1).with_shifts(20_000).shifts(), 20_000);
    let plan = PLAN.with_most_steps(0).with_shifts(5);
    let far = [session(1_000_000, &[10, 11, 12], &[9]), session(1_000_000, &[500], &[499])];
    let test = circular_shift_test(&far, Window::after(3).unwrap(), &plan).unwrap();
    assert_eq!(test.upper, 1.0 / 10_000.0);
    assert_eq!(test.lower, 1.0);
}

#[test]
fn a_position_behind_the_end_is_reported_with_its_session() {
    let sessions = [session(5, &[4], &[0]), session(5, &[2], &[5])];
    let error = circular_shift_test(&sessions, Window::after(1).unwrap(), &PLAN).unwrap_err();
    let expected = ShiftError::PositionBehindEnd { session: 1, position: 5, length: 5 };
    assert_eq!(error, expected);
    assert_eq!(error.to_string(), "session 1: position 5 lies behind its end (5 positions)");
}

#[test]
fn empty_windows_are_refused() {
    assert_eq!(Window::after(0), None);
    assert_eq!(Window::new(2, 1), None);
    assert!(Window::new(i64::MIN, i64::MAX).is_some());
}
