//! What a check came to.

use super::baseline::Accepted;
use super::observed::{Observed, Point};
use super::rates::RateComparison;
use crate::findings::{Place, Severity};
use crate::message::Message;

/// The gates, in the order in which they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// New places of findings.
    Findings,
    /// A rule was found more often than allowed.
    RuleLimit,
    /// New failures whose code the evidence contradicts.
    ContradictedCode,
    /// The share of contradicted codes.
    ContradictedShare,
    /// Failures that are classified otherwise than in the baseline.
    Classification,
    /// Failures on which the policy decides otherwise.
    PolicyDecision,
    /// Failure rates.
    FailureRate,
    /// The share of failed turns that the policy would save.
    SavedShare,
    /// Error texts that no wording decides.
    UnknownWording,
}

impl Gate {
    /// The name used in JSON, SARIF and JUnit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Findings => "findings",
            Self::RuleLimit => "rule-limit",
            Self::ContradictedCode => super::observed::CONTRADICTED,
            Self::ContradictedShare => "contradicted-share",
            Self::Classification => "classification",
            Self::PolicyDecision => "policy-decision",
            Self::FailureRate => "failure-rate",
            Self::SavedShare => "saved-share",
            Self::UnknownWording => "unknown-wording",
        }
    }

    /// What it looks at, in a sentence.
    pub fn help(self) -> Message {
        Message::new(match self {
            Self::Findings => "check.help-findings",
            Self::RuleLimit => "check.help-rule-limit",
            Self::ContradictedCode => "check.help-contradicted-code",
            Self::ContradictedShare => "check.help-contradicted-share",
            Self::Classification => "check.help-classification",
            Self::PolicyDecision => "check.help-policy-decision",
            Self::FailureRate => "check.help-failure-rate",
            Self::SavedShare => "check.help-saved-share",
            Self::UnknownWording => "check.help-unknown-wording",
        })
    }

    /// Every gate.
    pub const ALL: [Self; 9] = [
        Self::Findings,
        Self::RuleLimit,
        Self::ContradictedCode,
        Self::ContradictedShare,
        Self::Classification,
        Self::PolicyDecision,
        Self::FailureRate,
        Self::SavedShare,
        Self::UnknownWording,
    ];
}

/// How a gate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateState {
    /// It does not hold the build.
    Passed,
    /// It fails the build.
    Fired,
    /// The evidence does not decide.
    Inconclusive,
    /// Nothing to compare with, or not configured.
    NotSet,
}

impl GateState {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Fired => "fired",
            Self::Inconclusive => "inconclusive",
            Self::NotSet => "not_set",
        }
    }
}

/// One gate with its reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The gate.
    pub gate: Gate,
    /// How it stands.
    pub state: GateState,
    /// Why, with numbers.
    pub why: Message,
}

/// One thing that made a gate fire.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The gate.
    pub gate: Gate,
    /// Rule of the finding, else the name of the gate.
    pub rule: &'static str,
    /// How bad.
    pub severity: Severity,
    /// Stable over copies of the archive.
    pub fingerprint: String,
    /// Where; `None`: the archive as a whole.
    pub place: Option<Place>,
    /// What.
    pub what: Message,
}

/// A place that the baseline accepts.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// It.
    pub point: Point,
    /// Why it is accepted.
    pub reason: String,
}

/// What a check came to.
#[derive(Debug, Clone)]
pub struct CheckResult {
    /// Every gate.
    pub outcomes: Vec<Outcome>,
    /// What made gates fire, by gate, worst first.
    pub problems: Vec<Problem>,
    /// Places that the baseline accepts, and that are still there.
    pub known: Vec<Known>,
    /// Entries of the baseline for which nothing is seen any more.
    pub stale: Vec<Accepted>,
    /// Routes.
    pub rates: Vec<RateComparison>,
    /// What must be said beside the gates.
    pub notices: Vec<Message>,
    /// What was seen.
    pub observed: Observed,
    /// Some input could not be read.
    pub partial: bool,
}

impl CheckResult {
    /// Gates in one state.
    pub fn in_state(&self, state: GateState) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().filter(move |outcome| outcome.state == state)
    }

    /// Whether a gate fired.
    pub fn fired(&self) -> bool {
        self.in_state(GateState::Fired).next().is_some()
    }

    /// Problems of one gate.
    pub fn problems_of(&self, gate: Gate) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(move |problem| problem.gate == gate)
    }
}
