//! In: counts, exposures and positions as plain numbers and slices, and seeds for everything random.
//! Out: estimates with intervals, p-values and q-values, quantiles, reproducible random draws.
//! Always: no I/O, no clock, no panic; the same input gives the same bits on every machine and thread count.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may panic: that is how it fails"))]

mod beta;
mod binomial;
mod circular_shift;
#[cfg(test)]
mod closeness;
mod discrete;
mod draws;
mod elementary;
mod false_discovery;
mod fisher;
mod gamma;
mod interval;
mod normal;
mod pooled_ratio;
mod proportion;
mod quantile;
mod random;
mod rate_ratio;
mod root;
mod self_controlled;
mod student;
mod trend;
mod window_shifts;

pub use beta::{beta_cdf, beta_quantile};
pub use binomial::binomial_two_sided;
pub use circular_shift::{
    CircularShiftTest, NullDistribution, ShiftError, ShiftPlan, ShiftSession, Window, circular_shift_test,
};
pub use draws::{BetaDraw, ExponentialDraw, GammaDraw};
pub use elementary::{exp, exp_minus_one, ln, ln_one_plus};
pub use false_discovery::benjamini_hochberg;
pub use fisher::{FisherTest, OddsRatio, Table, fisher_exact, odds_ratio};
pub use gamma::{ln_choose, ln_gamma};
pub use interval::{Interval, Level};
pub use normal::{chi_square_one_quantile, chi_square_one_tail, normal_cdf, normal_quantile};
pub use pooled_ratio::{PooledRatio, ScanUnit, pooled_rate_ratio};
pub use proportion::{Proportion, clopper_pearson, newcombe_difference, wilson};
pub use quantile::{median, quantile, quantile_sorted};
pub use random::SeededRng;
pub use rate_ratio::{RateRatio, rate_ratio};
pub use self_controlled::{Stratum, stratified_rate_ratio, stratified_rate_ratio_dispersed};
pub use student::{student_quantile, student_two_sided};
pub use trend::{TrendGroup, TrendTest, cochran_armitage};
pub use window_shifts::{WindowSession, WindowShiftTest, window_shift_test};
