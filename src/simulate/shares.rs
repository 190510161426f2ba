//! What the simulated attempts rest on, by the plain reading of the intervals between probes (spec 4.5, point 7).

use serde::Serialize;

use super::play::Watcher;
use super::probes::Probe;

/// An attempt this near to a recorded one counts as observed, milliseconds.
const SAME_MOMENT_MS: f64 = 10.0;

/// Shares of the attempts; they add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct EvidenceShares {
    /// A real attempt was made at that moment.
    pub observed: f64,
    /// Between two probes that agree.
    pub implied: f64,
    /// Between two that differ.
    pub gap: f64,
    /// After the last probe, or before the first.
    pub beyond: f64,
}

/// Counts attempts by what is known about their moment.
#[derive(Debug, Clone)]
pub struct ShareWatcher<'a> {
    probes: &'a [Probe],
    counts: [u64; 4],
}

impl<'a> ShareWatcher<'a> {
    /// For the probes of one route.
    #[must_use]
    pub fn new(probes: &'a [Probe]) -> Self {
        Self { probes, counts: [0; 4] }
    }

    /// Observed, implied, gap, beyond.
    #[must_use]
    pub fn counts(&self) -> [u64; 4] {
        self.counts
    }
}

impl Watcher for ShareWatcher<'_> {
    fn attempt(&mut self, arrival_ms: f64) {
        let next = self.probes.partition_point(|probe| probe.time_ms < arrival_ms);
        let before = next.checked_sub(1).and_then(|index| self.probes.get(index));
        let after = self.probes.get(next);
        let near = |probe: Option<&Probe>| {
            probe.is_some_and(|probe| !probe.promised && (probe.time_ms - arrival_ms).abs() <= SAME_MOMENT_MS)
        };
        let class = match (before, after) {
            _ if near(before) || near(after) => 0,
            (Some(before), Some(after)) if before.success == after.success => 1,
            (Some(_), Some(_)) => 2,
            _ => 3,
        };
        self.counts[class] += 1;
    }
}

/// Counts as shares; `None` without attempts.
#[must_use]
pub fn shares(counts: [u64; 4]) -> Option<EvidenceShares> {
    let total: u64 = counts.iter().sum();
    let share = |index: usize| counts[index] as f64 / total as f64;
    (total > 0).then(|| EvidenceShares { observed: share(0), implied: share(1), gap: share(2), beyond: share(3) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_attempt_is_counted_once_by_its_neighbours() {
        let probes: Vec<Probe> = [(0.0, true), (100.0, true), (200.0, false)]
            .iter()
            .map(|(time, success)| Probe::new(*time, *success, 0))
            .collect();
        let mut watcher = ShareWatcher::new(&probes);
        [95.0, 50.0, 150.0, 300.0].into_iter().for_each(|time| watcher.attempt(time));
        assert_eq!(watcher.counts(), [1, 1, 1, 1]);
    }
}
