//! All rules, one line each, and the choice of the user among them.

use std::collections::BTreeMap;

use super::case::Context;
use super::finding::{Finding, Severity};
use super::rule::{LifeCycle, Rule};
use super::rules;
use crate::message;
use crate::message::Message;
use crate::policy::spelling::did_you_mean;

/// All rules, by what they are about: codes, sizes, compactions, retries, time, logs, settings.
pub static RULES: &[&Rule] = &[
    &rules::contradicted_overflow::RULE,
    &rules::bodyless_400::RULE,
    &rules::overflow_coded_otherwise::RULE,
    &rules::body_size_as_overflow::RULE,
    &rules::rate_limit_as_overflow::RULE,
    &rules::quota_vs_rate_limit::RULE,
    &rules::unclassified_transient::RULE,
    &rules::number_read_as_status::RULE,
    &rules::deterministic_invalid_request::RULE,
    &rules::orphan_tool_call::RULE,
    &rules::hidden_size_limit::RULE,
    &rules::output_reservation_overflow::RULE,
    &rules::window_mismatch::RULE,
    &rules::window_unknown::RULE,
    &rules::untrusted_usage::RULE,
    &rules::step_jump::RULE,
    &rules::masked_overflow::RULE,
    &rules::missed_overflow::RULE,
    &rules::overflow_without_compaction::RULE,
    &rules::spurious_overflow_compaction::RULE,
    &rules::compaction_storm::RULE,
    &rules::compaction_not_shrinking::RULE,
    &rules::open_compaction::RULE,
    &rules::compaction_blamed::RULE,
    &rules::retry_after_abandoned::RULE,
    &rules::retry_before_retry_after::RULE,
    &rules::budget_shrunk_by_cancelled_wait::RULE,
    &rules::budget_too_short::RULE,
    &rules::retry_storm::RULE,
    &rules::always_on_intrinsic::RULE,
    &rules::autonomous_run_stopped::RULE,
    &rules::idle_timeout_mismatch::RULE,
    &rules::deadline_cluster::RULE,
    &rules::seq_fork::RULE,
    &rules::torn_log::RULE,
    &rules::duplicate_generation::RULE,
    &rules::unknown_required_event::RULE,
    &rules::policy_lint::RULE,
];

/// The rule with this id.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id).copied()
}

/// Which rules run, and how bad their findings are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only these, where any are named.
    pub only: Vec<String>,
    /// Not these.
    pub ignore: Vec<String>,
    /// Severities that differ from the rules' own.
    pub severities: BTreeMap<String, Severity>,
}

impl Selection {
    /// Checks that every name is a rule.
    ///
    /// # Errors
    /// With the first name that is none, and the nearest that is one.
    pub fn checked(self) -> Result<Self, Message> {
        let names = self.only.iter().chain(&self.ignore).chain(self.severities.keys());
        for name in names {
            if find(name).is_none() {
                let near = did_you_mean(name, RULES.iter().map(|rule| rule.id));
                return Err(match near {
                    Some(near) => message!("findings.unknown-rule-near", name = format!("{name:?}"), near = near),
                    None => message!("findings.unknown-rule", name = format!("{name:?}")),
                });
            }
        }
        Ok(self)
    }

    fn runs(&self, rule: &Rule) -> bool {
        let named = |list: &[String]| list.iter().any(|name| name == rule.id);
        (self.only.is_empty() || named(&self.only)) && !named(&self.ignore)
    }

    fn severity(&self, rule: &Rule) -> Severity {
        self.severities.get(rule.id).copied().unwrap_or(rule.severity)
    }
}

/// Runs the chosen rules; worst first: severity, confidence, count.
pub fn find_all(context: &Context<'_>, selection: &Selection) -> Vec<Finding> {
    let chosen = RULES.iter().filter(|rule| selection.runs(rule));
    let mut findings: Vec<Finding> = chosen.filter_map(|rule| rule.find(context, selection.severity(rule))).collect();
    findings.sort_by(|a, b| {
        (b.severity, b.confidence, b.count).cmp(&(a.severity, a.confidence, a.count)).then_with(|| a.id.cmp(b.id))
    });
    findings
}

/// Whether a finding stands at or above the gate; previews never do.
pub fn fails(findings: &[Finding], gate: Severity) -> bool {
    findings.iter().any(|finding| finding.life_cycle == LifeCycle::Stable && finding.severity >= gate)
}
