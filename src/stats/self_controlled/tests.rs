//! References: bisection of the score and of the deviance with mpmath 1.4 at 40 digits; estimates equal to
//! `statsmodels` 0.15 `GLM(events, [inside, stratum dummies], Poisson(), offset=log(exposure))`.

use super::{Stratum, stratified_rate_ratio};
use crate::stats::closeness::assert_close;
use crate::stats::rate_ratio::RateRatio;
use crate::stats::{Level, rate_ratio};

/// Inside events and exposure, outside events and exposure.
type Row = (u64, f64, u64, f64);

const THREE_SESSIONS: [Row; 3] = [(2, 10.0, 5, 90.0), (0, 5.0, 3, 60.0), (4, 20.0, 6, 200.0)];

fn strata(rows: &[Row]) -> Vec<Stratum> {
    rows.iter()
        .map(|row| Stratum {
            inside_events: row.0,
            inside_exposure: row.1,
            outside_events: row.2,
            outside_exposure: row.3,
        })
        .collect()
}

fn ratio(rows: &[Row]) -> RateRatio {
    stratified_rate_ratio(&strata(rows), Level::NINETY_FIVE)
}

#[track_caller]
fn assert_ratio(ratio: RateRatio, estimate: f64, lower: f64, upper: f64, p_value: f64) {
    assert_close(ratio.estimate.unwrap(), estimate, 1e-12);
    assert_close(ratio.lower.unwrap(), lower, 1e-11);
    assert_close(ratio.upper.unwrap(), upper, 1e-11);
    assert_close(ratio.p_value.unwrap(), p_value, 1e-11);
}

#[test]
fn three_sessions_agree_with_a_poisson_regression() {
    let at_95 = ratio(&THREE_SESSIONS);
    assert_ratio(at_95, 4.2375018926212125, 1.4997089881318186, 10.572347746629983, 0.008584952992031018);
    assert_eq!((at_95.informative_strata, at_95.inside_events, at_95.outside_events), (3, 6, 14));
    let at_90 = stratified_rate_ratio(&strata(&THREE_SESSIONS), Level::NINETY);
    assert_ratio(at_90, 4.2375018926212125, 1.7963250005175544, 9.162568034117184, 0.008584952992031018);
}

#[test]
fn strata_without_information_are_left_out() {
    let mixed = ratio(&[
        (1, 8.5, 40, 1000.0),
        (0, 16.0, 0, 300.0),
        (7, 0.0, 2, 100.0),
        (3, 8.0, 90, 700.0),
        (0, 24.0, 55, 2000.0),
        (2, 3.0, 2, 3.0),
    ]);
    assert_eq!((mixed.informative_strata, mixed.inside_events, mixed.outside_events), (4, 6, 187));
    assert_ratio(mixed, 1.7100248479180216, 0.5973118926721103, 3.9779987318442522, 0.2921227667562476);
}

#[test]
fn equal_rates_give_one_and_a_symmetric_interval() {
    let even = ratio(&[(5, 10.0, 5, 10.0)]);
    assert_ratio(even, 1.0, 0.27814110512218543, 3.5952974284786388, 1.0);
    assert_close(even.lower.unwrap() * even.upper.unwrap(), 1.0, 1e-12);
}

#[test]
fn no_event_inside_gives_zero_and_an_upper_bound() {
    let none = ratio(&[(0, 10.0, 4, 90.0), (0, 20.0, 3, 50.0)]);
    assert_ratio(none, 0.0, 0.0, 1.407239407175229, 0.0907105943274506);
}

#[test]
fn no_event_outside_gives_a_lower_bound_only() {
    let all = ratio(&[(3, 10.0, 0, 90.0), (1, 20.0, 0, 50.0)]);
    assert_eq!((all.estimate, all.upper), (None, None));
    assert!(all.is_infinite());
    assert_close(all.lower.unwrap(), 11.578967971704436, 1e-11);
    assert_close(all.p_value.unwrap(), 5.346709792137648e-05, 1e-11);
}

#[test]
fn nothing_informative_is_unknown() {
    assert_eq!(ratio(&[]), RateRatio::UNKNOWN);
    assert_eq!(ratio(&[(0, 5.0, 0, 5.0), (3, 0.0, 1, 5.0)]), RateRatio::UNKNOWN);
}

/// Simpson's trap: sessions with many failures are also those with many compactions, but within each the rates are
/// equal. Pooling sees a ratio of 4.8; the self-controlled ratio is exactly 1.
#[test]
fn differences_between_sessions_cancel_out() {
    let rows = [(90, 90.0, 10, 10.0), (1, 10.0, 9, 90.0)];
    assert_ratio_is_one(ratio(&rows));
    let pooled = strata(&[(91, 100.0, 19, 100.0)]);
    assert_close(rate_ratio(pooled[0], Level::NINETY_FIVE).estimate.unwrap(), 91.0 / 19.0, 1e-14);
}

#[track_caller]
fn assert_ratio_is_one(ratio: RateRatio) {
    assert_close(ratio.estimate.unwrap(), 1.0, 1e-12);
    assert_close(ratio.p_value.unwrap(), 1.0, 1e-7);
}

/// One stratum has the closed form of two groups; extreme exposures must not break the search.
#[test]
fn one_stratum_equals_the_crude_ratio() {
    for row in [(1, 1.0, 1_000_000, 1e6), (50, 1e-3, 2, 1e9), (7, 1e12, 3, 1.0), (11, 800.0, 23, 3011.0)] {
        let expected = row.0 as f64 / row.1 / (row.2 as f64 / row.3);
        let found = ratio(&[row]);
        assert_close(found.estimate.unwrap(), expected, 1e-12);
        assert!(found.lower.unwrap() < expected && expected < found.upper.unwrap());
    }
}

/// Quasi-likelihood leaves the estimate and moves the bounds; a dispersion of 1 changes nothing.
#[test]
fn dispersion_widens_the_interval_and_leaves_the_estimate() {
    let strata = [
        Stratum { inside_events: 8, inside_exposure: 40.0, outside_events: 20, outside_exposure: 300.0 },
        Stratum { inside_events: 3, inside_exposure: 25.0, outside_events: 9, outside_exposure: 200.0 },
    ];
    let plain = stratified_rate_ratio(&strata, Level::NINETY_FIVE);
    assert_eq!(super::stratified_rate_ratio_dispersed(&strata, Level::NINETY_FIVE, 1.0), plain);
    let wide = super::stratified_rate_ratio_dispersed(&strata, Level::NINETY_FIVE, 2.5);
    assert_eq!(wide.estimate, plain.estimate);
    assert!(wide.lower < plain.lower && wide.upper > plain.upper && wide.p_value > plain.p_value);
}
