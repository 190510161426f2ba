//! `explain --format json` (`docs/json.md`): English whatever the language of the pages.

use serde::Serialize;

use super::super::failures::{FailureV1, row};
use super::super::lang::Language;
use super::{policy, timeline};
use crate::evidence::verdict::layers::PolicySource;
use crate::explain::{Basis, Effect, Explanation, Moment, Repair};
use crate::policy::Decision;
use crate::policy::semantics::reason_words;
use crate::redact::redact;

/// One failure, explained. Frozen: fields may be added, none renamed or dropped.
#[derive(Debug, Serialize)]
pub struct ExplainV1 {
    schema: &'static str,
    tool_version: &'static str,
    failure: FailureV1,
    rule: RuleV1,
    policy: PolicyV1,
    route: RouteV1,
    destroyed_tokens: Option<u64>,
    repairs: Vec<RepairV1>,
    advice: Vec<String>,
    settings_yaml: Option<String>,
    timeline: Vec<MomentV1>,
}

#[derive(Debug, Serialize)]
struct RuleV1 {
    adapter: &'static str,
    rule: Option<&'static str>,
    matched: Option<String>,
    basis: &'static str,
    releases: Vec<String>,
    other_code: Option<String>,
    elsewhere: Vec<ElsewhereV1>,
}

#[derive(Debug, Serialize)]
struct ElsewhereV1 {
    release: String,
    code: String,
}

#[derive(Debug, Serialize)]
struct PolicyV1 {
    policy_key: String,
    source: &'static str,
    previous_retries: u64,
    cancelled_retries: u64,
    decision: &'static str,
    reason: Option<&'static str>,
    recorded_delay_ms: Option<f64>,
    recorded_started: Option<bool>,
    explained: bool,
}

#[derive(Debug, Serialize)]
struct RouteV1 {
    neighbour_sessions: usize,
    neighbour_failing_sessions: usize,
    neighbour_attempts: usize,
    neighbour_failures: usize,
    next_success_ms: Option<i64>,
    next_success_tokens: Option<u64>,
    next_success_identical: Option<bool>,
}

#[derive(Debug, Serialize)]
struct RepairV1 {
    edit: String,
    available_today: bool,
    retries: bool,
    delay_ms: Option<f64>,
    text: String,
}

#[derive(Debug, Serialize)]
struct MomentV1 {
    time_ms: Option<i64>,
    offset_ms: Option<i64>,
    seq: Option<u64>,
    here: bool,
    text: String,
}

impl ExplainV1 {
    /// From an explanation; `None` when the attempt did not fail.
    pub fn new(explained: &Explanation<'_>) -> Option<Self> {
        let english = |message| Language::English.render(message);
        let advice = &explained.advice;
        Some(Self {
            schema: "dsh-forensics/explain/v1",
            tool_version: env!("CARGO_PKG_VERSION"),
            failure: row(
                explained.session,
                explained.attempt,
                &crate::filter::Filters::default(),
                Some(explained.judgement),
            )?,
            rule: rule(explained),
            policy: decision(explained),
            route: route(explained),
            destroyed_tokens: explained.destroyed.map(|d| d.destroyed_tokens()),
            repairs: explained.repairs.iter().map(repair).collect(),
            advice: advice.steps.iter().map(english).collect(),
            settings_yaml: advice.settings.clone(),
            timeline: explained.timeline.iter().map(moment).collect(),
        })
    }
}

fn rule(explained: &Explanation<'_>) -> RuleV1 {
    let rule = &explained.rule;
    let (basis, releases) = match &rule.basis {
        Basis::Given { assumed: false } => ("given", Vec::new()),
        Basis::Given { assumed: true } => ("assumed", Vec::new()),
        Basis::Every => ("every_release", Vec::new()),
        Basis::Only(releases) => ("inferred", releases.clone()),
        Basis::None => ("none", Vec::new()),
    };
    let elsewhere = rule.elsewhere.iter().cloned().map(|(release, code)| ElsewhereV1 { release, code });
    RuleV1 {
        adapter: rule.adapter,
        rule: rule.rule,
        matched: rule.matched.as_deref().map(|text| redact(text).into_owned()),
        basis,
        releases,
        other_code: rule.other_code.clone(),
        elsewhere: elsewhere.collect(),
    }
}

fn decision(explained: &Explanation<'_>) -> PolicyV1 {
    let story = &explained.decision;
    let (decision, reason) = match story.decision {
        Decision::Retry { .. } => ("retry", None),
        Decision::GiveUp { reason } => ("give_up", Some(reason_words(reason))),
    };
    PolicyV1 {
        policy_key: story.policy.policy_key(),
        source: match story.source {
            PolicySource::Logged => "logged",
            PolicySource::Assumed => "assumed",
        },
        previous_retries: story.previous,
        cancelled_retries: story.cancelled,
        decision,
        reason,
        recorded_delay_ms: story.recorded.map(|r| r.delay_ms),
        recorded_started: story.recorded.map(|r| r.started),
        explained: story.explained,
    }
}

fn route(explained: &Explanation<'_>) -> RouteV1 {
    let near = &explained.vicinity;
    RouteV1 {
        neighbour_sessions: near.sessions,
        neighbour_failing_sessions: near.failing_sessions,
        neighbour_attempts: near.attempts,
        neighbour_failures: near.failures,
        next_success_ms: near.answer.map(|a| a.after_ms),
        next_success_tokens: near.answer.and_then(|a| a.tokens),
        next_success_identical: near.answer.map(|a| a.identical),
    }
}

fn repair(repair: &Repair) -> RepairV1 {
    let (_, outcome, _) = policy::effect(repair);
    let delay_ms = match repair.effect {
        Effect::GivesUp(_) => None,
        Effect::Retries { delay_ms, .. } => Some(delay_ms),
    };
    RepairV1 {
        edit: repair.edit.clone(),
        available_today: repair.today,
        retries: delay_ms.is_some(),
        delay_ms,
        text: Language::English.render(&outcome),
    }
}

fn moment(moment: &Moment) -> MomentV1 {
    MomentV1 {
        time_ms: moment.time,
        offset_ms: moment.offset_ms,
        seq: moment.seq,
        here: moment.here,
        text: Language::English.render(&timeline::sentence(&moment.kind)),
    }
}
