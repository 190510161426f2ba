//! In: a two-by-two table of counts.
//! Out: Fisher's exact p-values; the conditional odds ratio with its exact interval.
//! Always: both margins are fixed; a table whose margins leave one possibility says nothing (p = 1, no odds ratio).

use super::discrete::{Tail, Weights};
use super::elementary::{exp, ln};
use super::interval::Level;
use super::root::increasing_root;

#[cfg(test)]
mod tests;

/// Bound of |ln ψ| while searching; exp(650) times a squared count still fits an `f64`.
const WIDEST_LN_ODDS: f64 = 650.0;

/// Counts of a two-by-two table, by rows: exposed and not exposed against event and no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Exposed, with the event.
    pub exposed_events: u64,
    /// Exposed, without the event.
    pub exposed_rest: u64,
    /// Not exposed, with the event.
    pub unexposed_events: u64,
    /// Not exposed, without the event.
    pub unexposed_rest: u64,
}

/// P-values of Fisher's exact test of independence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FisherTest {
    /// Sum over the tables that are no likelier than the observed one.
    pub two_sided: f64,
    /// `two_sided` minus half the probability of the observed table.
    pub mid_p: f64,
    /// P(exposed events ≤ observed).
    pub less: f64,
    /// P(exposed events ≥ observed).
    pub greater: f64,
}

/// Conditional maximum-likelihood odds ratio with its exact interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OddsRatio {
    /// `None` when the likelihood grows without end (infinite).
    pub estimate: Option<f64>,
    /// Lower bound, 0 when the observed count is the least possible.
    pub lower: f64,
    /// Upper bound; `None` when there is none (infinite).
    pub upper: Option<f64>,
}

/// Fisher's exact test.
///
/// Two-sided as R's `fisher.test`: probabilities up to the observed one times 1 + 1e-7. Mid-p as the two-sided p
/// minus half the point probability: H. O. Lancaster, *Significance Tests in Discrete Distributions*, JASA 56,
/// 1961. Values below 1e-300 come out as 0.
#[must_use]
pub fn fisher_exact(table: Table) -> FisherTest {
    let law = Margins::of(table).law(1.0);
    let observed = table.exposed_events;
    let two_sided = law.no_likelier_than(observed);
    FisherTest {
        two_sided,
        mid_p: two_sided - 0.5 * law.at(observed),
        less: law.at_most(observed).probability,
        greater: law.at_least(observed).probability,
    }
}

/// Conditional odds ratio: the ψ under which the noncentral hypergeometric mean equals the observed count.
///
/// The interval holds the ψ that neither exact one-sided test rejects at half of 1 − level. `None` when the
/// margins leave only one table. Source: R, `fisher.test`; R. A. Fisher, *The Logic of Inductive Inference*,
/// JRSS 98, 1935; J. Cornfield, *A Statistical Problem Arising from Retrospective Studies*, 1956.
#[must_use]
pub fn odds_ratio(table: Table, level: Level) -> Option<OddsRatio> {
    let margins = Margins::of(table);
    let (low, high) = (margins.low(), margins.high());
    let observed = table.exposed_events;
    if low == high {
        return None;
    }
    let at_low = observed == low;
    let at_high = observed == high;
    Some(OddsRatio {
        estimate: match (at_low, at_high) {
            (true, _) => Some(0.0),
            (_, true) => None,
            _ => Some(margins.most_likely(table)),
        },
        lower: if at_low { 0.0 } else { margins.lower_bound(table, level) },
        upper: (!at_high).then(|| margins.upper_bound(table, level)),
    })
}

/// The fixed margins of a table.
struct Margins {
    events: u64,
    rest: u64,
    exposed: u64,
}

impl Margins {
    fn of(table: Table) -> Self {
        Self {
            events: table.exposed_events.saturating_add(table.unexposed_events),
            rest: table.exposed_rest.saturating_add(table.unexposed_rest),
            exposed: table.exposed_events.saturating_add(table.exposed_rest),
        }
    }

    /// Least possible count of exposed events.
    fn low(&self) -> u64 {
        self.exposed.saturating_sub(self.rest)
    }

    /// Greatest possible count of exposed events.
    fn high(&self) -> u64 {
        self.exposed.min(self.events)
    }

    /// Noncentral hypergeometric law of the exposed events, with odds ratio ψ.
    fn law(&self, odds: f64) -> Weights {
        let (events, rest, exposed) = (self.events as f64, self.rest as f64, self.exposed as f64);
        Weights::new(self.low(), self.high(), |count| {
            let x = count as f64;
            (events - x) * (exposed - x) / ((x + 1.0) * (rest - exposed + x + 1.0)) * odds
        })
    }

    fn most_likely(&self, table: Table) -> f64 {
        let observed = table.exposed_events as f64;
        search(table, |law| (law.mean() - observed, law.variance()))
    }

    /// The ψ with P(X ≥ observed) = α/2.
    fn lower_bound(&self, table: Table, level: Level) -> f64 {
        let target = ln(level.tail());
        search(table, |law| {
            let Tail { probability, mean } = law.at_least(table.exposed_events);
            (ln(probability) - target, mean - law.mean())
        })
    }

    /// The ψ with P(X ≤ observed) = α/2.
    fn upper_bound(&self, table: Table, level: Level) -> f64 {
        let target = ln(level.tail());
        search(table, |law| {
            let Tail { probability, mean } = law.at_most(table.exposed_events);
            (target - ln(probability), law.mean() - mean)
        })
    }
}

/// Solves for ψ on the scale of ln ψ, starting at the sample odds ratio with ½ added to each cell.
///
/// The slopes come from the exponential family: d ln P(A)/d ln ψ = E(X | A) − E(X).
fn search(table: Table, value_and_slope: impl Fn(&Weights) -> (f64, f64)) -> f64 {
    let margins = Margins::of(table);
    let half = |count: u64| ln(count as f64 + 0.5);
    let start = half(table.exposed_events) + half(table.unexposed_rest)
        - half(table.exposed_rest)
        - half(table.unexposed_events);
    let root =
        increasing_root(-WIDEST_LN_ODDS, WIDEST_LN_ODDS, start, |ln_odds| value_and_slope(&margins.law(exp(ln_odds))));
    exp(root)
}
