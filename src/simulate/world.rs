//! One possible world: a course of each route, and the luck of every attempt in it.

use super::common_numbers::CommonNumbers;
use super::evidence::RouteEvidence;
use super::laws::{Law, WeightedLaw, draw_law};
use super::path::Path;
use super::probes::Probe;
use crate::stats::{SeededRng, ln};

/// How far a route is followed past its last probe, milliseconds.
const TAIL_MS: f64 = 6.0 * 3_600_000.0;

/// One route in one draw.
#[derive(Debug, Clone)]
pub struct World {
    /// Its states.
    pub path: Path,
    /// Probability of success while it is up.
    pub success_up: f64,
    /// And while it is down.
    pub success_down: f64,
    /// Luck of the attempts.
    pub numbers: CommonNumbers,
    /// When each session goes bad for good, where evidence leaves it open; empty where no session did.
    pub onsets_ms: Vec<f64>,
    /// Place on the path at the first failure of each chain.
    pub places: Vec<u32>,
}

impl World {
    /// Whether an attempt succeeds, and whether it met a down state.
    #[must_use]
    pub fn outcome(&self, down: bool, luck: impl FnOnce() -> f64) -> bool {
        let success = if down { self.success_down } else { self.success_up };
        success >= 1.0 || (success > 0.0 && luck() < success)
    }

    /// Draws the world with this number. Number and seed alone decide, not the order of the draws.
    #[must_use]
    pub fn draw(evidence: &RouteEvidence, laws: &[WeightedLaw], rng: &SeededRng, number: u64) -> Self {
        let mut rng = rng.fork(number);
        let numbers = CommonNumbers::new(rng.next_u64());
        let law = draw_law(laws, evidence.episodes, &mut rng).unwrap_or(Law::Independent { success: 0.0 });
        let (path, success_up, success_down) = match law {
            Law::Independent { success } => (Path::default(), success, success),
            Law::TwoState(two) => {
                let path = two.sample_path(&evidence.probes, TAIL_MS, &mut rng);
                (path, two.success_up, two.success_down)
            }
        };
        let onsets_ms = draw_onsets(evidence, numbers);
        let places = path.places(evidence.chains.iter().map(|chain| chain.failed_ms));
        Self { path, success_up, success_down, numbers, onsets_ms, places }
    }

    /// No route at all.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            path: Path::default(),
            success_up: 0.0,
            success_down: 0.0,
            numbers: CommonNumbers::new(0),
            onsets_ms: Vec::new(),
            places: Vec::new(),
        }
    }

    /// A world without chance in which the route is what the plain reading of the intervals says: where two neighbouring
    /// probes differ, it is down as long as can be (`pessimistic`) or as short as can be.
    #[must_use]
    pub fn of_intervals(evidence: &RouteEvidence, pessimistic: bool, rng: &SeededRng, number: u64) -> Self {
        let path = interval_path(&evidence.probes, pessimistic);
        let places = path.places(evidence.chains.iter().map(|chain| chain.failed_ms));
        let numbers = CommonNumbers::new(rng.fork(number).next_u64());
        Self { path, success_up: 1.0, success_down: 0.0, numbers, onsets_ms: Vec::new(), places }
    }
}

/// A session that went bad did so between its last probe and the failure that shows it; one that did not may have gone
/// bad after its last probe, at the rate of the others.
fn draw_onsets(evidence: &RouteEvidence, numbers: CommonNumbers) -> Vec<f64> {
    if evidence.onset_rate <= 0.0 {
        return Vec::new();
    }
    let luck = CommonNumbers::new(numbers.uniform().to_bits());
    (evidence.sessions.iter().enumerate())
        .map(|(number, session)| {
            let uniform = luck.chain(number as u64).uniform();
            match (session.onset, session.last_probe_ms) {
                (Some(onset), Some(last)) if last < onset.time_ms => last + uniform * (onset.time_ms - last),
                (Some(onset), _) => onset.time_ms,
                (None, Some(last)) => last - ln(1.0 - uniform) / evidence.onset_rate,
                (None, None) => f64::INFINITY,
            }
        })
        .collect()
}

fn interval_path(probes: &[Probe], pessimistic: bool) -> Path {
    let Some(first) = probes.first() else { return Path::default() };
    let mut path = Path { starts_down: !first.success, switches: Vec::new() };
    for pair in probes.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        if before.success != after.success {
            // Down as early and up as late as can be, or the other way round.
            let at_first = before.success == pessimistic;
            path.switches.push(if at_first { before.time_ms.next_up() } else { after.time_ms });
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_between_probes_that_differ_are_read_both_ways() {
        let probes: Vec<Probe> = [(0.0, true), (10.0, false), (20.0, false), (30.0, true)]
            .iter()
            .map(|(time, success)| Probe::new(*time, *success, 0))
            .collect();
        let (worst, best) = (interval_path(&probes, true), interval_path(&probes, false));
        for (time, down) in [(0.0, false), (5.0, true), (15.0, true), (25.0, true), (30.0, false)] {
            assert_eq!(worst.is_down(time), down, "worst at {time}");
        }
        for (time, down) in [(0.0, false), (5.0, false), (10.0, true), (15.0, true), (25.0, false), (30.0, false)] {
            assert_eq!(best.is_down(time), down, "best at {time}");
        }
    }
}
