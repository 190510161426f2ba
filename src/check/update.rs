//! The baseline that accepts what is seen now: better things are tightened, worse ones need a reason.

use std::collections::BTreeMap;

use super::baseline::{Accepted, Baseline, Classifications, Rate, Rates};
use super::classify::Rules;
use super::gates::Asked;
use super::observed::Point;
use super::rates::{RateComparison, RateState};
use super::result::{CheckResult, Gate, GateState};
use crate::message;
use crate::message::Message;

/// Entries that nobody gave a reason for.
#[derive(Debug, Clone, PartialEq)]
pub struct NeedsReason {
    /// Each of them: rule and place, gate, or route.
    pub entries: Vec<Message>,
}

/// The baseline of what is seen now.
///
/// # Errors
/// When something is new or worse and there is no reason for it; names every such entry.
pub fn updated(
    old: Option<&Baseline>,
    result: &CheckResult,
    asked: &Asked,
    rules: &Rules,
    reason: Option<&str>,
) -> Result<Baseline, NeedsReason> {
    let mut without = Vec::new();
    let accepted = accepted(old, result, asked, reason, &mut without);
    let mut section = |changed: bool, before: Option<String>, gate: Gate| match (changed, reason) {
        (false, _) => before,
        (true, Some(reason)) => Some(reason.to_owned()),
        (true, None) => {
            let why = result.outcomes.iter().find(|outcome| outcome.gate == gate).map(|outcome| outcome.why.clone());
            without.extend(why.map(|why| message!("check.entry-gate", gate = gate.name()).with_message("why", why)));
            None
        }
    };
    let changed = |gate: Gate| result.in_state(GateState::Fired).any(|outcome| outcome.gate == gate);
    let before = |of: fn(&Baseline) -> Option<String>| old.and_then(of);
    let classifications = Classifications {
        reason: section(
            changed(Gate::Classification),
            before(|b| b.classifications.reason.clone()),
            Gate::Classification,
        ),
        dsh_version: rules.dsh_version.clone(),
        pi_ai_version: rules.pi_ai_version.clone(),
        failures: result.observed.failures.clone(),
    };
    let decision_reason = section(
        changed(Gate::PolicyDecision),
        before(|b| b.decisions.as_ref().and_then(|d| d.reason.clone())),
        Gate::PolicyDecision,
    );
    let worse = result.rates.iter().any(|route| route.state == RateState::Worse);
    let rates = Rates {
        reason: section(worse, before(|b| b.rates.reason.clone()), Gate::FailureRate),
        routes: rates_to_hold(result, reason),
    };
    if !without.is_empty() {
        return Err(NeedsReason { entries: without });
    }
    // A policy that is not given this time keeps its decisions.
    let decisions = match &result.observed.decisions {
        Some(now) => Some(super::baseline::Decisions { reason: decision_reason, ..now.clone() }),
        None => old.and_then(|old| old.decisions.clone()),
    };
    Ok(Baseline { accepted, classifications, decisions, rates, ..Baseline::default() })
}

fn rates_to_hold(result: &CheckResult, reason: Option<&str>) -> BTreeMap<String, Rate> {
    let mut routes = result.observed.rates.clone();
    for route in result.rates.iter().filter(|route| keeps(route, reason)) {
        if let Some(before) = route.before {
            routes.insert(route.route.clone(), before);
        }
    }
    routes
}

/// Whether the baseline keeps its rate: a higher one is not taken over without a reason, proven or not, so that it does
/// not creep up; a route that was not tried keeps what is known of it.
fn keeps(route: &RateComparison, reason: Option<&str>) -> bool {
    let higher = route.ratio.map_or(route.now.failed_attempts > 0, |ratio| ratio > 1.0);
    route.now.attempts == 0 || (higher && reason.is_none())
}

/// Entries of everything that would fail: those that stand keep their reasons, those that are gone go.
fn accepted(
    old: Option<&Baseline>,
    result: &CheckResult,
    asked: &Asked,
    reason: Option<&str>,
    without: &mut Vec<Message>,
) -> Vec<Accepted> {
    let reasons: BTreeMap<&str, &str> = old
        .map(|old| old.accepted.iter().map(|e| (e.fingerprint.as_str(), e.reason.as_str())).collect())
        .unwrap_or_default();
    let mut entries = Vec::new();
    for point in &result.observed.points {
        let kept = reasons.get(point.fingerprint.as_str()).copied();
        if kept.is_none() && !asked.gates(point) {
            continue;
        }
        match kept.or(reason) {
            Some(reason) => entries.push(entry(point, reason)),
            None => without.push(message!("check.entry", rule = point.rule, at = point.at())),
        }
    }
    entries.sort();
    entries.dedup();
    entries
}

fn entry(point: &Point, reason: &str) -> Accepted {
    Accepted {
        rule: point.rule.to_owned(),
        at: point.at(),
        fingerprint: point.fingerprint.clone(),
        reason: reason.trim().to_owned(),
    }
}
