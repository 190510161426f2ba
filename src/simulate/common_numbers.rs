//! Random numbers that every policy shares: the k-th attempt of a chain meets the same luck under each of them.

/// Uniform numbers addressed by draw, chain and attempt, without any state.
///
/// Common random numbers make the difference between two policies far less noisy than either of them. The mixing
/// function is the finaliser of SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, *Fast Splittable Pseudorandom Number
/// Generators*, OOPSLA 2014), applied to the key and the place one after another.
#[derive(Debug, Clone, Copy)]
pub struct CommonNumbers {
    key: u64,
}

/// What one attempt draws, both in [0, 1).
#[derive(Debug, Clone, Copy)]
pub struct AttemptLuck {
    /// For the jitter of the wait before it.
    pub jitter: f64,
    /// For the record of a failure that it repeats.
    pub record: f64,
    word: u64,
}

impl AttemptLuck {
    /// For the outcome where the state of the route leaves it open; computed only where it is needed.
    #[must_use]
    pub fn outcome(self) -> f64 {
        (mix(self.word ^ 0xD1B5_4A32_D192_ED03) >> 11) as f64 * TWO_TO_MINUS_53
    }
}

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
const TWO_TO_MINUS_53: f64 = 1.0 / 9_007_199_254_740_992.0;
const TWO_TO_MINUS_32: f64 = 1.0 / 4_294_967_296.0;

fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

impl CommonNumbers {
    /// The numbers of one draw.
    #[must_use]
    pub fn new(key: u64) -> Self {
        Self { key: mix(key.wrapping_add(GOLDEN)) }
    }

    /// The numbers of one chain.
    #[must_use]
    pub fn chain(self, chain: u64) -> Self {
        Self { key: mix(self.key ^ chain.wrapping_add(1).wrapping_mul(GOLDEN)) }
    }

    /// What the attempt draws; `attempt` counts the retries of the chain from 1.
    #[must_use]
    pub fn attempt(self, attempt: u64) -> AttemptLuck {
        let word = mix(self.key.wrapping_add(attempt.wrapping_mul(GOLDEN)));
        AttemptLuck {
            jitter: (word >> 32) as f64 * TWO_TO_MINUS_32,
            record: (word & 0xFFFF_FFFF) as f64 * TWO_TO_MINUS_32,
            word,
        }
    }

    /// One uniform number of the chain itself.
    #[must_use]
    pub fn uniform(self) -> f64 {
        (self.key >> 11) as f64 * TWO_TO_MINUS_53
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_depend_on_their_place_alone_and_fill_the_interval() {
        let chain = CommonNumbers::new(7).chain(3);
        let again = CommonNumbers::new(7).chain(3);
        assert_eq!(chain.attempt(2).jitter, again.attempt(2).jitter);
        assert_ne!(chain.attempt(2).jitter, chain.attempt(3).jitter);
        assert_ne!(chain.attempt(2).jitter, CommonNumbers::new(8).chain(3).attempt(2).jitter);
        let mut sums = [0.0; 3];
        for attempt in 0..10_000 {
            let luck = chain.attempt(attempt);
            for (sum, value) in sums.iter_mut().zip([luck.jitter, luck.record, luck.outcome()]) {
                assert!((0.0..1.0).contains(&value));
                *sum += value;
            }
        }
        // The standard deviation of a mean of 10,000 uniform numbers is 0.0029.
        assert!(sums.iter().all(|sum| (sum / 10_000.0 - 0.5).abs() < 0.012), "{sums:?}");
    }
}
