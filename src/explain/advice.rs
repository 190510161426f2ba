//! What to do about it, with settings to paste where settings can help.

use super::decision::DecisionStory;
use super::repairs::{Effect, Repair};
use crate::event::Failure;
use crate::evidence::verdict::{adapter, is_overflow};
use crate::evidence::{FixableBy, Judgement, Route, SupportedCode};
use crate::message;
use crate::message::Message;
use crate::policy::model::proposed_delay_ms;
use crate::policy::semantics::GiveUp;
use crate::policy::{Decision, RetryPolicy, to_settings_yaml};
use crate::report::numbers::{grouped, span};
use crate::session::{AttemptRow, TokenEstimate};

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Advice {
    /// Sentences, the most useful first.
    pub steps: Vec<Message>,
    /// Part of `settings.yaml`, where settings can help.
    pub settings: Option<String>,
}

pub(super) fn of(
    attempt: &AttemptRow,
    failure: &Failure,
    judgement: &Judgement,
    decision: &DecisionStory,
    repairs: &[Repair],
    size: Option<TokenEstimate>,
) -> Advice {
    let mut advice = Advice::default();
    match judgement.fixable_by {
        FixableBy::Time | FixableBy::Unknown => {
            waiting(attempt, failure, judgement, (decision, repairs), size, &mut advice)
        }
        FixableBy::Request => advice.steps.push(request(judgement)),
        FixableBy::BodySize => advice.steps.push(message!("explain.do-body-size")),
        FixableBy::Account => advice.steps.push(message!("explain.do-account")),
        FixableBy::Config => advice.steps.push(config(attempt, judgement)),
        FixableBy::User => advice.steps.push(message!("explain.do-user")),
    }
    advice
}

fn waiting(
    attempt: &AttemptRow,
    failure: &Failure,
    judgement: &Judgement,
    (decision, repairs): (&DecisionStory, &[Repair]),
    size: Option<TokenEstimate>,
    advice: &mut Advice,
) {
    let recovered = repairs.is_empty();
    if recovered {
        advice.steps.push(message!("explain.do-nothing"));
    } else if let Some(policy) = policy_that_waits(failure, decision) {
        advice.steps.push(why(failure, decision, &policy));
        if let Some(size) = size.filter(|_| is_overflow(&failure.code)) {
            let most = size.value.saturating_mul(policy.max_retries);
            advice.steps.push(message!("explain.do-cost", n = policy.max_retries, tokens = grouped(most)));
        }
        advice.settings = Some(to_settings_yaml(&attempt.route.provider, &policy));
    } else if let Decision::GiveUp { reason: GiveUp::RetryAfterTooLong } = decision.decision {
        let asked = span(failure.retry_after_ms.unwrap_or(0.0) as i64);
        advice.steps.push(message!("explain.do-far-date", asked = asked));
    } else {
        advice.steps.push(message!("explain.do-waits-already"));
    }
    let gateway = judgement.supported_code == SupportedCode::GatewayFault
        || crate::evidence::is_bodyless(&failure.message).is_some();
    if gateway {
        advice.steps.push(message!("explain.do-gateway"));
    } else if judgement.fixable_by == FixableBy::Unknown {
        advice.steps.push(message!("explain.do-ask-provider"));
    }
    let hidden = failure.code == "RATE_LIMIT" && adapter(&attempt.route.provider) == Route::PiAi;
    if hidden && failure.retry_after_ms.is_none() && !recovered {
        advice.steps.push(message!("explain.do-hidden-retry-after"));
    }
    if repairs.iter().any(|r| !r.today && matches!(r.effect, Effect::Retries { .. })) && !recovered {
        advice.steps.push(message!("explain.do-upstream"));
    }
}

/// The policy in force with the one change that lets it wait; `None` where it waits already.
fn policy_that_waits(failure: &Failure, decision: &DecisionStory) -> Option<RetryPolicy> {
    let mut policy = decision.policy.clone();
    match decision.decision {
        Decision::GiveUp { reason: GiveUp::NotRetryable } => {
            policy.retryable_codes.insert(failure.code.clone());
        }
        Decision::GiveUp { reason: GiveUp::BudgetSpent } => {
            policy.max_retries = policy.max_retries.saturating_mul(2).max(10);
            policy.backoff.max_delay_ms = policy.backoff.max_delay_ms.max(30_000.0);
        }
        Decision::GiveUp { reason: GiveUp::RetryAfterTooLong } => {
            policy.backoff.max_delay_ms = proposed_delay_ms(failure.retry_after_ms?)?;
        }
        Decision::Retry { .. } => return None,
    }
    Some(policy)
}

fn why(failure: &Failure, decision: &DecisionStory, policy: &RetryPolicy) -> Message {
    match decision.decision {
        Decision::GiveUp { reason: GiveUp::NotRetryable } => {
            message!("explain.do-retry-code", code = failure.code.clone())
        }
        Decision::GiveUp { reason: GiveUp::BudgetSpent } => {
            let wait = crate::policy::total_wait(policy).map_or(0.0, |w| w.typical_ms);
            message!("explain.do-more-retries", n = policy.max_retries, wait = span(wait as i64))
        }
        _ => {
            let asked = failure.retry_after_ms.unwrap_or(0.0);
            message!(
                "explain.do-longer-wait",
                asked = span(asked as i64),
                cap = span(policy.backoff.max_delay_ms as i64)
            )
        }
    }
}

fn request(judgement: &Judgement) -> Message {
    if judgement.supported_code == SupportedCode::ContextWindowExceeded {
        message!("explain.do-smaller")
    } else {
        message!("explain.do-repair-request")
    }
}

fn config(attempt: &AttemptRow, judgement: &Judgement) -> Message {
    let reserved = attempt.request.as_ref().and_then(|r| r.reserved_output);
    match (judgement.supported_code, reserved) {
        (SupportedCode::ContextWindowExceeded, Some(reserved)) => {
            message!("explain.do-less-output", reserved = grouped(reserved))
        }
        _ => message!("explain.do-config"),
    }
}
