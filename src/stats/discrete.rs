//! In: the support of a unimodal law on integers and the ratio of neighbouring weights.
//! Out: its normalised weights, tails and means.
//! Always: built outward from the mode by multiplication, so no factorial, logarithm or cancellation is involved.

/// Two weights closer than this relative distance count as equal, as in R's `fisher.test` and `binom.test`.
const TIE: f64 = 1.0 + 1e-7;

/// Weights of a unimodal law relative to its mode, where they do not underflow.
pub(super) struct Weights {
    /// Value that the first weight belongs to.
    lowest: u64,
    values: Vec<f64>,
    total: f64,
}

/// A tail of the law: its probability and the mean of the values inside.
pub(super) struct Tail {
    pub probability: f64,
    pub mean: f64,
}

impl Weights {
    /// Weights on `low..=high`, where `ratio(x)` = weight(x+1)/weight(x) does not increase with x.
    pub(super) fn new(low: u64, high: u64, ratio: impl Fn(u64) -> f64) -> Self {
        let mode = mode(low, high, &ratio);
        let mut below = Vec::new();
        let mut weight = 1.0;
        for x in (low..mode).rev() {
            weight /= ratio(x);
            if weight < f64::MIN_POSITIVE {
                break;
            }
            below.push(weight);
        }
        let lowest = mode - below.len() as u64;
        let mut values: Vec<f64> = below.into_iter().rev().collect();
        values.push(1.0);
        weight = 1.0;
        for x in mode..high {
            weight *= ratio(x);
            if weight < f64::MIN_POSITIVE {
                break;
            }
            values.push(weight);
        }
        let total = values.iter().sum();
        Self { lowest, values, total }
    }

    /// Mean of the law.
    pub(super) fn mean(&self) -> f64 {
        self.tail(&self.values, 0).mean
    }

    /// Variance of the law.
    pub(super) fn variance(&self) -> f64 {
        let mean = self.mean() - self.lowest as f64;
        let squares: f64 = (0_u32..)
            .zip(&self.values)
            .map(|(index, weight)| weight * (f64::from(index) - mean) * (f64::from(index) - mean))
            .sum();
        squares / self.total
    }

    /// P(X = x).
    pub(super) fn at(&self, x: u64) -> f64 {
        self.weight(x) / self.total
    }

    /// P(X ≤ x) and the mean below.
    pub(super) fn at_most(&self, x: u64) -> Tail {
        let end = (x + 1).saturating_sub(self.lowest) as usize;
        self.tail(&self.values[..end.min(self.values.len())], 0)
    }

    /// P(X ≥ x) and the mean above.
    pub(super) fn at_least(&self, x: u64) -> Tail {
        let start = (x.saturating_sub(self.lowest) as usize).min(self.values.len());
        self.tail(&self.values[start..], start)
    }

    /// P(the values that are no likelier than x), with R's tolerance for ties.
    pub(super) fn no_likelier_than(&self, x: u64) -> f64 {
        let limit = self.weight(x) * TIE;
        let sum: f64 = self.values.iter().filter(|weight| **weight <= limit).sum();
        (sum / self.total).min(1.0)
    }

    fn weight(&self, x: u64) -> f64 {
        x.checked_sub(self.lowest).and_then(|index| self.values.get(index as usize)).copied().unwrap_or(0.0)
    }

    fn tail(&self, values: &[f64], start: usize) -> Tail {
        let sum: f64 = values.iter().sum();
        let moment: f64 = (0_u32..).zip(values).map(|(index, weight)| f64::from(index) * weight).sum();
        Tail { probability: (sum / self.total).min(1.0), mean: (self.lowest + start as u64) as f64 + moment / sum }
    }
}

/// First value that is likelier than its successor, by bisection.
fn mode(low: u64, high: u64, ratio: impl Fn(u64) -> f64) -> u64 {
    let (mut low, mut high) = (low, high);
    while low < high {
        let middle = low + (high - low) / 2;
        if ratio(middle) < 1.0 {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::Weights;

    /// Binomial(4, ½): weights 1, 4, 6, 4, 1 of 16; mean 2, variance 1.
    #[test]
    fn a_small_binomial_law_has_its_textbook_tails() {
        let law = Weights::new(0, 4, |x| (4 - x) as f64 / (x + 1) as f64);
        assert!((law.at(2) - 6.0 / 16.0).abs() < 1e-15);
        assert!((law.at_most(1).probability - 5.0 / 16.0).abs() < 1e-15);
        assert!((law.at_most(1).mean - 4.0 / 5.0).abs() < 1e-15);
        assert!((law.at_least(3).probability - 5.0 / 16.0).abs() < 1e-15);
        assert!((law.at_least(3).mean - 16.0 / 5.0).abs() < 1e-15);
        assert!((law.no_likelier_than(1) - 10.0 / 16.0).abs() < 1e-15);
        assert!((law.mean() - 2.0).abs() < 1e-15 && (law.variance() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_value_outside_the_support_has_no_weight() {
        let law = Weights::new(2, 3, |_| 1.0);
        assert_eq!(law.at(1), 0.0);
        assert_eq!(law.at(4), 0.0);
        assert_eq!(law.at_most(1).probability, 0.0);
        assert_eq!(law.at_least(1).probability, 1.0);
        assert_eq!(law.at_least(4).probability, 0.0);
    }

    #[test]
    fn a_support_of_one_value_is_certain() {
        let law = Weights::new(7, 7, |_| 0.0);
        assert_eq!(law.at(7), 1.0);
        assert_eq!(law.mean(), 7.0);
    }
}
