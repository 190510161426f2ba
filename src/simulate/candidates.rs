//! Which policies are compared: those asked for, or a default set made from what the archive shows.

use std::collections::{BTreeMap, BTreeSet};

use super::chains::Chain;
use super::evidence::{Codes, RouteEvidence};
use crate::message;
use crate::message::Message;
use crate::policy::model::LONGEST_PROPOSED_DELAY_MS;
use crate::policy::{
    Candidate, EditError, FileKind, Release, RetryPolicy, SettingsFile, parse_candidate, read_settings,
};
use crate::replay::{Basis, PolicySpan};
use crate::session::Route;

/// A policy with a name, and what it is on each route.
#[derive(Debug, Clone)]
pub struct Contender {
    /// What reports call it.
    pub name: String,
    /// The file, preset or edit as given.
    pub source: String,
    /// One per route, in the order of the routes.
    pub by_route: Vec<Candidate>,
}

impl Contender {
    /// Whether the harness can run it today: no repair is switched on, and the harness accepts its numbers.
    #[must_use]
    pub fn is_runnable(&self) -> bool {
        self.by_route.iter().all(|candidate| {
            !candidate.fixes.any() && crate::policy::resolve::validate_policy(&candidate.policy, "").is_ok()
        })
    }
}

/// What `--policy` was given.
#[derive(Debug, Clone)]
pub enum Asked {
    /// A file that exists: name and text.
    File {
        /// As given.
        name: String,
        /// What is in it.
        text: String,
    },
    /// A preset, or a policy with edits.
    Expression(String),
}

/// Why a policy cannot be compared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ContenderError {
    /// The expression.
    #[error("--policy '{expression}': {error}")]
    Expression {
        /// As given.
        expression: String,
        /// What is wrong.
        error: EditError,
    },
    /// The file.
    #[error("--policy {file}: {reason}")]
    File {
        /// As given.
        file: String,
        /// What is wrong.
        reason: String,
    },
}

impl ContenderError {
    /// What is wrong, for every language; what the harness or a parser says of a file stays in its words.
    #[must_use]
    pub fn message(&self) -> Message {
        match self {
            Self::Expression { expression, error } => {
                message!("policy.of-policy", policy = expression, why = error.message())
            }
            Self::File { file, reason } => message!("policy.of-policy-file", file = file, why = reason),
        }
    }
}

/// The policy in force on each route at the end of the archive, and whether the log shows it.
#[derive(Debug, Clone)]
pub struct Current {
    by_provider: BTreeMap<String, (RetryPolicy, Basis)>,
}

impl Current {
    /// From the spans of `policy show`: the last one of each provider counts.
    #[must_use]
    pub fn of(spans: &[PolicySpan]) -> Self {
        let mut by_provider: BTreeMap<String, (RetryPolicy, Basis, Option<i64>)> = BTreeMap::new();
        for span in spans {
            // A policy belongs to the provider: what one model's log shows holds for its others.
            let rank = |basis: Basis, to: Option<i64>| (basis == Basis::Logged, to);
            let kept = by_provider.get(&span.route.provider);
            if kept.is_none_or(|kept| rank(span.basis, span.to_ms) >= rank(kept.1, kept.2)) {
                by_provider.insert(span.route.provider.clone(), (span.policy.clone(), span.basis, span.to_ms));
            }
        }
        Self {
            by_provider: by_provider.into_iter().map(|(name, (policy, basis, _))| (name, (policy, basis))).collect(),
        }
    }

    /// The policy of a route.
    #[must_use]
    pub fn policy(&self, route: &Route) -> RetryPolicy {
        self.by_provider.get(&route.provider).map_or_else(RetryPolicy::default, |(policy, _)| policy.clone())
    }

    /// Whether the logs show it; otherwise it is the default of the release.
    #[must_use]
    pub fn is_logged(&self, route: &Route) -> bool {
        self.by_provider.get(&route.provider).is_some_and(|(_, basis)| *basis == Basis::Logged)
    }

    fn candidate(&self, route: &Route) -> Candidate {
        Candidate::plain("current", "the policy in force", self.policy(route))
    }
}

/// Resolves what was asked for on every route.
///
/// # Errors
/// A file or an expression that is none; names the place.
pub fn resolve(
    asked: &[Asked],
    routes: &[Route],
    current: &Current,
    release: &Release,
) -> Result<Vec<Contender>, ContenderError> {
    let mut contenders = Vec::new();
    for one in asked {
        match one {
            Asked::Expression(expression) => contenders.push(of_expression(expression, routes, current)?),
            Asked::File { name, text } => contenders.extend(of_file(name, text, routes, current, release)?),
        }
    }
    Ok(once_each(contenders))
}

fn of_expression(expression: &str, routes: &[Route], current: &Current) -> Result<Contender, ContenderError> {
    let parse = |route: &Route| {
        parse_candidate(expression, &|name| (name == "current").then(|| current.candidate(route)))
            .map_err(|error| ContenderError::Expression { expression: expression.to_owned(), error })
    };
    // Also without any route: an expression that is wrong is said to be.
    let name = parse(&Route::default())?.name;
    let by_route = routes.iter().map(parse).collect::<Result<_, _>>()?;
    Ok(Contender { name, source: expression.to_owned(), by_route })
}

fn of_file(
    name: &str,
    text: &str,
    routes: &[Route],
    current: &Current,
    release: &Release,
) -> Result<Vec<Contender>, ContenderError> {
    let refuse = |reason: String| ContenderError::File { file: name.to_owned(), reason };
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let kind = FileKind::of(base, text);
    let file = read_settings(text, kind, release).map_err(|error| refuse(error.to_string()))?;
    if kind == FileKind::Policies {
        let mut contenders = Vec::new();
        for entry in &file.named {
            let candidate = entry.candidate.clone().map_err(|error| refuse(format!("line {}: {error}", entry.line)))?;
            contenders.push(Contender {
                name: candidate.name.clone(),
                source: format!("{name}, line {}", entry.line),
                by_route: vec![candidate; routes.len()],
            });
        }
        return Ok(contenders);
    }
    let by_route = routes
        .iter()
        .map(|route| of_settings(&file, route, current, base).map_err(refuse))
        .collect::<Result<_, _>>()?;
    Ok(vec![Contender { name: base.to_owned(), source: name.to_owned(), by_route }])
}

fn of_settings(file: &SettingsFile, route: &Route, current: &Current, name: &str) -> Result<Candidate, String> {
    let policy = match file.routes.iter().find(|found| found.route == route.provider) {
        Some(found) => found.policy.clone().map_err(|refusals| {
            refusals.iter().map(|refusal| refusal.message.clone()).collect::<Vec<_>>().join("; ")
        })?,
        // A provider that the file does not configure keeps what it has.
        None => current.policy(route),
    };
    Ok(Candidate::plain(name, "settings file", policy))
}

fn once_each(contenders: Vec<Contender>) -> Vec<Contender> {
    let mut kept: Vec<Contender> = Vec::new();
    for contender in contenders {
        let same = |other: &&Contender| {
            other.by_route.len() == contender.by_route.len()
                && !other.by_route.is_empty()
                && other
                    .by_route
                    .iter()
                    .zip(&contender.by_route)
                    .all(|(a, b)| a.fixes == b.fixes && a.policy.policy_key() == b.policy.policy_key())
        };
        if kept.iter().find(same).is_none() {
            kept.push(contender);
        }
    }
    kept
}

/// The policies compared when none is named: the one in force, the harness's own, well known libraries, and the edits
/// that the failures of this archive suggest.
#[must_use]
pub fn default_set(routes: &[RouteEvidence], codes: &Codes, current: &Current) -> Vec<Asked> {
    let mut expressions: Vec<String> = vec!["current".to_owned()];
    let missing = missing_codes(routes, codes, current);
    let retry = if missing.is_empty() { String::new() } else { format!(" + retry {}", missing.join(",")) };
    if !retry.is_empty() {
        expressions.push(format!("current{retry}"));
    }
    expressions.push(format!("current{retry} + maxRetries 10"));
    expressions.push(format!("current{retry} + maxRetries 10 + maxDelayMs 60s"));
    let waits = routes.iter().flat_map(|route| &route.records);
    let waits = waits.filter_map(|record| record.retry_after_ms.or(record.hidden_retry_after_ms));
    let longest = waits.filter(|wait| *wait <= LONGEST_PROPOSED_DELAY_MS).fold(0.0, f64::max);
    if longest > 10_000.0 {
        // One limit for both waits: the harness has no other way to accept a long Retry-After.
        expressions.push(format!("current{retry} + maxDelayMs {}s", (longest / 1000.0).ceil()));
    }
    expressions.push("current + mode always".to_owned());
    expressions.extend(["dsh-default", "dsh-always", "aws-standard", "polly"].map(str::to_owned));
    expressions.into_iter().map(Asked::Expression).collect()
}

/// Single repairs and the combinations whose order matters.
#[must_use]
pub fn fixes_set(routes: &[RouteEvidence], codes: &Codes, current: &Current) -> Vec<Asked> {
    let missing = missing_codes(routes, codes, current);
    let mut edits: Vec<String> = [
        "expose-retry-after",
        "retry-after-cap 120s",
        "clamp",
        "expose-retry-after + retry-after-cap 120s",
        "expose-retry-after + clamp",
        "evidence-guard 0.5",
        "gateway-503",
        "maxRetries 10",
        "gateway-503 + maxRetries 10",
        "time-budget 30m",
        "time-budget 30m before",
        "gateway-503 + time-budget 30m",
        "gateway-503 + expose-retry-after + retry-after-cap 120s + time-budget 30m",
        "mode always",
        "mode always + always-except intrinsic",
        "uncounted-cancelled",
        "token-bucket",
        "retry-ratio 0.2",
        "breaker 5 30s wait",
        "jitter full",
    ]
    .map(str::to_owned)
    .to_vec();
    if !missing.is_empty() {
        edits.insert(0, format!("retry {}", missing.join(",")));
    }
    std::iter::once("current".to_owned())
        .chain(edits.into_iter().map(|edit| format!("current + {edit}")))
        .map(Asked::Expression)
        .collect()
}

/// Codes of failures that heal with time and that the policy in force does not retry, by name.
fn missing_codes(routes: &[RouteEvidence], codes: &Codes, current: &Current) -> Vec<String> {
    let mut missing = BTreeSet::new();
    for route in routes {
        let policy = current.policy(&route.route);
        let heals = |chain: &&Chain| !chain.at_fault && chain.failed_ms < chain.bad_from_ms;
        for chain in route.chains.iter().filter(heals) {
            let code = codes.name(chain.record.code);
            if !policy.retries_code(code) {
                missing.insert(code.to_owned());
            }
        }
    }
    missing.into_iter().collect()
}
