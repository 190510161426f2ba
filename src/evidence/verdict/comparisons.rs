//! What the other requests of the archive say: sorted once, searched per failure.

use std::collections::HashMap;

use super::failure_of;
use crate::session::{AttemptRow, Outcome, Route, SessionRows, TokenEstimate};

/// Attempts of other sessions this near in time are neighbours, milliseconds.
pub const NEIGHBOUR_MS: i64 = 60_000;
/// Fewest failures, and fewest successes, that can show a limit.
const LIMIT_WITNESSES: usize = 3;

/// Provider, model and window: requests are compared in size only where all three agree.
type RouteKey<'a> = (&'a Route, Option<u64>);

/// One failure among those of its route with the same text.
#[derive(Debug, Clone, Copy)]
struct SizedFailure {
    size: TokenEstimate,
    time: Option<i64>,
    step: (usize, u64, u64),
}

#[derive(Debug, Default)]
struct RouteSizes<'a> {
    /// Trusted reported prompts of successes, sorted.
    successes: Vec<u64>,
    /// Time of the last success.
    last_success: Option<i64>,
    failures: HashMap<&'a str, Vec<SizedFailure>>,
    /// By text, once all is read.
    overlaps: HashMap<&'a str, Overlap>,
}

/// How the sizes of failures with one text and of the route's successes lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// Smallest failing size, tokens.
    pub smallest_failing: u64,
    /// Largest succeeding size, tokens.
    pub largest_succeeding: u64,
    /// Failures with this text that have a size.
    pub failures: usize,
    /// Of those, failures surely smaller than the largest success.
    pub failures_below: usize,
    /// Successes that have a size.
    pub successes: usize,
    /// All failures lie above all successes, in several steps, with successes afterwards: a limit lies between the two.
    pub limit: bool,
}

/// Attempts of other sessions on the same route at about the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Neighbours {
    /// Other sessions with an attempt.
    pub sessions: usize,
    /// Of those, sessions with a failure.
    pub failing_sessions: usize,
    /// Their attempts.
    pub attempts: usize,
    /// Of those, failed ones.
    pub failures: usize,
}

/// Sorted views of the archive.
#[derive(Debug, Default)]
pub struct Comparisons<'a> {
    sizes: HashMap<RouteKey<'a>, RouteSizes<'a>>,
    /// Time, session, failed: by route, sorted.
    times: HashMap<&'a Route, Vec<Moment>>,
    /// By route, time and session of a failure.
    near: HashMap<&'a Route, HashMap<(i64, usize), Neighbours>>,
}

/// Time, session, failed.
type Moment = (i64, usize, bool);

impl<'a> Comparisons<'a> {
    /// One pass over all attempts, then sorting.
    pub fn of(sessions: &'a [SessionRows]) -> Self {
        let mut all = Self::default();
        for (index, session) in sessions.iter().enumerate() {
            for attempt in &session.attempts {
                all.add(index, attempt);
            }
        }
        for sizes in all.sizes.values_mut() {
            sizes.close();
        }
        for (route, times) in &mut all.times {
            times.sort_unstable();
            all.near.insert(route, neighbours_of_failures(times));
        }
        all
    }

    fn add(&mut self, session: usize, attempt: &'a AttemptRow) {
        let failure = failure_of(attempt);
        if let Some(time) = attempt.time.filter(|_| failure.is_some() || attempt.outcome == Outcome::Succeeded) {
            self.times.entry(&attempt.route).or_default().push((time, session, failure.is_some()));
        }
        let sizes = self.sizes.entry((&attempt.route, attempt.window)).or_default();
        if attempt.outcome == Outcome::Succeeded {
            sizes.successes.extend(attempt.trusted_prompt());
            sizes.last_success = sizes.last_success.max(attempt.time);
        }
        if let (Some(failure), Some(size)) = (failure, attempt.request.as_ref().and_then(|r| r.tokens)) {
            let step = (session, attempt.turn, attempt.step);
            let failed = SizedFailure { size, time: attempt.time, step };
            sizes.failures.entry(failure.message.as_str()).or_default().push(failed);
        }
    }

    fn sizes(&self, attempt: &'a AttemptRow) -> Option<&RouteSizes<'a>> {
        self.sizes.get(&(&*attempt.route, attempt.window))
    }

    /// The largest trusted prompt that succeeded on the route, tokens.
    pub fn largest_success(&self, attempt: &'a AttemptRow) -> Option<u64> {
        self.sizes(attempt)?.successes.last().copied()
    }

    /// Successes on the route at least as large as `tokens`.
    pub fn successes_from(&self, attempt: &'a AttemptRow, tokens: u64) -> usize {
        self.sizes(attempt).map_or(0, |s| s.successes.len() - s.successes.partition_point(|size| *size < tokens))
    }

    /// How failures with the same text and the successes lie; `None` where either has no size.
    pub fn overlap(&self, attempt: &'a AttemptRow) -> Option<Overlap> {
        let text = failure_of(attempt)?.message.as_str();
        self.sizes(attempt)?.overlaps.get(text).copied()
    }

    /// What other sessions saw on the same route within [`NEIGHBOUR_MS`] of a failure.
    pub fn neighbours(&self, session: usize, failed: &'a AttemptRow) -> Neighbours {
        let near = failed.time.and_then(|time| self.near.get(&*failed.route)?.get(&(time, session)));
        near.copied().unwrap_or_default()
    }
}

/// The neighbours of every failure of a route. A window slides over its moments: an outage that hits many sessions at
/// once makes as many neighbours for each failure as there are failures.
fn neighbours_of_failures(times: &[Moment]) -> HashMap<(i64, usize), Neighbours> {
    let mut near = HashMap::new();
    // Attempts and failures by session, and of all of them together.
    let mut window: HashMap<usize, (usize, usize)> = HashMap::new();
    let (mut attempts, mut failures, mut failing_sessions) = (0, 0, 0);
    let (mut start, mut end) = (0, 0);
    for (time, session, _) in times.iter().filter(|(.., failed)| *failed) {
        while let Some((_, other, failed)) = times.get(end).filter(|(t, ..)| *t <= time.saturating_add(NEIGHBOUR_MS)) {
            let counts = window.entry(*other).or_default();
            counts.0 += 1;
            attempts += 1;
            if *failed {
                counts.1 += 1;
                failures += 1;
                failing_sessions += usize::from(counts.1 == 1);
            }
            end += 1;
        }
        while let Some((_, other, failed)) = times.get(start).filter(|(t, ..)| *t < time.saturating_sub(NEIGHBOUR_MS)) {
            let counts = window.entry(*other).or_default();
            counts.0 -= 1;
            attempts -= 1;
            if *failed {
                counts.1 -= 1;
                failures -= 1;
                failing_sessions -= usize::from(counts.1 == 0);
            }
            if counts.0 == 0 {
                window.remove(other);
            }
            start += 1;
        }
        let own = window.get(session).copied().unwrap_or_default();
        let found = Neighbours {
            sessions: window.len() - usize::from(own.0 > 0),
            failing_sessions: failing_sessions - usize::from(own.1 > 0),
            attempts: attempts - own.0,
            failures: failures - own.1,
        };
        near.insert((*time, *session), found);
    }
    near
}

impl RouteSizes<'_> {
    fn close(&mut self) {
        self.successes.sort_unstable();
        let Some(largest) = self.successes.last().copied() else { return };
        for (text, failures) in &self.failures {
            let smallest = failures.iter().map(|f| f.size.low).min().unwrap_or(0);
            let mut steps: Vec<_> = failures.iter().map(|f| f.step).collect();
            steps.sort_unstable();
            steps.dedup();
            let first = failures.iter().filter_map(|f| f.time).min();
            let success_afterwards = first.zip(self.last_success).is_some_and(|(failed, ok)| ok > failed);
            let enough = steps.len() >= LIMIT_WITNESSES && self.successes.len() >= LIMIT_WITNESSES;
            let overlap = Overlap {
                smallest_failing: failures.iter().map(|f| f.size.value).min().unwrap_or(0),
                largest_succeeding: largest,
                failures: failures.len(),
                failures_below: failures.iter().filter(|f| f.size.high <= largest).count(),
                successes: self.successes.len(),
                limit: enough && success_afterwards && smallest > largest,
            };
            self.overlaps.insert(text, overlap);
        }
    }
}

/// What one session sent to one route in the same words: successes and failures per request.
#[derive(Debug, Default)]
pub struct Identical<'a> {
    sent: HashMap<(&'a Route, u64), (usize, usize)>,
}

impl<'a> Identical<'a> {
    /// Counts the sendings of every request of a session.
    pub fn of(session: &'a SessionRows) -> Self {
        let mut sent: HashMap<(&Route, u64), (usize, usize)> = HashMap::new();
        for attempt in &session.attempts {
            let Some(request) = &attempt.request else { continue };
            let entry = sent.entry((&*attempt.route, request.identity)).or_default();
            entry.0 += usize::from(attempt.outcome == Outcome::Succeeded);
            entry.1 += usize::from(attempt.outcome == Outcome::Failed);
        }
        Self { sent }
    }

    /// Successes and failures of the request of this attempt, itself included.
    pub fn counts(&self, attempt: &'a AttemptRow) -> (usize, usize) {
        let Some(request) = &attempt.request else { return (0, 0) };
        self.sent.get(&(&*attempt.route, request.identity)).copied().unwrap_or((0, 0))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Moment, NEIGHBOUR_MS, Neighbours, neighbours_of_failures};

    /// The definition, word for word.
    fn searched(times: &[Moment], time: i64, session: usize) -> Neighbours {
        let near: Vec<_> = times.iter().filter(|(t, s, _)| (t - time).abs() <= NEIGHBOUR_MS && *s != session).collect();
        let sessions: BTreeSet<usize> = near.iter().map(|(_, s, _)| *s).collect();
        let failing: BTreeSet<usize> = near.iter().filter(|(.., failed)| *failed).map(|(_, s, _)| *s).collect();
        Neighbours {
            sessions: sessions.len(),
            failing_sessions: failing.len(),
            attempts: near.len(),
            failures: near.iter().filter(|(.., failed)| *failed).count(),
        }
    }

    #[test]
    fn a_sliding_window_finds_what_a_search_finds() {
        let mut dice = 1u64;
        let mut roll = |sides: u64| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (dice >> 33) % sides
        };
        for _ in 0..50 {
            let mut times: Vec<Moment> =
                (0..60).map(|_| (roll(40) as i64 * 10_000, roll(5) as usize, roll(2) == 0)).collect();
            times.sort_unstable();
            let near = neighbours_of_failures(&times);
            for (time, session, _) in times.iter().filter(|(.., failed)| *failed) {
                assert_eq!(near[&(*time, *session)], searched(&times, *time, *session), "{times:?}");
            }
        }
    }
}
