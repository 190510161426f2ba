//! One window on one clock: how often steps fail that begin inside it, against those that begin elsewhere.

use super::marker::Marker;
use super::trial::{SessionTrials, Trial};
use crate::stats::{
    Interval, Level, NullDistribution, OddsRatio, RateRatio, ShiftPlan, Stratum, Table, WindowSession, fisher_exact,
    median, odds_ratio, stratified_rate_ratio_dispersed, wilson, window_shift_test,
};
use crate::windows::{Clock, Window};

/// Failed steps among steps.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rate {
    /// Steps that failed.
    pub failures: u64,
    /// Steps.
    pub steps: u64,
}

impl Rate {
    /// The share, where there are steps.
    #[must_use]
    pub fn value(self) -> Option<f64> {
        (self.steps > 0).then(|| self.failures as f64 / self.steps as f64)
    }

    /// Wilson's 95 % interval.
    #[must_use]
    pub fn interval(self) -> Option<Interval> {
        wilson(self.failures, self.steps, Level::NINETY_FIVE)
    }

    fn add(&mut self, failed: bool) {
        self.steps += 1;
        self.failures += u64::from(failed);
    }
}

/// Everything known about one window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowStudy {
    /// The window.
    pub window: Window,
    /// Steps that begin inside.
    pub inside: Rate,
    /// All other steps.
    pub outside: Rate,
    /// As many steps before each compaction as begin inside after it.
    pub before: Rate,
    /// Failures to be expected inside if steps failed there at the rate of their own session.
    pub expected_inside: f64,
    /// Rate inside over rate outside, each session its own control, with a 95 % interval widened for bursts.
    pub ratio: RateRatio,
    /// How much more the failures vary than independent ones: 1 without bursts.
    pub dispersion: f64,
    /// Two-sided p-value by circular shifts of the compactions within their sessions; `None` when a shift changes nothing.
    pub p_value: Option<f64>,
    /// How it was found.
    pub method: NullDistribution,
    /// Odds ratio over all sessions together, with its exact interval.
    pub odds: Option<OddsRatio>,
    /// Fisher's two-sided p-value over all sessions together.
    pub fisher_p: f64,
}

/// One session on one clock.
struct Placed {
    failed: Vec<bool>,
    inside: Vec<bool>,
    window_ends: Vec<usize>,
    markers: Vec<usize>,
}

impl Placed {
    fn counts(&self) -> (Rate, Rate) {
        let (mut inside, mut outside) = (Rate::default(), Rate::default());
        for (failed, within) in self.failed.iter().zip(&self.inside) {
            if *within { inside.add(*failed) } else { outside.add(*failed) }
        }
        (inside, outside)
    }
}

impl WindowStudy {
    /// Studies one window. `any`: the outcome is any failure of the step, not its loss.
    pub(super) fn of(
        sessions: &[SessionTrials],
        markers: &[Vec<Marker>],
        window: Window,
        any: bool,
        plan: &ShiftPlan,
    ) -> Self {
        let overall = typical_delay(sessions, markers, window.clock);
        let placed: Vec<Placed> =
            sessions.iter().zip(markers).map(|(s, m)| place(&s.trials, m, window, any, overall)).collect();
        let counts: Vec<(Rate, Rate)> = placed.iter().map(Placed::counts).collect();
        let sum = |side: fn(&(Rate, Rate)) -> Rate| {
            counts.iter().map(side).fold(Rate::default(), |sum, rate| Rate {
                failures: sum.failures + rate.failures,
                steps: sum.steps + rate.steps,
            })
        };
        let (inside, outside) = (sum(|c| c.0), sum(|c| c.1));
        let mut preceding = Rate::default();
        placed.iter().for_each(|placed| before(placed, &mut preceding));
        let shifted: Vec<WindowSession<'_>> = placed.iter().zip(&counts).map(shift_session).collect();
        let test = window_shift_test(&shifted, plan);
        let rate = Rate { failures: inside.failures + outside.failures, steps: inside.steps + outside.steps };
        // Steps are failed or not: even without bursts they vary less than counts that could exceed one.
        let least = 1.0 - rate.value().unwrap_or(0.0).min(0.9);
        let dispersion = test.dispersion.unwrap_or(1.0).max(least);
        let table = Table {
            exposed_events: inside.failures,
            exposed_rest: inside.steps - inside.failures,
            unexposed_events: outside.failures,
            unexposed_rest: outside.steps - outside.failures,
        };
        Self {
            window,
            inside,
            outside,
            before: preceding,
            expected_inside: counts.iter().map(expected).sum(),
            ratio: stratified_rate_ratio_dispersed(
                &counts.iter().map(stratum).collect::<Vec<_>>(),
                Level::NINETY_FIVE,
                dispersion,
            ),
            dispersion,
            p_value: (test.informative_sessions > 0).then_some(test.two_sided),
            method: test.method,
            odds: odds_ratio(table, Level::NINETY_FIVE),
            fisher_p: fisher_exact(table).two_sided,
        }
    }

    /// Most failures inside that can be owed to the compactions: those above the rate outside, at the upper bound of
    /// the ratio.
    #[must_use]
    pub fn attributable_at_most(&self) -> u64 {
        let excess = self.ratio.upper.map_or(1.0, |upper| (1.0 - 1.0 / upper.max(1.0)).max(0.0));
        (self.inside.failures as f64 * excess).ceil() as u64
    }
}

fn expected((inside, outside): &(Rate, Rate)) -> f64 {
    let steps = inside.steps + outside.steps;
    if steps == 0 { 0.0 } else { (inside.failures + outside.failures) as f64 * inside.steps as f64 / steps as f64 }
}

fn stratum((inside, outside): &(Rate, Rate)) -> Stratum {
    Stratum {
        inside_events: inside.failures,
        inside_exposure: inside.steps as f64,
        outside_events: outside.failures,
        outside_exposure: outside.steps as f64,
    }
}

fn shift_session<'a>((placed, (inside, _)): (&'a Placed, &(Rate, Rate))) -> WindowSession<'a> {
    WindowSession {
        failed: &placed.failed,
        window_ends: &placed.window_ends,
        markers: &placed.markers,
        trials_inside: inside.steps,
        failures_inside: inside.failures,
    }
}

/// How far a trial lies behind a place on the clock: events, seconds; attempts count the trial's own.
fn distance(clock: Clock, trial: &Trial, marker: &Marker) -> Option<f64> {
    match clock {
        Clock::Events => Some(trial.seq.saturating_sub(marker.end.0) as f64),
        Clock::Attempts => Some((trial.attempt + 1).saturating_sub(marker.next_attempt) as f64),
        Clock::Seconds => Some((trial.time?.saturating_sub(marker.end.1?)).max(0) as f64 / 1_000.0),
    }
}

/// How far a trial lies before a marker, on the clocks of events and seconds.
pub(super) fn distance_before(clock: Clock, trial: &Trial, marker: &Marker) -> Option<f64> {
    match clock {
        Clock::Events => Some(marker.start.0.saturating_sub(trial.seq) as f64),
        Clock::Attempts => None,
        Clock::Seconds => Some((marker.start.1?.saturating_sub(trial.time?)).max(0) as f64 / 1_000.0),
    }
}

/// Each trial with the last marker before it and its distance to that marker.
pub(super) fn after_markers<'a>(
    trials: &'a [Trial],
    markers: &'a [Marker],
    clock: Clock,
) -> impl Iterator<Item = (&'a Trial, Option<f64>)> {
    trials.iter().map(move |trial| {
        let last = markers.partition_point(|marker| marker.next_attempt <= trial.attempt);
        let nearest = last.checked_sub(1).map(|index| &markers[index]);
        (trial, nearest.and_then(|marker| distance(clock, trial, marker)))
    })
}

/// As many steps before each compaction as lie inside its window after it.
///
/// Counted in steps on every clock: the distance from a step to a later compaction contains the step's own length, and
/// a failed step is short.
fn before(placed: &Placed, rate: &mut Rate) {
    for (index, marker) in placed.markers.iter().enumerate() {
        let next = placed.markers.get(index + 1).copied().unwrap_or(placed.failed.len());
        let inside = placed.inside[*marker..next.max(*marker)].iter().filter(|inside| **inside).count();
        for trial in (marker.saturating_sub(inside)..*marker).filter(|trial| !placed.inside[*trial]) {
            rate.add(placed.failed[trial]);
        }
    }
}

/// Median distance from the end of a compaction to the first step after it, over all sessions.
fn typical_delay(sessions: &[SessionTrials], markers: &[Vec<Marker>], clock: Clock) -> f64 {
    let mut delays: Vec<f64> = Vec::new();
    for (session, markers) in sessions.iter().zip(markers) {
        for marker in markers {
            let next = session.trials.partition_point(|trial| trial.attempt < marker.next_attempt);
            delays.extend(session.trials.get(next).and_then(|trial| distance(clock, trial, marker)));
        }
    }
    median(&delays).unwrap_or(0.0)
}

fn place(trials: &[Trial], markers: &[Marker], window: Window, any: bool, delay: f64) -> Placed {
    Placed {
        failed: trials.iter().map(|trial| if any { trial.met_failure } else { trial.failed }).collect(),
        inside: after_markers(trials, markers, window.clock)
            .map(|(_, distance)| distance.is_some_and(|distance| distance <= window.length))
            .collect(),
        window_ends: window_ends(trials, window, delay),
        markers: markers
            .iter()
            .map(|marker| trials.partition_point(|trial| trial.attempt < marker.next_attempt))
            .collect(),
    }
}

/// For each trial: the first one outside a window whose compaction ended the typical delay before it.
fn window_ends(trials: &[Trial], window: Window, delay: f64) -> Vec<usize> {
    let mut places: Vec<f64> = trials.iter().map(|trial| on_clock(trial, window.clock)).collect();
    // Clocks that go back (forked logs) stand still instead.
    for index in 1..places.len() {
        places[index] = places[index].max(places[index - 1]);
    }
    let reach = window.length - if window.clock == Clock::Attempts { 1.0 } else { delay };
    let mut end = 0;
    (0..places.len())
        .map(|start| {
            end = end.max(start);
            while end < places.len() && places[end] - places[start] <= reach {
                end += 1;
            }
            end
        })
        .collect()
}

fn on_clock(trial: &Trial, clock: Clock) -> f64 {
    match clock {
        Clock::Events => trial.seq as f64,
        Clock::Attempts => trial.attempt as f64,
        Clock::Seconds => trial.time.map_or(f64::NEG_INFINITY, |time| time as f64 / 1_000.0),
    }
}
