//! In: per session a length, the positions of failures and of markers (compactions), and a window after a marker.
//! Out: how surprising the number of failures inside the windows is, when markers are shifted circularly.
//! Always: shifts are independent between sessions; a failure counts once, however many windows hold it.

use std::fmt;

mod null_counts;
mod plan;

pub use plan::ShiftPlan;

use null_counts::{counts_by_shift, exact_tails, sampled_tails};

#[cfg(test)]
mod tests;

/// One session on one clock (events, attempts or seconds).
#[derive(Debug, Clone, Copy)]
pub struct ShiftSession<'a> {
    /// Number of positions, counted from 0.
    pub length: usize,
    /// Positions of failures; a position may occur several times and then counts as often.
    pub failures: &'a [usize],
    /// Positions of markers; repetitions change nothing.
    pub markers: &'a [usize],
}

/// Window of positions relative to a marker, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    first: i64,
    last: i64,
}

impl Window {
    /// Lags `first..=last`; negative lags lie before the marker. `None` when `first > last`.
    #[must_use]
    pub fn new(first: i64, last: i64) -> Option<Self> {
        (first <= last).then_some(Self { first, last })
    }

    /// The `count` positions after a marker, without the marker's own; `None` for 0.
    #[must_use]
    pub fn after(count: u32) -> Option<Self> {
        Self::new(1, i64::from(count))
    }

    /// Marker positions that put a failure at `failure` inside the window, within a session of `length`.
    ///
    /// Windows end with the session: only the markers wrap around. Otherwise the observed count would include
    /// failures at the start of a session for a marker at its end.
    fn marker_range(self, failure: usize, length: usize) -> Option<(usize, usize)> {
        let place = i64::try_from(failure).ok()?;
        let end = i64::try_from(length).ok()?;
        let low = place.saturating_sub(self.last).max(0);
        let high = place.saturating_sub(self.first).min(end - 1);
        if low > high {
            return None;
        }
        Some((usize::try_from(low).ok()?, usize::try_from(high).ok()?))
    }
}

/// How the distribution under random shifts was obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NullDistribution {
    /// All joint shifts, weighted equally; the p-values are exact.
    Exact,
    /// This many random joint shifts; p = (1 + number as extreme)/(1 + shifts).
    Sampled {
        /// Number of random joint shifts.
        shifts: u32,
    },
}

/// Result of a circular-shift permutation test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CircularShiftTest {
    /// Failures inside the windows of the recorded markers.
    pub observed: u64,
    /// Mean number of failures inside the windows over all joint shifts.
    pub expected: f64,
    /// Sessions in which a shift can change the count.
    pub informative_sessions: usize,
    /// P(count ≥ observed).
    pub upper: f64,
    /// P(count ≤ observed).
    pub lower: f64,
    /// Twice the smaller tail, at most 1.
    pub two_sided: f64,
    /// Exact or sampled.
    pub method: NullDistribution,
}

/// What is wrong with the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShiftError {
    /// A failure or marker lies at or behind the end of its session.
    PositionBehindEnd {
        /// Index of the session in the input.
        session: usize,
        /// The offending position.
        position: usize,
        /// Length of the session.
        length: usize,
    },
}

impl fmt::Display for ShiftError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::PositionBehindEnd { session, position, length } = self;
        write!(formatter, "session {session}: position {position} lies behind its end ({length} positions)")
    }
}

impl std::error::Error for ShiftError {}

/// Do failures gather in windows around markers more, or less, than under circular shifts of the markers?
///
/// Each session's markers are shifted together by a number uniform over its positions, which keeps their number and
/// spacing and the failures' clustering; sessions are shifted independently. The count of a session under each of
/// its shifts takes O(failures × markers + length). The counts are then convolved over sessions, which is the full
/// enumeration of all joint shifts, the recorded one included; only where that would exceed
/// [`ShiftPlan::most_steps`] are joint shifts sampled.
///
/// # Errors
///
/// A position at or behind the end of its session.
///
/// Source: M. D. Ernst, *Permutation Methods: A Basis for Exact Inference*, Statistical Science 19, 2004; B. Phipson
/// and G. K. Smyth, *Permutation P-values Should Never Be Zero*, 2010, for the sampled p.
pub fn circular_shift_test(
    sessions: &[ShiftSession<'_>],
    window: Window,
    plan: &ShiftPlan,
) -> Result<CircularShiftTest, ShiftError> {
    for (index, session) in sessions.iter().enumerate() {
        check(index, session)?;
    }
    let mut constant = 0;
    let mut observed = 0;
    let mut tables = Vec::new();
    for session in sessions {
        let counts = counts_by_shift(session, window);
        let Some(recorded) = counts.first() else {
            continue;
        };
        observed += u64::from(*recorded);
        if counts.iter().all(|count| count == recorded) {
            constant += u64::from(*recorded);
        } else {
            tables.push(counts);
        }
    }
    let tails = match exact_tails(&tables, observed - constant, plan.most_steps) {
        Some(tails) => tails,
        None => sampled_tails(&tables, observed - constant, plan),
    };
    Ok(CircularShiftTest {
        observed,
        expected: constant as f64 + tables.iter().map(|counts| mean(counts)).sum::<f64>(),
        informative_sessions: tables.len(),
        upper: tails.upper,
        lower: tails.lower,
        two_sided: (2.0 * tails.upper.min(tails.lower)).min(1.0),
        method: tails.method,
    })
}

fn check(index: usize, session: &ShiftSession<'_>) -> Result<(), ShiftError> {
    let behind = session.failures.iter().chain(session.markers).find(|position| **position >= session.length);
    match behind {
        None => Ok(()),
        Some(position) => {
            Err(ShiftError::PositionBehindEnd { session: index, position: *position, length: session.length })
        }
    }
}

fn mean(counts: &[u32]) -> f64 {
    let sum: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    sum as f64 / counts.len() as f64
}
