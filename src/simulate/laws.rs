//! The laws that a route may follow, fitted to its probes and weighted by how well they foretell hidden ones.

use super::probes::Probe;
use super::simplex::minimise;
use super::two_state::TwoState;
use crate::stats::{BetaDraw, SeededRng, exp, ln};

/// More probes than this do not change a fit; contiguous blocks are taken instead.
const MOST_FITTED: usize = 20_000;
const BLOCKS: usize = 20;
const FOLDS: usize = 4;
/// Probes of one block where sessions are too few to hide whole ones.
const BLOCK_LENGTH: usize = 8;
/// Likelihood evaluations of a first fit and of one that starts near its end.
const EVALUATIONS: (usize, usize) = (220, 70);

/// How attempts succeed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// Up and down by turns.
    TwoState(TwoState),
    /// Every attempt for itself, with one probability of success.
    Independent {
        /// Probability of success.
        success: f64,
    },
}

/// One law with its weight and what is needed to draw its numbers.
#[derive(Debug, Clone)]
pub struct WeightedLaw {
    /// `hard outages`, `intermittent outages` or `independent attempts`.
    pub name: LawName,
    /// The law at its likeliest numbers.
    pub law: Law,
    /// Share of the draws; all shares add up to 1.
    pub weight: f64,
    /// Sum of the logarithms of the probabilities that it gave to hidden probes, less its handicap.
    pub held_out_score: f64,
    /// Expected successes and failures while up, and while down.
    counts: [(f64, f64); 2],
}

/// The three laws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LawName {
    /// Two states; nothing succeeds while the route is down.
    HardOutages,
    /// Two states; some requests succeed while it is down.
    IntermittentOutages,
    /// No states.
    IndependentAttempts,
}

impl LawName {
    /// Hard outages come first: where both describe the probes alike, the one number more must earn its place.
    fn handicap(self) -> f64 {
        if self == Self::IntermittentOutages { 2.0 } else { 0.0 }
    }

    /// The name used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::HardOutages => "hard_outages",
            Self::IntermittentOutages => "intermittent_outages",
            Self::IndependentAttempts => "independent_attempts",
        }
    }
}

/// Fits all laws to the probes of a route and weighs them. Empty without probes.
#[must_use]
pub fn fit_laws(probes: &[Probe]) -> Vec<WeightedLaw> {
    let real: Vec<Probe> = probes.iter().filter(|probe| !probe.promised).copied().collect();
    if real.is_empty() {
        return Vec::new();
    }
    let sample = blocks_of(&real);
    let folds = folds_of(&sample);
    let mut laws: Vec<WeightedLaw> = [LawName::HardOutages, LawName::IntermittentOutages, LawName::IndependentAttempts]
        .into_iter()
        .map(|name| {
            let law = fit(name, &sample, None, |_| false);
            let held_out_score = held_out_score(name, &law, &sample, &folds) - name.handicap();
            WeightedLaw { name, law, weight: 0.0, held_out_score, counts: expected_counts(&law, &sample) }
        })
        .collect();
    let best = laws.iter().map(|law| law.held_out_score).fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = laws.iter().map(|law| exp(law.held_out_score - best)).sum();
    for law in &mut laws {
        law.weight = exp(law.held_out_score - best) / total;
    }
    laws
}

/// The law of one draw: rates moved by about 1/√episodes, probabilities of success from their posterior.
#[must_use]
pub fn draw_law(laws: &[WeightedLaw], episodes: u64, rng: &mut SeededRng) -> Option<Law> {
    let luck = rng.uniform();
    let mut sum = 0.0;
    let chosen = laws
        .iter()
        .find(|law| {
            sum += law.weight;
            luck < sum
        })
        .or(laws.last())?;
    let spread = 1.0 / (episodes.max(1) as f64).sqrt();
    let (fall, rise) = (exp(spread * rng.standard_normal()), exp(spread * rng.standard_normal()));
    let mut success = |state: usize| {
        let (successes, failures) = chosen.counts[state];
        // Jeffreys' prior, ½ and ½.
        BetaDraw::new(successes + 0.5, failures + 0.5).map_or(0.5, |beta| beta.draw(rng))
    };
    Some(match chosen.law {
        Law::Independent { .. } => Law::Independent { success: success(0) },
        Law::TwoState(two) => {
            let up = success(0);
            // A state without a single unexplained failure is sure: the prior would spread faults over healthy times.
            let success_up = if chosen.counts[0].1 < 0.05 { two.success_up } else { up };
            let down = success(1);
            let success_down = if chosen.name == LawName::HardOutages { 0.0 } else { down.min(success_up) };
            Law::TwoState(TwoState {
                fall_rate: two.fall_rate * fall,
                rise_rate: two.rise_rate * rise,
                success_up,
                success_down,
            })
        }
    })
}

/// All probes, or evenly spread contiguous blocks of them.
fn blocks_of(probes: &[Probe]) -> Vec<Probe> {
    if probes.len() <= MOST_FITTED {
        return probes.to_vec();
    }
    let length = MOST_FITTED / BLOCKS;
    (0..BLOCKS)
        .flat_map(|block| {
            let start = block * (probes.len() - length) / (BLOCKS - 1);
            probes[start..start + length].iter().copied()
        })
        .collect()
}

/// The fold of each probe: by session, or by blocks where there are fewer than four sessions.
fn folds_of(probes: &[Probe]) -> Vec<usize> {
    let mut sessions: Vec<u32> = probes.iter().map(|probe| probe.session).collect();
    sessions.sort_unstable();
    sessions.dedup();
    if sessions.len() < FOLDS {
        return (0..probes.len()).map(|index| index / BLOCK_LENGTH % FOLDS).collect();
    }
    probes.iter().map(|probe| sessions.binary_search(&probe.session).unwrap_or(0) % FOLDS).collect()
}

fn held_out_score(name: LawName, whole: &Law, probes: &[Probe], folds: &[usize]) -> f64 {
    let mut marked: Vec<Probe> = probes.to_vec();
    (0..FOLDS)
        .map(|fold| {
            // The mark travels with the probe, so that the filter needs no index.
            for (probe, of) in marked.iter_mut().zip(folds) {
                probe.promised = *of == fold;
            }
            let hidden = |probe: &Probe| probe.promised;
            if marked.iter().all(hidden) || !marked.iter().any(hidden) {
                return 0.0;
            }
            let law = fit(name, &marked, Some(whole), hidden);
            predict(&law, &marked, hidden)
                .into_iter()
                .zip(&marked)
                .filter(|(_, probe)| probe.promised)
                .map(|(success, probe)| ln(if probe.success { success } else { 1.0 - success }.max(1e-9)))
                .sum()
        })
        .sum()
}

/// Probability of success at each probe, given those that are not hidden.
#[must_use]
pub fn predict(law: &Law, probes: &[Probe], hidden: impl Fn(&Probe) -> bool) -> Vec<f64> {
    match law {
        Law::Independent { success } => vec![*success; probes.len()],
        Law::TwoState(two) => two
            .smooth(probes, hidden)
            .into_iter()
            .map(|down| down * two.success_down + (1.0 - down) * two.success_up)
            .collect(),
    }
}

fn expected_counts(law: &Law, probes: &[Probe]) -> [(f64, f64); 2] {
    let down = match law {
        Law::Independent { .. } => vec![0.0; probes.len()],
        Law::TwoState(two) => two.smooth(probes, |_| false),
    };
    let mut counts = [(0.0, 0.0); 2];
    for (probe, down) in probes.iter().zip(down) {
        for (state, share) in [1.0 - down, down].into_iter().enumerate() {
            let slot = if probe.success { &mut counts[state].0 } else { &mut counts[state].1 };
            *slot += share;
        }
    }
    counts
}

fn fit(name: LawName, probes: &[Probe], near: Option<&Law>, hidden: impl Fn(&Probe) -> bool) -> Law {
    if name == LawName::IndependentAttempts {
        let seen = probes.iter().filter(|probe| !hidden(probe));
        let (successes, all) = seen.fold((0.0, 0.0), |(s, n), probe| (s + f64::from(u8::from(probe.success)), n + 1.0));
        return Law::Independent { success: (successes + 0.5) / (all + 1.0) };
    }
    let hard = name == LawName::HardOutages;
    let starts: Vec<Vec<f64>> = match near {
        Some(Law::TwoState(two)) => vec![to_point(two, hard)],
        _ => starts(probes, hard),
    };
    let evaluations = if near.is_some() { EVALUATIONS.1 } else { EVALUATIONS.0 };
    let anchor = starts.first().cloned().unwrap_or_default();
    let best = starts
        .iter()
        .map(|start| {
            minimise(start, 0.4, evaluations, |point| {
                // A wide prior around the first guess keeps rates finite where the probes say nothing.
                let away: f64 = point.iter().zip(&anchor).map(|(x, a)| ((x - a) / 4.0).powi(2)).sum();
                0.5 * away - from_point(point, hard).filter(probes, &hidden).log_likelihood
            })
        })
        .min_by(|a, b| a.1.total_cmp(&b.1));
    Law::TwoState(from_point(&best.map_or(anchor, |(point, _)| point), hard))
}

/// First guesses from the runs of failures: their number and how long they last.
fn starts(probes: &[Probe], hard: bool) -> Vec<Vec<f64>> {
    let span = match (probes.first(), probes.last()) {
        (Some(first), Some(last)) => (last.time_ms - first.time_ms).max(1.0),
        _ => 1.0,
    };
    let (mut runs, mut down) = (0.0_f64, 0.0_f64);
    for (index, probe) in probes.iter().enumerate().filter(|(_, probe)| !probe.success) {
        let before = index.checked_sub(1).map(|i| probes[i]);
        if before.is_none_or(|before| before.success) {
            runs += 1.0;
        }
        let reach = before.map_or(0.0, |before| (probe.time_ms - before.time_ms).max(0.0));
        down += if before.is_some_and(|before| before.success) { 0.5 * reach } else { reach };
    }
    let (runs, down) = (runs.max(1.0), down.clamp(1.0, 0.9 * span));
    let rough = TwoState {
        fall_rate: runs / (span - down).max(1.0),
        rise_rate: runs / down,
        success_up: 0.98,
        success_down: if hard { 0.0 } else { 0.3 },
    };
    // Long states as well: runs broken by lucky successes look shorter than the outages are.
    let slow = TwoState { fall_rate: rough.fall_rate / 8.0, rise_rate: rough.rise_rate / 8.0, ..rough };
    vec![to_point(&rough, hard), to_point(&slow, hard)]
}

fn to_point(two: &TwoState, hard: bool) -> Vec<f64> {
    let logit = |p: f64| ln(p / (1.0 - p));
    let mut point = vec![ln(two.fall_rate), ln(two.rise_rate), logit(two.success_up.clamp(1e-5, 1.0 - 1e-5))];
    if !hard {
        // As a share of the success while up, so that down never succeeds more often.
        point.push(logit((two.success_down / two.success_up).clamp(1e-4, 1.0 - 1e-4)));
    }
    point
}

fn from_point(point: &[f64], hard: bool) -> TwoState {
    let share = |x: f64| 1.0 / (1.0 + exp(-x.clamp(-14.0, 14.0)));
    let success_up = share(point[2]);
    TwoState {
        fall_rate: exp(point[0].clamp(-30.0, 5.0)),
        rise_rate: exp(point[1].clamp(-30.0, 5.0)),
        success_up,
        success_down: if hard { 0.0 } else { success_up * share(point[3]) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Probes of four sessions, one every 20 ms on average, in a world that the closure decides.
    fn world(seed: u64, mut success: impl FnMut(f64, &mut SeededRng) -> bool) -> Vec<Probe> {
        let mut rng = SeededRng::new(seed);
        let mut time = 0.0;
        (0..4000)
            .map(|_| {
                time -= 20.0 * ln(rng.uniform_open());
                let session = rng.below(4).unwrap() as u32;
                Probe::new(time, success(time, &mut rng), session)
            })
            .collect()
    }

    fn favourite(laws: &[WeightedLaw]) -> LawName {
        laws.iter().max_by(|a, b| a.weight.total_cmp(&b.weight)).unwrap().name
    }

    #[test]
    fn each_kind_of_world_is_told_from_the_others_by_its_hidden_probes() {
        let outage = |time: f64| (time / 1000.0) as u64 % 5 == 2;
        assert_eq!(favourite(&fit_laws(&world(1, |time, _| !outage(time)))), LawName::HardOutages);
        let intermittent = world(2, |time, rng| if outage(time) { rng.chance(0.4) } else { rng.chance(0.99) });
        assert_eq!(favourite(&fit_laws(&intermittent)), LawName::IntermittentOutages);
        let laws = fit_laws(&world(3, |_, rng| rng.chance(0.8)));
        let independent: f64 = laws
            .iter()
            .map(|law| match law.law {
                Law::Independent { .. } => law.weight,
                // Two states that hardly differ from one are as good a description.
                Law::TwoState(two) if two.success_down > 0.6 => law.weight,
                Law::TwoState(_) => 0.0,
            })
            .sum();
        assert!(independent > 0.5, "{laws:?}");
    }

    #[test]
    fn rates_of_a_hard_outage_are_found_again() {
        let outage = |time: f64| (time / 1000.0) as u64 % 5 == 2;
        let laws = fit_laws(&world(4, |time, _| !outage(time)));
        let Law::TwoState(two) = laws[0].law else { panic!("hard outages have two states") };
        assert!((600.0..1600.0).contains(&(1.0 / two.rise_rate)), "{two:?}");
        assert!((2500.0..6500.0).contains(&(1.0 / two.fall_rate)), "{two:?}");
        assert!(two.success_up > 0.99);
    }
}
