//! `policy what-if --format json`, version 1 (`docs/json.md`). Frozen: fields may be added, none renamed or dropped.

use serde::Serialize;

use super::lang::Language;
use crate::policy::Recorded;
use crate::policy::schedule::duration_words;
use crate::redact::redact;
use crate::replay::{Expected, ReplayReport, Unreproduced};
use crate::simulate::bounds::Bounded;
use crate::simulate::recommendation::{Recommendation, assumptions};
use crate::simulate::shares::EvidenceShares;
use crate::simulate::what_if::{PolicyResult, WhatIf};

/// The whole answer.
#[derive(Debug, Serialize)]
pub struct WhatIfV1 {
    schema: &'static str,
    tool_version: &'static str,
    partial: bool,
    assumptions: Vec<String>,
    seed: u64,
    draws: u64,
    assume: &'static str,
    episodes: u64,
    chains: u64,
    routes: Vec<RouteV1>,
    policies: Vec<PolicyV1>,
    recommendation: Option<RecommendationV1>,
    replay: ReplayV1,
    backtest: Option<BacktestV1>,
}

#[derive(Debug, Serialize)]
struct RouteV1 {
    provider: String,
    model: String,
    probes: u64,
    chains: u64,
    episodes: u64,
    ends_in_outage: bool,
    laws: Vec<LawV1>,
}

#[derive(Debug, Serialize)]
struct LawV1 {
    law: &'static str,
    weight: f64,
    held_out_log_score: f64,
}

#[derive(Debug, Serialize)]
struct PolicyV1 {
    name: String,
    source: String,
    runnable: bool,
    turns_failed_recorded: u64,
    turns_saved: Bounded,
    turns_lost: Bounded,
    net: Bounded,
    net_by_intervals: Option<Bounded>,
    net_if_contested_stays: Option<Bounded>,
    added_wait_ms: WaitV1,
    extra_attempts: f64,
    wasted_attempts: f64,
    input_tokens_resent: Option<f64>,
    retry_after_violations: f64,
    amplification: Option<f64>,
    endless_chains: f64,
    compaction_requests: f64,
    context_tokens_destroyed: f64,
    evidence_shares: Option<EvidenceShares>,
    pareto: bool,
}

#[derive(Debug, Serialize)]
struct WaitV1 {
    median: Option<f64>,
    p95: Option<f64>,
    total: f64,
}

#[derive(Debug, Serialize)]
struct RecommendationV1 {
    policy: String,
    text: String,
    what_would_change_it: Vec<String>,
    settings_yaml: Option<String>,
}

#[derive(Debug, Serialize)]
struct ReplayV1 {
    decisions: u64,
    reproduced: u64,
    mismatches: Vec<MismatchV1>,
}

#[derive(Debug, Serialize)]
struct MismatchV1 {
    session_id: String,
    seq: u64,
    turn: u64,
    step: u64,
    code: String,
    reason: &'static str,
    expected: Option<String>,
    recorded: String,
}

#[derive(Debug, Serialize)]
struct BacktestV1 {
    coverage90: f64,
    brier: f64,
    retries: u64,
}

impl WhatIfV1 {
    /// Fills the contract. Texts are English in every language.
    #[must_use]
    pub fn new(answer: &WhatIf, advice: Option<&Recommendation>, replay: &ReplayReport, partial: bool) -> Self {
        let english = |message| redact(&Language::English.render(message)).into_owned();
        Self {
            schema: "dsh-forensics/what-if/v1",
            tool_version: env!("CARGO_PKG_VERSION"),
            partial,
            assumptions: assumptions(answer).iter().map(english).collect(),
            seed: answer.options.seed,
            draws: answer.options.draws,
            assume: match answer.options.assume {
                crate::simulate::engine::Assume::Model => "model",
                crate::simulate::engine::Assume::None => "none",
            },
            episodes: answer.episodes,
            chains: answer.chains,
            routes: routes(answer),
            policies: answer.policies.iter().map(|policy| PolicyV1::new(policy, answer.turns_failed)).collect(),
            recommendation: advice.map(|advice| RecommendationV1 {
                policy: answer.policies[advice.policy].name.clone(),
                text: english(&advice.advice),
                what_would_change_it: advice.reservations.iter().map(english).collect(),
                settings_yaml: advice.settings_yaml.clone(),
            }),
            replay: ReplayV1 {
                decisions: replay.decisions,
                reproduced: replay.reproduced,
                mismatches: replay.mismatches.iter().map(MismatchV1::from).collect(),
            },
            backtest: answer.backtest.map(|test| BacktestV1 {
                coverage90: test.coverage,
                brier: test.brier,
                retries: test.retries,
            }),
        }
    }
}

fn routes(answer: &WhatIf) -> Vec<RouteV1> {
    answer
        .routes
        .iter()
        .map(|route| {
            let evidence = &route.evidence;
            RouteV1 {
                provider: evidence.route.provider.clone(),
                model: evidence.route.model.clone(),
                probes: evidence.probes.iter().filter(|probe| !probe.promised).count() as u64,
                chains: evidence.chains.len() as u64,
                episodes: evidence.episodes,
                ends_in_outage: answer.ends_in_outage.contains(&evidence.route),
                laws: route
                    .laws
                    .iter()
                    .map(|law| LawV1 {
                        law: law.name.name(),
                        weight: law.weight,
                        held_out_log_score: law.held_out_score,
                    })
                    .collect(),
            }
        })
        .collect()
}

impl PolicyV1 {
    fn new(policy: &PolicyResult, turns_failed: u64) -> Self {
        Self {
            name: policy.name.clone(),
            source: policy.source.clone(),
            runnable: policy.runnable,
            turns_failed_recorded: turns_failed,
            turns_saved: policy.saved,
            turns_lost: policy.lost,
            net: policy.net,
            net_by_intervals: policy.net_by_intervals,
            net_if_contested_stays: policy.net_if_contested_stays,
            added_wait_ms: WaitV1 {
                median: policy.wait_median_ms,
                p95: policy.wait_p95_ms,
                total: policy.wait_total_ms,
            },
            extra_attempts: policy.extra_attempts,
            wasted_attempts: policy.wasted_attempts,
            input_tokens_resent: policy.tokens_resent,
            retry_after_violations: policy.violations,
            amplification: policy.amplification,
            endless_chains: policy.endless,
            compaction_requests: policy.compaction_requests,
            context_tokens_destroyed: policy.destroyed_tokens,
            evidence_shares: policy.shares,
            pareto: policy.pareto,
        }
    }
}

impl From<&Unreproduced> for MismatchV1 {
    fn from(mismatch: &Unreproduced) -> Self {
        let expected = mismatch.expected.map(|expected| match expected {
            Expected::Retry { retry, low_ms, high_ms } => {
                format!("retry {retry} after {} to {}", duration_words(low_ms), duration_words(high_ms))
            }
            Expected::GiveUp(reason) => {
                format!("gives up: {}", crate::policy::semantics::reason_words(reason))
            }
        });
        let recorded = match mismatch.recorded {
            Recorded::Retried { retry, delay_ms } => format!("retry {retry} after {}", duration_words(delay_ms)),
            Recorded::Surrendered => "no retry".to_owned(),
        };
        Self {
            session_id: mismatch.session.clone(),
            seq: mismatch.seq,
            turn: mismatch.turn,
            step: mismatch.step,
            code: mismatch.code.clone(),
            reason: mismatch.reason.name(),
            expected,
            recorded,
        }
    }
}
