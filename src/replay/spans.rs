//! Who had which policy when: the answer of `policy show`.

use std::collections::{BTreeMap, BTreeSet};

use super::in_force::{Basis, provider_of};
use super::release::InferredRelease;
use crate::policy::RetryPolicy;
use crate::session::{Outcome, Route, SessionRows};

/// One policy of one route over a span of time.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicySpan {
    /// Provider and model. The policy belongs to the provider; the models of one provider share it.
    pub route: Route,
    /// The policy.
    pub policy: RetryPolicy,
    /// [`Basis::Logged`], or [`Basis::Default`] where the logs name none.
    pub basis: Basis,
    /// Epoch milliseconds of the first failure that it decided on (of the first attempt, where it is assumed).
    pub from_ms: Option<i64>,
    /// Epoch milliseconds of the last retry under it (of the last attempt, where it is assumed).
    pub to_ms: Option<i64>,
    /// Retries written under it.
    pub retries: u64,
    /// Failed attempts of the route in the span.
    pub failures: u64,
    /// Sessions with such a retry, or with such an attempt where the policy is assumed.
    pub sessions: u64,
    /// The releases that may have written the logs of the route.
    pub release: InferredRelease,
}

impl PolicySpan {
    /// What the release has where nothing is configured.
    #[must_use]
    pub fn default_policy(&self) -> RetryPolicy {
        self.release.default_policy()
    }
}

/// One retry or attempt on the way to a span.
struct Moment<'a> {
    /// Of the failure, or of the retry where no attempt is known.
    from: Option<i64>,
    /// Of the retry.
    time: Option<i64>,
    session: usize,
    key: &'a str,
}

#[derive(Default)]
struct RouteMoments<'a> {
    retries: Vec<Moment<'a>>,
    attempts: Vec<(Option<i64>, usize)>,
    failures: Vec<i64>,
    sessions: BTreeSet<usize>,
}

/// The policies of every route, in order of route and time. Equal policies that follow each other are one span.
///
/// A route gets a span with the default where it has no logged policy at all, or failures before the first of them.
#[must_use]
pub fn policy_spans(sessions: &[SessionRows]) -> Vec<PolicySpan> {
    let mut routes: BTreeMap<Route, RouteMoments<'_>> = BTreeMap::new();
    for (index, session) in sessions.iter().enumerate() {
        collect(session, index, &mut routes);
    }
    routes.into_iter().flat_map(|(route, moments)| spans_of(&route, moments, sessions)).collect()
}

fn collect<'a>(session: &'a SessionRows, index: usize, routes: &mut BTreeMap<Route, RouteMoments<'a>>) {
    for attempt in session.attempts.iter().filter(|attempt| attempt.selected) {
        let moments = entry(routes, &attempt.route);
        moments.attempts.push((attempt.time, index));
        moments.sessions.insert(index);
        if let (Outcome::Failed, Some(time)) = (attempt.outcome, attempt.time) {
            moments.failures.push(time);
        }
    }
    for retry in &session.retries {
        let attempt = retry.after_attempt.map(|at| &session.attempts[at]);
        if attempt.is_some_and(|attempt| !attempt.selected) {
            continue;
        }
        let (Some(provider), Some(key)) = (provider_of(session, retry), retry.retry.policy_key.as_deref()) else {
            continue;
        };
        let model = attempt.map(|attempt| attempt.route.model.clone()).unwrap_or_default();
        let moments = entry(routes, &Route { provider: provider.to_owned(), model });
        moments.sessions.insert(index);
        let from = attempt.and_then(|attempt| attempt.time).or(retry.time);
        moments.retries.push(Moment { from, time: retry.time, session: index, key });
    }
}

/// Sessions have thousands of attempts on one route: its name is not copied for each.
fn entry<'a, 'm>(routes: &'m mut BTreeMap<Route, RouteMoments<'a>>, route: &Route) -> &'m mut RouteMoments<'a> {
    if !routes.contains_key(route) {
        routes.insert(route.clone(), RouteMoments::default());
    }
    routes.entry(route.clone()).or_default()
}

fn spans_of(route: &Route, mut moments: RouteMoments<'_>, sessions: &[SessionRows]) -> Vec<PolicySpan> {
    moments.retries.sort_by_key(|moment| (moment.time, moment.session));
    moments.failures.sort_unstable();
    let parsed: BTreeMap<&str, RetryPolicy> = moments
        .retries
        .iter()
        .filter_map(|moment| Some((moment.key, RetryPolicy::from_policy_key(moment.key)?)))
        .collect();
    let policies: Vec<&RetryPolicy> = parsed.values().collect();
    let release = InferredRelease::of(moments.sessions.iter().map(|index| &sessions[*index]), &policies);
    let mut spans: Vec<(PolicySpan, BTreeSet<usize>, &str)> = Vec::new();
    for moment in &moments.retries {
        let Some(policy) = parsed.get(moment.key) else { continue };
        match spans.last_mut().filter(|(_, _, key)| *key == moment.key) {
            Some((span, seen, _)) => {
                span.to_ms = moment.time.or(span.to_ms);
                span.retries += 1;
                seen.insert(moment.session);
            }
            None => spans.push((
                PolicySpan {
                    route: route.clone(),
                    policy: policy.clone(),
                    basis: Basis::Logged,
                    from_ms: moment.from,
                    to_ms: moment.time,
                    retries: 1,
                    failures: 0,
                    sessions: 0,
                    release: release.clone(),
                },
                BTreeSet::from([moment.session]),
                moment.key,
            )),
        }
    }
    let mut spans: Vec<PolicySpan> = spans
        .into_iter()
        .map(|(span, seen, _)| PolicySpan {
            sessions: seen.len() as u64,
            failures: failures_in(&moments.failures, span.from_ms, span.to_ms),
            ..span
        })
        .collect();
    if let Some(assumed) = assumed(route, &moments, spans.first(), release) {
        spans.insert(0, assumed);
    }
    spans
}

/// The failures between two moments, both included.
fn failures_in(failures: &[i64], from: Option<i64>, to: Option<i64>) -> u64 {
    let before = failures.partition_point(|time| from.is_some_and(|from| *time < from));
    let until = failures.partition_point(|time| to.is_none_or(|to| *time <= to));
    until.saturating_sub(before) as u64
}

/// The time before the first logged policy.
fn assumed(
    route: &Route,
    moments: &RouteMoments<'_>,
    first: Option<&PolicySpan>,
    release: InferredRelease,
) -> Option<PolicySpan> {
    let until = first.and_then(|span| span.from_ms);
    let early: Vec<&(Option<i64>, usize)> = moments
        .attempts
        .iter()
        .filter(|(time, _)| until.is_none() || time.zip(until).is_some_and(|(t, u)| t < u))
        .collect();
    let times = || early.iter().filter_map(|(time, _)| *time);
    let failures = failures_in(&moments.failures, None, until.map(|until| until - 1));
    if early.is_empty() || (first.is_some() && failures == 0) {
        return None;
    }
    Some(PolicySpan {
        route: route.clone(),
        policy: release.default_policy(),
        basis: Basis::Default,
        from_ms: times().min(),
        to_ms: times().max(),
        retries: 0,
        failures,
        sessions: early.iter().map(|(_, session)| *session).collect::<BTreeSet<_>>().len() as u64,
        release,
    })
}
