//! A rate limit that the harness takes for a full context window.

use crate::evidence::SupportedCode;
use crate::findings::rule::rule;
use crate::findings::{Context, Draft};
use crate::message;

rule!("rate-limit-as-overflow", Error, Stable);

fn check(context: &Context<'_>) -> Option<Draft> {
    let cases = context.cases_where(|case| case.is_overflow_code() && case.text.code == SupportedCode::RateLimit);
    Draft::of_cases(context, &cases, message!("findings.rate-limit-as-overflow"))
}
