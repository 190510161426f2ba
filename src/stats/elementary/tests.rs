//! References: mpmath 1.4 at 40 digits, e.g. `mp.log(mp.mpf(x))` and `mp.exp(mp.mpf(x))` of the `f64` x.

use super::{exp, exp_minus_one, ln, ln_one_plus};
use crate::stats::closeness::assert_close;

#[test]
fn the_logarithm_agrees_with_forty_digits() {
    for (x, expected) in [
        (1e-320, -736.8272408909739),
        (1e-5, -11.512925464970229),
        (0.7, -0.35667494393873245),
        (1.0000001, 9.999999505838704e-08),
        (2.0, std::f64::consts::LN_2),
        (10.0, std::f64::consts::LN_10),
        (1e300, 690.7755278982137),
    ] {
        assert_close(ln(x), expected, 4e-16);
    }
    assert_eq!(ln(1.0), 0.0);
    assert_eq!(ln(0.0), f64::NEG_INFINITY);
    assert_eq!(ln(f64::INFINITY), f64::INFINITY);
    assert!(ln(-1.0).is_nan() && ln(f64::NAN).is_nan());
}

#[test]
fn the_exponential_agrees_with_forty_digits() {
    for (x, expected) in [
        (-745.0, 5e-324),
        (-700.5, 5.980196118639791e-305),
        (-1.0, 0.36787944117144233),
        (-1e-10, 0.9999999999),
        (1e-3, 1.0010005001667084),
        (0.5, 1.6487212707001282),
        (1.0, std::f64::consts::E),
        (20.25, 622964442.1984454),
        (709.7, 1.6549840276802644e+308),
    ] {
        assert_close(exp(x), expected, 4e-16);
    }
    assert_eq!(exp(0.0), 1.0);
    assert_eq!(exp(f64::NEG_INFINITY), 0.0);
    assert_eq!(exp(1000.0), f64::INFINITY);
    assert!(exp(f64::NAN).is_nan());
}

#[test]
fn the_logarithm_of_one_plus_keeps_small_arguments() {
    for (x, expected) in [
        (1e-10, 9.999999999500001e-11),
        (-0.25, -0.2876820724517809),
        (0.4, 0.33647223662121295),
        (5.0, 1.791759469228055),
        (-0.999, -6.907755278982136),
    ] {
        assert_close(ln_one_plus(x), expected, 4e-16);
    }
    assert_eq!(ln_one_plus(-1.0), f64::NEG_INFINITY);
}

#[test]
fn the_exponential_minus_one_keeps_small_arguments() {
    for (x, expected) in [
        (1e-12, 1.0000000000005e-12),
        (-0.3, -0.2591817793182821),
        (0.33, 0.39096812846378026),
        (0.35, 0.41906754859325723),
        (3.0, 19.085536923187668),
        (-40.0, -1.0),
    ] {
        assert_close(exp_minus_one(x), expected, 1e-15);
    }
}

/// The one test that looks at the platform's own functions: within 4e-16 over the whole range.
#[test]
fn both_agree_with_the_standard_library_over_the_whole_range() {
    let mut x = 1e-300;
    while x < 1e300 {
        assert_close(ln(x), x.ln(), 4e-16);
        x *= 1.137;
    }
    let mut x = -700.0;
    while x < 700.0 {
        assert_close(exp(x), f64::exp(x), 5e-16);
        x += 0.377;
    }
}
