//! In: a seed, and labels for independent parts of the work.
//! Out: a stream of uniform and normal numbers.
//! Always: seed and labels alone decide the stream, not what was drawn before, nor threads, nor the platform.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::normal::normal_quantile;

#[cfg(test)]
mod tests;

/// Separates the keys of forks from the output that the parent itself gives away.
const FORK_DOMAIN: [u8; 32] = *b"dsh-forensics/stats/random/fork1";
const TWO_TO_MINUS_53: f64 = 1.0 / 9_007_199_254_740_992.0;
const TWO_TO_MINUS_52: f64 = 1.0 / 4_503_599_627_370_496.0;

/// Seeded generator: ChaCha with 8 rounds (D. J. Bernstein, *ChaCha, a variant of Salsa20*, 2008).
#[derive(Debug, Clone)]
pub struct SeededRng {
    key: [u8; 32],
    stream: ChaCha8Rng,
}

impl SeededRng {
    /// A generator whose key is the seed, little-endian, followed by zeros.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self::of_key(key)
    }

    /// An independent generator for one part of the work: a draw, a session, a fold.
    ///
    /// Depends on the parent's key and the label only, not on how much the parent has drawn: the parts may run on
    /// any number of threads, in any order.
    #[must_use]
    pub fn fork(&self, label: u64) -> Self {
        let mut key = self.key;
        for (byte, tag) in key.iter_mut().zip(FORK_DOMAIN) {
            *byte ^= tag;
        }
        let mut derivation = ChaCha8Rng::from_seed(key);
        derivation.set_stream(label);
        let mut child = [0; 32];
        derivation.fill_bytes(&mut child);
        Self::of_key(child)
    }

    /// 64 uniform bits.
    pub fn next_u64(&mut self) -> u64 {
        self.stream.next_u64()
    }

    /// Uniform in [0, 1), a multiple of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * TWO_TO_MINUS_53
    }

    /// Uniform in (0, 1), an odd multiple of 2⁻⁵³: safe for logarithms and quantiles.
    pub fn uniform_open(&mut self) -> f64 {
        ((self.next_u64() >> 12) as f64 + 0.5) * TWO_TO_MINUS_52
    }

    /// Uniform in `low..high`; `low` when the range is empty.
    pub fn uniform_between(&mut self, low: f64, high: f64) -> f64 {
        if high > low { (low + (high - low) * self.uniform()).min(high.next_down()) } else { low }
    }

    /// Uniform in 0 … `bound` − 1, without bias; `None` when the bound is 0.
    ///
    /// Source: D. Lemire, *Fast Random Integer Generation in an Interval*, ACM TOMACS 29, 2019.
    pub fn below(&mut self, bound: u64) -> Option<u64> {
        if bound == 0 {
            return None;
        }
        let rejected = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            if product as u64 >= rejected {
                return Some((product >> 64) as u64);
            }
        }
    }

    /// A uniformly chosen element; `None` from an empty slice.
    pub fn choose<'a, T>(&mut self, slice: &'a [T]) -> Option<&'a T> {
        let index = self.below(slice.len() as u64)?;
        slice.get(index as usize)
    }

    /// True with the given probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// Standard normal deviate, by inversion: always one uniform, so common random numbers stay aligned.
    pub fn standard_normal(&mut self) -> f64 {
        normal_quantile(self.uniform_open())
    }

    fn of_key(key: [u8; 32]) -> Self {
        Self { key, stream: ChaCha8Rng::from_seed(key) }
    }
}
