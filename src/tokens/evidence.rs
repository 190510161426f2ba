//! What a session tells about the tokens of its requests, gathered while its texts are at hand; a few numbers remain.

use super::fit::{Features, Sample, UNFITTED};
use super::log::TokenLog;
use crate::session::AttemptRow;

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

/// Gathers evidence; see [`gather`].
struct Gatherer<'a> {
    log: &'a TokenLog,
    positions: &'a [usize],
    counted: Vec<Option<u32>>,
}

impl Gatherer<'_> {
    fn features(&mut self, piece: u32) -> (Features, u64) {
        let index = piece as usize;
        let Some(text) = self.log.pieces.get(index) else { return ([0.0; 3], 0) };
        let tokens = match self.counted.get(index).copied().flatten() {
            Some(tokens) => tokens,
            None => {
                let tokens = self.log.tokens(index);
                if let Some(slot) = self.counted.get_mut(index) {
                    *slot = Some(tokens);
                }
                tokens
            }
        };
        ([f64::from(tokens), f64::from(text.messages), f64::from(text.calls)], text.image_tokens)
    }

    /// Net features, churn, and whether something left, of the changes between two places of the log.
    fn between(&mut self, from: usize, to: usize) -> (Features, f64, bool, u64) {
        let (mut net, mut churn, mut shrunk, mut images) = ([0.0; 3], 0.0, false, 0u64);
        for index in from..to {
            let Some(change) = self.log.changes.get(index).copied() else { break };
            let (features, image_tokens) = self.features(change.piece);
            let sign = if change.entered { 1.0 } else { -1.0 };
            for (sum, feature) in net.iter_mut().zip(features) {
                *sum += sign * feature;
            }
            let size = UNFITTED.of(&features) + image_tokens as f64;
            churn += size;
            shrunk |= !change.entered && size > 0.0;
            images = if change.entered { images + image_tokens } else { images.saturating_sub(image_tokens) };
        }
        (net, churn, shrunk, images)
    }

    fn anchor(&mut self, earlier: usize, later: usize, reported: usize) -> Anchor {
        let (change, churn, shrunk, _) = self.between(self.positions[earlier], self.positions[later]);
        Anchor { attempt: reported, change, churn, shrunk }
    }
}

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
    let mut gatherer = Gatherer { log, positions, counted: vec![None; log.pieces.len()] };
    let reported: Vec<usize> = (0..attempts.len()).filter(|i| attempts[*i].plausible_prompt().is_some()).collect();
    let mut gathered: Vec<(usize, Evidence)> = Vec::new();
    for index in (0..attempts.len()).filter(|i| wanted(&attempts[*i])) {
        let attempt = &attempts[index];
        let identity = attempt.request.as_ref().map(|r| r.identity);
        let same = |other: &&usize| {
            attempts[**other].route == attempt.route
                && attempts[**other].request.as_ref().map(|r| r.identity) == identity
        };
        let split = reported.partition_point(|i| *i < index);
        let mut evidence = Evidence {
            identical: reported[split..]
                .iter()
                .take(64)
                .chain(reported[..split].iter().rev().take(64))
                .find(same)
                .copied(),
            ..Evidence::default()
        };
        // A retry sends what the attempt before it sent: its evidence is the same.
        if let Some((_, last)) = gathered.last().filter(|(last, _)| {
            attempts[*last].route == attempt.route
                && attempts[*last].request.as_ref().map(|r| r.identity) == identity
                && !reported.contains(last)
        }) {
            let copy = Evidence { identical: evidence.identical, ..*last };
            gathered.push((index, copy));
            continue;
        }
        let on_route = |other: &&usize| attempts[**other].route == attempt.route && !same(other);
        if evidence.identical.is_none() || all_samples {
            let before = reported[..split].iter().rev().find(on_route).copied();
            let after = reported[split..].iter().filter(|i| **i != index).find(on_route).copied();
            evidence.before = before.map(|b| gatherer.anchor(b, index, b));
            evidence.after = after.map(|a| gatherer.anchor(index, a, a));
            if (before.is_none() && after.is_none()) || all_samples {
                let (whole, _, _, images) = gatherer.between(0, positions[index]);
                evidence.whole = Some(whole);
                evidence.image_tokens = images;
            }
        }
        gathered.push((index, evidence));
    }
    // Where every failure has a report of the identical request, nothing is estimated: no text need be counted.
    if !all_samples && gathered.iter().all(|(_, e)| e.identical.is_some()) {
        return (gathered, Vec::new());
    }
    let limit = if all_samples { usize::MAX } else { SAMPLES };
    let samples = samples(attempts, &reported, &mut gatherer, limit);
    (gathered, samples)
}

fn samples(attempts: &[AttemptRow], reported: &[usize], gatherer: &mut Gatherer<'_>, limit: usize) -> Vec<Sample> {
    let prompt = |i: usize| attempts[i].plausible_prompt().map_or(0.0, |p| p as f64);
    let mut samples = Vec::new();
    if let Some(first) = reported.first().copied() {
        let (features, churn, ..) = gatherer.between(0, gatherer.positions[first]);
        samples.push(Sample { between: (first, first), features, churn, tokens: prompt(first) });
    }
    let pairs: Vec<(usize, usize)> = reported
        .windows(2)
        .filter_map(|pair| Some((*pair.first()?, *pair.get(1)?)))
        .filter(|(a, b)| attempts[*a].route == attempts[*b].route)
        .collect();
    let stride = pairs.len().div_ceil(limit).max(1);
    for (earlier, later) in pairs.into_iter().step_by(stride) {
        let anchor = gatherer.anchor(earlier, later, earlier);
        if anchor.churn > 0.0 {
            samples.push(Sample {
                between: (earlier, later),
                features: anchor.change,
                churn: anchor.churn,
                tokens: prompt(later) - prompt(earlier),
            });
        }
    }
    samples
}
