//! References: `numpy.quantile(values, p)`, whose default is type 7.

use super::{median, quantile, quantile_sorted};
use crate::stats::closeness::assert_close;

#[test]
fn quantiles_agree_with_numpy() {
    let ten: Vec<f64> = (1..=10).map(f64::from).collect();
    for (values, probability, expected) in [
        (&[3.0, 1.0, 2.0, 4.0][..], 0.25, 1.75),
        (&[10.5, -3.0, 7.25, 0.0, 99.0][..], 0.9, 63.6),
        (&[5.0][..], 0.3, 5.0),
        (&ten[..], 0.95, 9.55),
        (&ten[..], 0.0, 1.0),
        (&ten[..], 1.0, 10.0),
    ] {
        assert_close(quantile(values, probability).unwrap(), expected, 1e-14);
    }
}

#[test]
fn the_median_of_an_even_number_lies_between() {
    assert_eq!(median(&[2.0, 1.0]), Some(1.5));
    assert_eq!(median(&[9.0, 1.0, 4.0]), Some(4.0));
    assert_eq!(median(&[]), None);
}

#[test]
fn nan_and_probabilities_outside_are_refused() {
    assert_eq!(quantile(&[1.0, f64::NAN], 0.5), None);
    assert_eq!(quantile(&[-f64::NAN, 1.0], 0.5), None);
    assert_eq!(quantile(&[1.0], 1.5), None);
    assert_eq!(quantile_sorted(&[1.0, 2.0], -0.1), None);
    assert_eq!(quantile_sorted(&[1.0, 2.0], f64::NAN), None);
}

#[test]
fn infinities_do_not_become_nan() {
    let values = [1.0, f64::INFINITY, f64::INFINITY];
    assert_eq!(quantile(&values, 0.0), Some(1.0));
    assert_eq!(quantile(&values, 0.75), Some(f64::INFINITY));
}
