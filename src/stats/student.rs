//! In: degrees of freedom, and a statistic or a probability.
//! Out: tails and quantiles of Student's t.
//! Always: nothing for degrees of freedom that are not positive.

use super::beta::{beta_cdf, beta_quantile};

/// P(|T| ≥ |statistic|): the incomplete beta function at df/(df + t²) with shapes df/2 and ½.
///
/// Source: M. Abramowitz and I. Stegun, *Handbook of Mathematical Functions*, 26.7.1. `None` unless df > 0.
#[must_use]
pub fn student_two_sided(statistic: f64, degrees: f64) -> Option<f64> {
    beta_cdf(degrees / (degrees + statistic * statistic), 0.5 * degrees, 0.5)
}

/// The t with P(|T| ≥ t) = `outside`: 2.776 for 0.05 and 4 degrees of freedom. `None` unless df > 0 and 0 < outside ≤ 1.
#[must_use]
pub fn student_quantile(outside: f64, degrees: f64) -> Option<f64> {
    let share = beta_quantile(outside, 0.5 * degrees, 0.5).filter(|share| *share > 0.0)?;
    Some((degrees * (1.0 - share) / share).sqrt())
}

#[cfg(test)]
mod tests {
    use super::{student_quantile, student_two_sided};

    /// `scipy.stats.t.ppf(0.975, [1, 4, 30])`; the first is tan(0.475·π) exactly.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (degrees, quantile) in [(1.0, 12.706204736174694), (4.0, 2.7764451051977987), (30.0, 2.0422724563012373)] {
            let found = student_quantile(0.05, degrees).unwrap();
            assert!((found / quantile - 1.0).abs() < 1e-9, "{degrees}: {found}");
            assert!((student_two_sided(found, degrees).unwrap() - 0.05).abs() < 1e-10);
        }
    }

    #[test]
    fn no_degrees_of_freedom_give_nothing() {
        assert_eq!(student_two_sided(1.0, 0.0), None);
        assert_eq!(student_quantile(0.05, 0.0), None);
    }
}
