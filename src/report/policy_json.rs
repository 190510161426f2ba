//! The JSON of the commands under `policy`, version 1 (`docs/json.md`). Frozen: fields may be added, none renamed or
//! dropped.

use std::collections::BTreeMap;

use serde::Serialize;

use super::lang::Language;
use super::policy_show::{differing_fields, expected_message, recorded_message};
use crate::notice;
use crate::pipeline::Dataset;
use crate::policy::edits::usage;
use crate::policy::schedule::{Schedule, ScheduleEnd, Span};
use crate::policy::semantics::DelaySource;
use crate::policy::{Candidate, LintHit, RetryMode, RetryPolicy};
use crate::redact::redact;
use crate::replay::{Basis, InferredRelease, PolicySpan, ReplayReport, Unreproduced};

/// The `replay` part of `policy show` and `policy what-if`.
#[derive(Debug, Serialize)]
pub struct ReplayV1 {
    decisions: u64,
    reproduced: u64,
    reproduced_by_basis: BTreeMap<&'static str, u64>,
    mismatches: Vec<DecisionV1>,
    undecided: Vec<DecisionV1>,
}

#[derive(Debug, Serialize)]
struct DecisionV1 {
    session_id: String,
    seq: u64,
    turn: u64,
    step: u64,
    provider: String,
    model: Option<String>,
    code: String,
    expected: Option<String>,
    recorded: String,
    reason: &'static str,
}

impl ReplayV1 {
    /// From a report.
    #[must_use]
    pub fn new(report: &ReplayReport) -> Self {
        Self {
            decisions: report.decisions,
            reproduced: report.reproduced,
            reproduced_by_basis: report.by_basis.iter().map(|(basis, count)| (basis.name(), *count)).collect(),
            mismatches: report.mismatches.iter().map(DecisionV1::new).collect(),
            undecided: report.undecided.iter().map(DecisionV1::new).collect(),
        }
    }
}

impl DecisionV1 {
    fn new(found: &Unreproduced) -> Self {
        let words = |message| Language::English.render(&message);
        Self {
            session_id: found.session.clone(),
            seq: found.seq,
            turn: found.turn,
            step: found.step,
            provider: found.route.provider.clone(),
            model: Some(found.route.model.clone()).filter(|model| !model.is_empty()),
            code: found.code.clone(),
            expected: found.expected.map(|expected| words(expected_message(expected))),
            recorded: words(recorded_message(found.recorded)),
            reason: found.reason.name(),
        }
    }
}

/// `policy show --format json`
#[derive(Debug, Serialize)]
pub struct PolicyShowV1 {
    schema: &'static str,
    tool_version: &'static str,
    partial: bool,
    routes: Vec<RouteV1>,
    replay: ReplayV1,
    notices: Vec<NoticeV1>,
}

#[derive(Debug, Serialize)]
struct RouteV1 {
    provider: String,
    model: Option<String>,
    release: ReleaseV1,
    spans: Vec<SpanV1>,
}

#[derive(Debug, Serialize)]
struct ReleaseV1 {
    from: Option<&'static str>,
    to: Option<&'static str>,
    basis: &'static str,
}

#[derive(Debug, Serialize)]
struct SpanV1 {
    basis: &'static str,
    policy_key: Option<String>,
    from_ms: Option<i64>,
    to_ms: Option<i64>,
    sessions: u64,
    retries: u64,
    failures: u64,
    policy: PolicyV1,
    differs_from_default: Vec<&'static str>,
}

/// A policy with the names of the settings in JSON's spelling; `null`: the mode has no such field.
#[derive(Debug, Serialize)]
pub struct PolicyV1 {
    mode: &'static str,
    max_retries: Option<u64>,
    retryable_codes: Option<Vec<String>>,
    initial_delay_ms: f64,
    max_delay_ms: f64,
    jitter_ratio: f64,
}

#[derive(Debug, Serialize)]
struct NoticeV1 {
    kind: &'static str,
    count: u64,
    message: String,
}

impl PolicyV1 {
    /// From a policy.
    #[must_use]
    pub fn new(policy: &RetryPolicy) -> Self {
        let normal = policy.mode == RetryMode::Normal;
        Self {
            mode: policy.mode.word(),
            max_retries: normal.then_some(policy.max_retries),
            retryable_codes: normal.then(|| policy.codes_in_order().into_iter().map(str::to_owned).collect()),
            initial_delay_ms: policy.backoff.initial_delay_ms,
            max_delay_ms: policy.backoff.max_delay_ms,
            jitter_ratio: policy.backoff.jitter_ratio,
        }
    }
}

impl ReleaseV1 {
    fn new(release: &InferredRelease) -> Self {
        Self { from: release.from, to: release.to, basis: release.basis.name() }
    }
}

impl SpanV1 {
    fn new(span: &PolicySpan) -> Self {
        Self {
            basis: span.basis.name(),
            policy_key: (span.basis == Basis::Logged).then(|| span.policy.policy_key()),
            from_ms: span.from_ms,
            to_ms: span.to_ms,
            sessions: span.sessions,
            retries: span.retries,
            failures: span.failures,
            policy: PolicyV1::new(&span.policy),
            differs_from_default: differing_fields(&span.policy, &span.default_policy()),
        }
    }
}

impl PolicyShowV1 {
    /// From the analyses.
    #[must_use]
    pub fn new(dataset: &Dataset, spans: &[PolicySpan], replay: &ReplayReport) -> Self {
        let routes = spans.chunk_by(|a, b| a.route == b.route).filter_map(|route| {
            let first = route.first()?;
            Some(RouteV1 {
                provider: first.route.provider.clone(),
                model: Some(first.route.model.clone()).filter(|model| !model.is_empty()),
                release: ReleaseV1::new(&first.release),
                spans: route.iter().map(SpanV1::new).collect(),
            })
        });
        Self {
            schema: "dsh-forensics/policy-show/v1",
            tool_version: env!("CARGO_PKG_VERSION"),
            partial: dataset.is_partial(),
            routes: routes.collect(),
            replay: ReplayV1::new(replay),
            notices: notice::group(&dataset.notices)
                .into_iter()
                .map(|n| NoticeV1 {
                    kind: n.kind,
                    count: n.count,
                    message: redact(&Language::English.render(&n.message)).to_string(),
                })
                .collect(),
        }
    }
}

/// `policy lint --format json`
#[derive(Debug, Serialize)]
pub struct PolicyLintV1<'a> {
    schema: &'static str,
    tool_version: &'static str,
    file: &'a str,
    dsh_version: String,
    archive_attempts: Option<u64>,
    hits: Vec<HitV1>,
}

#[derive(Debug, Serialize)]
struct HitV1 {
    rule: &'static str,
    severity: crate::policy::Severity,
    line: Option<usize>,
    message: String,
    console: Option<String>,
    fix: String,
    reason: String,
}

impl<'a> PolicyLintV1<'a> {
    /// From the hits of one file; `archive_attempts`: attempts of the archive it was held against.
    #[must_use]
    pub fn new(file: &'a str, dsh_version: String, archive_attempts: Option<u64>, hits: &[LintHit]) -> Self {
        let words = |message| redact(&Language::English.render(message)).to_string();
        let hits = hits.iter().map(|hit| HitV1 {
            rule: hit.rule,
            severity: hit.severity,
            line: Some(hit.line).filter(|line| *line > 0),
            message: words(&hit.message),
            console: hit.console.as_deref().map(|text| redact(text).to_string()),
            fix: words(&hit.fix),
            reason: words(&hit.reason),
        });
        Self {
            schema: "dsh-forensics/policy-lint/v1",
            tool_version: env!("CARGO_PKG_VERSION"),
            file,
            dsh_version,
            archive_attempts,
            hits: hits.collect(),
        }
    }
}

/// `policy schedule --format json`
#[derive(Debug, Serialize)]
pub struct PolicyScheduleV1 {
    schema: &'static str,
    tool_version: &'static str,
    name: String,
    source: String,
    policy: PolicyV1,
    fixes: Vec<String>,
    retry_after_ms: Option<f64>,
    attempts: Vec<ScheduledV1>,
    end: &'static str,
}

#[derive(Debug, Serialize)]
struct ScheduledV1 {
    attempt: u64,
    delay_ms: WaitV1,
    total_ms: WaitV1,
    source: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct WaitV1 {
    min: f64,
    typical: f64,
    max: f64,
}

impl From<Span> for WaitV1 {
    fn from(span: Span) -> Self {
        Self { min: span.min_ms, typical: span.typical_ms, max: span.max_ms }
    }
}

impl PolicyScheduleV1 {
    /// From a candidate and its table.
    #[must_use]
    pub fn new(candidate: &Candidate, table: &Schedule, retry_after_ms: Option<f64>) -> Self {
        Self {
            schema: "dsh-forensics/policy-schedule/v1",
            tool_version: env!("CARGO_PKG_VERSION"),
            name: candidate.name.clone(),
            source: candidate.source.clone(),
            policy: PolicyV1::new(&candidate.policy),
            fixes: candidate.fixes.words(),
            retry_after_ms,
            attempts: table
                .rows
                .iter()
                .map(|row| ScheduledV1 {
                    attempt: row.attempt,
                    delay_ms: row.delay.into(),
                    total_ms: row.cumulative.into(),
                    source: row.source.map(|source| match source {
                        DelaySource::RetryAfter => "retry_after",
                        DelaySource::Backoff => "backoff",
                    }),
                })
                .collect(),
            end: match table.end {
                ScheduleEnd::BudgetSpent => "budget_spent",
                ScheduleEnd::RetryAfterTooLong => "retry_after_too_long",
                ScheduleEnd::Endless => "endless",
                ScheduleEnd::Cut => "cut",
            },
        }
    }
}

/// `policy schedule --list --format json`
#[derive(Debug, Serialize)]
pub struct PresetsV1 {
    schema: &'static str,
    presets: Vec<PresetV1>,
    edits: Vec<EditV1>,
}

#[derive(Debug, Serialize)]
struct PresetV1 {
    name: String,
    source: String,
    policy: PolicyV1,
    fixes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct EditV1 {
    name: &'static str,
    usage: String,
}

impl PresetsV1 {
    /// All presets and edits.
    #[must_use]
    pub fn new(presets: &[Candidate], edits: &[(&'static str, &'static str)]) -> Self {
        Self {
            schema: "dsh-forensics/policy-presets/v1",
            presets: presets
                .iter()
                .map(|preset| PresetV1 {
                    name: preset.name.clone(),
                    source: preset.source.clone(),
                    policy: PolicyV1::new(&preset.policy),
                    fixes: preset.fixes.words(),
                })
                .collect(),
            edits: edits.iter().map(|(name, key)| EditV1 { name, usage: usage(key) }).collect(),
        }
    }
}
