//! Which rule of which release gave the code.

use crate::event::Failure;
use crate::evidence::verdict::adapter;
use crate::evidence::{ClassifyInput, ReleaseRules, Route, adapter_code, classify_input, classify_pi_ai};
use crate::session::AttemptRow;

/// Versions as the user gives them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Versions {
    /// Of the harness.
    pub dsh: Option<String>,
    /// Of pi-ai.
    pub pi_ai: Option<String>,
}

/// Why the rule is believed to be the one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basis {
    /// The user named the versions; `assumed` where no source describes them.
    Given {
        /// Whether the rules of these versions are a guess.
        assumed: bool,
    },
    /// Every known release gives this code by this rule.
    Every,
    /// Only these releases give the logged code.
    Only(Vec<String>),
    /// No known release gives the logged code to this text.
    None,
}

/// The way from the text to the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleTrace {
    /// Name of the adapter.
    pub adapter: &'static str,
    /// The rule that fired.
    pub rule: Option<&'static str>,
    /// The part of the text it matched.
    pub matched: Option<String>,
    /// See [`Basis`].
    pub basis: Basis,
    /// The code that the given versions give, where it is not the logged one.
    pub other_code: Option<String>,
    /// Releases with another code for the same text: release and code.
    pub elsewhere: Vec<(String, String)>,
}

pub(super) fn trace(attempt: &AttemptRow, failure: &Failure, versions: &Versions) -> RuleTrace {
    let route = adapter(&attempt.route.provider);
    let name = if route == Route::PiAi { "llm-pi-ai" } else { "llm-deepseek" };
    let provider = Some(attempt.route.provider.as_str());
    if route == Route::PiAi && (versions.dsh.is_some() || versions.pi_ai.is_some()) {
        return given(failure, provider, versions, name);
    }
    let report = classify_input(ClassifyInput { text: &failure.message, status: failure.status, provider });
    let releases: Vec<_> = report.releases.into_iter().filter(|r| r.route == route).collect();
    let label = |dsh: &str, pi_ai: &str| {
        if route == Route::PiAi { format!("{dsh} (pi-ai {pi_ai})") } else { dsh.to_owned() }
    };
    let (same, others): (Vec<_>, Vec<_>) = releases.iter().partition(|r| r.code == failure.code);
    let basis = match (same.is_empty(), others.is_empty()) {
        (true, _) => Basis::None,
        (false, true) => Basis::Every,
        (false, false) => Basis::Only(same.iter().map(|r| label(r.dsh, r.pi_ai)).collect()),
    };
    let first = same.first();
    RuleTrace {
        adapter: name,
        rule: first.map(|r| r.rule),
        matched: first.and_then(|r| r.matched.clone()),
        basis,
        other_code: None,
        elsewhere: others.iter().map(|r| (label(r.dsh, r.pi_ai), r.code.clone())).collect(),
    }
}

fn given(failure: &Failure, provider: Option<&str>, versions: &Versions, name: &'static str) -> RuleTrace {
    let (rules, assumed) = ReleaseRules::for_versions(versions.dsh.as_deref(), versions.pi_ai.as_deref());
    let verdict = adapter_code(&failure.message, Route::PiAi)
        .unwrap_or_else(|| classify_pi_ai(&failure.message, rules, provider));
    let other_code = (verdict.code != failure.code).then(|| verdict.code.into_owned());
    RuleTrace {
        adapter: name,
        rule: Some(verdict.rule),
        matched: verdict.matched,
        basis: Basis::Given { assumed },
        other_code,
        elsewhere: Vec::new(),
    }
}
