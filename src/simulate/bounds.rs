//! One number for expectation and two for the bounds, from the draws.

use serde::Serialize;

use super::tally::Tally;
use crate::stats::quantile_sorted;

/// Lower quantile of the pessimistic counts, upper one of the optimistic counts.
const OUTER: f64 = 0.025;

/// A count of turns with its bounds. For a loss the pessimistic number is the larger one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bounded {
    /// 2.5 % quantile over the draws, everything beyond the evidence failing.
    pub pessimistic: f64,
    /// Mean over the draws; `None` where no model is assumed.
    pub expected: Option<f64>,
    /// 97.5 % quantile over the draws, everything beyond the evidence succeeding.
    pub optimistic: f64,
}

impl Bounded {
    /// Pessimistic to optimistic.
    #[must_use]
    pub fn width(&self) -> f64 {
        (self.optimistic - self.pessimistic).abs()
    }

    /// Whether a value lies within the bounds, give or take `slack`.
    #[must_use]
    pub fn contains(&self, value: f64, slack: f64) -> bool {
        let (low, high) = (self.pessimistic.min(self.optimistic), self.pessimistic.max(self.optimistic));
        (low - slack..=high + slack).contains(&value)
    }
}

/// Bounds of a value that is better when it is larger. `value` is asked for each draw and way: 0 beyond fails, 1 as
/// drawn, 2 beyond succeeds.
#[must_use]
pub fn bounded(tallies: &[Tally], modelled: bool, value: impl Fn(&Tally, usize) -> f64) -> Bounded {
    let sorted = |way: usize| {
        let mut values: Vec<f64> = tallies.iter().map(|tally| value(tally, way)).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let pessimistic = quantile_sorted(&sorted(0), OUTER).unwrap_or(0.0);
    let optimistic = quantile_sorted(&sorted(2), 1.0 - OUTER).unwrap_or(0.0);
    let mean = tallies.iter().map(|tally| value(tally, 1)).sum::<f64>() / tallies.len().max(1) as f64;
    if !modelled {
        return Bounded { pessimistic, expected: None, optimistic: optimistic.max(pessimistic) };
    }
    // One draw in a hundred far out moves a mean past a quantile; the order holds everywhere.
    Bounded { pessimistic: pessimistic.min(mean), expected: Some(mean), optimistic: optimistic.max(mean) }
}

/// Bounds of a loss: as [`bounded`] of its negative.
#[must_use]
pub fn bounded_loss(tallies: &[Tally], modelled: bool, value: impl Fn(&Tally, usize) -> f64) -> Bounded {
    let gain = bounded(tallies, modelled, |tally, way| -value(tally, way));
    // 0 − x, so that no loss is 0 and not −0.
    Bounded {
        pessimistic: 0.0 - gain.pessimistic,
        expected: gain.expected.map(|mean| 0.0 - mean),
        optimistic: 0.0 - gain.optimistic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_never_cross_the_expected_value() {
        let mut tallies = vec![Tally { saved: [100, 100, 100], ..Tally::default() }; 199];
        tallies.push(Tally { saved: [0, 0, 100], lost: [3, 2, 1], ..Tally::default() });
        let saved = bounded(&tallies, true, |tally, way| tally.saved[way] as f64);
        assert_eq!(saved, Bounded { pessimistic: 99.5, expected: Some(99.5), optimistic: 100.0 });
        let lost = bounded_loss(&tallies, true, |tally, way| tally.lost[way] as f64);
        assert!(lost.pessimistic >= lost.expected.unwrap() && lost.expected.unwrap() >= lost.optimistic);
        assert!(lost.optimistic.is_sign_positive());
    }
}
