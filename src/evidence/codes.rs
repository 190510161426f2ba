//! The vocabulary: codes, who can fix a failure, routes, and what is retried unless settings say otherwise.

use serde::{Deserialize, Serialize};

/// The code that the evidence of a failure supports: the harness's own codes and three it does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SupportedCode {
    /// The caller gave up.
    Aborted,
    /// The provider refused the credential or its permissions.
    Auth,
    /// The request has too many bytes (not tokens) for a gateway or a provider.
    BodyTooLarge,
    /// Input, or input plus reserved output, does not fit the model's window.
    ContextWindowExceeded,
    /// The response ended well but held nothing.
    EmptyResponse,
    /// A gateway answered in place of the provider; only an archive can show it, a text never does.
    GatewayFault,
    /// A stored credential has a form that cannot be sent.
    InvalidCredential,
    /// The request is wrong in itself and fails the same way every time.
    InvalidRequest,
    /// The response could not be read.
    MalformedResponse,
    /// The harness found no credential for the route.
    MissingCredential,
    /// Money, credits or a long-period allowance are used up.
    Quota,
    /// Too much in a short time.
    RateLimit,
    /// The provider, or a proxy before it, failed.
    Server,
    /// Nothing came in time.
    Timeout,
    /// The connection broke.
    Transport,
    /// The text says nothing about the cause.
    Undetermined,
    /// The model name is not known to the provider, or not open to this account.
    UnknownModel,
    /// The model or the adapter cannot take this kind of content.
    UnsupportedContent,
}

/// All supported codes with their public names, for lookups and tests.
pub const SUPPORTED_CODES: &[(SupportedCode, &str)] = &[
    (SupportedCode::Aborted, "ABORTED"),
    (SupportedCode::Auth, "AUTH"),
    (SupportedCode::BodyTooLarge, "BODY_TOO_LARGE"),
    (SupportedCode::ContextWindowExceeded, "CONTEXT_WINDOW_EXCEEDED"),
    (SupportedCode::EmptyResponse, "EMPTY_RESPONSE"),
    (SupportedCode::GatewayFault, "GATEWAY_FAULT"),
    (SupportedCode::InvalidCredential, "INVALID_CREDENTIAL"),
    (SupportedCode::InvalidRequest, "INVALID_REQUEST"),
    (SupportedCode::MalformedResponse, "MALFORMED_RESPONSE"),
    (SupportedCode::MissingCredential, "MISSING_CREDENTIAL"),
    (SupportedCode::Quota, "QUOTA"),
    (SupportedCode::RateLimit, "RATE_LIMIT"),
    (SupportedCode::Server, "SERVER"),
    (SupportedCode::Timeout, "TIMEOUT"),
    (SupportedCode::Transport, "TRANSPORT"),
    (SupportedCode::Undetermined, "UNDETERMINED"),
    (SupportedCode::UnknownModel, "UNKNOWN_MODEL"),
    (SupportedCode::UnsupportedContent, "UNSUPPORTED_CONTENT"),
];

impl SupportedCode {
    /// The public name, such as `RATE_LIMIT`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        SUPPORTED_CODES.iter().find(|(code, _)| *code == self).map_or("UNDETERMINED", |(_, name)| name)
    }

    /// The code with this public name; `None` for codes that no evidence supports (`PI_AI_ERROR`, `HTTP_404`).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        SUPPORTED_CODES.iter().find(|(_, known)| *known == name).map(|(code, _)| *code)
    }
}

impl std::fmt::Display for SupportedCode {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Who, or what, can make the same work succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FixableBy {
    /// Waiting.
    Time,
    /// Another request: fewer tokens, a repaired history.
    Request,
    /// Fewer bytes.
    BodySize,
    /// The account: money, keys, permissions.
    Account,
    /// Settings: model name, output reserve, route.
    Config,
    /// The user who cancelled.
    User,
    /// The text does not tell.
    Unknown,
}

impl FixableBy {
    /// The public name, such as `body_size`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Request => "request",
            Self::BodySize => "body_size",
            Self::Account => "account",
            Self::Config => "config",
            Self::User => "user",
            Self::Unknown => "unknown",
        }
    }

    /// The value with this public name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Time, Self::Request, Self::BodySize, Self::Account, Self::Config, Self::User, Self::Unknown]
            .into_iter()
            .find(|value| value.as_str() == name)
    }
}

/// The two provider adapters of the harness; they classify by different inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Route {
    /// `llm-pi-ai`: the message text alone.
    #[serde(rename = "llm-pi-ai")]
    PiAi,
    /// `llm-deepseek`: the HTTP status, then the text.
    #[serde(rename = "llm-deepseek")]
    DeepSeek,
}

pub use crate::policy::model::{DEFAULT_RETRYABLE_CODES, retried_by_default};
