//! In: the caller's limits.
//! Out: `ShiftPlan`: when to enumerate, when to sample, and how much.
//! Always: at least 9,999 shifts are sampled.

/// Fewest random joint shifts: enough for a p-value of 0.0001.
const FEWEST_SHIFTS: u32 = 9_999;

/// Limits of a circular-shift test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShiftPlan {
    /// Most multiplications for the exact distribution; beyond, joint shifts are sampled.
    pub most_steps: u64,
    /// Seed of the sampled shifts.
    pub seed: u64,
    shifts: u32,
}

impl ShiftPlan {
    /// Exact up to 10⁹ multiplications (some 30,000 failures); 9,999 sampled shifts beyond.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { most_steps: 1_000_000_000, seed, shifts: FEWEST_SHIFTS }
    }

    /// Samples this many shifts where it samples; fewer than 9,999 are raised to 9,999.
    #[must_use]
    pub const fn with_shifts(mut self, shifts: u32) -> Self {
        self.shifts = if shifts < FEWEST_SHIFTS { FEWEST_SHIFTS } else { shifts };
        self
    }

    /// Enumerates only within this many multiplications; 0 always samples.
    #[must_use]
    pub const fn with_most_steps(mut self, most_steps: u64) -> Self {
        self.most_steps = most_steps;
        self
    }

    /// Random joint shifts to draw.
    #[must_use]
    pub const fn shifts(&self) -> u32 {
        self.shifts
    }
}
