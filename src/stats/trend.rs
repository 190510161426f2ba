//! In: ordered groups with a score, successes and trials each.
//! Out: the Cochran-Armitage test for a trend of the proportion over the scores.
//! Always: groups without trials change nothing; no variation, no test.

use super::normal::chi_square_one_tail;

#[cfg(test)]
mod tests;

/// One group of a trend test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrendGroup {
    /// Place of the group on the scale under test: a rank, a size, an hour.
    pub score: f64,
    /// Trials with the event.
    pub successes: u64,
    /// All trials.
    pub trials: u64,
}

/// Result of a trend test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrendTest {
    /// Standard normal deviate; positive when the proportion grows with the score.
    pub z: f64,
    /// Two-sided p-value.
    pub p_value: f64,
}

/// Cochran-Armitage test for trend, without continuity correction.
///
/// z = Σ tᵢ(xᵢ − nᵢp̄) / √(p̄(1−p̄)·Σ nᵢ(tᵢ − t̄)²). `None` when all trials share one outcome or one score, when
/// successes exceed trials, or when a score is not finite. Source: P. Armitage, *Tests for Linear Trends in
/// Proportions and Frequencies*, Biometrics 11, 1955; z² is the statistic of R's `prop.trend.test`.
#[must_use]
pub fn cochran_armitage(groups: &[TrendGroup]) -> Option<TrendTest> {
    if groups.iter().any(|group| group.successes > group.trials || !group.score.is_finite()) {
        return None;
    }
    let sum = |term: &dyn Fn(&TrendGroup) -> f64| groups.iter().map(term).sum::<f64>();
    let trials = sum(&|group| group.trials as f64);
    let successes = sum(&|group| group.successes as f64);
    if successes == 0.0 || successes == trials {
        return None;
    }
    let share = successes / trials;
    let mean = sum(&|group| group.trials as f64 * group.score) / trials;
    let squares = sum(&|group| group.trials as f64 * (group.score - mean) * (group.score - mean));
    let one_score = {
        let mut counted = groups.iter().filter(|group| group.trials > 0);
        let first = counted.next()?.score;
        counted.all(|group| group.score == first)
    };
    if one_score {
        return None;
    }
    let deviation = sum(&|group| (group.score - mean) * (group.successes as f64 - group.trials as f64 * share));
    let z = deviation / (share * (1.0 - share) * squares).sqrt();
    Some(TrendTest { z, p_value: chi_square_one_tail(z * z) })
}
