//! Which policy was in force at a decision.

use std::collections::BTreeMap;

use crate::policy::RetryPolicy;
use crate::session::{RetryRow, SessionRows};

/// Where the policy of a decision is known from, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Basis {
    /// The `policyKey` of the very decision.
    Logged,
    /// The nearest `policyKey` of the same session and provider.
    Session,
    /// The nearest `policyKey` of the same provider in another session.
    Archive,
    /// None was logged: the default of the release.
    Default,
}

impl Basis {
    /// The name used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Logged => "logged",
            Self::Session => "same_session",
            Self::Archive => "other_session",
            Self::Default => "default",
        }
    }
}

/// Provider of a retry: as logged, else that of the attempt it followed.
pub(super) fn provider_of<'a>(session: &'a SessionRows, retry: &'a RetryRow) -> Option<&'a str> {
    let attempt = || retry.after_attempt.map(|index| session.attempts[index].route.provider.as_str());
    retry.retry.provider.as_deref().or_else(attempt)
}

/// The policies that the logs name, by session and by time.
pub(super) struct LoggedPolicies<'a> {
    policies: BTreeMap<&'a str, RetryPolicy>,
    /// Per session: provider → (position among the attempts, key), in file order.
    by_session: Vec<BTreeMap<&'a str, Vec<(usize, &'a str)>>>,
    /// Provider → (epoch milliseconds, key), in order of time.
    by_provider: BTreeMap<&'a str, Vec<(i64, &'a str)>>,
    default: RetryPolicy,
}

/// A policy that may have been in force.
pub(super) struct InForce<'a> {
    pub(super) basis: Basis,
    pub(super) policy: &'a RetryPolicy,
}

impl<'a> LoggedPolicies<'a> {
    pub(super) fn of(sessions: &'a [SessionRows]) -> Self {
        let mut logged = Self {
            policies: BTreeMap::new(),
            by_session: Vec::with_capacity(sessions.len()),
            by_provider: BTreeMap::new(),
            default: RetryPolicy::default(),
        };
        for session in sessions {
            let mut own: BTreeMap<&str, Vec<(usize, &str)>> = BTreeMap::new();
            let mut position = 0;
            for retry in &session.retries {
                position = retry.after_attempt.unwrap_or(position);
                let Some((provider, key)) = provider_of(session, retry).zip(retry.retry.policy_key.as_deref()) else {
                    continue;
                };
                if !logged.learn(key) {
                    continue;
                }
                own.entry(provider).or_default().push((position, key));
                if let Some(time) = retry.time {
                    logged.by_provider.entry(provider).or_default().push((time, key));
                }
            }
            logged.by_session.push(own);
        }
        logged.by_provider.values_mut().for_each(|keys| keys.sort_unstable());
        logged
    }

    /// Whether the key is one of the harness's.
    fn learn(&mut self, key: &'a str) -> bool {
        if self.policies.contains_key(key) {
            return true;
        }
        let Some(policy) = RetryPolicy::from_policy_key(key) else { return false };
        self.policies.insert(key, policy);
        true
    }

    /// The policy of a key; `None`: not written by the harness's own retry plugin.
    pub(super) fn policy(&self, key: &str) -> Option<&RetryPolicy> {
        self.policies.get(key)
    }

    /// The policies that may have been in force where no retry was written, the likeliest first.
    ///
    /// Between two retries of one session it is one of theirs, and after its last one that one's. Before the first,
    /// the settings may still have been others: the default stands beside it.
    pub(super) fn around(&self, session: usize, attempt: usize, provider: &str, time: Option<i64>) -> Vec<InForce<'_>> {
        if let Some(keys) = self.by_session[session].get(provider) {
            let split = keys.partition_point(|(position, _)| *position < attempt);
            let before = split.checked_sub(1).map(|index| keys[index].1);
            let after = keys.get(split).map(|(_, key)| *key);
            return self.listed(Basis::Session, before, after, before.is_none());
        }
        let keys = self.by_provider.get(provider).map(Vec::as_slice).unwrap_or_default();
        let split = time.map_or(keys.len(), |time| keys.partition_point(|(at, _)| *at < time));
        let before = split.checked_sub(1).map(|index| keys[index].1);
        self.listed(Basis::Archive, before, keys.get(split).map(|(_, key)| *key), true)
    }

    fn listed(&self, basis: Basis, before: Option<&str>, after: Option<&str>, default: bool) -> Vec<InForce<'_>> {
        let after = after.filter(|key| before != Some(*key));
        let mut found: Vec<InForce<'_>> = before
            .into_iter()
            .chain(after)
            .filter_map(|key| self.policies.get(key))
            .map(|policy| InForce { basis, policy })
            .collect();
        if default {
            // Without a retry in the step every release's default decides alike: they differ in the count alone.
            found.push(InForce { basis: Basis::Default, policy: &self.default });
        }
        found
    }
}
