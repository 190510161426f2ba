//! References: mpmath 1.4 at 40 digits: `mp.loggamma(mp.mpf(x))`, `mp.log(math.comb(n, k))`.

use super::{ln_choose, ln_gamma, stirling_remainder};
use crate::stats::closeness::assert_close;

#[test]
fn ln_gamma_agrees_with_forty_digits() {
    for (x, expected) in [
        (1e-10, 23.025850929882736),
        (0.1, 2.252712651734206),
        (0.5, 0.5723649429247001),
        (0.999, 0.0005780385328913802),
        (1.001, -0.0005763935982833062),
        (1.5, -0.12078223763524522),
        (1.999, -0.0004224618006921073),
        (2.5, 0.2846828704729192),
        (3.7, 1.428072326665388),
        (9.99, 12.779315214350193),
        (10.0, 12.801827480081469),
        (100.5, 361.4355404677776),
        (1e6, 12815504.569147611),
        (1e15, 3.3538776394910668e+16),
    ] {
        assert_close(ln_gamma(x), expected, 2e-15);
    }
    assert_eq!(ln_gamma(1.0), 0.0);
    assert_eq!(ln_gamma(2.0), 0.0);
    assert_eq!(ln_gamma(0.0), f64::INFINITY);
    assert!(ln_gamma(-1.5).is_nan());
}

#[test]
fn ln_choose_agrees_with_exact_integers() {
    for (n, k, expected) in [
        (5, 2, std::f64::consts::LN_10),
        (52, 5, 14.77062192297037),
        (100, 50, 66.78384165201743),
        (1000, 3, 18.9285038647141),
        (1000, 500, 689.4672615678512),
        (100_000, 40_000, 67295.20485519888),
        (1_000_000, 31, 350.1881387388496),
        (1_000_000_000, 29, 529.7176698982779),
        (2000, 1960, 193.32286551258267),
    ] {
        assert_close(ln_choose(n, k), expected, 2e-15);
    }
    assert_eq!(ln_choose(9, 0), 0.0);
    assert_eq!(ln_choose(9, 9), 0.0);
    assert_eq!(ln_choose(3, 4), f64::NEG_INFINITY);
}

/// `mp.loggamma(x+1) − (x+½)·mp.log(x) + x − mp.log(2π)/2`.
#[test]
fn the_remainder_of_stirlings_formula_agrees_on_both_sides_of_ten() {
    for (x, expected) in [
        (0.3, 0.23606490074821557),
        (1.0, 0.08106146679532726),
        (9.5, 0.008768700134139386),
        (10.0, 0.00833056343336287),
        (50.0, 0.0016666444469833656),
    ] {
        // An absolute bound: the remainder is added to logarithms.
        assert!((stirling_remainder(x) - expected).abs() < 4e-15);
    }
}
