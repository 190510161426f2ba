//! A passing fault under a fallback code, which the default policy never retries.

use crate::evidence::{FixableBy, Verdict};
use crate::findings::rule::rule;
use crate::findings::{Context, Draft};
use crate::message;
use crate::policy::to_settings_yaml;

rule!("unclassified-transient", Error, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let cases = context.cases_where(|case| {
        case.judgement.verdict == Verdict::Uninformative
            && case.judgement.fixable_by == FixableBy::Time
            && case.attempt.retry.is_none()
    });
    let mut codes: Vec<String> = cases.iter().map(|case| case.failure.code.clone()).collect();
    codes.sort();
    codes.dedup();
    let first = cases.first()?;
    let provider = &first.attempt.route.provider;
    let mut policy = context.policy(first).unwrap_or_default();
    policy.retryable_codes.extend(codes.iter().cloned());
    let title = message!("findings.unclassified-transient").with_words("codes", codes);
    Some(Draft::of_cases(context, &cases, title)?.settings(Some(to_settings_yaml(provider, &policy))))
}
