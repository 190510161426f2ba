//! An empty account and a full minute share one word; what the route did afterwards tells them apart.

use crate::evidence::SupportedCode;
use crate::findings::rule::rule;
use crate::findings::{Case, Confidence, Context, Draft};
use crate::message;
use crate::report::numbers::grouped;

rule!("quota-vs-rate-limit", Warning, Stable);

/// Accounts are seldom filled up within this time, minute budgets always are, milliseconds.
const SOON_MS: i64 = 15 * 60_000;

fn check(context: &Context<'_>) -> Option<Draft> {
    let soon = |case: &Case<'_>| {
        let next = case.attempt.time.and_then(|time| Some((context.next_success(&case.attempt.route, time)?, time)));
        next.is_some_and(|(next, time)| next - time <= SOON_MS)
    };
    let names_rate = |case: &Case<'_>| case.text.code == SupportedCode::RateLimit;
    let called_quota = |case: &Case<'_>| case.failure.code == "QUOTA" && (names_rate(case) || soon(case));
    let called_rate =
        |case: &Case<'_>| case.failure.code == "RATE_LIMIT" && case.text.code == SupportedCode::Quota && !soon(case);
    let cases = context.cases_where(|case| called_quota(case) || called_rate(case));
    let quota = cases.iter().filter(|case| called_quota(case)).count() as u64;
    let rate = cases.len() as u64 - quota;
    let draft = Draft::of_cases(context, &cases, message!("findings.quota-vs-rate-limit"))?;
    Some(
        draft
            .confidence(Confidence::Medium)
            .seen_if(quota > 0, || {
                message!("findings.seen-quota-answered", n = grouped(quota), minutes = SOON_MS / 60_000)
            })
            .seen_if(rate > 0, || message!("findings.seen-rate-is-quota", n = grouped(rate))),
    )
}
