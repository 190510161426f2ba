//! Which failures heal with time, and which belong to a request, a session or an account (spec 4.5, point 1).

use crate::evidence::{Judgement, SupportedCode, Verdict};
use crate::policy::model::INTRINSIC_CODES;
use crate::session::{AttemptRow, Fate};

/// What a failure belongs to. The evidence decides, not the recorded code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The route at that time; waiting heals it.
    Environmental,
    /// The request itself: a real overflow, a body too large, a request that is wrong in itself.
    Request,
    /// The session or the account: credentials, money, a model name. From the first one on.
    Session,
    /// Nothing decides; both readings are computed.
    Contested,
}

/// The kind of one failed attempt. `later_success`: its session succeeds on this route after it.
#[must_use]
pub fn kind_of(attempt: &AttemptRow, judgement: Option<&Judgement>, later_success: bool) -> Kind {
    use SupportedCode as Code;
    // The same request succeeded after nothing but a wait: no reading of its text can outweigh that.
    if attempt.fate == Some(Fate::RecoveredByRetry) {
        return Kind::Environmental;
    }
    let code = attempt.failure.as_ref().map_or("", |failure| failure.code.as_str());
    let Some(judgement) = judgement else { return undecided(code, later_success) };
    match judgement.supported_code {
        Code::ContextWindowExceeded | Code::BodyTooLarge | Code::InvalidRequest | Code::UnsupportedContent => {
            Kind::Request
        }
        Code::Auth | Code::Quota | Code::InvalidCredential | Code::MissingCredential | Code::UnknownModel => {
            if later_success {
                Kind::Environmental
            } else {
                Kind::Session
            }
        }
        Code::GatewayFault
        | Code::RateLimit
        | Code::Server
        | Code::Timeout
        | Code::Transport
        | Code::EmptyResponse
        | Code::MalformedResponse
        | Code::Aborted => Kind::Environmental,
        // An overflow label that the size of the request contradicts is no property of the request.
        Code::Undetermined if judgement.verdict == Verdict::Contradicted => Kind::Environmental,
        Code::Undetermined => undecided(code, later_success),
    }
}

fn undecided(code: &str, later_success: bool) -> Kind {
    let claims_permanence = INTRINSIC_CODES.contains(&code) || code == crate::session::OVERFLOW;
    if later_success || !claims_permanence { Kind::Environmental } else { Kind::Contested }
}

/// How contested failures are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reading {
    /// They heal with time.
    #[default]
    Heals,
    /// They never do.
    Stays,
}
