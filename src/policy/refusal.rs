//! What the harness refuses, as data.

/// What the harness refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefusalKind {
    /// The policy is empty or no map.
    NotAMap,
    /// `mode` is missing or unknown.
    Mode,
    /// A key that does not exist.
    UnknownKey,
    /// `maxRetries` is no whole number from 0.
    MaxRetries,
    /// `retryableCodes` is empty, no list, or holds something else than names.
    Codes,
    /// `retryableCodes` names a code twice.
    DuplicateCodes,
    /// `initialDelayMs` is out of range.
    InitialDelay,
    /// `maxDelayMs` is out of range.
    MaxDelay,
    /// `initialDelayMs` is above `maxDelayMs`.
    DelayOrder,
    /// `jitterRatio` is out of range.
    Jitter,
}

/// One refusal.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// See [`RefusalKind`].
    pub kind: RefusalKind,
    /// Line of the key or value, from 1.
    pub line: usize,
    /// The resolver's sentence.
    pub message: String,
    /// The schema's sentence, where the schema refuses first.
    pub schema_message: Option<String>,
    /// The key that does not exist ([`RefusalKind::UnknownKey`]).
    pub key: Option<String>,
}

/// Where a policy stands, in the words of the harness's messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wording {
    /// Start of the resolver's sentences: `llm-pi-ai: provider "x" retryPolicy`.
    pub resolver: String,
    /// Start of the schema's sentences: `$.providers.x.retryPolicy`.
    pub schema: String,
}

impl Wording {
    /// A policy of one provider under `llm-pi-ai`.
    #[must_use]
    pub fn pi_ai(provider: &str) -> Self {
        Self {
            resolver: format!("llm-pi-ai: provider \"{provider}\" retryPolicy"),
            schema: format!("$.providers.{provider}.retryPolicy"),
        }
    }

    /// The policy of `llm-deepseek`.
    #[must_use]
    pub fn deepseek() -> Self {
        Self { resolver: "llm-deepseek: retryPolicy".to_owned(), schema: "$.retryPolicy".to_owned() }
    }

    /// A policy of our own files: no harness behind it, the same words.
    #[must_use]
    pub fn own(name: &str) -> Self {
        Self { resolver: format!("policy \"{name}\""), schema: format!("$.policies.{name}") }
    }
}
