//! References: mpmath 1.4 at 40 digits: `mp.betainc(a, b, 0, x, regularized=True)`, and its root in x by bisection
//! on ln x; rows marked scipy: `scipy.special.betainc(a, b, x)` and `betaincinv(a, b, p)` of scipy 1.17.

use super::{beta_cdf, beta_quantile};
use crate::stats::closeness::assert_close;

#[test]
fn the_incomplete_beta_function_agrees_with_forty_digits() {
    for (x, a, b, expected) in [
        (0.5, 2.0, 3.0, 0.6875),
        (0.1, 0.5, 0.5, 0.20483276469913345),
        (0.001, 0.01, 5.0, 0.9527958800070773),
        (0.3, 20.0, 30.0, 0.06998709330050737),
        (0.999, 50.0, 0.2, 0.407538336616083),
        (0.02, 12.0, 519.0, 0.37261428915659744),
        (0.5, 5000.0, 5100.0, 0.8401528708121379),
        (1e-6, 1.0, 1e6, 0.6321207427683548),
        (0.01, 100.0, 100.0, 1.6906593639043344e-142),
    ] {
        assert_close(beta_cdf(x, a, b).unwrap(), expected, 2e-13);
    }
    // scipy
    assert_close(beta_cdf(0.49, 1e6, 1.02e6).unwrap(), 4.92703295264757e-47, 1e-10);
}

#[test]
fn the_quantile_agrees_with_forty_digits() {
    for (probability, a, b, expected) in [
        (0.025, 12.0, 519.0, 0.011752648089341369),
        (0.975, 13.0, 518.0, 0.03921591430233929),
        (0.5, 0.5, 0.5, 0.5),
        (0.025, 1.0, 1000.0, 2.5317487491294045e-05),
        (0.975, 1000.0, 1.0, 0.9999746825125088),
        (0.3, 0.01, 2.0, 1.9054084799700747e-53),
        (1e-10, 3.0, 4.0, 0.0001710195302398643),
        (0.9, 0.05, 0.05, 0.9999999999999903),
        // scipy
        (0.025, 5000.0, 5100.0, 0.48530041196096013),
    ] {
        assert_close(beta_quantile(probability, a, b).unwrap(), expected, 1e-13);
    }
}

#[test]
fn ends_and_invalid_shapes() {
    assert_eq!(beta_cdf(0.0, 2.0, 3.0), Some(0.0));
    assert_eq!(beta_cdf(1.0, 2.0, 3.0), Some(1.0));
    assert_eq!(beta_quantile(0.0, 2.0, 3.0), Some(0.0));
    assert_eq!(beta_quantile(1.0, 2.0, 3.0), Some(1.0));
    for (x, a, b) in
        [(0.5, 0.0, 1.0), (0.5, 1.0, -1.0), (0.5, f64::INFINITY, 1.0), (1.5, 1.0, 1.0), (f64::NAN, 1.0, 1.0)]
    {
        assert_eq!(beta_cdf(x, a, b), None);
        assert_eq!(beta_quantile(x, a, b), None);
    }
}

#[test]
fn quantile_and_distribution_function_are_inverse() {
    for a in [0.3, 1.0, 7.0, 250.0] {
        for b in [0.4, 2.0, 90.0, 3000.0] {
            for probability in [0.001, 0.2, 0.5, 0.93] {
                let x = beta_quantile(probability, a, b).unwrap();
                assert!((beta_cdf(x, a, b).unwrap() - probability).abs() < 1e-12);
            }
        }
    }
}
