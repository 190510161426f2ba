//! What the other requests of the archive say: sorted once, searched per failure.

use std::collections::{BTreeMap, HashMap};

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
    times: HashMap<&'a Route, Vec<(i64, usize, bool)>>,
}

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
        for times in all.times.values_mut() {
            times.sort_unstable();
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

    /// What other sessions saw on the same route within [`NEIGHBOUR_MS`].
    pub fn neighbours(&self, session: usize, attempt: &'a AttemptRow) -> Neighbours {
        let (Some(time), Some(times)) = (attempt.time, self.times.get(&*attempt.route)) else {
            return Neighbours::default();
        };
        let start = times.partition_point(|(t, ..)| *t < time.saturating_sub(NEIGHBOUR_MS));
        let near = times[start..].iter().take_while(|(t, ..)| *t <= time.saturating_add(NEIGHBOUR_MS));
        let mut seen: BTreeMap<usize, bool> = BTreeMap::new();
        let mut found = Neighbours::default();
        for (_, _, failed) in near.filter(|(_, other, _)| *other != session).inspect(|(_, other, failed)| {
            *seen.entry(*other).or_default() |= *failed;
        }) {
            found.attempts += 1;
            found.failures += usize::from(*failed);
        }
        found.sessions = seen.len();
        found.failing_sessions = seen.values().filter(|failed| **failed).count();
        found
    }
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
