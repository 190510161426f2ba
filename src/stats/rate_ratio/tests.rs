//! References: Clopper-Pearson bounds by bisection of `mp.betainc` (mpmath 1.4, 40 digits) and exact
//! `fractions.Fraction` p-values. The first row is Fredericia against three other cities, in R's `?poisson.test`:
//! `poisson.test(c(11, 6+8+7), c(800, 1083+1050+878))` prints p = 0.07967, ratio 1.971488, 0.8584264 to 4.2772659.

use super::{RateRatio, Stratum, rate_ratio};
use crate::stats::Level;
use crate::stats::closeness::assert_close;

fn counts(inside: (u64, f64), outside: (u64, f64)) -> Stratum {
    Stratum {
        inside_events: inside.0,
        inside_exposure: inside.1,
        outside_events: outside.0,
        outside_exposure: outside.1,
    }
}

#[test]
fn finite_ratios_agree_with_r() {
    let ninety_five = Level::NINETY_FIVE;
    for (inside, outside, level, estimate, lower, upper, p_value) in [
        (
            (11, 800.0),
            (21, 3011.0),
            ninety_five,
            1.9714880952380953,
            0.8584264033916397,
            4.277265943654075,
            0.07966863303332947,
        ),
        (
            (137, 24.194),
            (23, 30.0),
            ninety_five,
            7.385949085472144,
            4.725787615847187,
            12.04181638797013,
            7.729087965437366e-27,
        ),
        (
            (12, 1600.0),
            (518, 62_000.0),
            ninety_five,
            0.8976833976833977,
            0.4608310991994941,
            1.5816422251750744,
            0.8891656380707578,
        ),
        (
            (60, 51_477.5),
            (30, 54_308.7),
            Level::NINETY,
            2.10999757175465,
            1.4335124338175211,
            3.1450058613806466,
            0.0006751826586863218,
        ),
    ] {
        let ratio = rate_ratio(counts(inside, outside), level);
        assert_close(ratio.estimate.unwrap(), estimate, 1e-14);
        assert_close(ratio.lower.unwrap(), lower, 1e-11);
        assert_close(ratio.upper.unwrap(), upper, 1e-11);
        assert_close(ratio.p_value.unwrap(), p_value, 1e-11);
        assert_eq!(ratio.informative_strata, 1);
    }
}

#[test]
fn no_event_inside_gives_zero_and_an_upper_bound() {
    let ratio = rate_ratio(counts((0, 10.0), (7, 90.0)), Level::NINETY_FIVE);
    assert_eq!((ratio.estimate, ratio.lower), (Some(0.0), Some(0.0)));
    assert_close(ratio.upper.unwrap(), 6.244325820868072, 1e-12);
    assert_close(ratio.p_value.unwrap(), 1.0, 1e-12);
}

#[test]
fn no_event_outside_gives_a_lower_bound_only() {
    let ratio = rate_ratio(counts((4, 10.0), (0, 90.0)), Level::NINETY_FIVE);
    assert_eq!((ratio.estimate, ratio.upper), (None, None));
    assert!(ratio.is_infinite());
    assert_close(ratio.lower.unwrap(), 5.941116174240843, 1e-12);
    assert_close(ratio.p_value.unwrap(), 0.0001, 1e-12);
}

#[test]
fn nothing_is_estimated_from_no_events_or_no_exposure() {
    for stratum in [
        counts((0, 10.0), (0, 90.0)),
        counts((1, 0.0), (3, 90.0)),
        counts((1, 10.0), (3, 0.0)),
        counts((1, -1.0), (3, 5.0)),
        counts((1, f64::NAN), (3, 5.0)),
        counts((1, f64::INFINITY), (3, 5.0)),
    ] {
        let ratio = rate_ratio(stratum, Level::NINETY_FIVE);
        assert_eq!(ratio, RateRatio::UNKNOWN);
        assert!(!ratio.is_infinite());
    }
}
