//! `check --format json`, version 1 (`docs/json.md`). Always English; fields may be added, none renamed or dropped.

use serde::Serialize;

use super::{one_line, words};
use crate::check::{CheckResult, GateState};
use crate::report::lang::Language;

/// The contract.
#[derive(Debug, Serialize)]
pub struct CheckV1 {
    schema: &'static str,
    tool_version: &'static str,
    partial: bool,
    verdict: &'static str,
    gates: Vec<GateV1>,
    problems: Vec<ProblemV1>,
    known: Vec<KnownV1>,
    stale: Vec<StaleV1>,
    rates: Vec<RateV1>,
    failed_attempts: u64,
    contradicted: u64,
    unknown_wordings: Vec<String>,
    notices: Vec<String>,
}

#[derive(Debug, Serialize)]
struct GateV1 {
    gate: &'static str,
    state: &'static str,
    problems: usize,
    why: String,
}

#[derive(Debug, Serialize)]
struct ProblemV1 {
    gate: &'static str,
    rule: &'static str,
    severity: &'static str,
    fingerprint: String,
    session_id: Option<String>,
    seq: Option<u64>,
    what: String,
}

#[derive(Debug, Serialize)]
struct KnownV1 {
    rule: &'static str,
    fingerprint: String,
    session_id: Option<String>,
    seq: Option<u64>,
    reason: String,
}

#[derive(Debug, Serialize)]
struct StaleV1 {
    rule: String,
    at: String,
    fingerprint: String,
    reason: String,
}

#[derive(Debug, Serialize)]
struct RateV1 {
    route: String,
    state: &'static str,
    attempts: u64,
    failed_attempts: u64,
    baseline_attempts: Option<u64>,
    baseline_failed_attempts: Option<u64>,
    rate_ratio: Option<f64>,
    rate_ratio_lo: Option<f64>,
    rate_ratio_hi: Option<f64>,
}

impl CheckV1 {
    /// From the result.
    pub fn new(result: &CheckResult) -> Self {
        let say = |message| words(message, Language::English);
        Self {
            schema: "dsh-forensics/check/v1",
            tool_version: env!("CARGO_PKG_VERSION"),
            partial: result.partial,
            verdict: verdict(result),
            gates: (result.outcomes.iter())
                .map(|outcome| GateV1 {
                    gate: outcome.gate.name(),
                    state: outcome.state.name(),
                    problems: result.problems_of(outcome.gate).count(),
                    why: say(&outcome.why),
                })
                .collect(),
            problems: (result.problems.iter())
                .map(|problem| ProblemV1 {
                    gate: problem.gate.name(),
                    rule: problem.rule,
                    severity: problem.severity.name(),
                    fingerprint: problem.fingerprint.clone(),
                    session_id: problem.place.as_ref().map(|place| one_line(&place.session_id)),
                    seq: problem.place.as_ref().map(|place| place.seq),
                    what: say(&problem.what),
                })
                .collect(),
            known: (result.known.iter())
                .map(|known| KnownV1 {
                    rule: known.point.rule,
                    fingerprint: known.point.fingerprint.clone(),
                    session_id: known.point.place.as_ref().map(|place| one_line(&place.session_id)),
                    seq: known.point.place.as_ref().map(|place| place.seq),
                    reason: one_line(&known.reason),
                })
                .collect(),
            stale: (result.stale.iter())
                .map(|entry| StaleV1 {
                    rule: one_line(&entry.rule),
                    at: one_line(&entry.at),
                    fingerprint: one_line(&entry.fingerprint),
                    reason: one_line(&entry.reason),
                })
                .collect(),
            rates: rates(result),
            failed_attempts: result.observed.failed_attempts,
            contradicted: result.observed.contradicted,
            unknown_wordings: result.observed.unknown_wordings.iter().map(|text| one_line(text)).collect(),
            notices: result.notices.iter().map(say).collect(),
        }
    }
}

fn verdict(result: &CheckResult) -> &'static str {
    match (result.fired(), result.in_state(GateState::Inconclusive).next().is_some()) {
        (true, _) => "failed",
        (false, true) => "inconclusive",
        (false, false) => "passed",
    }
}

fn rates(result: &CheckResult) -> Vec<RateV1> {
    let rates = result.rates.iter().map(|route| RateV1 {
        route: one_line(&route.route),
        state: route.state.name(),
        attempts: route.now.attempts,
        failed_attempts: route.now.failed_attempts,
        baseline_attempts: route.before.map(|rate| rate.attempts),
        baseline_failed_attempts: route.before.map(|rate| rate.failed_attempts),
        rate_ratio: route.ratio,
        rate_ratio_lo: route.lower,
        rate_ratio_hi: route.upper,
    });
    rates.collect()
}
