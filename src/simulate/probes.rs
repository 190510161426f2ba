//! What is known about a route: every attempt of every session is a probe of it (spec 4.5, point 2).

/// A request reaches the server some milliseconds after the last event that it waits for (recorded: 5 to 13).
pub const SENDING_MS: f64 = 5.0;

/// One attempt as a look at the state of the route.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probe {
    /// Arrival, milliseconds on the clock of the evidence.
    pub time_ms: f64,
    /// It succeeded; otherwise it failed for a reason that heals with time.
    pub success: bool,
    /// Number of its session.
    pub session: u32,
    /// No attempt, but the moment at which a Retry-After promised recovery; also marks hidden probes in a fit.
    pub promised: bool,
    /// Its place in a failure chain.
    pub role: Role,
}

/// The place of an attempt in a failure chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// Outside a chain, or later in it.
    #[default]
    Other,
    /// The failure that opens a chain.
    ChainStart,
    /// The attempt after it.
    FirstRetry,
}

impl Probe {
    /// A real attempt.
    #[must_use]
    pub fn new(time_ms: f64, success: bool, session: u32) -> Self {
        Self { time_ms, success, session, promised: false, role: Role::Other }
    }
}

/// Runs of failing probes: how many outages were seen.
#[must_use]
pub fn episodes(probes: &[Probe]) -> u64 {
    let real = || probes.iter().filter(|probe| !probe.promised);
    let before = std::iter::once(true).chain(real().map(|probe| probe.success));
    real().zip(before).filter(|(probe, before)| !probe.success && *before).count() as u64
}

/// Adds a success at each moment that a Retry-After promised, where the probes show that such promises were kept.
///
/// A promise is an upper limit of the recovery, not its time. It counts only when at least nine in ten of the promises
/// that somebody tested within two seconds held, and never against a failure in that time.
pub fn add_kept_promises(probes: &mut Vec<Probe>, promises: &[f64]) {
    const TESTED_WITHIN_MS: f64 = 2000.0;
    const FEWEST_TESTS: usize = 5;
    let tests: Vec<(f64, Option<bool>)> = promises
        .iter()
        .map(|promise| {
            let next = probes.partition_point(|probe| probe.time_ms < *promise);
            let test = probes.get(next).filter(|probe| probe.time_ms <= promise + TESTED_WITHIN_MS);
            (*promise, test.map(|probe| probe.success))
        })
        .collect();
    let tested = tests.iter().filter(|(_, test)| test.is_some()).count();
    let kept = tests.iter().filter(|(_, test)| *test == Some(true)).count();
    if tested < FEWEST_TESTS || kept * 10 < tested * 9 {
        return;
    }
    let believed = tests.into_iter().filter(|(_, test)| *test != Some(false));
    probes.extend(believed.map(|(time_ms, _)| Probe { promised: true, ..Probe::new(time_ms, true, u32::MAX) }));
    probes.sort_by(|a, b| a.time_ms.total_cmp(&b.time_ms));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_is_a_run_of_failures() {
        let outcomes = [false, false, true, false, true, true, false];
        let probes: Vec<Probe> =
            outcomes.iter().enumerate().map(|(i, success)| Probe::new(i as f64, *success, 0)).collect();
        assert_eq!(episodes(&probes), 3);
    }

    #[test]
    fn promises_count_only_where_they_were_kept() {
        let kept: Vec<Probe> = (0..10).map(|k| Probe::new(f64::from(k) * 10_000.0 + 100.0, true, 0)).collect();
        let promises: Vec<f64> = (0..10).map(|k| f64::from(k) * 10_000.0).chain([500_000.0]).collect();
        let mut probes = kept.clone();
        add_kept_promises(&mut probes, &promises);
        assert_eq!(probes.len(), 10 + 11);
        let mut broken: Vec<Probe> =
            kept.iter().map(|probe| Probe { success: probe.time_ms > 30_000.0, ..*probe }).collect();
        add_kept_promises(&mut broken, &promises);
        assert_eq!(broken.len(), 10);
    }
}
