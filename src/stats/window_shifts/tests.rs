use super::{WindowSession, window_shift_test};
use crate::stats::{NullDistribution, SeededRng, ShiftPlan};

/// Windows of two trials on a session of n trials.
fn ends(trials: usize) -> Vec<usize> {
    (0..trials).map(|start| (start + 2).min(trials)).collect()
}

fn session<'a>(failed: &'a [bool], ends: &'a [usize], markers: &'a [usize]) -> WindowSession<'a> {
    let inside: Vec<usize> =
        (0..failed.len()).filter(|trial| markers.iter().any(|m| (*m..ends[*m]).contains(trial))).collect();
    WindowSession {
        failed,
        window_ends: ends,
        markers,
        trials_inside: inside.len() as u64,
        failures_inside: inside.iter().filter(|trial| failed[**trial]).count() as u64,
    }
}

/// By hand: 9 trials, the fifth fails, the marker stands before it. Of the 10 places, those before trials 3 and 4
/// hold the failure in a window of two: p(≥) = 2/10.
#[test]
fn a_single_session_is_enumerated() {
    let failed: Vec<bool> = (0..9).map(|trial| trial == 4).collect();
    let (ends, markers) = (ends(9), [4]);
    let test = window_shift_test(&[session(&failed, &ends, &markers)], &ShiftPlan::new(1));
    assert_eq!(test.method, NullDistribution::Exact);
    assert!((test.score - (1.0 - 2.0 / 9.0)).abs() < 1e-12);
    assert!((test.upper - 0.2).abs() < 1e-12, "{test:?}");
    assert!((test.two_sided - 0.4).abs() < 1e-12);
}

#[test]
fn many_sessions_are_sampled_with_the_seed_alone_deciding() {
    let failed: Vec<bool> = (0..40).map(|trial| trial % 7 == 3).collect();
    let (ends, markers) = (ends(40), [3, 20]);
    let sessions = vec![session(&failed, &ends, &markers); 12];
    let plan = ShiftPlan::new(7);
    let test = window_shift_test(&sessions, &plan);
    assert_eq!(test.method, NullDistribution::Sampled { shifts: plan.shifts() });
    assert_eq!(test, window_shift_test(&sessions, &plan));
    assert_ne!(test.upper, window_shift_test(&sessions, &ShiftPlan::new(8)).upper);
}

#[test]
fn bursts_raise_the_dispersion_and_spread_failures_do_not() {
    let (ends, markers) = (ends(120), [10, 50, 90]);
    let bursts: Vec<bool> = (0..120).map(|trial| trial % 40 < 4).collect();
    let mut rng = SeededRng::new(3);
    let spread: Vec<bool> = (0..120).map(|_| rng.chance(0.1)).collect();
    let of = |failed: &[bool]| {
        window_shift_test(&[session(failed, &ends, &markers)], &ShiftPlan::new(1)).dispersion.unwrap()
    };
    assert!(of(&bursts) > 1.5, "{}", of(&bursts));
    assert!(of(&spread) < 1.5, "{}", of(&spread));
}

#[test]
fn sessions_without_failures_or_markers_say_nothing() {
    let ends = ends(5);
    let test =
        window_shift_test(&[session(&[false; 5], &ends, &[2]), session(&[true; 5], &ends, &[])], &ShiftPlan::new(1));
    assert_eq!((test.informative_sessions, test.dispersion, test.two_sided), (0, None, 1.0));
}
