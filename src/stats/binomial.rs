//! In: successes, trials and a probability under test.
//! Out: the exact two-sided p-value.
//! Always: between 0 and 1.

use super::discrete::Weights;

#[cfg(test)]
mod tests;

/// Exact two-sided binomial p-value: the sum of the probabilities of all outcomes that are no likelier than the
/// observed one.
///
/// `None` when successes exceed trials or the probability lies outside [0, 1]. Source: R, `binom.test`, with its
/// relative tolerance of 1e-7 for ties. Values below 1e-300 come out as 0.
#[must_use]
pub fn binomial_two_sided(successes: u64, trials: u64, probability: f64) -> Option<f64> {
    if successes > trials || !(0.0..=1.0).contains(&probability) {
        return None;
    }
    if probability == 0.0 {
        return Some(if successes == 0 { 1.0 } else { 0.0 });
    }
    if probability == 1.0 {
        return Some(if successes == trials { 1.0 } else { 0.0 });
    }
    let odds = probability / (1.0 - probability);
    let law = Weights::new(0, trials, |x| (trials - x) as f64 / (x as f64 + 1.0) * odds);
    Some(law.no_likelier_than(successes))
}
