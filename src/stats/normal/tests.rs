//! References: mpmath 1.4 at 40 digits: `mp.erfc(-z/mp.sqrt(2))/2`, its root in z by `mp.findroot`, and
//! `mp.erfc(mp.sqrt(x/2))`.

use super::{chi_square_one_quantile, chi_square_one_tail, normal_cdf, normal_quantile};
use crate::stats::closeness::assert_close;

#[test]
fn the_distribution_function_keeps_its_lower_tail() {
    for (z, expected) in [
        (-20.0, 2.7536241186062337e-89),
        (-10.0, 7.619853024160525e-24),
        (-3.0, 0.0013498980316300946),
        (-2.9, 0.0018658133003840384),
        (-1.96, 0.024997895148220435),
        (-0.5, 0.3085375387259869),
        (0.0, 0.5),
        (1e-8, 0.5000000039894228),
        (1.0, 0.8413447460685429),
        (2.0, 0.9772498680518208),
        (3.0, 0.9986501019683699),
        (8.0, 0.9999999999999993),
    ] {
        assert_close(normal_cdf(z), expected, 2e-14);
    }
    assert_eq!(normal_cdf(f64::NEG_INFINITY), 0.0);
    assert_eq!(normal_cdf(f64::INFINITY), 1.0);
    assert!(normal_cdf(f64::NAN).is_nan());
}

#[test]
fn the_quantile_is_accurate_in_all_three_ranges() {
    for (probability, expected) in [
        (1e-300, -37.0470962993612),
        (1e-12, -7.034483825301132),
        (0.001, -3.0902323061678136),
        (0.025, -1.9599639845400543),
        (0.07, -1.4757910281791706),
        (0.3, -0.5244005127080408),
        (0.6, 0.2533471031357997),
        (0.975, 1.9599639845400538),
        (0.9999, 3.7190164854557084),
    ] {
        assert_close(normal_quantile(probability), expected, 1e-15);
    }
    assert_eq!(normal_quantile(0.5), 0.0);
    assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
    assert_eq!(normal_quantile(1.0), f64::INFINITY);
    assert!(normal_quantile(-0.1).is_nan() && normal_quantile(f64::NAN).is_nan());
}

#[test]
fn quantile_and_distribution_function_are_inverse() {
    for step in 1..400 {
        let probability = f64::from(step) / 400.0;
        assert_close(normal_cdf(normal_quantile(probability)), probability, 1e-14);
    }
}

#[test]
fn the_chi_square_tail_keeps_its_relative_accuracy() {
    for (statistic, expected) in [
        (0.01, 0.920344325445942),
        (1.0, 0.3173105078629141),
        (3.841458820694124, 0.05000000000000006),
        (10.83, 0.0009986863791802587),
        (50.0, 1.537459794428035e-12),
        (1000.0, 1.7958327848007262e-219),
    ] {
        assert_close(chi_square_one_tail(statistic), expected, 1e-13);
    }
    assert_eq!(chi_square_one_tail(0.0), 1.0);
    assert_eq!(chi_square_one_tail(-1.0), 1.0);
}

/// `scipy.stats.chi2.ppf(p, 1)`.
#[test]
fn the_chi_square_quantile_gives_the_tabulated_values() {
    for (probability, expected) in
        [(0.5, 0.454936423119572), (0.9, 2.705543454095404), (0.95, 3.841458820694124), (0.99, 6.6348966010212145)]
    {
        assert_close(chi_square_one_quantile(probability), expected, 1e-14);
    }
}
