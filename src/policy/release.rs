//! Harness releases and what changed between them for retry policies.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::message;
use crate::message::Message;

/// A release number such as `0.1.0-rc.7`, ordered as semantic versions are (semver.org 2.0.0, section 11).
///
/// Build metadata (`+…`) and a leading `v` or `dsh-v` are accepted and ignored.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Release {
    numbers: [u64; 3],
    /// Empty for a final release.
    pre: Vec<Identifier>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Identifier {
    // Numeric identifiers sort below words: the order of the variants is the rule.
    Number(u64),
    Word(String),
}

/// The text is not a release number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a release number (expected a form such as 0.1.0-rc.7)")]
pub struct ReleaseError(pub String);

impl ReleaseError {
    /// What is wrong, for every language.
    #[must_use]
    pub fn message(&self) -> Message {
        message!("policy.no-release", text = format!("\"{}\"", self.0))
    }
}

impl Release {
    /// The newest release whose rules were read; they hold where no release is named.
    pub const NEWEST: &'static str = "0.1.1-rc.2";

    /// The last release whose default was 2 retries, and whose `always` refused `maxRetries` and `retryableCodes`.
    /// Source: tags dsh-v0.1.0-rc.7 and dsh-v0.1.0-rc.8 of the harness.
    fn last_with_two_retries() -> Self {
        Self { numbers: [0, 1, 0], pre: vec![Identifier::Word("rc".to_owned()), Identifier::Number(7)] }
    }

    /// Retries of a route that configures none: 2 up to 0.1.0-rc.7, 5 later.
    #[must_use]
    pub fn default_max_retries(&self) -> u64 {
        if *self <= Self::last_with_two_retries() { 2 } else { 5 }
    }

    /// Whether `mode: always` refuses `maxRetries` and `retryableCodes` as unknown keys (up to 0.1.0-rc.7); later
    /// releases accept and ignore them.
    #[must_use]
    pub fn always_refuses_normal_fields(&self) -> bool {
        *self <= Self::last_with_two_retries()
    }
}

impl FromStr for Release {
    type Err = ReleaseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = || ReleaseError(text.to_owned());
        let trimmed = text.trim();
        let bare = trimmed.strip_prefix("dsh-").unwrap_or(trimmed);
        let bare = bare.strip_prefix('v').unwrap_or(bare);
        let bare = bare.split('+').next().unwrap_or(bare);
        let (core, pre) = match bare.split_once('-') {
            Some((core, pre)) => (core, Some(pre)),
            None => (bare, None),
        };
        let mut numbers = [0; 3];
        let mut parts = core.split('.');
        for number in &mut numbers {
            *number = parts.next().and_then(|part| part.parse().ok()).ok_or_else(refuse)?;
        }
        if parts.next().is_some() {
            return Err(refuse());
        }
        let pre = match pre {
            None => Vec::new(),
            Some(pre) => pre
                .split('.')
                .map(|part| match part.parse() {
                    _ if part.is_empty() => Err(refuse()),
                    Ok(number) => Ok(Identifier::Number(number)),
                    Err(_) => Ok(Identifier::Word(part.to_owned())),
                })
                .collect::<Result<_, _>>()?,
        };
        Ok(Self { numbers, pre })
    }
}

impl PartialOrd for Release {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Release {
    fn cmp(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| {
            match (self.pre.is_empty(), other.pre.is_empty()) {
                (true, true) => Ordering::Equal,
                // A final release comes after its candidates.
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => self.pre.cmp(&other.pre),
            }
        })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        for (index, identifier) in self.pre.iter().enumerate() {
            f.write_str(if index == 0 { "-" } else { "." })?;
            match identifier {
                Identifier::Number(number) => write!(f, "{number}")?,
                Identifier::Word(word) => f.write_str(word)?,
            }
        }
        Ok(())
    }
}
