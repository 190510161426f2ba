//! In: one stratum of events and exposures per session.
//! Out: one rate ratio common to all, with each session as its own control.
//! Always: what differs between sessions cancels out; the order of the strata changes nothing but rounding.

use super::elementary::{exp, ln, ln_one_plus};
use super::interval::Level;
use super::normal::chi_square_one_tail;
use super::rate_ratio::RateRatio;
use super::root::increasing_root;

pub use super::rate_ratio::Stratum;

#[cfg(test)]
mod tests;

/// Bound of |ln ratio| while searching; exp(700) still fits an `f64`.
const WIDEST_LN_RATIO: f64 = 700.0;

/// Rate ratio of the self-controlled case series: conditional Poisson maximum likelihood within strata.
///
/// Given its total n, a stratum's inside count is binomial with logit p = θ + ln(inside/outside exposure), where
/// θ = ln ratio is common to all strata; their rates, however different, drop out. Newton's method on θ, interval
/// by profile likelihood (2·(ℓ(θ̂) − ℓ(θ)) ≤ χ²₁ quantile), p-value by the likelihood ratio test of θ = 0. Source:
/// C. P. Farrington, *Relative Incidence Estimation from Case Series for Vaccine Safety Evaluation*, Biometrics
/// 51, 1995; H. J. Whitaker et al., *Tutorial in Biostatistics: the self-controlled case series method*, 2006.
///
/// Strata without events, or without positive finite exposure on both sides, are left out and not counted.
#[must_use]
pub fn stratified_rate_ratio(strata: &[Stratum], level: Level) -> RateRatio {
    stratified_rate_ratio_dispersed(strata, level, 1.0)
}

/// [`stratified_rate_ratio`] for events whose variance is `dispersion` times that of independent ones.
///
/// Events that come in bursts carry less information than their number. Quasi-likelihood: the deviance is divided by
/// the dispersion, which leaves the estimate and widens the interval by its square root. Source: P. McCullagh and
/// J. A. Nelder, *Generalized Linear Models*, 1989, section 9.2. A dispersion that is not positive counts as 1.
#[must_use]
pub fn stratified_rate_ratio_dispersed(strata: &[Stratum], level: Level, dispersion: f64) -> RateRatio {
    let dispersion = if dispersion > 0.0 && dispersion.is_finite() { dispersion } else { 1.0 };
    let likelihood = Likelihood::of(strata);
    if likelihood.terms.is_empty() {
        return RateRatio::UNKNOWN;
    }
    let (inside, outside) = likelihood.events();
    let best = match (inside, outside) {
        (0, _) => Best::Zero,
        (_, 0) => Best::Infinite,
        _ => Best::Finite(likelihood.most_likely()),
    };
    let limit = level.chi_square() * dispersion;
    RateRatio {
        informative_strata: likelihood.terms.len(),
        inside_events: inside,
        outside_events: outside,
        estimate: match best {
            Best::Zero => Some(0.0),
            Best::Finite(theta) => Some(exp(theta)),
            Best::Infinite => None,
        },
        lower: Some(match best {
            Best::Zero => 0.0,
            _ => exp(likelihood.lower_bound(best, limit)),
        }),
        upper: match best {
            Best::Infinite => None,
            _ => Some(exp(likelihood.upper_bound(best, limit))),
        },
        p_value: Some(chi_square_one_tail(likelihood.deviance(best, 0.0) / dispersion)),
    }
}

/// Where the likelihood is greatest.
#[derive(Clone, Copy)]
enum Best {
    Zero,
    Finite(f64),
    Infinite,
}

/// The conditional likelihood of θ, as a sum over informative strata.
struct Likelihood {
    terms: Vec<Term>,
    /// Mantel and Haenszel's ratio, a start close to the maximum; 0 or ∞ at the ends.
    start: f64,
}

/// One stratum: its counts and the logit of the inside share of exposure.
struct Term {
    inside: f64,
    outside: f64,
    offset: f64,
}

impl Term {
    /// Probability that an event of this stratum lies inside.
    fn share(&self, theta: f64) -> f64 {
        exp(-soft_plus(-(theta + self.offset)))
    }

    /// Log-likelihood, without the binomial coefficient.
    fn log_likelihood(&self, theta: f64) -> f64 {
        let logit = theta + self.offset;
        let mut sum = 0.0;
        if self.inside > 0.0 {
            sum -= self.inside * soft_plus(-logit);
        }
        if self.outside > 0.0 {
            sum -= self.outside * soft_plus(logit);
        }
        sum
    }
}

impl Likelihood {
    fn of(strata: &[Stratum]) -> Self {
        let informative = || strata.iter().filter(|stratum| stratum.is_informative());
        let (mut above, mut below) = (0.0, 0.0);
        for stratum in informative() {
            let total = stratum.inside_exposure + stratum.outside_exposure;
            above += stratum.inside_events as f64 * (stratum.outside_exposure / total);
            below += stratum.outside_events as f64 * (stratum.inside_exposure / total);
        }
        let terms = informative()
            .map(|stratum| Term {
                inside: stratum.inside_events as f64,
                outside: stratum.outside_events as f64,
                offset: ln(stratum.inside_exposure) - ln(stratum.outside_exposure),
            })
            .collect();
        Self { terms, start: above / below }
    }

    fn events(&self) -> (u64, u64) {
        let sum = |count: fn(&Term) -> f64| self.terms.iter().map(count).sum::<f64>() as u64;
        (sum(|term| term.inside), sum(|term| term.outside))
    }

    /// Minus the score, which increases with θ, and the information.
    fn minus_score(&self, theta: f64) -> (f64, f64) {
        let mut value = 0.0;
        let mut information = 0.0;
        for term in &self.terms {
            let share = term.share(theta);
            let count = term.inside + term.outside;
            value += count * share - term.inside;
            information += count * share * (1.0 - share);
        }
        (value, information)
    }

    fn most_likely(&self) -> f64 {
        increasing_root(-WIDEST_LN_RATIO, WIDEST_LN_RATIO, ln(self.start), |theta| self.minus_score(theta))
    }

    /// 2·(ℓ(best) − ℓ(θ)); at both ends the greatest likelihood is 1.
    fn deviance(&self, best: Best, theta: f64) -> f64 {
        let sum: f64 = self
            .terms
            .iter()
            .map(|term| match best {
                Best::Finite(top) => term.log_likelihood(top) - term.log_likelihood(theta),
                Best::Zero | Best::Infinite => -term.log_likelihood(theta),
            })
            .sum();
        2.0 * sum.max(0.0)
    }

    /// Half-width of the Wald interval, as a first step away from the maximum.
    fn step(&self, theta: f64, limit: f64) -> f64 {
        (limit / self.minus_score(theta).1).sqrt()
    }

    fn upper_bound(&self, best: Best, limit: f64) -> f64 {
        let (from, start) = match best {
            Best::Finite(theta) => (theta, theta + self.step(theta, limit)),
            Best::Zero | Best::Infinite => (-WIDEST_LN_RATIO, 0.0),
        };
        increasing_root(from, WIDEST_LN_RATIO, start, |theta| {
            (self.deviance(best, theta) - limit, 2.0 * self.minus_score(theta).0)
        })
    }

    /// The mirror image of [`Likelihood::upper_bound`]: the deviance increases with −θ below the maximum.
    fn lower_bound(&self, best: Best, limit: f64) -> f64 {
        let (from, start) = match best {
            Best::Finite(theta) => (-theta, self.step(theta, limit) - theta),
            Best::Zero | Best::Infinite => (-WIDEST_LN_RATIO, 0.0),
        };
        -increasing_root(from, WIDEST_LN_RATIO, start, |mirrored| {
            (self.deviance(best, -mirrored) - limit, -2.0 * self.minus_score(-mirrored).0)
        })
    }
}

/// ln(1 + exp(x)) without overflow.
fn soft_plus(x: f64) -> f64 {
    x.max(0.0) + ln_one_plus(exp(-x.abs()))
}
