//! In: confidence levels and pairs of bounds.
//! Out: `Level` and `Interval`, which every estimate of this module carries.
//! Always: a level lies strictly between 0 and 1, and a lower bound never exceeds its upper bound.

use super::normal::{chi_square_one_quantile, normal_quantile};

/// Confidence level, strictly between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level(f64);

impl Level {
    /// 90 %.
    pub const NINETY: Self = Self(0.90);
    /// 95 %.
    pub const NINETY_FIVE: Self = Self(0.95);
    /// 99 %.
    pub const NINETY_NINE: Self = Self(0.99);

    /// A level such as 0.95; `None` outside (0, 1).
    #[must_use]
    pub fn new(level: f64) -> Option<Self> {
        (level > 0.0 && level < 1.0).then_some(Self(level))
    }

    /// The level as a fraction.
    #[must_use]
    pub const fn value(self) -> f64 {
        self.0
    }

    /// Half of what lies outside: 0.025 for 95 %.
    #[must_use]
    pub const fn tail(self) -> f64 {
        0.5 * (1.0 - self.0)
    }

    /// Two-sided standard normal deviate: 1.96 for 95 %.
    #[must_use]
    pub fn deviate(self) -> f64 {
        -normal_quantile(self.tail())
    }

    /// Quantile of χ² with one degree of freedom: 3.84 for 95 %.
    #[must_use]
    pub fn chi_square(self) -> f64 {
        chi_square_one_quantile(self.0)
    }
}

/// Closed interval, in the unit of the estimate that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower bound.
    pub lower: f64,
    /// Upper bound.
    pub upper: f64,
}

impl Interval {
    /// Is the value inside, bounds included?
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }

    /// Upper minus lower bound.
    #[must_use]
    pub fn width(self) -> f64 {
        self.upper - self.lower
    }
}

#[cfg(test)]
mod tests {
    use super::{Interval, Level};

    /// `scipy.stats.norm.ppf(0.975)`, `scipy.stats.norm.ppf(0.95)`, `scipy.stats.chi2.ppf(0.95, 1)`.
    #[test]
    fn levels_give_the_familiar_deviates() {
        assert!((Level::NINETY_FIVE.deviate() - 1.959963984540054).abs() < 1e-14);
        assert!((Level::NINETY.deviate() - 1.6448536269514722).abs() < 1e-14);
        assert!((Level::NINETY_FIVE.chi_square() - 3.841458820694124).abs() < 1e-13);
    }

    #[test]
    fn a_level_outside_the_open_unit_interval_is_refused() {
        for level in [0.0, 1.0, -0.5, 95.0, f64::NAN] {
            assert_eq!(Level::new(level), None);
        }
        assert_eq!(Level::new(0.95), Some(Level::NINETY_FIVE));
    }

    #[test]
    fn an_interval_contains_its_bounds() {
        let interval = Interval { lower: 0.5, upper: 1.5 };
        assert!(interval.contains(0.5) && interval.contains(1.5) && !interval.contains(1.6));
        assert_eq!(interval.width(), 1.0);
    }
}
