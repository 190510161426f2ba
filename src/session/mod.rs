//! In: the events of one session in file order.
//! Out: [`SessionRows`]: one row per turn, step, attempt, retry, compaction and prune, plain data that outlives the session.
//! Always: inherited events give context but are never counted; attempts, steps and turns are kept apart.

mod attempt_row;
mod builder;
mod chains;
mod rows;
#[cfg(test)]
pub(crate) mod tests;

pub use attempt_row::*;
pub use builder::{OVERFLOW, SessionBuilder, SessionContext};
pub use rows::*;
