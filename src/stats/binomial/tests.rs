//! References: exact `fractions.Fraction` sums over the outcomes with probability ≤ observed·(1 + 1e-7), equal to
//! `scipy.stats.binomtest(x, n, p).pvalue`. The first row is Mendel's peas in R's `?binom.test` (p = 0.3825).

use super::binomial_two_sided;
use crate::stats::closeness::assert_close;

#[test]
fn two_sided_p_values_agree_with_exact_fractions() {
    for (successes, trials, probability, expected) in [
        (682, 925, 0.75, 0.3824915595748517),
        (12, 530, 0.02, 0.6394695837162059),
        (5, 10, 0.5, 1.0),
        (0, 20, 0.1, 0.25452997802490435),
        (3, 20, 0.5, 0.0025768280029296875),
        (300, 1000, 0.5, 1.7665678007950136e-37),
    ] {
        let p_value = binomial_two_sided(successes, trials, probability).unwrap();
        assert_close(p_value, expected, 1e-12);
    }
}

#[test]
fn certain_probabilities_and_invalid_input() {
    assert_eq!(binomial_two_sided(0, 5, 0.0), Some(1.0));
    assert_eq!(binomial_two_sided(1, 5, 0.0), Some(0.0));
    assert_eq!(binomial_two_sided(5, 5, 1.0), Some(1.0));
    assert_eq!(binomial_two_sided(4, 5, 1.0), Some(0.0));
    assert_eq!(binomial_two_sided(0, 0, 0.3), Some(1.0));
    assert_eq!(binomial_two_sided(6, 5, 0.5), None);
    assert_eq!(binomial_two_sided(1, 5, f64::NAN), None);
}
