//! What all rules look at, gathered once: the failed attempts within the filters with their judgements, the successes of
//! every route in order of time, the retry policies in force.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::finding::short_text;
use crate::event::Failure;
use crate::evidence::masked::{self, Masked};
use crate::evidence::verdict::layers::{PolicySource, policy_in_force};
use crate::evidence::{Judgement, Route as Adapter, Supported, Verdicts, supports, verdict};
use crate::filter::Filters;
use crate::message;
use crate::message::Message;
use crate::pipeline::Dataset;
use crate::policy::RetryPolicy;
use crate::session::{AttemptRow, OVERFLOW, Outcome, RetryRow, Route, SessionRows};
use crate::summary::{Summary, failure_of};

/// One failed attempt within the filters.
#[derive(Debug)]
pub struct Case<'a> {
    /// Its session.
    pub session: &'a SessionRows,
    /// Index of the session.
    pub session_index: usize,
    /// Index of the attempt in its session.
    pub index: usize,
    /// The attempt.
    pub attempt: &'a AttemptRow,
    /// Its failure.
    pub failure: &'a Failure,
    /// The verdict on its code.
    pub judgement: &'a Judgement,
    /// What the text alone supports.
    pub text: Supported,
    /// Its step failed, and this is the step's last failure.
    pub ends_step: bool,
}

impl Case<'_> {
    /// The adapter that classified it.
    pub fn adapter(&self) -> Adapter {
        verdict::adapter(&self.attempt.route.provider)
    }

    /// Whether the harness called it an overflow.
    pub fn is_overflow_code(&self) -> bool {
        self.failure.code == OVERFLOW
    }

    /// Code, route and text, short.
    pub fn in_words(&self) -> Message {
        message!(
            "findings.example-failure",
            code = &self.failure.code,
            route = route_name(&self.attempt.route),
            text = short_text(&self.failure.message),
        )
    }
}

/// `provider/model`
pub fn route_name(route: &Route) -> String {
    format!("{}/{}", short_text(&route.provider), short_text(&route.model))
}

/// A route as an index, where successes of different models must not stand for each other.
type RouteKey<'a> = (&'a str, &'a str);

/// Everything that rules may look at.
pub struct Context<'a> {
    /// What was read.
    pub dataset: &'a Dataset,
    /// What was counted.
    pub summary: &'a Summary,
    /// The verdicts.
    pub verdicts: &'a Verdicts,
    /// The filters.
    pub filters: &'a Filters,
    /// Failed attempts in order of session and attempt.
    pub cases: Vec<Case<'a>>,
    /// Failures that hide behind another name.
    pub masked: Masked,
    /// Hits of a settings file that was given, with its name.
    pub lint: Option<(String, Vec<crate::policy::LintHit>)>,
    successes: HashMap<RouteKey<'a>, Vec<i64>>,
    /// By provider: when a session showed another policy than before, and which; sorted by time.
    policies: BTreeMap<&'a str, Vec<(i64, RetryPolicy)>>,
}

impl<'a> Context<'a> {
    /// Gathers, in one pass over the rows.
    pub fn new(dataset: &'a Dataset, summary: &'a Summary, verdicts: &'a Verdicts, filters: &'a Filters) -> Self {
        let mut context = Self {
            dataset,
            summary,
            verdicts,
            filters,
            cases: Vec::new(),
            masked: masked::of(&dataset.sessions, verdicts),
            lint: None,
            successes: HashMap::new(),
            policies: BTreeMap::new(),
        };
        for (session_index, session) in dataset.sessions.iter().enumerate() {
            context.gather_cases(session_index, session);
            context.gather_policies(session);
            for attempt in session.attempts.iter().filter(|a| a.outcome == Outcome::Succeeded) {
                let key = (attempt.route.provider.as_str(), attempt.route.model.as_str());
                context.successes.entry(key).or_default().extend(attempt.time);
            }
        }
        context.successes.values_mut().for_each(|times| times.sort_unstable());
        context.policies.values_mut().for_each(|policies| policies.sort_by_key(|(time, _)| *time));
        context
    }

    fn gather_cases(&mut self, session_index: usize, session: &'a SessionRows) {
        let ending: HashSet<usize> =
            session.steps.iter().filter(|s| s.failed).filter_map(|step| step.last_failure).collect();
        let mut texts: HashMap<(&str, Option<u16>, Adapter), Supported> = HashMap::new();
        for (index, attempt) in session.attempts.iter().enumerate() {
            let judged = failure_of(attempt, self.filters).zip(self.verdicts.get(session_index, index));
            let Some((failure, judgement)) = judged else { continue };
            let adapter = verdict::adapter(&attempt.route.provider);
            let text = *texts
                .entry((&failure.message, failure.status, adapter))
                .or_insert_with(|| supports(&failure.message, failure.status, adapter));
            let ends_step = ending.contains(&index);
            self.cases.push(Case { session, session_index, index, attempt, failure, judgement, text, ends_step });
        }
    }

    fn gather_policies(&mut self, session: &'a SessionRows) {
        let mut seen: HashMap<&str, &str> = HashMap::new();
        for retry in &session.retries {
            let provider = retry.retry.provider.as_deref().or_else(|| {
                retry.after_attempt.and_then(|i| session.attempts.get(i)).map(|a| a.route.provider.as_str())
            });
            let (Some(provider), Some(key)) = (provider, retry.retry.policy_key.as_deref()) else { continue };
            if seen.insert(provider, key) == Some(key) {
                continue;
            }
            if let Some(policy) = RetryPolicy::from_policy_key(key) {
                self.policies.entry(provider).or_default().push((retry.time.unwrap_or(i64::MIN), policy));
            }
        }
    }

    /// The sessions.
    pub fn sessions(&self) -> &'a [SessionRows] {
        &self.dataset.sessions
    }

    /// The cases that a test holds for.
    pub fn cases_where(&self, test: impl Fn(&Case<'a>) -> bool) -> Vec<&Case<'a>> {
        self.cases.iter().filter(|case| test(case)).collect()
    }

    /// An attempt within the filters, with its session.
    pub fn attempt(&self, session: usize, attempt: usize) -> Option<(&'a SessionRows, &'a AttemptRow)> {
        let session = self.dataset.sessions.get(session)?;
        let attempt = session.attempts.get(attempt).filter(|a| a.selected)?;
        Some((session, attempt))
    }

    /// The first success on a route after a moment, epoch milliseconds.
    pub fn next_success(&self, route: &Route, after: i64) -> Option<i64> {
        let times = self.successes.get(&(route.provider.as_str(), route.model.as_str()))?;
        times.get(times.partition_point(|time| *time <= after)).copied()
    }

    /// Successes on a route between two moments.
    pub fn successes_between(&self, route: &Route, from: i64, to: i64) -> usize {
        let Some(times) = self.successes.get(&(route.provider.as_str(), route.model.as_str())) else { return 0 };
        times.partition_point(|time| *time <= to).saturating_sub(times.partition_point(|time| *time < from))
    }

    /// The policy in force at a failure as the logs show it: in its session, else the last one that any session showed
    /// for the provider before it, else the first one after it. `None` where no retry was ever written, and only the
    /// default of the release can be assumed.
    pub fn policy(&self, case: &Case<'a>) -> Option<RetryPolicy> {
        let own = policy_in_force(case.session, case.attempt);
        if own.source == PolicySource::Logged {
            return Some(own.policy);
        }
        let policies = self.policies.get(case.attempt.route.provider.as_str())?;
        let time = case.attempt.time.unwrap_or(i64::MAX);
        let before = policies.partition_point(|(from, _)| *from <= time);
        policies.get(before.saturating_sub(1)).map(|(_, policy)| policy.clone())
    }

    /// Whether a point in time lies within the filters.
    pub fn in_time(&self, time: Option<i64>) -> bool {
        self.filters.since.is_none_or(|since| time.is_some_and(|t| t >= since))
            && self.filters.until.is_none_or(|until| time.is_some_and(|t| t < until))
    }

    /// Retries of a session within the filters, with the attempt they followed.
    pub fn retries(&self, session: &'a SessionRows) -> impl Iterator<Item = (&'a RetryRow, &'a AttemptRow)> {
        session.retries.iter().filter_map(move |retry| {
            let attempt = session.attempts.get(retry.after_attempt?)?;
            failure_of(attempt, self.filters)?;
            Some((retry, attempt))
        })
    }
}

/// Retries of each step of a session, in file order.
pub fn retries_by_step(session: &SessionRows) -> HashMap<(u64, u64), Vec<&RetryRow>> {
    let mut steps: HashMap<(u64, u64), Vec<&RetryRow>> = HashMap::new();
    for retry in &session.retries {
        steps.entry((retry.retry.turn, retry.retry.step)).or_default().push(retry);
    }
    steps
}
