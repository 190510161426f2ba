//! Does the method foretell what was recorded? Half of the sessions are hidden but for the failures that open their
//! chains, and the outcome of the first recorded retry of each of those chains is predicted.

use rayon::prelude::*;

use super::common_numbers::CommonNumbers;
use super::laws::{Law, draw_law, fit_laws};
use super::probes::{Probe, Role, episodes};
use crate::stats::SeededRng;

/// Fewer retries than this say nothing.
const FEWEST_RETRIES: usize = 20;
const FEWEST_SESSIONS: usize = 4;
const DRAWS: u64 = 200;
/// Retries of one session that are predicted together, as a count.
const CELL: usize = 5;

/// How well hidden retries were predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backtest {
    /// Retries predicted.
    pub retries: u64,
    /// Counts of successes inside their 90 % interval. A count on the edge of its interval counts in part, as the
    /// non-randomised probability integral transform does (C. Czado, T. Gneiting, L. Held, Biometrics 65, 2009), so that
    /// the nominal value is 0.9 for counts too.
    pub coverage: f64,
    /// Mean squared difference between the predicted probability and the outcome.
    pub brier: f64,
}

/// Tests one or more routes; `None` when too little was recorded.
#[must_use]
pub fn backtest<'a>(routes: impl IntoIterator<Item = &'a [Probe]>, seed: u64) -> Option<Backtest> {
    let (mut credit, mut cells, mut squares, mut retries) = (0.0, 0_usize, 0.0, 0_usize);
    for (index, probes) in routes.into_iter().enumerate() {
        let rng = SeededRng::new(seed).fork(u64::MAX - index as u64);
        if let Some(found) = of_route(probes, &rng) {
            credit += found.credit;
            cells += found.cells;
            squares += found.squares;
            retries += found.retries;
        }
    }
    (retries >= FEWEST_RETRIES).then(|| Backtest {
        retries: retries as u64,
        coverage: credit / cells as f64,
        brier: squares / retries as f64,
    })
}

struct Found {
    credit: f64,
    cells: usize,
    squares: f64,
    retries: usize,
}

fn of_route(probes: &[Probe], rng: &SeededRng) -> Option<Found> {
    let mut sessions: Vec<u32> = Vec::new();
    for probe in probes.iter().filter(|probe| !probe.promised) {
        if !sessions.contains(&probe.session) {
            sessions.push(probe.session);
        }
    }
    if sessions.len() < FEWEST_SESSIONS {
        return None;
    }
    let mut hidden = sessions.split_off(sessions.len() / 2);
    hidden.sort_unstable();
    let is_hidden = |probe: &Probe| hidden.binary_search(&probe.session).is_ok();
    let known: Vec<Probe> =
        probes.iter().filter(|probe| !is_hidden(probe) || probe.role == Role::ChainStart).copied().collect();
    // By session, so that a cell holds retries of one session.
    let mut asked: Vec<Probe> =
        probes.iter().filter(|probe| is_hidden(probe) && probe.role == Role::FirstRetry).copied().collect();
    asked.sort_by_key(|probe| probe.session);
    if asked.is_empty() || known.iter().all(|probe| probe.promised || is_hidden(probe)) {
        return None;
    }
    // The laws are learnt from the sessions that are not hidden; chain starts alone are failures only.
    let learnt: Vec<Probe> = probes.iter().filter(|probe| !is_hidden(probe)).copied().collect();
    let laws = fit_laws(&learnt);
    let seen = episodes(&learnt);
    let draws: Vec<Vec<bool>> = (0..DRAWS)
        .into_par_iter()
        .map(|number| {
            let mut rng = rng.fork(number);
            let numbers = CommonNumbers::new(rng.next_u64());
            let law = draw_law(&laws, seen, &mut rng);
            let path = match law {
                Some(Law::TwoState(two)) => two.sample_path(&known, 0.0, &mut rng),
                _ => super::path::Path::default(),
            };
            let outcome = |(index, probe): (usize, &Probe)| {
                let success = match law {
                    Some(Law::TwoState(two)) if path.is_down(probe.time_ms) => two.success_down,
                    Some(Law::TwoState(two)) => two.success_up,
                    Some(Law::Independent { success }) => success,
                    None => 0.0,
                };
                numbers.chain(index as u64).uniform() < success
            };
            asked.iter().enumerate().map(outcome).collect()
        })
        .collect();
    Some(judge(&asked, &draws))
}

fn judge(asked: &[Probe], draws: &[Vec<bool>]) -> Found {
    let mut found = Found { credit: 0.0, cells: 0, squares: 0.0, retries: asked.len() };
    for (index, probe) in asked.iter().enumerate() {
        let successes = draws.iter().filter(|draw| draw[index]).count() as f64;
        let predicted = (successes + 0.5) / (draws.len() as f64 + 1.0);
        found.squares += (predicted - f64::from(u8::from(probe.success))).powi(2);
    }
    let mut start = 0;
    while start < asked.len() {
        let session = asked[start].session;
        let length = asked[start..].iter().take(CELL).take_while(|probe| probe.session == session).count();
        let cell = start..start + length;
        let counted = asked[cell.clone()].iter().filter(|probe| probe.success).count();
        let drawn = draws.iter().map(|draw| draw[cell.clone()].iter().filter(|success| **success).count());
        let (below, equal) = drawn.fold((0.0, 0.0), |(below, equal), count| {
            (below + f64::from(u8::from(count < counted)), equal + f64::from(u8::from(count == counted)))
        });
        let total = draws.len() as f64;
        found.credit += inside(below / total, (below + equal) / total);
        found.cells += 1;
        start += length;
    }
    found
}

/// Share of a stretch of the transform that lies in the middle 90 %.
fn inside(from: f64, to: f64) -> f64 {
    if to <= from {
        return f64::from(u8::from((0.05..=0.95).contains(&from)));
    }
    (to.min(0.95) - from.max(0.05)).max(0.0) / (to - from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certain_prediction_that_holds_counts_as_nine_tenths() {
        assert!((inside(0.0, 1.0) - 0.9).abs() < 1e-12);
        assert_eq!(inside(0.0, 0.02), 0.0);
        assert_eq!(inside(0.4, 0.6), 1.0);
    }
}
