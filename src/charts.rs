//! In: the rows of all sessions, filtered.
//! Out: [`Charts`]: what the charts of `scan` show, counted into few bins whatever the archive's size.
//! Always: every selected failed attempt stands in exactly one bin of a chart, or in its count of unknown ones.

use std::collections::BTreeMap;

use crate::filter::Filters;
use crate::session::{Outcome, SessionRows};
use crate::stats::{Level, wilson};
use crate::summary::failure_of;

#[cfg(test)]
mod tests;

/// Most bins along the time.
const TIME_BINS: i64 = 40;
/// Codes shown by name; the rest is one series.
const CODES_SHOWN: usize = 5;
/// Upper ends of the bands of fill; the last band is open.
pub const FILL_ENDS: [f64; 11] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, f64::INFINITY];
/// Upper ends of the bands of delay, seconds; the last band is open.
pub const DELAY_ENDS: [f64; 8] = [1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, f64::INFINITY];

/// Lengths of a bin of time, milliseconds: those that people read off an axis.
const TIME_STEPS: [i64; 16] = [
    1_000,
    5_000,
    15_000,
    60_000,
    300_000,
    900_000,
    3_600_000,
    3 * 3_600_000,
    6 * 3_600_000,
    12 * 3_600_000,
    86_400_000,
    7 * 86_400_000,
    30 * 86_400_000,
    91 * 86_400_000,
    365 * 86_400_000,
    3_650 * 86_400_000,
];

/// Failed attempts over the time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OverTime {
    /// Start of the first bin, epoch milliseconds.
    pub start: i64,
    /// Length of a bin, milliseconds.
    pub bin_ms: i64,
    /// Code (`None`: all others together) and failed attempts by bin.
    pub series: Vec<(Option<String>, Vec<u64>)>,
    /// Failed attempts without a time.
    pub untimed: u64,
}

/// Attempts of one band of fill.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FillBand {
    /// Failed attempts.
    pub failed: u64,
    /// Successful attempts.
    pub succeeded: u64,
    /// Share that failed, with its 95 % Wilson interval; `None` where the band is empty.
    pub rate: Option<(f64, f64, f64)>,
}

/// Retries of one band of delay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DelayBand {
    /// The next attempt succeeded.
    pub succeeded: u64,
    /// The next attempt failed.
    pub failed: u64,
    /// No attempt followed, or it has no end.
    pub other: u64,
}

/// What the charts of `scan` show.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Charts {
    /// Failures over time by code; empty without failures.
    pub over_time: OverTime,
    /// Fill by the bands of [`FILL_ENDS`]; all zero where no size or window is known.
    pub fill: [FillBand; FILL_ENDS.len()],
    /// Failed and successful attempts whose size or window is unknown.
    pub unsized_attempts: u64,
    /// Retries by the bands of [`DELAY_ENDS`].
    pub delay: [DelayBand; DELAY_ENDS.len()],
}

impl Charts {
    /// Counts everything once.
    pub fn of(sessions: &[SessionRows], filters: &Filters) -> Self {
        let attempts = sessions.iter().flat_map(|s| &s.attempts);
        let failures = attempts.filter_map(|a| failure_of(a, filters).map(|f| (f.code.as_str(), a.time)));
        let mut charts = Self { over_time: over_time(failures), ..Self::default() };
        for session in sessions {
            charts.add_fill(session, filters);
            charts.add_delays(session, filters);
        }
        for band in &mut charts.fill {
            let interval = wilson(band.failed, band.failed + band.succeeded, Level::NINETY_FIVE);
            let rate = band.failed as f64 / (band.failed + band.succeeded) as f64;
            band.rate = interval.map(|i| (rate, i.lower, i.upper));
        }
        charts
    }

    fn add_fill(&mut self, session: &SessionRows, filters: &Filters) {
        for attempt in session.attempts.iter().filter(|a| a.selected) {
            let failed = failure_of(attempt, filters).is_some();
            if !failed && attempt.outcome != Outcome::Succeeded {
                continue;
            }
            let tokens = attempt.request.as_deref().and_then(|r| r.tokens).map(|t| t.value);
            let Some((tokens, window)) = tokens.zip(attempt.window.filter(|w| *w > 0)) else {
                self.unsized_attempts += 1;
                continue;
            };
            let band = &mut self.fill[band_of(&FILL_ENDS, tokens as f64 / window as f64)];
            if failed {
                band.failed += 1;
            } else {
                band.succeeded += 1;
            }
        }
    }

    fn add_delays(&mut self, session: &SessionRows, filters: &Filters) {
        for retry in &session.retries {
            let selected = retry.after_attempt.map(|i| &session.attempts[i]);
            if selected.is_none_or(|attempt| failure_of(attempt, filters).is_none()) {
                continue;
            }
            let band = &mut self.delay[band_of(&DELAY_ENDS, retry.retry.delay_ms / 1e3)];
            match retry.next_attempt.filter(|_| retry.started).map(|i| session.attempts[i].outcome) {
                Some(Outcome::Succeeded) => band.succeeded += 1,
                Some(Outcome::Failed) => band.failed += 1,
                _ => band.other += 1,
            }
        }
    }
}

/// Index of the band that holds the value; an end belongs to the band below it.
fn band_of(ends: &[f64], value: f64) -> usize {
    ends.iter().position(|end| value <= *end).unwrap_or(ends.len() - 1)
}

fn over_time<'a>(failures: impl Iterator<Item = (&'a str, Option<i64>)>) -> OverTime {
    let mut by_code: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    let mut untimed = 0;
    for (code, time) in failures {
        match time {
            Some(time) => by_code.entry(code).or_default().push(time),
            None => untimed += 1,
        }
    }
    let times = || by_code.values().flatten().copied();
    let Some((first, last)) = times().min().zip(times().max()) else {
        return OverTime { untimed, ..OverTime::default() };
    };
    let bin_ms = TIME_STEPS
        .into_iter()
        .find(|step| last.div_euclid(*step).saturating_sub(first.div_euclid(*step)) < TIME_BINS)
        .unwrap_or_else(|| (last.saturating_sub(first) / (TIME_BINS - 1)).max(1));
    let start = first.div_euclid(bin_ms) * bin_ms;
    let bins = (last.saturating_sub(start) / bin_ms + 1) as usize;
    let mut codes: Vec<(&str, Vec<i64>)> = by_code.into_iter().collect();
    codes.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.0.cmp(b.0)));
    let mut series: Vec<(Option<String>, Vec<u64>)> = Vec::new();
    for (rank, (code, times)) in codes.into_iter().enumerate() {
        if rank <= CODES_SHOWN {
            series.push(((rank < CODES_SHOWN).then(|| code.to_owned()), vec![0; bins]));
        }
        let Some((_, counts)) = series.last_mut() else { continue };
        times.iter().for_each(|time| counts[((time.saturating_sub(start)) / bin_ms) as usize] += 1);
    }
    OverTime { start, bin_ms, series, untimed }
}
