//! In: the rows of all sessions, the verdicts on their failures, candidate policies, a seed.
//! Out: for each policy the turns it would have saved and lost, with bounds, costs and what the answer rests on.
//! Always: the same arrivals under another policy; the same bytes for a seed on any number of threads; no printing.

pub mod backtest;
pub mod bounds;
pub mod candidates;
pub mod chains;
pub mod common_numbers;
pub mod compiled;
pub mod engine;
pub mod evidence;
pub mod kinds;
pub mod laws;
pub mod onsets;
pub mod path;
pub mod play;
pub mod probes;
pub mod ranking;
pub mod recommendation;
pub mod shares;
pub mod simplex;
pub mod tally;
#[cfg(test)]
mod tests;
pub mod together;
pub mod two_state;
pub mod what_if;
pub mod world;
