//! What a text alone supports.

use super::bodyless::is_bodyless;
use super::catalogue::Catalogue;
use super::codes::{FixableBy, Route, SupportedCode};
use super::message::{embedded_status, leading_status, plain};
use super::numbers::{Numbers, numbers_in};

/// The row for texts that only advise to try again.
const ADVICE: &str = "advice.retry";

/// What a text alone supports; an archive may know better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Supported {
    /// The code.
    pub code: SupportedCode,
    /// Who can fix it.
    pub fixable_by: FixableBy,
    /// The row of the catalogue that decided, or `bodyless`, `status.NNN` or `nothing`.
    pub pattern_id: &'static str,
    /// Numbers the text names.
    pub numbers: Numbers,
}

/// What the text supports, with the status where it is known apart from the text.
///
/// `route` tells an empty text of `llm-deepseek` (an HTTP answer without a message) from an empty text of
/// `llm-pi-ai` (nothing known at all).
#[must_use]
pub fn supports(text: &str, status: Option<u16>, route: Route) -> Supported {
    let status = status.or_else(|| leading_status(text));
    let silent = match route {
        Route::DeepSeek => text.trim().is_empty() || is_bodyless(text).is_some(),
        Route::PiAi => is_bodyless(text).is_some() || (text.trim().is_empty() && status.is_some()),
    };
    if silent {
        return by_status(status, true);
    }
    let plain = plain(text);
    let status = status.or_else(|| embedded_status(&plain));
    match Catalogue::get().find(&plain) {
        // Advice to try again goes with any failure: a status says more.
        Some(pattern) if !(pattern.id == ADVICE && status.is_some()) => {
            let numbers = numbers_in(&plain, names_tokens(pattern.id));
            let output_overflows = pattern.code == SupportedCode::ContextWindowExceeded && numbers.overflow_by_output();
            let fixable_by = if output_overflows { FixableBy::Config } else { pattern.fixable_by };
            Supported { code: pattern.code, fixable_by, pattern_id: pattern.id, numbers }
        }
        _ => Supported { numbers: numbers_in(&plain, false), ..by_status(status, false) },
    }
}

/// Whether numbers beside this wording count tokens of one request.
fn names_tokens(pattern_id: &str) -> bool {
    ["overflow.", "output.", "quota.afford"].iter().any(|topic| pattern_id.starts_with(topic))
}

/// What a status supports when no wording decides: less for a silent text, since 400 and 413 stand for gateway
/// faults and full windows alike.
fn by_status(status: Option<u16>, silent: bool) -> Supported {
    use FixableBy as By;
    use SupportedCode as Code;
    let (code, fixable_by, pattern_id) = match status {
        Some(401) => (Code::Auth, By::Account, "status.401"),
        Some(402) => (Code::Quota, By::Account, "status.402"),
        Some(403) => (Code::Auth, By::Account, "status.403"),
        Some(408) => (Code::Timeout, By::Time, "status.408"),
        Some(429) => (Code::RateLimit, By::Time, "status.429"),
        Some(504 | 522 | 524) => (Code::Timeout, By::Time, "status.504"),
        Some(500..=599) => (Code::Server, By::Time, "status.5xx"),
        Some(_) if silent => (Code::Undetermined, By::Unknown, "bodyless"),
        Some(404) => (Code::InvalidRequest, By::Config, "status.404"),
        Some(405 | 415) => (Code::InvalidRequest, By::Config, "status.405"),
        Some(413) => (Code::BodyTooLarge, By::BodySize, "status.413"),
        Some(400 | 409 | 422) => (Code::InvalidRequest, By::Request, "status.400"),
        _ => (Code::Undetermined, By::Unknown, "nothing"),
    };
    Supported { code, fixable_by, pattern_id, numbers: Numbers::default() }
}
