//! In: events and exposures inside and outside a window.
//! Out: the ratio of the two rates with its interval and p-value.
//! Always: infinite is `None` and never a large number; nothing is estimated from no events or no exposure.

use super::binomial::binomial_two_sided;
use super::interval::Level;
use super::proportion::{Proportion, exact_bounds};

#[cfg(test)]
mod tests;

/// Events and exposure (attempts, events or seconds: any unit, the same on both sides) of one session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stratum {
    /// Events inside the window.
    pub inside_events: u64,
    /// Exposure inside the window.
    pub inside_exposure: f64,
    /// Events outside the window.
    pub outside_events: u64,
    /// Exposure outside the window.
    pub outside_exposure: f64,
}

impl Stratum {
    /// Can it tell anything of the ratio? It needs an event, and exposure on both sides.
    #[must_use]
    pub fn is_informative(&self) -> bool {
        let exposed = |exposure: f64| exposure > 0.0 && exposure.is_finite();
        self.events() > 0 && exposed(self.inside_exposure) && exposed(self.outside_exposure)
    }

    pub(super) fn events(&self) -> u64 {
        self.inside_events.saturating_add(self.outside_events)
    }
}

/// Rate inside over rate outside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateRatio {
    /// Strata with an event and with exposure on both sides; the others are left out everywhere.
    pub informative_strata: usize,
    /// Events inside the window, in informative strata.
    pub inside_events: u64,
    /// Events outside the window, in informative strata.
    pub outside_events: u64,
    /// The ratio; `None` when nothing is informative, or when no event lies outside (infinite).
    pub estimate: Option<f64>,
    /// Lower bound; 0 when no event lies inside; `None` when nothing is informative.
    pub lower: Option<f64>,
    /// Upper bound; `None` when nothing is informative, or when no event lies outside (infinite).
    pub upper: Option<f64>,
    /// Two-sided p-value of a ratio of 1; `None` when nothing is informative.
    pub p_value: Option<f64>,
}

impl RateRatio {
    /// The answer of data that say nothing.
    pub(super) const UNKNOWN: Self = Self {
        informative_strata: 0,
        inside_events: 0,
        outside_events: 0,
        estimate: None,
        lower: None,
        upper: None,
        p_value: None,
    };

    /// Is there information, with all events inside?
    #[must_use]
    pub fn is_infinite(&self) -> bool {
        self.inside_events > 0 && self.outside_events == 0
    }
}

/// Ratio of two Poisson rates, with the exact interval and p-value of the conditional binomial method.
///
/// Given x + y events, x is binomial with p = r·s/(r·s + t) for exposures s, t and ratio r; Clopper-Pearson bounds
/// of p become bounds of r. Source: R, `poisson.test`; J. Przyborowski and H. Wilenski, *Homogeneity of Results
/// in Testing Samples from Poisson Series*, Biometrika 31, 1940.
#[must_use]
pub fn rate_ratio(counts: Stratum, level: Level) -> RateRatio {
    let proportion = Proportion::new(counts.inside_events, counts.events());
    let (Some(proportion), true) = (proportion, counts.is_informative()) else {
        return RateRatio::UNKNOWN;
    };
    let exposure_ratio = counts.outside_exposure / counts.inside_exposure;
    let (lower, upper) = exact_bounds(proportion, level);
    let ratio = |(p, rest): (f64, f64)| p / rest * exposure_ratio;
    let finite = counts.outside_events > 0;
    let null = counts.inside_exposure / (counts.inside_exposure + counts.outside_exposure);
    RateRatio {
        informative_strata: 1,
        inside_events: counts.inside_events,
        outside_events: counts.outside_events,
        estimate: finite.then(|| counts.inside_events as f64 / counts.outside_events as f64 * exposure_ratio),
        lower: Some(ratio(lower)),
        upper: finite.then(|| ratio(upper)),
        p_value: binomial_two_sided(counts.inside_events, counts.events(), null),
    }
}
