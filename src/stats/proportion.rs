//! In: successes and trials, of one group or two.
//! Out: intervals for a proportion, and for the difference of two.
//! Always: bounds lie in [0, 1] (differences in [−1, 1]) and enclose the observed value; no trials, no interval.

use super::beta::quantile_and_rest;
use super::interval::{Interval, Level};

#[cfg(test)]
mod tests;

/// A counted proportion: `successes` of `trials`, with at least one trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proportion {
    successes: u64,
    trials: u64,
}

impl Proportion {
    /// `None` without trials, or with more successes than trials.
    #[must_use]
    pub fn new(successes: u64, trials: u64) -> Option<Self> {
        (trials > 0 && successes <= trials).then_some(Self { successes, trials })
    }

    /// Successes over trials.
    #[must_use]
    pub fn value(self) -> f64 {
        self.successes as f64 / self.trials as f64
    }

    fn failures(self) -> u64 {
        self.trials - self.successes
    }
}

/// Wilson's score interval for a proportion, without continuity correction.
///
/// The values p that |p̂ − p| ≤ z·√(p(1−p)/n) does not reject. `None` without trials or with successes above
/// trials. Source: E. B. Wilson, *Probable Inference, the Law of Succession, and Statistical Inference*, JASA 22,
/// 1927.
#[must_use]
pub fn wilson(successes: u64, trials: u64, level: Level) -> Option<Interval> {
    Proportion::new(successes, trials).map(|proportion| score_interval(proportion, level))
}

/// Clopper and Pearson's exact interval for a proportion.
///
/// Bounds are beta quantiles: B(α/2; x, n−x+1) and B(1−α/2; x+1, n−x). `None` as in [`wilson`]. Source: C. J.
/// Clopper and E. S. Pearson, *The Use of Confidence or Fiducial Limits*, Biometrika 26, 1934.
#[must_use]
pub fn clopper_pearson(successes: u64, trials: u64, level: Level) -> Option<Interval> {
    let proportion = Proportion::new(successes, trials)?;
    let (lower, upper) = exact_bounds(proportion, level);
    Some(Interval { lower: lower.0, upper: upper.0 })
}

/// Newcombe's hybrid score interval for the difference `first − second` of two independent proportions.
///
/// With Wilson bounds l, u: d − √((p₁−l₁)² + (u₂−p₂)²) to d + √((u₁−p₁)² + (p₂−l₂)²). Source: R. G. Newcombe,
/// *Interval Estimation for the Difference between Independent Proportions*, Statistics in Medicine 17, 1998,
/// method 10.
#[must_use]
pub fn newcombe_difference(first: Proportion, second: Proportion, level: Level) -> Interval {
    let (p1, p2) = (first.value(), second.value());
    let (i1, i2) = (score_interval(first, level), score_interval(second, level));
    let length = |a: f64, b: f64| (a * a + b * b).sqrt();
    Interval {
        lower: p1 - p2 - length(p1 - i1.lower, i2.upper - p2),
        upper: p1 - p2 + length(i1.upper - p1, p2 - i2.lower),
    }
}

fn score_interval(proportion: Proportion, level: Level) -> Interval {
    let z = level.deviate();
    let n = proportion.trials as f64;
    let (x, rest) = (proportion.successes as f64, proportion.failures() as f64);
    let spread = z * (x * rest / n + 0.25 * z * z).sqrt();
    let middle = x + 0.5 * z * z;
    let scale = n + z * z;
    // The bounds are exact at both ends, where subtraction would leave rounding noise.
    Interval {
        lower: if proportion.successes == 0 { 0.0 } else { (middle - spread) / scale },
        upper: if proportion.failures() == 0 { 1.0 } else { (middle + spread) / scale },
    }
}

/// Clopper-Pearson bounds, each as (p, 1 − p).
pub(super) fn exact_bounds(proportion: Proportion, level: Level) -> ((f64, f64), (f64, f64)) {
    let (x, rest) = (proportion.successes as f64, proportion.failures() as f64);
    let (tail, body) = (level.tail(), 1.0 - level.tail());
    let lower = if proportion.successes == 0 { (0.0, 1.0) } else { quantile_and_rest(tail, body, x, rest + 1.0) };
    let upper = if proportion.failures() == 0 { (1.0, 0.0) } else { quantile_and_rest(body, tail, x + 1.0, rest) };
    (lower, upper)
}
