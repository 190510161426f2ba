//! In: a settings file, read; facts about the failures of an archive where there are any.
//! Out: hits in order of line: what the harness refuses, in its own words, and the traps that it accepts.
//! Always: every hit has a line, a way out and a reason; nothing is reported that the file or the facts do not show.

mod archive;
mod places;
mod refused;
mod traps;

use std::collections::BTreeMap;

use serde::Serialize;

use super::release::Release;
use super::settings::{FileKind, SettingsFile, read_settings};
use crate::message::Message;

/// How bad a hit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The harness refuses it, or it has no effect at all.
    Error,
    /// Accepted, and probably not what was meant.
    Warning,
    /// Worth knowing.
    Note,
}

/// One rule of the linter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// Its public name.
    pub id: &'static str,
    /// The severity of its hits.
    pub severity: Severity,
    /// What it looks for, one line.
    pub what: &'static str,
}

/// All rules, the harness's refusals first.
pub const RULES: [Rule; 25] = [
    rule("settings-unreadable", Severity::Error, "the file is no YAML or TOML, or no map of sections"),
    rule("policy-not-a-map", Severity::Error, "a retryPolicy or backoff that is empty or no map"),
    rule("policy-mode", Severity::Error, "mode is missing or unknown"),
    rule("policy-unknown-key", Severity::Error, "a key that the harness does not know"),
    rule("policy-max-retries", Severity::Error, "maxRetries is no whole number from 0"),
    rule("policy-codes", Severity::Error, "retryableCodes is empty, or holds something else than names"),
    rule("policy-duplicate-codes", Severity::Error, "retryableCodes names a code twice"),
    rule("policy-initial-delay", Severity::Error, "initialDelayMs is out of range"),
    rule("policy-max-delay", Severity::Error, "maxDelayMs is out of range"),
    rule("policy-delay-order", Severity::Error, "initialDelayMs is above maxDelayMs"),
    rule("policy-jitter", Severity::Error, "jitterRatio is out of range"),
    rule("policy-removed-field", Severity::Error, "a field that the harness removed"),
    rule("policy-wrong-place", Severity::Error, "a retryPolicy where nothing reads it, or under the llm-retry plugin"),
    rule("policy-entry", Severity::Error, "an entry of policies.toml that cannot be read"),
    rule("route-taken", Severity::Error, "a provider under llm-pi-ai with the name of the DeepSeek route"),
    rule("policy-drops-default-codes", Severity::Warning, "a list of codes without some of the default ones"),
    rule("policy-unknown-code", Severity::Warning, "a code that no adapter of the harness writes"),
    rule("policy-ignored-field", Severity::Warning, "a setting that is accepted and has no effect"),
    rule("policy-retry-after-above-cap", Severity::Warning, "maxDelayMs below Retry-After values of the archive"),
    rule("policy-shorter-than-outages", Severity::Warning, "all waits together shorter than outages of the archive"),
    rule("policy-misses-passing-code", Severity::Warning, "failures of the archive that heal with time, not retried"),
    rule("policy-always-intrinsic", Severity::Warning, "mode always where failures do not heal by waiting"),
    rule("route-not-seen", Severity::Warning, "a policy for a route that the archive does not know"),
    rule("route-without-policy", Severity::Note, "a failing route of the archive that this file gives no policy"),
    rule("policy-no-retries", Severity::Note, "maxRetries 0"),
];

const fn rule(id: &'static str, severity: Severity, what: &'static str) -> Rule {
    Rule { id, severity, what }
}

/// One hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintHit {
    /// Name of the rule.
    pub rule: &'static str,
    /// Its severity.
    pub severity: Severity,
    /// Line from 1; 0 where the parser does not know.
    pub line: usize,
    /// The harness's own sentence where it refuses, else ours.
    pub message: Message,
    /// What the harness's console shows instead, where its schema refuses before its resolver does.
    pub console: Option<String>,
    /// What to write.
    pub fix: Message,
    /// Why it matters.
    pub reason: Message,
}

/// A hit of a rule; its severity comes from [`RULES`].
fn hit(rule: &'static str, line: usize, message: Message, fix: Message, reason: Message) -> LintHit {
    let severity = RULES.iter().find(|known| known.id == rule).map_or(Severity::Warning, |known| known.severity);
    LintHit { rule, severity, line, message, console: None, fix, reason }
}

/// What the archive shows about one route.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RouteFacts {
    /// Attempts.
    pub attempts: u64,
    /// Failed attempts.
    pub failures: u64,
    /// Failed attempts by code.
    pub codes: BTreeMap<String, u64>,
    /// Of those, failures that waiting does not heal, by code.
    pub intrinsic: BTreeMap<String, u64>,
    /// Failed attempts that heal with time by the evidence, by code.
    pub passing: BTreeMap<String, u64>,
    /// Largest Retry-After that a timer can wait for, in milliseconds.
    pub max_retry_after_ms: Option<f64>,
    /// Outages from first to last failure, in milliseconds.
    pub outages_ms: Vec<f64>,
}

/// What the archive shows, by route (the provider names of the logs).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ArchiveFacts {
    /// Routes in use.
    pub routes: BTreeMap<String, RouteFacts>,
}

/// All hits of a file, in order of line.
#[must_use]
pub fn lint(file: &SettingsFile, facts: Option<&ArchiveFacts>, release: &Release) -> Vec<LintHit> {
    let mut hits = Vec::new();
    refused::document(file, &mut hits);
    refused::policies(file, release, &mut hits);
    places::misplaced(file, &mut hits);
    places::profiles(file, &mut hits);
    traps::of_file(file, &mut hits);
    if let Some(facts) = facts {
        archive::of_archive(file, facts, &mut hits);
    }
    hits.sort_by_key(|hit| (hit.line, hit.severity));
    // Two items of one list can be refused in the same words.
    hits.dedup();
    hits
}

/// Read a file and lint it; text that cannot be read is a hit too.
#[must_use]
pub fn lint_text(file_name: &str, text: &str, facts: Option<&ArchiveFacts>, release: &Release) -> Vec<LintHit> {
    let kind = FileKind::of(file_name, text);
    match read_settings(text, kind, release) {
        Ok(file) => lint(&file, facts, release),
        Err(error) => vec![refused::unreadable(kind, file_name, &error)],
    }
}
