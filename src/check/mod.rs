//! In: the findings, verdicts and rows of an archive, a baseline, the gates of the configuration.
//! Out: [`CheckResult`]: what is new, worse, gone or not decidable, gate by gate, and the baseline that would accept it.
//! Always: without evidence nothing fails; a baseline holds no paths and no contents, and changes on demand only.

pub mod baseline;
mod classify;
mod compare;
mod decisions;
mod gates;
mod observed;
mod rates;
mod result;
mod update;

pub use baseline::{Accepted, BASELINE_SCHEMA, Baseline};
pub use classify::Rules;
pub use decisions::{Policy, decide_all};
pub use gates::{Asked, judge};
pub use observed::{Observed, Point, SavedShare};
pub use rates::{RateComparison, RateState};
pub use result::{CheckResult, Gate, GateState, Known, Outcome, Problem};
pub use update::{NeedsReason, updated};
