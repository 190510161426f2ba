//! References: `statsmodels.stats.multitest.multipletests(p, method="fdr_bh")[1]`. The fifteen p-values are those of
//! Benjamini and Hochberg 1995, section 4.1, who reject four at 0.05.

use super::benjamini_hochberg;
use crate::stats::closeness::assert_close;

#[track_caller]
fn assert_q_values(p_values: &[f64], expected: &[f64]) {
    let q_values = benjamini_hochberg(p_values).unwrap();
    assert_eq!(q_values.len(), expected.len());
    for (actual, expected) in q_values.iter().zip(expected) {
        assert_close(*actual, *expected, 1e-14);
    }
}

#[test]
fn the_thrombolysis_trial_rejects_four() {
    let p_values = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590,
        1.0,
    ];
    let expected = [
        0.0015,
        0.003,
        0.0095,
        0.035625,
        0.0603,
        0.06385714285714286,
        0.06385714285714286,
        0.0645,
        0.0765,
        0.486,
        0.5811818181818182,
        0.7148749999999999,
        0.7532307692307693,
        0.8132142857142857,
        1.0,
    ];
    assert_q_values(&p_values, &expected);
    let rejected = expected.iter().filter(|q| **q <= 0.05).count();
    assert_eq!(rejected, 4);
}

#[test]
fn the_order_of_the_input_is_kept() {
    assert_q_values(&[0.01, 0.04, 0.03, 0.005], &[0.02, 0.04, 0.04, 0.02]);
}

#[test]
fn ties_share_one_q_value() {
    assert_q_values(&[0.05, 0.05, 0.01, 1.0, 0.0], &[0.0625, 0.0625, 0.025, 1.0, 0.0]);
}

#[test]
fn empty_single_and_invalid_families() {
    assert_eq!(benjamini_hochberg(&[]), Some(vec![]));
    assert_eq!(benjamini_hochberg(&[0.3]), Some(vec![0.3]));
    assert_eq!(benjamini_hochberg(&[0.3, f64::NAN]), None);
    assert_eq!(benjamini_hochberg(&[1.01]), None);
}
