//! Event study: the rate of failed steps at each distance before and after a compaction.

use super::marker::Marker;
use super::trial::SessionTrials;
use super::window_study::{Rate, after_markers, distance_before};
use crate::windows::Clock;

/// Distances shown on either side.
pub const LAGS: i64 = 10;
/// Seconds in one lag of the clock of seconds.
pub const SECONDS_PER_LAG: f64 = 10.0;

/// The steps at one distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lag {
    /// The clock.
    pub clock: Clock,
    /// −10 … −1 before, 1 … 10 after; on the clock of seconds each stands for ten seconds.
    pub lag: i64,
    /// Steps that begin there, and those that fail.
    pub rate: Rate,
}

/// Rates by lag on the three clocks. A step counts after the last compaction before it and before the next one.
#[must_use]
pub fn event_study(sessions: &[SessionTrials], markers: &[Vec<Marker>]) -> Vec<Lag> {
    [Clock::Events, Clock::Attempts, Clock::Seconds]
        .into_iter()
        .flat_map(|clock| on(clock, sessions, markers))
        .collect()
}

fn on(clock: Clock, sessions: &[SessionTrials], markers: &[Vec<Marker>]) -> Vec<Lag> {
    let mut lags: Vec<Lag> =
        (-LAGS..=LAGS).filter(|lag| *lag != 0).map(|lag| Lag { clock, lag, rate: Rate::default() }).collect();
    let mut add = |lag: Option<i64>, failed: bool| {
        let place = lag.and_then(|lag| lags.iter_mut().find(|known| known.lag == lag));
        if let Some(place) = place {
            place.rate.steps += 1;
            place.rate.failures += u64::from(failed);
        }
    };
    for (session, markers) in sessions.iter().zip(markers) {
        if markers.is_empty() {
            continue;
        }
        for (index, (trial, after)) in after_markers(&session.trials, markers, clock).enumerate() {
            add(after.map(|distance| bin(clock, distance)), trial.failed);
            let next = markers.partition_point(|marker| marker.next_attempt <= trial.attempt);
            let before = markers.get(next).and_then(|marker| match clock {
                // Steps, not attempts: the retries of a failed step would move it away.
                Clock::Attempts => {
                    let place = session.trials.partition_point(|trial| trial.attempt < marker.next_attempt);
                    Some((place - index) as f64)
                }
                _ => distance_before(clock, trial, marker),
            });
            add(before.map(|distance| -bin(clock, distance)), trial.failed);
        }
    }
    lags
}

/// From 1; far distances lie behind the last lag.
fn bin(clock: Clock, distance: f64) -> i64 {
    let lags = if clock == Clock::Seconds { distance / SECONDS_PER_LAG } else { distance };
    (lags.min(1e6).ceil() as i64).max(1)
}
