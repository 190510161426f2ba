//! In: events and trials by stratum, cluster and exposure.
//! Out: one rate ratio over all strata, with an interval that believes only clusters to be independent.
//! Always: the order of the cells changes nothing; a result that hangs on one cluster has no interval.

use std::collections::BTreeMap;

use super::elementary::{exp, ln};
use super::interval::{Interval, Level};
use super::student::{student_quantile, student_two_sided};

#[cfg(test)]
mod tests;

/// Events and trials of one cluster in one stratum, exposed or not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScanUnit {
    /// What is held fixed.
    pub stratum: usize,
    /// What may hang together: a session, a stretch of time.
    pub cluster: usize,
    /// Exposed or not.
    pub exposed: bool,
    /// Events.
    pub events: u64,
    /// Trials, the events among them.
    pub trials: u64,
}

/// Rate among the exposed over the rate among the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PooledRatio {
    /// The ratio; `None` when no event lies among the others (infinite).
    pub estimate: Option<f64>,
    /// Its interval; `None` when leaving out a cluster leaves no comparison.
    pub interval: Option<Interval>,
    /// Two-sided p-value of a ratio of 1; `None` as the interval.
    pub p_value: Option<f64>,
    /// Clusters with exposed trials, and with others, in strata that have both.
    pub clusters: (usize, usize),
}

/// Sums of one stratum: events and trials of the exposed and of the others.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    exposed_events: f64,
    exposed_trials: f64,
    other_events: f64,
    other_trials: f64,
}

impl Sums {
    fn add(&mut self, unit: &ScanUnit, sign: f64) {
        let (events, trials) = (sign * unit.events as f64, sign * unit.trials as f64);
        if unit.exposed {
            self.exposed_events += events;
            self.exposed_trials += trials;
        } else {
            self.other_events += events;
            self.other_trials += trials;
        }
    }

    /// Its parts of numerator and denominator, and their sum with an event everywhere.
    fn parts(&self) -> [f64; 3] {
        let total = self.exposed_trials + self.other_trials;
        if self.exposed_trials <= 0.0 || self.other_trials <= 0.0 {
            return [0.0; 3];
        }
        [
            self.exposed_events * self.other_trials / total,
            self.other_events * self.exposed_trials / total,
            self.exposed_trials * self.other_trials / total,
        ]
    }
}

/// Mantel and Haenszel's rate ratio over strata, with the interval of the jackknife over clusters.
///
/// Ratio = Σ a·n₀/n ÷ Σ b·n₁/n over strata. Leaving out one cluster after another gives the variance of its logarithm, (G − 1)/G·Σ(θ₍₋c₎ − θ)²;
/// the interval takes Student's t with (fewer clusters of the two sides) − 1 degrees of freedom, which holds with few
/// clusters and with bursts of events inside them. Where a sum is 0, half an event is spread over both sides in
/// proportion to their trials. Source: S. Greenland and J. M. Robins, *Estimation of a Common Effect Parameter from
/// Sparse Follow-up Data*, Biometrics 41, 1985; J. G. MacKinnon et al., *Cluster-robust inference: A guide to
/// empirical practice*, Journal of Econometrics 232, 2023 (CV3).
///
/// `None` when no stratum has both sides, or when nothing happened.
#[must_use]
pub fn pooled_rate_ratio(units: &[ScanUnit], level: Level) -> Option<PooledRatio> {
    let strata = informative_strata(units);
    let mut informative: Vec<&ScanUnit> = units.iter().filter(|unit| strata.contains_key(&unit.stratum)).collect();
    informative.sort_by_key(|unit| (unit.cluster, unit.stratum));
    let by_cluster: Vec<&[&ScanUnit]> = informative.chunk_by(|left, right| left.cluster == right.cluster).collect();
    let whole = total(strata.values());
    if whole[0] + whole[1] <= 0.0 {
        return None;
    }
    let without: Vec<[f64; 3]> = by_cluster.iter().map(|units| leave_out(&strata, whole, units)).collect();
    let side = |exposed: bool| {
        by_cluster.iter().filter(|units| units.iter().any(|u| u.exposed == exposed && u.trials > 0)).count()
    };
    let clusters = (side(true), side(false));
    let spread = spread_of_log(whole, &without);
    let degrees = clusters.0.min(clusters.1).saturating_sub(1) as f64;
    let bounds = spread.zip(student_quantile(2.0 * level.tail(), degrees));
    Some(PooledRatio {
        estimate: (whole[1] > 0.0).then(|| whole[0] / whole[1]),
        interval: bounds.map(|((theta, deviation), quantile)| Interval {
            lower: exp(theta - quantile * deviation),
            upper: if whole[1] > 0.0 { exp(theta + quantile * deviation) } else { f64::INFINITY },
        }),
        p_value: spread.and_then(|(theta, deviation)| student_two_sided(theta / deviation, degrees)),
        clusters,
    })
}

fn informative_strata(units: &[ScanUnit]) -> BTreeMap<usize, Sums> {
    let mut strata: BTreeMap<usize, Sums> = BTreeMap::new();
    for unit in units {
        strata.entry(unit.stratum).or_default().add(unit, 1.0);
    }
    strata.retain(|_, sums| sums.exposed_trials > 0.0 && sums.other_trials > 0.0);
    strata
}

fn total<'a>(strata: impl Iterator<Item = &'a Sums>) -> [f64; 3] {
    strata.fold([0.0; 3], |sum, stratum| {
        let parts = stratum.parts();
        [sum[0] + parts[0], sum[1] + parts[1], sum[2] + parts[2]]
    })
}

/// The totals without one cluster, whose units are sorted by stratum: only its own strata are reckoned again.
fn leave_out(strata: &BTreeMap<usize, Sums>, whole: [f64; 3], units: &[&ScanUnit]) -> [f64; 3] {
    let (mut old, mut new) = ([0.0; 3], [0.0; 3]);
    for same_stratum in units.chunk_by(|left, right| left.stratum == right.stratum) {
        let Some(sums) = strata.get(&same_stratum[0].stratum) else { continue };
        let mut without = *sums;
        same_stratum.iter().for_each(|unit| without.add(unit, -1.0));
        let (before, after) = (sums.parts(), without.parts());
        for part in 0..3 {
            old[part] += before[part];
            new[part] += after[part];
        }
    }
    [0, 1, 2].map(|part| (whole[part] - old[part] + new[part]).max(0.0))
}

/// Logarithm of the ratio and its standard deviation; `None` when a cluster carries one side alone.
fn spread_of_log(whole: [f64; 3], without: &[[f64; 3]]) -> Option<(f64, f64)> {
    const NOTHING: f64 = 1e-9;
    if without.len() < 2 || without.iter().any(|parts| parts[2] <= NOTHING) {
        return None;
    }
    let empty = |parts: &[f64; 3]| parts[0] <= NOTHING || parts[1] <= NOTHING;
    let half = if empty(&whole) || without.iter().any(empty) { 0.5 } else { 0.0 };
    // Half an event over both sides together: the same part of each, so that a ratio of 1 stays 1.
    let log = |parts: &[f64; 3]| {
        let added = half * parts[2] / whole[2].max(NOTHING) * 0.5;
        ln(parts[0] + added) - ln(parts[1] + added)
    };
    let theta = log(&whole);
    let squares: f64 = without.iter().map(|parts| (log(parts) - theta) * (log(parts) - theta)).sum();
    let deviation = (squares * (without.len() - 1) as f64 / without.len() as f64).sqrt();
    (deviation > 0.0 && deviation.is_finite()).then_some((theta, deviation))
}
