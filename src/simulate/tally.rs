//! Sums over the chains of one draw, and the waits of all draws.

use super::chains::{Chain, Recorded};
use super::play::Ending;

/// One policy in one draw. Counts of turns come three ways: beyond the evidence everything fails, goes as drawn, succeeds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tally {
    /// Failed turns that it brings to success.
    pub saved: [u64; 3],
    /// Recovered chains that it gives up.
    pub lost: [u64; 3],
    /// Attempts after the first failing one.
    pub attempts: u64,
    /// Of those, failed ones.
    pub failed: u64,
    /// Of those, into an outage of the route.
    pub into_outage: u64,
    /// Attempts before the Retry-After they were given.
    pub violations: u64,
    /// Chains that never end.
    pub endless: u64,
    /// Input tokens sent again, where the size is known.
    pub tokens: u64,
    /// Waits of all chains, milliseconds.
    pub wait_ms: f64,
    /// Summary calls.
    pub compactions: u64,
    /// Summaries that replaced context.
    pub compactions_done: u64,
}

impl Tally {
    /// Adds a chain.
    pub fn add(&mut self, chain: &Chain, ending: &Ending) {
        let ways = [ending.saved_if_beyond_fails, ending.saved, ending.saved_if_beyond_succeeds];
        for (way, success) in ways.into_iter().enumerate() {
            match chain.recorded {
                Recorded::FailedTurn => self.saved[way] += u64::from(success),
                Recorded::Recovered => self.lost[way] += u64::from(!success),
            }
        }
        self.attempts += ending.attempts;
        self.failed += ending.failed;
        self.into_outage += ending.into_outage;
        self.violations += ending.violations;
        self.endless += u64::from(ending.endless);
        self.tokens += (ending.attempts + ending.compactions) * chain.tokens.unwrap_or(0);
        self.wait_ms += ending.wait_ms;
        self.compactions += ending.compactions;
        self.compactions_done += ending.compactions_done;
    }

    /// Saved minus lost, in one of the three ways.
    #[must_use]
    pub fn net(&self, way: usize) -> f64 {
        self.saved[way] as f64 - self.lost[way] as f64
    }
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        for way in 0..3 {
            self.saved[way] += other.saved[way];
            self.lost[way] += other.lost[way];
        }
        self.attempts += other.attempts;
        self.failed += other.failed;
        self.into_outage += other.into_outage;
        self.violations += other.violations;
        self.endless += other.endless;
        self.tokens += other.tokens;
        self.wait_ms += other.wait_ms;
        self.compactions += other.compactions;
        self.compactions_done += other.compactions_done;
    }
}

/// Waits in classes of less than 1 % width: integers, so that any order of adding gives the same counts.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitCounts {
    counts: Vec<u64>,
}

/// Classes per doubling, as a power of two.
const CLASSES_LOG2: u32 = 7;
/// Doublings from 1 ms on: up to 35 years.
const DOUBLINGS: usize = 40;

impl Default for WaitCounts {
    fn default() -> Self {
        Self { counts: vec![0; (DOUBLINGS << CLASSES_LOG2) + 1] }
    }
}

impl WaitCounts {
    /// Counts one wait, milliseconds.
    pub fn add(&mut self, wait_ms: f64) {
        let bits = wait_ms.max(1.0).to_bits() >> (52 - CLASSES_LOG2);
        let class = (bits - (1.0_f64.to_bits() >> (52 - CLASSES_LOG2))) as usize;
        let last = self.counts.len() - 1;
        self.counts[class.min(last)] += 1;
    }

    /// Adds another count.
    pub fn merge(&mut self, other: &Self) {
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum += count;
        }
    }

    /// A quantile, milliseconds (the middle of its class); `None` without any wait.
    #[must_use]
    pub fn quantile(&self, probability: f64) -> Option<f64> {
        let total: u64 = self.counts.iter().sum();
        let rank = ((total as f64 * probability).ceil() as u64).max(1);
        let mut sum = 0;
        let class = self.counts.iter().position(|count| {
            sum += count;
            sum >= rank
        })?;
        let base = 1.0_f64.to_bits() >> (52 - CLASSES_LOG2);
        let edge = |class: usize| f64::from_bits((base + class as u64) << (52 - CLASSES_LOG2));
        Some(0.5 * (edge(class) + edge(class + 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_waits_are_within_one_percent() {
        let mut waits = WaitCounts::default();
        (1..=1000).for_each(|k| waits.add(f64::from(k) * 10.0));
        for (probability, expected) in [(0.5, 5000.0), (0.95, 9500.0)] {
            let found = waits.quantile(probability).unwrap();
            assert!((found / expected - 1.0).abs() < 0.01, "{found}");
        }
        assert_eq!(WaitCounts::default().quantile(0.5), None);
    }
}
