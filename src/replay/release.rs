//! Which release wrote a log. The header does not say it; the format and the logged policies narrow it down.

use crate::policy::{Backoff, Release, RetryMode, RetryPolicy};
use crate::session::SessionRows;

/// How a release was inferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseBasis {
    /// From the format version of the newest log alone.
    Format,
    /// The default policy with 2 retries was logged: 0.1.0-rc.7 or earlier.
    TwoRetries,
    /// The default policy with 5 retries was logged: 0.1.0-rc.8 or later.
    FiveRetries,
    /// No log has a header: nothing is known.
    Unknown,
}

impl ReleaseBasis {
    /// The name used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::TwoRetries => "default_of_2_retries_logged",
            Self::FiveRetries => "default_of_5_retries_logged",
            Self::Unknown => "unknown",
        }
    }
}

/// The releases that may have written a set of logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InferredRelease {
    /// Earliest release; `None`: any.
    pub from: Option<&'static str>,
    /// Latest release; `None`: any later one.
    pub to: Option<&'static str>,
    /// See [`ReleaseBasis`].
    pub basis: ReleaseBasis,
}

/// Source: spec 1.4, "releases".
fn of_format(version: u32) -> (Option<&'static str>, Option<&'static str>) {
    match version {
        0 | 1 => (None, Some("0.1.2")),
        2 => (Some("0.1.3"), Some("0.1.3")),
        3 => (Some("0.1.5"), Some("0.1.6")),
        _ => (Some("0.1.7"), None),
    }
}

impl InferredRelease {
    /// From the sessions of one route and the policies logged in them.
    pub(super) fn of<'a>(sessions: impl Iterator<Item = &'a SessionRows>, policies: &[&RetryPolicy]) -> Self {
        let versions: Vec<u32> = sessions.filter_map(|session| session.format_version).collect();
        let (Some(oldest), Some(newest)) = (versions.iter().min(), versions.iter().max()) else {
            return Self { from: None, to: None, basis: ReleaseBasis::Unknown };
        };
        let (from, to) = (of_format(*oldest).0, of_format(*newest).1);
        if from.is_some() {
            return Self { from, to, basis: ReleaseBasis::Format };
        }
        // A migrated log keeps the policies of the release that wrote it first.
        let default_with = |count| policies.iter().any(|policy| is_default_but_for_count(policy, count));
        if default_with(5) {
            Self { from: Some("0.1.0-rc.8"), to, basis: ReleaseBasis::FiveRetries }
        } else if default_with(2) {
            Self { from, to: Some("0.1.0-rc.7"), basis: ReleaseBasis::TwoRetries }
        } else {
            Self { from, to, basis: ReleaseBasis::Format }
        }
    }

    /// Whose default counts for a route without a logged policy: the latest of the range.
    #[must_use]
    pub fn default_policy(&self) -> RetryPolicy {
        match self.to.map(str::parse::<Release>) {
            Some(Ok(release)) => RetryPolicy::default_for(&release),
            _ => RetryPolicy::default(),
        }
    }
}

fn is_default_but_for_count(policy: &RetryPolicy, count: u64) -> bool {
    policy.mode == RetryMode::Normal
        && policy.max_retries == count
        && policy.dropped_default_codes().is_empty()
        && policy.retryable_codes.len() == crate::policy::model::DEFAULT_RETRYABLE_CODES.len()
        && policy.backoff == Backoff::default()
}
