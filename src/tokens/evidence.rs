//! What a session tells about the tokens of its requests, gathered while its texts are at hand; a few numbers remain.

use std::collections::BTreeMap;

use super::fit::{Features, Sample};
use super::log::TokenLog;
use super::span::{CountedLog, MovingSpan};
use crate::session::{AttemptRow, Route};

/// A reported prompt before or after an attempt, and what changed between the two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anchor {
    /// Index of the attempt that was reported.
    pub attempt: usize,
    /// Net features from the earlier to the later of the two.
    pub change: Features,
    /// Tokens that entered or left, by the unfitted rule.
    pub churn: f64,
    /// Something left the surface in between (compaction, prune).
    pub shrunk: bool,
}

/// What is known about one attempt's prompt.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Attempt with the identical request and a report.
    pub identical: Option<usize>,
    /// Nearest report before it on its route.
    pub before: Option<Anchor>,
    /// Nearest report after it on its route.
    pub after: Option<Anchor>,
    /// Features of the whole request, where no report stands before or after.
    pub whole: Option<Features>,
    /// Tokens of images, by an assumed rule.
    pub image_tokens: u64,
}

/// Most samples a session gives to the fits: enough for three coefficients, a few milliseconds of counting.
const SAMPLES: usize = 8;
/// Reports to either side that are asked whether their request was the identical one.
const NEIGHBOURS: usize = 64;

/// Gathers evidence for the attempts that `wanted` names, and samples for the fits. Nothing is counted when none is wanted.
pub fn gather(
    attempts: &[AttemptRow],
    positions: &[usize],
    log: &TokenLog,
    wanted: impl Fn(&AttemptRow) -> bool,
    all_samples: bool,
) -> (Vec<(usize, Evidence)>, Vec<Sample>) {
    if positions.len() != attempts.len() || !attempts.iter().any(&wanted) {
        return (Vec::new(), Vec::new());
    }
    let mut gatherer = Gatherer {
        attempts,
        positions,
        counted: CountedLog::new(log),
        routes: reports_by_route(attempts),
        whole: MovingSpan::default(),
        all: all_samples,
    };
    let mut gathered: Vec<(usize, Evidence)> = Vec::new();
    for index in (0..attempts.len()).filter(|i| wanted(&attempts[*i])) {
        let evidence = gatherer.evidence(index, gathered.last());
        gathered.push((index, evidence));
    }
    // Where every failure has a report of the identical request, nothing is estimated: no text need be counted.
    if !all_samples && gathered.iter().all(|(_, e)| e.identical.is_some()) {
        return (gathered, Vec::new());
    }
    let samples = gatherer.samples(if all_samples { usize::MAX } else { SAMPLES });
    (gathered, samples)
}

/// Walks the attempts of a session from the first to the last; every span it looks at moves with them.
struct Gatherer<'a> {
    attempts: &'a [AttemptRow],
    positions: &'a [usize],
    counted: CountedLog<'a>,
    routes: BTreeMap<&'a Route, RouteReports>,
    /// From the beginning of the log to an attempt.
    whole: MovingSpan,
    all: bool,
}

/// The reported attempts of one route, and the spans between them and the attempts without a report.
#[derive(Default)]
struct RouteReports {
    reported: Vec<usize>,
    before: MovingSpan,
    after: MovingSpan,
}

fn reports_by_route(attempts: &[AttemptRow]) -> BTreeMap<&Route, RouteReports> {
    let mut routes: BTreeMap<&Route, RouteReports> = BTreeMap::new();
    for (index, attempt) in attempts.iter().enumerate().filter(|(_, a)| a.plausible_prompt().is_some()) {
        routes.entry(&attempt.route).or_default().reported.push(index);
    }
    routes
}

impl Gatherer<'_> {
    fn identity(&self, index: usize) -> Option<u64> {
        self.attempts[index].request.as_ref().map(|request| request.identity)
    }

    fn sent_the_same(&self, one: usize, other: usize) -> bool {
        self.attempts[one].route == self.attempts[other].route && self.identity(one) == self.identity(other)
    }

    fn evidence(&mut self, index: usize, last: Option<&(usize, Evidence)>) -> Evidence {
        let (identical, before, after) = self.nearest(index);
        let mut evidence = Evidence { identical, ..Evidence::default() };
        // A retry sends what the attempt before it sent: its evidence is the same.
        if let Some((earlier, known)) = last
            && self.attempts[*earlier].plausible_prompt().is_none()
            && self.sent_the_same(*earlier, index)
        {
            return Evidence { identical, ..*known };
        }
        if identical.is_some() && !self.all {
            return evidence;
        }
        let here = self.positions[index];
        if let Some(reports) = self.routes.get_mut(&*self.attempts[index].route) {
            let mut anchor = |span: &mut MovingSpan, from: usize, to: usize, attempt: usize| {
                let sums = self.counted.of(span, from, to);
                Anchor { attempt, change: sums.net, churn: sums.churn, shrunk: sums.left > 0 }
            };
            evidence.before = before.map(|b| anchor(&mut reports.before, self.positions[b], here, b));
            evidence.after = after.map(|a| anchor(&mut reports.after, here, self.positions[a], a));
        }
        if (before.is_none() && after.is_none()) || self.all {
            let sums = self.counted.of(&mut self.whole, 0, here);
            evidence.whole = Some(sums.net);
            evidence.image_tokens = u64::try_from(sums.images).unwrap_or(0);
        }
        evidence
    }

    /// On the route of an attempt: a report of the identical request, and the nearest others before and after it.
    fn nearest(&self, index: usize) -> (Option<usize>, Option<usize>, Option<usize>) {
        let Some(reports) = self.routes.get(&*self.attempts[index].route) else { return (None, None, None) };
        let (earlier, later) = reports.reported.split_at(reports.reported.partition_point(|i| *i < index));
        let same = |other: &&usize| self.sent_the_same(**other, index);
        let near = later.iter().take(NEIGHBOURS).chain(earlier.iter().rev().take(NEIGHBOURS));
        (
            near.into_iter().find(same).copied(),
            earlier.iter().rev().find(|other| !same(other)).copied(),
            later.iter().find(|other| !same(other)).copied(),
        )
    }

    fn samples(&mut self, limit: usize) -> Vec<Sample> {
        let prompt = |i: usize| self.attempts[i].plausible_prompt().map_or(0.0, |p| p as f64);
        let reported: Vec<usize> =
            (0..self.attempts.len()).filter(|i| self.attempts[*i].plausible_prompt().is_some()).collect();
        let mut samples = Vec::new();
        let mut span = MovingSpan::default();
        if let Some(first) = reported.first().copied() {
            let sums = self.counted.of(&mut span, 0, self.positions[first]);
            let (features, churn) = (sums.net, sums.churn);
            samples.push(Sample { between: (first, first), features, churn, tokens: prompt(first) });
        }
        let pairs: Vec<(usize, usize)> = reported
            .windows(2)
            .filter_map(|pair| Some((*pair.first()?, *pair.get(1)?)))
            .filter(|(a, b)| self.attempts[*a].route == self.attempts[*b].route)
            .collect();
        let stride = pairs.len().div_ceil(limit).max(1);
        for (earlier, later) in pairs.into_iter().step_by(stride) {
            let sums = self.counted.of(&mut span, self.positions[earlier], self.positions[later]);
            if sums.churn > 0.0 {
                let (features, churn) = (sums.net, sums.churn);
                samples.push(Sample {
                    between: (earlier, later),
                    features,
                    churn,
                    tokens: prompt(later) - prompt(earlier),
                });
            }
        }
        samples
    }
}
