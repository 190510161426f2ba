//! The archive against the baseline: what is new, what is classified or decided otherwise.

use std::collections::{BTreeMap, BTreeSet};

use super::baseline::{Accepted, Baseline, Classified};
use super::observed::{Observed, Point};
use super::result::{Gate, Known, Problem};
use crate::findings::{Place, Severity, fingerprint};
use crate::message;
use crate::message::Message;

/// Points split by whether the baseline accepts them, and the entries that nothing answers to any more.
pub(super) fn split<'o>(baseline: &Baseline, observed: &'o Observed) -> (Vec<&'o Point>, Vec<Known>, Vec<Accepted>) {
    let reasons: BTreeMap<&str, &str> =
        baseline.accepted.iter().map(|entry| (entry.fingerprint.as_str(), entry.reason.as_str())).collect();
    let (mut fresh, mut known) = (Vec::new(), Vec::new());
    for point in &observed.points {
        match reasons.get(point.fingerprint.as_str()) {
            Some(reason) => known.push(Known { point: point.clone(), reason: (*reason).to_owned() }),
            None => fresh.push(point),
        }
    }
    let seen: BTreeSet<&str> = observed.points.iter().map(|point| point.fingerprint.as_str()).collect();
    let stale = baseline.accepted.iter().filter(|entry| !seen.contains(entry.fingerprint.as_str())).cloned();
    (fresh, known, stale.collect())
}

/// Failures of both sides that are classified otherwise, with what changed.
pub(super) fn reclassified(baseline: &Baseline, observed: &Observed) -> Vec<(Problem, Message)> {
    let before = &baseline.classifications.failures;
    let both = observed.failures.iter().filter_map(|(at, now)| Some((at, before.get(at)?, now)));
    both.filter_map(|(at, before, now)| {
        let change = change(before, now)?;
        let what = Message::new("check.reclassified-at").with("at", at).with_message("change", change.clone());
        Some((problem(Gate::Classification, at, observed, what), change))
    })
    .collect()
}

/// The first of code, verdict and supported code that differs: the later ones follow from it.
fn change(before: &Classified, now: &Classified) -> Option<Message> {
    let (from, to) = (before.effective(), now.effective());
    if from != to {
        return Some(message!("check.change-code", from = from, to = to));
    }
    if before.verdict != now.verdict {
        return Some(message!("check.change-verdict", code = to, from = &before.verdict, to = &now.verdict));
    }
    (before.supported_code != now.supported_code)
        .then(|| message!("check.change-supported", code = to, from = &before.supported_code, to = &now.supported_code))
}

/// Failures on which the policy decides otherwise; `None` where there is nothing to compare.
pub(super) fn redecided(baseline: &Baseline, observed: &Observed) -> Option<Vec<Problem>> {
    let (before, now) = (baseline.decisions.as_ref()?, observed.decisions.as_ref()?);
    let both = now.made.iter().filter_map(|(at, now)| Some((at, before.made.get(at)?, now)));
    let changed = both.filter(|(_, before, now)| before != now);
    let problems = changed.map(|(at, before, now)| {
        let what = message!("check.redecided-at", at = at, from = before, to = now);
        problem(Gate::PolicyDecision, at, observed, what)
    });
    Some(problems.collect())
}

fn problem(gate: Gate, at: &str, observed: &Observed, what: Message) -> Problem {
    let place: Option<Place> = observed.places.get(at).map(|(place, _)| place.clone());
    let fingerprint = fingerprint(gate.name(), place.as_slice());
    Problem { gate, rule: gate.name(), severity: Severity::Error, fingerprint, place, what }
}
