//! An overflow code that the evidence of the archive speaks against.

use crate::evidence::{SupportedCode, Verdict};
use crate::findings::rule::rule;
use crate::findings::{Context, Draft};
use crate::message;
use crate::policy::{RetryPolicy, to_settings_yaml};
use crate::report::numbers::{grouped, optional};
use crate::session::OVERFLOW;

rule!("contradicted-overflow", Error, Stable);

/// A text that itself names a rate or a body size belongs to the rules about those.
fn check(context: &Context<'_>) -> Option<Draft> {
    let cases = context.cases_where(|case| {
        case.is_overflow_code()
            && case.judgement.verdict == Verdict::Contradicted
            && !matches!(case.text.code, SupportedCode::RateLimit | SupportedCode::BodyTooLarge)
    });
    let with_fact = |kind: &str| {
        let shown = |facts: &[crate::evidence::Fact]| facts.iter().any(|fact| fact.kind == kind);
        cases.iter().filter(|case| shown(&case.judgement.facts)).count() as u64
    };
    let (identical, larger) = (with_fact("identical-request"), with_fact("larger-success"));
    let provider = cases.first().map(|case| case.attempt.route.provider.clone())?;
    let policy = cases.first().and_then(|case| context.policy(case));
    let largest = cases.iter().filter_map(|case| case.attempt.request.as_ref()?.tokens).map(|t| t.value).max();
    let draft = Draft::of_cases(context, &cases, message!("findings.contradicted-overflow", code = OVERFLOW))?;
    Some(
        draft
            .seen_if(identical > 0, || message!("findings.seen-identical", n = grouped(identical)))
            .seen_if(larger > 0, || message!("findings.seen-larger", n = grouped(larger)))
            .seen(message!(
                "findings.seen-largest",
                failed = optional(largest),
                succeeded = optional(context.summary.largest_success_tokens),
            ))
            .settings(Some(retrying(&provider, policy.as_ref()))),
    )
}

/// The route's policy with the overflow code among those that are retried.
fn retrying(provider: &str, policy: Option<&RetryPolicy>) -> String {
    let mut policy = policy.cloned().unwrap_or_default();
    policy.retryable_codes.insert(OVERFLOW.to_owned());
    to_settings_yaml(provider, &policy)
}
