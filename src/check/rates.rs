//! Failure rates of each route against those of the baseline.

use std::collections::BTreeMap;

use super::baseline::Rate;
use crate::stats::{Level, Stratum, rate_ratio};

/// What the comparison of one route came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateState {
    /// The lower end of the interval lies above the limit.
    Worse,
    /// The upper end lies below 1.
    Better,
    /// Neither, with enough evidence to see a worse rate.
    Same,
    /// Too few attempts to tell.
    Inconclusive,
    /// The baseline does not have the route.
    New,
}

impl RateState {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Same => "same",
            Self::Inconclusive => "inconclusive",
            Self::New => "new",
        }
    }
}

/// One route.
#[derive(Debug, Clone, PartialEq)]
pub struct RateComparison {
    /// `provider/model`
    pub route: String,
    /// Attempts in the baseline.
    pub before: Option<Rate>,
    /// Attempts now.
    pub now: Rate,
    /// Rate now over rate before; `None`: unknown, or infinite.
    pub ratio: Option<f64>,
    /// Lower end of its 95 % interval; `None`: unknown.
    pub lower: Option<f64>,
    /// Upper end; `None`: unknown, or infinite.
    pub upper: Option<f64>,
    /// See [`RateState`].
    pub state: RateState,
}

/// Compares every route of either side.
pub fn compare(before: &BTreeMap<String, Rate>, now: &BTreeMap<String, Rate>, limit: f64) -> Vec<RateComparison> {
    let gone = before.keys().filter(|route| !now.contains_key(*route));
    let none = Rate { attempts: 0, failed_attempts: 0 };
    let pairs = now.iter().map(|(route, rate)| (route, before.get(route).copied(), *rate));
    let mut all: Vec<RateComparison> = pairs
        .chain(gone.map(|route| (route, before.get(route).copied(), none)))
        .map(|(route, before, now)| one(route, before, now, limit))
        .collect();
    all.sort_by(|a, b| a.route.cmp(&b.route));
    all
}

fn one(route: &str, before: Option<Rate>, now: Rate, limit: f64) -> RateComparison {
    let mut found = RateComparison {
        route: route.to_owned(),
        before,
        now,
        ratio: None,
        lower: None,
        upper: None,
        state: RateState::New,
    };
    let Some(before) = before else { return found };
    let ratio = rate_ratio(stratum(before, now), Level::NINETY_FIVE);
    (found.ratio, found.lower, found.upper) = (ratio.estimate, ratio.lower, ratio.upper);
    let above = ratio.is_infinite() || ratio.estimate.is_some_and(|estimate| estimate > limit);
    found.state = if ratio.lower.is_some_and(|lower| lower > limit) {
        RateState::Worse
    } else if ratio.upper.is_some_and(|upper| upper < 1.0) {
        RateState::Better
    } else if before == now {
        // The logs of the baseline again, most likely: there is nothing to decide.
        RateState::Same
    } else if above || !could_tell(before, now, limit) {
        RateState::Inconclusive
    } else {
        RateState::Same
    };
    found
}

fn stratum(before: Rate, now: Rate) -> Stratum {
    Stratum {
        inside_events: now.failed_attempts,
        inside_exposure: now.attempts as f64,
        outside_events: before.failed_attempts,
        outside_exposure: before.attempts as f64,
    }
}

/// Whether these many attempts would have shown a worse rate, had all of them failed. A route that failed almost always
/// before cannot get worse: there is nothing to see.
fn could_tell(before: Rate, now: Rate, limit: f64) -> bool {
    let worst = Rate { failed_attempts: now.attempts, ..now };
    let saturated = before.attempts > 0 && before.failed_attempts as f64 * limit >= before.attempts as f64;
    let seen = rate_ratio(stratum(before, worst), Level::NINETY_FIVE).lower.is_some_and(|lower| lower > limit);
    seen || (saturated && now.attempts > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(before: (u64, u64), now: (u64, u64)) -> RateState {
        let rate = |(failed_attempts, attempts)| Rate { attempts, failed_attempts };
        one("gateway/large", Some(rate(before)), rate(now), 1.25).state
    }

    #[test]
    fn a_rate_is_worse_only_when_the_interval_says_so() {
        assert_eq!(state((20, 1000), (60, 1000)), RateState::Worse);
        assert_eq!(state((20, 1000), (20, 1000)), RateState::Same);
        assert_eq!(state((60, 1000), (20, 1000)), RateState::Better);
        assert_eq!(state((2, 100), (3, 50)), RateState::Inconclusive, "three failures decide nothing");
        assert_eq!(state((0, 1000), (1, 1000)), RateState::Inconclusive, "infinite, but one failure");
        assert_eq!(state((0, 1000), (30, 1000)), RateState::Worse);
    }

    #[test]
    fn too_few_attempts_are_no_proof_of_a_good_rate() {
        assert_eq!(state((20, 100), (0, 3)), RateState::Inconclusive, "three failures of three would not show");
        assert_eq!(state((20, 100), (0, 0)), RateState::Inconclusive, "the route was not tried");
        assert_eq!(state((1, 1000), (0, 5)), RateState::Same, "five failures of five would show");
        assert_eq!(state((99, 100), (100, 100)), RateState::Same, "it cannot get worse");
        assert_eq!(state((2, 7), (2, 7)), RateState::Same, "the same logs again");
    }
}
