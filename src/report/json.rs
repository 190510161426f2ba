//! The JSON contract, version 1 (`docs/json.md`). These structs are frozen: fields may be added, none renamed or dropped.

use std::collections::BTreeMap;

use serde::Serialize;

use super::correlation::{EffectV1, WindowV1};
use super::findings::FindingV1;
use super::sizes::RouteSizesV1;
use crate::evidence::Verdict;
use crate::findings::Finding;
use crate::notice;
use crate::pipeline::Dataset;
use crate::redact::redact;
use crate::report::lang::Language;
use crate::session::{CompactionOutcome, Trigger};
use crate::summary::Summary;

/// `scan --format json`
#[derive(Debug, Serialize)]
pub struct ScanV1 {
    schema: &'static str,
    tool_version: &'static str,
    partial: bool,
    inputs: InputsV1,
    span: SpanV1,
    counts: CountsV1,
    failures_by_code: Vec<CodeV1>,
    failures_by_route: Vec<RouteV1>,
    retries: RetriesV1,
    chains_by_fate: BTreeMap<&'static str, u64>,
    verdicts: VerdictsV1,
    largest_success_tokens: Option<u64>,
    compactions_by_trigger: TriggersV1,
    compactions_by_outcome: OutcomesV1,
    sizes_by_route: Vec<RouteSizesV1>,
    windows: Vec<WindowV1>,
    compaction_verdict: Option<&'static str>,
    explanations: Vec<EffectV1>,
    top_sessions: Vec<SessionV1>,
    findings: Vec<FindingV1>,
    notices: Vec<NoticeV1>,
}

#[derive(Debug, Serialize)]
struct InputsV1 {
    archives: u64,
    sessions: u64,
    generations_skipped: u64,
    duplicates_skipped: u64,
    inherited_events_skipped: u64,
    bytes_compressed: u64,
    bytes_logical: u64,
    frames: u64,
    torn_archives: u64,
    unreadable_archives: u64,
}

#[derive(Debug, Serialize)]
struct SpanV1 {
    first_time_ms: Option<i64>,
    last_time_ms: Option<i64>,
}

#[derive(Debug, Serialize)]
struct CountsV1 {
    events: u64,
    turns: u64,
    steps: u64,
    attempts: u64,
    failed_attempts: u64,
    unfinished_attempts: u64,
    failed_steps: u64,
    failed_turns: u64,
    cancelled_turns: u64,
    retries_scheduled: u64,
    retries_started: u64,
    compactions: u64,
}

#[derive(Debug, Serialize)]
struct CodeV1 {
    code: String,
    failed_attempts: u64,
    failed_steps: u64,
    failed_turns: u64,
}

#[derive(Debug, Serialize)]
struct RouteV1 {
    provider: String,
    model: String,
    attempts: u64,
    failed_attempts: u64,
    failed_steps: u64,
    largest_success_tokens: Option<u64>,
    window_tokens: Option<u64>,
    window_source: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct RetriesV1 {
    succeeded: u64,
    failed: u64,
    not_started: u64,
    unfinished: u64,
}

#[derive(Debug, Serialize)]
struct VerdictsV1 {
    supported: Option<u64>,
    contradicted: Option<u64>,
    undetermined: Option<u64>,
    uninformative: Option<u64>,
}

#[derive(Debug, Serialize)]
struct TriggersV1 {
    pressure: u64,
    overflow: u64,
    manual: u64,
    prune: u64,
}

#[derive(Debug, Serialize)]
struct OutcomesV1 {
    done: u64,
    failed: u64,
    open: u64,
}

#[derive(Debug, Serialize)]
struct SessionV1 {
    session_id: String,
    project: Option<String>,
    steps: u64,
    failed_steps: u64,
    failed_attempts: u64,
    failed_turns: u64,
    main_code: String,
}

#[derive(Debug, Serialize)]
struct NoticeV1 {
    kind: &'static str,
    count: u64,
    message: String,
}

impl ScanV1 {
    /// Fills the contract from the counted numbers.
    pub fn new(dataset: &Dataset, summary: &Summary, findings: &[Finding]) -> Self {
        let i = &dataset.inputs;
        let c = &summary.counts;
        let trigger = |t: Trigger| summary.triggers.get(&t).copied().unwrap_or(0);
        let outcome = |o: CompactionOutcome| summary.outcomes.get(&o).copied().unwrap_or(0);
        Self {
            schema: "dsh-forensics/scan/v1",
            tool_version: env!("CARGO_PKG_VERSION"),
            partial: dataset.is_partial(),
            inputs: InputsV1 {
                archives: i.archives,
                sessions: i.sessions,
                generations_skipped: i.generations_skipped,
                duplicates_skipped: i.duplicates_skipped,
                inherited_events_skipped: i.inherited_events_skipped,
                bytes_compressed: i.bytes_compressed,
                bytes_logical: i.bytes_logical,
                frames: i.frames,
                torn_archives: i.torn_archives,
                unreadable_archives: i.unreadable_archives,
            },
            span: SpanV1 { first_time_ms: summary.first_time, last_time_ms: summary.last_time },
            counts: CountsV1 {
                events: c.events,
                turns: c.turns,
                steps: c.steps,
                attempts: c.attempts,
                failed_attempts: c.failed_attempts,
                unfinished_attempts: c.unfinished_attempts,
                failed_steps: c.failed_steps,
                failed_turns: c.failed_turns,
                cancelled_turns: c.cancelled_turns,
                retries_scheduled: c.retries_scheduled,
                retries_started: c.retries_started,
                compactions: c.compactions,
            },
            failures_by_code: summary
                .by_code
                .iter()
                .map(|(code, n)| CodeV1 {
                    code: code.clone(),
                    failed_attempts: n.failed_attempts,
                    failed_steps: n.failed_steps,
                    failed_turns: n.failed_turns,
                })
                .collect(),
            failures_by_route: summary
                .by_route
                .iter()
                .map(|(route, n)| RouteV1 {
                    provider: route.provider.clone(),
                    model: route.model.clone(),
                    attempts: n.attempts,
                    failed_attempts: n.failed_attempts,
                    failed_steps: n.failed_steps,
                    largest_success_tokens: n.largest_success_tokens,
                    window_tokens: n.window.map(|window| window.tokens),
                    window_source: n.window.map(|window| window.source.name()),
                })
                .collect(),
            retries: RetriesV1 {
                succeeded: summary.retries.succeeded,
                failed: summary.retries.failed,
                not_started: summary.retries.not_started,
                unfinished: summary.retries.unfinished,
            },
            chains_by_fate: summary.fates.clone(),
            verdicts: {
                let count = |verdict| Some(summary.verdicts.get(&verdict).copied().unwrap_or(0));
                VerdictsV1 {
                    supported: count(Verdict::Supported),
                    contradicted: count(Verdict::Contradicted),
                    undetermined: count(Verdict::Undetermined),
                    uninformative: count(Verdict::Uninformative),
                }
            },
            largest_success_tokens: summary.largest_success_tokens,
            compactions_by_trigger: TriggersV1 {
                pressure: trigger(Trigger::Pressure),
                overflow: trigger(Trigger::Overflow),
                manual: trigger(Trigger::Manual),
                prune: summary.prunes,
            },
            compactions_by_outcome: OutcomesV1 {
                done: outcome(CompactionOutcome::Done),
                failed: outcome(CompactionOutcome::Failed),
                open: outcome(CompactionOutcome::Open),
            },
            sizes_by_route: summary.sizes.iter().map(RouteSizesV1::from).collect(),
            windows: WindowV1::all(&summary.windows, summary.compaction_study.as_ref().map_or(&[], |s| &s.windows)),
            compaction_verdict: summary.compaction_study.as_ref().map(|study| study.answer.verdict.name()),
            explanations: summary.columns.explanations.iter().map(EffectV1::from).collect(),
            top_sessions: summary
                .failing_sessions
                .iter()
                .take(10)
                .map(|s| SessionV1 {
                    session_id: s.id.clone(),
                    project: s.project.as_deref().map(|name| redact(name).into_owned()),
                    steps: s.steps,
                    failed_steps: s.failed_steps,
                    failed_attempts: s.failed_attempts,
                    failed_turns: s.failed_turns,
                    main_code: s.main_code.clone(),
                })
                .collect(),
            findings: findings.iter().map(FindingV1::from).collect(),
            notices: notice::group(&dataset.notices)
                .into_iter()
                .map(|n| NoticeV1 {
                    kind: n.kind,
                    count: n.count,
                    message: redact(&Language::English.render(&n.message)).into_owned(),
                })
                .collect(),
        }
    }
}
